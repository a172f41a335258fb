//! Integration of many cells, in the lanes of vector registers and distributed among threads.
//!
//! Every lane has a cell with its own time, step and counters. All lanes attempt their steps together; a lane whose
//! cell is done takes the next cell at once, so that cells with many steps do not delay others. A cell has the same
//! operations in any lane and beside any other cells, so that its bits depend on its own data only.

use std::ops::Range;

use rayon::prelude::*;

use super::kinetics::Kinetics;
use super::lanes::{CELLS, Row, each};
use super::mechanism::expression::Input;
use super::rates::Program;
use super::rosenbrock::{Control, Counters, Factors, Method, Status, Tolerances, Work};
use crate::chemistry::rates::sun::sunlight;
use crate::simd::{Instructions, Task};
use crate::threads;

/// Treatment of rate constants during an integration.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RateUpdate {
    /// Rate constants of the start throughout.
    Frozen,
    /// Rate constants that follow the sun.
    Updated,
}

/// Settings of an integration.
#[derive(Clone, Copy, Debug)]
pub struct Settings {
    /// Method.
    pub method: Method,
    /// Tolerances.
    pub tolerances: Tolerances,
    /// Interval, s.
    pub interval: f64,
    /// First step, s; 0 for the default.
    pub first_step: f64,
    /// Rates during the integration.
    pub rates: RateUpdate,
}

/// Cells and their conditions; the values of a cell are contiguous.
#[derive(Clone, Debug, Default)]
pub struct Cells {
    /// Variable species in the order of the integration, molecules cm-3.
    pub variable: Vec<f64>,
    /// Fixed species, molecules cm-3.
    pub fixed: Vec<f64>,
    /// Temperature, K.
    pub temperature: Vec<f64>,
    /// 1e-6 of the number density of air, molecules cm-3.
    pub air_factor: Vec<f64>,
    /// Number density of air, molecules cm-3.
    pub air_density: Vec<f64>,
    /// Hydrolysis of N2O5, s-1.
    pub hydrolysis: Vec<f64>,
    /// Photolysis frequencies in the order of the mechanism, s-1.
    pub photolysis: Vec<f64>,
    /// The mechanism's quantities, cell by cell.
    pub quantities: Vec<f64>,
    /// Local solar time at the start, s.
    pub start: Vec<f64>,
    /// First step of each cell, s, 0 for that of the settings; empty for that of the settings in all cells.
    pub first_step: Vec<f64>,
}

impl Cells {
    /// Number of cells.
    pub fn len(&self) -> usize {
        self.temperature.len()
    }

    /// True if there are no cells.
    pub fn is_empty(&self) -> bool {
        self.temperature.is_empty()
    }

    /// The first array that does not have values for all cells, in words: those of the conditions, which may have more
    /// than the numbers of photolysis frequencies and of quantities that a program needs, and those of so many variable and
    /// fixed species.
    pub(super) fn misfit(&self, species: Option<[usize; 2]>, program: &Program) -> Option<String> {
        let count = self.len();
        for (name, values, each) in [
            ("photolysis", &self.photolysis, program.frequencies()),
            ("quantities", &self.quantities, program.quantities()),
        ] {
            let (least, found) = (each * count, values.len());
            if found < least || (count > 0 && !found.is_multiple_of(count)) {
                let needed = "or more, as many for each";
                return Some(format!(
                    "{found} values of {name}; {count} cells have {least} {needed}"
                ));
            }
        }
        let first_step = usize::from(!self.first_step.is_empty());
        let conditions = [
            ("air_factor", &self.air_factor, 1),
            ("air_density", &self.air_density, 1),
            ("hydrolysis", &self.hydrolysis, 1),
            ("start", &self.start, 1),
            ("first_step", &self.first_step, first_step),
        ];
        let species = species.map(|[variable, fixed]| {
            [("variable", &self.variable, variable), ("fixed", &self.fixed, fixed)]
        });
        let mut all = species.into_iter().flatten().chain(conditions);
        let (name, values, each) = all.find(|(_, values, each)| values.len() != each * count)?;
        let (found, needed) = (values.len(), each * count);
        Some(format!("{found} values of {name}; {count} cells have {needed}"))
    }
}

/// The end of a cell's integration.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Outcome {
    /// Success, or the reason of failure.
    pub status: Status,
    /// Counters.
    pub counters: Counters,
    /// Time reached, s.
    pub time: f64,
    /// Last accepted step, s.
    pub last_step: f64,
    /// Step that would come next, s.
    pub next_step: f64,
}

impl Outcome {
    /// That of a cell that was not integrated.
    pub(crate) fn failed(status: Status) -> Self {
        let counters = Counters::default();
        Self { status, counters, time: 0.0, last_step: 0.0, next_step: 0.0 }
    }

    /// The first step of the cell's next call, s: 0, for that of the settings, after a failure.
    pub(crate) fn step_of_next_call(&self) -> f64 {
        if self.status.is_success() { self.next_step } else { 0.0 }
    }
}

/// Lowest temperature in the valid range of rates, K.
pub const COLDEST: f64 = 1.0;
/// Highest temperature in the valid range of rates, K.
pub const HOTTEST: f64 = 10_000.0;

/// Quantities that are checked if rates use them.
const USABLE: [Input; 5] =
    [Input::Temperature, Input::AirFactor, Input::AirDensity, Input::Hydrolysis, Input::Sun];

/// Maximum number of cells in a piece of work of a thread.
const PIECE: usize = 1_024;
/// Pieces for each thread, if there are enough cells, which balances the load.
const PIECES_PER_THREAD: usize = 8;

/// Integrates all cells over the interval. A cell that fails keeps its concentrations.
///
/// # Panics
///
/// If an array does not have values for all cells of this mechanism, or the interval is not positive.
pub fn integrate(kinetics: &Kinetics, settings: &Settings, cells: &mut Cells) -> Vec<Outcome> {
    integrate_with(kinetics, settings, cells, Instructions::best())
}

/// Integrates all cells with given vector instructions, or without.
///
/// # Panics
///
/// As [`integrate`].
pub fn integrate_with(
    kinetics: &Kinetics,
    settings: &Settings,
    cells: &mut Cells,
    instructions: Option<Instructions>,
) -> Vec<Outcome> {
    let count = cells.len();
    let species = [kinetics.variables(), kinetics.fixed.len()];
    let misfit = cells.misfit(Some(species), &kinetics.rates);
    assert!(misfit.is_none(), "{}", misfit.unwrap_or_default());
    let Settings { interval, .. } = settings;
    assert!(*interval > 0.0 && interval.is_finite(), "an interval of {interval} s");
    if count == 0 {
        return Vec::new();
    }
    let piece = count.div_ceil(threads::count() * PIECES_PER_THREAD);
    let piece = piece.next_multiple_of(CELLS).min(PIECE);
    let mut variable = std::mem::take(&mut cells.variable);
    let conditions = &*cells;
    let uses = USABLE.map(|input| kinetics.rates.uses(input));
    let of_piece = |(number, variable)| {
        let first = number * piece;
        let piece = CellRange { kinetics, settings, cells: conditions, first, variable, uses };
        let integration = Integration::new(piece);
        match instructions {
            Some(set) => set.run(integration),
            None => integration.run(),
        }
    };
    let values = piece * kinetics.variables();
    let outcomes = if threads::is_alone() {
        variable.chunks_mut(values).enumerate().flat_map(of_piece).collect()
    } else {
        variable.par_chunks_mut(values).enumerate().flat_map_iter(of_piece).collect()
    };
    cells.variable = variable;
    outcomes
}

/// Rate constants of all reactions at the start, reaction by reaction for each cell.
///
/// # Panics
///
/// If an array of conditions does not have values for all cells.
pub fn rate_constants(kinetics: &Kinetics, cells: &Cells) -> Vec<f64> {
    let misfit = cells.misfit(None, &kinetics.rates);
    assert!(misfit.is_none(), "{}", misfit.unwrap_or_default());
    let mut results = vec![Row::default(); kinetics.rates.operations.len()];
    let mut constants = Vec::with_capacity(cells.len() * kinetics.reactions());
    for first in (0..cells.len()).step_by(CELLS) {
        kinetics.rates.evaluate(&mut results, |input| condition(cells, first, input));
        let lanes = 0..CELLS.min(cells.len() - first);
        constants.extend(lanes.flat_map(|lane| {
            let results = &results;
            kinetics.rates.rate.iter().map(move |&number| results[number as usize][lane])
        }));
    }
    constants
}

/// A quantity of the cells from `first` on; lanes beyond the last cell repeat its value.
#[inline(always)]
fn condition(cells: &Cells, first: usize, input: Input) -> Row {
    let last = cells.len() - 1;
    each(|lane| {
        let cell = (first + lane).min(last);
        match input {
            Input::Temperature => cells.temperature[cell],
            Input::AirFactor => cells.air_factor[cell],
            Input::AirDensity => cells.air_density[cell],
            Input::Sun => sunlight(cells.start[cell]),
            Input::Hydrolysis => cells.hydrolysis[cell],
            Input::Photolysis(number) => {
                cells.photolysis[cell * (cells.photolysis.len() / cells.len()) + number]
            }
            Input::Quantity(number) => {
                cells.quantities[cell * (cells.quantities.len() / cells.len()) + number]
            }
        }
    })
}

/// A contiguous piece of the cells.
struct CellRange<'a> {
    kinetics: &'a Kinetics,
    settings: &'a Settings,
    cells: &'a Cells,
    /// Index of the first cell.
    first: usize,
    /// Concentrations of variable species in the piece's cells.
    variable: &'a mut [f64],
    /// True for each of [`USABLE`] that the rates use.
    uses: [bool; USABLE.len()],
}

impl CellRange<'_> {
    fn len(&self) -> usize {
        self.variable.len() / self.kinetics.variables()
    }

    /// True if all conditions that rates use are in the valid range.
    fn has_good_conditions(&self, cell: usize) -> bool {
        let cells = self.cells;
        let is_positive = |x: f64| x > 0.0 && x.is_finite();
        let is_rate = |x: f64| x >= 0.0 && x.is_finite();
        let is_good = [
            (COLDEST..=HOTTEST).contains(&cells.temperature[cell]),
            is_positive(cells.air_factor[cell]),
            is_positive(cells.air_density[cell]),
            is_rate(cells.hydrolysis[cell]),
            cells.start[cell].is_finite(),
        ];
        let per_cell = cells.photolysis.len() / cells.len();
        let quantities = cells.quantities.len() / cells.len();
        cells.quantities[cell * quantities..][..quantities].iter().all(|x| x.is_finite())
            && is_good.iter().zip(&self.uses).all(|(is_good, is_used)| *is_good || !is_used)
            && cells.photolysis[cell * per_cell..][..per_cell].iter().all(|&j| is_rate(j))
    }
}

/// The integration of a piece.
struct Integration<'a> {
    piece: CellRange<'a>,
    work: Work,
    factors: Factors,
    /// The next cells, in the piece: up to [`CELLS`], whose rates are computed together before lanes take them.
    waiting: Range<usize>,
    /// Their rates; those of a cell are in the lane of its number modulo [`CELLS`].
    rates: Vec<Row>,
    control: [Control; CELLS],
    /// Cell of each lane, in the piece.
    cell: [Option<usize>; CELLS],
    outcomes: Vec<Outcome>,
}

impl<'a> Integration<'a> {
    fn new(piece: CellRange<'a>) -> Self {
        let nothing = Outcome::failed(Status::BAD_CONDITIONS);
        Self {
            work: Work::new(piece.kinetics, &piece.settings.method),
            factors: Factors::new(piece.kinetics),
            waiting: 0..0,
            rates: vec![Row::default(); piece.kinetics.rates.operations.len()],
            control: [Control::default(); CELLS],
            cell: [None; CELLS],
            outcomes: vec![nothing; piece.len()],
            piece,
        }
    }

    /// Fills a lane with the next cell, if there is one.
    #[inline(always)]
    fn load(&mut self, lane: usize) -> bool {
        let CellRange { kinetics, settings, cells, first: of_piece, .. } = self.piece;
        loop {
            let Some(cell) = self.waiting.next() else {
                let first = self.waiting.end;
                let count = CELLS.min(self.piece.len() - first);
                if count == 0 {
                    return false;
                }
                let start = of_piece + first;
                kinetics.rates.evaluate(&mut self.rates, |input| condition(cells, start, input));
                self.waiting = first..first + count;
                continue;
            };
            let place = of_piece + cell;
            let start = match settings.rates {
                RateUpdate::Frozen => 0.0,
                RateUpdate::Updated => cells.start[place],
            };
            if !self.piece.has_good_conditions(place) {
                self.outcomes[cell].time = start;
                continue;
            }
            for &number in &kinetics.rates.kept {
                let number = number as usize;
                self.work.rates[number][lane] = self.rates[number][cell % CELLS];
            }
            let (n, fixed) = (kinetics.variables(), kinetics.fixed.len());
            for (y, value) in self.work.y.iter_mut().zip(&self.piece.variable[cell * n..][..n]) {
                y[lane] = *value;
            }
            for (i, &value) in cells.fixed[place * fixed..][..fixed].iter().enumerate() {
                self.work.y[n + i][lane] = value;
                self.work.stage[n + i][lane] = value;
            }
            self.cell[lane] = Some(cell);
            let own = cells.first_step.get(place);
            let first_step = own.filter(|own| **own > 0.0).unwrap_or(&settings.first_step);
            self.control[lane] = Control::new(start, start + settings.interval, *first_step);
            return true;
        }
    }

    /// Stores the results of a lane's cell, and frees the lane.
    #[inline(always)]
    fn store(&mut self, lane: usize, status: Status) {
        let Some(cell) = self.cell[lane].take() else { return };
        let Control { time, step, last_step, counters, .. } = self.control[lane];
        self.outcomes[cell] = Outcome { status, counters, time, last_step, next_step: step };
        if status.is_success() {
            let n = self.piece.kinetics.variables();
            let values = &mut self.piece.variable[cell * n..][..n];
            for (value, y) in values.iter_mut().zip(&self.work.y) {
                *value = y[lane];
            }
        }
    }

    /// Begins a step in every lane; false if no cell is left.
    #[inline(always)]
    fn prepare(&mut self) -> bool {
        let mut is_busy = false;
        for lane in 0..CELLS {
            loop {
                if self.cell[lane].is_none() && !self.load(lane) {
                    // A dummy step for a lane without a cell.
                    self.control[lane].step = 1.0;
                    break;
                }
                if self.control[lane].is_retry {
                    break;
                }
                match self.control[lane].begin() {
                    None => {
                        let is_timed = self.piece.settings.rates == RateUpdate::Updated;
                        let counters = &mut self.control[lane].counters;
                        counters.functions += 1 + u32::from(is_timed);
                        counters.jacobians += 1;
                        break;
                    }
                    Some(status) => self.store(lane, status),
                }
            }
            is_busy |= self.cell[lane].is_some();
        }
        is_busy
    }

    /// Attempts the steps of all lanes.
    #[inline(always)]
    fn attempt(&mut self) {
        let CellRange { kinetics, settings, .. } = self.piece;
        let method = &settings.method;
        let is_timed = settings.rates == RateUpdate::Updated;
        let control = &self.control;
        let time = each(|lane| control[lane].time);
        let step = each(|lane| control[lane].step);
        let gamma = method.gamma[0];
        let diagonal = each(|lane| 1.0 / (step[lane] * gamma));
        self.work.begin(kinetics, is_timed, time);
        let is_regular = self.work.factorise(kinetics, &mut self.factors, diagonal);
        let errors = self.work.advance(
            kinetics,
            method,
            settings.tolerances,
            &mut self.factors,
            is_timed,
            [time, step],
        );
        let evaluations = method.evaluates[1..].iter().filter(|&&is| is).count() as u32;
        let mut is_accepted = [false; CELLS];
        for lane in 0..CELLS {
            if self.cell[lane].is_none() {
                continue;
            }
            let control = &mut self.control[lane];
            control.counters.factorisations += 1;
            let result = if is_regular[lane] {
                control.counters.functions += evaluations;
                control.counters.solutions += method.stages as u32;
                control.judge(errors[lane], method.order)
            } else {
                control.halve().map(|()| false)
            };
            match result {
                Ok(accepted) => is_accepted[lane] = accepted,
                Err(status) => self.store(lane, status),
            }
        }
        for (y, end) in self.work.y.iter_mut().zip(&self.work.end) {
            let before = *y;
            *y = each(|lane| if is_accepted[lane] { end[lane] } else { before[lane] });
        }
    }
}

impl Task for Integration<'_> {
    type Output = Vec<Outcome>;

    #[inline(always)]
    fn run(mut self) -> Vec<Outcome> {
        while self.prepare() {
            self.attempt();
        }
        self.outcomes
    }
}
