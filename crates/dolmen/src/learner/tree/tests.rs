//! The core against slow, obvious oracles.

use std::sync::Arc;

use proptest::prelude::*;
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

use super::counts::Count;
use super::criterion::{Bounds, Node};
use super::fitted::Child;
use super::histogram::{CODES, add_group, subtract};
use super::search::{Demands, Search};
use super::*;
use crate::table::{Features, Field, Kind, Schema};

/// Two numeric columns, one of them with missing values, and a categorical one with missing and unseen levels.
fn table(rows: usize, seed: u64) -> (Features, Vec<f64>, Vec<u32>, Vec<f64>) {
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    let levels: Arc<[String]> = ["a", "b", "c", "d", "e"].map(String::from).into();
    let field = |name: &str, kind| Field { name: name.into(), kind };
    let schema = Schema::new(vec![
        field("u", Kind::Numeric),
        field("v", Kind::Numeric),
        field("c", Kind::Categorical { levels }),
    ]);
    let (mut x, mut y, mut classes, mut weights) = (vec![], vec![], vec![], vec![]);
    for _ in 0..rows {
        let u = (rng.random::<f64>() * 12.0).floor();
        let v = if rng.random::<f64>() < 0.2 { f64::NAN } else { rng.random::<f64>() };
        let c =
            if rng.random::<f64>() < 0.1 { f64::NAN } else { f64::from(rng.random_range(0..5_u8)) };
        x.extend([u, v, c]);
        let bump =
            if v.is_nan() { 2.0 } else { (5.0 * v).sin() } + if c == 3.0 { 1.0 } else { 0.0 };
        y.push(u * 0.3 + bump + rng.random::<f64>());
        classes.push((y[y.len() - 1] as i64).rem_euclid(3) as u32);
        weights.push(f64::from(rng.random_range(1..4_u8)));
    }
    (Features::new(x, Arc::new(schema)).unwrap(), y, classes, weights)
}

/// The pairs of the variance criterion.
pub(super) fn variance_cells(y: &[f64], w: &[f64]) -> (Vec<Wide>, Units) {
    let size: f64 = y.iter().zip(w).map(|(y, w)| w * y.abs()).sum();
    let units = Units::fitting::<Wide>(y.len(), size, w.iter().sum());
    (y.iter().zip(w).map(|(y, w)| units.pack(-y, 1.0, *w)).collect(), units)
}

fn pairs<'a>(cells: &'a [Wide], units: Units, y: &'a [f64]) -> Pairs<'a, Wide> {
    Pairs { cells, units, l2: 0.0, monotone: &[], weights: None, targets: Some(y) }
}

/// The largest gain of any split of these rows, every cut and every subset of levels tried on the values themselves. A
/// least leaf weight may forbid the subsets that are best without it, so that the core need not find the best subset left:
/// then only cuts are tried.
fn oracle(x: &Features, rows: &[u32], min_leaf: f64, score: &dyn Fn(&[u32]) -> (f64, f64)) -> f64 {
    let cell = |row: u32, j: usize| x.rows().row(row as usize)[j];
    let mut best = f64::NEG_INFINITY;
    let mut consider = |left: &dyn Fn(u32) -> bool| {
        let (l, r): (Vec<u32>, Vec<u32>) = rows.iter().partition(|&&row| left(row));
        let (left, right, all) = (score(&l), score(&r), score(rows));
        if !l.is_empty() && !r.is_empty() && left.1 >= min_leaf && right.1 >= min_leaf {
            best = best.max(left.0 + right.0 - all.0);
        }
    };
    for missing_left in [false, true] {
        for j in 0..2 {
            for &at in rows {
                let threshold = cell(at, j);
                consider(&|row| {
                    let value = cell(row, j);
                    if value.is_nan() { missing_left } else { value <= threshold }
                });
            }
        }
        for subset in 0..if min_leaf > 1.0 { 0 } else { 32_u32 } {
            consider(&|row| {
                let value = cell(row, 2);
                if value.is_nan() { missing_left } else { subset >> (value as u32) & 1 == 1 }
            });
        }
    }
    best
}

/// The rows under every split of a tree.
fn rows_of_splits(grown: &Grown, rows: &[u32]) -> Vec<Vec<u32>> {
    fn gather(grown: &Grown, rows: &[u32], child: Child, out: &mut Vec<Vec<u32>>) -> Vec<u32> {
        match child {
            Child::Leaf(leaf) => rows[grown.leaves[leaf as usize].clone()].to_vec(),
            Child::Split(i) => {
                let split = grown.tree.splits()[i as usize];
                let mut own = gather(grown, rows, split.left, out);
                own.extend(gather(grown, rows, split.right, out));
                out[i as usize].clone_from(&own);
                own
            }
        }
    }
    let mut out = vec![Vec::new(); grown.tree.splits().len()];
    if !out.is_empty() {
        gather(grown, rows, Child::Split(0), &mut out);
    }
    out
}

fn grow<C: Criterion>(
    x: &Features,
    criterion: &C,
    growth: &Growth,
    weights: Option<&[f64]>,
    rows: &mut [u32],
) -> (Bins, Codes, Grown) {
    let bins = Bins::learn(x.rows(), weights, 255).unwrap();
    let codes = bins.encode(x.rows()).unwrap();
    let columns: Vec<u32> = (0..codes.width() as u32).collect();
    let grower = Grower { bins: &bins, codes: &codes, criterion, growth, parallel: true };
    let grown = grower.grow(rows, &columns, &mut Workspace::default());
    (bins, codes, grown)
}

/// Whether a gain is the largest; at least the largest of the cuts where subsets were not tried.
fn agrees(gain: f64, best: f64, min_leaf: i32) -> bool {
    let slack = 1e-9 * (1.0 + best.abs());
    gain > best - slack && (min_leaf > 1 || gain < best + slack)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    #[test]
    fn every_split_is_the_best_there_is(seed in 0_u64..1 << 40, rows in 2_usize..140, min_leaf in 1..8) {
        let (x, y, classes, weights) = table(rows, seed);
        let growth = Growth { leaves: Some(9), min_leaf: f64::from(min_leaf), ..Growth::default() };
        let (cells, units) = variance_cells(&y, &weights);
        let variance = |rows: &[u32]| {
            let sum = |f: &dyn Fn(usize) -> f64| rows.iter().map(|&i| f(i as usize)).sum::<f64>();
            let (g, h) = (sum(&|i| weights[i] * y[i]), sum(&|i| weights[i]));
            (if h > 0.0 { g * g / h } else { 0.0 }, h)
        };
        let mut order: Vec<u32> = (0..rows as u32).collect();
        let (_, _, grown) = grow(&x, &pairs(&cells, units, &y), &growth, None, &mut order);
        for (gain, rows) in grown.gains.iter().zip(rows_of_splits(&grown, &order)) {
            let best = oracle(&x, &rows, f64::from(min_leaf), &variance);
            prop_assert!(agrees(*gain, best, min_leaf), "{gain} {best}");
        }
        // Two classes: the first against the rest; one order of the categories is then enough.
        let two: Vec<u32> = classes.iter().map(|c| u32::from(*c > 0)).collect();
        for impurity in [Impurity::Gini, Impurity::Entropy] {
            let criterion = Counts::new(&two, 2, |i| weights[i], impurity);
            let score = |rows: &[u32]| {
                let mut counts = [0.0; 2];
                rows.iter().for_each(|&i| counts[two[i as usize] as usize] += weights[i as usize]);
                (impurity.score(&counts), counts[0] + counts[1])
            };
            let mut order: Vec<u32> = (0..rows as u32).collect();
            let (_, _, grown) = grow(&x, &criterion, &growth, None, &mut order);
            for (gain, rows) in grown.gains.iter().zip(rows_of_splits(&grown, &order)) {
                let best = oracle(&x, &rows, f64::from(min_leaf), &score);
                prop_assert!(agrees(*gain, best, min_leaf), "{gain} {best}");
            }
        }
    }

    #[test]
    fn a_sweep_finds_what_trying_every_cut_finds(seed in 0_u64..1 << 40, bins in 1_usize..255, min_leaf in 0..9) {
        let mut rng = ChaCha8Rng::seed_from_u64(seed);
        let units = Units { gradient: 64.0, curvature: 32.0 };
        let mut histogram = [Narrow::default(); CODES];
        let has_missing = rng.random::<bool>();
        for cell in &mut histogram[..bins + usize::from(has_missing)] {
            if rng.random::<f64>() < 0.7 {
                *cell = units.pack(rng.random::<f64>() - 0.5, rng.random::<f64>(), 3.0);
            }
        }
        let mut total = Narrow::default();
        histogram.iter().for_each(|cell| total += *cell);
        let criterion = Pairs { cells: &[], units, l2: 0.5, monotone: &[], weights: None, targets: None };
        let mut sums = vec![0.0; 2];
        criterion.add_to(&mut sums, 0, total);
        let (score, weight) = (criterion.score(&sums), sums[1]);
        let node = Node { sums, score, weight, bounds: Bounds::NONE };
        let cuts: Vec<f64> = (1..bins).map(|cut| cut as f64).collect();
        let column = ColumnBins::Numeric { ends: vec![(0.0, 0.0); bins], cuts };
        let demands = Demands { min_leaf: f64::from(min_leaf), exact: false };
        let mut search = Search::default();
        search.profile.read(&criterion, &[histogram], bins);
        let slow = search.best(&criterion, &node, (0, &column), demands);
        let fast = criterion.sweep(&node, &histogram, bins, demands.min_leaf).unwrap();
        let fast = fast.map(|swept| Search::swept(swept, &histogram, (0, &column), demands));
        prop_assert_eq!(slow.is_some(), fast.is_some());
        if let (Some(slow), Some(fast)) = (slow, fast) {
            prop_assert!((slow.gain - fast.gain).abs() < 1e-9 * (1.0 + score));
            prop_assert_eq!((slow.side, slow.missing_left), (fast.side, fast.missing_left));
        }
    }

    #[test]
    fn the_larger_childs_histogram_is_the_parents_minus_the_smallers(seed in 0_u64..1 << 40) {
        let (x, y, classes, weights) = table(500, seed);
        let bins = Bins::learn(x.rows(), None, 255).unwrap();
        let codes = bins.encode(x.rows()).unwrap();
        let (small, large): (Vec<u32>, Vec<u32>) = (0..500).partition(|i| y[*i as usize] > 2.0);
        let all: Vec<u32> = (0..500).collect();
        let criterion = Counts::new(&classes, 3, |i| weights[i] * 0.37, Impurity::Gini);
        let sum = |rows: &[u32]| {
            let cells: Vec<_> = rows.iter().map(|&row| criterion.cell(row as usize)).collect();
            let mut histograms = vec![[Count::default(); CODES]; 9];
            add_group(&criterion, &mut histograms, codes.words(0), rows, &cells);
            histograms
        };
        let mut rest = sum(&all);
        subtract(&mut rest, &sum(&small));
        prop_assert_eq!(rest, sum(&large));
    }

    #[test]
    fn rows_and_their_codes_reach_the_leaf_they_were_grown_in(seed in 0_u64..1 << 40, exact: bool) {
        let (x, y, _, weights) = table(300, seed);
        let (cells, units) = variance_cells(&y, &weights);
        let growth = Growth { exact, ..Growth::default() };
        let mut order: Vec<u32> = (0..300).collect();
        let (bins, codes, grown) = grow(&x, &pairs(&cells, units, &y), &growth, None, &mut order);
        let missing: Vec<u8> = bins.columns().iter().map(|c| c.bins() as u8).collect();
        for (leaf, range) in grown.leaves.iter().enumerate() {
            for &row in &order[range.clone()] {
                prop_assert_eq!(grown.tree.leaf(x.rows().row(row as usize)), leaf);
                prop_assert_eq!(grown.tree.leaf_of_codes(&codes, &missing, row as usize), leaf);
            }
        }
        let bytes = rmp_serde::to_vec_named(&grown.tree).unwrap();
        prop_assert_eq!(rmp_serde::from_slice::<Tree>(&bytes).unwrap(), grown.tree);
    }

    #[test]
    fn fast_codes_are_the_slow_ones(seed in 0_u64..1 << 40, most in 2_usize..256) {
        let (x, ..) = table(2000, seed);
        let bins = Bins::learn(x.rows(), None, most).unwrap();
        let codes = bins.encode(x.rows()).unwrap();
        let columns = bins.encode_columns(x.rows()).unwrap();
        for (i, row) in x.rows().iter().enumerate() {
            for (j, column) in bins.columns().iter().enumerate() {
                prop_assert!(column.bins() <= most);
                let code = codes.column(j).at(i);
                prop_assert_eq!(code, column.code(row[j]));
                prop_assert_eq!(columns.column(j)[i], code);
                if let ColumnBins::Numeric { ends, .. } = column && !row[j].is_nan() {
                    let (low, high) = ends[usize::from(code)];
                    prop_assert!(low <= row[j] && row[j] <= high);
                }
            }
        }
    }
}

#[test]
fn many_values_fall_into_bins_of_about_equal_weight() {
    let x = Features::numeric((0..10_000).map(|i| f64::from(i).sqrt()).collect(), 1).unwrap();
    let bins = Bins::learn(x.rows(), None, 100).unwrap();
    let codes = bins.encode(x.rows()).unwrap();
    let mut counts = [0; 100];
    (0..codes.rows()).for_each(|i| counts[usize::from(codes.column(0).at(i))] += 1);
    assert!(counts.iter().all(|count| (95..=105).contains(count)), "{counts:?}");
}

#[test]
fn a_row_of_weight_two_counts_as_two_rows() {
    let (x, y, ..) = table(200, 5);
    let weights: Vec<f64> = (0..200).map(|i| f64::from(i % 3)).collect();
    let twice: Vec<usize> = (0..200).flat_map(|i| vec![i; i % 3]).collect();
    let copies = x.rows().select(&twice);
    let y_copies: Vec<f64> = twice.iter().map(|&i| y[i]).collect();
    let growth = Growth { min_leaf: 3.0, ..Growth::default() };
    let (cells, units) = variance_cells(&y, &weights);
    let mut rows: Vec<u32> = (0..200).filter(|i| i % 3 > 0).collect();
    let (_, _, weighted) = grow(&x, &pairs(&cells, units, &y), &growth, Some(&weights), &mut rows);
    let (cells, units) = variance_cells(&y_copies, &vec![1.0; twice.len()]);
    let mut rows: Vec<u32> = (0..twice.len() as u32).collect();
    let (_, _, copied) = grow(&copies, &pairs(&cells, units, &y_copies), &growth, None, &mut rows);
    for row in x.rows().iter() {
        let [a, b] = [&weighted, &copied].map(|g| g.tree.value(g.tree.leaf(row))[0]);
        assert!((a - b).abs() < 1e-12, "{a} {b}");
    }
}
