//! Stacks of one column, drawn: the kernels, the kernel they make together, the weighted members, the stack.

use dolmen::ensemble::{Ensemble, Stack};
use dolmen::error::Result;
use dolmen::learner::density::kernel::Shape;
use dolmen::learner::{Fitted, Sample, predict};
use dolmen::run::Run;
use dolmen::table::Features;
use dolmen::task::Density;
use dolmen_report::chart::{Chart, Series, Tone};

use super::contest::{kernels, mixtures, stack};
use super::modes::standing_out;
use crate::page::Table;
use crate::truth::steps;

/// The least weight that a table shows.
pub(super) const LEAST_SHOWN: f64 = 0.0005;

/// A member of the stacks, in few words.
pub(super) struct Member {
    pub(super) name: String,
    pub(super) kernel: Option<(Shape, f64)>,
}

fn members(bandwidths: &[f64], components: &[usize]) -> Vec<Member> {
    let shapes = [(Shape::Triangular, "triangular"), (Shape::Gaussian, "Gaussian")];
    let kernels = shapes.iter().flat_map(|(shape, word)| {
        bandwidths
            .iter()
            .map(move |h| Member { name: format!("{word} h={h}"), kernel: Some((*shape, *h)) })
    });
    let mixtures =
        components.iter().map(|k| Member { name: format!("mixture k={k}"), kernel: None });
    kernels.chain(mixtures).collect()
}

fn stack_of(bandwidths: &[f64], components: &[usize]) -> Stack<Density> {
    let with_kernels = stack()
        .member(kernels(Shape::Triangular, bandwidths))
        .member(kernels(Shape::Gaussian, bandwidths));
    if components.is_empty() { with_kernels } else { with_kernels.member(mixtures(components)) }
}

/// A stack of one column and its curves.
pub(super) struct Drawn {
    pub(super) x: Vec<f64>,
    pub(super) members: Vec<Member>,
    pub(super) weights: Vec<f64>,
    /// Densities of the members, not yet times their weights, and of the stack.
    pub(super) densities: Vec<Vec<f64>>,
    pub(super) stack: Vec<f64>,
}

impl Drawn {
    pub(super) fn fit(
        rows: &Features,
        (bandwidths, components): (&[f64], &[usize]),
        (from, to): (f64, f64),
        points: usize,
        run: &Run,
    ) -> Result<Self> {
        let sample = Sample::<Density>::new(rows.rows(), &())?;
        let ensemble = stack_of(bandwidths, components).fit_ensemble(&sample, run)?;
        let x = steps(from, to, points);
        let cells = Features::numeric(x.clone(), 1)?;
        let density = |model: &dyn Fitted<Density>| -> Result<Vec<f64>> {
            Ok(predict(model, cells.rows(), run)?.iter().map(|log| log.exp()).collect())
        };
        let ensemble: &Ensemble<Density> = &ensemble;
        Ok(Self {
            x,
            members: members(bandwidths, components),
            weights: ensemble.combination().weights().unwrap_or_default().to_vec(),
            densities: ensemble.models().map(density).collect::<Result<_>>()?,
            stack: density(ensemble)?,
        })
    }

    pub(super) fn weight(&self, is_wanted: impl Fn(&Member) -> bool) -> f64 {
        let own = self.members.iter().zip(&self.weights);
        own.filter(|(member, _)| is_wanted(member)).map(|(_, weight)| weight).sum()
    }

    /// The kernel of a member at offsets in standard deviations.
    fn kernel(&self, m: usize, offsets: &[f64]) -> Option<Vec<(f64, f64)>> {
        let (shape, h) = self.members[m].kernel?;
        Some(offsets.iter().map(|u| (*u, shape.value(u / h) / h)).collect())
    }

    /// The kernel that the kernels of the stack make together: their weighted sum, as section 8.1 says.
    pub(super) fn effective_kernel(&self, offsets: &[f64]) -> Vec<(f64, f64)> {
        let total = self.weight(|member| member.kernel.is_some());
        let mut sum: Vec<(f64, f64)> = offsets.iter().map(|u| (*u, 0.0)).collect();
        for (m, weight) in self.weights.iter().enumerate() {
            let own = self.kernel(m, offsets).unwrap_or_default();
            sum.iter_mut().zip(own).for_each(|(sum, own)| sum.1 += weight * own.1 / total);
        }
        sum
    }

    /// The picture: of every shown member its kernel at the left, or its density if it has none, and its weighted density at the
    /// right; below them the effective kernel beside the stack with the rows as a histogram.
    pub(super) fn panels(&self, rows: &Features, least: f64) -> Vec<Chart> {
        let offsets = steps(-0.9, 0.9, 181);
        let values: Vec<f64> = rows.rows().column(0).collect();
        let (from, to) = (self.x[0], self.x[self.x.len() - 1]);
        let mut charts = Vec::new();
        let small = |title: &str, x: &str| Chart::new(title, "", x, "").height(70.0).unlabelled();
        let shown = (0..self.members.len()).filter(|&m| self.weights[m] > least);
        for m in shown {
            let member = &self.members[m];
            let density = |factor: f64| {
                let points = self.x.iter().zip(&self.densities[m]);
                points.map(move |(x, density)| (*x, factor * density))
            };
            charts.push(match self.kernel(m, &offsets) {
                Some(kernel) => small(&member.name, "").with(Series::line("", kernel)),
                None => small(&format!("{}: no kernel, its density", member.name), "")
                    .with(Series::line("", density(1.0)))
                    .x_range(from, to),
            });
            let title = format!("density times its weight, {:.3}", self.weights[m]);
            charts.push(
                small(&title, "")
                    .with(Series::line("", density(self.weights[m])).tone(Tone::Series(2)))
                    .x_range(from, to),
            );
        }
        let effective = Series::line("", self.effective_kernel(&offsets));
        charts.push(
            small("the effective kernel", "standard deviations").with(effective).height(150.0),
        );
        let whole = self.x.iter().copied().zip(self.stack.iter().copied());
        charts.push(
            small("the stack, and the rows as a histogram", "x")
                .with(Series::histogram("", &values, (from, to), 60))
                .with(Series::line("", whole))
                .height(150.0),
        );
        charts
    }

    /// The weights that are not zero in three digits.
    pub(super) fn weights_table(&self, title: &str) -> Table {
        let mut weights = Table::new("weights", title, ["model", "weight"]);
        for (member, weight) in self.members.iter().zip(&self.weights) {
            if *weight >= LEAST_SHOWN {
                weights.row([member.name.as_str().into(), (*weight).into()]);
            }
        }
        weights
    }

    pub(super) fn curve_table(&self) -> Table {
        let mut curve = Table::new("density", "The stack", ["x", "density"]).in_file_only();
        let points = self.x.iter().zip(&self.stack);
        points.for_each(|(x, density)| curve.row([(*x).into(), (*density).into()]));
        curve
    }

    /// The modes of the stack that stand out.
    pub(super) fn standing_out(&self) -> Vec<(f64, f64)> {
        standing_out(&self.x, &self.stack)
    }

    /// The integral of the squared second derivative of the stack.
    pub(super) fn roughness(&self) -> f64 {
        let step = self.x[1] - self.x[0];
        let curvature = |w: &[f64]| ((w[0] - 2.0 * w[1] + w[2]) / (step * step)).powi(2);
        self.stack.windows(3).map(curvature).sum::<f64>() * step
    }
}
