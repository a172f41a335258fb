//! The kernels that sum up frames of output and steps, run on the host: the same bits as the CPU version for the same
//! fields.
#![allow(clippy::float_cmp, reason = "equal bits are what this is about")]

mod step_end;

use nwp_mini_support::{emulator, random};

use ndarray::{Array, Array2, Dimension};
use nwp_mini::backend::{BudgetDomain, Summary, WATER_SPECIES, WaterChange};
use nwp_mini::dry_mass::{AirMass, MassCoordinate, MassFlux};
use nwp_mini::gpu::summary::{outflow_of, source};
use nwp_mini::grid::gpu::Layout;
use nwp_mini::grid::{Grid, Shape, Side, Sides};
use nwp_mini::real::Real;
use nwp_mini::state::State;

use emulator::{Element, Program, Records};
use random::Random;

const NZ: usize = 7;

pub(crate) fn coordinate(random: &mut Random, shape: Shape) -> MassCoordinate {
    let Shape { nx, ny, nz } = shape;
    let mut plane =
        |low, high| Array2::from_shape_simple_fn((ny, nx), || random.between(low, high));
    MassCoordinate {
        mu: plane(6e4, 1e5),
        map_x: plane(0.8, 1.2),
        map_y: plane(0.8, 1.2),
        c1: (0..nz).map(|k| 1.0 - 0.3 * k as f64 / nz as f64).collect(),
        c2: (0..nz).map(|k| 900.0 * k as f64).collect(),
        rdnw: (0..nz).map(|k| -(nz as f64) * (1.0 + 0.01 * k as f64)).collect(),
        fnm: vec![0.5; nz],
        fnp: vec![0.5; nz],
        unit: 1e8,
    }
}

fn values<R: Copy, D: Dimension>(field: &Array<R, D>) -> Vec<R> {
    field.iter().copied().collect()
}

/// Compares a case on a grid; `strength` is the largest flux, and 0 gives equal rates in all cells.
fn compare<R: Real + Element>(random: &mut Random, [nx, ny]: [usize; 2], strength: f64) {
    let shape = Shape { nx, ny, nz: NZ };
    let grid = Grid::whole(shape, [3000.0, 2500.0], Sides::all(Side::Periodic));
    let coordinate = coordinate(random, shape);
    let air = AirMass::<R>::new(&grid, &coordinate);
    let region = BudgetDomain::new(&grid, &coordinate);
    let mut state = State::<R>::zeros(shape);
    for field in state.fields_mut() {
        field.mapv_inplace(|_| R::of(random.between(-1e-6, 1e-2)));
    }
    let mut draw = || R::of(random.between(-strength, strength));
    let flux = MassFlux {
        x: Array::from_shape_simple_fn(shape.x_face(), &mut draw),
        y: Array::from_shape_simple_fn(shape.y_face(), &mut draw),
        z: Array::from_shape_simple_fn(shape.z_face(), &mut draw),
    };
    let expected = Summary::of(&region, &air, &state, &flux, WaterChange::default());

    let source = source(R::PRECISION, NZ);
    assert_eq!(source.file, "summary.cu");
    let name = format!("summary-{}", R::NAME);
    let options = ["-ffp-contract=off"];
    let program =
        Program::compile(&name, "emulated/summary/program.cpp", &source.prelude, &options);
    let mut records = Records::default();
    let water = state.water();
    records.put("water", &water.iter().map(values).collect::<Vec<_>>().concat());
    // As rows lie where they can be filled up.
    let filled = grid.with_sides(Sides::all(Side::Specified));
    let layout = Layout::of(&filled, 4);
    records.put("with_mu", &layout.padded(&values(&air.cell.with_mu)));
    records.put("without_mu", &layout.padded(&values(&air.cell.without_mu)));
    records.put("c1", &air.cell.c1);
    records.put("c2", &air.cell.c2);
    records.put("area", &values(&region.area));
    records.put("contents", &vec![R::nan(); WATER_SPECIES * nx * ny]);
    records.put("x", &layout.padded_x_faces(&values(&flux.x)));
    records.put("y", &layout.padded(&values(&flux.y)));
    records.put("z", &layout.padded(&values(&flux.z)));
    records.put("first", &[layout.first as i32]);
    records.put("pitch", &[layout.pitch() as i32]);
    records.put("face_pitch", &[layout.face_pitch() as i32]);
    records.put("fastest", &[0_u64]);
    records.put("nx", &[nx as i32]);
    records.put("ny", &[ny as i32]);
    records.put("species", &[WATER_SPECIES as i32]);
    // From one share of the levels of a column to one for each level.
    records.put("shares", &[1 + (nx % NZ) as i32]);
    let found = program.run(&records, random.bits());
    assert_eq!(found.take::<R>("contents"), values(&expected.contents), "{nx}x{ny} {}", R::NAME);
    let word = found.take::<u64>("fastest")[0];
    assert_eq!(outflow_of(word, shape), expected.outflow, "{nx}x{ny} {}", R::NAME);
}

#[test]
fn frames_are_summed_up_with_the_bits_of_the_cpu() {
    let random = &mut Random::new(3);
    // Fewer columns than a warp has lanes, a few blocks, padding before and behind the cells, and no wind at all.
    for (size, strength) in [
        ([1, 1], 1e8),
        ([5, 3], 1e8),
        ([9, 6], 1e8),
        ([70, 5], 1e8),
        ([71, 13], 1e8),
        ([16, 8], 0.0),
    ] {
        compare::<f32>(random, size, strength);
        compare::<f64>(random, size, strength);
    }
}
