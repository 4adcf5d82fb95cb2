//! Fits to tables that are read block by block: files larger than memory.
//!
//! | file | holds |
//! | --- | --- |
//! | `source` | where the blocks are: in memory, in files, with the workers of a cluster |
//! | `work` | what is done with every block, as bytes too |
//! | `block` | a block on its way through some work, and what is kept of it for the next |
//! | `look` | the first look: a sample of the rows, by which columns get their parts, and sums of the weights |
//! | `sampled` | which rows are in the sample: of rare classes more than their share, at less weight |
//! | `context` | blocks as a task sees them: inputs, target, weights, folds |
//! | `lockstep`, `passes` | all members' fits on all folds, pass by pass: one reading serves them all |
//! | `predict`, `predicted`, `matrix` | what the members said about rows they had not seen, on disk |
//! | `judged` | how a combination and its members do on all rows |
//! | `weights` | the best weights for that matrix |
//! | `combined` | the combination of members fitted so, and the decision what is kept |
//! | `fit` | the way from blocks to a model |
//! | `weigh` | the weights of predictions made elsewhere |
//!
//! Learners that need all rows at once are fitted to the sample. What the report says of errors comes from it, too: their own
//! errors fall with the root of its rows. The weights of a linear pool are those of all rows, and so is the decision to keep it: for each fold
//! the weights are found without it, and tried on it.

mod block;
mod combined;
mod context;
mod fit;
mod judged;
mod layout;
mod lockstep;
mod look;
mod matrix;
mod passes;
mod predict;
mod predicted;
mod sampled;
mod source;
mod weigh;
mod weights;
mod work;

pub use block::{Block, KeptRows};
pub use fit::Opened;
pub(super) use fit::{AT_ONCE, may_take};
pub(super) use judged::Judged;
pub use layout::Layout;
pub use source::{Ask, Cut, Elsewhere, Source};
pub use weigh::{OpenedPredictions, PredictionBlocks};
pub use work::{Outcome, Work, work_on};
