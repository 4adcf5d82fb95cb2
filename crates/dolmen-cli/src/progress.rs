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
    /// Rows that were read lately, and the time they took.
    rows: f64,
    reading: f64,
    read: Option<Instant>,
    /// What was done last beside reading rows.
    what: String,
}

/// Rows that were read longer ago are no news.
const LATELY: Duration = Duration::from_secs(10);

/// How much of what was read before a block still counts for the speed told with it.
const REMEMBERED: f64 = 0.9;

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

    fn update(&self, change: impl FnOnce(&mut State)) {
        // Another thread's panic leaves numbers that are still good enough to show.
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        let started = *state.started.get_or_insert_with(Instant::now);
        change(&mut state);
        let share = state.forecast.share();
        // A full bar is for the end, and then it vanishes; from 99.5 % on it would say 100.
        self.bar.set_position(((share * LENGTH as f64) as u64).min(LENGTH - 6));
        let left = state.forecast.left(started.elapsed()).map(in_words).unwrap_or_default();
        let parts = [state.what.clone(), state.speed(), left];
        let told: Vec<String> = parts.into_iter().filter(|part| !part.is_empty()).collect();
        self.bar.set_message(told.join(", "));
    }
}

impl State {
    /// Rows that were read, and what they took.
    fn read(&mut self, rows: u64, spent: Duration) {
        self.rows = REMEMBERED * self.rows + rows as f64;
        self.reading = REMEMBERED * self.reading + spent.as_secs_f64();
        self.read = Some(Instant::now());
    }

    /// How fast rows are read; nothing where none were for a while.
    fn speed(&self) -> String {
        if self.read.is_some_and(|read| read.elapsed() < LATELY) {
            format!("{} rows/s", in_short(self.rows / self.reading.max(1e-9)))
        } else {
            String::new()
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
        seconds @ 1..60 => format!("{seconds} s left"),
        seconds @ 60..3600 => format!("{} min left", (seconds + 30) / 60),
        seconds => format!("{:.1} h left", seconds as f64 / 3600.0),
    }
}

impl Progress for Bar {
    fn plan(&self, steps: u64) {
        self.plan_work(&Work { what: STEPS, steps, guess: 1.0 });
    }

    fn advance(&self, steps: u64, what: &str) {
        self.update(|state| {
            state.forecast.finish(STEPS, steps, None);
            state.what = what.into();
        });
    }

    fn plan_work(&self, work: &Work<'_>) {
        self.update(|state| state.forecast.plan(work));
    }

    fn finish(&self, what: &str, steps: u64, spent: Duration) {
        self.update(|state| {
            state.forecast.finish(what, steps, Some(spent));
            if what == ROWS {
                state.read(steps, spent);
            } else {
                state.what = what.into();
            }
        });
    }
}

impl Drop for Bar {
    fn drop(&mut self) {
        self.bar.finish_and_clear();
    }
}
