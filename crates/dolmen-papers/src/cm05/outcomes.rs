//! Wins, draws and losses as both tables count them, beside the printed ones.

use dolmen::evaluate::compare::{Duel, Outcome};
use dolmen_report::chart::{Chart, Series};

use crate::page::{Claim, Comparison, Figure, Table, estimate};
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
    Printed::new(net, 2).with_se(variance.sqrt())
}

/// Adds the table, the comparison, the claims and the picture; `why` explains shares that differ.
pub(super) fn judge(page: &mut Page, sets: &[Set<'_>], paper: &Counts, what: &str, why: &str) {
    let title = format!("Wins less losses as a share of the {what}");
    let mut shares = Comparison::new("shares", &title, &["pair", "measure"], 2);
    let columns = ["pair", "measure", "ours", "corrected test", "paper"];
    let mut table = Table::new("outcomes", "Wins/draws/losses at 95 %", columns);
    for ((name, first, second), paper) in PAIRS.into_iter().zip(paper) {
        for ((measure, figure), paper) in MEASURES.into_iter().zip(paper) {
            let own = signs(sets, (first, second), figure, false);
            let corrected = counts(&signs(sets, (first, second), figure, true));
            let mut ours = estimate(&own);
            // All outcomes alike show no spread, but one of the other kind is never ruled out.
            let least = 1.0 / own.len().max(1) as f64;
            ours.se = ours.se.map(|se| se.max(least));
            shares
                .estimate(&[name, measure], Some(ours), own.len(), Some(printed(*paper)))
                .because(why);
            let texts = [
                name.into(),
                measure.into(),
                spelled(counts(&own)),
                spelled(corrected),
                spelled(*paper),
            ];
            table.row(texts.map(|text: String| text.into()));
        }
    }
    page.claims.extend(claims(sets));
    page.figures.push(Figure::chart("outcomes", &chart(sets, paper, what)));
    page.tables.push(table);
    page.comparisons.push(shares);
}

/// What the paper concludes from its tables: by all measures together.
pub(super) fn claims(sets: &[Set<'_>]) -> Vec<Claim> {
    let sums = |pair: (&str, &str)| {
        let all = MEASURES.map(|(_, figure)| counts(&signs(sets, pair, figure, false)));
        let sum = |k: usize| all.iter().map(|own| own[k]).sum::<usize>();
        [sum(0), sum(1), sum(2)]
    };
    // Measures of one set go together: the error is that over sets.
    let finding = |pair: (&str, &str)| {
        let one = |set: &Set<'_>| -> f64 {
            MEASURES.iter().flat_map(|(_, figure)| signs(&[*set], pair, figure, false)).sum()
        };
        Finding::positive(&estimate(&sets.iter().map(one).collect::<Vec<f64>>()))
    };
    let claim = |text: &str, (_, first, second): (&str, &str, &str)| {
        let seen = format!("{} over sets and measures", spelled(sums((first, second))));
        Claim::found(text, finding((first, second)), seen)
    };
    let threshold = ("aode", "aode(threshold=30)");
    vec![
        Claim::new(
            "The threshold of AODE does not help and can be dropped",
            finding(threshold) != Finding::Fails,
            format!("{} without it over sets and measures", spelled(sums(threshold))),
        ),
        claim("Bayesian averaging is behind uniform aggregation", PAIRS[1]),
        claim(
            "MAP weights of joint probabilities (LMG) are ahead of uniform aggregation",
            PAIRS[2],
        ),
        claim("MAP weights of posteriors (LMD) are ahead of uniform aggregation", PAIRS[3]),
    ]
}

fn chart(sets: &[Set<'_>], paper: &Counts, what: &str) -> Chart {
    let words = format!(
        "Share of the {what} that the first method wins, less the share that it loses; by log p."
    );
    let ours =
        PAIRS.map(|(_, first, second)| estimate(&signs(sets, (first, second), "log_loss", false)));
    let printed = paper.map(|measures| printed(measures[2]));
    let reach = |se: Option<f64>| 2.0 * se.unwrap_or(0.0);
    Chart::new("Wins less losses", &words, "", "share of the sets")
        .x_levels(PAIRS.map(|(name, ..)| name))
        .with(
            Series::bars("ours", ours.map(|own| own.mean))
                .errors(ours.map(|own| reach(own.se)).into()),
        )
        .with(
            Series::bars("paper", printed.map(|own| own.value))
                .errors(printed.map(|own| reach(own.se)).into()),
        )
}
