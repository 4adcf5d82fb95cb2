//! One column and a polynomial kernel: sums of kernels from sums of powers.
//!
//! With rows sorted and cut into cells of two bandwidths, a kernel's support overlaps two cells. Inside a cell the sum of
//! P(s - v_i), with P the polynomial of the kernel and v_i the rows' places relative to the cell's centre in bandwidths,
//! is a combination of running sums of w_i v_i^k: a query costs two binary searches, whatever the number of rows. Because
//! |v_i| <= 1 little is lost to cancellation; what may be is bounded, and a query whose sum is too small for the bound
//! (only rows at the very edge of the support) is summed directly.

use super::lanes;
use super::points::Points;
use super::shape::{Profile, Shape};

/// Coefficients of a polynomial of up to degree 6.
type Polynomial = [f64; 7];

/// Running sums of powers of the rows' places, started anew in each cell.
#[derive(Debug, Clone)]
pub(super) struct Moments {
    profile: Profile,
    degree: usize,
    /// A bound on the terms that cancel: the polynomial with all its signs made positive, at |s| + |v| <= 2 + 1.
    magnitude: f64,
    width: f64,
    inverse: f64,
    /// The cell of each row.
    cell: Vec<u32>,
    /// For each cell its first row, and at the end the number of rows.
    starts: Vec<usize>,
    /// sum of w v^k for k = 0..=degree over the cell's rows up to and including this one.
    sums: Vec<f64>,
}

impl Moments {
    /// Running sums for one column, in order, and a kernel of finite support; `None` for a Gaussian kernel.
    pub(super) fn new(points: &Points, weights: &[f64], shape: Shape, width: f64) -> Option<Self> {
        let (degree, magnitude) = match shape.profile() {
            Profile::Gaussian => return None,
            Profile::Linear => (1, 4.0),
            Profile::Quadratic(power) => (2 * usize::from(power), 10_f64.powi(i32::from(power))),
            Profile::Box => (0, 1.0),
        };
        let values = points.column(0);
        let mut moments = Self {
            profile: shape.profile(),
            degree,
            magnitude,
            width,
            inverse: 1.0 / width,
            cell: Vec::with_capacity(values.len()),
            starts: Vec::new(),
            sums: Vec::with_capacity(values.len() * (degree + 1)),
        };
        let mut running = Running::default();
        for (i, (&value, &weight)) in values.iter().zip(weights).enumerate() {
            if moments.starts.last().is_none_or(|&s| (value - values[s]) >= 2.0 * width) {
                moments.starts.push(i);
                running = Running::default();
            }
            moments.cell.push(moments.starts.len() as u32 - 1);
            let place =
                (value - moments.centre(values, moments.starts.len() - 1)) * moments.inverse;
            let mut term = weight;
            for k in 0..=degree {
                moments.sums.push(running.add(k, term));
                term *= place;
            }
        }
        moments.starts.push(values.len());
        Some(moments)
    }

    /// `sum_i w_i profile(|x - x_i| / h)` to this relative tolerance.
    pub(super) fn sum(&self, points: &Points, weights: &[f64], x: f64, tolerance: f64) -> f64 {
        let values = points.column(0);
        let low = values.partition_point(|v| (x - v) * self.inverse > 1.0);
        let high = low + values[low..].partition_point(|v| (v - x) * self.inverse <= 1.0);
        if low == high {
            return 0.0;
        }
        let mut total = Bounded::default();
        if self.profile == Profile::Linear {
            let middle = low + values[low..high].partition_point(|&v| v < x);
            self.add_range(values, low..middle, x, &FALLING, &mut total);
            self.add_range(values, middle..high, x, &RISING, &mut total);
        } else {
            self.add_range(values, low..high, x, polynomial(self.profile), &mut total);
        }
        if total.error <= tolerance * total.sum {
            return total.sum;
        }
        let mut product = [0.0; 256];
        let pieces = values[low..high].chunks(256).zip(weights[low..high].chunks(256));
        pieces
            .map(|(values, weights)| {
                let product = &mut product[..values.len()];
                lanes::product_sum(self.profile, &[x], &[self.inverse], values, weights, product)
            })
            .sum()
    }

    /// The middle of a cell.
    fn centre(&self, values: &[f64], cell: usize) -> f64 {
        values[self.starts[cell]] + self.width
    }

    /// Adds `sum_i w_i P((x - x_i) / h)` over a range of rows, cell by cell.
    fn add_range(
        &self,
        values: &[f64],
        rows: std::ops::Range<usize>,
        x: f64,
        polynomial: &Polynomial,
        total: &mut Bounded,
    ) {
        let mut first = rows.start;
        while first < rows.end {
            let cell = self.cell[first] as usize;
            let end = self.starts[cell + 1].min(rows.end);
            let place = (x - self.centre(values, cell)) * self.inverse;
            let coefficients = shifted(polynomial, self.degree, place);
            let upto = |i: usize| &self.sums[i * (self.degree + 1)..][..=self.degree];
            let last = upto(end - 1);
            let before = (first > self.starts[cell]).then(|| upto(first - 1));
            for (k, coefficient) in coefficients[..=self.degree].iter().enumerate() {
                total.sum += coefficient * (last[k] - before.map_or(0.0, |before| before[k]));
            }
            // Every power sum is at most the cell's weight so far, and carries a few roundings of it.
            total.error += 16.0 * f64::EPSILON * self.magnitude * last[0];
            first = end;
        }
    }
}

/// A sum and a bound on its rounding error.
#[derive(Default)]
struct Bounded {
    sum: f64,
    error: f64,
}

/// Sums with the rounding errors carried along, so that they are good to the last bit however many rows they have.
#[derive(Default)]
struct Running {
    sums: Polynomial,
    errors: Polynomial,
}

impl Running {
    /// Adds to the k-th sum and gives it.
    fn add(&mut self, k: usize, term: f64) -> f64 {
        let before = self.sums[k];
        let after = before + term;
        let added = after - before;
        self.errors[k] += (before - (after - added)) + (term - added);
        self.sums[k] = after;
        after + self.errors[k]
    }
}

/// The triangular kernel for rows below and above the query.
const FALLING: Polynomial = [1.0, -1.0, 0.0, 0.0, 0.0, 0.0, 0.0];
const RISING: Polynomial = [1.0, 1.0, 0.0, 0.0, 0.0, 0.0, 0.0];

/// The kernel's profile as a polynomial in u on its support.
fn polynomial(profile: Profile) -> &'static Polynomial {
    match profile {
        Profile::Quadratic(1) => &[1.0, 0.0, -1.0, 0.0, 0.0, 0.0, 0.0],
        Profile::Quadratic(2) => &[1.0, 0.0, -2.0, 0.0, 1.0, 0.0, 0.0],
        Profile::Quadratic(_) => &[1.0, 0.0, -3.0, 0.0, 3.0, 0.0, -1.0],
        Profile::Box | Profile::Linear | Profile::Gaussian => &[1.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0],
    }
}

/// The coefficients of P(s - v) as a polynomial in v: Horner's scheme repeated, with alternating signs.
fn shifted(polynomial: &Polynomial, degree: usize, s: f64) -> Polynomial {
    let mut coefficients = *polynomial;
    for k in 0..degree {
        for j in (k..degree).rev() {
            coefficients[j] += s * coefficients[j + 1];
        }
    }
    for odd in coefficients.iter_mut().skip(1).step_by(2) {
        *odd = -*odd;
    }
    coefficients
}
