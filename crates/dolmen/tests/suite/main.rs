//! All tests of the library that use nothing but what it shows to programs. One program: each of its own would compile the
//! generic code of the library once more.

mod adaboost;
mod batches;
mod blocks;
mod catalogue;
mod citations;
mod compare;
mod conformance;
mod conformance_combiners;
mod elsewhere;
mod experts;
mod forest;
mod inference;
mod joint;
mod joint_far;
mod joint_score;
mod kept_rows;
mod kernel;
mod keys;
mod layers;
mod least_squares;
mod limits;
mod linear;
mod methods;
mod mixture;
mod neighbours;
mod network;
mod oos;
mod parameters;
mod passes;
mod plan;
mod plan_time;
mod simplex;
#[cfg(feature = "parquet")]
mod sparing;
mod stack;
mod store;
mod stream;
mod supervised_stack;
mod svm;
mod table_files;
mod table_parquet;
mod targets;
mod trees;
