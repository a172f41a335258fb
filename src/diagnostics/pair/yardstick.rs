//! The first step: the errors of a backend beside those of runs on the CPU.
//!
//! The truth is the same step in double precision. Single-precision steps on the CPU, from the
//! same state and from states shifted by one unit in the last place, tell how large errors are
//! that come of rounding alone.

use super::sample::Sample;
use super::spread::{Spread, largest, root_mean_square};
use super::verdict::{Check, Verdict};
use crate::diagnostics::difference::Value;
use crate::real::{Precision, Real};

/// What the largest error, and the 99.9th percentile, may have over those of the CPU's runs.
const MAX_FACTOR: f64 = 4.0;
/// What the 99th percentile may have over that of the CPU's runs.
const P99_FACTOR: f64 = 10.0;
/// What the share of values that are off may have over that of the CPU's runs.
const SHARE_FACTOR: f64 = 2.0;
/// A share that is nearly zero rests on a few cells; as many may be off besides.
const CELLS_OFF: f64 = 3.0;
/// The same on large grids, as a share of the cells.
const SHARE_OFF: f64 = 5.0e-4;
/// The rounding of a field to single precision, of its root mean square: no limit lies below.
pub(super) const FLOOR_F32: f64 = 1.0e-7;
/// What double precision may be off by, of the root mean square.
pub(super) const FLOOR_F64: f64 = 1.0e-8;
/// The same of the reflectivity, whose sums lose digits.
const FLOOR_F64_REFLECTIVITY: f64 = 1.0e-6;
/// The same of the 99th percentile where a step has several minor steps: what evaporates leaves
/// nothing in one of two runs and a residue of one rounding in the other, which then falls.
const SEVERAL_F64: f64 = 1.0e-4;

/// What rounding may move in a column that the largest error is judged in: absolute and relative
/// part for theta, the vapour and the condensates. More, and a branch of the scheme was taken in
/// one run and not in the other.
const STEADY: [(f64, f64); 6] =
    [(2e-4, 0.0), (1e-9, 1e-5), (1e-8, 1e-3), (1e-8, 1e-3), (1e-8, 1e-3), (1e-8, 1e-3)];

/// How far shifted states lie from the true one that show which columns are not steady: as far as
/// errors are admitted.
pub const PROBE_UNITS: u32 = MAX_FACTOR as u32;

/// Fields that jump where a mixing ratio crosses a threshold: judged by percentiles alone.
pub(super) fn jumps(field: &str) -> bool {
    field.starts_with("re")
}

/// What the errors of one field are on the CPU, the largest of all runs.
#[derive(Clone, Debug, Default)]
struct Entry {
    rms: f64,
    p99: f64,
    p999: f64,
    share: f64,
    /// Largest error of each column.
    columns: Vec<f64>,
}

/// The errors of the CPU's runs in the first step.
#[derive(Debug)]
pub struct Yardstick {
    truth: Sample<f64>,
    /// Whether the scheme takes the step in one go, so that nearly all of it is smooth.
    is_smooth: bool,
    runs: usize,
    entries: [Entry; 12],
    /// Columns that rounding alone throws off their course.
    is_fragile: Vec<bool>,
    room: Vec<f64>,
}

impl Yardstick {
    /// A yardstick without runs; `is_smooth` where the microphysics makes one minor step.
    pub fn new(truth: Sample<f64>, is_smooth: bool) -> Self {
        let columns = truth.columns();
        let entries = truth.fields().map(|field| Entry {
            rms: root_mean_square(field),
            columns: vec![0.0; columns],
            ..Entry::default()
        });
        let is_fragile = vec![false; columns];
        Self { truth, is_smooth, runs: 0, entries, is_fragile, room: Vec::new() }
    }

    /// Adds a run from the state itself or from one a unit in the last place away.
    pub fn add<R: Real>(&mut self, run: &Sample<R>) {
        let Self { truth, entries, room, .. } = self;
        let columns = truth.columns();
        for ((entry, found), exact) in entries.iter_mut().zip(run.fields()).zip(truth.fields()) {
            let spread = Spread::of(found, exact, room);
            entry.p99 = entry.p99.max(spread.p99);
            entry.p999 = entry.p999.max(spread.p999);
            entry.share = entry.share.max(spread.share);
            for (place, (found, exact)) in found.iter().zip(exact).enumerate() {
                let most = &mut entry.columns[place % columns];
                *most = most.max((found.f64() - exact).abs());
            }
        }
        self.runs += 1;
        self.probe(run);
    }

    /// Notes which columns a run leaves its course in. It may be from a state that is
    /// [`PROBE_UNITS`] away.
    pub fn probe<R: Real>(&mut self, run: &Sample<R>) {
        let columns = self.truth.columns();
        let fields = run.fields().into_iter().zip(self.truth.fields());
        for ((found, exact), (absolute, relative)) in fields.zip(STEADY) {
            for (place, (found, exact)) in found.iter().zip(exact).enumerate() {
                if (found.f64() - exact).abs() > absolute + relative * exact.abs() {
                    self.is_fragile[place % columns] = true;
                }
            }
        }
    }

    /// Share of the columns that rounding alone throws off their course.
    pub fn fragile_share(&self) -> f64 {
        let fragile = self.is_fragile.iter().filter(|fragile| **fragile).count();
        fragile as f64 / self.is_fragile.len().max(1) as f64
    }

    /// The verdicts on the first step of run `b`; `a` is the unshifted run on the CPU.
    pub fn judge<R: Real + Value>(&mut self, a: &Sample<R>, b: &Sample<R>) -> Vec<Verdict> {
        let mut room = std::mem::take(&mut self.room);
        let judge = |n: usize| {
            let spread = Spread::of(b.fields()[n], self.truth.fields()[n], &mut room);
            let checks = match R::PRECISION {
                Precision::F32 => self.single(n, &spread, b),
                Precision::F64 => self.double(n, &spread),
            };
            Verdict::on_field(1, [a, b], n, checks, &mut room)
        };
        let verdicts = (0..Sample::<R>::NAMES.len()).map(judge).collect();
        self.room = room;
        verdicts
    }

    fn single<R: Real>(&self, n: usize, spread: &Spread, b: &Sample<R>) -> Vec<Check> {
        let (entry, runs) = (&self.entries[n], self.runs);
        let floor = (FLOOR_F32 * entry.rms, format!("{FLOOR_F32:e} of the field's rms"));
        let times = |factor: f64, most: f64| {
            (factor * most, format!("{factor} x the largest of {runs} runs on the CPU"))
        };
        let mut checks = Vec::new();
        if self.is_smooth {
            if !jumps(Sample::<R>::NAMES[n]) {
                checks.push(self.largest_error(n, b, &floor));
            }
            let limits = [times(MAX_FACTOR, entry.p999), floor.clone()];
            checks.push(Check::new("99.9th percentile of the error", spread.p999, limits));
        }
        let limits = [times(P99_FACTOR, entry.p99), floor];
        checks.push(Check::new("99th percentile of the error", spread.p99, limits));
        let few = (CELLS_OFF / b.fields()[n].len() as f64).max(SHARE_OFF);
        let share = SHARE_FACTOR * entry.share + few;
        let origin =
            format!("{SHARE_FACTOR} x the largest of {runs} runs on the CPU, and {few:.1e}");
        let limits = [(share, origin), (0.0, String::new())];
        checks.push(Check::new("share of values off by 1e-5", spread.share, limits));
        checks
    }

    /// The largest error in the columns that are steady.
    fn largest_error<R: Real>(&self, n: usize, b: &Sample<R>, floor: &(f64, String)) -> Check {
        let columns = self.truth.columns();
        let steady = |column: &usize| !self.is_fragile[*column];
        let entry = &self.entries[n];
        let most = (0..columns).filter(steady).map(|c| entry.columns[c]).fold(0.0, f64::max);
        let (mut found, mut cell) = (0.0, None);
        for (place, (x, exact)) in b.fields()[n].iter().zip(self.truth.fields()[n]).enumerate() {
            let error = (x.f64() - exact).abs();
            // What is not a number is noticed by the other checks.
            if error > found && steady(&(place % columns)) {
                (found, cell) = (error, Some(b.cell(place)));
            }
        }
        let origin = format!("{MAX_FACTOR} x the largest of {} runs on the CPU", self.runs);
        let limits = [(MAX_FACTOR * most, origin), floor.clone()];
        Check { cell, ..Check::new("largest error in steady columns", found, limits) }
    }

    fn double(&self, n: usize, spread: &Spread) -> Vec<Check> {
        let is_reflectivity = Sample::<f64>::NAMES[n] == "refl_10cm";
        let floor = if is_reflectivity { FLOOR_F64_REFLECTIVITY } else { FLOOR_F64 };
        let (measure, found, part) = if self.is_smooth {
            ("largest error", spread.largest, floor)
        } else {
            ("99th percentile of the error", spread.p99, SEVERAL_F64)
        };
        let limit = (part * self.entries[n].rms, format!("{part:e} of the field's rms"));
        // A field that is zero throughout leaves no room at all.
        let nothing = (0.0, "the field is zero".to_owned());
        debug_assert!(limit.0 > 0.0 || largest(self.truth.fields()[n]) == 0.0);
        vec![Check::new(measure, found, [limit, nothing])]
    }
}
