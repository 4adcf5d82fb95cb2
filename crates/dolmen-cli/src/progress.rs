//! A progress bar on stderr, shown only on a terminal.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use dolmen::run::{Forecast, Progress, Work};
use dolmen::table::ROWS;
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

use crate::bars::{is_dumb, is_plain};

/// The bar of one run: the share of the whole work that is done, and the time left. It vanishes when the run ends.
pub(crate) struct Bar {
    bar: ProgressBar,
    state: Mutex<State>,
}

/// What is known of the work, and when it started.
#[derive(Default)]
struct State {
    forecast: Forecast,
    started: Option<Instant>,
    /// Rows that were read, and the time since the first of them were asked for.
    rows: u64,
    reading: Duration,
}

/// The bar's length: what it can tell apart.
const LENGTH: u64 = 1000;

/// The kind of steps of which only the number is known.
const STEPS: &str = "steps";

impl Bar {
    /// A bar that several threads may move. indicatif hides it when stderr is not a terminal.
    pub(crate) fn shared() -> Arc<dyn Progress> {
        let bar = ProgressBar::new(LENGTH);
        let style = ProgressStyle::with_template("{bar:32} {percent:>3} % {msg}")
            .unwrap_or_else(|_| ProgressStyle::default_bar());
        // Blocks are for terminals that have them, and one that cannot go back in its line has no bar at all.
        bar.set_style(if is_plain() { style.progress_chars("#>-") } else { style });
        if is_dumb() {
            bar.set_draw_target(ProgressDrawTarget::hidden());
        }
        // The bar ticks on a thread of its own; without a terminal it need not, and where no thread is to be had it cannot.
        let can_tick = || std::thread::Builder::new().spawn(|| ()).is_ok();
        if !bar.is_hidden() && can_tick() {
            bar.enable_steady_tick(Duration::from_millis(200));
        }
        Arc::new(Self { bar, state: Mutex::default() })
    }

    /// How fast rows are read, these included.
    fn speed(&self, rows: u64, spent: Duration) -> String {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        state.rows += rows;
        state.reading += spent;
        let speed = state.rows as f64 / state.reading.as_secs_f64().max(1e-9);
        format!("{} rows/s", in_short(speed))
    }

    fn update(&self, change: impl FnOnce(&mut Forecast), what: Option<&str>) {
        // Another thread's panic leaves numbers that are still good enough to show.
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        let started = *state.started.get_or_insert_with(Instant::now);
        change(&mut state.forecast);
        let share = state.forecast.share();
        // A full bar is for the end, and then it vanishes; from 99.5 % on it would say 100.
        self.bar.set_position(((share * LENGTH as f64) as u64).min(LENGTH - 6));
        if let Some(what) = what {
            let left = state.forecast.left(started.elapsed()).map(in_words).unwrap_or_default();
            self.bar.set_message(format!("{what}{left}"));
        }
    }
}

/// A large number in three digits.
fn in_short(number: f64) -> String {
    match number {
        ..1e3 => format!("{number:.0}"),
        ..1e6 => format!("{:.0} k", number / 1e3),
        ..1e7 => format!("{:.1} M", number / 1e6),
        _ => format!("{:.0} M", number / 1e6),
    }
}

/// A time left as people say it.
fn in_words(left: Duration) -> String {
    match left.as_secs() {
        0 => String::new(),
        seconds @ 1..60 => format!(", {seconds} s left"),
        seconds @ 60..3600 => format!(", {} min left", (seconds + 30) / 60),
        seconds => format!(", {:.1} h left", seconds as f64 / 3600.0),
    }
}

impl Progress for Bar {
    fn plan(&self, steps: u64) {
        self.plan_work(&Work { what: STEPS, steps, guess: 1.0 });
    }

    fn advance(&self, steps: u64, what: &str) {
        self.update(|forecast| forecast.finish(STEPS, steps, None), Some(what));
    }

    fn plan_work(&self, work: &Work<'_>) {
        self.update(|forecast| forecast.plan(work), None);
    }

    fn finish(&self, what: &str, steps: u64, spent: Duration) {
        let shown = if what == ROWS { self.speed(steps, spent) } else { what.into() };
        self.update(|forecast| forecast.finish(what, steps, Some(spent)), Some(&shown));
    }
}

impl Drop for Bar {
    fn drop(&mut self) {
        self.bar.finish_and_clear();
    }
}
