//! Samples of the fields of a run between its frames: products of operators, and columns.

use std::ops::Range;

use crate::constituents::Constituents;
use crate::real::Real;

/// Order of the fields of a sample: those of the scheme, three components of the wind, diagnosed volumes, planes at the
/// ground, pressure and height.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SampleOrder {
    carried: usize,
    volumes: usize,
    planes: usize,
}

impl SampleOrder {
    /// Components of the wind.
    const WIND: usize = 3;

    /// The order in a run with this set.
    pub fn of(set: &Constituents) -> Self {
        Self {
            carried: set.carried(),
            volumes: set.volumes().len(),
            planes: set.shown_planes().count(),
        }
    }

    /// The components of the wind.
    pub fn wind(self) -> Range<usize> {
        self.carried..self.carried + Self::WIND
    }

    /// The fields of the scheme and the diagnosed volumes.
    pub fn volumes(self) -> impl Iterator<Item = usize> {
        let diagnosed = self.wind().end..self.wind().end + self.volumes;
        (0..self.carried).chain(diagnosed)
    }

    /// The planes at the ground.
    pub fn planes(self) -> Range<usize> {
        let first = self.wind().end + self.volumes;
        first..first + self.planes
    }

    /// Pressure and height.
    pub fn air(self) -> [usize; 2] {
        [self.planes().end, self.planes().end + 1]
    }

    /// Number of fields without passive tracers.
    pub fn fields(self) -> usize {
        self.planes().end + 2
    }
}

/// The fields at the target points of an operator.
#[derive(Clone, Debug, PartialEq)]
pub struct PointSample<R> {
    /// Time since the start of the run, s.
    pub seconds: f64,
    /// Order of the fields.
    pub order: SampleOrder,
    /// The fields without passive tracers. Shape of each: (levels, places).
    pub fields: Vec<Vec<R>>,
    /// Passive tracers, in the order of the set. Shape of each: (nz, places).
    pub passive: Vec<Vec<R>>,
}

impl<R: Real> PointSample<R> {
    /// Returns `true` if all values are finite.
    pub fn is_finite(&self) -> bool {
        self.fields.iter().chain(&self.passive).flatten().all(|x| x.is_finite())
    }
}

/// The columns at one time. Shapes: (ny, nx, nz) and (ny, nx).
#[derive(Clone, Debug)]
pub struct ColumnFrame<R> {
    /// Time since the start of the run, s.
    pub seconds: f64,
    /// The fields of the scheme, diagnosed volumes, and the passive tracers. Shape of each: (ny, nx, nz).
    pub fields: Vec<Vec<R>>,
    /// Column content of each species of water, kg m⁻². Shape of each: (ny, nx).
    pub totals: Vec<Vec<R>>,
    /// Largest reflectivity, dBZ, if it is diagnosed. Shape: (ny, nx).
    pub strongest: Option<Vec<R>>,
    /// Pressure, Pa, and geopotential height of the middle of the layers, m. Shape of each: (ny, nx, nz).
    pub air: [Vec<R>; 2],
}

impl<R: Real> ColumnFrame<R> {
    /// All lists: fields, air, totals, and the largest reflectivity.
    pub fn lists(&self) -> impl Iterator<Item = &[R]> {
        let lists = self.fields.iter().chain(&self.air).chain(&self.totals);
        lists.chain(&self.strongest).map(Vec::as_slice)
    }

    /// Returns `true` if all values are finite.
    pub fn is_finite(&self) -> bool {
        self.fields.iter().flatten().all(|x| x.is_finite())
    }
}
