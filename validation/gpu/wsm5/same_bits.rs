//! Kernels against the CPU version on the emulated device, whose operations are those of the host: what has their order
//! too has the bits of the CPU version.

use rayon::prelude::*;

use nwp_mini::device::Gpu;
use nwp_mini::physics::wsm5::Sedimentation::{self, SemiLagrangian, Substepped};
use nwp_mini::physics::wsm5::gpu::{Mapping, Tile};
use nwp_mini::physics::wsm5::scheme::Scheme;

use super::columns::columns;
use super::difference::{Spread, expect_same_bits, named};
use super::engine::{GpuBackend, OnDevice};
use super::levels::named_diagnostics;
use super::weather::{Engine, Region, Weather};
use crate::emulated_gpu;

/// Lengths of calls of one minor step and of three, s.
const ONE_STEP: f64 = 60.0;
const THREE_STEPS: f64 = 300.0;

/// One thread repeats the CPU version operation by operation.
fn check_column<R: OnDevice>(gpu: &Gpu, nz: usize, fallout: Sedimentation, dt: f64) {
    let scheme = Scheme::<R>::default().with_fallout(fallout);
    let weather = Weather::<R>::of(&columns(nz, 90), 2, 300.0);
    let region = Region::whole(weather.shape());
    let expected = weather.after(&scheme, dt, &region);
    let found = weather.after(&GpuBackend::new(gpu, scheme, Mapping::Column), dt, &region);
    let about = format!("column, {nz} levels, {fallout:?}, {dt} s, {}", R::NAME);
    expect_same_bits(&about, named(&found), named(&expected));
}

#[test]
fn a_thread_for_a_column_gives_the_bits_of_the_cpu() {
    let Some(gpu) = emulated_gpu() else { return };
    for dt in [ONE_STEP, THREE_STEPS] {
        Sedimentation::ALL.into_par_iter().for_each(|fallout| {
            check_column::<f32>(&gpu, 27, fallout, dt);
            check_column::<f64>(&gpu, 27, fallout, dt);
        });
    }
    // Precision, variant, levels and minor steps are independent: each occurs, and not all combinations.
    [(4, Substepped, THREE_STEPS), (128, SemiLagrangian, ONE_STEP)]
        .into_par_iter()
        .for_each(|(nz, fallout, dt)| check_column::<f32>(&gpu, nz, fallout, dt));
    [(33, SemiLagrangian, THREE_STEPS), (128, Substepped, ONE_STEP)]
        .into_par_iter()
        .for_each(|(nz, fallout, dt)| check_column::<f64>(&gpu, nz, fallout, dt));
}

/// All results except the sum of clipped water, which is added up in another order.
fn check_substepped_tile<R: OnDevice>(gpu: &Gpu, nz: usize, dt: f64) {
    let scheme = Scheme::<R>::default().with_fallout(Substepped);
    let tile = Tile::choose(1, R::PRECISION, Substepped, nz);
    let engine = GpuBackend::new(gpu, scheme.clone(), Mapping::Tile(tile));
    let weather = Weather::<R>::of(&columns(nz, 55), 1, 0.0);
    // In columns without rain, all rain that reaches the ground comes from melting.
    let mut dry = weather.clone();
    dry.state.named_mut("qr").fill(R::ZERO);
    let region = Region::whole(weather.shape());
    for (weather, rain) in [(&weather, "with rain"), (&dry, "without rain")] {
        let expected = weather.after(&scheme, dt, &region);
        let found = weather.after(&engine, dt, &region);
        let about = format!("tile, {nz} levels, sub-stepped, {dt} s, {}, {rain}", R::NAME);
        let others = |weather| named(weather).into_iter().filter(|(name, _)| *name != "clipped");
        expect_same_bits(&about, others(&found), others(&expected));
        let clipped = [&found, &expected].map(|after| after.surface.named("clipped"));
        let clipped = Spread::of(clipped[0], clipped[1]);
        let limit = 10.0 * R::epsilon().f64() * clipped.range;
        assert!(clipped.largest <= limit, "{about}: {clipped:?}");
    }
}

#[test]
fn a_tile_gives_the_bits_of_the_cpu_with_substepped_fall() {
    let Some(gpu) = emulated_gpu() else { return };
    for dt in [ONE_STEP, THREE_STEPS] {
        check_substepped_tile::<f32>(&gpu, 27, dt);
        check_substepped_tile::<f64>(&gpu, 27, dt);
    }
    // Around multiples of the warp size.
    [(4, ONE_STEP), (31, ONE_STEP), (33, ONE_STEP), (33, THREE_STEPS), (128, ONE_STEP)]
        .into_par_iter()
        .for_each(|(nz, dt)| check_substepped_tile::<f32>(&gpu, nz, dt));
}

/// Largest difference of the radii, in ULP: the cube roots of two mathematical libraries.
const RADIUS_ROUNDINGS: f64 = 4.0;
/// Largest difference of the reflectivity, in ULP of its largest value: the complex numbers of melting snow are divided
/// in another way.
const ROUNDINGS: f64 = 64.0;

fn check_diagnosis<R: OnDevice>(gpu: &Gpu, nz: usize, count: usize, rows: usize) {
    let scheme = Scheme::<R>::default();
    let weather = Weather::<R>::of(&columns(nz, count), rows, 300.0);
    let expected = named_diagnostics(&scheme.diagnose(&weather));
    let found = GpuBackend::new(gpu, scheme, Mapping::Column).diagnose(&weather);
    for ((name, found), (_, expected)) in named_diagnostics(&found).iter().zip(&expected) {
        let (spread, rounding) = (Spread::of(found, expected), R::epsilon().f64());
        let near = |(x, y): (&R, &R)| {
            let (x, y) = (x.f64(), y.f64());
            (x - y).abs() <= RADIUS_ROUNDINGS * rounding * y
        };
        let is_near = match *name {
            "refl_10cm" => spread.largest <= ROUNDINGS * rounding * spread.range,
            _ => found.iter().zip(expected).all(near),
        };
        let about = format!("{name}, {nz} levels, {count} columns, {}", R::NAME);
        assert!(spread.is_finite && is_near, "{about}: {spread:?}");
    }
}

#[test]
fn reflectivity_and_radii_are_those_of_the_cpu() {
    let Some(gpu) = emulated_gpu() else { return };
    for (nz, count, rows) in [(27, 240, 4), (32, 33, 1), (128, 40, 2)] {
        check_diagnosis::<f32>(&gpu, nz, count, rows);
    }
    for (nz, count, rows) in [(27, 240, 4), (4, 31, 1), (33, 33, 1)] {
        check_diagnosis::<f64>(&gpu, nz, count, rows);
    }
}
