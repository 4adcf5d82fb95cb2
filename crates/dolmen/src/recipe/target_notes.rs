//! What there is to say of a target before anything is fitted: what else it may be than what it is taken for.

use super::Truth;
use crate::table::{Column, possible_classes};
use crate::target::{Labels, Target, are_counts};

/// Classes at most that are asked about their order: of more, whole numbers are names as a rule.
const MOST_ORDERED: usize = 20;

/// What to say about a target of numbers that may well be classes.
pub(super) fn classes_note(name: &str, column: &Column) -> Option<String> {
    let count = possible_classes(column)?;
    Some(format!(
        "the target '{name}' has only {count} different values, all whole, and is predicted as a number; \
         if they are classes, add --task classify"
    ))
}

/// What to say about counts that the usual members predict, about classes that may have an order, and about those of a single row.
pub(super) fn truth_notes(name: &str, truth: &Truth, members_are_usual: bool) -> Vec<String> {
    match truth {
        Truth::Numbers(values) if members_are_usual && are_counts(values) => vec![format!(
            "the target '{name}' looks like counts: boost(loss=poisson) is among the members, and no prediction is below 0"
        )],
        Truth::Classes(labels) => {
            let order = are_ordered(labels).then(|| {
                format!(
                    "the classes of '{name}' are whole numbers, and are predicted without regard to their order; where it \
                     matters, name members such as ordinal(of=logistic), or predict a number with --task regress"
                )
            });
            order.into_iter().chain(lonely_note(name, labels)).collect()
        }
        _ => Vec::new(),
    }
}

/// What to say of classes of a single row: held out, it is of a class that nobody knows.
fn lonely_note(name: &str, labels: &Labels) -> Option<String> {
    /// Classes that are named.
    const NAMED: usize = 5;
    let of_one = labels.classes().iter().zip(labels.counts()).filter(|(_, rows)| *rows == 1);
    let lonely: Vec<&str> = of_one.map(|(class, _)| class.as_str()).collect();
    let named = lonely.iter().take(NAMED).copied().collect::<Vec<_>>().join(", ");
    let more = match lonely.len().saturating_sub(NAMED) {
        0 => String::new(),
        others => format!(" and {others} more"),
    };
    (!lonely.is_empty()).then(|| {
        format!(
            "classes of '{name}' with a single row: {named}{more}; while that row is held out, no member knows its class, so \
             that scores look worse than those of the other classes are"
        )
    })
}

/// Whether the classes are at least three whole numbers, each next to another; from 0 on they are codes as a rule.
fn are_ordered(labels: &Labels) -> bool {
    let number = |class: &String| class.parse::<i64>().ok();
    let numbers: Option<Vec<i64>> = labels.classes().iter().map(number).collect();
    let Some(mut numbers) = numbers else { return false };
    numbers.sort_unstable();
    let are_next = |two: &[i64]| two[1].checked_sub(two[0]) == Some(1);
    let are_codes = numbers.first() == Some(&0);
    !are_codes && (3..=MOST_ORDERED).contains(&numbers.len()) && numbers.windows(2).all(are_next)
}
