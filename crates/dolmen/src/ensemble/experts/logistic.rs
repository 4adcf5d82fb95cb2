//! Experts of classes: p_k(c given x) = softmax_c(u_kc'z), multinomial logistic regressions.
//!
//! An expert's penalty is that of logistic regression; beside it stand a rows imagined at the centre of the inputs, of the
//! classes in the shares that the single model, fitted to all rows, gives them there. An expert that has rows of one class
//! only thus stays unsure, and one expert alone is logistic regression. The M-step is a safeguarded step of Newton's
//! method for each expert, which is iteratively reweighted least squares (JordanJacobs1994, appendix A).

use std::ops::Range;

use dolmen_linalg::Mat;

use super::design::Design;
use super::em::Family;
use super::gate::squared_slopes;
use crate::error::Result;
use crate::learner::linear::newton;
use crate::learner::linear::softmax::{Observations, Problem, contrasts};
use crate::math::{bulk, exp_and_sum_rows, largest_in_rows, log_sum_exp};
use crate::run::Run;

/// When the single model is found: the gradient of its mean loss, and iterations at most.
const SINGLE: (f64, usize) = (1e-8, 500);

/// Classes that logistic experts predict.
#[derive(Debug)]
pub(super) struct Softmax {
    /// Each row's class, among those seen.
    classes: Vec<u32>,
    contrasts: Mat<f64>,
    ridge: f64,
    single: Vec<f64>,
    /// The classes' shares of the imagined row.
    at_centre: Vec<f64>,
}

/// What an expert learns from: its share of the rows and the imagined one; or all rows as they are.
#[derive(Debug, Clone, Copy)]
struct Own<'a> {
    family: &'a Softmax,
    design: &'a Design,
    share: Option<Share<'a>>,
}

#[derive(Debug, Clone, Copy)]
struct Share<'a> {
    responsibilities: &'a [f64],
    expert: usize,
    count: usize,
}

impl Observations for Own<'_> {
    fn rows(&self) -> usize {
        self.design.rows() + usize::from(self.share.is_some())
    }

    fn width(&self) -> usize {
        self.design.width()
    }

    fn write(&self, row: usize, z: &mut [f64]) {
        z.copy_from_slice(self.design.row(row));
    }

    fn weight(&self, row: usize) -> f64 {
        match (self.design.weights().get(row), self.share) {
            (None, _) => self.design.prior(),
            (Some(weight), None) => *weight,
            (Some(weight), Some(Share { responsibilities, expert, count })) => {
                weight * responsibilities[row * count + expert]
            }
        }
    }

    fn share(&self, row: usize, class: usize) -> f64 {
        match self.family.classes.get(row) {
            Some(own) => f64::from(u8::from(*own as usize == class)),
            None => self.family.at_centre[class],
        }
    }
}

impl Softmax {
    /// The classes of the design's rows, numbered among those seen, and the single model.
    pub(super) fn new(
        design: &Design,
        classes: Vec<u32>,
        seen: usize,
        ridge: f64,
        run: &Run,
    ) -> Result<Self> {
        let contrasts = contrasts(seen);
        let (single, at_centre) = (Vec::new(), Vec::new());
        let mut family = Self { classes, contrasts, ridge, single, at_centre };
        let problem = family.problem(design, None);
        let start = vec![0.0; problem.parameters()];
        family.single = newton::solve(&problem, start, SINGLE.0, SINGLE.1, run)?.at;
        let scores = family.scores_at_centre(&family.single, design.width());
        let total = log_sum_exp(&scores);
        family.at_centre = scores.iter().map(|score| (score - total).exp()).collect();
        Ok(family)
    }

    fn problem<'a>(&'a self, design: &'a Design, share: Option<Share<'a>>) -> Problem<'a, Own<'a>> {
        let data = Own { family: self, design, share };
        Problem { data, contrasts: &self.contrasts, lambda: self.ridge }
    }

    /// The scores of one expert's classes at the centre of the inputs.
    fn scores_at_centre(&self, phi: &[f64], width: usize) -> Vec<f64> {
        let intercepts = || phi.chunks_exact(width).map(|phi| phi[width - 1]).enumerate();
        let score = |c: usize| intercepts().map(|(k, b)| self.contrasts[(c, k)] * b).sum();
        (0..self.contrasts.nrows()).map(score).collect()
    }
}

impl Family for Softmax {
    /// Each expert's coefficients, in contrasts.
    type Experts = Vec<Vec<f64>>;

    fn outputs(&self) -> usize {
        self.contrasts.nrows()
    }

    fn several(&self, count: usize) -> Self::Experts {
        vec![self.single.clone(); count]
    }

    fn coefficients(&self, experts: &Self::Experts, width: usize) -> Vec<f64> {
        let class = |phi: &[f64], c: usize, j: usize| -> f64 {
            phi.chunks_exact(width)
                .enumerate()
                .map(|(k, phi)| self.contrasts[(c, k)] * phi[j])
                .sum()
        };
        let mut all = Vec::with_capacity(experts.len() * self.outputs() * width);
        for phi in experts {
            for c in 0..self.outputs() {
                all.extend((0..width).map(|j| class(phi, c, j)));
            }
        }
        all
    }

    fn ln_likelihood(
        &self,
        _experts: &Self::Experts,
        rows: Range<usize>,
        outputs: &mut [f64],
        room: &mut [f64],
        out: &mut [f64],
    ) {
        let count = rows.len();
        let (largest, totals) = room.split_at_mut(count);
        let classes = &self.classes[rows];
        let experts = outputs.chunks_exact_mut(count * self.outputs());
        for (scores, out) in experts.zip(out.chunks_exact_mut(count)) {
            largest_in_rows(scores, largest);
            for (r, (out, class)) in out.iter_mut().zip(classes).enumerate() {
                *out = scores[*class as usize * count + r] - largest[r];
            }
            exp_and_sum_rows(scores, largest, totals);
            bulk::ln_in_place(totals);
            bulk::add_scaled(out, -1.0, totals);
        }
    }

    fn ln_prior(&self, experts: &Self::Experts, design: &Design) -> f64 {
        let expert = |phi: &Vec<f64>| {
            let scores = self.scores_at_centre(phi, design.width());
            design.prior() * (bulk::dot(&scores, &self.at_centre) - log_sum_exp(&scores))
                - 0.5 * self.ridge * squared_slopes(phi, design.width())
        };
        experts.iter().map(expert).sum()
    }

    fn improve(
        &self,
        experts: &mut Self::Experts,
        design: &Design,
        responsibilities: &[f64],
        run: &Run,
    ) -> Result<()> {
        let count = experts.len();
        for (expert, phi) in experts.iter_mut().enumerate() {
            let share = Share { responsibilities, expert, count };
            let problem = self.problem(design, Some(share));
            *phi = newton::improve(&problem, std::mem::take(phi), run)?.at;
        }
        Ok(())
    }
}
