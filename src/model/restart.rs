//! A run that goes on from where an earlier one stood.

use std::sync::Arc;

use super::sequence::{FrameReport, Sequence};
use super::{RunInput, RunPrecision};
use crate::frame::{FrameRow, PastRun};
use crate::projection::ProjectionReport;
use crate::state::{Accumulators, Checkpoint};

/// Sums of the run that a checkpoint was taken of.
#[derive(Clone, Debug)]
pub struct PastTotals<R> {
    /// Accumulated sums.
    pub gathered: Accumulators<R>,
    /// Water at the start of the first run, kg.
    pub water_start: f64,
    /// Amount of each passive tracer then, kg of dry air times its units.
    pub passive_start: Vec<f64>,
}

impl<R: RunPrecision> RunInput<R> {
    /// Continues a run, from whose first remaining frame this case was made.
    pub fn resume(mut self, past: PastRun<R>) -> Self {
        let PastRun { checkpoint, column_mass, reports, water_start, passive_start } = past;
        let Checkpoint { state, gathered } = checkpoint;
        self.state = Some(state);
        Arc::make_mut(&mut self.given).column_mass = column_mass;
        let mut frames: Vec<FrameReport> = reports.iter().map(FrameReport::of).collect();
        frames.append(&mut self.input_frames);
        self.input_frames = frames;
        self.projection = self.input_frames[0].projection;
        self.max_dt =
            self.input_frames.iter().fold(f64::INFINITY, |dt, frame| dt.min(frame.max_dt));
        self.history = Some(PastTotals { gathered, water_start, passive_start });
        self
    }

    /// Number of the input frame before the present time, and what was found in those before it.
    pub(super) fn passed(&self) -> (usize, Vec<FrameRow>) {
        let number = self.sequence.as_ref().map_or(0, Sequence::number);
        (number, self.input_frames[..number].iter().map(FrameReport::row).collect())
    }
}

impl FrameReport {
    /// As a restart file holds it.
    fn row(&self) -> FrameRow {
        let projection = &self.projection;
        let figures = [
            projection.residual_before,
            projection.residual_after,
            projection.inflow,
            projection.iterations as f64,
            projection.max_du,
            projection.max_dv,
            projection.lid,
            self.max_dt,
            self.mass_change_mean,
            self.mass_change_max,
        ];
        FrameRow { time: self.time.clone(), figures }
    }

    /// A row of a restart file as a report.
    fn of(row: &FrameRow) -> Self {
        let [residual_before, residual_after, inflow, iterations, max_du, max_dv, ..] = row.figures;
        let [.., lid, max_dt, mass_change_mean, mass_change_max] = row.figures;
        let projection = ProjectionReport {
            residual_before,
            residual_after,
            inflow,
            iterations: iterations as usize,
            max_du,
            max_dv,
            lid,
        };
        Self { time: row.time.clone(), projection, max_dt, mass_change_mean, mass_change_max }
    }
}
