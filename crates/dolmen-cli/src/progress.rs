//! A progress bar on stderr, shown only on a terminal.

use std::sync::Arc;
use std::time::Duration;

use dolmen::learner::Progress;
use indicatif::{ProgressBar, ProgressStyle};

/// The bar of one run: grows as work is planned, vanishes when it is done.
pub(crate) struct Bar(ProgressBar);

impl Bar {
    /// A bar that several threads may move. indicatif hides it when stderr is not a terminal.
    pub(crate) fn shared() -> Arc<dyn Progress> {
        let bar = ProgressBar::new(0);
        let style = ProgressStyle::with_template("{bar:32} {pos}/{len} {msg} ({eta} left)")
            .unwrap_or_else(|_| ProgressStyle::default_bar());
        bar.set_style(style);
        bar.enable_steady_tick(Duration::from_millis(200));
        Arc::new(Self(bar))
    }
}

impl Progress for Bar {
    fn plan(&self, steps: u64) {
        self.0.inc_length(steps);
    }

    fn advance(&self, steps: u64, what: &str) {
        self.0.set_message(what.to_string());
        self.0.inc(steps);
    }
}

impl Drop for Bar {
    fn drop(&mut self) {
        self.0.finish_and_clear();
    }
}
