//! How far a long piece of work has come, and when it will be done.

use std::sync::Arc;
use std::time::Duration;

/// Hears how far a long piece of work has come.
pub trait Progress: Send + Sync {
    /// `steps` more units of work are planned.
    fn plan(&self, steps: u64);
    /// `steps` units of work are done; `what` names the last of them.
    fn advance(&self, steps: u64, what: &str);
    /// More work of one kind is planned, whose steps cost about the same.
    fn plan_work(&self, work: &Work<'_>) {
        self.plan(work.steps);
    }
    /// Steps of such work are done, and took so long together.
    fn finish(&self, what: &str, steps: u64, _spent: Duration) {
        self.advance(steps, what);
    }
}

/// Work of one kind: the fits of one member, the draws of a bootstrap.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Work<'a> {
    /// Its name.
    pub what: &'a str,
    /// How many steps there are.
    pub steps: u64,
    /// What a step is thought to cost until one has been measured, in fits of an average member.
    pub guess: f64,
}

/// Hears nothing.
pub(super) struct Silent;

impl Progress for Silent {
    fn plan(&self, _steps: u64) {}
    fn advance(&self, _steps: u64, _what: &str) {}
}

/// Passes on what is done, but not what is planned: whoever made it has planned the whole.
pub(super) struct Planned(pub(super) Arc<dyn Progress>);

impl Progress for Planned {
    fn plan(&self, _steps: u64) {}
    fn advance(&self, steps: u64, what: &str) {
        self.0.advance(steps, what);
    }
    fn plan_work(&self, _work: &Work<'_>) {}
    fn finish(&self, what: &str, steps: u64, spent: Duration) {
        self.0.finish(what, steps, spent);
    }
}

/// Passes everything on under one name.
pub(super) struct Named {
    pub(super) name: String,
    pub(super) inner: Arc<dyn Progress>,
}

impl Progress for Named {
    fn plan(&self, steps: u64) {
        self.inner.plan(steps);
    }
    fn advance(&self, steps: u64, _what: &str) {
        self.inner.advance(steps, &self.name);
    }
    fn plan_work(&self, work: &Work<'_>) {
        self.inner.plan_work(&Work { what: &self.name, ..*work });
    }
    fn finish(&self, _what: &str, steps: u64, spent: Duration) {
        self.inner.finish(&self.name, steps, spent);
    }
}

/// The share of the whole from which the time left is told, whatever is not known yet.
const ENOUGH: f64 = 0.2;

/// The time left is told after so long: the first steps of a short run say little about the others.
const FIRST: Duration = Duration::from_secs(2);

/// What was told holds until the time left turns out so much longer: by this share, and this time.
const SLACK: (f64, Duration) = (0.25, Duration::from_secs(1));

/// What share of the work is done, each kind of it weighed by what its steps were measured to cost.
#[derive(Debug, Clone, Default)]
pub struct Forecast {
    kinds: Vec<Kind>,
    reached: f64,
    /// When the work was last said to be done, from its start.
    end: Option<Duration>,
}

#[derive(Debug, Clone)]
struct Kind {
    what: String,
    guess: f64,
    planned: u64,
    done: u64,
    measured: u64,
    spent: Duration,
}

impl Forecast {
    /// More work.
    pub fn plan(&mut self, work: &Work<'_>) {
        let kind = self.kind(work.what, work.guess);
        kind.planned += work.steps;
    }

    /// Steps that are done, and what they took, if that is known. More of them than were planned do not count.
    pub fn finish(&mut self, what: &str, steps: u64, spent: Option<Duration>) {
        let Some(kind) = self.kinds.iter_mut().find(|kind| kind.what == what) else { return };
        kind.done = (kind.done + steps).min(kind.planned);
        if let Some(spent) = spent {
            kind.measured += steps;
            kind.spent += spent;
        }
    }

    /// The share of the whole that is done. It never falls: what turns out dearer than it was thought to be slows it down.
    pub fn share(&mut self) -> f64 {
        let known = self.kinds.iter().filter(|kind| kind.measured > 0 && kind.guess > 0.0);
        // What is not measured yet is taken to be as dear as the dearest so far: quick members are done first, and a
        // guess from those alone would let the time left grow.
        let dearest = known.map(|kind| kind.cost(1.0) / kind.guess).fold(0.0, f64::max);
        let unit = if dearest > 0.0 { dearest } else { 1.0 };
        let sum = |steps: &dyn Fn(&Kind) -> u64| -> f64 {
            self.kinds.iter().map(|kind| steps(kind) as f64 * kind.cost(unit)).sum()
        };
        let (done, planned) = (sum(&|kind| kind.done), sum(&|kind| kind.planned));
        if planned > 0.0 {
            self.reached = self.reached.max(done / planned);
        }
        self.reached
    }

    /// The time left, after so much time, at the speed seen so far; `None` as long as that would be a guess: in the first
    /// seconds, and until every kind of work has been seen or a fifth of the whole is done. It does not waver: an end that was
    /// told holds until a sooner one is seen, or one that is clearly later.
    pub fn left(&mut self, elapsed: Duration) -> Option<Duration> {
        let share = self.share();
        let is_seen = |kind: &Kind| kind.done > 0 || kind.planned == 0;
        let is_known = share >= ENOUGH || self.kinds.iter().all(is_seen);
        if share <= 0.0 || !is_known || elapsed < FIRST {
            return None;
        }
        let left = elapsed.mul_f64(((1.0 - share) / share).clamp(0.0, 1e6));
        let announced = self.end.map(|end| end.saturating_sub(elapsed));
        let (times, more) = SLACK;
        let left = announced
            .filter(|announced| left > *announced && left <= announced.mul_f64(1.0 + times) + more)
            .unwrap_or(left);
        self.end = Some(elapsed + left);
        Some(left)
    }

    fn kind(&mut self, what: &str, guess: f64) -> &mut Kind {
        let at = self.kinds.iter().position(|kind| kind.what == what).unwrap_or_else(|| {
            let (what, spent) = (what.to_string(), Duration::ZERO);
            self.kinds.push(Kind { what, guess, planned: 0, done: 0, measured: 0, spent });
            self.kinds.len() - 1
        });
        &mut self.kinds[at]
    }
}

impl Kind {
    /// Seconds of a step: as measured, or as guessed from what a fit of an average member takes.
    fn cost(&self, unit: f64) -> f64 {
        if self.measured > 0 {
            self.spent.as_secs_f64() / self.measured as f64
        } else {
            self.guess * unit
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A quick member is done before a slow one has been measured.
    #[test]
    fn no_time_is_told_before_every_kind_of_work_was_seen() {
        let mut forecast = Forecast::default();
        for what in ["quick", "slow"] {
            forecast.plan(&Work { what, steps: 10, guess: 1.0 });
        }
        let second = Duration::from_secs(1);
        forecast.finish("quick", 1, Some(second));
        assert_eq!(forecast.left(10 * second), None);
        forecast.finish("slow", 1, Some(Duration::from_secs(9)));
        assert_eq!(forecast.left(second), None, "too early to tell");
        let left = forecast.left(Duration::from_secs(10)).unwrap();
        assert!((left.as_secs_f64() - 90.0).abs() < 1e-6, "{left:?}");
    }

    /// A thousand steps that take now a little more, now a little less, and then twice as long.
    #[test]
    fn the_time_left_grows_only_where_the_work_does() {
        let mut forecast = Forecast::default();
        forecast.plan(&Work { what: "step", steps: 1000, guess: 1.0 });
        let (mut elapsed, mut announced, mut grew) = (Duration::ZERO, Vec::new(), Vec::new());
        for step in 0..1000 {
            let wavers = 1.0 + 0.3 * f64::from(step).sin();
            let spent = Duration::from_secs_f64(0.1 * wavers * if step < 500 { 1.0 } else { 2.0 });
            elapsed += spent;
            forecast.finish("step", 1, Some(spent));
            if let Some(left) = forecast.left(elapsed) {
                if announced.last().is_some_and(|last| left > *last) {
                    grew.push(step);
                }
                announced.push(left);
            }
        }
        assert!(
            announced.len() > 900 && !grew.is_empty() && grew.iter().all(|step| *step > 500),
            "{grew:?}"
        );
    }

    #[test]
    fn what_is_not_measured_is_as_dear_as_the_dearest() {
        let mut forecast = Forecast::default();
        for what in ["quick", "slow", "unknown"] {
            forecast.plan(&Work { what, steps: 1, guess: 1.0 });
        }
        forecast.finish("quick", 1, Some(Duration::from_secs(1)));
        forecast.finish("slow", 1, Some(Duration::from_secs(9)));
        assert!((forecast.share() - 10.0 / 19.0).abs() < 1e-9);
    }
}
