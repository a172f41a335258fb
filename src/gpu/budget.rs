//! Sums of the water budget on the device.

use std::ops::Range;

use super::advection::LayeredPointers;
use super::arguments::{TallyArgs, WaterArgs};
use super::buffer::{Buffer, Element};
use super::compile::Source;
use super::device::Gpu;
use super::kernel::{Kernel, Launch};
use crate::error::Result;
use crate::grid::Shape;
use crate::real::{Precision, Real};
use crate::shared::{DevicePointer, ReadPointer};

/// Threads of a block that sums.
const THREADS: u32 = 256;
/// Most blocks that share the rows of a plane: enough to keep any device busy, few enough for the
/// host to add up.
const MOST_BLOCKS: usize = 256;
/// Fields that are water.
const SPECIES: usize = 5;

/// Planes of a step's terms of the budget.
pub const TERMS: usize = 4;

/// The kernels for a precision and a number of levels.
pub fn source(precision: Precision, nz: usize) -> Source {
    let settings = [
        ("SUM_THREADS", THREADS as i32),
        ("WATER_SPECIES", SPECIES as i32),
        ("TALLY_PLANES", TERMS as i32),
    ];
    Source::new("budget.cu", precision, nz, &settings)
}

/// The sums of one run.
#[derive(Debug)]
pub struct Budget<R> {
    water: Kernel,
    tally: Kernel,
    water_args: WaterArgs<R>,
    tally_args: TallyArgs<R>,
    levels: u32,
    blocks: u32,
    area: Buffer<f64>,
    level_sums: Buffer<f64>,
    term_sums: Buffer<f64>,
}

/// The columns that the budget is made of.
#[derive(Clone, Debug)]
pub struct Columns<'a> {
    /// Rows j.
    pub rows: Range<usize>,
    /// Columns i.
    pub columns: Range<usize>,
    /// Area of all cells of the grid, row by row, m².
    pub area: &'a [f64],
}

impl<R: Real + Element> Budget<R> {
    /// Bytes of device memory that it takes.
    pub fn bytes(shape: Shape) -> usize {
        8 * (shape.nx * shape.ny + MOST_BLOCKS * (shape.nz + TERMS))
    }

    /// Compiles the kernels and sets the sums to zero.
    ///
    /// `planes` are those of the terms, one after the other.
    ///
    /// # Errors
    ///
    /// [`Error::Gpu`](crate::error::Error::Gpu), as all below.
    pub fn new(
        gpu: &Gpu,
        shape: Shape,
        region: &Columns<'_>,
        cell: LayeredPointers<R>,
        planes: ReadPointer<R>,
    ) -> Result<Self> {
        let module = gpu.module(&source(R::PRECISION, shape.nz))?;
        let blocks = region.rows.len().clamp(1, MOST_BLOCKS);
        let area = gpu.upload(region.area)?;
        let level_sums = gpu.zeros(blocks * shape.nz)?;
        let term_sums = gpu.zeros(blocks * TERMS)?;
        let [nx, ny] = [shape.nx as i32, shape.ny as i32];
        let [first_row, end_row] = [region.rows.start as i32, region.rows.end as i32];
        let [first_column, end_column] = [region.columns.start as i32, region.columns.end as i32];
        Ok(Self {
            water: module.kernel("budget_water_acc64")?,
            tally: module.kernel("budget_tally_acc64")?,
            water_args: WaterArgs {
                water: ReadPointer::default(),
                mass: cell,
                sums: level_sums.pointer(),
                nx,
                ny,
                first_row,
                end_row,
                first_column,
                end_column,
            },
            tally_args: TallyArgs {
                planes,
                area: area.pointer().read(),
                sums: term_sums.pointer(),
                marks: DevicePointer::default(),
                nx,
                ny,
                first_row,
                end_row,
                first_column,
                end_column,
            },
            levels: shape.nz as u32,
            blocks: blocks as u32,
            area,
            level_sums,
            term_sums,
        })
    }

    /// Lets the kernels note that they have begun; what `marks` points to has to stay.
    pub(in crate::gpu) fn note(&mut self, marks: DevicePointer<u64>) {
        self.tally_args.marks = marks;
    }

    /// Adds the terms that the last step has left in the planes.
    ///
    /// # Errors
    ///
    /// As [`Budget::new`].
    pub fn tally(&self) -> Result<()> {
        let launch = Launch { grid: [self.blocks, 1, 1], block: [THREADS, 1, 1], shared_bytes: 0 };
        debug_assert!(!self.area.is_empty());
        // SAFETY: the planes belong to the surface of the run, which outlives its graphs; the rest
        // is kept here.
        unsafe { self.tally.launch(launch, &self.tally_args) }
    }

    /// The terms since the start, in the order of their planes, kg. Waits for the device.
    ///
    /// # Errors
    ///
    /// As [`Budget::new`].
    pub fn terms(&self) -> Result<[f64; TERMS]> {
        Ok(terms_of(&self.term_sums.to_vec()?))
    }

    /// The sums of the blocks that make the terms. Waits for the device.
    ///
    /// # Errors
    ///
    /// As [`Budget::new`].
    pub fn sums(&self) -> Result<Vec<f64>> {
        self.term_sums.to_vec()
    }

    /// Goes on from such sums.
    ///
    /// # Errors
    ///
    /// As [`Budget::new`].
    ///
    /// # Panics
    ///
    /// When they are not as many as [`Budget::sums`] gives.
    pub fn resume(&self, sums: &[f64]) -> Result<()> {
        self.term_sums.upload(sums)
    }

    /// Starts the terms from zero again.
    ///
    /// # Errors
    ///
    /// As [`Budget::new`].
    pub fn reset(&self) -> Result<()> {
        self.term_sums.clear()
    }

    /// All water of the region in the fields at `water`, kg. Waits for the device.
    ///
    /// # Errors
    ///
    /// As [`Budget::new`].
    pub fn water(&self, water: ReadPointer<R>) -> Result<f64> {
        self.add_up(water)?;
        Ok(self.level_sums.to_vec()?.iter().sum())
    }

    /// Copies what makes all water and the terms to words from `first` on.
    ///
    /// # Errors
    ///
    /// As [`Budget::new`].
    ///
    /// # Panics
    ///
    /// When there are not that many words, [`Budget::words`].
    pub fn gather(&self, water: ReadPointer<R>, words: &Buffer<u64>, first: usize) -> Result<()> {
        self.add_up(water)?;
        words.copy_bits(first, &self.level_sums)?;
        words.copy_bits(first + self.level_sums.len(), &self.term_sums)
    }

    /// Number of the numbers that [`Budget::gather`] copies.
    pub fn words(&self) -> usize {
        self.level_sums.len() + self.term_sums.len()
    }

    /// All water and the terms out of the numbers that were copied, kg.
    pub fn gathered(&self, numbers: &[f64]) -> (f64, [f64; TERMS]) {
        let (levels, terms) = numbers.split_at(self.level_sums.len());
        (levels.iter().sum(), terms_of(terms))
    }

    fn add_up(&self, water: ReadPointer<R>) -> Result<()> {
        let grid = [self.blocks, self.levels, 1];
        let launch = Launch { grid, block: [THREADS, 1, 1], shared_bytes: 0 };
        let args = WaterArgs { water, ..self.water_args };
        // SAFETY: the fields and the masses belong to the run; the sums are kept here.
        unsafe { self.water.launch(launch, &args) }
    }
}

/// The terms, out of those of the blocks.
fn terms_of(sums: &[f64]) -> [f64; TERMS] {
    let mut terms = [0.0; TERMS];
    for block in sums.chunks_exact(TERMS) {
        for (term, sum) in terms.iter_mut().zip(block) {
            *term += sum;
        }
    }
    terms
}
