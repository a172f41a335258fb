//! Column physics on a device: the fields and the launcher of a scheme.

use std::ops::RangeInclusive;

use super::ColumnPhysics;
use crate::device::{Buffer, Element, Gpu, KernelSource};
use crate::error::Result;
use crate::grid::Shape;
use crate::real::{Precision, Real};

/// The columns of a grid that a scheme works on, and the memory layout of the fields.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ColumnLayout {
    /// Columns of a row that the scheme works on.
    pub width: usize,
    /// Rows that the scheme works on.
    pub rows: usize,
    /// Offset of the first of these columns in a plane.
    pub first: usize,
    /// Elements of a row of the fields.
    pub pitch: usize,
    /// Elements of a plane.
    pub level: usize,
}

impl ColumnLayout {
    /// All columns of a grid with contiguous rows.
    pub fn all(shape: Shape) -> Self {
        let Shape { nx, ny, .. } = shape;
        Self { width: nx, rows: ny, first: 0, pitch: nx, level: nx * ny }
    }

    /// Number of columns that the scheme works on.
    pub fn columns(&self) -> usize {
        self.width * self.rows
    }
}

/// The fields of a scheme on a device, each kind in order in one array of whole levels.
#[derive(Clone, Copy, Debug)]
pub struct DeviceArrays<'a, R> {
    /// [`ColumnPhysics::TRACERS`].
    pub tracers: &'a Buffer<R>,
    /// [`ColumnPhysics::AIR`].
    pub air: &'a Buffer<R>,
    /// [`ColumnPhysics::SURFACE`], planes.
    pub surface: &'a Buffer<R>,
}

/// A scheme with kernels.
pub trait DevicePhysics<R: Real + Element>: ColumnPhysics<R> {
    /// Numbers of levels that the kernels take.
    const DEVICE_LEVELS: RangeInclusive<usize>;

    /// Its compiled kernels for some columns.
    type Launcher: Launcher<R>;

    /// Mapping of columns to threads, where there is a choice.
    type Mapping;

    /// Texts of its kernels for columns of `nz` levels, each with words that tell it from others of the same file.
    fn sources(precision: Precision, nz: usize) -> Vec<(KernelSource, &'static str)>;

    /// Compiles the kernels for columns of `nz` levels; `theta_base` is the potential temperature minus the first
    /// tracer.
    ///
    /// # Errors
    ///
    /// [`Error::Gpu`](crate::error::Error::Gpu) when that fails, and for unsupported numbers of levels or cells.
    fn launcher(
        &self,
        gpu: &Gpu,
        nz: usize,
        places: ColumnLayout,
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
    fn call(&self, memory: &DeviceArrays<'_, R>, dt: f64) -> Result<()>;

    /// Sets [`ColumnPhysics::DIAGNOSED`] in `out`, field by field.
    ///
    /// # Errors
    ///
    /// As [`Launcher::call`].
    ///
    /// # Panics
    ///
    /// As [`Launcher::call`].
    fn diagnose(&self, memory: &DeviceArrays<'_, R>, out: &Buffer<R>) -> Result<()> {
        let _ = (memory, out);
        Ok(())
    }

    /// Mapping of columns to threads, in words.
    fn mapping(&self) -> String;
}
