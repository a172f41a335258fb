//! The kernels of passive tracers, run on the host: the results of the CPU version for the same field.
#![allow(clippy::float_cmp, reason = "equal bits are what this is about")]

use ndarray::{Array, Array3, Dimension};
use nwp_mini::advection::gpu::passive::source;
use nwp_mini::backend::BudgetDomain;
use nwp_mini::dry_mass::AirMass;
use nwp_mini::grid::gpu::Layout;
use nwp_mini::grid::{Grid, Shape, Side, Sides};
use nwp_mini::real::Real;
use nwp_mini_support::emulator::{Element, Program, Records};
use nwp_mini_support::random::Random;

use crate::summary::coordinate;

const NZ: usize = 7;
/// Numbers of a sum round to this part of it, in another order.
const ROUNDING: f64 = 1e-13;

fn values<R: Copy, D: Dimension>(field: &Array<R, D>) -> Vec<R> {
    field.iter().copied().collect()
}

/// Two steps of decay, and the amounts before and after them.
fn compare<R: Real + Element>(random: &mut Random, [nx, ny]: [usize; 2], blocks: usize) {
    let shape = Shape { nx, ny, nz: NZ };
    let grid = Grid::whole(shape, [3000.0, 2500.0], Sides::all(Side::Specified));
    let coordinate = coordinate(random, shape);
    let air = AirMass::<R>::new(&grid, &coordinate);
    let region = BudgetDomain::new(&grid, &coordinate);
    let mut draw = || R::of(random.between(-1e-6, 1e-2));
    let mut q: Array3<R> = Array::from_shape_simple_fn(shape.centre(), &mut draw);
    let layout = Layout::of(&grid, 4);
    let left = (-60.0_f64 / 900.0).exp();

    let source = source(R::PRECISION, NZ);
    let name = format!("passive-{}", R::NAME);
    let options = ["-ffp-contract=off"];
    let program =
        Program::compile(&name, "emulated/passive/program.cpp", &source.prelude, &options);
    let mut records = Records::default();
    records.put("tracer", &layout.padded(&values(&q)));
    records.put("with_mu", &layout.padded(&values(&air.cell.with_mu)));
    records.put("without_mu", &layout.padded(&values(&air.cell.without_mu)));
    records.put("c1", &air.cell.c1);
    records.put("c2", &air.cell.c2);
    records.put("left", &[R::of(left)]);
    records.put("change", &[left - 1.0]);
    let columns = layout.places(region.columns.clone());
    for (name, number) in [
        ("pitch", layout.pitch()),
        ("ny", ny),
        ("first_row", region.rows.start),
        ("end_row", region.rows.end),
        ("first_column", columns.start),
        ("end_column", columns.end),
        ("blocks", blocks),
    ] {
        records.put(name, &[number as i32]);
    }
    for name in ["before", "lost", "after"] {
        records.put(name, &vec![0.0_f64; blocks * NZ]);
    }
    let found = program.run(&records, random.bits());
    let sum = |name: &str| found.take::<f64>(name).iter().sum::<f64>();

    let about = format!("{nx}x{ny} {blocks} {}", R::NAME);
    let before = region.amount(&air, &q);
    let mut lost = 0.0;
    for _ in 0..2 {
        lost += (left - 1.0) * region.amount(&air, &q);
        q.mapv_inplace(|q| R::of(left) * q);
    }
    let after = region.amount(&air, &q);
    for (name, expected) in [("before", before), ("lost", lost), ("after", after)] {
        let off = (sum(name) - expected).abs();
        assert!(off <= ROUNDING * before.abs(), "{about} {name}: {} and {expected}", sum(name));
    }
    // Conservation up to rounding in every cell.
    let rounding = if R::NAME == "f64" { ROUNDING } else { 1e-7 };
    assert!((before + lost - after).abs() <= rounding * before, "{about}: {before} {lost} {after}");
    assert_eq!(*layout.unpadded(&found.take::<R>("tracer")), *values(&q), "{about}");
}

#[test]
fn amounts_and_decay_are_those_of_the_cpu() {
    let random = &mut Random::new(5);
    for (size, blocks) in [([8, 4], 1), ([9, 6], 6), ([71, 13], 5), ([261, 3], 3)] {
        compare::<f32>(random, size, blocks);
        compare::<f64>(random, size, blocks);
    }
}
