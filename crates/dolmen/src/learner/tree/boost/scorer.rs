//! Scoring many rows with many small trees: QuickScorer (Lucchese2015), bytewise over 64 rows at a time.
//!
//! Every row keeps a bit for each leaf of a tree. A split that sends the row right clears the bits of the leaves on its
//! left; in the end the lowest bit left is the row's leaf. The bits are cut into bytes (*planes* of eight leaves), so that
//! one vector instruction serves 32 rows, and a split is applied only to the planes its left leaves lie in. The rows come
//! as codes, and every comparison is one of bytes.

use std::array;
use std::ops::Range;

use multiversion::multiversion;

use super::super::bins::Bins;
use super::super::fitted::{Child, Rule, Split, Tree, contains};

/// Rows scored at once.
pub(super) const LANES: usize = 64;

/// Leaves of a tree at most: as many planes as a byte can number.
pub(super) const MOST_LEAVES: usize = 2048;

/// The trees of a model, ready to score.
#[derive(Debug, Clone, Default)]
pub(super) struct Scorer {
    trees: Vec<Plan>,
    steps: Vec<Step>,
    tables: Vec<Table>,
    values: Vec<f64>,
}

/// Where a tree's planes and values begin.
#[derive(Debug, Clone)]
struct Plan {
    planes: Vec<Plane>,
    values: usize,
}

/// The splits that clear bits of eight leaves.
#[derive(Debug, Clone)]
struct Plane {
    steps: Range<usize>,
    tables: Range<usize>,
}

/// One split on one plane: rows with `code - low <= bound`, in wrapping bytes, go left and keep all bits; the others keep
/// those in `keep`.
#[derive(Debug, Clone, Copy)]
struct Step {
    column: u32,
    low: u8,
    bound: u8,
    keep: u8,
}

/// One split on categories: the bits that each code keeps.
#[derive(Debug, Clone)]
struct Table {
    column: u32,
    keep: [u8; 256],
}

/// The codes of 64 rows, column after column.
pub(super) type Block = [u8; LANES];

impl Scorer {
    /// Prepares trees that were grown on these bins.
    pub(super) fn new(trees: &[Tree], bins: &Bins) -> Self {
        let mut scorer = Self::default();
        for tree in trees {
            scorer.add(tree, bins);
        }
        scorer
    }

    fn add(&mut self, tree: &Tree, bins: &Bins) {
        let lefts = left_leaves(tree);
        let mut planes = Vec::with_capacity(tree.leaves().div_ceil(8));
        for first in (0..tree.leaves()).step_by(8) {
            let (steps, tables) = (self.steps.len(), self.tables.len());
            for (split, left) in tree.splits().iter().zip(&lefts) {
                let cleared = left.start.max(first)..left.end.min(first + 8);
                let keep = cleared.fold(!0_u8, |bits, leaf| bits & !(1 << (leaf - first)));
                if keep != !0 {
                    self.add_split(tree, split, keep, bins);
                }
            }
            let (steps, tables) = (steps..self.steps.len(), tables..self.tables.len());
            planes.push(Plane { steps, tables });
        }
        self.trees.push(Plan { planes, values: self.values.len() });
        self.values.extend_from_slice(tree.values());
    }

    fn add_split(&mut self, tree: &Tree, split: &Split, keep: u8, bins: &Bins) {
        let column = split.column;
        let missing = bins.columns()[column as usize].bins() as u8;
        match split.rule {
            Rule::Below { bin, .. } if split.missing_left => {
                // Missing is the largest code; seen from there, in wrapping bytes, it is the smallest.
                let bound = bin.wrapping_sub(missing);
                self.steps.push(Step { column, low: missing, bound, keep });
            }
            Rule::Below { bin, .. } => {
                self.steps.push(Step { column, low: 0, bound: bin, keep });
            }
            Rule::Within { subset } => {
                let codes = &tree.subsets()[subset as usize].codes;
                let goes_left = |code: u8| {
                    if code == missing { split.missing_left } else { contains(codes, code) }
                };
                let bits = |code: usize| if goes_left(code as u8) { !0 } else { keep };
                self.tables.push(Table { column, keep: array::from_fn(bits) });
            }
        }
    }

    /// Adds the values of the leaves that 64 rows fall in: `scores` has one lane of 64 for each output, and tree t counts for
    /// output t modulo their number.
    pub(super) fn add_scores(&self, codes: &[Block], scores: &mut [[f64; LANES]]) {
        let outputs = scores.len();
        for (t, plan) in self.trees.iter().enumerate() {
            let leaves = self.leaves(plan, codes);
            let values = &self.values[plan.values..];
            for (score, leaf) in scores[t % outputs].iter_mut().zip(leaves) {
                *score += values[usize::from(leaf)];
            }
        }
    }

    /// The leaf of each row.
    fn leaves(&self, plan: &Plan, codes: &[Block]) -> [u16; LANES] {
        let (mut plane_of, mut bits) = ([0; LANES], [0; LANES]);
        // The lowest bit counts: planes are looked at from the last to the first.
        for (p, plane) in plan.planes.iter().enumerate().rev() {
            let steps = &self.steps[plane.steps.clone()];
            let mut left = bits_left(steps, codes);
            for table in &self.tables[plane.tables.clone()] {
                for (left, code) in left.iter_mut().zip(&codes[table.column as usize]) {
                    *left &= table.keep[usize::from(*code)];
                }
            }
            choose(&left, p as u8, &mut plane_of, &mut bits);
        }
        array::from_fn(|r| u16::from(plane_of[r]) * 8 + u16::from(bits[r].trailing_zeros() as u8))
    }
}

/// All bits set if the condition holds: a choice made with masks stays a vector operation.
#[inline]
fn mask(condition: bool) -> u8 {
    u8::from(condition).wrapping_neg()
}

/// The bits of one plane that the steps leave.
#[multiversion(targets("x86_64+avx512f+avx512bw+avx512vl", "x86_64+avx2", "aarch64+neon"))]
fn bits_left(steps: &[Step], codes: &[Block]) -> Block {
    let mut left = [!0; LANES];
    for step in steps {
        let Step { low, bound, keep, .. } = *step;
        for (left, code) in left.iter_mut().zip(&codes[step.column as usize]) {
            *left &= keep | mask(code.wrapping_sub(low) <= bound);
        }
    }
    left
}

/// Where bits are left in this plane, they count instead of those of later ones.
#[multiversion(targets("x86_64+avx512f+avx512bw+avx512vl", "x86_64+avx2", "aarch64+neon"))]
fn choose(left: &Block, plane: u8, plane_of: &mut Block, bits: &mut Block) {
    for r in 0..LANES {
        let is_here = mask(left[r] != 0);
        plane_of[r] = (plane & is_here) | (plane_of[r] & !is_here);
        bits[r] = (left[r] & is_here) | (bits[r] & !is_here);
    }
}

/// The leaves under the left child of every split.
fn left_leaves(tree: &Tree) -> Vec<Range<usize>> {
    // Children come after their parents: from the back, all leaves under a split are known when it is reached.
    let mut all = vec![0..0; tree.splits().len()];
    let mut lefts = all.clone();
    for (i, split) in tree.splits().iter().enumerate().rev() {
        let under = |child: Child| match child {
            Child::Leaf(leaf) => leaf as usize..leaf as usize + 1,
            Child::Split(split) => all[split as usize].clone(),
        };
        lefts[i] = under(split.left);
        all[i] = lefts[i].start..under(split.right).end;
    }
    lefts
}
