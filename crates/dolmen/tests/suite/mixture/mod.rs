//! Gaussians and Gaussian mixtures: their fits, what these refuse, and fitted ones as densities.

#![expect(clippy::unwrap_used, reason = "a test that fails may panic")]

mod atoms;
mod density;
mod fits;
mod limits;
mod made;
