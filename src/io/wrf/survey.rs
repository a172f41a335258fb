//! What a WRF file offers as input, and what is missing or would be assumed.

use std::path::Path;

use serde::Serialize;

use super::source::{Place, Source, stored_name};
use super::{NOT_CARRIED, geography, missing, shape, spacing, stored_sides, time};
use crate::calendar;
use crate::error::Result;
use crate::grid::{Shape, Side, Sides};
use crate::io::reader::Reader;

/// What a file offers as input. Texts are for people, but for names and times.
#[derive(Clone, Debug, Serialize)]
pub struct Survey {
    /// The file's own title.
    pub title: Option<String>,
    /// Cells along x, y, z.
    pub grid: [usize; 3],
    /// Distance of columns and of rows on the map, m.
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
    /// Essential variables that are not there.
    pub missing: Vec<&'static str>,
    /// What would be assumed in place of what is not there.
    pub assumed: Vec<String>,
}

/// Variables that a run reads where they are there, and what it assumes otherwise.
const OPTIONAL: [(&[&str], &str); 6] = [
    (&["QCLOUD", "QRAIN", "QICE", "QSNOW"], "zero"),
    (&["RDNW", "DNW", "ZNW", "ZNU", "DN", "RDN", "FNM", "FNP"], "derived from the eta levels"),
    (&["C1H", "C2H", "C1F", "C2F"], "those of the classic coordinate, 1 and 0"),
    (&["HGT"], "sea level"),
    (&["P_TOP"], "zero; only passed on to the output"),
    (&["Times"], "0001-01-01_00:00:00"),
];

/// Names of the map factors, each with the older name that serves as well.
const MAPS: [[&str; 2]; 6] = [
    ["MAPFAC_MX", "MAPFAC_M"],
    ["MAPFAC_MY", "MAPFAC_M"],
    ["MAPFAC_UX", "MAPFAC_U"],
    ["MAPFAC_UY", "MAPFAC_U"],
    ["MAPFAC_VX", "MAPFAC_V"],
    ["MAPFAC_VY", "MAPFAC_V"],
];

/// Looks a file over without reading its fields.
///
/// # Errors
///
/// [`crate::error::Error::Io`] or [`crate::error::Error::Input`] when it cannot be read, is not
/// NetCDF, or does not have WRF's dimensions.
pub fn survey(path: &Path) -> Result<Survey> {
    let reader = &Reader::open(path)?;
    super::refuse_restart(reader)?;
    let shape = shape(reader)?;
    let source = Source { reader, shape, time: 0 };
    // Without Times there is nothing to tell them apart by.
    let count = if reader.has("Times") { reader.dimension("Time")? } else { 1 };
    let times = (0..count)
        .map(|time_index| Ok(calendar::format(time(&Source { time: time_index, ..source })?)))
        .collect::<Result<_>>()?;
    let stored = |name: &&str| stored_name(reader, name);
    let mut present: Vec<String> = super::ESSENTIAL.iter().filter_map(stored).collect();
    present.extend(stored(&"T").or_else(|| stored(&"THM")));
    let mut assumed = Vec::new();
    if stored(&"T").is_none() && stored(&"THM").is_some() {
        assumed.push("theta: from THM and QVAPOR".to_owned());
    }
    for (names, substitute) in OPTIONAL {
        let (here, absent): (Vec<&str>, Vec<&str>) =
            names.iter().partition(|name| stored(name).is_some());
        present.extend(here.iter().filter_map(stored));
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
    let [latitude, longitude] = geography(&source)?;
    match (latitude, longitude) {
        (Some(_), Some(_)) => present.extend(["XLAT".to_owned(), "XLONG".to_owned()]),
        _ => assumed.push("XLAT, XLONG: a plane without latitude and longitude".to_owned()),
    }
    for name in NOT_CARRIED.iter().filter(|name| stored(name).is_some()) {
        assumed.push(format!("{name}: left out, the scheme has no such species"));
    }
    present.dedup();
    let sides = stored_sides(reader).unwrap_or_else(|| {
        assumed.push("lateral boundaries: specified; --boundary says otherwise".to_owned());
        Sides::all(Side::Specified)
    });
    let Shape { nx, ny, nz } = shape;
    Ok(Survey {
        title: reader.text("TITLE").map(|title| title.trim().to_owned()),
        grid: [nx, ny, nz],
        spacing: spacing(reader).ok(),
        times,
        map: map(reader)?,
        vertical: if is_hybrid(&source)? { "hybrid eta" } else { "classic eta" },
        dt: reader.number("DT")?.filter(|dt| *dt > 0.0),
        boundary: sides.to_string(),
        present,
        missing: missing(reader),
        assumed,
    })
}

/// The name of a plane that is there and not all zero.
fn is_filled(source: &Source<'_>, name: &str) -> Option<String> {
    let place = match name.as_bytes()["MAPFAC_".len()] {
        b'U' => Place::FaceX,
        b'V' => Place::FaceY,
        _ => Place::Centre,
    };
    let plane = source.optional_plane(name, place).ok()??;
    plane.iter().any(|&x| x != 0.0).then(|| name.to_owned())
}

/// Whether some layer does not follow the classic coordinate.
fn is_hybrid(source: &Source<'_>) -> Result<bool> {
    let c1h = source.profile("C1H", Place::Centre)?;
    Ok(c1h.is_some_and(|c1h| c1h.iter().any(|&c| c != 1.0)))
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
