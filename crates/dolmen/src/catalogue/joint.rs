//! The learners of joint probabilities p(x, c): what LMG mixes.
//!
//! Members say ln p(x, c) of the same x. Densities (`bayes`) do so in the columns' units, the one-dependence family of the values
//! or bins that the columns were cut into: weights tell how much of each is used, but only members of one kind make
//! a mixture that is a probability itself.

use super::{
    Catalogue, Catalogued, Section, VERY_WIDE, WIDE, combiners, complete_numbers, generative,
    section_of, specs, wrappers,
};
use crate::spec::Spec;
use crate::table::Rows;
use crate::task::Joint;

/// The learners and combiners of joint probabilities.
pub(super) fn section() -> Section<Joint> {
    let mut learners = generative::entries();
    learners.extend(wrappers::entries(["naive-bayes", "aode"]));
    Section { learners, combiners: combiners::entries("naive-bayes") }
}

impl Catalogued for Joint {
    section_of!(joint);

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

    fn quick_members(x: Rows<'_>) -> Vec<Spec> {
        specs(&[if complete_numbers(x) { "bayes(density=gaussian)" } else { "naive-bayes" }])
    }

    /// The usual ones: all one-dependence estimators are among them.
    fn best_members(x: Rows<'_>) -> Vec<Spec> {
        Self::usual_members(x)
    }

    fn baseline() -> Spec {
        specs(&["naive-bayes"]).remove(0)
    }

    const BY_USE: &'static [&'static str] = &["naive-bayes", "bayes", "aode", "ode"];
}
