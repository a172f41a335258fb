//! What a column gets depends on nothing but itself: not on the other columns, the tile, the place
//! in the grid, or the order in which threads come along.

use ndarray::s;
use rayon::prelude::*;

use nwp_mini::gpu::wsm5::{Mapping, Tile};
use nwp_mini::grid::Shape;
use nwp_mini::wsm5::Fallout;

use crate::clouds::{Clouds, Exchanged, Region, Weather};
use crate::difference::{expect_same_bits, named};
use crate::same::{on_device, scheme};
use crate::weather::{columns, weather};

const LEVELS: usize = 27;
/// Of two minor steps, s.
const DT: f64 = 200.0;

fn tile(columns: usize, threads: usize) -> Mapping {
    Mapping::Tile(Tile { columns, threads, blocks: 1 })
}

/// All columns as they were, and those of the region from another result.
fn patched<R: Exchanged>(before: &Weather<R>, after: &Weather<R>, region: &Region) -> Weather<R> {
    let mut patched = before.clone();
    let Region { rows, columns } = region.clone();
    for (mine, given) in patched.state.fields_mut().into_iter().zip(after.state.fields()) {
        let inside = s![.., rows.clone(), columns.clone()];
        mine.slice_mut(inside).assign(&given.slice(inside));
    }
    let given = after.planes();
    for ((_, mine), (_, given)) in patched.planes_mut().into_iter().zip(given) {
        let inside = s![rows.clone(), columns.clone()];
        mine.slice_mut(inside).assign(&given.slice(inside));
    }
    patched
}

/// Regions of a grid of 3 rows of 23 columns.
fn regions() -> Vec<Region> {
    let whole = Region::whole(Shape { nx: 23, ny: 3, nz: LEVELS });
    let inner = Region { rows: 1..2, columns: 1..22 };
    let from_one_on = (1..=12).map(|n| Region { rows: 0..1, columns: 0..n });
    let others = [(0..2, 3..11), (1..3, 7..23), (0..3, 22..23), (2..3, 0..17)];
    let others = others.map(|(rows, columns)| Region { rows, columns });
    [whole, inner].into_iter().chain(from_one_on).chain(others).collect()
}

fn check(mapping: Mapping, fallout: Fallout) {
    let p = scheme::<f32>(fallout);
    let clouds = Clouds::compile(&p, LEVELS, mapping);
    let weather = weather::<f32>(&columns(LEVELS, 69), 3, 300.0);
    let whole = on_device(&clouds, &p, DT, &weather, &Region::whole(weather.shape()), 0);
    for (seed, region) in (1..).zip(regions()) {
        let found = on_device(&clouds, &p, DT, &weather, &region, seed);
        let about = format!("{mapping:?}, {fallout:?}, {region:?}, seed {seed}");
        let expected = patched(&weather, &whole, &region);
        expect_same_bits(&about, named(&found), named(&expected));
    }
}

#[test]
fn columns_know_nothing_of_each_other() {
    let mappings =
        [Mapping::Column, tile(8, 256), tile(32, 288), tile(16, 224), tile(4, 128), tile(2, 32)];
    mappings.into_par_iter().for_each(|mapping| check(mapping, Fallout::SemiLagrangian));
    [tile(8, 256), tile(32, 288)]
        .into_par_iter()
        .for_each(|mapping| check(mapping, Fallout::Substepped));
}
