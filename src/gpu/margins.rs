//! Columns of the fields on their way between parts of a grid: packed by messages, and unpacked into margins.

use crate::cuda_abi::DevicePointer;
use crate::device::{Branch, Buffer, Element, Gpu, Kernel, KernelSource, Launch, Prelude, structs};
use crate::error::Result;
use crate::gpu::arguments::MarginArgs;
use crate::grid::Window;
use crate::grid::gpu::Layout;
use crate::real::{Precision, Real};

/// Threads of a block.
const THREADS: u32 = 128;

/// Levels that a thread copies: it reads the place of its column once for all of them.
const LEVELS_EACH: usize = 8;

/// Most blocks of a launch along y.
const MOST_ACROSS: usize = 65_535;

/// The kernels for a precision.
pub fn source(precision: Precision) -> KernelSource {
    let prelude = Prelude::new(precision)
        .with(&structs!(precision; MarginArgs))
        .with_settings(&[("MARGIN_THREADS", THREADS as i32)]);
    KernelSource::new("margins.cu", prelude)
}

/// Columns of a grid, in the order of the messages that they make: of a message one level of a field after the other, and
/// of a level the columns of its windows.
#[derive(Debug)]
pub struct PackedColumns {
    /// Tables for the kernels; see [`MarginArgs`].
    starts: Buffer<u64>,
    places: Buffer<i32>,
    counts: Buffer<i32>,
    columns: usize,
    /// Elements before the packed columns, and behind them.
    elements: [usize; 2],
}

impl PackedColumns {
    /// The columns of windows of a grid, a list for each message, behind so many elements; `levels` are those of all
    /// fields.
    ///
    /// # Errors
    ///
    /// [`Error::Gpu`](crate::error::Error::Gpu), as all below.
    pub fn new(
        gpu: &Gpu,
        (layout, levels): (Layout, usize),
        before: usize,
        messages: &[Vec<Window>],
    ) -> Result<Self> {
        let (mut starts, mut places, mut counts) = (Vec::new(), Vec::new(), Vec::new());
        let mut first = before;
        for windows in messages {
            let count = columns_of(windows);
            let at = windows.iter().flat_map(|window| {
                let columns = layout.places(window.columns.clone());
                let row = move |j: usize| columns.clone().map(move |i| j * layout.pitch() + i);
                window.rows.clone().flat_map(row)
            });
            places.extend(at.map(|place| place as i32));
            starts.extend((first..first + count).map(|start| start as u64));
            counts.resize(places.len(), count as i32);
            first += count * levels;
        }
        Ok(Self {
            starts: gpu.upload(&starts)?,
            places: gpu.upload(&places)?,
            counts: gpu.upload(&counts)?,
            columns: places.len(),
            elements: [before, first],
        })
    }

    /// Elements before the packed columns and up to their end.
    pub fn elements(&self) -> [usize; 2] {
        self.elements
    }
}

/// Number of columns of windows.
pub fn columns_of(windows: &[Window]) -> usize {
    windows.iter().map(|window| window.shape(1).columns()).sum()
}

/// Packs columns of the fields and unpacks them.
#[derive(Debug)]
pub struct MarginKernels {
    pack: Kernel,
    unpack: Kernel,
    layout: Layout,
    /// Levels of all fields.
    levels: usize,
}

impl MarginKernels {
    /// Compiles the kernels for fields with so many levels together.
    ///
    /// # Errors
    ///
    /// [`Error::Gpu`](crate::error::Error::Gpu), as all below.
    pub fn new<R: Real>(gpu: &Gpu, layout: Layout, levels: usize) -> Result<Self> {
        let module = gpu.module(&source(R::PRECISION))?;
        let [pack, unpack] = ["margins_pack", "margins_unpack"].map(|name| module.kernel(name));
        Ok(Self { pack: pack?, unpack: unpack?, layout, levels })
    }

    /// Queues in a branch the copy of columns of the fields to their places among the packed ones.
    ///
    /// # Errors
    ///
    /// As [`MarginKernels::new`].
    ///
    /// # Panics
    ///
    /// When an array is too short.
    pub fn pack<R: Real + Element>(
        &self,
        branch: Branch<'_>,
        fields: &Buffer<R>,
        (columns, packed): (&PackedColumns, &Buffer<u8>),
    ) -> Result<()> {
        self.launch(&self.pack, branch, fields, (columns, packed))
    }

    /// Queues in a branch the copy of packed columns to the fields.
    ///
    /// # Errors
    ///
    /// As [`MarginKernels::new`].
    ///
    /// # Panics
    ///
    /// When an array is too short.
    pub fn unpack<R: Real + Element>(
        &self,
        branch: Branch<'_>,
        fields: &Buffer<R>,
        (columns, packed): (&PackedColumns, &Buffer<u8>),
    ) -> Result<()> {
        self.launch(&self.unpack, branch, fields, (columns, packed))
    }

    fn launch<R: Real + Element>(
        &self,
        kernel: &Kernel,
        branch: Branch<'_>,
        fields: &Buffer<R>,
        (columns, packed): (&PackedColumns, &Buffer<u8>),
    ) -> Result<()> {
        let PackedColumns { starts, places, counts, columns, elements: [_, end] } = columns;
        assert!(fields.len() * self.layout.shape.nz >= self.levels * self.layout.cells(), "fields");
        assert!(packed.len() >= end * size_of::<R>(), "room for the packed columns");
        if *columns == 0 {
            return Ok(());
        }
        let args = MarginArgs {
            fields: fields.pointer(),
            packed: DevicePointer::new(packed.pointer().address()),
            starts: starts.pointer().read(),
            places: places.pointer().read(),
            counts: counts.pointer().read(),
            plane: self.layout.columns() as i64,
            columns: *columns as i32,
            levels: self.levels as i32,
        };
        let flat = Launch::flat(*columns, THREADS);
        let across = self.levels.div_ceil(LEVELS_EACH).min(MOST_ACROSS) as u32;
        let launch = Launch { grid: [flat.grid[0], across, 1], ..flat };
        // SAFETY: the kernels take this struct; the lengths were checked, and the tables are of columns of the grid.
        unsafe { kernel.launch_on(branch, launch, &args) }
    }
}
