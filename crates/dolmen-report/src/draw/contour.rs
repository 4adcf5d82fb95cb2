//! Lines of equal height on a grid, as closed loops: marching squares, the grid thought of as lying in a plain of height 0.

use std::collections::HashMap;

/// An edge between neighbours of the grid: where it begins, and whether it goes up (else to the right).
type Edge = (i64, i64, bool);

/// The loops at a height, in units of the grid's steps. `values` has `width` numbers a row.
pub(crate) fn loops(values: &[f64], width: usize, level: f64) -> Vec<Vec<(f64, f64)>> {
    let height = values.len() / width.max(1);
    let (w, h) = (width as i64, height as i64);
    let at = |i: i64, j: i64| {
        let inside = (0..w).contains(&i) && (0..h).contains(&j);
        if inside { values[(j * w + i) as usize] } else { 0.0 }
    };
    let mut next: HashMap<Edge, Vec<Edge>> = HashMap::new();
    for j in -1..h {
        for i in -1..w {
            let corners = [at(i, j), at(i + 1, j), at(i + 1, j + 1), at(i, j + 1)];
            let edges = [(i, j, false), (i + 1, j, true), (i, j + 1, false), (i, j, true)];
            for (a, b) in crossings(&corners, level) {
                next.entry(edges[a]).or_default().push(edges[b]);
                next.entry(edges[b]).or_default().push(edges[a]);
            }
        }
    }
    let place = |&(i, j, up): &Edge| {
        let (to_i, to_j) = if up { (i, j + 1) } else { (i + 1, j) };
        let (from, to) = (at(i, j), at(to_i, to_j));
        let share = ((level - from) / (to - from)).clamp(0.0, 1.0);
        let (x, y) = (i as f64, j as f64);
        let (x, y) = if up { (x, y + share) } else { (x + share, y) };
        (x.clamp(0.0, (w - 1) as f64), y.clamp(0.0, (h - 1) as f64))
    };
    walk(next).iter().map(|edges| edges.iter().map(place).collect()).collect()
}

/// Which edges of a cell (below, right, above, left) are joined by the line.
fn crossings(corners: &[f64; 4], level: f64) -> Vec<(usize, usize)> {
    let is_above = corners.map(|v| v >= level);
    let crossed: Vec<usize> = (0..4).filter(|&k| is_above[k] != is_above[(k + 1) % 4]).collect();
    match crossed[..] {
        [a, b] => vec![(a, b)],
        [_, _, _, _] => {
            let middle = corners.iter().sum::<f64>() / 4.0 >= level;
            // The middle decides which corners hang together.
            if middle == is_above[0] { vec![(0, 1), (2, 3)] } else { vec![(3, 0), (1, 2)] }
        }
        _ => Vec::new(),
    }
}

/// Every edge has two neighbours: walking on from each leads around.
fn walk(mut next: HashMap<Edge, Vec<Edge>>) -> Vec<Vec<Edge>> {
    let mut starts: Vec<Edge> = next.keys().copied().collect();
    starts.sort_unstable();
    let mut loops = Vec::new();
    for start in starts {
        let (mut here, mut found) = (start, Vec::new());
        while let Some(onward) = next.get_mut(&here).and_then(Vec::pop) {
            found.push(here);
            if let Some(back) = next.get_mut(&onward) {
                back.retain(|edge| *edge != here);
            }
            here = onward;
        }
        if found.len() > 2 {
            loops.push(found);
        }
    }
    loops
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The area within a loop.
    fn area(points: &[(f64, f64)]) -> f64 {
        let pairs = points.iter().zip(points.iter().cycle().skip(1));
        (pairs.map(|(a, b)| a.0 * b.1 - b.0 * a.1).sum::<f64>() / 2.0).abs()
    }

    #[test]
    fn a_hill_has_one_loop_with_the_right_area() {
        let n = 81;
        let height = |i: usize, j: usize| {
            let (x, y) = (i as f64 - 40.0, j as f64 - 40.0);
            (-(x * x + y * y) / 200.0).exp()
        };
        let values: Vec<f64> = (0..n).flat_map(|j| (0..n).map(move |i| height(i, j))).collect();
        let found = loops(&values, n, (-2.0f64).exp());
        assert_eq!(found.len(), 1);
        // exp(-r^2 / 200) is exp(-2) at r = 20.
        let exact = std::f64::consts::PI * 400.0;
        assert!((area(&found[0]) - exact).abs() < 2.0, "{}", area(&found[0]));
        assert!(loops(&values, n, 2.0).is_empty());
    }

    #[test]
    fn two_hills_have_two_loops_and_one_at_the_rim_is_closed() {
        let mut values = vec![0.0; 100];
        (values[22], values[77]) = (1.0, 1.0);
        assert_eq!(loops(&values, 10, 0.5).len(), 2);
        values[0] = 1.0;
        let found = loops(&values, 10, 0.5);
        assert_eq!(found.len(), 3);
        assert!(
            found.iter().flatten().all(|(x, y)| (0.0..=9.0).contains(x) && (0.0..=9.0).contains(y))
        );
    }
}
