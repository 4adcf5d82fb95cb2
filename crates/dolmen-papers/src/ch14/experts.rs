//! Section 14.5: a gate decides which expert answers for a row. Rows that two linear experts made, each in its own region, are to
//! give back the experts and the regions.

use dolmen::ensemble::{Experts, FittedExperts};
use dolmen::error::{Error, Result};
use dolmen::learner::{Sample, predict};
use dolmen::run::Run;
use dolmen::score::Estimate;
use dolmen::table::Features;
use dolmen::task::Regression;
use dolmen_report::chart::{Chart, Series, Tone};
use rand::RngExt;
use rand_distr::{Distribution, StandardNormal};

use crate::contest::rmse;
use crate::drawn::{Numbers, fit_predict, reach, with_error};
use crate::page::{Claim, Comparison, Figure, estimate};
use crate::{Context, Page, Printed};

const ROWS: usize = 400;
const NEW: usize = 2000;
const NOISE: f64 = 0.3;
/// Intercept and slopes of the experts that make the rows: the first where x1 + x2 > 0, the second elsewhere.
const TRUE: [[f64; 3]; 2] = [[1.0, 2.0, 0.0], [-1.0, 0.0, -2.0]];
/// The penalty of the gate: the true border is sharp, so that without one its coefficients have no finite optimum.
const GATE_RIDGE: f64 = 1e-3;
/// Rows imagined at the centre of the inputs with the mean of the target: one would draw the experts to that mean, the second by four
/// hundredths.
const PRIOR: f64 = 1e-3;
const STEPS: usize = 80;

/// The expert that makes a row.
fn maker(row: &[f64]) -> usize {
    usize::from(row[0] + row[1] <= 0.0)
}

fn drawn(rows: usize, run: &Run) -> Result<Numbers> {
    let mut rng = run.rng();
    let (mut values, mut target) = (Vec::new(), Vec::new());
    for _ in 0..rows {
        let x: [f64; 2] = std::array::from_fn(|_| 4.0 * rng.random::<f64>() - 2.0);
        let noise: f64 = StandardNormal.sample(&mut rng);
        let [at, first, second] = TRUE[maker(&x)];
        target.push(at + first * x[0] + second * x[1] + NOISE * noise);
        values.extend(x);
    }
    Numbers::new(Features::numeric(values, 2)?, target)
}

/// Two experts as they were fitted, in the order of the true ones.
struct Found {
    model: FittedExperts,
    order: [usize; 2],
}

impl Found {
    fn fit(sample: &Sample<'_, Regression>, run: &Run) -> Result<Self> {
        let experts = Experts {
            count: vec![2].into(),
            restarts: 8,
            ridge: 0.0,
            gate_ridge: GATE_RIDGE,
            prior: PRIOR,
            ..Experts::default()
        };
        let models = experts.fit_experts(sample, run)?;
        let model = models.into_iter().next().ok_or_else(|| Error::shape("models", 1, 0))?;
        // The first true expert rises with x1.
        let slope = |expert: usize| model.coefficients(expert, 0).1[0];
        let order = if slope(0) > slope(1) { [0, 1] } else { [1, 0] };
        Ok(Self { model, order })
    }

    fn coefficients(&self, expert: usize) -> [f64; 3] {
        let (at, slopes) = self.model.coefficients(self.order[expert], 0);
        [at, slopes[0], slopes[1]]
    }

    /// The true expert that the gate asks first.
    fn asked(&self, row: &[f64]) -> usize {
        let shares = self.model.route(row);
        usize::from(shares[self.order[1]] > shares[self.order[0]])
    }
}

/// What one draw gives: six coefficients, the share of new rows routed to their maker, and the errors of experts (all, one each) and of ridge
/// and a tree.
type Seen = [f64; 11];

fn seen(run: &Run) -> Result<Seen> {
    let (train, new) = (drawn(ROWS, &run.stream("rows"))?, drawn(NEW, &run.stream("new rows"))?);
    let (train, new) = (train.borrow(), new.borrow());
    let found = Found::fit(&train, &run.stream("experts"))?;
    let right = new.x().iter().filter(|row| found.asked(row) == maker(row)).count();
    let soft = rmse(&predict::<Regression>(&found.model, new.x(), run)?, new.target());
    let other = |spec: &str| -> Result<f64> {
        Ok(rmse(
            &fit_predict::<Regression>(spec, &train, &new, &run.stream("experts"))?,
            new.target(),
        ))
    };
    let hard = other(&format!(
        "experts(count=[2], restarts=8, ridge=0, gate_ridge={GATE_RIDGE}, prior={PRIOR}, top=1)"
    ))?;
    let ([a, b, c], [d, e, f]) = (found.coefficients(0), found.coefficients(1));
    Ok([a, b, c, d, e, f, right as f64 / NEW as f64, soft, hard, other("ridge")?, other("tree")?])
}

/// The page.
pub(super) fn run(context: &Context<'_>) -> Result<Page> {
    let draws = context.either(10, 100);
    let mut page = Page::new([format!(
        "{ROWS} rows of two columns between -2 and 2. Where x1 + x2 > 0, y = 1 + 2 x1; elsewhere y = -1 - 2 x2; noise of deviation {NOISE}. Two linear experts behind a softmax gate \
         are fitted by EM, {draws} times on new rows."
    )]);
    let seen = context.repeat("experts", draws, |_, run| seen(run))?;
    let column = |k: usize| seen.iter().map(|own| own[k]).collect::<Vec<f64>>();
    let mut comparison = Comparison::new(
        "coefficients",
        "The experts' coefficients beside those that made the rows",
        &["expert", "coefficient"],
        3,
    );
    for (expert, own) in TRUE.into_iter().enumerate() {
        for (k, (name, value)) in ["intercept", "x1", "x2"].into_iter().zip(own).enumerate() {
            let about = [["first", "second"][expert], name];
            comparison.mean(&about, &column(3 * expert + k), Some(Printed::exact(value, 1))).because(
                "rows near the border are shared by both experts, whose gate is not as sharp as the true border",
            );
        }
    }
    let means: Vec<Estimate> = (6..11).map(|k| estimate(&column(k))).collect();
    page.claims = claims(&means, &comparison);
    page.comparisons.push(comparison);
    page.figures.push(figure(context.run)?);
    page.notes
        .push("The column \u{201c}paper\u{201d} holds the coefficients that made the rows.".into());
    Ok(page)
}

fn claims(means: &[Estimate], coefficients: &Comparison) -> Vec<Claim> {
    let [right, soft, hard, ridge, tree] = [0, 1, 2, 3, 4].map(|k| means[k]);
    let off = |line: &crate::page::Line| {
        line.ours.zip(line.paper).map_or(f64::INFINITY, |(ours, own)| (ours.mean - own.value).abs())
    };
    let farthest = coefficients.lines.iter().map(off).fold(0.0, f64::max);
    vec![
        Claim::new(
            "The gate recovers the experts' regions",
            right.mean > 0.95,
            format!("{} of new rows go to the expert that made them", with_error(&right, 3)),
        )
        .holds_if("that is more than 0.95")
        .ours(),
        Claim::new(
            "EM recovers the experts",
            farthest < 0.1,
            format!("coefficients are off by {farthest:.3} at most"),
        )
        .holds_if("that is less than 0.1")
        .ours(),
        Claim::new(
            "A mixture of experts predicts better than one expert for all rows, and than a tree",
            soft.mean + reach(&soft) < ridge.mean && soft.mean + reach(&soft) < tree.mean,
            format!(
                "RMSE {}, ridge {}, tree {}",
                with_error(&soft, 3),
                with_error(&ridge, 3),
                with_error(&tree, 3)
            ),
        )
        .holds_if("it is below both by two of its standard errors")
        .ours(),
        Claim::new(
            "Asking only the first expert costs little",
            hard.mean < 1.1 * soft.mean,
            format!(
                "RMSE {} with one expert a row, {} with both",
                with_error(&hard, 3),
                with_error(&soft, 3)
            ),
        )
        .holds_if("that is less than 10 % more")
        .ours(),
    ]
}

/// The gate's regions in one draw, and the rows by their makers.
fn figure(run: &Run) -> Result<Figure> {
    let train = drawn(ROWS, &run.stream("shown"))?;
    let sample = train.borrow();
    let found = Found::fit(&sample, &run.stream("shown"))?;
    let steps: Vec<f64> =
        (0..STEPS).map(|k| -2.0 + 4.0 * (k as f64 + 0.5) / STEPS as f64).collect();
    let cells = steps.iter().flat_map(|y| steps.iter().map(move |x| [*x, *y]));
    let asked = cells.map(|row| found.asked(&row)).collect();
    let made_by = |expert: usize| {
        let rows = sample.x().iter().filter(move |row| maker(row) == expert);
        rows.map(|row| (row[0], row[1])).collect::<Vec<(f64, f64)>>()
    };
    let words = "The colour of the ground is the expert that the gate asks first, that of a point the expert that made the row; the broken line is the true border.";
    let chart = Chart::new("Experts and their regions", words, "x1", "x2")
        .height(420.0)
        .x_range(-2.0, 2.0)
        .y_range(-2.0, 2.0)
        .with(Series::regions("", (&steps, &steps), asked))
        .with(Series::points("1 + 2 x1", made_by(0)).tone(Tone::Series(0)))
        .with(Series::points("-1 - 2 x2", made_by(1)).tone(Tone::Series(1)))
        .with(Series::dashed("", [(-2.0, 2.0), (2.0, -2.0)]).tone(Tone::Ink));
    Ok(Figure::chart("regions", &chart))
}
