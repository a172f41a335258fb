//! Samples of the fields of a run between its frames: products of operators, and columns.

use crate::real::Real;

/// Number of fields without passive tracers.
pub const FIELDS: usize = 18;

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
