//! Pictures and pages of values made by hand, and of small fits.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod made;
mod outliers;
mod pages;
mod snapshots;
mod ugly;
mod well_formed;
mod words;
