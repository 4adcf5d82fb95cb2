//! Rows that can be searched for the nearest to a query: by tree or by looking at all of them, exactly either way.

use super::nearest::{Found, Nearest};
use super::screen::Screen;
use super::tree::Tree;

/// Queries whose lists are filled before they are read.
const BATCH: usize = 64;

/// Rows with what finds the nearest of them.
#[derive(Debug)]
pub(super) struct Index {
    dimension: usize,
    points: Vec<f64>,
    /// None if all are 1.
    weights: Option<Vec<f64>>,
    search: Search,
}

#[derive(Debug)]
enum Search {
    Tree(Tree),
    Screen(Screen),
}

impl Index {
    /// Searches rows, one after the other, in the way that is faster for their number and dimension.
    pub(super) fn new(points: Vec<f64>, dimension: usize, weights: Option<Vec<f64>>) -> Self {
        let rows = points.len() / dimension;
        if pays_off(rows, dimension) {
            Self::by_tree(points, dimension, weights)
        } else {
            Self::by_screen(points, dimension, weights)
        }
    }

    fn by_tree(points: Vec<f64>, dimension: usize, weights: Option<Vec<f64>>) -> Self {
        let search = Search::Tree(Tree::new(&points, dimension));
        Self { dimension, points, weights, search }
    }

    fn by_screen(points: Vec<f64>, dimension: usize, weights: Option<Vec<f64>>) -> Self {
        let search = Search::Screen(Screen::new(&points, dimension));
        Self { dimension, points, weights, search }
    }

    /// The rows, one after the other.
    pub(super) fn points(&self) -> &[f64] {
        &self.points
    }

    /// The rows' weights, if they are not all 1.
    pub(super) fn weights(&self) -> Option<&[f64]> {
        self.weights.as_deref()
    }

    /// Tells `answer`, query after query, the nearest rows that together weigh at least k, nearest first, of rows
    /// equally far the first; all rows if they weigh less.
    pub(super) fn search(&self, queries: &[f64], k: usize, mut answer: impl FnMut(&[Found])) {
        let weights = self.weights();
        // Sums of weights that are not whole are rounded: a row too many does no harm, as readers count to k themselves.
        let whole = weights.is_none_or(|w| w.iter().all(|w| w.fract() == 0.0));
        let wanted = if whole { k as f64 } else { k as f64 * (1.0 + 1e-9) };
        let mut lists = vec![Nearest::new(wanted); BATCH];
        for queries in queries.chunks(BATCH * self.dimension) {
            let lists = &mut lists[..queries.len() / self.dimension];
            lists.iter_mut().for_each(Nearest::clear);
            match &self.search {
                Search::Screen(screen) => screen.search(&self.points, queries, weights, lists),
                Search::Tree(tree) => {
                    let each = queries.chunks_exact(self.dimension).zip(&mut *lists);
                    each.for_each(|(query, list)| tree.search(query, weights, list));
                }
            }
            lists.iter().for_each(|list| answer(list.found()));
        }
    }
}

/// Whether a tree saves time: it must leave out far more rows than the screen, which is some ten times faster a row.
fn pays_off(rows: usize, dimension: usize) -> bool {
    rows >= 256 && dimension <= 8
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::learner::neighbours::distance;

    /// All rows sorted by distance, then by number, as far as the weight goes.
    fn sorted(points: &[f64], weights: Option<&[f64]>, query: &[f64], k: usize) -> Vec<Found> {
        let weight = |row: usize| weights.map_or(1.0, |w| w[row]);
        let mut all: Vec<Found> = points
            .chunks_exact(query.len())
            .enumerate()
            .map(|(row, point)| Found {
                distance: distance::to_row(query, point),
                row: row as u32,
                weight: weight(row),
            })
            .collect();
        all.sort_by(|a, b| a.distance.total_cmp(&b.distance).then(a.row.cmp(&b.row)));
        let mut sum = 0.0;
        let wanted = all.iter().take_while(|found| {
            let take = sum < k as f64;
            sum += found.weight;
            take
        });
        wanted.copied().collect()
    }

    fn check(points: &[f64], dimension: usize, weights: Option<&[f64]>, queries: &[f64], k: usize) {
        let weighing = || weights.map(<[f64]>::to_vec);
        for index in [
            Index::by_tree(points.to_vec(), dimension, weighing()),
            Index::by_screen(points.to_vec(), dimension, weighing()),
        ] {
            let mut found = Vec::new();
            index.search(queries, k, |list| found.push(list.to_vec()));
            let expected: Vec<Vec<Found>> = queries
                .chunks_exact(dimension)
                .map(|query| sorted(points, weights, query, k))
                .collect();
            assert_eq!(found, expected);
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(60))]
        #[test]
        fn both_ways_find_what_sorting_finds(
            dimension in 1_usize..20,
            rows in 1_usize..700,
            k in 1_usize..30,
            coarse in any::<bool>(),
            weighted in any::<bool>(),
            shift in prop_oneof![Just(0.0), Just(1e6), Just(-3e12)],
            scale in prop_oneof![Just(1.0), Just(1e-30), Just(1e40)],
            seed in any::<u64>(),
        ) {
            let mut state = seed;
            // Coarse values make many ties, and rows that are equal.
            let mut value = || {
                state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
                let unit = (state >> 11) as f64 / (1_u64 << 53) as f64;
                (if coarse { (unit * 4.0).floor() } else { unit } + shift) * scale
            };
            let points: Vec<f64> = (0..rows * dimension).map(|_| value()).collect();
            let mut queries: Vec<f64> = (0..6 * dimension).map(|_| value()).collect();
            queries.extend_from_slice(&points[..dimension]);
            queries.extend(std::iter::repeat_n(1e25, dimension));
            let weights: Vec<f64> = (0..rows).map(|i| (1 + i % 3) as f64).collect();
            check(&points, dimension, weighted.then_some(&weights[..]), &queries, k);
        }
    }
}
