//! Rows with keys: groups are never torn, and no row is predicted by a model that saw a later one, inner folds included.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod honest;
mod plans;
mod reuse;
mod spy;
mod wrappers;
