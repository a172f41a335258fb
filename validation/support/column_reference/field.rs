//! A field of a result compared with the exact one.

use ndarray::Array2;

use super::report::Report;
use super::stage::Stage;
use super::truth::Truth;
use super::yardstick::{Spread, Yardstick, percentile, share_of_sample};

/// Two roundings of a field to single precision, relative to its root mean square: the smallest sensible limit.
pub const FLOOR: f64 = 1.0e-7;
/// Part of an error of single precision to which the truth is stored: to six significant bits.
pub const STORED_DIGITS: f64 = 1.0 / 64.0;

/// One field under test, in the columns that are judged.
pub struct Field<'a> {
    /// Case of the reference.
    pub case: &'static str,
    /// Name of the field.
    pub name: &'static str,
    /// Time step, calls and marked columns.
    pub stage: &'a Stage,
    /// The exact field.
    pub truth: &'a Truth,
    /// Distances from it. Shape: (level or 1, column).
    pub errors: Array2<f64>,
    /// Errors of WRF's builds in the whole case.
    pub yardstick: Yardstick,
    pub(super) about: String,
}

impl Field<'_> {
    /// Notes a figure of the field, and its limit; a limit of zero is kept by zero.
    pub fn note(&self, kind: &str, found: f64, limit: f64, report: &mut Report) {
        let ratio = if found == 0.0 { 0.0 } else { found / limit };
        report.note(kind, ratio, || format!("{}: {found:.3e} above {limit:.3e}", self.about));
    }

    /// Counts a figure among the limits of which a few may be exceeded.
    pub fn tally(&self, kind: &str, found: f64, limit: f64, report: &mut Report) {
        report.tally(found, limit, || {
            format!("{}: {kind} {found:.3e} above {limit:.3e}", self.about)
        });
    }

    /// Notes the cell with the largest error relative to its limit, among the columns that count.
    pub fn note_worst(
        &self,
        kind: &str,
        limit: impl Fn([usize; 2]) -> f64,
        counts: impl Fn(usize) -> bool,
        report: &mut Report,
    ) {
        let mut worst = (0.0, [0, 0]);
        for ((k, column), &error) in self.errors.indexed_iter().filter(|((_, c), _)| counts(*c)) {
            let ratio = if error == 0.0 { 0.0 } else { error / limit([k, column]) };
            if ratio > worst.0 || ratio.is_nan() {
                worst = (ratio, [k, column]);
            }
        }
        let (ratio, at) = worst;
        report.note(kind, ratio, || {
            let (about, [k, column], limit) = (&self.about, at, limit(at));
            let (error, exact) = (self.errors[at], self.truth.exact[at]);
            format!(
                "{about}: error {error:.3e} above {limit:.3e} at level {k} of column {column}, of \
                 {exact:e}"
            )
        });
    }

    /// True if rounding does not change the course of a column.
    pub fn is_robust(&self, column: usize) -> bool {
        !self.stage.fragile[column]
    }

    /// The fraction of the selected cells that may exceed a limit which a fraction `share` of the whole case exceeds.
    pub fn share_at_hand(&self, share: f64) -> f64 {
        let (levels, cells) = (self.errors.nrows(), self.errors.len());
        share_of_sample(share, levels, cells, self.yardstick.cells)
    }

    /// The error that this fraction of the cells exceeds in the whole case, estimated from the selected columns.
    pub fn tail(&self, share: f64) -> f64 {
        let mut sorted = self.errors.iter().copied().collect::<Vec<_>>();
        percentile(&mut sorted, 100.0 * (1.0 - self.share_at_hand(share)))
    }

    /// The fraction of the cells that are off, by the definition of the reference data.
    pub fn share_off(&self) -> f64 {
        Spread::of(&self.errors, &self.truth.exact).share
    }

    /// The largest value of the exact field.
    pub fn largest(&self) -> f64 {
        self.truth.exact.iter().fold(0.0, |most, x| x.abs().max(most))
    }
}
