//! A member as the average of its fits on the folds [Himmetoglu2019, section 3].

use serde::{Deserialize, Serialize};

use crate::error::{Error, Result};
use crate::learner::Stored;
use crate::learner::{Diagnostics, Fitted};
use crate::store::{Parameters, Record, Registry};
use crate::table::{Rows, Schema};
use crate::task::Task;

/// One member's fits, each on all folds but one, averaged (densities as densities, not as logarithms).
#[derive(Debug)]
pub struct FoldAverage<T: Task> {
    fits: Vec<Box<dyn Fitted<T>>>,
}

impl<T: Task> FoldAverage<T> {
    /// The average of at least one fit.
    pub(super) fn new(fits: Vec<Box<dyn Fitted<T>>>) -> Result<Self> {
        if fits.is_empty() {
            return Err(Error::shape("fits to average", 1, 0));
        }
        Ok(Self { fits })
    }
}

impl<T: Task> Fitted<T> for FoldAverage<T> {
    fn width(&self) -> usize {
        self.fits[0].width()
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

    fn diagnostics(&self) -> Diagnostics {
        let fits: Vec<Diagnostics> = self.fits.iter().map(|fit| fit.diagnostics()).collect();
        let all = |yes: fn(&Diagnostics) -> Option<bool>| {
            fits.iter().map(yes).collect::<Option<Vec<bool>>>().map(|all| all.iter().all(|c| *c))
        };
        let note = format!("the average of {} fits, each without one fold", fits.len());
        Diagnostics { converged: all(|d| d.converged), notes: vec![note], ..Diagnostics::default() }
    }
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
