//! The kinds of pictures by name.

use std::fmt;
use std::str::FromStr;

use dolmen::error::Error;

macro_rules! kinds {
    ($($(#[$doc:meta])* $kind:ident = $name:literal: $meaning:literal,)*) => {
        /// A kind of picture.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
        #[non_exhaustive]
        pub enum Kind {
            $(#[doc = $meaning] $kind,)*
        }

        impl Kind {
            /// All kinds, in the order in which pages show them.
            pub const ALL: [Self; [$($name),*].len()] = [$(Self::$kind),*];

            /// The name on the command line and in files.
            pub fn name(self) -> &'static str {
                match self { $(Self::$kind => $name,)* }
            }

            /// What it shows.
            pub fn meaning(self) -> &'static str {
                match self { $(Self::$kind => $meaning,)* }
            }
        }
    };
}

kinds! {
    Weights = "weights": "the members' weights with their intervals; exact zeros are rings, members that can stand in for one another are joined",
    Scores = "scores": "scores on rows not learned from: members, stack, equal weights",
    Gain = "gain": "what the stack gains over its best member and over equal weights",
    Density = "density": "the density of a column: the stack, and its members times their weights",
    Contours = "contours": "the density of two columns",
    Pairs = "pairs": "the density of every column and of every two",
    Kernel = "kernel": "the kernel that the kernel members make together, beside theirs",
    Pit = "pit": "whether a density is as wide as the rows: flat if it is",
    Reliability = "reliability": "predicted probabilities against how often they came true",
    Roc = "roc": "true against false positives",
    PrecisionRecall = "precision-recall": "precision against recall",
    Confusion = "confusion": "which class was taken for which",
    Predicted = "predicted": "predicted against true numbers",
    Residuals = "residuals": "how far off predictions are, by what was predicted",
    Coverage = "coverage": "how often intervals hold the truth, level by level",
    Importance = "importance": "what the stack loses without each input",
    Dependence = "dependence": "how predictions move with an input",
    Correlation = "correlation": "how alike the members go wrong",
    Combiners = "combiners": "the combiners that were tried",
    Methods = "methods": "methods by mean and interval over the splits",
    Ranks = "ranks": "mean ranks over several sets, with the critical difference",
    Outcomes = "outcomes": "wins, draws and losses of the stack against the others, or without a stack of each two methods",
    Learning = "learning": "scores against the number of rows learned from",
    Regions = "regions": "which expert answers where, over two inputs",
    Gate = "gate": "the weights of experts or members over an input",
    Stages = "stages": "AdaBoost's weights and errors, round by round",
    Training = "training": "the loss of boosting or a network, round by round",
    Tree = "tree": "a tree, drawn",
}

impl fmt::Display for Kind {
    fn fmt(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        to.write_str(self.name())
    }
}

impl FromStr for Kind {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self, Error> {
        let names = || Self::ALL.iter().map(|kind| kind.name());
        Self::ALL.into_iter().find(|kind| kind.name() == text).ok_or_else(|| {
            let expected = names().collect::<Vec<_>>().join(", ");
            Error::param("picture", expected, text).suggesting(text, names())
        })
    }
}
