//! The transport on the device: its memory and its launches.

use super::prelude;
use super::tuning;
use super::{
    DeviceLimits, LaunchConfig, Stages, TransportArgs, TransportLaunch, TransportSettings,
    TuningPoint, air_pointers,
};
use crate::advection::Limiter;
use crate::cuda_abi::DevicePointer;
use crate::device::{
    Branch, Buffer, Element, ForkJoin, Gpu, Kernel, KernelSource, Launch, Resources,
};
use crate::dry_mass::AirMass;
use crate::dry_mass::gpu::LayeredPointers;
use crate::error::{Advice, Error, Result};
use crate::grid::gpu::Layout;
use crate::grid::{Grid, Shape};
use crate::real::{Precision, Real};
use crate::state::gpu::kernel_id;
use crate::state::gpu::step_in_batch::StepInBatch;

/// Source and settings of the kernels.
pub fn source(precision: Precision, grid: &Grid, settings: TransportSettings) -> KernelSource {
    let constants = settings.constants(grid, precision);
    let prelude = prelude::transport(precision, grid.shape.nz).with_settings(&constants);
    KernelSource::new("advection/transport.cu", prelude)
}

/// Wind and air of a step, on the device.
#[derive(Clone, Copy, Debug)]
pub struct Wind<'a, R> {
    /// Mass fluxes through the x-, y- and z-faces, kg s⁻¹. Shapes: (nz, ny, nx + 1), (nz, ny + 1, nx),
    /// (nz + 1, ny, nx), rows as [`Layout`] has them.
    pub flux: [&'a Buffer<R>; 3],
    /// Boundary values of each tracer: west, east, south, north. Zero if absent; NaN stands for the value of the
    /// neighbour inside.
    pub inflow: Option<&'a Buffer<R>>,
}

/// Carries tracers on the device.
#[derive(Debug)]
pub struct Transport<R> {
    grid: Grid,
    /// Index of the first tracer in the arrays.
    before: usize,
    layout: Layout,
    settings: TransportSettings,
    kernels: Vec<Kernel>,
    /// Pointers to the buffers below and to those of the air.
    args: TransportArgs<R>,
    /// Tracers after the second stage.
    second: Buffer<R>,
    entered: Buffer<f64>,
    /// Side fluxes of one step or several, which `args` points to, and the number of values of one step.
    side_flux: Buffer<R>,
    side_values: usize,
    /// Scale factors of the limiter, which `args` points to.
    scratch: Vec<Buffer<R>>,
    /// The air, which `args` points to.
    _air: Vec<Buffer<R>>,
    /// A stream for each part of the tracers, if they are in several.
    fork_join: Option<ForkJoin>,
}

/// Elements of the array of scale factors.
fn lengths(grid: &Grid, settings: TransportSettings) -> [usize; 2] {
    let limited = if settings.limits() && !settings.by_tiles() {
        settings.tracers - settings.unlimited
    } else {
        0
    };
    let factors = limited * settings.layout(grid).cells();
    let is_monotonic = settings.limiter == Limiter::Monotonic;
    [factors, if is_monotonic { factors } else { 0 }]
}

/// Values that a step stores at the sides of a grid: none if all are periodic.
pub fn side_values(grid: &Grid, tracers: usize) -> usize {
    let Shape { nx, ny, nz } = grid.shape;
    let closed = grid.sides.periodic_x() && grid.sides.periodic_y();
    if closed { 0 } else { tracers * 2 * nz * (nx + ny) }
}

impl<R: Real + Element> Transport<R> {
    /// Device memory of the transport without the tracers at the start and the end of a step, bytes.
    pub fn bytes(grid: &Grid, settings: TransportSettings) -> usize {
        let layout = settings.layout(grid);
        let tracers = settings.tracers * layout.cells();
        let Shape { ny, nz, .. } = layout.shape;
        let planes = 10 * layout.face_pitch() * (ny + 1) + layout.columns() + 12 * (nz + 1);
        let factors: usize = lengths(grid, settings).iter().sum();
        let sides = side_values(grid, settings.tracers);
        size_of::<R>() * (tracers + factors + sides + planes) + 8 * settings.tracers * nz
    }

    /// Compiles the kernels and allocates the memory.
    ///
    /// # Errors
    ///
    /// [`Error::Gpu`], as all below; also for more cells than the kernels can count.
    pub fn new(
        gpu: &Gpu,
        grid: &Grid,
        air: &AirMass<R>,
        settings: TransportSettings,
    ) -> Result<Self> {
        let (shape, layout) = (grid.shape, settings.layout(grid));
        let countable = i32::MAX as usize;
        // The largest index is that of a face.
        let faces = layout.face_pitch() * (shape.ny + 1) * (shape.nz + 1);
        if faces > countable {
            return Err(Error::Gpu(format!(
                "a grid of {shape} cells is too large: the transport kernels number at most \
                 {countable}"
            ))
            .advise(Advice::UseSmallerGridOrCpu));
        }
        let module = gpu.module(&source(R::PRECISION, grid, settings))?;
        let kernels: Vec<Kernel> = kernel_id::TRANSPORT
            .into_iter()
            .map(|name| kernel_id::kernel(&module, name))
            .collect::<Result<_>>()?;
        let (mut kept, mut scratch) = (Vec::new(), Vec::new());
        let mut args = air_pointers(air, layout, |values| {
            let buffer = gpu.upload(values)?;
            let pointer = buffer.pointer().read();
            kept.push(buffer);
            Ok::<_, Error>(pointer)
        })?;
        let mut room = |len| -> Result<DevicePointer<R>> {
            if len == 0 {
                return Ok(DevicePointer::default());
            }
            let buffer = gpu.zeros(len)?;
            let pointer = buffer.pointer();
            scratch.push(buffer);
            Ok(pointer)
        };
        let [outgoing, incoming] = lengths(grid, settings);
        args.outgoing = room(outgoing)?;
        args.incoming = room(incoming)?;
        let entered_sums = gpu.zeros(settings.tracers * shape.nz)?;
        args.entered = entered_sums.pointer();
        let parts = settings.parts();
        let fork_join = (parts > 1).then(|| ForkJoin::new(gpu, parts)).transpose()?;
        let mut transport = Self {
            grid: *grid,
            before: 0,
            layout,
            settings,
            kernels,
            args,
            second: gpu.zeros(settings.tracers * layout.cells())?,
            entered: entered_sums,
            side_flux: gpu.zeros(0)?,
            side_values: side_values(grid, settings.tracers),
            scratch,
            _air: kept,
            fork_join,
        };
        transport.keep(gpu, 1)?;
        for launch in transport.launches() {
            if launch.shared_bytes > 0 {
                transport.kernel(&launch).allow_shared_memory(launch.shared_bytes as u32)?;
            }
        }
        Ok(transport)
    }

    /// The same for tracers that follow `before` other tracers in the arrays; their boundary values are offset
    /// likewise.
    #[must_use]
    pub fn offset_by(self, before: usize) -> Self {
        Self { before, ..self }
    }

    /// Allocates side fluxes for the steps of a batch, which one `step_end` launch finishes.
    ///
    /// # Errors
    ///
    /// As [`Transport::new`].
    pub fn keep(&mut self, gpu: &Gpu, steps: usize) -> Result<()> {
        self.side_flux = gpu.zeros(steps * self.side_values)?;
        if self.side_values > 0 {
            self.args.side_flux = self.side_flux.pointer();
        }
        Ok(())
    }

    /// Pointer to the side fluxes that each step of a batch stores.
    ///
    /// # Panics
    ///
    /// When there is no room for so many steps.
    pub(crate) fn side_values(&self, steps: usize) -> usize {
        assert!(self.side_flux.len() >= steps * self.side_values, "room for {steps} steps");
        self.side_values
    }

    /// Launches of a step, with null pointers for the tracers.
    fn launches(&self) -> Vec<TransportLaunch<R>> {
        let nowhere = DevicePointer::default();
        let stages = Stages { start: nowhere, first: nowhere, second: nowhere, end: nowhere };
        self.settings.step(&self.grid, &self.args, &stages, 1.0)
    }

    fn kernel(&self, launch: &TransportLaunch<R>) -> &Kernel {
        let kernel = self.kernels.iter().find(|kernel| kernel.name() == launch.kernel);
        kernel.expect("the kernels of a step are those of this module")
    }

    /// Enables the kernels' marks, which tell the last kernel that began; the memory of `marks` must outlive this
    /// value.
    pub(crate) fn note(&mut self, marks: DevicePointer<u64>) {
        self.args.marks = marks;
    }

    /// Work array for all tracers; its contents are not used from one step to the next.
    pub fn spare(&self) -> &Buffer<R> {
        &self.second
    }

    /// Memory layout of the rows of the tracers and of the fluxes.
    pub fn layout(&self) -> Layout {
        self.layout
    }

    /// Mass of the cells on the device, in that layout.
    pub fn cell_mass(&self) -> LayeredPointers<R> {
        self.args.cell
    }

    /// One step of `dt` seconds of all tracers from `start`, which is not changed, to `end`.
    ///
    /// # Errors
    ///
    /// As [`Transport::new`].
    ///
    /// # Panics
    ///
    /// When the arrays are not in the layout of [`Transport::layout`], or `start` and `end` overlap.
    pub fn step(
        &self,
        wind: &Wind<'_, R>,
        start: &Buffer<R>,
        end: &Buffer<R>,
        dt: f64,
    ) -> Result<()> {
        self.step_in(StepInBatch::ALONE, wind, start, end, dt)
    }

    /// The same for one step of a batch, which keeps the side fluxes of the other steps.
    ///
    /// # Errors
    ///
    /// As [`Transport::new`].
    ///
    /// # Panics
    ///
    /// As [`Transport::step`], and if there is no room for the fluxes that so many steps [`keep`](Transport::keep).
    pub fn step_in(
        &self,
        turn: StepInBatch,
        wind: &Wind<'_, R>,
        start: &Buffer<R>,
        end: &Buffer<R>,
        dt: f64,
    ) -> Result<()> {
        let first = turn.place() * self.side_values(turn.of);
        let Shape { nx, ny, nz } = self.grid.shape;
        let tracers = self.settings.tracers;
        let [x, y, z] = wind.flux;
        assert_eq!(wind.flux.map(Buffer::len), self.layout.faces(), "fluxes through the faces");
        let before = self.before;
        let inflow = wind.inflow.map(|values| {
            let each = 2 * nz * (nx + ny);
            assert!(values.len() >= (before + tracers) * each, "values at the sides");
            values.pointer_to(before * each).read()
        });
        let cells = self.layout.cells();
        for buffer in [start, end] {
            assert!(buffer.len() >= (before + tracers) * cells, "tracers");
        }
        assert_ne!(start.pointer(), end.pointer(), "a step leaves its start alone");
        let air = TransportArgs {
            flux_x: x.pointer().read(),
            flux_y: y.pointer().read(),
            flux_z: z.pointer().read(),
            inflow: inflow.unwrap_or_default(),
            side_flux: self.args.side_flux.offset(first),
            ..self.args
        };
        let [start, end] = [start, end].map(|tracers| tracers.pointer_to(before * cells));
        let stages = Stages { start, first: end, second: self.second.pointer(), end };
        let launches = self.settings.step(&self.grid, &air, &stages, dt);
        let of_part = |part, branch: Branch<'_>| {
            let mut launches = launches.iter().filter(|launch| launch.part == part);
            launches.try_for_each(|launch| self.launch(branch, launch))
        };
        match &self.fork_join {
            Some(streams) => streams.fork_join(self.settings.parts(), of_part),
            None => of_part(0, Branch::TRUNK),
        }
    }

    /// Adds the inflow of the last step, of `dt` seconds, into the region inside the outermost cells.
    /// In a run the kernel that ends the step does it.
    ///
    /// # Errors
    ///
    /// As [`Transport::new`].
    pub fn count_entered(&self, dt: f64) -> Result<()> {
        let launch = self.settings.entering(&self.grid, &self.args, dt);
        launch.map_or(Ok(()), |launch| self.launch(Branch::TRUNK, &launch))
    }

    fn launch(&self, branch: Branch<'_>, launch: &TransportLaunch<R>) -> Result<()> {
        let kernel = self.kernel(launch);
        let shared_bytes = launch.shared_bytes as u32;
        let grid = launch.blocks.map(|blocks| blocks as u32);
        let block = [launch.threads as u32, 1, 1];
        // SAFETY: the kernels take this struct; the lengths of all arrays were checked against the grid when they were
        // passed in or allocated, and memory is freed only after the device is done with it.
        unsafe { kernel.launch_on(branch, Launch { grid, block, shared_bytes }, &launch.args) }
    }

    /// Arguments and number of blocks of the kernel that ends a step of `dt` seconds, for summing the inflow. The
    /// struct points to memory that this value owns.
    pub(crate) fn entering(&self, dt: f64) -> (TransportArgs<R>, u32) {
        let launch = self.settings.entering(&self.grid, &self.args, dt);
        launch.map_or((self.args, 0), |launch| (launch.args, launch.blocks[0] as u32))
    }

    /// Resources of the kernels of a step.
    ///
    /// # Errors
    ///
    /// As [`Transport::new`].
    pub fn resources(&self) -> Result<Vec<Resources>> {
        let launches = self.launches();
        let used = |kernel: &Kernel| {
            let launch = launches.iter().find(|launch| launch.kernel == kernel.name());
            launch.map(|launch| kernel.resources(launch.threads as u32, launch.shared_bytes as u32))
        };
        self.kernels.iter().filter_map(used).collect()
    }

    /// Inflow of all steps into the region inside the outermost cells since the start,
    /// for each tracer, kg; 0 where all sides are periodic. Waits for the device.
    ///
    /// # Errors
    ///
    /// As [`Transport::new`].
    pub fn entered(&self) -> Result<Vec<f64>> {
        Ok(self.entered_of(&self.entered.to_vec()?))
    }

    /// Copies the sums behind [`Transport::entered`] to `words`, from index `first` on.
    ///
    /// # Errors
    ///
    /// As [`Transport::new`].
    ///
    /// # Panics
    ///
    /// When `words` is too short.
    pub fn gather_entered(&self, words: &Buffer<u64>, first: usize) -> Result<()> {
        words.copy_range(first, &self.entered, 0..self.entered.len())
    }

    /// Number of words that [`Transport::gather_entered`] copies.
    pub fn entered_words(&self) -> usize {
        self.entered.len()
    }

    /// The sums of [`Transport::entered`], one for each tracer, kg, from words that [`Transport::gather_entered`]
    /// copied.
    pub fn entered_of(&self, levels: &[f64]) -> Vec<f64> {
        levels.chunks_exact(self.grid.shape.nz).map(|levels| levels.iter().sum()).collect()
    }

    /// For tests: fills with NaN all memory that a step writes before it reads.
    ///
    /// # Errors
    ///
    /// As [`Transport::new`].
    pub fn poison(&self) -> Result<()> {
        self.scratch.iter().chain([&self.side_flux, &self.second]).try_for_each(Buffer::poison)
    }

    /// The sums of the inflow, nz for each tracer, kg. Waits for the device.
    ///
    /// # Errors
    ///
    /// As [`Transport::new`].
    pub fn entered_sums(&self) -> Result<Vec<f64>> {
        self.entered.to_vec()
    }

    /// Restores the sums of the inflow, nz for each tracer, kg.
    ///
    /// # Errors
    ///
    /// As [`Transport::new`].
    ///
    /// # Panics
    ///
    /// When their number is not that of [`Transport::entered_sums`].
    pub fn resume_entered(&self, sums: &[f64]) -> Result<()> {
        self.entered.upload(sums)
    }

    /// Resets the sums of the inflow.
    ///
    /// # Errors
    ///
    /// As [`Transport::new`].
    pub fn forget_entered(&self) -> Result<()> {
        self.entered.clear()
    }
}

impl TuningPoint {
    /// The launch configuration for a number of columns on a device: the measured one, or the built-in one.
    pub fn for_device(gpu: &Gpu, columns: usize, precision: Precision, nz: usize) -> Self {
        tuning::measured(gpu, precision, nz, columns)
            .unwrap_or_else(|| Self::choose(columns, precision))
    }
}

impl TransportSettings {
    /// The settings for `tracers` tracers on a device, of which `unlimited` are never limited.
    pub fn for_device(
        gpu: &Gpu,
        grid: &Grid,
        precision: Precision,
        tracers: [usize; 2],
        limiter: Limiter,
    ) -> Self {
        let Shape { nz, .. } = grid.shape;
        // All parts of a grid have the configuration of the whole, so that a cell has the same roundings in all of them.
        let columns = grid.global().columns();
        // Launch configurations are measured with the tracers of a state.
        let point = TuningPoint::for_many_tracers(columns, tracers[0], precision)
            .unwrap_or_else(|| TuningPoint::for_device(gpu, columns, precision, nz));
        Self::with_tuning(point, gpu, grid, precision, tracers, limiter)
    }

    /// The same with a given launch configuration.
    pub fn with_tuning(
        point: TuningPoint,
        gpu: &Gpu,
        grid: &Grid,
        precision: Precision,
        [tracers, unlimited]: [usize; 2],
        limiter: Limiter,
    ) -> Self {
        let device = gpu.device();
        let limits = DeviceLimits {
            multiprocessors: device.multiprocessors as usize,
            shared_bytes: device.shared_bytes as usize,
        };
        let launch_config = LaunchConfig::of(point, grid, tracers, limits, precision);
        Self { tracers, unlimited, limiter, zero_gradient: false, launch_config }
    }
}
