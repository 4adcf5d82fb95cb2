//! Members that say the same of every row: nothing tells them apart, so they share their weight.

use crate::oos::OutOfSample;
use crate::task::Task;

/// Groups of members whose columns are equal to the last bit.
#[derive(Debug, Clone, Default)]
pub(super) struct Copies {
    groups: Vec<Vec<usize>>,
}

impl Copies {
    /// Finds them. Columns that differ mostly do so within a few rows, so looking costs little.
    pub(super) fn among<T: Task>(oos: &OutOfSample<T>) -> Self {
        let members = oos.members().len();
        let equal = |a: usize, b: usize| {
            let bits = |m: usize| oos.column(m).iter().map(|v| v.to_bits());
            bits(a).eq(bits(b))
        };
        let mut order: Vec<usize> = (0..members).collect();
        // Equal columns begin alike: after sorting by the first value only neighbours need a look.
        let first = |m: usize| oos.column(m).first().map_or(0, |v| v.to_bits());
        order.sort_by_key(|&m| (first(m), m));
        let mut groups: Vec<Vec<usize>> = Vec::new();
        for candidates in order.chunk_by(|&a, &b| first(a) == first(b)) {
            let begun = groups.len();
            for &m in candidates {
                match groups[begun..].iter().position(|group| equal(group[0], m)) {
                    Some(at) => groups[begun + at].push(m),
                    None => groups.push(vec![m]),
                }
            }
        }
        groups.retain(|group| group.len() > 1);
        Self { groups }
    }

    /// Gives each group's allowed members equal shares of what they have together.
    pub(super) fn share(&self, weights: &mut [f64], allowed: &[usize]) {
        for group in &self.groups {
            let present: Vec<usize> =
                group.iter().copied().filter(|m| allowed.contains(m)).collect();
            let share = present.iter().map(|&m| weights[m]).sum::<f64>() / present.len() as f64;
            present.iter().for_each(|&m| weights[m] = share);
        }
    }

    /// Whether two members say the same.
    pub(super) fn are_equal(&self, a: usize, b: usize) -> bool {
        self.groups.iter().any(|group| group.contains(&a) && group.contains(&b))
    }
}
