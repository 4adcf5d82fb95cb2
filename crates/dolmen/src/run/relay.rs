//! Progress told by a thread of its own, so that whoever listens, however slowly, holds up no work.
//!
//! What happens while the listener is busy is added up by name: it then hears of many steps at once. Nothing is lost, and
//! work is heard of as planned before it is heard of as done.

use std::collections::VecDeque;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use super::progress::{Progress, Work};

/// Takes down what is told, and passes it on from a thread of its own; the last of it when it is dropped.
pub(super) struct Relay {
    shared: Arc<Shared>,
    teller: Option<JoinHandle<()>>,
    /// The process that the thread is in: a child of that process has no such thread.
    process: u32,
}

struct Shared {
    listener: Arc<dyn Progress>,
    state: Mutex<State>,
    news: Condvar,
}

#[derive(Default)]
struct State {
    batches: VecDeque<Batch>,
    closed: bool,
}

/// Plans, and what was done after them.
#[derive(Default)]
struct Batch {
    plans: Vec<Planned>,
    done: Vec<Done>,
}

/// Steps planned, of some work or of none that has a name.
struct Planned {
    work: Option<(String, f64)>,
    steps: u64,
}

/// Steps done, and what they took together, where it was measured.
struct Done {
    what: String,
    steps: u64,
    spent: Option<Duration>,
}

impl Relay {
    /// Tells a listener; directly where the system starts no thread.
    pub(super) fn to(listener: Arc<dyn Progress>) -> Arc<dyn Progress> {
        let (state, news) = (Mutex::default(), Condvar::new());
        let shared = Arc::new(Shared { listener: Arc::clone(&listener), state, news });
        let own = Arc::clone(&shared);
        match thread::Builder::new().name("progress".into()).spawn(move || own.tell()) {
            Ok(teller) => {
                Arc::new(Self { shared, teller: Some(teller), process: std::process::id() })
            }
            Err(_) => listener,
        }
    }

    /// Takes something down.
    fn note(&self, add: impl FnOnce(&mut VecDeque<Batch>)) {
        let mut state = self.shared.lock();
        add(&mut state.batches);
        if self.process == std::process::id() {
            drop(state);
            self.shared.news.notify_one();
        } else {
            let batches = std::mem::take(&mut state.batches);
            drop(state);
            batches.iter().for_each(|batch| batch.tell(self.shared.listener.as_ref()));
        }
    }

    fn plan_steps(&self, work: Option<(&str, f64)>, steps: u64) {
        self.note(|batches| {
            if batches.back().is_none_or(|batch| !batch.done.is_empty()) {
                batches.push_back(Batch::default());
            }
            let Some(batch) = batches.back_mut() else { return };
            let is_same = |planned: &&mut Planned| match (&planned.work, work) {
                (None, None) => true,
                (Some((what, guess)), Some(other)) => (what.as_str(), *guess) == other,
                _ => false,
            };
            if let Some(planned) = batch.plans.iter_mut().find(is_same) {
                planned.steps += steps;
            } else {
                let work = work.map(|(what, guess)| (what.to_string(), guess));
                batch.plans.push(Planned { work, steps });
            }
        });
    }

    fn do_steps(&self, what: &str, steps: u64, spent: Option<Duration>) {
        self.note(|batches| {
            if batches.is_empty() {
                batches.push_back(Batch::default());
            }
            let Some(batch) = batches.back_mut() else { return };
            let is_same =
                |done: &&mut Done| done.what == what && done.spent.is_some() == spent.is_some();
            match batch.done.iter_mut().find(is_same) {
                Some(done) => {
                    done.steps += steps;
                    done.spent = done.spent.zip(spent).map(|(a, b)| a.saturating_add(b));
                }
                None => batch.done.push(Done { what: what.into(), steps, spent }),
            }
        });
    }
}

impl Progress for Relay {
    fn plan(&self, steps: u64) {
        self.plan_steps(None, steps);
    }

    fn advance(&self, steps: u64, what: &str) {
        self.do_steps(what, steps, None);
    }

    fn plan_work(&self, work: &Work<'_>) {
        self.plan_steps(Some((work.what, work.guess)), work.steps);
    }

    fn finish(&self, what: &str, steps: u64, spent: Duration) {
        self.do_steps(what, steps, Some(spent));
    }
}

impl Drop for Relay {
    /// Waits until the listener has heard everything.
    fn drop(&mut self) {
        self.shared.lock().closed = true;
        self.shared.news.notify_one();
        let Some(teller) = self.teller.take() else { return };
        // The listener itself may hold the last run, and then is where it is dropped.
        let is_own = teller.thread().id() == thread::current().id();
        if !is_own && self.process == std::process::id() {
            // A listener that panicked hears no more; the work is not the worse for it.
            let _ = teller.join();
        }
    }
}

impl Shared {
    fn lock(&self) -> MutexGuard<'_, State> {
        // Nothing that could panic is done under the lock.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Tells batch after batch until there will be no more.
    fn tell(&self) {
        let mut state = self.lock();
        loop {
            if let Some(batch) = state.batches.pop_front() {
                drop(state);
                batch.tell(self.listener.as_ref());
                state = self.lock();
            } else if state.closed {
                return;
            } else {
                state = self.news.wait(state).unwrap_or_else(PoisonError::into_inner);
            }
        }
    }
}

impl Batch {
    fn tell(&self, listener: &dyn Progress) {
        for Planned { work, steps } in &self.plans {
            match work {
                Some((what, guess)) => {
                    listener.plan_work(&Work { what, steps: *steps, guess: *guess });
                }
                None => listener.plan(*steps),
            }
        }
        for Done { what, steps, spent } in &self.done {
            match spent {
                Some(spent) => listener.finish(what, *steps, *spent),
                None => listener.advance(*steps, what),
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicU64, Ordering};
    use std::time::Instant;

    use super::*;
    use crate::run::Run;

    /// Takes 50 ms to hear of anything.
    #[derive(Default)]
    struct Slow {
        planned: AtomicU64,
        done: AtomicU64,
        spent: AtomicU64,
        calls: AtomicU64,
        ahead: AtomicU64,
    }

    impl Slow {
        fn count(&self, count: &AtomicU64, steps: u64) {
            thread::sleep(Duration::from_millis(50));
            count.fetch_add(steps, Ordering::Relaxed);
            self.calls.fetch_add(1, Ordering::Relaxed);
            let [planned, done] = [&self.planned, &self.done].map(|n| n.load(Ordering::Relaxed));
            self.ahead.fetch_max(done.saturating_sub(planned), Ordering::Relaxed);
        }
    }

    impl Progress for Slow {
        fn plan(&self, steps: u64) {
            self.count(&self.planned, steps);
        }
        fn advance(&self, steps: u64, _what: &str) {
            self.count(&self.done, steps);
        }
        fn finish(&self, _what: &str, steps: u64, spent: Duration) {
            self.spent.fetch_add(spent.as_secs(), Ordering::Relaxed);
            self.count(&self.done, steps);
        }
    }

    #[test]
    fn a_slow_listener_holds_up_nothing_and_hears_all() {
        let slow = Arc::new(Slow::default());
        let run = Run::with_threads(0, 2).unwrap().reporting(slow.clone());
        let started = Instant::now();
        let work = Work { what: "steps", steps: 1000, guess: 1.0 };
        run.progress().plan_work(&work);
        run.progress().plan(1000);
        run.install(|| {
            use rayon::prelude::*;
            (0..1000_u64).into_par_iter().for_each(|i| {
                run.progress().finish("steps", 1, Duration::from_secs(1));
                run.named(if i % 2 == 0 { "even" } else { "odd" }).progress().advance(1, "");
            });
        });
        let worked = started.elapsed();
        assert!(worked < Duration::from_secs(5), "the work took {worked:?}");
        drop(run);
        let waited = started.elapsed();
        assert!(waited < Duration::from_secs(10), "all was heard after {waited:?}");
        let heard = |count: &AtomicU64| count.load(Ordering::Relaxed);
        assert_eq!((heard(&slow.planned), heard(&slow.done)), (2000, 2000));
        assert_eq!(heard(&slow.spent), 1000);
        assert_eq!(heard(&slow.ahead), 0, "work was done before it was planned");
        assert!(heard(&slow.calls) < 50);
    }

    /// Panics at the first word.
    struct Touchy;

    impl Progress for Touchy {
        fn plan(&self, _steps: u64) {
            std::panic::resume_unwind(Box::new(()));
        }
        fn advance(&self, _steps: u64, _what: &str) {}
    }

    #[test]
    fn a_listener_that_panics_ends_no_work() {
        let run = Run::with_threads(0, 1).unwrap().reporting(Arc::new(Touchy));
        run.progress().plan(1);
        thread::sleep(Duration::from_millis(20));
        run.progress().advance(1, "after");
    }
}
