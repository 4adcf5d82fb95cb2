//! The rules: from facts and probe to advice.
//!
//! In this order: no member clearly above the baseline, keep the baseline; the pool clearly above its best member, stack; else
//! the simplest member that is no more than a standard error behind the best (BreimanEtAl1984, section 3.4.3).

use super::{Advice, Contrast, Facts, Probe, Probed, Reason, Role, Topic};
use crate::score::Estimate;

/// Standard errors that make a difference clear.
const CLEAR: f64 = 2.0;

/// Errors that correlate more than this leave a pool little to gain.
const ALIKE: f64 = 0.95;
/// And from which they are much the same.
const MUCH_ALIKE: f64 = 0.8;

/// A class with a smaller share than this is rare.
const RARE: f64 = 0.05;

/// Fewer rows than this make every difference unsure.
const FEW_ROWS: usize = 200;

/// A weight above this is a selection.
const SELECTED: f64 = 0.95;

/// What to use, and why.
pub fn advise(facts: Facts, probe: Probe) -> Advice {
    let (choice, models) = choose(&probe);
    let words = Words { relative: facts.task.has_target() };
    let trees = [Topic::Shape, Topic::Variance, Topic::Bias, Topic::Smoothness];
    let mut reasons = Vec::new();
    reasons.extend(contrast(&probe, Topic::Signal).map(|c| words.signal(c)));
    reasons.extend(trees.iter().filter_map(|&t| contrast(&probe, t)).map(|c| words.contrast(c)));
    reasons.push(words.stacking(&probe));
    reasons.push(selection(&probe));
    reasons.push(table(&facts, &probe));
    // The answers that decide nothing here give way.
    let dull = |reason: &Reason| reason.topic == Topic::Selection && reason.value < SELECTED;
    if reasons.len() > MOST_REASONS {
        reasons.retain(|reason| !dull(reason));
    }
    if reasons.len() > MOST_REASONS {
        reasons.retain(|reason| reason.topic != Topic::Table);
    }
    Advice {
        choice,
        recommendation: recommendation(choice, &probe, words),
        reasons,
        models,
        facts,
        probe,
    }
}

/// Reasons given at most.
const MOST_REASONS: usize = 6;

fn contrast(probe: &Probe, topic: Topic) -> Option<&Contrast> {
    probe.contrasts.iter().find(|contrast| contrast.topic == topic)
}

/// Whether a gain is one, as far as its standard error can tell. A gain without bound is: the other gave rows that came up
/// no density at all. Of another without a standard error nothing is known.
fn is_clear(gain: &Estimate) -> bool {
    match gain.se {
        Some(se) => gain.mean > CLEAR * se,
        None => gain.mean == f64::INFINITY,
    }
}

/// What to use, and the models to fit.
fn choose(probe: &Probe) -> (Role, Vec<String>) {
    let of = |member: &Probed| (member.role, vec![member.model.clone()]);
    let baseline = &probe.members[0];
    if !contrast(probe, Topic::Signal).is_some_and(|signal| is_clear(&signal.gain)) {
        return of(baseline);
    }
    if is_clear(&probe.stacking) {
        return (Role::Stack, Vec::new());
    }
    let close = |member: &&Probed| member.behind.mean <= member.behind.se.unwrap_or(0.0);
    of(probe.members.iter().skip(1).find(close).unwrap_or(baseline))
}

fn recommendation(choice: Role, probe: &Probe, words: Words) -> String {
    let densities = !words.relative;
    let what = match choice {
        Role::Baseline if densities => {
            "one Gaussian: nothing tried describes the rows clearly better"
        }
        Role::Baseline => "no model yet: nothing tried predicts clearly better than the baseline",
        Role::Linear => "a linear model: nothing tried is clearly better, and it can be read",
        Role::Tree => "a single tree: nothing tried is clearly better, and it can be read",
        Role::Forest => "a forest: it is as good as anything tried, and needs no tuning",
        Role::Boosting => "gradient boosting: better than the simpler members",
        Role::Neighbours => "nearest neighbours: better than the simpler members",
        Role::Mixture => "a Gaussian mixture: no member is clearly better",
        Role::Kernel => "a kernel density: better than the mixtures tried",
        Role::Stack => {
            let amount = words.amount(&probe.stacking);
            return format!("a stack: members weighed together beat the best of them by {amount}");
        }
    };
    let hopeful =
        choice != Role::Baseline && probe.stacking.mean > probe.stacking.se.unwrap_or(0.0);
    let more = if hopeful { "; a stack may add a little" } else { "" };
    format!("{what}{more}")
}

/// How gains are written.
#[derive(Debug, Clone, Copy)]
struct Words {
    /// As shares of the baseline's loss, or else in nats.
    relative: bool,
}

impl Words {
    fn amount(self, gain: &Estimate) -> String {
        let number = |value: f64| {
            if self.relative { format!("{:.1}", 100.0 * value) } else { format!("{value:.3}") }
        };
        if gain.mean.is_infinite() {
            let loser = if gain.mean > 0.0 { "the other" } else { "it" };
            return format!("more than can be told ({loser} gives some rows no density at all)");
        }
        if gain.mean.is_nan() {
            return "an unknown amount".into();
        }
        let unit = if self.relative { " % of the baseline's loss" } else { " nats a row" };
        let se = gain.se.map_or_else(|| "unknown".into(), number);
        format!("{}{unit} (se {se})", number(gain.mean.abs()))
    }

    fn signal(self, Contrast { member, against, gain, .. }: &Contrast) -> Reason {
        let amount = self.amount(gain);
        let answer = if is_clear(gain) {
            format!("there is something to learn: {member} gains {amount} over {against}")
        } else if gain.mean > 0.0 {
            format!("little to learn, if anything: {member} gains only {amount} over {against}")
        } else {
            format!("nothing to learn was found: {member}, the best, is {amount} behind {against}")
        };
        Reason { topic: Topic::Signal, answer, value: gain.mean, se: gain.se }
    }

    fn contrast(self, Contrast { topic, member, against, gain }: &Contrast) -> Reason {
        let amount = self.amount(gain);
        let worse = Estimate { mean: -gain.mean, se: gain.se };
        let (clear, reverse) = (is_clear(gain), is_clear(&worse));
        let verdict = match topic {
            Topic::Shape if clear => "it is not linear",
            Topic::Shape if reverse => "a straight line is best",
            Topic::Shape => "a straight line may do",
            Topic::Variance if clear => "single trees suffer from variance, averaging cures it",
            Topic::Variance => "averaging trees does not pay: variance is not the trouble",
            Topic::Bias if clear => "averaged trees suffer from bias, boosting cures it",
            Topic::Bias if reverse => {
                "noise rather than bias is the trouble: averaging beats boosting"
            }
            Topic::Bias => "boosting and averaging come out alike",
            _ if clear => "kernels follow the rows better than a few Gaussians",
            _ if reverse => "a few Gaussians say it better than kernels",
            _ => "kernels and Gaussians come out alike",
        };
        let verb = if gain.mean >= 0.0 { "gains" } else { "loses" };
        let preposition = if gain.mean >= 0.0 { "over" } else { "to" };
        let answer = format!("{verdict}: {member} {verb} {amount} {preposition} {against}");
        Reason { topic: *topic, answer, value: gain.mean, se: gain.se }
    }

    fn stacking(self, probe: &Probe) -> Reason {
        let gain = &probe.stacking;
        let errors = match probe.correlation {
            None => "too few members beat the baseline to compare their errors".to_string(),
            Some(r) if r > ALIKE => format!("the members err alike (correlation {r:.2})"),
            Some(r) if r > MUCH_ALIKE => {
                format!("the members err on much the same rows (correlation {r:.2})")
            }
            Some(r) => format!("the members err on different rows (correlation {r:.2})"),
        };
        let (amount, verb) = (self.amount(gain), if gain.mean >= 0.0 { "gains" } else { "loses" });
        let worse = Estimate { mean: -gain.mean, se: gain.se };
        let is_sure = is_clear(gain) || is_clear(&worse);
        let verdict = if is_sure { "" } else { ", which is not clear" };
        let answer = format!("{errors}: a pool {verb} {amount} against its best member{verdict}");
        Reason { topic: Topic::Stacking, answer, value: gain.mean, se: gain.se }
    }
}

fn selection(probe: &Probe) -> Reason {
    let (name, share) = (&probe.selection.0, probe.selection.1);
    let heaviest = probe.members.iter().max_by(|a, b| a.weight.total_cmp(&b.weight));
    let pool = heaviest.map_or_else(String::new, |member| {
        format!("; the pool gives at most {:.0} %, to {}", 100.0 * member.weight, member.name)
    });
    let verdict = if share > SELECTED { "would select, not combine" } else { "is undecided" };
    let answer = format!(
        "Bayesian averaging {verdict}: {:.0} % of its weight on {name}{pool}",
        100.0 * share
    );
    Reason { topic: Topic::Selection, answer, value: share, se: None }
}

/// What of the table matters most.
fn table(facts: &Facts, probe: &Probe) -> Reason {
    let rows = facts.rows;
    let rarest = facts.rarest.filter(|count| (*count as f64) < RARE * rows as f64);
    let (answer, value) = if let Some(count) = rarest {
        let answer = format!(
            "the rarest class has {count} of {rows} rows: judge by log loss, not by the share of errors"
        );
        (answer, count as f64)
    } else if rows < FEW_ROWS {
        (format!("{rows} rows are few: every difference here is unsure"), rows as f64)
    } else if facts.missing > 0.0 {
        let answer = format!(
            "{:.1} % of the cells are missing: trees take them as they are, others fill them in",
            100.0 * facts.missing
        );
        (answer, facts.missing)
    } else if rows > probe.rows {
        let answer = format!(
            "{} of {rows} rows were looked at: with all of them, flexible members gain most",
            probe.rows
        );
        (answer, probe.rows as f64)
    } else {
        let columns = facts.numeric + facts.categorical;
        let answer =
            format!("{rows} rows of {columns} columns, {} of them categories", facts.categorical);
        (answer, rows as f64)
    };
    Reason { topic: Topic::Table, answer, value, se: None }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::task::TaskKind;

    fn estimate(mean: f64, se: f64) -> Estimate {
        Estimate { mean, se: Some(se) }
    }

    fn member(role: Role, gain: f64, behind: f64) -> Probed {
        let name = format!("{role:?}").to_lowercase();
        Probed {
            role,
            model: format!("{name}()"),
            name,
            gain: estimate(gain, 0.01),
            behind: estimate(behind, 0.01),
            weight: 0.25,
        }
    }

    /// Gains over the baseline of a linear model, a tree, a forest and boosting, and of the pool over the best.
    fn advice(gains: [f64; 4], stacking: Estimate) -> Advice {
        let best = gains.iter().copied().fold(0.0, f64::max);
        let roles = [Role::Linear, Role::Tree, Role::Forest, Role::Boosting];
        let mut members = vec![member(Role::Baseline, 0.0, best)];
        members.extend(roles.iter().zip(gains).map(|(&role, g)| member(role, g, best - g)));
        let contrast = |topic, member: &str, against: &str, mean| Contrast {
            topic,
            member: member.into(),
            against: against.into(),
            gain: estimate(mean, 0.01),
        };
        let [linear, tree, forest, boosting] = gains;
        let probe = Probe {
            rows: 1000,
            folds: 5,
            failures: Vec::new(),
            clipped: Vec::new(),
            contrasts: vec![
                contrast(Topic::Signal, "best", "baseline", best),
                contrast(Topic::Shape, "bent", "linear", forest.max(boosting) - linear),
                contrast(Topic::Variance, "forest", "tree", forest - tree),
                contrast(Topic::Bias, "boosting", "forest", boosting - forest),
            ],
            correlation: Some(0.8),
            stacking,
            selection: ("boosting".into(), 0.999),
            members,
        };
        let facts = Facts {
            task: TaskKind::Regression,
            rows: 1000,
            numeric: 4,
            categorical: 1,
            missing: 0.0,
            classes: None,
            rarest: None,
        };
        advise(facts, probe)
    }

    fn answer(advice: &Advice, topic: Topic) -> &str {
        &advice.reasons.iter().find(|reason| reason.topic == topic).unwrap().answer
    }

    #[test]
    fn without_signal_the_baseline_is_kept() {
        let advice = advice([0.01, -0.3, 0.005, -0.1], estimate(0.5, 0.01));
        assert_eq!(advice.choice, Role::Baseline);
        assert_eq!(advice.models, ["baseline()"]);
        assert!(answer(&advice, Topic::Signal).contains("little to learn"));
    }

    #[test]
    fn a_clear_gain_of_the_pool_means_a_stack() {
        let clear = advice([0.3, 0.2, 0.4, 0.45], estimate(0.03, 0.01));
        assert_eq!((clear.choice, clear.models.len()), (Role::Stack, 0));
        let unclear = advice([0.3, 0.2, 0.4, 0.45], estimate(0.015, 0.01));
        assert_eq!(unclear.choice, Role::Boosting);
        assert!(unclear.recommendation.contains("a stack may add a little"));
        let none = advice([0.3, 0.2, 0.4, 0.45], estimate(-0.01, 0.01));
        assert!(!none.recommendation.contains("stack"));
        assert!(answer(&none, Topic::Stacking).contains("loses 1.0 %"));
    }

    #[test]
    fn the_simplest_of_equals_is_chosen() {
        let no_pool = estimate(0.0, 0.01);
        assert_eq!(advice([0.445, 0.3, 0.44, 0.45], no_pool).choice, Role::Linear);
        assert_eq!(advice([0.2, 0.449, 0.44, 0.45], no_pool).choice, Role::Tree);
        assert_eq!(advice([0.2, 0.3, 0.445, 0.45], no_pool).choice, Role::Forest);
        assert_eq!(advice([0.2, 0.3, 0.40, 0.45], no_pool).choice, Role::Boosting);
    }

    /// What cannot be known is said, not computed with.
    #[test]
    fn infinite_gains_are_not_told_as_numbers() {
        let words = Words { relative: false };
        let infinite = |mean| words.amount(&Estimate { mean, se: None });
        assert!(infinite(f64::NEG_INFINITY).contains("it gives some rows no density"));
        assert!(infinite(f64::INFINITY).contains("the other gives some rows no density"));
        assert_eq!(infinite(f64::NAN), "an unknown amount");
        assert!(is_clear(&Estimate { mean: f64::INFINITY, se: None }));
        assert!(!is_clear(&Estimate { mean: 0.1, se: None }));
        assert!(!is_clear(&Estimate { mean: f64::NAN, se: None }));
    }

    #[test]
    fn reasons_say_what_their_numbers_say() {
        let found = advice([0.2, 0.3, 0.40, 0.45], estimate(0.0, 0.01));
        assert_eq!(found.reasons.len(), 6);
        assert!(answer(&found, Topic::Shape).starts_with("it is not linear: bent gains 25.0 %"));
        assert!(answer(&found, Topic::Variance).contains("averaging cures it"));
        assert!(answer(&found, Topic::Bias).contains("boosting cures it"));
        let found = advice([0.5, 0.3, 0.29, 0.1], estimate(0.0, 0.01));
        assert!(answer(&found, Topic::Shape).contains("a straight line is best"));
        assert!(answer(&found, Topic::Variance).contains("does not pay"));
        assert!(
            answer(&found, Topic::Bias).contains("averaging beats boosting: boosting loses 19.0 %")
        );
    }

    #[test]
    fn rare_classes_few_rows_and_missing_values_are_told() {
        let probe = advice([0.2, 0.3, 0.4, 0.45], estimate(0.0, 0.01)).probe;
        let facts = |rows, missing, rarest| Facts {
            task: TaskKind::Classification,
            rows,
            numeric: 2,
            categorical: 0,
            missing,
            classes: Some(2),
            rarest,
        };
        assert!(table(&facts(1000, 0.1, Some(20)), &probe).answer.contains("20 of 1000 rows"));
        assert!(table(&facts(100, 0.1, Some(40)), &probe).answer.contains("100 rows are few"));
        assert!(table(&facts(1000, 0.1, Some(400)), &probe).answer.contains("10.0 % of the cells"));
        assert!(table(&facts(9000, 0.0, Some(4000)), &probe).answer.contains("1000 of 9000 rows"));
    }
}
