//! `run --physics`: the scheme of a run, and its effect on its files.

use tracing::info;

use crate::cli::run::options::RunConfig;
use crate::error::{Error, Result};
use crate::io::restart::RestartFile;
use crate::io::wrf::species::{FROZEN, FileMicrophysics, written};
use crate::os_text::Shown;

/// The attribute of a restart file with the variables that its run excludes.
pub(in crate::cli) const LEFT_OUT: &str = "left_out";

/// Variables that the run excludes from its files: those of ice and snow that the input does not have, with a scheme
/// without ice. Logs a line about an input of another scheme.
pub(in crate::cli) fn left_out(
    config: &RunConfig,
    from: Option<&RestartFile>,
) -> Result<Vec<&'static str>> {
    let left_out = match from {
        // The first run has logged that; a continued run writes the same variables.
        Some(file) => names_of(&file.option(LEFT_OUT).unwrap_or_default()),
        None => of_input(config)?,
    };
    match left_out.iter().find(|name| config.storage.variables.lists(name)) {
        None => Ok(left_out),
        Some(name) => Err(Error::Usage(format!(
            "--output-vars {name}: the {} scheme has no ice, and the input has no {name}; omit it",
            config.scheme.physics.about().title
        ))),
    }
}

/// Name of cloud ice in files of columns.
const ICE: &str = "qi";

fn of_input(config: &RunConfig) -> Result<Vec<&'static str>> {
    let scheme = config.scheme.physics.about();
    let Some(first) = config.inputs.first() else { return Ok(Vec::new()) };
    let FileMicrophysics { number, frozen } = written(first)?;
    // Files without a scheme have 0.
    if let Some(number) = number.filter(|n| *n != 0.0 && *n != f64::from(scheme.number)) {
        info!(
            "{}: MP_PHYSICS {number}, and the run is made with {} ({}), which --physics chooses",
            first.shown(),
            scheme.title,
            scheme.number
        );
    }
    let is_missing = |name: &&str| !scheme.carries(ICE) && !frozen.contains(name);
    Ok(FROZEN.into_iter().filter(is_missing).collect())
}

/// The names in a comma-separated list.
fn names_of(list: &str) -> Vec<&'static str> {
    FROZEN.into_iter().filter(|name| list.split(',').any(|other| other == *name)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_come_back_from_their_list() {
        assert_eq!(names_of(&FROZEN.join(",")), FROZEN);
        assert_eq!(names_of("QSNOW"), ["QSNOW"]);
        assert!(names_of("").is_empty() && names_of("T,QICES").is_empty());
    }
}
