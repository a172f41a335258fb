//! Errors of other single-precision builds of WRF's own code, and the statistics of errors.

use std::collections::HashMap;

use ndarray::Array2;

/// Improbability of a sample of columns that exceeds [`share_of_sample`], as -ln of the probability: one in a million,
/// since a thousand limits are tested at a time.
const IMPROBABLE: f64 = 13.8;

/// The build whose results the reference file holds.
const STORED_BUILD: &str = "f32_O2";

/// Errors of the builds in one field of one case, time step and number of calls.
#[derive(Clone, Copy, Debug, Default)]
pub struct Yardstick {
    /// Root mean square of the field.
    pub rms: f64,
    /// Number of cells.
    pub cells: usize,
    /// Largest error of all builds in columns that are not fragile; of single calls.
    pub robust_max: f64,
    /// Largest 99.9th percentile of all builds.
    pub p999: f64,
    /// Largest 90th percentile of all builds, 0 in a table without it.
    pub p90: f64,
    /// 99th percentile, and the share of cells that are off: largest of all builds.
    pub most: Spread,
    /// Errors of the stored build.
    pub stored: Spread,
}

/// Statistics of errors.
#[derive(Clone, Copy, Debug, Default)]
pub struct Spread {
    /// 99th percentile.
    pub p99: f64,
    /// Share of cells that are off, see [`is_off`].
    pub share: f64,
}

type Key = (String, u32, usize, String);

/// The table of a variant of the scheme.
pub struct Yardsticks(HashMap<Key, Yardstick>);

impl Yardsticks {
    /// Reads a table, of which the builds count that `counts` says after a number of calls.
    pub fn parse(text: &str, counts: impl Fn(&str, usize) -> bool) -> Self {
        Self(parse(text, counts))
    }

    /// The entry of a field of a case.
    pub fn of(&self, case: &str, dt: f64, calls: usize, field: &str) -> Yardstick {
        let key = (case.to_owned(), dt as u32, calls, field.to_owned());
        *self.0.get(&key).unwrap_or_else(|| panic!("the yardstick has no {key:?}"))
    }
}

fn parse(text: &str, counts: impl Fn(&str, usize) -> bool) -> HashMap<Key, Yardstick> {
    let mut lines = text.lines().map(|line| line.split(',').collect::<Vec<_>>());
    let header = lines.next().expect("a header");
    let column = |name: &str| {
        header.iter().position(|title| *title == name).unwrap_or_else(|| panic!("no column {name}"))
    };
    let [case, dt, calls, build, field, cells] =
        ["case", "dt", "calls", "build", "field", "cells"].map(column);
    let [rms, robust_max, p99, p999, share] =
        ["field_rms", "robust_max", "p99", "p999", "frac_gt"].map(column);
    let p90 = header.iter().position(|title| *title == "p90");
    let mut table = HashMap::<Key, Yardstick>::new();
    for row in lines {
        let number = |column: usize| row[column].parse::<f64>().unwrap_or(f64::NAN);
        if !counts(row[build], number(calls) as usize) {
            continue;
        }
        let key = (
            row[case].to_owned(),
            number(dt) as u32,
            number(calls) as usize,
            row[field].to_owned(),
        );
        let entry = table.entry(key).or_default();
        entry.rms = number(rms);
        entry.cells = number(cells) as usize;
        // Empty, and so NaN, for several calls; `max` ignores it.
        entry.robust_max = entry.robust_max.max(number(robust_max));
        entry.p999 = entry.p999.max(number(p999));
        entry.p90 = entry.p90.max(p90.map_or(f64::NAN, number));
        let spread = Spread { p99: number(p99), share: number(share) };
        entry.most.p99 = entry.most.p99.max(spread.p99);
        entry.most.share = entry.most.share.max(spread.share);
        if row[build] == STORED_BUILD {
            entry.stored = spread;
        }
    }
    table
}

impl Yardstick {
    /// Estimated errors of the worst build in other cells than those of the whole case.
    ///
    /// Percentiles of a whole case do not apply to a few of its columns, which may have been chosen for being
    /// difficult. The stored build is known in every cell. Its errors in the selected cells, times the ratio of the
    /// worst build to the stored build in the whole case, are an estimate for the worst build. For the whole case this
    /// is the worst build itself.
    pub fn scaled(&self, stored: Spread) -> Spread {
        let scale = |here: f64, whole: f64, most: f64| {
            if whole > 0.0 { here * (most / whole).max(1.0) } else { here.max(most) }
        };
        Spread {
            p99: scale(stored.p99, self.stored.p99, self.most.p99),
            share: scale(stored.share, self.stored.share, self.most.share),
        }
    }
}

/// The share of a sample of `at_hand` cells, in columns of `levels` drawn from the `whole` ones of a
/// case, that may be beyond something that a `share` of the whole is beyond.
///
/// Rounding affects whole columns at a time, so that the sample consists of columns, of which a fraction of at most
/// `share` exceeds the limit in all levels. Bernstein's inequality bounds the number among the n drawn by
/// n·share + √(2 n·share·t) + t/3, except with a probability of exp(-t), which also holds for drawing without
/// replacement (Hoeffding 1963); the fraction is never more than that of the whole case.
pub fn share_of_sample(share: f64, levels: usize, at_hand: usize, whole: usize) -> f64 {
    if at_hand >= whole {
        return share;
    }
    let columns = (at_hand / levels) as f64;
    let more = (2.0 * columns * share * IMPROBABLE).sqrt() + IMPROBABLE / 3.0;
    let all = share * whole as f64 / at_hand as f64;
    (share + more / columns).min(all).min(1.0)
}

/// True if a cell counts as off, by the definition of the reference data.
fn is_off(error: f64, truth: f64, largest: f64) -> bool {
    error > 1e-5 * (truth.abs() + 1e-3 * largest)
}

/// A percentile with linear interpolation, as the yardstick has it. Sorts the values.
pub fn percentile(values: &mut [f64], percent: f64) -> f64 {
    values.sort_by(f64::total_cmp);
    let position = percent / 100.0 * (values.len() - 1) as f64;
    let below = position.floor() as usize;
    let above = (below + 1).min(values.len() - 1);
    values[below] + (values[above] - values[below]) * position.fract()
}

/// Root mean square.
pub fn rms(field: &Array2<f64>) -> f64 {
    (field.iter().map(|x| x * x).sum::<f64>() / field.len() as f64).sqrt()
}

impl Spread {
    /// The spread of errors.
    pub fn of(errors: &Array2<f64>, truth: &Array2<f64>) -> Self {
        let largest = truth.iter().fold(0.0_f64, |most, x| most.max(x.abs()));
        let cells = errors.iter().zip(truth);
        let off = cells.filter(|(error, truth)| is_off(**error, **truth, largest)).count();
        let mut sorted = errors.iter().copied().collect::<Vec<_>>();
        Self { p99: percentile(&mut sorted, 99.0), share: off as f64 / errors.len() as f64 }
    }
}
