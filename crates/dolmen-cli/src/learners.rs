//! `dolmen learners`: what can be a member, a combiner or a plan, with its parameters.

use std::io::Write;

use clap::Args;
use dolmen::catalogue::{Catalogue, Catalogued, Choice, Entry, Parameter, PlanEntry, Range, plans};
use dolmen::error::Error;
use dolmen::plan::PlanSpec;
use dolmen::spec::{self, Spec};
use dolmen::task::{Classification, Density, Joint, Regression};
use serde::Serialize;
use serde_json::{Map, Value};

use crate::args::{Common, Format};
use crate::output::{self, Done, left_columns};

/// List the learners, combiners and plans; of one, its parameters with meaning, default and allowed values.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  dolmen learners
  dolmen learners mixture
  dolmen learners time")]
pub(crate) struct Learners {
    /// Only this one.
    name: Option<String>,
}

/// Stands in the place of the task for combiners.
const COMBINER: &str = "combiner";
/// And for plans.
const PLAN: &str = "plan";

#[derive(Debug, Default, Serialize)]
struct Shown {
    name: &'static str,
    task: &'static str,
    about: &'static str,
    /// The defaults by name.
    parameters: Map<String, Value>,
    documented: Vec<Documented>,
    example: String,
}

/// All there is to say about a parameter.
#[derive(Debug, Serialize)]
struct Documented {
    name: String,
    about: String,
    /// What it can be, in words.
    kind: String,
    /// The same with the numbers that are allowed.
    allowed: String,
    default: Value,
    required: bool,
    range: Option<Range>,
    /// The words it can be, with their meaning.
    values: Vec<Choice>,
}

pub(crate) fn run(arguments: &Learners, common: &Common, out: &mut dyn Write) -> Done {
    let mut learners = listed::<Density>();
    learners.extend(listed::<Classification>());
    learners.extend(listed::<Joint>());
    learners.extend(listed::<Regression>());
    let combiners = Catalogue::standard().combiners::<Classification>();
    learners.extend(combiners.iter().map(|combiner| shown(combiner, COMBINER)));
    learners.extend(plans().iter().map(shown_plan));
    if let Some(name) = &arguments.name {
        let names: Vec<&str> = learners.iter().map(|learner| learner.name).collect();
        // Plans have short names, too.
        let plan = PlanSpec::from_spec(&Spec::new(name)).map(|request| request.spec.kind());
        let own = plan.unwrap_or(name.as_str());
        if !names.contains(&own) {
            let expected = "the name of a learner, combiner or plan (dolmen learners lists them)";
            return Err(Error::param("name", expected, name).suggesting(name, names).into());
        }
        learners.retain(|learner| learner.name == own);
    }
    if common.format == Format::Json {
        return output::json(&learners, out);
    }
    if arguments.name.is_some() {
        return output::report(out, |out| {
            learners.iter().try_for_each(|learner| describe(learner, out))
        });
    }
    let row =
        |learner: &Shown| vec![learner.name.into(), learner.task.into(), learner.about.into()];
    left_columns(&["learner", "task", "what it is"], learners.iter().map(row), out)
}

fn listed<T: Catalogued>() -> Vec<Shown> {
    let learners = Catalogue::standard().learners::<T>();
    learners.iter().map(|entry| shown(entry, T::NAME)).collect()
}

fn shown<W: ?Sized>(entry: &Entry<W>, task: &'static str) -> Shown {
    let (name, about) = (entry.kind(), entry.about());
    Shown { name, task, about, ..with_parameters(entry.parameters(), entry.example()) }
}

fn shown_plan(plan: &PlanEntry) -> Shown {
    let (name, about) = (plan.kind, plan.about);
    Shown { name, task: PLAN, about, ..with_parameters(&plan.parameters, plan.example) }
}

fn with_parameters(parameters: &[Parameter], example: &str) -> Shown {
    let optional = parameters.iter().filter(|parameter| !parameter.required);
    Shown {
        parameters: optional.map(|p| (p.name.clone(), p.default.clone())).collect(),
        documented: parameters.iter().map(documented).collect(),
        example: example.into(),
        ..Shown::default()
    }
}

fn documented(parameter: &Parameter) -> Documented {
    let Parameter { name, about, kind, range, default, required } = parameter.clone();
    Documented {
        name,
        about,
        kind: kind.to_string(),
        allowed: parameter.allowed(),
        default,
        required,
        range,
        values: parameter.choices().to_vec(),
    }
}

fn describe(learner: &Shown, out: &mut dyn Write) -> Done {
    writeln!(out, "{} ({}): {}\n", learner.name, learner.task, learner.about)?;
    let option = match learner.task {
        COMBINER => "--combiner",
        PLAN => "--plan",
        _ => "--model",
    };
    writeln!(out, "Example: {option} '{}'", learner.example)?;
    if learner.documented.is_empty() {
        writeln!(out, "It has no parameters.")?;
    } else {
        writeln!(out)?;
        let header = ["parameter", "default", "value", "meaning"];
        left_columns(&header, learner.documented.iter().map(row), out)?;
    }
    let values: Vec<Vec<String>> = learner.documented.iter().flat_map(words).collect();
    if !values.is_empty() {
        writeln!(out)?;
        left_columns(&["value", "meaning"], values, out)?;
    }
    writeln!(out)?;
    Ok(())
}

fn row(parameter: &Documented) -> Vec<String> {
    let default = match &parameter.default {
        Value::Null if parameter.required => "required".into(),
        Value::Null => "none".into(),
        default => spec::value(default),
    };
    let Documented { name, allowed, about, .. } = parameter;
    vec![name.clone(), default, allowed.clone(), about.clone()]
}

/// The words a parameter can be, where they are explained.
fn words(parameter: &Documented) -> Vec<Vec<String>> {
    let explained = parameter.values.iter().filter(|choice| !choice.about.is_empty());
    let row =
        |choice: &Choice| vec![format!("{}={}", parameter.name, choice.name), choice.about.clone()];
    explained.map(row).collect()
}
