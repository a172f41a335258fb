//! Column profiles on the device: each made contiguous by a transpose, and its totals by segmented reductions.

use std::ops::Range;

use crate::constituents::Constituents;
use crate::device::{AsyncDownload, Buffer, Element, Gpu};
use crate::error::Result;
use crate::grid::Shape;
use crate::primitives::gpu::reduce::{Operation, ReduceConfig, Reducer, Reducible};
use crate::primitives::gpu::transpose::Transpose;
use crate::primitives::reduce::Segments;
use crate::primitives::transpose::Matrices;
use crate::real::Real;

/// Column profiles of a grid, and their asynchronous download.
#[derive(Debug)]
pub struct ProfileKernels<R> {
    shape: Shape,
    turn: [Transpose<R>; 2],
    /// State and diagnostics in their own units. Shape: (field, column, level).
    turned: [Buffer<R>; 2],
    /// Weight of a level in the totals, for every field up to the last species of water, (field, column, level).
    weights: Buffer<R>,
    /// Indices of the species of water, and that of the reflectivity among the diagnostics.
    water: Range<usize>,
    echo: Option<usize>,
    reducer: Reducer<R>,
    /// Totals of the species of water, and the largest reflectivity, one word for each column.
    words: [Buffer<u64>; 2],
    profiles: AsyncDownload<R>,
    results: AsyncDownload<u64>,
}

/// Column profiles and their totals.
#[derive(Clone, Debug)]
pub struct ColumnProfiles<R> {
    /// State and diagnostics, (field, column, level).
    pub profiles: Vec<R>,
    /// Column totals of each species of water, (species, column): kg m⁻² if the weights are air mass per area.
    pub totals: Vec<R>,
    /// Largest reflectivity of each column, dBZ, if it is diagnosed.
    pub strongest: Option<Vec<R>>,
}

impl<R: Real + Element + Reducible> ProfileKernels<R> {
    /// Allocates memory for states of a set; `weights` are those of the levels in the totals, (column, level).
    ///
    /// # Panics
    ///
    /// When the number of weights is not that of cells.
    pub(crate) fn new(
        gpu: &Gpu,
        (shape, set): (Shape, &Constituents),
        weights: &[R],
    ) -> Result<Self> {
        let (fields, diagnosed, water) = (set.len(), set.volumes().len(), set.water());
        assert_eq!(weights.len(), shape.cells(), "a weight for every cell");
        let turn = |fields: usize| {
            Transpose::new(gpu, Matrices::levels(fields, shape.nz, shape.ny, shape.nx))
        };
        let [cells, columns] = [shape.cells(), shape.columns()];
        let words = [gpu.zeros(water.len() * columns)?, gpu.zeros(columns)?];
        Ok(Self {
            shape,
            turn: [turn(fields)?, turn(diagnosed)?],
            turned: [gpu.zeros(fields * cells)?, gpu.zeros(diagnosed * cells)?],
            weights: gpu.upload(&weights.repeat(water.end))?,
            // Of segments alone.
            reducer: Reducer::with_shape(gpu, ReduceConfig::long::<R>())?,
            words,
            profiles: AsyncDownload::new(gpu, (fields + diagnosed) * cells)?,
            results: AsyncDownload::new(gpu, (water.len() + 1) * columns)?,
            water,
            echo: set.reflectivity(),
        })
    }

    /// Device memory, bytes.
    pub(crate) fn bytes(shape: Shape, set: &Constituents) -> usize {
        let fields = 2 * (set.len() + set.volumes().len()) + set.water().end;
        let words = 2 * (set.water().len() + 1) * shape.columns() * size_of::<u64>();
        fields * shape.cells() * size_of::<R>() + words
    }

    /// Queues the extraction of the columns of the state and of its diagnostics.
    ///
    /// # Panics
    ///
    /// When the arrays are too short, or two extractions are under way already.
    pub(crate) fn send(&mut self, state: &Buffer<R>, diagnosed: &Buffer<R>) -> Result<()> {
        let (nz, cells, columns) = (self.shape.nz, self.shape.cells(), self.shape.columns());
        let Self { turn, turned, weights, reducer, words, .. } = self;
        turn[0].run(state, &turned[0])?;
        if !turned[1].is_empty() {
            turn[1].run(diagnosed, &turned[1])?;
        }
        let segments = |first, count| Segments { first, length: nz, count, stride: nz };
        let water = segments(self.water.start * cells, self.water.len() * columns);
        reducer.reduce_pair(Operation::DotWide, [&turned[0], weights], water, &words[0])?;
        if let Some(echo) = self.echo {
            let echo = segments(echo * cells, columns);
            reducer.reduce(Operation::Max, &turned[1], echo, &words[1])?;
        }
        self.profiles.send(|staging| {
            staging.copy_range(0, &turned[0], 0..turned[0].len())?;
            staging.copy_range(turned[0].len(), &turned[1], 0..turned[1].len())
        })?;
        self.results.send(|staging| {
            staging.copy_range(0, &words[0], 0..words[0].len())?;
            staging.copy_range(words[0].len(), &words[1], 0..words[1].len())
        })
    }

    /// Returns `true` if the oldest columns under way have arrived; `false` if there are none.
    pub(crate) fn are_complete(&self) -> Result<bool> {
        // The copies arrive in this order.
        self.results.is_complete()
    }

    /// Waits for the oldest columns under way; `None` if there are none.
    pub(crate) fn receive(&mut self) -> Result<Option<ColumnProfiles<R>>> {
        let Some(profiles) = self.profiles.receive(<[R]>::to_vec)? else { return Ok(None) };
        let totals = self.water.len() * self.shape.columns();
        let found = self.results.receive(|words| {
            let (water, echo) = words.split_at(totals);
            (
                water.iter().map(|word| R::of(R::wide_of_word(*word))).collect(),
                echo.iter().map(|word| R::of_word(*word)).collect(),
            )
        })?;
        Ok(found.map(|(totals, strongest): (_, Vec<R>)| {
            let strongest = self.echo.is_some().then_some(strongest);
            ColumnProfiles { profiles, totals, strongest }
        }))
    }

    /// Time of the copies to the host so far, s.
    pub(crate) fn seconds(&self) -> f64 {
        self.profiles.seconds() + self.results.seconds()
    }
}
