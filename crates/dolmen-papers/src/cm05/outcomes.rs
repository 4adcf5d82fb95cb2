//! Wins, draws and losses as both tables count them, beside the printed ones.

use dolmen::evaluate::compare::{Duel, Outcome};
use dolmen::score::Estimate;
use dolmen_report::chart::{Chart, Series};

use crate::drawn::{counted, reach, with_error};
use crate::page::{Claim, Comparison, Figure, Table};
use crate::{Finding, Page, Printed};

/// The methods, as specs, in the order in which they are compared.
pub(super) const METHODS: [&str; 5] =
    ["aode", "aode(threshold=30)", "bma-aode", "lmg-ode", "lmd-ode"];

/// The pairs of the tables: their names, and the methods that stand for them.
const PAIRS: [(&str, &str, &str); 4] = [
    ("AODE0 - AODE30", "aode", "aode(threshold=30)"),
    ("AODE0 - BMAAODE", "aode", "bma-aode"),
    ("MAPLMG - AODE0", "lmg-ode", "aode"),
    ("MAPLMD - AODE0", "lmd-ode", "aode"),
];

/// The measures of the tables, and the figures that stand for them.
const MEASURES: [(&str, &str); 3] =
    [("AUC", "auc"), ("error rate", "error"), ("log p", "log_loss")];

/// Wins, draws and losses by pair and measure, as printed.
pub(super) type Counts = [[[usize; 3]; 3]; 4];

/// One set, or one kind of network with one size of the sample.
pub(super) type Set<'a> = &'a [Duel];

/// 1, 0 or -1 for a win, a draw or a loss of the pair on each set that decides it.
fn signs(sets: &[Set<'_>], pair: (&str, &str), figure: &str, corrected: bool) -> Vec<f64> {
    let sign = |set: &Set<'_>| {
        set.iter().find_map(|duel| {
            let names = (duel.first.as_str(), duel.second.as_str());
            let turned = match names {
                own if own == pair => 1.0,
                (second, first) if (first, second) == pair => -1.0,
                _ => return None,
            };
            let outcome = if corrected { duel.corrected_outcome } else { duel.outcome };
            let value = match outcome {
                Outcome::Win => 1.0,
                Outcome::Draw => 0.0,
                Outcome::Loss => -1.0,
            };
            (duel.figure == figure).then_some(turned * value)
        })
    };
    sets.iter().filter_map(sign).collect()
}

fn counts(signs: &[f64]) -> [usize; 3] {
    [1.0, 0.0, -1.0].map(|wanted| signs.iter().filter(|own| **own == wanted).count())
}

fn spelled([wins, draws, losses]: [usize; 3]) -> String {
    format!("{wins}/{draws}/{losses}")
}

/// Wins less losses as a share of the sets, with its error over sets.
fn printed(own: [usize; 3]) -> Printed {
    let sets: usize = own.iter().sum();
    let share = |count: usize| count as f64 / sets as f64;
    let net = share(own[0]) - share(own[2]);
    let variance = (share(own[0]) + share(own[2]) - net * net) / (sets as f64 - 1.0);
    Printed::exact(net, 2).with_se(variance.sqrt())
}

/// Wins less losses as a share of the sets, seen here.
fn net(sets: &[Set<'_>], pair: (&str, &str), figure: &str) -> Estimate {
    counted(&signs(sets, pair, figure, false))
}

/// What our figures stand beside the paper's as.
#[derive(Debug, Clone, Copy)]
pub(super) enum Beside<'a> {
    /// Of data like the paper's, with a reason for those that differ.
    Same(&'a str),
    /// Of other data, which neither agree nor differ, with words on what they are.
    Other(&'a str),
}

/// A table of the paper.
pub(super) struct Setting {
    /// As it is printed.
    pub(super) paper: Counts,
    /// What is counted.
    pub(super) what: &'static str,
    /// The pair and the measure of which the paper says that its method does not improve there.
    pub(super) exception: Option<(&'static str, &'static str)>,
    /// Whether runs share training rows, so that the corrected test says something else than the plain one.
    pub(super) overlapping: bool,
}

impl Setting {
    /// Adds the table, the comparison, the claims and the picture.
    pub(super) fn judge(&self, page: &mut Page, sets: &[Set<'_>], beside: Beside<'_>) {
        let title = format!("Wins less losses as a share of the {}", self.what);
        let mut shares = Comparison::new("shares", &title, &["pair", "measure"], 2);
        let corrected = self.overlapping.then_some("corrected test");
        let columns = ["pair", "measure", "ours"].into_iter().chain(corrected).chain(["paper"]);
        let mut table = Table::new("outcomes", "Wins/draws/losses at 95 %", columns);
        for ((name, first, second), paper) in PAIRS.into_iter().zip(&self.paper) {
            for ((measure, figure), paper) in MEASURES.into_iter().zip(paper) {
                let of = |corrected| counts(&signs(sets, (first, second), figure, corrected));
                let own = of(false);
                let ours = Some(net(sets, (first, second), figure));
                let runs = own.iter().sum();
                let line = shares.estimate(&[name, measure], ours, runs, Some(printed(*paper)));
                match beside {
                    Beside::Same(why) => line.because(why),
                    Beside::Other(words) => line.stand_in(words),
                };
                let corrected = self.overlapping.then(|| of(true));
                let counted = [own].into_iter().chain(corrected).chain([*paper]).map(spelled);
                table.row([name.into(), measure.into()].into_iter().chain(counted.map(Into::into)));
            }
        }
        page.claims.extend(self.claims(sets));
        let other = if let Beside::Other(_) = beside {
            " Ours are of other data than the paper's."
        } else {
            ""
        };
        let chart = chart(sets, &self.paper, (self.what, other));
        page.figures.push(Figure::chart("outcomes", &chart));
        page.tables.push(table);
        page.comparisons.push(shares);
    }

    /// What the paper concludes from its table, measure by measure, as it does.
    pub(super) fn claims(&self, sets: &[Set<'_>]) -> Vec<Claim> {
        let of_pair = |(text, pair): (&str, (&'static str, &'static str, &'static str))| {
            MEASURES.map(|measure| self.claim(sets, text, pair, measure))
        };
        CLAIMS.into_iter().zip(PAIRS).flat_map(of_pair).collect()
    }

    fn claim(
        &self,
        sets: &[Set<'_>],
        text: &str,
        (name, first, second): (&str, &str, &str),
        (measure, figure): (&str, &str),
    ) -> Claim {
        let lead = net(sets, (first, second), figure);
        let own = counts(&signs(sets, (first, second), figure, false));
        let seen = format!("{}, net share {}", spelled(own), with_error(&lead, 2));
        let found = Finding::positive(&lead);
        if name == PAIRS[0].0 {
            let rule = "AODE0 is not behind by two standard errors";
            return Claim::new(format!("{measure}: {text}"), found != Finding::Fails, seen)
                .holds_if(rule);
        }
        if self.exception == Some((name, measure)) {
            let text = format!(
                "{measure}: the one exception: {}",
                text.replace(" are ahead", " are not ahead")
            );
            return Claim::new(text, found != Finding::Holds, seen)
                .holds_if("they are not ahead by two standard errors");
        }
        Claim::found(format!("{measure}: {text}"), found, seen)
    }
}

/// What is concluded of each pair.
const CLAIMS: [&str; 4] = [
    "the threshold of AODE does not help and can be dropped",
    "Bayesian averaging is behind uniform aggregation",
    "MAP weights of joint probabilities (LMG) are ahead of uniform aggregation",
    "MAP weights of posteriors (LMD) are ahead of uniform aggregation",
];

fn chart(sets: &[Set<'_>], paper: &Counts, (what, other): (&str, &str)) -> Chart {
    let words = format!(
        "Share of the {what} that the first method wins, less the share that it loses; by log p. Whiskers are two standard errors over the {what}.{other}"
    );
    let ours = PAIRS.map(|(_, first, second)| net(sets, (first, second), "log_loss"));
    let printed = paper.map(|measures| printed(measures[2]));
    Chart::new("Wins less losses", &words, "", &format!("share of the {what}"))
        .x_levels(PAIRS.map(|(name, ..)| name))
        .with(
            Series::bars("ours", ours.map(|own| own.mean))
                .errors(ours.map(|own| reach(&own)).into()),
        )
        .with(
            Series::bars("paper", printed.map(|own| own.value))
                .errors(printed.map(|own| reach(&Estimate { mean: own.value, se: own.se })).into()),
        )
}
