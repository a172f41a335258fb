//! When a product of a sparse matrix and a vector is right.

use nwp_mini::primitives::csr::Csr;
use nwp_mini::real::Real;

/// Holds a product against sums in double precision. For n entries of a row the rounding of the product
/// and, in double precision, that of these sums are at most `n u Σ|a x|` each, and a term below the
/// smallest normal number is off by a step there.
pub fn check_product<R: Real>(matrix: &Csr<R>, x: &[R], found: &[R], what: &str) {
    assert_eq!(found.len(), matrix.rows(), "{what}");
    let epsilon = R::epsilon().f64();
    let step = epsilon * R::min_positive_value().f64();
    for (row, found) in found.iter().enumerate() {
        let entries = matrix.starts()[row]..matrix.starts()[row + 1];
        let terms = entries
            .clone()
            .map(|at| matrix.values()[at].f64() * x[matrix.column_of()[at] as usize].f64());
        let (exact, size) = terms.fold((0.0, 0.0), |(e, s), term| (e + term, s + term.abs()));
        let limit = (entries.len() + 1) as f64 * (epsilon * size + step);
        let error = (found.f64() - exact).abs();
        assert!(error <= limit, "{what}: row {row} is {found}, not {exact}");
    }
}
