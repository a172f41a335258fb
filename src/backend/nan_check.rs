//! Check of the fields for values that are not finite.

use rayon::prelude::*;

use crate::error::{Error, Result};
use crate::grid::{Grid, Window};
use crate::primitives::reduce;
use crate::real::Real;
use crate::state::State;

/// Fails where a field holds a value that is not a finite number.
///
/// # Errors
///
/// [`Error::BlowUp`] with the first such cell of the first such field.
///
/// # Panics
///
/// When a field is not in standard layout.
pub fn check_finite<R: Real>(state: &State<R>, step: usize) -> Result<()> {
    for (tracer, field) in state.tracers() {
        let values = field.as_slice().expect("fields are in standard layout");
        if let Some(first) = reduce::non_finite(values).first {
            let (_, ny, nx) = field.dim();
            let cell = [first / (nx * ny), first / nx % ny, first % nx];
            return Err(Error::BlowUp {
                variable: tracer.name,
                value: values[first].f64(),
                step,
                cell,
            });
        }
    }
    Ok(())
}

/// Fails where a field holds such a value in a cell that the grid owns, with its numbers in the global grid: cells of a
/// margin are the matter of their owners, and may be anything between two steps.
pub(super) fn check_owned<R: Real>(grid: &Grid, state: &State<R>, step: usize) -> Result<()> {
    if grid.is_whole() {
        return check_finite(state, step);
    }
    let Window { rows, columns } = grid.owned();
    for (tracer, field) in state.tracers() {
        assert_eq!(field.dim(), grid.shape.centre(), "shape of a field");
        let is_flawed = |&cell: &[usize; 3]| !field[cell].is_finite();
        let first_of_level = |k| {
            let cells = rows.clone().flat_map(|j| columns.clone().map(move |i| [k, j, i]));
            cells.into_iter().find(is_flawed)
        };
        let first = (0..grid.shape.nz).into_par_iter().find_map_first(first_of_level);
        if let Some(at @ [k, j, i]) = first {
            let [j, i] = grid.global_column([j, i]);
            let (variable, value) = (tracer.name, field[at].f64());
            return Err(Error::BlowUp { variable, value, step, cell: [k, j, i] });
        }
    }
    Ok(())
}
