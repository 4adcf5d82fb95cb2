//! What a run carries along: seed streams, the thread pool, progress and cancellation.

mod pool;
mod progress;
mod relay;

use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Instant;

use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;

pub use pool::Pool;
pub use progress::{Forecast, Progress, Work};

use progress::{Named, Planned, Silent};
use relay::Relay;

use crate::error::{Error, Result};
use crate::stats::parallel;

/// The circumstances of a fit.
///
/// Random streams are derived by name from the seed ([`Run::child`]), never drawn from a shared generator: member 3 in
/// fold 2 sees the same numbers whatever ran before it and on however many threads.
#[derive(Clone)]
pub struct Run {
    key: u64,
    pool: Pool,
    progress: Arc<dyn Progress>,
    cancelled: Arc<AtomicBool>,
    /// Set when what there is suffices.
    enough: Arc<AtomicBool>,
    /// Of work that may be left out: until when it may take.
    until: Option<Instant>,
}

impl Run {
    /// A run on all cores with this seed, silent; on the calling thread alone where the system starts no other.
    pub fn new(seed: u64) -> Self {
        Self::with_pool(&Pool::of_all_cores(), seed)
    }

    /// A run on a pool of its own with so many threads, at least 1; more than the machine has use for (four for each core, and
    /// 16 at least) are not started. Results do not depend on the number.
    pub fn with_threads(seed: u64, threads: usize) -> Result<Self> {
        Ok(Self::with_pool(&Pool::new(threads)?, seed))
    }

    /// A run on threads that others may use, too.
    pub fn with_pool(pool: &Pool, seed: u64) -> Self {
        let (progress, cancelled, enough) = (Arc::new(Silent), Arc::default(), Arc::default());
        Self { key: mix(seed), pool: pool.clone(), progress, cancelled, enough, until: None }
    }

    /// A silent run with the random numbers of a key, on the threads around: for work that was sent here without its run.
    pub(crate) fn of_key(key: u64) -> Self {
        Self { key, ..Self::with_pool(&Pool::around(), 0) }
    }

    /// The same circumstances with the random numbers of a key.
    pub(crate) fn with_key(&self, key: u64) -> Self {
        Self { key, ..self.clone() }
    }

    /// The same circumstances with the random numbers of a seed, whatever drew before.
    #[must_use]
    pub fn seeded(&self, seed: u64) -> Self {
        Self { key: mix(seed), ..self.clone() }
    }

    /// The same run, reporting to `progress` from a thread of its own: a listener that takes its time holds up no work, and
    /// then hears of several steps at once. It has heard everything when the last run that reports to it is dropped.
    #[must_use]
    pub fn reporting(mut self, progress: Arc<dyn Progress>) -> Self {
        self.progress = Relay::to(progress);
        self
    }

    /// The same run, cancelled as soon as the flag is set: for handlers of signals, which may set a flag and little else.
    #[must_use]
    pub fn cancelled_by(mut self, flag: Arc<AtomicBool>) -> Self {
        self.cancelled = flag;
        self
    }

    /// The same run, in which work that may be left out ends as soon as the flag is set; the rest is done.
    #[must_use]
    pub fn satisfied_by(mut self, flag: Arc<AtomicBool>) -> Self {
        self.enough = flag;
        self
    }

    /// The same run for work that may be left out: it is cancelled at this moment, or when what there is suffices.
    #[must_use]
    pub fn until(&self, moment: Instant) -> Self {
        Self { until: Some(moment), ..self.clone() }
    }

    /// Whether work that may be left out is not begun any more, whatever time there is.
    pub fn is_satisfied(&self) -> bool {
        self.enough.load(Ordering::Relaxed)
    }

    /// The same run without progress, for work that is itself one step of a larger piece.
    #[must_use]
    pub fn silent(&self) -> Self {
        Self { progress: Arc::new(Silent), ..self.clone() }
    }

    /// The same run for work that is planned already: what it plans itself is not heard.
    #[must_use]
    pub fn planned(&self) -> Self {
        Self { progress: Arc::new(Planned(Arc::clone(&self.progress))), ..self.clone() }
    }

    /// The same run, telling its progress under this name.
    #[must_use]
    pub fn named(&self, name: &str) -> Self {
        let (name, inner) = (name.into(), Arc::clone(&self.progress));
        Self { progress: Arc::new(Named { name, inner }), ..self.clone() }
    }

    /// Does one step of planned work, which is silent itself, and tells that it is done.
    pub fn step<R>(&self, what: &str, work: impl FnOnce(&Self) -> R) -> R {
        let start = Instant::now();
        let result = work(&self.silent());
        self.progress.finish(what, 1, start.elapsed());
        result
    }

    /// The run of a part of the work that has a name of its own ("plan", "check"): a random stream that no other name and no
    /// number shares, everything else as it is.
    #[must_use]
    pub fn stream(&self, name: &str) -> Self {
        // FNV-1a, which is the same everywhere; the finaliser spreads it.
        let hash = name.bytes().fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| {
            (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
        });
        Self { key: mix(self.key.rotate_left(32) ^ mix(hash)), ..self.clone() }
    }

    /// The run of one of several like parts of the work, by its number: its own random stream, everything else shared.
    #[must_use]
    pub fn child(&self, part: u64) -> Self {
        Self { key: mix(self.key ^ mix(part.wrapping_add(1))), ..self.clone() }
    }

    /// 16 hexadecimal digits that identify this run's random numbers, and so those of all runs derived from it.
    pub fn fingerprint(&self) -> String {
        format!("{:016x}", self.key)
    }

    /// This run's random numbers, from their beginning.
    pub fn rng(&self) -> ChaCha8Rng {
        rng_of(self.key)
    }

    /// What its random numbers come from, for fits that are sent elsewhere before they draw any ([`rng_of`]).
    pub(crate) fn key(&self) -> u64 {
        self.key
    }

    /// Runs `work` on the run's thread pool, so that everything parallel in it uses that pool.
    pub fn install<R: Send>(&self, work: impl FnOnce() -> R + Send) -> R {
        self.pool.install(work)
    }

    /// What `work` gives for each of `0..count`, in that order, by all threads of the pool.
    pub(crate) fn map<R: Send>(&self, count: usize, work: impl Fn(usize) -> R + Sync) -> Vec<R> {
        self.install(|| parallel::map(count, &work))
    }

    /// The same for work that may fail: the first error in the order of the numbers.
    pub(crate) fn try_map<R: Send>(
        &self,
        count: usize,
        work: impl Fn(usize) -> Result<R> + Sync,
    ) -> Result<Vec<R>> {
        self.install(|| parallel::try_map(count, &work))
    }

    /// Threads of the pool.
    pub fn threads(&self) -> usize {
        self.pool.threads()
    }

    /// Where progress is reported.
    pub fn progress(&self) -> &dyn Progress {
        self.progress.as_ref()
    }

    /// Asks the run to stop at the next opportunity; callable from any thread or signal handler.
    pub fn cancel(&self) {
        self.cancelled.store(true, Ordering::Relaxed);
    }

    /// `Err(Cancelled)` once [`Run::cancel`] was called, or the time of [`Run::until`] has passed; long loops ask now and
    /// then.
    pub fn check(&self) -> Result<()> {
        let is_over = |until: Instant| self.is_satisfied() || Instant::now() >= until;
        let is_cancelled =
            self.cancelled.load(Ordering::Relaxed) || self.until.is_some_and(is_over);
        if is_cancelled { Err(Error::Cancelled) } else { Ok(()) }
    }
}

impl fmt::Debug for Run {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Run")
            .field("key", &self.key)
            .field("threads", &self.threads())
            .finish_non_exhaustive()
    }
}

/// The random numbers of a run with this key.
pub(crate) fn rng_of(key: u64) -> ChaCha8Rng {
    ChaCha8Rng::seed_from_u64(key)
}

/// The finaliser of SplitMix64: a bijection that spreads neighbouring keys over all 64 bits.
pub(crate) fn mix(key: u64) -> u64 {
    let mut z = key.wrapping_add(0x9e37_79b9_7f4a_7c15);
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

#[cfg(test)]
mod tests {
    use rand::RngExt;

    use super::*;

    #[test]
    fn children_have_streams_of_their_own() {
        let run = Run::with_threads(7, 1).unwrap();
        let draw = |run: &Run| run.rng().random::<u64>();
        assert_eq!(draw(&run.child(3)), draw(&Run::with_threads(7, 2).unwrap().child(3)));
        assert_ne!(draw(&run.child(3)), draw(&run.child(4)));
        assert_ne!(draw(&run.child(3).child(4)), draw(&run.child(4).child(3)));
        assert_eq!(draw(&run.stream("plan")), draw(&run.stream("plan")));
        assert_ne!(draw(&run.stream("plan")), draw(&run.stream("check")));
        assert_ne!(draw(&run.stream("plan").child(0)), draw(&run.child(0).stream("plan")));
    }

    #[test]
    fn a_cancelled_run_says_so_to_its_children() {
        let run = Run::with_threads(0, 1).unwrap();
        let child = run.child(1);
        assert!(child.check().is_ok());
        run.cancel();
        assert!(matches!(child.check(), Err(Error::Cancelled)));
    }

    #[test]
    fn what_may_be_left_out_ends_in_time_or_when_there_is_enough() {
        let flag = Arc::new(AtomicBool::new(false));
        let run = Run::with_threads(0, 1).unwrap().satisfied_by(Arc::clone(&flag));
        let now = Instant::now();
        assert!(matches!(run.until(now).child(1).check(), Err(Error::Cancelled)));
        let patient = run.until(now + std::time::Duration::from_secs(3600));
        assert!(patient.check().is_ok());
        flag.store(true, Ordering::Relaxed);
        assert!(matches!(patient.check(), Err(Error::Cancelled)));
        assert!(run.check().is_ok());
    }
}
