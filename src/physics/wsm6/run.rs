//! WSM6 as the object that a user holds.

use super::Vectorised;
use super::factors::Wsm6Factors;
#[cfg(feature = "gpu")]
use super::gpu::kernels::MAPPINGS;
use super::params::RimedIce;
use super::scheme::Scheme;
#[cfg(feature = "gpu")]
use super::shared::gpu::{in_run, launch::MicrophysicsKernels as _};
use super::shared::minor_steps;
use super::shared::params::Tuning;
use super::tuning::{PARAMETERS, RimedIceTuning};
use crate::error::Result;
#[cfg(feature = "gpu")]
use crate::physics::device;
use crate::physics::scheme::{
    self, About, AdaptedColumns, CpuColumns, PhysicsPrecision, SchemeIn, Variant, lacks,
};

/// Description of the scheme.
pub static ABOUT: About = About {
    variant_option: "graupel",
    variants: &VARIANTS,
    parameters: &PARAMETERS,
    #[cfg(feature = "gpu")]
    device_levels: super::shared::gpu::DEVICE_LEVELS,
    processes: Wsm6Factors::<f64>::NAMES,
    is_compared: true,
    is_of_files: true,
    ..About::of::<Scheme<f64>>(
        "wsm6",
        "WSM6: cloud water, rain, cloud ice, snow, and graupel or hail",
        6,
    )
};

/// Its variants, in the order of [`RimedIce::ALL`].
static VARIANTS: [Variant; 2] = [
    Variant { key: "graupel", name: "Graupel", about: "Graupel of 500 kg m-3", mark: "" },
    Variant {
        key: "hail",
        name: "Hail",
        about: "Hail: fewer and larger particles, of 700 kg m-3",
        mark: "hail",
    },
];

/// WSM6 with its parameters, a kind of rimed ice and the factors of its processes.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Wsm6 {
    /// The parameters that WSM5 has too.
    pub tuning: Tuning,
    /// The kind of rimed ice.
    pub kind: RimedIce,
    /// Its parameters.
    pub rimed: RimedIceTuning,
    /// Factors of the processes, all 1 in the scheme itself.
    pub factors: Wsm6Factors<f64>,
}

impl From<RimedIce> for Wsm6 {
    fn from(kind: RimedIce) -> Self {
        Self { kind, rimed: kind.into(), ..Self::default() }
    }
}

impl Wsm6 {
    /// The scheme in one precision.
    pub fn scheme<R: Vectorised>(&self) -> Scheme<R> {
        Scheme { factors: self.factors.map(R::of), ..Scheme::new(&self.tuning, &self.rimed) }
    }
}

impl scheme::Scheme for Wsm6 {
    fn about(&self) -> &'static About {
        &ABOUT
    }

    fn boxed(&self) -> Box<dyn scheme::Scheme> {
        Box::new(self.clone())
    }

    fn variant(&self) -> Option<&'static Variant> {
        let at = RimedIce::ALL.iter().position(|kind| *kind == self.kind)?;
        VARIANTS.get(at)
    }

    fn get(&self, parameter: &str) -> Option<f64> {
        self.tuning.get(parameter).or_else(|| self.rimed.get(parameter))
    }

    fn set(&mut self, parameter: &str, value: f64) -> Result<()> {
        if self.tuning.get(parameter).is_some() {
            self.tuning = std::mem::take(&mut self.tuning).with(parameter, value);
        } else if self.rimed.get(parameter).is_some() {
            self.rimed = std::mem::take(&mut self.rimed).with(parameter, value);
        } else {
            return Err(lacks(ABOUT.title, "parameter", parameter));
        }
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
        let scheme = self.scheme::<f32>();
        let mut kernels = in_run::tile_kernels(&scheme, "", (precision, nz), grids, 0);
        kernels.push(in_run::cold(scheme.diagnosis_source(precision, nz), ""));
        kernels
    }

    #[cfg(feature = "gpu")]
    fn mappings(&self) -> Option<&dyn device::Mappings> {
        Some(&MAPPINGS)
    }
}

impl<R: Vectorised + PhysicsPrecision> SchemeIn<R> for Wsm6 {
    fn on_cpu(&self, nz: usize, other: Option<&dyn CpuColumns<R>>) -> Box<dyn CpuColumns<R>> {
        Box::new(AdaptedColumns::new(self.scheme::<R>(), nz, other))
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
