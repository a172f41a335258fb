//! WRF files as input: `wrfinput`, `wrfout`, `wrfrst`, and the output of this program.
//!
//! The variables of a file decide whether it can be input, not its name.

mod air;
pub(crate) mod chemical;
mod coordinates;
mod frame;
pub(crate) mod grid;
pub(crate) mod inspect;
pub(crate) mod photolysis;
pub(crate) mod plottable;
pub(crate) mod refine;
pub(in crate::io) mod restart_frame;
pub mod series;
mod source;
pub(crate) mod species;
mod theta;
mod times;
mod tracer;
pub(crate) mod units;
mod vertical;
pub(crate) mod window;

use std::path::{Path, PathBuf};
use std::sync::Arc;

use ndarray::{Array2, Ix3};
use time::PrimitiveDateTime;
use tracing::{info, warn};

use crate::calendar;
use crate::domain::{Attribute, Domain};
use crate::dry_mass::{AirMass, FaceMaps, MassCoordinate};
use crate::error::{Advice, Error, Result};
use crate::frame::Frame;
use crate::grid::{Grid, Shape, Side, Sides};
use crate::io::layout::Axes;
use crate::io::read::reader::{RESTART_MARK, Reader, try_map};
pub(super) use air::check as check_air;
use frame::{look_at_grid, read_frame, refuse_missing};
use series::{Overlap, Series};
use source::{MAPS, TimeReader, stored_name};
pub(super) use vertical::check_levels;
use window::InputWindow;

use crate::constants::Constants;
use crate::constituents::Constituents;
use crate::os_text::Shown;
use crate::physics::registry;

/// Variables that every run needs; THM may replace T, and DNW or RDNW may replace ZNW.
const ESSENTIAL: [&str; 9] = ["QVAPOR", "P", "PB", "PH", "PHB", "MU", "MUB", "U", "V"];

/// Hydrometeors of WRF that a scheme need not have.
const HYDROMETEORS: [&str; 6] = ["QCLOUD", "QRAIN", "QICE", "QSNOW", "QGRAUP", "QHAIL"];

/// Hydrometeors that a scheme does not have.
fn not_carried(set: &Constituents) -> impl Iterator<Item = &'static str> {
    let is_carried = |name| set.of_scheme_only().iter().any(|one| one.variable == name);
    HYDROMETEORS.into_iter().filter(move |name| !is_carried(*name))
}

/// Opens the input of a run: reads the domain and the first time of the first file, and lists the times of all files.
/// This function alone decides whether a file can be input.
///
/// `sides` overrides the lateral boundaries of the first file; `set` is what the scheme of the run carries.
///
/// # Errors
///
/// Those of [`read`] and of [`Series::open`].
pub fn open(
    files: &[PathBuf],
    sides: Option<Sides>,
    overlap: Overlap,
    set: &Arc<Constituents>,
) -> Result<(Domain, Frame, Series)> {
    let first = files.first().ok_or_else(|| Error::Usage("no input file is given".to_owned()))?;
    let (domain, frame) = read_for(first, sides, set)?;
    let series = Series::open(files, &domain, (overlap, set))?;
    Ok((domain, frame, series))
}

/// The same of a part of the grid of a run in which every cell is divided into `count` x `count`, which `choose` gives for the
/// domain of the file. The frame has the window of the part.
///
/// # Errors
///
/// As [`open`], and those of `choose`.
pub(crate) fn open_part(
    files: &[PathBuf],
    sides: Option<Sides>,
    overlap: Overlap,
    set: &Arc<Constituents>,
    count: usize,
    choose: impl FnOnce(&Domain) -> Result<Grid>,
) -> Result<(Domain, Frame, Series)> {
    let first = files.first().ok_or_else(|| Error::Usage("no input file is given".to_owned()))?;
    let mut part = None;
    let (domain, frame) = read_with(first, sides, set, |source, sides| {
        // What is wrong with planes is told with all else that is.
        let Ok(mass) = try_map(["MU", "MUB"], |name| source.plane(name, Axes::Plane)) else {
            return Ok(None);
        };
        let [mu, mub] = mass.map(|plane| plane.mapv(f64::from));
        let time = times::read(source.reader)?.moments[0];
        let Ok((domain, _)) = read_domain(source, (mu + mub, time), sides) else {
            return Ok(None);
        };
        let chosen = choose(&domain)?;
        let window = InputWindow::of_part(&domain.grid, count, &chosen);
        part = Some((chosen, window.clone()));
        Ok(Some(window))
    })?;
    let series = Series::open(files, &domain, (overlap, set))?;
    let series = match part {
        Some((part, window)) => series.of_part(part, window),
        None => series,
    };
    Ok((domain, frame, series))
}

/// Reads the domain and the first time of a WRF file, for a run with the usual scheme.
///
/// # Errors
///
/// As [`read_for`].
pub fn read(path: &Path, sides: Option<Sides>) -> Result<(Domain, Frame)> {
    read_for(path, sides, &registry::usual_set())
}

/// Reads the domain and the first time of a WRF file, for a run with a scheme that carries `set`.
///
/// `sides` overrides the lateral boundaries of the file.
///
/// # Errors
///
/// [`crate::error::Error::Io`] or [`crate::error::Error::Input`] when the file cannot be read, is not NetCDF, lacks a
/// variable, or has values that cannot be those of air.
pub fn read_for(
    path: &Path,
    sides: Option<Sides>,
    set: &Arc<Constituents>,
) -> Result<(Domain, Frame)> {
    read_with(path, sides, set, |_, _| Ok(None))
}

/// The same; `choose` may give a window of the volumes.
fn read_with(
    path: &Path,
    sides: Option<Sides>,
    set: &Arc<Constituents>,
    choose: impl FnOnce(&TimeReader<'_>, Sides) -> Result<Option<InputWindow>>,
) -> Result<(Domain, Frame)> {
    let reader = Reader::open(path)?;
    require_essentials(&reader)?;
    let source = TimeReader::new(&reader, shape(&reader)?, 0);
    let sides = sides.or_else(|| stored_sides(&reader)).unwrap_or(Sides::all(Side::Specified));
    check_shape(&reader, (source.shape, sides), set)?;
    let time = times::read(&reader)?.moments[0];
    let window = choose(&source, sides)?;
    let (frame, origin) = read_frame(&TimeReader { window: window.as_ref(), ..source }, time, set)?;
    let (domain, doubt) = read_domain(&source, (frame.mu(), time), sides)?;
    if let Some(doubt) = doubt {
        warn!("{}: {doubt}", reader.path().shown());
    }
    theta::tell(&source, origin, time);
    species::tell(&reader, set)?;
    warn_of_what_is_left_out(&source, &domain, set)?;
    info!(
        "{}: {} cells, {:.0} m, {}",
        path.shown(),
        domain.grid.shape,
        domain.grid.dx,
        calendar::format(frame.time)
    );
    Ok((domain, frame))
}

/// The mass of the hydrometeors that the scheme does not have.
fn warn_of_what_is_left_out(
    source: &TimeReader<'_>,
    domain: &Domain,
    set: &Constituents,
) -> Result<()> {
    let air = AirMass::<f64>::new(&domain.grid, &domain.coordinate);
    for name in not_carried(set) {
        if source.has(name) {
            let conversion =
                source.conversion(name, stored_name(source.reader, name).as_deref())?;
            let (mut mass, mut k) = (0.0, 0);
            source.all_levels(name, |level| {
                let level = level.view().into_dimensionality::<Ix3>().expect("a level");
                let amount = |((_, j, i), &q): ((usize, usize, usize), &f32)| {
                    let ratio = if conversion.is_identity() {
                        q
                    } else {
                        conversion.of(f64::from(q)) as f32
                    };
                    f64::from(ratio) * air.cell.at(k, j, i)
                };
                mass = level.indexed_iter().map(amount).fold(mass, |sum, x| sum + x);
                k += 1;
                true
            })?;
            warn!("{name} is not a species of {} and is ignored ({mass:.3e} kg)", set.scheme());
        }
    }
    Ok(())
}

/// Names of the required variables that a file lacks.
fn missing(reader: &Reader) -> Vec<&'static str> {
    let has = |name: &str| stored_name(reader, name).is_some();
    let mut missing: Vec<&str> = ESSENTIAL.iter().copied().filter(|name| !has(name)).collect();
    if !has("T") && !has("THM") {
        missing.push("T (or THM)");
    }
    if !["ZNW", "DNW", "RDNW"].iter().any(|name| has(name)) {
        missing.push("ZNW (or DNW, or RDNW)");
    }
    missing
}

/// Fails for a restart file of this program, which has other variables.
fn refuse_restart(reader: &Reader) -> Result<()> {
    if reader.number(RESTART_MARK)?.is_none() {
        return Ok(());
    }
    let time = reader.text("time").unwrap_or_default();
    let steps = reader.number("steps")?.unwrap_or_default();
    Err(reader
        .error(format!("is a restart file of nwp-mini, of {time}, after {steps} steps"))
        .advise(Advice::ResumeFromFile))
}

fn require_essentials(reader: &Reader) -> Result<()> {
    refuse_restart(reader)?;
    let missing = missing(reader);
    if missing.is_empty() {
        return Ok(());
    }
    Err(reader.error(format!(
        "lacks the variable{} {}; a WRF input or output file with full fields is needed",
        if missing.len() == 1 { "" } else { "s" },
        missing.join(", ")
    )))
}

fn shape(reader: &Reader) -> Result<Shape> {
    let dimension = |name: &str| reader.dimension(name);
    let shape = Shape {
        nx: dimension("west_east")?,
        ny: dimension("south_north")?,
        nz: dimension("bottom_top")?,
    };
    let staggered = [
        ("west_east_stag", shape.nx + 1),
        ("south_north_stag", shape.ny + 1),
        ("bottom_top_stag", shape.nz + 1),
    ];
    for (name, wanted) in staggered {
        let found = dimension(name)?;
        if found != wanted {
            return Err(reader.error(format!(
                "dimension {name} is {found}; a grid of {shape} cells needs {wanted}"
            )));
        }
    }
    Ok(shape)
}

/// Fails if transport and microphysics are not defined on the grid.
pub(super) fn check_shape(
    reader: &Reader,
    (shape, sides): (Shape, Sides),
    set: &Constituents,
) -> Result<()> {
    let levels = set.levels();
    if !levels.contains(&shape.nz) {
        return Err(reader.error(format!(
            "has {} layers; the microphysics takes {} to {}",
            shape.nz,
            levels.start(),
            levels.end()
        )));
    }
    // A periodic axis may have one cell: the stencils wrap around it several times.
    for (axis, cells, is_periodic) in
        [("x", shape.nx, sides.periodic_x()), ("y", shape.ny, sides.periodic_y())]
    {
        if cells < MIN_CELLS && !is_periodic {
            return Err(reader.error(format!(
                "has {shape} cells; at least {MIN_CELLS} are needed along {axis}, or a periodic {axis}"
            ))
            .advise(Advice::MakePeriodic));
        }
    }
    Ok(())
}

/// Fewest cells along a horizontal axis with sides for which WRF's stencils are defined.
const MIN_CELLS: usize = 4;

/// The domain with this column mass, and a warning about it.
fn read_domain(
    source: &TimeReader<'_>,
    (mu, time): (Array2<f64>, PrimitiveDateTime),
    sides: Sides,
) -> Result<(Domain, Option<String>)> {
    let reader = source.reader;
    let (plane, doubt) = grid::at(source)?;
    let Grid { dx, dy, .. } = plane.grid;
    let grid = Grid::whole(source.shape, [dx, dy], sides);
    let vertical = vertical::read(source)?;
    let unit = dx * dy / <f64 as Constants>::GRAVITY;
    let MassCoordinate { map_x, map_y, .. } = plane.coordinate;
    let coordinate = vertical.coordinate(mu, [map_x, map_y], unit);
    check_masses(reader, &grid, &coordinate)?;
    let terrain = source.optional_plane("HGT", Axes::Plane)?.unwrap_or(plane.terrain);
    let start = ["SIMULATION_START_DATE", "START_DATE"]
        .iter()
        .find_map(|name| calendar::parse(&reader.text(name)?))
        .filter(|start| *start <= time)
        .unwrap_or(time);
    let dt = reader.number("DT")?.filter(|dt| *dt > 0.0);
    Ok((Domain { grid, coordinate, vertical, terrain, dt, start, ..plane }, doubt))
}

/// Distance between columns and between rows on the map, m.
fn spacing(reader: &Reader) -> Result<[f64; 2]> {
    let positive = |name: &str| -> Result<f64> {
        let value = reader.required_number(name)?;
        if value > 0.0 {
            return Ok(value);
        }
        Err(reader.error(format!("attribute {name} is {value}; a positive distance is needed")))
    };
    Ok([positive("DX")?, positive("DY")?])
}

/// The lateral boundaries of the run that wrote the file, if it was this program.
fn stored_sides(reader: &Reader) -> Option<Sides> {
    reader.text("NWP_MINI_BOUNDARY")?.parse().ok()
}

/// Upper bound of a column's dry mass, Pa.
const MOST_COLUMN_MASS: f64 = 120_000.0;

pub(super) fn check_masses(
    reader: &Reader,
    grid: &Grid,
    coordinate: &MassCoordinate,
) -> Result<()> {
    if let Some(((j, i), mu)) = coordinate.mu.indexed_iter().find(|(_, mu)| **mu > MOST_COLUMN_MASS)
    {
        return Err(reader.error(format!(
            "MU + MUB is {mu:.6e} Pa at south_north={j} west_east={i}; at most \
             {MOST_COLUMN_MASS:e} Pa is expected; check the units in the file"
        )));
    }
    for k in 0..grid.shape.nz {
        let mass = |mu: f64| coordinate.c1[k] * mu + coordinate.c2[k];
        let bad = coordinate.mu.indexed_iter().find(|(_, mu)| mass(**mu) <= 0.0);
        if let Some(((j, i), mu)) = bad {
            return Err(reader.error(format!(
                "MU + MUB is {mu} Pa at south_north={j} west_east={i}, which leaves layer {k} \
                 without mass; a positive dry column mass is needed"
            )));
        }
    }
    Ok(())
}

struct Maps {
    centre_x: Array2<f64>,
    centre_y: Array2<f64>,
    faces: FaceMaps,
}

/// Map factors, by their current names, or those of WRF 2 and 3.0, or 1.
///
/// Idealised cases fill the old names with zeros; zeros count as absent.
fn read_maps(source: &TimeReader<'_>) -> Result<Maps> {
    let read = |names: [&str; 2]| -> Result<Array2<f64>> {
        let axes = Axes::of_map_factor(names[0]);
        for name in names {
            let plane = source.optional_plane(name, axes)?;
            let Some(plane) = plane.filter(|plane| plane.iter().any(|&m| m != 0.0)) else {
                continue;
            };
            if let Some(((j, i), map)) = plane.indexed_iter().find(|(_, m)| **m <= 0.0) {
                return Err(source.reader.error(format!(
                    "variable {name} is {map} at row {j}, column {i}; a map factor is positive"
                )));
            }
            return Ok(plane.mapv(f64::from));
        }
        let lengths = axes.lengths(source.shape);
        Ok(Array2::ones((lengths[0], lengths[1])))
    };
    let [centre_x, centre_y, u_x, u_y, v_x, v_y] = try_map(MAPS, read)?;
    Ok(Maps { centre_x, centre_y, faces: FaceMaps { u_x, u_y, v_x, v_y } })
}

/// Attributes about the position of the grid on Earth.
pub(super) fn projection(reader: &Reader) -> Result<Vec<(String, Attribute)>> {
    const NUMBERS: [&str; 9] = [
        "MAP_PROJ",
        "CEN_LAT",
        "CEN_LON",
        "TRUELAT1",
        "TRUELAT2",
        "MOAD_CEN_LAT",
        "STAND_LON",
        "POLE_LAT",
        "POLE_LON",
    ];
    let mut attributes = Vec::new();
    for name in NUMBERS {
        if let Some(value) = reader.number(name)? {
            attributes.push((name.to_owned(), Attribute::Number(value)));
        }
    }
    if let Some(text) = reader.text("MAP_PROJ_CHAR") {
        attributes.push(("MAP_PROJ_CHAR".to_owned(), Attribute::Text(text)));
    }
    Ok(attributes)
}
