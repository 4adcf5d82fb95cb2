//! Decision trees: the core that CART, boosting, forests and AdaBoost share.
//!
//! | file | holds |
//! | --- | --- |
//! | `bins`, `codes` | the columns cut into bins, the table as one byte a cell |
//! | `criterion`, `pairs`, `counts` | what a split is judged by |
//! | `histogram`, `search`, `sweep` | sums by code, and the best split of a column |
//! | `grow`, `examine`, `partition` | growing a tree |
//! | `fitted`, `flat` | the fitted tree and its stored form |
//! | `cart/`, `boost/` | single trees and gradient boosting |

pub mod bins;
pub mod boost;
pub mod cart;
pub mod codes;
pub mod counts;
pub mod criterion;
mod examine;
pub mod fitted;
mod flat;
pub mod forest;
mod grow;
mod histogram;
pub mod nodes;
pub mod pairs;
mod partition;
mod search;
mod sweep;
#[cfg(test)]
mod tests;

pub use bins::{Bins, ColumnBins};
pub use boost::{Boost, FittedBoost};
pub use cart::{DecisionTree, FittedTree};
pub use codes::{CodeColumn, Codes, Words};
pub use counts::{Counts, Impurity};
pub use criterion::{Cell, Criterion};
pub use examine::Workspace;
pub use fitted::Tree;
pub use forest::{ExtraTrees, FittedForest, Forest};
pub use grow::{Grower, Grown, Growth};
pub use pairs::{Narrow, Pairs, Units, Wide};
