//! Sparse matrices on the device and their products with vectors, by the kernel that suits their rows.

mod rung;

pub use rung::Rung;
use rung::{Rows, SHORT_ROW};

use crate::cuda_abi::DevicePointer;
use crate::device::structs;
use crate::device::{
    Buffer, Element, ForeignKernel, ForeignLibrary, ForeignTask, Gpu, Kernel, KernelSource, Launch,
    Prelude, WARP,
};
use crate::error::{Error, Result};
use crate::primitives::csr::Csr;
use crate::primitives::gpu::arguments::CsrArgs;
use crate::primitives::row_tiles::RowTiles;
use crate::real::{Precision, Real};

/// Entries that a thread reads with one instruction.
const AT_A_TIME: usize = 4;
/// Words of the description of a tile or a cut.
const WORDS: usize = 4;
/// Rows of a tile for each thread, if rows are short or empty.
const ROWS_OF_A_THREAD: usize = 4;
/// Margin of 32-bit row and entry numbers, which a block may count beyond the last.
const BEYOND: usize = 1 << 16;
/// The kernel that adds up the pieces of rows.
const JOIN: &str = "csr_join";
/// Right-hand sides of one launch, for which sums of pieces have memory.
const MOST_SIDES: usize = 64;

/// Rounds of a thread in a tile for which its registers suffice when all blocks are resident.
fn full_rounds(precision: Precision) -> usize {
    match precision {
        Precision::F32 => 2,
        Precision::F64 => 1,
    }
}

/// Compile-time settings of the kernels.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CsrConfig {
    /// Threads of the blocks of the lower rungs.
    pub threads: u32,
    /// Products that a block of [`Rung::Cached`] keeps.
    pub cache: usize,
    /// Threads of a block for a tile.
    pub tile_threads: u32,
    /// Rounds of a thread in a tile, each with four entries.
    pub tile_rounds: usize,
    /// Launch bounds of the tile kernel: blocks of a multiprocessor.
    pub tile_resident: u32,
    /// Right-hand sides that share one reading of the entries.
    pub sides: usize,
    /// Entries for each lane above which the whole warp adds up a row.
    pub long_row: usize,
    /// `true` if products with one vector are computed during the addition, not when entries are read.
    pub gather_late: bool,
}

impl CsrConfig {
    /// Settings for most matrices, as measured on an H200.
    pub fn usual(precision: Precision) -> Self {
        let tile_resident = match precision {
            Precision::F32 => 6,
            Precision::F64 => 4,
        };
        Self {
            threads: 256,
            cache: 1024,
            tile_threads: 256,
            tile_rounds: 2,
            tile_resident,
            sides: 4,
            long_row: 32,
            gather_late: false,
        }
    }

    /// Settings for a stencil: products at the addition, and blocks that fill a multiprocessor.
    pub fn stencil(precision: Precision) -> Self {
        let tile_rounds = full_rounds(precision);
        Self { tile_rounds, tile_resident: 8, gather_late: true, ..Self::usual(precision) }
    }

    /// Settings for a matrix with these starts of rows; large tiles if the rows differ in length.
    pub(crate) fn suited(precision: Precision, starts: &[usize]) -> Self {
        let usual = Self::usual(precision);
        match Rows::of(starts) {
            Rows { is_stencil: true, .. } => Self::stencil(precision),
            Rows { is_even: true, .. } => usual,
            _ => {
                let tile_rounds = full_rounds(precision);
                Self { tile_threads: 512, tile_rounds, tile_resident: 4, ..usual }
            }
        }
    }

    /// Shared memory of a block for a tile, bytes.
    pub fn shared_bytes(&self, precision: Precision) -> usize {
        let size = precision.bytes() + if self.gather_late { size_of::<i32>() } else { 0 };
        self.tile_threads as usize * self.tile_rounds * AT_A_TIME * size
    }

    /// The tiles of a matrix with these starts of rows.
    pub fn tiles(&self, starts: &[usize]) -> RowTiles {
        let capacity = self.tile_threads as usize * self.tile_rounds * AT_A_TIME;
        RowTiles::new(starts, capacity, ROWS_OF_A_THREAD * self.tile_threads as usize)
    }

    /// The kernels.
    pub fn source(&self, precision: Precision) -> KernelSource {
        let settings = [
            ("CSR_THREADS", self.threads as i32),
            ("CSR_CACHE", self.cache as i32),
            ("TILE_THREADS", self.tile_threads as i32),
            ("TILE_ROUNDS", self.tile_rounds as i32),
            ("TILE_RESIDENT", self.tile_resident as i32),
            ("CSR_SIDES", self.sides as i32),
            ("LONG_ROW", self.long_row as i32),
            ("SHORT_ROW", SHORT_ROW as i32),
            ("GATHER_LATE", i32::from(self.gather_late)),
            ("CUT_WORDS", WORDS as i32),
            ("CSR_TILE_BYTES", self.shared_bytes(precision) as i32),
        ];
        let arguments = structs!(precision; CsrArgs);
        let prelude = Prelude::new(precision).with(&arguments).with_settings(&settings);
        KernelSource::new("primitives/csr.cu", prelude).exactly()
    }

    /// Launches of a rung, in order: kernel, blocks in x and y, threads of a block.
    pub fn launches(&self, rung: Rung, size: Size) -> Vec<(&'static str, [usize; 2], u32)> {
        let Size { rows, tiles, cut_rows, long_rows, sides } = size;
        let of_rows = |rows: usize| (rows * rung.lanes()).div_ceil(self.threads as usize);
        let kernel = rung.kernel(sides);
        if rung == Rung::Bins {
            let blocks = (long_rows * WARP).div_ceil(self.threads as usize) + of_rows(rows);
            return vec![(kernel, [blocks, sides], self.threads)];
        }
        if rung != Rung::Tiles {
            return vec![(kernel, [of_rows(rows), sides], self.threads)];
        }
        let groups = if sides == 1 { 1 } else { sides.div_ceil(self.sides) };
        let mut launches = vec![(kernel, [tiles, groups], self.tile_threads)];
        if cut_rows > 0 {
            let blocks = (cut_rows * WARP).div_ceil(self.threads as usize);
            launches.push((JOIN, [blocks, sides], self.threads));
        }
        launches
    }
}

/// Counts that determine the numbers of blocks.
#[derive(Clone, Copy, Debug)]
pub struct Size {
    /// Rows of the matrix.
    pub rows: usize,
    /// Tiles of the matrix.
    pub tiles: usize,
    /// Rows that are cut into pieces.
    pub cut_rows: usize,
    /// Rows that are too long for one thread.
    pub long_rows: usize,
    /// Right-hand sides.
    pub sides: usize,
}

/// The arrays of a matrix in the form of the kernels.
#[derive(Clone, Debug)]
pub struct Arrays<R> {
    /// Starts of the rows.
    pub starts: Vec<i32>,
    /// Columns, padded with zeros.
    pub columns: Vec<i32>,
    /// Values, as many as columns, padded with zeros.
    pub values: Vec<R>,
    /// The tiles.
    pub tiles: RowTiles,
    /// Rows that are too long for one thread.
    pub long_rows: Vec<i32>,
}

impl<R: Real> Arrays<R> {
    /// The arrays of a matrix for kernels with these settings.
    ///
    /// # Errors
    ///
    /// [`Error::Gpu`] when rows, columns or entries exceed the range of 32-bit numbers.
    pub fn new(matrix: &Csr<R>, shape: CsrConfig) -> Result<Self> {
        let (rows, columns, entries) = (matrix.rows(), matrix.columns(), matrix.nonzeros());
        let filled = entries.next_multiple_of(AT_A_TIME);
        if i32::try_from(rows.max(columns).max(filled) + BEYOND).is_err() {
            return Err(Error::Gpu(format!(
                "a sparse matrix of {rows} x {columns} with {entries} entries is too large for \
                 the 32-bit indices of its kernels; split it by rows"
            )));
        }
        let mut column_of: Vec<i32> = matrix.column_of().iter().map(|&c| c as i32).collect();
        column_of.resize(filled, 0);
        let mut values = matrix.values().to_vec();
        values.resize(filled, R::ZERO);
        Ok(Self {
            starts: matrix.starts().iter().map(|&start| start as i32).collect(),
            columns: column_of,
            values,
            tiles: shape.tiles(matrix.starts()),
            long_rows: (0..rows as i32)
                .zip(matrix.starts().windows(2))
                .filter(|(_, ends)| ends[1] - ends[0] > SHORT_ROW)
                .map(|(row, _)| row)
                .collect(),
        })
    }
}

/// A sparse matrix on the device.
#[derive(Debug)]
pub struct DeviceCsr<R> {
    shape: CsrConfig,
    kernels: Vec<Kernel>,
    size: Size,
    columns: usize,
    /// The fastest rungs for one vector and for several.
    fastest: [Rung; 2],
    held: Held<R>,
    args: CsrArgs<R>,
}

/// Memory behind the pointers of the arguments.
#[derive(Debug)]
struct Held<R> {
    starts: Buffer<i32>,
    columns: Buffer<i32>,
    values: Buffer<R>,
    tiles: Buffer<i32>,
    cuts: Buffer<i32>,
    long_rows: Buffer<i32>,
    partials: Buffer<R>,
}

impl<R: Real + Element> DeviceCsr<R> {
    /// Copies a matrix to the device, with the list of its tiles.
    ///
    /// # Errors
    ///
    /// [`Error::Gpu`], as all below, and when the matrix exceeds the range of 32-bit numbers.
    pub fn new(gpu: &Gpu, matrix: &Csr<R>) -> Result<Self> {
        Self::with(gpu, matrix, CsrConfig::suited(R::PRECISION, matrix.starts()))
    }

    /// The same for kernels with given settings.
    ///
    /// # Errors
    ///
    /// As [`DeviceCsr::new`].
    pub fn with(gpu: &Gpu, matrix: &Csr<R>, shape: CsrConfig) -> Result<Self> {
        let arrays = Arrays::new(matrix, shape)?;
        let module = gpu.module(&shape.source(R::PRECISION))?;
        let others = [Rung::Tiles.kernel(MOST_SIDES), JOIN];
        let names = Rung::ALL.map(|rung| rung.kernel(1)).into_iter().chain(others);
        let kernels = names
            .map(|name| Ok(module.kernel(name)?.waiting_by_itself()))
            .collect::<Result<_>>()?;
        let RowTiles { tiles, cuts } = &arrays.tiles;
        let pieces = arrays.tiles.pieces();
        let held = Held {
            starts: gpu.upload(&arrays.starts)?,
            columns: gpu.upload(&arrays.columns)?,
            values: gpu.upload(&arrays.values)?,
            tiles: gpu.upload(tiles.as_flattened())?,
            cuts: gpu.upload(cuts.as_flattened())?,
            long_rows: gpu.upload(&arrays.long_rows)?,
            partials: gpu.zeros(MOST_SIDES * pieces)?,
        };
        let args = CsrArgs {
            starts: held.starts.pointer().read(),
            columns: held.columns.pointer().read(),
            values: held.values.pointer().read(),
            tiles: held.tiles.pointer().read(),
            cuts: held.cuts.pointer().read(),
            long_rows: held.long_rows.pointer().read(),
            partials: held.partials.pointer(),
            x_stride: matrix.columns() as i64,
            y_stride: matrix.rows() as i64,
            rows: matrix.rows() as i32,
            sides: 1,
            pieces: pieces as i32,
            cut_rows: cuts.len() as i32,
            long_count: arrays.long_rows.len() as i32,
            ..CsrArgs::default()
        };
        let size = Size {
            rows: matrix.rows(),
            tiles: tiles.len(),
            cut_rows: cuts.len(),
            long_rows: arrays.long_rows.len(),
            sides: 1,
        };
        Ok(Self {
            shape,
            kernels,
            size,
            columns: matrix.columns(),
            fastest: [1, 2].map(|sides| Rung::choose(R::PRECISION, matrix.starts(), sides)),
            held,
            args,
        })
    }

    /// Number of rows.
    pub fn rows(&self) -> usize {
        self.size.rows
    }

    /// Number of columns.
    pub fn columns(&self) -> usize {
        self.columns
    }

    /// The fastest rung for so many vectors.
    pub fn fastest(&self, vectors: usize) -> Rung {
        self.fastest[usize::from(vectors > 1)]
    }

    /// Bytes that a product with one vector moves at least: each array once.
    pub fn bytes(matrix: &Csr<R>) -> usize {
        let real = size_of::<R>();
        let vectors = real * (matrix.rows() + matrix.columns());
        matrix.nonzeros() * (4 + real) + 4 * (matrix.rows() + 1) + vectors
    }

    /// The product with a vector, `y = A x`, by the fastest rung.
    ///
    /// Every row is added in an order that depends on the matrix alone, so that the bits are reproducible; the error is
    /// at most `n u Σ|a x|` for n entries in the row.
    ///
    /// # Errors
    ///
    /// As [`DeviceCsr::new`].
    ///
    /// # Panics
    ///
    /// When the vectors do not have the lengths of a row and of a column, or are the same.
    pub fn multiply(&self, x: &Buffer<R>, y: &Buffer<R>) -> Result<()> {
        self.multiply_by(self.fastest(1), x, y, 1)
    }

    /// Products with several contiguous vectors.
    ///
    /// # Errors
    ///
    /// As [`DeviceCsr::new`].
    ///
    /// # Panics
    ///
    /// When the lengths are not equal multiples of those of a row and of a column.
    pub fn multiply_several(&self, x: &Buffer<R>, y: &Buffer<R>, vectors: usize) -> Result<()> {
        self.multiply_by(self.fastest(vectors), x, y, vectors)
    }

    /// The products by a given rung.
    ///
    /// # Errors
    ///
    /// As [`DeviceCsr::new`].
    ///
    /// # Panics
    ///
    /// As [`DeviceCsr::multiply_several`].
    pub fn multiply_by(
        &self,
        rung: Rung,
        x: &Buffer<R>,
        y: &Buffer<R>,
        vectors: usize,
    ) -> Result<()> {
        let (rows, columns) = (self.size.rows, self.columns);
        let lengths = [columns * vectors, rows * vectors];
        assert_eq!(
            [x.len(), y.len()],
            lengths,
            "{vectors} vectors for a {rows} x {columns} matrix"
        );
        assert!(rows == 0 || x.pointer() != y.pointer(), "a product cannot replace its vector");
        // SAFETY: the lengths were checked, and memory is freed only after the device is done.
        unsafe { self.launch(rung, x.pointer(), y.pointer(), vectors) }
    }

    /// What another library has for the product of a matrix, of which this is the copy on the device, and a vector.
    ///
    /// # Errors
    ///
    /// As [`DeviceCsr::new`].
    ///
    /// # Panics
    ///
    /// As [`DeviceCsr::multiply`], and for another matrix.
    pub fn peers<'a>(
        &'a self,
        gpu: &Gpu,
        library: &'a ForeignLibrary,
        matrix: &Csr<R>,
        [x, y]: [&'a Buffer<R>; 2],
    ) -> Result<Vec<ForeignKernel<'a>>> {
        let (rows, columns, entries) = (matrix.rows(), matrix.columns(), matrix.nonzeros());
        assert_eq!([x.len(), y.len()], [columns, rows], "vectors for a {rows} x {columns} matrix");
        assert_eq!([self.columns, self.size.rows], [columns, rows], "a copy of the matrix");
        assert!(entries <= self.held.values.len(), "a copy of the matrix");
        let CsrArgs { starts, columns: column_of, values, .. } = self.args;
        let arrays =
            [starts.address(), column_of.address(), values.address(), x.pointer().address()];
        let task = ForeignTask {
            operation: "csr",
            precision: R::NAME,
            arrays,
            result: y.pointer().address(),
            sizes: [rows, columns, entries, 0],
        };
        // SAFETY: the sizes were checked, and all arrays are lent as long as the kernels.
        unsafe { library.kernels(gpu, &task) }
    }

    /// Products with vectors at an address, as [`DeviceCsr::multiply_by`].
    ///
    /// # Safety
    ///
    /// There are `vectors` vectors of the length of a row at `x`, and memory for as many of the length of a column at
    /// `y`; they live until the device, and every replay of a graph, is done.
    pub(crate) unsafe fn launch(
        &self,
        rung: Rung,
        x: DevicePointer<R>,
        y: DevicePointer<R>,
        vectors: usize,
    ) -> Result<()> {
        debug_assert_eq!(self.held.starts.len(), self.size.rows + 1);
        if self.size.rows == 0 {
            return Ok(());
        }
        for first in (0..vectors).step_by(MOST_SIDES) {
            let sides = MOST_SIDES.min(vectors - first);
            let args = CsrArgs {
                x: x.offset(first * self.columns).read(),
                y: y.offset(first * self.size.rows),
                sides: sides as i32,
                ..self.args
            };
            for (name, [across, down], threads) in
                self.shape.launches(rung, Size { sides, ..self.size })
            {
                let kernel = self.kernels.iter().find(|kernel| kernel.name() == name);
                let kernel = kernel.expect("all kernels are there");
                let launch = Launch::new([across as u32, down as u32], threads);
                // SAFETY: the caller promises the vectors; this value owns everything else.
                unsafe { kernel.launch(launch, &args)? };
            }
        }
        Ok(())
    }
}
