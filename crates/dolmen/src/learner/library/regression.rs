//! The learners of numbers.

use super::{
    Entry, FEW_ROWS, Library, VERY_WIDE, encoded_entry, entry, on_numbers, specs, stack_entry,
    supervised, tuned_entry,
};
use crate::ensemble::{Ensemble, FoldAverage};
use crate::learner::Simple;
use crate::learner::baseline::{FittedMean, Mean};
use crate::learner::encoded::FittedEncoded;
use crate::learner::linear::{FittedRidge, Ridge};
use crate::learner::spec::Spec;
use crate::store::Registry;
use crate::table::Rows;
use crate::task::Regression;

impl Library for Regression {
    fn entries() -> Vec<Entry<Self>> {
        let mut entries = vec![
            entry::<_, Mean>("mean", "the mean of the target, whatever the inputs", |spec| {
                Ok(Box::new(Simple(spec.read::<Mean>()?)))
            }),
            on_numbers::<_, Ridge>(
                "ridge",
                "ridge regression; a list of lambdas is a ladder, auto the least leave-one-out error",
            ),
        ];
        entries.extend(supervised::entries());
        entries.extend([encoded_entry(), stack_entry(), tuned_entry()]);
        entries
    }

    fn registry() -> Registry<Self> {
        supervised::registry()
            .with::<Simple<FittedMean>>()
            .with::<Simple<FittedRidge>>()
            .with::<FittedEncoded<Regression>>()
            .with::<Ensemble<Regression>>()
            .with::<FoldAverage<Regression>>()
    }

    /// Learners as unlike as possible: a linear one, neighbours, trees averaged and boosted, and where rows allow a support
    /// vector machine. Of more than 256 columns, trees that are averaged look at 64 a node.
    fn usual_members(x: Rows<'_>) -> Vec<Spec> {
        let mut members = vec!["ridge", "neighbours(k=[5, 25])"];
        members.extend(if x.width() > VERY_WIDE {
            ["forest(columns=64)", "extra-trees(columns=64)"]
        } else {
            ["forest", "extra-trees"]
        });
        members.extend(["boost", "network"]);
        if x.rows() <= FEW_ROWS {
            members.push("svm");
        }
        specs(&members)
    }
}
