//! Chemistry of a run on the device: called between the steps, with everything where it is.

use std::collections::VecDeque;
use std::sync::Arc;

use crate::backend::chemistry::is_due;
use crate::backend::gpu::GpuPrecision;
use crate::backend::gpu::arrays::Arrays;
use crate::chemistry::coupled::Coupled;
use crate::chemistry::gpu::coupling::{Coupling, DeviceTally, ReactingGrid};
use crate::chemistry::zenith::Sun;
use crate::device::{Buffer, Event, Gpu};
use crate::dry_mass::gpu::LayeredPointers;
use crate::error::Result;
use crate::forcing::{TimeInterpolant, weight_between};
use crate::grid::gpu::Layout;
use crate::grid::{Grid, Window};
use crate::state::{ChemistryTally, TracerChange};

/// Most calls whose times are not read yet.
const MOST_RUNNING: usize = 64;

/// A mechanism at work.
#[derive(Debug)]
pub(super) struct ChemistryDriver<R> {
    coupled: Arc<Coupled>,
    coupling: Coupling<R>,
    grid: Grid,
    /// The columns with chemistry.
    reacting: Window,
    /// Number of the first field behind those of the scheme.
    carried: usize,
    /// Time of the end of the present step, s since the first frame of the input.
    now: f64,
    /// Times of the frames before and after the present step.
    frames: [f64; 2],
    /// Tally of the host: of all calls but what the device counts, which is here as it was when its words were set.
    host: ChemistryTally,
    /// Marks before and after each call that is under way, the oldest first.
    running: VecDeque<[Event; 2]>,
    /// Marks for later calls.
    idle: Vec<[Event; 2]>,
    /// Time of all calls that are done, s.
    seconds: f64,
}

impl<R: GpuPrecision> ChemistryDriver<R> {
    /// Compiles the kernels and allocates the memory; `mass` is that of the cells.
    pub(super) fn new(
        gpu: &Gpu,
        coupled: &Arc<Coupled>,
        arrays: &Arrays<R>,
        mass: LayeredPointers<R>,
    ) -> Result<Self> {
        let (reacting, inner) = (arrays.grid.unspecified(), arrays.grid.inner());
        let place = |field: usize| arrays.order.place(0, field);
        let grid = ReactingGrid { layout: arrays.layout, reacting: &reacting, inner: &inner };
        let coupling = Coupling::new(gpu, (coupled, arrays.has_sequence()), grid, mass, &place)?;
        Ok(Self {
            coupled: Arc::clone(coupled),
            coupling,
            grid: arrays.grid,
            reacting,
            carried: arrays.order.set.carried(),
            now: 0.0,
            frames: [0.0; 2],
            host: ChemistryTally::default(),
            running: VecDeque::new(),
            idle: Vec::new(),
            seconds: 0.0,
        })
    }

    /// Counts a step; true if a call is due.
    pub(super) fn count(&mut self, dt: f64) -> Result<bool> {
        self.read()?;
        self.host.waited += dt;
        Ok(is_due(self.host.waited, self.coupled.interval))
    }

    /// Launches the chemistry of all steps since the last call, on the fields of all states in this air.
    pub(super) fn react(&mut self, gpu: &Gpu, fields: (&Buffer<R>, &Buffer<R>)) -> Result<()> {
        let interval = std::mem::take(&mut self.host.waited);
        self.host.calls += 1;
        self.host.cells += self.coupling.cells() as u64;
        let middle = self.now - 0.5 * interval;
        let sun = Sun::at(self.coupled.date, middle);
        let light = (sun, weight_between(self.frames, middle));
        let marks = match self.idle.pop() {
            Some(marks) => marks,
            None => [Event::for_timing(gpu)?, Event::for_timing(gpu)?],
        };
        marks[0].record(gpu)?;
        self.coupling.react(fields, (&*self.coupled, interval), light, self.host.calls)?;
        marks[1].record(gpu)?;
        self.running.push_back(marks);
        Ok(())
    }

    /// Takes the time of the present step and those of its frames.
    pub(super) fn drive(&mut self, moment: &TimeInterpolant<R>) {
        (self.now, self.frames) = (moment.seconds, moment.times);
    }

    /// Copies the light of the frames of a moment to the device, where they give it.
    pub(super) fn upload_photolysis(
        &self,
        moment: &TimeInterpolant<R>,
        layout: Layout,
    ) -> Result<()> {
        let after = moment.after.as_ref().unwrap_or(&moment.before);
        self.coupling.upload_photolysis(layout, [&moment.before.photolysis, &after.photolysis])
    }

    /// Adds up the times of the calls that are done. Calls differ, from cold cells to warm ones, so each is timed.
    /// Waits while too many are under way.
    fn read(&mut self) -> Result<()> {
        while let Some(marks) = self.running.pop_front() {
            let [start, end] = &marks;
            if self.running.len() >= MOST_RUNNING {
                end.wait()?;
            }
            if !end.is_reached()? {
                self.running.push_front(marks);
                break;
            }
            self.seconds += end.since(start)?;
            self.idle.push(marks);
        }
        Ok(())
    }

    /// Time of all calls that are done, s. Waits for no more of them than [`Self::read`] does.
    pub(super) fn time(&mut self) -> Result<f64> {
        self.read()?;
        Ok(self.seconds)
    }

    /// Tally of all calls. Waits for the device.
    pub(super) fn tally(&self) -> Result<ChemistryTally> {
        let DeviceTally { steps, most, failed, first } = self.coupling.done()?;
        let host = self.host;
        let place = |cell: usize| {
            let Window { rows, columns } = &self.reacting;
            let (i, row) = (cell % columns.len(), cell / columns.len());
            let own = [rows.start + row % rows.len(), columns.start + i];
            let [j, i] = self.grid.global_column(own);
            [i, j, row / rows.len()]
        };
        let first_failed = match first {
            Some((cell, code)) if host.failed == 0 => (code, place(cell)),
            _ => host.first_failed,
        };
        let (steps, most, failed) = (host.steps + steps, host.most.max(most), host.failed + failed);
        Ok(ChemistryTally { steps, most, failed, first_failed, ..host })
    }

    /// First steps of the cells' next calls, s. Waits for the device.
    pub(super) fn first_steps(&self) -> Result<Vec<f64>> {
        self.coupling.first_steps()
    }

    /// Adds what reactions and clipping have made to the changes of the tracers behind the water.
    pub(super) fn add_changes(&self, changes: &mut [TracerChange]) -> Result<()> {
        let made = self.coupling.changes()?;
        for (field, [reacted, clipped]) in self.coupled.variable().into_iter().zip(made) {
            let change = &mut changes[field - self.carried];
            change.reacted += reacted;
            change.clipped += clipped;
        }
        Ok(())
    }

    /// Goes on from what had been done, or from nothing.
    pub(super) fn resume_from(
        &mut self,
        tally: ChemistryTally,
        changes: &[TracerChange],
        first_steps: &[f64],
    ) -> Result<()> {
        self.coupling.set_first_steps(first_steps)?;
        self.host = tally;
        let of_field = |field: usize| {
            changes
                .get(field - self.carried)
                .map_or([0.0; 2], |change| [change.reacted, change.clipped])
        };
        let fields = self.coupled.variable();
        self.coupling.resume(&fields.into_iter().map(of_field).collect::<Vec<_>>())
    }
}
