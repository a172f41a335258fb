//! A scheme as an object. A run holds one for each member, made by the [`registry`](super::registry) from a key or by a
//! user of the library, and knows of it only what is here.

use std::any::Any;
use std::fmt::Debug;
use std::ops::RangeInclusive;
use std::sync::Arc;

use ndarray::Array3;

#[cfg(feature = "gpu")]
use super::device::{
    ColumnLayout, DeviceColumns, DeviceGrid, DeviceRun, Launcher, ListedKernel, Mappings,
};
use super::{Block, ColumnPhysics, Field, Scratch};
use crate::constants::Constants;
use crate::constituents::{Constituent, Constituents, Diagnostic, known};
#[cfg(feature = "gpu")]
use crate::device::{Element, Gpu, KernelSource};
#[cfg(feature = "gpu")]
use crate::error::Advice;
use crate::error::{Error, Result};
#[cfg(feature = "gpu")]
use crate::grid::Shape;
#[cfg(feature = "gpu")]
use crate::real::Precision;
use crate::real::Real;
use crate::simd::Instructions;
use crate::state::{CloudDiagnostics, Environment, State};

/// A tunable parameter of a scheme.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Parameter {
    /// Its name.
    pub name: &'static str,
    /// Meaning of the parameter, with its unit.
    pub description: &'static str,
    /// Its unit in the syntax of UDUNITS; `None` if it has a fractional power.
    pub units: Option<&'static str>,
    /// The least and the largest sensible value, far beyond any published one.
    pub bounds: [f64; 2],
    /// Its value in the scheme.
    pub default: f64,
}

/// A variant of a scheme.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Variant {
    /// Its name among options.
    pub key: &'static str,
    /// Its name in reports.
    pub name: &'static str,
    /// Its description.
    pub about: &'static str,
    /// Words that tell its figures from those of the usual variant, which has none.
    pub mark: &'static str,
}

/// Description of a scheme.
#[derive(Clone, Debug, PartialEq)]
pub struct About {
    /// Its name among options.
    pub key: &'static str,
    /// Its name in words.
    pub title: &'static str,
    /// The water that it knows, besides vapour.
    pub contents: &'static str,
    /// Its number in WRF (`MP_PHYSICS`).
    pub number: i32,
    /// The fields that a call changes, [`ColumnPhysics::TRACERS`].
    pub tracers: &'static [Field],
    /// Names of tracers that are zero where a file of columns lacks them, [`ColumnPhysics::OPTIONAL`].
    pub optional: &'static [&'static str],
    /// The fields of the air that a call reads.
    pub air: &'static [Field],
    /// The planes at the ground that a call adds to or sets.
    pub surface: &'static [Field],
    /// The fields that are diagnosed from columns and from the state of a run.
    pub diagnosed: &'static [Field],
    /// Constituents of its own among `tracers`: those that [`known`] does not describe, or describes otherwise.
    pub constituents: &'static [Constituent],
    /// Planes at the ground and volumes of its own, likewise.
    pub diagnostics: &'static [Diagnostic],
    /// Supported numbers of levels.
    pub levels: RangeInclusive<usize>,
    /// Numbers of levels that its kernels take.
    pub device_levels: RangeInclusive<usize>,
    /// The option that chooses among its variants; empty if it has none.
    pub variant_option: &'static str,
    /// Its variants, the usual one first; empty if it has none.
    pub variants: &'static [Variant],
    /// Its parameters.
    pub parameters: &'static [Parameter],
    /// Its processes, each with a factor that is 1 in the scheme.
    pub processes: &'static [&'static str],
    /// `true` if its kernels repeat the CPU operation by operation, factors of processes included.
    pub kernels_mirror_cpu: bool,
    /// `true` if independent columns can be computed on CPU and device and be compared.
    pub is_compared: bool,
    /// Operations in a cell and call, the mean of a storm of which a third is cloudy; `None` if not counted.
    pub operations: Option<f64>,
    /// `true` if a run from files of this scheme is made with it, unless another is asked for.
    pub is_of_files: bool,
}

impl About {
    /// A scheme with the fields of its column physics, without variants, parameters and kernels.
    pub const fn of<P: ColumnPhysics<f64>>(
        key: &'static str,
        contents: &'static str,
        number: i32,
    ) -> Self {
        Self {
            key,
            title: P::NAME,
            contents,
            number,
            tracers: P::TRACERS,
            optional: P::OPTIONAL,
            air: P::AIR,
            surface: P::SURFACE,
            diagnosed: P::DIAGNOSED,
            constituents: &[],
            diagnostics: &[],
            levels: P::LEVELS,
            device_levels: P::LEVELS,
            variant_option: "",
            variants: &[],
            parameters: &[],
            processes: &[],
            kernels_mirror_cpu: false,
            is_compared: false,
            operations: None,
            is_of_files: false,
        }
    }

    /// `true` if a call changes a tracer of this name in files of columns.
    pub fn carries(&self, name: &str) -> bool {
        self.tracers.iter().any(|field| field.name == name)
    }

    /// The fields that a call works on: tracers, air, planes at the ground.
    pub fn fields(&self) -> [&'static [Field]; 3] {
        [self.tracers, self.air, self.surface]
    }

    /// The set of a run with the scheme: its constituents, planes at the ground, diagnosed volumes and air.
    ///
    /// # Panics
    ///
    /// When a field of the scheme is described neither here nor in [`known`].
    pub fn set(&self) -> Arc<Constituents> {
        let title = self.title;
        let constituent = |field: &Field| {
            let own = self.constituents.iter().find(|own| own.column == field.name).copied();
            own.or_else(|| known::constituent(field.name))
                .unwrap_or_else(|| panic!("{title} describes no constituent {}", field.name))
        };
        let diagnostic = |field: &Field| {
            let own = self.diagnostics.iter().find(|own| own.name == field.name).copied();
            own.or_else(|| known::diagnostic(field.name))
                .unwrap_or_else(|| panic!("{title} describes no {}", field.name))
        };
        let tracers: Vec<_> = self.tracers.iter().map(constituent).collect();
        let described = [self.surface, self.diagnosed];
        let described = described.map(|fields| fields.iter().map(diagnostic).collect());
        let has_wind = self.air.iter().any(|field| field.name == known::VERTICAL_WIND);
        Constituents::of_scheme(title, &tracers, described, (has_wind, self.levels.clone()))
            .shared()
    }

    /// A parameter by its name.
    pub fn parameter(&self, name: &str) -> Option<&'static Parameter> {
        self.parameters.iter().find(|known| known.name == name)
    }
}

/// A scheme of column physics with its parameters and its variant.
///
/// A scheme of a user's own is one too: its columns on the CPU come from [`AdaptedColumns`], its kernels from
/// `KernelSource::from_text`.
pub trait Scheme: SchemeIn<f32> + SchemeIn<f64> + Debug + Send + Sync {
    /// Its description.
    fn about(&self) -> &'static About;

    /// A copy.
    fn boxed(&self) -> Box<dyn Scheme>;

    /// Its variant, in a scheme with variants.
    fn variant(&self) -> Option<&'static Variant> {
        None
    }

    /// The value of a parameter; `None` for an unknown name.
    fn get(&self, parameter: &str) -> Option<f64> {
        let _ = parameter;
        None
    }

    /// Sets a parameter to `value`, rounded to its precision.
    ///
    /// # Errors
    ///
    /// [`Error::Usage`] for an unknown name.
    fn set(&mut self, parameter: &str, value: f64) -> Result<()> {
        let _ = value;
        Err(lacks(self.about().title, "parameter", parameter))
    }

    /// Multiplies a process by a factor, to test whether checks detect it.
    ///
    /// # Errors
    ///
    /// [`Error::Usage`] for an unknown name.
    fn scale(&mut self, process: &str, factor: f64) -> Result<()> {
        let _ = factor;
        Err(lacks(self.about().title, "process", process))
    }

    /// Texts of the kernels of a run with calls of usual length, to be compiled ahead.
    #[cfg(feature = "gpu")]
    fn sources(&self, precision: Precision, at: &DeviceGrid<'_>) -> Vec<KernelSource> {
        let _ = (precision, at);
        Vec::new()
    }

    /// Every kernel of all variants for columns of `nz` levels, on a small and on a large grid.
    #[cfg(feature = "gpu")]
    fn all_kernels(&self, precision: Precision, nz: usize, grids: [Shape; 2]) -> Vec<ListedKernel> {
        let _ = (precision, nz, grids);
        Vec::new()
    }

    /// The mappings of columns to threads that its kernels can be compiled for, where there is a choice.
    #[cfg(feature = "gpu")]
    fn mappings(&self) -> Option<&dyn Mappings> {
        None
    }
}

/// An error about a name that a scheme does not know.
pub(super) fn lacks(title: &str, kind: &str, name: &str) -> Error {
    Error::Usage(format!("{title} has no {kind} {name}"))
}

/// A scheme in one precision.
pub trait SchemeIn<R: PhysicsPrecision> {
    /// Its columns of `nz` levels on the CPU. They may share the work space of those of another member of the run.
    fn on_cpu(&self, nz: usize, other: Option<&dyn CpuColumns<R>>) -> Box<dyn CpuColumns<R>>;

    /// `true` if a call of `dt` seconds is not divided into several.
    fn is_undivided(&self, dt: R) -> bool {
        let _ = dt;
        true
    }

    /// The columns of a member of a run on a device. They may share the kernels of those of another member.
    ///
    /// # Errors
    ///
    /// [`Error::Gpu`] when the device fails, for unsupported numbers of levels or cells, and without kernels.
    #[cfg(feature = "gpu")]
    fn on_gpu(
        &self,
        gpu: &Gpu,
        run: &DeviceRun<'_, R>,
        other: Option<&dyn DeviceColumns<R>>,
    ) -> Result<Box<dyn DeviceColumns<R>>> {
        let _ = (gpu, run, other);
        Err(without_kernels())
    }

    /// Kernels for independent columns of `nz` levels, which hold the full potential temperature.
    ///
    /// # Errors
    ///
    /// As [`SchemeIn::on_gpu`].
    #[cfg(feature = "gpu")]
    fn launcher(
        &self,
        gpu: &Gpu,
        nz: usize,
        places: ColumnLayout,
        mapping: Option<&str>,
    ) -> Result<Box<dyn Launcher<R>>> {
        let _ = (gpu, nz, places, mapping);
        Err(without_kernels())
    }
}

#[cfg(feature = "gpu")]
fn without_kernels() -> Error {
    Error::Gpu("the scheme of the microphysics has no kernels".to_owned()).advise(Advice::UseCpu)
}

/// A precision that schemes can be run in.
#[cfg(feature = "gpu")]
pub trait PhysicsPrecision: Constants + Element {
    /// A scheme in this precision.
    fn of_scheme(scheme: &dyn Scheme) -> &dyn SchemeIn<Self>;
}

/// A precision that schemes can be run in.
#[cfg(not(feature = "gpu"))]
pub trait PhysicsPrecision: Constants {
    /// A scheme in this precision.
    fn of_scheme(scheme: &dyn Scheme) -> &dyn SchemeIn<Self>;
}

impl PhysicsPrecision for f32 {
    fn of_scheme(scheme: &dyn Scheme) -> &dyn SchemeIn<Self> {
        scheme
    }
}

impl PhysicsPrecision for f64 {
    fn of_scheme(scheme: &dyn Scheme) -> &dyn SchemeIn<Self> {
        scheme
    }
}

/// Columns of a scheme on the CPU.
pub trait CpuColumns<R: Real>: Any + Debug + Send + Sync {
    /// One call on the columns of a block, in parallel: `dt` seconds.
    ///
    /// # Panics
    ///
    /// When the numbers of fields are not those of the scheme.
    fn call(&self, dt: R, block: Block<'_, R>);

    /// [`About::diagnosed`] of independent columns.
    fn diagnose(&self, tracers: &[Array3<R>], air: &[Array3<R>]) -> Vec<Array3<R>>;

    /// [`About::diagnosed`] of the columns of a run.
    fn diagnose_run(&self, state: &State<R>, air: &Environment<R>, out: &mut CloudDiagnostics<R>);

    /// Vector instructions of the calls. Single precision has other bits with them than without.
    fn instructions(&self) -> Option<Instructions>;
}

/// Diagnosis of the columns of a run.
pub trait Diagnosis<R>: Debug + Send + Sync {
    /// Sets them for a state in some air.
    fn diagnose(&self, state: &State<R>, air: &Environment<R>, out: &mut CloudDiagnostics<R>);
}

/// The columns of any [`ColumnPhysics`].
#[derive(Debug)]
pub struct AdaptedColumns<R: Real, P: ColumnPhysics<R>> {
    /// The scheme.
    pub physics: P,
    /// The work space of all threads.
    pub scratch: Arc<Scratch<P::Work>>,
    /// Vector instructions of the calls.
    pub instructions: Option<Instructions>,
    /// Diagnosis of the columns of a run; without one that of independent columns.
    pub diagnosis: Option<Box<dyn Diagnosis<R>>>,
}

impl<R, P> AdaptedColumns<R, P>
where
    R: Real,
    P: ColumnPhysics<R, Work: 'static> + Debug + Send + 'static,
{
    /// Columns of `nz` levels, with the best instructions of the processor and without a diagnosis. They share the work
    /// space of other columns of this scheme.
    pub fn new(physics: P, nz: usize, other: Option<&dyn CpuColumns<R>>) -> Self {
        let other = other.and_then(|other| (other as &dyn Any).downcast_ref::<Self>());
        let scratch = match other {
            Some(other) => Arc::clone(&other.scratch),
            None => Arc::new(Scratch::new(&physics, nz)),
        };
        Self { physics, scratch, instructions: Instructions::best(), diagnosis: None }
    }
}

impl<R, P> CpuColumns<R> for AdaptedColumns<R, P>
where
    R: Constants,
    P: ColumnPhysics<R, Work: 'static> + Debug + Send + 'static,
{
    fn call(&self, dt: R, block: Block<'_, R>) {
        super::call(&self.physics, dt, &self.scratch, block);
    }

    fn diagnose(&self, tracers: &[Array3<R>], air: &[Array3<R>]) -> Vec<Array3<R>> {
        self.physics.diagnose(tracers, air)
    }

    fn diagnose_run(&self, state: &State<R>, air: &Environment<R>, out: &mut CloudDiagnostics<R>) {
        if let Some(diagnosis) = &self.diagnosis {
            return diagnosis.diagnose(state, air, out);
        }
        let tracer = |field: &Field| {
            let name = field.name;
            let at = state.set().column(name).unwrap_or_else(|| panic!("no {name} in a run"));
            let values = &state.fields()[at];
            if at == 0 { values.mapv(|theta| theta + R::THETA_BASE) } else { values.clone() }
        };
        let of_air = |field: &Field| {
            let name = field.name;
            air.get(name).unwrap_or_else(|| panic!("no {name} in the air of a run")).clone()
        };
        let tracers: Vec<_> = P::TRACERS.iter().map(tracer).collect();
        let air: Vec<_> = P::AIR.iter().map(of_air).collect();
        for (field, values) in P::DIAGNOSED.iter().zip(self.physics.diagnose(&tracers, &air)) {
            if let Some(out) = out.get_mut(field.name) {
                *out = values;
            }
        }
    }

    fn instructions(&self) -> Option<Instructions> {
        self.instructions
    }
}
