//! Saved models: a versioned file of nested records, and the registry that reads them back.
//!
//! A model file is `DOLMEN` + format version + checksum + a MessagePack document. MessagePack keeps `-inf` and NaN,
//! nests, and is read without executing anything. Each model in it is a [`Record`]: its kind, the version of that kind's
//! stored form, and its body. A [`Registry`] maps kinds to the types that read them.

mod output;
mod record;
mod registry;

pub mod floats;

pub use output::{check_output, same_file, write_file};
pub use record::Record;
pub(crate) use record::{are_shares, is_ascending_below};
pub use registry::{Reader, Registry};
