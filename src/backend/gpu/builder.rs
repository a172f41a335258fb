//! A run on the device: its memory, its kernels, and all that it works with.

use std::collections::VecDeque;

use tracing::debug;

use super::field_order::FieldOrder;
use super::frame_layout::FrameLayout;
use super::frame_reductions::FrameReductions;
use super::gpu_config::{GpuConfig, inside_of, mapping_of, sources, transport_settings};
use super::gpu_sampling::GpuSampling;
use super::member::{Member, terms_of};
use super::memory::MemoryEstimate;
use super::phase_clock::Clock;
use super::preparation::GpuPreparation;
use super::steps::{QueuedSteps, steps_together};
use super::{Air, GpuBackend, GpuPrecision};
use crate::advection::gpu::passive::Passive;
use crate::advection::gpu::transport::Transport;
use crate::backend::{
    Backend, BudgetDomain, FRAMES_IN_FLIGHT, Microphysics, RunStart, SamplingRequest,
};
use crate::device::{AsyncDownload, Buffer, ForkJoin, Gpu};
use crate::dry_mass::AirMass;
use crate::error::{Advice, Error, Result};
use crate::forcing::Continuity;
use crate::forcing::gpu::{AIR_FIELDS, DeviceForcing, ForcingInterpolator};
use crate::gpu::budget::{Budget, BudgetColumns};
use crate::gpu::device_status::DeviceStatus;
use crate::gpu::step_end::StepEnd;
use crate::grid::Grid;
use crate::grid::gpu::Layout;
use crate::physics::kessler::gpu::KesslerInRun;
use crate::state::State;
use crate::wsm5::gpu::launch::{Wsm5Gpu, planes_of};
use crate::wsm5::scheme::Scheme;

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
        preparation: Option<GpuPreparation<R>>,
    ) -> Result<Self> {
        let scheme = Scheme::default().with_fallout(setting.microphysics.fallout());
        let mut backend = Self::with_schemes(gpu, setting, &[scheme], preparation)?;
        debug!("memory and kernels of the device are ready");
        backend.start(RunStart::from(state))?;
        debug!("the state is on the device");
        Ok(backend)
    }

    /// The same for the members of an ensemble, each with parameters of WSM5 of its own, and with a state that `state`
    /// makes, one after the other. The variant of all schemes is that of the setting.
    ///
    /// # Errors
    ///
    /// [`Error::Gpu`] when the memory does not suffice, with the number of members that would fit, and when the kernels
    /// are not made for the grid.
    pub fn of_members(
        gpu: &Gpu,
        setting: &GpuConfig<'_>,
        schemes: &[Scheme<R>],
        mut state: impl FnMut(usize) -> State<R>,
    ) -> Result<Self> {
        let mut backend = Self::with_schemes(gpu, setting, schemes, None)?;
        for member in 0..schemes.len() {
            backend.put(member, &state(member))?;
        }
        Ok(backend)
    }

    /// All but the states, which are zero.
    fn with_schemes(
        gpu: &Gpu,
        setting: &GpuConfig<'_>,
        schemes: &[Scheme<R>],
        preparation: Option<GpuPreparation<R>>,
    ) -> Result<Self> {
        let GpuConfig { grid, coordinate, microphysics, .. } = *setting;
        let fallout = microphysics.fallout();
        let (shape, count) = (grid.shape, schemes.len());
        refuse_margins(grid)?;
        refuse_too_many(count, setting.tracers.len())?;
        let packing = FrameLayout::new(shape, setting.tracers.len());
        MemoryEstimate::of_members::<R>(gpu, setting, count)?.check(gpu)?;
        let finish = |preparation: GpuPreparation<R>| preparation.finish(packing.frame());
        let pinned = preparation.map_or(Ok(None), finish)?;
        let region = BudgetDomain::new(grid, coordinate);
        let masses = AirMass::new(grid, coordinate);
        let order = FieldOrder::new(setting.tracers, setting.limiter, count);
        let settings = transport_settings::<R>(gpu, setting, &order);
        let layout = settings[0].layout(grid);
        let inside = inside_of(grid);
        let mapping = mapping_of::<R>(gpu, setting);
        gpu.compile_ahead(sources::<R>(setting, &settings, mapping))?;
        debug!("the kernels are compiled");
        let mut transports = settings
            .iter()
            .zip(order.groups(setting.limiter))
            .map(
                |(own, group)| Ok(Transport::new(gpu, grid, &masses, *own)?.offset_by(group.first)),
            )
            .collect::<Result<Vec<_>>>()?;
        let apart = transports.split_off(1);
        let mut transport = transports.remove(0);
        let scheme = Scheme::default().with_fallout(fallout);
        let mut wsm5 = Wsm5Gpu::new(gpu, layout, inside, scheme, mapping, R::THETA_BASE)?;
        let area = region.area.as_slice().expect("a plane in standard layout");
        wsm5.track_mass_mismatch(gpu, transport.cell_mass(), area)?;
        let fields_of_one = order.set.len();
        let fields = order.len() * layout.cells();
        let tracers = [gpu.zeros(fields)?, gpu.zeros(fields)?];
        let columns =
            BudgetColumns { rows: region.rows.clone(), columns: region.columns.clone(), area };
        let together = steps_together::<R>(setting, (&settings[0], count))[0];
        transport.keep(gpu, together)?;
        let planes = planes_of(together) * layout.columns();
        let surfaces: Vec<Buffer<R>> =
            schemes.iter().map(|_| gpu.zeros(planes)).collect::<Result<_>>()?;
        let terms: Vec<_> = surfaces.iter().map(|surface| terms_of(surface, layout)).collect();
        let budget = Budget::new(gpu, layout, &columns, transport.cell_mass(), &terms)?;
        let inner = [region.rows.clone(), region.columns.clone()];
        let passive = match order.states * order.set.passive().len() {
            0 => None,
            count => Some(Passive::new(gpu, layout, inner, transport.cell_mass(), count)?),
        };
        let air = Self::air_of(gpu, setting, layout, &order)?;
        let driving = DeviceForcing::new(gpu, layout, &order.numbers())?;
        let summing =
            FrameReductions::new(gpu, (layout, fields_of_one), area, &transport, &budget)?;
        let status = DeviceStatus::new(gpu, layout, order.len())?;
        status.listen(&mut transport, &mut wsm5);
        let (weights, noted) = ((transport.cell_mass(), area), status.of_calls());
        let kessler = || KesslerInRun::new(gpu, layout, inside_of(grid), weights, noted);
        let kessler = (microphysics == Microphysics::Kessler).then(kessler).transpose()?;
        let step_end = StepEnd::new::<R>(gpu, grid)?;
        let members =
            schemes.iter().zip(surfaces).enumerate().map(|(number, (scheme, surface))| {
                let indices = order.indices(number);
                let kessler = kessler.as_ref().map(|kessler| kessler.of_state(indices));
                Member::new((wsm5.of_state(scheme.clone(), indices), kessler), surface, indices)
            });
        Ok(Self {
            gpu: gpu.clone(),
            grid: *grid,
            region,
            transport,
            members: members.collect(),
            branches: if count > 1 { Some(ForkJoin::new(gpu, count)?) } else { None },
            budget,
            status,
            step_end,
            order,
            apart,
            passive,
            chemistry: None,
            tracers,
            now: 0,
            driving,
            air,
            uploaded: None,
            failing: None,
            waiting: QueuedSteps::default(),
            together,
            launched: 0,
            launched_together: 0,
            recorded: Vec::new(),
            layout,
            packing,
            download: match pinned {
                Some(pinned) => AsyncDownload::with_pinned(gpu, pinned),
                None => AsyncDownload::new(gpu, packing.frame()),
            }?,
            samples: GpuSampling::new(gpu, (layout, fields_of_one), &SamplingRequest::default())?,
            checkpoint: None,
            summing,
            captured: VecDeque::with_capacity(FRAMES_IN_FLIGHT),
            steps: 0,
            clock: Clock::new(gpu)?,
        })
    }

    /// Memory of the air: of the present frame, or of what is between two frames.
    fn air_of(
        gpu: &Gpu,
        setting: &GpuConfig<'_>,
        layout: Layout,
        order: &FieldOrder,
    ) -> Result<Air<R>> {
        if !setting.has_sequence {
            return Ok(Air::Kept(gpu.zeros(AIR_FIELDS * layout.cells())?));
        }
        let (continuity, numbers) = (Continuity::new(setting.coordinate), order.numbers());
        let between = ForcingInterpolator::new(gpu, layout, &continuity, &numbers)?;
        Ok(Air::Between(Box::new(between)))
    }
}

/// Fails for a part of a grid whose margins would have to be refreshed.
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
