//! Density learners, and what density models can do beyond saying ln p(x).

pub mod atoms;
pub mod averaged;
pub mod gaussian;
pub mod kernel;
pub mod mixture;

pub use atoms::{Atoms, FittedAtoms};
pub use averaged::FittedAverage;
pub use gaussian::{FittedGaussian, Gaussian};
pub use kernel::{FittedKernel, KernelDensity};
pub use mixture::{FittedMixture, GaussianMixture};

use rand::Rng;

use super::Fitted;
use crate::error::{Error, Result};
use crate::memory;
use crate::run::Run;
use crate::table::Features;
use crate::task::Density;

/// A fitted density over numeric columns.
pub trait DensityModel: Fitted<Density> {
    /// Number of columns.
    fn dimension(&self) -> usize;

    /// Draws one row with the numbers of a generator.
    fn sample_into(&self, rng: &mut dyn Rng, out: &mut [f64]);

    /// Draws rows, one after the other, with the random numbers of a run.
    fn sample(&self, rows: usize, run: &Run) -> Result<Vec<f64>> {
        let width = self.dimension();
        memory::claim(memory::size(&[rows, width, size_of::<f64>()]), &format!("{rows} rows"))?;
        let (mut rng, mut values) = (run.rng(), vec![0.0; rows * width]);
        for row in values.chunks_exact_mut(width.max(1)) {
            run.check()?;
            self.sample_into(&mut rng, row);
        }
        Ok(values)
    }

    /// The density of chosen columns, in that order, the others integrated out.
    fn marginal(&self, columns: &[usize]) -> Result<Box<dyn DensityModel>>;

    /// The density of two columns, the others integrated out, at every place of a grid: of the first y at all x, then of the next. Both
    /// ascend.
    fn on_grid(&self, columns: [usize; 2], x: &[f64], y: &[f64]) -> Result<Vec<f64>> {
        let cells = y.iter().flat_map(|y| x.iter().flat_map(move |x| [*x, *y])).collect();
        let mut out = vec![0.0; x.len() * y.len()];
        let part = self.marginal(&columns)?;
        part.predict_into(Features::numeric(cells, 2)?.rows(), &mut out)?;
        out.iter_mut().for_each(|log| *log = log.exp());
        Ok(out)
    }

    /// The density of the remaining columns, in order, given the values of some: `(column, value)`.
    fn condition(&self, given: &[(usize, f64)]) -> Result<Box<dyn DensityModel>>;

    /// The probability of a value of at most `x`, for a density of one column.
    fn cdf(&self, x: f64) -> Result<f64>;

    /// A copy behind the trait.
    fn boxed(&self) -> Box<dyn DensityModel>;

    /// The value below which a share `p` of a one-column density lies.
    ///
    /// Bisection of the cdf down to neighbouring floats: it works for flat and stepped cdfs alike.
    fn quantile(&self, p: f64) -> Result<f64> {
        if !(p > 0.0 && p < 1.0) {
            return Err(Error::param("p", "between 0 and 1", p));
        }
        let (mut low, mut high) = (-1.0, 1.0);
        while self.cdf(low)? >= p {
            low *= 2.0;
        }
        while self.cdf(high)? < p {
            high *= 2.0;
        }
        loop {
            let middle = f64::midpoint(low, high);
            if middle <= low || middle >= high {
                return Ok(high);
            }
            if self.cdf(middle)? < p { low = middle } else { high = middle }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::learner::averaged::{Averaged, Averaging};
    use crate::learner::density::kernel::Shape;
    use crate::learner::{Learner, Sample};

    #[test]
    fn rows_are_drawn_with_the_numbers_of_the_run() {
        let run = Run::with_threads(7, 1).unwrap();
        let x: Vec<f64> = (0..40).map(|i| f64::from(i * i % 17)).collect();
        let x = Features::numeric(x, 2).unwrap();
        let sample = Sample::new(x.rows(), &()).unwrap();
        let learners: [&dyn Learner<Density>; 3] = [
            &Gaussian::default(),
            &KernelDensity::default(),
            &Averaged::new(Gaussian::default(), Averaging { fits: 2, ..Averaging::default() }),
        ];
        for learner in learners {
            let model = learner.fit(&sample, &run).unwrap().remove(0);
            let density = model.density().unwrap();
            let drawn = density.sample(5, &run).unwrap();
            let (mut rng, mut rows) = (run.rng(), [0.0; 10]);
            rows.chunks_exact_mut(2).for_each(|row| density.sample_into(&mut rng, row));
            assert_eq!(drawn, rows, "{learner:?}");
            assert_ne!(drawn, density.sample(5, &run.child(1)).unwrap(), "{learner:?}");
        }
    }

    /// Kernels have a way of their own, averages ask their parts: all say what the density of the two columns says place by place.
    #[test]
    fn on_a_grid_stands_the_density_of_two_columns() {
        let run = Run::with_threads(7, 1).unwrap();
        let x: Vec<f64> = (0..900).map(|i| f64::from(i * i % 101) / 7.0).collect();
        let x = Features::numeric(x, 3).unwrap();
        let sample = Sample::new(x.rows(), &()).unwrap();
        let kernel = |shape| KernelDensity { shape, ..KernelDensity::default() };
        let mut learners: Vec<Box<dyn Learner<Density>>> = vec![Box::new(Gaussian::default())];
        learners.extend(Shape::ALL.map(|shape| Box::new(kernel(shape)) as _));
        let averaging = Averaging { fits: 2, ..Averaging::default() };
        learners.push(Box::new(Averaged::new(kernel(Shape::Gaussian), averaging)));
        let places = |from: f64, step: f64| (0..9).map(|k| from + step * f64::from(k)).collect();
        let (across, up): (Vec<f64>, Vec<f64>) = (places(-1.0, 2.1), places(0.3, 1.7));
        for learner in learners {
            let model = learner.fit(&sample, &run).unwrap().remove(0);
            let density = model.density().unwrap();
            let part = density.marginal(&[2, 0]).unwrap();
            let found = density.on_grid([2, 0], &across, &up).unwrap();
            for (k, found) in found.iter().enumerate() {
                let place = Features::numeric(vec![across[k % 9], up[k / 9]], 2).unwrap();
                let mut log = [0.0];
                part.predict_into(place.rows(), &mut log).unwrap();
                let wanted = log[0].exp();
                assert!((found - wanted).abs() <= 1e-6 * wanted + 1e-12, "{learner:?}, {k}");
            }
        }
    }
}
