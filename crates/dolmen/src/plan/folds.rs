//! The folds of a learner's own rows: the fold that holds out each row, and no list of rows until one is asked for.

use super::stratified::Deal;
use super::{Plan, PlanSpec, RowKeys, check_folds, stream};
use crate::error::Result;
use crate::run::Run;

/// Folds that a byte tells apart; more are listed.
const MOST_DEALT: usize = 256;

/// Folds over rows inside a learner. A [`Plan`] lists the rows of every fold, eight bytes each; of a table of few columns that
/// is a good part of its size, and learners look at one fold after the other.
#[derive(Debug)]
pub(crate) enum Folds {
    /// Each row is held out by one fold, and learned from by all others.
    Dealt {
        /// Row after row.
        fold_of_row: Vec<u8>,
        /// How many there are.
        folds: usize,
    },
    /// Those of rows whose groups or times bind them.
    Planned(Plan),
}

impl RowKeys<'_> {
    /// The folds of [`RowKeys::folds`], the same by the same seed.
    pub(crate) fn inner_folds(&self, rows: usize, wanted: usize, run: &Run) -> Result<Folds> {
        let folds = PlanSpec::possible_folds(wanted, rows, self);
        if self.bind() || folds > MOST_DEALT {
            return self.folds(rows, wanted, run).map(Folds::Planned);
        }
        self.check(rows)?;
        check_folds("folds", folds, rows, "rows")?;
        let mut fold_of_row = vec![0; rows];
        let deal = Deal::new(rows, self.classes, &mut stream(run).rng());
        deal.each(|turn, row| fold_of_row[row] = (turn % folds) as u8);
        Ok(Folds::Dealt { fold_of_row, folds })
    }
}

impl Folds {
    /// Those into which rows were drawn, row after row, without the ones that have no rows; `None` if there are no two.
    pub(crate) fn of_drawn(drawn: Vec<usize>) -> Option<Self> {
        let mut found = drawn.clone();
        found.sort_unstable();
        found.dedup();
        let place = |fold: usize| found.partition_point(|other| *other < fold) as u8;
        let folds = found.len();
        (2..=MOST_DEALT)
            .contains(&folds)
            .then(|| Self::Dealt { fold_of_row: drawn.into_iter().map(place).collect(), folds })
    }

    /// Number of folds.
    pub(crate) fn len(&self) -> usize {
        match self {
            Self::Dealt { folds, .. } => *folds,
            Self::Planned(plan) => plan.splits().len(),
        }
    }

    /// The rows that a fold holds out, ascending.
    pub(crate) fn held_out(&self, fold: usize) -> impl Iterator<Item = usize> + Clone {
        let listed = match self {
            Self::Dealt { .. } => &[],
            Self::Planned(plan) => plan.splits()[fold].test(),
        };
        self.dealt_rows(move |own| own == fold).chain(listed.iter().copied())
    }

    /// The rows that it learns from, ascending.
    pub(crate) fn learned_from(&self, fold: usize) -> impl Iterator<Item = usize> {
        let planned = match self {
            Self::Dealt { .. } => None,
            Self::Planned(plan) => Some(plan.splits()[fold].iter_train(plan.rows())),
        };
        self.dealt_rows(move |own| own != fold).chain(planned.into_iter().flatten())
    }

    fn dealt_rows(
        &self,
        is_wanted: impl Fn(usize) -> bool + Clone,
    ) -> impl Iterator<Item = usize> + Clone {
        let fold_of_row: &[u8] = match self {
            Self::Dealt { fold_of_row, .. } => fold_of_row,
            Self::Planned(_) => &[],
        };
        let wanted =
            fold_of_row.iter().enumerate().filter(move |(_, own)| is_wanted(usize::from(**own)));
        wanted.map(|(row, _)| row)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn inner_folds_are_those_of_the_plan() {
        let run = Run::new(3);
        let classes: Vec<u32> = (0..97).map(|i| [7, 0, 4_000_000_000][i * i % 3]).collect();
        let groups: Vec<u32> = (0..97).map(|i| i / 5).collect();
        let times: Vec<f64> = (0..97).map(f64::from).collect();
        let keys = RowKeys::default();
        for keys in [
            keys,
            RowKeys { classes: Some(&classes), ..keys },
            RowKeys { groups: Some(&groups), ..keys },
            RowKeys { times: Some(&times), groups: Some(&groups), ..keys },
        ] {
            let (plan, folds) =
                (keys.folds(97, 4, &run).unwrap(), keys.inner_folds(97, 4, &run).unwrap());
            assert_eq!(folds.len(), plan.splits().len());
            for (fold, split) in plan.splits().iter().enumerate() {
                assert_eq!(folds.held_out(fold).collect::<Vec<_>>(), split.test());
                assert_eq!(folds.learned_from(fold).collect::<Vec<_>>(), *split.train(97));
            }
        }
        assert!(RowKeys::default().inner_folds(1, 4, &run).is_err());
    }
}
