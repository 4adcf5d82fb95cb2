//! What `dolmen fit` prints where there are no folds: one model as it is, or a table too small for them.

use std::io::Write;
use std::path::PathBuf;

use dolmen::ensemble::Ensemble;
use dolmen::learner::Failure;
use dolmen::learner::Fitted;
use dolmen::task::Task;
use serde::Serialize;

use super::report::show_failures;
use crate::output::{Done, counted};

/// The whole result. There are no rows left to score it on.
#[derive(Debug, Serialize)]
pub(super) struct Alone {
    task: &'static str,
    rows: usize,
    members: Vec<Member>,
    /// 0: there was no out-of-sample matrix.
    folds: usize,
    failures: Vec<String>,
    pub(super) model: Option<PathBuf>,
}

#[derive(Debug, Serialize)]
struct Member {
    name: String,
    weight: f64,
    notes: Vec<String>,
}

impl Alone {
    pub(super) fn new<T: Task>(
        ensemble: &Ensemble<T>,
        rows: usize,
        failures: &[(String, Failure)],
    ) -> Self {
        let count = ensemble.names().len();
        let member = |(name, model): (&str, &dyn Fitted<T>)| Member {
            name: name.into(),
            weight: 1.0 / count as f64,
            notes: model.diagnostics().notes,
        };
        Self {
            task: T::NAME,
            rows,
            members: ensemble.names().zip(ensemble.models()).map(member).collect(),
            folds: 0,
            failures: failures.iter().map(|(name, f)| format!("{name}: {}", f.message)).collect(),
            model: None,
        }
    }

    pub(super) fn show(&self, out: &mut dyn Write) -> Done {
        for Member { name, weight, notes } in &self.members {
            let share = if self.members.len() > 1 {
                format!(", weight {weight:.4}")
            } else {
                String::new()
            };
            writeln!(out, "member         {name}{share}")?;
            notes.iter().try_for_each(|note| writeln!(out, "note           {note}"))?;
        }
        writeln!(out, "task           {} ({})", self.task, counted(self.rows, "row"))?;
        writeln!(out, "check          none: fitted on all rows, as it is; score it on other rows")?;
        show_failures(&self.failures, out)?;
        if let Some(model) = &self.model {
            writeln!(out, "model          {}", model.display())?;
        }
        Ok(())
    }
}
