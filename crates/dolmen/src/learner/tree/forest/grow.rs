//! Growing one tree of a forest.
//!
//! Beside the general grower of trees, because what costs time is another: every node looks at columns of its own, so that
//! there are no histograms to hand on, and most nodes hold a few rows. A node's rows lie side by side with what they add
//! to the sums; a column is added up in one pass, and only the bins that hold rows are looked at and wiped afterwards.
//! Rows of a small node lie far apart in the table: their codes are copied, and all nodes below live in the near cache.

use std::ops::Range;

use rand::RngExt;
use rand_chacha::ChaCha8Rng;

use super::super::Bins;
use super::super::codes::ColumnCodes;
use super::super::fitted::{CodeSet, contains};
use super::drawn::DrawnCut;
use super::packed::Packed;
use super::tally::{CODES, Cuts, Tally};

/// Nodes of fewer rows mark the bins they touch; others look at all bins.
const MANY_ROWS: usize = 512;

/// Nodes of at most this many rows have their codes copied, with those of all nodes below them.
const NEAR_ROWS: usize = 2048;

/// How many times as much a split must be worth to be better: above what rounding makes of two that are as good.
const BETTER: f64 = 1.0 + 1e-10;

/// When to stop, and what is left to chance.
#[derive(Debug, Clone)]
pub(super) struct Habit {
    /// Columns a node looks at; constant ones do not count.
    pub(super) columns: usize,
    pub(super) depth: usize,
    pub(super) min_leaf: f64,
    /// Whether each column has one cut drawn at random instead of the best one.
    pub(super) random_cuts: bool,
}

/// Grows a tree.
pub(super) struct Sprout<'a, T: Tally> {
    bins: &'a Bins,
    codes: &'a ColumnCodes,
    /// The codes of a small node's rows, column after column; rows are numbered anew in it.
    near: Vec<u8>,
    near_rows: usize,
    habit: &'a Habit,
    tally: &'a T,
    rng: ChaCha8Rng,
    /// All columns, those drawn last in front.
    order: Vec<u32>,
    histogram: Vec<T::Cell>,
    profile: Profile,
    drawn: DrawnCut<T>,
    sides: T::Sides,
    cuts: Cuts,
    /// What splits on each column gained.
    pub(super) gains: Vec<f64>,
}

/// The bins of a column that hold rows of the node, in the order in which they are cut.
struct Profile {
    held: [u8; CODES],
    count: usize,
    has_missing: bool,
}

/// A split that could be made.
#[derive(Clone)]
struct Found {
    worth: f64,
    column: usize,
    rule: Rule,
    missing_left: bool,
}

/// Which codes go left.
#[derive(Clone)]
pub(super) enum Rule {
    /// Those up to this one.
    Below(u8),
    /// These.
    Within(CodeSet),
}

/// A node that waits to be looked at: its rows, its depth, and its place in the packed tree.
struct Waiting {
    range: Range<usize>,
    depth: usize,
    place: usize,
    /// Whether its rows are numbered as the near codes number them.
    is_near: bool,
}

impl<'a, T: Tally> Sprout<'a, T> {
    pub(super) fn new(
        bins: &'a Bins,
        codes: &'a ColumnCodes,
        habit: &'a Habit,
        tally: &'a T,
        rng: ChaCha8Rng,
    ) -> Self {
        let width = bins.columns().len();
        Self {
            bins,
            codes,
            near: Vec::new(),
            near_rows: 0,
            habit,
            tally,
            rng,
            order: (0..width as u32).collect(),
            histogram: vec![T::Cell::default(); CODES * tally.stride()],
            profile: Profile { held: [0; CODES], count: 0, has_missing: false },
            drawn: DrawnCut::new(tally.stride()),
            sides: T::Sides::default(),
            cuts: Cuts::new(),
            gains: vec![0.0; width],
        }
    }

    /// Grows a tree on the items, whose order changes.
    pub(super) fn grow(&mut self, items: &mut [T::Item]) -> Packed {
        let mut tree = Packed::seed(self.tally.stride());
        let mut scratch = items.to_vec();
        let mut sums = vec![T::Cell::default(); self.tally.stride()];
        let mut waiting =
            vec![Waiting { range: 0..items.len(), depth: 0, place: 0, is_near: false }];
        while let Some(Waiting { range, depth, place, mut is_near }) = waiting.pop() {
            let items = &mut items[range.clone()];
            sums.fill(T::Cell::default());
            items.iter().for_each(|item| self.tally.add(&mut sums, item));
            let may_split = depth < self.habit.depth
                && items.len() > 1
                && self.tally.weight(&sums) >= 2.0 * self.habit.min_leaf
                && !self.tally.is_pure(items, &sums);
            if may_split && !is_near {
                is_near = items.len() <= NEAR_ROWS;
                self.near_rows = 0;
                if is_near {
                    self.bring_near(items);
                }
            }
            let Some(found) = may_split.then(|| self.best(items, &sums)).flatten() else {
                tree.leaf(place, |values| self.tally.write_leaf(&sums, values));
                continue;
            };
            let left = self.partition(items, &found, &mut scratch);
            let middle = range.start + left;
            let children = tree.split(place, found.column, &found.rule, found.missing_left);
            let depth = depth + 1;
            waiting.push(Waiting { range: middle..range.end, depth, place: children + 1, is_near });
            waiting.push(Waiting { range: range.start..middle, depth, place: children, is_near });
        }
        tree.finish();
        tree
    }

    /// Copies the codes of rows, and numbers the rows by their place in the copy.
    fn bring_near(&mut self, items: &mut [T::Item]) {
        let (rows, width) = (items.len(), self.order.len());
        self.near_rows = rows;
        self.near.resize(rows * width, 0);
        for (j, near) in self.near.chunks_exact_mut(rows).enumerate() {
            let column = self.codes.column(j);
            near.iter_mut().zip(&*items).for_each(|(code, item)| *code = column[T::row(item)]);
        }
        (0..).zip(items).for_each(|(place, item)| T::renumber(item, place));
    }

    /// The codes of a column, by the rows' present numbers.
    fn column(&self, column: usize) -> &[u8] {
        match self.near_rows {
            0 => self.codes.column(column),
            rows => &self.near[column * rows..(column + 1) * rows],
        }
    }

    /// The best split on some columns.
    fn best(&mut self, items: &[T::Item], sums: &[T::Cell]) -> Option<Found> {
        let alone = self.tally.alone(sums);
        let mut best: Option<Found> = None;
        let mut seen = 0;
        for k in 0..self.order.len() {
            if seen == self.habit.columns {
                break;
            }
            let other = self.rng.random_range(k as u32..self.order.len() as u32) as usize;
            self.order.swap(k, other);
            let column = self.order[k] as usize;
            if self.habit.random_cuts && !self.bins.columns()[column].is_categorical() {
                seen += usize::from(self.cut_at_random(column, items, sums, alone, &mut best));
                continue;
            }
            self.add_up(column, items);
            if self.profile.count + usize::from(self.profile.has_missing) > 1 {
                seen += 1;
                self.cut(column, sums, alone, &mut best);
            }
            self.wipe(column);
        }
        if let Some(best) = &best {
            self.gains[best.column] += best.worth - alone;
        }
        best
    }

    /// Draws a cut of a numeric column, anywhere between the smallest and the largest bin, all bins alike (so that an outlier does not draw
    /// the cuts to itself). `false` if the column is constant.
    fn cut_at_random(
        &mut self,
        column: usize,
        items: &[T::Item],
        sums: &[T::Cell],
        alone: f64,
        best: &mut Option<Found>,
    ) -> bool {
        // Not `self.column`: the cut is written meanwhile.
        let codes = match self.near_rows {
            0 => self.codes.column(column),
            rows => &self.near[column * rows..(column + 1) * rows],
        };
        let missing = self.bins.columns()[column].bins() as u8;
        if !self.drawn.read(codes, items, missing) {
            return false;
        }
        let (lowest, highest) = (self.drawn.lowest, self.drawn.highest);
        let has_values_right = lowest < highest;
        let bin = if has_values_right { self.rng.random_range(lowest..highest) } else { highest };
        self.drawn.add_up(self.tally, items, bin);
        for missing_left in [false, true] {
            if missing_left && !(self.drawn.has_missing && has_values_right) {
                break;
            }
            self.tally.start(sums, &mut self.sides);
            if missing_left {
                self.tally.shift(&self.drawn.without, &mut self.sides);
            }
            self.tally.weigh(&self.drawn.left, &[0], &mut self.sides, &mut self.cuts);
            let worth = self.cuts.worths[0];
            let least = best.as_ref().map_or(alone, |best| best.worth) * BETTER;
            if worth > least && self.cuts.lightest(0) >= self.habit.min_leaf {
                // Without missing values to learn from, they go with the heavier side.
                let missing_left =
                    if self.drawn.has_missing { missing_left } else { self.cuts.leans_left(0) };
                let rule = Rule::Below(self.drawn.midway(bin));
                *best = Some(Found { worth, column, rule, missing_left });
            }
        }
        true
    }

    /// Adds up a column, and notes which bins hold rows.
    fn add_up(&mut self, column: usize, items: &[T::Item]) {
        // Not `self.column`: the histogram is written meanwhile.
        let codes = match self.near_rows {
            0 => self.codes.column(column),
            rows => &self.near[column * rows..(column + 1) * rows],
        };
        let (tally, stride) = (self.tally, self.tally.stride());
        let histogram = &mut self.histogram[..];
        let mut touched: CodeSet = [0; 4];
        if items.len() < MANY_ROWS {
            for item in items {
                let code = codes[T::row(item)];
                touched[usize::from(code >> 6)] |= 1 << (code & 63);
                tally.add(&mut histogram[usize::from(code) * stride..][..stride], item);
            }
        } else {
            for item in items {
                let code = usize::from(codes[T::row(item)]);
                tally.add(&mut histogram[code * stride..][..stride], item);
            }
            for (code, cells) in histogram.chunks_exact(stride).enumerate() {
                let holds = cells.iter().any(|cell| *cell != T::Cell::default());
                touched[code >> 6] |= u64::from(holds) << (code & 63);
            }
        }
        let missing = self.bins.columns()[column].bins();
        self.profile.has_missing = touched[missing >> 6] >> (missing & 63) & 1 == 1;
        touched[missing >> 6] &= !(1 << (missing & 63));
        let mut count = 0;
        for (word, &bits) in touched.iter().enumerate() {
            let mut bits = bits;
            while bits != 0 {
                self.profile.held[count] = (word << 6) as u8 | bits.trailing_zeros() as u8;
                count += 1;
                bits &= bits - 1;
            }
        }
        self.profile.count = count;
    }

    fn wipe(&mut self, column: usize) {
        let stride = self.tally.stride();
        let missing = self.bins.columns()[column].bins() as u8;
        for &code in self.profile.held[..self.profile.count].iter().chain([&missing]) {
            self.histogram[usize::from(code) * stride..][..stride].fill(T::Cell::default());
        }
    }

    /// Looks for a better cut on the column that was added up.
    fn cut(&mut self, column: usize, sums: &[T::Cell], alone: f64, best: &mut Option<Found>) {
        let count = self.profile.count;
        let is_categorical = self.bins.columns()[column].is_categorical();
        if is_categorical {
            self.put_in_order();
        }
        let last = count - usize::from(!self.profile.has_missing);
        let drawn = (self.habit.random_cuts && count > 1).then(|| self.draw());
        let tried = drawn.map_or(1..last + 1, |after| after..after + 1);
        let stride = self.tally.stride();
        let missing = self.bins.columns()[column].bins();
        for missing_left in [false, true] {
            if missing_left && !self.profile.has_missing {
                break;
            }
            self.tally.start(sums, &mut self.sides);
            if missing_left {
                self.tally.shift(&self.histogram[missing * stride..][..stride], &mut self.sides);
            }
            let end = tried.end.min(if missing_left { count } else { count + 1 });
            let held = &self.profile.held[..end - 1];
            self.tally.weigh(&self.histogram, held, &mut self.sides, &mut self.cuts);
            let (mut worth, mut found) = (best.as_ref().map_or(alone, |best| best.worth), None);
            let mut least = worth * BETTER;
            for after in tried.start..end {
                let reached = self.cuts.worths[after - 1];
                if reached > least && self.cuts.lightest(after - 1) >= self.habit.min_leaf {
                    // Without missing values to learn from, they go with the heavier side.
                    let left = if self.profile.has_missing {
                        missing_left
                    } else {
                        self.cuts.leans_left(after - 1)
                    };
                    (worth, found) = (reached, Some((after, left)));
                    least = worth * BETTER;
                }
            }
            if let Some((after, missing_left)) = found {
                let leans_left = self.cuts.leans_left(after - 1);
                let rule = self.rule(after, is_categorical.then_some(leans_left), column);
                *best = Some(Found { worth, column, rule, missing_left });
            }
        }
    }

    /// Orders categories by their place, in one of the tally's orders.
    fn put_in_order(&mut self) {
        let order = match self.tally.orders() {
            1 => 0,
            orders => self.rng.random_range(0..orders),
        };
        let (tally, histogram, stride) = (self.tally, &self.histogram, self.tally.stride());
        let place =
            |code: &u8| tally.place(order, &histogram[usize::from(*code) * stride..][..stride]);
        let held = &mut self.profile.held[..self.profile.count];
        held.sort_by(|a, b| place(a).total_cmp(&place(b)));
    }

    /// After how many categories a random cut is made: after any number of them in any order.
    fn draw(&mut self) -> usize {
        let held = &mut self.profile.held[..self.profile.count];
        rand::seq::SliceRandom::shuffle(held, &mut self.rng);
        self.rng.random_range(1..held.len())
    }

    /// The rule that sends the first bins left: midway to the next bin that holds rows. Of categories it is told which side is heavier: those of
    /// which the node has no rows go there. Were they to go right, where larger values are, many levels of few rows would be predicted too high.
    fn rule(&self, after: usize, leans_left: Option<bool>, column: usize) -> Rule {
        let held = &self.profile.held[..self.profile.count];
        if let Some(leans_left) = leans_left {
            let mut set = [0; 4];
            let bit = |code: u8| (usize::from(code >> 6), 1_u64 << (code & 63));
            if leans_left {
                let bins = self.bins.columns()[column].bins();
                (0..bins as u8).map(bit).for_each(|(word, bit)| set[word] |= bit);
                held[after..]
                    .iter()
                    .map(|code| bit(*code))
                    .for_each(|(word, bit)| set[word] &= !bit);
            } else {
                held[..after]
                    .iter()
                    .map(|code| bit(*code))
                    .for_each(|(word, bit)| set[word] |= bit);
            }
            return Rule::Within(set);
        }
        match held.get(after) {
            Some(next) => Rule::Below(held[after - 1] + (next - 1 - held[after - 1]) / 2),
            None => Rule::Below((self.bins.columns()[column].bins() - 1) as u8),
        }
    }

    /// Brings the items that go left to the front, each side in its old order; returns how many there are.
    fn partition(&self, items: &mut [T::Item], found: &Found, scratch: &mut [T::Item]) -> usize {
        let missing = self.bins.columns()[found.column].bins();
        let codes = self.column(found.column);
        match (&found.rule, found.missing_left) {
            (Rule::Below(bin), false) => part::<T>(items, scratch, codes, |code| code <= *bin),
            (Rule::Below(bin), true) => part::<T>(items, scratch, codes, |code| {
                (code <= *bin) | (usize::from(code) == missing)
            }),
            (Rule::Within(set), missing_left) => {
                let mut set = *set;
                set[missing >> 6] |= u64::from(missing_left) << (missing & 63);
                part::<T>(items, scratch, codes, |code| contains(&set, code))
            }
        }
    }
}

/// Parts items by their codes: those that go left first. Without branches, which could not be foretold.
fn part<T: Tally>(
    items: &mut [T::Item],
    scratch: &mut [T::Item],
    codes: &[u8],
    goes_left: impl Fn(u8) -> bool,
) -> usize {
    let (mut lefts, mut rights) = (0, 0);
    for i in 0..items.len() {
        let item = items[i];
        let left = goes_left(codes[T::row(&item)]);
        items[lefts] = item;
        scratch[rights] = item;
        lefts += usize::from(left);
        rights += usize::from(!left);
    }
    items[lefts..].copy_from_slice(&scratch[..rights]);
    lefts
}
