//! Table 2: random Bayesian networks of 36 kinds, five sizes of the training sample.

use dolmen::catalogue::Catalogued;
use dolmen::error::Result;
use dolmen::evaluate::compare::{Duel, NetworkStudy, compare_on_networks};
use dolmen::learner::Learner;
use dolmen::spec::Spec;
use dolmen::task::Classification;

use super::outcomes::{Beside, METHODS, Setting};
use crate::{Context, Effort, Page};

/// Table 2 as printed, over 180 cells: AUC, error rate, log p.
const TABLE: Setting = Setting {
    paper: [
        [[38, 124, 18], [45, 128, 7], [85, 92, 3]],
        [[101, 77, 2], [90, 83, 7], [143, 26, 11]],
        [[155, 24, 1], [138, 41, 1], [151, 17, 12]],
        [[176, 4, 0], [145, 27, 8], [177, 2, 1]],
    ],
    what: "cells",
    exception: None,
    // Every network has rows of its own.
    overlapping: false,
};

/// The page.
pub(super) fn run(context: &Context<'_>) -> Result<Page> {
    let study = match context.effort {
        Effort::Full => NetworkStudy::full(),
        Effort::Quick => NetworkStudy {
            attributes: vec![5, 10],
            values: vec![2, 5],
            widths: vec![2, 3],
            networks: 20,
            rows: vec![25, 100, 400, 1600],
            test_rows: 500,
        },
    };
    let learner = |text: &&str| Classification::learner(&Spec::parse(text)?);
    let learners: Vec<Box<dyn Learner<Classification>>> =
        METHODS.iter().map(learner).collect::<Result<_>>()?;
    let results = compare_on_networks(&learners, &study, context.run)?;
    let NetworkStudy { attributes, values, widths, networks, rows, test_rows } = study;
    let mut page = Page::new([format!(
        "Random networks with {attributes:?} attributes of at most {values:?} values and induced widths of at most {widths:?}; {networks} of each kind; samples of \
         {rows:?} rows to learn from and {test_rows} to judge: {} cells. A cell is a win, a draw or a loss by the paired t-test over its networks at 95 %. Claims are judged measure by measure, as the paper does: ahead is what wins more cells than it loses, by two \
         standard errors over the cells.",
        results.cells.len()
    )]);
    let cells: Vec<&[Duel]> = results.cells.iter().map(|cell| cell.duels.as_slice()).collect();
    let beside = match context.effort {
        Effort::Quick => Beside::Other(
            "a part of the paper's grid, and fewer networks in each cell: fewer differences are significant",
        ),
        Effort::Full => Beside::Same(
            "another generator of networks: conditional probabilities are uniform on their simplex here, what BNGenerator drew is not printed",
        ),
    };
    TABLE.judge(&mut page, &cells, beside);
    Ok(page)
}
