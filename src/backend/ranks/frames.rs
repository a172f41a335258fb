//! Frames and checkpoints of the whole, gathered from all ranks, and what each rank continues of a checkpoint.

use std::sync::Arc;

use ndarray::Array3;

use super::gathering::Gathering;
use super::{Ranked, Share};
use crate::backend::summary::statistics_of_levels;
use crate::backend::{CapturedFrame, ComputePrecision, Summary};
use crate::dry_mass::Outflow;
use crate::grid::Grid;
use crate::primitives::reduce::Number;
use crate::ranks::{Ranks, all};
use crate::state::{
    Accumulators, Checkpoint, ChemistryTally, CloudDiagnostics, State, Surface, TracerChange,
    WaterChange,
};

impl<R: ComputePrecision + Number> Ranked<R> {
    /// The frame of a member, with all columns on the first rank.
    pub(super) fn gather_frame(
        &self,
        member: usize,
        own: Option<&CapturedFrame<R>>,
    ) -> CapturedFrame<R> {
        let (ranks, gathering) = (&*self.ranks, self.gathering(member));
        let nz = self.grid.shape.nz;
        let volume =
            |levels: usize, field: Option<&Array3<R>>| gathering.volume(ranks, levels, field);
        let fields = (0..self.set.len())
            .map(|n| volume(nz, own.map(|frame| &frame.state.fields()[n])))
            .collect();
        let diagnosed = (0..self.set.volumes().len())
            .map(|n| volume(nz, own.map(|frame| &frame.diagnostics.fields()[n])))
            .collect();
        let surface = self.gather_surface(&gathering, own.map(|frame| &frame.surface));
        let contents = volume(self.set.water().len(), own.map(|frame| &frame.summary.contents));
        let state = State::new(Arc::clone(&self.set), fields);
        let levels = if ranks.rank() == 0 {
            let of_field = |field: &Array3<R>| statistics_of_levels(&self.grid, field);
            state.fields().iter().flat_map(of_field).collect()
        } else {
            Vec::new()
        };
        let account = self.exact_account(member);
        let summary = Summary {
            levels,
            contents,
            outflow: fastest(ranks, own.map(|frame| frame.summary.outflow)),
            water: account.water.value(),
            changes: account.changes.water.rounded(),
        };
        let diagnostics = CloudDiagnostics::of(&self.set, diagnosed);
        CapturedFrame { state, diagnostics, surface, summary }
    }

    fn gather_surface(&self, gathering: &Gathering, own: Option<&Surface<R>>) -> Surface<R> {
        let planes = (0..Surface::<R>::names(&self.set).count())
            .map(|n| gathering.plane(&*self.ranks, own.map(|surface| &surface.planes()[n])));
        Surface::of(&self.set, planes.collect())
    }

    /// A checkpoint of the whole on the first rank.
    pub(super) fn gather_checkpoint(&self, own: &Checkpoint<R>) -> Checkpoint<R> {
        let (ranks, gathering) = (&*self.ranks, self.gathering(0));
        let nz = self.grid.shape.nz;
        let Checkpoint { state, gathered } = own;
        let state = state.map(|field| gathering.volume(ranks, nz, Some(field)));
        let mut account = self.exact_account(0);
        let gathered = Accumulators {
            surface: self.gather_surface(&gathering, Some(&gathered.surface)),
            changes: account.changes.water.rounded(),
            passive: account.changes.rounded_passive(),
            chemistry: account.chemistry.unwrap_or_default(),
            first_steps: self.gather_first_steps(&gathered.first_steps),
            parts: account.changes.parts(),
        };
        Checkpoint { state, gathered }
    }

    /// First steps of the chemistry in all cells that have it, by level, row and column.
    fn gather_first_steps(&self, own: &[f64]) -> Vec<f64> {
        let (Share::Cells(parts), false) = (&self.share, own.is_empty()) else { return Vec::new() };
        let window = parts.grids()[self.ranks.rank()].unspecified();
        let shape = window.shape(self.grid.shape.nz);
        let own =
            Array3::from_shape_vec(shape.centre(), own.to_vec()).expect("a step for each cell");
        let gathering = Gathering::of_parts(parts.grids(), Grid::unspecified);
        let whole = gathering.volume(&*self.ranks, shape.nz, Some(&own));
        if self.ranks.rank() > 0 {
            return Vec::new();
        }
        self.grid.unspecified().of(&whole).iter().copied().collect()
    }

    /// Sums of an earlier run that this rank continues: its own columns, and on the first rank the sums.
    pub(super) fn resumed(&self, gathered: &Accumulators<R>) -> Accumulators<R> {
        let Some(part) = self.part() else { return gathered.clone() };
        let surface = gathered.surface.map(|plane| part.columns(plane));
        let mut first_steps = Vec::new();
        if !gathered.first_steps.is_empty() {
            let mut whole = Array3::zeros(self.grid.shape.centre());
            let mut inside = self.grid.unspecified().of_mut(&mut whole);
            inside.iter_mut().zip(&gathered.first_steps).for_each(|(x, step)| *x = *step);
            let own = part.cells(&whole);
            first_steps.extend(part.unspecified().of(&own).iter().copied());
        }
        if self.ranks.rank() == 0 {
            return Accumulators { surface, first_steps, ..gathered.clone() };
        }
        let ChemistryTally { waited, calls, .. } = gathered.chemistry;
        Accumulators {
            surface,
            changes: WaterChange::default(),
            passive: vec![TracerChange::default(); gathered.passive.len()],
            chemistry: ChemistryTally { waited, calls, ..ChemistryTally::default() },
            first_steps,
            parts: Vec::new(),
        }
    }
}

/// The cell that air leaves fastest among those of all ranks that have any; the first of equals.
fn fastest(ranks: &dyn Ranks, own: Option<Outflow>) -> Outflow {
    let mine = own.map_or([0; 5], |Outflow { rate, cell }| {
        let [k, j, i] = cell.map(|at| at as i64);
        [1, i64::from(rate.to_bits()), k, j, i]
    });
    let outflow = |[_, bits, k, j, i]: [i64; 5]| Outflow {
        rate: f32::from_bits(bits as u32),
        cell: [k, j, i].map(|at| at as usize),
    };
    let found = all(ranks, mine).into_iter().filter(|one| one[0] > 0).map(outflow);
    let faster = |a: Outflow, b: Outflow| {
        let is_first = b.rate > a.rate || (b.rate == a.rate && b.cell < a.cell);
        if is_first { b } else { a }
    };
    found.reduce(faster).unwrap_or_default()
}
