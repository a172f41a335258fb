//! Selection of the variables to write.

use crate::error::{Error, Result};
use crate::io::layout::{
    COMPUTED, CONTENTS, COURANT, ENSEMBLE_MEAN, ENSEMBLE_SPREAD, GIVEN, GRID, PROFILES, SAMPLED,
    Variable,
};
use crate::io::read::reader::nearest;
use crate::tracers::TracerSet;

/// Coordinates of the cells, which are always written besides the times.
const PLACES: [&str; 2] = ["XLAT", "XLONG"];
/// Variables of `minimal` besides these and the state: precipitation.
const FALLEN: [&str; 2] = ["RAINNC", "SNOWNC"];

/// Selection of output variables.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Selection {
    /// All variables.
    #[default]
    All,
    /// Variables that WRF writes too.
    Wrf,
    /// State and precipitation.
    Minimal,
    /// A list of names.
    Listed(Vec<String>),
    /// Another selection without these variables, and without quantities derived from them.
    Except(Box<Self>, Vec<&'static str>),
}

/// All variables except times.
fn known() -> impl Iterator<Item = &'static Variable> {
    let summed = CONTENTS.iter().chain(PROFILES.iter().flatten()).chain([&COURANT]);
    COMPUTED.iter().chain(GIVEN.iter()).chain(GRID.iter()).chain(summed)
}

impl Selection {
    /// Returns `true` if a variable is selected.
    pub(in crate::io) fn has(&self, about: &Variable) -> bool {
        let name = about.name;
        let is_of_wrf = || {
            let of_wrf = [&COMPUTED[..], &GIVEN[..], &GRID[..]];
            of_wrf.into_iter().flatten().any(|variable| variable.name == name)
        };
        // Passive tracers have their names from their file.
        let is_tracer = || !known().any(|variable| variable.name == name);
        match self {
            Self::All => true,
            Self::Wrf => is_of_wrf() || is_tracer(),
            Self::Minimal => {
                let is_of_state = TracerSet::moist_air().position(name).is_some();
                PLACES.contains(&name) || FALLEN.contains(&name) || is_of_state || is_tracer()
            }
            Self::Except(all, left_out) => all.has(about) && !is_left_out(left_out, name),
            Self::Listed(names) => {
                PLACES.contains(&name) || names.iter().any(|other| other == name)
            }
        }
    }
}

/// True for an excluded variable, and for its sum, its mean and its root mean square.
pub(in crate::io) fn is_left_out(left_out: &[&str], variable: &str) -> bool {
    let ends = |rest: &str| ["", "_PATH", "_MEAN", "_RMS"].contains(&rest);
    left_out.iter().any(|name| variable.strip_prefix(name).is_some_and(ends))
}

impl Selection {
    /// The same selection without some variables.
    #[must_use]
    pub fn without(self, left_out: &[&'static str]) -> Self {
        if left_out.is_empty() { self } else { Self::Except(Box::new(self), left_out.to_vec()) }
    }

    /// True for a variable that is listed by name.
    pub fn lists(&self, name: &str) -> bool {
        matches!(self, Self::Listed(names) if names.iter().any(|other| other == name))
    }
}

/// Use of a name in the output or in files besides it; `None` if it is free.
pub(crate) fn is_taken(name: &str) -> Option<&'static str> {
    let same = |other: &str| other == name;
    let ends = [ENSEMBLE_MEAN, ENSEMBLE_SPREAD];
    if known().any(|variable| same(variable.name)) {
        return Some("a variable");
    }
    if SAMPLED.iter().any(|variable| same(variable.name)) || NOT_FIELDS.split(' ').any(same) {
        return Some("a coordinate, a dimension or a sum");
    }
    ends.into_iter().any(|end| name.ends_with(end)).then_some("a statistic of an ensemble")
}

/// Other names in files besides those of the fields.
const NOT_FIELDS: &str = "\
    Time Times XTIME DateStrLen west_east south_north bottom_top west_east_stag \
    south_north_stag bottom_top_stag projection crs member station station_name name_strlen \
    lat lon alt x y z bnds nv covered_fraction REFL_10CM_MAX rain snow refl_10cm re_cloud \
    re_ice re_snow";

impl Selection {
    /// Parses `all`, `wrf`, `minimal` or names separated by commas, for a run with these passive tracers.
    ///
    /// # Errors
    ///
    /// [`Error::Usage`] for an unknown name.
    pub fn of(text: &str, passive: &[&str]) -> Result<Self> {
        match text {
            "all" => return Ok(Self::All),
            "wrf" => return Ok(Self::Wrf),
            "minimal" => return Ok(Self::Minimal),
            _ => {}
        }
        let names: Vec<String> = text.split(',').map(|name| name.trim().to_owned()).collect();
        for name in names.iter().filter(|name| !["Times", "XTIME"].contains(&name.as_str())) {
            if known().any(|variable| variable.name == name) || passive.contains(&name.as_str()) {
                continue;
            }
            let names = known().map(|variable| variable.name);
            let near = nearest(name, names.chain(passive.iter().copied()));
            let hint = near.map_or_else(
                || {
                    "expected all, wrf, minimal or names of variables separated by commas"
                        .to_owned()
                },
                |near| format!("the nearest is {near}"),
            );
            return Err(Error::Usage(format!("the output has no variable {name:?}; {hint}")));
        }
        Ok(Self::Listed(names))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn chosen(text: &str) -> Vec<&'static str> {
        let selection = Selection::of(text, &[]).expect("a selection");
        known().filter(|variable| selection.has(variable)).map(|variable| variable.name).collect()
    }

    #[test]
    fn selections_hold_what_they_are_named_for() {
        assert_eq!(chosen("all").len(), known().count());
        let wrf = chosen("wrf");
        assert!(wrf.contains(&"REFL_10CM") && wrf.contains(&"PB") && wrf.contains(&"ZNU"));
        assert!(!wrf.iter().any(|name| name.ends_with("_PATH") || name.ends_with("_RMS")));
        assert!(!wrf.contains(&"MAX_COURANT"));
        assert_eq!(
            chosen("minimal").len(),
            TracerSet::moist_air().len() + FALLEN.len() + PLACES.len()
        );
        assert_eq!(chosen("QRAIN, W"), ["QRAIN", "W", "XLAT", "XLONG"]);
        assert_eq!(chosen("XTIME"), PLACES);
    }
}
