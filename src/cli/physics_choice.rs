//! The schemes of the registry and their variants as values of options: `--physics`, `--fallout` and `--graupel`.

use std::fmt;
use std::sync::LazyLock;

use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use clap::{Args, ValueEnum};

use crate::cli::device::MappingChoice;
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

/// The options that choose a variant of a scheme.
#[derive(Args, Clone, Copy, Debug, Default)]
pub(in crate::cli) struct VariantOptions {
    /// Sedimentation in WSM5 [default: semi-lagrangian; where variants are measured: both]
    #[arg(long, value_name = "SCHEME", value_parser = variants_of("fallout"))]
    fallout: Option<VariantChoice>,
    /// Rimed ice in WSM6 [default: graupel; where variants are measured: both]
    #[arg(long, value_name = "KIND", value_parser = variants_of("graupel"))]
    graupel: Option<VariantChoice>,
}

impl VariantOptions {
    /// Those that are given, with their names.
    pub(in crate::cli) fn given(self) -> impl Iterator<Item = (&'static str, VariantChoice)> {
        let all = [("fallout", self.fallout), ("graupel", self.graupel)];
        all.into_iter().filter_map(|(option, variant)| Some((option, variant?)))
    }

    /// `true` if one is given of a scheme with this option, and not this variant of it.
    pub(in crate::cli) fn excludes(self, scheme: &dyn Scheme) -> bool {
        let of_scheme = |(option, _): &(&str, _)| *option == scheme.about().variant_option;
        let given = self.given().find(of_scheme);
        given.is_some_and(|(_, VariantChoice(variant))| scheme.variant() != Some(variant))
    }
}

/// The variants of the scheme with this option.
fn variants_of(option: &str) -> impl TypedValueParser<Value = VariantChoice> {
    let owner = SCHEMES.into_iter().find(|scheme| scheme.variant_option == option);
    let variants = owner.map_or(&[][..], |owner| owner.variants);
    let values = variants.iter().filter_map(|variant| VariantChoice(variant).to_possible_value());
    PossibleValuesParser::new(values).try_map(|key| VariantChoice::from_str(&key, false))
}

impl PhysicsChoice {
    /// Fails if the kernels of the scheme have no mapping of this kind.
    pub(in crate::cli) fn check_mapping(self, mapping: Option<MappingChoice>) -> Result<()> {
        let Some(mapping) = mapping else { return Ok(()) };
        let has_it = |scheme: Self| {
            let made = registry::make(scheme.0.key, None);
            made.is_ok_and(|scheme| scheme.mappings().is_some_and(|all| mapping.is_among(all)))
        };
        if has_it(self) {
            return Ok(());
        }
        let mapping = mapping.to_possible_value();
        let mapping = mapping.as_ref().map_or("", PossibleValue::get_name);
        Err(applies_to_others_only(&format!("--mapping {mapping}"), self, has_it))
    }

    /// The scheme of files with this number (`MP_PHYSICS`), or the usual one.
    pub(in crate::cli) fn of_files(number: Option<f64>) -> Self {
        let is_it = |scheme: &&&About| {
            scheme.is_of_files && number.is_some_and(|number| number == f64::from(scheme.number))
        };
        SCHEMES.iter().find(is_it).map_or_else(Self::default, |scheme| Self(scheme))
    }

    /// Fails if an option of another scheme is given.
    pub(in crate::cli) fn check_variants(self, options: VariantOptions) -> Result<()> {
        match options.given().find(|(option, _)| *option != self.0.variant_option) {
            Some((option, _)) => {
                let has_it = |other: Self| other.0.variant_option == option;
                Err(applies_to_others_only(&format!("--{option}"), self, has_it))
            }
            None => Ok(()),
        }
    }

    /// The scheme in the variant that an option names, or in the usual one. An option of another scheme is an error.
    pub(in crate::cli) fn made(self, options: VariantOptions) -> Result<Box<dyn Scheme>> {
        self.check_variants(options)?;
        let key = options.given().next().map(|(_, VariantChoice(variant))| variant.key);
        registry::make(self.0.key, key)
    }

    /// The scheme in the variant that is asked for, or in all of them.
    pub(in crate::cli) fn all_made(self, options: VariantOptions) -> Result<Vec<Box<dyn Scheme>>> {
        if self.0.variants.is_empty() || options.given().next().is_some() {
            return Ok(vec![self.made(options)?]);
        }
        let variants = self.0.variants.iter();
        variants.map(|variant| registry::make(self.0.key, Some(variant.key))).collect()
    }
}

/// Message about an option that a scheme does not have, and others have.
fn applies_to_others_only(
    option: &str,
    physics: PhysicsChoice,
    has_it: impl Fn(PhysicsChoice) -> bool,
) -> Error {
    let others = PhysicsChoice::value_variants().iter().filter(|other| has_it(**other));
    let others = others.map(|other| other.0.title).collect::<Vec<_>>().join(", ");
    Error::Usage(format!("{option} applies to {others} only; omit it with --physics {physics}"))
}
