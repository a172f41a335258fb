//! Species of chemistry as tracers: their names and initial values.

use std::path::Path;
use std::sync::Arc;

use serde::Deserialize;

use super::{Initial, Passive, PassiveTracers};
use crate::chemistry::coupled::is_carried;
use crate::chemistry::mechanism::Mechanism;
use crate::constituents::{Constituent, Kind, Limiter, interned};
use crate::error::{Advice, Error, Result};
use crate::os_text::{Shown, toml_message};
use crate::primitives::interpolation::at_height;

/// Units of all species: parts per million by volume of dry air.
pub const UNITS: &str = "ppmv";

/// A mixing ratio of 1, ppmv.
const ALL_OF_IT: f64 = 1e6;

/// Prefix for a name that is in use already.
const PREFIX: &str = "chem_";

/// A profile: linear between heights, constant beyond them.
#[derive(Clone, Debug, PartialEq)]
pub struct HeightProfile {
    /// Heights, m, ascending.
    heights: Vec<f64>,
    /// Values at these heights, ppmv.
    values: Vec<f64>,
}

impl HeightProfile {
    /// The value at a height, m.
    pub fn at(&self, z: f64) -> f64 {
        at_height(&self.heights, &self.values, z)
    }
}

/// Background profiles of species, for inputs without them.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Background {
    /// Name and profile of each.
    species: Vec<(String, Arc<HeightProfile>)>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Text {
    #[serde(default)]
    species: Vec<SpeciesText>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct SpeciesText {
    name: String,
    height: Vec<f64>,
    value: Vec<f64>,
    /// Provenance of the profiles, in words.
    #[serde(rename = "source")]
    _source: String,
}

impl Background {
    /// Reads profiles from the text of a file: `[[species]]` with name, height (m), value (ppmv) and source.
    ///
    /// # Errors
    ///
    /// [`Error::Usage`] with the file, the species, what was found and what is expected.
    pub fn parse(path: &Path, text: &str) -> Result<Self> {
        let refused = |message: String| Error::Usage(format!("{}: {message}", path.shown()));
        let Text { species: texts } =
            toml::from_str(text).map_err(|error| refused(toml_message(text, &error)))?;
        if texts.is_empty() {
            return Err(refused(
                "describes no species; give [[species]] with name, height (m), value (ppmv) and source"
                    .to_owned(),
            ));
        }
        let mut species: Vec<(String, Arc<HeightProfile>)> = Vec::with_capacity(texts.len());
        for SpeciesText { name, height, value, .. } in texts {
            let refused = |why: String| refused(format!("species {name:?}: {why}"));
            if species.iter().any(|(other, _)| other.eq_ignore_ascii_case(&name)) {
                return Err(refused("the name is given twice".to_owned()));
            }
            if height.is_empty() || height.len() != value.len() {
                return Err(refused(format!(
                    "{} heights and {} values; give as many of the one as of the other",
                    height.len(),
                    value.len()
                )));
            }
            if let Some(z) = height.iter().find(|z| !z.is_finite()) {
                return Err(refused(format!("height = {z}: give numbers, m")));
            }
            if let Some(pair) = height.windows(2).find(|pair| pair[0] >= pair[1]) {
                let [low, high] = [pair[0], pair[1]];
                return Err(refused(format!(
                    "height {high} follows {low}; give them from the ground up"
                )));
            }
            let bad = height.iter().zip(&value).find(|(_, x)| !(0.0..=ALL_OF_IT).contains(*x));
            if let Some((z, x)) = bad {
                return Err(refused(format!(
                    "value = {x:e} at a height of {z} m: give 0 to {ALL_OF_IT:e} ppmv, which is all of the air"
                )));
            }
            species.push((name, Arc::new(HeightProfile { heights: height, values: value })));
        }
        Ok(Self { species })
    }

    /// The profile of a species.
    fn of(&self, name: &str) -> Option<&Arc<HeightProfile>> {
        let found = self.species.iter().find(|(other, _)| other.eq_ignore_ascii_case(name));
        found.map(|(_, profile)| profile)
    }

    /// Names that the mechanism does not have.
    pub fn unknown_species(&self, mechanism: &Mechanism) -> Vec<&str> {
        let names = self.species.iter().map(|(name, _)| name.as_str());
        names.filter(|name| mechanism.species_named(name).is_none()).collect()
    }

    /// Names of fixed species that follow from the air, for which a profile would have no effect.
    pub fn species_of_air(&self, mechanism: &Mechanism) -> Vec<&str> {
        let follows = |name: &str| {
            mechanism.species_named(name).is_some_and(|number| !is_carried(mechanism, number))
        };
        self.species.iter().map(|(name, _)| name.as_str()).filter(|name| follows(name)).collect()
    }
}

/// The species of a mechanism as tracers.
#[derive(Clone, Debug, PartialEq)]
pub struct MechanismTracers {
    /// The passive tracers followed by the species.
    pub recipe: PassiveTracers,
    /// Name of the tracer of each species; `None` for species that the air determines.
    pub names: Vec<Option<&'static str>>,
    /// Species that are initialised from a variable of the input.
    pub from_input: Vec<&'static str>,
    /// Species that are initialised to zero.
    pub absent: Vec<String>,
}

impl PassiveTracers {
    /// The same tracers, or none, followed by the species of a mechanism. The initial and boundary values of a species
    /// are the variable of its name if the input has one, else its background profile, else zero.
    ///
    /// # Errors
    ///
    /// [`Error::Usage`] when no name is free for a species.
    pub fn with_species(
        passive: &Self,
        mechanism: &Mechanism,
        background: &Background,
        is_in_input: &dyn Fn(&str) -> bool,
        is_taken: &dyn Fn(&str) -> bool,
    ) -> Result<MechanismTracers> {
        let mut carried = MechanismTracers {
            recipe: passive.clone(),
            names: Vec::new(),
            from_input: Vec::new(),
            absent: Vec::new(),
        };
        for (number, species) in mechanism.species.iter().enumerate() {
            if !is_carried(mechanism, number) {
                carried.names.push(None);
                continue;
            }
            let lower = species.name.to_lowercase();
            let name = carried.free_name(&lower, is_taken).ok_or_else(|| {
                Error::Usage(format!(
                    "species {}: both {lower} and {PREFIX}{lower} are names of something else in the output",
                    species.name
                ))
                .advise(Advice::RenameTracer)
            })?;
            let initial = if is_in_input(&lower) {
                carried.from_input.push(interned(&lower));
                Initial::Variable(interned(&lower))
            } else if let Some(profile) = background.of(&species.name) {
                Initial::HeightProfile(Arc::clone(profile))
            } else {
                carried.absent.push(species.name.clone());
                let zero = HeightProfile { heights: vec![0.0], values: vec![0.0] };
                Initial::HeightProfile(Arc::new(zero))
            };
            let tracer = Constituent {
                units: UNITS,
                description: interned(&format!("{} in dry air", species.name)),
                kind: Kind::Chemical,
                limiter: Some(Limiter::PositiveDefinite),
                ..Constituent::passive(name)
            };
            carried.recipe.tracers.push(Passive { tracer, initial });
            carried.names.push(Some(name));
        }
        Ok(carried)
    }
}

impl MechanismTracers {
    /// A free name: this one, or with a prefix.
    fn free_name(&self, lower: &str, is_taken: &dyn Fn(&str) -> bool) -> Option<&'static str> {
        let is_free = |name: &str| {
            !is_taken(name)
                && self.recipe.base.position(name).is_none()
                && self.recipe.tracers.iter().all(|other| other.tracer.name != name)
        };
        let names = [lower.to_owned(), format!("{PREFIX}{lower}")];
        names.into_iter().find(|name| is_free(name)).map(|name| interned(&name))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::chemistry::mechanism;
    use crate::physics::registry::usual_set;

    const MECHANISM: &str = "#DEFVAR NO2 = IGNORE; X = IGNORE; Rain = IGNORE; Y = IGNORE; #DEFFIX M = IGNORE; \
                             CH4 = IGNORE; #EQUATIONS NO2 + M = X : 1.0; X + CH4 = NO2 : 1.0;";

    fn background(text: &str) -> Result<Background> {
        Background::parse(Path::new("b.toml"), text)
    }

    fn of(name: &str, rest: &str) -> String {
        format!("[[species]]\nname = \"{name}\"\nsource = \"none\"\n{rest}\n")
    }

    #[test]
    fn profiles_are_linear_between_heights_and_constant_beyond() {
        let profile =
            HeightProfile { heights: vec![0.0, 1000.0, 3000.0], values: vec![1.0, 3.0, 2.0] };
        for (z, value) in
            [(-5.0, 1.0), (0.0, 1.0), (500.0, 2.0), (1000.0, 3.0), (2000.0, 2.5), (9e3, 2.0)]
        {
            assert_eq!(profile.at(z), value, "at {z} m");
        }
    }

    #[test]
    fn species_become_tracers_with_names_of_their_own() {
        let (mechanism, _) = mechanism::parse("m", MECHANISM).mechanism().expect("a mechanism");
        let text =
            of("no2", "height = [0]\nvalue = [1e-3]") + &of("CH4", "height = [0]\nvalue = [1.8]");
        let background = background(&text).expect("two profiles");
        let tracer =
            "[[tracer]]\nname = \"x\"\nunits = \"1\"\ninitial = { kind = \"constant\", value = 1 }";
        let passive =
            PassiveTracers::parse(&usual_set(), Path::new("t.toml"), tracer).expect("a tracer");
        let carried = PassiveTracers::with_species(
            &passive,
            &mechanism,
            &background,
            &|name| name == "y",
            &|name| name == "rain",
        )
        .expect("names for all");
        let names = [Some("no2"), Some("chem_x"), Some("chem_rain"), Some("y"), None, Some("ch4")];
        assert_eq!(carried.names, names);
        assert_eq!(
            (carried.from_input, carried.absent.join(" ")),
            (vec!["y"], "X Rain".to_owned())
        );
        let set = carried.recipe.set();
        assert_eq!(set.position("no2"), Some(set.carried() + 1));
        assert_eq!(set[set.carried()].kind, Kind::Passive);
        let species = set[set.carried() + 1];
        assert_eq!((species.kind, species.units), (Kind::Chemical, "ppmv"));
        assert_eq!(species.limiter, Some(Limiter::PositiveDefinite));
        assert_eq!(carried.recipe.variables()[0].name, "y");
        assert!(background.unknown_species(&mechanism).is_empty());
        assert!(background.species_of_air(&mechanism).is_empty());
    }

    #[test]
    fn species_of_the_air_are_known_and_need_no_profile() {
        let (mechanism, _) = mechanism::parse("m", MECHANISM).mechanism().expect("a mechanism");
        let names = ["NO2", "m", "CH4", "M2"].map(|name| of(name, "height = [0]\nvalue = [1]"));
        let background = background(&names.concat()).expect("four profiles");
        assert_eq!(background.unknown_species(&mechanism), ["M2"]);
        assert_eq!(background.species_of_air(&mechanism), ["m"]);
    }

    #[test]
    fn faults_of_a_background_are_told() {
        for (text, words) in [
            (String::new(), &["describes no species"][..]),
            (of("A", "height = [0, 1]\nvalue = [1]"), &["\"A\"", "2 heights", "1 values"]),
            (of("A", "height = []\nvalue = []"), &["0 heights"]),
            (of("A", "height = [5, 5]\nvalue = [1, 1]"), &["height 5 follows 5"]),
            (of("A", "height = [nan]\nvalue = [1]"), &["height = NaN"]),
            (of("A", "height = [0]\nvalue = [-1]"), &["value = -1e0", "0 to 1e6 ppmv"]),
            (of("A", "height = [0, 9000]\nvalue = [1, 2e7]"), &["value = 2e7", "9000 m"]),
            (of("A", "height = [0]\nvalue = [inf]"), &["value = inf"]),
            (of("A", "height = [0]\nvalue = [1]\ncolour = 1"), &["line 6", "colour"]),
            (
                of("A", "height = [0]\nvalue = [1]") + &of("a", "height = [0]\nvalue = [1]"),
                &["given twice"],
            ),
        ] {
            let error = background(&text).expect_err(&text).to_string();
            for word in words {
                assert!(error.contains(word), "{text:?}: {word:?} is not in {error:?}");
            }
            assert!(error.starts_with("b.toml: "), "{error:?}");
        }
    }
}
