//! Inspection of a WRF file as input: its contents, missing contents, and assumptions.

use std::collections::BTreeMap;
use std::path::Path;

use serde::Serialize;

use super::source::{MAPS, TimeReader, stored_name};
use super::theta::Origin;
use super::times::TimeSource;
use super::{
    coordinates, missing, not_carried, shape, spacing, species, stored_sides, theta, times, units,
};
use crate::calendar;
use crate::constituents::Constituents;
use crate::error::{Advice, Result};
use crate::grid::{Shape, Side, Sides};
use crate::io::layout::Axes;
use crate::io::read::missing_values::MissingValues;
use crate::io::read::reader::Reader;
use crate::passive::SPECIES_UNITS;
use crate::units::{Quantity, is_absent};

/// Contents of a file as input. Texts are for users, except names and times.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct Survey {
    /// Title in the file.
    pub title: Option<String>,
    /// Cells along x, y, z.
    pub grid: [usize; 3],
    /// Distance between columns and between rows on the map, m.
    pub spacing: Option<[f64; 2]>,
    /// Times, in WRF's form.
    pub times: Vec<String>,
    /// The map projection in words.
    pub map: String,
    /// The vertical coordinate in words.
    pub vertical: &'static str,
    /// Time step of the model that wrote the file, s.
    pub dt: Option<f64>,
    /// Lateral boundaries that a run would take.
    pub boundary: String,
    /// Variables that a run would read.
    pub present: Vec<String>,
    /// Required variables that are missing.
    pub missing: Vec<&'static str>,
    /// Assumptions about missing contents.
    pub assumed: Vec<String>,
    /// Remedy for the last of them, if it is wrong.
    #[serde(skip)]
    pub advice: Option<Advice>,
}

/// Variables that a run reads if they exist, and its assumption otherwise.
const OPTIONAL: [(&[&str], &str); 4] = [
    (&["RDNW", "DNW", "ZNW", "ZNU", "DN", "RDN", "FNM", "FNP"], "derived from the eta levels"),
    (&["C1H", "C2H", "C1F", "C2F"], "those of the classic coordinate, 1 and 0"),
    (&["HGT"], "sea level"),
    (&["P_TOP"], "zero; only passed on to the output"),
];

/// Ice species of WSM3, which are part of its water species.
const FROZEN: [&str; 2] = ["QICE", "QSNOW"];

/// Inspects a file without reading its fields, as input of a run with a scheme that carries `set`.
pub(crate) fn survey(path: &Path, set: &Constituents) -> Result<Survey> {
    let reader = &Reader::open(path)?;
    super::refuse_restart(reader)?;
    let shape = shape(reader)?;
    let source = TimeReader::new(reader, shape, 0);
    // A damaged file cannot be inspected.
    let sized = |name: &String| reader.check_size(&reader.variable(name)?);
    reader.variable_names().iter().try_for_each(sized)?;
    // Faults of single parts are reported when the file is opened as input.
    let (moments, time_source) =
        times::read(reader).map_or((Vec::new(), None), |t| (t.moments, Some(t.time_source)));
    let stored = |name: &&str| stored_name(reader, name);
    let mut present: Vec<String> = super::ESSENTIAL.iter().filter_map(stored).collect();
    let mut assumed = Vec::new();
    let is_wsm3 = species::is_wsm3(reader).unwrap_or(false);
    let origin = origin_of_theta(&source).unwrap_or(None);
    match origin.and_then(Origin::words) {
        None => present.extend(stored(&"T")),
        Some(words) => {
            present.extend(stored(&"THM"));
            assumed.push(words);
        }
    }
    let (vertical, has_lost_hybrid) = coordinate(&source);
    let mut missing = missing(reader);
    missing.extend(has_lost_hybrid.then_some("C1H"));
    let water: Vec<&str> = set.species().iter().skip(1).map(|species| species.variable).collect();
    for (names, substitute) in std::iter::once((&water[..], "zero")).chain(OPTIONAL) {
        if has_lost_hybrid && names.contains(&"C1H") {
            continue;
        }
        let (here, absent): (Vec<&str>, Vec<&str>) =
            names.iter().partition(|name| stored(name).is_some());
        present.extend(here.iter().filter_map(stored));
        // A scheme without ice species is reported below.
        let absent: Vec<&str> =
            absent.into_iter().filter(|name| !(is_wsm3 && FROZEN.contains(name))).collect();
        if !absent.is_empty() {
            assumed.push(format!("{}: {substitute}", absent.join(", ")));
        }
    }
    for [name, older] in MAPS {
        match is_filled(&source, name).or_else(|| is_filled(&source, older)) {
            Some(stored) => present.push(stored),
            None => assumed.push(format!("{name}: 1")),
        }
    }
    let [latitude, longitude] =
        coordinates::stored(&TimeReader { holes: Some(&MissingValues::default()), ..source })
            .unwrap_or_default();
    match (latitude, longitude) {
        (Some(_), Some(_)) => present.extend(["XLAT".to_owned(), "XLONG".to_owned()]),
        _ => assumed.push("XLAT, XLONG: a plane without latitude and longitude".to_owned()),
    }
    present.extend(reader.has("Times").then(|| "Times".to_owned()));
    assumed.extend(time_source.and_then(TimeSource::assumption));
    assumed.extend(species::conversion_message(reader, set).unwrap_or(None));
    assumed.extend(unit_notes(reader));
    for name in not_carried(set).filter(|name| stored(name).is_some()) {
        assumed.push(format!("{name}: left out, the scheme has no such species"));
    }
    present.dedup();
    let mut advice = None;
    let sides = stored_sides(reader).unwrap_or_else(|| {
        advice = Some(Advice::SpecifySides);
        assumed.push("lateral boundaries: specified".to_owned());
        Sides::all(Side::Specified)
    });
    let Shape { nx, ny, nz } = shape;
    Ok(Survey {
        title: reader.text("TITLE").map(|title| title.trim().to_owned()),
        grid: [nx, ny, nz],
        spacing: spacing(reader).ok(),
        times: moments.into_iter().map(calendar::format).collect(),
        map: map(reader)?,
        vertical,
        dt: reader.number("DT")?.filter(|dt| *dt > 0.0),
        boundary: sides.to_string(),
        present,
        missing,
        assumed,
        advice,
    })
}

/// Units that the variables of a run do not state, and those that are converted; a line for each unit.
fn unit_notes(reader: &Reader) -> Vec<String> {
    let mut notes: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for name in reader.variable_names() {
        let level = name.strip_suffix("_2").or_else(|| name.strip_suffix("_1"));
        let known = units::of(level.unwrap_or(&name)).filter(|known| *known != Quantity::NUMBER);
        let stated = reader.units(&name).unwrap_or_default();
        let note = match known {
            Some(known) if is_absent(&stated) => {
                format!("in {}, as no units are stated", known.units)
            }
            Some(known) => match known.conversion(&stated) {
                Ok(conversion) if !conversion.is_identity() => {
                    format!("converted from {stated:?} to {}", known.units)
                }
                _ => continue,
            },
            // WRF-Chem's species are in lower case.
            None if is_absent(&stated) && is_species(reader, &name) => {
                format!(
                    "in {SPECIES_UNITS} as a species, in its own units as a tracer, as no units are stated"
                )
            }
            None => continue,
        };
        notes.entry(note).or_default().push(name);
    }
    notes.into_iter().map(|(note, names)| format!("{}: {note}", names.join(", "))).collect()
}

/// Returns `true` for a variable that may be a species of WRF-Chem.
fn is_species(reader: &Reader, name: &str) -> bool {
    !name.contains(|c: char| c.is_ascii_uppercase()) && is_field(reader, name)
}

/// Returns `true` for a variable with a value in each cell.
pub(super) fn is_field(reader: &Reader, name: &str) -> bool {
    let dimensions = reader.dimensions_of(name).unwrap_or_default();
    let names: Vec<&str> = dimensions.iter().map(|(name, _)| name.as_str()).collect();
    names.ends_with(Axes::Volume.names())
}

/// Source of theta, if any; fields are read only if there is a choice.
fn origin_of_theta(source: &TimeReader<'_>) -> Result<Option<Origin>> {
    if !source.has("THM") {
        return Ok(source.has("T").then_some(Origin::Own));
    }
    let read = |name: &str| {
        let holes = MissingValues::default();
        let source = TimeReader { holes: Some(&holes), ..*source };
        source.optional_volume(name)
    };
    theta::choose(source.reader, read).map(|(_, origin)| Some(origin))
}

/// Name of a plane that exists and is not all zero.
fn is_filled(source: &TimeReader<'_>, name: &str) -> Option<String> {
    let plane = source.optional_plane(name, Axes::of_map_factor(name)).ok()??;
    plane.iter().any(|&x| x != 0.0).then(|| name.to_owned())
}

/// The vertical coordinate in words, and `true` if hybrid coefficients are missing.
fn coordinate(source: &TimeReader<'_>) -> (&'static str, bool) {
    /// Values of `HYBRID_OPT` from here on mean a hybrid coordinate.
    const FLATTENS: f64 = 2.0;
    let option = source.reader.number("HYBRID_OPT").ok().flatten().unwrap_or(0.0);
    let holes = MissingValues::default();
    let c1h =
        TimeReader { holes: Some(&holes), ..*source }.profile("C1H", Axes::Layer).unwrap_or(None);
    let has_lost = option > 0.0 && c1h.is_none();
    let is_hybrid = option >= FLATTENS || c1h.is_some_and(|c1h| c1h.iter().any(|&c| c != 1.0));
    match (is_hybrid, has_lost) {
        (_, true) => ("hybrid eta, C1H missing", true),
        (true, false) => ("hybrid eta", false),
        (false, false) => ("classic eta", false),
    }
}

/// The map projection in words.
fn map(reader: &Reader) -> Result<String> {
    let Some(number) = reader.number("MAP_PROJ")? else { return Ok("not told".to_owned()) };
    let name = match number as i64 {
        0 => "Cartesian plane",
        1 => "Lambert conformal",
        2 => "polar stereographic",
        3 => "Mercator",
        6 => "latitude and longitude",
        _ => "of a number that is not known",
    };
    let text = format!("{name} (MAP_PROJ {number})");
    Ok(match (reader.number("CEN_LAT")?, reader.number("CEN_LON")?) {
        (Some(lat), Some(lon)) if number > 0.0 => {
            format!("{text}, centre {lat:.2} N {lon:.2} E")
        }
        _ => text,
    })
}
