//! Cost-complexity pruning by the weakest link (BreimanEtAl1984, section 3.3).
//!
//! A subtree costs R(T) + alpha |leaves|. As alpha grows, the split t with the smallest g(t) = (R(t) - R(T_t)) / (|leaves of
//! T_t| - 1) is the first to be worth no more than a leaf; what is left is pruned on. Every split so has the alpha at which
//! it becomes a leaf or vanishes with a split above it, and those alphas are all there is to know.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use super::super::fitted::{Child, Rule, Split, Tree};

/// A grown tree with what is known of the rows in each of its nodes.
#[derive(Debug)]
pub(super) struct Annotated {
    pub tree: Tree,
    /// Sums over the rows of each leaf, `width` numbers a leaf.
    pub leaf_sums: Vec<f64>,
    /// The same of each split.
    pub split_sums: Vec<f64>,
    pub width: usize,
    /// The alpha at which each split goes.
    pub alphas: Vec<f64>,
}

impl Annotated {
    /// Sums up the leaves and finds the alphas; `cost` is the cost of a node by its sums.
    pub(super) fn new(tree: Tree, leaf_sums: Vec<f64>, cost: impl Fn(&[f64]) -> f64) -> Self {
        let width = leaf_sums.len() / tree.leaves();
        let mut split_sums = vec![0.0; tree.splits().len() * width];
        for (i, split) in tree.splits().iter().enumerate().rev() {
            for child in [split.left, split.right] {
                for k in 0..width {
                    split_sums[i * width + k] += match child {
                        Child::Leaf(leaf) => leaf_sums[leaf as usize * width + k],
                        Child::Split(next) => split_sums[next as usize * width + k],
                    };
                }
            }
        }
        let alphas = Links::new(&tree, &leaf_sums, &split_sums, width, cost).prune();
        Self { tree, leaf_sums, split_sums, width, alphas }
    }

    /// The alphas at which the tree changes, in ascending order.
    pub(super) fn path(&self) -> Vec<f64> {
        let mut path = self.alphas.clone();
        path.sort_unstable_by(f64::total_cmp);
        path.dedup();
        path
    }

    /// The tree at this alpha. `gains` keep to the splits that are left.
    pub(super) fn pruned(
        &self,
        alpha: f64,
        value: impl Fn(&[f64], &mut Vec<f64>),
        gains: &[f64],
    ) -> (Tree, Vec<f64>) {
        let mut tree = Tree { splits: vec![], subsets: vec![], values: vec![], width: 0 };
        let (mut kept, mut leaves) = (Vec::new(), 0);
        let root = if self.alphas.is_empty() { Child::Leaf(0) } else { Child::Split(0) };
        let mut waiting: Vec<(Child, Option<(usize, bool)>)> = vec![(root, None)];
        while let Some((child, parent)) = waiting.pop() {
            let (sums, split) = match child {
                Child::Leaf(leaf) => (self.sums(&self.leaf_sums, leaf), None),
                Child::Split(i) if self.alphas[i as usize] <= alpha => {
                    (self.sums(&self.split_sums, i), None)
                }
                Child::Split(i) => (self.sums(&self.split_sums, i), Some(i as usize)),
            };
            let entered = if let Some(i) = split {
                let own = tree.splits.len();
                kept.push(gains[i]);
                tree.splits.push(self.copied(i, &mut tree.subsets));
                waiting.push((self.tree.splits()[i].right, Some((own, true))));
                waiting.push((self.tree.splits()[i].left, Some((own, false))));
                Child::Split(own as u32)
            } else {
                value(sums, &mut tree.values);
                leaves += 1;
                Child::Leaf(leaves - 1)
            };
            if let Some((split, is_right)) = parent {
                let split = &mut tree.splits[split];
                *(if is_right { &mut split.right } else { &mut split.left }) = entered;
            }
        }
        tree.width = tree.values.len() / leaves as usize;
        (tree, kept)
    }

    /// A split, with its categories among those of the new tree.
    fn copied(&self, i: usize, subsets: &mut Vec<super::super::fitted::Subset>) -> Split {
        let mut split = self.tree.splits()[i];
        if let Rule::Within { subset } = split.rule {
            subsets.push(self.tree.subsets()[subset as usize].clone());
            split.rule = Rule::Within { subset: subsets.len() as u32 - 1 };
        }
        split
    }

    /// The nodes on a row's way down: for each the alpha from which on it is the row's leaf, and its sums. The alphas fall.
    pub(super) fn way<'a>(&'a self, row: &[f64], mut tell: impl FnMut(f64, &'a [f64])) {
        let leaf = self.tree.leaf_through(row, |i| {
            tell(self.alphas[i], self.sums(&self.split_sums, i as u32));
        });
        tell(f64::NEG_INFINITY, self.sums(&self.leaf_sums, leaf as u32));
    }

    fn sums<'a>(&self, of: &'a [f64], i: u32) -> &'a [f64] {
        &of[i as usize * self.width..(i as usize + 1) * self.width]
    }
}

/// The tree while its links are cut.
struct Links {
    parents: Vec<Option<usize>>,
    children: Vec<[Child; 2]>,
    cost: Vec<f64>,
    /// Of the subtree under each split, as far as it is left.
    subtree_cost: Vec<f64>,
    leaves: Vec<usize>,
    is_gone: Vec<bool>,
}

/// A link's strength, in the order of numbers.
#[derive(PartialEq)]
struct Strength(f64);

impl Eq for Strength {}
impl PartialOrd for Strength {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}
impl Ord for Strength {
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        self.0.total_cmp(&other.0)
    }
}

impl Links {
    fn new(
        tree: &Tree,
        leaf_sums: &[f64],
        split_sums: &[f64],
        width: usize,
        cost: impl Fn(&[f64]) -> f64,
    ) -> Self {
        let count = tree.splits().len();
        let costs = |sums: &[f64]| -> Vec<f64> { sums.chunks_exact(width).map(&cost).collect() };
        let (leaf_cost, own_cost) = (costs(leaf_sums), costs(split_sums));
        let mut links = Self {
            parents: vec![None; count],
            children: tree.splits().iter().map(|split| [split.left, split.right]).collect(),
            cost: own_cost,
            subtree_cost: vec![0.0; count],
            leaves: vec![0; count],
            is_gone: vec![false; count],
        };
        for i in (0..count).rev() {
            for child in links.children[i] {
                let (cost, leaves) = match child {
                    Child::Leaf(leaf) => (leaf_cost[leaf as usize], 1),
                    Child::Split(next) => {
                        links.parents[next as usize] = Some(i);
                        (links.subtree_cost[next as usize], links.leaves[next as usize])
                    }
                };
                links.subtree_cost[i] += cost;
                links.leaves[i] += leaves;
            }
        }
        links
    }

    /// g(t), never below 0: a subtree costs at most what its root does, up to rounding.
    fn strength(&self, i: usize) -> f64 {
        ((self.cost[i] - self.subtree_cost[i]) / (self.leaves[i] - 1) as f64).max(0.0)
    }

    /// The alpha at which each split goes.
    fn prune(mut self) -> Vec<f64> {
        let mut alphas = vec![0.0; self.cost.len()];
        let mut weakest: BinaryHeap<Reverse<(Strength, usize)>> =
            (0..alphas.len()).map(|i| Reverse((Strength(self.strength(i)), i))).collect();
        let mut alpha: f64 = 0.0;
        while let Some(Reverse((Strength(strength), i))) = weakest.pop() {
            // Links whose strength changed were entered again.
            if self.is_gone[i] || strength != self.strength(i) {
                continue;
            }
            alpha = alpha.max(strength);
            self.remove(i, alpha, &mut alphas);
            let (saved, lost) = (self.cost[i] - self.subtree_cost[i], self.leaves[i] - 1);
            let mut above = self.parents[i];
            while let Some(parent) = above {
                self.subtree_cost[parent] += saved;
                self.leaves[parent] -= lost;
                weakest.push(Reverse((Strength(self.strength(parent)), parent)));
                above = self.parents[parent];
            }
        }
        alphas
    }

    fn remove(&mut self, i: usize, alpha: f64, alphas: &mut [f64]) {
        let mut waiting = vec![i];
        while let Some(i) = waiting.pop() {
            if !std::mem::replace(&mut self.is_gone[i], true) {
                alphas[i] = alpha;
                for child in self.children[i] {
                    if let Child::Split(next) = child {
                        waiting.push(next as usize);
                    }
                }
            }
        }
    }
}
