//! The fitted parameters of models as data: every kind has them, and they are what the model predicts by.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod every_kind;
mod linear;
mod made;
mod meaning;
mod trees;
