//! Transposes on the device: a ladder of kernels, the last of which is in use.

use crate::cuda_abi::{DevicePointer, ReadPointer};
use crate::device::structs;
use crate::device::{
    Buffer, Element, ForeignKernel, ForeignLibrary, ForeignTask, Gpu, Kernel, KernelSource, Launch,
    Prelude,
};
use crate::error::{Error, Result};
use crate::primitives::gpu::arguments::TransposeArgs;
use crate::primitives::transpose::Matrices;
use crate::real::{Precision, Real};

/// A rung: one kind of kernel, from the simplest to the one in use.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Rung {
    /// A copy without transpose, which moves as many bytes: the bound of all others.
    Copy,
    /// A thread for an element; writes are strided.
    Naive,
    /// Strided reads and writes.
    Strided,
    /// Tiles in shared memory.
    Tiled,
    /// Tiles without bank conflicts.
    Padded,
    /// Several rows a thread.
    Unrolled,
    /// The same with tiles along diagonals.
    Diagonal,
    /// Sixteen bytes at a time, transposed in registers and shared memory, by tiles below one another.
    Best,
}

impl Rung {
    /// All rungs, the simplest first.
    pub const ALL: [Self; 8] = [
        Self::Copy,
        Self::Naive,
        Self::Strided,
        Self::Tiled,
        Self::Padded,
        Self::Unrolled,
        Self::Diagonal,
        Self::Best,
    ];

    /// Name in tables, and kernel for matrices of any size.
    fn names(self) -> [&'static str; 2] {
        match self {
            Self::Copy => ["copy, the bound", "transpose_copy"],
            Self::Naive => ["naive: strided writes", "transpose_naive"],
            Self::Strided => ["strided both ways", "transpose_strided"],
            Self::Tiled => ["tiled in shared memory", "transpose_tiled"],
            Self::Padded => ["tiles padded", "transpose_padded"],
            Self::Unrolled => ["several rows a thread", "transpose_unrolled"],
            Self::Diagonal => ["diagonal order of blocks", "transpose_diagonal"],
            Self::Best => ["best: 16 bytes, downwards", "transpose_unrolled"],
        }
    }

    /// Name in tables.
    pub fn name(self) -> &'static str {
        self.names()[0]
    }

    /// Kernel name for matrices of this size.
    pub fn kernel(self, precision: Precision, matrices: Matrices) -> &'static str {
        // True if every row begins at a multiple of sixteen bytes in both matrices.
        let is_wide =
            [matrices.rows, matrices.columns].iter().all(|n| n.is_multiple_of(wide(precision)));
        let is_small = precision == Precision::F64 && matrices.len() <= SMALL_OF_DOUBLE;
        match self {
            Self::Best if matrices.rows < THIN => "transpose_thin_rows",
            Self::Best if matrices.columns < THIN => "transpose_thin_columns",
            Self::Best if is_wide && !is_small => "transpose_wide",
            _ => self.names()[1],
        }
    }
}

/// Numbers in sixteen bytes.
fn wide(precision: Precision) -> usize {
    16 / precision.bytes()
}

/// Compile-time settings of the kernels.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TransposeConfig {
    /// Side of the square tiles of the kernel for sixteen bytes at a time.
    pub tile: usize,
    /// Threads of a block of that kernel.
    pub threads: u32,
    /// Launch bounds of that kernel: blocks of a multiprocessor.
    pub resident: u32,
    /// Side of the tiles of the kernel for any alignment.
    pub unrolled_tile: usize,
    /// Rows of threads in a block of that kernel.
    pub unrolled_lines: usize,
    /// Extent of the tiles of matrices of few rows or columns along their long side.
    pub thin_length: usize,
}

/// Name of the kernel that checks.
const FAULTS: &str = "transpose_faults";
/// Threads of a block that copies or checks, and wide loads of each thread.
const COPY_THREADS: u32 = 256;
const COPY_LOADS: usize = 4;
/// Side of the tiles of the lower rungs, with a thread for each element.
const LADDER_TILE: usize = 32;
/// Rows or columns from which on square tiles, of which a part may be empty, are the faster ones.
const THIN: usize = 16;
/// Threads of a block for thinner matrices.
const THIN_THREADS: u32 = 128;
/// Rows or columns up to which such a block is long.
const THINNEST: usize = 8;
/// Elements up to which accesses of sixteen bytes, that is of two numbers, are too few to hide their latency.
const SMALL_OF_DOUBLE: usize = 3 << 19;
/// Elements up to which smaller tiles fill more of the device.
const SMALL: usize = 1 << 21;
/// Elements from which on larger tiles of doubles touch fewer memory pages at a time.
const HUGE_OF_DOUBLE: usize = 1 << 27;

impl TransposeConfig {
    /// Settings for matrices of this size, as measured on an H200 and, for small and for thin ones, on an H100.
    pub fn choose(precision: Precision, matrices: Matrices) -> Self {
        let [tile, threads, resident] = match precision {
            Precision::F32 => [64, 256, 4],
            Precision::F64 if matrices.len() > HUGE_OF_DOUBLE => [64, 256, 3],
            Precision::F64 if matrices.len() > SMALL => [32, 128, 6],
            Precision::F64 => [32, 64, 16],
        };
        let [unrolled_tile, unrolled_lines] =
            if matrices.len() > SMALL { [64, 4] } else { [32, 8] };
        Self {
            tile,
            threads: threads as u32,
            resident: resident as u32,
            unrolled_tile,
            unrolled_lines,
            thin_length: if matrices.rows.min(matrices.columns) <= THINNEST { 128 } else { 64 },
        }
    }

    /// The kernels.
    pub fn source(&self, precision: Precision) -> KernelSource {
        let settings = [
            ("COPY_THREADS", COPY_THREADS as i32),
            ("COPY_LOADS", COPY_LOADS as i32),
            ("LADDER_TILE", LADDER_TILE as i32),
            ("THIN_MOST", THIN as i32),
            ("THIN_THREADS", THIN_THREADS as i32),
            ("THIN_LENGTH", self.thin_length as i32),
            ("UNROLLED_TILE", self.unrolled_tile as i32),
            ("UNROLLED_LINES", self.unrolled_lines as i32),
            ("WIDE_TILE", self.tile as i32),
            ("WIDE_THREADS", self.threads as i32),
            ("WIDE_RESIDENT", self.resident as i32),
        ];
        let arguments = structs!(precision; TransposeArgs);
        let prelude = Prelude::new(precision).with(&arguments).with_settings(&settings);
        KernelSource::new("primitives/transpose.cu", prelude)
    }

    /// Blocks of a rung and threads of each.
    pub fn blocks(&self, rung: Rung, precision: Precision, matrices: Matrices) -> (usize, u32) {
        let Matrices { count, rows, columns } = matrices;
        let tiles = |side: usize| count * rows.div_ceil(side) * columns.div_ceil(side);
        match rung.kernel(precision, matrices) {
            "transpose_copy" => {
                let of_a_block = COPY_THREADS as usize * COPY_LOADS * wide(precision);
                (matrices.len().div_ceil(of_a_block), COPY_THREADS)
            }
            "transpose_wide" => (tiles(self.tile), self.threads),
            "transpose_thin_rows" => (count * columns.div_ceil(self.thin_length), THIN_THREADS),
            "transpose_thin_columns" => (count * rows.div_ceil(self.thin_length), THIN_THREADS),
            "transpose_unrolled" | "transpose_diagonal" => {
                (tiles(self.unrolled_tile), (self.unrolled_tile * self.unrolled_lines) as u32)
            }
            _ => (tiles(LADDER_TILE), (LADDER_TILE * LADDER_TILE) as u32),
        }
    }
}

/// Transposes matrices of one size on the device.
#[derive(Debug)]
pub struct Transpose<R> {
    matrices: Matrices,
    shape: TransposeConfig,
    /// In the order of [`Rung::ALL`].
    kernels: Vec<Kernel>,
    check: Kernel,
    faults: Buffer<i32>,
    args: TransposeArgs<R>,
}

impl<R: Real + Element> Transpose<R> {
    /// Compiles the kernels with the settings for matrices of this size.
    ///
    /// # Errors
    ///
    /// [`Error::Gpu`], as all below, and when the matrices exceed the range of 32-bit numbers.
    pub fn new(gpu: &Gpu, matrices: Matrices) -> Result<Self> {
        Self::with(gpu, matrices, TransposeConfig::choose(R::PRECISION, matrices))
    }

    /// The same with given settings.
    ///
    /// # Errors
    ///
    /// As [`Transpose::new`].
    pub fn with(gpu: &Gpu, matrices: Matrices, shape: TransposeConfig) -> Result<Self> {
        let Matrices { count, rows, columns } = matrices;
        let most = Rung::ALL.map(|rung| shape.blocks(rung, R::PRECISION, matrices).0);
        let whole = |n: usize| i32::try_from(n).ok();
        let numbers = (whole(count), whole(rows), whole(columns), most.map(whole).contains(&None));
        let (Some(matrices_), Some(rows_), Some(columns_), false) = numbers else {
            return Err(Error::Gpu(format!(
                "{count} matrices of {rows} x {columns} are too large for the 32-bit indices of \
                 the kernels; transpose them in parts"
            )));
        };
        let module = gpu.module(&shape.source(R::PRECISION))?;
        let kernel = |rung: &Rung| {
            let kernel = module.kernel(rung.kernel(R::PRECISION, matrices))?;
            Ok(if *rung == Rung::Best { kernel.waiting_by_itself() } else { kernel })
        };
        let kernels = Rung::ALL.iter().map(kernel).collect::<Result<_>>()?;
        let faults = gpu.zeros(1)?;
        let args = TransposeArgs {
            from: ReadPointer::default(),
            to: DevicePointer::default(),
            faults: faults.pointer(),
            rows: rows_,
            columns: columns_,
            matrices: matrices_,
            filler: 0,
        };
        Ok(Self { matrices, shape, kernels, check: module.kernel(FAULTS)?, faults, args })
    }

    /// Transposes with the fastest rung.
    ///
    /// # Errors
    ///
    /// As [`Transpose::new`].
    ///
    /// # Panics
    ///
    /// When the arrays do not have the number of elements of the matrices, or are the same.
    pub fn run(&self, from: &Buffer<R>, to: &Buffer<R>) -> Result<()> {
        self.run_by(Rung::Best, from, to)
    }

    /// Transposes with a given rung; [`Rung::Copy`] copies.
    ///
    /// # Errors
    ///
    /// As [`Transpose::new`].
    ///
    /// # Panics
    ///
    /// As [`Transpose::run`].
    pub fn run_by(&self, rung: Rung, from: &Buffer<R>, to: &Buffer<R>) -> Result<()> {
        let Self { matrices, shape, .. } = *self;
        let args = self.args(from, to);
        if matrices.is_empty() {
            return Ok(());
        }
        assert_ne!(from.pointer(), to.pointer(), "matrices cannot be transposed in their place");
        let (blocks, threads) = shape.blocks(rung, R::PRECISION, matrices);
        let launch = Launch::new([blocks as u32, 1], threads);
        // SAFETY: both arrays have the elements of the matrices and begin at multiples of sixteen bytes, as all device
        // memory does; they are freed only after the device is done.
        unsafe { self.kernels[rung as usize].launch(launch, &args) }
    }

    /// What another library has for the transpose of one matrix.
    ///
    /// # Errors
    ///
    /// As [`Transpose::new`].
    ///
    /// # Panics
    ///
    /// As [`Transpose::run`].
    pub fn peers<'a>(
        &self,
        gpu: &Gpu,
        library: &'a ForeignLibrary,
        [from, to]: [&'a Buffer<R>; 2],
    ) -> Result<Vec<ForeignKernel<'a>>> {
        let Matrices { count, rows, columns } = self.matrices;
        let args = self.args(from, to);
        if count != 1 {
            return Ok(Vec::new());
        }
        let task = ForeignTask {
            operation: "transpose",
            precision: R::NAME,
            arrays: [args.from.address(), 0, 0, 0],
            result: args.to.address(),
            sizes: [rows, columns, 0, 0],
        };
        // SAFETY: the lengths were checked, and both arrays are lent as long as the kernels.
        unsafe { library.kernels(gpu, &task) }
    }

    /// Arguments for two arrays, whose lengths are checked.
    fn args(&self, from: &Buffer<R>, to: &Buffer<R>) -> TransposeArgs<R> {
        let matrices = self.matrices;
        assert_eq!([from.len(), to.len()], [matrices.len(); 2], "elements of {matrices:?}");
        TransposeArgs { from: from.pointer().read(), to: to.pointer(), ..self.args }
    }

    /// Number of elements of `to` that differ from the expected ones: those of `from` transposed, or copied by
    /// [`Rung::Copy`]. Waits for the device.
    ///
    /// # Errors
    ///
    /// As [`Transpose::new`].
    ///
    /// # Panics
    ///
    /// As [`Transpose::run`].
    pub fn faults(&self, rung: Rung, from: &Buffer<R>, to: &Buffer<R>) -> Result<usize> {
        let Self { matrices, .. } = *self;
        let mut args = self.args(from, to);
        if matrices.is_empty() {
            return Ok(0);
        }
        if rung == Rung::Copy {
            // A matrix of one row has the memory layout of its transpose.
            (args.matrices, args.rows) = (args.matrices * args.rows, 1);
        }
        self.faults.clear()?;
        let launch = Launch::flat(matrices.len(), COPY_THREADS);
        // SAFETY: as above.
        unsafe { self.check.launch(launch, &args)? };
        Ok(self.faults.to_vec()?[0] as usize)
    }
}
