//! Trees packed for prediction: eight bytes a node, siblings side by side; four bytes where many rows come at once.

use std::hint::black_box;

use serde::{Deserialize, Serialize};

use super::super::fitted::{CodeSet, contains};
use super::super::nodes::Nodes;
use super::super::{Bins, ColumnBins};
use super::grow::Rule;
use crate::learner::unit::Unit;
use crate::store::Parameters;

/// Values in a line of the cache.
const LINE: usize = 16;

/// Columns a packed tree can tell apart.
pub(super) const MOST_COLUMNS: usize = 1 << 16;

/// Nodes of a squeezed tree at most, and bytes of a row that it can look at.
const MOST_SQUEEZED: usize = 1 << 16;
pub(super) const WINDOW: usize = 1 << 8;

/// A node. A split's `link` is its left child, and the right child follows that one; the node after the children of a split
/// on categories holds the number of its subset as link. A leaf links to itself, and every code goes left there.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Node {
    link: u32,
    column: u16,
    /// Codes up to here go left: of a packed row's two codes of the column the second where `shift` is 1, and missing values
    /// go left.
    limit: u8,
    shift: u8,
}

impl Node {
    const fn leaf(place: usize) -> Self {
        Self { link: place as u32, column: 0, limit: u8::MAX, shift: 0 }
    }
}

/// In place of a shift: a split on categories, and a node that holds the number of a subset.
const CATEGORIES: u8 = 2;
const HOLDER: u8 = 3;

/// A packed tree.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(into = "Flat", try_from = "Flat")]
pub(super) struct Packed {
    nodes: Vec<Node>,
    subsets: Vec<CodeSet>,
    /// For every node which leaf it is, if it is one; empty where leaves have one value.
    leaves: Vec<u32>,
    /// Leaf after leaf, or one for every node where leaves have one value: rounded to single precision, which an average of
    /// trees does not notice: chances, and numbers in a unit of their own.
    values: Vec<f32>,
    /// Values a leaf.
    stride: usize,
}

impl Packed {
    /// A tree of one node, which is still to be made a leaf or a split, with so many values a leaf.
    pub(super) fn seed(stride: usize) -> Self {
        let (subsets, leaves, values) = (Vec::new(), Vec::new(), Vec::new());
        let mut tree = Self { nodes: vec![Node::leaf(0)], subsets, leaves, values, stride };
        tree.make_room();
        tree
    }

    /// Room for what nodes say.
    fn make_room(&mut self) {
        if self.stride == 1 {
            self.values.resize(self.nodes.len(), 0.0);
        } else {
            self.leaves.resize(self.nodes.len(), 0);
        }
    }

    /// Makes a node a leaf; `write` is to fill in its values.
    pub(super) fn leaf(&mut self, place: usize, write: impl FnOnce(&mut [f32])) {
        if self.stride == 1 {
            return write(&mut self.values[place..=place]);
        }
        let start = self.values.len();
        self.leaves[place] = (start / self.stride) as u32;
        self.values.resize(start + self.stride, 0.0);
        write(&mut self.values[start..]);
    }

    /// Makes a node a split, and returns the place of its left child; the right one follows.
    pub(super) fn split(
        &mut self,
        place: usize,
        column: usize,
        rule: &Rule,
        missing_left: bool,
    ) -> usize {
        let left = self.nodes.len();
        self.nodes.extend([Node::leaf(left), Node::leaf(left + 1)]);
        let (limit, shift) = match rule {
            Rule::Below(bin) => (bin + u8::from(missing_left), u8::from(missing_left)),
            Rule::Within(set) => {
                let mut set = *set;
                set[3] |= u64::from(missing_left) << 63;
                let link = self.subsets.len() as u32;
                self.nodes.push(Node { link, column: 0, limit: 0, shift: HOLDER });
                self.subsets.push(set);
                (0, CATEGORIES)
            }
        };
        self.make_room();
        self.nodes[place] = Node { link: left as u32, column: column as u16, limit, shift };
        left
    }

    /// Gives back the room that was kept for further nodes.
    pub(super) fn finish(&mut self) {
        self.nodes.shrink_to_fit();
        self.subsets.shrink_to_fit();
        self.leaves.shrink_to_fit();
        self.values.shrink_to_fit();
    }

    /// Where a node sends a row with these codes, two of each column; a leaf keeps it.
    #[inline]
    pub(super) fn step(&self, at: u32, codes: &[u8]) -> u32 {
        let node = self.nodes[at as usize];
        let first = 2 * usize::from(node.column);
        if node.shift == CATEGORIES {
            let subset = self.nodes[node.link as usize + 2].link;
            return node.link + u32::from(!contains(&self.subsets[subset as usize], codes[first]));
        }
        node.link + u32::from(codes[first + usize::from(node.shift)] > node.limit)
    }

    /// Whether a node is a leaf.
    #[inline]
    pub(super) fn is_leaf(&self, at: u32) -> bool {
        self.nodes[at as usize].link == at
    }

    /// The values of a leaf.
    #[inline]
    pub(super) fn values(&self, leaf: u32) -> &[f32] {
        let leaf = if self.stride == 1 { leaf } else { self.leaves[leaf as usize] } as usize;
        &self.values[leaf * self.stride..(leaf + 1) * self.stride]
    }

    /// Number of nodes.
    pub(super) fn len(&self) -> usize {
        self.nodes.len()
    }

    /// The same nodes in four bytes each, for rows of so many columns; `None` where that does not hold them.
    pub(super) fn squeeze<'a>(
        &self,
        columns: usize,
        room: &'a mut Vec<u32>,
    ) -> Option<Squeezed<'a>> {
        let is_fit = self.subsets.is_empty() && self.nodes.len() <= MOST_SQUEEZED;
        if !is_fit || 2 * columns > WINDOW {
            return None;
        }
        room.resize(MOST_SQUEEZED, 0);
        for (squeezed, node) in room.iter_mut().zip(&self.nodes) {
            let byte = 2 * u32::from(node.column) + u32::from(node.shift);
            *squeezed = node.link | byte << 16 | u32::from(node.limit) << 24;
        }
        // Read in order once, values are near when rows ask for them out of order.
        black_box(self.values.iter().step_by(LINE).sum::<f32>());
        Some(Squeezed { nodes: room.first_chunk()? })
    }

    /// Values a leaf.
    pub(super) fn stride(&self) -> usize {
        self.stride
    }

    /// Whether all splits look at one of so many columns.
    pub(super) fn suits(&self, columns: usize) -> bool {
        self.nodes.iter().all(|node| usize::from(node.column) < columns)
    }
}

impl Packed {
    /// The nodes as data, with thresholds and levels in place of codes and `width` values for each leaf.
    pub(super) fn parameters(&self, bins: &Bins, width: usize, unit: Unit) -> Parameters {
        let is_leaf = |i: usize| self.is_leaf(i as u32);
        let is_split = |i: &usize| self.nodes[*i].shift != HOLDER && !is_leaf(*i);
        let splits: Vec<usize> = (0..self.nodes.len()).filter(is_split).collect();
        let mut numbers = vec![0; self.nodes.len()];
        splits.iter().enumerate().for_each(|(number, &i)| numbers[i] = number);
        let mut values = Vec::new();
        let leaves = (0..self.nodes.len()).filter(|i| is_leaf(*i) && self.nodes[*i].shift == 0);
        for (number, i) in leaves.enumerate() {
            numbers[i] = splits.len() + number;
            match self.values(i as u32) {
                [second] if width == 2 => {
                    values.extend([1.0 - f64::from(*second), f64::from(*second)]);
                }
                [value] => values.push(unit.restore(f64::from(*value))),
                several => values.extend(several.iter().map(|value| f64::from(*value))),
            }
        }
        let mut nodes = Nodes::default();
        for node in splits.iter().map(|&i| self.nodes[i]) {
            let (rule, missing_left) = match &bins.columns()[usize::from(node.column)] {
                ColumnBins::Numeric { cuts, .. } => {
                    let bin = usize::from(node.limit - node.shift);
                    (Ok(cuts.get(bin).copied().unwrap_or(f64::INFINITY)), node.shift == 1)
                }
                ColumnBins::Categorical { codes, bins } => {
                    let holder = self.nodes[node.link as usize + 2];
                    let set = &self.subsets[holder.link as usize];
                    let missing_left = contains(set, u8::MAX);
                    let goes_left = |code: &u8| match usize::from(*code) {
                        code if code < *bins => contains(set, code as u8),
                        _ => missing_left,
                    };
                    let levels = codes.iter().enumerate().filter(|(_, code)| goes_left(code));
                    (Err(levels.map(|(level, _)| level).collect()), missing_left)
                }
            };
            let link = node.link as usize;
            let children = (numbers[link], numbers[link + 1]);
            nodes.push(usize::from(node.column), rule, missing_left, children);
        }
        nodes.finish(&values, width)
    }
}

/// The nodes of a packed tree: link, byte of the row, limit. As many as can be told apart, so that no step has to look whether
/// there is such a node.
#[derive(Debug, Clone, Copy)]
pub(super) struct Squeezed<'a> {
    nodes: &'a [u32; MOST_SQUEEZED],
}

impl Squeezed<'_> {
    /// Where a node sends a row, as [`Packed::step`].
    #[inline]
    pub(super) fn step(self, at: u32, codes: &[u8; WINDOW]) -> u32 {
        let node = self.node(at);
        (node & 0xffff) + u32::from(codes[usize::from((node >> 16) as u8)] > (node >> 24) as u8)
    }

    /// Whether a node is a leaf.
    #[inline]
    pub(super) fn is_leaf(self, at: u32) -> bool {
        self.node(at) & 0xffff == at
    }

    #[inline]
    fn node(self, at: u32) -> u32 {
        self.nodes[usize::from(at as u16)]
    }
}

/// The stored form.
#[derive(Clone, Serialize, Deserialize)]
struct Flat {
    #[serde(with = "serde_bytes")]
    nodes: Vec<u8>,
    subsets: Vec<CodeSet>,
    #[serde(with = "serde_bytes")]
    leaves: Vec<u8>,
    #[serde(with = "serde_bytes")]
    values: Vec<u8>,
    stride: usize,
}

impl From<Packed> for Flat {
    fn from(packed: Packed) -> Self {
        let bytes = |node: &Node| {
            let [a, b, c, d] = node.link.to_le_bytes();
            let [e, f] = node.column.to_le_bytes();
            [a, b, c, d, e, f, node.limit, node.shift]
        };
        Self {
            nodes: packed.nodes.iter().flat_map(bytes).collect(),
            subsets: packed.subsets,
            leaves: packed.leaves.iter().flat_map(|leaf| leaf.to_le_bytes()).collect(),
            values: packed.values.iter().flat_map(|value| value.to_le_bytes()).collect(),
            stride: packed.stride,
        }
    }
}

impl TryFrom<Flat> for Packed {
    type Error = &'static str;

    fn try_from(flat: Flat) -> std::result::Result<Self, Self::Error> {
        let node = |&[a, b, c, d, e, f, limit, shift]: &[u8; 8]| Node {
            link: u32::from_le_bytes([a, b, c, d]),
            column: u16::from_le_bytes([e, f]),
            limit,
            shift,
        };
        let packed = Self {
            nodes: flat.nodes.as_chunks().0.iter().map(node).collect(),
            subsets: flat.subsets,
            leaves: flat
                .leaves
                .as_chunks()
                .0
                .iter()
                .map(|bytes| u32::from_le_bytes(*bytes))
                .collect(),
            values: flat
                .values
                .as_chunks()
                .0
                .iter()
                .map(|bytes| f32::from_le_bytes(*bytes))
                .collect(),
            stride: flat.stride,
        };
        if packed.is_sound() { Ok(packed) } else { Err("a tree that leads nowhere") }
    }
}

impl Packed {
    /// Whether all links lead somewhere, and children come after their parent, so that every way down ends.
    fn is_sound(&self) -> bool {
        let is_node = |i: usize| self.nodes.get(i).is_some_and(|node| node.shift != HOLDER);
        let sound = |(i, node): (usize, &Node)| {
            let link = node.link as usize;
            let is_split = || link > i && is_node(link) && is_node(link + 1);
            let held = || self.nodes.get(link + 2).is_some_and(|node| node.shift == HOLDER);
            match node.shift {
                0 if link == i => node.limit == u8::MAX,
                0 | 1 => is_split(),
                CATEGORIES => is_split() && held(),
                HOLDER => link < self.subsets.len(),
                _ => false,
            }
        };
        is_node(0) && self.all_speak() && self.nodes.iter().enumerate().all(sound)
    }

    /// Whether there are values for whatever is a leaf.
    fn all_speak(&self) -> bool {
        if self.stride == 1 {
            return self.leaves.is_empty() && self.values.len() == self.nodes.len();
        }
        let leaves = self.values.len().checked_div(self.stride).unwrap_or(0);
        self.leaves.len() == self.nodes.len()
            && self.leaves.iter().all(|leaf| (*leaf as usize) < leaves)
    }
}
