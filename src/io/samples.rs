//! Samples of the fields of a run between its frames: products of operators, and columns; files of them are written by
//! the thread of the output.

use crate::error::Result;
use crate::io::layout::SAMPLED;
use crate::io::writer::Stored;
use crate::real::Real;

/// Number of fields without passive tracers.
pub const FIELDS: usize = SAMPLED.len();

/// The fields at the target points of an operator.
#[derive(Clone, Debug, PartialEq)]
pub struct PointSample<R> {
    /// Time since the start of the run, s.
    pub seconds: f64,
    /// T, QVAPOR, QCLOUD, QRAIN, QICE, QSNOW, U, V, W, REFL_10CM, RE_CLOUD, RE_ICE, RE_SNOW, RAINNC,
    /// SNOWNC, SR, pressure, height. Shape of each: (levels, places).
    pub fields: [Vec<R>; FIELDS],
    /// Passive tracers, in the order of the set. Shape of each: (nz, places).
    pub passive: Vec<Vec<R>>,
}

impl<R: Real> PointSample<R> {
    /// Returns `true` if all values are finite.
    pub fn is_finite(&self) -> bool {
        self.fields.iter().chain(&self.passive).flatten().all(|x| x.is_finite())
    }
}

/// Number of species of water.
pub const TOTALS: usize = 5;

/// The columns at one time. Shapes: (ny, nx, nz) and (ny, nx).
#[derive(Clone, Debug)]
pub struct ColumnFrame<R> {
    /// Time since the start of the run, s.
    pub seconds: f64,
    /// T (K), QVAPOR, QCLOUD, QRAIN, QICE, QSNOW (kg kg⁻¹), REFL_10CM (dBZ), RE_CLOUD, RE_ICE, RE_SNOW (m), and the
    /// passive tracers. Shape of each: (ny, nx, nz).
    pub fields: Vec<Vec<R>>,
    /// Column content of vapour, cloud water, rain, cloud ice and snow, kg m⁻². Shape of each: (ny, nx).
    pub totals: [Vec<R>; TOTALS],
    /// Largest reflectivity, dBZ. Shape: (ny, nx).
    pub strongest: Vec<R>,
    /// Pressure, Pa, and geopotential height of the middle of the layers, m. Shape of each: (ny, nx, nz).
    pub air: [Vec<R>; 2],
}

impl<R: Real> ColumnFrame<R> {
    /// Returns `true` if all values are finite.
    pub fn is_finite(&self) -> bool {
        self.fields.iter().flatten().all(|x| x.is_finite())
    }
}

/// A file besides the output, of columns or of products of operators and fields.
pub(crate) trait AuxOutput<R: Stored>: Send {
    /// Writes the columns.
    fn columns(&mut self, _columns: &ColumnFrame<R>) -> Result<()> {
        Ok(())
    }

    /// Writes the product of the fields and operator number `operator`.
    fn sample(&mut self, _operator: usize, _sample: &PointSample<R>) -> Result<()> {
        Ok(())
    }

    /// Copies the file as it is now to its final name.
    fn publish(&mut self) -> Result<()>;

    /// Completes the file and renames it to its final name.
    fn commit(self: Box<Self>) -> Result<()>;
}
