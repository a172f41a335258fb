//! The Kessler scheme as the object that a run holds.

use super::params::KesslerFactors;
use super::{Kessler, Vectorised};
use crate::error::Result;
#[cfg(feature = "gpu")]
use crate::physics::device::{self, DevicePhysics};
use crate::physics::scheme::{
    About, AdaptedColumns, CpuColumns, PhysicsPrecision, Scheme, SchemeIn, lacks,
};

/// Description of the scheme.
pub static ABOUT: About = About {
    processes: KesslerFactors::<f64>::NAMES,
    kernels_mirror_cpu: true,
    is_compared: true,
    ..About::of::<Kessler<f64>>("kessler", "Kessler: cloud water and rain, without ice", 1)
};

impl Kessler<f64> {
    /// The scheme in one precision.
    pub(super) fn in_precision<R: Vectorised>(&self) -> Kessler<R> {
        Kessler { factors: self.factors.map(R::of) }
    }
}

impl Scheme for Kessler<f64> {
    fn about(&self) -> &'static About {
        &ABOUT
    }

    fn boxed(&self) -> Box<dyn Scheme> {
        Box::new(*self)
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
        super::gpu::sources(precision, at.layout.shape.nz)
    }

    #[cfg(feature = "gpu")]
    fn all_kernels(
        &self,
        precision: crate::real::Precision,
        nz: usize,
        _grids: [crate::grid::Shape; 2],
    ) -> Vec<device::ListedKernel> {
        // A thread for a column: its arrays are in local memory by design.
        let listed = |(source, variant): (_, &str)| device::ListedKernel {
            source,
            variant: variant.to_owned(),
            is_hot: false,
            most_spilled: 0,
        };
        let of_columns = <Self as DevicePhysics<f64>>::sources(precision, nz);
        of_columns.into_iter().map(listed).collect()
    }
}

impl<R: Vectorised + PhysicsPrecision> SchemeIn<R> for Kessler<f64> {
    fn on_cpu(&self, nz: usize, other: Option<&dyn CpuColumns<R>>) -> Box<dyn CpuColumns<R>> {
        Box::new(AdaptedColumns::new(self.in_precision::<R>(), nz, other))
    }

    #[cfg(feature = "gpu")]
    fn on_gpu(
        &self,
        gpu: &crate::device::Gpu,
        run: &device::DeviceRun<'_, R>,
        other: Option<&dyn device::DeviceColumns<R>>,
    ) -> Result<Box<dyn device::DeviceColumns<R>>> {
        super::gpu::columns(&self.in_precision::<R>(), gpu, run, other)
    }

    #[cfg(feature = "gpu")]
    fn launcher(
        &self,
        gpu: &crate::device::Gpu,
        nz: usize,
        places: device::ColumnLayout,
        _mapping: Option<&str>,
    ) -> Result<Box<dyn device::Launcher<R>>> {
        Ok(Box::new(self.in_precision::<R>().launcher(gpu, nz, places, R::ZERO, None)?))
    }
}
