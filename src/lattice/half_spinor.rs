//! Projection of a spinor to the two independent spin components of `1 + sign g_mu`, and its inverse, in the basis of
//! DeGrand and Rossi.
//!
//! The matrix `1 + sign g_mu` has rank 2: its third and fourth row are multiples of the first two. So a link multiplies
//! two colour vectors instead of four.

use super::number::{Complex, Number};

/// sign i z
#[inline(always)]
pub(crate) fn rotated<N: Number>(z: Complex<N>, is_positive: bool) -> Complex<N> {
    if is_positive { Complex { re: -z.im, im: z.re } } else { Complex { re: z.im, im: -z.re } }
}

/// sign z
#[inline(always)]
pub(crate) fn signed_by<N: Number>(z: Complex<N>, is_positive: bool) -> Complex<N> {
    if is_positive { z } else { Complex { re: -z.re, im: -z.im } }
}

/// The components h0 and h1 of `(1 + SIGN g_MU) psi`, of one color.
#[inline(always)]
pub fn project<const MU: usize, const SIGN: i32, N: Number>(
    psi: [Complex<N>; 4],
) -> [Complex<N>; 2] {
    let plus = SIGN > 0;
    match MU {
        0 => [psi[0] + rotated(psi[3], plus), psi[1] + rotated(psi[2], plus)],
        1 => [psi[0] + signed_by(psi[3], !plus), psi[1] + signed_by(psi[2], plus)],
        2 => [psi[0] + rotated(psi[2], plus), psi[1] + rotated(psi[3], !plus)],
        _ => [psi[0] + signed_by(psi[2], plus), psi[1] + signed_by(psi[3], plus)],
    }
}

/// Adds the four components that follow from r0 and r1 to a sum, for one colour.
#[inline(always)]
pub(crate) fn reconstruct<const MU: usize, const SIGN: i32, N: Number>(
    r: [Complex<N>; 2],
    sum: &mut [Complex<N>; 4],
) {
    let plus = SIGN > 0;
    let [r2, r3] = match MU {
        0 => [rotated(r[1], !plus), rotated(r[0], !plus)],
        1 => [signed_by(r[1], plus), signed_by(r[0], !plus)],
        2 => [rotated(r[0], !plus), rotated(r[1], plus)],
        _ => [signed_by(r[0], plus), signed_by(r[1], plus)],
    };
    sum[0] = sum[0] + r[0];
    sum[1] = sum[1] + r[1];
    sum[2] = sum[2] + r2;
    sum[3] = sum[3] + r3;
}
