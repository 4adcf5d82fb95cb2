//! The modes of a density along a line: its maxima, and those that stand out.

/// The maxima of a curve, with their heights.
pub(super) fn maxima(x: &[f64], density: &[f64]) -> Vec<(f64, f64)> {
    let is_mode = |&k: &usize| density[k] > density[k - 1] && density[k] >= density[k + 1];
    (1..density.len() - 1).filter(is_mode).map(|k| (x[k], density[k])).collect()
}

/// A mode counts if the density falls below this share of its height on both sides.
const DIP: f64 = 0.95;

/// The maxima that stand out: between each of them and any higher one the density falls below [`DIP`] of its height.
pub(super) fn standing_out(x: &[f64], density: &[f64]) -> Vec<(f64, f64)> {
    let place = |at: f64| x.iter().position(|x| *x == at).unwrap_or(0);
    let stands = |mode: &(f64, f64)| {
        let k = place(mode.0);
        let falls = |range: &mut dyn Iterator<Item = usize>| {
            for j in range {
                if density[j] < DIP * mode.1 {
                    return true;
                }
                if density[j] > mode.1 {
                    return false;
                }
            }
            true
        };
        falls(&mut (0..k).rev()) && falls(&mut (k + 1..x.len()))
    };
    maxima(x, density).into_iter().filter(stands).collect()
}

/// What is said of how modes are counted.
pub(super) const COUNTED: &str =
    "A mode counts if the density falls by 5 % on either side of it before it rises above it.";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_dent_of_less_than_five_per_cent_parts_no_modes() {
        let x: Vec<f64> = (0..7).map(f64::from).collect();
        let places = |dent: f64| {
            let density = [0.1, 1.0, dent, 0.9, 0.2, 0.4, 0.1];
            let of = |modes: Vec<(f64, f64)>| modes.iter().map(|mode| mode.0).collect::<Vec<_>>();
            (of(maxima(&x, &density)), of(standing_out(&x, &density)))
        };
        // Of the second maximum, 0.9 high, 5 % are 0.045.
        assert_eq!(places(0.86), (vec![1.0, 3.0, 5.0], vec![1.0, 5.0]));
        assert_eq!(places(0.85), (vec![1.0, 3.0, 5.0], vec![1.0, 3.0, 5.0]));
    }
}
