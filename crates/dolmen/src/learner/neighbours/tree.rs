//! A k-d tree [Bentley1975] whose nodes have up to eight children: three halvings at once.
//!
//! Rows are halved again and again across the longest side of their box until a leaf is left, so leaves differ by one
//! row at most. A visit to a node measures the distance to the boxes of all its children together, with SIMD, and
//! goes to the nearest first; boxes farther than the rows wanted so far are left out.

use rayon::join;

use super::distance::{self, BLOCK as LEAF, FAN};
use super::nearest::Nearest;

/// Halvings from a node to its children.
const STEP: u32 = FAN.ilog2();
/// Ranges of fewer rows are halved on one thread.
const SHARED: usize = 4096;

/// Rows in order of space, with the boxes around them.
#[derive(Debug)]
pub(super) struct Tree {
    dimension: usize,
    /// Row numbers, leaf after leaf.
    order: Vec<u32>,
    /// Where each leaf begins in `order`, and the end.
    starts: Vec<u32>,
    /// The rows of each leaf: columns of [`LEAF`] values, padded.
    leaves: Vec<f64>,
    levels: Vec<Level>,
}

/// The nodes at one depth, each with the boxes of its children.
#[derive(Debug)]
struct Level {
    /// Children of each node.
    fan: usize,
    /// For each node and column the least, then the greatest values of its [`FAN`] children.
    boxes: Vec<f64>,
}

impl Tree {
    /// Puts rows (one after the other) in order.
    pub(super) fn new(points: &[f64], dimension: usize) -> Self {
        let rows = points.len() / dimension;
        let halvings = rows.div_ceil(LEAF).next_power_of_two().ilog2();
        let mut order: Vec<u32> = (0..rows as u32).collect();
        halve(points, dimension, &mut order, halvings);
        let mut starts = vec![0; (1 << halvings) + 1];
        boundaries(0, rows, &mut starts);
        let mut tree = Self { dimension, order, starts, leaves: Vec::new(), levels: Vec::new() };
        tree.fill_leaves(points);
        tree.fill_boxes(points, halvings);
        tree
    }

    fn leaf_rows(&self, leaf: usize) -> &[u32] {
        &self.order[self.starts[leaf] as usize..self.starts[leaf + 1] as usize]
    }

    fn fill_leaves(&mut self, points: &[f64]) {
        let leaves = self.starts.len() - 1;
        let mut values = vec![0.0; leaves * self.dimension * LEAF];
        for (leaf, values) in values.chunks_exact_mut(self.dimension * LEAF).enumerate() {
            for (slot, &row) in self.leaf_rows(leaf).iter().enumerate() {
                let row = &points[row as usize * self.dimension..][..self.dimension];
                row.iter().enumerate().for_each(|(j, value)| values[j * LEAF + slot] = *value);
            }
        }
        self.leaves = values;
    }

    /// The boxes from the leaves up: those of a level are made of those below.
    fn fill_boxes(&mut self, points: &[f64], halvings: u32) {
        let dimension = self.dimension;
        let leaves = self.starts.len() - 1;
        let mut boxes: Vec<Bounds> = (0..leaves)
            .map(|leaf| {
                let mut bounds = Bounds::empty(dimension);
                for &row in self.leaf_rows(leaf) {
                    bounds.add_point(&points[row as usize * dimension..][..dimension]);
                }
                bounds
            })
            .collect();
        let mut left = halvings;
        while left > 0 {
            // The node at the top takes what the steps of three leave over.
            let step = left.min(STEP);
            let fan = 1 << step;
            let level =
                boxes.chunks_exact(fan).flat_map(|children| side_by_side(children, dimension));
            self.levels.push(Level { fan, boxes: level.collect() });
            boxes = boxes.chunks_exact(fan).map(Bounds::around).collect();
            left -= step;
        }
        self.levels.reverse();
    }

    /// Offers to `nearest` every row that may be wanted; `weights` are those of the rows.
    pub(super) fn search(&self, query: &[f64], weights: Option<&[f64]>, nearest: &mut Nearest) {
        self.visit(0, 0, query, weights, nearest);
    }

    fn visit(
        &self,
        depth: usize,
        node: usize,
        query: &[f64],
        weights: Option<&[f64]>,
        nearest: &mut Nearest,
    ) {
        let Some(level) = self.levels.get(depth) else {
            return self.visit_leaf(node, query, weights, nearest);
        };
        let size = 2 * FAN * self.dimension;
        let mut distances = [0.0; FAN];
        distance::to_boxes(query, &level.boxes[node * size..][..size], &mut distances);
        let reach = nearest.reach();
        let mut children = [(0.0, 0); FAN];
        let mut count = 0;
        for (child, &distance) in distances[..level.fan].iter().enumerate() {
            if distance <= reach {
                let mut at = count;
                while at > 0 && children[at - 1].0 > distance {
                    children[at] = children[at - 1];
                    at -= 1;
                }
                children[at] = (distance, child);
                count += 1;
            }
        }
        for &(distance, child) in &children[..count] {
            if distance > nearest.reach() {
                return;
            }
            self.visit(depth + 1, node * level.fan + child, query, weights, nearest);
        }
    }

    fn visit_leaf(
        &self,
        leaf: usize,
        query: &[f64],
        weights: Option<&[f64]>,
        nearest: &mut Nearest,
    ) {
        let size = self.dimension * LEAF;
        let mut distances = [0.0; LEAF];
        distance::to_block(query, &self.leaves[leaf * size..][..size], &mut distances);
        let mut reach = nearest.reach();
        for (&distance, &row) in distances.iter().zip(self.leaf_rows(leaf)) {
            if distance <= reach {
                nearest.offer(distance, row, weights.map_or(1.0, |w| w[row as usize]));
                reach = nearest.reach();
            }
        }
    }
}

/// A box: the least and the greatest value of every column.
#[derive(Clone)]
struct Bounds {
    low: Vec<f64>,
    high: Vec<f64>,
}

impl Bounds {
    fn empty(dimension: usize) -> Self {
        Self { low: vec![f64::INFINITY; dimension], high: vec![f64::NEG_INFINITY; dimension] }
    }

    fn add_point(&mut self, point: &[f64]) {
        self.low.iter_mut().zip(point).for_each(|(low, value)| *low = low.min(*value));
        self.high.iter_mut().zip(point).for_each(|(high, value)| *high = high.max(*value));
    }

    fn around(boxes: &[Self]) -> Self {
        let mut all = Self::empty(boxes[0].low.len());
        for each in boxes {
            all.low.iter_mut().zip(&each.low).for_each(|(a, b)| *a = a.min(*b));
            all.high.iter_mut().zip(&each.high).for_each(|(a, b)| *a = a.max(*b));
        }
        all
    }
}

/// The boxes of a node's children as they are looked at: column by column.
fn side_by_side(children: &[Bounds], dimension: usize) -> Vec<f64> {
    let mut out = vec![0.0; 2 * FAN * dimension];
    for (j, sides) in out.chunks_exact_mut(2 * FAN).enumerate() {
        for (child, bounds) in children.iter().enumerate() {
            (sides[child], sides[FAN + child]) = (bounds.low[j], bounds.high[j]);
        }
    }
    out
}

/// Halves the rows this many times across the longest side of their box.
fn halve(points: &[f64], dimension: usize, order: &mut [u32], halvings: u32) {
    if halvings == 0 {
        return;
    }
    let mut bounds = Bounds::empty(dimension);
    for &row in &*order {
        bounds.add_point(&points[row as usize * dimension..][..dimension]);
    }
    let sides = bounds.high.iter().zip(&bounds.low).map(|(high, low)| high - low).enumerate();
    let column = sides.max_by(|a, b| a.1.total_cmp(&b.1)).map_or(0, |(j, _)| j);
    let value = |row: u32| points[row as usize * dimension + column];
    let middle = order.len() / 2;
    if middle < order.len() {
        order
            .select_nth_unstable_by(middle, |&a, &b| value(a).total_cmp(&value(b)).then(a.cmp(&b)));
    }
    let parallel = order.len() >= SHARED;
    let (left, right) = order.split_at_mut(middle);
    if parallel {
        join(
            || halve(points, dimension, left, halvings - 1),
            || halve(points, dimension, right, halvings - 1),
        );
    } else {
        halve(points, dimension, left, halvings - 1);
        halve(points, dimension, right, halvings - 1);
    }
}

/// Where the leaves of the range begin, as [`halve`] cuts it; the last of `starts` is the end.
fn boundaries(first: usize, rows: usize, starts: &mut [u32]) {
    let leaves = starts.len() - 1;
    (starts[0], starts[leaves]) = (first as u32, (first + rows) as u32);
    if leaves > 1 {
        let middle = rows / 2;
        boundaries(first, middle, &mut starts[..=leaves / 2]);
        boundaries(first + middle, rows - middle, &mut starts[leaves / 2..]);
    }
}
