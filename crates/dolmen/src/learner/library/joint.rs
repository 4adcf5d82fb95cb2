//! The learners of joint probabilities p(x, c): what LMG mixes.
//!
//! Members say ln p(x, c) of the same x. Densities (`bayes`) do so in the columns' units, the one-dependence family of the values
//! or bins that the columns were cut into: weights tell how much of each is used, but only members of one kind make
//! a mixture that is a probability itself.

use super::{
    Entry, Library, VERY_WIDE, WIDE, complete_numbers, encoded_entry, generative, specs,
    stack_entry, tuned_entry,
};
use crate::ensemble::{Ensemble, FoldAverage};
use crate::learner::bayes::FittedBayes;
use crate::learner::bayes::one_dependence::FittedOneDependence;
use crate::learner::encoded::FittedEncoded;
use crate::learner::spec::Spec;
use crate::store::Registry;
use crate::table::Rows;
use crate::task::Joint;

impl Library for Joint {
    fn entries() -> Vec<Entry<Self>> {
        let mut entries = generative::entries();
        entries.extend([encoded_entry(), stack_entry(), tuned_entry()]);
        entries
    }

    fn registry() -> Registry<Self> {
        Registry::default()
            .with::<FittedBayes>()
            .with::<FittedOneDependence>()
            .with::<FittedEncoded<Joint>>()
            .with::<Ensemble<Joint>>()
            .with::<FoldAverage<Joint>>()
    }

    /// Densities of each class where all columns are complete numbers; else the paper's mixture of all one-dependence
    /// estimators, and naive Bayes. Of more than 64 columns covariances are diagonal, of more than 256 `aode` stands for the
    /// mixture.
    fn usual_members(x: Rows<'_>) -> Vec<Spec> {
        match (complete_numbers(x), x.width()) {
            (true, ..=WIDE) => {
                specs(&["bayes(density=gaussian)", "bayes(density=mixture(components=[2, 4]))"])
            }
            (true, _) => specs(&[
                "bayes(density=gaussian(covariance=diagonal))",
                "bayes(density=mixture(components=[2, 4], covariance=diagonal))",
            ]),
            (false, ..=VERY_WIDE) => specs(&["naive-bayes", "ode"]),
            (false, _) => specs(&["naive-bayes", "aode"]),
        }
    }
}
