//! One step of a Rosenbrock method in all lanes.

use super::Method;
use crate::chemistry::kinetics::{Kinetics, Lists, Term};
use crate::chemistry::lanes::{Row, each};
use crate::chemistry::rates::sun::sunlight;

/// Tolerances of the error of a step.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Tolerances {
    /// Relative to the concentration.
    pub relative: f64,
    /// Absolute, molecules cm-3.
    pub absolute: f64,
}

/// Number of independent partial sums of squares, each of every SUMS-th species: additions to a single sum would wait
/// for one another.
pub const PARTIAL_SUMS: usize = 8;

/// Lower bound of the time in the step of the finite difference for ∂f/∂t, s.
pub const SHORTEST_TIME: f64 = 1e-6;

/// Concentrations and all results of a step, for the cells of all lanes.
#[derive(Clone, Debug)]
pub struct Work {
    /// Results of the rate program.
    pub rates: Vec<Row>,
    /// Concentrations, variable species first.
    pub y: Vec<Row>,
    /// Concentrations of a stage; the fixed ones at the end are those of `y`.
    pub stage: Vec<Row>,
    /// f at the beginning of the step.
    pub start: Vec<Row>,
    /// f of the latest stage.
    f: Vec<Row>,
    /// ∂f/∂t.
    drift: Vec<Row>,
    /// Stages k, one after the other.
    k: Vec<Row>,
    /// Right side of a linear system.
    right: Vec<Row>,
    /// Rates of the reactions.
    reactions: Vec<Row>,
    /// Derivatives of reactions.
    partials: Vec<Row>,
    /// Solution at the end of the step.
    pub end: Vec<Row>,
}

/// The matrix, its factors and a right side.
#[derive(Clone, Debug)]
pub struct Factors {
    /// Factors, in the positions of the entries of the matrix.
    pub matrix: Vec<Row>,
    /// Inverses of the pivots.
    pub inverse: Vec<Row>,
    /// Right side, then solution.
    pub x: Vec<Row>,
}

impl Factors {
    /// Allocates the factors of a mechanism.
    pub fn new(kinetics: &Kinetics) -> Self {
        let rows = |count| vec![Row::<f64>::default(); count];
        let n = kinetics.variables();
        Self { matrix: rows(kinetics.lu.entries()), inverse: rows(n), x: rows(n) }
    }
}

/// Sums of terms, one for each list.
#[inline(always)]
fn sums(lists: &Lists<Term>, values: &[Row], out: &mut [Row]) {
    for (terms, out) in lists.iter().zip(out) {
        *out = sum(terms, values);
    }
}

#[inline(always)]
fn sum(terms: &[Term], values: &[Row]) -> Row {
    let mut sum = Row::default();
    for term in terms {
        let (before, value): (Row, Row) = (sum, values[term.index as usize]);
        sum = each(|lane| term.coefficient.mul_add(value[lane], before[lane]));
    }
    sum
}

#[inline(always)]
fn product(rate: Row, factors: &[u32], y: &[Row]) -> Row {
    let mut product = rate;
    for &factor in factors {
        let (before, value) = (product, y[factor as usize]);
        product = each(|lane| before[lane] * value[lane]);
    }
    product
}

/// f = dy/dt at given concentrations, with the current rate constants.
#[inline(always)]
fn tendencies(kinetics: &Kinetics, rates: &[Row], y: &[Row], reactions: &mut [Row], f: &mut [Row]) {
    let each_reaction = kinetics.factors.iter().zip(&kinetics.rates.rate).zip(&mut *reactions);
    for ((factors, &rate), reaction) in each_reaction {
        *reaction = product(rates[rate as usize], factors, y);
    }
    sums(&kinetics.net, reactions, f);
}

/// Step of the finite difference for ∂f/∂t, s.
#[inline(always)]
fn reach_of(time: Row) -> Row {
    each(|lane| f64::EPSILON.sqrt() * time[lane].abs().max(SHORTEST_TIME))
}

/// Evaluates the rate constants that depend on time at another time.
#[inline(always)]
fn set_time(kinetics: &Kinetics, rates: &mut [Row], time: Row) {
    if !kinetics.rates.timed.is_empty() {
        kinetics.rates.evaluate_timed(rates, each(|lane| sunlight(time[lane])));
    }
}

impl Work {
    /// Allocates the arrays for a mechanism and a method.
    pub fn new(kinetics: &Kinetics, method: &Method) -> Self {
        let rows = |count| vec![Row::default(); count];
        let n = kinetics.variables();
        Self {
            rates: rows(kinetics.rates.operations.len()),
            y: rows(kinetics.species()),
            stage: rows(kinetics.species()),
            start: rows(n),
            f: rows(n),
            drift: rows(n),
            k: rows(n * method.stages),
            right: rows(n),
            reactions: rows(kinetics.reactions()),
            partials: rows(kinetics.partials.len()),
            end: rows(n),
        }
    }

    /// f, the derivatives for the Jacobian and, with rates that depend on time, ∂f/∂t at the beginning of a step.
    #[inline(always)]
    pub fn begin(&mut self, kinetics: &Kinetics, is_timed: bool, time: Row) {
        if is_timed {
            let reach = reach_of(time);
            set_time(kinetics, &mut self.rates, each(|lane| time[lane] + reach[lane]));
            tendencies(kinetics, &self.rates, &self.y, &mut self.reactions, &mut self.drift);
            set_time(kinetics, &mut self.rates, time);
        }
        tendencies(kinetics, &self.rates, &self.y, &mut self.reactions, &mut self.start);
        if is_timed {
            let reach = reach_of(time);
            for (drift, start) in self.drift.iter_mut().zip(&self.start) {
                let later = *drift;
                *drift = each(|lane| (later[lane] - start[lane]) / reach[lane]);
            }
        }
        let each_partial = kinetics.partials.iter().zip(kinetics.partial_factors.iter());
        for ((partial, factors), out) in each_partial.zip(&mut self.partials) {
            let rate = kinetics.rates.rate[partial.reaction as usize];
            *out = product(self.rates[rate as usize], factors, &self.y);
        }
    }

    /// Factors of I/(hγ) - J; the result is true for the cells with a regular matrix.
    #[inline(always)]
    pub fn factorise(
        &self,
        kinetics: &Kinetics,
        factors: &mut Factors,
        diagonal: Row,
    ) -> Row<bool> {
        let lu = &kinetics.lu;
        let mut smallest = Row::all(f64::INFINITY);
        for row in 0..lu.size() {
            // A row is computed just before its elimination, while it is in the L1 cache.
            let entries = lu.row(row);
            let place = lu.diagonal[row] as usize;
            let value = sum(kinetics.jacobian.list(place), &self.partials);
            let on_diagonal = each(|lane| diagonal[lane] - value[lane]);
            for entry in entries {
                let value = sum(kinetics.jacobian.list(entry), &self.partials);
                factors.matrix[entry] = each(|lane| -value[lane]);
            }
            factors.matrix[place] = on_diagonal;
            let pivot = lu.eliminate(row, &mut factors.matrix, &mut factors.inverse);
            let before = smallest;
            smallest =
                each(|lane| if pivot[lane] < before[lane] { pivot[lane] } else { before[lane] });
        }
        // Smaller pivots are subnormal. A NaN does not count as singular: it makes the error of the step NaN.
        let least = f64::MIN_POSITIVE;
        each(|lane| smallest[lane] >= least)
    }

    /// The stages, the solution and the error of a step.
    #[inline(always)]
    pub(crate) fn advance(
        &mut self,
        kinetics: &Kinetics,
        method: &Method,
        tolerances: Tolerances,
        factors: &mut Factors,
        is_timed: bool,
        [time, step]: [Row; 2],
    ) -> Row {
        let n = kinetics.variables();
        let inverse_step = each(|lane| 1.0 / step[lane]);
        for stage in 0..method.stages {
            let (done, rest) = self.k.split_at_mut(stage * n);
            if stage > 0 && method.evaluates[stage] {
                for i in 0..n {
                    let mut value = self.y[i];
                    for (j, &a) in method.a_row(stage).iter().enumerate() {
                        let (before, k) = (value, done[j * n + i]);
                        value = each(|lane| a.mul_add(k[lane], before[lane]));
                    }
                    self.stage[i] = value;
                }
                if is_timed {
                    let alpha = method.alpha[stage];
                    let moment = each(|lane| alpha.mul_add(step[lane], time[lane]));
                    set_time(kinetics, &mut self.rates, moment);
                }
                tendencies(kinetics, &self.rates, &self.stage, &mut self.reactions, &mut self.f);
            }
            let gamma = method.gamma[stage];
            let weight = each(|lane| gamma * step[lane]);
            if stage == 0 {
                self.f.copy_from_slice(&self.start);
            }
            for i in 0..n {
                let mut value = self.f[i];
                for (j, &c) in method.c_row(stage).iter().enumerate() {
                    let (before, k) = (value, done[j * n + i]);
                    value = each(|lane| (c * inverse_step[lane]).mul_add(k[lane], before[lane]));
                }
                if is_timed && gamma != 0.0 {
                    let (before, drift) = (value, self.drift[i]);
                    value = each(|lane| weight[lane].mul_add(drift[lane], before[lane]));
                }
                self.right[i] = value;
            }
            let k = &mut rest[..n];
            factors.x.copy_from_slice(&self.right);
            kinetics.lu.solve(&factors.matrix, &factors.inverse, &mut factors.x);
            k.copy_from_slice(&factors.x);
        }
        self.error(method, tolerances, n)
    }

    /// The solution at the end of the step, and its error in units of the tolerances.
    #[inline(always)]
    fn error(&mut self, method: &Method, tolerances: Tolerances, n: usize) -> Row {
        let mut squares = [Row::<f64>::default(); PARTIAL_SUMS];
        for i in 0..n {
            let start = self.y[i];
            let (mut end, mut error): (Row, Row) = (start, Row::default());
            for stage in 0..method.stages {
                let k = self.k[stage * n + i];
                let (m, e) = (method.m[stage], method.e[stage]);
                let before = end;
                end = each(|lane| m.mul_add(k[lane], before[lane]));
                if e != 0.0 {
                    let before = error;
                    error = each(|lane| e.mul_add(k[lane], before[lane]));
                }
            }
            self.end[i] = end;
            let sum = &mut squares[i % PARTIAL_SUMS];
            let before = *sum;
            *sum = each(|lane| {
                let (a, b) = (start[lane].abs(), end[lane].abs());
                let larger = if a > b { a } else { b };
                let scale = tolerances.relative.mul_add(larger, tolerances.absolute);
                let ratio = error[lane] / scale;
                ratio.mul_add(ratio, before[lane])
            });
        }
        each(|lane| {
            let mut sums = squares.map(|sum| sum[lane]);
            let mut count = PARTIAL_SUMS / 2;
            while count > 0 {
                for i in 0..count {
                    sums[i] += sums[i + count];
                }
                count /= 2;
            }
            (sums[0] / n as f64).sqrt()
        })
    }
}
