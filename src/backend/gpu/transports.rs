//! Transports of all tracers of a run on the device.

use super::GpuPrecision;
use super::field_order::TracerGroup;
use crate::advection::gpu::TransportSettings;
use crate::advection::gpu::transport::{Transport, Wind};
use crate::device::{Buffer, Gpu};
use crate::dry_mass::AirMass;
use crate::dry_mass::gpu::LayeredPointers;
use crate::error::Result;
use crate::grid::Grid;
use crate::state::gpu::step_in_batch::StepInBatch;

/// Transports of all tracers.
#[derive(Debug)]
pub(super) struct Transports<R> {
    /// That of the water, and of all tracers with its limiter or without one.
    pub(super) main: Transport<R>,
    /// Those of the tracers with a limiter of their own.
    apart: Vec<Transport<R>>,
}

impl<R: GpuPrecision> Transports<R> {
    /// Compiles the kernels and allocates the memory, for groups of tracers with their settings.
    pub(super) fn new(
        gpu: &Gpu,
        grid: &Grid,
        masses: &AirMass<R>,
        settings: &[TransportSettings],
        groups: Vec<TracerGroup>,
    ) -> Result<Self> {
        let transport = |(own, group): (&TransportSettings, TracerGroup)| {
            Ok(Transport::new(gpu, grid, masses, *own)?.offset_by(group.first))
        };
        let mut all = settings.iter().zip(groups).map(transport).collect::<Result<Vec<_>>>()?;
        let apart = all.split_off(1);
        Ok(Self { main: all.remove(0), apart })
    }

    /// Mass of the cells.
    pub(super) fn cell_mass(&self) -> LayeredPointers<R> {
        self.main.cell_mass()
    }

    /// Memory that is free between the transports of two steps.
    pub(super) fn spare(&self) -> &Buffer<R> {
        self.main.spare()
    }

    /// Queues the transport of a step of `dt` seconds.
    pub(super) fn step(
        &self,
        turn: StepInBatch,
        wind: &Wind<'_, R>,
        [start, end]: [&Buffer<R>; 2],
        dt: f64,
    ) -> Result<()> {
        self.main.step_in(turn, wind, start, end, dt)?;
        for transport in &self.apart {
            transport.step(wind, start, end, dt)?;
            transport.count_entered(dt)?;
        }
        Ok(())
    }

    /// Sets the sums of what has entered to zero.
    pub(super) fn forget_entered(&self) -> Result<()> {
        std::iter::once(&self.main).chain(&self.apart).try_for_each(Transport::forget_entered)
    }

    /// Inflow of each tracer of all states through the sides since the start. Waits for the device.
    pub(super) fn entered(&self) -> Result<Vec<f64>> {
        let mut entered = self.main.entered()?;
        for transport in &self.apart {
            entered.extend(transport.entered()?);
        }
        Ok(entered)
    }

    /// Partial sums of the inflow of the tracers with a limiter of their own. Waits for the device.
    pub(super) fn sums_apart(&self) -> Result<Vec<f64>> {
        let mut sums = Vec::new();
        for transport in &self.apart {
            sums.extend(transport.entered_sums()?);
        }
        Ok(sums)
    }

    /// Number of them.
    pub(super) fn words_apart(&self) -> usize {
        self.apart.iter().map(Transport::entered_words).sum()
    }

    /// Lets the transports of tracers with a limiter of their own take their sums from the first ones.
    pub(super) fn resume_apart(&self, sums: &mut &[f64]) -> Result<()> {
        self.apart.iter().try_for_each(|transport| {
            let own = sums.split_off(..transport.entered_words());
            transport.resume_entered(own.unwrap_or_default())
        })
    }
}
