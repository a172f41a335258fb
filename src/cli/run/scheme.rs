//! `run --physics`: the scheme of a run, and its effect on its files.

use std::fmt;
use std::sync::LazyLock;

use clap::ValueEnum;
use clap::builder::PossibleValue;
use tracing::info;

use crate::cli::run::options::RunConfig;
use crate::error::{Error, Result};
use crate::io::restart::RestartFile;
use crate::io::wrf::species::{FROZEN, FileMicrophysics, written};
use crate::os_text::Shown;
use crate::physics::registry::{self, SCHEMES};
use crate::physics::scheme::{About, Scheme, Variant};

/// The attribute of a restart file with the variables that its run excludes.
pub(in crate::cli) const LEFT_OUT: &str = "left_out";

/// A scheme of the registry, as the value of an option.
#[derive(Clone, Copy, Debug)]
pub(in crate::cli) struct PhysicsChoice(pub(in crate::cli) &'static About);

/// A variant of a scheme, likewise.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::cli) struct VariantChoice(pub(in crate::cli) &'static Variant);

impl Default for PhysicsChoice {
    fn default() -> Self {
        Self(SCHEMES[0])
    }
}

impl fmt::Display for PhysicsChoice {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.0.key)
    }
}

impl ValueEnum for PhysicsChoice {
    fn value_variants<'a>() -> &'a [Self] {
        static ALL: LazyLock<Vec<PhysicsChoice>> =
            LazyLock::new(|| SCHEMES.into_iter().map(PhysicsChoice).collect());
        &ALL
    }

    fn to_possible_value(&self) -> Option<PossibleValue> {
        Some(PossibleValue::new(self.0.key).help(self.0.contents))
    }
}

impl ValueEnum for VariantChoice {
    fn value_variants<'a>() -> &'a [Self] {
        static ALL: LazyLock<Vec<VariantChoice>> =
            LazyLock::new(|| registry::variants().map(VariantChoice).collect());
        &ALL
    }

    fn to_possible_value(&self) -> Option<PossibleValue> {
        Some(PossibleValue::new(self.0.key).help(self.0.about))
    }
}

impl PhysicsChoice {
    /// Fails if a mapping is given to a scheme without a choice.
    pub(in crate::cli) fn check_mapping(self, is_given: bool) -> Result<()> {
        if is_given && !self.has_mappings() {
            return Err(applies_to_others_only("--mapping", self, Self::has_mappings));
        }
        Ok(())
    }

    /// `true` if its columns can be mapped to threads in more than one way.
    fn has_mappings(self) -> bool {
        registry::make(self.0.key, None).is_ok_and(|scheme| scheme.mappings().is_some())
    }

    /// `true` if it has variants.
    pub(in crate::cli) fn has_variants(self) -> bool {
        !self.0.variants.is_empty()
    }

    /// The scheme in a variant, or in the usual one.
    pub(in crate::cli) fn made(self, variant: Option<VariantChoice>) -> Result<Box<dyn Scheme>> {
        if variant.is_some() && !self.has_variants() {
            return Err(applies_to_others_only("--fallout", self, Self::has_variants));
        }
        registry::make(self.0.key, variant.map(|VariantChoice(variant)| variant.key))
    }

    /// The scheme in the variant that is asked for, or in all of them.
    pub(in crate::cli) fn all_made(
        self,
        variant: Option<VariantChoice>,
    ) -> Result<Vec<Box<dyn Scheme>>> {
        if variant.is_some() || !self.has_variants() {
            return Ok(vec![self.made(variant)?]);
        }
        let variants = self.0.variants.iter().map(VariantChoice);
        variants.map(|variant| self.made(Some(variant))).collect()
    }
}

/// Message about an option that a scheme does not have, and others have.
fn applies_to_others_only(
    option: &str,
    physics: PhysicsChoice,
    has_it: fn(PhysicsChoice) -> bool,
) -> Error {
    let others = PhysicsChoice::value_variants().iter().filter(|other| has_it(**other));
    let others = others.map(|other| other.0.title).collect::<Vec<_>>().join(", ");
    Error::Usage(format!("{option} applies to {others} only; omit it with --physics {physics}"))
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
