//! Random draws of rows: hold-out, subsamples without replacement, and the bootstrap.

use rand::{Rng, RngExt};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::stratified::Deal;
use super::{MOST_REPEATS, Plan, Split, check_enough, check_repeats, stream};
use crate::error::{Error, Result};
use crate::run::Run;

/// Some of the rows: a whole number counts rows, a fraction is a share of them.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(untagged, expecting = "a number of rows (100) or a fraction of them (0.25)")]
pub enum Portion {
    /// So many rows.
    Rows(usize),
    /// This share of the rows, between 0 and 1, rounded to the nearest number of rows.
    Fraction(f64),
}

/// One split: a draw of rows is held out, all others are learned from.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct HoldOut {
    /// The rows held out: a whole number counts them, a fraction is their share.
    #[schemars(extend("exclusiveMinimum" = 0))]
    pub test: Portion,
    /// Whether every class has its share of them, to within one row.
    pub stratify: bool,
}

impl Default for HoldOut {
    fn default() -> Self {
        Self { test: Portion::Fraction(0.25), stratify: false }
    }
}

/// Several splits: each learns from a draw of rows without replacement and holds out all others.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Subsample {
    /// The rows learned from: a whole number counts them, a fraction is their share.
    #[schemars(extend("exclusiveMinimum" = 0))]
    pub train: Portion,
    /// Number of draws. The first draws are the same however many follow.
    #[schemars(range(min = 1, max = MOST_REPEATS))]
    pub repeats: usize,
    /// Whether every class has its share of the draw, to within one row.
    pub stratify: bool,
}

/// Learns from 70 % of the rows: the subsamples of OrmoneitTresp1995, section 4.
impl Default for Subsample {
    fn default() -> Self {
        Self { train: Portion::Fraction(0.7), repeats: 25, stratify: false }
    }
}

/// Several splits: each learns from as many draws with replacement as there are rows, and holds out the rows not drawn,
/// about 37 %. A sample that misses no row, which can happen with few rows, is drawn anew.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Bootstrap {
    /// Number of samples. The first samples are the same however many follow.
    #[schemars(range(min = 1, max = MOST_REPEATS))]
    pub repeats: usize,
}

impl Default for Bootstrap {
    fn default() -> Self {
        Self { repeats: 25 }
    }
}

impl Plan {
    /// One split that holds out a random draw of rows.
    pub fn hold_out(rows: usize, test: Portion, run: &Run) -> Result<Self> {
        HoldOut { test, stratify: false }.plan(rows, None, run)
    }

    /// `repeats` splits, each learning from a draw of rows without replacement and predicting all others.
    pub fn subsample(rows: usize, train: Portion, repeats: usize, run: &Run) -> Result<Self> {
        Subsample { train, repeats, stratify: false }.plan(rows, None, run)
    }

    /// `repeats` splits, each learning from a bootstrap sample and predicting its out-of-bag rows.
    pub fn bootstrap(rows: usize, repeats: usize, run: &Run) -> Result<Self> {
        check_repeats(repeats)?;
        check_enough(rows, "rows")?;
        Self::drawn(rows, repeats, run, |run| {
            let (train, test) = bootstrap_sample(rows, &mut run.rng());
            Split::explicit(rows, train, test)
        })
    }

    /// Splits drawn one by one, each from a stream of its own.
    fn drawn(
        rows: usize,
        repeats: usize,
        run: &Run,
        draw: impl Fn(&Run) -> Split + Sync,
    ) -> Result<Self> {
        let streams = stream(run);
        let split = |number| run.check().map(|()| draw(&streams.child(number as u64)));
        Ok(Self::of(rows, run.try_map(repeats, split)?))
    }
}

impl HoldOut {
    pub(super) fn plan(self, rows: usize, classes: Option<&[u32]>, run: &Run) -> Result<Plan> {
        let test = self.test.count(rows, "test")?;
        Plan::drawn(rows, 1, run, |run| held_out(rows, test, classes, run))
    }
}

impl Subsample {
    pub(super) fn plan(self, rows: usize, classes: Option<&[u32]>, run: &Run) -> Result<Plan> {
        check_repeats(self.repeats)?;
        let test = rows - self.train.count(rows, "train")?;
        Plan::drawn(rows, self.repeats, run, |run| held_out(rows, test, classes, run))
    }
}

impl Portion {
    /// The number of rows meant, which must leave some rows over; `name` is the parameter's.
    pub(super) fn count(self, rows: usize, name: &str) -> Result<usize> {
        check_enough(rows, "rows")?;
        let both_sides = || format!("such that of {rows} rows at least 1 is in and 1 is out");
        match self {
            Self::Rows(count) if (1..rows).contains(&count) => Ok(count),
            Self::Rows(count) => Err(Error::param(name, both_sides(), count)),
            Self::Fraction(share) if share > 0.0 && share < 1.0 => {
                let count = (share * rows as f64).round() as usize;
                let fits = (1..rows).contains(&count).then_some(count);
                fits.ok_or_else(|| Error::param(name, both_sides(), share))
            }
            Self::Fraction(share) => {
                Err(Error::param(name, "a fraction between 0 and 1 or a number of rows", share))
            }
        }
    }
}

/// A split that holds out `count` of the rows, of each class its share to within one row if classes are given.
fn held_out(rows: usize, count: usize, classes: Option<&[u32]>, run: &Run) -> Split {
    let mut rng = run.rng();
    let deal = Deal::new(rows, classes, &mut rng);
    // Systematic sampling: `count` picks at equal distances along the order, from a random start. Any stretch of the
    // order, such as the rows of one class, gets its share rounded up or down, and the total is exact.
    let start = rng.random_range(0..rows);
    let mut picked = vec![false; rows];
    deal.each(|turn, row| picked[row] = (start + turn * count) % rows + count >= rows);
    let mut test = Vec::with_capacity(count);
    test.extend((0..rows).filter(|&row| picked[row]));
    Split::others(test)
}

/// A bootstrap sample of all rows, ascending and with its repetitions, and the rows it misses, of which there are some.
fn bootstrap_sample(rows: usize, rng: &mut impl Rng) -> (Vec<usize>, Vec<usize>) {
    let mut times = vec![0_u32; rows];
    loop {
        (0..rows).for_each(|_| times[rng.random_range(0..rows)] += 1);
        if times.contains(&0) {
            break;
        }
        times.fill(0);
    }
    let mut train = Vec::with_capacity(rows);
    for (row, &times) in times.iter().enumerate() {
        train.extend(std::iter::repeat_n(row, times as usize));
    }
    (train, (0..rows).filter(|&row| times[row] == 0).collect())
}
