//! The list of the schemes of the crate, and the only one. A program can [`add`] schemes from outside the crate to it,
//! which its options then name; a run takes any object.

use std::sync::{Arc, LazyLock, Mutex, PoisonError};

use super::kessler::{self, Kessler};
use super::scheme::{About, Parameter, Scheme, Variant};
use super::wsm5::{self, Sedimentation, Wsm5};
use super::wsm6::params::RimedIce;
use super::wsm6::{self, Wsm6};
use crate::constituents::Constituents;
#[cfg(feature = "gpu")]
use crate::device::Prelude;
use crate::error::{Error, Result};
#[cfg(feature = "gpu")]
use crate::real::Precision;

/// The schemes of the crate, the usual one first.
pub static SCHEMES: [&About; 3] = [&wsm5::ABOUT, &kessler::ABOUT, &wsm6::ABOUT];

/// Schemes from outside the crate.
static ADDED: Mutex<Vec<Box<dyn Scheme>>> = Mutex::new(Vec::new());

/// Adds a scheme from outside the crate, before the options of a program are read. Its key must be free.
pub fn add(scheme: Box<dyn Scheme>) {
    ADDED.lock().unwrap_or_else(PoisonError::into_inner).push(scheme);
}

/// Descriptions of all schemes, the usual one first.
pub fn descriptions() -> Vec<&'static About> {
    let added = ADDED.lock().unwrap_or_else(PoisonError::into_inner);
    SCHEMES.into_iter().chain(added.iter().map(|scheme| scheme.about())).collect()
}

/// The schemes as objects, each in all of its variants, in the order of [`descriptions`].
pub fn all() -> Vec<Box<dyn Scheme>> {
    let mut all: Vec<Box<dyn Scheme>> = Vec::new();
    for fallout in Sedimentation::ALL {
        all.push(Box::new(Wsm5::from(fallout)));
    }
    all.push(Box::new(Kessler::<f64>::default()));
    for kind in RimedIce::ALL {
        all.push(Box::new(Wsm6::from(kind)));
    }
    let added = ADDED.lock().unwrap_or_else(PoisonError::into_inner);
    all.extend(added.iter().map(|scheme| scheme.boxed()));
    all
}

/// The usual scheme.
pub fn usual() -> Box<dyn Scheme> {
    Box::new(Wsm5::default())
}

/// The set of a run with the usual scheme.
pub fn usual_set() -> Arc<Constituents> {
    static SET: LazyLock<Arc<Constituents>> = LazyLock::new(|| SCHEMES[0].set());
    Arc::clone(&SET)
}

/// The scheme of a key, in a variant of a key or in the usual one.
///
/// # Errors
///
/// [`Error::Usage`] for an unknown key, with those that there are.
pub fn make(key: &str, variant: Option<&str>) -> Result<Box<dyn Scheme>> {
    let found = all().into_iter().find(|scheme| {
        let is_variant = |key| scheme.variant().is_some_and(|own| own.key == key);
        scheme.about().key == key && variant.is_none_or(is_variant)
    });
    if let Some(found) = found {
        return Ok(found);
    }
    let keys = |scheme: &'static About| {
        let variants = scheme.variants.iter().map(|own| format!("{} {}", scheme.key, own.key));
        std::iter::once(scheme.key.to_owned()).chain(variants)
    };
    let known: Vec<String> = descriptions().into_iter().flat_map(keys).collect();
    let asked = variant.map_or_else(|| key.to_owned(), |variant| format!("{key} {variant}"));
    Err(Error::Usage(format!("no scheme {asked}; the schemes are: {}", known.join(", "))))
}

/// The variants of all schemes.
pub fn variants() -> impl Iterator<Item = &'static Variant> {
    descriptions().into_iter().flat_map(|scheme| scheme.variants)
}

/// The parameters of all schemes; one that several schemes have stands once.
pub fn parameters() -> Vec<&'static Parameter> {
    let mut all: Vec<&Parameter> = Vec::new();
    for parameter in descriptions().into_iter().flat_map(|scheme| scheme.parameters) {
        if all.iter().all(|known| known.name != parameter.name) {
            all.push(parameter);
        }
    }
    all
}

/// Constants and structs of the kernels of all schemes, with the usual one in a variant of this number.
#[cfg(feature = "gpu")]
pub(crate) fn declarations(precision: Precision, nz: usize, variant: usize) -> Prelude {
    let of_usual = wsm5::gpu::prelude::microphysics(precision, nz, Sedimentation::ALL[variant]);
    of_usual
        .with(&kessler::gpu::declarations(precision))
        .with(&wsm6::gpu::prelude::declarations(precision))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_scheme_is_made_from_its_key_and_others_are_refused_with_all_keys() {
        for about in SCHEMES {
            let made = make(about.key, None).expect(about.key);
            assert_eq!(made.about(), about);
            assert_eq!(made.variant(), about.variants.first());
            for variant in about.variants {
                let made = make(about.key, Some(variant.key)).expect(variant.key);
                assert_eq!(made.variant(), Some(variant));
            }
        }
        assert_eq!(usual().about(), SCHEMES[0]);
        for refused in [make("drizzle", None), make(SCHEMES[1].key, Some("no variant"))] {
            let message = refused.expect_err("an unknown scheme").to_string();
            assert!(SCHEMES.iter().all(|about| message.contains(about.key)), "{message}");
        }
    }

    /// Parameters have the values of the scheme, and are set to what is asked for.
    #[test]
    fn parameters_are_set_by_name() {
        for mut scheme in all() {
            for Parameter { name, default, bounds, .. } in scheme.about().parameters {
                let is_usual = scheme.variant() == scheme.about().variants.first();
                let its = scheme.get(name).expect(name);
                assert!(its == *default || !is_usual, "{name}: {its}");
                assert!((bounds[0]..=bounds[1]).contains(&its), "{name}: {its}");
                scheme.set(name, bounds[1]).expect(name);
                let set = scheme.get(name).expect(name);
                assert!((set / bounds[1] - 1.0).abs() < 1e-6, "{name}: {set}");
            }
            assert!(scheme.set("no parameter", 1.0).is_err() && scheme.get("none").is_none());
        }
    }
}
