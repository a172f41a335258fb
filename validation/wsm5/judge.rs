//! Judges whole calls of the scheme by those of WRF.
//!
//! Where a call is smooth (one minor step), every cell of the columns that no rounding can throw
//! off its course must be near the truth. Elsewhere, rounding decides in single cells between
//! finite outcomes (complete evaporation leaves either nothing or a residue of one rounding, which
//! then falls or does not), so that only the spread of the errors can be bounded.

use ndarray::{Array2, Axis};

use crate::case::{Columns, OUTPUTS, Outcome, Precision, Stage, Truth, group};
use crate::support;
use crate::yardstick::{Spread, Yardstick, percentile};

/// Single precision, one minor step: what a maximum may have over that of the worst build.
const MAX_FACTOR: f64 = 4.0;
/// Single precision: what the 99th percentile may have over that of the worst build.
const P99_FACTOR: f64 = 10.0;
/// Single precision: what the share of cells that are off may have over that of the worst build.
const SHARE_FACTOR: f64 = 2.0;
/// A share that is zero or nearly so in WRF's builds rests on a few cells; as many may be off here
/// besides.
const CELLS_OFF: f64 = 3.0;
/// The same for large cases, as a share of the cells.
const SHARE_OFF: f64 = 5.0e-4;
/// How many cells may take another course than WRF's by rounding, as a multiple of what the CPU
/// version may: that one has WRF's operations one by one, and its mathematical library.
#[allow(dead_code, reason = "of one suite alone")]
pub const LIKE_WRF: f64 = 1.0;
/// The same for a device, with functions of its own and fused products: it parts from WRF wherever
/// rounding decides, not only where the order of sums is another.
#[allow(dead_code, reason = "of one suite alone")]
pub const ON_ITS_OWN: f64 = 4.0;
/// The rounding of a field to single precision, below which no limit makes sense: about two units
/// in the last place, of the root mean square.
const FLOOR: f64 = 1.0e-7;
/// The truth is stored with six significant bits beyond single precision.
const STORED_DIGITS: f64 = 1.0 / 64.0;

/// Double precision on a device, many calls: what the 99th percentile may have over that of the
/// worst build, as much as these differ by from one another.
const PARTED_FACTOR: f64 = 4.0;

/// Double precision, one call of several minor steps: the error, over the root mean square, that
/// a share of the cells may reach.
///
/// From the second minor step on, two runs in double precision part in some cells: where a species
/// has evaporated, it is left at zero or at a residue of one rounding, and falls differently.
/// That befalls some cells in a thousand; the rest is as near as the truth is stored.
const F64_ONE_CALL: [(f64, f64); 3] = [(0.5, 1.0e-8), (0.1, 3.0e-7), (0.01, 1.0e-4)];
/// The same after many calls, in which such cells affect their columns, and the truth is stored
/// to 1/64 of larger errors.
const F64_MANY_CALLS: [(f64, f64); 3] = [(0.5, 3.0e-7), (0.1, 3.0e-5), (0.01, 5.0e-3)];

/// What double precision may be off by besides, of the root mean square: what is stored of the
/// truth ends there. The sum of the reflectivity is stored to fewer digits in the original.
fn f64_floor(output: &str) -> f64 {
    if output == "refl_10cm" { 1.0e-6 } else { 1.0e-8 }
}

/// Outputs that jump where a mixing ratio crosses a threshold, also in columns that are not
/// fragile; they are judged by their 99.9th percentile.
fn jumps(output: &str) -> bool {
    ["refl_10cm", "re_cloud", "re_ice", "re_snow", "sr"].contains(&output)
}

/// The cells of one field under test.
pub struct Field<'a> {
    about: String,
    found: Array2<f64>,
    truth: &'a Truth,
    errors: Array2<f64>,
}

impl<'a> Field<'a> {
    fn new<R: Precision>(
        about: String,
        outcome: &Outcome<R>,
        output: usize,
        truth: &'a Truth,
    ) -> Self {
        let found = outcome.fields[output].mapv(R::f64);
        assert_eq!(found.dim(), truth.exact.dim(), "{about}");
        let errors = (&found - &truth.exact).mapv(f64::abs);
        assert!(errors.iter().all(|x| x.is_finite()), "{about}: a result is not finite");
        Self { about, found, truth, errors }
    }

    /// The cell whose error is largest against its limit, among the columns that count; the
    /// ratio, and what there is to say of it.
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

/// Failures, and how near to its limit each kind of check came.
#[derive(Default)]
pub struct Report {
    /// Limits that were exceeded.
    pub failures: Vec<String>,
    /// Kind of check, part of the limit, and where.
    pub nearest: Vec<(&'static str, f64, String)>,
}

impl Report {
    /// Notes that `ratio` of a limit was reached.
    fn note(&mut self, kind: &'static str, ratio: f64, text: impl FnOnce() -> String) {
        let index = self.nearest.iter().position(|(known, ..)| *known == kind);
        let index = index.unwrap_or_else(|| {
            self.nearest.push((kind, -1.0, String::new()));
            self.nearest.len() - 1
        });
        if ratio <= self.nearest[index].1 && ratio <= 1.0 {
            return;
        }
        let text = text();
        if ratio > 1.0 {
            self.failures.push(format!("{kind}: {text}"));
        }
        if ratio > self.nearest[index].1 {
            self.nearest[index] = (kind, ratio, text);
        }
    }

    pub fn finish(self) {
        for (kind, ratio, text) in &self.nearest {
            println!("{kind}: {ratio:.3} of the limit; {text}");
        }
        let count = self.failures.len();
        assert!(count == 0, "{count} limits are exceeded:\n{}", self.failures.join("\n"));
        assert!(!self.nearest.is_empty(), "nothing was compared");
    }
}

/// The error that this share of the cells reaches in the whole case. Where only some columns are
/// at hand, as many cells may lie above: they may have been chosen for being difficult.
fn tail(field: &Field<'_>, share: f64, y: &Yardstick) -> f64 {
    let cells = field.errors.len() as f64;
    let above = (share * y.cells as f64 / cells).min(1.0);
    let mut sorted = field.errors.iter().copied().collect::<Vec<_>>();
    percentile(&mut sorted, 100.0 * (1.0 - above))
}

/// Judges single precision.
pub fn judge_f32(
    field: &Field<'_>,
    stage: &Stage<'_>,
    output: &str,
    y: &Yardstick,
    (fragile, parting): (&[bool], f64),
    report: &mut Report,
) {
    let about = &field.about;
    let floor = FLOOR * y.rms;
    if stage.is_smooth() && !jumps(output) {
        let limit = (MAX_FACTOR * y.robust_max).max(floor);
        let (ratio, text) = field.worst(|_| limit, |column| !fragile[column]);
        report.note("maximum", ratio, || text);
    }
    if stage.is_smooth() {
        let p999 = tail(field, 1e-3, y);
        let limit = (MAX_FACTOR * y.p999).max(floor);
        report.note("99.9th percentile", p999 / limit.max(f64::MIN_POSITIVE), || {
            format!("{about}: {p999:.3e} above {limit:.3e}")
        });
    }
    judge_spread(field, y, P99_FACTOR, parting, report);
}

/// Judges the spread of the errors by that of WRF's builds in single precision.
fn judge_spread(field: &Field<'_>, y: &Yardstick, factor: f64, parting: f64, report: &mut Report) {
    let (about, floor) = (&field.about, FLOOR * y.rms);
    let cells = field.errors.len();
    let spread = Spread::of(&field.errors, &field.truth.exact);
    let most = y.scaled(Spread::of(&field.truth.off, &field.truth.exact));
    let limit = (factor * most.p99).max(floor);
    report.note("99th percentile", spread.p99 / limit.max(f64::MIN_POSITIVE), || {
        format!("{about}: {:.3e} above {limit:.3e}", spread.p99)
    });
    let limit = SHARE_FACTOR * most.share + parting * (CELLS_OFF / cells as f64).max(SHARE_OFF);
    report.note("share off", spread.share / limit, || {
        format!("{about}: {:.3e} of the cells, above {limit:.3e}", spread.share)
    });
}

/// Judges double precision.
pub fn judge_f64(
    field: &Field<'_>,
    stage: &Stage<'_>,
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
        judge_spread(field, y, PARTED_FACTOR, parting, report);
        return;
    }
    let spread = if stage.calls == 1 { F64_ONE_CALL } else { F64_MANY_CALLS };
    for (share, most) in spread {
        // Half of the cells, and nine of ten, are nowhere near a threshold.
        let share = if share < 0.1 { parting * share } else { share };
        let error = tail(field, share, y);
        let ratio = error / (most * y.rms).max(floor).max(f64::MIN_POSITIVE);
        report.note("double precision, spread", ratio, || {
            let about = &field.about;
            format!("{about}: a share of {share} of the cells has {error:.3e} or more")
        });
    }
    // Both outcomes lie within the range of the field.
    let range = field.truth.exact.iter().fold(floor, |most, x| most.max(x.abs()));
    let (ratio, text) = field.worst(|_| range, |_| true);
    report.note("double precision, maximum", ratio, || text);
}

/// Columns of a case that are left at least when some are left out.
const FEWEST: usize = 10;

/// Runs the stages of the cases and hands each field to `judge`; `thin` columns are left out
/// between two.
pub fn each_field<R: Precision>(
    run: impl Fn(&Columns, f64, usize) -> Outcome<R>,
    cases: &[&str],
    thin: usize,
    stages: impl Fn(&Stage<'_>) -> bool,
    mut judge: impl FnMut(&Field<'_>, &Stage<'_>, &str, &Yardstick, &[bool]),
) {
    let file = support::reference("wsm5");
    for case in cases {
        let group = group(&file, case);
        let whole = Columns::read(&group);
        // A few columns have to be left to speak of percentiles.
        let thin = thin.min(whole.dim().1 / FEWEST).max(1);
        let chosen: Vec<usize> = (0..whole.dim().1).step_by(thin).collect();
        let columns = whole.select(&chosen);
        for stage in Stage::all(&group).into_iter().filter(&stages) {
            let outcome = run(&columns, stage.dt, stage.calls);
            let fragile = stage.fragile();
            let fragile: Vec<bool> = chosen.iter().map(|&column| fragile[column]).collect();
            for (output, name) in OUTPUTS.into_iter().enumerate() {
                let Truth { exact, off } = stage.truth(output);
                let pick = |field: Array2<f64>| field.select(Axis(1), &chosen);
                let truth = Truth { exact: pick(exact), off: pick(off) };
                let (dt, calls) = (stage.dt, stage.calls);
                let about = format!("{case} dt={dt} calls={calls} {name} {}", R::NAME);
                let field = Field::new(about, &outcome, output, &truth);
                let y = Yardstick::of(case, dt, calls, name);
                judge(&field, &stage, name, &y, &fragile);
            }
        }
    }
}
