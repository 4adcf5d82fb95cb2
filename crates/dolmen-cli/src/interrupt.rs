//! Ctrl-C: the first one ends the work where it can be ended, with nothing half-written; the second one at once.

use std::io::{self, Write};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, LazyLock};

use signal_hook::consts::SIGINT;
use signal_hook::flag;

/// What shells expect of a program that was interrupted.
pub(crate) const STATUS: u8 = 130;

/// Set by the first Ctrl-C.
static ASKED: LazyLock<Arc<AtomicBool>> = LazyLock::new(Arc::default);

/// Whether the first Ctrl-C asks for what there is so far, instead of ending the work.
static IS_PATIENT: AtomicBool = AtomicBool::new(false);

/// From now on the first Ctrl-C asks for what there is so far; the second one still ends everything at once.
pub(crate) fn be_patient() {
    IS_PATIENT.store(true, Ordering::Relaxed);
}

/// Starts to listen. Where the system allows no handlers, Ctrl-C does what it always does.
pub(crate) fn listen() {
    // Handlers run in this order: when the first signal comes, the flag is not set yet.
    let _ = flag::register_conditional_shutdown(SIGINT, STATUS.into(), asked());
    let _ = flag::register(SIGINT, asked());
    #[cfg(unix)]
    lose_patience();
}

/// The flag that runs are cancelled by.
pub(crate) fn asked() -> Arc<AtomicBool> {
    Arc::clone(&ASKED)
}

/// Says that the work was ended before its end; once, whoever ends it.
pub(crate) fn tell() {
    static IS_REPORTED: AtomicBool = AtomicBool::new(false);
    if !IS_REPORTED.swap(true, Ordering::Relaxed) {
        // Where stderr is closed there is nobody to tell.
        let _ = writeln!(io::stderr().lock(), "interrupted");
    }
}

/// Whether somebody has pressed Ctrl-C.
pub(crate) fn was_asked() -> bool {
    ASKED.load(Ordering::Relaxed)
}

/// Most work looks now and then whether it is still wanted, but not all of it often enough: what has not ended by itself a
/// moment after the signal is ended here, between two files.
#[cfg(unix)]
fn lose_patience() {
    use std::thread;
    use std::time::Duration;

    use signal_hook::iterator::Signals;
    use signal_hook::low_level::exit;

    const MOMENT: Duration = Duration::from_millis(300);

    let Ok(mut signals) = Signals::new([SIGINT]) else { return };
    let wait = move || {
        if signals.forever().next().is_some() && !IS_PATIENT.load(Ordering::Relaxed) {
            thread::sleep(MOMENT);
            dolmen::store::between_writes::<()>(|| {
                tell();
                exit(STATUS.into())
            });
        }
    };
    // Where no thread is to be had, the second Ctrl-C still ends everything.
    let _ = thread::Builder::new().name("interrupt".into()).spawn(wait);
}
