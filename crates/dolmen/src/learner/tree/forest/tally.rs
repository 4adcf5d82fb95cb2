//! What rows add up to: the sums that splits are judged by and leaves speak from.
//!
//! A split is worth the sum over its sides of S^2 / W, with W the weight of a side's rows and S the weighted sum of their numbers
//! (variance; for the 0/1 indicator of the second of two classes half of Gini's index), or of sum_c W_c^2 / W (Gini's
//! index of several classes). BreimanEtAl1984, sections 4.3 and 8.4.

/// Codes of a column, the one for missing values among them.
pub(super) const CODES: usize = 256;

/// The cuts that could be made: after the first of some bins, after the second, and so on.
pub(super) struct Cuts {
    /// The weight of the left side.
    lefts: [f64; CODES],
    /// The sum of the left side, where it is a number.
    sums: [f64; CODES],
    /// What each cut is worth.
    pub(super) worths: [f64; CODES],
    /// The weight of both sides.
    total: f64,
}

impl Cuts {
    pub(super) fn new() -> Self {
        Self { lefts: [0.0; CODES], sums: [0.0; CODES], worths: [0.0; CODES], total: 0.0 }
    }

    /// The weight of the lighter side.
    pub(super) fn lightest(&self, cut: usize) -> f64 {
        self.lefts[cut].min(self.total - self.lefts[cut])
    }

    /// Whether the left side is no lighter than the right one.
    pub(super) fn leans_left(&self, cut: usize) -> bool {
        self.lefts[cut] >= self.total - self.lefts[cut]
    }

    /// Fills in what cuts are worth by S^2 / W on both sides, with one division; many at once.
    fn judge(&mut self, cuts: usize, total: (f64, f64)) {
        let Self { lefts, sums, worths, .. } = self;
        let sides = lefts[..cuts].iter().zip(&sums[..cuts]);
        for (worth, (&weight, &sum)) in worths[..cuts].iter_mut().zip(sides) {
            let (other, others) = (total.0 - weight, total.1 - sum);
            *worth = (sum * sum * other + others * others * weight) / (weight * other);
        }
        self.total = total.0;
    }
}

/// One way of adding up rows.
pub(super) trait Tally: Sync {
    /// A row in a node: its number and what it adds.
    type Item: Copy;
    /// What is added up; several of them if `stride` says so.
    type Cell: Copy + Default + PartialEq;
    /// The two sides of a split.
    type Sides: Default;

    /// Cells a bin has.
    fn stride(&self) -> usize {
        1
    }
    /// The row's number.
    fn row(item: &Self::Item) -> usize;
    /// Gives the row another number.
    fn renumber(item: &mut Self::Item, row: u32);
    /// Adds a row to a bin.
    fn add(&self, bin: &mut [Self::Cell], item: &Self::Item);
    /// Adds the rows to a bin whose codes count, without branches, which could not be foretold.
    fn add_where(
        &self,
        bin: &mut [Self::Cell],
        items: &[Self::Item],
        codes: &[u8],
        counts: impl Fn(u8) -> bool,
    );
    /// Whether the rows of a node, with these sums, are all alike.
    fn is_pure(&self, items: &[Self::Item], sums: &[Self::Cell]) -> bool;
    /// The weight of the rows with these sums.
    fn weight(&self, sums: &[Self::Cell]) -> f64;
    /// Puts all rows of a node on the right.
    fn start(&self, sums: &[Self::Cell], sides: &mut Self::Sides);
    /// Moves a bin from the right to the left.
    fn shift(&self, bin: &[Self::Cell], sides: &mut Self::Sides);
    /// Moves bins to the left in turn, and returns what a cut after each of them gains.
    fn weigh(
        &self,
        histogram: &[Self::Cell],
        codes: &[u8],
        sides: &mut Self::Sides,
        cuts: &mut Cuts,
    );
    /// What the rows of a node are worth on one side.
    fn alone(&self, sums: &[Self::Cell]) -> f64;
    /// In how many ways categories can be put in order before they are cut like numbers.
    fn orders(&self) -> usize {
        1
    }
    /// A category's place in such an order.
    fn place(&self, order: usize, bin: &[Self::Cell]) -> f64;
    /// The prediction of a leaf with these sums; as many values as cells.
    fn write_leaf(&self, sums: &[Self::Cell], values: &mut [f32]);
}

/// Two classes whose rows count 1 each: rows and rows of the second class in one word, added in one go.
pub(super) struct Ones {
    /// Rows of the average frequencies added to a leaf, and the second class's average frequency.
    pub(super) smoothing: f64,
    pub(super) average: f64,
}

/// A row with how often it was drawn, and the same again if it is of the second class.
#[derive(Clone, Copy)]
pub(super) struct OnesItem {
    pub(super) row: u32,
    pub(super) times: u16,
    pub(super) ones: u16,
}

/// Count and sum of the sides, in one word each.
#[derive(Default)]
pub(super) struct OnesSides {
    left: u64,
    right: u64,
}

/// All bits of what is counted, none of what is not.
#[inline]
fn mask(is_counted: bool) -> u64 {
    u64::from(is_counted).wrapping_neg()
}

#[inline]
fn unpack(word: u64) -> (f64, f64) {
    (f64::from(word as i32), f64::from((word >> 32) as i32))
}

impl Tally for Ones {
    type Item = OnesItem;
    type Cell = u64;
    type Sides = OnesSides;

    #[inline]
    fn row(item: &OnesItem) -> usize {
        item.row as usize
    }
    #[inline]
    fn renumber(item: &mut OnesItem, row: u32) {
        item.row = row;
    }
    #[inline]
    fn add(&self, bin: &mut [u64], item: &OnesItem) {
        bin[0] += u64::from(item.times) | u64::from(item.ones) << 32;
    }
    #[inline]
    fn add_where(
        &self,
        bin: &mut [u64],
        items: &[OnesItem],
        codes: &[u8],
        counts: impl Fn(u8) -> bool,
    ) {
        let words = items.iter().map(|item| u64::from(item.times) | u64::from(item.ones) << 32);
        let counted = words.zip(codes).map(|(word, code)| word & mask(counts(*code)));
        bin[0] += counted.sum::<u64>();
    }
    fn is_pure(&self, _items: &[OnesItem], sums: &[u64]) -> bool {
        let (count, ones) = unpack(sums[0]);
        ones == 0.0 || ones == count
    }
    fn weight(&self, sums: &[u64]) -> f64 {
        unpack(sums[0]).0
    }
    #[inline]
    fn start(&self, sums: &[u64], sides: &mut OnesSides) {
        *sides = OnesSides { left: 0, right: sums[0] };
    }
    #[inline]
    fn shift(&self, bin: &[u64], sides: &mut OnesSides) {
        sides.left += bin[0];
        sides.right -= bin[0];
    }
    #[inline]
    fn weigh(&self, histogram: &[u64], codes: &[u8], sides: &mut OnesSides, cuts: &mut Cuts) {
        let total = unpack(sides.left + sides.right);
        let mut left = sides.left;
        for ((weight, sum), &code) in cuts.lefts.iter_mut().zip(&mut cuts.sums).zip(codes) {
            left += histogram[usize::from(code)];
            (*weight, *sum) = unpack(left);
        }
        cuts.judge(codes.len(), total);
    }
    fn alone(&self, sums: &[u64]) -> f64 {
        let (count, ones) = unpack(sums[0]);
        ones * ones / count
    }
    fn place(&self, _order: usize, bin: &[u64]) -> f64 {
        let (count, ones) = unpack(bin[0]);
        ones / count
    }
    fn write_leaf(&self, sums: &[u64], values: &mut [f32]) {
        let (count, ones) = unpack(sums[0]);
        values[0] = ((ones + self.smoothing * self.average) / (count + self.smoothing)) as f32;
    }
}

/// Numbers with weights; also two classes whose rows have weights.
pub(super) struct Numbers {
    /// What is taken off the numbers before they are added up, so that nothing cancels.
    pub(super) centre: f64,
    /// Weight of this average that a leaf has on top of its own.
    pub(super) smoothing: f64,
}

/// A row with its weight, and that times its number less the centre.
#[derive(Clone, Copy)]
pub(super) struct NumbersItem {
    pub(super) row: u32,
    pub(super) weight: f64,
    pub(super) sum: f64,
}

/// Weight and sum of the sides.
#[derive(Default)]
pub(super) struct NumbersSides {
    left: (f64, f64),
    right: (f64, f64),
}

impl Tally for Numbers {
    type Item = NumbersItem;
    type Cell = (f64, f64);
    type Sides = NumbersSides;

    #[inline]
    fn row(item: &NumbersItem) -> usize {
        item.row as usize
    }
    #[inline]
    fn renumber(item: &mut NumbersItem, row: u32) {
        item.row = row;
    }
    #[inline]
    fn add(&self, bin: &mut [(f64, f64)], item: &NumbersItem) {
        bin[0].0 += item.weight;
        bin[0].1 += item.sum;
    }
    #[inline]
    fn add_where(
        &self,
        bin: &mut [(f64, f64)],
        items: &[NumbersItem],
        codes: &[u8],
        counts: impl Fn(u8) -> bool,
    ) {
        let (mut weight, mut sum) = bin[0];
        for (item, code) in items.iter().zip(codes) {
            let mask = mask(counts(*code));
            weight += f64::from_bits(item.weight.to_bits() & mask);
            sum += f64::from_bits(item.sum.to_bits() & mask);
        }
        bin[0] = (weight, sum);
    }
    fn is_pure(&self, items: &[NumbersItem], _sums: &[(f64, f64)]) -> bool {
        let alike = |item: &NumbersItem| item.sum * items[0].weight == items[0].sum * item.weight;
        items.iter().all(alike)
    }
    fn weight(&self, sums: &[(f64, f64)]) -> f64 {
        sums[0].0
    }
    #[inline]
    fn start(&self, sums: &[(f64, f64)], sides: &mut NumbersSides) {
        *sides = NumbersSides { left: (0.0, 0.0), right: sums[0] };
    }
    #[inline]
    fn shift(&self, bin: &[(f64, f64)], sides: &mut NumbersSides) {
        let (weight, sum) = bin[0];
        sides.left = (sides.left.0 + weight, sides.left.1 + sum);
        sides.right = (sides.right.0 - weight, sides.right.1 - sum);
    }
    #[inline]
    fn weigh(
        &self,
        histogram: &[(f64, f64)],
        codes: &[u8],
        sides: &mut NumbersSides,
        cuts: &mut Cuts,
    ) {
        let (mut left, right) = (sides.left, sides.right);
        let total = (left.0 + right.0, left.1 + right.1);
        for ((weight, sum), &code) in cuts.lefts.iter_mut().zip(&mut cuts.sums).zip(codes) {
            let bin = histogram[usize::from(code)];
            left = (left.0 + bin.0, left.1 + bin.1);
            (*weight, *sum) = left;
        }
        cuts.judge(codes.len(), total);
    }
    fn alone(&self, sums: &[(f64, f64)]) -> f64 {
        sums[0].1 * sums[0].1 / sums[0].0
    }
    fn place(&self, _order: usize, bin: &[(f64, f64)]) -> f64 {
        bin[0].1 / bin[0].0
    }
    fn write_leaf(&self, sums: &[(f64, f64)], values: &mut [f32]) {
        let (weight, sum) = sums[0];
        values[0] = (self.centre + sum / (weight + self.smoothing)) as f32;
    }
}

/// Several classes.
pub(super) struct Classes {
    pub(super) smoothing: f64,
    /// The classes' average frequencies.
    pub(super) average: Vec<f64>,
}

/// A row with its class and weight.
#[derive(Clone, Copy)]
pub(super) struct ClassesItem {
    pub(super) row: u32,
    pub(super) class: u32,
    pub(super) weight: f64,
}

/// Class weights, their total and the sum of their squares, on either side.
#[derive(Default)]
pub(super) struct ClassesSides {
    left: Vec<f64>,
    right: Vec<f64>,
    weights: [f64; 2],
    squares: [f64; 2],
}

impl Tally for Classes {
    type Item = ClassesItem;
    type Cell = f64;
    type Sides = ClassesSides;

    fn stride(&self) -> usize {
        self.average.len()
    }
    #[inline]
    fn row(item: &ClassesItem) -> usize {
        item.row as usize
    }
    #[inline]
    fn renumber(item: &mut ClassesItem, row: u32) {
        item.row = row;
    }
    #[inline]
    fn add(&self, bin: &mut [f64], item: &ClassesItem) {
        bin[item.class as usize] += item.weight;
    }
    #[inline]
    fn add_where(
        &self,
        bin: &mut [f64],
        items: &[ClassesItem],
        codes: &[u8],
        counts: impl Fn(u8) -> bool,
    ) {
        for (item, code) in items.iter().zip(codes) {
            let weight = f64::from_bits(item.weight.to_bits() & mask(counts(*code)));
            bin[item.class as usize] += weight;
        }
    }
    fn is_pure(&self, items: &[ClassesItem], _sums: &[f64]) -> bool {
        items.iter().all(|item| item.class == items[0].class)
    }
    fn weight(&self, sums: &[f64]) -> f64 {
        sums.iter().sum()
    }
    fn start(&self, sums: &[f64], sides: &mut ClassesSides) {
        sides.left.clear();
        sides.left.resize(sums.len(), 0.0);
        sides.right.clear();
        sides.right.extend_from_slice(sums);
        sides.weights = [0.0, sums.iter().sum()];
        sides.squares = [0.0, sums.iter().map(|sum| sum * sum).sum()];
    }
    #[inline]
    fn shift(&self, bin: &[f64], sides: &mut ClassesSides) {
        let (mut weight, mut gained, mut lost) = (0.0, 0.0, 0.0);
        for ((left, right), &sum) in sides.left.iter_mut().zip(&mut sides.right).zip(bin) {
            weight += sum;
            gained += sum * (2.0 * *left + sum);
            lost += sum * (2.0 * *right - sum);
            *left += sum;
            *right -= sum;
        }
        sides.weights = [sides.weights[0] + weight, sides.weights[1] - weight];
        sides.squares = [sides.squares[0] + gained, sides.squares[1] - lost];
    }
    fn weigh(&self, histogram: &[f64], codes: &[u8], sides: &mut ClassesSides, cuts: &mut Cuts) {
        cuts.total = sides.weights[0] + sides.weights[1];
        let stride = self.stride();
        for ((weight, worth), &code) in cuts.lefts.iter_mut().zip(&mut cuts.worths).zip(codes) {
            self.shift(&histogram[usize::from(code) * stride..][..stride], sides);
            *weight = sides.weights[0];
            *worth = sides.squares[0] / sides.weights[0] + sides.squares[1] / sides.weights[1];
        }
    }
    fn alone(&self, sums: &[f64]) -> f64 {
        sums.iter().map(|sum| sum * sum).sum::<f64>() / sums.iter().sum::<f64>()
    }
    fn orders(&self) -> usize {
        self.average.len()
    }
    /// The share of one class.
    fn place(&self, order: usize, bin: &[f64]) -> f64 {
        bin[order] / bin.iter().sum::<f64>()
    }
    fn write_leaf(&self, sums: &[f64], values: &mut [f32]) {
        let total = sums.iter().sum::<f64>() + self.smoothing;
        for ((value, sum), average) in values.iter_mut().zip(sums).zip(&self.average) {
            *value = ((sum + self.smoothing * average) / total) as f32;
        }
    }
}
