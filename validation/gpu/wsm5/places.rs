//! The result of a column depends on its own data only; columns outside the region are unchanged; and every run gives
//! the same bits.

use rayon::prelude::*;

use nwp_mini::device::Gpu;
use nwp_mini::physics::wsm5::Sedimentation;
use nwp_mini::physics::wsm5::gpu::{Mapping, Tile};
use nwp_mini::physics::wsm5::scheme::Scheme;
use nwp_mini::real::Precision as Kind;

use super::columns::columns;
use super::difference::{differing, named};
use super::engine::{GpuBackend, OnDevice, sources};
use super::report::Report;
use super::weather::{Engine, Precision, Region, Weather};
use crate::device::is_emulated;
use crate::{gpu, prepare, sized};

const LEVELS: usize = 27;
/// Of two minor steps, s.
const DT: f64 = 200.0;
/// Numbers of columns of a grid: from one on, and around all sizes of tiles.
const COUNTS: [usize; 19] = [1, 2, 3, 4, 5, 7, 8, 9, 15, 16, 17, 31, 32, 33, 63, 64, 65, 97, 130];

fn expect_same<R: Precision>(
    kind: &'static str,
    about: &str,
    [found, expected]: [&Weather<R>; 2],
    report: &mut Report,
) {
    let different = differing(named(found), named(expected));
    let ratio = if different.is_empty() { 0.0 } else { f64::INFINITY };
    report.note(kind, ratio, || {
        let first = different.iter().take(3).cloned().collect::<Vec<_>>().join("; ");
        format!("{about}: {} values differ: {first}", different.len())
    });
}

/// Regions of a grid, grids of all sizes, and a repetition; fewer on the emulated device.
pub(super) fn check_places<R: Precision>(engine: &impl Engine<R>, report: &mut Report) {
    let weather = Weather::<R>::of(&columns(LEVELS, 69), 3, 300.0);
    let all = Region::whole(weather.shape());
    let whole = weather.after(engine, DT, &all);
    expect_same("again", "the same", [&weather.after(engine, DT, &all), &whole], report);
    for region in Region::several(weather.shape()).into_iter().step_by(sized(1, 3)) {
        let found = weather.after(engine, DT, &region);
        let about = format!("{region:?}");
        expect_same("regions", &about, [&found, &weather.patched(&whole, &region)], report);
    }

    // Enough columns for kernels that are compiled for their region, in rows that begin with a memory sector; the parts
    // have too few. A GPU's compiler joins products and sums otherwise in another text.
    if is_emulated() {
        let weather = Weather::<R>::of(&columns(LEVELS, 1032), 3, 300.0);
        let [all, first, rest] = [0..3, 0..1, 1..3].map(|rows| Region { rows, columns: 1..343 });
        let parts = weather.after(engine, DT, &first).after(engine, DT, &rest);
        expect_same("parts", "1032 columns", [&weather.after(engine, DT, &all), &parts], report);
    }

    let most = COUNTS[COUNTS.len() - 1];
    let given = columns(LEVELS, most);
    let widest = Weather::<R>::of(&given, 1, 300.0);
    let widest = widest.after(engine, DT, &Region::whole(widest.shape()));
    for count in COUNTS.into_iter().step_by(sized(1, 4)) {
        let chosen: Vec<usize> = (0..count).collect();
        let few = Weather::<R>::of(&given.select(&chosen), 1, 300.0);
        let found = few.after(engine, DT, &Region::whole(few.shape()));
        let about = format!("{count} columns");
        expect_same("counts", &about, [&found, &widest.first(count)], report);
    }
}

/// Tiles of all widths; on the emulated device, which takes seconds to compile each, those of other tests and one more.
fn all_tiles(fallout: Sedimentation, precision: Kind) -> Vec<Mapping> {
    let widths: &[(usize, usize)] = match (is_emulated(), fallout) {
        (false, _) => &[(2, 32), (4, 128), (8, 256), (16, 224), (32, 288)],
        (true, Sedimentation::SemiLagrangian) => &[(4, 128), (8, 256), (32, 288)],
        (true, Sedimentation::Substepped) => &[(8, 256)],
    };
    let blocks = sized(2, 4);
    let tile = |&(columns, threads): &(usize, usize)| Tile { columns, threads, blocks };
    // Shared memory of a block without opting in to more.
    let fits = |tile: &Tile| tile.shared_bytes(precision, fallout, LEVELS) <= 48 * 1024;
    widths.iter().map(tile).filter(fits).map(Mapping::Tile).collect()
}

fn check<R: OnDevice>(gpu: &Gpu, fallout: Sedimentation) -> Vec<(String, Report)> {
    let mut mappings = all_tiles(fallout, R::PRECISION);
    mappings.push(Mapping::Column);
    prepare(gpu, sources::<R>(LEVELS, fallout, &mappings, &[DT]));
    let judged = |mapping: Mapping| {
        let new = || GpuBackend::<R>::new(gpu, Scheme::default().with_fallout(fallout), mapping);
        let mut report = Report::default();
        check_places(&new(), &mut report);
        check_weighing([&new(), &new().weighing()], &mut report);
        (format!("{mapping}, {fallout:?}, {}", R::NAME), report)
    };
    mappings.into_par_iter().map(judged).collect()
}

/// Computing the mass mismatch of the changes changes no other result; its values are checked by the engine.
fn check_weighing<R: OnDevice>([usual, weighing]: [&GpuBackend<R>; 2], report: &mut Report) {
    let weather = Weather::<R>::of(&columns(LEVELS, 138), 3, 300.0);
    for region in Region::several(weather.shape()).into_iter().step_by(sized(1, 3)) {
        let both = [usual, weighing].map(|engine| weather.after(engine, DT, &region));
        expect_same("weighing", &format!("{region:?}"), both.each_ref(), report);
    }
}

#[test]
fn columns_know_nothing_of_each_other() {
    let Some(gpu) = gpu(true) else { return };
    let reports = Sedimentation::ALL.into_par_iter().flat_map(|fallout| {
        let mut reports = check::<f32>(&gpu, fallout);
        if !is_emulated() {
            reports.extend(check::<f64>(&gpu, fallout));
        }
        reports
    });
    Report::finish_all(reports.collect());
}
