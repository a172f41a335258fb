//! `run --physics`: the scheme of a run beside that of its input.

use tracing::info;

use crate::cli::run::options::RunConfig;
use crate::error::Result;
use crate::io::wrf::species::number_of_scheme;
use crate::os_text::Shown;

/// Logs a line about an input of another scheme.
pub(in crate::cli) fn tell(config: &RunConfig) -> Result<()> {
    let scheme = config.scheme.physics.about();
    let Some(first) = config.inputs.first() else { return Ok(()) };
    // Files without a scheme have 0.
    let other = |n: &f64| *n != 0.0 && *n != f64::from(scheme.number);
    if let Some(number) = number_of_scheme(first)?.filter(other) {
        info!(
            "{}: MP_PHYSICS {number}, and the run is made with {} ({}), which --physics chooses",
            first.shown(),
            scheme.title,
            scheme.number
        );
    }
    Ok(())
}
