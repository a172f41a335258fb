//! Kernels against the CPU version.

use rayon::prelude::*;

use nwp_mini::wsm5::Sedimentation;
use nwp_mini::wsm5::gpu::{Mapping, Tile};
use nwp_mini::wsm5::scheme::Scheme;

use super::agreement::{Allowance, EVERY_CELL, expect_as_exact, expect_near};
use super::columns::columns;
use super::difference::{Spread, expect_same_bits, named};
use super::engine::{EmulatedWsm5, Exchanged};
use super::report::Report;
use super::weather::{Region, Weather};

/// Numbers of levels around multiples of the warp size, and those of models.
const LEVELS: [usize; 10] = [4, 5, 27, 31, 32, 33, 40, 64, 100, 128];
/// One minor step in a call, s.
const ONE_STEP: f64 = 60.0;
/// Three of them.
const THREE_STEPS: f64 = 300.0;

/// Time steps for a number of levels: kernels of one minor step and of several are compiled separately, and the effect
/// of several does not depend on the levels.
fn time_steps(nz: usize) -> &'static [f64] {
    if [27, 33, 128].contains(&nz) { &[ONE_STEP, THREE_STEPS] } else { &[ONE_STEP] }
}

pub(crate) fn on_device<R: Exchanged>(
    engine: &EmulatedWsm5,
    p: &Scheme<R>,
    dt: f64,
    weather: &Weather<R>,
    region: &Region,
    seed: u64,
) -> Weather<R> {
    let mut weather = weather.clone();
    engine.call(p, R::of(dt), &mut weather, region, seed);
    weather
}

pub(crate) fn scheme<R: Exchanged>(fallout: Sedimentation) -> Scheme<R> {
    Scheme::default().with_fallout(fallout)
}

/// The tile that the launcher takes on a small grid.
fn small_tile<R: Exchanged>(fallout: Sedimentation, nz: usize) -> Mapping {
    Mapping::Tile(Tile::choose(1, R::KIND, fallout, nz))
}

/// One thread repeats the CPU version operation by operation.
fn check_columns<R: Exchanged>(nz: usize, fallout: Sedimentation) {
    let p = scheme::<R>(fallout);
    let engine = EmulatedWsm5::compile(&p, nz, Mapping::Column);
    let weather = Weather::<R>::of(&columns(nz, 90), 2, 300.0);
    let region = Region::whole(weather.shape());
    for dt in [ONE_STEP, THREE_STEPS] {
        let cpu = weather.after(&p, dt, &region);
        let device = on_device(&engine, &p, dt, &weather, &region, nz as u64);
        let about = format!("column, {nz} levels, {fallout:?}, {dt} s, {}", R::NAME);
        expect_same_bits(&about, named(&device), named(&cpu));
    }
}

#[test]
fn a_thread_for_a_column_gives_the_bits_of_the_cpu() {
    use Sedimentation::{SemiLagrangian, Substepped};
    // Precision, variant and levels are independent: each pair of values occurs, not all combinations.
    [(27, SemiLagrangian), (27, Substepped), (4, Substepped), (128, SemiLagrangian)]
        .into_par_iter()
        .for_each(|(nz, fallout)| check_columns::<f32>(nz, fallout));
    [(27, SemiLagrangian), (27, Substepped), (33, SemiLagrangian), (128, Substepped)]
        .into_par_iter()
        .for_each(|(nz, fallout)| check_columns::<f64>(nz, fallout));
}

/// All results except the sum of clipped water, which is added up in another order.
fn check_substepped_tile<R: Exchanged>(nz: usize) {
    let p = scheme::<R>(Sedimentation::Substepped);
    let engine = EmulatedWsm5::compile(&p, nz, small_tile::<R>(Sedimentation::Substepped, nz));
    let weather = Weather::<R>::of(&columns(nz, 55), 1, 0.0);
    // In columns without rain, all rain that reaches the ground comes from melting.
    let mut dry = weather.clone();
    dry.state.qr_mut().fill(R::ZERO);
    let region = Region::whole(weather.shape());
    for (dt, weather, rain) in time_steps(nz)
        .iter()
        .flat_map(|&dt| [(dt, &weather, "with rain"), (dt, &dry, "without rain")])
    {
        let cpu = weather.after(&p, dt, &region);
        let device = on_device(&engine, &p, dt, weather, &region, 2 * nz as u64);
        let about = format!("tile, {nz} levels, sub-stepped, {dt} s, {}, {rain}", R::NAME);
        let others = |weather| named(weather).into_iter().filter(|(name, _)| *name != "clipped");
        expect_same_bits(&about, others(&device), others(&cpu));
        let rounding = R::epsilon().f64();
        let clipped = Spread::of(&device.surface.clipped, &cpu.surface.clipped);
        assert!(clipped.largest <= 10.0 * rounding * clipped.range, "{about}: {clipped:?}");
    }
}

#[test]
fn a_tile_gives_the_bits_of_the_cpu_with_substepped_fall() {
    [4, 27, 31, 32, 33, 128].into_par_iter().for_each(check_substepped_tile::<f32>);
    check_substepped_tile::<f64>(27);
}

fn check_tile_f64(nz: usize) {
    let p = scheme::<f64>(Sedimentation::SemiLagrangian);
    let engine = EmulatedWsm5::compile(&p, nz, small_tile::<f64>(p.fallout, nz));
    let weather = Weather::<f64>::of(&columns(nz, 195), 1, 0.0);
    let region = Region::whole(weather.shape());
    for &dt in time_steps(nz) {
        let cpu = weather.after(&p, dt, &region);
        let device = on_device(&engine, &p, dt, &weather, &region, 3 * nz as u64);
        let about = format!("tile, {nz} levels, {dt} s");
        let mut report = Report::default();
        expect_near(&about, &named(&device), &named(&cpu), allowance(nz, dt), &mut report);
        report.finish();
    }
}

/// After several minor steps, rounding decides between two outcomes in single cells: complete evaporation leaves
/// nothing or a residue of rounding, which then falls at another speed. The largest change of a cell observed for this
/// reason is 1.6e-3 of the largest value.
const SEVERAL_STEPS: Allowance =
    Allowance { share: 0.01, by: 3.0e-3, percents: &[50.0, 99.0], above: 10.0, ..EVERY_CELL };

/// Columns on other levels than their own are interpolated linearly: where two slopes of a sedimenting species are
/// equal, rounding decides whether one is a maximum. This affects less than one cell in a hundred, and slightly; a
/// sample of less than ten cells is not significant.
const BETWEEN_LEVELS: Allowance = Allowance {
    share: 0.01,
    by: 1.0e-3,
    percents: &[50.0, 95.0, 99.0, 99.9],
    above: 10.0,
    ..EVERY_CELL
};
/// Levels of the columns of the reference.
const OWN_LEVELS: usize = 27;

fn allowance(nz: usize, dt: f64) -> Allowance {
    match dt <= ONE_STEP {
        true if nz == OWN_LEVELS => EVERY_CELL,
        true => BETWEEN_LEVELS,
        false => SEVERAL_STEPS,
    }
}

#[test]
fn a_tile_agrees_with_the_cpu_in_double_precision() {
    LEVELS.into_par_iter().for_each(check_tile_f64);
}

/// Single precision against double: no further off than the CPU version in single precision.
fn check_tile_f32(nz: usize) {
    let (p, exact) = (
        scheme::<f32>(Sedimentation::SemiLagrangian),
        scheme::<f64>(Sedimentation::SemiLagrangian),
    );
    let engine = EmulatedWsm5::compile(&p, nz, small_tile::<f32>(p.fallout, nz));
    let columns = columns(nz, 120);
    let (single, double) =
        (Weather::<f32>::of(&columns, 1, 0.0), Weather::<f64>::of(&columns, 1, 0.0));
    let region = Region::whole(single.shape());
    for &dt in time_steps(nz) {
        let truth = double.after(&exact, dt, &region);
        let cpu = single.after(&p, dt, &region);
        let device = on_device(&engine, &p, dt, &single, &region, 5 * nz as u64);
        let about = format!("tile, {nz} levels, {dt} s");
        let mut report = Report::default();
        let both = [&named(&device), &named(&cpu)];
        expect_as_exact(&about, both, &named(&truth), allowance(nz, dt), &mut report);
        report.finish();
    }
}

#[test]
fn a_tile_is_as_exact_as_the_cpu_in_single_precision() {
    // For other levels the order of operations shows in double precision.
    [5, 27, 32, 33, 128].into_par_iter().for_each(check_tile_f32);
}
