//! Learners against each other on new rows, over independent draws of a set.

use dolmen::catalogue::{Catalogue, Catalogued};
use dolmen::ensemble::{Check, Ending, Stack};
use dolmen::error::Result;
use dolmen::learner::{Learner, OwnedSample, predict};
use dolmen::recipe::{Data, Truth};
use dolmen::run::Run;
use dolmen::score::Estimate;
use dolmen::spec::Spec;
use dolmen::table::Schema;
use dolmen::target::Target;
use dolmen::task::{Regression, Task};
use rand::seq::SliceRandom;

use crate::Context;
use crate::drawn::{difference, learner};
use crate::page::estimate;

/// Folds of the stacks.
const FOLDS: usize = 5;

/// A learner that takes part, by the name it has in tables.
pub(crate) struct Entrant<T: Task> {
    pub(crate) name: String,
    learner: Box<dyn Learner<T>>,
}

impl<T: Catalogued> Entrant<T> {
    /// The learner of a spec.
    pub(crate) fn single(name: &str, spec: &str, columns: &Schema) -> Result<Self> {
        Ok(Self { name: name.into(), learner: learner(spec, columns)? })
    }

    /// A stack whose combiner is chosen on rows held out from members and combiner alike [Himmetoglu2019].
    pub(crate) fn stack(
        name: &str,
        members: &[&str],
        combiner: &str,
        ending: Ending,
        columns: &Schema,
    ) -> Result<Self> {
        let combiner = Catalogue::standard().combiner::<T>(&Spec::parse(combiner)?)?;
        let members = members.iter().map(|spec| learner(spec, columns));
        let stack = Stack::choosing(vec![combiner]).members(members.collect::<Result<Vec<_>>>()?);
        let stack = stack.folds(FOLDS).check(Check::Nested).ending(ending);
        Ok(Self { name: name.into(), learner: Box::new(stack) })
    }
}

/// Rows to learn from, and new rows.
pub(crate) type Split<T> = (OwnedSample<T>, OwnedSample<T>);

/// An entrant's loss on new rows in each draw.
#[derive(Debug, Clone)]
pub(crate) struct Losses {
    pub(crate) name: String,
    pub(crate) losses: Vec<f64>,
}

impl Losses {
    pub(crate) fn mean(&self) -> Estimate {
        estimate(&self.losses)
    }

    /// By how much this one's loss is larger than another's.
    pub(crate) fn above(&self, other: &Self) -> Estimate {
        difference(&self.losses, &other.losses)
    }
}

/// Every entrant's loss in every draw; the entrants share the rows of a draw.
pub(crate) fn contest<T: Catalogued>(
    entrants: &[Entrant<T>],
    (what, draws): (&str, usize),
    draw: &(dyn Fn(&Run) -> Result<Split<T>> + Sync),
    loss: fn(&[f64], &T::Target) -> f64,
    context: &Context<'_>,
) -> Result<Vec<Losses>> {
    let by_draw = context.repeat(what, draws, |_, run| {
        let (train, test) = draw(&run.stream("rows"))?;
        let (train, test) = (train.borrow(), test.borrow());
        let loss_of = |entrant: &Entrant<T>| {
            let models = entrant.learner.fit(&train, &run.stream("fit"))?;
            Ok(loss(&predict(models[0].as_ref(), test.x(), run)?, test.target()))
        };
        entrants.iter().map(loss_of).collect::<Result<Vec<f64>>>()
    })?;
    let of = |(e, entrant): (usize, &Entrant<T>)| Losses {
        name: entrant.name.clone(),
        losses: by_draw.iter().map(|losses| losses[e]).collect(),
    };
    Ok(entrants.iter().enumerate().map(of).collect())
}

/// The root of the mean squared error.
#[expect(clippy::ptr_arg, reason = "a target of numbers is a Vec")]
pub(crate) fn rmse(predicted: &[f64], truth: &Vec<f64>) -> f64 {
    crate::drawn::mean_square(predicted, truth).sqrt()
}

/// A random split of a set: a share of the rows is new.
pub(crate) fn split_of<T: Task>(
    data: &Data,
    target: &T::Target,
    share: f64,
    run: &Run,
) -> Result<Split<T>> {
    let rows = data.features.rows().rows();
    let mut order: Vec<usize> = (0..rows).collect();
    order.shuffle(&mut run.rng());
    let (new, learned) = order.split_at((share * rows as f64).round() as usize);
    let part =
        |rows: &[usize]| OwnedSample::new(data.features.rows().select(rows), target.select(rows));
    Ok((part(learned)?, part(new)?))
}

/// The numbers of a set, if it has a target of numbers.
pub(crate) fn numbers(data: &Data) -> Option<&<Regression as Task>::Target> {
    if let Truth::Numbers(values) = &data.truth { Some(values) } else { None }
}
