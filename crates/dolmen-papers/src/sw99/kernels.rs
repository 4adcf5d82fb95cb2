//! Section 5, Figures 1 and 2: rows from three Gaussians, a stack of six kernels, and one of many kernels and mixtures.

use dolmen::error::Result;
use dolmen::table::Features;

use super::curves::{Drawn, LEAST_SHOWN};
use super::modes::{COUNTED, maxima, standing_out};
use crate::drawn::{difference, with_error};
use crate::page::{Claim, Comparison, Figure, Page, Table, estimate};
use crate::truth::{Truth, steps};
use crate::{Context, Printed};

/// The mixture of section 5.
const THREE: Truth<1> = Truth(&[(0.25, [-3.0], 0.5), (0.5, [0.0], 1.0), (0.25, [3.0], 0.5)]);
const ROWS: usize = 1000;
/// Figure 1's bandwidths, and Figure 2's.
const FEW: [f64; 3] = [0.1, 0.2, 0.3];
pub(super) const MANY: [f64; 13] =
    [0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.8, 1.0, 1.2, 1.4, 1.6, 1.8, 2.0];
pub(super) const COMPONENTS: [usize; 5] = [2, 3, 4, 5, 6];
/// Points of curves.
const POINTS: usize = 400;
/// Figure 2 shows members with more weight than this.
const SHOWN: f64 = 0.01;

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
        ("Six kernels", &panel_words("")),
        2,
        &drawn.panels(&rows, -1.0),
    ));
    let title = "Weights: one draw, that of the picture";
    page.tables.extend([drawn.weights_table(title), drawn.curve_table()]);
    page.notes.push(
        "The paper's rows are one draw, and not printed: weights differ from draw to draw. Its stack has \"a spurious ridge around -1\", which it puts down to \
         that draw; ours is another one."
            .into(),
    );
    Ok(page)
}

/// What is said of the panels; `besides` tells what stands at the left besides kernels.
fn panel_words(besides: &str) -> String {
    format!(
        "Left: the kernels, in standard deviations of the data{besides}. The effective kernel is the sum of the kernels times their weights, divided by the sum of these weights: \
         it integrates to 1, as each kernel does. Right: the densities times their weights."
    )
}

/// When modes are those of the truth.
const NEAR: &str = "three stand out, each less than 0.6 from one of -3, 0 and 3";

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
        )
        .holds_if("it is more than half"),
        Claim::new(
            "the narrowest triangular kernel is rough, with many spurious maxima",
            rough > 2 * 3,
            format!("{rough} maxima, where the truth has 3"),
        )
        .holds_if("there are more than twice as many"),
        Claim::new(
            "the next three kernels are smooth and show the three modes of the truth",
            next.iter().all(|own| are_true(own)),
            next.iter()
                .map(|own| format!("modes at {}", places(own)))
                .collect::<Vec<_>>()
                .join("; "),
        )
        .holds_if(NEAR),
        Claim::new(
            "the stack is smooth as well: the modes that stand out are those of the truth",
            are_true(&stack),
            format!("modes at {}; {all} local maxima in all", places(&stack)),
        )
        .holds_if(NEAR),
        Claim::new(
            "the effective kernel is a triangle whose tails have been stretched by Gaussians",
            beyond > 0.0,
            format!(
                "{:.1} % of its mass lies more than {widest} deviations away, where no triangle reaches",
                100.0 * beyond
            ),
        )
        .holds_if("there is any"),
    ]
}

/// Figure 2.
pub(super) fn fig2(context: &Context<'_>) -> Result<Page> {
    let rows = rows(context)?;
    let drawn = Drawn::fit(&rows, (&MANY, &COMPONENTS), (-5.5, 5.5), POINTS, context.run)?;
    let draws = context.either(4, 20);
    let mut page = Page::new([
        "The rows of Figure 1 with 31 models: 13 triangular and 13 Gaussian kernels from 0.1 to 2 standard deviations wide, and mixtures of 2 to 6 \
         components. (The paper counts 32; what it lists are 31.) The picture is of one draw, as the paper's: shown are models with more weight than 0.01."
            .to_string(),
        format!("Claims, and weights with their standard errors, are of {draws} other draws of 1000 rows."),
    ]);
    let found = context.repeat("draws", draws, |_, run| {
        let rows = THREE.draw(ROWS, &run.stream("rows"))?;
        let of = |members: (&[f64], &[usize])| Drawn::fit(&rows, members, (-5.5, 5.5), POINTS, run);
        let (many, few) = (of((&MANY, &COMPONENTS))?, of((&FEW, &[]))?);
        let mixtures = many.weight(|member| member.kernel.is_none());
        Ok(([mixtures, few.roughness(), many.roughness()], many.weights))
    })?;
    let column = |k: usize| found.iter().map(|own| own.0[k]).collect::<Vec<f64>>();
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
    // One draw, as the picture is, and no error.
    let printed = Printed::exact(2.0 / 3.0, 2).mean_of(1).spelled("about 2/3");
    let mut table = Comparison::new("mixtures", "Weight of the mixtures", &["what"], 2);
    table
        .mean(&["all mixtures"], &column(0), Some(printed))
        .because("not known; the weight moves freely between models that say much the same");
    page.comparisons.push(table);
    page.figures.push(Figure::panels(
        "models",
        ("Thirty-one models", &panel_words("; of mixtures, which have none, the densities over x")),
        2,
        &drawn.panels(&rows, SHOWN),
    ));
    let weights: Vec<&[f64]> = found.iter().map(|(_, weights)| weights.as_slice()).collect();
    page.tables.extend([weights_over_draws(&drawn, &weights), drawn.curve_table()]);
    Ok(page)
}

/// The weights of the models over draws, beside those of the draw that is shown.
fn weights_over_draws(shown: &Drawn, draws: &[&[f64]]) -> Table {
    let title = format!("Weights: means of {} draws, and the draw of the picture", draws.len());
    let mut table = Table::new("weights", &title, ["model", "mean", "se", "in the picture"]);
    for (m, member) in shown.members.iter().enumerate() {
        let own = estimate(&draws.iter().map(|weights| weights[m]).collect::<Vec<f64>>());
        if own.mean.max(shown.weights[m]) >= LEAST_SHOWN {
            let numbers = [own.mean, own.se.unwrap_or(f64::NAN), shown.weights[m]];
            let name = [member.name.as_str().into()];
            table.row(name.into_iter().chain(numbers.map(Into::into)));
        }
    }
    table
}
