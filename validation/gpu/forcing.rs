//! Interpolation between two input frames, on the device and on the CPU.

use ndarray::{Array, Dimension, IntoDimension, ShapeBuilder};
use nwp_mini::device::{Element, Gpu};
use nwp_mini::dry_mass::{MassCoordinate, MassFlux};
use nwp_mini::forcing::gpu::{DeviceForcing, ForcingInterpolator};
use nwp_mini::forcing::{Continuity, Forcing, TimeInterpolant};
use nwp_mini::grid::gpu::Layout;
use nwp_mini::grid::{Grid, Shape, Side, Sides};
use nwp_mini::physics::registry::usual_set;
use nwp_mini::real::Real;
use nwp_mini::state::gpu::AIR_FIELDS;
use nwp_mini::state::{BoundaryValues, Environment};
use std::sync::Arc;

use crate::random::Random;
use crate::{gpu, seed};

fn random<R: Real, D: Dimension>(
    random: &mut Random,
    shape: impl ShapeBuilder<Dim = D> + IntoDimension<Dim = D>,
    size: f64,
) -> Array<R, D> {
    Array::from_shape_simple_fn(shape, || R::of(random.between(-size, size)))
}

fn forcing<R: Real>(source: &mut Random, shape: Shape) -> Forcing<R> {
    let Shape { nx, ny, nz } = shape;
    let mut centre = || random(source, shape.centre(), 1.0);
    let environment =
        Environment { rho: centre(), exner: centre(), p: centre(), dz: centre(), w: None };
    let flux = MassFlux {
        x: random(source, shape.x_face(), 1e9),
        y: random(source, shape.y_face(), 1e9),
        z: Array::zeros(shape.z_face()),
    };
    let mut values = || BoundaryValues {
        west: random(source, (nz, ny), 1.0),
        east: random(source, (nz, ny), 1.0),
        south: random(source, (nz, nx), 1.0),
        north: random(source, (nz, nx), 1.0),
    };
    let inflow = (0..usual_set().carried()).map(|_| Some(values())).collect();
    Forcing { flux, environment, inflow, photolysis: Vec::new() }
}

fn coordinate(shape: Shape) -> MassCoordinate {
    let Shape { nx, ny, nz } = shape;
    let plane = |f: &dyn Fn(usize, usize) -> f64| {
        ndarray::Array2::from_shape_fn((ny, nx), |(j, i)| f(j, i))
    };
    MassCoordinate {
        mu: plane(&|j, i| 9e4 + 100.0 * i as f64 - 70.0 * j as f64),
        map_x: plane(&|_, _| 1.0),
        map_y: plane(&|_, _| 1.0),
        c1: (0..nz).map(|k| 1.0 - 0.3 * k as f64 / nz as f64).collect(),
        c2: (0..nz).map(|k| 900.0 * k as f64).collect(),
        rdnw: (0..nz).map(|k| -(nz as f64) * (1.0 + 0.01 * k as f64)).collect(),
        fnm: vec![0.5; nz],
        fnp: vec![0.5; nz],
        unit: 1e8,
    }
}

/// The largest difference, relative to the largest value.
fn difference<R: Real + Element>(found: &[R], expected: &[R]) -> f64 {
    assert_eq!(found.len(), expected.len());
    let most = expected.iter().fold(0.0_f64, |most, x| most.max(x.f64().abs()));
    let off = |(a, b): (&R, &R)| (a.f64() - b.f64()).abs();
    // A maximum that does not ignore NaN.
    let largest = found
        .iter()
        .zip(expected)
        .map(off)
        .fold(0.0_f64, |most, x| if x.is_nan() { f64::INFINITY } else { most.max(x) });
    largest / most.max(f64::MIN_POSITIVE)
}

fn agrees<R: Real + Element>(gpu: &Gpu, limit: f64) {
    let mut source = Random::new(seed());
    // Rows with and without padding before and behind the cells.
    for (nx, ny, nz) in [(71, 58, 27), (5, 4, 2), (13, 6, 5), (70, 3, 4)] {
        let shape = Shape { nx, ny, nz };
        let grid = Grid::whole(shape, [1.0; 2], Sides::all(Side::Specified));
        let layout = Layout::of(&grid, 4);
        let coordinate = coordinate(shape);
        let mut continuity = Continuity::new(&coordinate);
        let [a, b] = [0, 1].map(|_| forcing::<R>(&mut source, shape));
        let between =
            ForcingInterpolator::new(gpu, layout, &continuity, (&[0, 1, 2, 3, 4, 5], AIR_FIELDS))
                .unwrap();
        between.upload(&a, &b).unwrap();
        let out = DeviceForcing::new(gpu, layout, &[0, 1, 2, 3, 4, 5]).unwrap();
        let air_out = gpu.zeros(AIR_FIELDS * layout.cells()).unwrap();
        for buffer in out.flux.iter().chain([&air_out, &out.inflow]) {
            buffer.poison().unwrap();
        }
        let mut expected = a.clone();
        let (a, b) = (Arc::new(a), Arc::new(b));
        for (flux_weight, air_weight) in [(0.0, 0.0), (0.3, 0.7), (0.999, 1.0), (1.0, 1.0)] {
            let (before, after) = (Arc::clone(&a), Some(Arc::clone(&b)));
            let moment = TimeInterpolant {
                number: 0,
                before,
                after,
                flux_weight,
                air_weight,
                seconds: 0.0,
                times: [0.0, 1.0],
            };
            expected.set(&moment, &mut continuity);
            between.set_weights(flux_weight, air_weight).unwrap();
            between.drive(&out).unwrap();
            between.air(&air_out).unwrap();
            let MassFlux { x, y, z } = &expected.flux;
            let [found_x, found_y, found_z] =
                out.flux.each_ref().map(|flux| flux.to_vec().unwrap());
            let expected_x = layout.padded_x_faces(x.as_slice().unwrap());
            for (found, expected) in [
                (&*found_x, &*expected_x),
                (&*layout.unpadded(&found_y), y.as_slice().unwrap()),
                (&*layout.unpadded(&found_z), z.as_slice().unwrap()),
            ] {
                let off = difference(found, expected);
                assert!(off <= limit, "fluxes at {flux_weight}: {off:e}");
            }
            let Environment { rho, exner, p, dz, .. } = &expected.environment;
            let air: Vec<R> = [rho, exner, p, dz].into_iter().flatten().copied().collect();
            let off = difference(&layout.unpadded(&air_out.to_vec().unwrap()), &air);
            assert!(off <= limit, "air at {air_weight}: {off:e}");
            let sides = expected.inflow.iter().flatten().flat_map(|values| {
                [&values.west, &values.east, &values.south, &values.north].into_iter().flatten()
            });
            let sides: Vec<R> = sides.copied().collect();
            let off = difference(&out.inflow.to_vec().unwrap(), &sides);
            assert!(off <= limit, "sides at {air_weight}: {off:e}");
        }
    }
}

#[test]
fn between_two_frames_lies_what_the_cpu_has_there() {
    // Contraction to fused multiply-adds omits one rounding of a sum of two terms; the vertical fluxes are computed in
    // double precision, with a few such sums in sequence.
    if let Some(gpu) = gpu(true) {
        agrees::<f32>(&gpu, 2.0 * f64::from(f32::EPSILON));
        agrees::<f64>(&gpu, 8.0 * f64::EPSILON);
    }
    if let Some(gpu) = gpu(false) {
        agrees::<f32>(&gpu, 2.0 * f64::from(f32::EPSILON));
    }
}
