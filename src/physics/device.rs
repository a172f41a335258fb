//! Column physics on a device: the fields and the launcher of a scheme, and its columns in a run.

use std::any::Any;
use std::fmt::Debug;
use std::ops::RangeInclusive;

use super::ColumnPhysics;
use crate::cuda_abi::DevicePointer;
use crate::device::{Branch, Buffer, Element, Gpu, KernelSource, Resources};
use crate::dry_mass::gpu::LayeredPointers;
use crate::error::{Error, Result};
use crate::grid::Shape;
use crate::grid::gpu::Layout;
use crate::real::{Precision, Real};
use crate::state::gpu::device_fields::{ActiveColumns, DeviceFields};
use crate::state::gpu::member_layout::MemberLayout;
use crate::state::gpu::step_in_batch::StepInBatch;

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

/// The fields of a scheme on a device, each an array of its own that begins at the first column, with the rows and levels
/// of the [`ColumnLayout`].
#[derive(Clone, Copy, Debug)]
pub struct SeparateArrays<'a, R> {
    /// [`ColumnPhysics::TRACERS`].
    pub tracers: &'a [Buffer<R>],
    /// [`ColumnPhysics::AIR`].
    pub air: &'a [Buffer<R>],
    /// [`ColumnPhysics::SURFACE`], planes.
    pub surface: &'a [Buffer<R>],
}

impl<R: Element> SeparateArrays<'_, R> {
    /// Asserts that there are as many arrays as a scheme has fields, and that all columns lie inside them.
    pub(super) fn check<P: ColumnPhysics<R>>(&self, nz: usize, places: ColumnLayout)
    where
        R: Real,
    {
        let Self { tracers, air, surface } = self;
        let found = [tracers.len(), air.len(), surface.len()];
        assert_eq!(found, [P::TRACERS.len(), P::AIR.len(), P::SURFACE.len()], "fields");
        let ColumnLayout { width, rows, pitch, level, .. } = places;
        assert!(places.first == 0 && places.columns() > 0, "{places:?}");
        let plane = (rows - 1) * pitch + width;
        let fields = tracers.iter().chain(*air).map(|field| (field, (nz - 1) * level + plane));
        for (array, needed) in fields.chain(surface.iter().map(|array| (array, plane))) {
            assert!(array.len() >= needed, "{} elements of {needed}", array.len());
        }
    }
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
    /// [`Error::Gpu`] when that fails, and for unsupported numbers of levels or cells.
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
pub trait Launcher<R>: Send {
    /// One call of the scheme: `dt` seconds.
    ///
    /// # Errors
    ///
    /// [`Error::Gpu`] when the device has failed.
    ///
    /// # Panics
    ///
    /// When an array is too short.
    fn call(&self, memory: &DeviceArrays<'_, R>, dt: f64) -> Result<()>;

    /// One call of the scheme in a branch, on fields in arrays of their own.
    ///
    /// # Errors
    ///
    /// As [`Launcher::call`], and for kernels that take all fields in one array only.
    ///
    /// # Panics
    ///
    /// As [`Launcher::call`], and when the columns do not begin in the first place of the arrays.
    fn call_in_place(
        &self,
        branch: Branch<'_>,
        fields: &SeparateArrays<'_, R>,
        dt: f64,
    ) -> Result<()> {
        let _ = (branch, fields, dt);
        let message = "the kernels of this scheme take no arrays in place; use arrays of the host";
        Err(Error::Gpu(message.to_owned()))
    }

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

/// The grid of a run, and how its columns are mapped to threads.
#[derive(Clone, Debug)]
pub struct DeviceGrid<'a> {
    /// Memory layout of the fields.
    pub layout: Layout,
    /// The columns that calls act in.
    pub inside: ActiveColumns,
    /// `true` if calls act in some of these columns at a time: then one kernel is compiled for any of them.
    pub is_divided: bool,
    /// A mapping as [`Mappings`] write it; `None` for the fastest.
    pub mapping: Option<&'a str>,
}

/// A run, or a member of it, that a scheme is to work in. All memory that it points to must outlive the kernels.
#[derive(Clone, Debug)]
pub struct DeviceRun<'a, R> {
    /// Its grid.
    pub grid: DeviceGrid<'a>,
    /// Mass of the cells and area of all columns, m², for the mass mismatch of calls; `None` if nobody needs that.
    pub masses: Option<(LayeredPointers<R>, &'a [f64])>,
    /// Words for marks of kernels that have begun, and for notes of values that are not finite; null if off.
    pub status: [DevicePointer<u64>; 2],
    /// Indices of the fields of the member.
    pub member: MemberLayout,
}

/// Columns of a scheme in a run on a device.
pub trait DeviceColumns<R>: Any + Debug {
    /// Compiles what calls of `dt` seconds need. It must be called before such a call is recorded in a graph.
    ///
    /// # Errors
    ///
    /// [`Error::Gpu`], as all below.
    fn prepare(&self, dt: f64) -> Result<()> {
        let _ = dt;
        Ok(())
    }

    /// Queues one call of `dt` seconds in a branch, for one step of a batch; the notes and the terms of the water
    /// budget of other steps are kept.
    ///
    /// # Errors
    ///
    /// Those of [`DeviceColumns::prepare`].
    ///
    /// # Panics
    ///
    /// When an array is too short.
    fn call_in(
        &self,
        branch: Branch<'_>,
        turn: StepInBatch,
        place: &DeviceFields<'_, R>,
        dt: f64,
    ) -> Result<()>;

    /// The same in some of the columns each, with the same kernels; `None` if the kernels are for all of them.
    fn within(&self, windows: &[ActiveColumns]) -> Option<Vec<Box<dyn DeviceColumns<R>>>> {
        let _ = windows;
        None
    }

    /// For tests: a call that fails on the device.
    #[doc(hidden)]
    fn call_with_fault(&self, place: &DeviceFields<'_, R>, dt: f64) -> Result<()>;

    /// Queues the diagnosis of reflectivity and radii of all columns, contiguous fields in `out` from `first` on.
    ///
    /// # Errors
    ///
    /// Those of [`DeviceColumns::prepare`].
    ///
    /// # Panics
    ///
    /// When an array is too short.
    fn diagnose(&self, place: &DeviceFields<'_, R>, out: &Buffer<R>, first: usize) -> Result<()>;

    /// Resources of the kernels: that of a call of `dt` seconds and that of the diagnosis.
    ///
    /// # Errors
    ///
    /// Those of [`DeviceColumns::prepare`].
    fn resources(&self, dt: f64) -> Result<[Resources; 2]>;

    /// Mapping of columns to threads, in short.
    fn mapping(&self) -> String;

    /// Names of the kernels, in the order of their ids.
    fn kernels(&self) -> &'static [&'static str];
}

/// The mappings of columns to threads that the kernels of a scheme can be compiled for, as texts. Results do not depend
/// on them but for rounding.
pub trait Mappings {
    /// Name of the choice in files of settings.
    fn knob(&self) -> &'static str;

    /// `true` if a text is a mapping that a number of levels admits.
    fn is_possible(&self, text: &str, precision: Precision, nz: usize) -> bool;

    /// The built-in mapping for a number of columns.
    fn built_in(&self, precision: Precision, nz: usize, columns: usize) -> String;

    /// First candidates, of all shapes.
    fn candidates(&self, precision: Precision, nz: usize) -> Vec<String>;

    /// Further candidates: the same shape with other launch bounds.
    fn variants(&self, text: &str, precision: Precision, nz: usize) -> Vec<String>;

    /// The mapping for a number of columns on a device: the measured one, or the built-in one.
    fn fastest(&self, gpu: &Gpu, precision: Precision, nz: usize, columns: usize) -> String {
        let tuning = gpu.tuning();
        let choice = tuning.and_then(|all| all.choice(self.knob(), precision, nz, columns));
        let measured = choice.map(|choice| choice.setting.clone());
        measured
            .filter(|text| self.is_possible(text, precision, nz))
            .unwrap_or_else(|| self.built_in(precision, nz, columns))
    }
}

/// A kernel of a scheme for the list of all.
#[derive(Clone, Debug)]
pub struct ListedKernel {
    /// Source to compile.
    pub source: KernelSource,
    /// Words that tell it from others of the same file; may be empty.
    pub variant: String,
    /// `true` if the speed of a run depends on it.
    pub is_hot: bool,
    /// Allowed register spills, bytes a thread, if it is hot.
    pub most_spilled: u32,
}
