//! Growing a tree: best leaf first under a limit of leaves, depth first without one.
//!
//! A node owns a range of the row numbers, which a split partitions in place. A node keeps its
//! histograms: those of the smaller child are summed, those of the larger are the parent's minus these. In nodes of few
//! rows one column is summed at a time and forgotten.

use std::collections::BinaryHeap;
use std::ops::Range;

use super::bins::{Bins, ColumnBins};
use super::codes::Codes;
use super::criterion::{Bounds, Criterion, Node};
use super::examine::{self, Workspace};
use super::fitted::{Child, Rule, Split, Subset, Tree, contains};
use super::partition::{goes_left, partition};
use super::search::{Candidate, Side};

/// When to stop growing.
#[derive(Debug, Clone, PartialEq)]
pub struct Growth {
    /// Leaves at most; without a limit the tree grows until nothing else stops it.
    pub leaves: Option<usize>,
    /// Splits on any way down at most.
    pub depth: Option<usize>,
    /// The least weight of rows in a leaf.
    pub min_leaf: f64,
    /// The least weight of rows in a node that is split.
    pub min_split: f64,
    /// A split must gain more than this.
    pub min_gain: f64,
    /// Whether thresholds lie midway between the node's own neighbours, as in CART, instead of on a cut between bins. Codes of
    /// new rows then do not tell where they go, the rows themselves do.
    pub exact: bool,
}

impl Default for Growth {
    fn default() -> Self {
        Self {
            leaves: None,
            depth: None,
            min_leaf: 1.0,
            min_split: 2.0,
            min_gain: 0.0,
            exact: false,
        }
    }
}

/// Everything a tree is grown from.
#[derive(Debug)]
pub struct Grower<'a, C> {
    /// The bins.
    pub bins: &'a Bins,
    /// The rows in these bins.
    pub codes: &'a Codes,
    /// What splits are judged by.
    pub criterion: &'a C,
    /// When to stop.
    pub growth: &'a Growth,
    /// Whether the work in a node is shared between the threads of the pool. The tree is the same.
    pub parallel: bool,
}

/// A tree with what was learned while it grew.
#[derive(Debug, Clone, PartialEq)]
pub struct Grown {
    /// The tree; leaves hold the criterion's prediction for their rows.
    pub tree: Tree,
    /// Which of the row numbers, in the order growth left them in, belong to each leaf.
    pub leaves: Vec<Range<usize>>,
    /// What was gained by each split of the tree.
    pub gains: Vec<f64>,
}

/// A node that may be split.
pub(super) struct Open<C: Criterion> {
    pub id: usize,
    pub range: Range<usize>,
    pub depth: usize,
    pub node: Node,
    /// The exact sums, one for each layer.
    pub cells: Vec<C::Cell>,
    /// Which of the workspace's histograms are this node's.
    pub histogram: Option<usize>,
    pub best: Option<Candidate>,
}

/// A node of the growing tree.
struct Draft {
    range: Range<usize>,
    sums: Vec<f64>,
    bounds: Bounds,
    split: Option<(Candidate, usize, usize)>,
}

/// Nodes waiting to be split: the best first, or the last first.
enum Frontier<C: Criterion> {
    BestFirst(BinaryHeap<Ranked<C>>),
    DepthFirst(Vec<Open<C>>),
}

struct Ranked<C: Criterion>(f64, Open<C>);

impl<C: Criterion> PartialEq for Ranked<C> {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other).is_eq()
    }
}
impl<C: Criterion> Eq for Ranked<C> {}
impl<C: Criterion> PartialOrd for Ranked<C> {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}
impl<C: Criterion> Ord for Ranked<C> {
    /// By gain; of equal ones the older node is split first.
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        self.0.total_cmp(&other.0).then_with(|| other.1.id.cmp(&self.1.id))
    }
}

impl<C: Criterion> Frontier<C> {
    fn push(&mut self, open: Open<C>) {
        match self {
            Self::BestFirst(heap) => {
                let gain = open.best.as_ref().map_or(f64::NEG_INFINITY, |best| best.gain);
                heap.push(Ranked(gain, open));
            }
            Self::DepthFirst(stack) => stack.push(open),
        }
    }

    fn pop(&mut self) -> Option<Open<C>> {
        match self {
            Self::BestFirst(heap) => heap.pop().map(|ranked| ranked.1),
            Self::DepthFirst(stack) => stack.pop(),
        }
    }
}

impl<C: Criterion> Grower<'_, C> {
    /// Grows a tree on the given rows, which are brought into the order of its leaves. `columns` are those that may be split on.
    pub fn grow(
        &self,
        rows: &mut [u32],
        columns: &[u32],
        workspace: &mut Workspace<C::Cell>,
    ) -> Grown {
        workspace.prepare(self, columns);
        let mut frontier = match self.growth.leaves {
            Some(_) => Frontier::BestFirst(BinaryHeap::new()),
            None => Frontier::DepthFirst(Vec::new()),
        };
        let mut root = self.open_root(rows);
        let mut drafts = vec![Draft::new(&root)];
        if self.may_split(&root, rows) {
            self.examine_one(&mut root, rows, columns, workspace);
        }
        keep(root, &mut frontier, workspace);
        let mut leaves = 1;
        while self.growth.leaves.is_none_or(|most| leaves < most)
            && let Some(open) = frontier.pop()
        {
            let children = self.split(open, rows, &mut drafts, columns, workspace);
            for child in children {
                keep(child, &mut frontier, workspace);
            }
            leaves += 1;
        }
        while let Some(open) = frontier.pop() {
            workspace.release(open.histogram);
        }
        self.finish(&drafts)
    }

    /// Whether a node is large, shallow and mixed enough.
    fn may_split(&self, open: &Open<C>, rows: &[u32]) -> bool {
        self.growth.depth.is_none_or(|most| open.depth < most)
            && open.range.len() > 1
            && open.node.weight >= self.growth.min_split.max(2.0 * self.growth.min_leaf)
            && !self.criterion.is_settled(&rows[open.range.clone()])
    }

    fn open_root(&self, rows: &[u32]) -> Open<C> {
        let cells = examine::sum(self.criterion, rows);
        self.open(0, 0..rows.len(), 0, cells, Bounds::NONE, rows)
    }

    fn open(
        &self,
        id: usize,
        range: Range<usize>,
        depth: usize,
        cells: Vec<C::Cell>,
        bounds: Bounds,
        rows: &[u32],
    ) -> Open<C> {
        let mut sums = vec![0.0; self.criterion.width()];
        for (layer, cell) in cells.iter().enumerate() {
            self.criterion.add_to(&mut sums, layer, *cell);
        }
        let weight = self.criterion.total_weight(&rows[range.clone()], &sums);
        let score = self.criterion.score(&sums);
        let node = Node { sums, score, weight, bounds };
        Open { id, range, depth, node, cells, histogram: None, best: None }
    }

    /// Splits a node and looks for the best splits of its children.
    fn split(
        &self,
        mut parent: Open<C>,
        rows: &mut [u32],
        drafts: &mut Vec<Draft>,
        columns: &[u32],
        workspace: &mut Workspace<C::Cell>,
    ) -> [Open<C>; 2] {
        let best = parent.best.take().expect("only nodes with a split are on the frontier");
        let bins = self.bins.columns()[best.column].bins();
        let table = goes_left(&best, bins);
        let codes = self.codes.column(best.column);
        let range = parent.range.clone();
        let at = &mut rows[range.clone()];
        let middle =
            range.start + partition(at, codes, &table, &mut workspace.scratch, self.parallel);
        let ranges = [range.start..middle, middle..range.end];
        let small = usize::from(ranges[1].len() < ranges[0].len());
        let cells = examine::sum(self.criterion, &rows[ranges[small].clone()]);
        let mut rest = parent.cells.clone();
        rest.iter_mut().zip(&cells).for_each(|(all, cell)| *all -= *cell);
        let cells = if small == 0 { [cells, rest] } else { [rest, cells] };
        let (id, depth) = (drafts.len(), parent.depth + 1);
        let mut number = 0;
        let mut children = ranges.clone().map(|range| {
            let cells = cells[number].clone();
            number += 1;
            self.open(id + number - 1, range, depth, cells, parent.node.bounds, rows)
        });
        let sides = [&children[0].node.sums[..], &children[1].node.sums[..]];
        let bounds = self.criterion.bounds(&parent.node, best.column, sides);
        for (child, bounds) in children.iter_mut().zip(bounds) {
            child.node.bounds = bounds;
            drafts.push(Draft::new(child));
        }
        drafts[parent.id].split = Some((best, id, id + 1));
        let open = [0, 1].map(|side| self.may_split(&children[side], rows));
        self.examine_two(&parent, &mut children, small, open, rows, columns, workspace);
        children
    }

    /// Brings the nodes into preorder and lets the leaves speak.
    fn finish(&self, drafts: &[Draft]) -> Grown {
        let mut tree =
            Tree { splits: Vec::new(), subsets: Vec::new(), values: Vec::new(), width: 0 };
        let (mut leaves, mut gains) = (Vec::new(), Vec::new());
        // Who comes next, and where it is to be entered: the split and whether it is the right child.
        let mut waiting: Vec<(usize, Option<(usize, bool)>)> = vec![(0, None)];
        while let Some((id, parent)) = waiting.pop() {
            let draft = &drafts[id];
            let child = match &draft.split {
                None => {
                    self.criterion.value(&draft.sums, draft.bounds, &mut tree.values);
                    leaves.push(draft.range.clone());
                    Child::Leaf(leaves.len() as u32 - 1)
                }
                Some((candidate, left, right)) => {
                    let split = self.to_split(candidate, &mut tree.subsets);
                    tree.splits.push(split);
                    gains.push(candidate.gain);
                    let own = tree.splits.len() - 1;
                    waiting.push((*right, Some((own, true))));
                    waiting.push((*left, Some((own, false))));
                    Child::Split(own as u32)
                }
            };
            if let Some((split, is_right)) = parent {
                let split = &mut tree.splits[split];
                *(if is_right { &mut split.right } else { &mut split.left }) = child;
            }
        }
        tree.width = tree.values.len() / leaves.len();
        Grown { tree, leaves, gains }
    }

    fn to_split(&self, candidate: &Candidate, subsets: &mut Vec<Subset>) -> Split {
        let &Candidate { column, missing_left, side, .. } = candidate;
        let rule = match (side, &self.bins.columns()[column]) {
            (Side::Within(codes), ColumnBins::Categorical { codes: of_level, bins }) => {
                let mut levels = vec![0_u64; of_level.len().div_ceil(64)];
                for (level, &code) in of_level.iter().enumerate() {
                    let is_known = usize::from(code) < *bins;
                    if if is_known { contains(&codes, code) } else { missing_left } {
                        levels[level / 64] |= 1 << (level % 64);
                    }
                }
                // Room beyond the last level would otherwise read as "right".
                if missing_left && !of_level.len().is_multiple_of(64) {
                    levels[of_level.len() / 64] |= u64::MAX << (of_level.len() % 64);
                }
                subsets.push(Subset { codes, levels });
                Rule::Within { subset: subsets.len() as u32 - 1 }
            }
            (Side::Below { bin, threshold }, _) => Rule::Below { threshold, bin },
            (Side::Within(_), ColumnBins::Numeric { .. }) => {
                unreachable!("subsets are of categories")
            }
        };
        // The children are entered when they are numbered.
        let nowhere = Child::Leaf(0);
        Split { column: column as u32, rule, missing_left, left: nowhere, right: nowhere }
    }
}

impl Draft {
    fn new<C: Criterion>(open: &Open<C>) -> Self {
        Self {
            range: open.range.clone(),
            sums: open.node.sums.clone(),
            bounds: open.node.bounds,
            split: None,
        }
    }
}

/// Puts a node on the frontier if it has a split worth making, and gives its histograms back otherwise.
fn keep<C: Criterion>(open: Open<C>, to: &mut Frontier<C>, workspace: &mut Workspace<C::Cell>) {
    if open.best.is_some() {
        to.push(open);
    } else {
        workspace.release(open.histogram);
    }
}
