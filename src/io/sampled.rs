//! What an operator makes of the fields of a run, level by level.

use crate::grid::Shape;
use crate::io::layout::{Axes, SAMPLED};
use crate::real::Real;

/// Number of fields.
pub const FIELDS: usize = SAMPLED.len();

/// The fields at the places that an operator leads to.
#[derive(Clone, Debug, PartialEq)]
pub struct Sample<R> {
    /// Time since the start of the run, s.
    pub seconds: f64,
    /// T, QVAPOR, QCLOUD, QRAIN, QICE, QSNOW, U, V, W, REFL_10CM, RE_CLOUD, RE_ICE, RE_SNOW, RAINNC,
    /// SNOWNC, SR, pressure, height. Shape of each: (levels, places).
    pub fields: [Vec<R>; FIELDS],
}

impl<R: Real> Sample<R> {
    /// Whether all values are numbers, and finite.
    pub fn is_finite(&self) -> bool {
        self.fields.iter().flatten().all(|x| x.is_finite())
    }
}

/// Levels of a field.
pub(super) fn levels(axes: Axes, shape: Shape) -> usize {
    match axes {
        Axes::Volume => shape.nz,
        Axes::VolumeZ => shape.nz + 1,
        _ => 1,
    }
}
