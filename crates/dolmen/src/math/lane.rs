//! exp and ln written so that a loop over them becomes SIMD code: no branches, no calls, no tables.
//!
//! They are `#[inline(always)]` because they take the instruction set of the loop they stand in: call them only from
//! functions compiled for several targets, as in [`super::bulk`]. `FMA` says whether that target has fused multiply-add;
//! without it `f64::mul_add` would be a call into the C library.

#![expect(
    clippy::inline_always,
    reason = "these must be compiled with the features of their caller"
)]

/// `a * b + c`.
#[inline(always)]
pub(crate) fn fma<const FMA: bool>(a: f64, b: f64, c: f64) -> f64 {
    if FMA { a.mul_add(b, c) } else { a * b + c }
}

/// 1.5 * 2^52: adding it rounds to the nearest integer, which then stands in the low bits.
const ROUNDER: f64 = 6_755_399_441_055_744.0;
const LN2_HIGH: f64 = f64::from_bits(0x3fe6_2e42_fee0_0000);
const LN2_LOW: f64 = 1.908_214_929_270_587_7e-10;

/// (exp(r) - 1 - r) / r^2 for |r| <= ln(2)/2: Chebyshev interpolant of degree 9, relative error of exp 1.7e-17.
const EXP: [f64; 10] = [
    0.500_000_000_000_000_1,
    0.166_666_666_666_666_67,
    0.041_666_666_666_624_13,
    0.008_333_333_333_330_062,
    0.001_388_888_891_721_371_7,
    0.000_198_412_698_630_536_17,
    2.480_152_129_595_437_5e-5,
    2.755_726_845_999_706_5e-6,
    2.762_008_844_540_975e-7,
    2.510_038_549_551_032e-8,
];

/// All bits set if the condition holds. A choice made with masks stays a vector operation; an `if` between constants
/// is turned into a branch by the compiler, and the loop around it is then not vectorised.
#[inline(always)]
fn mask(condition: bool) -> u64 {
    u64::from(condition).wrapping_neg()
}

/// exp(x) within about one unit in the last place. Results below 1e-307 become 0; `-inf`, `+inf` and NaN are as usual.
#[inline(always)]
pub(crate) fn exp<const FMA: bool>(x: f64) -> f64 {
    const LOWEST: f64 = -707.0;
    const OVERFLOWS: f64 = 710.0;
    let inside = if x < LOWEST { LOWEST } else { x };
    let inside = if inside > OVERFLOWS { OVERFLOWS } else { inside };
    let rounded = fma::<FMA>(inside, std::f64::consts::LOG2_E, ROUNDER);
    let k = rounded - ROUNDER;
    let r = fma::<FMA>(k, -LN2_LOW, fma::<FMA>(k, -LN2_HIGH, inside));
    // Estrin's scheme: Horner's chain of ten dependent steps would leave the arithmetic units waiting.
    let r2 = r * r;
    let r4 = r2 * r2;
    let pair = |i: usize| fma::<FMA>(EXP[i + 1], r, EXP[i]);
    let low = fma::<FMA>(pair(2), r2, pair(0));
    let high = fma::<FMA>(pair(6), r2, pair(4));
    let p = fma::<FMA>(pair(8), r4 * r4, fma::<FMA>(high, r4, low));
    let mantissa = 1.0 + fma::<FMA>(p, r2, r);
    // 2^(k-1) is representable for every k that occurs, 2^k is not (k = 1024).
    let half_scale = f64::from_bits(rounded.to_bits().wrapping_add(1022) << 52);
    let value = mantissa * half_scale * 2.0;
    f64::from_bits(value.to_bits() & !mask(x < LOWEST))
}

/// ln(x) within about one unit in the last place: -inf at 0, NaN below, as usual. Subnormal numbers are taken as they are.
///
/// With x = 2^k m, m in [sqrt(1/2), sqrt(2)), s = (m-1)/(m+1): ln m = 2 s + s^3 R(s^2); R is the minimax polynomial of
/// the fdlibm logarithm (error 2^-58).
#[inline(always)]
pub(crate) fn ln<const FMA: bool>(x: f64) -> f64 {
    const R: [f64; 7] = [
        6.666_666_666_666_735e-1,
        3.999_999_999_940_942e-1,
        2.857_142_874_366_239e-1,
        2.222_219_843_214_978_4e-1,
        1.818_357_216_161_805e-1,
        1.531_383_769_920_937_3e-1,
        1.479_819_860_511_658_6e-1,
    ];
    const SQRT_HALF: u64 = 0x3fe6_a09e_0000_0000;
    const ONE: u64 = 1023 << 52;
    let subnormal = mask(x < f64::MIN_POSITIVE);
    let bits = (x * f64::from_bits(ONE + (subnormal & (54 << 52)))).to_bits();
    let offset = bits.wrapping_sub(SQRT_HALF);
    // The exponent as a float, without an integer conversion that AVX2 lacks: it goes into the mantissa of 2^52.
    let biased = f64::from_bits((offset.wrapping_add(ONE) >> 52) | 0x4330_0000_0000_0000);
    let k = biased - (4_503_599_627_370_496.0 + 1023.0);
    let k = k - f64::from_bits(subnormal & 54_f64.to_bits());
    let m = f64::from_bits(bits.wrapping_sub(offset & 0xfff0_0000_0000_0000));
    let f = m - 1.0;
    let s = f / (2.0 + f);
    let z = s * s;
    let z2 = z * z;
    let pair = |i: usize| fma::<FMA>(R[i + 1], z, R[i]);
    let high = fma::<FMA>(R[6], z2, pair(4));
    let r = fma::<FMA>(high, z2 * z2, fma::<FMA>(pair(2), z2, pair(0)));
    let half_square = 0.5 * f * f;
    let tail = fma::<FMA>(s, fma::<FMA>(r, z, half_square), k * LN2_LOW);
    let value = fma::<FMA>(k, LN2_HIGH, f - (half_square - tail));
    // Added to the value, which is finite for any bits: nothing for positive numbers, else what the logarithm is there.
    let zero = mask(x == 0.0) & f64::NEG_INFINITY.to_bits();
    let negative = mask(x < 0.0) & f64::NAN.to_bits();
    let not_finite = (mask(x.is_nan()) | mask(x == f64::INFINITY)) & x.to_bits();
    value + f64::from_bits(zero | negative | not_finite)
}
