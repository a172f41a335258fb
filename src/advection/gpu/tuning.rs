//! Launch configurations of the transport, as settings that can be tuned without changing results.

use super::TuningPoint;
use crate::device::Gpu;
use crate::real::Precision;

/// Name of the knob in files.
pub(crate) const NAME: &str = "transport";

/// Launch bounds tried: blocks of a multiprocessor.
const MARCHING: [usize; 9] = [2, 3, 4, 5, 6, 8, 10, 12, 16];
/// Levels of a thread that are tried.
const MARCHED: [usize; 7] = [1, 2, 3, 4, 6, 9, 14];

/// Reads a launch configuration as [`text`] writes it; `None` if the text is not one.
pub(crate) fn parse(text: &str, precision: Precision) -> Option<TuningPoint> {
    let point = TuningPoint::parse(text.strip_prefix("march ")?)?;
    point.is_possible(precision).then_some(point)
}

/// Text form of a launch configuration.
pub(crate) fn text(point: TuningPoint) -> String {
    format!("march {point}")
}

/// The launch configuration measured to be the fastest on this GPU; `None` if none has been measured.
pub(crate) fn measured(
    gpu: &Gpu,
    precision: Precision,
    nz: usize,
    columns: usize,
) -> Option<TuningPoint> {
    parse(&gpu.tuning()?.choice(NAME, precision, nz, columns)?.setting, precision)
}

/// First candidates: all shapes, with launch bounds that suit their cells.
pub(crate) fn candidates(precision: Precision, nz: usize) -> Vec<TuningPoint> {
    let small = TuningPoint::choose(1, precision);
    let levels = MARCHED.into_iter().filter(|levels| *levels < nz).chain([nz]).map(Some);
    let levels: Vec<Option<usize>> = [None].into_iter().chain(levels).collect();
    let shapes = TuningPoint::CELLS.into_iter().flat_map(|cells| {
        let bound = |blocks: usize| (blocks * small.cells / cells).max(1);
        let [stages, limited] = [bound(small.stages), bound(small.limited)];
        levels.iter().map(move |&levels| TuningPoint { cells, stages, limited, levels, ..small })
    });
    shapes.collect()
}

/// Further candidates: the same shape with other launch bounds.
pub(crate) fn variants(point: TuningPoint) -> Vec<TuningPoint> {
    let stages = MARCHING.map(|stages| TuningPoint { stages, ..point });
    let limited = MARCHING.map(|limited| TuningPoint { limited, ..point });
    let untiled = point.tiles.then_some(TuningPoint { tiles: false, ..point });
    let others = stages.into_iter().chain(limited).chain(untiled);
    others.filter(|other| *other != point).collect()
}
