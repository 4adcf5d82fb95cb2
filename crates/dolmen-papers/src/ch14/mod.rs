//! The chapter on combining models (after Bishop 2006, chapter 14), section by section.

mod bagging;
mod boosting;
mod choice;
mod committee;
mod experts;
mod gradient;
mod recipe;
mod selection;
mod tree;

use crate::Experiment;

pub(crate) const EXPERIMENTS: &[Experiment] = &[
    Experiment {
        name: "ch14-selection",
        title: "Bayesian model averaging against a mixture",
        source: "Combining models, section 14.1",
        run: selection::run,
    },
    Experiment {
        name: "ch14-committee",
        title: "The committee inequality",
        source: "Combining models, section 14.2",
        run: committee::run,
    },
    Experiment {
        name: "ch14-bagging",
        title: "What bagging does to bias and variance",
        source: "Combining models, section 14.2",
        run: bagging::run,
    },
    Experiment {
        name: "ch14-adaboost",
        title: "AdaBoost as stagewise exponential loss",
        source: "Combining models, section 14.3",
        run: boosting::run,
    },
    Experiment {
        name: "ch14-gradient",
        title: "Gradient boosting with the exponential loss",
        source: "Combining models, section 14.3",
        run: gradient::run,
    },
    Experiment {
        name: "ch14-tree",
        title: "A tree and its partition of the plane",
        source: "Combining models, section 14.4, figure 14.6",
        run: tree::run,
    },
    Experiment {
        name: "ch14-experts",
        title: "Experts and their regions",
        source: "Combining models, section 14.5",
        run: experts::run,
    },
    Experiment {
        name: "ch14-stacking",
        title: "The stacking recipe",
        source: "Combining models, section 14.6",
        run: recipe::run,
    },
    Experiment {
        name: "ch14-choice",
        title: "Which ensemble when",
        source: "Combining models, section 14.7",
        run: choice::run,
    },
];
