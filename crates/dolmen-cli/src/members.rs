//! The members of a stack, as the command line names them.

use std::path::{Path, PathBuf};

use clap::Args;
use dolmen::catalogue::{Catalogue, Catalogued};
use dolmen::error::{Error, Result};
use dolmen::learner::{Learner, Sample};
use dolmen::spec::Spec;
use serde_json::{Map, Value};

/// Which learners are stacked.
#[derive(Debug, Args)]
pub(crate) struct Members {
    /// A member: a learner with its parameters; may be given several times. `dolmen learners` lists them.
    #[arg(long = "model", value_name = "SPEC")]
    models: Vec<String>,
    /// A TOML file of members: `[[member]]` tables with `kind` and parameters.
    #[arg(long, value_name = "TOML", conflicts_with = "models")]
    spec: Option<PathBuf>,
}

impl Members {
    /// The file the members are read from, if they are.
    pub(crate) fn file(&self) -> Option<&Path> {
        self.spec.as_deref()
    }

    /// Whether the user has chosen the members.
    pub(crate) fn are_named(&self) -> bool {
        self.spec.is_some() || !self.models.is_empty()
    }

    /// The learners named, or the usual ones for a table of this size.
    pub(crate) fn learners<T: Catalogued>(
        &self,
        sample: &Sample<'_, T>,
    ) -> Result<Vec<Box<dyn Learner<T>>>> {
        let mut specs = self.named()?;
        if specs.is_empty() {
            specs = T::usual_members(sample.x());
        }
        build(&specs, sample)
    }

    /// The learners named, or others.
    pub(crate) fn named_or<T: Catalogued>(
        &self,
        others: &[&str],
        sample: &Sample<'_, T>,
    ) -> Result<Vec<Box<dyn Learner<T>>>> {
        build(&self.specs_or(others)?, sample)
    }

    /// The learners named, or others, where there are no rows to look at.
    pub(crate) fn named_or_these<T: Catalogued>(
        &self,
        others: &[&str],
    ) -> Result<Vec<Box<dyn Learner<T>>>> {
        let learners: Vec<_> =
            self.specs_or(others)?.iter().map(T::learner).collect::<Result<_>>()?;
        unique_names(&learners)?;
        Ok(learners)
    }

    fn specs_or(&self, others: &[&str]) -> Result<Vec<Spec>> {
        let specs = self.named()?;
        if specs.is_empty() {
            return others.iter().map(|text| Spec::parse(text)).collect();
        }
        Ok(specs)
    }

    fn named(&self) -> Result<Vec<Spec>> {
        match &self.spec {
            Some(path) => read_specs(path),
            None => self.models.iter().map(|text| Spec::parse(text)).collect(),
        }
    }
}

fn build<T: Catalogued>(
    specs: &[Spec],
    sample: &Sample<'_, T>,
) -> Result<Vec<Box<dyn Learner<T>>>> {
    let learner = |spec: &Spec| Catalogue::standard().learner_for(spec, sample.x().schema());
    let learners = specs.iter().map(learner).collect::<Result<Vec<_>>>()?;
    unique_names(&learners)?;
    Ok(learners)
}

/// Weights and reports go by member name: two members must not share one.
fn unique_names<T: Catalogued>(learners: &[Box<dyn Learner<T>>]) -> Result<()> {
    let names: Vec<String> = learners.iter().flat_map(|learner| learner.members()).collect();
    match names.iter().enumerate().find(|(i, name)| names[..*i].contains(name)) {
        None => Ok(()),
        Some((_, name)) => {
            Err(Error::param("members", "different from one another", format!("twice '{name}'")))
        }
    }
}

fn read_specs(path: &Path) -> Result<Vec<Spec>> {
    let text = std::fs::read_to_string(path).map_err(|e| Error::io(path, e))?;
    let one_line = |e: toml::de::Error| e.to_string().replace('\n', " ");
    let mut document: Map<String, Value> =
        toml::from_str(&text).map_err(|e| Error::file(path, one_line(e)))?;
    let Some(Value::Array(members)) = document.remove("member") else {
        return Err(Error::file(path, "there is no [[member]] in it"));
    };
    if let Some(other) = document.keys().next() {
        return Err(Error::file(path, format!("unknown key '{other}'; members are [[member]]")));
    }
    let spec = |member: Value| match member {
        Value::Object(object) => Spec::from_object(object),
        other => Err(Error::file(path, format!("a member is a table, not {other}"))),
    };
    members.into_iter().map(spec).collect()
}
