//! `dolmen learners`: what can be a member, with its parameters.

use std::io::Write;

use clap::Args;
use dolmen::catalogue::{Catalogue, Catalogued, Entry};
use dolmen::error::Error;
use dolmen::task::{Classification, Density, Joint, Regression};
use serde::Serialize;
use serde_json::{Map, Value};

use crate::args::{Common, Format};
use crate::output::{self, Done, columns};

/// List the learners and combiners with their parameters and defaults.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  dolmen learners
  dolmen learners mixture")]
pub(crate) struct Learners {
    /// Only this one.
    name: Option<String>,
}

/// Stands in the place of the task for combiners.
const COMBINER: &str = "combiner";

#[derive(Debug, Serialize)]
struct Shown {
    name: &'static str,
    task: &'static str,
    about: &'static str,
    parameters: Map<String, Value>,
}

pub(crate) fn run(arguments: &Learners, common: &Common, out: &mut dyn Write) -> Done {
    let mut learners = listed::<Density>();
    learners.extend(listed::<Classification>());
    learners.extend(listed::<Joint>());
    learners.extend(listed::<Regression>());
    let combiners = Catalogue::standard().combiners::<Classification>();
    learners.extend(combiners.iter().map(|combiner| shown(combiner, COMBINER)));
    if let Some(name) = &arguments.name {
        let names: Vec<&str> = learners.iter().map(|learner| learner.name).collect();
        if !names.contains(&name.as_str()) {
            let expected = "the name of a learner or combiner (dolmen learners lists them)";
            return Err(Error::param("name", expected, name).suggesting(name, names).into());
        }
        learners.retain(|learner| learner.name == name);
    }
    if common.format == Format::Json {
        return output::json(&learners, out);
    }
    if arguments.name.is_some() {
        return learners.iter().try_for_each(|learner| describe(learner, out));
    }
    let row =
        |learner: &Shown| vec![learner.name.into(), learner.task.into(), learner.about.into()];
    columns(&["learner", "task", "what it is"], learners.iter().map(row), out)
}

fn listed<T: Catalogued>() -> Vec<Shown> {
    let learners = Catalogue::standard().learners::<T>();
    learners.iter().map(|entry| shown(entry, T::NAME)).collect()
}

fn shown<W: ?Sized>(entry: &Entry<W>, task: &'static str) -> Shown {
    let parameters = entry.parameters().iter();
    let parameters = parameters.map(|p| (p.name.clone(), p.default.clone())).collect();
    Shown { name: entry.kind(), task, about: entry.about(), parameters }
}

fn describe(learner: &Shown, out: &mut dyn Write) -> Done {
    writeln!(out, "{} ({}): {}\n", learner.name, learner.task, learner.about)?;
    let row = |(name, default): (&String, &Value)| vec![name.clone(), default.to_string()];
    columns(&["parameter", "default"], learner.parameters.iter().map(row), out)
}
