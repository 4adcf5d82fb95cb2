//! Which of the rows that a stack was tried on may say something about which others.

use std::collections::HashSet;

/// The rows tried on: the fold in which each was held out, and what else is known of them.
#[derive(Debug, Clone)]
pub(super) struct TrialRows {
    pub(super) fold_of_row: Vec<usize>,
    /// Rows of a group say nothing about one another: where folds are blocks of time, a group may stand in several.
    pub(super) groups: Option<Vec<u32>>,
    /// Whether the folds are in order of time: then one is judged by the earlier ones only.
    pub(super) is_forward: bool,
}

impl TrialRows {
    /// How many there are.
    pub(super) fn len(&self) -> usize {
        self.fold_of_row.len()
    }

    /// How many folds they were held out in.
    pub(super) fn folds(&self) -> usize {
        self.fold_of_row.iter().max().map_or(0, |last| last + 1)
    }

    /// The rows held out in a fold.
    pub(super) fn of_fold(&self, fold: usize) -> Vec<usize> {
        (0..self.len()).filter(|&i| self.fold_of_row[i] == fold).collect()
    }

    /// The rows that may judge a fold: those of the other folds, or of the earlier ones, without those of its own groups.
    pub(super) fn judging(&self, fold: usize) -> Vec<usize> {
        let own: HashSet<u32> = match &self.groups {
            Some(groups) => self.of_fold(fold).into_iter().map(|i| groups[i]).collect(),
            None => HashSet::new(),
        };
        let is_elsewhere =
            |other: usize| if self.is_forward { other < fold } else { other != fold };
        let is_foreign = |i: usize| self.groups.as_ref().is_none_or(|g| !own.contains(&g[i]));
        (0..self.len()).filter(|&i| is_elsewhere(self.fold_of_row[i]) && is_foreign(i)).collect()
    }

    /// Those of the later folds, which are numbered anew, and where they stood.
    pub(super) fn after_first_fold(&self) -> (Self, Vec<usize>) {
        let later: Vec<usize> = (0..self.len()).filter(|&i| self.fold_of_row[i] > 0).collect();
        let rows = Self {
            fold_of_row: later.iter().map(|&i| self.fold_of_row[i] - 1).collect(),
            groups: self.groups.as_ref().map(|groups| later.iter().map(|&i| groups[i]).collect()),
            is_forward: self.is_forward,
        };
        (rows, later)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_of_a_group_do_not_judge_one_another() {
        let fold_of_row = vec![0, 0, 1, 1, 2, 2];
        let groups = Some(vec![7, 8, 7, 9, 8, 9]);
        let forward = TrialRows { fold_of_row, groups, is_forward: true };
        assert!(forward.judging(0).is_empty());
        assert_eq!(forward.judging(1), [1]);
        assert_eq!(forward.judging(2), [0, 2]);
        let around = TrialRows { is_forward: false, ..forward.clone() };
        assert_eq!(around.judging(0), [3, 5]);
        let (later, places) = forward.after_first_fold();
        assert_eq!((later.judging(1), places), (vec![0], vec![2, 3, 4, 5]));
    }
}
