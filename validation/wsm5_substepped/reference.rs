//! Whole calls of the scheme against those of WRF of July 2008, where its results are at hand.

use std::collections::HashMap;

use ndarray::{Array2, Axis, Ix2};
use netcdf::Group;
use nwp_mini::wsm5::params::SchemeConstants;

use crate::case::{CASES, Columns, ON_LEVELS, OUTPUTS, Outcome, group, parameters, values};
use crate::support::{self, Substepped};

/// Single precision, one minor step: what a maximum may have over that of the worst build.
const MAX_FACTOR: f64 = 4.0;
/// Single precision: what the 99th percentile may have over that of the worst build.
const P99_FACTOR: f64 = 10.0;
/// Single precision: what the share of cells that are off may have over that of the worst build.
const SHARE_FACTOR: f64 = 2.0;
/// Cells that may be off besides: a share of zero or nearly so rests on a few cells.
const CELLS_OFF: f64 = 3.0;
/// The same for large cases, as a share of the cells.
const SHARE_OFF: f64 = 5.0e-4;
/// About two units in the last place of single precision, of the root mean square.
const FLOOR: f64 = 1.0e-7;
/// The truth is stored with six significant bits beyond single precision.
const STORED_DIGITS: f64 = 1.0 / 64.0;
/// Double precision: where what is stored of the truth ends, of the root mean square.
const F64_FLOOR: f64 = 1.0e-8;
/// Double precision after many calls: the share of cells that a rounding may have sent to the
/// other side of a threshold (0.5 % of `edge` at 300 s; at most 0.15 % elsewhere).
const F64_MANY_CALLS_SHARE: f64 = 0.01;
/// The same as a number, for fields at the ground: twice what was found.
const F64_MANY_CALLS_CELLS: usize = 4;

/// How far such a cell may be off, of the root mean square: about twice what was found. `edge` is
/// made of columns at thresholds.
fn f64_many_calls_most(case: &str) -> f64 {
    if case == "edge" { 0.2 } else { 0.02 }
}

/// What the single-precision builds of WRF's code are off by at most.
#[derive(Clone, Copy, Default)]
struct Yardstick {
    rms: f64,
    robust_max: f64,
    p99: f64,
    share: f64,
}

type Key = (String, u32, usize, String);

fn yardsticks(text: &str) -> HashMap<Key, Yardstick> {
    let mut lines = text.lines().map(|line| line.split(',').collect::<Vec<_>>());
    let header = lines.next().expect("a header");
    let column = |name: &str| header.iter().position(|title| *title == name).expect("a column");
    let [case, dt, calls, field] = ["case", "dt", "calls", "field"].map(column);
    let [rms, robust_max, p99, share] = ["field_rms", "robust_max", "p99", "frac_gt"].map(column);
    let mut table = HashMap::<Key, Yardstick>::new();
    for row in lines {
        let number = |column: usize| row[column].parse::<f64>().unwrap_or(f64::NAN);
        let (dt, calls) = (number(dt) as u32, number(calls) as usize);
        let entry = table.entry((row[case].into(), dt, calls, row[field].into())).or_default();
        entry.rms = number(rms);
        // Empty, and so not a number, where there are several calls; `max` passes over it.
        entry.robust_max = entry.robust_max.max(number(robust_max));
        entry.p99 = entry.p99.max(number(p99));
        entry.share = entry.share.max(number(share));
    }
    table
}

/// Results of a case at one time step and number of calls.
struct Stage<'f> {
    case: &'static str,
    group: Group<'f>,
    indices: [usize; 2],
    dt: f64,
    calls: usize,
}

impl Stage<'_> {
    fn is_smooth(&self) -> bool {
        self.calls == 1 && self.dt <= 120.0
    }

    /// The exact result, and how far WRF's own single precision is off it.
    fn truth(&self, output: usize) -> [Array2<f64>; 2] {
        let [a, b] = self.indices;
        let read = |suffix: &str| {
            let name = format!("{}_{suffix}", OUTPUTS[output]);
            let field = if output < ON_LEVELS {
                values(&self.group, &name, (a, b, .., ..))
            } else {
                values(&self.group, &name, (a, b, ..)).insert_axis(Axis(0))
            };
            field.mapv(f64::from).into_dimensionality::<Ix2>().expect("(level, column)")
        };
        let off = read("d64");
        [read("out") + &off, off.mapv(f64::abs)]
    }

    /// Columns whose single call changes its course by a rounding.
    fn fragile(&self) -> Vec<bool> {
        values(&self.group, "fragile", (self.indices[0], ..)).iter().map(|x| *x != 0.0).collect()
    }
}

/// Hands every stage of every case and what the scheme makes of it to `judge`.
fn each_stage<R: SchemeConstants>(
    data: &Substepped,
    mut judge: impl FnMut(&Stage<'_>, &Outcome<R>),
) {
    for case in CASES {
        let columns = Columns::read(&data.input, case);
        let [dts, calls] = ["dt", "call"].map(|name| values(&group(&data.output, case), name, ..));
        for (a, &dt) in dts.iter().enumerate() {
            for (b, &calls) in calls.iter().enumerate() {
                let group = group(&data.output, case);
                let (dt, calls) = (f64::from(dt), calls as usize);
                let stage = Stage { case, group, indices: [a, b], dt, calls };
                judge(&stage, &columns.run::<R>(dt, calls));
            }
        }
    }
}

/// Failures, and how near to its limit each kind of check came.
#[derive(Default)]
struct Report {
    failures: Vec<String>,
    nearest: HashMap<&'static str, (f64, String)>,
}

impl Report {
    fn note(&mut self, kind: &'static str, found: f64, limit: f64, about: &str) {
        let ratio = if found <= 0.0 { 0.0 } else { found / limit };
        let text = format!("{kind}: {about}: {found:.3e}, limit {limit:.3e}");
        if ratio.is_nan() || ratio > 1.0 {
            self.failures.push(text.clone());
        }
        let nearest = self.nearest.entry(kind).or_insert((-1.0, String::new()));
        if ratio > nearest.0 {
            *nearest = (ratio, text);
        }
    }

    fn finish(self) {
        for (ratio, text) in self.nearest.values() {
            println!("{ratio:.3} of the limit; {text}");
        }
        let count = self.failures.len();
        assert!(count == 0, "{count} limits are exceeded:\n{}", self.failures.join("\n"));
        assert!(!self.nearest.is_empty(), "nothing was compared");
    }
}

/// A percentile with linear interpolation, as the yardstick has it.
fn percentile(errors: &Array2<f64>, percent: f64) -> f64 {
    let mut sorted: Vec<f64> = errors.iter().copied().collect();
    sorted.sort_by(f64::total_cmp);
    let position = percent / 100.0 * (sorted.len() - 1) as f64;
    let below = position.floor() as usize;
    let above = (below + 1).min(sorted.len() - 1);
    sorted[below] + (sorted[above] - sorted[below]) * position.fract()
}

/// Share of the cells that are off, by the definition of the yardstick.
fn share_off(errors: &Array2<f64>, truth: &Array2<f64>) -> f64 {
    let largest = truth.iter().fold(0.0_f64, |most, x| most.max(x.abs()));
    let is_off = |(error, truth): &(&f64, &f64)| **error > 1e-5 * (truth.abs() + 1e-3 * largest);
    errors.iter().zip(truth).filter(is_off).count() as f64 / errors.len() as f64
}

#[test]
fn single_precision() {
    let Some(data) = support::substepped() else { return };
    let table = yardsticks(&data.yardstick);
    let mut report = Report::default();
    each_stage::<f32>(&data, |stage, outcome| {
        let fragile = stage.fragile();
        for (output, name) in OUTPUTS.into_iter().enumerate() {
            let [truth, _] = stage.truth(output);
            let errors = (outcome.fields[output].mapv(f64::from) - &truth).mapv(f64::abs);
            let Stage { case, dt, calls, .. } = *stage;
            let y = table[&(case.to_owned(), dt as u32, calls, name.to_owned())];
            let about = format!("{case} dt={dt} calls={calls} {name}");
            let floor = FLOOR * y.rms;
            if stage.is_smooth() {
                let robust = errors.indexed_iter().filter(|((_, column), _)| !fragile[*column]);
                let most = robust.fold(0.0_f64, |most, (_, &x)| most.max(x));
                report.note("maximum", most, (MAX_FACTOR * y.robust_max).max(floor), &about);
                continue;
            }
            let p99 = percentile(&errors, 99.0);
            report.note("99th percentile", p99, (P99_FACTOR * y.p99).max(floor), &about);
            let spare = (CELLS_OFF / errors.len() as f64).max(SHARE_OFF);
            let share = share_off(&errors, &truth);
            report.note("share off", share, SHARE_FACTOR * y.share + spare, &about);
        }
    });
    report.finish();
}

#[test]
fn double_precision() {
    let Some(data) = support::substepped() else { return };
    let table = yardsticks(&data.yardstick);
    let mut report = Report::default();
    each_stage::<f64>(&data, |stage, outcome| {
        for (output, name) in OUTPUTS.into_iter().enumerate() {
            let [truth, off] = stage.truth(output);
            let errors = (&outcome.fields[output] - &truth).mapv(f64::abs);
            let Stage { case, dt, calls, .. } = *stage;
            let rms = table[&(case.to_owned(), dt as u32, calls, name.to_owned())].rms;
            let about = format!("{case} dt={dt} calls={calls} {name}");
            let limits = off.mapv(|off| off * STORED_DIGITS + F64_FLOOR * rms);
            let mut parted = 0;
            for (&error, &limit) in errors.iter().zip(&limits) {
                parted += usize::from(error > limit);
                if stage.calls == 1 {
                    report.note("one call", error, limit, &about);
                } else {
                    let most = limit.max(f64_many_calls_most(case) * rms);
                    report.note("many calls, maximum", error, most, &about);
                }
            }
            let share = (F64_MANY_CALLS_SHARE * errors.len() as f64) as usize;
            let spare = share.max(F64_MANY_CALLS_CELLS) as f64;
            report.note("cells that part", parted as f64, spare, &about);
        }
    });
    report.finish();
}

fn check_substeps<R: SchemeConstants>(data: &Substepped) {
    let (mut compared, mut most) = (0, 0);
    for case in CASES {
        let columns = Columns::read(&data.input, case);
        let stored = group(&data.output, case);
        for (a, &dt) in values(&stored, "dt", ..).iter().enumerate() {
            // The number of the first minor step of a call is stored.
            let dt_cloud = dt / (dt / 120.0).round().max(1.0);
            let [rain_snow, ice] = ["m_rain_snow", "m_ice"]
                .map(|name| values(&stored, name, (a, ..)).mapv(|count| count as usize));
            for column in 0..rain_snow.len() {
                let mut work = columns.column::<R>(column);
                let falls = work.cells.iter().any(|c| c.qr > R::ZERO || c.qs > R::ZERO);
                work.call(&parameters(), R::of(dt_cloud.into()));
                let found = work.substeps();
                let about = format!("{case} dt={dt} column {column} {}", R::NAME);
                assert_eq!(found[1], ice[column], "ice, {about}");
                // Nothing to fall is not made to fall in steps.
                let expected = if falls { rain_snow[column] } else { 1 };
                assert_eq!(found[0], expected, "rain and snow, {about}");
                compared += usize::from(falls);
                most = most.max(found[0]);
            }
        }
    }
    println!("{compared} columns with rain or snow in {}, up to {most} sub-steps", R::NAME);
    assert!(compared > 0);
}

#[test]
fn numbers_of_substeps() {
    let Some(data) = support::substepped() else { return };
    check_substeps::<f64>(&data);
    check_substeps::<f32>(&data);
}
