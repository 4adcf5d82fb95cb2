//! Charts of any numbers: lines with bands, points with errors, bars, histograms, surfaces by their contours, on linear or
//! logarithmic axes, each series named where it ends. They look like the pictures of results, and know nothing of them.
//!
//! ```
//! use dolmen_report::Options;
//! use dolmen_report::chart::{Chart, Series};
//!
//! let chart = Chart::new("Two lines", "What grows faster.", "rows", "score")
//!     .with(Series::line("slow", [(1.0, 0.1), (2.0, 0.2)]).errors(vec![0.05, 0.05]))
//!     .with(Series::line("fast", [(1.0, 0.1), (2.0, 0.4)]));
//! assert!(chart.draw(&Options::default()).starts_with("<svg"));
//! ```

mod draw;
mod panels;

pub use panels::panels;

/// One of the two directions of a chart.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Axis {
    /// What is measured along it.
    pub name: String,
    /// Whether even factors, not even steps, have even room.
    pub log: bool,
    /// Its ends; those of the data, with a margin, if not given. What lies beyond is cut off.
    pub range: Option<(f64, f64)>,
    /// The names of 0, 1, 2, .., where the values are no numbers (along x only).
    pub levels: Option<Vec<String>>,
}

/// How a series is shown.
#[derive(Debug, Clone, PartialEq)]
pub enum Mark {
    /// A line; errors are a band around it.
    Line {
        /// Whether it is broken.
        dashed: bool,
    },
    /// Points; errors are whiskers.
    Points,
    /// Bars from zero, side by side with those of other series; errors are whiskers.
    Bars,
    /// Bars from zero, each as wide as this, centred at its x.
    Histogram {
        /// The width of a bar, in units of x.
        width: f64,
    },
    /// A vertical line at the x of each point.
    Uprights,
    /// A surface over a grid, as contours that are filled the more the higher they lie; the points hold (x, y) row by row.
    Contours {
        /// The grid's columns.
        columns: usize,
        /// Heights at the points.
        heights: Vec<f64>,
        /// The heights at which contours are drawn.
        levels: Vec<f64>,
    },
    /// A part of the plane for each point, in the colour of its class: the points are a grid, row by row.
    Regions {
        /// The grid's columns.
        columns: usize,
        /// The class at each point, counted from 0.
        classes: Vec<usize>,
    },
}

/// What a series is coloured as.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Tone {
    /// By its place among the series.
    Own,
    /// A colour by number, for series that belong together.
    Series(usize),
    /// Standing back.
    Muted,
    /// Standing out: truth, theory.
    Ink,
}

/// Numbers that belong together, with their name.
#[derive(Debug, Clone, PartialEq)]
pub struct Series {
    /// What it is called; one without a name has no label.
    pub name: String,
    /// Its points; one that is not finite breaks a line.
    pub points: Vec<(f64, f64)>,
    /// Half the length of the error bar at each point, if errors are shown.
    pub errors: Option<Vec<f64>>,
    /// How it is shown.
    pub mark: Mark,
    /// Its colour.
    pub tone: Tone,
}

impl Series {
    fn new(name: &str, points: impl IntoIterator<Item = (f64, f64)>, mark: Mark) -> Self {
        let points = points.into_iter().collect();
        Self { name: name.into(), points, errors: None, mark, tone: Tone::Own }
    }

    /// A line through points.
    pub fn line(name: &str, points: impl IntoIterator<Item = (f64, f64)>) -> Self {
        Self::new(name, points, Mark::Line { dashed: false })
    }

    /// A broken line: theory, a bound, what is no honest method.
    pub fn dashed(name: &str, points: impl IntoIterator<Item = (f64, f64)>) -> Self {
        Self::new(name, points, Mark::Line { dashed: true })
    }

    /// Points.
    pub fn points(name: &str, points: impl IntoIterator<Item = (f64, f64)>) -> Self {
        Self::new(name, points, Mark::Points)
    }

    /// A bar for each value, at 0, 1, 2, ..
    pub fn bars(name: &str, values: impl IntoIterator<Item = f64>) -> Self {
        let points = values.into_iter().enumerate().map(|(k, value)| (k as f64, value));
        Self::new(name, points, Mark::Bars)
    }

    /// A histogram of values, scaled so that its whole area is 1; values outside `range` are left out.
    pub fn histogram(name: &str, values: &[f64], range: (f64, f64), bars: usize) -> Self {
        let width = (range.1 - range.0) / bars.max(1) as f64;
        let mut counts = vec![0.0; bars.max(1)];
        let total = values.len().max(1) as f64;
        for value in values.iter().filter(|v| (range.0..=range.1).contains(*v)) {
            let k = (((value - range.0) / width) as usize).min(counts.len() - 1);
            counts[k] += 1.0 / (total * width);
        }
        let middle = |(k, height)| (range.0 + width * (k as f64 + 0.5), height);
        let points: Vec<(f64, f64)> = counts.into_iter().enumerate().map(middle).collect();
        Self::new(name, points, Mark::Histogram { width }).tone(Tone::Muted)
    }

    /// Vertical lines.
    pub fn uprights(name: &str, at: impl IntoIterator<Item = f64>) -> Self {
        Self::new(name, at.into_iter().map(|x| (x, 0.0)), Mark::Uprights)
    }

    /// A surface `height(x, y)` over a grid as contours at `levels`.
    pub fn contours(
        name: &str,
        (xs, ys): (&[f64], &[f64]),
        heights: Vec<f64>,
        levels: Vec<f64>,
    ) -> Self {
        let mark = Mark::Contours { columns: xs.len(), heights, levels };
        Self::new(name, grid(xs, ys), mark)
    }

    /// The parts of the plane that belong to each class, on a grid.
    pub fn regions(name: &str, (xs, ys): (&[f64], &[f64]), classes: Vec<usize>) -> Self {
        Self::new(name, grid(xs, ys), Mark::Regions { columns: xs.len(), classes })
    }

    /// The same with an error at each point.
    #[must_use]
    pub fn errors(mut self, errors: Vec<f64>) -> Self {
        self.errors = Some(errors);
        self
    }

    /// The same in another colour.
    #[must_use]
    pub fn tone(mut self, tone: Tone) -> Self {
        self.tone = tone;
        self
    }
}

fn grid(xs: &[f64], ys: &[f64]) -> Vec<(f64, f64)> {
    ys.iter().flat_map(|y| xs.iter().map(move |x| (*x, *y))).collect()
}

/// A chart in the making.
#[derive(Debug, Clone, PartialEq)]
pub struct Chart {
    /// What it is.
    pub title: String,
    /// What is to be seen on it.
    pub words: String,
    /// To the right.
    pub x: Axis,
    /// Upwards.
    pub y: Axis,
    /// What is shown; later ones lie on earlier ones.
    pub series: Vec<Series>,
    /// Height of the part with the marks, in pixels.
    pub height: f64,
    /// Whether the series are named on it.
    pub labels: bool,
}

impl Chart {
    /// A chart without series.
    pub fn new(title: &str, words: &str, x: &str, y: &str) -> Self {
        let axis = |name: &str| Axis { name: name.into(), ..Axis::default() };
        let (title, words) = (title.into(), words.into());
        Self { title, words, x: axis(x), y: axis(y), series: vec![], height: 320.0, labels: true }
    }

    /// The same with one series more.
    #[must_use]
    pub fn with(mut self, series: Series) -> Self {
        self.series.push(series);
        self
    }

    /// The same with more series.
    #[must_use]
    pub fn with_all(mut self, series: impl IntoIterator<Item = Series>) -> Self {
        self.series.extend(series);
        self
    }

    /// The same from one value of x to another.
    #[must_use]
    pub fn x_range(mut self, from: f64, to: f64) -> Self {
        self.x.range = Some((from, to));
        self
    }

    /// The same from one value of y to another; what lies beyond is cut off.
    #[must_use]
    pub fn y_range(mut self, from: f64, to: f64) -> Self {
        self.y.range = Some((from, to));
        self
    }

    /// The same with a logarithmic x.
    #[must_use]
    pub fn log_x(mut self) -> Self {
        self.x.log = true;
        self
    }

    /// The same with a logarithmic y.
    #[must_use]
    pub fn log_y(mut self) -> Self {
        self.y.log = true;
        self
    }

    /// The same with names for x = 0, 1, 2, ..
    #[must_use]
    pub fn x_levels<S: Into<String>>(mut self, names: impl IntoIterator<Item = S>) -> Self {
        self.x.levels = Some(names.into_iter().map(Into::into).collect());
        self
    }

    /// The same with marks in a part of this height.
    #[must_use]
    pub fn height(mut self, height: f64) -> Self {
        self.height = height;
        self
    }

    /// The same without names at the right.
    #[must_use]
    pub fn unlabelled(mut self) -> Self {
        self.labels = false;
        self
    }
}
