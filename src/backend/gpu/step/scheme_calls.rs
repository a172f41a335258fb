//! The columns of the microphysics of all members on the device.

use crate::backend::gpu::GpuPrecision;
use crate::backend::gpu::arrays::Arrays;
use crate::backend::gpu::gpu_config::{GpuConfig, device_grid};
use crate::backend::gpu::transports::Transports;
use crate::device::Gpu;
use crate::error::Result;
use crate::gpu::device_status::DeviceStatus;
use crate::physics::device::{DeviceColumns, DeviceRun};
use crate::physics::scheme::Scheme;

/// Compiles the kernels, which all members share, and sets the status that they and the main transport mark.
pub(super) fn of_members<R: GpuPrecision>(
    gpu: &Gpu,
    setting: &GpuConfig<'_>,
    (schemes, mapping): (&[Box<dyn Scheme>], Option<&str>),
    (arrays, area): (&Arrays<R>, &[f64]),
    (transports, status): (&mut Transports<R>, &DeviceStatus),
) -> Result<Vec<Box<dyn DeviceColumns<R>>>> {
    let mass = transports.cell_mass();
    status.listen(&mut transports.main);
    let mut members: Vec<Box<dyn DeviceColumns<R>>> = Vec::new();
    for (number, scheme) in schemes.iter().enumerate() {
        let run = DeviceRun {
            grid: device_grid(setting.grid, arrays.layout, mapping),
            masses: Some((mass, area)),
            status: status.of_calls(),
            member: arrays.order.indices(number),
        };
        let first = members.first().map(|first| &**first);
        members.push(R::of_scheme(&**scheme).on_gpu(gpu, &run, first)?);
    }
    Ok(members)
}
