//! Variables that a run is to write.

use std::str::FromStr;

use crate::error::{Error, Result};
use crate::io::layout::{COMPUTED, CONTENTS, COURANT, GIVEN, GRID, PROFILES, Variable};
use crate::io::reader::nearest;

/// What tells when and where the values are, and is always written beside times.
const PLACES: [&str; 2] = ["XLAT", "XLONG"];
/// What `minimal` stands for, beside that: the state and what has fallen.
const MINIMAL: [&str; 8] = ["T", "QVAPOR", "QCLOUD", "QRAIN", "QICE", "QSNOW", "RAINNC", "SNOWNC"];

/// Variables of the output.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Selection {
    /// All that there are.
    #[default]
    All,
    /// Those that WRF writes too.
    Wrf,
    /// State and precipitation.
    Minimal,
    /// These.
    Listed(Vec<String>),
}

/// All variables that there are but times.
fn known() -> impl Iterator<Item = &'static Variable> {
    let summed = CONTENTS.iter().chain(PROFILES.iter().flatten()).chain([&COURANT]);
    COMPUTED.iter().chain(GIVEN.iter()).chain(GRID.iter()).chain(summed)
}

impl Selection {
    /// Whether a variable is among them.
    pub(super) fn has(&self, about: &Variable) -> bool {
        let name = about.name;
        let is_of_wrf = || {
            let of_wrf = [&COMPUTED[..], &GIVEN[..], &GRID[..]];
            of_wrf.into_iter().flatten().any(|variable| variable.name == name)
        };
        match self {
            Self::All => true,
            Self::Wrf => is_of_wrf(),
            Self::Minimal => PLACES.contains(&name) || MINIMAL.contains(&name),
            Self::Listed(names) => {
                PLACES.contains(&name) || names.iter().any(|other| other == name)
            }
        }
    }
}

impl FromStr for Selection {
    type Err = Error;

    /// `all`, `wrf`, `minimal` or names with commas between them.
    ///
    /// # Errors
    ///
    /// [`Error::Usage`] where there is no variable of a name.
    fn from_str(text: &str) -> Result<Self> {
        match text {
            "all" => return Ok(Self::All),
            "wrf" => return Ok(Self::Wrf),
            "minimal" => return Ok(Self::Minimal),
            _ => {}
        }
        let names: Vec<String> = text.split(',').map(|name| name.trim().to_owned()).collect();
        for name in names.iter().filter(|name| !["Times", "XTIME"].contains(&name.as_str())) {
            if known().any(|variable| variable.name == name) {
                continue;
            }
            let near = nearest(name, known().map(|variable| variable.name));
            let hint = near.map_or_else(
                || {
                    "give all, wrf, minimal or names of variables, with commas between them"
                        .to_owned()
                },
                |near| format!("the nearest is {near}"),
            );
            return Err(Error::Usage(format!(
                "there is no variable {name:?} in the output; {hint}"
            )));
        }
        Ok(Self::Listed(names))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn chosen(text: &str) -> Vec<&'static str> {
        let selection: Selection = text.parse().expect("a selection");
        known().filter(|variable| selection.has(variable)).map(|variable| variable.name).collect()
    }

    #[test]
    fn selections_hold_what_they_are_named_for() {
        assert_eq!(chosen("all").len(), known().count());
        let wrf = chosen("wrf");
        assert!(wrf.contains(&"REFL_10CM") && wrf.contains(&"PB") && wrf.contains(&"ZNU"));
        assert!(!wrf.iter().any(|name| name.ends_with("_PATH") || name.ends_with("_RMS")));
        assert!(!wrf.contains(&"MAX_COURANT"));
        assert_eq!(chosen("minimal").len(), MINIMAL.len() + PLACES.len());
        assert_eq!(chosen("QRAIN, W"), ["QRAIN", "W", "XLAT", "XLONG"]);
        assert_eq!(chosen("XTIME"), PLACES);
    }

    #[test]
    fn names_that_there_are_not_are_refused_with_the_nearest() {
        let error = "T,QRAIM".parse::<Selection>().expect_err("no such variable").to_string();
        assert!(error.contains("QRAIM") && error.contains("QRAIN"), "{error}");
        assert!("".parse::<Selection>().is_err());
        assert!("T,".parse::<Selection>().is_err());
    }
}
