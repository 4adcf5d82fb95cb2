//! A learner under the user's name: `named(of=SPEC, name=TEXT)`. Only the name is new; what is fitted and stored is what the learner
//! makes. It is understood wherever a learner is, and is none of its own: names come from recipes that programs write.

use super::{Catalogue, Catalogued};
use crate::error::{Error, Result};
use crate::learner::pass::AnyPass;
use crate::learner::{Block, Fitted, Learner, Sample};
use crate::plan::Plan;
use crate::run::Run;
use crate::spec::Spec;
use crate::table::Rows;
use crate::task::Task;

/// How recipes call it.
pub(super) const KIND: &str = "named";

/// The learner under its name.
pub(super) fn build<T: Catalogued>(
    spec: &Spec,
    catalogue: &Catalogue,
) -> Result<Box<dyn Learner<T>>> {
    let given = |what: &str| {
        let missing = || Error::param(what, "given, as in named(of=MODEL, name=TEXT)", "missing");
        spec.parameters.get(what).cloned().ok_or_else(missing)
    };
    let learner = catalogue.learner::<T>(&Spec::try_from(given("of")?)?)?;
    let name = given("name")?;
    let name = name.as_str().ok_or_else(|| Error::param("name", "a text", &name))?;
    let inner = learner.members();
    if inner.len() == 1 {
        let names = vec![name.to_string()];
        return Ok(Box::new(Named { learner, names, rungs: Vec::new() }));
    }
    // The rungs of a ladder are told apart by their own names.
    let names: Vec<String> = inner.iter().map(|rung| format!("{name}/{rung}")).collect();
    let rung = |(rung, name): (&String, &String)| -> Result<Box<dyn Learner<T>>> {
        let learner = catalogue.learner::<T>(&Spec::parse(rung)?)?;
        Ok(Box::new(Named { learner, names: vec![name.clone()], rungs: Vec::new() }))
    };
    let rungs = inner.iter().zip(&names).map(rung).collect::<Result<_>>()?;
    Ok(Box::new(Named { learner, names, rungs }))
}

/// A learner with other names for its members.
#[derive(Debug)]
struct Named<T: Task> {
    learner: Box<dyn Learner<T>>,
    names: Vec<String>,
    rungs: Vec<Box<dyn Learner<T>>>,
}

impl<T: Task> Learner<T> for Named<T> {
    fn members(&self) -> Vec<String> {
        self.names.clone()
    }

    fn fit(&self, sample: &Sample<'_, T>, run: &Run) -> Result<Vec<Box<dyn Fitted<T>>>> {
        self.learner.fit(sample, run)
    }

    fn out_of_sample(&self, sample: &Sample<'_, T>, plan: &Plan, run: &Run) -> Result<Block> {
        self.learner.out_of_sample(sample, plan, run)
    }

    fn pass(&self, x: Rows<'_>, run: &Run) -> Option<Result<Box<dyn AnyPass<T>>>> {
        self.learner.pass(x, run)
    }

    fn rungs(&self) -> &[Box<dyn Learner<T>>] {
        &self.rungs
    }
}
