//! The result of a column depends on its own data only: not on the other columns, the tile, the place in the grid, or
//! the order of the threads.

use rayon::prelude::*;

use nwp_mini::wsm5::Sedimentation;
use nwp_mini::wsm5::gpu::{Mapping, Tile};

use super::against_cpu::{on_device, scheme};
use super::columns::columns;
use super::difference::{expect_same_bits, named};
use super::engine::EmulatedWsm5;
use super::weather::{Region, Weather};

const LEVELS: usize = 27;
/// Of one minor step, s.
const ONE_STEP: f64 = 60.0;
/// Of two minor steps, s.
const DT: f64 = 200.0;

fn tile(columns: usize, threads: usize) -> Mapping {
    Mapping::Tile(Tile { columns, threads, blocks: 1 })
}

/// Columns in three rows, which in the second case begin with a sector each.
const COLUMNS: [usize; 2] = [69, 72];

/// The alignment of rows affects all tiles alike.
fn check(mapping: Mapping, fallout: Sedimentation, counts: &[usize]) {
    let p = scheme::<f32>(fallout);
    let engine = EmulatedWsm5::compile(&p, LEVELS, mapping);
    for &count in counts {
        check_columns(&engine, fallout, count);
    }
}

fn check_columns(engine: &EmulatedWsm5, fallout: Sedimentation, count: usize) {
    let p = scheme::<f32>(fallout);
    let weather = Weather::<f32>::of(&columns(LEVELS, count), 3, 300.0);
    let whole = on_device(engine, &p, DT, &weather, &Region::whole(weather.shape()), 0);
    for (seed, region) in (1..).zip(Region::several(weather.shape())) {
        let found = on_device(engine, &p, DT, &weather, &region, seed);
        let about = format!(
            "{:?}, {fallout:?}, {count} columns, {region:?}, seed {seed}",
            engine.mapping()
        );
        let expected = weather.patched(&whole, &region);
        expect_same_bits(&about, named(&found), named(&expected));
    }
}

/// Kernels compiled for a region give the results of kernels with the region as an argument.
#[test]
fn kernels_made_for_a_region_make_the_same() {
    let mapping = tile(8, 256);
    Sedimentation::ALL.into_par_iter().for_each(|fallout| {
        let p = scheme::<f32>(fallout);
        let weather = Weather::<f32>::of(&columns(LEVELS, COLUMNS[1]), 3, 300.0);
        let region = Region::several(weather.shape()).swap_remove(1);
        let by_argument = EmulatedWsm5::compile(&p, LEVELS, mapping);
        let made = EmulatedWsm5::compile_for(&p, weather.shape(), mapping, &region);
        for dt in [ONE_STEP, DT] {
            let [found, expected] = [&made, &by_argument]
                .map(|engine| on_device(engine, &p, dt, &weather, &region, dt as u64));
            let about = format!("{fallout:?}, {dt} s, {region:?}");
            expect_same_bits(&about, named(&found), named(&expected));
        }
    });
}

#[test]
fn columns_know_nothing_of_each_other() {
    let tiles = [[8, 256], [32, 288], [16, 224], [4, 128], [2, 32], [4, 96], [16, 352]];
    let tiles = tiles.map(|[columns, threads]| tile(columns, threads));
    let mappings: Vec<Mapping> = [Mapping::Column].into_iter().chain(tiles).collect();
    mappings.into_par_iter().enumerate().for_each(|(n, mapping)| {
        let counts = if n < 2 { &COLUMNS[..] } else { &COLUMNS[..1] };
        check(mapping, Sedimentation::SemiLagrangian, counts);
    });
    [tile(8, 256), tile(32, 288)]
        .into_par_iter()
        .for_each(|mapping| check(mapping, Sedimentation::Substepped, &COLUMNS[..1]));
}
