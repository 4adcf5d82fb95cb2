//! Dolmen combines models: it fits unlike models, keeps what each said about rows it had not seen, learns how to combine
//! them, and hands back one model better than its members, with the evidence.
//!
//! The short way in is [`recipe`]: one value decides a fit, `Recipe::fit(&table, &run)` goes the whole way.
//!
//! ```text
//! table ──► plan ──► learners ──► out-of-sample matrix ──► combiner ──► ensemble ──► report
//!  rows,     folds,   recipes      rows × members × width   weights       one model     scores, weights,
//!  schema    groups   (level 0)    kept, saved, reusable                  to save/use   tests
//!                                         ▲
//!                                         └── a file of predictions from any tool enters here
//! ```
//!
//! The modules stand in that order: [`table`], [`plan`], [`learner`], [`oos`], [`combine`], [`ensemble`], [`evaluate`], and
//! [`recipe`] on top of them all. [`catalogue`] knows learners, combiners and stored kinds by name, and takes those of other programs. [`task`] says what one prediction row means; [`store`] saves models; [`generate`] draws data sets; [`stats`] and [`math`] are what it all stands on.
//!
//! Words have one meaning each ([`glossary`]); keys such as SmythWolpert1999 are cited works ([`references`]).
//!
//! Weights for predictions made anywhere, with their certificate:
//!
//! ```
//! use dolmen::solver::simplex::{LogScore, SimplexOptions};
//! use dolmen::run::Run;
//!
//! // ln p of four rows under two models that had not seen them.
//! let problem = LogScore::from_log(vec![vec![-1.0, -2.0, -9.0, -1.5], vec![-3.0, -2.5, -1.0, -1.2]])?;
//! let found = problem.solve(&SimplexOptions::default(), &Run::new(0))?;
//! assert!(found.gap <= 1e-10);
//! assert!((found.weights.iter().sum::<f64>() - 1.0).abs() < 1e-12);
//! # Ok::<(), dolmen::Error>(())
//! ```

pub mod catalogue;
pub mod combine;
pub mod ensemble;
pub mod error;
pub mod evaluate;
pub mod generate;
pub mod learner;
pub mod math;
mod memory;
pub mod oos;
pub mod plan;
pub mod recipe;
pub mod run;
pub mod score;
pub mod solver;
pub mod spec;
pub mod stats;
pub mod store;
mod suggest;
pub mod table;
pub mod target;
pub mod task;

#[doc = include_str!("../docs/glossary.md")]
pub mod glossary {}

#[doc = include_str!("../docs/references.md")]
pub mod references {}

pub use error::{Error, Result};
pub use run::Run;
// For parameter structs of one's own: `#[derive(JsonSchema)] #[schemars(crate = "dolmen::schemars")]`.
pub use schemars;

/// The README's example is compiled and run with the documentation tests.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
