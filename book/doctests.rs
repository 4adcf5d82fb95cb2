//! The Rust blocks of the book, compiled and run as documentation tests. A page with such blocks is named here; a test of
//! `dolmen-cli` looks whether one is missing.

/// Pages with Rust in them.
#[cfg(doctest)]
mod pages {
    #[doc = include_str!("src/cookbook/own-learner.md")]
    struct OwnLearner;
}
