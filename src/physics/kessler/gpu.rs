//! The scheme on a device: one thread for each column.
#![allow(unsafe_code, reason = "the launcher of a kernel is responsible for its arguments")]

mod in_run;

pub use in_run::KesslerInRun;
pub(super) use in_run::columns;

use super::cell::KesslerCell;
use super::params::{KesslerConstants, KesslerFactors};
use super::{Kessler, Vectorised};
use std::convert::Infallible;
use std::ops::RangeInclusive;

use crate::constants::Constants;
use crate::cuda_abi::{DevicePointer, ReadPointer, shared_struct};
use crate::device::{
    Branch, Buffer, Element, Gpu, Kernel, KernelSource, Launch, constants, structs,
};
use crate::dry_mass::gpu::LayeredPointers;
use crate::error::{Advice, Error, Result};
use crate::physics::ColumnPhysics;
use crate::physics::device::{ColumnLayout, DeviceArrays, DevicePhysics, Launcher, SeparateArrays};
use crate::real::Precision;
use crate::state::gpu::kernel_id;
use crate::state::gpu::prelude::{grid, notes};

shared_struct! {
    /// Arguments of the kernel. Fields have shape (level, place), planes (place).
    pub struct KesslerArgs<R> {
        /// Marks of kernels that have begun; null if off.
        marks: DevicePointer<u64>, "1";
        /// Notes of values that are not finite; null if off.
        notes: DevicePointer<u64>, "1";
        /// Potential temperature less `theta_base`; input and output, as are the three below.
        theta: DevicePointer<R>, "K";
        /// Vapour.
        qv: DevicePointer<R>, "kg kg⁻¹";
        /// Cloud water.
        qc: DevicePointer<R>, "kg kg⁻¹";
        /// Rain.
        qr: DevicePointer<R>, "kg kg⁻¹";
        /// Density of dry air.
        rho: ReadPointer<R>, "kg m⁻³";
        /// Exner function.
        exner: ReadPointer<R>, "1";
        /// Depth of the layers.
        dz: ReadPointer<R>, "m";
        /// Precipitation; accumulated.
        rain: DevicePointer<R>, "mm";
        /// Precipitation of the last sub-step; set.
        rainncv: DevicePointer<R>, "mm";
        /// Water that has reached the ground in the call; set, as are the three below. Null without the water budget.
        fallen: DevicePointer<R>, "kg m⁻²";
        /// Water that sedimentation has created.
        fall_residual: DevicePointer<R>, "kg m⁻²";
        /// Water that clipping at zero has added.
        clipped: DevicePointer<R>, "kg m⁻²";
        /// Mass mismatch of the changes, relative to rho dz.
        mass_mismatch: DevicePointer<R>, "kg m⁻²";
        /// Dry mass of the cells.
        mass: LayeredPointers<R>, "kg";
        /// Reciprocal area of the cells.
        per_area: ReadPointer<R>, "m⁻²";
        /// Factors of the processes.
        factors: KesslerFactors<R>, "1";
        /// Potential temperature minus `theta`.
        theta_base: R, "K";
        /// Length of the call.
        dt: R, "s";
        /// Padding.
        filler: R, "1";
        /// Number of columns.
        columns: i32, "1";
        /// Columns of a row that the kernel works on.
        width: i32, "1";
        /// Offset of the first column.
        first: i32, "1";
        /// Elements of a row.
        pitch: i32, "1";
        /// Elements of a level.
        level: i32, "1";
        /// Index of this step in its batch, for notes of values that are not finite.
        step: i32, "1";
        /// Index of `theta` among the fields of all states.
        theta_number: i32, "1";
        /// Index of `qv` among them; `qc` and `qr` follow.
        water_number: i32, "1";
    }
}

shared_struct! {
    /// Arguments of the kernel of the diagnosis. Fields have shape (level, place).
    pub struct KesslerDiagnosisArgs<R> {
        /// Density of dry air.
        rho: ReadPointer<R>, "kg m⁻³";
        /// Rain.
        qr: ReadPointer<R>, "kg kg⁻¹";
        /// Reflectivity; set. Shape: (level, column).
        refl_10cm: DevicePointer<R>, "dBZ";
        /// Number of columns.
        columns: i32, "1";
        /// Columns of a row that the kernel works on.
        width: i32, "1";
        /// Offset of the first column.
        first: i32, "1";
        /// Elements of a row.
        pitch: i32, "1";
        /// Elements of a level.
        level: i32, "1";
        /// Padding.
        filler: i32, "1";
    }
}

/// Kernel files, below `kernels/`.
const FILE: &str = "physics/kessler/column.cu";
const DIAGNOSIS_FILE: &str = "physics/kessler/diagnose.cu";
/// Kernel names.
const KERNEL: &str = "kessler_column";
const DIAGNOSIS: &str = "kessler_diagnose";

/// Threads of a block: few, so that small grids reach all multiprocessors.
const THREADS: usize = 64;

/// Constants and structs of the scheme for kernels, after [`Constants`].
pub(crate) fn declarations(precision: Precision) -> String {
    constants!(precision; KesslerConstants)
        + "\n"
        + &structs!(precision; KesslerFactors, KesslerCell, KesslerArgs, KesslerDiagnosisArgs)
}

/// Settings of the kernel, by their names in CUDA.
fn settings() -> [(&'static str, i32); 1] {
    [("KESSLER_THREADS", THREADS as i32)]
}

/// Source of the kernel for columns of `nz` levels.
pub fn source(precision: Precision, nz: usize) -> KernelSource {
    of_file(FILE, precision, nz)
}

/// Source of the kernel of the diagnosis.
pub fn diagnosis_source(precision: Precision, nz: usize) -> KernelSource {
    of_file(DIAGNOSIS_FILE, precision, nz)
}

/// Kernels of a run for columns of `nz` levels.
pub(super) fn sources(precision: Precision, nz: usize) -> Vec<KernelSource> {
    vec![source(precision, nz), diagnosis_source(precision, nz)]
}

fn of_file(file: &'static str, precision: Precision, nz: usize) -> KernelSource {
    let prelude = grid(precision, nz)
        .with(&notes())
        .with(&kernel_id::constants_of(&[KERNEL]))
        .with(&constants!(precision; Constants))
        .with(&declarations(precision))
        .with_settings(&settings());
    KernelSource::new(file, prelude)
}

/// Blocks and threads of a block for a number of columns.
pub fn blocks(columns: usize) -> [usize; 2] {
    [columns.div_ceil(THREADS), THREADS]
}

/// The compiled kernel for a set of columns.
#[derive(Clone, Debug)]
pub struct KesslerLauncher<R> {
    kernel: Kernel,
    diagnosis: Kernel,
    scheme: Kessler<R>,
    nz: usize,
    places: ColumnLayout,
    theta_base: R,
}

impl<R: Vectorised + Element> DevicePhysics<R> for Kessler<R> {
    const DEVICE_LEVELS: RangeInclusive<usize> = <Self as ColumnPhysics<R>>::LEVELS;

    type Launcher = KesslerLauncher<R>;
    type Mapping = Infallible;

    fn sources(precision: Precision, nz: usize) -> Vec<(KernelSource, &'static str)> {
        vec![(source(precision, nz), ""), (diagnosis_source(precision, nz), "")]
    }

    fn launcher(
        &self,
        gpu: &Gpu,
        nz: usize,
        places: ColumnLayout,
        theta_base: R,
        _mapping: Option<Infallible>,
    ) -> Result<KesslerLauncher<R>> {
        let levels = <Self as DevicePhysics<R>>::DEVICE_LEVELS;
        if !levels.contains(&nz) {
            let [least, most] = [levels.start(), levels.end()];
            return Err(Error::Gpu(format!(
                "the Kessler scheme on the GPU takes {least} to {most} levels, the grid has {nz}"
            ))
            .advise(Advice::UseCpu));
        }
        if nz * places.level > i32::MAX as usize {
            return Err(Error::Gpu(format!(
                "{nz} levels of {} columns are too many: the Kessler kernel numbers at most {} \
                 cells",
                places.level,
                i32::MAX
            ))
            .advise(Advice::UseSmallerGridOrCpu));
        }
        let kernel = kernel_id::kernel(&gpu.module(&source(R::PRECISION, nz))?, KERNEL)?;
        let diagnosis = gpu.module(&diagnosis_source(R::PRECISION, nz))?.kernel(DIAGNOSIS)?;
        Ok(KesslerLauncher { kernel, diagnosis, scheme: *self, nz, places, theta_base })
    }
}

impl<R: Vectorised + Element> KesslerLauncher<R> {
    /// Arguments of the kernel without arrays.
    fn bare(&self, dt: R) -> KesslerArgs<R> {
        let ColumnLayout { width, first, pitch, level, .. } = self.places;
        let (to, from) = (DevicePointer::default(), ReadPointer::default());
        KesslerArgs {
            marks: DevicePointer::default(),
            notes: DevicePointer::default(),
            theta: to,
            qv: to,
            qc: to,
            qr: to,
            rho: from,
            exner: from,
            dz: from,
            rain: to,
            rainncv: to,
            fallen: to,
            fall_residual: to,
            clipped: to,
            mass_mismatch: to,
            mass: LayeredPointers::default(),
            per_area: from,
            factors: self.scheme.factors,
            theta_base: self.theta_base,
            dt,
            filler: R::ZERO,
            columns: self.places.columns() as i32,
            width: width as i32,
            first: first as i32,
            pitch: pitch as i32,
            level: level as i32,
            step: 0,
            theta_number: 0,
            water_number: 0,
        }
    }

    /// The arguments of the kernel.
    ///
    /// # Panics
    ///
    /// When an array is too short.
    fn args(&self, memory: &DeviceArrays<'_, R>, dt: R) -> KesslerArgs<R> {
        let ColumnLayout { width, rows, first, pitch, level } = self.places;
        let cells = self.nz * level;
        let [tracers, air, surface] = [
            <Kessler<R> as ColumnPhysics<R>>::TRACERS,
            <Kessler<R> as ColumnPhysics<R>>::AIR,
            <Kessler<R> as ColumnPhysics<R>>::SURFACE,
        ]
        .map(<[_]>::len);
        assert!(memory.tracers.len() >= tracers * cells, "all tracers");
        assert!(memory.air.len() >= air * cells, "all fields of the air");
        assert!(memory.surface.len() >= surface * level, "all planes of the ground");
        assert!(
            self.places.columns() == 0 || first + (rows - 1) * pitch + width <= level,
            "columns within a plane"
        );
        let tracer = |number: usize| memory.tracers.pointer_to(number * cells);
        let air = |number: usize| memory.air.pointer_to(number * cells).read();
        let plane = |number: usize| memory.surface.pointer_to(number * level);
        KesslerArgs {
            theta: tracer(0),
            qv: tracer(1),
            qc: tracer(2),
            qr: tracer(3),
            rho: air(0),
            exner: air(1),
            dz: air(2),
            rain: plane(0),
            rainncv: plane(1),
            ..self.bare(dt)
        }
    }
}

impl<R: Vectorised + Element> KesslerLauncher<R> {
    /// Launches the kernel in a branch of a graph; the caller has checked the lengths of the arrays.
    fn launch(&self, branch: Branch<'_>, args: &KesslerArgs<R>) -> Result<()> {
        let [blocks, threads] = blocks(self.places.columns());
        if blocks == 0 {
            return Ok(());
        }
        let (grid, block) = ([blocks as u32, 1, 1], [threads as u32, 1, 1]);
        let launch = Launch { grid, block, shared_bytes: 0 };
        // SAFETY: the kernel takes this struct; the lengths of all arrays were checked, and memory is freed only after
        // the device is done with it.
        unsafe { self.kernel.launch_on(branch, launch, args) }
    }
}

impl<R: Vectorised + Element> KesslerLauncher<R> {
    /// Queues the diagnosis of some columns from density and rain; the caller has checked the lengths of the arrays.
    fn diagnose_in(
        &self,
        places: ColumnLayout,
        [rho, qr]: [ReadPointer<R>; 2],
        refl_10cm: DevicePointer<R>,
    ) -> Result<()> {
        let ColumnLayout { width, first, pitch, level, .. } = places;
        let [blocks, threads] = blocks(places.columns());
        if blocks == 0 {
            return Ok(());
        }
        let args = KesslerDiagnosisArgs {
            rho,
            qr,
            refl_10cm,
            columns: places.columns() as i32,
            width: width as i32,
            first: first as i32,
            pitch: pitch as i32,
            level: level as i32,
            filler: 0,
        };
        let (grid, block) = ([blocks as u32, self.nz as u32, 1], [threads as u32, 1, 1]);
        // SAFETY: as of a call.
        unsafe { self.diagnosis.launch(Launch { grid, block, shared_bytes: 0 }, &args) }
    }
}

impl<R: Vectorised + Element> Launcher<R> for KesslerLauncher<R> {
    fn diagnose(&self, memory: &DeviceArrays<'_, R>, out: &Buffer<R>) -> Result<()> {
        let KesslerArgs { rho, qr, .. } = self.args(memory, R::ZERO);
        assert!(out.len() >= self.nz * self.places.columns(), "room for the reflectivity");
        self.diagnose_in(self.places, [rho, qr.read()], out.pointer())
    }

    fn call(&self, memory: &DeviceArrays<'_, R>, dt: f64) -> Result<()> {
        self.launch(Branch::TRUNK, &self.args(memory, R::of(dt)))
    }

    fn call_in_place(
        &self,
        branch: Branch<'_>,
        fields: &SeparateArrays<'_, R>,
        dt: f64,
    ) -> Result<()> {
        fields.check::<Kessler<R>>(self.nz, self.places);
        let SeparateArrays { tracers, air, surface } = fields;
        let args = KesslerArgs {
            theta: tracers[0].pointer(),
            qv: tracers[1].pointer(),
            qc: tracers[2].pointer(),
            qr: tracers[3].pointer(),
            rho: air[0].pointer().read(),
            exner: air[1].pointer().read(),
            dz: air[2].pointer().read(),
            rain: surface[0].pointer(),
            rainncv: surface[1].pointer(),
            ..self.bare(R::of(dt))
        };
        self.launch(branch, &args)
    }

    fn mapping(&self) -> String {
        "a thread for a column".to_owned()
    }
}
