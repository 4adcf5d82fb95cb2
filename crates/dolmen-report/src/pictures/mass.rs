//! Where a density is looked at: between ends that its mass fills, at points that lie the closer the narrower it is there.
//!
//! The rows that a model was fitted to reach from the smallest to the largest value. One value far off, or a mass much narrower than
//! the distance of two points, would leave nothing to be seen between these ends. Where the mass lies is known from rows drawn from the
//! density, which finds it at any scale.

use dolmen::error::{Error, Result};
use dolmen::recipe::{Model, Profile, Surface};
use dolmen::run::{Pool, Run};
use dolmen::table::Column;

/// Rows drawn to know where the mass lies.
const DRAWN: usize = 2000;
/// The parts of the mass that fill an axis, the first of them if the rows reach so many times farther, the next if that does; and the room
/// on either side.
const FILLING: [f64; 2] = [0.975, 0.9];
const FARTHER: f64 = 10.0;
const BESIDE: f64 = 0.5;
/// The narrowest stretch with this part of the rows in a piece of an axis has at least so many steps between points.
const PART: f64 = 0.25;
const STEPS: f64 = 2.0;
/// A narrow stretch is looked at together with so many times its width on either side: nearly five standard deviations of a Gaussian, so that
/// no contour runs on into the wide steps beyond.
const AROUND: f64 = 7.0;
/// Points of a piece that was cut out: so many that the stretch in its middle has [`STEPS`] of them.
const CUT_POINTS: usize = 36;
/// How often a piece is cut again, and the part of all rows drawn below which it is left alone.
const CUTS: usize = 3;
const FEW: f64 = 0.05;
/// The part of the mass that any density may have beyond its rows.
const TAILS: f64 = 0.02;

/// A picture of what the library can integrate or draw from; `None` where it cannot.
pub(super) fn if_possible<V>(found: Result<V>) -> Result<Option<V>> {
    match found {
        Err(Error::Data { .. }) => Ok(None),
        other => other.map(Some),
    }
}

/// Where the columns of a density are looked at.
#[derive(Debug)]
pub(super) struct Views<'a> {
    model: &'a Model,
    /// Values of each column drawn from the density, ascending.
    drawn: Vec<Vec<f64>>,
}

/// Where one column is looked at.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct View {
    pub(super) ends: [f64; 2],
    /// The same in pieces, each of which has its own points; one alone where these are close enough.
    pieces: Vec<[f64; 2]>,
    /// The part of the mass that lies beyond the ends; 0 where these are its usual tails beyond the rows.
    pub(super) beyond: f64,
}

impl<'a> Views<'a> {
    /// Of a density of numbers; `None` if it cannot be drawn from.
    pub(super) fn of(model: &'a Model) -> Result<Option<Self>> {
        let run = Run::with_pool(&Pool::around(), 0);
        let Some(table) = if_possible(model.sample(DRAWN, &run))? else { return Ok(None) };
        let sorted = |(_, column): (&str, &Column)| {
            let Column::Numeric(values) = column else { return Vec::new() };
            let mut values: Vec<f64> = values.iter().copied().filter(|v| v.is_finite()).collect();
            values.sort_by(f64::total_cmp);
            values
        };
        Ok(Some(Self { model, drawn: table.columns().map(sorted).collect() }))
    }

    /// Where a column is looked at with so many points; `None` if the density of the column alone is not known.
    pub(super) fn of_column(&self, column: usize, points: usize) -> Result<Option<View>> {
        let Some(rows) = if_possible(self.model.column_range(column))? else { return Ok(None) };
        Ok(Some(View::of(&self.drawn[column], rows, points)))
    }

    /// The density of a column where it is looked at.
    pub(super) fn profile(&self, column: usize, view: &View, points: usize) -> Result<Profile> {
        let points = view.points(points);
        let mut parts = view.pieces.iter().map(|ends| self.model.profile(column, *ends, points));
        let mut all = parts.next().expect("a view has a piece")?;
        for part in parts {
            // A piece begins where the one before ends.
            let part = part?;
            all.x.extend(&part.x[1..]);
            all.stack.extend(&part.stack[1..]);
            for (own, more) in all.members.iter_mut().zip(&part.members) {
                own.values.extend(&more.values[1..]);
            }
        }
        Ok(all)
    }

    /// The density of two columns where they are looked at.
    pub(super) fn surface(
        &self,
        pair: [usize; 2],
        views: [&View; 2],
        points: usize,
    ) -> Result<Surface> {
        // Tiles have as many points each way: no fewer than a view in one piece needs.
        let is_whole = views.iter().any(|view| view.pieces.len() == 1);
        let points = if is_whole { points } else { CUT_POINTS };
        let mut all: Option<Surface> = None;
        for up in &views[1].pieces {
            let mut row: Option<Surface> = None;
            for across in &views[0].pieces {
                let tile = self.model.surface(pair, [*across, *up], points)?;
                row = Some(row.map_or_else(|| tile.clone(), |left| beside(&left, &tile)));
            }
            let row = row.expect("a view has a piece");
            all = Some(match all {
                None => row,
                Some(below) => above(below, &row),
            });
        }
        Ok(all.expect("a view has a piece"))
    }
}

/// Two parts of a surface that have a side in common.
fn beside(left: &Surface, right: &Surface) -> Surface {
    let x: Vec<f64> = left.x.iter().chain(&right.x[1..]).copied().collect();
    let rows = left.values.chunks_exact(left.x.len()).zip(right.values.chunks_exact(right.x.len()));
    let values = rows.flat_map(|(left, right)| left.iter().chain(&right[1..]).copied()).collect();
    Surface { x, values, ..left.clone() }
}

fn above(mut below: Surface, upper: &Surface) -> Surface {
    below.y.extend(&upper.y[1..]);
    below.values.extend(&upper.values[upper.x.len()..]);
    below
}

/// The height above which a share of the probability on a grid lies, however far apart its points are.
pub(super) fn height_holding(surface: &Surface, share: f64) -> f64 {
    let room = |at: &[f64], k: usize| at[(k + 1).min(at.len() - 1)] - at[k.saturating_sub(1)];
    let across: Vec<f64> = (0..surface.x.len()).map(|i| room(&surface.x, i)).collect();
    let up: Vec<f64> = (0..surface.y.len()).map(|j| room(&surface.y, j)).collect();
    let cells = up.iter().flat_map(|up| across.iter().map(move |across| across * up));
    let mut held: Vec<(f64, f64)> =
        surface.values.iter().zip(cells).map(|(height, cell)| (*height, height * cell)).collect();
    held.sort_by(|a, b| b.0.total_cmp(&a.0));
    let total: f64 = held.iter().map(|(_, mass)| mass).sum();
    let mut so_far = 0.0;
    let is_within = |(_, mass): &&(f64, f64)| {
        so_far += mass;
        so_far >= share * total
    };
    held.iter().find(is_within).map_or(0.0, |(height, _)| *height)
}

impl View {
    /// Of values drawn from a density, ascending, and the ends of the rows.
    fn of(drawn: &[f64], rows: [f64; 2], points: usize) -> Self {
        let ends = filled(drawn, rows);
        let within = between(drawn, ends);
        let beyond = (drawn.len() - within.len()) as f64 / drawn.len().max(1) as f64;
        let beyond = if ends == rows && beyond < TAILS { 0.0 } else { beyond };
        let few = (FEW * drawn.len() as f64) as usize;
        let mut pieces = Vec::new();
        cut(within, ends, points, few.max(1), CUTS, &mut pieces);
        Self { ends, pieces, beyond }
    }

    /// Points of each piece.
    fn points(&self, whole: usize) -> usize {
        if self.pieces.len() == 1 { whole } else { whole.div_ceil(3).max(CUT_POINTS) }
    }
}

/// The ends of the rows, or where these reach much farther than nearly all of the mass, those of the mass.
fn filled(drawn: &[f64], rows: [f64; 2]) -> [f64; 2] {
    FILLING.into_iter().fold(rows, |ends, share| {
        let Some([low, high]) = shortest(drawn, share) else { return ends };
        let width = high - low;
        if width <= 0.0 || ends[1] - ends[0] <= FARTHER * width {
            return ends;
        }
        [(low - BESIDE * width).max(ends[0]), (high + BESIDE * width).min(ends[1])]
    })
}

/// Cuts narrow stretches with much of the mass out of a piece of an axis, as they need points of their own.
fn cut(
    drawn: &[f64],
    ends: [f64; 2],
    points: usize,
    few: usize,
    cuts: usize,
    pieces: &mut Vec<[f64; 2]>,
) {
    let step = (ends[1] - ends[0]) / points as f64;
    let narrow = shortest(drawn, PART).filter(|[low, high]| {
        let width = high - low;
        drawn.len() > few && cuts > 0 && width > 0.0 && width < STEPS * step
    });
    let Some([low, high]) = narrow else {
        pieces.push(ends);
        return;
    };
    let margin = AROUND * (high - low);
    let inner = [(low - margin).max(ends[0]), (high + margin).min(ends[1])];
    for piece in [[ends[0], inner[0]], inner, [inner[1], ends[1]]] {
        if piece[1] > piece[0] {
            cut(between(drawn, piece), piece, CUT_POINTS, few, cuts - 1, pieces);
        }
    }
}

/// The narrowest stretch that holds a share of ascending values; `None` of fewer than two.
fn shortest(values: &[f64], share: f64) -> Option<[f64; 2]> {
    let held = ((share * values.len() as f64).ceil() as usize).max(2);
    let stretches = values.windows(held).map(|window| [window[0], window[held - 1]]);
    stretches.min_by(|a, b| (a[1] - a[0]).total_cmp(&(b[1] - b[0])))
}

/// The ascending values between two ends.
fn between(values: &[f64], [low, high]: [f64; 2]) -> &[f64] {
    let from = values.partition_point(|v| *v < low);
    &values[from..values.partition_point(|v| *v <= high).max(from)]
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Values spread like a triangle around a place.
    fn hill(middle: f64, half: f64, count: u32) -> Vec<f64> {
        let share = |k: u32| (f64::from(k) + 0.5) / f64::from(count);
        let side =
            |u: f64| if u < 0.5 { (2.0 * u).sqrt() - 1.0 } else { 1.0 - (2.0 - 2.0 * u).sqrt() };
        (0..count).map(|k| middle + half * side(share(k))).collect()
    }

    fn sorted(parts: &[Vec<f64>]) -> Vec<f64> {
        let mut all = parts.concat();
        all.sort_by(f64::total_cmp);
        all
    }

    #[test]
    fn what_fills_its_rows_is_seen_as_a_whole() {
        let view = View::of(&hill(5.0, 2.0, 2000), [2.0, 8.0], 72);
        let whole = View { ends: [2.0, 8.0], pieces: vec![[2.0, 8.0]], beyond: 0.0 };
        assert_eq!(view, whole);
        assert_eq!(View::of(&[], [0.0, 1.0], 72).ends, [0.0, 1.0]);
        assert_eq!(View::of(&[3.0; 50], [0.0, 1e9], 72).ends, [0.0, 1e9]);
    }

    #[test]
    fn one_row_far_off_does_not_empty_an_axis() {
        let drawn = sorted(&[hill(0.0, 3.0, 1996), vec![1e9; 4]]);
        let view = View::of(&drawn, [-8e7, 1.08e9], 240);
        assert!(view.ends[0] > -8.0 && view.ends[1] < 8.0, "{view:?}");
        assert!((view.beyond - 0.002).abs() < 1e-9, "{view:?}");
        let wide = sorted(&[hill(0.0, 3.0, 1900), hill(0.0, 1e6, 96), vec![1e9; 4]]);
        let view = View::of(&wide, [-8e7, 1.08e9], 240);
        assert!(view.ends[0] > -8.0 && view.ends[1] < 8.0, "{view:?}");
    }

    #[test]
    fn narrow_hills_far_apart_have_points_of_their_own() {
        let drawn = sorted(&[hill(0.0, 0.02, 990), hill(50.0, 0.03, 990), hill(20.0, 30.0, 20)]);
        let view = View::of(&drawn, [-12.0, 55.0], 72);
        assert_eq!(view.ends, [-12.0, 55.0]);
        for middle in [0.0, 50.0] {
            let own = view.pieces.iter().find(|piece| piece[0] < middle && piece[1] > middle);
            let own = own.expect("a piece around the hill");
            assert!(own[1] - own[0] < 0.2, "{view:?}");
        }
        let joined = view.pieces.windows(2).all(|pair| pair[0][1] == pair[1][0]);
        assert!(joined && view.pieces.len() <= 7, "{view:?}");
    }

    #[test]
    fn heights_know_how_far_apart_points_are() {
        // Most of the mass lies in a strip at the right, where points are close to one another.
        let x = vec![0.0, 0.45, 0.9, 0.95, 1.0];
        let values = [1.0, 1.0, 9.0, 9.0, 9.0].repeat(3);
        let names = ["a".to_string(), "b".to_string()];
        let surface = Surface { names, x, y: vec![0.0, 0.5, 1.0], values };
        assert_eq!([0.4, 0.9].map(|share| height_holding(&surface, share)), [9.0, 1.0]);
    }
}
