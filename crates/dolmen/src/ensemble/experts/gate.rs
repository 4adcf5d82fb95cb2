//! The gate: g_k(x) = softmax_k(v_k'z), linear in the inputs on their common scale.
//!
//! Its M-step is softmax regression with the responsibilities for classes (Bishop2006, 14.5.3; JordanJacobs1994,
//! section 4): sum_ik w_i r_ik ln g_k(x_i) + a sum_k (1/K) ln g_k(0) - (lambda/2) |v|^2, with a imagined rows at the centre of
//! the inputs, which all experts share alike and which keep an expert without rows from being shut out.

use dolmen_linalg::{Mat, MatRef, product};

use super::design::Design;
use crate::error::Result;
use crate::learner::linear::newton;
use crate::learner::linear::softmax::{Observations, Problem, contrasts};
use crate::math::{bulk, log_sum_exp};
use crate::run::Run;

/// The gate's coefficients, in contrasts.
#[derive(Debug, Clone)]
pub(super) struct Gate {
    phi: Vec<f64>,
    width: usize,
    contrasts: Mat<f64>,
    ridge: f64,
}

/// Rows shared out to the experts.
#[derive(Debug, Clone, Copy)]
struct Shared<'a> {
    design: &'a Design,
    /// Row after row, the imagined one last: each expert's share.
    responsibilities: &'a [f64],
    count: usize,
}

impl Observations for Shared<'_> {
    fn rows(&self) -> usize {
        self.design.rows() + 1
    }

    fn width(&self) -> usize {
        self.design.width()
    }

    fn write(&self, row: usize, z: &mut [f64]) {
        z.copy_from_slice(self.design.row(row));
    }

    fn weight(&self, row: usize) -> f64 {
        self.design.weights().get(row).copied().unwrap_or(self.design.prior())
    }

    fn share(&self, row: usize, expert: usize) -> f64 {
        self.responsibilities[row * self.count + expert]
    }
}

impl Gate {
    /// A gate that shares every row alike.
    pub(super) fn even(design: &Design, count: usize, ridge: f64) -> Self {
        let (width, contrasts) = (design.width(), contrasts(count));
        Self { phi: vec![0.0; width * contrasts.ncols()], width, contrasts, ridge }
    }

    /// The M-step: one safeguarded step of Newton's method.
    pub(super) fn improve(
        &mut self,
        design: &Design,
        responsibilities: &[f64],
        run: &Run,
    ) -> Result<()> {
        let data = Shared { design, responsibilities, count: self.contrasts.nrows() };
        let problem = Problem { data, contrasts: &self.contrasts, lambda: self.ridge };
        self.phi = newton::improve(&problem, std::mem::take(&mut self.phi), run)?.at;
        Ok(())
    }

    /// The experts' coefficients on the common scale: one column per expert.
    pub(super) fn coefficients(&self) -> Mat<f64> {
        let kinds = self.contrasts.ncols();
        let phi = MatRef::from_column_major_slice(&self.phi, self.width, kinds);
        product(phi, self.contrasts.transpose())
    }

    /// The log prior of the gate.
    pub(super) fn ln_prior(&self, design: &Design) -> f64 {
        let (width, count) = (design.width(), self.contrasts.nrows());
        let coefficients = self.coefficients();
        let at_centre: Vec<f64> =
            (0..count).map(|k| coefficients.get(width - 1, k)).copied().collect();
        let mean = at_centre.iter().sum::<f64>() / count as f64;
        design.prior() * (mean - log_sum_exp(&at_centre))
            - 0.5 * self.ridge * squared_slopes(&self.phi, width)
    }
}

/// The sum of the squares of all coefficients but the intercepts, which are every `width`th.
pub(super) fn squared_slopes(phi: &[f64], width: usize) -> f64 {
    phi.chunks_exact(width).map(|phi| bulk::dot(&phi[..width - 1], &phi[..width - 1])).sum()
}
