//! The air of a run on the device as the chemistry of its cells sees it, and the species back in their fields.

use ndarray::Array3;

use super::coupling_arguments::CouplingArgs;
use super::declarations::Declarations;
use super::{CellsOnDevice, Integrator, Mapping, Plan, STEPS, memory_estimate};
use crate::chemistry::cells::{Cells, Settings};
use crate::chemistry::coupled::{Coupled, FixedSource, Light};
use crate::chemistry::coupling::constants as coupling_constants;
use crate::chemistry::rosenbrock::Status;
use crate::chemistry::zenith::Sun;
use crate::constants::Constants;
use crate::device::{Buffer, Element, Gpu, Kernel, KernelSource, Launch, Prelude};
use crate::dry_mass::gpu::LayeredPointers;
use crate::error::Result;
use crate::grid::Window;
use crate::grid::gpu::Layout;
use crate::real::{Precision, Real};

/// Threads of a block.
const THREADS: u32 = 256;
/// Blocks that share the cells where something is added up.
const SUM_BLOCKS: usize = 64;

/// Origins of fixed species and of quantities, in the place of the number of a field.
const OF_AIR: i32 = -1;
const OF_OXYGEN: i32 = -2;
const OF_NITROGEN: i32 = -3;
const OF_WATER: i32 = -4;
const OF_HUMIDITY: i32 = -5;

/// Values that are kept of a column, see `where_columns_are`, and parameters of a photolysis frequency under a clear
/// sky.
const COLUMN_VALUES: usize = 3;
/// See [`COLUMN_VALUES`].
const SKY_VALUES: usize = 3;

/// Words of the tally on the device: steps, most steps of a cell, cells that failed, the first of them.
const TALLY: usize = 4;

/// The kernels for a precision.
pub fn source(precision: Precision) -> KernelSource {
    let mut text = Declarations::default();
    text.functions();
    text.named_numbers(coupling_constants());
    let smallest = match precision {
        Precision::F32 => f64::from(f32::MIN_POSITIVE),
        Precision::F64 => f64::MIN_POSITIVE,
    };
    text.number("SMALLEST_REAL", smallest);
    text.number("THETA_BASE", <f64 as Constants>::THETA_BASE);
    for (name, value) in [
        ("SUM_THREADS", THREADS as i32),
        ("STATUS_SUCCESS", Status::SUCCESS.0),
        ("STEPS", STEPS as i32),
        ("OF_OXYGEN", OF_OXYGEN),
        ("OF_NITROGEN", OF_NITROGEN),
        ("OF_WATER", OF_WATER),
        ("OF_HUMIDITY", OF_HUMIDITY),
        ("TALLY_STEPS", 0),
        ("TALLY_MOST", 1),
        ("TALLY_FAILED", 2),
        ("TALLY_FIRST", 3),
    ] {
        text.whole(name, value);
    }
    let prelude = Prelude::new(precision)
        .with(&crate::device::structs!(precision; LayeredPointers, CouplingArgs))
        .with(&text.0);
    KernelSource { is_exact: true, ..KernelSource::new("chemistry/coupling.cu", prelude) }
}

/// A mechanism at work on the fields of a run.
#[derive(Debug)]
pub(crate) struct Coupling<R> {
    light: Kernel,
    gather: Kernel,
    scatter: Kernel,
    tally: Kernel,
    integrator: Integrator,
    cells: CellsOnDevice,
    args: CouplingArgs<R>,
    columns: usize,
    species: usize,
    sums: Buffer<f64>,
    words: Buffer<u64>,
    /// Photolysis frequencies of the frames of the input, where these give the light: of one that holds, or of two.
    frames: Vec<Buffer<R>>,
    /// Arrays whose pointers the arguments hold.
    _tables: CouplingTables,
}

/// Arrays that a coupling makes once.
#[derive(Debug)]
struct CouplingTables {
    /// Places of the species among the fields on the device.
    places: Buffer<i32>,
    /// Values of the columns, see [`where_columns_are`].
    columns: Buffer<f64>,
    /// Parameters of the photolysis frequencies under a clear sky, where these give the light.
    skies: Option<Buffer<f64>>,
    /// Photolysis frequencies of every column, and its local time, s.
    daylight: Buffer<f64>,
}

/// A grid on the device, and its columns that have chemistry.
pub(crate) struct ReactingGrid<'a> {
    pub(crate) layout: Layout,
    /// Columns that have chemistry.
    pub(crate) reacting: &'a Window,
    /// Columns of the budgets.
    pub(crate) inner: &'a Window,
}

/// Tally on the device since the sums were set.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct DeviceTally {
    /// Steps of all cells.
    pub(crate) steps: u64,
    /// Most steps of a cell in a call.
    pub(crate) most: u64,
    /// Cells that failed.
    pub(crate) failed: u64,
    /// Number among the cells of the first that failed, and its status.
    pub(crate) first: Option<(usize, i32)>,
}

/// Photolysis frequencies of a clear sky on the device, three numbers each; `None` with frequencies of the input.
fn clear_skies(gpu: &Gpu, coupled: &Coupled) -> Result<Option<Buffer<f64>>> {
    let Light::ClearSky(skies) = &coupled.light else { return Ok(None) };
    let values = skies.iter().flat_map(|sky| [sky.amplitude, sky.power, sky.depth]);
    gpu.upload(&values.collect::<Vec<f64>>()).map(Some)
}

impl<R: Real + Element> Coupling<R> {
    /// Compiles the kernels and takes the memory; several frames of the input follow one another where it has a
    /// sequence. `place` is the place of a field of the state among those on the device.
    pub(crate) fn new(
        gpu: &Gpu,
        (coupled, has_sequence): (&Coupled, bool),
        ReactingGrid { layout, reacting, inner }: ReactingGrid<'_>,
        mass: LayeredPointers<R>,
        place: &dyn Fn(usize) -> usize,
    ) -> Result<Self> {
        let kinetics = &coupled.kinetics;
        let count = reacting.shape(layout.shape.nz).cells();
        let integrator = Integrator::new(gpu, kinetics, plan(gpu, coupled, count)?)?;
        let module = gpu.module(&source(R::PRECISION))?;

        let (variables, fixed) = (kinetics.variables(), kinetics.fixed.len());
        let frequencies = coupled.mechanism.photolysis.len();
        let quantities = coupled.mechanism.quantities.len();
        let zeros = |each: usize| vec![0.0; each * count];
        let cells = integrator.upload(&Cells {
            variable: zeros(variables),
            fixed: zeros(fixed),
            temperature: zeros(1),
            air_factor: zeros(1),
            air_density: zeros(1),
            hydrolysis: zeros(1),
            photolysis: zeros(frequencies),
            quantities: zeros(quantities),
            start: zeros(1),
            first_step: if coupled.keeps_steps { zeros(1) } else { Vec::new() },
        })?;
        let frames = (0..frames(coupled, has_sequence))
            .map(|_| gpu.zeros(frequencies * layout.cells()))
            .collect::<Result<Vec<Buffer<R>>>>()?;
        let lit = |buffer: Option<&Buffer<R>>| buffer.map(|buffer| buffer.pointer().read());
        let [before, after] = [frames.first(), frames.last()].map(|x| lit(x).unwrap_or_default());
        let tables = CouplingTables {
            places: gpu.upload(&places(coupled, place))?,
            columns: gpu.upload(&where_columns_are(coupled, layout))?,
            skies: clear_skies(gpu, coupled)?,
            daylight: gpu.zeros((frequencies + 1) * layout.columns())?,
        };
        let sums = gpu.zeros(variables * 2 * SUM_BLOCKS)?;
        let words: Buffer<u64> = gpu.zeros(TALLY)?;
        let bounds = |Window { rows, columns }: &Window| {
            let columns = layout.places(columns.clone());
            [rows.start, rows.end, columns.start, columns.end].map(|place| place as i32)
        };
        let [first_row, end_row, first_column, end_column] = bounds(reacting);
        let [temperature, air_factor, air_density, hydrolysis, start] =
            cells.conditions.each_ref().map(Buffer::pointer);
        let args = CouplingArgs {
            mass,
            places: tables.places.pointer().read(),
            columns: tables.columns.pointer().read(),
            skies: tables.skies.as_ref().map(|skies| skies.pointer().read()).unwrap_or_default(),
            light_before: before,
            light_after: after,
            daylight: tables.daylight.pointer(),
            variable: cells.variable.pointer(),
            fixed: cells.fixed.pointer(),
            temperature,
            air_factor,
            air_density,
            hydrolysis,
            photolysis: cells.photolysis.pointer(),
            quantities: cells.quantities.pointer(),
            start,
            status: cells.status.pointer().read(),
            counters: cells.counters.pointer().read(),
            next_steps: cells.times.pointer_to(2 * count).read(),
            first_steps: cells.first_steps.as_ref().map(Buffer::pointer).unwrap_or_default(),
            sums: sums.pointer(),
            tally: words.pointer(),
            cells: count as i64,
            field: layout.cells() as i64,
            plane: layout.columns() as i32,
            pitch: layout.pitch() as i32,
            first_row,
            end_row,
            first_column,
            end_column,
            inner: bounds(inner),
            frequencies: frequencies as i32,
            variables: variables as i32,
            fixed_species: fixed as i32,
            named_quantities: quantities as i32,
            temperature_field: place(0) as i32,
            vapour: place(1) as i32,
            ..CouplingArgs::default()
        };
        let coupling = Self {
            light: module.kernel("coupling_light")?,
            gather: module.kernel("coupling_gather")?,
            scatter: module.kernel("coupling_scatter_acc64")?,
            tally: module.kernel("coupling_tally_acc64")?,
            integrator,
            cells,
            args,
            columns: layout.columns(),
            species: variables,
            sums,
            words,
            frames,
            _tables: tables,
        };
        coupling.resume(&[])?;
        Ok(coupling)
    }

    /// Most bytes of device memory that it takes for so many cells.
    pub(crate) fn bytes(
        gpu: &Gpu,
        (coupled, has_sequence): (&Coupled, bool),
        layout: Layout,
        cells: usize,
    ) -> Result<usize> {
        let (kinetics, frequencies) = (&coupled.kinetics, coupled.mechanism.photolysis.len());
        let plan = plan(gpu, coupled, cells)?;
        let integration =
            memory_estimate::bytes(gpu.device(), (kinetics, &plan), [cells, frequencies]);
        let (variables, plane) = (kinetics.variables(), layout.columns());
        let (of_columns, of_skies) = (COLUMN_VALUES * plane, SKY_VALUES * frequencies);
        let doubles = of_columns + of_skies + (frequencies + 1) * plane;
        let first_steps = if coupled.keeps_steps { cells } else { 0 };
        let sums = variables * 2 * SUM_BLOCKS + TALLY + first_steps;
        let given = kinetics.fixed.len() + coupled.mechanism.quantities.len();
        let places = (variables + given) * size_of::<i32>();
        let light = frames(coupled, has_sequence) * frequencies * layout.cells() * size_of::<R>();
        Ok(integration + (doubles + sums) * size_of::<f64>() + places + light)
    }

    /// Number of cells.
    pub(crate) fn cells(&self) -> usize {
        self.args.cells as usize
    }

    /// Copies the photolysis frequencies (s⁻¹) of the frames before and after, where the input gives the light.
    pub(crate) fn upload_photolysis(&self, layout: Layout, light: [&[Array3<R>]; 2]) -> Result<()> {
        for (buffer, fields) in self.frames.iter().zip(light) {
            assert_eq!(fields.len() * layout.cells(), buffer.len(), "a field for each frequency");
            for (number, field) in fields.iter().enumerate() {
                let places = layout.padded(field.as_slice().expect("standard layout"));
                buffer.upload_to(number * places.len(), &places)?;
            }
        }
        Ok(())
    }

    /// Asks for the chemistry of `tracers` over `interval` seconds in an air, with the sun, and with the weight of the
    /// later frame of the input where that gives the light, 0 to 1; `call` counts.
    pub(crate) fn react(
        &self,
        (tracers, air): (&Buffer<R>, &Buffer<R>),
        (coupled, interval): (&Coupled, f64),
        (sun, later): (Sun, f64),
        call: u64,
    ) -> Result<()> {
        let args = CouplingArgs {
            tracers: tracers.pointer(),
            air: air.pointer().read(),
            later,
            declination: sun.declination,
            clock: sun.clock,
            call,
            ..self.args
        };
        let settings = coupled.settings(interval);
        let launch = |count: usize| Launch::flat(count, THREADS);
        let summing = |rows: usize| Launch::new([SUM_BLOCKS as u32, rows as u32], THREADS);
        // SAFETY: the arrays have the lengths that the mechanism, the layout and the number of cells say, and live as
        // long as this does, or longer.
        unsafe {
            self.light.launch(launch(self.columns), &args)?;
            self.gather.launch(launch(self.cells()), &args)?;
        }
        self.integrator.integrate(&self.cells, &settings)?;
        // SAFETY: as above.
        unsafe {
            self.scatter.launch(summing(self.species), &args)?;
            self.tally.launch(summing(1), &args)
        }
    }

    /// Changes of each variable species by reactions and by clipping, kg of dry air times ppmv. Waits for the device.
    pub(crate) fn changes(&self) -> Result<Vec<[f64; 2]>> {
        let sums = self.sums.to_vec()?;
        let total = |sums: &[f64]| sums.iter().sum::<f64>();
        let of_species = sums.chunks_exact(2 * SUM_BLOCKS);
        Ok(of_species.map(|two| [total(&two[..SUM_BLOCKS]), total(&two[SUM_BLOCKS..])]).collect())
    }

    /// Tally of all calls. Waits for the device.
    pub(crate) fn done(&self) -> Result<DeviceTally> {
        let words = self.words.to_vec()?;
        let first = (words[2] > 0).then(|| {
            let cell = (words[3] >> 8) & ((1 << 32) - 1);
            (cell as usize, -((words[3] & 0xff) as i32))
        });
        Ok(DeviceTally { steps: words[0], most: words[1], failed: words[2], first })
    }

    /// First steps of the cells' next calls, s; empty where they are the same in every call. Waits for the device.
    pub(crate) fn first_steps(&self) -> Result<Vec<f64>> {
        self.cells.first_steps.as_ref().map_or_else(|| Ok(Vec::new()), Buffer::to_vec)
    }

    /// Sets them; those of a run that had none begin as in the first call.
    pub(crate) fn set_first_steps(&self, steps: &[f64]) -> Result<()> {
        match &self.cells.first_steps {
            Some(buffer) if steps.len() == buffer.len() => buffer.upload(steps),
            Some(buffer) => buffer.clear(),
            None => Ok(()),
        }
    }

    /// Sets the sums of the changes, which `changes` are where there are any, and nothing done.
    pub(crate) fn resume(&self, changes: &[[f64; 2]]) -> Result<()> {
        let mut sums = vec![0.0; self.sums.len()];
        for (sums, change) in sums.chunks_exact_mut(SUM_BLOCKS).zip(changes.iter().flatten()) {
            sums[0] = *change;
        }
        self.sums.upload(&sums)?;
        self.words.upload(&[0, 0, 0, u64::MAX])
    }
}

/// Choices of the integration.
fn plan(gpu: &Gpu, coupled: &Coupled, cells: usize) -> Result<Plan> {
    let Settings { method, rates, .. } = coupled.settings(1.0);
    let form = Mapping::Auto.form_on(gpu, &coupled.kinetics, cells)?;
    Ok(Plan { method, rates, form })
}

/// Frames of the input whose light is held at a time.
fn frames(coupled: &Coupled, has_sequence: bool) -> usize {
    match coupled.light {
        Light::Prescribed if !coupled.mechanism.photolysis.is_empty() => {
            1 + usize::from(has_sequence)
        }
        _ => 0,
    }
}

/// Places of the variable species among the fields, and origins of the fixed ones and of the quantities that rates name.
fn places(coupled: &Coupled, place: &dyn Fn(usize) -> usize) -> Vec<i32> {
    let variable = coupled.variable().into_iter().map(|field| place(field) as i32);
    let given = coupled.fixed().into_iter().chain(coupled.quantities());
    let given = given.map(|given| match given {
        FixedSource::Air => OF_AIR,
        FixedSource::Oxygen => OF_OXYGEN,
        FixedSource::Nitrogen => OF_NITROGEN,
        FixedSource::Water => OF_WATER,
        FixedSource::Humidity => OF_HUMIDITY,
        FixedSource::Field(field) => place(field) as i32,
    });
    variable.chain(given).collect()
}

/// Sine and cosine of the latitude, and the clock by the longitude, of every place of a plane.
fn where_columns_are(coupled: &Coupled, layout: Layout) -> Vec<f64> {
    let (ny, nx) = (layout.shape.ny, layout.shape.nx);
    let plane = |value: &dyn Fn([usize; 2]) -> f64| -> Vec<f64> {
        let values: Vec<f64> =
            (0..ny).flat_map(|j| (0..nx).map(move |i| [j, i])).map(value).collect();
        layout.padded(&values).into_owned()
    };
    let [latitude, longitude] = &coupled.place;
    let phi = |column: [usize; 2]| latitude.of(column).to_radians();
    [
        plane(&|column| phi(column).sin()),
        plane(&|column| phi(column).cos()),
        plane(&|column| Sun::shift(longitude.of(column))),
    ]
    .concat()
}
