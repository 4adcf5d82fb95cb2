//! What a careful reader should look at before trusting a model. All of it follows from the report and the evidence.

use dolmen::ensemble::{Assessment, Ensemble};
use dolmen::evaluate::compare::Comparison;
use dolmen::evaluate::explain::Importance;
use dolmen::learner::{Diagnostics, Fitted};
use dolmen::oos::CheckKind;
use dolmen::recipe::{
    AnyModel, ColumnSketch, Evidence, FitReport, MemberCorrelation, Model, ScoreReport, Sketch,
    StackReport,
};
use dolmen::score::Estimate;
use dolmen::score::figures::Estimates;
use dolmen::task::Task;

use super::baseline::guessed_loss;
use super::words::{figure_of, kept_figures};
use crate::Subject;
use crate::draw::{capital, counted, short};
use crate::pictures::Band;
use crate::subject::THE_SAME_ROWS;

/// Rows below which everything is uncertain, and rows of a class.
pub(super) const FEW_ROWS: usize = 100;
const FEW_OF_CLASS: usize = 20;
/// Figures that are too good to be true more often than not.
const TOO_GOOD: f64 = 0.999;

pub(super) fn warnings(subject: &Subject<'_>) -> Vec<String> {
    let mut warnings: Vec<String> = of_splits(subject).into_iter().collect();
    if let Some(view) = subject.model() {
        match view.model.report() {
            Some(FitReport::Stack(stack)) => {
                of_stack(subject, stack, &mut warnings);
                // New rows are a check, too.
                if stack.check.is_none() && view.score.is_none() {
                    warnings.push(without_check(subject).into());
                }
                warnings.extend(never_covered(subject, stack));
            }
            Some(FitReport::Alone(alone)) => {
                if view.score.is_none() {
                    warnings.push(
                        "Nothing was held out: how good the model is on new rows is not known."
                            .into(),
                    );
                }
                warnings
                    .extend(alone.failures.iter().map(|failure| format!("Left out: {failure}")));
            }
            None => {}
        }
        if let Some(rows) = view.score.map(|score| score.rows).filter(|rows| *rows < FEW_ROWS) {
            warnings.push(format!("Few rows were given ({rows}): what they say is uncertain."));
        }
        warnings.extend(empty_words(&without_values(subject)));
        if subject.knows_rows() {
            warnings.push(format!("{THE_SAME_ROWS}."));
        } else if let (Some(score), Some(check)) = (view.score, subject.check()) {
            warnings.extend(unlike_check(score, check));
        }
        if let Some(score) = view.score.filter(|_| !subject.knows_rows()) {
            warnings.extend(lost_coverage(subject, score));
        }
        if let Some(report) = view.model.report() {
            warnings.extend(report.data_notes().iter().map(|note| capital(note)));
        }
        of_members(view.model, &mut warnings);
    }
    if let Some(weighing) = subject.weighing() {
        if !weighing.converged {
            warnings.push(format!(
                "Not converged: other weights may score better by up to {} per row.",
                short(weighing.gap)
            ));
        }
        if weighing.uninformative_rows > 0 {
            let (get, say) =
                if weighing.uninformative_rows == 1 { ("gets", "says") } else { ("get", "say") };
            warnings.push(format!(
                "{} {get} zero probability from every member and {say} nothing about the weights.",
                counted(weighing.uninformative_rows, "row")
            ));
        }
        of_interchangeable(&weighing.interchangeable, &mut warnings);
        let hopeless = weighing.members.iter().filter(|member| member.score == f64::NEG_INFINITY);
        let hopeless: Vec<String> = hopeless.map(|member| format!("'{}'", member.name)).collect();
        if !hopeless.is_empty() {
            let whose = if hopeless.len() == 1 { "its score" } else { "the score of each" };
            warnings.push(format!(
                "{} gave some row no probability at all: {whose} alone is −∞.",
                listed(&hopeless)
            ));
        }
    }
    if let Some(other) = subject.other().filter(|other| other.converged == Some(false)) {
        warnings.push(format!(
            "Not converged: the combination of the {} missed its tolerance.",
            other.task
        ));
    }
    if let Some(evidence) = subject.evidence() {
        of_evidence(evidence, &mut warnings);
        // What inputs without values say of their importance is none of the model's doing.
        let is_whole = without_values(subject).is_empty();
        if let Some(importance) = evidence.importance.as_ref().filter(|_| is_whole) {
            warnings.extend(leak(importance, closeness(subject, evidence)));
        }
    }
    warnings
}

/// The columns that have no values in the rows given, or none that the model knows.
pub(super) fn without_values(subject: &Subject<'_>) -> Vec<String> {
    let given = subject.model().and_then(|view| view.evidence);
    let is_empty = |own: &&ColumnSketch| match &own.sketch {
        Sketch::Numbers(histogram) => histogram.total() == 0,
        Sketch::Levels(levels) => levels.iter().all(|(_, rows)| *rows == 0),
    };
    let columns = given.map_or(&[][..], |evidence| &evidence.columns).iter();
    columns.filter(is_empty).map(|own| format!("'{}'", own.name)).collect()
}

/// That columns have no values, in a sentence.
fn empty_words(names: &[String]) -> Option<String> {
    let (columns, have) = match names.len() {
        0 => return None,
        1 => ("This column has", "it has"),
        _ => ("These columns have", "they have"),
    };
    Some(format!(
        "{columns} no values in the rows given, or none that the model knows: {}. What is said of these rows says little of rows where {have} some.",
        listed(names)
    ))
}

/// What a stack without a check is to be told of: its weights may have been tried on other rows all the same.
fn without_check(subject: &Subject<'_>) -> &'static str {
    if subject.weighing().is_some_and(|own| own.cross_validated.is_some()) {
        "There was no check of the stack as a whole: its weights were tried on rows that they were not found on, the choice of a combiner was not."
    } else {
        "The stack was not checked on rows held out from its weights."
    }
}

/// Rows of the table that no member predicted unseen, in a sentence.
fn never_covered(subject: &Subject<'_>, stack: &StackReport) -> Option<String> {
    let checked = stack.check.as_ref().map(|check| check.covered_rows);
    let covered = checked.or_else(|| Some(subject.weighing()?.rows))?;
    let never = stack.table_rows.saturating_sub(covered);
    (never > 0).then(|| {
        format!(
            "{never} of {} {} never held out: nothing is known of predictions there.",
            counted(stack.table_rows, "row"),
            if never == 1 { "was" } else { "were" }
        )
    })
}

/// Members that can stand in for one another, the first of many groups of them.
fn of_interchangeable(groups: &[Vec<String>], warnings: &mut Vec<String>) {
    for group in groups.iter().take(MOST_GROUPS) {
        warnings.push(format!(
            "{} can stand in for one another: how the weight is shared among them means little.",
            listed(group)
        ));
    }
    if groups.len() > MOST_GROUPS {
        let more = counted(groups.len() - MOST_GROUPS, "more group");
        warnings
            .push(format!("So can the members of {more}; the picture of the weights joins them."));
    }
}

/// How near to the truth predictions come, between 0 and 1: the AUC of classes, R² of numbers.
fn closeness(subject: &Subject<'_>, evidence: &Evidence) -> Option<f64> {
    let curve = || Some(evidence.classes.as_ref()?.curves.first()?.area);
    let figure = |name: &str| figure_of(subject, name).map(|own| own.mean);
    // Ranks of classes may be all but perfect where many rows are taken for another one.
    let right = figure("error").map_or(1.0, |error| 1.0 - error);
    figure("r2").or_else(|| figure("auc").or_else(curve).map(|area| area.min(right)))
}

/// Whether classes are told apart as well as an AUC of nearly 1 seems to say: hardly a row is taken for another class, and
/// probabilities say far more than the shares of the classes do.
fn is_all_right(subject: &Subject<'_>, figures: &Estimates) -> bool {
    /// The share of rows that may be wrong, and of the log loss of the shares that may be left.
    const WRONG: f64 = 0.01;
    const LEFT: f64 = 0.1;
    let of = |name: &str| figures.get(name).map(|own| own.mean);
    let guess = || guessed_loss(subject.model()?.model, subject.model()?.model.evidence()?);
    let is_sure = of("log_loss").zip(guess()).is_none_or(|(loss, guess)| loss <= LEFT * guess);
    of("error").is_none_or(|error| error <= WRONG) && is_sure
}

/// Members that have a say and whose own search missed its tolerance.
fn of_members(model: &Model, warnings: &mut Vec<String>) {
    let missed = match model.any() {
        AnyModel::Density(model) => unconverged(model),
        AnyModel::Classification(model) => unconverged(model),
        AnyModel::Joint(model) => unconverged(model),
        AnyModel::Regression(model) => unconverged(model),
    };
    if !missed.is_empty() {
        warnings.push(format!(
            "Not converged: {} missed {} tolerance; more iterations may fit better.",
            listed(&missed),
            if missed.len() == 1 { "its" } else { "their" }
        ));
    }
}

/// Their names, with the iterations they took.
fn unconverged<T: Task>(model: &Ensemble<T>) -> Vec<String> {
    let weights = model.combination().weights();
    let has_say = |m: usize| weights.is_none_or(|weights| weights[m] != 0.0);
    let members = model.names().zip(model.models()).enumerate();
    let warning = |(m, (name, model)): (usize, (&str, &dyn Fitted<T>))| {
        let Diagnostics { converged, iterations, .. } = model.diagnostics();
        let after = iterations
            .map_or_else(String::new, |count| format!(" ({})", counted(count, "iteration")));
        (has_say(m) && converged == Some(false)).then(|| format!("'{name}'{after}"))
    };
    members.filter_map(warning).collect()
}

/// That rows that were given score as rows held out could hardly have done by chance, in a sentence.
fn unlike_check(score: &ScoreReport, check: &Assessment) -> Option<String> {
    /// Standard errors of the difference that chance does not bring.
    const ERRORS: f64 = 4.0;
    let error = score.score_se?.hypot(check.stack.se?);
    let (own, held_out) = (short(score.score), short(check.stack.mean));
    let beside = format!("mean score {own}, on rows held out {held_out}");
    match score.score - check.stack.mean {
        better if better > ERRORS * error => Some(format!(
            "The rows given are predicted much better than rows held out were ({beside}): if the model was fitted to them, they tell nothing."
        )),
        worse if worse < -ERRORS * error => Some(format!(
            "The rows given are predicted much worse than rows held out were ({beside}): they are unlike those learned from."
        )),
        _ => None,
    }
}

/// That the widest intervals hold the truth of rows given far less often than of rows held out, in a sentence.
fn lost_coverage(subject: &Subject<'_>, score: &ScoreReport) -> Option<String> {
    /// Standard errors of the difference that chance does not bring, and the least that is worth a word.
    const ERRORS: f64 = 4.0;
    const LEAST: f64 = 0.03;
    let given = score.intervals.as_ref()?.last()?;
    let own = &subject.stack()?.intervals.as_ref()?.coverage;
    let own = own.iter().find(|own| own.level == given.level)?;
    let error = given.measured.se?.hypot(own.measured.se?);
    let lost = own.measured.mean - given.measured.mean;
    (lost > LEAST && lost > ERRORS * error).then(|| {
        format!(
            "{:.0} % intervals hold {:.1} % of the rows given, of rows held out they held {:.1} %: the rows are unlike those learned from.",
            100.0 * given.level,
            100.0 * given.measured.mean,
            100.0 * own.measured.mean
        )
    })
}

/// Names in a sentence, the first of very many.
fn listed(names: &[String]) -> String {
    const MOST: usize = 8;
    match names {
        [] => String::new(),
        [only] => only.clone(),
        [all @ .., last] if names.len() <= MOST => format!("{} and {last}", all.join(", ")),
        _ => format!("{} and {} more", names[..MOST].join(", "), names.len() - MOST),
    }
}

/// Groups of like members that are named; the others are counted.
const MOST_GROUPS: usize = 4;

fn of_alike(found: &MemberCorrelation, warnings: &mut Vec<String>) {
    let groups = &found.alike;
    for group in groups.iter().take(MOST_GROUPS) {
        let named = group.iter().filter_map(|&m| found.members.get(m));
        let names: Vec<String> = named.map(|name| format!("'{name}'")).collect();
        warnings.push(format!(
            "{} make all but the same errors{}: one of them would do.",
            listed(&names),
            if names.len() == 2 { "" } else { ", each two of them" }
        ));
    }
    if groups.len() > MOST_GROUPS {
        let more = groups.len() - MOST_GROUPS;
        let (groups, are) = (counted(more, "more group"), if more == 1 { "is" } else { "are" });
        warnings.push(format!("{groups} of members {are} as alike, none of them larger."));
    }
}

fn of_stack(subject: &Subject<'_>, stack: &StackReport, warnings: &mut Vec<String>) {
    if !stack.converged() {
        warnings.push("Not converged: the search for the combination missed its tolerance.".into());
    }
    // Figures are of the rows that were held out, which may be few of many.
    let checked = stack.check.as_ref().map(|check| check.checked_rows);
    let rows = checked.or_else(|| Some(subject.weighing()?.rows)).unwrap_or(stack.table_rows);
    if (1..FEW_ROWS).contains(&rows) {
        let which = if rows < stack.table_rows { "Few rows were held out" } else { "Few rows" };
        warnings.push(format!(
            "{which} ({rows}): scores, weights and the choice among them are uncertain."
        ));
    }
    if let Some(check) = &stack.check {
        if check.stack.mean == f64::NEG_INFINITY {
            warnings.push("On rows held out the combination gave some row no probability at all: its score is −∞.".into());
        }
        if check.kind == CheckKind::Forward {
            warnings.push(format!(
                "In order of time only the {} later rows could be checked.",
                check.checked_rows
            ));
        }
    }
    for (name, spoken) in [("auc", "AUC"), ("r2", "R²")] {
        let Some(figures) = kept_figures(stack) else { continue };
        let is_too_good = |own: &&Estimate| own.mean > TOO_GOOD && is_all_right(subject, figures);
        if let Some(figure) = figures.get(name).filter(is_too_good) {
            warnings.push(format!(
                "{spoken} of {}: too good to be true more often than not. Look for an input that knows the target (a leak).",
                short(figure.mean)
            ));
        }
    }
    for coverage in stack.intervals.iter().flat_map(|intervals| &intervals.coverage) {
        let off = coverage.level - coverage.measured.mean;
        if coverage.measured.se.is_some_and(|se| off > 3.0 * se && off > 0.02) {
            warnings.push(format!(
                "{:.0} % intervals held the truth in {:.1} % of the rows only.",
                100.0 * coverage.level,
                100.0 * coverage.measured.mean
            ));
        }
    }
    warnings.extend(stack.left_out.iter().map(|member| format!("Left out: {member}")));
}

/// The rows of each class, if that is known.
fn class_rows(evidence: &Evidence) -> Vec<(String, usize)> {
    let confusion = evidence.classes.as_ref().and_then(|classes| classes.confusion.as_ref());
    let Some(confusion) = confusion else { return evidence.class_rows.clone() };
    let rows = confusion.counts.chunks_exact(confusion.classes.len().max(1));
    confusion.classes.iter().cloned().zip(rows.map(|row| row.iter().sum())).collect()
}

fn of_evidence(evidence: &Evidence, warnings: &mut Vec<String>) {
    if let Some(found) = &evidence.correlation {
        of_alike(found, warnings);
    }
    let mut few = class_rows(evidence);
    few.retain(|(_, rows)| *rows < FEW_OF_CLASS);
    few.sort_by_key(|(_, rows)| *rows);
    let names: Vec<String> = few.iter().map(|(class, n)| format!("'{class}' ({n})")).collect();
    if !names.is_empty() {
        warnings.push(format!(
            "Few rows are of {} {}: what is said about {} is uncertain.",
            if names.len() == 1 { "class" } else { "the classes" },
            listed(&names),
            if names.len() == 1 { "it" } else { "them" }
        ));
    }
    warnings.extend(of_levels(evidence));
}

/// That a density is not as wide as the rows, in a sentence.
fn of_levels(evidence: &Evidence) -> Option<String> {
    let (levels, band) = (evidence.levels.as_ref()?, Band::of_levels(evidence)?);
    let first = levels.counts.first().copied().unwrap_or(0) as f64;
    let spread = band.reach / 2.0;
    if first > band.expected + 5.0 * spread {
        let expected = band.expected;
        return Some(format!(
            "{first:.0} rows lie where the density expects {expected:.0}: its tails are too thin."
        ));
    }
    band.is_left().then(|| {
        format!(
            "The density is not right{}: on the picture 'pit' {}.",
            leaning(&levels.counts),
            band.words()
        )
    })
}

/// To which side most rows lie among the levels of a density, if chance would hardly bring it.
fn leaning(counts: &[usize]) -> &'static str {
    let total = counts.iter().sum::<usize>() as f64;
    let low = counts[..counts.len() / 2].iter().sum::<usize>() as f64;
    match (2.0 * low - total) / total.sqrt() {
        errors if errors > 2.0 => ", it is too narrow for the rows",
        errors if errors < -2.0 => ", it is too wide for the rows",
        _ => "",
    }
}

/// Splits below which intervals and tests of methods say little.
const FEW_SPLITS: usize = 10;

/// That methods were compared on few splits.
fn of_splits(subject: &Subject<'_>) -> Option<String> {
    let splits = |own: &Comparison| own.methods.first().map(|method| method.split_scores.len());
    let fewest = match subject {
        Subject::Comparison(comparison) => splits(comparison),
        Subject::Sets(sets) => sets.sets.iter().filter_map(|set| splits(&set.comparison)).min(),
        Subject::Learning(curve) => {
            curve.sizes.iter().filter_map(|point| splits(&point.comparison)).min()
        }
        _ => None,
    };
    fewest.filter(|splits| *splits < FEW_SPLITS).map(|splits| {
        format!(
            "Few splits ({splits}): intervals and tests rest on these alone and are uncertain; more repeats make them narrower."
        )
    })
}

/// One input of several that does it all, and nearly perfectly.
fn leak(importance: &Importance, closeness: Option<f64>) -> Option<String> {
    const NEARLY: f64 = 0.99;
    let total: f64 = importance.inputs.iter().map(|input| input.loss.mean.max(0.0)).sum();
    let first = importance.inputs.first().filter(|_| importance.inputs.len() > 1)?;
    let is_alone = first.loss.mean > 0.9 * total;
    (is_alone && closeness.is_some_and(|own| own > NEARLY)).then(|| {
        format!(
            "Nearly everything hangs on '{}': make sure that it is known before the target is.",
            first.name
        )
    })
}

#[cfg(test)]
mod tests {
    use dolmen::evaluate::explain::InputImportance;

    use super::*;

    /// Twenty pairs: the first are named, the others counted.
    #[test]
    fn of_many_groups_the_first_are_named() {
        let found = MemberCorrelation {
            members: (0..40).map(|m| format!("m{m}")).collect(),
            values: vec![0.0; 1600],
            alike: (0..20).map(|k| vec![2 * k, 2 * k + 1]).collect(),
        };
        let mut said = Vec::new();
        of_alike(&found, &mut said);
        assert_eq!(said.len(), MOST_GROUPS + 1, "{said:?}");
        assert!(said[0].starts_with("'m0' and 'm1' make all but the same errors:"), "{said:?}");
        let none = MemberCorrelation { alike: Vec::new(), values: vec![1.0; 1600], ..found };
        said.clear();
        of_alike(&none, &mut said);
        assert_eq!(said, Vec::<String>::new(), "correlation alone says nothing of sizes");
    }

    #[test]
    fn one_input_that_does_it_all_is_noticed() {
        let input = |name: &str, mean: f64| InputImportance {
            name: name.into(),
            columns: vec![name.into()],
            loss: Estimate { mean, se: None },
        };
        let mut importance = Importance {
            rows: 100,
            repeats: 5,
            score: -0.1,
            inputs: vec![input("copy", 26.43), input("x", 0.02)],
        };
        assert!(leak(&importance, Some(0.997)).is_some_and(|said| said.contains("'copy'")));
        assert_eq!(leak(&importance, Some(0.8)), None, "predictions are not that near");
        assert_eq!(leak(&importance, None), None);
        importance.inputs[1].loss.mean = 20.0;
        assert_eq!(leak(&importance, Some(0.997)), None, "another input helps as well");
    }

    #[test]
    fn rows_among_few_levels_lean_to_a_side() {
        assert_eq!(leaning(&[35, 30, 20, 15]), ", it is too narrow for the rows");
        assert_eq!(leaning(&[15, 20, 30, 35]), ", it is too wide for the rows");
        assert_eq!(leaning(&[40, 10, 10, 40]), "");
    }

    #[test]
    fn of_many_interchangeable_members_the_first_are_named() {
        let names = |group: usize| (0..12).map(|k| format!("m{group}-{k}")).collect();
        let groups: Vec<Vec<String>> = (0..7).map(names).collect();
        let mut said = Vec::new();
        of_interchangeable(&groups, &mut said);
        assert_eq!(said.len(), MOST_GROUPS + 1, "{said:?}");
        assert!(said[0].contains("m0-7 and 4 more can stand in"), "{said:?}");
    }
}
