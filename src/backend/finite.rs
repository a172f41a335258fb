//! Check of the fields for values that are not finite.

use crate::error::{Error, Result};
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
