//! Reductions of an output frame on the device, so that its fields need not be searched on the host.

use std::ops::Range;

use crate::device::structs;
use crate::device::{Buffer, Gpu, Kernel, KernelSource, Launch};
use crate::dry_mass::Outflow;
use crate::dry_mass::gpu::LayeredPointers;
use crate::error::Result;
use crate::gpu::arguments::{ContentsArgs, OutflowArgs};
use crate::grid::gpu::Layout;
use crate::grid::{Shape, Window};
use crate::primitives::gpu::reduce::{Operation, ReduceConfig, Reducer, Reducible, statistics_of};
use crate::primitives::reduce::{Segments, Statistics};
use crate::real::Precision;
use crate::state::gpu::prelude;

/// Threads of a block.
const THREADS: u32 = 128;

/// Threads that fill a multiprocessor.
const FILLING: usize = 1024;

/// The kernels for a precision and a number of levels.
pub fn source(precision: Precision, nz: usize) -> KernelSource {
    let prelude = prelude::grid(precision, nz)
        .with(&structs!(precision; ContentsArgs, OutflowArgs))
        .with_settings(&[("SUMMARY_THREADS", THREADS as i32)]);
    KernelSource::new("summary.cu", prelude)
}

/// The cell with the largest Courant number, from the word that the kernel sets.
pub fn outflow_of(word: u64, shape: Shape) -> Outflow {
    let cell = !(word as u32) as usize;
    let Shape { nx, ny, .. } = shape;
    let rate = f32::from_bits((word >> u32::BITS) as u32);
    Outflow { rate, cell: [cell / (nx * ny), cell / nx % ny, cell % nx] }
}

/// Reductions for the frames of one run.
#[derive(Debug)]
pub struct SummaryKernels<R> {
    layout: Layout,
    contents: Kernel,
    outflow: Kernel,
    reducer: Reducer<R>,
    mass: LayeredPointers<R>,
    area: Buffer<f64>,
    /// Columns in which the outflow is searched for.
    outflow_in: Window,
    /// Threads that share the levels of a column, if columns alone do not fill the device.
    launch_config: usize,
    /// Indices of the species of water in a contiguous state.
    water: Range<usize>,
}

impl<R: Reducible> SummaryKernels<R> {
    /// Compiles the kernels, for states with these species of `water`. `mass` is that of the cells, in rows as in `layout`; `area` is that of their bases, m².
    ///
    /// # Errors
    ///
    /// [`Error::Gpu`](crate::error::Error::Gpu), as all below.
    ///
    /// # Panics
    ///
    /// When the number of areas is not that of columns.
    pub fn new(
        gpu: &Gpu,
        (layout, water): (Layout, Range<usize>),
        mass: LayeredPointers<R>,
        area: &[f64],
    ) -> Result<Self> {
        let shape = layout.shape;
        assert_eq!(area.len(), shape.columns(), "areas of the columns");
        let module = gpu.module(&source(R::KERNEL_PRECISION, shape.nz))?;
        Ok(Self {
            layout,
            contents: module.kernel("summary_contents_acc64")?,
            outflow: module.kernel("summary_outflow_acc64")?,
            // Of segments alone.
            reducer: Reducer::with_shape(gpu, ReduceConfig::long::<R>())?,
            mass: LayeredPointers {
                with_mu: mass.with_mu.offset(layout.first),
                without_mu: mass.without_mu.offset(layout.first),
                ..mass
            },
            area: gpu.upload(area)?,
            outflow_in: Window { rows: 0..shape.ny, columns: 0..shape.nx },
            launch_config: (FILLING * gpu.device().multiprocessors as usize / shape.columns())
                .clamp(1, shape.nz),
            water,
        })
    }

    /// The same with a search for the outflow in a window alone.
    #[must_use]
    pub fn with_outflow_in(self, window: &Window) -> Self {
        Self { outflow_in: window.clone(), ..self }
    }

    /// Words of the statistics of all levels of so many fields.
    pub fn words(shape: Shape, fields: usize) -> usize {
        fields * shape.nz * Operation::Statistics.words()
    }

    /// Device memory, bytes, without small arrays.
    pub fn bytes(shape: Shape) -> usize {
        size_of::<f64>() * shape.columns()
    }

    /// Queues the statistics of every level of the first fields of a contiguous state, (field, k), from the first word
    /// on.
    ///
    /// # Errors
    ///
    /// As [`SummaryKernels::new`].
    ///
    /// # Panics
    ///
    /// When there are fewer fields, or too few words.
    pub fn statistics(&self, state: &Buffer<R>, fields: usize, words: &Buffer<u64>) -> Result<()> {
        let levels = Segments::adjacent(fields * self.layout.shape.nz, self.layout.shape.columns());
        self.reducer.reduce(Operation::Statistics, state, levels, words)
    }

    /// The statistics of some levels of the whole grid, each with its number among `count` of all fields, with the bits that
    /// [`SummaryKernels::statistics`] gives for all of them. Waits for the device.
    ///
    /// # Errors
    ///
    /// As [`SummaryKernels::new`].
    pub fn statistics_apart(
        &self,
        levels: &[(usize, Vec<R>)],
        count: usize,
    ) -> Result<Vec<Statistics<R>>> {
        self.reducer.statistics_apart(levels, count)
    }

    /// The statistics of so many fields from their words.
    pub fn statistics_of(&self, words: &[u64], fields: usize) -> Vec<Statistics<R>> {
        let words = words[..Self::words(self.layout.shape, fields)]
            .chunks_exact(Operation::Statistics.words());
        words.map(statistics_of).collect()
    }

    /// Queues the search for the cell with the largest Courant number; the result is word `at`, which must be 0 before,
    /// see [`outflow_of`]; the place is that in the window of the search.
    ///
    /// # Errors
    ///
    /// As [`SummaryKernels::new`].
    ///
    /// # Panics
    ///
    /// When an array is too short.
    pub fn outflow(&self, flux: [&Buffer<R>; 3], words: &Buffer<u64>, at: usize) -> Result<()> {
        let layout = self.layout;
        assert_eq!(flux.map(Buffer::len), layout.faces(), "faces");
        assert!(at < words.len(), "word {at} of {}", words.len());
        let Window { rows, columns } = &self.outflow_in;
        let before = |pitch: usize| rows.start * pitch + columns.start;
        let (of_faces, of_cells) = (before(layout.face_pitch()), before(layout.pitch()));
        let [x, y, z] = flux.map(|flux| flux.pointer_to(layout.first).read());
        let args = OutflowArgs {
            x: x.offset(of_faces),
            y: y.offset(of_cells),
            z: z.offset(of_cells),
            mass: LayeredPointers {
                with_mu: self.mass.with_mu.offset(of_cells),
                without_mu: self.mass.without_mu.offset(of_cells),
                ..self.mass
            },
            fastest: words.pointer_to(at),
            nx: columns.len() as i32,
            ny: rows.len() as i32,
            pitch: layout.pitch() as i32,
            face_pitch: layout.face_pitch() as i32,
            rows: layout.shape.ny as i32,
            filler: 0,
        };
        let launch = launch_by(self.launch_config, self.outflow_in.shape(1).columns());
        // SAFETY: the lengths were checked; the masses belong to the run.
        unsafe { self.outflow.launch(launch, &args) }
    }

    /// Queues the column contents, (species, j, i), kg m⁻², of a contiguous state, to `out` from element `first` on.
    ///
    /// # Errors
    ///
    /// As [`SummaryKernels::new`].
    ///
    /// # Panics
    ///
    /// When an array is too short.
    pub fn contents(&self, state: &Buffer<R>, out: &Buffer<R>, first: usize) -> Result<()> {
        let Shape { nx, ny, .. } = self.layout.shape;
        let (cells, columns) = (self.layout.shape.cells(), self.layout.shape.columns());
        assert!(state.len() >= self.water.end * cells, "all fields of the state");
        assert!(out.len() >= first + self.water.len() * columns, "room for the planes");
        let args = ContentsArgs {
            water: state.pointer_to(self.water.start * cells).read(),
            mass: self.mass,
            area: self.area.pointer().read(),
            contents: out.pointer_to(first),
            nx: nx as i32,
            ny: ny as i32,
            pitch: self.layout.pitch() as i32,
            filler: 0,
        };
        // SAFETY: as above; this value owns the areas.
        unsafe { self.contents.launch(launch_by(self.water.len(), columns), &args) }
    }
}

/// A launch with `times` threads for each of so many columns.
fn launch_by(times: usize, columns: usize) -> Launch {
    let flat = Launch::flat(columns, THREADS);
    let [blocks, _, _] = flat.grid;
    Launch { grid: [blocks, times as u32, 1], ..flat }
}
