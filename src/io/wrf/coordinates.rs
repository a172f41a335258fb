//! Latitudes and longitudes of a WRF file, checked against the globe and against the distances of its grid.

use ndarray::Array2;

use super::source::TimeReader;
use crate::error::Result;
use crate::grid::EARTH_RADIUS;
use crate::io::layout::Axes;
use crate::io::read::reader::Reader;

/// Positions of the cells of a grid.
#[derive(Clone, Debug, Default)]
pub(super) struct Coordinates {
    /// Degrees north; `None` on a plane. Shape: (ny, nx).
    pub(super) latitude: Option<Array2<f32>>,
    /// Degrees east; `None` on a plane. Shape: (ny, nx).
    pub(super) longitude: Option<Array2<f32>>,
    /// Warning about an inconsistency that does not stop a run.
    pub(super) doubt: Option<String>,
}

/// Grid distances for the check of the coordinates.
#[derive(Clone, Copy, Debug)]
pub(super) struct Distances<'a> {
    /// Distance between columns and between rows on the map, m.
    pub(super) cell: [f64; 2],
    /// Map factors at the centres along x and y; `None` for 1. Shape of each: (ny, nx).
    pub(super) maps: Option<[&'a Array2<f64>; 2]>,
}

/// Latitudes are rounded to single precision.
const POLE: f32 = 90.001;
/// Longitudes may be from -180 to 180 or from 0 to 360; beyond that they are invalid.
const FAR: f32 = 540.0;
/// Relative difference of distances on the sphere and on the map that needs no warning. Missing map factors, taken as
/// 1, cause up to that much in usual domains.
const USUAL: f64 = 0.05;
/// Largest admissible ratio of the two distances.
const MOST: f64 = 3.0;

/// Names of latitude and longitude; the second pair is that of geography files (geo_em).
const NAMES: [[&str; 2]; 2] = [["XLAT", "XLONG"], ["XLAT_M", "XLONG_M"]];

/// The coordinates in the file; `None` if they are missing, or all zero as in idealised cases.
pub(super) fn stored(source: &TimeReader<'_>) -> Result<[Option<Array2<f32>>; 2]> {
    let names = NAMES.into_iter().find(|names| names.iter().any(|name| source.has(name)));
    let Some([latitude, longitude]) = names else { return Ok([None, None]) };
    let planes = [
        source.optional_plane(latitude, Axes::Plane)?,
        source.optional_plane(longitude, Axes::Plane)?,
    ];
    let is_somewhere = planes.iter().flatten().flatten().any(|&x| x != 0.0);
    Ok(if is_somewhere { planes } else { [None, None] })
}

/// Reads the coordinates and checks them against the globe and the distances.
pub(super) fn read(source: &TimeReader<'_>, distances: Distances<'_>) -> Result<Coordinates> {
    let [latitude, longitude] = stored(source)?;
    let is_plane = source.reader.number("MAP_PROJ")? == Some(0.0);
    judged(latitude, longitude, distances, is_plane).map_err(|why| refusal(source.reader, &why))
}

fn refusal(reader: &Reader, why: &str) -> crate::error::Error {
    reader.error(format!(
        "{why}; correct them, or remove XLAT and XLONG (ncks -x -v XLAT,XLONG) for a grid without \
         them"
    ))
}

/// Checked coordinates; otherwise the reason why they cannot be those of the grid.
pub(super) fn judged(
    latitude: Option<Array2<f32>>,
    longitude: Option<Array2<f32>>,
    distances: Distances<'_>,
    is_plane: bool,
) -> Result<Coordinates, String> {
    let plane = |why: String| Coordinates {
        doubt: Some(format!("XLAT, XLONG: left out, as MAP_PROJ is 0, a plane, and {why}")),
        ..Coordinates::default()
    };
    if let Some(why) = off_globe(latitude.as_ref(), longitude.as_ref()) {
        return if is_plane { Ok(plane(why)) } else { Err(why) };
    }
    let mut doubt = None;
    if let (Some(latitude), Some(longitude)) = (&latitude, &longitude) {
        let ratios = ratios([latitude, longitude], distances);
        let off = |ratio: &&(&str, f64, f64)| !(1.0 - USUAL..=1.0 + USUAL).contains(&ratio.2);
        if let Some((name, spacing, ratio)) = ratios.iter().filter_map(Option::as_ref).find(off) {
            let why = format!(
                "XLAT and XLONG have neighbouring cells {:.4} km apart where {name} and the map factors say \
                 {:.4} km",
                ratio * spacing / 1e3,
                spacing / 1e3
            );
            if is_plane {
                return Ok(plane(why));
            }
            if !(1.0 / MOST..=MOST).contains(ratio) {
                return Err(why);
            }
            doubt =
                Some(format!("{why}: was the file thinned, cropped or renamed? {name} is used"));
        }
    }
    Ok(Coordinates { latitude, longitude, doubt })
}

/// Reason why coordinates cannot be on the globe; `None` if they can.
fn off_globe(latitude: Option<&Array2<f32>>, longitude: Option<&Array2<f32>>) -> Option<String> {
    let beyond = |name: &str, plane: Option<&Array2<f32>>, most: f32, needed: &str| {
        let is_off = |x: f32| x.is_nan() || x.abs() > most;
        let ((j, i), x) = plane?.indexed_iter().find(|(_, x)| is_off(**x))?;
        Some(format!("{name} is {x} at south_north={j} west_east={i}, where {needed} are needed"))
    };
    beyond("XLAT", latitude, POLE, "degrees between -90 and 90")
        .or_else(|| beyond("XLONG", longitude, FAR, "degrees between -180 and 360"))
}

/// Most rows and columns that are checked: enough to detect another grid than the stated one.
const LOOKED_AT: usize = 64;

/// Along each axis: name of the grid distance, the distance on the sphere that it implies, m, and the median ratio of
/// the distance by coordinates to it; `None` for an axis of one cell.
fn ratios<'a>(
    [latitude, longitude]: [&Array2<f32>; 2],
    Distances { cell, maps }: Distances<'_>,
) -> [Option<(&'a str, f64, f64)>; 2] {
    let (ny, nx) = latitude.dim();
    let way = |[a, b]: [[usize; 2]; 2]| {
        let place =
            |at: [usize; 2]| [longitude[at], latitude[at]].map(|x| f64::from(x).to_radians());
        let ([x0, y0], [x1, y1]) = (place(a), place(b));
        let [across, up] = [0.5 * (x1 - x0), 0.5 * (y1 - y0)].map(f64::sin);
        let chord = up * up + y0.cos() * y1.cos() * across * across;
        2.0 * EARTH_RADIUS * chord.sqrt().min(1.0).asin()
    };
    std::array::from_fn(|axis| {
        let (columns, rows) = if axis == 0 { (nx - 1, ny) } else { (nx, ny - 1) };
        let name = ["DX", "DY"][axis];
        let mut found = Vec::new();
        for j in (0..rows).step_by((rows / LOOKED_AT).max(1)) {
            for i in (0..columns).step_by((columns / LOOKED_AT).max(1)) {
                let next = if axis == 0 { [j, i + 1] } else { [j + 1, i] };
                let map = maps.map_or(1.0, |maps| 0.5 * (maps[axis][[j, i]] + maps[axis][next]));
                let spacing = cell[axis] / map;
                found.push((way([[j, i], next]) / spacing, spacing));
            }
        }
        let middle = found.len() / 2;
        if found.is_empty() {
            return None;
        }
        let (_, (ratio, spacing), _) =
            found.select_nth_unstable_by(middle, |a, b| a.0.total_cmp(&b.0));
        Some((name, *spacing, *ratio))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Coordinates of cells of `step` degrees around the equator, and the warning about them.
    fn around_equator(step: f32, dx: f64, is_plane: bool) -> Result<Coordinates, String> {
        let latitude = Array2::from_shape_fn((6, 8), |(j, _)| step * (j as f32 - 2.5));
        // Across the date line.
        let longitude = Array2::from_shape_fn((6, 8), |(_, i)| {
            let x = 179.0 + step * i as f32;
            if x > 180.0 { x - 360.0 } else { x }
        });
        let distances = Distances { cell: [dx, dx], maps: None };
        judged(Some(latitude), Some(longitude), distances, is_plane)
    }

    #[test]
    fn distances_are_held_against_those_of_the_sphere() {
        // A degree of the equator of a sphere of 6370 km.
        let degree = 111_177.0;
        let good = around_equator(1.0, degree, false).expect("good");
        assert!(good.doubt.is_none() && good.latitude.is_some());
        let doubtful = around_equator(1.0, 0.5 * degree, false).expect("usable");
        let words = doubtful.doubt.expect("a doubt");
        // The median row of six lies 1.5 degrees from the equator: 111.177 km cos(1.5°).
        assert!(
            words.contains("111.139") && words.contains("55.58") && words.contains("DX"),
            "{words}"
        );
        assert!(around_equator(1.0, 0.1 * degree, false).expect_err("wrong").contains("XLAT"));
        let plane = around_equator(1.0, 0.5 * degree, true).expect("a plane");
        assert!(plane.latitude.is_none() && plane.doubt.expect("a word").contains("MAP_PROJ is 0"));
    }

    #[test]
    fn metres_are_no_degrees() {
        assert!(
            around_equator(100.0, 100.0, false)
                .expect_err("beyond the pole")
                .contains("XLAT is -250")
        );
        assert!(around_equator(100.0, 100.0, true).expect("a plane").longitude.is_none());
    }
}
