//! The schemes of the registry and their variants as values of options: `--physics` and `--fallout`.

use std::fmt;
use std::sync::LazyLock;

use clap::ValueEnum;
use clap::builder::PossibleValue;

use crate::error::{Error, Result};
use crate::physics::registry::{self, SCHEMES};
use crate::physics::scheme::{About, Scheme, Variant};

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
            LazyLock::new(|| registry::descriptions().into_iter().map(PhysicsChoice).collect());
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
