//! Limits for whole calls of the scheme, for all implementations.
//!
//! In smooth calls (one minor step) every cell of the columns that are not sensitive to rounding must be near the
//! truth. In other calls rounding decides between finite outcomes in single cells: complete evaporation leaves either
//! nothing or a residue of rounding, which then falls. There only the distribution of the errors is bounded.

use ndarray::Array2;

use super::case::{Columns, OUTPUTS, Outcome, Precision, Stage, Truth, group};
use super::report::Report;
use super::weather::Engine;
use super::yardstick::{Spread, Yardstick, Yardsticks, percentile, share_of_sample};

/// Single precision, one minor step: maximum error relative to that of the worst build.
const MAX_FACTOR: f64 = 4.0;
/// Single precision: 99th percentile of the error relative to that of the worst build.
const P99_FACTOR: f64 = 10.0;
/// Single precision: fraction of cells that are off relative to that of the worst build.
const SHARE_FACTOR: f64 = 2.0;
/// Factor of errors in single precision on a device: its fast functions have errors of two ULP and more, those of WRF's
/// builds of one.
const FAST_FUNCTIONS: f64 = 2.0;
/// Additional number of cells that may be off: fractions of zero or nearly zero in WRF's builds are based on a few
/// cells.
const CELLS_OFF: f64 = 3.0;
/// Allowance for large cases, as a fraction of the cells.
const SHARE_OFF: f64 = 5.0e-4;
/// Number of cells that rounding may send to another outcome than in WRF, relative to the allowance of the CPU version,
/// which has WRF's operations one by one and its mathematical library.
#[allow(dead_code, reason = "of one suite alone")]
pub const LIKE_WRF: f64 = 1.0;
/// The corresponding factor for a device, with its own functions and fused products: it differs from WRF wherever
/// rounding decides, not only where the order of sums differs.
#[allow(dead_code, reason = "of one suite alone")]
pub const ON_ITS_OWN: f64 = 4.0;
/// Rounding of a field to single precision, relative to the root mean square, about two ULP: the smallest sensible
/// limit.
const FLOOR: f64 = 1.0e-7;
/// The truth is stored with six significant bits beyond single precision.
const STORED_DIGITS: f64 = 1.0 / 64.0;

/// Double precision on a device, many calls: 99th percentile of the error relative to that of the worst build; the
/// builds differ from one another by as much.
const PARTED_FACTOR: f64 = 4.0;

/// Double precision, one call of several minor steps: the error, over the root mean square, that
/// a share of the cells may reach.
///
/// From the second minor step on, two runs in double precision have different outcomes in some cells: a species that
/// evaporates leaves zero or a residue of rounding, which sediments differently. This affects some cells in a thousand;
/// the others agree to the precision of the stored truth.
const F64_ONE_CALL: [(f64, f64); 3] = [(0.5, 1.0e-8), (0.1, 3.0e-7), (0.01, 1.0e-4)];
/// The limits after many calls, in which such cells affect their columns, and the truth is stored to 1/64 of larger
/// errors.
const F64_MANY_CALLS: [(f64, f64); 3] = [(0.5, 3.0e-7), (0.1, 3.0e-5), (0.01, 5.0e-3)];

/// Error allowed in double precision in addition, relative to the root mean square: the precision of the stored truth.
/// The sum of the reflectivity is stored with fewer digits in the original.
fn f64_floor(output: &str) -> f64 {
    if output == "refl_10cm" { 1.0e-6 } else { 1.0e-8 }
}

/// Outputs that are discontinuous where a mixing ratio crosses a threshold, also in columns that are not fragile; they
/// are judged by their 99.9th percentile.
fn jumps(output: &str) -> bool {
    ["refl_10cm", "re_cloud", "re_ice", "re_snow", "sr"].contains(&output)
}

/// The cells of one field under test.
struct Field<'a> {
    about: String,
    found: Array2<f64>,
    truth: &'a Truth,
    errors: Array2<f64>,
}

impl<'a> Field<'a> {
    /// Selects the cells, or returns an error message.
    fn new<R: Precision>(
        about: String,
        outcome: &Outcome<R>,
        output: &str,
        truth: &'a Truth,
    ) -> Result<Self, String> {
        let found = outcome.field(output).mapv(R::f64);
        assert_eq!(found.dim(), truth.exact.dim(), "{about}");
        let errors = (&found - &truth.exact).mapv(f64::abs);
        if let Some((at, _)) = errors.indexed_iter().find(|(_, x)| !x.is_finite()) {
            let (k, column) = at;
            let value = found[at];
            return Err(format!("{about}: {value} at level {k} of column {column}"));
        }
        Ok(Self { about, found, truth, errors })
    }

    /// The cell with the largest error relative to its limit, among the columns that count; the ratio and a message.
    fn worst(
        &self,
        limit: impl Fn([usize; 2]) -> f64,
        counts: impl Fn(usize) -> bool,
    ) -> (f64, String) {
        let mut worst = (0.0, [0, 0]);
        for ((k, column), error) in self.errors.indexed_iter() {
            let ratio = if *error == 0.0 { 0.0 } else { error / limit([k, column]) };
            if counts(column) && ratio > worst.0 {
                worst = (ratio, [k, column]);
            }
        }
        let at = worst.1;
        let text = format!(
            "{}: error {:.3e} above {:.3e} at level {} of column {}: {:e}, not {:e}",
            self.about,
            self.errors[at],
            limit(at),
            at[0],
            at[1],
            self.found[at],
            self.truth.exact[at]
        );
        (worst.0, text)
    }
}

impl Field<'_> {
    /// The fraction of the selected cells that may exceed a limit which a fraction `share` of the whole case exceeds.
    fn share_at_hand(&self, share: f64, y: &Yardstick) -> f64 {
        share_of_sample(share, self.errors.nrows(), self.errors.len(), y.cells)
    }

    /// The error that this fraction of the cells exceeds in the whole case, estimated from the selected columns.
    fn tail(&self, share: f64, y: &Yardstick) -> f64 {
        let mut sorted = self.errors.iter().copied().collect::<Vec<_>>();
        percentile(&mut sorted, 100.0 * (1.0 - self.share_at_hand(share, y)))
    }
}

/// Judges single precision.
fn judge_f32(
    field: &Field<'_>,
    stage: &Stage,
    output: &str,
    y: &Yardstick,
    parting: f64,
    report: &mut Report,
) {
    let about = &field.about;
    let floor = FLOOR * y.rms;
    if stage.is_smooth() && !jumps(output) {
        let limit = (MAX_FACTOR * y.robust_max).max(floor);
        let (ratio, text) = field.worst(|_| limit, |column| !stage.fragile[column]);
        report.note("maximum", ratio, || text);
    }
    if stage.is_smooth() {
        let p999 = field.tail(1e-3, y);
        let limit = (MAX_FACTOR * y.p999).max(floor);
        report.note("99.9th percentile", p999 / limit.max(f64::MIN_POSITIVE), || {
            format!("{about}: {p999:.3e} above {limit:.3e}")
        });
    }
    let most = y.scaled(Spread::of(&field.truth.off, &field.truth.exact));
    // Of few columns, the percentile of the stored build rests on a cell or two.
    let factor = if parting > LIKE_WRF { P99_FACTOR * FAST_FUNCTIONS } else { P99_FACTOR };
    let limit = (factor * most.p99.max(y.most.p99)).max(floor);
    let p99 = field.tail(0.01, y);
    report.note("99th percentile", p99 / limit.max(f64::MIN_POSITIVE), || {
        format!("{about}: {p99:.3e} above {limit:.3e}")
    });
    judge_share(field, most.share, parting, y, report);
}

/// Judges the share of the cells that are off by that of WRF's builds in single precision.
fn judge_share(field: &Field<'_>, most: f64, parting: f64, y: &Yardstick, report: &mut Report) {
    let cells = field.errors.len();
    let found = Spread::of(&field.errors, &field.truth.exact).share;
    let spare = parting * (CELLS_OFF / cells as f64).max(SHARE_OFF);
    // Even if the stored build has no cells off among few columns, other builds may have some.
    let limit = field.share_at_hand(SHARE_FACTOR * most.max(y.most.share), y) + spare;
    report.note("share off", found / limit, || {
        format!("{}: {found:.3e} of the cells, above {limit:.3e}", field.about)
    });
}

/// Judges double precision.
fn judge_f64(
    field: &Field<'_>,
    stage: &Stage,
    output: &str,
    y: &Yardstick,
    parting: f64,
    report: &mut Report,
) {
    let floor = f64_floor(output) * y.rms;
    let limit = |at: [usize; 2]| field.truth.off[at] * STORED_DIGITS + floor;
    if stage.is_smooth() {
        let (ratio, text) = field.worst(limit, |_| true);
        report.note("double precision", ratio, || text);
        return;
    }
    if stage.calls > 1 && parting > LIKE_WRF {
        // The columns that have parted outweigh all else by now. WRF's builds in single precision
        // part as well, and as many cells.
        let p99 = field.tail(0.01, y);
        let limit = (PARTED_FACTOR * y.most.p99).max(FLOOR * y.rms);
        report.note("99th percentile", p99 / limit.max(f64::MIN_POSITIVE), || {
            format!("{}: {p99:.3e} above {limit:.3e}", field.about)
        });
        let most = y.scaled(Spread::of(&field.truth.off, &field.truth.exact));
        judge_share(field, most.share, parting, y, report);
        return;
    }
    let spread = if stage.calls == 1 { F64_ONE_CALL } else { F64_MANY_CALLS };
    for (share, most) in spread {
        // Half of the cells, and nine of ten, are nowhere near a threshold.
        let share = if share < 0.1 { parting * share } else { share };
        let error = field.tail(share, y);
        let ratio = error / (most * y.rms).max(floor).max(f64::MIN_POSITIVE);
        report.note("double precision, spread", ratio, || {
            let about = &field.about;
            format!("{about}: a share of {share} of the cells has {error:.3e} or more")
        });
    }
    // Both outcomes are within the range of the field.
    let range = field.truth.exact.iter().fold(floor, |most, x| most.max(x.abs()));
    let (ratio, text) = field.worst(|_| range, |_| true);
    report.note("double precision, maximum", ratio, || text);
}

/// A case of the reference file with its results.
pub struct Case {
    name: &'static str,
    columns: Columns,
    stages: Vec<Stage>,
}

impl Case {
    /// The cases of these names, with the stages that are wanted.
    pub fn read(
        file: &netcdf::File,
        cases: &[&'static str],
        is_wanted: impl Fn(f64, usize) -> bool,
    ) -> Vec<Self> {
        let read = |&name: &&'static str| {
            let group = group(file, name);
            let stages = Stage::read(&group, &OUTPUTS, &is_wanted);
            Self { name, columns: Columns::read(&group), stages }
        };
        cases.iter().map(read).collect()
    }

    /// Runs the stages and judges all fields: for each n of `parts` the columns are divided into n interleaved subsets,
    /// which are judged separately.
    fn judge<R: Precision>(
        &self,
        engine: &impl Engine<R>,
        parting: f64,
        parts: &[usize],
        report: &mut Report,
    ) {
        let count = self.columns.dim().1;
        for stage in &self.stages {
            let outcome = self.columns.run_with(engine, stage.dt, stage.calls);
            for &parts in parts {
                for first in 0..parts {
                    let columns: Vec<usize> = (first..count).step_by(parts).collect();
                    let outcome = outcome.select(&columns);
                    self.judge_stage(&stage.select(&columns), &outcome, parting, report);
                }
            }
        }
    }

    fn judge_stage<R: Precision>(
        &self,
        stage: &Stage,
        outcome: &Outcome<R>,
        parting: f64,
        report: &mut Report,
    ) {
        let Stage { dt, calls, .. } = *stage;
        for (name, truth) in &stage.truths {
            let y = Yardsticks::usual().of(self.name, dt, calls, name);
            let (levels, columns) = truth.exact.dim();
            let whole = y.cells / levels;
            let about = format!(
                "{} dt={dt} calls={calls} {name} {}, {columns} of {whole} columns",
                self.name,
                R::NAME
            );
            match Field::new(about, outcome, name, truth) {
                Ok(field) if R::NAME == "f64" => {
                    judge_f64(&field, stage, name, &y, parting, report);
                }
                Ok(field) => judge_f32(&field, stage, name, &y, parting, report),
                Err(why) => report.note("finite", f64::INFINITY, || why),
            }
        }
    }
}

/// Runs and judges all cases; `parting` is [`LIKE_WRF`] or [`ON_ITS_OWN`].
pub fn judge<R: Precision>(cases: &[Case], engine: &impl Engine<R>, parting: f64) -> Report {
    judge_parts(cases, engine, parting, &[1])
}

/// Runs all cases and judges interleaved subsets of their columns, as many as each of `parts` says, separately.
pub fn judge_parts<R: Precision>(
    cases: &[Case],
    engine: &impl Engine<R>,
    parting: f64,
    parts: &[usize],
) -> Report {
    let mut report = Report::default();
    for case in cases {
        case.judge(engine, parting, parts, &mut report);
    }
    report
}
