//! The limits for the scheme, for all implementations: those of the reference data.
//!
//! The scheme is continuous except for the number of sub-steps and the threshold of autoconversion, so that every cell
//! of a column is judged, after one call and after thirty, unless the column is marked as sensitive to rounding.

use ndarray::Array2;

use nwp_mini::physics::kessler::Vectorised;
use nwp_mini::real::Precision;

use super::case::{CASES, Columns, Engine, OUTPUTS, Stage, Truth, group};
use crate::wsm5::report::Report;
use crate::wsm5::yardstick::{Spread, Yardstick, Yardsticks, percentile, share_of_sample};

/// Single precision: maximum error relative to that of the worst build of WRF's code.
const MAX_FACTOR: f64 = 4.0;
/// Least maximum of a build that counts, of the root mean square: about two roundings.
const FLOOR: f64 = 1.0e-7;
/// The floor for cloud water and rain, kg kg⁻¹: needed for approximate functions of a device.
const WATER_FLOOR: f64 = 2.5e-9;
/// The floor for precipitation, relative to the largest value.
const GROUND_FLOOR: f64 = 1.0e-6;
/// Single precision, 30 calls, all columns: 99th percentile of the error relative to that of the worst build.
const P99_FACTOR: f64 = 10.0;
/// Single precision, 30 calls: fraction of cells that are off relative to that of the worst build.
const SHARE_FACTOR: f64 = 2.0;
/// The part of these statistical limits that may be exceeded.
const EXCEEDED: f64 = 0.02;
/// Double precision: the truth is stored with six significant bits beyond single precision.
const STORED_DIGITS: f64 = 1.0 / 64.0;
/// Double precision: precision of the stored truth, relative to the root mean square.
const F64_FLOOR: f64 = 1.0e-8;

/// A build whose approximate reciprocal creates rain from nothing, which grows from call to call.
const LEFT_OUT: (&str, &str) = ("f32_O3native_fastmath", "30");

/// Names of the checks, by [`OUTPUTS`].
const ONE_CALL: [&str; 6] =
    ["th, 1 call", "q, 1 call", "qc, 1 call", "qr, 1 call", "rain, 1 call", "rainncv, 1 call"];
/// The fields after thirty calls.
const THIRTY_CALLS: [&str; 6] = [
    "th, 30 calls",
    "q, 30 calls",
    "qc, 30 calls",
    "qr, 30 calls",
    "rain, 30 calls",
    "rainncv, 30 calls",
];

/// A case with its results.
pub struct Case {
    /// Its name.
    pub name: &'static str,
    /// Its input.
    pub columns: Columns,
    /// Its results.
    pub stages: Vec<Stage>,
}

/// All cases, and the errors of other builds.
pub struct Reference {
    /// The cases.
    pub cases: Vec<Case>,
    yardsticks: Yardsticks,
}

impl Reference {
    /// Reads the files.
    pub fn read() -> Self {
        let file = crate::reference("kessler");
        let cases = CASES.map(|name| {
            let group = group(&file, name);
            Case { name, columns: Columns::read(&group), stages: Stage::read(&group) }
        });
        let yardsticks = Yardsticks::parse(&counted(&crate::yardstick("kessler")));
        Self { cases: cases.into(), yardsticks }
    }

    /// Runs all stages of all cases and judges all fields.
    pub fn judge<R: Vectorised>(&self, engine: &impl Engine<R>) -> Report {
        let (mut report, mut statistics) = (Report::default(), Statistics::default());
        for case in &self.cases {
            for stage in &case.stages {
                let state = case.columns.run(engine, stage.dt, stage.calls);
                for ((name, truth), (_, found)) in stage.truths.iter().zip(state.named()) {
                    let levels = truth.exact.nrows();
                    let found = found.mapv(R::f64).into_shape_with_order(truth.exact.dim());
                    let found = found.expect("one row of columns");
                    let y = self.yardsticks.of(case.name, stage.dt, stage.calls, name);
                    let columns = truth.exact.ncols();
                    let about = format!(
                        "{} dt={} calls={} {name} {}, {columns} of {} columns",
                        case.name,
                        stage.dt,
                        stage.calls,
                        R::NAME,
                        y.cells / levels
                    );
                    let errors = (found - &truth.exact).mapv(f64::abs);
                    let field = Field { about, name, stage, truth, errors, y };
                    match R::PRECISION {
                        Precision::F32 => field.judge_f32(&mut report, &mut statistics),
                        Precision::F64 => field.judge_f64(case.name, &mut report),
                    }
                }
            }
        }
        if R::PRECISION == Precision::F32 {
            statistics.finish(&mut report);
        }
        report
    }
}

/// The rows of the table that count.
fn counted(table: &str) -> String {
    let header = table.lines().next().unwrap_or_default();
    let place = |name: &str| header.split(',').position(|title| title == name);
    let (build, calls) = (place("build").expect("builds"), place("calls").expect("calls"));
    let is_left_out = |line: &&str| {
        let cells: Vec<&str> = line.split(',').collect();
        (cells[build], cells[calls]) == LEFT_OUT
    };
    table.lines().filter(|line| !is_left_out(line)).collect::<Vec<_>>().join("\n")
}

/// Limits of which a few may be exceeded.
#[derive(Default)]
struct Statistics {
    checks: usize,
    exceeded: Vec<String>,
}

impl Statistics {
    fn note(&mut self, found: f64, limit: f64, text: impl FnOnce() -> String) {
        self.checks += 1;
        let is_good = found <= limit;
        if !is_good {
            self.exceeded.push(text());
        }
    }

    fn finish(self, report: &mut Report) {
        let Self { checks, exceeded } = self;
        let share = exceeded.len() as f64 / checks as f64;
        report.note("statistical limits exceeded", share / EXCEEDED, || {
            format!("{} of {checks}: {}", exceeded.len(), exceeded.join("; "))
        });
    }
}

/// One field under test.
struct Field<'a> {
    about: String,
    name: &'static str,
    stage: &'a Stage,
    truth: &'a Truth,
    errors: Array2<f64>,
    y: Yardstick,
}

impl Field<'_> {
    fn kind(&self) -> &'static str {
        let at = OUTPUTS.iter().position(|name| *name == self.name).expect("an output");
        if self.stage.calls > 1 { THIRTY_CALLS[at] } else { ONE_CALL[at] }
    }

    /// Notes the cell whose error is largest against its limit, in columns that are not marked.
    fn note_worst(&self, limit: impl Fn([usize; 2]) -> f64, report: &mut Report) {
        for ((k, column), &error) in self.errors.indexed_iter() {
            if self.stage.fragile[column] {
                continue;
            }
            let limit = limit([k, column]);
            let ratio = if error == 0.0 { 0.0 } else { error / limit };
            report.note(self.kind(), ratio, || {
                let (about, exact) = (&self.about, self.truth.exact[[k, column]]);
                format!("{about}: {error:.3e} of {exact:.6e}, limit {limit:.3e}, at {k}, {column}")
            });
        }
    }

    fn judge_f32(&self, report: &mut Report, statistics: &mut Statistics) {
        let Self { about, stage, truth, errors, y, .. } = self;
        let largest = truth.exact.iter().fold(0.0_f64, |most, x| most.max(x.abs()));
        let floor = match self.name {
            "qc" | "qr" => WATER_FLOOR,
            "rain" | "rainncv" => GROUND_FLOOR * largest,
            _ => 0.0,
        };
        let limit = MAX_FACTOR * y.robust_max.max(FLOOR * y.rms).max(floor);
        self.note_worst(|_| limit, report);
        if stage.calls == 1 {
            return;
        }
        let at_hand = |share| share_of_sample(share, errors.nrows(), errors.len(), y.cells);
        let mut sorted = errors.iter().copied().collect::<Vec<_>>();
        let p99 = percentile(&mut sorted, 100.0 * (1.0 - at_hand(0.01)));
        let limit = P99_FACTOR * y.most.p99.max(FLOOR * y.rms).max(floor);
        statistics.note(p99, limit, || format!("{about}: 99 %: {p99:.3e}, not {limit:.3e}"));
        let share = Spread::of(errors, &truth.exact).share;
        let limit = at_hand(SHARE_FACTOR * y.most.share);
        statistics.note(share, limit, || format!("{about}: {share:.3e} off, not {limit:.3e}"));
    }

    fn judge_f64(&self, case: &str, report: &mut Report) {
        // There too many columns are at thresholds.
        if case == "edge" && self.stage.calls > 1 {
            return;
        }
        let (off, floor) = (&self.truth.off, F64_FLOOR * self.y.rms);
        self.note_worst(|at| off[at] * STORED_DIGITS + floor, report);
    }
}
