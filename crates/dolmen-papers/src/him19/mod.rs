//! Himmetoglu (2019): stacking of regressors and classifiers step by step.

mod pairs;
mod stacks;

use crate::Experiment;

/// The files that the reader may bring.
pub(crate) fn files() -> impl Iterator<Item = &'static str> {
    stacks::BROUGHT.into_iter().map(|(brought, _)| brought.file)
}

pub(crate) const EXPERIMENTS: &[Experiment] = &[
    Experiment {
        name: "him19-pairs",
        title: "OOS/HO pairs and the stacker's penalty",
        source: "Himmetoglu 2019, Stacking multiple models over k folds",
        run: pairs::run,
    },
    Experiment {
        name: "him19-endings",
        title: "The average of the fold models against a refit",
        source: "Himmetoglu 2019, Final fit on test data",
        run: stacks::endings,
    },
    Experiment {
        name: "him19-trainable",
        title: "Members with hyper-parameters of their own",
        source: "Himmetoglu 2019, Training models to be stacked in addition to stacker",
        run: stacks::trainable,
    },
    Experiment {
        name: "him19-stackers",
        title: "Stackers of several kinds, and modules",
        source: "Himmetoglu 2019, Stacking multiple models over k folds",
        run: stacks::stackers,
    },
];
