//! Frames of output on the device: gathered behind the steps, and brought to the host beside them.

mod checkpoint;
mod owned;
mod reductions;

use std::collections::VecDeque;

use owned::owned;
use reductions::FrameReductions;

use super::GpuPrecision;
use super::arrays::Arrays;
use super::budget::BudgetSums;
use super::frame_layout::FrameLayout;
use super::step::Stepper;
use crate::backend::nan_check::check_owned;
use crate::backend::{CapturedFrame, Checkpoint, FRAMES_IN_FLIGHT, PhaseTime, Summary};
use crate::constituents::Constituents;
use crate::device::{AsyncDownload, Event, Gpu, Graph};
use crate::error::Result;
use crate::grid::Shape;
use crate::primitives::reduce::Statistics;

/// Frames of output under way, and the last checkpoint.
#[derive(Debug)]
pub(super) struct Frames<R> {
    gpu: Gpu,
    download: AsyncDownload<R>,
    /// The parts of a frame that had to leave the device for the next one before it was collected.
    early: Option<Vec<Vec<R>>>,
    summing: FrameReductions<R>,
    /// Graphs that gather a frame of each member, for either array of all states.
    gathering: Vec<[Option<Graph>; 2]>,
    /// Steps done when the frames under way were begun, and whose frames they are.
    captured: VecDeque<(usize, usize)>,
    /// Before and after the gathering of the last frame, and the time of all, s.
    marks: [Event; 2],
    gathered: f64,
    checkpoint: Option<Box<Checkpoint<R>>>,
}

impl<R: GpuPrecision> Frames<R> {
    /// Bytes of device memory for states of a set.
    pub(super) fn bytes(shape: Shape, set: &Constituents) -> usize {
        FrameLayout::new(shape, set).frame() * size_of::<R>()
            + FrameReductions::<R>::bytes(shape, set.len())
    }

    /// Compiles the kernels, and takes the memory for frames.
    pub(super) fn new(
        gpu: &Gpu,
        (arrays, budget): (&Arrays<R>, &BudgetSums<R>),
        step: &Stepper<R>,
    ) -> Result<Self> {
        let (set, main) = (&arrays.order.set, &step.transports().main);
        let fields = (arrays.layout, &**set, arrays.grid.owned());
        let summing = FrameReductions::new(gpu, fields, budget.area(), main, &budget.water)?;
        Ok(Self {
            gpu: gpu.clone(),
            download: AsyncDownload::of_any_size(gpu, arrays.frame_layout.frame())?,
            early: None,
            summing,
            gathering: (0..arrays.members()).map(|_| [None, None]).collect(),
            captured: VecDeque::with_capacity(FRAMES_IN_FLIGHT),
            marks: [Event::for_timing(gpu)?, Event::for_timing(gpu)?],
            gathered: 0.0,
            checkpoint: None,
        })
    }

    /// Leaves frames on the device until they are collected.
    pub(super) fn leave_on_device(&mut self) -> Result<()> {
        self.clear()?;
        // The graphs have the address of the memory.
        self.gathering.iter_mut().for_each(|graphs| *graphs = [None, None]);
        self.download = AsyncDownload::in_pieces(&self.gpu, self.download.staging().len())?;
        Ok(())
    }

    /// Drops all frames under way. The device is done with them.
    pub(super) fn clear(&mut self) -> Result<()> {
        while self.download.receive_parts(&[])?.is_some() {}
        self.early = None;
        self.summing.clear()?;
        self.captured.clear();
        Ok(())
    }

    /// Time of frames and of samples, whose copies took so many seconds.
    pub(super) fn time(&self, sampling: f64) -> PhaseTime {
        let transfer = self.download.seconds() + sampling + self.summing.download.seconds();
        PhaseTime::on_device(self.gathered, transfer)
    }

    /// Begins a frame of a member with its present state, in the winds and the air that are set.
    pub(super) fn begin(
        &mut self,
        member: usize,
        (arrays, budget): (&Arrays<R>, &BudgetSums<R>),
        step: &Stepper<R>,
    ) -> Result<()> {
        let now = arrays.now();
        // Recorded: one by one these many short launches would hold up the steps.
        if self.gathering[member][now].is_none() {
            let gather = || self.gather(member, (arrays, budget), step);
            self.gathering[member][now] = Some(self.gpu.capture(gather)?);
        }
        if self.download.is_full() && self.early.is_none() {
            self.early = self.download.receive_parts(&arrays.frame_layout.parts())?;
        }
        self.download.open()?;
        self.summing.download.open()?;
        self.marks[0].record(&self.gpu)?;
        self.gathering[member][now].as_mut().map_or(Ok(()), Graph::launch)?;
        self.marks[1].record(&self.gpu)?;
        self.download.seal()?;
        self.summing.download.seal()?;
        self.captured.push_back((step.requested(), member));
        Ok(())
    }

    /// Queues all that a frame holds.
    fn gather(
        &self,
        member: usize,
        (arrays, budget): (&Arrays<R>, &BudgetSums<R>),
        step: &Stepper<R>,
    ) -> Result<()> {
        let (packing, staging) = (arrays.frame_layout, self.download.staging());
        arrays.pack_fields(member, staging)?;
        step.diagnose(member, arrays, staging, packing.state())?;
        arrays.pack_planes(member, staging, packing.fields())?;
        // The room begins with the state.
        self.summing.kernels.contents(staging, staging, packing.before_contents())?;
        let (state, indices) = ((staging, arrays.water(member)), arrays.order.indices(member));
        let main = &step.transports().main;
        self.summing.gather(state, arrays.flux(), main, (&budget.water, indices))
    }

    /// The oldest frame that has been begun, which has to be that of `member`, if it is here or `wait` says to wait for
    /// it.
    pub(super) fn end(
        &mut self,
        member: usize,
        wait: bool,
        (arrays, budget): (&Arrays<R>, &BudgetSums<R>),
        step: &Stepper<R>,
    ) -> Result<Option<CapturedFrame<R>>> {
        let oldest = self.captured.front().map_or(member, |(_, oldest)| *oldest);
        assert_eq!(oldest, member, "the member of the oldest frame");
        // The numbers are sent off last.
        if !wait && !self.summing.download.is_complete()? {
            return Ok(None);
        }
        let Some(&(number, member)) = self.captured.front() else { return Ok(None) };
        let Some(summary) = self.end_summary(member, (arrays, budget), step)? else {
            return Ok(None);
        };
        let (packing, set) = (arrays.frame_layout, &arrays.order.set);
        let parts = match self.early.take() {
            None => self.download.receive_parts(&packing.parts())?,
            early => early,
        };
        let Some(parts) = parts else { return Ok(None) };
        let frame = packing.captured(set, parts, summary);
        self.captured.pop_front();
        let checked = check_owned(&arrays.grid, &frame.state, number);
        checked.map_err(|error| arrays.with_member(member, error))?;
        if self.captured.is_empty() {
            self.gathered += self.marks[1].since(&self.marks[0])?;
        }
        Ok(Some(owned(&arrays.grid, frame)))
    }

    /// Statistics of levels of the whole grid, as of those of a frame.
    pub(super) fn statistics_of(
        &self,
        levels: &[(usize, Vec<R>)],
        count: usize,
    ) -> Result<Vec<Statistics<R>>> {
        self.summing.kernels.statistics_apart(levels, count)
    }

    /// The numbers of the oldest frame.
    fn end_summary(
        &mut self,
        member: usize,
        (arrays, budget): (&Arrays<R>, &BudgetSums<R>),
        step: &Stepper<R>,
    ) -> Result<Option<Summary<R>>> {
        let indices = arrays.order.indices(member);
        self.summing.receive(&step.transports().main, &budget.water, indices)
    }
}
