//! Device memory of a run, known before any is taken.

use super::GpuPrecision;
use super::field_order::FieldOrder;
use super::frames::Frames;
use super::gpu_config::{GpuConfig, transport_settings};
use super::step::steps_together;
use crate::advection::gpu::transport::Transport;
use crate::chemistry::gpu::coupling::Coupling;
use crate::device::Gpu;
use crate::error::{Advice, Error, Result};
use crate::forcing::gpu::{DeviceForcing, ForcingInterpolator};
use crate::gpu::budget::Budget;
use crate::grid::Shape;
use crate::primitives::gpu::conjugate_gradient;
use crate::state::gpu::air_fields;
use crate::state::gpu::device_fields::planes_of;

/// Memory that the driver keeps and that is lost between allocations, bytes.
const RESERVE: usize = 64 << 20;

/// Memory that a run takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MemoryEstimate {
    /// On the device, bytes.
    pub device: usize,
    shape: Shape,
    /// States on the grid, and bytes of what each of them adds.
    states: usize,
    each: usize,
}

impl MemoryEstimate {
    /// Needs of so many bytes of the device on a grid of this shape.
    pub fn new(device: usize, shape: Shape) -> Self {
        Self { device, shape, states: 1, each: device }
    }

    /// Memory of a run of this setting.
    ///
    /// # Errors
    ///
    /// [`Error::Gpu`] for a mechanism that there are no kernels for.
    pub fn of<R: GpuPrecision>(gpu: &Gpu, setting: &GpuConfig<'_>) -> Result<Self> {
        Self::of_members::<R>(gpu, setting, 1)
    }

    /// Memory of a number of members of this setting.
    ///
    /// # Errors
    ///
    /// As [`MemoryEstimate::of`].
    pub fn of_members<R: GpuPrecision>(
        gpu: &Gpu,
        setting: &GpuConfig<'_>,
        states: usize,
    ) -> Result<Self> {
        let [device, fewer] = [states, states - 1].map(|n| Self::bytes::<R>(gpu, setting, n));
        let chemistry = Self::bytes_of_chemistry::<R>(gpu, setting)?;
        let shape = setting.grid.shape;
        Ok(Self { device: device + chemistry, shape, states, each: device - fewer })
    }

    /// The same with so many bytes more.
    pub(super) fn and(self, bytes: usize) -> Self {
        Self { device: self.device + bytes, ..self }
    }

    /// Bytes that chemistry takes beside its species, which are tracers.
    fn bytes_of_chemistry<R: GpuPrecision>(gpu: &Gpu, setting: &GpuConfig<'_>) -> Result<usize> {
        let Some(coupled) = setting.chemistry else { return Ok(0) };
        let order = FieldOrder::new(setting.tracers, setting.limiter, 1);
        let layout = transport_settings::<R>(gpu, setting, &order)[0].layout(setting.grid);
        let cells = setting.grid.unspecified().shape(setting.grid.shape.nz).cells();
        Coupling::<R>::bytes(gpu, (coupled, setting.has_sequence), layout, cells)
    }

    fn bytes<R: GpuPrecision>(gpu: &Gpu, setting: &GpuConfig<'_>, states: usize) -> usize {
        let shape = setting.grid.shape;
        // A run has at least one state.
        let order = FieldOrder::new(setting.tracers, setting.limiter, states.max(1));
        let (fields, of_one) = (order.len(), order.set.len());
        let settings = transport_settings::<R>(gpu, setting, &order);
        let layout = settings[0].layout(setting.grid);
        let state =
            2 * of_one * layout.cells() + planes_of(order.set.planes().len(), 1) * layout.columns();
        let transports = settings.iter().map(|own| Transport::<R>::bytes(setting.grid, *own));
        let air = if setting.has_sequence {
            // The winds of later frames are projected beside the run: a column and its neighbours.
            const NEIGHBOURS: usize = 4;
            let columns = shape.columns();
            let solver = conjugate_gradient::GpuSolver::bytes(columns, (1 + NEIGHBOURS) * columns);
            ForcingInterpolator::<R>::bytes(layout, (fields, air_fields(&order.set))) + solver
        } else {
            air_fields(&order.set) * layout.cells() * size_of::<R>()
        };
        states * state * size_of::<R>()
            + DeviceForcing::<R>::bytes(layout, fields)
            + air
            + transports.sum::<usize>()
            + Budget::<R>::bytes(layout, states)
            + Frames::<R>::bytes(shape, &order.set)
            + steps_together::<R>(setting, (&settings[0], states))[1]
    }

    /// Bytes for each cell.
    pub fn per_cell(&self) -> f64 {
        self.device as f64 / self.shape.cells() as f64
    }

    /// Fails where the device has less free.
    ///
    /// # Errors
    ///
    /// [`Error::Gpu`] with what is needed, what is free, and what grid would fit.
    pub fn check(&self, gpu: &Gpu) -> Result<()> {
        self.check_beside(gpu, 0)
    }

    /// The same where the run has so many bytes already.
    pub(super) fn check_beside(&self, gpu: &Gpu, taken: usize) -> Result<()> {
        let [free, _] = gpu.memory()?;
        match self.refusal((free + taken).saturating_sub(RESERVE)) {
            None => Ok(()),
            Some((message, advice)) => Err(Error::Gpu(message).advise(advice)),
        }
    }

    /// Why `free` bytes do not suffice; `None` where they do.
    fn refusal(&self, free: usize) -> Option<(String, Advice)> {
        if self.device <= free {
            return None;
        }
        let Self { device, shape, states, each } = self;
        // What they share does not grow with their number.
        let fitting = free.saturating_sub(device - states * each) / each.max(&1);
        if *states > 1 && fitting > 0 {
            let with_member = format!(
                "{states} members on the grid {shape} need {device} bytes of its memory, {free} are \
                 free; {fitting} members would fit"
            );
            return Some((with_member, Advice::UseFewerMembers));
        }
        // The memory grows with the number of columns.
        let smaller = (free as f64 / *device as f64).sqrt();
        let [nx, ny] = [shape.nx, shape.ny].map(|n| (n as f64 * smaller).floor());
        let with_member = format!(
            "the grid {shape} needs {device} bytes of its memory, {free} are free; a grid of about \
             {nx}x{ny}x{} would fit",
            shape.nz
        );
        Some((with_member, Advice::UseSmallerGridOrCpu))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_refusal_names_what_is_needed_what_is_free_and_what_fits() {
        let needs = MemoryEstimate::new(4_000, Shape { nx: 100, ny: 60, nz: 27 });
        assert_eq!(needs.refusal(4_000), None);
        let (message, _) = needs.refusal(1_000).unwrap();
        for part in ["4000 bytes", "1000 are free", "50x30x27"] {
            assert!(message.contains(part), "{part}: {message}");
        }
        // 1,000 bytes for all, 750 for each of four.
        let needs = MemoryEstimate { states: 4, each: 750, ..needs };
        let (message, _) = needs.refusal(3_999).unwrap();
        assert!(message.contains("4 members") && message.contains("3 members would fit"));
        assert!(needs.refusal(1_700).unwrap().0.contains("65x39x27"), "{:?}", needs.refusal(1_700));
    }
}
