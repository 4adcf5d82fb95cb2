//! Which ensemble suits the data of a recipe.

use super::{Data, Recipe, Truth};
use crate::error::Result;
use crate::evaluate::advise::{Advice, Advisable, Facts, advise, probe};
use crate::run::Run;
use crate::task::{Classification, Density, Regression};

impl Recipe {
    /// Probes data that were taken apart by this recipe, and advises.
    pub fn advise(&self, data: &Data, run: &Run) -> Result<Advice> {
        let run = &run.seeded(self.seed);
        match &data.truth {
            Truth::None => ask::<Density>(data, &(), run),
            Truth::Classes(labels) => ask::<Classification>(data, labels, run),
            Truth::Numbers(values) => ask::<Regression>(data, values, run),
        }
    }
}

fn ask<T: Advisable>(data: &Data, target: &T::Target, run: &Run) -> Result<Advice> {
    let sample = data.sample::<T>(target)?;
    Ok(advise(Facts::of(&sample), probe(&sample, run)?))
}
