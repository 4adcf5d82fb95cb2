//! The members of a model one by one.

use super::model::{Model, with_model};
use crate::ensemble::Ensemble;
use crate::learner::{Fitted, Parameters, Series};
use crate::task::Task;

impl Model {
    /// The members' names, in their order.
    pub fn member_names(&self) -> Vec<String> {
        with_model!(self.any(), model => model.names().map(String::from).collect())
    }

    /// What each member found, as named rows of numbers: importances, weights of stages, losses of rounds.
    pub fn member_series(&self) -> Vec<(String, Vec<Series>)> {
        with_model!(self.any(), model => series(model))
    }

    /// What a member consists of, as data; `None` if there is no such member.
    pub fn member_parameters(&self, name: &str) -> Option<Parameters> {
        with_model!(self.any(), model => described(model, name))
    }
}

fn series<T: Task>(ensemble: &Ensemble<T>) -> Vec<(String, Vec<Series>)> {
    let members = ensemble.names().zip(ensemble.models());
    members.map(|(name, model)| (name.into(), model.diagnostics().series)).collect()
}

fn described<T: Task>(ensemble: &Ensemble<T>, name: &str) -> Option<Parameters> {
    let member = ensemble.names().zip(ensemble.models()).find(|(own, _)| *own == name);
    member.map(|(_, model)| Fitted::parameters(model))
}
