//! Work beside the interpreter: on threads of its own, told of in progress, stopped by Ctrl-C.
//!
//! The calling thread lets go of the interpreter and looks now and then whether a signal came. Work that was cancelled and does not
//! end in a moment, because a member is deep in code of its own, is left to end by itself: it owns what it uses.

use std::cell::Cell;
use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{self, RecvTimeoutError};
use std::sync::{Arc, LazyLock, Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use dolmen::run::{Forecast, Pool, Progress, Run, Work};
use pyo3::exceptions::PyRuntimeError;
use pyo3::prelude::*;

use crate::errors::raised;

/// How often signals are looked for, and progress is told.
const GLANCE: Duration = Duration::from_millis(20);
const TELLING: Duration = Duration::from_millis(100);
/// How long cancelled work is waited for.
const PATIENCE: Duration = Duration::from_millis(120);

/// How a piece of work is done.
#[derive(Debug, Default, FromPyObject)]
#[pyo3(from_item_all)]
pub(crate) struct Manner {
    /// Threads; all cores if not given.
    n_jobs: Option<usize>,
    /// Called with the share done, what was done last, and the seconds left, if they are known.
    progress: Option<Py<PyAny>>,
}

/// Pools at hand by their number of threads: threads are started once. That of all cores is shared; one of so many threads is for
/// one piece of work at a time, for two with a thread each, on two threads of Python, are to have two.
static POOLS: LazyLock<Mutex<BTreeMap<Option<usize>, Vec<Pool>>>> = LazyLock::new(Mutex::default);

fn pool(threads: Option<usize>) -> dolmen::Result<Pool> {
    let mut pools = POOLS.lock().unwrap_or_else(PoisonError::into_inner);
    let at_hand = pools.entry(threads).or_default();
    if let Some(threads) = threads {
        return at_hand.pop().map_or_else(|| Pool::new(threads), Ok);
    }
    if at_hand.is_empty() {
        at_hand.push(Pool::of_all_cores());
    }
    Ok(at_hand[0].clone())
}

/// Hands a pool whose work is done on to whoever comes next.
fn put_back(threads: usize, pool: Pool) {
    let mut pools = POOLS.lock().unwrap_or_else(PoisonError::into_inner);
    pools.entry(Some(threads)).or_default().push(pool);
}

/// Leaves the pool of all cores to the work that goes on in it: whoever comes next has threads of its own.
fn abandon(threads: Option<usize>) {
    if threads.is_none() {
        POOLS.lock().unwrap_or_else(PoisonError::into_inner).remove(&None);
    }
}

thread_local! {
    static IN_MEMBER: Cell<bool> = const { Cell::new(false) };
}

/// Runs a Python member. Whatever it asks of this package is done by threads of its own: those of the pool wait for it, and would
/// wait for one another.
pub(crate) fn in_member<R>(call: impl FnOnce(Python<'_>) -> R) -> R {
    let before = IN_MEMBER.replace(true);
    let answer = Python::attach(call);
    IN_MEMBER.set(before);
    answer
}

/// How far the work has come, as the interpreter's thread reads it.
struct Watch {
    started: Instant,
    state: Mutex<(Forecast, String)>,
}

/// The kind of steps of which only the number is known.
const STEPS: &str = "steps";

impl Watch {
    fn change(&self, change: impl FnOnce(&mut Forecast), what: Option<&str>) {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        change(&mut state.0);
        if let Some(what) = what {
            what.clone_into(&mut state.1);
        }
    }

    fn tell(&self, py: Python<'_>, listener: &Py<PyAny>) -> PyResult<()> {
        let (share, what, left) = {
            let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
            let left = state.0.left(self.started.elapsed()).map(|left| left.as_secs_f64());
            (state.0.share(), state.1.clone(), left)
        };
        listener.call1(py, (share, what, left)).map(|_| ())
    }

    /// Tells that all is done, whatever was planned: some work turns out not to be needed.
    fn tell_end(&self, py: Python<'_>, listener: &Py<PyAny>) -> PyResult<()> {
        let what = self.state.lock().unwrap_or_else(PoisonError::into_inner).1.clone();
        listener.call1(py, (1.0, what, None::<f64>)).map(|_| ())
    }
}

impl Progress for Watch {
    fn plan(&self, steps: u64) {
        self.plan_work(&Work { what: STEPS, steps, guess: 1.0 });
    }
    fn advance(&self, steps: u64, what: &str) {
        self.change(|forecast| forecast.finish(STEPS, steps, None), Some(what));
    }
    fn plan_work(&self, work: &Work<'_>) {
        self.change(|forecast| forecast.plan(work), None);
    }
    fn finish(&self, what: &str, steps: u64, spent: Duration) {
        self.change(|forecast| forecast.finish(what, steps, Some(spent)), Some(what));
    }
}

/// Does the work in the pool while the interpreter is free: what is parallel outside of it would take rayon's own threads, which a
/// process that was forked lacks.
pub(crate) fn work<R: Send + 'static>(
    py: Python<'_>,
    manner: &Manner,
    job: impl FnOnce(&Run) -> dolmen::Result<R> + Send + 'static,
) -> PyResult<R> {
    work_of_others(py, manner, move |run| run.install(|| job(run)))
}

/// The same for work that others do, on a thread of its own: they may need the thread of the pool that would wait for them.
pub(crate) fn work_of_others<R: Send + 'static>(
    py: Python<'_>,
    manner: &Manner,
    job: impl FnOnce(&Run) -> dolmen::Result<R> + Send + 'static,
) -> PyResult<R> {
    let is_in_member = IN_MEMBER.get();
    let pool =
        if is_in_member { Pool::new(manner.n_jobs.unwrap_or(1)) } else { pool(manner.n_jobs) };
    let pool = pool.map_err(|error| raised(py, error))?;
    let handed_on = manner.n_jobs.filter(|_| !is_in_member);
    let cancelled = Arc::new(AtomicBool::new(false));
    let mut run = Run::with_pool(&pool, 0).cancelled_by(Arc::clone(&cancelled));
    let watch = manner
        .progress
        .as_ref()
        .map(|_| Arc::new(Watch { started: Instant::now(), state: Mutex::default() }));
    if let Some(watch) = &watch {
        run = run.reporting(Arc::clone(watch) as Arc<dyn Progress>);
    }
    let (sender, receiver) = mpsc::channel();
    let worker = thread::Builder::new().name("dolmen".into());
    worker
        .spawn(move || {
            let done = job(&run);
            if let Some(threads) = handed_on {
                put_back(threads, pool);
            }
            // Whoever no longer waits does not want to know.
            let _ = sender.send(done);
        })
        .map_err(|error| PyRuntimeError::new_err(format!("no thread can be started: {error}")))?;
    // A receiver is for one thread, and letting go of the interpreter may change it as far as the compiler knows.
    let receiver = Mutex::new(receiver);
    let wait = |time| {
        py.detach(|| receiver.lock().unwrap_or_else(PoisonError::into_inner).recv_timeout(time))
    };
    let mut reported = Instant::now();
    loop {
        match wait(GLANCE) {
            Ok(done) => {
                let done = done.map_err(|error| raised(py, error))?;
                if let (Some(watch), Some(listener)) = (&watch, &manner.progress) {
                    watch.tell_end(py, listener)?;
                }
                return Ok(done);
            }
            Err(RecvTimeoutError::Disconnected) => {
                return Err(PyRuntimeError::new_err("the work ended without a result"));
            }
            Err(RecvTimeoutError::Timeout) => {}
        }
        let stop = py.check_signals().and_then(|()| match (&watch, &manner.progress) {
            (Some(watch), Some(listener)) if reported.elapsed() >= TELLING => {
                reported = Instant::now();
                watch.tell(py, listener)
            }
            _ => Ok(()),
        });
        if let Err(error) = stop {
            cancelled.store(true, Ordering::Relaxed);
            if matches!(wait(PATIENCE), Err(RecvTimeoutError::Timeout)) {
                abandon(manner.n_jobs);
            }
            return Err(error);
        }
    }
}
