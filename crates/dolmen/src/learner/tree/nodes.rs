//! A tree as data: its nodes in parallel arrays, which are small even for thousands of trees.

use crate::store::{Parameters, Value};

/// The nodes of a tree, made one after the other.
///
/// Split i looks at `column[i]`. If `subset[i]` is -1 a number not above `threshold[i]` goes left, else a level that is in
/// `subsets[subset[i]]`. A missing value goes left if `missing_left[i]` is 1; so does a level that the tree does not know,
/// which is one beyond those it was shown. `left[i]` and `right[i]` are the numbers of splits, or, less the number of splits, rows of `values`,
/// which are what the leaves say. Split 0 is the root; a tree without splits has one leaf.
#[derive(Debug, Default)]
pub struct Nodes {
    column: Vec<f64>,
    threshold: Vec<f64>,
    subset: Vec<f64>,
    missing_left: Vec<f64>,
    left: Vec<f64>,
    right: Vec<f64>,
    subsets: Vec<Value>,
}

impl Nodes {
    /// Adds a split with its threshold, or with the levels that go left.
    pub(super) fn push(
        &mut self,
        column: usize,
        rule: Result<f64, Vec<usize>>,
        missing_left: bool,
        (left, right): (usize, usize),
    ) {
        let (threshold, subset) = match rule {
            Ok(threshold) => (threshold, -1.0),
            Err(levels) => {
                let levels: Vec<f64> = levels.into_iter().map(|level| level as f64).collect();
                self.subsets.push(levels.into());
                (0.0, self.subsets.len() as f64 - 1.0)
            }
        };
        self.column.push(column as f64);
        self.threshold.push(threshold);
        self.subset.push(subset);
        self.missing_left.push(f64::from(u8::from(missing_left)));
        self.left.push(left as f64);
        self.right.push(right as f64);
    }

    /// The tree with what its leaves say, `width` numbers each.
    pub(super) fn finish(self, values: &[f64], width: usize) -> Parameters {
        Parameters::new("nodes")
            .with("column", self.column)
            .with("threshold", self.threshold)
            .with("subset", self.subset)
            .with("missing_left", self.missing_left)
            .with("left", self.left)
            .with("right", self.right)
            .with("subsets", self.subsets)
            .with_array("values", &[values.len() / width.max(1), width], values)
    }
}
