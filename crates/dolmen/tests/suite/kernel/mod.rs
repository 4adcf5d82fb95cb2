//! Kernel densities: their values, the fast ways to them, and what is refused.

#![expect(
    clippy::unwrap_used,
    clippy::float_cmp,
    reason = "a test fails by panicking, and -inf equals itself"
)]

mod density;
mod fast;
mod input;
mod made;
