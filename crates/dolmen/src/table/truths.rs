//! Truth values, however a file spells them: `true` (Arrow, JSON, Polars), `True` (pandas), `TRUE` (R).
//!
//! A column of truth values is one and the same thing in a data frame, its CSV file and its Parquet file, so its levels are spelled
//! in one way. Levels are renamed, never merged: a column that holds two spellings of one value keeps both.

use super::{Categories, Column};

/// The plain spelling of the truth value that a text is, if it is one.
fn plain(text: &str) -> Option<&'static str> {
    match text {
        "true" | "True" | "TRUE" => Some("true"),
        "false" | "False" | "FALSE" => Some("false"),
        _ => None,
    }
}

/// The place of a level among known ones: as it is spelled, or as the truth value that it is.
pub fn place_of(level: &str, known: &[String]) -> Option<usize> {
    known.iter().position(|other| other == level).or_else(|| place_of_truth(level, known))
}

/// The place of a truth value among levels that spell it in another way.
pub(super) fn place_of_truth(level: &str, known: &[String]) -> Option<usize> {
    let value = plain(level)?;
    known.iter().position(|other| plain(other) == Some(value))
}

impl Categories {
    /// The same rows with truth values spelled plainly, if all levels are truth values.
    #[must_use]
    pub fn with_plain_truths(self) -> Self {
        let spelled: Option<Vec<&str>> = self.levels.iter().map(|level| plain(level)).collect();
        match spelled.as_deref() {
            // Levels are in the order of their spellings, in which false stands before true: codes stay.
            Some([one]) => Self { levels: [(*one).to_string()].into(), ..self },
            Some(["false", "true"]) => {
                Self { levels: ["false", "true"].map(String::from).into(), ..self }
            }
            _ => self,
        }
    }
}

impl Column {
    /// The column with truth values spelled plainly; others as they are.
    #[must_use]
    pub fn with_plain_truths(self) -> Self {
        match self {
            Self::Categorical(categories) => Self::Categorical(categories.with_plain_truths()),
            numbers @ Self::Numeric(_) => numbers,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn levels(texts: &[&str]) -> Vec<String> {
        Categories::new(texts.iter().map(|text| Some(*text))).with_plain_truths().levels.to_vec()
    }

    #[test]
    fn truth_values_are_spelled_in_one_way_and_never_merged() {
        for spelled in [["True", "False"], ["TRUE", "FALSE"], ["true", "false"]] {
            let column = Categories::new([Some(spelled[0]), None, Some(spelled[1])]);
            let plain = column.with_plain_truths();
            assert_eq!(*plain.levels, ["false", "true"], "{spelled:?}");
            assert_eq!(plain.level(0), Some("true"));
            assert_eq!(plain.level(2), Some("false"));
        }
        assert_eq!(levels(&["True", "True"]), ["true"]);
        assert_eq!(levels(&["True", "true", "False"]), ["False", "True", "true"]);
        assert_eq!(levels(&["True", "no"]), ["True", "no"]);
        assert_eq!(levels(&["True", "false"]), ["True", "false"]);
    }

    #[test]
    fn known_levels_are_met_as_spelled_before_they_are_met_as_truth_values() {
        let known = ["False", "True", "true"].map(String::from);
        assert_eq!(place_of("true", &known), Some(2));
        assert_eq!(place_of("TRUE", &known), Some(1));
        assert_eq!(place_of("yes", &known), None);
    }
}
