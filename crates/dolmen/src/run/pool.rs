//! The threads that work is done on.

use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use rayon::{ThreadPool, ThreadPoolBuildError, ThreadPoolBuilder};

use crate::error::{Error, Result};
use crate::memory;

/// Threads that several runs may share. Results do not depend on their number.
///
/// Threads do not survive a fork of the process: a child that uses the pool starts threads of its own, when it first does.
///
/// ```
/// use dolmen::run::{Pool, Run};
///
/// let pool = Pool::new(2)?;
/// let runs = [1, 2].map(|seed| Run::with_pool(&pool, seed));
/// assert!(runs.iter().all(|run| run.threads() == 2));
/// # Ok::<(), dolmen::Error>(())
/// ```
#[derive(Clone)]
pub struct Pool(Arc<Shared>);

struct Shared {
    /// The process that the threads are in.
    process: u32,
    /// `None` for those of whoever asks.
    started: Option<Arc<ThreadPool>>,
    threads: usize,
    /// The threads of a process that was forked from the first one, by its number.
    after_fork: Mutex<Option<(u32, Arc<ThreadPool>)>>,
}

impl Pool {
    /// So many threads, at least 1; more than the machine has use for (four for each core, and 16 at least) are not started.
    pub fn new(threads: usize) -> Result<Self> {
        if threads == 0 {
            return Err(Error::param("threads", "at least 1", threads));
        }
        let useful = threads.min((4 * cores()).max(16)).min(affordable());
        let pool = start(useful).map_err(|e| {
            let expected = format!("fewer: the system does not start them ({e})");
            Error::param("threads", expected, threads)
        })?;
        Ok(Self::of(Some(Arc::new(pool))))
    }

    /// A thread for each core; the calling thread alone where the system starts no other.
    pub fn of_all_cores() -> Self {
        Self::of(Some(start_any(cores().min(affordable()))))
    }

    /// No threads of its own: work is done on those of the rayon pool that whoever asks for it stands in, which outside of
    /// any is rayon's global one. For programs that have a pool already.
    pub fn around() -> Self {
        Self::of(None)
    }

    fn of(started: Option<Arc<ThreadPool>>) -> Self {
        let threads = started.as_ref().map_or_else(cores, |pool| pool.current_num_threads());
        let (process, after_fork) = (std::process::id(), Mutex::default());
        Self(Arc::new(Shared { process, started, threads, after_fork }))
    }

    /// Runs `work` on the threads.
    pub(super) fn install<R: Send>(&self, work: impl FnOnce() -> R + Send) -> R {
        let Some(pool) = self.current() else { return work() };
        // What rayon is given is the same for all work, so that it is compiled once.
        let (mut work, mut result) = (Some(work), None);
        enter(&pool, &mut || result = work.take().map(|work| work()));
        result.expect("the pool has done the work")
    }

    /// How many threads there are.
    pub fn threads(&self) -> usize {
        match self.current() {
            Some(pool) => pool.current_num_threads(),
            None => rayon::current_num_threads(),
        }
    }

    /// The threads of this process; `None` for those around.
    fn current(&self) -> Option<Arc<ThreadPool>> {
        let Shared { process, started, threads, after_fork } = &*self.0;
        let own = std::process::id();
        if *process == own {
            return started.clone();
        }
        let mut forked = after_fork.lock().unwrap_or_else(PoisonError::into_inner);
        match &*forked {
            Some((known, pool)) if *known == own => Some(Arc::clone(pool)),
            _ => {
                let pool = start_any(*threads);
                // Of a pool whose threads are not in this process there is nothing to shut down.
                std::mem::forget(forked.replace((own, Arc::clone(&pool))));
                Some(pool)
            }
        }
    }
}

impl Drop for Shared {
    fn drop(&mut self) {
        if self.process != std::process::id() {
            std::mem::forget(self.started.take());
        }
    }
}

impl std::fmt::Debug for Pool {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Pool").field("threads", &self.0.threads).finish_non_exhaustive()
    }
}

fn enter(pool: &ThreadPool, work: &mut (dyn FnMut() + Send)) {
    pool.install(work);
}

fn cores() -> usize {
    std::thread::available_parallelism().map_or(1, std::num::NonZero::get)
}

/// Threads that the address space left to the process has room for, at least 1: each takes its stack, and the system's allocator reserves room
/// for each, which is not there for anything else.
fn affordable() -> usize {
    const EACH: u64 = 160 << 20;
    memory::address_space().map_or(usize::MAX, |left| (left / EACH).max(1) as usize)
}

fn start(threads: usize) -> Result<ThreadPool, ThreadPoolBuildError> {
    ThreadPoolBuilder::new().num_threads(threads).build()
}

/// So many threads if they can be had, else one, else the calling one.
fn start_any(threads: usize) -> Arc<ThreadPool> {
    let pool = [threads, 1].into_iter().find_map(|threads| start(threads).ok());
    pool.map_or_else(calling_thread, Arc::new)
}

/// A pool that starts no thread: the one that first asked for it does the work. It is made once, because a thread can be in
/// one pool only; where no thread can be started, there is no other that could ask.
fn calling_thread() -> Arc<ThreadPool> {
    static POOL: OnceLock<Arc<ThreadPool>> = OnceLock::new();
    let pool = || {
        let alone = ThreadPoolBuilder::new().num_threads(1).use_current_thread().build();
        Arc::new(alone.expect("a thread in no pool can be one of its own"))
    };
    Arc::clone(POOL.get_or_init(pool))
}

#[cfg(test)]
mod tests {
    use rayon::prelude::*;

    use super::*;
    use crate::run::Run;

    fn sum(run: &Run) -> u64 {
        run.install(|| (0..1000_u64).into_par_iter().map(|i| i * i).sum())
    }

    #[test]
    fn after_a_fork_there_are_new_threads_once() {
        let first = Pool::new(2).unwrap();
        // As a child sees a pool that its parent started.
        let (process, started) = (std::process::id() + 1, first.0.started.clone());
        let after_fork = Mutex::default();
        let child = Pool(Arc::new(Shared { process, started, threads: 2, after_fork }));
        let run = Run::with_pool(&child, 0);
        assert_eq!(sum(&run), sum(&Run::with_pool(&first, 0)));
        let [before, once, again] = [&first, &child, &child].map(|pool| pool.current().unwrap());
        assert!(!Arc::ptr_eq(&before, &once) && Arc::ptr_eq(&once, &again));
        assert_eq!(child.threads(), 2);
    }

    #[test]
    fn pools_within_pools_come_to_an_end() {
        let outer = ThreadPoolBuilder::new().num_threads(2).build().unwrap();
        let shared = Pool::new(1).unwrap();
        for pool in [shared, Pool::new(2).unwrap(), Pool::around()] {
            let [first, second] = [1, 2].map(|seed| Run::with_pool(&pool, seed));
            let both = || rayon::join(|| sum(&first), || second.install(|| sum(&first)));
            let expected = sum(&first);
            assert_eq!(outer.install(both), (expected, expected));
            // Many at once, each of which waits for both pools.
            let one = |_: u32| first.install(|| sum(&second));
            let many = || (0..64).into_par_iter().map(one).sum::<u64>();
            assert_eq!(outer.install(many), 64 * expected);
            assert_eq!(first.install(|| outer.install(|| sum(&second))), expected);
        }
    }

    #[test]
    fn the_pool_around_is_that_of_the_caller() {
        let outer = ThreadPoolBuilder::new().num_threads(3).build().unwrap();
        let run = Run::with_pool(&Pool::around(), 0);
        assert_eq!(outer.install(|| run.threads()), 3);
    }
}
