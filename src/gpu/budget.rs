//! Sums of the water budget on the device, of one state or several.

use std::ops::Range;

use crate::cuda_abi::{DevicePointer, ReadPointer};
use crate::device::structs;
use crate::device::{Buffer, Element, Gpu, Kernel, KernelSource, Launch};
use crate::dry_mass::gpu::LayeredPointers;
use crate::error::Result;
use crate::gpu::arguments::{TallyArgs, WaterArgs};
use crate::grid::gpu::Layout;
use crate::real::{Precision, Real};
use crate::state::gpu::budget_region::BudgetRegion;
use crate::state::gpu::prelude;

/// Threads of a block that sums.
const THREADS: u32 = 256;
/// Most blocks for the rows of a plane: enough to fill any device, few enough for the host to add up.
const MOST_BLOCKS: usize = 256;

pub use crate::state::gpu::device_fields::TERMS;

/// The kernels for a precision and a number of levels.
///
/// The water of a state has `species`.
pub fn source(precision: Precision, nz: usize, species: usize) -> KernelSource {
    let prelude = prelude::grid(precision, nz)
        .with(&format!("constexpr int WATER_SPECIES = {species};\n"))
        .with(&BudgetRegion::cuda_text())
        .with(&structs!(precision; WaterArgs, TallyArgs))
        .with_settings(&[("SUM_THREADS", THREADS as i32)]);
    KernelSource::new("budget.cu", prelude)
}

/// The sums of the states of a run.
#[derive(Debug)]
pub struct Budget<R> {
    water: Kernel,
    water_args: WaterArgs<R>,
    tally_args: TallyArgs<R>,
    levels: u32,
    blocks: u32,
    level_sums: Buffer<f64>,
    /// (state, block, term).
    term_sums: Buffer<f64>,
    /// Other memory that `tally_args` points to: the area, and the addresses of the planes of the states.
    _area: Buffer<f64>,
    _planes: Buffer<u64>,
}

/// The region of the budget.
#[derive(Clone, Debug)]
pub struct BudgetColumns<'a> {
    /// Rows j.
    pub rows: Range<usize>,
    /// Columns i.
    pub columns: Range<usize>,
    /// Area of all cells of the grid, row by row, m².
    pub area: &'a [f64],
}

impl<R: Real + Element> Budget<R> {
    /// Device memory of the sums of so many states, bytes.
    pub fn bytes(layout: Layout, states: usize) -> usize {
        8 * (layout.columns() + MOST_BLOCKS * (layout.shape.nz + states * TERMS) + states)
    }

    /// Compiles the kernel and sets the sums to zero.
    ///
    /// `planes` are the planes of the terms of each state, contiguous, of so many species of water; `cell` is the mass of the cells, in rows as in
    /// `layout`. The memory of both must outlive this value.
    ///
    /// # Errors
    ///
    /// [`Error::Gpu`](crate::error::Error::Gpu), as all below.
    pub fn new(
        gpu: &Gpu,
        layout: Layout,
        region: &BudgetColumns<'_>,
        cell: LayeredPointers<R>,
        (planes, species): (&[ReadPointer<R>], usize),
    ) -> Result<Self> {
        let module = gpu.module(&source(R::PRECISION, layout.shape.nz, species))?;
        let blocks = region.rows.len().clamp(1, MOST_BLOCKS);
        let area = gpu.upload(&layout.padded(region.area))?;
        let addresses: Vec<u64> = planes.iter().map(|planes| planes.address()).collect();
        let addresses = gpu.upload(&addresses)?;
        let level_sums = gpu.zeros(blocks * layout.shape.nz)?;
        let term_sums = gpu.zeros(planes.len() * blocks * TERMS)?;
        let region = BudgetRegion::new(layout, region.rows.clone(), region.columns.clone());
        Ok(Self {
            water: module.kernel("budget_water_acc64")?,
            water_args: WaterArgs {
                water: ReadPointer::default(),
                mass: cell,
                sums: level_sums.pointer(),
                region,
            },
            tally_args: TallyArgs {
                planes: DevicePointer::new(addresses.pointer().address()).read(),
                area: area.pointer().read(),
                sums: term_sums.pointer(),
                region,
                blocks: blocks as i32,
                filler: 0,
            },
            levels: layout.shape.nz as u32,
            blocks: blocks as u32,
            level_sums,
            term_sums,
            _area: area,
            _planes: addresses,
        })
    }

    /// Arguments and number of blocks of the kernel that adds the terms of a step in the planes of all states. The
    /// struct points to memory that this value owns.
    pub(in crate::gpu) fn tally(&self) -> (TallyArgs<R>, u32) {
        (self.tally_args, (self.term_sums.len() / TERMS) as u32)
    }

    /// Range of a state's sums among the sums of all states.
    fn of_state(&self, state: usize) -> Range<usize> {
        let count = self.blocks as usize * TERMS;
        state * count..(state + 1) * count
    }

    /// The terms of a state since the start, in the order of their planes, kg. Waits for the device.
    ///
    /// # Errors
    ///
    /// As [`Budget::new`].
    pub fn terms(&self, state: usize) -> Result<[f64; TERMS]> {
        Ok(terms_of(&self.sums(state)?))
    }

    /// Partial sums of the terms of a state, one for each block and term, kg. Waits for the device.
    ///
    /// # Errors
    ///
    /// As [`Budget::new`].
    pub fn sums(&self, state: usize) -> Result<Vec<f64>> {
        let range = self.of_state(state);
        let mut sums = vec![0.0; range.len()];
        self.term_sums.download_from(range.start, &mut sums)?;
        Ok(sums)
    }

    /// Restores partial sums that [`Budget::sums`] returned.
    ///
    /// # Errors
    ///
    /// As [`Budget::new`].
    ///
    /// # Panics
    ///
    /// When their number is not that of [`Budget::sums`].
    pub fn resume(&self, state: usize, sums: &[f64]) -> Result<()> {
        let range = self.of_state(state);
        assert_eq!(sums.len(), range.len(), "sums of the blocks");
        self.term_sums.upload_to(range.start, sums)
    }

    /// Resets the terms of all states to zero.
    pub(crate) fn reset(&self) -> Result<()> {
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

    /// Copies the sums of all water and of the terms of a state to `words`, from index `first` on.
    ///
    /// # Panics
    ///
    /// When `words` is shorter than [`Budget::words`] from there on.
    pub(crate) fn gather(
        &self,
        state: usize,
        water: ReadPointer<R>,
        words: &Buffer<u64>,
        first: usize,
    ) -> Result<()> {
        self.add_up(water)?;
        let levels = self.level_sums.len();
        words.copy_range(first, &self.level_sums, 0..levels)?;
        words.copy_range(first + levels, &self.term_sums, self.of_state(state))
    }

    /// Number of words that `gather` copies.
    pub fn words(&self) -> usize {
        self.level_sums.len() + self.of_state(0).len()
    }

    /// All water and the terms, kg, from words that `gather` copied.
    pub fn gathered(&self, numbers: &[f64]) -> (f64, [f64; TERMS]) {
        let (levels, terms) = numbers.split_at(self.level_sums.len());
        (levels.iter().sum(), terms_of(terms))
    }

    fn add_up(&self, water: ReadPointer<R>) -> Result<()> {
        let launch = Launch::new([self.blocks, self.levels], THREADS);
        let args = WaterArgs { water, ..self.water_args };
        // SAFETY: the fields and the masses belong to the run; this value owns the sums.
        unsafe { self.water.launch(launch, &args) }
    }
}

/// The terms from their partial sums.
fn terms_of(sums: &[f64]) -> [f64; TERMS] {
    let mut terms = [0.0; TERMS];
    for block in sums.chunks_exact(TERMS) {
        for (term, sum) in terms.iter_mut().zip(block) {
            *term += sum;
        }
    }
    terms
}
