//! The file that describes an ensemble.

use std::collections::BTreeMap;
use std::path::Path;

use serde::Deserialize;

use super::{Change, Disturbance, Ensemble, ParameterSource};
use crate::constituents::Constituents;
use crate::error::{Error, Result};
use crate::grid::Grid;
use crate::os_text::{Shown, toml_message};
use crate::physics::registry;
use crate::physics::scheme::Parameter;

/// Most members: more than any use, and few enough for the notes of a GPU.
pub const MOST_MEMBERS: usize = 512;

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Text {
    members: i64,
    #[serde(default)]
    seed: u64,
    #[serde(default = "yes")]
    control: bool,
    #[serde(default)]
    output: Kept,
    #[serde(default)]
    parameters: BTreeMap<String, ChangeText>,
    #[serde(default)]
    initial: BTreeMap<String, DisturbanceText>,
}

fn yes() -> bool {
    true
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Deserialize)]
#[serde(rename_all = "lowercase")]
enum Kept {
    #[default]
    All,
    Statistics,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct ChangeText {
    factor: Option<[f64; 2]>,
    range: Option<[f64; 2]>,
    values: Option<Vec<f64>>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct DisturbanceText {
    amplitude: f64,
    #[serde(default)]
    length: f64,
    levels: Option<[usize; 2]>,
}

impl Ensemble {
    /// Reads the description of an ensemble from the text of a file, with parameters of any scheme of the registry, and
    /// with the fields of a set.
    ///
    /// # Errors
    ///
    /// [`Error::Usage`] with the file, the key, the value and the expectation: for text that is not TOML, for unknown
    /// keys and names, and for numbers out of bounds.
    pub fn parse(path: &Path, text: &str, set: &Constituents) -> Result<Self> {
        let known: Vec<Parameter> = registry::parameters().into_iter().copied().collect();
        Self::parse_with(path, text, &known, set)
    }

    /// The same with these parameters, for a scheme of a user's own.
    ///
    /// # Errors
    ///
    /// As [`Ensemble::parse`].
    pub fn parse_with(
        path: &Path,
        text: &str,
        known: &[Parameter],
        set: &Constituents,
    ) -> Result<Self> {
        let refused = |message: String| Error::Usage(format!("{}: {message}", path.shown()));
        let file: Text =
            toml::from_str(text).map_err(|error| refused(toml_message(text, &error)))?;
        let Text { members, seed, control, output, parameters, initial } = file;
        let members = usize::try_from(members).unwrap_or(0);
        if !(2..=MOST_MEMBERS).contains(&members) {
            return Err(refused(format!(
                "members = {}: an ensemble has 2 to {MOST_MEMBERS}",
                file.members
            )));
        }
        if parameters.is_empty() && initial.is_empty() {
            return Err(refused(
                "all members would be alike: give [parameters], [initial.NAME] or both".to_owned(),
            ));
        }
        let changes = parameters.into_iter().map(|(name, change)| {
            change
                .read(&name, members, known)
                .map_err(|why| refused(format!("[parameters] {name}: {why}")))
        });
        let disturbances = initial.into_iter().map(|(name, text)| {
            text.read(&name, set).map_err(|why| refused(format!("[initial.{name}]: {why}")))
        });
        Ok(Self {
            members,
            seed,
            control,
            writes_members: output == Kept::All,
            changes: changes.collect::<Result<_>>()?,
            disturbances: disturbances.collect::<Result<_>>()?,
            path: path.to_owned(),
            text: text.to_owned(),
        })
    }

    /// Fails if the grid of the run does not suit the file.
    ///
    /// # Errors
    ///
    /// [`Error::Usage`] for levels outside of the grid, and for noise with a correlation length beyond the grid.
    pub fn check(&self, grid: &Grid) -> Result<()> {
        let shape = grid.shape;
        let extent = (shape.nx as f64 * grid.dx).max(shape.ny as f64 * grid.dy);
        for Disturbance { variable, length, levels, .. } in &self.disturbances {
            let refused = |message: String| {
                let path = self.path.shown();
                Err(Error::Usage(format!("{path}: [initial.{variable}]: {message}")))
            };
            if let Some(levels) = levels.as_ref().filter(|levels| levels.end > shape.nz) {
                return refused(format!(
                    "levels = [{}, {}]: the grid has {} levels, and the second number is the \
                     first level that is not perturbed",
                    levels.start, levels.end, shape.nz
                ));
            }
            if *length > extent {
                return refused(format!(
                    "length = {length}: the grid is {extent} m wide; give a length within it, m"
                ));
            }
        }
        Ok(())
    }
}

impl ChangeText {
    fn read(self, name: &str, members: usize, known: &[Parameter]) -> Result<Change, String> {
        let Some(parameter) = known.iter().find(|known| known.name == name) else {
            let known: Vec<_> = known.iter().map(|known| known.name).collect();
            return Err(format!(
                "is not a parameter of the scheme; the parameters are: {}",
                known.join(", ")
            ));
        };
        let law = match (self.factor, self.range, self.values) {
            (Some(ends), None, None) => ParameterSource::Factor(rising(ends, f64::MIN_POSITIVE)?),
            (None, Some(ends), None) => ParameterSource::Range(rising(ends, f64::MIN)?),
            (None, None, Some(values)) => ParameterSource::Values(values),
            _ => return Err("give one of factor, range and values".to_owned()),
        };
        let Parameter { bounds: [least, most], default: scheme, .. } = *parameter;
        let least_and_most = match &law {
            ParameterSource::Factor(ends) => ends.map(|factor| scheme * factor).to_vec(),
            ParameterSource::Range(ends) => ends.to_vec(),
            ParameterSource::Values(values) if values.len() == members => values.clone(),
            ParameterSource::Values(values) => {
                return Err(format!(
                    "values has {} numbers; one for each of the {members} members is needed",
                    values.len()
                ));
            }
        };
        match least_and_most.into_iter().find(|value| !(least..=most).contains(value)) {
            Some(value) => Err(format!(
                "{value:e} is not between {least:e} and {most:e}, the valid range; the default is \
                 {scheme:e}"
            )),
            None => Ok(Change { parameter: *parameter, law }),
        }
    }
}

/// Two numbers in ascending order, the first at least `least`.
fn rising([low, high]: [f64; 2], least: f64) -> Result<[f64; 2], String> {
    if low >= least && low <= high && high.is_finite() {
        return Ok([low, high]);
    }
    let which = if least > 0.0 { "positive numbers" } else { "numbers" };
    Err(format!("[{low}, {high}]: give two {which}, the smaller one first"))
}

impl DisturbanceText {
    fn read(self, name: &str, set: &Constituents) -> Result<Disturbance, String> {
        let known: Vec<_> = set.of_scheme_only().iter().map(|own| own.variable).collect();
        let Some(field) = known.iter().position(|known| *known == name) else {
            let known = known.join(", ");
            return Err(format!("is not a field of the state; the fields are: {known}"));
        };
        let Self { amplitude, length, levels } = self;
        for (key, value, unit) in [
            ("amplitude", amplitude, if field == 0 { "K" } else { "a part of what there is" }),
            ("length", length, "m"),
        ] {
            if !(value.is_finite() && value >= 0.0) {
                return Err(format!("{key} = {value}: give 0 or a positive number, {unit}"));
            }
        }
        let levels = match levels {
            Some([first, end]) if first >= end => {
                return Err(format!(
                    "levels = [{first}, {end}]: give the first level, counted from 0 at the \
                     ground, and the first one above that is not perturbed"
                ));
            }
            levels => levels.map(|[first, end]| first..end),
        };
        Ok(Disturbance { field, variable: known[field], amplitude, length, levels })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Result<Ensemble> {
        Ensemble::parse(Path::new("e.toml"), text, &registry::usual_set())
    }

    #[test]
    fn what_a_member_is_does_not_depend_on_the_others() {
        let of = |members: usize| {
            let text = format!(
                "members = {members}\nseed = 7\n[parameters]\nn0r = {{ factor = [0.5, 2] }}\n\
                 drop_radius = {{ range = [6e-6, 10e-6] }}"
            );
            read(&text).expect("an ensemble")
        };
        let (few, many) = (of(4), of(200));
        for member in 0..4 {
            let of = |ensemble: &Ensemble| {
                let scheme = ensemble.scheme(member, &*registry::usual()).expect("its parameters");
                let about = scheme.about();
                about.parameters.iter().map(|one| scheme.get(one.name)).collect::<Vec<_>>()
            };
            assert_eq!(of(&few), of(&many), "{member}");
            let usual = registry::usual().about().parameters;
            let is_usual = usual.iter().map(|one| Some(one.default)).eq(of(&few));
            assert_eq!(is_usual, member == 0);
        }
        let [mut low, mut sum, mut high] = [f64::INFINITY, 0.0, 0.0];
        let values = many.values(&many.changes[1], &*registry::usual()).expect("a parameter");
        for factor in values[1..].iter().map(|n0r| n0r / 8e6) {
            (low, high) = (factor.min(low), factor.max(high));
            sum += factor.ln();
        }
        assert!((0.5..0.52).contains(&low) && (1.95..=2.0).contains(&high), "{low} {high}");
        // Uniform in the logarithm: five standard deviations of the mean.
        assert!((sum / 199.0).abs() < 5.0 * 0.4 / 199_f64.sqrt(), "{sum}");
    }

    #[test]
    fn what_is_wrong_is_told() {
        for (text, words) in [
            ("members = 0\n[initial.T]\namplitude = 1", &["members = 0", "2 to 512"][..]),
            ("members = -3\n[initial.T]\namplitude = 1", &["members = -3"]),
            ("members = 100000\n[initial.T]\namplitude = 1", &["members = 100000"]),
            ("members = 4", &["alike", "[parameters]"]),
            ("members = 4\nsede = 3", &["line 2", "sede", "seed"]),
            ("members = 4\nseed = -1", &["line 2"]),
            ("members = \"four\"", &["line 1", "string"]),
            ("members = 4\noutput = \"none\"", &["line 2", "statistics"]),
            (
                "members = 4\n[parameters]\nn0 = { factor = [1, 2] }",
                &["n0:", "n0r", "collection_snow"],
            ),
            (
                "members = 4\n[parameters]\nn0r = { factor = [2, 1] }",
                &["n0r", "the smaller one first"],
            ),
            ("members = 4\n[parameters]\nn0r = { factor = [0, 1] }", &["positive"]),
            ("members = 4\n[parameters]\nn0r = { factor = [nan, 1] }", &["n0r", "NaN"]),
            ("members = 4\n[parameters]\nn0r = { range = [8e6, inf] }", &["n0r", "inf"]),
            ("members = 4\n[parameters]\nn0r = { range = [-8e6, 1e7] }", &["-8e6", "1e3", "8e6"]),
            ("members = 4\n[parameters]\nn0r = { values = [8e6] }", &["has 1", "the 4 members"]),
            ("members = 2\n[parameters]\nn0r = { values = [8e6, nan] }", &["n0r", "NaN"]),
            ("members = 4\n[parameters]\nn0r = {}", &["one of factor, range and values"]),
            ("members = 4\n[parameters]\nn0r = { scale = 2 }", &["line 3", "scale", "factor"]),
            ("members = 4\n[initial.QV]\namplitude = 1", &["QV", "QVAPOR"]),
            ("members = 4\n[initial.T]\namplitude = -1", &["amplitude = -1", "K"]),
            ("members = 4\n[initial.QRAIN]\namplitude = nan", &["amplitude = NaN", "part"]),
            ("members = 4\n[initial.T]\namplitude = 1\nlength = inf", &["length = inf"]),
            ("members = 4\n[initial.T]\nlength = 1", &["line 2", "amplitude"]),
            ("members = 4\n[initial.T]\namplitude = 1\nlevels = [3, 3]", &["levels = [3, 3]"]),
            ("members = 4 4", &["line 1"]),
        ] {
            let error = read(text).expect_err(text).to_string();
            for word in words {
                assert!(error.contains(word), "{text:?}: {word:?} is not in {error:?}");
            }
            assert!(error.starts_with("e.toml: ") && !error.contains('\n'), "{error:?}");
        }
    }
}
