//! EM from one start.
//!
//! E: `h_ik` proportional to `kappa_k prod_j f_kj(x_ij)`, `f` being `q_kjl` at an atom and `q_kj0 N(z | mu, s) exp(-h^2 / 24 s)` elsewhere. M:
//!
//! ```text
//! q_kjl = (n_kjl + p_jl) / sum_l' (n_kjl' + p_jl')
//! mu_kj = (sum_i h_ik z_ij + e m_j) / (n_kj0 + e)
//! s_kj  = (sum_i h_ik (z_ij - mu)^2 + e (m_j - mu)^2 + e v_j + n_kj0 h_j^2 / 12) / (n_kj0 + e)
//! ```
//!
//! over the rows that are elsewhere, `n_kj0`; `m` and `v` are their mean and variance in all components, `e` is 2 beta. What is known only to a cell of width h is spread evenly
//! in it, on average over which `ln N` is less by `h^2 / 24 s`: no component becomes narrower than a cell. The prior of the shares is worth one row as they are in all
//! rows; to be elsewhere, half a row shared by the components at least, for values that are yet to be met.

use super::Atoms;
use super::columns::{At, Column};
use super::part::{HALF_LN_TWO_PI, Part};
use crate::error::Result;
use crate::learner::density::mixture::Units;
use crate::learner::{Diagnostics, Sample};
use crate::math::{divide_rows, exp_and_sum_rows, largest_in_rows};
use crate::run::Run;
use crate::task::Density;

/// One column of the rows, as EM sees it.
#[derive(Debug)]
struct Values {
    /// 0 elsewhere, then the atoms, last what is missing.
    codes: Vec<u16>,
    /// The values in units of the fit; 0 where they are not elsewhere.
    z: Vec<f64>,
    /// 1 elsewhere, 0 otherwise.
    elsewhere: Vec<f64>,
    /// Shares of the rows that have a value: elsewhere, then the atoms.
    shares: Vec<f64>,
    /// Mean and variance of the values elsewhere.
    mean: f64,
    variance: f64,
    /// `h^2 / 12`, h the width of a cell in units of the fit.
    grain: f64,
}

/// The rows, column by column.
#[derive(Debug)]
pub(super) struct Coded {
    columns: Vec<Values>,
    weights: Vec<f64>,
}

/// Where EM came to.
#[derive(Debug, Clone)]
pub(super) struct Climb {
    pub(super) weights: Vec<f64>,
    /// Column after column of a component, component after component.
    pub(super) parts: Vec<Part>,
    pub(super) objective: f64,
    pub(super) diagnostics: Diagnostics,
}

impl Values {
    fn new(
        x: impl Iterator<Item = f64>,
        weights: &[f64],
        column: &Column,
        scale: (f64, f64),
    ) -> Self {
        let (shift, scale) = scale;
        let missing = column.atoms().len() + 1;
        let (mut codes, mut z, mut masses) = (Vec::new(), Vec::new(), vec![0.0; missing + 1]);
        for (x, weight) in x.zip(weights) {
            let code = match column.at(x) {
                At::Elsewhere => 0,
                At::Atom(atom) => atom + 1,
                At::Missing => missing,
            };
            masses[code] += weight;
            codes.push(code as u16);
            z.push(if code == 0 { (x - shift) / scale } else { 0.0 });
        }
        masses.pop();
        let elsewhere: Vec<f64> = codes.iter().map(|c| f64::from(u8::from(*c == 0))).collect();
        let weighted = |value: &dyn Fn(f64) -> f64| -> f64 {
            let rows = weights.iter().zip(&elsewhere).zip(&z);
            rows.map(|((w, e), &z)| w * e * value(z)).sum()
        };
        let grain = (column.cell() / scale).powi(2) / 12.0;
        let (mut mean, mut variance) = (0.0, 1.0);
        if masses[0] > 0.0 {
            mean = weighted(&|z| z) / masses[0];
            variance = (weighted(&|z| (z - mean) * (z - mean)) / masses[0]).max(grain);
        }
        let total: f64 = masses.iter().sum();
        let shares = masses.iter().map(|mass| mass / total).collect();
        Self { codes, z, elsewhere, shares, mean, variance, grain }
    }

    /// What the prior of the shares is worth in each of so many components.
    fn imagined(&self, components: usize) -> Vec<f64> {
        let mut rows = self.shares.clone();
        rows[0] = rows[0].max(0.5 / components as f64);
        rows
    }

    /// Adds the log of a part's `f` of every row.
    fn add_logs(&self, part: &Part, out: &mut [f64]) {
        let variance = part.deviation * part.deviation;
        let mut logs: Vec<f64> = part.shares.iter().map(|share| share.ln()).collect();
        logs[0] -= HALF_LN_TWO_PI + part.deviation.ln() + 0.5 * self.grain / variance;
        logs.push(0.0);
        let (mean, fall) = (part.mean, 0.5 / variance);
        let rows = self.codes.iter().zip(&self.z).zip(&self.elsewhere);
        for (out, ((&code, z), elsewhere)) in out.iter_mut().zip(rows) {
            let v = z - mean;
            *out += logs[usize::from(code)] - elsewhere * fall * v * v;
        }
    }

    /// The part that is best for rows of these shares; moments are summed about the mean before.
    fn part(&self, shares: &[f64], imagined: &[f64], worth: f64, about: f64) -> Part {
        let mut masses = vec![0.0; imagined.len() + 1];
        let (mut first, mut second) = (0.0, 0.0);
        let rows = self.codes.iter().zip(&self.z).zip(&self.elsewhere);
        for (h, ((&code, z), elsewhere)) in shares.iter().zip(rows) {
            masses[usize::from(code)] += h;
            let v = (z - about) * elsewhere;
            first += h * v;
            second += h * v * v;
        }
        masses.pop();
        let rows = masses[0] + worth;
        let step = (first + worth * (self.mean - about)) / rows;
        let mean = about + step;
        let scatter = second - 2.0 * step * first + masses[0] * step * step;
        let pull = worth * ((self.mean - mean).powi(2) + self.variance);
        let variance = (scatter.max(0.0) + pull + masses[0] * self.grain) / rows;
        masses.iter_mut().zip(imagined).for_each(|(mass, rows)| *mass += rows);
        let total: f64 = masses.iter().sum();
        masses.iter_mut().for_each(|mass| *mass /= total);
        Part { shares: masses, mean, deviation: variance.sqrt() }
    }

    /// The log prior of a part, without its constants.
    fn ln_prior(&self, part: &Part, imagined: &[f64], worth: f64) -> f64 {
        let variance = part.deviation * part.deviation;
        let pull = ((self.mean - part.mean).powi(2) + self.variance) / variance;
        let shares = part.shares.iter().zip(imagined).filter(|(_, rows)| **rows > 0.0);
        shares.map(|(share, rows)| rows * share.ln()).sum::<f64>()
            - 0.5 * worth * (variance.ln() + pull)
    }
}

impl Coded {
    /// The rows, in these units.
    pub(super) fn new(sample: &Sample<'_, Density>, columns: &[Column], units: &Units) -> Self {
        let weights: Vec<f64> = (0..sample.rows()).map(|i| sample.weight(i)).collect();
        let values = |(j, column): (usize, &Column)| {
            let scale = (units.shift(j), units.scale(j));
            Values::new(sample.x().column(j), &weights, column, scale)
        };
        Self { columns: columns.iter().enumerate().map(values).collect(), weights }
    }

    pub(super) fn rows(&self) -> usize {
        self.weights.len()
    }
}

/// The components on their way.
struct Ascent<'a> {
    coded: &'a Coded,
    /// Rows that the prior of a normal distribution is worth.
    worth: f64,
    imagined: Vec<Vec<f64>>,
    weights: Vec<f64>,
    parts: Vec<Part>,
    /// The rows' shares in the components, component after component, times the rows' weights.
    shares: Vec<f64>,
    /// Room for one number of every row.
    largest: Vec<f64>,
    totals: Vec<f64>,
}

impl Ascent<'_> {
    /// Shares the rows out, and gives the log posterior.
    fn expect(&mut self) -> f64 {
        let (rows, columns) = (self.coded.rows(), &self.coded.columns);
        for (k, shares) in self.shares.chunks_exact_mut(rows).enumerate() {
            // A component that has lost all rows is given up.
            shares.fill(self.weights[k].max(f64::MIN_POSITIVE).ln());
            let parts = &self.parts[k * columns.len()..];
            columns.iter().zip(parts).for_each(|(values, part)| values.add_logs(part, shares));
        }
        largest_in_rows(&self.shares, &mut self.largest);
        exp_and_sum_rows(&mut self.shares, &self.largest, &mut self.totals);
        let mut objective = 0.0;
        for ((total, largest), weight) in
            self.totals.iter_mut().zip(&self.largest).zip(&self.coded.weights)
        {
            if *weight > 0.0 {
                objective += weight * (largest + total.ln());
            }
            *total /= weight.max(f64::MIN_POSITIVE);
        }
        divide_rows(&mut self.shares, &self.totals);
        let prior = |(e, part): (usize, &Part)| {
            let j = e % columns.len();
            columns[j].ln_prior(part, &self.imagined[j], self.worth)
        };
        objective + self.parts.iter().enumerate().map(prior).sum::<f64>()
    }

    /// The components that are best for the rows as they are shared out.
    fn maximise(&mut self) {
        let rows = self.coded.rows();
        let mut masses = Vec::with_capacity(self.weights.len());
        let mut parts = Vec::with_capacity(self.parts.len());
        for (k, shares) in self.shares.chunks_exact(rows).enumerate() {
            masses.push(shares.iter().sum::<f64>());
            for (j, values) in self.coded.columns.iter().enumerate() {
                let about = self.parts[k * self.coded.columns.len() + j].mean;
                parts.push(values.part(shares, &self.imagined[j], self.worth, about));
            }
        }
        let total: f64 = masses.iter().sum();
        masses.iter_mut().for_each(|mass| *mass /= total);
        self.weights = masses;
        self.parts = parts;
    }
}

/// EM from rows in these clusters to its end.
pub(super) fn climb(
    learner: &Atoms,
    coded: &Coded,
    components: usize,
    labels: &[u32],
    run: &Run,
) -> Result<Climb> {
    let rows = coded.rows();
    let mut shares = vec![0.0; components * rows];
    for (i, (&label, weight)) in labels.iter().zip(&coded.weights).enumerate() {
        shares[label as usize * rows + i] = *weight;
    }
    let overall = |values: &Values| Part {
        shares: values.shares.clone(),
        mean: values.mean,
        deviation: values.variance.sqrt(),
    };
    let mut ascent = Ascent {
        coded,
        worth: 2.0 * learner.beta,
        imagined: coded.columns.iter().map(|values| values.imagined(components)).collect(),
        weights: vec![1.0 / components as f64; components],
        parts: (0..components).flat_map(|_| coded.columns.iter().map(overall)).collect(),
        shares,
        largest: vec![0.0; rows],
        totals: vec![0.0; rows],
    };
    let total: f64 = coded.weights.iter().sum();
    let (mut before, mut iteration) = (None, 0);
    loop {
        run.check()?;
        ascent.maximise();
        let objective = ascent.expect();
        let gain = before.map(|before: f64| (objective - before).abs());
        let converged = gain.is_some_and(|gain| gain <= learner.tolerance * total);
        if (converged && learner.tolerance > 0.0) || iteration >= learner.iterations {
            let diagnostics = Diagnostics {
                converged: (learner.tolerance > 0.0).then_some(converged),
                iterations: Some(iteration),
                objective: Some(objective),
                ..Diagnostics::default()
            };
            let Ascent { weights, parts, .. } = ascent;
            return Ok(Climb { weights, parts, objective, diagnostics });
        }
        before = Some(objective);
        iteration += 1;
    }
}
