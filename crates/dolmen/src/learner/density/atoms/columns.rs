//! The values of a column that repeat, and the width of the cells that stand for them.

use serde::{Deserialize, Serialize};

use crate::learner::Sample;
use crate::table::Rows;
use crate::task::Density;

/// Rows that an atom has at least.
const FEWEST: usize = 5;
/// The least width of a cell in standard deviations of its column: a uniform distribution over it then has a millionth of
/// the column's variance, which is where others stop components from shrinking. Finer differences are taken for rounding.
const LEAST_CELL: f64 = 3.464_101_615_137_754_4e-3;

/// Where a column's value is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum At {
    Elsewhere,
    Atom(usize),
    Missing,
}

/// The atoms of one column.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(super) struct Column {
    /// Ascending, at least a cell apart.
    #[serde(with = "crate::store::floats")]
    atoms: Vec<f64>,
    /// The width of an atom's cell.
    cell: f64,
}

/// Rows that have the same value.
#[derive(Debug, Clone, Copy)]
struct Run {
    value: f64,
    rows: usize,
    weight: f64,
}

/// The runs of equal values, ascending; values that are missing, and rows without weight, are left out.
fn runs(x: Rows<'_>, column: usize, weight: impl Fn(usize) -> f64) -> Vec<Run> {
    let values = x.column(column).enumerate().map(|(i, value)| (value, weight(i)));
    let mut values: Vec<(f64, f64)> = values.filter(|(x, w)| !x.is_nan() && *w > 0.0).collect();
    values.sort_by(|a, b| a.0.total_cmp(&b.0).then(a.1.total_cmp(&b.1)));
    let mut runs: Vec<Run> = Vec::new();
    for (value, weight) in values {
        match runs.last_mut() {
            // Two zeros of unlike sign are one value.
            Some(run) if run.value >= value => {
                run.rows += 1;
                run.weight += weight;
            }
            _ => runs.push(Run { value, rows: 1, weight }),
        }
    }
    runs
}

/// The value that most rows have, and their share of those that have one; `None` if too few have the same.
pub(super) fn most_frequent(x: Rows<'_>, column: usize) -> Option<(f64, f64)> {
    let runs = runs(x, column, |_| 1.0);
    let all: usize = runs.iter().map(|run| run.rows).sum();
    let most = runs.iter().reduce(|most, run| if run.rows > most.rows { run } else { most })?;
    (most.rows >= FEWEST).then(|| (most.value, most.rows as f64 / all as f64))
}

impl Column {
    /// Finds the values that such a share of the rows have; `scale` is the column's standard deviation.
    pub(super) fn find(
        sample: &Sample<'_, Density>,
        column: usize,
        share: f64,
        scale: f64,
    ) -> Self {
        let runs = runs(sample.x(), column, |i| sample.weight(i));
        let gaps = runs.windows(2).map(|pair| pair[1].value - pair[0].value);
        let gap = gaps.fold(f64::INFINITY, f64::min);
        let least = LEAST_CELL * scale;
        let cell = if gap.is_finite() { gap.max(least) } else { least };
        let total: f64 = runs.iter().map(|run| run.weight).sum();
        let is_atom = |run: &&Run| run.rows >= FEWEST && run.weight >= share * total;
        let mut atoms: Vec<Run> = Vec::new();
        for &run in runs.iter().filter(is_atom) {
            match atoms.last_mut() {
                // Cells do not overlap: of atoms that are nearer, the heavier one stays.
                Some(last) if run.value - last.value < cell => {
                    if run.weight > last.weight {
                        *last = run;
                    }
                }
                _ => atoms.push(run),
            }
        }
        Self { atoms: atoms.iter().map(|run| run.value).collect(), cell }
    }

    /// Whether it can be what a file says.
    pub(super) fn is_consistent(&self) -> bool {
        self.cell > 0.0
            && self.cell.is_finite()
            && self.atoms.iter().all(|atom| atom.is_finite())
            && self.atoms.windows(2).all(|pair| pair[0] < pair[1])
    }

    pub(super) fn atoms(&self) -> &[f64] {
        &self.atoms
    }

    pub(super) fn cell(&self) -> f64 {
        self.cell
    }

    /// Where a value is: at an atom if it lies in its cell.
    pub(super) fn at(&self, value: f64) -> At {
        if value.is_nan() {
            return At::Missing;
        }
        let above = self.atoms.partition_point(|atom| *atom <= value);
        let below = above.checked_sub(1).filter(|&l| value - self.atoms[l] < 0.5 * self.cell);
        let next = Some(above).filter(|&l| l < self.atoms.len());
        match below.or(next.filter(|&l| self.atoms[l] - value <= 0.5 * self.cell)) {
            Some(atom) => At::Atom(atom),
            None => At::Elsewhere,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::table::Features;

    fn found(values: &[f64], share: f64) -> Column {
        let x = Features::numeric(values.to_vec(), 1).unwrap();
        Column::find(&Sample::new(x.rows(), &()).unwrap(), 0, share, 1.0)
    }

    #[test]
    fn atoms_are_values_that_many_rows_have() {
        let mut values = vec![2.0; 6];
        values.extend([-0.0, 0.0, 0.0, -0.0, 0.0, 0.5, 0.5, 1.25, 7.0, 9.0]);
        let column = found(&values, 0.01);
        assert_eq!(column.atoms(), [0.0, 2.0]);
        assert_eq!(column.cell(), 0.5);
        for (x, at) in [
            (0.0, At::Atom(0)),
            (-0.25, At::Atom(0)),
            (0.25, At::Elsewhere),
            (1.75, At::Atom(1)),
            (2.249, At::Atom(1)),
            (2.25, At::Elsewhere),
            (-9.0, At::Elsewhere),
            (f64::INFINITY, At::Elsewhere),
            (f64::NEG_INFINITY, At::Elsewhere),
            (f64::NAN, At::Missing),
        ] {
            assert_eq!(column.at(x), at, "{x}");
        }
        assert_eq!(found(&values, 0.35).atoms(), [2.0]);
    }

    #[test]
    fn cells_do_not_overlap_and_are_not_narrower_than_rounding() {
        // 1 and what rounding makes of it, and 1.5: the heavier of the two ones stays.
        let mut values = vec![1.0; 5];
        values.extend([1.0 + 1e-12; 7]);
        values.extend([1.5; 5]);
        let column = found(&values, 0.01);
        assert_eq!(column.atoms(), [1.0 + 1e-12, 1.5]);
        assert_eq!(column.cell(), LEAST_CELL);
        assert_eq!(column.at(1.0), At::Atom(0));
        let constant = found(&[3.0; 9], 0.01);
        assert_eq!((constant.atoms(), constant.cell()), (&[3.0][..], LEAST_CELL));
        assert!(constant.is_consistent());
    }
}
