//! Verdict on a field.

use serde::Serialize;

use super::run_state::RunState;
use super::spread::Spread;
use crate::diagnostics::difference::{Band, Difference, Value};
use crate::real::Real;

/// A measured quantity and its limit, in the units of the quantity.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Check {
    /// Name of the quantity.
    pub measure: &'static str,
    /// Its value.
    pub found: f64,
    /// Its largest admissible value.
    pub limit: f64,
    /// Origin of the limit.
    pub origin: String,
    /// The cell `[k, j, i]` of the value; `None` if it is not of one cell.
    pub cell: Option<[usize; 3]>,
    /// `true` if the value is within the limit.
    pub pass: bool,
}

impl Check {
    /// A check of a value against the largest of several limits, each with its origin.
    pub fn new<const N: usize>(
        measure: &'static str,
        found: f64,
        limits: [(f64, String); N],
    ) -> Self {
        let larger = |a: (f64, String), b: (f64, String)| if a.0 >= b.0 { a } else { b };
        let (limit, origin) = limits.into_iter().reduce(larger).unwrap_or_default();
        // NaN fails every check.
        Self { measure, found, limit, origin, cell: None, pass: found <= limit }
    }

    /// Value as a fraction of the limit.
    fn use_of_limit(&self) -> f64 {
        match (self.found, self.limit) {
            (0.0, _) => 0.0,
            (found, limit) if limit > 0.0 => found / limit,
            _ => f64::INFINITY,
        }
    }
}

/// Difference of a field between two runs, in its units, and its verdict.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Verdict {
    /// Name of the field, or of the total.
    pub field: &'static str,
    /// Number of steps.
    pub steps: usize,
    /// Largest difference of the two runs.
    pub max_abs: f64,
    /// Root mean square of the differences, relative to that of the first run; `None` if that is zero and the
    /// differences are not.
    pub rms_rel: Option<f64>,
    /// 99.9th percentile of the differences.
    pub p999: Option<f64>,
    /// Largest difference in ULP.
    pub max_ulp: Option<u64>,
    /// The cell `[k, j, i]` of the largest difference; `None` for totals.
    pub worst: Option<[usize; 3]>,
    /// Quantity of the check that is nearest to its limit, or exceeds it most.
    pub measure: &'static str,
    /// Its value.
    pub found: f64,
    /// Its limit.
    pub limit: f64,
    /// Origin of that limit.
    pub origin: String,
    /// All checks of the field.
    pub checks: Vec<Check>,
    /// `true` if all checks pass.
    pub pass: bool,
}

impl Verdict {
    /// The verdict on field number `n` of two runs.
    pub(crate) fn on_field<R: Real + Value>(
        steps: usize,
        [a, b]: [&RunState<R>; 2],
        n: usize,
        mut checks: Vec<Check>,
        scratch: &mut Vec<f64>,
    ) -> Self {
        let [first, second] = [a, b].map(|run| run.fields()[n]);
        let mut difference = Difference::default();
        difference.add(Band::default(), first, second);
        if difference.unmatched > 0 {
            let limit = (0.0, "every value is a number".to_owned());
            let found = difference.unmatched as f64;
            let cell = difference.first_unmatched.map(|place| a.cell(place as usize));
            checks.push(Check { cell, ..Check::new("values that are no numbers", found, [limit]) });
        }
        let apart = Spread::of(second, first, scratch);
        let worst = difference.worst.map(|worst| a.cell(worst.index as usize));
        Self {
            max_abs: difference.max_abs,
            rms_rel: difference.relative_percent().map(|percent| percent / 100.0),
            p999: Some(apart.p999),
            max_ulp: Some(difference.max_ulp),
            worst,
            ..Self::of_checks(a.names()[n], steps, checks)
        }
    }

    /// The verdict on a total of two runs.
    pub(crate) fn on_total(
        field: &'static str,
        steps: usize,
        [a, b]: [f64; 2],
        check: Check,
    ) -> Self {
        let max_abs = (b - a).abs();
        let rms_rel = match (max_abs, a) {
            (0.0, _) => Some(0.0),
            (_, 0.0) => None,
            _ => Some(max_abs / a.abs()),
        };
        Self { max_abs, rms_rel, ..Self::of_checks(field, steps, vec![check]) }
    }

    fn of_checks(field: &'static str, steps: usize, checks: Vec<Check>) -> Self {
        let nearest = |a: &&Check, b: &&Check| a.use_of_limit().total_cmp(&b.use_of_limit());
        let (measure, found, limit, origin) =
            checks.iter().max_by(nearest).map_or(("", 0.0, 0.0, String::new()), |check| {
                (check.measure, check.found, check.limit, check.origin.clone())
            });
        let pass = checks.iter().all(|check| check.pass);
        Self {
            field,
            steps,
            max_abs: 0.0,
            rms_rel: None,
            p999: None,
            max_ulp: None,
            worst: None,
            measure,
            found,
            limit,
            origin,
            checks,
            pass,
        }
    }

    /// Cell to report with a bad verdict: that of the failed check, or that of the largest difference.
    pub fn suspect(&self) -> Option<[usize; 3]> {
        let mut failed = self.checks.iter().filter(|check| !check.pass);
        failed.find_map(|check| check.cell).or(self.worst)
    }
}
