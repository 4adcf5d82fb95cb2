//! Saved models: a versioned file of nested records, and the registry that reads them back.
//!
//! A model file is `DOLMEN` + format version + checksum + a MessagePack document. MessagePack keeps `-inf` and NaN,
//! nests, and is read without executing anything. Each model in it is a [`Record`]: its kind, the version of that kind's
//! stored form, and its body. A [`Registry`] maps kinds to the types that read them. What a
//! model consists of, for those who do not want to predict with it, are its [`Parameters`].

mod output;
mod parameters;
mod record;
mod registry;

pub mod floats;

pub use output::{between_writes, check_output, same_file, write_file};
pub use parameters::{Parameters, Value};
pub use record::Record;
pub(crate) use record::{are_shares, is_ascending_below};
pub use registry::{Reader, Registry};
