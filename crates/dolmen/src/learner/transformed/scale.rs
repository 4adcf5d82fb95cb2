//! Scales of a target: as it is, its logarithm, or a power of it, and the way back.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::error::{Error, Place, Result};

/// On which scale a target is learned.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum TargetScale {
    /// Of the three others, the one that does best on rows held out.
    #[default]
    Auto,
    /// As it is.
    Plain,
    /// Its logarithm; all numbers must be above 0.
    Log,
    /// The power of it that is nearest to a normal distribution, of numbers of either sign.
    YeoJohnson,
}

/// A scale that was learned.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(super) enum Scale {
    Plain,
    Log,
    /// Yeo and Johnson's power of numbers counted in a unit [YeoJohnson2000, section 2].
    Power {
        power: f64,
        unit: f64,
    },
}

impl Scale {
    /// The scale of this kind for these numbers, each of some weight; `Auto` is none by itself.
    pub(super) fn of(kind: TargetScale, y: &[f64], weight: impl Fn(usize) -> f64) -> Result<Self> {
        if let Some(row) = y.iter().position(|y| !y.is_finite()) {
            return Err(Error::data(Place::row(row), "the target is not a finite number"));
        }
        match kind {
            TargetScale::Auto | TargetScale::Plain => Ok(Self::Plain),
            TargetScale::Log => match y.iter().position(|y| *y <= 0.0) {
                None => Ok(Self::Log),
                Some(row) => {
                    let problem = format!("the target is {}: it has no logarithm", y[row]);
                    let hint = "write scale=yeo-johnson, which takes numbers of either sign";
                    Err(Error::data(Place::row(row), problem).with_hint(hint))
                }
            },
            TargetScale::YeoJohnson => Ok(power_of(y, weight)),
        }
    }

    /// A number on this scale.
    pub(super) fn there(self, y: f64) -> f64 {
        match self {
            Self::Plain => y,
            Self::Log => y.ln(),
            Self::Power { power, unit } => yeo_johnson(y / unit, power),
        }
    }

    /// The number that has this place on the scale; beyond its ends not a number, or infinite.
    pub(super) fn back(self, z: f64) -> f64 {
        match self {
            Self::Plain => z,
            Self::Log => z.exp(),
            Self::Power { power, unit } => unit * inverse(z, power),
        }
    }

    /// Whether it was learned from numbers; read from a file, it might not be.
    pub(super) fn is_sound(self) -> bool {
        match self {
            Self::Plain | Self::Log => true,
            Self::Power { power, unit } => {
                (POWERS.0..=POWERS.1).contains(&power) && unit > 0.0 && unit.is_finite()
            }
        }
    }

    /// Its name, and its power.
    pub(super) fn describe(self) -> (&'static str, Option<f64>) {
        match self {
            Self::Plain => ("plain", None),
            Self::Log => ("log", None),
            Self::Power { power, .. } => ("yeo-johnson", Some(power)),
        }
    }
}

/// Between these powers the likeliest is looked for.
const POWERS: (f64, f64) = (-2.0, 4.0);

/// Yeo and Johnson's power of a number: Box and Cox's of 1 + u, and of numbers below 0 that of 1 - u by the power 2 - p, with its sign.
fn yeo_johnson(u: f64, power: f64) -> f64 {
    let half = |u: f64, power: f64| {
        let log = u.ln_1p();
        if power == 0.0 { log } else { (power * log).exp_m1() / power }
    };
    if u >= 0.0 { half(u, power) } else { -half(-u, 2.0 - power) }
}

/// The number of which this is the power.
fn inverse(z: f64, power: f64) -> f64 {
    let half = |z: f64, power: f64| {
        if power == 0.0 { z.exp_m1() } else { ((power * z).ln_1p() / power).exp_m1() }
    };
    if z >= 0.0 { half(z, power) } else { -half(-z, 2.0 - power) }
}

/// The power under which numbers are likeliest to come from a normal distribution, by golden sections of the range. They are counted in their
/// mean size, so that scaling them changes nothing.
fn power_of(y: &[f64], weight: impl Fn(usize) -> f64) -> Scale {
    /// Enough for six digits of the power.
    const SECTIONS: usize = 32;
    const GOLDEN: f64 = 0.618_033_988_749_894_8;
    let counted: Vec<(f64, f64)> =
        y.iter().enumerate().map(|(i, y)| (*y, weight(i))).filter(|(_, w)| *w > 0.0).collect();
    let all: f64 = counted.iter().map(|(_, w)| w).sum();
    let size = counted.iter().map(|(y, w)| (w / all) * y.abs()).sum::<f64>();
    if !(size > 0.0 && size.is_finite()) {
        return Scale::Plain;
    }
    let likelihood = |power: f64| {
        let (mut sum, mut squares, mut bend) = (0.0, 0.0, 0.0);
        for (y, w) in &counted {
            let (u, share) = (y / size, w / all);
            let z = yeo_johnson(u, power);
            sum += share * z;
            squares += share * z * z;
            bend += share * u.signum() * u.abs().ln_1p();
        }
        -0.5 * (squares - sum * sum).max(f64::MIN_POSITIVE).ln() + (power - 1.0) * bend
    };
    let (mut low, mut high) = POWERS;
    let at = |low: f64, high: f64| (high - GOLDEN * (high - low), low + GOLDEN * (high - low));
    let (mut left, mut right) = at(low, high);
    let (mut of_left, mut of_right) = (likelihood(left), likelihood(right));
    for _ in 0..SECTIONS {
        if of_left > of_right {
            (high, right, of_right) = (right, left, of_left);
            left = at(low, high).0;
            of_left = likelihood(left);
        } else {
            (low, left, of_left) = (left, right, of_right);
            right = at(low, high).1;
            of_right = likelihood(right);
        }
    }
    Scale::Power { power: 0.5 * (low + high), unit: size }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn there_and_back() {
        for power in [-2.0, -0.5, 0.0, 0.3, 1.0, 2.0, 2.7] {
            let scale = Scale::Power { power, unit: 3.0 };
            for y in [-40.0, -3.0, -0.1, 0.0, 1e-6, 0.5, 7.0, 80.0] {
                let found = scale.back(scale.there(y));
                assert!((found - y).abs() < 1e-9 * (1.0 + y.abs()), "{power} {y}: {found}");
            }
            assert!(scale.there(1.0) > scale.there(0.5) && scale.there(-0.5) > scale.there(-1.0));
        }
        // Box and Cox's power 1 changes nothing.
        assert!(
            (yeo_johnson(-3.0, 1.0) + 3.0).abs() < 1e-12
                && (yeo_johnson(5.0, 1.0) - 5.0).abs() < 1e-12
        );
    }

    #[test]
    fn the_power_straightens_what_is_skewed_and_knows_no_unit() {
        let skewed: Vec<f64> = (1..400).map(|i| (f64::from(i) / 80.0).exp() - 1.0).collect();
        let Scale::Power { power, .. } = power_of(&skewed, |_| 1.0) else { panic!("a power") };
        assert!(power < 0.5, "{power}");
        let scaled: Vec<f64> = skewed.iter().map(|y| 1024.0 * y).collect();
        let Scale::Power { power: again, .. } = power_of(&scaled, |_| 1.0) else {
            panic!("a power")
        };
        assert_eq!(power.to_bits(), again.to_bits());
        // Each row twice is as two of each.
        let twice: Vec<f64> = skewed.iter().chain(&skewed).copied().collect();
        let Scale::Power { power: doubled, .. } = power_of(&twice, |_| 1.0) else {
            panic!("a power")
        };
        assert!((power - doubled).abs() < 1e-5);
        assert_eq!(power_of(&[0.0, 0.0], |_| 1.0), Scale::Plain);
    }
}
