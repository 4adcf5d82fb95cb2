//! Lines without the points that no eye would miss: of a smooth curve most lie on the line between their neighbours, as nearly as a
//! screen shows it.

/// How far beside the line a point may lie and be left out, in pixels.
const UNSEEN: f64 = 0.12;

/// The points that a line needs, the first and the last of them too (Ramer's way, and Douglas and Peucker's): the farthest from the
/// line between two ends is kept, and the parts on both sides of it are looked at in the same way.
pub(super) fn thinned(points: &[(f64, f64)]) -> Vec<(f64, f64)> {
    let Some(last) = points.len().checked_sub(1) else { return Vec::new() };
    let mut is_kept = vec![false; points.len()];
    (is_kept[0], is_kept[last]) = (true, true);
    let mut parts = vec![(0, last)];
    while let Some((from, to)) = parts.pop() {
        let off = |k: usize| (distance(points[k], points[from], points[to]), k);
        let farthest = (from + 1..to).map(off).max_by(|a, b| a.0.total_cmp(&b.0));
        if let Some((_, k)) = farthest.filter(|(distance, _)| *distance > UNSEEN) {
            is_kept[k] = true;
            parts.extend([(from, k), (k, to)]);
        }
    }
    points.iter().zip(is_kept).filter(|(_, is_kept)| *is_kept).map(|(point, _)| *point).collect()
}

/// How far a point lies from the line between two others, which may be the same.
fn distance((x, y): (f64, f64), from: (f64, f64), to: (f64, f64)) -> f64 {
    let (across, up) = (to.0 - from.0, to.1 - from.1);
    let length = across.mul_add(across, up * up);
    let along = ((x - from.0) * across + (y - from.1) * up) / length;
    let share = if length > 0.0 { along.clamp(0.0, 1.0) } else { 0.0 };
    (x - from.0 - share * across).hypot(y - from.1 - share * up)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_left_runs_through_what_was_there() {
        let hill = |k: u32| {
            let x = f64::from(k) * 2.0;
            (x, 300.0 - 250.0 * (-0.5 * ((x - 240.0) / 40.0).powi(2)).exp())
        };
        let points: Vec<(f64, f64)> = (0..240).map(hill).collect();
        let kept = thinned(&points);
        assert!(
            kept.len() < points.len() / 3 && kept[0] == points[0] && kept.last() == points.last()
        );
        let off = |point: &(f64, f64)| {
            let near = kept.windows(2).map(|pair| distance(*point, pair[0], pair[1]));
            near.fold(f64::INFINITY, f64::min)
        };
        assert!(points.iter().map(off).fold(0.0, f64::max) <= UNSEEN, "{kept:?}");
        // A loop that ends where it begins keeps its corners.
        let square = [(0.0, 0.0), (5.0, 0.0), (9.0, 0.0), (9.0, 9.0), (0.0, 9.0), (0.0, 0.0)];
        assert_eq!(thinned(&square).len(), 5);
        assert_eq!(thinned(&[]), []);
        assert_eq!(thinned(&[(1.0, 2.0)]), [(1.0, 2.0)]);
    }
}
