//! The penalised likelihood of softmax regression, its gradient and Hessian, summed over blocks of rows.
//!
//! Class scores are f = T phi'z with z a row on the common scale and a 1 for the intercept. Of two classes the first has
//! score 0 (T = (0, 1)'). More classes are treated alike: their coefficients sum to zero at the optimum of a symmetric
//! penalty, so T is an orthonormal basis of the contrasts, in which the penalty is again |phi|^2 and no direction is flat.
//!
//! A row may belong to several classes in shares that sum to 1: its log likelihood is then sum_c share_c ln p_c. That is what
//! EM asks of a gate, whose classes are experts.

use std::ops::Range;

use dolmen_linalg::{Mat, MatMut, MatRef, multiply, multiply_add, product};
use serde::{Deserialize, Serialize};

use super::coordinates::Coordinates;
use crate::learner::Sample;
use crate::learner::chosen::Chosen;
use crate::learner::scales::Scales;
use crate::math::{Gram, bulk, divide_rows, exp_and_sum_rows, largest_in_rows};
use crate::stats::{Accumulator, accumulate};
use crate::task::Classification;

/// Rows summed into one accumulator, and those multiplied at a time.
const PART: usize = 4096;
const BLOCK: usize = 256;

/// Rows as the likelihood sees them.
pub(crate) trait Observations: Copy + Sync {
    /// Number of rows.
    fn rows(&self) -> usize;
    /// Columns and the intercept.
    fn width(&self) -> usize;
    /// Writes a row on the common scale, and a 1 for the intercept.
    fn write(&self, row: usize, z: &mut [f64]);
    /// The weight of a row.
    fn weight(&self, row: usize) -> f64;
    /// How much of a row is of a class; over the classes it sums to 1.
    fn share(&self, row: usize, class: usize) -> f64;
}

/// Some rows of a sample, each of one class.
#[derive(Debug, Clone, Copy)]
pub(super) struct Labelled<'a> {
    pub(super) sample: Sample<'a, Classification>,
    /// The rows that count.
    pub(super) rows: Chosen<'a>,
    pub(super) scales: &'a Scales,
    /// For each class of the target its number here; classes without rows have none.
    pub(super) numbers: &'a [Option<usize>],
    /// The rows of the sample in few coordinates, if they have more columns than there are rows.
    pub(super) coordinates: Option<&'a Coordinates>,
}

impl Observations for Labelled<'_> {
    fn rows(&self) -> usize {
        self.rows.len()
    }

    fn width(&self) -> usize {
        self.coordinates.map_or(self.sample.x().width(), Coordinates::width) + 1
    }

    fn write(&self, row: usize, z: &mut [f64]) {
        let (row, last) = (self.rows.at(row), self.width() - 1);
        match self.coordinates {
            Some(coordinates) => z[..last].copy_from_slice(coordinates.row(row)),
            None => self.scales.write(self.sample.x().row(row), z),
        }
        z[last] = 1.0;
    }

    fn weight(&self, row: usize) -> f64 {
        self.sample.weight(self.rows.at(row))
    }

    fn share(&self, row: usize, class: usize) -> f64 {
        let own = self.numbers[self.sample.target().class(self.rows.at(row))];
        f64::from(u8::from(own == Some(class)))
    }
}

/// No rows, of so many columns and the intercept: for what follows from sums alone.
#[derive(Debug, Clone, Copy)]
pub(super) struct Shape(pub(super) usize);

impl Observations for Shape {
    fn rows(&self) -> usize {
        0
    }

    fn width(&self) -> usize {
        self.0
    }

    fn write(&self, _row: usize, _z: &mut [f64]) {}

    fn weight(&self, _row: usize) -> f64 {
        0.0
    }

    fn share(&self, _row: usize, _class: usize) -> f64 {
        0.0
    }
}

/// What is to be minimised.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Problem<'a, D> {
    pub(crate) data: D,
    /// Row c: the scores of class c in contrasts.
    pub(crate) contrasts: &'a Mat<f64>,
    /// The penalty.
    pub(crate) lambda: f64,
}

/// Sums over rows at one point.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct Evaluation {
    /// Minus the log likelihood, plus the penalty.
    pub(crate) loss: f64,
    /// Contrast after contrast: one element per column, then that of the intercept.
    pub(crate) gradient: Vec<f64>,
    /// Blocks (k, l), l <= k, of the Hessian; empty if not asked for.
    pub(crate) hessian: Vec<Gram>,
}

impl Accumulator for Evaluation {
    fn merge(&mut self, later: Self) {
        self.loss += later.loss;
        self.gradient.iter_mut().zip(later.gradient).for_each(|(a, b)| *a += b);
        self.hessian.iter_mut().zip(later.hessian).for_each(|(a, b)| a.merge(b));
    }
}

/// The basis of contrasts between so many classes.
pub(crate) fn contrasts(classes: usize) -> Mat<f64> {
    if classes == 2 {
        return Mat::from_fn(2, 1, |c, _| c as f64);
    }
    // Helmert's: the mean of the first k classes against the next.
    Mat::from_fn(classes, classes.saturating_sub(1), |c, k| {
        let norm = ((k + 1) as f64 * (k + 2) as f64).sqrt();
        match c {
            c if c <= k => 1.0 / norm,
            c if c == k + 1 => -((k + 1) as f64) / norm,
            _ => 0.0,
        }
    })
}

impl<'a> Problem<'a, Labelled<'a>> {
    /// The same for other rows of the sample.
    pub(super) fn over<'b>(&self, rows: &'b [u32]) -> Problem<'b, Labelled<'b>>
    where
        'a: 'b,
    {
        let data = Labelled { rows: Chosen::These(rows), ..self.data };
        Problem { data, contrasts: self.contrasts, lambda: self.lambda }
    }

    /// The classes' coefficients of the columns on the common scale: one column per class, the intercepts last.
    pub(super) fn column_coefficients(&self, phi: &[f64]) -> Mat<f64> {
        let theta = self.class_coefficients(phi);
        let Some(coordinates) = self.data.coordinates else { return theta };
        let of_class = |c: usize| theta.col(c).iter().copied().collect::<Vec<f64>>();
        let all: Vec<f64> =
            (0..theta.ncols()).flat_map(|c| coordinates.of_columns(&of_class(c))).collect();
        MatRef::from_column_major_slice(&all, self.data.sample.x().width() + 1, theta.ncols())
            .to_owned()
    }
}

impl<D: Observations> Problem<'_, D> {
    /// Columns and the intercept.
    pub(crate) fn width(&self) -> usize {
        self.data.width()
    }

    /// Number of parameters.
    pub(crate) fn parameters(&self) -> usize {
        self.width() * self.contrasts.ncols()
    }

    /// The sum of the row weights.
    pub(crate) fn weight(&self) -> f64 {
        (0..self.data.rows()).map(|row| self.data.weight(row)).sum()
    }

    /// The classes' coefficients on the common scale: one column per class.
    pub(crate) fn class_coefficients(&self, phi: &[f64]) -> Mat<f64> {
        let phi = MatRef::from_column_major_slice(phi, self.width(), self.contrasts.ncols());
        product(phi, self.contrasts.transpose())
    }

    /// Minus the log likelihood of the rows, without penalty.
    pub(crate) fn deviance(&self, phi: &[f64]) -> f64 {
        Problem { lambda: 0.0, ..*self }.evaluate(phi, false).loss
    }

    /// Loss and gradient, and the Hessian if asked for.
    pub(crate) fn evaluate(&self, phi: &[f64], with_hessian: bool) -> Evaluation {
        let mut sum = self.sums(phi, with_hessian);
        self.penalise(phi, &mut sum);
        sum
    }

    /// The same without the penalty: the sums over rows.
    pub(super) fn sums(&self, phi: &[f64], with_hessian: bool) -> Evaluation {
        let (width, kinds) = (self.width(), self.contrasts.ncols());
        let theta = self.class_coefficients(phi);
        let blocks = if with_hessian { kinds * (kinds + 1) / 2 } else { 0 };
        let zero = || Evaluation {
            loss: 0.0,
            gradient: vec![0.0; phi.len()],
            hessian: vec![Gram::zero(width); blocks],
        };
        accumulate(self.data.rows(), PART, zero, |sum, part: Range<usize>| {
            let mut pass = Pass::new(self, &theta);
            for first in part.clone().step_by(BLOCK) {
                pass.add(first..part.end.min(first + BLOCK), sum);
            }
        })
    }

    /// Adds the penalty to loss and gradient.
    pub(super) fn penalise(&self, phi: &[f64], sum: &mut Evaluation) {
        let width = self.width();
        for (phi, gradient) in phi.chunks_exact(width).zip(sum.gradient.chunks_exact_mut(width)) {
            let penalised = &phi[..width - 1];
            sum.loss += 0.5 * self.lambda * bulk::dot(penalised, penalised);
            bulk::add_scaled(&mut gradient[..width - 1], self.lambda, penalised);
        }
    }

    /// The whole Hessian from its blocks, with the penalty.
    pub(crate) fn assemble(&self, blocks: &[Gram]) -> Mat<f64> {
        let width = self.width();
        Mat::from_fn(self.parameters(), self.parameters(), |row, column| {
            let (row, column) = (row.max(column), row.min(column));
            let (k, l) = (row / width, column / width);
            let penalty = if row == column && row % width < width - 1 { self.lambda } else { 0.0 };
            blocks[k * (k + 1) / 2 + l].get(row % width, column % width) + penalty
        })
    }
}

/// Room for a block of rows.
struct Pass<'a, D> {
    problem: &'a Problem<'a, D>,
    theta: &'a Mat<f64>,
    /// The rows on the common scale, row after row, and times a weight.
    z: Vec<f64>,
    weighted: Vec<f64>,
    weights: Vec<f64>,
    /// Class after class: the rows' shares.
    shares: Vec<f64>,
    /// Class after class: scores, then probabilities, then residuals.
    scores: Vec<f64>,
    largest: Vec<f64>,
    totals: Vec<f64>,
    /// Contrast after contrast: probabilities or residuals in contrasts.
    turned: Vec<f64>,
    curvature: Vec<f64>,
}

impl<'a, D: Observations> Pass<'a, D> {
    fn new(problem: &'a Problem<'a, D>, theta: &'a Mat<f64>) -> Self {
        let room = |values: usize| vec![0.0; BLOCK * values];
        Self {
            z: room(problem.width()),
            weighted: room(problem.width()),
            weights: room(1),
            shares: room(problem.contrasts.nrows()),
            scores: room(problem.contrasts.nrows()),
            largest: room(1),
            totals: room(1),
            turned: room(problem.contrasts.ncols()),
            curvature: room(1),
            problem,
            theta,
        }
    }

    fn add(&mut self, rows: Range<usize>, sum: &mut Evaluation) {
        let count = rows.len();
        self.read(rows);
        sum.loss += self.probabilities(count);
        if !sum.hessian.is_empty() {
            self.turn(count);
            self.add_hessian(count, &mut sum.hessian);
        }
        let classes = self.scores.chunks_exact_mut(count).zip(self.shares.chunks_exact(count));
        for (scores, shares) in classes.take(self.theta.ncols()) {
            for ((score, share), weight) in scores.iter_mut().zip(shares).zip(&self.weights) {
                *score = weight * (*score - share);
            }
        }
        self.turn(count);
        let (width, kinds) = (self.problem.width(), self.problem.contrasts.ncols());
        multiply_add(
            MatMut::from_column_major_slice_mut(&mut sum.gradient, width, kinds),
            MatRef::from_row_major_slice(&self.z[..count * width], count, width).transpose(),
            MatRef::from_column_major_slice(&self.turned[..count * kinds], count, kinds),
        );
    }

    /// Reads rows.
    fn read(&mut self, rows: Range<usize>) {
        let (data, width, count) = (self.problem.data, self.problem.width(), rows.len());
        let classes = self.theta.ncols();
        let places = self.z.chunks_exact_mut(width).zip(&mut self.weights);
        for (row, (z, weight)) in rows.clone().zip(places) {
            data.write(row, z);
            *weight = data.weight(row);
        }
        // Class after class, as they stand: of many classes a row's shares lie far apart.
        for (class, shares) in self.shares.chunks_exact_mut(count).enumerate().take(classes) {
            shares
                .iter_mut()
                .zip(rows.clone())
                .for_each(|(share, row)| *share = data.share(row, class));
        }
    }

    /// The classes' probabilities in the place of scores; returns minus the log likelihood.
    fn probabilities(&mut self, count: usize) -> f64 {
        let (width, classes) = (self.problem.width(), self.theta.ncols());
        let scores = &mut self.scores[..count * classes];
        multiply(
            MatMut::from_column_major_slice_mut(scores, count, classes),
            MatRef::from_row_major_slice(&self.z[..count * width], count, width),
            self.theta.as_ref(),
        );
        let (largest, totals) = (&mut self.largest[..count], &mut self.totals[..count]);
        largest_in_rows(scores, largest);
        let mut loss = 0.0;
        for (scores, shares) in scores.chunks_exact(count).zip(self.shares.chunks_exact(count)) {
            let rows = scores.iter().zip(&*largest).zip(shares).zip(&self.weights);
            for (((score, largest), share), weight) in rows {
                // Of many classes nearly all shares are 0.
                if *share != 0.0 {
                    loss -= weight * share * (score - largest);
                }
            }
        }
        exp_and_sum_rows(scores, largest, totals);
        divide_rows(scores, totals);
        bulk::ln_in_place(totals);
        loss + bulk::dot(&self.weights[..count], totals)
    }

    /// What stands in the place of scores, in contrasts. Helmert's need running sums of the classes only, which matters where
    /// classes are many.
    fn turn(&mut self, count: usize) {
        let kinds = self.problem.contrasts.ncols();
        let of_class = |c: usize| &self.scores[c * count..(c + 1) * count];
        if self.problem.contrasts.nrows() == 2 {
            return self.turned[..count].copy_from_slice(of_class(1));
        }
        let sums = &mut self.curvature[..count];
        sums.fill(0.0);
        for (k, turned) in self.turned[..count * kinds].chunks_exact_mut(count).enumerate() {
            let norm = self.problem.contrasts[(0, k)];
            bulk::add_scaled(sums, 1.0, of_class(k));
            for ((turned, sum), next) in turned.iter_mut().zip(&*sums).zip(of_class(k + 1)) {
                *turned = norm * (sum - (k + 1) as f64 * next);
            }
        }
    }

    /// Adds z z' (T'(diag p - p p')T)_kl to every block (k, l).
    fn add_hessian(&mut self, count: usize, blocks: &mut [Gram]) {
        let (width, contrasts) = (self.problem.width(), self.problem.contrasts);
        let mut blocks = blocks.iter_mut();
        for k in 0..contrasts.ncols() {
            for l in 0..=k {
                let curvature = &mut self.curvature[..count];
                let turned = |k: usize| &self.turned[k * count..(k + 1) * count];
                bulk::multiply(turned(k), turned(l), curvature);
                curvature.iter_mut().for_each(|value| *value = -*value);
                for (c, scores) in
                    self.scores.chunks_exact(count).enumerate().take(contrasts.nrows())
                {
                    let share = contrasts[(c, k)] * contrasts[(c, l)];
                    if share != 0.0 {
                        bulk::add_scaled(curvature, share, scores);
                    }
                }
                let rows = self.z.chunks_exact(width).zip(self.weighted.chunks_exact_mut(width));
                for ((z, out), (curvature, weight)) in rows.zip(curvature.iter().zip(&self.weights))
                {
                    let factor = curvature * weight;
                    out.iter_mut().zip(z).for_each(|(out, z)| *out = factor * z);
                }
                if let Some(block) = blocks.next() {
                    let cells = count * width;
                    block.add_weighted_rows(&self.z[..cells], &self.weighted[..cells], count);
                }
            }
        }
    }
}
