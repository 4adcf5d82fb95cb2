//! One value decides a fit: the recipe, and what comes of it.

mod file;

pub use file::ModelFile;
