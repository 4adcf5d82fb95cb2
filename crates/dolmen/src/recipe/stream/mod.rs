//! Fits to tables that are read block by block: files larger than memory.
//!
//! | file | holds |
//! | --- | --- |
//! | `source` | where the blocks are: in memory, in files, with the workers of a cluster |
//! | `work` | what is done with every block, as bytes too |
//! | `look` | the first look: a sample of the rows, by which columns get their parts, and sums of the weights |
//! | `context` | blocks as a task sees them: inputs, target, weights, folds |
//! | `lockstep`, `passes` | all members' fits on all folds, pass by pass: one reading serves them all |
//! | `predict`, `matrix` | what the members said about rows they had not seen, on disk |
//! | `judged` | how a combination and its members do on all rows |
//! | `weights` | the best weights for that matrix |
//! | `fit` | the way from blocks to a model |
//! | `weigh` | the weights of predictions made elsewhere |
//!
//! Learners that need all rows at once are fitted to the sample. So are the check and what the report says of errors: their own
//! errors fall with the root of its rows. The weights of a linear pool are those of all rows.

mod context;
mod fit;
mod judged;
mod layout;
mod lockstep;
mod look;
mod matrix;
mod passes;
mod predict;
mod source;
mod weigh;
mod weights;
mod work;

pub use fit::Opened;
pub(super) use judged::Judged;
pub use layout::Layout;
pub use source::{Ask, Cut, Elsewhere, Source};
pub use weigh::OpenedPredictions;
pub use work::{Outcome, Work, work_on};
