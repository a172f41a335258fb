//! `run --physics`: the scheme of a run, and its effect on its files.

use clap::ValueEnum;
use clap::builder::PossibleValue;
use tracing::info;

use crate::backend::Microphysics;
use crate::cli::run::options::RunConfig;
use crate::error::{Error, Result};
use crate::io::restart::RestartFile;
use crate::io::wrf::species::{FROZEN, FileMicrophysics, written};
use crate::os_text::Shown;
use crate::physics::wsm5::Sedimentation;

/// The attribute of a restart file with the variables that its run excludes.
pub(in crate::cli) const LEFT_OUT: &str = "left_out";

impl ValueEnum for Microphysics {
    fn value_variants<'a>() -> &'a [Self] {
        &Self::ALL
    }

    fn to_possible_value(&self) -> Option<PossibleValue> {
        Some(PossibleValue::new(self.key()).help(self.about()))
    }
}

/// Message about an option that a scheme does not have.
pub(in crate::cli) fn applies_to_wsm5_only(option: &str, physics: Microphysics) -> Error {
    let key = physics.key();
    Error::Usage(format!("{option} applies to WSM5 only; omit it with --physics {key}"))
}

/// The requested scheme.
pub(in crate::cli) fn microphysics(
    physics: Microphysics,
    fallout: Option<Sedimentation>,
) -> Result<Microphysics> {
    match (physics.variant(), fallout) {
        (None, Some(_)) => Err(applies_to_wsm5_only("--fallout", physics)),
        (None, None) => Ok(physics),
        (Some(usual), fallout) => Ok(fallout.unwrap_or(usual).into()),
    }
}

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
            config.scheme.microphysics.name()
        ))),
    }
}

fn of_input(config: &RunConfig) -> Result<Vec<&'static str>> {
    let scheme = config.scheme.microphysics;
    let Some(first) = config.inputs.first() else { return Ok(Vec::new()) };
    let FileMicrophysics { number, frozen } = written(first)?;
    // Files without a scheme have 0.
    if let Some(number) = number.filter(|n| *n != 0.0 && *n != f64::from(scheme.number())) {
        info!(
            "{}: MP_PHYSICS {number}, and the run is made with {} ({}), which --physics chooses",
            first.shown(),
            scheme.name(),
            scheme.number()
        );
    }
    let is_missing = |name: &&str| !scheme.has_ice() && !frozen.contains(name);
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
