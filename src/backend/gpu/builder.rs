//! A run on the device: its memory, its kernels, and all that it works with.

use tracing::debug;

use super::arrays::Arrays;
use super::budget::BudgetSums;
use super::field_order::FieldOrder;
use super::frames::Frames;
use super::gpu_config::{GpuConfig, mapping_of, sources, transport_settings};
use super::margins::{GpuNeighbours, Margins};
use super::memory::MemoryEstimate;
use super::preparation::GpuPreparation;
use super::sampling::Sampler;
use super::step::{Stepper, steps_together};
use super::transports::Transports;
use super::{GpuBackend, GpuPrecision};
use crate::backend::{Backend, BudgetDomain, RunStart, SamplingRequest};
use crate::device::Gpu;
use crate::dry_mass::AirMass;
use crate::error::{Advice, Error, Result};
use crate::gpu::device_status::DeviceStatus;
use crate::grid::Grid;
use crate::physics::scheme::Scheme;
use crate::state::State;

impl<R: GpuPrecision> GpuBackend<R> {
    /// Takes the memory, compiles the kernels, and copies the state to the device.
    ///
    /// # Errors
    ///
    /// [`Error::Gpu`] when the memory does not suffice, with the grid that
    /// would fit, and when the kernels are not made for the grid.
    pub fn new(gpu: &Gpu, setting: &GpuConfig<'_>, state: &State<R>) -> Result<Self> {
        Self::prepared(gpu, setting, state, None)
    }

    /// The same with what has been prepared for this setting.
    ///
    /// # Errors
    ///
    /// As [`GpuBackend::new`].
    pub fn prepared(
        gpu: &Gpu,
        setting: &GpuConfig<'_>,
        state: &State<R>,
        preparation: Option<GpuPreparation>,
    ) -> Result<Self> {
        let schemes = [setting.scheme.boxed()];
        let mut backend = Self::with_schemes(gpu, setting, &schemes, preparation)?;
        debug!("memory and kernels of the device are ready");
        backend.start(RunStart::from(state))?;
        debug!("the state is on the device");
        Ok(backend)
    }

    /// The same for the members of an ensemble, each with parameters of the scheme of its own, and with a state that
    /// `state` makes, one after the other. Scheme and variant are those of the setting.
    ///
    /// # Errors
    ///
    /// [`Error::Gpu`] when the memory does not suffice, with the number of members that would fit, and when the kernels
    /// are not made for the grid.
    pub fn of_members(
        gpu: &Gpu,
        setting: &GpuConfig<'_>,
        schemes: &[Box<dyn Scheme>],
        mut state: impl FnMut(usize) -> State<R>,
    ) -> Result<Self> {
        let backend = Self::with_schemes(gpu, setting, schemes, None)?;
        for member in 0..schemes.len() {
            backend.arrays.put(member, &state(member))?;
        }
        Ok(backend)
    }

    /// The same for a part of a grid, whose margins are refreshed by its neighbours; the grid, its air and the state are
    /// those of the part. All parts make the same calls.
    ///
    /// # Errors
    ///
    /// As [`GpuBackend::new`].
    pub fn of_part(
        gpu: &Gpu,
        setting: &GpuConfig<'_>,
        state: &State<R>,
        neighbours: GpuNeighbours<'_>,
    ) -> Result<Self> {
        let schemes = [setting.scheme.boxed()];
        let mut backend = Self::with_neighbours(gpu, setting, &schemes, None, Some(neighbours))?;
        backend.start(RunStart::from(state))?;
        Ok(backend)
    }

    /// All but the states, which are zero, of a whole grid.
    fn with_schemes(
        gpu: &Gpu,
        setting: &GpuConfig<'_>,
        schemes: &[Box<dyn Scheme>],
        preparation: Option<GpuPreparation>,
    ) -> Result<Self> {
        refuse_margins(setting.grid)?;
        Self::with_neighbours(gpu, setting, schemes, preparation, None)
    }

    /// All but the states, which are zero.
    fn with_neighbours(
        gpu: &Gpu,
        setting: &GpuConfig<'_>,
        schemes: &[Box<dyn Scheme>],
        preparation: Option<GpuPreparation>,
        neighbours: Option<GpuNeighbours<'_>>,
    ) -> Result<Self> {
        let GpuConfig { grid, coordinate, .. } = *setting;
        let (count, fields) = (schemes.len(), setting.tracers.len());
        let own = setting.scheme.about().set();
        assert_eq!(
            setting.tracers.of_scheme_only(),
            own.of_scheme_only(),
            "the constituents of the scheme of the run"
        );
        refuse_too_many(count, fields)?;
        let levels = count * fields * grid.shape.nz;
        let of_margins =
            |near: &GpuNeighbours<'_>| Margins::bytes::<R>(near.parts, near.part, levels);
        let beside = neighbours.as_ref().map_or(0, of_margins);
        MemoryEstimate::of_members::<R>(gpu, setting, count)?.and(beside).check(gpu)?;
        preparation.map_or(Ok(()), GpuPreparation::finish)?;
        let masses = AirMass::new(grid, coordinate);
        let order = FieldOrder::new(setting.tracers, setting.limiter, count);
        let settings = transport_settings::<R>(gpu, setting, &order);
        let layout = settings[0].layout(grid);
        let mapping = mapping_of::<R>(gpu, setting);
        gpu.compile_ahead(sources::<R>(setting, &settings, mapping.as_deref()))?;
        debug!("the kernels are compiled");
        // An exchange by the host comes between two steps.
        let is_by_host = neighbours.as_ref().is_some_and(|near| !near.exchange.is_recordable());
        let together = match steps_together::<R>(setting, (&settings[0], count)) {
            _ if is_by_host => 1,
            [together, _] => together,
        };
        let fields = (layout, count * fields);
        let margins = neighbours.map(|near| Margins::new::<R>(gpu, near, fields)).transpose()?;
        let groups = order.groups(setting.limiter);
        let mut transports = Transports::new(gpu, grid, &masses, &settings, groups)?;
        transports.main.keep(gpu, together)?;
        let arrays = Arrays::new(gpu, setting, layout, order, together)?;
        let region = BudgetDomain::new(grid, coordinate);
        let budget = BudgetSums::new(gpu, region, &arrays, &transports)?;
        let schemes = (schemes, mapping.as_deref());
        let transports = (transports, margins, together);
        let step = Stepper::new(gpu, setting, schemes, transports, (&arrays, &budget))?;
        let frames = Frames::new(gpu, (&arrays, &budget), &step)?;
        let sampler = Sampler::new(gpu, (layout, setting.tracers), &SamplingRequest::default())?;
        Ok(Self { gpu: gpu.clone(), arrays, budget, step, sampler, frames })
    }
}

/// Fails for a part of a grid without its neighbours, by whom its margins would have to be refreshed.
fn refuse_margins(grid: &Grid) -> Result<()> {
    if grid.is_whole() {
        return Ok(());
    }
    let (part, global) = (grid.shape, grid.global());
    let found = format!(
        "the GPU cannot refresh the margins of a part ({part} cells) of a grid of {global}"
    );
    Err(Error::Gpu(found).advise(Advice::UseCpu))
}

/// Fails where there are more fields than the notes of the kernels can tell apart.
fn refuse_too_many(states: usize, tracers: usize) -> Result<()> {
    let (fields, most) = (states * tracers, DeviceStatus::MOST_FIELDS);
    if fields <= most {
        return Ok(());
    }
    Err(Error::Gpu(format!(
        "{states} states of {tracers} tracers have {fields} fields; the kernels number at most \
         {most}"
    ))
    .advise(Advice::UseCpu))
}
