//! Summing up frames of output on the device: what is made travels as one row of words.

use super::GpuPrecision;
use crate::advection::gpu::transport::Transport;
use crate::backend::{Summary, WATER_SPECIES, WaterChange};
use crate::cuda_abi::ReadPointer;
use crate::device::{AsyncDownload, Buffer, Gpu};
use crate::dry_mass::Outflow;
use crate::error::Result;
use crate::gpu::budget::Budget;
use crate::gpu::summary::{self, outflow_of};
use crate::grid::Shape;
use crate::grid::gpu::Layout;
use crate::primitives::reduce::Statistics;
use crate::wsm5::gpu::launch::MemberLayout;
use ndarray::Array3;

/// Reductions of frames of output.
#[derive(Debug)]
pub(super) struct FrameReductions<R> {
    shape: Shape,
    /// Fields of a state.
    fields: usize,
    kernels: summary::SummaryKernels<R>,
    parcel: AsyncDownload<u64>,
}

/// Results of the reductions of a frame.
#[derive(Debug)]
pub(super) struct ReductionResults<R> {
    levels: Vec<Statistics<R>>,
    outflow: Outflow,
    water: f64,
    changes: WaterChange,
}

impl<R: GpuPrecision> FrameReductions<R> {
    /// Bytes of device memory that it takes.
    pub(super) fn bytes(shape: Shape, fields: usize) -> usize {
        summary::SummaryKernels::<R>::bytes(shape)
            + size_of::<u64>() * (summary::SummaryKernels::<R>::words(shape, fields) + 1)
    }

    /// Compiles the kernels, for states of so many fields; `area` is that of the cells, m².
    pub(super) fn new(
        gpu: &Gpu,
        (layout, fields): (Layout, usize),
        area: &[f64],
        transport: &Transport<R>,
        budget: &Budget<R>,
    ) -> Result<Self> {
        let shape = layout.shape;
        let outflow = summary::SummaryKernels::<R>::words(shape, fields);
        let words = outflow + 1 + budget.words() + transport.entered_words();
        Ok(Self {
            shape,
            fields,
            kernels: summary::SummaryKernels::new(gpu, layout, transport.cell_mass(), area)?,
            parcel: AsyncDownload::new(gpu, words)?,
        })
    }

    /// Asks for the water above each square metre, from element `first` of `staging` on.
    pub(super) fn contents(
        &self,
        state: &Buffer<R>,
        staging: &Buffer<R>,
        first: usize,
    ) -> Result<()> {
        self.kernels.contents(state, staging, first)
    }

    /// The numbers' way to the host.
    pub(super) fn parcel(&mut self) -> &mut AsyncDownload<u64> {
        &mut self.parcel
    }

    /// Asks for the numbers of a state in winds, with the budget of all states and its place among them:
    /// of the state without gaps, and of its water as it is, from where it begins.
    pub(super) fn gather(
        &self,
        (state, water): (&Buffer<R>, ReadPointer<R>),
        flux: &[Buffer<R>; 3],
        transport: &Transport<R>,
        (budget, abreast): (&Budget<R>, MemberLayout),
    ) -> Result<()> {
        let kernels = &self.kernels;
        let [x, y, z] = flux;
        let at = summary::SummaryKernels::<R>::words(self.shape, self.fields);
        let words = self.parcel.staging();
        words.clear()?;
        kernels.statistics(state, self.fields, words)?;
        kernels.outflow([x, y, z], words, at)?;
        budget.gather(abreast.number, water, words, at + 1)?;
        transport.gather_entered(words, at + 1 + budget.words())
    }

    /// Returns `true` when the oldest numbers under way have arrived.
    pub(super) fn are_complete(&self) -> Result<bool> {
        self.parcel.is_complete()
    }

    /// Waits for the oldest numbers under way, which are those of the state `abreast`; `None` where
    /// there are none.
    pub(super) fn receive(
        &mut self,
        transport: &Transport<R>,
        budget: &Budget<R>,
        abreast: MemberLayout,
    ) -> Result<Option<ReductionResults<R>>> {
        let (kernels, shape, fields) = (&self.kernels, self.shape, self.fields);
        let at = summary::SummaryKernels::<R>::words(shape, fields);
        self.parcel.receive(|words| {
            let numbers: Vec<f64> =
                words[at + 1..].iter().map(|&bits| f64::from_bits(bits)).collect();
            let (sums, entered) = numbers.split_at(budget.words());
            let (water, terms) = budget.gathered(sums);
            ReductionResults {
                levels: kernels.statistics_of(words, fields),
                outflow: outflow_of(words[at], shape),
                water,
                changes: changes(terms, &transport.entered_of(entered), abreast),
            }
        })
    }

    /// Time that the copies took, s.
    pub(super) fn seconds(&self) -> f64 {
        self.parcel.seconds()
    }
}

/// The changes of the water of a state, out of the terms of its budget and what the tracers of all
/// states have carried inside.
pub(super) fn changes(terms: [f64; 4], entered: &[f64], abreast: MemberLayout) -> WaterChange {
    let [fallen, fallout_residual, clipped, mass_mismatch] = terms;
    let sides = entered[abreast.water()].iter().sum();
    WaterChange { fallen, sides, fallout_residual, clipped, mass_mismatch }
}

impl<R> ReductionResults<R> {
    /// The summary, with the planes of the frame.
    pub(super) fn with(self, contents: Array3<R>) -> Summary<R> {
        debug_assert_eq!(contents.dim().0, WATER_SPECIES);
        let Self { levels, outflow, water, changes } = self;
        Summary { levels, contents, outflow, water, changes }
    }
}
