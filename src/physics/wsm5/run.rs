//! WSM5 as the object that a run holds.

use super::diagnose::diagnose;
use super::factors::Factors;
#[cfg(feature = "gpu")]
use super::gpu::{in_run, kernels::diagnosis_source, tuning::TileMappings};
use super::reflectivity::Bins;
use super::scheme::Scheme;
use super::tuning::Tuning;
use super::{DiagnosticFields, Sedimentation, Vectorised, instructions, minor_steps};
use crate::error::Result;
#[cfg(feature = "gpu")]
use crate::physics::device::{self, DevicePhysics};
use crate::physics::scheme::{
    self, About, AdaptedColumns, CpuColumns, Diagnosis, PhysicsPrecision, SchemeIn, Variant, lacks,
};
use crate::simd::Instructions;
use crate::state::{CloudDiagnostics, Environment, State};

/// Operations of a call in a cell, the mean of a storm of which a third is cloudy.
const OPERATIONS: f64 = 240.0;

/// Allowed register spills in calls of several minor steps, bytes: they keep a little more between the steps than wide
/// tiles have registers for. As many as NVRTC 13.0 makes for an H200.
#[cfg(feature = "gpu")]
const LONG_CALLS_SPILLED: u32 = 64;

/// Description of the scheme.
pub static ABOUT: About = About {
    variant_option: "fallout",
    variants: &VARIANTS,
    parameters: Tuning::PARAMETERS,
    processes: Factors::<f64>::NAMES,
    #[cfg(feature = "gpu")]
    device_levels: super::gpu::DEVICE_LEVELS,
    operations: Some(OPERATIONS),
    ..About::of::<Scheme<f64>>("wsm5", "WSM5: cloud water, rain, cloud ice and snow", 4)
};

/// Its variants, in the order of [`Sedimentation::ALL`].
static VARIANTS: [Variant; 2] = [
    Variant {
        key: "semi-lagrangian",
        name: "SemiLagrangian",
        about: "Semi-Lagrangian, as in WRF since version 3.2",
        mark: "",
    },
    Variant {
        key: "substepped",
        name: "Substepped",
        about: "Sub-stepped, with the rest of the scheme as in WRF of July 2008; if a step is so long that the \
                scheme divides it, rainncv, snowncv and sr are those of the last part only",
        mark: "sub-stepped",
    },
];

/// WSM5 with its parameters, its variant and the factors of its processes.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Wsm5 {
    /// The parameters.
    pub tuning: Tuning,
    /// The variant.
    pub fallout: Sedimentation,
    /// Factors of the processes, all 1 in the scheme itself.
    pub factors: Factors<f64>,
}

impl From<Sedimentation> for Wsm5 {
    fn from(fallout: Sedimentation) -> Self {
        Self { fallout, ..Self::default() }
    }
}

impl Wsm5 {
    /// The scheme in one precision.
    pub fn scheme<R: Vectorised>(&self) -> Scheme<R> {
        let factors = self.factors.map(R::of);
        Scheme { factors, ..Scheme::new(&self.tuning).with_fallout(self.fallout) }
    }
}

impl scheme::Scheme for Wsm5 {
    fn about(&self) -> &'static About {
        &ABOUT
    }

    fn boxed(&self) -> Box<dyn scheme::Scheme> {
        Box::new(self.clone())
    }

    fn variant(&self) -> Option<&'static Variant> {
        let at = Sedimentation::ALL.iter().position(|fallout| *fallout == self.fallout)?;
        VARIANTS.get(at)
    }

    fn get(&self, parameter: &str) -> Option<f64> {
        self.tuning.get(parameter)
    }

    fn set(&mut self, parameter: &str, value: f64) -> Result<()> {
        if self.get(parameter).is_none() {
            return Err(lacks(ABOUT.title, "parameter", parameter));
        }
        self.tuning = std::mem::take(&mut self.tuning).with(parameter, value);
        Ok(())
    }

    fn scale(&mut self, process: &str, factor: f64) -> Result<()> {
        let found = self.factors.of(process);
        *found.ok_or_else(|| lacks(ABOUT.title, "process", process))? = factor;
        Ok(())
    }

    #[cfg(feature = "gpu")]
    fn sources(
        &self,
        precision: crate::real::Precision,
        at: &device::DeviceGrid<'_>,
    ) -> Vec<crate::device::KernelSource> {
        in_run::sources(&self.scheme::<f32>(), precision, at)
    }

    #[cfg(feature = "gpu")]
    fn all_kernels(
        &self,
        precision: crate::real::Precision,
        nz: usize,
        grids: [crate::grid::Shape; 2],
    ) -> Vec<device::ListedKernel> {
        let mut kernels = Vec::new();
        for (fallout, name) in Sedimentation::ALL.into_iter().zip(["", ", sub-steps"]) {
            let scheme = Self::from(fallout).scheme::<f32>();
            kernels.extend(in_run::tile_kernels(
                &scheme,
                name,
                (precision, nz),
                grids,
                LONG_CALLS_SPILLED,
            ));
        }
        // The mapping of 2008 keeps its columns in local memory by design.
        let of_columns = <Scheme<f32> as DevicePhysics<f32>>::sources(precision, nz);
        kernels
            .extend(of_columns.into_iter().map(|(source, variant)| in_run::cold(source, variant)));
        let diagnosis = diagnosis_source(precision, nz, Sedimentation::default());
        kernels.push(in_run::cold(diagnosis, ""));
        kernels
    }

    #[cfg(feature = "gpu")]
    fn mappings(&self) -> Option<&dyn device::Mappings> {
        let mappings: &TileMappings = self.fallout.into();
        Some(mappings)
    }
}

impl<R: Vectorised + PhysicsPrecision> SchemeIn<R> for Wsm5 {
    fn on_cpu(&self, nz: usize, other: Option<&dyn CpuColumns<R>>) -> Box<dyn CpuColumns<R>> {
        let scheme = self.scheme::<R>();
        Box::new(AdaptedColumns {
            instructions: instructions::<R>(self.fallout, Instructions::best()),
            diagnosis: Some(Box::new(RunDiagnosis::new(scheme.clone()))),
            ..AdaptedColumns::new(scheme, nz, other)
        })
    }

    fn is_undivided(&self, dt: R) -> bool {
        minor_steps(dt) == R::ONE
    }

    #[cfg(feature = "gpu")]
    fn on_gpu(
        &self,
        gpu: &crate::device::Gpu,
        run: &device::DeviceRun<'_, R>,
        other: Option<&dyn device::DeviceColumns<R>>,
    ) -> Result<Box<dyn device::DeviceColumns<R>>> {
        in_run::columns(self.scheme::<R>(), gpu, run, other)
    }

    #[cfg(feature = "gpu")]
    fn launcher(
        &self,
        gpu: &crate::device::Gpu,
        nz: usize,
        places: device::ColumnLayout,
        mapping: Option<&str>,
    ) -> Result<Box<dyn device::Launcher<R>>> {
        in_run::launcher(self.scheme::<R>(), gpu, (nz, places), mapping)
    }
}

/// Reflectivity and effective radii by the drops and flakes of the scheme.
#[derive(Clone, Debug)]
pub(crate) struct RunDiagnosis<R> {
    scheme: Scheme<R>,
    bins: Bins<R>,
}

impl<R: Vectorised> RunDiagnosis<R> {
    /// By this scheme.
    pub(crate) fn new(scheme: Scheme<R>) -> Self {
        Self { scheme, bins: Bins::default() }
    }
}

impl<R: Vectorised> Diagnosis<R> for RunDiagnosis<R> {
    fn diagnose(&self, state: &State<R>, air: &Environment<R>, out: &mut CloudDiagnostics<R>) {
        let fields = DiagnosticFields::new(R::THETA_BASE, state, air, out);
        diagnose(&self.scheme, &self.bins, Instructions::best(), fields);
    }
}
