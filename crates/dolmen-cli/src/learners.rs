//! `dolmen learners`: what can be a member, with its parameters.

use std::io::Write;

use clap::Args;
use dolmen::combine::library::entries as combiners;
use dolmen::error::Error;
use dolmen::learner::library::Library;
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
    learners.extend(combiners().into_iter().map(|combiner| Shown {
        name: combiner.kind,
        task: COMBINER,
        about: combiner.about,
        parameters: combiner.defaults,
    }));
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

fn listed<T: Library>() -> Vec<Shown> {
    let show = |entry: dolmen::learner::library::Entry<T>| Shown {
        name: entry.kind,
        task: T::NAME,
        about: entry.about,
        parameters: entry.defaults,
    };
    T::entries().into_iter().map(show).collect()
}

fn describe(learner: &Shown, out: &mut dyn Write) -> Done {
    writeln!(out, "{} ({}): {}\n", learner.name, learner.task, learner.about)?;
    let row = |(name, default): (&String, &Value)| vec![name.clone(), default.to_string()];
    columns(&["parameter", "default"], learner.parameters.iter().map(row), out)
}
