//! The chemistry of a run on the CPU: every so often, in all cells that the microphysics has too.

use std::sync::Arc;

use ndarray::Array3;
use rayon::prelude::*;

use super::BudgetDomain;
use super::exact_budget::ExactTracerChange;
use crate::chemistry::cells::{Outcome, integrate};
use crate::chemistry::coupled::{Coupled, Daylight, Light};
use crate::chemistry::coupling::mixing_ratio;
use crate::constants::Constants;
use crate::dry_mass::AirMass;
use crate::forcing::blend::blend;
use crate::forcing::{TimeInterpolant, weight_between};
use crate::grid::{Grid, Shape, Window};
use crate::primitives::exact_sum::ExactSum;
use crate::state::{ChemistryTally, Environment, State, memory};

/// Cells that are worked on together.
const CELLS_AT_A_TIME: usize = 2_048;

/// Part of an interval that rounding takes from a sum of steps.
const SLACK: f64 = 1e-9;

/// A mechanism at work.
#[derive(Debug)]
pub(super) struct ChemistryDriver<R> {
    coupled: Arc<Coupled>,
    /// Time of the end of the present step, s since the first frame of the input.
    now: f64,
    /// The frames of the present step, where they give the light.
    frames: Option<TimeInterpolant<R>>,
    /// Photolysis frequencies between two frames, s⁻¹.
    light: Vec<Array3<R>>,
    /// Tally of all calls.
    pub(super) tally: ChemistryTally,
    /// First steps of the cells' next calls, s; empty where they are the same in every call, and before the first one.
    pub(super) first_steps: Vec<f64>,
}

/// Cells after a call.
struct CellResults<R> {
    /// Their numbers.
    cells: Vec<usize>,
    /// Mixing ratios of the variable species, ppmv. Shape: (species, cell).
    values: Vec<R>,
    outcomes: Vec<Outcome>,
    /// Change of each variable species by reactions and by clipping, kg of dry air times ppmv.
    changes: Vec<[ExactSum; 2]>,
}

/// True where chemistry is due after `waited` seconds.
pub(super) fn is_due(waited: f64, interval: f64) -> bool {
    waited >= interval * (1.0 - SLACK)
}

/// The cells that have chemistry: all owned ones but those of specified rows.
pub(super) fn cells_of(grid: &Grid) -> Vec<usize> {
    let (shape, Window { rows, columns }) = (grid.shape, grid.unspecified());
    let levels = 0..shape.nz;
    levels
        .flat_map(|k| rows.clone().map(move |j| k * shape.ny + j))
        .flat_map(|row| columns.clone().map(move |i| row * shape.nx + i))
        .collect()
}

/// The cells of a grid with the mass of their air.
#[derive(Clone, Copy)]
pub(super) struct CellAir<'a, R> {
    pub(super) grid: &'a Grid,
    /// Columns of the budgets.
    pub(super) region: &'a BudgetDomain,
    pub(super) mass: &'a AirMass<R>,
}

impl<R: Constants> ChemistryDriver<R> {
    pub(super) fn new(coupled: Arc<Coupled>) -> Self {
        let (tally, first_steps) = (ChemistryTally::default(), Vec::new());
        Self { coupled, now: 0.0, frames: None, light: Vec::new(), tally, first_steps }
    }

    /// Takes the time of the present step, and its light where the input gives it.
    pub(super) fn drive(&mut self, moment: &TimeInterpolant<R>) {
        self.now = moment.seconds;
        self.frames = (self.coupled.light == Light::Prescribed).then(|| moment.clone());
    }

    /// Makes the photolysis frequencies of the input at a time, s since the first frame.
    fn set_photolysis(&mut self, seconds: f64) {
        let Some(TimeInterpolant { before, after: Some(after), times, .. }) = &self.frames else {
            return;
        };
        let weight = weight_between(*times, seconds);
        if self.light.len() != before.photolysis.len() {
            self.light.clone_from(&before.photolysis);
        }
        for ((out, a), b) in self.light.iter_mut().zip(&before.photolysis).zip(&after.photolysis) {
            blend(out, a, b, weight);
        }
    }

    /// Counts a step of `dt` seconds, and has the chemistry of all steps since the last call where it is due; `changes`
    /// are those of the tracers behind the water. True where it was.
    pub(super) fn step(
        &mut self,
        dt: f64,
        air: CellAir<'_, R>,
        environment: &Environment<R>,
        state: &mut State<R>,
        changes: &mut [ExactTracerChange],
    ) -> bool {
        self.tally.waited += dt;
        if !is_due(self.tally.waited, self.coupled.interval) {
            return false;
        }
        let interval = std::mem::take(&mut self.tally.waited);
        let CellAir { grid, .. } = air;
        let shape = grid.shape;
        let middle = self.now - 0.5 * interval;
        self.set_photolysis(middle);
        let coupled = &*self.coupled;
        let daylight = coupled.daylight([shape.ny, shape.nx], middle);
        let prescribed = match &self.frames {
            Some(TimeInterpolant { before, after: None, .. }) => &before.photolysis[..],
            _ => &self.light[..],
        };
        let fields = coupled.variable();
        let cells = cells_of(grid);
        let wave = CELLS_AT_A_TIME * rayon::current_num_threads();
        self.tally.calls += 1;
        let mut begun = std::mem::take(&mut self.first_steps);
        if begun.len() != cells.len() {
            begun.clear();
        }
        for (number, cells) in cells.chunks(wave).enumerate() {
            let solved: Vec<CellResults<R>> = cells
                .par_chunks(CELLS_AT_A_TIME)
                .enumerate()
                .map(|(piece, cells)| {
                    let first = number * wave + piece * CELLS_AT_A_TIME;
                    let steps = begun.get(first..first + cells.len()).unwrap_or_default();
                    let light = (&daylight, interval);
                    let given = (environment, prescribed);
                    solve(coupled, light, air, given, (state, &fields), (cells, steps))
                })
                .collect();
            for solved in solved {
                solved.store(&fields, state, changes);
                self.tally.count(&solved.outcomes, &solved.cells, grid);
                if coupled.keeps_steps {
                    self.first_steps.extend(solved.outcomes.iter().map(Outcome::step_of_next_call));
                }
            }
        }
        true
    }
}

impl ChemistryTally {
    /// Counts cells by their numbers in a grid.
    fn count(&mut self, outcomes: &[Outcome], cells: &[usize], grid: &Grid) {
        let Shape { nx, ny, .. } = grid.shape;
        for (outcome, &cell) in outcomes.iter().zip(cells) {
            let steps = u64::from(outcome.counters.steps);
            self.cells += 1;
            self.steps += steps;
            self.most = self.most.max(steps);
            if outcome.status.is_success() {
                continue;
            }
            if self.failed == 0 {
                let [j, i] = grid.global_column([cell / nx % ny, cell % nx]);
                let place = [i, j, cell / nx / ny];
                self.first_failed = (outcome.status.0, place);
            }
            self.failed += 1;
        }
    }
}

/// Integrates some cells.
fn solve<R: Constants>(
    coupled: &Coupled,
    (daylight, interval): (&Daylight, f64),
    CellAir { region, mass, .. }: CellAir<'_, R>,
    given: (&Environment<R>, &[Array3<R>]),
    (state, fields): (&State<R>, &[usize]),
    (numbers, first_steps): (&[usize], &[f64]),
) -> CellResults<R> {
    let mut cells = coupled.cells(state, given, daylight, numbers);
    cells.first_step = first_steps.to_vec();
    let outcomes = integrate(&coupled.kinetics, &coupled.settings(interval), &mut cells);
    let (ny, nx) = region.area.dim();
    let masses: Vec<f64> = numbers
        .iter()
        .map(|cell| {
            let (i, j, k) = (cell % nx, cell / nx % ny, cell / nx / ny);
            let is_inside = region.rows.contains(&j) && region.columns.contains(&i);
            if is_inside { mass.cell.at(k, j, i).f64() } else { 0.0 }
        })
        .collect();
    let mut values = Vec::with_capacity(fields.len() * numbers.len());
    let mut changes = vec![<[ExactSum; 2]>::default(); fields.len()];
    for (species, &field) in fields.iter().enumerate() {
        let before = memory(&state.fields()[field]);
        for (place, &cell) in numbers.iter().enumerate() {
            let old = before[cell];
            if !outcomes[place].status.is_success() {
                values.push(old);
                continue;
            }
            let y = cells.variable[place * fields.len() + species];
            let made = mixing_ratio(y, cells.air_density[place]);
            let (start, end) = (old.f64().max(0.0), made.max(0.0));
            let [reacted, clipped] = &mut changes[species];
            reacted.add(masses[place] * (made - start));
            clipped.add(masses[place] * ((start - old.f64()) + (end - made)));
            // Subnormal numbers cost much time and mean nothing.
            values.push(R::normal(R::of(end)));
        }
    }
    CellResults { cells: numbers.to_vec(), values, outcomes, changes }
}

impl<R: Constants> CellResults<R> {
    /// Puts the values into the fields and adds the changes.
    fn store(&self, fields: &[usize], state: &mut State<R>, changes: &mut [ExactTracerChange]) {
        let carried = state.set().carried();
        let per_species = self.values.chunks_exact(self.cells.len());
        for ((&field, values), [reacted, clipped]) in
            fields.iter().zip(per_species).zip(&self.changes)
        {
            let out = state.fields_mut()[field].as_slice_mut().expect("standard layout");
            for (&cell, &value) in self.cells.iter().zip(values) {
                out[cell] = value;
            }
            let change = &mut changes[field - carried];
            change.reacted += reacted;
            change.clipped += clipped;
        }
    }
}
