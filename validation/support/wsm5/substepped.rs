//! Limits for whole calls of the variant, for all implementations.

use super::case::{CASES, Columns, Outcome, Precision, Stage, Truth, group};
use super::report::Report;
use super::variant::OUTPUTS;
use super::weather::Engine;
use super::yardstick::{Spread, Yardstick, Yardsticks, percentile, share_of_sample};
use crate::Substepped;

/// Single precision, one minor step: maximum error relative to that of the worst build.
const MAX_FACTOR: f64 = 4.0;
/// Single precision: 99th percentile of the error relative to that of the worst build.
const P99_FACTOR: f64 = 10.0;
/// Single precision: fraction of cells that are off relative to that of the worst build.
const SHARE_FACTOR: f64 = 2.0;
/// Additional number of cells that may be off: fractions of zero or nearly zero are based on a few cells.
const CELLS_OFF: f64 = 3.0;
/// Allowance for large cases, as a fraction of the cells.
const SHARE_OFF: f64 = 5.0e-4;
/// About two units in the last place of single precision, of the root mean square.
const FLOOR: f64 = 1.0e-7;
/// The truth is stored with six significant bits beyond single precision.
const STORED_DIGITS: f64 = 1.0 / 64.0;
/// Double precision: precision of the stored truth, relative to the root mean square.
const F64_FLOOR: f64 = 1.0e-8;
/// Double precision after many calls: the share of cells that a rounding may have sent to the
/// other side of a threshold (0.5 % of `edge` at 300 s; at most 0.15 % elsewhere).
const F64_MANY_CALLS_SHARE: f64 = 0.01;
/// Number of such cells in fields at the ground: twice the number found.
const F64_MANY_CALLS_CELLS: usize = 4;

/// Largest error of such a cell, relative to the root mean square: about twice the error found. The case `edge`
/// consists of columns at thresholds.
fn f64_many_calls_most(case: &str) -> f64 {
    if case == "edge" { 0.2 } else { 0.02 }
}

/// A case with its results.
pub struct Case {
    /// Its name.
    pub name: &'static str,
    /// Input columns.
    pub columns: Columns,
    stages: Vec<Stage>,
}

/// All cases, and the errors of other builds.
pub struct Reference {
    /// The cases.
    pub cases: Vec<Case>,
    yardsticks: Yardsticks,
}

/// One field under test.
struct Field<'a> {
    about: String,
    case: &'static str,
    stage: &'a Stage,
    truth: &'a Truth,
    errors: ndarray::Array2<f64>,
    y: Yardstick,
}

impl Reference {
    /// Reads the files.
    pub fn read(data: &Substepped) -> Self {
        let cases = CASES.map(|name| {
            let columns = Columns::read(&group(&data.input, name));
            let stages = Stage::read(&group(&data.output, name), &OUTPUTS, |_, _| true);
            Case { name, columns, stages }
        });
        Self { cases: cases.into(), yardsticks: Yardsticks::parse(&data.yardstick) }
    }

    /// Runs all stages of all cases and judges all fields.
    ///
    /// Rounding may send as many cells as on the CPU to another outcome than in WRF, times `parting`.
    pub fn judge<R: Precision>(&self, engine: &impl Engine<R>, parting: f64) -> Report {
        let mut report = Report::default();
        for case in &self.cases {
            for stage in &case.stages {
                let outcome = case.columns.run_with(engine, stage.dt, stage.calls);
                for (name, truth) in &stage.truths {
                    let field = self.field(case, stage, &outcome, (name, truth));
                    field.judge(R::NAME, parting, &mut report);
                }
            }
        }
        report
    }

    fn field<'a, R: Precision>(
        &self,
        case: &Case,
        stage: &'a Stage,
        outcome: &Outcome<R>,
        (name, truth): (&str, &'a Truth),
    ) -> Field<'a> {
        let Stage { dt, calls, .. } = *stage;
        let y = self.yardsticks.of(case.name, dt, calls, name);
        let (levels, columns) = truth.exact.dim();
        let about = format!(
            "{} dt={dt} calls={calls} {name} {}, {columns} of {} columns",
            case.name,
            R::NAME,
            y.cells / levels
        );
        let errors = (outcome.field(name).mapv(R::f64) - &truth.exact).mapv(f64::abs);
        Field { about, case: case.name, stage, truth, errors, y }
    }
}

impl Field<'_> {
    fn judge(&self, precision: &str, parting: f64, report: &mut Report) {
        if precision == "f64" {
            self.judge_f64(parting, report);
        } else {
            self.judge_f32(parting, report);
        }
    }

    fn note(&self, kind: &'static str, found: f64, limit: f64, report: &mut Report) {
        let ratio = if found == 0.0 { 0.0 } else { found / limit };
        report.note(kind, ratio, || format!("{}: {found:.3e}, limit {limit:.3e}", self.about));
    }

    fn judge_f32(&self, parting: f64, report: &mut Report) {
        let Self { stage, errors, y, .. } = self;
        let floor = FLOOR * y.rms;
        if stage.is_smooth() {
            let robust = errors.indexed_iter().filter(|((_, column), _)| !stage.fragile[*column]);
            let most = robust.fold(0.0_f64, |most, (_, &x)| largest(most, x));
            self.note("maximum", most, (MAX_FACTOR * y.robust_max).max(floor), report);
            return;
        }
        let spread = Spread::of(errors, &self.truth.exact);
        let limit = (P99_FACTOR * y.most.p99).max(floor);
        let mut sorted = errors.iter().copied().collect::<Vec<_>>();
        let p99 = percentile(&mut sorted, 100.0 * (1.0 - self.share_at_hand(0.01)));
        self.note("99th percentile", p99, limit, report);
        let spare = parting * (CELLS_OFF / errors.len() as f64).max(SHARE_OFF);
        let limit = self.share_at_hand(SHARE_FACTOR * y.most.share) + spare;
        self.note("share off", spread.share, limit, report);
    }

    /// The fraction of the selected cells that may exceed a limit which a fraction `share` of the whole case exceeds.
    fn share_at_hand(&self, share: f64) -> f64 {
        share_of_sample(share, self.errors.nrows(), self.errors.len(), self.y.cells)
    }

    fn judge_f64(&self, parting: f64, report: &mut Report) {
        let Self { case, stage, truth, errors, y, .. } = self;
        let limits = truth.off.mapv(|off| off * STORED_DIGITS + F64_FLOOR * y.rms);
        let range = truth.exact.iter().fold(0.0_f64, |most, &x| largest(most, x.abs()));
        let mut parted = 0;
        for (&error, &limit) in errors.iter().zip(&limits) {
            parted += usize::from(error > limit);
            // Arithmetic other than WRF's leads to other outcomes in the second minor step already; the error is then
            // the distance between two outcomes, both within the range of the field.
            let is_other = parting > 1.0;
            if stage.is_smooth() || stage.calls == 1 && !is_other {
                self.note("one call", error, limit, report);
            } else {
                let usual = if is_other { range } else { f64_many_calls_most(case) * y.rms };
                let most = limit.max(usual);
                self.note("many calls, maximum", error, most, report);
            }
        }
        let share = (self.share_at_hand(F64_MANY_CALLS_SHARE) * errors.len() as f64) as usize;
        let spare = parting * share.max(F64_MANY_CALLS_CELLS) as f64;
        self.note("cells that part", parted as f64, spare, report);
    }
}

/// The larger of two errors; NaN is the largest.
fn largest(a: f64, b: f64) -> f64 {
    if a >= b || a.is_nan() { a } else { b }
}
