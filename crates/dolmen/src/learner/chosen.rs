//! Which rows of a sample count: usually all, and then they need not be listed.

use std::ops::Range;

use crate::error::{Error, Result};

/// Some rows, ascending.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Chosen<'a> {
    /// So many rows from the first on.
    All(usize),
    /// These.
    These(&'a [u32]),
}

impl<'a> Chosen<'a> {
    /// Those of so many rows that count. They are listed in `list` unless all of them do.
    pub(crate) fn of(
        rows: usize,
        counts: impl Fn(usize) -> bool,
        list: &'a mut Vec<u32>,
    ) -> Result<Self> {
        if (0..rows).all(&counts) {
            return Ok(Self::All(rows));
        }
        *list = listed((0..rows).filter(|&row| counts(row)))?;
        Ok(Self::These(list))
    }

    /// How many there are.
    pub(crate) fn len(self) -> usize {
        match self {
            Self::All(rows) => rows,
            Self::These(rows) => rows.len(),
        }
    }

    /// The number of one of them.
    #[inline]
    pub(crate) fn at(self, place: usize) -> usize {
        match self {
            Self::All(_) => place,
            Self::These(rows) => rows[place] as usize,
        }
    }

    /// All of them.
    pub(crate) fn iter(self) -> impl ExactSizeIterator<Item = usize> + use<'a> {
        (0..self.len()).map(move |place| self.at(place))
    }

    /// Calls with the numbers of those at consecutive places, so many at a time.
    pub(crate) fn for_blocks(
        self,
        places: Range<usize>,
        size: usize,
        mut call: impl FnMut(&[usize]),
    ) {
        let mut block = Vec::with_capacity(size);
        for first in places.clone().step_by(size) {
            block.clear();
            block.extend((first..places.end.min(first + size)).map(|place| self.at(place)));
            call(&block);
        }
    }
}

/// A list of rows; half as large as one of `usize`.
pub(crate) fn listed(rows: impl Iterator<Item = usize>) -> Result<Vec<u32>> {
    let number =
        |row| u32::try_from(row).map_err(|_| Error::shape("rows, at most", u32::MAX as usize, row));
    rows.map(number).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_are_listed_only_where_some_do_not_count() {
        let mut list = Vec::new();
        let all = Chosen::of(5, |_| true, &mut list).unwrap();
        assert!(matches!(all, Chosen::All(5)));
        assert_eq!(all.iter().collect::<Vec<_>>(), [0, 1, 2, 3, 4]);
        let mut list = Vec::new();
        let some = Chosen::of(6, |row| row != 2, &mut list).unwrap();
        assert_eq!(some.iter().collect::<Vec<_>>(), [0, 1, 3, 4, 5]);
        assert_eq!((some.len(), some.at(2)), (5, 3));
        let mut blocks = Vec::new();
        some.for_blocks(1..5, 3, |block| blocks.push(block.to_vec()));
        assert_eq!(blocks, [vec![1, 3, 4], vec![5]]);
    }
}
