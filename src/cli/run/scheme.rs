//! The scheme of a run, beside that of its input.

use std::path::Path;

use tracing::info;

use crate::cli::physics_choice::{PhysicsChoice, VariantOptions};
use crate::cli::run::options::RunConfig;
use crate::error::{Error, Result};
use crate::io::wrf::species::number_of_scheme;
use crate::os_text::Shown;
use crate::physics::scheme::Scheme;

/// The scheme that is asked for, or that of the input, or the usual one; in the variant of the options.
pub(in crate::cli) fn of_input(
    asked: Option<PhysicsChoice>,
    variants: VariantOptions,
    input: Option<&Path>,
) -> Result<Box<dyn Scheme>> {
    if let (None, Some(input)) = (asked, input) {
        // A file that cannot be read is told of where its fields are read.
        let number = number_of_scheme(input).unwrap_or_default();
        let chosen = PhysicsChoice::of_files(number);
        let usual = PhysicsChoice::default();
        if chosen.0 != usual.0 {
            if chosen.check_variants(variants).is_err() && usual.check_variants(variants).is_ok() {
                let option = usual.0.variant_option;
                return Err(Error::Usage(format!(
                    "--{option} applies to {} only, and MP_PHYSICS of {} is {}, so that the run is \
                     made with {}; omit the option, or give --physics {usual}",
                    usual.0.title,
                    input.shown(),
                    chosen.0.number,
                    chosen.0.title,
                )));
            }
            info!(
                "{}: MP_PHYSICS {}, so that the run is made with {}; --physics chooses another",
                input.shown(),
                chosen.0.number,
                chosen.0.title
            );
        }
        return chosen.made(variants);
    }
    asked.unwrap_or_default().made(variants)
}

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
