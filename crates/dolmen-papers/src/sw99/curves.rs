//! Section 5: stacks of one column, drawn: the kernels, the kernel they make together, the weighted members, the stack.

use dolmen::ensemble::{Ensemble, Stack};
use dolmen::error::Result;
use dolmen::learner::density::kernel::Shape;
use dolmen::learner::{Fitted, Sample, predict};
use dolmen::run::Run;
use dolmen::table::Features;
use dolmen::task::Density;
use dolmen_report::chart::{Chart, Series, Tone};

use super::contest::{kernels, mixtures, stack};
use super::sets;
use crate::drawn::{difference, with_error};
use crate::page::{Claim, Comparison, Figure, Page, Table, estimate};
use crate::truth::{Truth, steps};
use crate::{Context, Printed};

/// The mixture of section 5.
const THREE: Truth<1> = Truth(&[(0.25, [-3.0], 0.5), (0.5, [0.0], 1.0), (0.25, [3.0], 0.5)]);
const ROWS: usize = 1000;
/// Figure 1's bandwidths, and Figure 2's.
const FEW: [f64; 3] = [0.1, 0.2, 0.3];
const MANY: [f64; 13] = [0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.8, 1.0, 1.2, 1.4, 1.6, 1.8, 2.0];
const COMPONENTS: [usize; 5] = [2, 3, 4, 5, 6];
/// Points of curves.
const POINTS: usize = 400;
/// Figure 2 shows members with more weight than this.
const SHOWN: f64 = 0.01;

/// A member of the stacks, in few words.
struct Member {
    name: String,
    kernel: Option<(Shape, f64)>,
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
struct Drawn {
    x: Vec<f64>,
    members: Vec<Member>,
    weights: Vec<f64>,
    /// Densities of the members, not yet times their weights, and of the stack.
    densities: Vec<Vec<f64>>,
    stack: Vec<f64>,
}

impl Drawn {
    fn fit(
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

    fn weight(&self, is_wanted: impl Fn(&Member) -> bool) -> f64 {
        let own = self.members.iter().zip(&self.weights);
        own.filter(|(member, _)| is_wanted(member)).map(|(_, weight)| weight).sum()
    }

    /// The kernel of a member at offsets in standard deviations.
    fn kernel(&self, m: usize, offsets: &[f64]) -> Option<Vec<(f64, f64)>> {
        let (shape, h) = self.members[m].kernel?;
        Some(offsets.iter().map(|u| (*u, shape.value(u / h) / h)).collect())
    }

    /// The kernel that the kernels of the stack make together: their weighted sum, as section 8.1 says.
    fn effective_kernel(&self, offsets: &[f64]) -> Vec<(f64, f64)> {
        let total = self.weight(|member| member.kernel.is_some());
        let mut sum: Vec<(f64, f64)> = offsets.iter().map(|u| (*u, 0.0)).collect();
        for (m, weight) in self.weights.iter().enumerate() {
            let own = self.kernel(m, offsets).unwrap_or_default();
            sum.iter_mut().zip(own).for_each(|(sum, own)| sum.1 += weight * own.1 / total);
        }
        sum
    }

    /// The picture: of every shown member its kernel at the left and its weighted density at the right; below them the
    /// effective kernel beside the stack with the rows as a histogram.
    fn panels(&self, rows: &Features, least: f64) -> Vec<Chart> {
        let offsets = steps(-0.9, 0.9, 181);
        let values: Vec<f64> = rows.rows().column(0).collect();
        let (from, to) = (self.x[0], self.x[POINTS - 1]);
        let mut charts = Vec::new();
        let small = |title: &str, x: &str| Chart::new(title, "", x, "").height(70.0).unlabelled();
        let shown = (0..self.members.len()).filter(|&m| self.weights[m] > least);
        for m in shown {
            let member = &self.members[m];
            let kernel = match self.kernel(m, &offsets) {
                Some(kernel) => small(&member.name, "").with(Series::line("", kernel)),
                None => small(&format!("{}: no kernel", member.name), "")
                    .x_range(-0.9, 0.9)
                    .y_range(0.0, 1.0),
            };
            charts.push(kernel);
            let scaled = self.x.iter().zip(&self.densities[m]);
            let scaled = scaled.map(|(x, density)| (*x, self.weights[m] * density));
            let title = format!("density times its weight, {:.3}", self.weights[m]);
            charts.push(
                small(&title, "")
                    .with(Series::line("", scaled).tone(Tone::Series(2)))
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

    fn tables(&self) -> [Table; 2] {
        let mut weights = Table::new("weights", "Weights", ["model", "weight"]);
        for (member, weight) in self.members.iter().zip(&self.weights) {
            if *weight >= 0.0005 {
                weights.row([member.name.as_str().into(), (*weight).into()]);
            }
        }
        let mut curve = Table::new("density", "The stack", ["x", "density"]).in_file_only();
        let points = self.x.iter().zip(&self.stack);
        points.for_each(|(x, density)| curve.row([(*x).into(), (*density).into()]));
        [weights, curve]
    }

    /// The modes of the stack that stand out.
    fn standing_out(&self) -> Vec<(f64, f64)> {
        standing_out(&self.x, &self.stack)
    }
}

/// The maxima of a curve, with their heights.
fn maxima(x: &[f64], density: &[f64]) -> Vec<(f64, f64)> {
    let is_mode = |&k: &usize| density[k] > density[k - 1] && density[k] >= density[k + 1];
    (1..density.len() - 1).filter(is_mode).map(|k| (x[k], density[k])).collect()
}

/// A mode counts if the density falls below this share of its height on both sides.
const DIP: f64 = 0.95;

/// The maxima that stand out: between each of them and any higher one the density falls below [`DIP`] of its height.
fn standing_out(x: &[f64], density: &[f64]) -> Vec<(f64, f64)> {
    let place = |at: f64| x.iter().position(|x| *x == at).unwrap_or(0);
    let stands = |mode: &(f64, f64)| {
        let k = place(mode.0);
        let falls = |range: &mut dyn Iterator<Item = usize>| {
            for j in range {
                if density[j] < DIP * mode.1 {
                    return true;
                }
                if density[j] > mode.1 {
                    return false;
                }
            }
            true
        };
        falls(&mut (0..k).rev()) && falls(&mut (k + 1..x.len()))
    };
    maxima(x, density).into_iter().filter(stands).collect()
}

/// What is said of how modes are counted.
const COUNTED: &str =
    "A mode counts if the density falls by 5 % on either side of it before it rises above it.";

/// The rows of Figures 1 and 2.
fn rows(context: &Context<'_>) -> Result<Features> {
    // The same rows for both figures, as in the paper: their stream does not depend on the experiment's name.
    THREE.draw(ROWS, &context.run.seeded(1999).stream("three Gaussians"))
}

/// Figure 1.
pub(super) fn fig1(context: &Context<'_>) -> Result<Page> {
    let rows = rows(context)?;
    let drawn = Drawn::fit(&rows, (&FEW, &[]), (-5.5, 5.5), POINTS, context.run)?;
    let mut page = Page::new([
        "1000 rows from three Gaussians (means -3, 0, 3; deviations 0.5, 1, 0.5; weights 1/4, 1/2, 1/4). Triangular and Gaussian kernels of widths 0.1, 0.2 \
         and 0.3 standard deviations are stacked. A stack of kernels is one kernel density whose kernel is their weighted sum, the effective kernel: it is \
         drawn at the left, under the kernels.",
        COUNTED,
    ]);
    page.claims = kernel_claims(&drawn);
    page.figures.push(Figure::panels(
        "kernels",
        ("Six kernels", "Left: the kernels, in standard deviations of the data. Right: the densities times their weights."),
        2,
        &drawn.panels(&rows, -1.0),
    ));
    page.tables.extend(drawn.tables());
    page.notes.push(
        "The paper's rows are one draw, and not printed: weights differ from draw to draw. Its stack has \"a spurious ridge around -1\", which it puts down to \
         that draw; ours is another one."
            .into(),
    );
    Ok(page)
}

/// What the paper says of its Figure 1.
fn kernel_claims(drawn: &Drawn) -> Vec<Claim> {
    let first_four = drawn.weights[..4].iter().sum::<f64>();
    let modes_of = |density: &[f64]| standing_out(&drawn.x, density);
    let are_true = |modes: &[(f64, f64)]| {
        let is_near = |(at, (x, _)): (f64, &(f64, f64))| (x - at).abs() < 0.6;
        modes.len() == 3 && [-3.0, 0.0, 3.0].into_iter().zip(modes).all(is_near)
    };
    let places = |modes: &[(f64, f64)]| {
        modes.iter().map(|(x, _)| format!("{x:.1}")).collect::<Vec<_>>().join(", ")
    };
    let rough = maxima(&drawn.x, &drawn.densities[0]).len();
    let next: Vec<Vec<(f64, f64)>> =
        drawn.densities[1..4].iter().map(|own| modes_of(own)).collect();
    let stack = drawn.standing_out();
    let all = maxima(&drawn.x, &drawn.stack).len();
    let widest = FEW[FEW.len() - 1];
    let offsets = steps(-2.0, 2.0, 4001);
    let kernel = drawn.effective_kernel(&offsets);
    let beyond: f64 = kernel.iter().filter(|(u, _)| u.abs() > widest).map(|(_, k)| k * 1e-3).sum();
    vec![
        Claim::new(
            "most of the weight is on the three triangular kernels and the narrowest Gaussian",
            first_four > 0.5,
            format!("{first_four:.2} of the weight"),
        ),
        Claim::new(
            "the narrowest triangular kernel is rough, with many spurious maxima",
            rough > 2 * 3,
            format!("{rough} maxima, where the truth has 3"),
        ),
        Claim::new(
            "the next three kernels are smooth and show the three modes of the truth",
            next.iter().all(|own| are_true(own)),
            next.iter()
                .map(|own| format!("modes at {}", places(own)))
                .collect::<Vec<_>>()
                .join("; "),
        ),
        Claim::new(
            "the stack is smooth as well: the modes that stand out are those of the truth",
            are_true(&stack),
            format!("modes at {}; {all} local maxima in all", places(&stack)),
        ),
        Claim::new(
            "the effective kernel is a triangle whose tails have been stretched by Gaussians",
            beyond > 0.0,
            format!(
                "{:.1} % of its mass lies more than {widest} deviations away, where no triangle reaches",
                100.0 * beyond
            ),
        ),
    ]
}

/// Figure 2.
pub(super) fn fig2(context: &Context<'_>) -> Result<Page> {
    let rows = rows(context)?;
    let drawn = Drawn::fit(&rows, (&MANY, &COMPONENTS), (-5.5, 5.5), POINTS, context.run)?;
    let draws = context.either(4, 20);
    let mut page = Page::new([
        "The rows of Figure 1 with 31 models: 13 triangular and 13 Gaussian kernels from 0.1 to 2 standard deviations wide, and mixtures of 2 to 6 \
         components. (The paper counts 32; what it lists are 31.) Shown are those with more weight than 0.01."
            .to_string(),
        format!("Weights and claims are those of {draws} other draws of 1000 rows; the paper's figure is that of one."),
    ]);
    let found = context.repeat("draws", draws, |_, run| {
        let rows = THREE.draw(ROWS, &run.stream("rows"))?;
        let of = |members: (&[f64], &[usize])| Drawn::fit(&rows, members, (-5.5, 5.5), POINTS, run);
        let (many, few) = (of((&MANY, &COMPONENTS))?, of((&FEW, &[]))?);
        let mixtures = many.weight(|member| member.kernel.is_none());
        Ok([mixtures, few.roughness(), many.roughness()])
    })?;
    let column = |k: usize| found.iter().map(|own| own[k]).collect::<Vec<f64>>();
    let over_half = difference(&column(0), &vec![0.5; draws]);
    page.claims.push(Claim::ahead(
        "most of the weight moves to the mixtures",
        &over_half,
        format!("{} of the weight", with_error(&estimate(&column(0)), 2)),
    ));
    page.claims.push(Claim::ahead(
        "the stack is smoother than that of Figure 1",
        &difference(&column(1), &column(2)),
        format!(
            "integrated squared curvature {}, with the six kernels {}",
            with_error(&estimate(&column(2)), 2),
            with_error(&estimate(&column(1)), 2)
        ),
    ));
    let mut table = Comparison::new("mixtures", "Weight of the mixtures", &["what"], 2);
    table
        .mean(&["all mixtures"], &column(0), Some(Printed::new(0.67, 2).mean_of(1)))
        .because("not known; the weight moves freely between models that say much the same");
    page.comparisons.push(table);
    page.figures.push(Figure::panels(
        "models",
        ("Thirty-one models", "Left: the kernels, in standard deviations of the data. Right: the densities times their weights."),
        2,
        &drawn.panels(&rows, SHOWN),
    ));
    page.tables.extend(drawn.tables());
    Ok(page)
}

impl Drawn {
    /// The integral of the squared second derivative of the stack.
    fn roughness(&self) -> f64 {
        let step = self.x[1] - self.x[0];
        let curvature = |w: &[f64]| ((w[0] - 2.0 * w[1] + w[2]) / (step * step)).powi(2);
        self.stack.windows(3).map(curvature).sum::<f64>() * step
    }
}

/// Seven groups, about as far apart as those that are seen among the galaxies: made up, for readers without them.
const SEVEN: Truth<1> = Truth(&[
    (0.09, [9.7], 0.4),
    (0.03, [16.1], 0.2),
    (0.25, [19.5], 0.5),
    (0.25, [20.9], 0.4),
    (0.28, [23.0], 0.6),
    (0.06, [26.5], 0.4),
    (0.04, [33.0], 0.6),
]);

/// The galaxies.
pub(super) fn galaxies(context: &Context<'_>) -> Result<Page> {
    let found = sets::galaxies(context)?;
    let is_real = found.is_some();
    let rows = match found {
        Some(rows) => {
            let thousands = rows.rows().column(0).map(|v| v / 1000.0).collect();
            Features::numeric(thousands, 1)?
        }
        None => SEVEN.draw(82, &context.run.stream("galaxies"))?,
    };
    let name = if is_real {
        "the velocities of 82 galaxies"
    } else {
        "82 draws from seven groups (stand-in)"
    };
    let drawn = Drawn::fit(&rows, (&MANY, &COMPONENTS), (5.0, 38.0), 1500, context.run)?;
    let modes = drawn.standing_out();
    let mut page = Page::new([
        format!(
            "The stack of Figure 2's models for {name}, in thousands of km/s, and its modes. The paper says of an extended version that stacking \"resulted \
             in about 7 modes\", which fits Roeder's analysis (1990)."
        ),
        COUNTED.into(),
    ]);
    let mut table = Comparison::new("modes", "Modes of the stacked density", &["rows"], 0);
    let count = dolmen::score::Estimate { mean: modes.len() as f64, se: None };
    let line = table.estimate(&[name], Some(count), 1, Some(Printed::about(7.0)));
    if is_real {
        line.because("the models of the extended version are not known, nor how it counted");
    } else {
        line.stand_in("a stand-in: draws that are made up");
    }
    page.comparisons.push(table);
    // Of draws that are made up the paper claims nothing.
    let claim = Claim::new(
        "there are about seven modes",
        (6..=8).contains(&modes.len()),
        format!(
            "{} modes that stand out, {} local maxima in all",
            modes.len(),
            maxima(&drawn.x, &drawn.stack).len()
        ),
    );
    page.claims.extend(is_real.then_some(claim));
    let values: Vec<f64> = rows.rows().column(0).collect();
    let chart = Chart::new(
        "Modes of the stack",
        "The stacked density, the rows as a histogram, and the modes that stand out.",
        "thousands of km/s",
        "density",
    )
    .with(Series::histogram("", &values, (5.0, 38.0), 66))
    .with(Series::line("", drawn.x.iter().copied().zip(drawn.stack.iter().copied())))
    .with(Series::points("", modes.iter().copied()).tone(Tone::Series(5)));
    page.figures.push(Figure::chart("density", &chart));
    let mut found = Table::new("places", "Where they lie", ["thousands of km/s", "density"]);
    modes.iter().for_each(|(x, height)| found.row([(*x).into(), (*height).into()]));
    page.tables.push(found);
    page.tables.extend(drawn.tables());
    if is_real {
        let note = "The copy of the R package MASS has 26 690 as its 78th velocity where Roeder (1990) prints 26 960; the file is taken as it is.";
        page.notes.push(note.into());
    }
    page.bring(&sets::GALAXIES, is_real);
    Ok(page)
}
