//! Input files of the stand-alone WSM5 of 2008 (`wsm5_in_NNN`), with which the first GPU versions of the scheme were
//! measured.
//!
//! Records of four-byte numbers: 18 integers, the bounds of the domain, of the memory and of the tile; 18 constants,
//! the time step first; then `th q qc qr qi qs` over the cells of the tile, i fastest, then k, then j; `rain rainncv sr
//! snow snowncv` over its columns; and `den pii p delz` over its cells.

use std::path::Path;

use ndarray::Array3;

use crate::constants::Constants;
use crate::error::Result;
use crate::grid::Shape;
use crate::io::columns::{PhysicsCase, SUPPORTED_LEVELS};
use crate::io::fortran::Records;

/// Names of the first record.
const BOUNDS: [&str; 18] = [
    "ids", "ide", "jds", "jde", "kds", "kde", "ims", "ime", "jms", "jme", "kms", "kme", "its",
    "ite", "jts", "jte", "kts", "kte",
];

/// Offset of the bounds of the tile in the first record.
const TILE: usize = 12;

/// Names of the second record, and the values of the constants in this program; constants without counterpart are not
/// compared.
const CONSTANTS: [(&str, Option<f64>); 18] = [
    ("delt", None),
    ("g", Some(f64::GRAVITY)),
    ("rd", Some(f64::R_DRY)),
    ("rv", Some(f64::R_VAPOUR)),
    ("t0c", Some(f64::FREEZING)),
    ("den0", Some(f64::RHO_REFERENCE)),
    ("cpd", Some(f64::CP_DRY)),
    ("cpv", Some(f64::CP_VAPOUR)),
    ("ep1", Some(f64::R_VAPOUR / f64::R_DRY - 1.0)),
    ("ep2", Some(<f64 as Constants>::EPSILON)),
    ("qmin", Some(f64::Q_MIN)),
    ("XLS", Some(f64::L_SUBLIMATION)),
    ("XLV0", Some(f64::L_VAPORISATION)),
    ("XLF0", Some(f64::L_FUSION)),
    ("cliq", Some(f64::C_LIQUID)),
    ("cice", Some(f64::C_ICE)),
    ("psat", Some(f64::TRIPLE_POINT_PRESSURE)),
    ("denr", Some(f64::RHO_WATER)),
];

/// Relative tolerance of a constant: rounding to single precision, with a margin for derived constants.
const SAME: f64 = 1e-6;

/// Fields over the cells, in the records before and after the fields over the columns, and the latter.
const CELLS: [&str; 6] = ["th", "q", "qc", "qr", "qi", "qs"];
const COLUMNS: [&str; 5] = ["rain", "rainncv", "sr", "snow", "snowncv"];
const AIR: [&str; 4] = ["den", "pii", "p", "delz"];

/// Contents of such a file.
#[derive(Debug)]
pub struct Benchmark {
    /// Columns from west to east and from south to north, and levels.
    pub shape: Shape,
    /// The columns, row by row: column j nx + i is that of i and j.
    pub case: PhysicsCase<f32>,
    /// Constants that differ from this program's: name, value in the file, value here.
    pub differing: Vec<(&'static str, f64, f64)>,
}

impl Benchmark {
    /// Reads a file.
    ///
    /// # Errors
    ///
    /// [`crate::error::Error::Io`] or [`crate::error::Error::Input`] when the file cannot be read or has another
    /// format: every length and every number is checked.
    pub fn read(path: &Path) -> Result<Self> {
        let mut records = Records::open(path)?;
        let bounds = records.integers("the bounds of the grid", BOUNDS.len())?;
        let constants = records.reals("the constants", CONSTANTS.len())?;
        let shape = shape(&records, &bounds)?;
        let dt = f64::from(constants[0]);
        if dt <= 0.0 || !dt.is_finite() {
            let message = format!("the time step delt is {dt} s; a positive number is needed");
            return Err(records.error(message));
        }
        let differing = CONSTANTS.iter().zip(&constants).filter_map(|((name, ours), &found)| {
            let (ours, found) = ((*ours)?, f64::from(found));
            // This comparison is false for NaN.
            let is_same = (found - ours).abs() <= SAME * ours.abs();
            (!is_same).then_some((*name, found, ours))
        });
        let differing = differing.collect();
        let mut cells = |name: &str| volume(&mut records, name, shape);
        let tracers = CELLS.into_iter().map(&mut cells).collect::<Result<_>>()?;
        for name in COLUMNS {
            records.reals(name, shape.columns())?;
        }
        let air = AIR.into_iter().map(|name| volume(&mut records, name, shape));
        let air = air.collect::<Result<_>>()?;
        records.finish()?;
        let case = PhysicsCase {
            shape: Shape { nx: shape.columns(), ny: 1, nz: shape.nz },
            tracers,
            air,
            surface: Vec::new(),
            diagnosed: Vec::new(),
            tendencies: [None, None],
            dt: Some(dt),
            calls: Some(1.0),
        };
        Ok(Self { shape, case, differing })
    }
}

/// The cells of the tile.
fn shape(records: &Records, bounds: &[i32]) -> Result<Shape> {
    let mut lengths = [0; 3];
    for (axis, length) in lengths.iter_mut().enumerate() {
        let at = TILE + 2 * axis;
        let ([first, last], [from, to]) =
            ([bounds[at], bounds[at + 1]], [BOUNDS[at], BOUNDS[at + 1]]);
        let count = i64::from(last) - i64::from(first) + 1;
        *length = usize::try_from(count).ok().filter(|count| *count > 0).ok_or_else(|| {
            records
                .error(format!("the tile goes from {from} = {first} to {to} = {last}; it is empty"))
        })?;
    }
    let [nx, ny, nz] = lengths;
    if !SUPPORTED_LEVELS.contains(&nz) {
        let (least, most) = (SUPPORTED_LEVELS.start(), SUPPORTED_LEVELS.end());
        let message = format!("has {nz} levels (kts to kte); the scheme takes {least} to {most}");
        return Err(records.error(message));
    }
    // The size of the tile is compared with the file before memory is allocated.
    let marks = 8 * (CELLS.len() + COLUMNS.len() + AIR.len()) as u128;
    let columns = nx as u128 * ny as u128;
    let levels = nz as u128 * (CELLS.len() + AIR.len()) as u128 + COLUMNS.len() as u128;
    let needed = 4 * columns * levels + marks;
    if needed != u128::from(records.left()) {
        return Err(records.error(format!(
            "holds {} bytes after its second record; {nx} x {ny} columns of {nz} levels (its to \
             ite, jts to jte, kts to kte) take {needed}: is the file complete?",
            records.left()
        )));
    }
    Ok(Shape { nx, ny, nz })
}

/// A field over the cells, as one row of columns. Shape: (nz, 1, nx ny).
fn volume(records: &mut Records, name: &str, shape: Shape) -> Result<Array3<f32>> {
    let Shape { nx, ny, nz } = shape;
    let values = records.reals(name, shape.cells())?;
    let is_positive = name == CELLS[0] || AIR.contains(&name);
    let is_bad = |x: &f32| !x.is_finite() || (is_positive && *x <= 0.0);
    if let Some(at) = values.iter().position(is_bad) {
        let (i, k, j) = (at % nx, at / nx % nz, at / nx / nz);
        return Err(records.error(format!(
            "{name} is {} in cell i={i} j={j} k={k} of the tile, counted from 0; a {}number is \
             needed",
            values[at],
            if is_positive { "positive " } else { "finite " }
        )));
    }
    Ok(Array3::from_shape_fn((nz, 1, nx * ny), |(k, _, column)| {
        values[(column / nx * nz + k) * nx + column % nx]
    }))
}
