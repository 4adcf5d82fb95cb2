//! Whether predictions mean what they say: densities by their levels, intervals by how often they hold the truth.

use dolmen::ensemble::Coverage;
use dolmen::error::Error;
use dolmen::recipe::{Basis, Evidence, Sketch};
use dolmen::score::Histogram;
use dolmen::score::curves::ReliabilityBin;

use super::Picture;
use super::members::NINETY;
use crate::draw::{Colour, Fill, Frame, Heading, Letters, Pen, Plot, SMALL, counted, short};
use crate::{Options, Subject};

/// What the rows were, in words.
pub(super) fn rows_words(subject: &Subject<'_>, evidence: &Evidence) -> String {
    let rows = counted(evidence.rows, "row");
    match (evidence.basis, evidence.rows) {
        _ if subject.knows_rows() => format!("{rows} that look like those it was fitted to"),
        (Basis::HeldOut, _) => format!("{rows} held out"),
        (Basis::LearnedFrom, _) => {
            format!("{rows} that members had not seen, but the weights had")
        }
        (Basis::NewRows, 1) => "1 row that was given for it".into(),
        (Basis::NewRows, _) => format!("{rows} that were given for it"),
    }
}

/// Between which heights the bars of a density that is right lie, by two standard deviations.
pub(crate) struct Band {
    /// The height of all bars, if chance had no part.
    pub(crate) expected: f64,
    /// How far from it the band reaches.
    pub(crate) reach: f64,
    /// Bars that lie outside it.
    pub(crate) outside: usize,
    bars: usize,
}

impl Band {
    /// Of bars whose heights have this standard deviation.
    fn of(histogram: &Histogram, spread: f64) -> Self {
        let (bars, reach) = (histogram.counts.len(), 2.0 * spread);
        let expected = histogram.total() as f64 / bars as f64;
        let is_outside = |count: &&usize| (**count as f64 - expected).abs() > reach;
        let outside = histogram.counts.iter().filter(is_outside).count();
        Self { expected, reach, outside, bars }
    }

    /// Of the levels of a density, if there are rows enough for their bars: counts of a bin are binomial, and vary with the rows drawn
    /// from the density, too.
    pub(crate) fn of_levels(evidence: &Evidence) -> Option<Self> {
        let levels = evidence.levels.as_ref().filter(|own| own.total() >= own.counts.len())?;
        Some(Self::of(levels, evidence.level_spread()?))
    }

    /// Of a single column.
    fn of_column(histogram: &Histogram) -> Self {
        let bars = histogram.counts.len() as f64;
        let expected = histogram.total() as f64 / bars;
        Self::of(histogram, (expected * (1.0 - 1.0 / bars)).sqrt())
    }

    /// How many bars lie outside, beside how many chance puts there: one of twenty.
    pub(crate) fn words(&self) -> String {
        let by_chance = (0.05 * self.bars as f64).round().max(1.0);
        let (lie, bring) = (if self.outside == 1 { "lies" } else { "lie" }, short(by_chance));
        format!(
            "{} of {} bars {lie} outside the band, where chance puts about {bring}",
            self.outside, self.bars
        )
    }

    /// Whether more bars lie outside than chance puts there, by three standard deviations of their number.
    pub(crate) fn is_left(&self) -> bool {
        let bars = self.bars as f64;
        self.outside as f64 > 0.05 * bars + 3.0 * (0.05 * 0.95 * bars).sqrt()
    }
}

/// Where rows stand among the levels of the density; or in one column, if one is asked for and rows were given.
pub(super) fn pit(subject: &Subject<'_>, options: &Options) -> Picture {
    let Some(evidence) = subject.evidence() else { return Ok(None) };
    let Some(levels) = &evidence.levels else { return Ok(None) };
    let (histogram, title, x_name) = match &options.input {
        Some(name) => (
            marginal(evidence, name)?,
            format!("Is the density of {name} as wide as the rows?"),
            format!("probability of a smaller {name}"),
        ),
        None => (
            levels,
            "Is the density as wide as the rows?".into(),
            "probability of all places less dense than the row's".into(),
        ),
    };
    let total = histogram.total();
    // With fewer rows than bars nothing can be told of their heights.
    if total < histogram.counts.len() {
        return Ok(None);
    }
    let band = match &options.input {
        Some(_) => Band::of_column(histogram),
        None => Band::of_levels(evidence).unwrap_or_else(|| Band::of_column(histogram)),
    };
    let words = format!(
        "{}. Of a density that is right all bars are alike, within the band. High on the left: rows lie where the density expects too few. {}.",
        rows_words(subject, evidence),
        band.words()
    );
    let (expected, spread) = (band.expected, band.reach);
    let most = histogram.counts.iter().copied().max().unwrap_or(0) as f64;
    let frame = Frame {
        y: (0.0, 1.08 * most.max(expected + spread)),
        height: 260.0,
        ..Frame::new(Heading::new(&title, &words, options), &x_name, "rows")
    };
    let mut plot = frame.open(options);
    let band = [
        (0.0, expected - spread),
        (1.0, expected - spread),
        (1.0, expected + spread),
        (0.0, expected + spread),
    ];
    let band: Vec<(f64, f64)> = band.into_iter().map(|(x, y)| plot.at((x, y.max(0.0)))).collect();
    plot.canvas.area(&band, Fill::new(Colour::Series(1)).faded(0.28));
    draw_bars(&mut plot, histogram);
    // Its ends are drawn on the bars: behind them only its upper half is seen well.
    for end in [expected - spread, expected + spread].map(|end| end.max(0.0)) {
        plot.curve([(0.0, end), (1.0, end)], Pen::new(Colour::Series(1), 1.0).dashed(), "");
    }
    plot.curve(
        [(0.0, expected), (1.0, expected)],
        Pen::new(Colour::Series(1), 1.5),
        "as many as expected",
    );
    Ok(Some(plot.finish()))
}

/// Where the rows that were given stand in one column.
fn marginal<'a>(evidence: &'a Evidence, wanted: &str) -> Result<&'a Histogram, Error> {
    let own = evidence.marginals.iter().filter_map(|own| match &own.sketch {
        Sketch::Numbers(histogram) => Some((own.name.as_str(), histogram)),
        Sketch::Levels(_) => None,
    });
    let found = own.clone().find(|(name, _)| *name == wanted).map(|(_, histogram)| histogram);
    found.ok_or_else(|| {
        let names: Vec<&str> = own.map(|(name, _)| name).collect();
        let expected = if names.is_empty() {
            "left out: single columns are known of rows given with --data only".into()
        } else {
            names.join(", ")
        };
        Error::param("input", expected, wanted).suggesting(wanted, names)
    })
}

fn draw_bars(plot: &mut Plot, histogram: &Histogram) {
    let width = 1.0 / histogram.counts.len() as f64;
    for (k, &count) in histogram.counts.iter().enumerate() {
        let from = k as f64 * width;
        let ((left, top), (right, bottom)) =
            (plot.at((from, count as f64)), plot.at((from + width, 0.0)));
        let title = format!("{from:.2} to {:.2}: {}", from + width, counted(count, "row"));
        plot.canvas.rect(
            (left + 0.5, top),
            (right - left - 1.0, bottom - top),
            Fill::new(Colour::First).faded(0.55),
            &title,
        );
    }
}

/// How often intervals hold the truth, against how often they should.
pub(super) fn coverage(subject: &Subject<'_>, options: &Options) -> Option<String> {
    let given = match subject {
        Subject::Score(report) => report.intervals.as_ref(),
        _ => subject.model()?.score.and_then(|score| score.intervals.as_ref()),
    };
    let own = || Some(&subject.stack()?.intervals.as_ref()?.coverage);
    let coverage = given.or_else(own).filter(|coverage| !coverage.is_empty())?;
    let whose = match given {
        _ if subject.knows_rows() => "rows that look like those it was fitted to",
        Some(_) => "rows that were given for it",
        None => "rows held out",
    };
    let rows = coverage_rows(subject, given.is_some());
    let words = format!(
        "Measured on {whose}, with 90 % intervals. On the line an interval keeps its promise; below it holds the truth too rarely."
    );
    let frame = Frame {
        height: 380.0,
        right: 60.0,
        ..Frame::new(
            Heading::new("Do prediction intervals hold the truth?", &words, options),
            "level of the interval",
            "share of truths within",
        )
    };
    let mut plot = frame.open(options);
    plot.curve([(0.0, 0.0), (1.0, 1.0)], Pen::new(Colour::Muted, 1.0).dashed(), "as promised");
    plot.curve(
        coverage.iter().map(|c| (c.level, c.measured.mean)),
        Pen::new(Colour::First, 1.8),
        "",
    );
    for (k, Coverage { level, measured, width }) in coverage.iter().enumerate() {
        let (x, y) = plot.at((*level, measured.mean));
        // A share as any other: that all of a few rows were within says little.
        let share = ReliabilityBin { predicted: *level, observed: *measured, rows };
        let ends = share.interval(NINETY).map(|share| plot.y.at(share));
        plot.canvas.line((x, ends[0]), (x, ends[1]), Pen::new(Colour::First, 1.4));
        let held = 100.0 * measured.mean;
        let title = format!(
            "{:.0} % intervals hold {held:.1} %, {} wide on average",
            100.0 * level,
            short(*width)
        );
        plot.canvas.dot((x, y), 5.0, Fill::new(Colour::First), &title);
        let label = format!("{held:.0} %");
        // Levels are the closer the higher they are: labels stand above the curve and below it by turns, the last one below. As it rises,
        // there is room to the left above it, and to the right below.
        let is_below = (coverage.len() - k) % 2 == 1;
        let letters = Letters::new(SMALL, Colour::Ink);
        if is_below {
            plot.canvas.text((x + 8.0, y + 14.0), &label, letters);
        } else {
            plot.canvas.text((x - 8.0, y - 6.0), &label, letters.end());
        }
    }
    Some(plot.finish())
}

/// The rows by which coverage was measured.
fn coverage_rows(subject: &Subject<'_>, is_given: bool) -> usize {
    let rows = match subject {
        Subject::Score(report) => Some(report.rows),
        _ if is_given => subject.model().and_then(|view| view.score).map(|score| score.rows),
        _ => {
            let own = subject.model().and_then(|view| view.model.evidence());
            own.map(|evidence| evidence.rows).filter(|rows| *rows > 0)
        }
    };
    rows.or_else(|| subject.stack().map(|stack| stack.table_rows)).unwrap_or(1).max(1)
}
