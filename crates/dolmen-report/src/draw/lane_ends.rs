//! Where the axis of lanes ends: one that is hopeless would squeeze all others into a corner.

use super::lanes::{Lane, shown_lanes};
use super::scale::{extent, padded};

/// A value that lies so many times farther from the best than the middle one is beyond the axis.
const FARTHER: f64 = 5.0;
/// The room on either side, as a share of the axis.
const ROOM: f64 = 0.06;

/// All values with the ends of their intervals.
pub(crate) fn lane_ends<'a>(
    lanes: impl IntoIterator<Item = &'a Lane>,
) -> impl Iterator<Item = f64> {
    let ends = |lane: &'a Lane| [lane.value].into_iter().chain(lane.interval.into_iter().flatten());
    lanes.into_iter().flat_map(ends)
}

/// The axis on which lanes can be told apart, with some room on either side: those that lie many times farther off than most are beyond
/// it. `None` where no value is finite.
pub(crate) fn axis_without_the_hopeless(lanes: &[Lane], is_rising: bool) -> Option<(f64, f64)> {
    let sign = if is_rising { 1.0 } else { -1.0 };
    let turned = |lane: &Lane| Lane {
        value: sign * lane.value,
        interval: lane.interval.map(
            |[low, high]| {
                if is_rising { [low, high] } else { [-high, -low] }
            },
        ),
        ..lane.clone()
    };
    let lanes: Vec<Lane> = lanes.iter().filter(|lane| lane.value.is_finite()).map(turned).collect();
    let (low, high) = rising_ends(&lanes)?;
    let ends = if is_rising { (low, high) } else { (-high, -low) };
    Some(padded(ends, ROOM))
}

/// The ends where the largest value is the best, all of them finite.
fn rising_ends(lanes: &[Lane]) -> Option<(f64, f64)> {
    let mut values: Vec<f64> = lanes.iter().map(|lane| lane.value).collect();
    values.sort_by(f64::total_cmp);
    let middle = *values.get(values.len() / 2)?;
    // The interval of a hopeless one may reach far beyond the best: the end is that of the better half, and of others that are no worse than
    // the floor.
    let above = |floor: f64| lanes.iter().filter(move |lane| lane.value >= floor);
    let (_, best) = extent(lane_ends(above(middle)))?;
    let floor = best - FARTHER * (best - middle).max(1e-3 * best.abs());
    let (_, high) = extent(lane_ends(above(floor)))?;
    let (low, _) = extent(lane_ends(lanes))?;
    let kept = lane_ends(above(floor)).filter(|end| *end >= floor).fold(high, f64::min);
    // What would not make the axis twice as long may as well be on it.
    let near = high - 2.0 * (high - kept);
    Some((if low >= floor.min(near) { low } else { kept }, high))
}

/// What arrows mean, where there are any, and how many that are not shown would have been double ones.
pub(crate) fn arrow_words(lanes: &[Lane], (low, high): (f64, f64)) -> String {
    let is_beyond = |lane: &&Lane| lane.value.is_finite() && !(low..=high).contains(&lane.value);
    let is_infinite = |lane: &&Lane| lane.value == f64::NEG_INFINITY;
    let shown = shown_lanes(lanes);
    let infinite = shown.iter().copied().filter(is_infinite).count();
    let arrows = match (shown.iter().any(is_beyond), infinite > 0) {
        (true, true) => {
            " An arrow points to a score beyond the picture, a double one to −∞: some row got no probability at all."
        }
        (true, false) => " An arrow points to a score beyond the picture.",
        (false, true) => " A double arrow is −∞: some row got no probability at all.",
        (false, false) => "",
    };
    match lanes.iter().filter(is_infinite).count() - infinite {
        0 => arrows.into(),
        more => format!(
            "{arrows} Of the members not shown {more} gave some row no probability at all: a score of −∞."
        ),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lane((value, reach): (f64, f64)) -> Lane {
        let interval = Some([value - reach, value + reach]);
        Lane { interval, ..Lane::new("a", value, String::new()) }
    }

    #[test]
    fn the_interval_of_a_hopeless_member_does_not_stretch_the_axis() {
        let scores = [(-8.2, 0.9), (-8.3, 1.6), (-9.5, 3.6), (-10.0, 1.4), (-421.0, 678.0)];
        let lanes: Vec<Lane> = scores.into_iter().map(lane).collect();
        let (low, high) = axis_without_the_hopeless(&lanes, true).unwrap();
        assert!(low > -20.0 && high < 0.0, "{low} to {high}");
        assert!(arrow_words(&lanes, (low, high)).contains("beyond the picture"));
        // Losses are the same upside down.
        let losses: Vec<Lane> = scores.into_iter().map(|(v, reach)| lane((-v, reach))).collect();
        assert_eq!(axis_without_the_hopeless(&losses, false), Some((-high, -low)));
        let near: Vec<Lane> = scores[..4].iter().copied().map(lane).collect();
        let all = padded(extent(lane_ends(&near)).unwrap(), ROOM);
        assert_eq!(axis_without_the_hopeless(&near, true), Some(all));
        assert_eq!(axis_without_the_hopeless(&[lane((f64::NEG_INFINITY, 1.0))], true), None);
    }
}
