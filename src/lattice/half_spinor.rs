//! Projection of a spinor to the two spin components that `1 + sign g_mu` leaves independent, and
//! back, in the basis of DeGrand and Rossi.
//!
//! Of the matrix `1 + sign g_mu`, of rank 2, the third and fourth row are multiples of the first two.
//! So two color vectors are multiplied by the link instead of four.

use super::number::{Complex, Number};

/// sign i z
#[inline(always)]
pub fn rotated<const SIGN: i32, N: Number>(z: Complex<N>) -> Complex<N> {
    if SIGN > 0 { Complex { re: -z.im, im: z.re } } else { Complex { re: z.im, im: -z.re } }
}

/// sign z
#[inline(always)]
pub fn signed_by<const SIGN: i32, N: Number>(z: Complex<N>) -> Complex<N> {
    if SIGN > 0 { z } else { Complex { re: -z.re, im: -z.im } }
}

/// The components h0 and h1 of `(1 + SIGN g_MU) psi`, of one color.
#[inline(always)]
pub fn project<const MU: usize, const SIGN: i32, N: Number>(
    psi: [Complex<N>; 4],
) -> [Complex<N>; 2] {
    // Constants of a generic function cannot be negated as arguments of another one.
    let along = SIGN > 0;
    let rotated = |z, plus: bool| if plus == along { rotated::<1, N>(z) } else { rotated::<-1, N>(z) };
    let signed = |z, plus: bool| if plus == along { z } else { signed_by::<-1, N>(z) };
    let [psi0, psi1, psi2, psi3] = psi;
    match MU {
        0 => [psi0 + rotated(psi3, true), psi1 + rotated(psi2, true)],
        1 => [psi0 + signed(psi3, false), psi1 + signed(psi2, true)],
        2 => [psi0 + rotated(psi2, true), psi1 + rotated(psi3, false)],
        _ => [psi0 + signed(psi2, true), psi1 + signed(psi3, true)],
    }
}

/// Adds the four components that follow from r0 and r1 to those of a sum, of one color.
#[inline(always)]
pub fn reconstruct<const MU: usize, const SIGN: i32, N: Number>(
    r: [Complex<N>; 2],
    sum: [Complex<N>; 4],
) -> [Complex<N>; 4] {
    let along = SIGN > 0;
    let rotated = |z, plus: bool| if plus == along { rotated::<1, N>(z) } else { rotated::<-1, N>(z) };
    let signed = |z, plus: bool| if plus == along { z } else { signed_by::<-1, N>(z) };
    let [r0, r1] = r;
    let [r2, r3] = match MU {
        0 => [rotated(r1, false), rotated(r0, false)],
        1 => [signed(r1, true), signed(r0, false)],
        2 => [rotated(r0, false), rotated(r1, true)],
        _ => [signed(r0, true), signed(r1, true)],
    };
    [sum[0] + r0, sum[1] + r1, sum[2] + r2, sum[3] + r3]
}
