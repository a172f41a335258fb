//! Between two values.

use ndarray::{Array, Dimension, Zip};

use crate::real::Real;

/// `a + weight (b - a)`, and `a` or `b` to the last bit at the ends.
pub fn blend<R: Real, D: Dimension>(
    out: &mut Array<R, D>,
    a: &Array<R, D>,
    b: &Array<R, D>,
    weight: f64,
) {
    if weight >= 1.0 {
        out.assign(b);
        return;
    }
    let weight = R::of(weight);
    Zip::from(out).and(a).and(b).par_for_each(|out, &a, &b| *out = a + weight * (b - a));
}
