//! When two results agree.

use ndarray::ArrayD;

use super::difference::Spread;
use super::report::Report;

/// What the same operations in another order may differ by in double precision, of the largest
/// value of the field: some thousand roundings.
const F64_LIMIT: f64 = 1.0e-12;
/// What a cell may differ by where a rounding decides between two outcomes: complete evaporation
/// leaves nothing or a residue of one rounding, which then falls at another speed. As a part of
/// the largest value of the field.
const PARTED: f64 = 1.0e-3;
/// How many cells may have parted, of all.
const SHARE_PARTED: f64 = 0.01;
/// About two roundings of single precision, of the largest value of a field.
const F32_FLOOR: f64 = 1.0e-7;
/// What the error in single precision may have over that of the CPU version: as much as the builds
/// of WRF's code differ by (see `validation/wsm5/judge.rs`).
const F32_FACTOR: f64 = 10.0;

/// Fields by name.
pub type Named<R> = Vec<(&'static str, ArrayD<R>)>;

/// Which cells count.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cells {
    /// All: no rounding decides anything.
    All,
    /// All but a few, in which one does.
    Most,
}

/// Double precision: the results differ by roundings.
pub fn expect_near(
    about: &str,
    found: &Named<f64>,
    expected: &Named<f64>,
    cells: Cells,
    report: &mut Report,
) {
    for ((name, found), (_, expected)) in found.iter().zip(expected) {
        let spread = Spread::of(found, expected);
        let text = || format!("{about}, {name}: {spread:?}");
        if !spread.is_finite {
            report.note("finite", f64::INFINITY, text);
        }
        let limit = F64_LIMIT * spread.range;
        match cells {
            Cells::All => report.note("largest difference", ratio(spread.largest, limit), text),
            Cells::Most => {
                let share = spread.share_above(limit);
                report.note("share that parted", ratio(share, SHARE_PARTED), || {
                    format!("{share:.1e} of {}", text())
                });
                let most = PARTED * spread.range;
                report.note("largest difference", ratio(spread.largest, most), text);
            }
        }
    }
}

/// Single precision: as near to the truth as the CPU version.
pub fn expect_as_exact(
    about: &str,
    [found, cpu]: [&Named<f32>; 2],
    truth: &Named<f64>,
    cells: Cells,
    report: &mut Report,
) {
    let promoted = |field: &ArrayD<f32>| field.mapv(f64::from);
    for (((name, found), (_, cpu)), (_, truth)) in found.iter().zip(cpu).zip(truth) {
        let (found, cpu) = (Spread::of(&promoted(found), truth), Spread::of(&promoted(cpu), truth));
        let text = || format!("{about}, {name}: {found:?}; CPU {cpu:?}");
        if !found.is_finite {
            report.note("finite", f64::INFINITY, text);
        }
        let floor = F32_FLOOR * found.range;
        let percents: &[(&str, f64)] = &[("median", 50.0), ("99 %", 99.0), ("maximum", 100.0)];
        let count = if cells == Cells::All { percents.len() } else { 2 };
        for (kind, percent) in &percents[..count] {
            let limit = F32_FACTOR * cpu.percentile(*percent).max(floor);
            report.note(kind, ratio(found.percentile(*percent), limit), || {
                format!("{percent} %: {}", text())
            });
        }
    }
}

fn ratio(found: f64, limit: f64) -> f64 {
    if found == 0.0 { 0.0 } else { found / limit }
}
