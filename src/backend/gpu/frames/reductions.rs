//! Summing up frames of output on the device: what is made travels as one row of words.

use crate::advection::gpu::transport::Transport;
use crate::backend::Summary;
use crate::backend::gpu::GpuPrecision;
use crate::backend::gpu::budget::changes;
use crate::constituents::Constituents;
use crate::cuda_abi::ReadPointer;
use crate::device::{AsyncDownload, Buffer, Gpu};
use crate::error::Result;
use crate::gpu::budget::Budget;
use crate::gpu::summary::{SummaryKernels, outflow_of};
use crate::grid::gpu::Layout;
use crate::grid::{Shape, Window};
use crate::state::gpu::member_layout::MemberLayout;
use ndarray::Array3;

/// Reductions of frames of output.
#[derive(Debug)]
pub(super) struct FrameReductions<R> {
    /// Owned cells, of which one has the outflow.
    owned: Shape,
    /// Fields of a state with statistics of their levels: none of a part, whose ranks bring levels together.
    fields: usize,
    /// Number of the word with the outflow, behind those with the statistics and before those of the budget.
    outflow: usize,
    pub(super) kernels: SummaryKernels<R>,
    /// The numbers' way to the host.
    pub(super) download: AsyncDownload<u64>,
}

impl<R: GpuPrecision> FrameReductions<R> {
    /// Bytes of device memory that it takes.
    pub(super) fn bytes(shape: Shape, fields: usize) -> usize {
        let words = SummaryKernels::<R>::words(shape, fields) + 1;
        SummaryKernels::<R>::bytes(shape) + size_of::<u64>() * words
    }

    /// Compiles the kernels, for states of a set and a search for the outflow in the owned columns; `area` is that of the
    /// cells, m².
    pub(super) fn new(
        gpu: &Gpu,
        (layout, set, owned): (Layout, &Constituents, Window),
        area: &[f64],
        transport: &Transport<R>,
        budget: &Budget<R>,
    ) -> Result<Self> {
        let shape = layout.shape;
        let is_whole = owned.shape(shape.nz) == shape;
        let fields = if is_whole { set.len() } else { 0 };
        let outflow = SummaryKernels::<R>::words(shape, fields);
        let words = outflow + 1 + budget.words() + transport.entered_words();
        let kernels = SummaryKernels::new(gpu, (layout, set.water()), transport.cell_mass(), area)?
            .with_outflow_in(&owned);
        let (owned, download) = (owned.shape(shape.nz), AsyncDownload::new(gpu, words)?);
        Ok(Self { owned, fields, outflow, kernels, download })
    }

    /// Drops all numbers under way.
    pub(super) fn clear(&mut self) -> Result<()> {
        while self.download.receive(|_| ())?.is_some() {}
        Ok(())
    }

    /// Asks for the numbers of a state in winds, with the budget of all states and its place among them:
    /// of the state without gaps, and of its water as it is, from where it begins.
    pub(super) fn gather(
        &self,
        (state, water): (&Buffer<R>, ReadPointer<R>),
        flux: &[Buffer<R>; 3],
        transport: &Transport<R>,
        (budget, indices): (&Budget<R>, MemberLayout),
    ) -> Result<()> {
        let (kernels, at) = (&self.kernels, self.outflow);
        let [x, y, z] = flux;
        let words = self.download.staging();
        words.clear()?;
        kernels.statistics(state, self.fields, words)?;
        kernels.outflow([x, y, z], words, at)?;
        budget.gather(indices.number, water, words, at + 1)?;
        transport.gather_entered(words, at + 1 + budget.words())
    }

    /// Waits for the oldest numbers under way, which are those of the state `indices`, without the contents; `None`
    /// where there are none.
    pub(super) fn receive(
        &mut self,
        transport: &Transport<R>,
        budget: &Budget<R>,
        indices: MemberLayout,
    ) -> Result<Option<Summary<R>>> {
        let Self { owned, fields, outflow: at, kernels, download } = self;
        download.receive(|words| {
            let numbers: Vec<f64> =
                words[*at + 1..].iter().map(|&bits| f64::from_bits(bits)).collect();
            let (sums, entered) = numbers.split_at(budget.words());
            let (water, terms) = budget.gathered(sums);
            Summary {
                levels: kernels.statistics_of(words, *fields),
                contents: Array3::zeros((0, 0, 0)),
                outflow: outflow_of(words[*at], *owned),
                water,
                changes: changes(terms, &transport.entered_of(entered), indices),
            }
        })
    }
}
