//! What the user would type to have a result again, for pages of results that carry no recipe.

use std::path::Path;

use dolmen_report::Again;

use crate::args::Common;

/// The command with the seed that was used, and the recipe if there is one.
pub(crate) fn again(common: &Common, seed: u64, recipe: Option<String>) -> Again {
    Again { seed, command: command(&common.words, seed), recipe }
}

/// The words as they are typed into a shell. Folders are left out: they are of nobody's interest but the one's who has them.
fn command(words: &[String], seed: u64) -> String {
    let mut shown = vec!["dolmen".to_string()];
    shown.extend(words.iter().map(|word| quoted(&without_folder(word))));
    if !words.iter().any(|word| word == "--seed" || word.starts_with("--seed=")) {
        shown.push(format!("--seed {seed}"));
    }
    shown.join(" ")
}

/// A file without the folder that it is in, also behind the name of an option; all other words as they are.
fn without_folder(word: &str) -> String {
    let (option, value) = match word.split_once('=') {
        Some((option, value)) if option.starts_with("--") => (format!("{option}="), value),
        _ => (String::new(), word),
    };
    let path = Path::new(value);
    // A word with a slash need not be a file: a column may be called 'km/h'.
    let is_in_folder = path.parent().is_some_and(|own| !own.as_os_str().is_empty() && own.is_dir());
    match path.file_name().filter(|_| is_in_folder) {
        Some(name) => format!("{option}{}", name.to_string_lossy()),
        None => word.into(),
    }
}

/// A word as a shell takes it: between quotation marks if it has signs that mean something there.
fn quoted(word: &str) -> String {
    let is_plain = |sign: char| sign.is_alphanumeric() || "-_=./,:+%@\\".contains(sign);
    if !word.is_empty() && word.chars().all(is_plain) {
        return word.into();
    }
    format!("'{}'", word.replace('\'', r"'\''"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn said(words: &[&str], seed: u64) -> String {
        command(&words.iter().map(|word| (*word).to_string()).collect::<Vec<_>>(), seed)
    }

    #[test]
    fn a_command_can_be_typed_again() {
        let words = ["compare", "iris.csv", "--model", "kernel(bandwidth=[0.1, 0.3])"];
        let expected = "dolmen compare iris.csv --model 'kernel(bandwidth=[0.1, 0.3])' --seed 7";
        assert_eq!(said(&words, 7), expected);
        assert_eq!(said(&["weigh", "a.csv", "--seed=3"], 3), "dolmen weigh a.csv --seed=3");
        assert_eq!(quoted("the dog's"), r"'the dog'\''s'");
    }

    #[test]
    fn folders_are_nobodys_business_and_columns_have_none() {
        let file = std::env::temp_dir().join("secret.csv").display().to_string();
        let words = ["weigh", &file, "--target", "no-such-folder/h"];
        let expected = "dolmen weigh secret.csv --target no-such-folder/h --seed 0";
        assert_eq!(said(&words, 0), expected);
    }
}
