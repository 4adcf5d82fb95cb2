//! A member as the average of its fits on the folds [Himmetoglu2019, section 3].

use std::sync::OnceLock;

use serde::{Deserialize, Serialize};

use super::stacked::BLOCK_CELLS;
use crate::error::{Error, Result};
use crate::learner::density::{DensityModel, FittedAverage};
use crate::learner::{Diagnostics, Fitted, SMALL_BLOCK, Series, Stored};
use crate::store::{Parameters, Record, Registry};
use crate::table::{Rows, Schema};
use crate::task::Task;

/// One member's fits, each on all folds but one, averaged (densities as densities, not as logarithms).
#[derive(Debug)]
pub struct FoldAverage<T: Task> {
    fits: Vec<Box<dyn Fitted<T>>>,
    /// The mixture of the fits, where they are densities: made when it is first asked for.
    density: OnceLock<Option<Box<dyn DensityModel>>>,
}

impl<T: Task> FoldAverage<T> {
    /// The average of at least one fit.
    pub(super) fn new(fits: Vec<Box<dyn Fitted<T>>>) -> Result<Self> {
        if fits.is_empty() {
            return Err(Error::shape("fits to average", 1, 0));
        }
        Ok(Self { fits, density: OnceLock::new() })
    }
}

impl<T: Task> Fitted<T> for FoldAverage<T> {
    fn width(&self) -> usize {
        self.fits[0].width()
    }

    /// The largest of its fits, as far as memory allows.
    fn block(&self) -> usize {
        let largest = self.fits.iter().map(|fit| fit.block()).max().unwrap_or(SMALL_BLOCK);
        let most = BLOCK_CELLS / (self.fits.len() * self.width()).max(1);
        largest.min(most.max(SMALL_BLOCK))
    }

    fn predict_into(&self, x: Rows<'_>, out: &mut [f64]) -> Result<()> {
        let width = self.width();
        let mut predictions = vec![vec![0.0; out.len()]; self.fits.len()];
        for (fit, predicted) in self.fits.iter().zip(&mut predictions) {
            fit.predict_into(x, predicted)?;
        }
        let equal = vec![1.0 / self.fits.len() as f64; self.fits.len()];
        for (i, out) in out.chunks_exact_mut(width).enumerate() {
            T::mix(&equal, |v| &predictions[v][i * width..(i + 1) * width], out);
        }
        Ok(())
    }

    fn validate(&self, inputs: &Schema, width: usize) -> Result<()> {
        self.fits.iter().try_for_each(|fit| fit.validate(inputs, width))
    }

    fn record(&self) -> Result<Record> {
        let fits = self.fits.iter().map(|fit| fit.record()).collect::<Result<_>>()?;
        Record::new(Self::KIND, Self::VERSION, &Body { fits })
    }

    fn parameters(&self) -> Parameters {
        let fits: Vec<Parameters> = self.fits.iter().map(|fit| fit.parameters()).collect();
        Parameters::new(Self::KIND).with("fits", fits)
    }

    fn fold_fits(&self) -> Option<&[Box<dyn Fitted<T>>]> {
        Some(&self.fits)
    }

    /// The mixture of the fits.
    fn density(&self) -> Option<&dyn DensityModel> {
        let mixture = || {
            let part = |fit: &dyn Fitted<T>| fit.density().map(DensityModel::boxed);
            let fits = self.fits.iter().map(AsRef::as_ref);
            let parts: Vec<_> = fits.map(part).collect::<Option<_>>()?;
            let weights = vec![1.0 / parts.len() as f64; parts.len()];
            FittedAverage::mixture(weights, parts).map(|mixture| Box::new(mixture) as _)
        };
        self.density.get_or_init(mixture).as_deref()
    }

    /// Converged if all fits did; of numbers that all fits tell under one name and the same labels (importances,
    /// coefficients) the mean.
    fn diagnostics(&self) -> Diagnostics {
        let fits: Vec<Diagnostics> = self.fits.iter().map(|fit| fit.diagnostics()).collect();
        let all = |yes: fn(&Diagnostics) -> Option<bool>| {
            fits.iter().map(yes).collect::<Option<Vec<bool>>>().map(|all| all.iter().all(|c| *c))
        };
        let note = format!("the average of {} fits, each without one fold", fits.len());
        let series = fits.first().map_or(&[][..], |first| &first.series);
        Diagnostics {
            converged: all(|d| d.converged),
            notes: vec![note],
            series: series.iter().filter_map(|series| mean_series(series, &fits)).collect(),
            ..Diagnostics::default()
        }
    }
}

/// The mean over the fits of what all of them say; `None` if one says it otherwise, or of parts that each fit numbers in its
/// own way.
fn mean_series(first: &Series, fits: &[Diagnostics]) -> Option<Series> {
    if first.is_numbered {
        return None;
    }
    let same = |fit: &Diagnostics| {
        let alike = |s: &&Series| s.name == first.name && s.labels == first.labels;
        fit.series.iter().find(alike).map(|series| series.values.clone())
    };
    let all: Vec<Vec<f64>> = fits.iter().map(same).collect::<Option<_>>()?;
    if all.iter().any(|own| own.len() != first.values.len()) {
        return None;
    }
    let mean = |k: usize| all.iter().map(|own| own[k]).sum::<f64>() / all.len() as f64;
    let values = (0..first.values.len()).map(mean).collect();
    Some(Series { values, ..first.clone() })
}

#[derive(Serialize, Deserialize)]
struct Body {
    fits: Vec<Record>,
}

impl<T: Task> Stored<T> for FoldAverage<T> {
    const KIND: &'static str = "fold average";
    const VERSION: u32 = 1;

    fn restore(record: &Record, registry: &Registry) -> Result<Self> {
        let body: Body = record.read()?;
        // One after the other, so that stored and restored forms are not both whole in memory.
        let fits = body.fits.into_iter().map(|fit| registry.model(&fit));
        Self::new(fits.collect::<Result<_>>()?)
    }
}
