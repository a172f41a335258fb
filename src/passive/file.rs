//! The file that describes passive tracers.

use std::fmt::Write;
use std::path::Path;
use std::sync::Arc;

use serde::Deserialize;
use toml::Value;

use super::initial::{Pattern, SpatialPattern};
use super::{Initial, Passive, PassiveTracers};
use crate::constituents::{Constituent, Constituents, Inflow, Limiter, interned};
use crate::error::{Advice, Error, Result};
use crate::os_text::{Shown, toml_message};
use crate::units::{Unit, between, whole};

/// Most passive tracers of a run: more than any mechanism has, and few enough for the notes of a GPU.
pub const MOST_PASSIVE: usize = 4000;

/// Longest name, such that NetCDF accepts it with a suffix.
const LONGEST_NAME: usize = 200;

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Text {
    #[serde(default)]
    tracer: Vec<TracerText>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct TracerText {
    name: String,
    units: String,
    description: Option<String>,
    initial: InitialText,
    sides: Option<Value>,
    limiter: Option<String>,
    decay: Option<f64>,
}

#[derive(Debug, Deserialize)]
#[serde(tag = "kind", rename_all = "lowercase", deny_unknown_fields)]
enum InitialText {
    Constant {
        value: f64,
    },
    Layer {
        bottom: f64,
        top: f64,
        #[serde(default = "one")]
        value: f64,
        #[serde(default)]
        background: f64,
    },
    Box {
        bottom: f64,
        top: f64,
        centre: Option<Vec<f64>>,
        width: Numbers,
        #[serde(default = "one")]
        value: f64,
        #[serde(default)]
        background: f64,
    },
    Gaussian {
        bottom: Option<f64>,
        top: Option<f64>,
        centre: Option<Vec<f64>>,
        width: Numbers,
        #[serde(default = "one")]
        value: f64,
        #[serde(default)]
        background: f64,
    },
    Field {
        variable: String,
    },
    Tracer {
        name: String,
    },
}

#[derive(Debug, Deserialize)]
#[serde(untagged)]
enum Numbers {
    One(f64),
    Several(Vec<f64>),
}

fn one() -> f64 {
    1.0
}

impl PassiveTracers {
    /// Reads the description of passive tracers from the text of a file, for a run with a scheme that carries `base`.
    ///
    /// # Errors
    ///
    /// [`Error::Usage`] with the file, the tracer, the key, what was found and what is expected: for text that is not
    /// TOML, unknown keys, names that clash or are not valid for variables, unknown units, and numbers out of bounds.
    pub fn parse(base: &Arc<Constituents>, path: &Path, text: &str) -> Result<Self> {
        let refused = |message: String| Error::Usage(format!("{}: {message}", path.shown()));
        let Text { tracer: texts } =
            toml::from_str(text).map_err(|error| refused(toml_message(text, &error)))?;
        if texts.is_empty() {
            return Err(refused(
                "describes no tracer; give [[tracer]] with name, units and initial".to_owned(),
            ));
        }
        if texts.len() > MOST_PASSIVE {
            return Err(refused(format!(
                "describes {} tracers; a run carries {MOST_PASSIVE} at most",
                texts.len()
            )));
        }
        let mut tracers: Vec<Passive> = Vec::with_capacity(texts.len());
        for text in texts {
            let name = text.name.clone();
            let read = text
                .read(base, &tracers)
                .map_err(|why| refused(format!("tracer {name:?}: {why}")))?;
            tracers.push(read);
        }
        let (base, text) = (Arc::clone(base), text.to_owned());
        Ok(Self { path: Some(path.to_owned()), text, base, tracers })
    }

    /// `count` tracers for benchmarks: Gaussian hills of several widths.
    ///
    /// # Errors
    ///
    /// [`Error::Usage`] for 0 and for too many.
    pub fn numbered(base: &Arc<Constituents>, count: i64) -> Result<Self> {
        if !(1..=MOST_PASSIVE as i64).contains(&count) {
            return Err(Error::Usage(format!(
                "{count} tracers: their number must be from 1 to {MOST_PASSIVE}"
            ))
            .advise(Advice::GiveTracerFile));
        }
        let digits = count.to_string().len();
        let mut text = String::new();
        for number in 1..=count {
            let width = 3.0e4 * (1 + number % 7) as f64;
            // Writing to memory cannot fail.
            let _ = write!(
                text,
                "[[tracer]]\nname = \"tracer_{number:0digits$}\"\nunits = \"1\"\ninitial = {{ kind = \
                 \"gaussian\", width = {width:?} }}\n"
            );
        }
        Ok(Self { path: None, ..Self::parse(base, Path::new("numbered tracers"), &text)? })
    }
}

impl TracerText {
    fn read(self, base: &Constituents, before: &[Passive]) -> Result<Passive, String> {
        let Self { name, units, description, initial, sides, limiter, decay } = self;
        let is_name = name.starts_with(|c: char| c.is_ascii_alphabetic())
            && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
            && name.len() <= LONGEST_NAME;
        if !is_name {
            return Err(
                "a name must begin with a letter and contain only letters, digits and _".to_owned()
            );
        }
        if before.iter().any(|other| other.tracer.name == name) {
            return Err("the name is given twice".to_owned());
        }
        if base.position(&name).is_some() {
            return Err("is the name of a field of the model; choose another one".to_owned());
        }
        if Unit::parse(&units).is_none() {
            return Err(format!(
                "units = {units:?} are not known; give units of UDUNITS as in \"1\", \"kg kg-1\", \"ug m-3\", \"ppbv\""
            ));
        }
        let finite = |key: &str, x: f64| {
            if x.is_finite() { Ok(x) } else { Err(format!("{key} = {x}: give a number")) }
        };
        let inflow = match &sides {
            None => Inflow::Input,
            Some(Value::String(text)) if text == "input" => Inflow::Input,
            Some(Value::String(text)) if text == "zero-gradient" => Inflow::ZeroGradient,
            Some(Value::Float(x)) => Inflow::Constant(finite("sides", *x)?),
            Some(Value::Integer(x)) => Inflow::Constant(*x as f64),
            Some(other) => {
                return Err(format!(
                    "sides = {other}: give \"input\", \"zero-gradient\" or a number"
                ));
            }
        };
        let limiter = match limiter.as_deref() {
            None => None,
            Some("none") => Some(Limiter::None),
            Some("pd") => Some(Limiter::PositiveDefinite),
            Some("monotonic") => Some(Limiter::Monotonic),
            Some(other) => {
                return Err(format!("limiter = {other:?}: give \"none\", \"pd\" or \"monotonic\""));
            }
        };
        if let Some(decay) = decay.filter(|decay| !(*decay > 0.0 && decay.is_finite())) {
            return Err(format!("decay = {decay}: give its e-folding time, s, above 0"));
        }
        let words = description.unwrap_or_else(|| format!("passive tracer {name}"));
        let tracer = Constituent {
            units: interned(&units),
            description: interned(&words),
            limiter,
            inflow,
            decay,
            ..Constituent::passive(interned(&name))
        };
        let initial = initial.read(base, before)?;
        let made: &[(&str, f64)] = match (&initial, inflow) {
            (Initial::Shape(SpatialPattern { value, background, .. }), Inflow::Constant(sides)) => {
                &[("initial.value", *value), ("initial.background", *background), ("sides", sides)]
            }
            (Initial::Shape(SpatialPattern { value, background, .. }), _) => {
                &[("initial.value", *value), ("initial.background", *background)]
            }
            (_, Inflow::Constant(sides)) => &[("sides", sides)],
            _ => &[],
        };
        if let Some(all_of_it) = whole(&units) {
            let range = 0.0..=all_of_it;
            if let Some((key, x)) = made.iter().find(|(_, x)| !range.contains(x)) {
                return Err(format!(
                    "{key} = {x:e}: give 0 to {all_of_it:e} {units}, all of the air"
                ));
            }
        }
        check_source(&tracer, &initial, (base, before))?;
        Ok(Passive { tracer, initial })
    }
}

/// Fails if a tracer begins with a variable that is read in units of another quantity.
fn check_source(
    tracer: &Constituent,
    initial: &Initial,
    (air, before): (&Constituents, &[Passive]),
) -> Result<(), String> {
    let Initial::Variable(name) = initial else { return Ok(()) };
    let of_air = air.iter().find(|of_air| of_air.variable == *name);
    let is_same = |other: &&Passive| other.initial == *initial;
    let read_in = of_air.or_else(|| before.iter().find(is_same).map(|other| &other.tracer));
    match read_in.map(|other| other.units) {
        Some(other) if between(other, tracer.units).is_none() => Err(format!(
            "units = {:?}: {name} is read in {other:?}, which is not converted to them; give units of the same \
             quantity",
            tracer.units
        )),
        _ => Ok(()),
    }
}

impl InitialText {
    fn read(self, base: &Constituents, before: &[Passive]) -> Result<Initial, String> {
        let (kind, value, background) = match self {
            Self::Field { variable } => return Ok(Initial::Variable(interned(&variable))),
            Self::Tracer { name } => {
                let own = before.iter().position(|other| other.tracer.name == name);
                let own = own.map(|number| base.carried() + number);
                let found = own.or_else(|| base.position(&name));
                return found.map(Initial::Tracer).ok_or_else(|| {
                    format!("initial: there is no tracer {name:?} before this one, and no field of the air of that name")
                });
            }
            Self::Constant { value } => (Pattern::Everywhere, value, 0.0),
            Self::Layer { bottom, top, value, background } => {
                (Pattern::Layer(heights(bottom, top)?), value, background)
            }
            Self::Box { bottom, top, centre, width, value, background } => {
                let (centre, height) = middle(centre)?;
                if height.is_some() {
                    return Err("initial.centre of a box is [x, y], m".to_owned());
                }
                let [x, y, _] = widths(width, 2)?;
                (
                    Pattern::Box { heights: heights(bottom, top)?, centre, width: [x, y] },
                    value,
                    background,
                )
            }
            Self::Gaussian { bottom, top, centre, width, value, background } => {
                let [bottom, top] =
                    [bottom.unwrap_or(f64::NEG_INFINITY), top.unwrap_or(f64::INFINITY)];
                let (centre, height) = middle(centre)?;
                let kind = Pattern::Gaussian {
                    heights: heights(bottom, top)?,
                    centre,
                    height,
                    width: widths(width, 3)?,
                };
                (kind, value, background)
            }
        };
        for (key, x) in [("value", value), ("background", background)] {
            if !(x as f32).is_finite() {
                return Err(format!(
                    "initial.{key} = {x:e}: give a number that single precision holds"
                ));
            }
        }
        Ok(Initial::Shape(SpatialPattern { kind, value, background }))
    }
}

/// Two heights in ascending order.
fn heights(bottom: f64, top: f64) -> Result<[f64; 2], String> {
    if bottom < top {
        return Ok([bottom, top]);
    }
    Err(format!(
        "initial.bottom = {bottom} and top = {top}: give heights above the ground, m, the lower one first"
    ))
}

/// x and y of the centre, and its height if given.
fn middle(centre: Option<Vec<f64>>) -> Result<(Option<[f64; 2]>, Option<f64>), String> {
    let Some(centre) = centre else { return Ok((None, None)) };
    match centre[..] {
        [x, y] if x.is_finite() && y.is_finite() => Ok((Some([x, y]), None)),
        [x, y, z] if [x, y, z].iter().all(|x| x.is_finite()) => Ok((Some([x, y]), Some(z))),
        _ => Err(format!("initial.centre = {centre:?}: give [x, y] or [x, y, z], m")),
    }
}

/// Widths along x, y and z, from one number or up to `most` numbers.
fn widths(width: Numbers, most: usize) -> Result<[f64; 3], String> {
    let all = match width {
        Numbers::One(x) => vec![x; 3],
        Numbers::Several(all) if (2..=most).contains(&all.len()) => all,
        Numbers::Several(all) => {
            return Err(format!(
                "initial.width has {} numbers; give one, or 2 to {most}, m",
                all.len()
            ));
        }
    };
    if let Some(x) = all.iter().find(|x| !(**x > 0.0 && x.is_finite())) {
        return Err(format!("initial.width = {x}: give lengths above 0, m"));
    }
    Ok([all[0], all[1], all.get(2).copied().unwrap_or(all[0])])
}

#[cfg(test)]
mod tests {
    use super::super::SourceVariable;
    use super::*;
    use crate::physics::registry::usual_set;

    fn read(text: &str) -> Result<PassiveTracers> {
        PassiveTracers::parse(&usual_set(), Path::new("t.toml"), text)
    }

    /// A tracer of this name with these lines after its units.
    fn one_of(name: &str, rest: &str) -> String {
        format!("[[tracer]]\nname = \"{name}\"\nunits = \"1\"\n{rest}\n")
    }

    const CONSTANT: &str = "initial = { kind = \"constant\", value = 1.0 }";

    #[test]
    fn a_file_becomes_tracers() {
        let text = one_of(
            "smoke",
            &format!("{CONSTANT}\nsides = \"zero-gradient\"\nlimiter = \"pd\"\ndecay = 3600.0"),
        ) + &one_of(
            "vapour",
            "initial = { kind = \"field\", variable = \"QVAPOR\" }\nsides = 0",
        ) + &one_of("ash", "initial = { kind = \"field\", variable = \"PM10\" }")
            + &one_of("copy", "initial = { kind = \"tracer\", name = \"smoke\" }");
        let recipe = read(&text).expect("four tracers");
        let set = recipe.set();
        let [smoke, vapour, _, _] = set.passive() else { panic!("four tracers") };
        assert_eq!(
            (smoke.name, smoke.decay, smoke.inflow),
            ("smoke", Some(3600.0), Inflow::ZeroGradient)
        );
        assert_eq!((vapour.inflow, vapour.limiter), (Inflow::Constant(0.0), None));
        assert_eq!(recipe.variables(), [SourceVariable { name: "PM10", units: "1" }]);
        assert_eq!(recipe.tracers[3].initial, Initial::Tracer(usual_set().carried()));
    }

    #[test]
    fn what_is_wrong_is_told() {
        for (text, words) in [
            (String::new(), &["describes no tracer"][..]),
            ("tracer = 3".to_owned(), &["line 1"]),
            (one_of("a", "colour = 3\n") + CONSTANT, &["line 4", "colour"]),
            (one_of("1a", CONSTANT), &["\"1a\"", "must begin with a letter"]),
            (one_of("a b", CONSTANT), &["letters, digits"]),
            (one_of("QVAPOR", CONSTANT), &["QVAPOR", "field of the model"]),
            (one_of("a", CONSTANT) + &one_of("a", CONSTANT), &["\"a\"", "given twice"]),
            (one_of("a", CONSTANT).replace("\"1\"", "\"furlongs\""), &["furlongs", "kg kg-1"]),
            (
                one_of("a", &format!("{CONSTANT}\nsides = \"open\"")),
                &["sides", "open", "zero-gradient"],
            ),
            (one_of("a", &format!("{CONSTANT}\nsides = nan")), &["sides = NaN"]),
            (one_of("a", &format!("{CONSTANT}\nlimiter = \"weno\"")), &["weno", "monotonic"]),
            (one_of("a", &format!("{CONSTANT}\ndecay = 0")), &["decay = 0"]),
            (one_of("a", "initial = { kind = \"constant\", value = 1e39 }"), &["value", "1e39"]),
            (
                one_of("a", "initial = { kind = \"constant\", value = 2e9 }")
                    .replace("\"1\"", "\"ppbv\""),
                &["initial.value = 2e9", "1e9 ppbv"],
            ),
            (
                one_of("a", &format!("{CONSTANT}\nsides = -0.1")).replace("\"1\"", "\"kg kg-1\""),
                &["sides = -1e-1"],
            ),
            (
                one_of("a", "initial = { kind = \"field\", variable = \"QVAPOR\" }")
                    .replace("\"1\"", "\"ppmv\""),
                &["ppmv", "QVAPOR", "kg kg-1"],
            ),
            (one_of("a", "initial = { kind = \"cone\" }"), &["line", "cone"]),
            (one_of("a", "initial = { kind = \"layer\", bottom = 5, top = 5 }"), &["bottom = 5"]),
            (
                one_of("a", "initial = { kind = \"box\", bottom = 0, top = 5, width = [1, 2, 3] }"),
                &["width has 3"],
            ),
            (one_of("a", "initial = { kind = \"gaussian\", width = -1 }"), &["width = -1"]),
            (
                one_of("a", "initial = { kind = \"gaussian\", width = 1, centre = [1] }"),
                &["centre = [1.0]"],
            ),
            (one_of("a", "initial = { kind = \"tracer\", name = \"b\" }"), &["no tracer \"b\""]),
        ] {
            let error = read(&text).expect_err(&text).to_string();
            for word in words {
                assert!(error.contains(word), "{text:?}: {word:?} is not in {error:?}");
            }
            assert!(error.starts_with("t.toml: ") && !error.contains('\n'), "{error:?}");
        }
        let error =
            PassiveTracers::numbered(&usual_set(), 70_000).expect_err("too many").to_string();
        assert!(error.contains("70000") && error.contains("4000"), "{error}");
        assert_eq!(
            PassiveTracers::numbered(&usual_set(), 81).expect("81 tracers").set().passive().len(),
            81
        );
    }
}
