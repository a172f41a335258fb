//! Column physics on a device: the fields there, and the launcher of a scheme.

use std::ops::RangeInclusive;

use super::ColumnPhysics;
use crate::device::{Buffer, Element, Gpu, Source};
use crate::error::Result;
use crate::grid::Shape;
use crate::real::{Precision, Real};

/// The columns of a grid that a scheme works on, and how the fields lie in memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Places {
    /// Columns of a row to work on.
    pub width: usize,
    /// Rows to work on.
    pub rows: usize,
    /// Place of the first of these columns in a plane.
    pub first: usize,
    /// Places of a row of the fields.
    pub pitch: usize,
    /// Places of a plane.
    pub level: usize,
}

impl Places {
    /// All columns of a grid whose rows follow one another.
    pub fn all(shape: Shape) -> Self {
        let Shape { nx, ny, .. } = shape;
        Self { width: nx, rows: ny, first: 0, pitch: nx, level: nx * ny }
    }

    /// Number of columns to work on.
    pub fn columns(&self) -> usize {
        self.width * self.rows
    }
}

/// The fields that a scheme works on, on a device: in their order, each of all places of all levels.
#[derive(Clone, Copy, Debug)]
pub struct Memory<'a, R> {
    /// [`ColumnPhysics::TRACERS`].
    pub tracers: &'a Buffer<R>,
    /// [`ColumnPhysics::AIR`].
    pub air: &'a Buffer<R>,
    /// [`ColumnPhysics::SURFACE`], planes.
    pub surface: &'a Buffer<R>,
}

/// A scheme that has kernels.
pub trait OnDevice<R: Real + Element>: ColumnPhysics<R> {
    /// Numbers of levels that the kernels take.
    const DEVICE_LEVELS: RangeInclusive<usize>;

    /// Its compiled kernels for some columns.
    type Launcher: Launcher<R>;

    /// Mapping of columns to threads, where there is a choice.
    type Mapping;

    /// Texts of its kernels for columns of `nz` levels, each with words that tell it from others of the same file.
    fn sources(precision: Precision, nz: usize) -> Vec<(Source, &'static str)>;

    /// Compiles the kernels for columns of `nz` levels; `theta_base` is added to the first tracer for the potential
    /// temperature. The scheme chooses the mapping where none is given.
    ///
    /// # Errors
    ///
    /// [`Error::Gpu`](crate::error::Error::Gpu) when that fails, or for more or fewer levels or more cells than the
    /// kernels take.
    fn launcher(
        &self,
        gpu: &Gpu,
        nz: usize,
        places: Places,
        theta_base: R,
        mapping: Option<Self::Mapping>,
    ) -> Result<Self::Launcher>;
}

/// Compiled kernels of a scheme.
pub trait Launcher<R> {
    /// One call of the scheme: `dt` seconds.
    ///
    /// # Errors
    ///
    /// [`Error::Gpu`](crate::error::Error::Gpu) when the device has failed.
    ///
    /// # Panics
    ///
    /// When an array is too short.
    fn call(&self, memory: &Memory<'_, R>, dt: f64) -> Result<()>;

    /// Sets [`ColumnPhysics::DIAGNOSED`] in `out`, field by field.
    ///
    /// # Errors
    ///
    /// As [`Launcher::call`].
    ///
    /// # Panics
    ///
    /// As [`Launcher::call`].
    fn diagnose(&self, memory: &Memory<'_, R>, out: &Buffer<R>) -> Result<()> {
        let _ = (memory, out);
        Ok(())
    }

    /// Mapping of columns to threads, in words.
    fn mapping(&self) -> String;
}
