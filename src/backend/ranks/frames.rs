//! Frames and checkpoints: of a part with figures of the whole, or of a member, gathered on the first rank; and what each
//! rank continues of a checkpoint.

use std::sync::Arc;

use ndarray::Array3;

use super::Ranked;
use super::gathering::Gathering;
use crate::backend::{CapturedFrame, ComputePrecision, Summary};
use crate::dry_mass::Outflow;
use crate::error::Result;
use crate::grid::{DividedGrid, Slab};
use crate::primitives::reduce::{Extrema, Number, Statistics};
use crate::ranks::{Ranks, all};
use crate::real::Real;
use crate::state::{
    Accumulators, Checkpoint, ChemistryTally, CloudDiagnostics, State, Surface, TracerChange,
    WaterChange,
};

impl<R: ComputePrecision + Number> Ranked<R> {
    /// The frame of a part: its own columns, with figures of the whole; those of the levels are on the first rank alone.
    pub(super) fn divided_frame(
        &mut self,
        divided: &DividedGrid,
        own: CapturedFrame<R>,
    ) -> Result<CapturedFrame<R>> {
        let account = self.exact_account(0)?;
        let summary = Summary {
            levels: self.levels_of_whole(divided, own.state.fields())?,
            outflow: fastest(&*self.ranks, Some(own.summary.outflow)),
            water: account.water.value(),
            changes: account.changes.water.rounded(),
            ..own.summary
        };
        Ok(CapturedFrame { summary, ..own })
    }

    /// Statistics of the levels of fields, each level brought together on one rank, in turn; on the first rank alone.
    /// The fields are those of the owned columns.
    fn levels_of_whole(
        &self,
        divided: &DividedGrid,
        fields: &[Array3<R>],
    ) -> Result<Vec<Statistics<R>>> {
        let ranks = &*self.ranks;
        let layout = divided.layout([0, 0]);
        let [ny, _] = layout.extents();
        let nz = divided.own().shape.nz;
        let count = nz * fields.len();
        let mut numbers: Vec<LevelNumbers> = vec![LevelNumbers::default(); count];
        for (before, field) in (0..).step_by(nz).zip(fields) {
            let mut own = Vec::new();
            for first in (0..nz).step_by(ranks.size()) {
                let of_rank = |rank: usize| {
                    let level = first + rank;
                    (level < nz).then(|| Slab { levels: level..level + 1, rows: 0..ny })
                };
                let wanted: Vec<_> = (0..ranks.size()).map(of_rank).collect();
                let level = layout.slabs(ranks, &field.view(), &wanted);
                if !level.is_empty() {
                    own.push((before + first + ranks.rank(), level));
                }
            }
            let found = self.part_backend.statistics_of(&own, count)?;
            for ((number, _), level) in own.iter().zip(found) {
                numbers[*number] = level_numbers(level);
            }
        }
        Ok(levels_on_first(ranks, numbers))
    }

    /// The frame of a member, with all columns on the first rank.
    pub(super) fn gather_frame(
        &mut self,
        member: usize,
        own: Option<&CapturedFrame<R>>,
    ) -> Result<CapturedFrame<R>> {
        let account = self.exact_account(member)?;
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
        let own_levels = own.map_or(&[][..], |frame| &frame.summary.levels);
        let mut levels: Vec<_> = own_levels.iter().map(|level| level_numbers(*level)).collect();
        levels.resize(nz * self.set.len(), LevelNumbers::default());
        let levels = levels_on_first(ranks, levels);
        let summary = Summary {
            levels,
            contents,
            outflow: fastest(ranks, own.map(|frame| frame.summary.outflow)),
            water: account.water.value(),
            changes: account.changes.water.rounded(),
        };
        let diagnostics = CloudDiagnostics::of(&self.set, diagnosed);
        Ok(CapturedFrame { state, diagnostics, surface, summary })
    }

    fn gather_surface(&self, gathering: &Gathering, own: Option<&Surface<R>>) -> Surface<R> {
        let planes = (0..Surface::<R>::names(&self.set).count())
            .map(|n| gathering.plane(&*self.ranks, own.map(|surface| &surface.planes()[n])));
        Surface::of(&self.set, planes.collect())
    }

    /// The checkpoint of a part: its own columns, and the sums of the whole.
    pub(super) fn divided_checkpoint(&mut self, own: Checkpoint<R>) -> Result<Checkpoint<R>> {
        let mut account = self.exact_account(0)?;
        let gathered = Accumulators {
            changes: account.changes.water.rounded(),
            passive: account.changes.rounded_passive(),
            chemistry: account.chemistry.unwrap_or_default(),
            parts: account.changes.parts(),
            ..own.gathered
        };
        Ok(Checkpoint { gathered, ..own })
    }

    /// Sums of an earlier run that this rank continues: its own columns, which it has, and on the first rank the sums.
    pub(super) fn resumed(&self, gathered: &Accumulators<R>) -> Accumulators<R> {
        if self.ranks.rank() == 0 || self.divided().is_none() {
            return gathered.clone();
        }
        let ChemistryTally { waited, calls, .. } = gathered.chemistry;
        Accumulators {
            changes: WaterChange::default(),
            passive: vec![TracerChange::default(); gathered.passive.len()],
            chemistry: ChemistryTally { waited, calls, ..ChemistryTally::default() },
            parts: Vec::new(),
            ..gathered.clone()
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

/// Statistics of a level as integers, of which a rank that does not have it has zeros.
type LevelNumbers = [i64; 8];

/// Statistics of levels of which each rank has some, on the first rank; none on the others.
fn levels_on_first<R: Real>(
    ranks: &dyn Ranks,
    mut numbers: Vec<LevelNumbers>,
) -> Vec<Statistics<R>> {
    ranks.sum(numbers.as_flattened_mut());
    if ranks.rank() > 0 {
        return Vec::new();
    }
    numbers.into_iter().map(level_statistics).collect()
}

fn level_numbers<R: Real>(level: Statistics<R>) -> LevelNumbers {
    let bits = |x: f64| x.to_bits().cast_signed();
    let Statistics { extrema, sum, squares, nans } = level;
    let [min, min_at, max, max_at] = extrema.map_or([0; 4], |found| {
        let Extrema { min, min_at, max, max_at } = found;
        [bits(min.f64()), min_at as i64, bits(max.f64()), max_at as i64]
    });
    let has = i64::from(extrema.is_some());
    [has, min, min_at, max, max_at, bits(sum), bits(squares), nans as i64]
}

fn level_statistics<R: Real>(numbers: LevelNumbers) -> Statistics<R> {
    let value = |bits: i64| f64::from_bits(bits.cast_unsigned());
    let [has, min, min_at, max, max_at, sum, squares, nans] = numbers;
    let extrema = (has > 0).then(|| Extrema {
        min: R::of(value(min)),
        min_at: min_at as usize,
        max: R::of(value(max)),
        max_at: max_at as usize,
    });
    Statistics { extrema, sum: value(sum), squares: value(squares), nans: nans as usize }
}
