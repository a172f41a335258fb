//! Products of a link (a matrix of SU(3)) and of its adjoint with a colour vector, and its third row.
//!
//! Every product in a sum is a fused multiply-add: half the operations, and the same bits on every target.

use super::number::{Complex, Number};

/// A link, row by row.
pub type Link<N> = [[Complex<N>; 3]; 3];

/// a b
#[inline(always)]
pub fn times<N: Number>(a: Complex<N>, b: Complex<N>) -> Complex<N> {
    Complex { re: (-a.im).fused(b.im, a.re * b.re), im: a.im.fused(b.re, a.re * b.im) }
}

/// a b + c
#[inline(always)]
pub(crate) fn times_plus<N: Number>(a: Complex<N>, b: Complex<N>, c: Complex<N>) -> Complex<N> {
    Complex {
        re: (-a.im).fused(b.im, a.re.fused(b.re, c.re)),
        im: a.im.fused(b.re, a.re.fused(b.im, c.im)),
    }
}

/// conj(a) b
#[inline(always)]
pub(crate) fn conj_times<N: Number>(a: Complex<N>, b: Complex<N>) -> Complex<N> {
    Complex { re: a.im.fused(b.im, a.re * b.re), im: (-a.im).fused(b.re, a.re * b.im) }
}

/// conj(a) b + c
#[inline(always)]
pub(crate) fn conj_times_plus<N: Number>(
    a: Complex<N>,
    b: Complex<N>,
    c: Complex<N>,
) -> Complex<N> {
    Complex {
        re: a.im.fused(b.im, a.re.fused(b.re, c.re)),
        im: (-a.im).fused(b.re, a.re.fused(b.im, c.im)),
    }
}

/// conj(a b - c d), a component of the third row.
#[inline(always)]
pub(crate) fn cross<N: Number>(
    a: Complex<N>,
    b: Complex<N>,
    c: Complex<N>,
    d: Complex<N>,
) -> Complex<N> {
    let ab = times(a, b);
    let difference = times_plus(Complex { re: -c.re, im: -c.im }, d, ab);
    Complex { re: difference.re, im: -difference.im }
}

/// Computes the third row of a link from the other two: c = conj(a x b).
#[inline(always)]
pub(crate) fn third_row<N: Number>(u: &mut Link<N>) {
    u[2][0] = cross(u[0][1], u[1][2], u[0][2], u[1][1]);
    u[2][1] = cross(u[0][2], u[1][0], u[0][0], u[1][2]);
    u[2][2] = cross(u[0][0], u[1][1], u[0][1], u[1][0]);
}

/// Component `row` of U v.
#[inline(always)]
pub(crate) fn row_times<N: Number>(u: &Link<N>, row: usize, v: &[Complex<N>; 3]) -> Complex<N> {
    times_plus(u[row][2], v[2], times_plus(u[row][1], v[1], times(u[row][0], v[0])))
}

/// Component `column` of U† v.
#[inline(always)]
pub(crate) fn column_times<N: Number>(
    u: &Link<N>,
    column: usize,
    v: &[Complex<N>; 3],
) -> Complex<N> {
    let two = conj_times_plus(u[1][column], v[1], conj_times(u[0][column], v[0]));
    conj_times_plus(u[2][column], v[2], two)
}
