//! Trees packed for prediction: eight bytes a node, siblings side by side, many rows on their way at once.
//!
//! A row of codes goes down by table lookups that each wait for the one before. Sixteen rows that go down the same tree in
//! turn wait together, and no step of theirs is a branch that could be guessed wrong: a row that has reached its leaf
//! stays there until the last one has.

use serde::{Deserialize, Serialize};

use super::super::Bins;
use super::super::fitted::{CodeSet, contains};
use super::grow::Rule;
use crate::error::{Error, Result};
use crate::table::Rows;

/// The code of a missing value in packed rows, whatever the column.
const MISSING: u8 = u8::MAX;

/// Rows on their way at once.
const LANES: usize = 16;

/// Steps taken between two looks whether all rows have reached their leaves.
const STEPS: usize = 4;

/// Columns a packed tree can tell apart.
pub(super) const MOST_COLUMNS: usize = 1 << 16;

/// A node. A split's `link` is its left child, and the right child follows that one; the node after the children of a split
/// on categories holds the number of its subset as link. A leaf links to itself, and every code goes left there.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Node {
    link: u32,
    column: u16,
    /// Codes up to here go left, after `shift` was added to them: the code for missing values becomes 0 by 1.
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
    /// For every node which leaf it is, if it is one.
    leaves: Vec<u32>,
    /// Leaf after leaf; rounded to single precision, which an average of trees does not notice.
    values: Vec<f32>,
    /// Values a leaf.
    stride: usize,
}

/// The codes of rows, row after row, missing values as [`MISSING`].
#[derive(Debug)]
pub(super) struct PackedRows {
    codes: Vec<u8>,
    width: usize,
}

impl PackedRows {
    /// Codes the rows.
    pub(super) fn new(bins: &Bins, x: Rows<'_>) -> Result<Self> {
        let width = bins.columns().len();
        if x.width() != width {
            return Err(Error::shape("input columns", width, x.width()));
        }
        let coders = bins.coders();
        let mut column = vec![0; x.rows()];
        let mut codes = vec![0; x.rows() * width];
        for (j, coder) in coders.iter().enumerate().take(if x.rows() == 0 { 0 } else { width }) {
            coder.encode(x.values()[j..].iter().step_by(width), &mut column);
            let missing = bins.columns()[j].bins() as u8;
            for (to, &code) in codes[j..].iter_mut().step_by(width).zip(&column) {
                *to = if code == missing { MISSING } else { code };
            }
        }
        Ok(Self { codes, width })
    }

    pub(super) fn rows(&self) -> usize {
        self.codes.len() / self.width
    }

    pub(super) fn row(&self, i: usize) -> &[u8] {
        &self.codes[i * self.width..(i + 1) * self.width]
    }

    /// Chosen rows, with the codes of one column dealt out in another order.
    pub(super) fn shuffled(&self, rows: &[u32], column: usize, order: &[u32]) -> Self {
        let mut codes = Vec::with_capacity(rows.len() * self.width);
        for (&row, &other) in rows.iter().zip(order) {
            let start = codes.len();
            codes.extend_from_slice(self.row(row as usize));
            codes[start + column] = self.row(other as usize)[column];
        }
        Self { codes, width: self.width }
    }
}

impl Packed {
    /// A tree of one node that is still to be told what it is, with so many values a leaf.
    pub(super) fn seed(stride: usize) -> Self {
        let (subsets, values) = (Vec::new(), Vec::new());
        Self { nodes: vec![Node::leaf(0)], subsets, leaves: vec![0], values, stride }
    }

    /// Makes a node a leaf, which appends its values.
    pub(super) fn leaf(&mut self, place: usize, speak: impl FnOnce(&mut Vec<f32>)) {
        self.leaves[place] = (self.values.len() / self.stride) as u32;
        speak(&mut self.values);
    }

    /// Makes a node a split, and says where its left child is; the right one follows.
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
        self.leaves.resize(self.nodes.len(), 0);
        self.nodes[place] = Node { link: left as u32, column: column as u16, limit, shift };
        left
    }

    /// Tells `hear` the values of each of the chosen rows, by its position among them.
    pub(super) fn walk(
        &self,
        x: &PackedRows,
        rows: impl ExactSizeIterator<Item = usize>,
        hear: impl FnMut(usize, &[f32]),
    ) {
        let by_number =
            |node: Node, code: u8| u32::from(code.wrapping_add(node.shift) > node.limit);
        if self.subsets.is_empty() {
            return self.walk_with(x, rows, hear, by_number);
        }
        self.walk_with(x, rows, hear, |node, code| {
            if node.shift == CATEGORIES {
                let subset = self.nodes[node.link as usize + 2].link;
                return u32::from(!contains(&self.subsets[subset as usize], code));
            }
            by_number(node, code)
        });
    }

    #[inline]
    fn walk_with(
        &self,
        x: &PackedRows,
        mut rows: impl ExactSizeIterator<Item = usize>,
        mut hear: impl FnMut(usize, &[f32]),
        goes_right: impl Fn(Node, u8) -> u32,
    ) {
        let (nodes, codes) = (&self.nodes[..], &x.codes[..]);
        let mut done = 0;
        while rows.len() > 0 {
            let mut starts = [0_usize; LANES];
            let held = rows.len().min(LANES);
            for (start, row) in starts.iter_mut().zip(rows.by_ref().take(held)) {
                *start = row * x.width;
            }
            let mut at = [0_u32; LANES];
            loop {
                let before = at;
                for _ in 0..STEPS {
                    for (at, &start) in at.iter_mut().zip(&starts) {
                        let node = nodes[*at as usize];
                        *at = node.link + goes_right(node, codes[start + usize::from(node.column)]);
                    }
                }
                if at == before {
                    break;
                }
            }
            for at in &at[..held] {
                let leaf = self.leaves[*at as usize] as usize;
                hear(done, &self.values[leaf * self.stride..(leaf + 1) * self.stride]);
                done += 1;
            }
        }
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
        let leaves = self.values.len().checked_div(self.stride).unwrap_or(0);
        let is_node = |i: usize| self.nodes.get(i).is_some_and(|node| node.shift != HOLDER);
        let sound = |(i, node): (usize, &Node)| {
            let link = node.link as usize;
            let is_split = || link > i && is_node(link) && is_node(link + 1);
            let held = || self.nodes.get(link + 2).is_some_and(|node| node.shift == HOLDER);
            match node.shift {
                0 if link == i => node.limit == u8::MAX && (self.leaves[i] as usize) < leaves,
                0 | 1 => is_split(),
                CATEGORIES => is_split() && held(),
                HOLDER => link < self.subsets.len(),
                _ => false,
            }
        };
        is_node(0)
            && self.leaves.len() == self.nodes.len()
            && self.nodes.iter().enumerate().all(sound)
    }
}
