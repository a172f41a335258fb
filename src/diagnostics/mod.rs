//! What a run is judged by.

pub mod budget;
pub mod comparison;
pub mod difference;
pub mod tolerance;
pub mod totals;

use crate::error::{Error, Result};
use crate::real::Real;
use crate::state::State;

/// Fails where a field holds a value that is not a finite number.
///
/// # Errors
///
/// [`Error::BlowUp`] with the first such cell of the first such field.
pub fn check_finite<R: Real>(state: &State<R>, step: usize) -> Result<()> {
    for (variable, field) in State::<R>::NAMES.into_iter().zip(state.fields()) {
        let bad = field.indexed_iter().find(|(_, x)| !x.is_finite());
        if let Some(((k, j, i), value)) = bad {
            return Err(Error::BlowUp { variable, value: value.f64(), step, cell: [k, j, i] });
        }
    }
    Ok(())
}
