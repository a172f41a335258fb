//! Calls of the microphysics of a member on the device.

use crate::backend::Microphysics;
use crate::backend::gpu::GpuPrecision;
use crate::backend::gpu::arrays::Arrays;
use crate::backend::gpu::gpu_config::{GpuConfig, inside_of};
use crate::backend::gpu::transports::Transports;
use crate::device::{Branch, Buffer, Gpu, Resources};
use crate::error::Result;
use crate::gpu::device_status::DeviceStatus;
use crate::physics::kessler::gpu::KesslerInRun;
use crate::physics::wsm5::gpu::Mapping;
use crate::physics::wsm5::gpu::launch::Wsm5Gpu;
use crate::physics::wsm5::scheme::Scheme;
use crate::state::gpu::device_fields::DeviceFields;
use crate::state::gpu::step_in_batch::StepInBatch;

/// The schemes of a member.
#[derive(Debug)]
pub(super) struct SchemeCalls<R> {
    /// WSM5, which diagnoses in any case.
    wsm5: Wsm5Gpu<R>,
    /// The Kessler scheme in its place.
    kessler: Option<KesslerInRun<R>>,
}

impl<R: GpuPrecision> SchemeCalls<R> {
    /// Compiles the kernels, which all members share, and sets the status that they and the main transport mark.
    pub(super) fn of_members(
        gpu: &Gpu,
        setting: &GpuConfig<'_>,
        (schemes, mapping): (&[Scheme<R>], Mapping),
        (arrays, area): (&Arrays<R>, &[f64]),
        (transports, status): (&mut Transports<R>, &DeviceStatus),
    ) -> Result<Vec<Self>> {
        let GpuConfig { grid, microphysics, .. } = *setting;
        let (layout, mass) = (arrays.layout, transports.cell_mass());
        let scheme = Scheme::default().with_fallout(microphysics.fallout());
        let mut wsm5 = Wsm5Gpu::new(gpu, layout, inside_of(grid), scheme, mapping, R::THETA_BASE)?;
        wsm5.track_mass_mismatch(gpu, mass, area)?;
        status.listen(&mut transports.main, &mut wsm5);
        let noted = status.of_calls();
        let kessler = || KesslerInRun::new(gpu, layout, inside_of(grid), (mass, area), noted);
        let kessler = (microphysics == Microphysics::Kessler).then(kessler).transpose()?;
        let of_member = |(number, scheme): (usize, &Scheme<R>)| {
            let indices = arrays.order.indices(number);
            Self {
                wsm5: wsm5.of_state(scheme.clone(), indices),
                kessler: kessler.as_ref().map(|kessler| kessler.of_state(indices)),
            }
        };
        Ok(schemes.iter().enumerate().map(of_member).collect())
    }

    /// Mapping of columns to threads.
    pub(super) fn mapping(&self) -> Mapping {
        self.wsm5.mapping()
    }

    /// Resources of the kernel of calls of `dt` seconds.
    pub(super) fn resources(&self, dt: f64) -> Result<Resources> {
        let [call, _] = self.wsm5.resources(dt)?;
        Ok(call)
    }

    /// Compiles what calls of `dt` seconds need, before any is recorded.
    pub(super) fn prepare(&self, dt: f64) -> Result<()> {
        if self.kessler.is_some() { Ok(()) } else { self.wsm5.prepare(dt) }
    }

    /// Queues one call of the microphysics in a branch.
    pub(super) fn call_in(
        &self,
        branch: Branch<'_>,
        turn: StepInBatch,
        place: &DeviceFields<'_, R>,
        dt: f64,
    ) -> Result<()> {
        match &self.kessler {
            Some(kessler) => kessler.call_in(branch, turn, place, dt),
            None => self.wsm5.call_in(branch, turn, place, dt),
        }
    }

    /// The same for a call that fails on the device.
    pub(super) fn call_with_fault(&self, place: &DeviceFields<'_, R>, dt: f64) -> Result<()> {
        match &self.kessler {
            Some(kessler) => kessler.call_with_fault(place, dt),
            None => self.wsm5.call_with_fault(place, dt),
        }
    }

    /// Queues the diagnosis of a state; the results go to `out` from `first` on.
    pub(super) fn diagnose(
        &self,
        place: &DeviceFields<'_, R>,
        out: &Buffer<R>,
        first: usize,
    ) -> Result<()> {
        self.wsm5.diagnose(place, out, first)
    }
}
