//! Selection of the variables to write.

use crate::constituents::{Constituents, known};
use crate::error::{Error, Result};
use crate::io::layout::{
    self, COURANT, ENSEMBLE_MEAN, ENSEMBLE_SPREAD, GIVEN, GRID, PLACED, Variable,
};
use crate::io::read::reader::nearest;

/// Coordinates of the cells, which are always written besides the times.
const PLACES: [&str; 2] = ["XLAT", "XLONG"];
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
}

/// All variables except times, of runs with a set.
fn all_of(set: &Constituents) -> Vec<Variable> {
    let summed = layout::contents(set).chain(layout::profiles(set)).chain([COURANT]);
    layout::fields(set).into_iter().chain(GIVEN).chain(GRID).chain(summed).collect()
}

impl Selection {
    /// Returns `true` if a variable of a run with this set is selected.
    pub(in crate::io) fn has(&self, about: &Variable, set: &Constituents) -> bool {
        let name = about.name;
        let is_among = |all: &[Variable]| all.iter().any(|variable| variable.name == name);
        // Passive tracers have their names from their file.
        let is_tracer = || !is_among(&all_of(set));
        let is_of_wrf = || is_among(&layout::fields(set)) || is_among(&GIVEN) || is_among(&GRID);
        match self {
            Self::All => true,
            Self::Wrf => is_of_wrf() || is_tracer(),
            Self::Minimal => {
                let is_of_state = set.of_scheme_only().iter().any(|own| own.variable == name);
                let mut planes = set.planes().iter();
                let is_fallen =
                    planes.any(|plane| plane.gathers.is_some() && plane.variable == Some(name));
                PLACES.contains(&name) || is_fallen || is_of_state || is_tracer()
            }
            Self::Listed(names) => {
                PLACES.contains(&name) || names.iter().any(|other| other == name)
            }
        }
    }
}

/// Use of a name in the output or in files besides it; `None` if it is free.
pub(crate) fn is_taken(name: &str, set: &Constituents) -> Option<&'static str> {
    let same = |other: &str| other == name;
    let ends = [ENSEMBLE_MEAN, ENSEMBLE_SPREAD];
    if all_of(set).iter().any(|variable| same(variable.name)) {
        return Some("a variable");
    }
    let is_internal = set.planes().iter().chain(set.volumes()).any(|own| same(own.name));
    let is_placed = PLACED.iter().any(|variable| same(variable.name));
    if is_placed || is_internal || NOT_FIELDS.split(' ').any(same) {
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
    /// Parses `all`, `wrf`, `minimal` or names separated by commas, for a run with this set.
    ///
    /// # Errors
    ///
    /// [`Error::Usage`] for an unknown name.
    pub fn of(text: &str, set: &Constituents) -> Result<Self> {
        match text {
            "all" => return Ok(Self::All),
            "wrf" => return Ok(Self::Wrf),
            "minimal" => return Ok(Self::Minimal),
            _ => {}
        }
        let names: Vec<String> = text.split(',').map(|name| name.trim().to_owned()).collect();
        let all = all_of(set);
        let names_of_all = all.iter().map(|variable| variable.name);
        let passive = set.passive().iter().map(|own| own.variable);
        let names_of_all: Vec<_> = names_of_all.chain(passive).collect();
        for name in names.iter().filter(|name| !["Times", "XTIME"].contains(&name.as_str())) {
            if names_of_all.contains(&name.as_str()) {
                continue;
            }
            let of_others = known::CONSTITUENTS.iter().map(|one| one.variable);
            let of_others =
                of_others.chain(known::DIAGNOSTICS.iter().filter_map(|one| one.variable));
            if of_others.into_iter().any(|other| other == name) {
                return Err(Error::Usage(format!(
                    "the output has no variable {name:?}, which is of other schemes than {}; omit it",
                    set.scheme()
                )));
            }
            let near = nearest(name, names_of_all.iter().copied());
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
    use crate::physics::registry::usual_set;

    fn chosen(text: &str) -> Vec<&'static str> {
        let set = usual_set();
        let selection = Selection::of(text, &set).expect("a selection");
        let all = all_of(&set).into_iter();
        all.filter(|variable| selection.has(variable, &set)).map(|variable| variable.name).collect()
    }

    #[test]
    fn selections_hold_what_they_are_named_for() {
        assert_eq!(chosen("all").len(), all_of(&usual_set()).len());
        let wrf = chosen("wrf");
        assert!(wrf.contains(&"REFL_10CM") && wrf.contains(&"PB") && wrf.contains(&"ZNU"));
        assert!(!wrf.iter().any(|name| name.ends_with("_PATH") || name.ends_with("_RMS")));
        assert!(!wrf.contains(&"MAX_COURANT"));
        assert_eq!(chosen("minimal").len(), usual_set().len() + 2 + PLACES.len());
        assert_eq!(chosen("QRAIN, W"), ["QRAIN", "W", "XLAT", "XLONG"]);
        assert_eq!(chosen("XTIME"), PLACES);
    }
}
