//! When two results agree.

use ndarray::ArrayD;

use super::difference::Spread;
use crate::column_reference::Report;

/// About two roundings of single precision, of the largest value of a field.
const F32_FLOOR: f64 = 1.0e-7;
/// Error in single precision relative to that of the CPU version: the builds of WRF's code differ by as much (see
/// `validation/support/wsm5/judge.rs`).
const F32_FACTOR: f64 = 10.0;

/// Fraction of columns with another outcome relative to that of cells: precipitation of a column differs if any of its
/// cells does.
const COLUMNS_THAT_PART: f64 = 3.0;

/// Fields by name.
pub type Named<R> = Vec<(&'static str, ArrayD<R>)>;

/// Allowed differences.
#[derive(Clone, Copy, Debug)]
pub struct Allowance {
    /// Double precision: difference up to which a cell does not count as another outcome, relative to the largest value
    /// of the field.
    pub near: f64,
    /// Double precision: part of the cells that may have parted, because a rounding decides there
    /// between two outcomes.
    pub share: f64,
    /// Double precision: largest difference of cells with another outcome, relative to the largest value of the field.
    pub by: f64,
    /// Single precision: percentiles of the error that count.
    pub percents: &'static [f64],
    /// Number of cells above a percentile for which it is significant.
    pub above: f64,
}

/// Difference of the same operations in another order in double precision: some thousand roundings.
pub const SOME_ROUNDINGS: f64 = 1.0e-12;

/// No rounding decides anything.
pub const EVERY_CELL: Allowance = Allowance {
    near: SOME_ROUNDINGS,
    share: 0.0,
    by: 0.0,
    percents: &[50.0, 99.0, 100.0],
    above: 0.0,
};

/// Double precision: the results differ by roundings.
pub fn expect_near(
    about: &str,
    found: &Named<f64>,
    expected: &Named<f64>,
    allowance: Allowance,
    report: &mut Report,
) {
    let scale = scale(expected);
    for ((name, found), (_, expected)) in found.iter().zip(expected) {
        let spread = Spread::of(found, expected);
        let range = scale(name, spread.range);
        let text = || format!("{about}, {name}: {spread:?}");
        if !spread.is_finite {
            report.note("finite", f64::INFINITY, text);
        }
        let limit = allowance.near * range;
        let share = spread.share_above(limit);
        let cells = if found.ndim() == 2 { COLUMNS_THAT_PART } else { 1.0 };
        report.note("share that parted", ratio(share, cells * allowance.share), || {
            format!("{share:.1e} of {}", text())
        });
        let most = limit.max(allowance.by * range);
        report.note("largest difference", ratio(spread.largest, most), text);
    }
}

/// Single precision: as near to the truth as the CPU version.
pub fn expect_as_exact(
    about: &str,
    [found, cpu]: [&Named<f32>; 2],
    truth: &Named<f64>,
    allowance: Allowance,
    report: &mut Report,
) {
    let promoted = |field: &ArrayD<f32>| field.mapv(f64::from);
    let scale = scale(truth);
    for (((name, found), (_, cpu)), (_, truth)) in found.iter().zip(cpu).zip(truth) {
        let (found, cpu) = (Spread::of(&promoted(found), truth), Spread::of(&promoted(cpu), truth));
        let text = || format!("{about}, {name}: {found:?}; CPU {cpu:?}");
        if !found.is_finite {
            report.note("finite", f64::INFINITY, text);
        }
        let floor = F32_FLOOR * scale(name, found.range);
        for percent in allowance.percents {
            if (1.0 - percent / 100.0) * truth.len() as f64 >= allowance.above {
                let limit = F32_FACTOR * cpu.percentile(*percent).max(floor);
                report.note("percentile", ratio(found.percentile(*percent), limit), || {
                    format!("{percent} %: {}", text())
                });
            }
        }
    }
}

/// Scale of the errors of a field: its largest value, or that of the precipitation for residuals of numbers of that
/// size.
fn scale(expected: &Named<f64>) -> impl Fn(&str, f64) -> f64 {
    let fallen = expected.iter().find(|(name, _)| *name == "fallen");
    let most = fallen.map_or(0.0, |(_, plane)| plane.iter().fold(0.0, |most, x| x.max(most)));
    move |name, range| {
        if ["fall_residual", "clipped"].contains(&name) { range.max(most) } else { range }
    }
}

/// Part of a limit; a limit of zero is kept by zero.
fn ratio(found: f64, limit: f64) -> f64 {
    if found == 0.0 { 0.0 } else { found / limit }
}
