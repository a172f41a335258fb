//! Comparison of the first step: errors of a backend against those of runs on the CPU.
//!
//! The truth is the same step in double precision. Single-precision steps on the CPU, from the same state and from
//! states shifted by one ULP, give the size of errors by rounding alone.

use super::run_state::RunState;
use super::spread::{Spread, root_mean_square};
use super::verdict::{Check, Verdict};
use crate::backend::UlpPerturbation;
use crate::constituents::{Kind, Phase, known};
use crate::diagnostics::difference::Value;
use crate::error::Result;
use crate::real::{Precision, Real};

/// Limit of the largest error, and of the 99.9th percentile, as a multiple of those of the CPU's runs.
const MAX_FACTOR: f64 = 4.0;
/// Limit of the 99th percentile, as a multiple of that of the CPU's runs.
const P99_FACTOR: f64 = 10.0;
/// Limit of the share of values that are off, as a multiple of that of the CPU's runs.
const SHARE_FACTOR: f64 = 2.0;
/// A share near zero is determined by a few cells; so many more cells may be off.
const CELLS_OFF: f64 = 3.0;
/// The same allowance on large grids, as a share of the cells.
const SHARE_OFF: f64 = 5.0e-4;
/// Rounding of a field to single precision, relative to its root mean square; no limit is smaller.
pub(super) const FLOOR_F32: f64 = 1.0e-7;
/// Limit of the largest error in double precision, relative to the root mean square.
pub(super) const FLOOR_F64: f64 = 1.0e-8;
/// The same limit for reflectivity, whose sums lose digits by cancellation.
const FLOOR_F64_REFLECTIVITY: f64 = 1.0e-6;
/// The same limit for the 99th percentile of steps with several minor steps: water that evaporates may vanish in one of
/// two runs and leave a residue of one rounding in the other, which then falls.
const SEVERAL_F64: f64 = 1.0e-4;

/// Largest change by rounding to single precision in a steady column: absolute and relative part for theta, vapour and
/// the condensates. A larger change means that one run took another branch of the scheme. In double precision the limit
/// of the error is used instead.
fn steady(kind: Kind) -> Option<(f64, f64)> {
    match kind {
        Kind::Temperature => Some((2e-4, 0.0)),
        Kind::Water(Phase::Vapour) => Some((1e-9, 1e-5)),
        Kind::Water(_) => Some((1e-8, 1e-3)),
        _ => None,
    }
}

/// Shift in ULP of the probing runs that detect unsteady columns: as large as the admitted multiple of errors.
const PROBE_UNITS: u32 = MAX_FACTOR as u32;

/// Name of the quantity that is judged in steady columns.
const STEADY_ERROR: &str = "largest error, steady columns";

/// Fields that jump at a threshold of a mixing ratio: judged by percentiles only.
pub(super) fn jumps(field: &str) -> bool {
    known::diagnostic(field).is_some_and(|known| known.gathers.is_none())
}

/// Errors of one field on the CPU, the maximum over all runs.
#[derive(Clone, Debug, Default)]
struct Entry {
    /// Root mean square of the truth.
    rms: f64,
    spread: Spread,
    /// Largest error of each column.
    columns: Vec<f64>,
}

/// Errors of the CPU's runs in the first step.
#[derive(Debug)]
pub struct RoundingReference {
    truth: RunState<f64>,
    /// `true` if the scheme has one minor step a step, so that it is smooth nearly everywhere.
    is_smooth: bool,
    runs: usize,
    entries: Vec<Entry>,
    /// For each column, the number of runs and probes that took another branch.
    left: Vec<u32>,
    /// Number of runs and probes.
    probes: usize,
    scratch: Vec<f64>,
}

impl RoundingReference {
    /// A rounding reference without runs; `is_smooth` if the microphysics has one minor step a step.
    pub fn new(truth: RunState<f64>, is_smooth: bool) -> Self {
        let columns = truth.columns();
        let entry = |field: &[f64]| Entry {
            rms: root_mean_square(field),
            columns: vec![0.0; columns],
            ..Entry::default()
        };
        let entries = truth.fields().into_iter().map(entry).collect();
        let left = vec![0; columns];
        Self { truth, is_smooth, runs: 0, entries, left, probes: 0, scratch: Vec::new() }
    }

    /// Adds a run from the state itself or from one shifted by one ULP.
    pub fn add<R: Real>(&mut self, run: &RunState<R>) {
        let Self { truth, entries, scratch, .. } = self;
        let columns = truth.columns();
        for ((entry, found), exact) in entries.iter_mut().zip(run.fields()).zip(truth.fields()) {
            let spread = Spread::of(found, exact, scratch);
            entry.spread = entry.spread.larger(&spread);
            for (place, (found, exact)) in found.iter().zip(exact).enumerate() {
                let most = &mut entry.columns[place % columns];
                *most = most.max((found.f64() - exact).abs());
            }
        }
        self.runs += 1;
        self.probe(run);
    }

    /// Records the columns in which a run takes another branch. The run may start from a state shifted by
    /// `PROBE_UNITS` ULP.
    pub fn probe<R: Real>(&mut self, run: &RunState<R>) {
        let columns = self.truth.columns();
        let mut leaves = vec![false; columns];
        let limits: Vec<_> = run.state.set().iter().map(|own| steady(own.kind)).collect();
        let fields = run.fields().into_iter().zip(self.truth.fields()).enumerate();
        for (n, (found, exact)) in fields {
            let (absolute, relative) = match (R::PRECISION, limits.get(n).copied().flatten()) {
                (Precision::F64, _) => (self.floor_f64(n), 0.0),
                (Precision::F32, Some((absolute, relative))) => (absolute, relative),
                (Precision::F32, None) => continue,
            };
            for (place, (found, exact)) in found.iter().zip(exact).enumerate() {
                if (found.f64() - exact).abs() > absolute + relative * exact.abs() {
                    leaves[place % columns] = true;
                }
            }
        }
        for (left, leaves) in self.left.iter_mut().zip(leaves) {
            *left += u32::from(leaves);
        }
        self.probes += 1;
    }

    /// Adds the first steps from states around the start, and probes with some from states further away.
    pub(crate) fn surround<R: Real>(
        &mut self,
        mut first_step: impl FnMut(UlpPerturbation) -> Result<RunState<R>>,
    ) -> Result<()> {
        use UlpPerturbation::{Down, Either, Up};
        let around = |units| [Up(units), Down(units), Either { units, seed: 0 }];
        for shift in around(1) {
            self.add(&first_step(shift)?);
        }
        for shift in around(PROBE_UNITS) {
            self.probe(&first_step(shift)?);
        }
        Ok(())
    }

    /// Share of the columns that took another branch by rounding alone.
    pub(crate) fn fragile_share(&self) -> f64 {
        let fragile = self.left.iter().filter(|left| **left > 0).count();
        fragile as f64 / self.left.len().max(1) as f64
    }

    /// Errors of the runs by rounding alone in one step, the maximum over all runs.
    pub(crate) fn spreads(&self) -> Vec<Spread> {
        self.entries.iter().map(|entry| entry.spread).collect()
    }

    /// Allowance for columns that were steady in all runs so far but may take another branch in one more run.
    ///
    /// With n runs, one more run finds about an n-th of the number of columns that exactly one run has found. Twice as
    /// many are allowed.
    ///
    /// Source: Good 1953, Biometrika 40, 237-264 (the frequency of unseen species).
    fn unseen(&self) -> usize {
        let once = self.left.iter().filter(|left| **left == 1).count();
        (2 * once).div_ceil(self.probes.max(1))
    }

    fn floor_f64(&self, n: usize) -> f64 {
        let part =
            if self.truth.names()[n] == "refl_10cm" { FLOOR_F64_REFLECTIVITY } else { FLOOR_F64 };
        part * self.entries[n].rms
    }

    /// The verdicts on the first step of run `b`; `a` is the unshifted run on the CPU.
    pub fn judge<R: Real + Value>(&mut self, a: &RunState<R>, b: &RunState<R>) -> Vec<Verdict> {
        let mut scratch = std::mem::take(&mut self.scratch);
        let judge = |n: usize| {
            let spread = Spread::of(b.fields()[n], self.truth.fields()[n], &mut scratch);
            let checks = match R::PRECISION {
                Precision::F32 => self.single(n, &spread, b),
                Precision::F64 => self.double(n, &spread, b),
            };
            Verdict::on_field(1, [a, b], n, checks, &mut scratch)
        };
        let verdicts = (0..self.entries.len()).map(judge).collect();
        self.scratch = scratch;
        verdicts
    }

    fn single<R: Real>(&self, n: usize, spread: &Spread, b: &RunState<R>) -> Vec<Check> {
        let (entry, runs) = (&self.entries[n], self.runs);
        let floor = (FLOOR_F32 * entry.rms, format!("{FLOOR_F32:e} of the field's rms"));
        let times = |factor: f64, most: f64| {
            (factor * most, format!("{factor} x the largest of {runs} runs on the CPU"))
        };
        let mut checks = Vec::new();
        if self.is_smooth {
            if !jumps(self.truth.names()[n]) {
                checks.push(self.largest_error(n, b, &floor));
            }
            let limits = [times(MAX_FACTOR, entry.spread.p999), floor.clone()];
            checks.push(Check::new("99.9th percentile of the error", spread.p999, limits));
        }
        let limits = [times(P99_FACTOR, entry.spread.p99), floor];
        checks.push(Check::new("99th percentile of the error", spread.p99, limits));
        let few = (CELLS_OFF / b.fields()[n].len() as f64).max(SHARE_OFF);
        let share = SHARE_FACTOR * entry.spread.share + few;
        let origin =
            format!("{SHARE_FACTOR} x the largest of {runs} runs on the CPU, and {few:.1e}");
        checks.push(Check::new("share of values off by 1e-5", spread.share, [(share, origin)]));
        checks
    }

    /// The largest error in steady columns, apart from as many columns as `unseen` allows; with its cell.
    fn largest_steady<R: Real>(&self, n: usize, b: &RunState<R>) -> (f64, Option<[usize; 3]>) {
        let columns = self.truth.columns();
        let mut worst = vec![(0.0, 0); columns];
        for (place, (x, exact)) in b.fields()[n].iter().zip(self.truth.fields()[n]).enumerate() {
            let error = (x.f64() - exact).abs();
            let most = &mut worst[place % columns];
            // NaN fails the other checks.
            if error > most.0 {
                *most = (error, place);
            }
        }
        let mut steady: Vec<(f64, usize)> = worst
            .into_iter()
            .zip(&self.left)
            .filter(|(_, left)| **left == 0)
            .map(|x| x.0)
            .collect();
        let unseen = self.unseen();
        if unseen >= steady.len() {
            return (0.0, None);
        }
        let (_, &mut (found, place), _) =
            steady.select_nth_unstable_by(unseen, |a, b| b.0.total_cmp(&a.0));
        (found, (found > 0.0).then(|| b.cell(place)))
    }

    fn largest_error<R: Real>(&self, n: usize, b: &RunState<R>, floor: &(f64, String)) -> Check {
        let columns = self.entries[n].columns.iter().zip(&self.left);
        let most =
            columns.filter(|(_, left)| **left == 0).map(|(most, _)| *most).fold(0.0, f64::max);
        let (found, cell) = self.largest_steady(n, b);
        let origin = format!("{MAX_FACTOR} x the largest of {} runs on the CPU", self.runs);
        let limits = [(MAX_FACTOR * most, origin), floor.clone()];
        Check { cell, ..Check::new(STEADY_ERROR, found, limits) }
    }

    fn double<R: Real>(&self, n: usize, spread: &Spread, b: &RunState<R>) -> Vec<Check> {
        // A field that is zero everywhere admits no error.
        let nothing = (0.0, "the field is zero".to_owned());
        if self.is_smooth {
            let limit = self.floor_f64(n);
            let origin = format!("{:e} of the field's rms", limit / self.entries[n].rms);
            let (found, cell) = self.largest_steady(n, b);
            let check = Check::new(STEADY_ERROR, found, [(limit, origin), nothing]);
            return vec![Check { cell, ..check }];
        }
        let origin = format!("{SEVERAL_F64:e} of the field's rms");
        let limit = (SEVERAL_F64 * self.entries[n].rms, origin);
        vec![Check::new("99th percentile of the error", spread.p99, [limit, nothing])]
    }
}
