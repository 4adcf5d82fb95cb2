//! A damaged file makes the Parquet decoder panic in places; here such a panic becomes an error, and prints nothing.

use std::cell::Cell;
use std::panic::{self, AssertUnwindSafe};
use std::path::Path;
use std::sync::Once;

use crate::error::{Error, Result};

thread_local! {
    /// Whether this thread is decoding.
    static DECODING: Cell<bool> = const { Cell::new(false) };
}

/// Runs `decode`, which reads the file at `path` and must not start work on other threads.
pub(super) fn guarded<T>(path: &Path, decode: impl FnOnce() -> Result<T>) -> Result<T> {
    static QUIET: Once = Once::new();
    QUIET.call_once(|| {
        let report = panic::take_hook();
        panic::set_hook(Box::new(move |panic| {
            if !DECODING.get() {
                report(panic);
            }
        }));
    });
    let before = DECODING.replace(true);
    // Whatever the decoder leaves half done is dropped with it.
    let decoded = panic::catch_unwind(AssertUnwindSafe(decode));
    DECODING.set(before);
    decoded.unwrap_or_else(|_| Err(Error::file(path, "the file is damaged")))
}
