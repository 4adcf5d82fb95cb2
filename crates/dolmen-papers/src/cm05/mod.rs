//! Cerquides and Lopez de Mantaras (2005): linear mixtures of one-dependence estimators.

mod concentration;
mod copies;
mod irvine;
mod networks;
mod outcomes;

use crate::Experiment;

pub(crate) const EXPERIMENTS: &[Experiment] = &[
    Experiment {
        name: "cm05-table1",
        title: "One-dependence estimators on data sets",
        source: "Cerquides and Lopez de Mantaras 2005, Table 1",
        run: irvine::run,
    },
    Experiment {
        name: "cm05-table2",
        title: "One-dependence estimators on random Bayesian networks",
        source: "Cerquides and Lopez de Mantaras 2005, Table 2",
        run: networks::run,
    },
    Experiment {
        name: "cm05-concentration",
        title: "Bayesian averaging concentrates on one model",
        source: "Cerquides and Lopez de Mantaras 2005, section 7.2",
        run: concentration::run,
    },
];
