//! The shapes of kernels: value, distribution function, random draws, and the constants of the bandwidth rules.

use std::f64::consts::{FRAC_1_SQRT_2, PI};

use rand::{Rng, RngExt};
use rand_distr::{Distribution, StandardNormal};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A one-dimensional kernel K; in several dimensions kernels are multiplied.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Shape {
    /// exp(-u^2/2) / sqrt(2 pi).
    #[default]
    Gaussian,
    /// 1 - |u| on [-1, 1].
    Triangular,
    /// 3/4 (1 - u^2) on [-1, 1].
    Epanechnikov,
    /// 1/2 on [-1, 1].
    Uniform,
    /// 15/16 (1 - u^2)^2 on [-1, 1].
    Biweight,
    /// 35/32 (1 - u^2)^3 on [-1, 1].
    Triweight,
}

/// What is left of a kernel without its constant, for t = |u|: the part that inner loops compute.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Profile {
    /// exp(-t^2/2).
    Gaussian,
    /// max(0, 1 - t).
    Linear,
    /// max(0, 1 - t^2) to this power.
    Quadratic(u8),
    /// 1 for t <= 1, else 0.
    Box,
}

impl Shape {
    /// All shapes.
    pub const ALL: [Self; 6] = [
        Self::Gaussian,
        Self::Triangular,
        Self::Epanechnikov,
        Self::Uniform,
        Self::Biweight,
        Self::Triweight,
    ];

    /// The name in specs and members' names.
    pub fn name(self) -> &'static str {
        match self {
            Self::Gaussian => "gaussian",
            Self::Triangular => "triangular",
            Self::Epanechnikov => "epanechnikov",
            Self::Uniform => "uniform",
            Self::Biweight => "biweight",
            Self::Triweight => "triweight",
        }
    }

    /// K(u).
    pub fn value(self, u: f64) -> f64 {
        self.constant() * self.profile().value(u.abs())
    }

    /// The integral of K up to u.
    pub fn cdf(self, u: f64) -> f64 {
        if self == Self::Gaussian {
            return 0.5 * libm::erfc(-u * FRAC_1_SQRT_2);
        }
        let u = u.clamp(-1.0, 1.0);
        let square = u * u;
        match self {
            Self::Gaussian => unreachable!("returned above"),
            Self::Triangular if u < 0.0 => 0.5 * (1.0 + u) * (1.0 + u),
            Self::Triangular => 1.0 - 0.5 * (1.0 - u) * (1.0 - u),
            Self::Epanechnikov => 0.5 + 0.25 * u * (3.0 - square),
            Self::Uniform => 0.5 + 0.5 * u,
            Self::Biweight => 0.5 + u / 16.0 * (15.0 - square * (10.0 - 3.0 * square)),
            Self::Triweight => {
                0.5 + u / 32.0 * (35.0 - square * (35.0 - square * (21.0 - 5.0 * square)))
            }
        }
    }

    /// Draws u from K.
    pub fn draw(self, rng: &mut dyn Rng) -> f64 {
        let uniforms = match self {
            Self::Gaussian => return StandardNormal.sample(rng),
            Self::Triangular => return rng.random::<f64>() - rng.random::<f64>(),
            Self::Uniform => 1,
            // The median of 2p + 1 uniform numbers on [-1, 1] has a density proportional to (1 - u^2)^p.
            Self::Epanechnikov => 3,
            Self::Biweight => 5,
            Self::Triweight => 7,
        };
        let mut draws = [0.0; 7];
        let draws = &mut draws[..uniforms];
        draws.fill_with(|| 2.0 * rng.random::<f64>() - 1.0);
        draws.sort_unstable_by(f64::total_cmp);
        draws[uniforms / 2]
    }

    /// K(u) = constant * profile(|u|).
    pub(super) fn constant(self) -> f64 {
        match self {
            Self::Gaussian => 1.0 / (2.0 * PI).sqrt(),
            Self::Triangular => 1.0,
            Self::Epanechnikov => 0.75,
            Self::Uniform => 0.5,
            Self::Biweight => 15.0 / 16.0,
            Self::Triweight => 35.0 / 32.0,
        }
    }

    pub(super) fn profile(self) -> Profile {
        match self {
            Self::Gaussian => Profile::Gaussian,
            Self::Triangular => Profile::Linear,
            Self::Epanechnikov => Profile::Quadratic(1),
            Self::Uniform => Profile::Box,
            Self::Biweight => Profile::Quadratic(2),
            Self::Triweight => Profile::Quadratic(3),
        }
    }

    /// The bandwidth of this kernel that smooths like a Gaussian one of bandwidth 1, in `dimension` dimensions: the ratio
    /// of the bandwidths that minimise the asymptotic mean integrated squared error, (R(K)^d / m2(K)^2)^(1/(d+4)) with
    /// R the integral of K^2 and m2 that of u^2 K \[Scott1992, 6.3\].
    pub(super) fn canonical_ratio(self, dimension: usize) -> f64 {
        // In logarithms: the power d of R is 0 in double precision from some hundred dimensions on.
        let d = dimension as f64;
        let ((roughness, variance), (of_gaussian, one)) =
            (self.moments(), Self::Gaussian.moments());
        let power = d * (roughness / of_gaussian).ln() - 2.0 * (variance / one).ln();
        (power / (d + 4.0)).exp()
    }

    /// The integrals of K^2 and of u^2 K.
    pub(super) fn moments(self) -> (f64, f64) {
        match self {
            Self::Gaussian => (0.5 / PI.sqrt(), 1.0),
            Self::Triangular => (2.0 / 3.0, 1.0 / 6.0),
            Self::Epanechnikov => (3.0 / 5.0, 1.0 / 5.0),
            Self::Uniform => (1.0 / 2.0, 1.0 / 3.0),
            Self::Biweight => (5.0 / 7.0, 1.0 / 7.0),
            Self::Triweight => (350.0 / 429.0, 1.0 / 9.0),
        }
    }
}

impl Profile {
    /// The profile at t >= 0.
    pub(super) fn value(self, t: f64) -> f64 {
        match self {
            Self::Gaussian => (-0.5 * t * t).exp(),
            Self::Linear => (1.0 - t).max(0.0),
            Self::Quadratic(power) => (1.0 - t * t).max(0.0).powi(i32::from(power)),
            Self::Box => f64::from(u8::from(t <= 1.0)),
        }
    }
}

#[cfg(test)]
mod tests {
    use rand::SeedableRng;
    use rand_chacha::ChaCha8Rng;

    use super::*;

    /// Simpson's rule on [-9, 9], with a node at every kink of the kernels.
    fn integral(f: impl Fn(f64) -> f64) -> f64 {
        let steps = 18_000;
        let width = 18.0 / f64::from(steps);
        let weight = |i| match i {
            0 => 1.0,
            _ if i == steps => 1.0,
            _ if i % 2 == 1 => 4.0,
            _ => 2.0,
        };
        let node = |i| weight(i) * f(-9.0 + width * f64::from(i));
        (0..=steps).map(node).sum::<f64>() * width / 3.0
    }

    #[test]
    fn constants_are_the_integrals_they_claim_to_be() {
        for shape in Shape::ALL {
            let (roughness, variance) = shape.moments();
            // The jump of the uniform kernel costs Simpson's rule half a step.
            let tolerance = if shape == Shape::Uniform { 1e-3 } else { 1e-9 };
            assert!((integral(|u| shape.value(u)) - 1.0).abs() < tolerance);
            assert!((integral(|u| shape.value(u).powi(2)) - roughness).abs() < tolerance);
            assert!((integral(|u| u * u * shape.value(u)) - variance).abs() < tolerance);
        }
    }

    #[test]
    fn the_cdf_is_the_integral_of_the_kernel() {
        for shape in Shape::ALL {
            for i in -35..=35 {
                let u = f64::from(i) / 25.0;
                let step = 1e-5;
                let slope = (shape.cdf(u + step) - shape.cdf(u - step)) / (2.0 * step);
                let smooth = (u.abs() - 1.0).abs() > 1e-3;
                assert!(!smooth || (slope - shape.value(u)).abs() < 1e-5, "{shape:?} {u}");
            }
            assert!(shape.cdf(-20.0) < 1e-80 && (shape.cdf(20.0) - 1.0).abs() < 1e-15);
        }
    }

    #[test]
    fn draws_follow_the_kernel() {
        let mut rng = ChaCha8Rng::seed_from_u64(1);
        for shape in Shape::ALL {
            let mut draws: Vec<f64> = (0..20_000).map(|_| shape.draw(&mut rng)).collect();
            draws.sort_unstable_by(f64::total_cmp);
            let share = |i: usize| (i as f64 + 0.5) / draws.len() as f64;
            let gap = |(i, &u): (usize, &f64)| (shape.cdf(u) - share(i)).abs();
            let worst = draws.iter().enumerate().map(gap).fold(0.0, f64::max);
            // Kolmogorov-Smirnov: 1.95 / sqrt(n) is exceeded once in a thousand.
            assert!(worst < 1.95 / 20_000_f64.sqrt(), "{shape:?}: {worst}");
        }
    }
}
