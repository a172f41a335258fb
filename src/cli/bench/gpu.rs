//! The parts of a step on the GPU.

use super::gpu_times::{event_times, graph_times, repeat_times, step_times};
use super::measurement::{
    MeasuredOn, MeasuredPart, Measurement, Phases, Processor, Timing, median,
};
use super::record::Record;
use super::table::counted;
use super::{Bench, Part, marked, name_of, step_variant};
use crate::advection::Limiter;
use crate::advection::gpu::TransportSettings;
use crate::advection::gpu::transport::{Transport, Wind};
use crate::backend::gpu::{GpuBackend, GpuConfig, GpuPrecision, MemoryEstimate};
use crate::backend::{Backend, RunStart};
use crate::cli::FilePrecision;
use crate::cli::device::MappingChoice;
use crate::cuda_abi::DevicePointer;
use crate::device::{Branch, Buffer, Gpu, PinnedTransfer, Resources};
use crate::dry_mass::AirMass;
use crate::error::Result;
use crate::forcing::TimeInterpolant;
use crate::grid::Shape;
use crate::grid::gpu::Layout;
use crate::model::replicated_grid::ReplicatedGrid;
use crate::physics::device::{DeviceColumns, DeviceGrid, DeviceRun};
use crate::physics::scheme::Scheme;
use crate::primitives::gpu::arithmetic::{Arithmetic, Copying};
use crate::state::State;
use crate::state::gpu::device_fields::{ActiveColumns, DeviceFields, planes_of};
use crate::state::gpu::member_layout::MemberLayout;
use crate::state::gpu::step_in_batch::StepInBatch;

/// The device with its peak performance.
pub(super) fn best<R: GpuPrecision>(gpu: &Gpu, runs: u32) -> Result<Processor> {
    let copy = copy_speed(gpu, runs)?;
    let chains = Arithmetic::<R>::new(gpu)?;
    let arithmetic = chains.operations() / typical(runs, || chains.seconds())?;
    Ok(Processor { arithmetic: Some(arithmetic), ..Processor::gpu(gpu, copy) })
}

/// Bandwidth of a copy, read and written, bytes a second.
pub(super) fn copy_speed(gpu: &Gpu, runs: u32) -> Result<f64> {
    let copying = Copying::new(gpu)?;
    Ok(copying.bytes() as f64 / typical(runs, || copying.seconds())?)
}

/// The median of some times, after a warm-up call.
fn typical(runs: u32, seconds: impl Fn() -> Result<f64>) -> Result<f64> {
    seconds()?;
    Ok(median((0..runs).map(|_| seconds()).collect::<Result<_>>()?))
}

/// Figures of one device and grid.
pub(super) struct Table<'a, 'o, R> {
    pub(super) bench: &'a Bench,
    pub(super) gpu: &'a Gpu,
    pub(super) replicated: &'a ReplicatedGrid<R>,
    pub(super) place: MeasuredOn,
    pub(super) record: &'a mut Record<'o>,
}

/// The requested mappings on a grid; both without an option.
fn mappings<R: GpuPrecision>(
    gpu: &Gpu,
    choice: Option<MappingChoice>,
    shape: Shape,
    scheme: &dyn Scheme,
) -> Vec<Option<String>> {
    let Some(possible) = scheme.mappings() else { return vec![None] };
    let both = || {
        let mut both = vec![MappingChoice::Column, MappingChoice::Tile];
        both.retain(|choice| choice.is_among(possible));
        both
    };
    let choices = choice.map_or_else(both, |choice| vec![choice]);
    let precision = R::PRECISION;
    choices.into_iter().map(|choice| choice.of(gpu, &shape, precision, scheme)).collect()
}

/// Fields and planes of the microphysics, on the device.
pub(in crate::cli) struct PhysicsArrays<R> {
    shape: Shape,
    layout: Layout,
    member: MemberLayout,
    /// The initial state of every call.
    fresh: Buffer<R>,
    state: Buffer<R>,
    air: Buffer<R>,
    surface: Buffer<R>,
    diagnosed: Buffer<R>,
}

impl<R: FilePrecision + GpuPrecision> PhysicsArrays<R> {
    /// Allocates the memory for a scheme, with that of what it `diagnoses` if asked for, and uploads the columns.
    pub(in crate::cli) fn new(
        gpu: &Gpu,
        replicated: &ReplicatedGrid<R>,
        (scheme, diagnoses): (&dyn Scheme, bool),
    ) -> Result<Self> {
        let set = scheme.about().set();
        let of_scheme = replicated.carrying(&set);
        let shape = replicated.grid.shape;
        let layout = Layout::in_sectors(shape);
        let cells = layout.cells();
        let member = MemberLayout::alone(&set);
        let diagnosed = if diagnoses { set.volumes().len() } else { 0 };
        let lengths = [set.carried(), set.carried(), member.air, diagnosed].map(|n| n * cells);
        let planes = planes_of(member.planes, 1) * layout.columns();
        let values = lengths.iter().sum::<usize>() + planes;
        MemoryEstimate::new(size_of::<R>() * values, shape).check(gpu)?;
        let [fresh, state, air, diagnosed] = lengths.map(|len| gpu.zeros::<R>(len));
        let (fresh, air) = (fresh?, air?);
        let whole = "fields are in standard layout";
        for (number, field) in of_scheme.state.fields().iter().enumerate() {
            fresh.upload_to(number * cells, &layout.padded(field.as_slice().expect(whole)))?;
        }
        let given = &replicated.forcing.environment;
        for (number, field) in given.fields().enumerate() {
            air.upload_to(number * cells, &layout.padded(field.as_slice().expect(whole)))?;
        }
        let (state, surface, diagnosed) = (state?, gpu.zeros(planes)?, diagnosed?);
        Ok(Self { shape, layout, member, fresh, state, air, surface, diagnosed })
    }

    /// The kernels of a scheme for them.
    pub(in crate::cli) fn kernels(
        &self,
        gpu: &Gpu,
        scheme: &dyn Scheme,
        mapping: Option<&str>,
    ) -> Result<Box<dyn DeviceColumns<R>>> {
        let inside = ActiveColumns::all(self.shape);
        let run = DeviceRun {
            grid: DeviceGrid { layout: self.layout, inside, is_divided: false, mapping },
            masses: None,
            status: [DevicePointer::default(); 2],
            member: self.member,
        };
        R::of_scheme(scheme).on_gpu(gpu, &run, None)
    }

    /// A call of `dt` seconds.
    pub(in crate::cli) fn call(&self, kernels: &dyn DeviceColumns<R>, dt: f64) -> Result<()> {
        kernels.call_in(Branch::TRUNK, StepInBatch::ALONE, &self.place(), dt)
    }

    /// Arrays of a call.
    fn place(&self) -> DeviceFields<'_, R> {
        DeviceFields { state: &self.state, air: &self.air, surface: &self.surface }
    }

    /// The state after the calls.
    pub(in crate::cli) fn state(&self) -> &Buffer<R> {
        &self.state
    }

    /// Resets the state.
    pub(in crate::cli) fn restore(&self) -> Result<()> {
        self.state.copy_from(&self.fresh)?;
        self.surface.clear()
    }
}

impl<R: FilePrecision + GpuPrecision> Table<'_, '_, R> {
    /// Measures all requested parts.
    pub(super) fn measure(&mut self) -> Result<()> {
        let Self { bench, replicated, .. } = *self;
        if bench.wants(Part::Physics) {
            self.microphysics()?;
        }
        if bench.wants(Part::Advection) && replicated.has_winds {
            self.transport()?;
        }
        if bench.wants(Part::Step) && replicated.has_winds {
            self.step()?;
        }
        Ok(())
    }

    /// Adds a figure, with the resources of its kernels.
    fn add(
        &mut self,
        part: MeasuredPart,
        variant: &str,
        timing: Timing,
        times: Vec<f64>,
        kernels: Option<Vec<Resources>>,
    ) -> Result<()> {
        let variant = variant.to_owned();
        let mut figure = Measurement::new::<R>(part, variant, timing, &self.place, times);
        figure.kernels = kernels;
        figure.show(self.record)
    }

    fn microphysics(&mut self) -> Result<()> {
        let Self { bench, gpu, replicated, .. } = *self;
        let (runs, dt) = (bench.runs, bench.dt);
        for (number, scheme) in bench.schemes()?.into_iter().enumerate() {
            let columns = PhysicsArrays::new(gpu, replicated, (&*scheme, true))?;
            let restore = || columns.restore();
            let mut copies = CallTransfers::new(gpu, &columns)?;
            if number == 0 {
                self.transfers(&mut copies, columns.member)?;
            }
            let [alone, with_diagnostics] =
                [false, true].map(|diagnoses| MeasuredPart::physics(&*scheme, diagnoses));
            for mapping in mappings::<R>(gpu, bench.mapping, replicated.grid.shape, &*scheme) {
                let kernels = columns.kernels(gpu, &*scheme, mapping.as_deref())?;
                let variant = marked(&kernels.mapping(), &*scheme);
                let call = || columns.call(&*kernels, dt);
                let both = || {
                    call()?;
                    kernels.diagnose(&columns.place(), &columns.diagnosed, 0)
                };
                let [kernel, diagnosis] = kernels.resources(dt)?;
                let times = graph_times(gpu, runs, restore, call)?;
                self.add(alone, &variant, Timing::Graph, times, Some(vec![kernel]))?;
                let times = event_times(gpu, runs, restore, call)?;
                self.add(alone, &variant, Timing::Events, times, None)?;
                let times = graph_times(gpu, runs, restore, both)?;
                let (radar, kernels) = (format!("{variant}, radar"), vec![kernel, diagnosis]);
                self.add(with_diagnostics, &radar, Timing::Graph, times, Some(kernels))?;
                let there_and_back = || {
                    copies.upload()?;
                    call()?;
                    copies.download()
                };
                let times = event_times(gpu, runs, || columns.surface.clear(), there_and_back)?;
                self.add(alone, &variant, Timing::Transfers, times, None)?;
            }
        }
        Ok(())
    }

    /// The copies of a microphysics call only.
    fn transfers(&mut self, copies: &mut CallTransfers<'_, R>, member: MemberLayout) -> Result<()> {
        let fields = 1 + member.limited;
        let Self { bench, gpu, replicated, .. } = *self;
        let times = event_times(gpu, bench.runs, || Ok(()), || copies.upload())?;
        let inward = MeasuredPart::transfers((fields + member.air) as f64);
        let there = format!("to the GPU: {} fields", fields + member.air);
        self.add(inward, &there, Timing::Transfers, times, None)?;
        let times = event_times(gpu, bench.runs, || Ok(()), || copies.download())?;
        let planes = planes_of(member.planes, 1) as f64 / replicated.grid.shape.nz as f64;
        let outward = MeasuredPart::transfers(fields as f64 + planes);
        let back = format!("back: {fields} fields, the ground");
        self.add(outward, &back, Timing::Transfers, times, None)
    }

    fn transport(&mut self) -> Result<()> {
        let Self { bench, gpu, replicated, .. } = *self;
        let count = usize::from(bench.tracers);
        for limiter in bench.limiters() {
            let precision = R::PRECISION;
            let settings = TransportSettings::for_device(
                gpu,
                &replicated.grid,
                precision,
                [count, 0],
                limiter,
            );
            let tracers = Tracers::new(gpu, replicated, settings)?;
            let transport = transport_on(gpu, replicated, settings)?;
            let call = || tracers.step(&transport, bench.dt);
            let part = MeasuredPart::tracers(count, limiter);
            let variant = format!("RK3, {}, {}", name_of(limiter), counted(count, "tracer"));
            let times = repeat_times(gpu, bench.runs, call)?;
            let kernels = Some(transport.resources()?);
            self.add(part, &variant, Timing::Graph, times, kernels)?;
            let times = event_times(gpu, bench.runs, || Ok(()), call)?;
            self.add(part, &variant, Timing::Events, times, None)?;
        }
        Ok(())
    }

    fn step(&mut self) -> Result<()> {
        /// Steps, some of which are timed phase by phase.
        const STEPS: usize = 41;
        let Self { bench, gpu, replicated, .. } = *self;
        let (runs, dt, limiter) = (bench.runs, bench.dt, bench.limiter_of_steps());
        for scheme in bench.schemes()? {
            let replicated = &*replicated.carrying(&scheme.about().set());
            let (mut run, _) = stepping(bench, gpu, replicated, limiter, &*scheme)?;
            run.drive(&TimeInterpolant::lasting(&replicated.forcing))?;
            let part = MeasuredPart::step(&*scheme, limiter);
            let variant = format!("{}, {}", step_variant(&*scheme), run.mapping());
            let graph = step_times(gpu, runs, &mut run, &replicated.state, dt)?;
            let events = event_times(gpu, runs, || Ok(()), || run.step_untimed(dt, 1))?;
            let place = &self.place;
            let mut figure =
                Measurement::new::<R>(part, variant.clone(), Timing::Graph, place, graph);
            figure.phases = Some(phases(&mut run, &replicated.state, dt, STEPS)?);
            figure.kernels = Some(run.resources(dt)?);
            figure.show(self.record)?;
            self.add(part, &variant, Timing::Events, events, None)?;
        }
        Ok(())
    }
}

/// Copies of the input of a call to the device, and of its results to the host.
struct CallTransfers<'a, R: GpuPrecision> {
    columns: &'a PhysicsArrays<R>,
    given: PinnedTransfer<R>,
    given_air: PinnedTransfer<R>,
    made: PinnedTransfer<R>,
    ground: PinnedTransfer<R>,
}

impl<'a, R: GpuPrecision> CallTransfers<'a, R> {
    fn new(gpu: &Gpu, columns: &'a PhysicsArrays<R>) -> Result<Self> {
        let pinned = |buffer: &Buffer<R>| PinnedTransfer::new(gpu, buffer.len());
        let PhysicsArrays { fresh, state, air, surface, .. } = columns;
        let mut copies = Self {
            columns,
            given: pinned(fresh)?,
            given_air: pinned(air)?,
            made: pinned(state)?,
            ground: pinned(surface)?,
        };
        copies.given.fetch(fresh)?;
        copies.given_air.fetch(air)?;
        Ok(copies)
    }

    fn upload(&mut self) -> Result<()> {
        self.given.send(&self.columns.state)?;
        self.given_air.send(&self.columns.air)
    }

    fn download(&mut self) -> Result<()> {
        self.made.fetch(&self.columns.state)?;
        self.ground.fetch(&self.columns.surface)
    }
}

/// Tracers in the winds of a grid, on the device.
pub(in crate::cli) struct Tracers<R> {
    layout: Layout,
    flux: [Buffer<R>; 3],
    start: Buffer<R>,
    end: Buffer<R>,
}

impl<R: FilePrecision + GpuPrecision> Tracers<R> {
    /// Allocates memory for `count` tracers, with the water species cyclically as values, and uploads them; there must
    /// be room for a transport with `settings` too.
    pub(in crate::cli) fn new(
        gpu: &Gpu,
        replicated: &ReplicatedGrid<R>,
        settings: TransportSettings,
    ) -> Result<Self> {
        let ReplicatedGrid { grid, forcing, state, .. } = replicated;
        let (layout, count) = (settings.layout(grid), settings.tracers);
        let values = 2 * count * layout.cells() + layout.faces().iter().sum::<usize>();
        let bytes = size_of::<R>() * values + Transport::<R>::bytes(grid, settings);
        MemoryEstimate::new(bytes, grid.shape).check(gpu)?;
        let whole = "fields are in standard layout";
        let [x, y, z] = [&forcing.flux.x, &forcing.flux.y, &forcing.flux.z]
            .map(|flux| flux.as_slice().expect(whole));
        let x = gpu.upload(&layout.padded_x_faces(x))?;
        let flux = [x, gpu.upload(&layout.padded(y))?, gpu.upload(&layout.padded(z))?];
        let start = gpu.zeros::<R>(count * layout.cells())?;
        let end = gpu.zeros::<R>(start.len())?;
        let water = state.water();
        for number in 0..count {
            let q = water[number % water.len()].as_slice().expect(whole);
            start.upload_to(number * layout.cells(), &layout.padded(q))?;
        }
        Ok(Self { layout, flux, start, end })
    }

    /// Queues a step, which does not change its initial values.
    pub(in crate::cli) fn step(&self, transport: &Transport<R>, dt: f64) -> Result<()> {
        let Self { flux: [x, y, z], start, end, .. } = self;
        transport.step(&Wind { flux: [x, y, z], inflow: None }, start, end, dt)
    }

    /// Memory layout of their rows on the device.
    pub(in crate::cli) fn layout(&self) -> Layout {
        self.layout
    }

    /// The tracers after the step, on the host.
    pub(in crate::cli) fn end(&self) -> Result<Vec<R>> {
        Ok(self.layout.unpadded(&self.end.to_vec()?).into_owned())
    }
}

/// The transport on a grid.
pub(in crate::cli) fn transport_on<R: FilePrecision + GpuPrecision>(
    gpu: &Gpu,
    replicated: &ReplicatedGrid<R>,
    settings: TransportSettings,
) -> Result<Transport<R>> {
    Transport::new(
        gpu,
        &replicated.grid,
        &AirMass::new(&replicated.grid, &replicated.coordinate),
        settings,
    )
}

/// A run of whole steps on the GPU, still without forcing, and its memory.
pub(super) fn stepping<R: FilePrecision + GpuPrecision>(
    bench: &Bench,
    gpu: &Gpu,
    replicated: &ReplicatedGrid<R>,
    limiter: Limiter,
    scheme: &dyn Scheme,
) -> Result<(GpuBackend<R>, MemoryEstimate)> {
    let replicated = replicated.carrying(&scheme.about().set());
    let ReplicatedGrid { grid, coordinate, state, .. } = &*replicated;
    let mapping = bench.mapping.unwrap_or(MappingChoice::Auto);
    let mapping = mapping.of(gpu, &grid.shape, R::PRECISION, scheme);
    let setting = GpuConfig {
        grid,
        coordinate,
        limiter,
        scheme,
        mapping: mapping.as_deref(),
        tracers: state.set(),
        has_sequence: false,
        chemistry: None,
    };
    let needs = MemoryEstimate::of::<R>(gpu, &setting)?;
    Ok((GpuBackend::new(gpu, &setting, state)?, needs))
}

/// Times of the halves of a step, from some consecutive steps.
pub(super) fn phases<R: FilePrecision + GpuPrecision>(
    run: &mut GpuBackend<R>,
    state: &State<R>,
    dt: f64,
    steps: usize,
) -> Result<Phases> {
    run.start(RunStart::from(state))?;
    for number in 1..=steps {
        run.step(dt)?;
        run.check(number, true)?;
    }
    let times = run.info()?.times;
    let of_a_step = |seconds: f64| seconds / steps as f64;
    Ok(Phases {
        advection_s: of_a_step(times.advection.kernel_s),
        microphysics_s: of_a_step(times.microphysics.kernel_s),
    })
}
