//! Columns for the kernels: those of the reference, on any number of levels.

use ndarray::Array2;

use super::reference::Columns;

/// Cases that have all kinds of weather between them.
const CASES: [&str; 5] = ["warm", "mixed", "cold", "edge", "storm"];

/// Columns of all cases in turn, on `nz` levels.
pub fn columns(nz: usize, count: usize) -> Columns {
    let cases: Vec<Columns> = CASES
        .iter()
        .enumerate()
        .map(|(n, case)| {
            let whole = Columns::of(case);
            let wanted = count.saturating_sub(n).div_ceil(CASES.len());
            let all = whole.dim().1;
            // All over the case, and not only in similar columns.
            let chosen: Vec<usize> =
                (0..wanted).map(|i| (i * all / wanted.max(1) + i) % all).collect();
            whole.select(&chosen).unforced()
        })
        .collect();
    let mut fields = Vec::new();
    for field in 0..cases[0].fields.len() {
        let levels = cases[0].dim().0;
        fields.push(Array2::from_shape_fn((levels, count), |(k, column)| {
            cases[column % CASES.len()].fields[field][[k, column / CASES.len()]]
        }));
    }
    let columns = Columns { fields, tendencies: None };
    if nz == columns.dim().0 { columns } else { columns.resampled(nz) }
}
