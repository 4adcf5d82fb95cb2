//! Products of many factors, kept as they are or as logarithms.

/// How a probability is kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Scale {
    /// As it is: products need no logarithm.
    Plain,
    /// As its logarithm, where products of this many factors would leave the range of numbers.
    Log,
}

/// Products of factors below 2^k, at most `RANGE` / k of them, are numbers, and so are their reciprocals.
const RANGE: f64 = 1000.0;

/// How many factors up to `largest` may be multiplied before a logarithm is taken.
pub(super) fn most_factors(largest: f64) -> usize {
    ((RANGE / largest.max(2.0).log2()) as usize).max(1)
}

impl Scale {
    /// The scale for products of this many factors up to `largest`.
    pub(super) fn of_products(factors: usize, largest: f64) -> Self {
        if factors <= most_factors(largest) { Self::Plain } else { Self::Log }
    }

    /// A number on this scale.
    pub(super) fn of(self, number: f64) -> f64 {
        match self {
            Self::Plain => number,
            Self::Log => number.ln(),
        }
    }

    pub(super) fn times(self, a: f64, b: f64) -> f64 {
        match self {
            Self::Plain => a * b,
            Self::Log => a + b,
        }
    }

    pub(super) fn over(self, a: f64, b: f64) -> f64 {
        match self {
            Self::Plain => a / b,
            Self::Log => a - b,
        }
    }

    /// The product of numbers that are not on this scale.
    pub(super) fn product(self, factors: impl Iterator<Item = f64>) -> f64 {
        match self {
            Self::Plain => factors.product(),
            Self::Log => log_product(factors),
        }
    }

    /// The logarithm of a number on this scale.
    pub(super) fn ln(self, number: f64) -> f64 {
        match self {
            Self::Plain => number.ln(),
            Self::Log => number,
        }
    }

    /// What is impossible.
    pub(super) fn zero(self) -> f64 {
        self.of(0.0)
    }
}

/// A logarithm is taken only when the product has become very large or small.
fn log_product(factors: impl Iterator<Item = f64>) -> f64 {
    const SAFE: std::ops::Range<f64> = 1e-150..1e150;
    let (log, product) = factors.fold((0.0, 1.0_f64), |(log, product), factor| {
        let product = product * factor;
        if SAFE.contains(&product) { (log, product) } else { (log + product.ln(), 1.0) }
    });
    log + product.ln()
}
