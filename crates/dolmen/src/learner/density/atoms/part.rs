//! One column in one component: the probabilities of its atoms, and a normal distribution elsewhere.

use rand::{Rng, RngExt};
use rand_distr::StandardNormal;
use serde::{Deserialize, Serialize};

use super::columns::{At, Column};
use crate::store::are_shares;

/// ln(2 pi) / 2.
pub(super) const HALF_LN_TWO_PI: f64 = 0.918_938_533_204_672_8;
/// Of a normal distribution nearly all of whose probability lies in the cells, so much is taken to be left: what is divided by it then
/// stays a number.
const LEAST_OUTSIDE: f64 = 1e-9;
/// Draws that may fall into cells before one is taken as it is.
const DRAWS: usize = 1000;

/// The distribution of a column's value; the normal one in units in which the column has mean 0 and deviation 1.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(super) struct Part {
    /// The probability to be elsewhere, then those of the atoms.
    #[serde(with = "crate::store::floats")]
    pub(super) shares: Vec<f64>,
    pub(super) mean: f64,
    pub(super) deviation: f64,
}

/// A column and its units: `x = shift + scale z`.
#[derive(Debug, Clone, Copy)]
pub(super) struct Place<'a> {
    pub(super) column: &'a Column,
    pub(super) shift: f64,
    pub(super) scale: f64,
}

impl Place<'_> {
    pub(super) fn inward(&self, x: f64) -> f64 {
        (x - self.shift) / self.scale
    }

    /// The cell of an atom, in the units of the column.
    fn cell(&self, atom: f64) -> [f64; 2] {
        let half = 0.5 * self.column.cell();
        [atom - half, atom + half]
    }
}

/// A part with what evaluating it takes.
#[derive(Debug, Clone)]
pub(super) struct Evaluated {
    /// The log densities in the atoms' cells.
    atoms: Vec<f64>,
    /// `ln q_0 - ln(1 - c) - ln(sqrt(2 pi) sigma scale)`.
    elsewhere: f64,
}

impl Part {
    /// Whether it can be what a file says, for a column of so many atoms.
    pub(super) fn is_consistent(&self, atoms: usize) -> bool {
        self.shares.len() == atoms + 1
            && are_shares(&self.shares)
            && self.mean.is_finite()
            && self.deviation > 0.0
            && self.deviation.is_finite()
    }

    /// The normal distribution's probability of values of at most `x`.
    fn below(&self, x: f64, place: Place<'_>) -> f64 {
        let y = (place.inward(x) - self.mean) / self.deviation;
        0.5 * libm::erfc(-y * std::f64::consts::FRAC_1_SQRT_2)
    }

    /// The normal distribution's probability of an interval: from the nearer tail, so that little ones are right.
    fn within(&self, [low, high]: [f64; 2], place: Place<'_>) -> f64 {
        let y =
            |x| (place.inward(x) - self.mean) / self.deviation * std::f64::consts::FRAC_1_SQRT_2;
        let (low, high) = (y(low), y(high));
        let (near, far) = if low > 0.0 { (low, high) } else { (-high, -low) };
        0.5 * (libm::erfc(near) - libm::erfc(far)).max(0.0)
    }

    /// The normal distribution's probability to be in no cell.
    fn outside(&self, place: Place<'_>) -> f64 {
        let cells = place.column.atoms().iter().map(|&atom| self.within(place.cell(atom), place));
        (1.0 - cells.sum::<f64>()).max(LEAST_OUTSIDE)
    }

    pub(super) fn evaluated(&self, place: Place<'_>) -> Evaluated {
        let ln_cell = place.column.cell().ln();
        let ln_scale = self.deviation.ln() + place.scale.ln() + HALF_LN_TWO_PI;
        Evaluated {
            atoms: self.shares[1..].iter().map(|share| share.ln() - ln_cell).collect(),
            elsewhere: self.shares[0].ln() - self.outside(place).ln() - ln_scale,
        }
    }

    /// The log density of a value; 0 of one that is missing.
    pub(super) fn ln_density(&self, evaluated: &Evaluated, at: At, z: f64) -> f64 {
        match at {
            At::Missing => 0.0,
            At::Atom(atom) => evaluated.atoms[atom],
            At::Elsewhere => {
                let y = (z - self.mean) / self.deviation;
                evaluated.elsewhere - 0.5 * y * y
            }
        }
    }

    /// The probability of values of at most `x`: within a cell it rises evenly, elsewhere with what of the normal distribution is outside of cells.
    pub(super) fn cdf(&self, x: f64, place: Place<'_>) -> f64 {
        let (mut at_atoms, mut outside) = (0.0, self.below(x, place));
        for (&atom, share) in place.column.atoms().iter().zip(&self.shares[1..]) {
            let [low, high] = place.cell(atom);
            let reached = x.clamp(low, high);
            at_atoms += share * (reached - low) / (high - low);
            outside -= self.within([low, reached], place);
        }
        at_atoms + self.shares[0] * (outside / self.outside(place)).clamp(0.0, 1.0)
    }

    /// Draws a value: an atom itself, or one outside of the cells.
    pub(super) fn draw(&self, place: Place<'_>, rng: &mut dyn Rng) -> f64 {
        let mut left = rng.random::<f64>() - self.shares[0];
        if left >= 0.0 {
            for (&atom, share) in place.column.atoms().iter().zip(&self.shares[1..]) {
                left -= share;
                if left < 0.0 {
                    return atom;
                }
            }
        }
        let mut x = place.shift;
        for _ in 0..DRAWS {
            let z: f64 = rng.sample(StandardNormal);
            x = place.scale.mul_add(self.deviation.mul_add(z, self.mean), place.shift);
            if place.column.at(x) == At::Elsewhere {
                break;
            }
        }
        x
    }
}
