//! Comparison after many steps: the difference of two backends against those of pairs of runs on the CPU.
//!
//! In one pair the second run starts one ULP above the first. In the other pair the second run is perturbed by one ULP
//! up or down before every step: different arithmetic rounds differently in every step, and a scheme that damps an
//! initial disturbance does not damp that. The first pair differs more in sums over the domain, since all cells are
//! shifted alike; the second pair differs more in single fields.
//!
//! After a few steps neither difference has grown, and one ULP is less than the rounding errors within a step, which
//! runs on the CPU have in common. So the limit of a field is at least the error of one step, which arises anew in each
//! step; independent errors add in quadrature.
//!
//! A few columns may differ by any amount, since rounding decides when the first rain falls. So the limit of a sum over
//! the domain is at least the sum of random differences of independent columns, in which no column counts for more than
//! the rain itself: an error common to all columns fails, and so does an excessive error of one column.

use super::rounding_reference::{FLOOR_F32, FLOOR_F64, jumps};
use super::run_state::RunState;
use super::spread::{Spread, root_mean_square};
use super::verdict::{Check, Verdict};
use crate::diagnostics::difference::Value;
use crate::real::{Precision, Real};

/// Largest ratio of a difference to that of runs on the CPU, the same as for the largest error of the first step. Two
/// pairs are a small sample: correct runs of idealised storms on a GPU reached a ratio of 3.6
/// (benches/results/2026-11-22-h200).
const FACTOR: f64 = 4.0;

/// Names of the totals.
const TOTALS: [&str; 2] = ["water of the domain", "rain of the domain"];

/// Differences between runs on the CPU.
#[derive(Clone, Debug)]
pub struct RunSpread {
    fields: Vec<Spread>,
    /// Differences of the sums in [`Totals`].
    totals: [f64; 2],
    /// Random difference of the precipitation of independent columns, summed over the domain, kg.
    by_chance: f64,
}

/// Sums over the domain.
#[derive(Clone, Copy, Debug)]
pub struct Totals {
    /// Water, kg.
    pub water: f64,
    /// Precipitation, kg.
    pub rain: f64,
    /// Area, m².
    pub area: f64,
}

impl Totals {
    fn sums(&self) -> [f64; 2] {
        [self.water, self.rain]
    }
}

impl RunSpread {
    /// The difference of two runs.
    pub fn of<R: Real>(a: &RunState<R>, b: &RunState<R>, totals: [Totals; 2]) -> Self {
        let mut scratch = Vec::new();
        let pairs = a.fields().into_iter().zip(b.fields());
        let fields: Vec<Spread> =
            pairs.map(|(first, second)| Spread::of(second, first, &mut scratch)).collect();
        let rain = a.names().iter().position(|name| *name == RunState::<R>::RAIN);
        let rms = rain.map_or(0.0, |rain| fields[rain].rms);
        let by_chance = sum_by_chance(rms, totals[0].area, a.columns());
        let [a, b] = totals.map(|totals| totals.sums());
        Self { fields, totals: [(b[0] - a[0]).abs(), (b[1] - a[1]).abs()], by_chance }
    }

    /// The larger of these differences and the errors of `one_step` accumulated over `steps` steps.
    #[must_use]
    pub(crate) fn or_roundings(self, one_step: &[Spread], steps: usize) -> Self {
        let added = (steps as f64).sqrt();
        let pairs = self.fields.iter().zip(one_step);
        let fields = pairs.map(|(own, one)| own.larger(&one.scaled(added))).collect();
        Self { fields, ..self }
    }

    /// The larger of the differences of two pairs, for each measure.
    #[must_use]
    pub fn larger(&self, other: &Self) -> Self {
        Self {
            fields: self.fields.iter().zip(&other.fields).map(|(a, b)| a.larger(b)).collect(),
            totals: std::array::from_fn(|n| self.totals[n].max(other.totals[n])),
            by_chance: self.by_chance.max(other.by_chance),
        }
    }
}

/// Difference of the total precipitation if the errors of `columns` columns, of `rms` mm, are independent, kg: twice
/// the standard deviation of the sum, which holds in 19 cases of 20. A millimetre on a square metre is a kilogram.
fn sum_by_chance(rms: f64, area: f64, columns: usize) -> f64 {
    2.0 * rms * area / (columns as f64).sqrt()
}

/// The verdicts on run `b` against run `a` after `steps` steps.
pub fn judge_later<R: Real + Value>(
    steps: usize,
    [a, b]: [&RunState<R>; 2],
    totals: [Totals; 2],
    apart: &RunSpread,
) -> Vec<Verdict> {
    let part = match R::PRECISION {
        Precision::F32 => FLOOR_F32,
        Precision::F64 => FLOOR_F64,
    };
    let limits = |most: f64, size: f64, what: &str| {
        let of_runs = format!("{FACTOR} x the difference of runs on the CPU by rounding");
        [(FACTOR * most, of_runs), (part * size.abs(), format!("{part:e} of {what}"))]
    };
    let mut scratch = Vec::new();
    let mut verdicts = Vec::new();
    let mut by_chance = 0.0;
    for (n, (yard, name)) in apart.fields.iter().zip(a.names()).enumerate() {
        let (first, second) = (a.fields()[n], b.fields()[n]);
        let spread = Spread::of(second, first, &mut scratch);
        let (size, what) = (root_mean_square(first), "the field's rms");
        if name == RunState::<R>::RAIN {
            by_chance = sum_by_chance(spread.rms.min(size), totals[0].area, a.columns());
        }
        let mut checks =
            vec![Check::new("99th percentile", spread.p99, limits(yard.p99, size, what))];
        // The rms of a field with jumps is determined by a few cells.
        if !jumps(name) {
            let limits = limits(yard.rms_inner, size, what);
            checks.push(Check::new("rms of all but the largest 1 %", spread.rms_inner, limits));
        }
        verdicts.push(Verdict::on_field(steps, [a, b], n, checks, &mut scratch));
    }
    for (n, name) in TOTALS.into_iter().enumerate() {
        let both = totals.map(|of_run| of_run.sums()[n]);
        let found = (both[1] - both[0]).abs();
        // A single difference of sums may be small by chance; the sum over columns is not.
        let most = apart.totals[n].max(apart.by_chance);
        let [of_runs, floor] = limits(most, both[0], "the total");
        let of_columns = format!("{FACTOR} x the random sum of differences of columns");
        let limits = [of_runs, (FACTOR * by_chance, of_columns), floor];
        verdicts.push(Verdict::on_total(
            name,
            steps,
            both,
            Check::new("difference", found, limits),
        ));
    }
    verdicts
}
