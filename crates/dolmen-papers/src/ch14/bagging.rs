//! Section 14.2: bagging reduces variance without increasing bias.
//!
//! Many training sets of one function: at each place the squared deviation of the mean fit from the function is the
//! squared bias, the spread of the fits about their mean the variance.

use dolmen::error::Result;
use dolmen::learner::predict;
use dolmen::score::Estimate;
use dolmen::table::Features;
use dolmen::task::Regression;
use dolmen_report::chart::{Chart, Series, Tone};

use crate::drawn::{fit, mean_square, noisy_sine, reach, sine, with_error};
use crate::page::{Claim, Figure, Table, estimate};
use crate::{Context, Page};

/// Fits that are averaged.
const FITS: [usize; 6] = [1, 2, 5, 10, 25, 50];
const ROWS: usize = 100;
const NOISE: f64 = 0.5;
/// Places at which fits are looked at.
const PLACES: usize = 200;
/// Training sets shown in the picture.
const SHOWN: usize = 3;

/// A learner over all training sets.
struct Spread {
    name: String,
    bias: Estimate,
    variance: Estimate,
    /// Squared error against the function.
    error: Estimate,
    /// The fits of some training sets, for the picture.
    shown: Vec<Vec<f64>>,
}

/// The page.
pub(super) fn run(context: &Context<'_>) -> Result<Page> {
    let sets = context.either(60, 400);
    let mut page = Page::new([format!(
        "{sets} training sets of {ROWS} rows about y = sin(4 pi x), with noise of deviation {NOISE}. An unpruned tree, and averages of 1 to 50 of them on \
         bootstrap samples, at {PLACES} places between 0 and 1. The squared bias is freed from the variance of the mean over so many sets."
    )]);
    let places: Vec<f64> = (0..PLACES).map(|i| (i as f64 + 0.5) / PLACES as f64).collect();
    let tree = spread("one tree", "tree(alpha=0)", &places, sets, context)?;
    let bagged = |fits: usize| {
        let spec = format!("averaged(of=tree(alpha=0), fits={fits})");
        spread(&format!("{fits} bagged"), &spec, &places, sets, context)
    };
    let bagged = FITS.into_iter().map(bagged).collect::<Result<Vec<Spread>>>()?;
    page.claims = claims(&tree, &bagged);
    page.tables.push(table(&tree, &bagged));
    page.figures.push(fits_figure(&places, &tree, &bagged[FITS.len() - 1]));
    page.figures.push(Figure::chart("variance", &chart(&tree, &bagged)));
    Ok(page)
}

fn spread(
    name: &str,
    spec: &str,
    places: &[f64],
    sets: usize,
    context: &Context<'_>,
) -> Result<Spread> {
    let x = Features::numeric(places.to_vec(), 1)?;
    let rows = context.run.stream("training sets").silent();
    let fits = context.repeat(name, sets, |set, run| {
        // Every learner sees the same training sets.
        let train = noisy_sine(ROWS, NOISE, &rows.child(set as u64))?;
        predict(fit::<Regression>(spec, &train.borrow(), run)?.as_ref(), x.rows(), run)
    })?;
    let count = sets as f64;
    let (mut bias, mut variance) = (Vec::new(), Vec::new());
    for (i, place) in places.iter().enumerate() {
        let mean = fits.iter().map(|fit| fit[i]).sum::<f64>() / count;
        let own = fits.iter().map(|fit| (fit[i] - mean).powi(2)).sum::<f64>() / (count - 1.0);
        bias.push((mean - sine(*place)).powi(2) - own / count);
        variance.push(own);
    }
    let truth: Vec<f64> = places.iter().map(|place| sine(*place)).collect();
    let errors: Vec<f64> = fits.iter().map(|fit| mean_square(fit, &truth)).collect();
    let shown = fits.into_iter().take(SHOWN).collect();
    let (bias, variance) = (estimate(&bias), estimate(&variance));
    Ok(Spread { name: name.into(), bias, variance, error: estimate(&errors), shown })
}

fn claims(tree: &Spread, bagged: &[Spread]) -> Vec<Claim> {
    let most = &bagged[bagged.len() - 1];
    let (fewer, rise) = (tree.variance.mean - most.variance.mean, most.bias.mean - tree.bias.mean);
    // What each added fit takes from the error, from one number of fits to the next.
    let gain = |k: usize| {
        let less = bagged[k].error.mean - bagged[k + 1].error.mean;
        less / (FITS[k + 1] - FITS[k]) as f64
    };
    let gained: Vec<f64> = (0..FITS.len() - 1).map(gain).collect();
    vec![
        Claim::new(
            "Bagging reduces variance",
            most.variance.mean < 0.6 * tree.variance.mean,
            format!(
                "from {:.4} to {:.4} with {} trees",
                tree.variance.mean,
                most.variance.mean,
                FITS[FITS.len() - 1]
            ),
        )
        .holds_if("less than 60 % are left"),
        Claim::new(
            "It does so without increasing bias",
            rise < 0.05 * fewer,
            format!(
                "the squared bias goes from {:.4} to {:.4}, the variance falls by {fewer:.4}",
                tree.bias.mean, most.bias.mean
            ),
        )
        .holds_if("the one rises by less than 5 % of what the other falls"),
        Claim::new(
            "The more fits, the less error, and ever less is gained",
            gained.iter().all(|gain| *gain > 0.0) && gained.is_sorted_by(|a, b| a > b),
            format!(
                "squared error {} with one fit, {} with {}",
                with_error(&bagged[0].error, 4),
                with_error(&most.error, 4),
                FITS[FITS.len() - 1]
            ),
        )
        .holds_if("the mean falls at every step, and by less for each fit that is added")
        .ours(),
    ]
}

fn table(tree: &Spread, bagged: &[Spread]) -> Table {
    let columns = ["learner", "squared bias", "variance", "squared error", "se"];
    let mut table = Table::new("spread", "Bias and variance over training sets", columns);
    for own in std::iter::once(tree).chain(bagged) {
        let se = own.error.se.unwrap_or(f64::NAN);
        let numbers = [own.bias.mean, own.variance.mean, own.error.mean, se];
        table.row([own.name.as_str().into()].into_iter().chain(numbers.map(Into::into)));
    }
    table
}

fn fits_figure(places: &[f64], tree: &Spread, most: &Spread) -> Figure {
    let chart = |own: &Spread| {
        let line =
            |fit: &Vec<f64>| Series::line("", places.iter().copied().zip(fit.iter().copied()));
        let truth = places.iter().map(|place| (*place, sine(*place)));
        Chart::new(&own.name, "", "x", "y")
            .y_range(-2.2, 2.2)
            .with_all(own.shown.iter().map(line))
            .with(Series::line("", truth).tone(Tone::Ink))
    };
    let words = format!("The fits to {SHOWN} training sets; the dark line is the function.");
    Figure::panels(
        "fits",
        ("Trees jump with their rows, averages do not", &words),
        2,
        &[chart(tree), chart(most)],
    )
}

fn chart(tree: &Spread, bagged: &[Spread]) -> Chart {
    let of = |y: fn(&Spread) -> Estimate| -> Vec<(f64, f64)> {
        FITS.into_iter().zip(bagged).map(|(fits, own)| (fits as f64, y(own).mean)).collect()
    };
    let errors = bagged.iter().map(|own| reach(&own.error)).collect();
    let single = [FITS[0], FITS[FITS.len() - 1]].map(|fits| (fits as f64, tree.variance.mean));
    let words = "By the number of trees that are averaged; the broken line is the variance of one tree on all rows. The band is two standard errors of the squared error.";
    Chart::new("Variance falls, bias stays", words, "bootstrap fits averaged", "mean over places")
        .log_x()
        .with(Series::line("squared error", of(|own| own.error)).errors(errors))
        .with(Series::line("variance", of(|own| own.variance)))
        .with(Series::line("squared bias", of(|own| own.bias)))
        .with(Series::dashed("one tree", single).tone(Tone::Muted))
}
