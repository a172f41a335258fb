//! Interpolation between two values.

use ndarray::{Array, Dimension, Zip};

use crate::real::Real;

/// Linear interpolation: `a + weight (b - a)`, and `a` or `b` to the last bit at the ends.
#[inline(always)]
pub fn between<R: Real>(a: R, b: R, weight: R) -> R {
    if weight >= R::ONE { b } else { a + weight * (b - a) }
}

/// A field between two others of the same shape, by [`between`]; `weight` from 0 to 1.
pub fn blend<R: Real, D: Dimension>(
    out: &mut Array<R, D>,
    a: &Array<R, D>,
    b: &Array<R, D>,
    weight: f64,
) {
    let weight = R::of(weight);
    Zip::from(out).and(a).and(b).par_for_each(|out, &a, &b| *out = between(a, b, weight));
}
