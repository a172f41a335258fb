//! Properties of the scheme, on columns of the reference and on columns that are in no reference.

use nwp_mini::physics::kessler::Vectorised;
use nwp_mini::physics::kessler::sedimentation::distance;

use super::case::{CASES, Columns, Engine, OnCpu, State};

fn columns(case: &str) -> Columns {
    Columns::of(case).unforced()
}

/// Water of each column, with weights for vapour and cloud water and for rain, kg m⁻².
fn water<R: Vectorised>(state: &State<R>) -> Vec<f64> {
    let [rho, dz] = [&state.air[0], &state.air[2]].map(|field| field.mapv(R::f64));
    let (nz, _, nx) = rho.dim();
    let of_column = |i: usize| {
        let layer = |k: usize| {
            let lower = k.min(nz - 2);
            let apart = distance(dz[[lower, 0, i]], dz[[lower + 1, 0, i]]);
            let all: f64 = state.tracers[1..].iter().map(|q| q[[k, 0, i]].f64()).sum();
            rho[[k, 0, i]] * apart * all
        };
        (0..nz).map(layer).sum::<f64>() + state.surface[0][[0, i]].f64()
    };
    (0..nx).map(of_column).collect()
}

/// Water is conserved, weighted by the distances between the middles of layers, if nothing is negative at first and
/// layers grow thicker upward; nothing is negative afterwards.
#[test]
fn water_is_conserved_by_the_weights_of_the_scheme() {
    for case in CASES.into_iter().filter(|case| *case != "edge") {
        for dt in [60.0, 300.0] {
            let before = State::<f64>::of(&columns(case), 1, 0.0);
            let mut after = before.clone();
            OnCpu::best().call(dt, &mut after);
            for (i, (found, expected)) in water(&after).into_iter().zip(water(&before)).enumerate()
            {
                let off = (found / expected - 1.0).abs();
                assert!(off < 1.0e-13, "{case}, dt {dt}, column {i}: {off:e}");
            }
            for field in &after.tracers[1..] {
                assert!(field.iter().all(|q| *q >= 0.0), "{case}: something is negative");
            }
        }
    }
}

/// Columns that are not in the reference: those of the reference on layers of another depth, with more rain and less.
/// Single precision agrees with double precision to the accuracy of the functions, except in columns with one sub-step
/// more or less.
#[test]
fn single_precision_follows_double_elsewhere() {
    /// Largest difference of a cell, of the largest value of its field: a unit in the last place of 300 K, 3e-5 K, moves
    /// the saturation of warm air by 3e-8, and the largest mixing ratios of cloud water are 3e-3.
    const NEAR: f64 = 1.0e-5;
    /// Columns that may take another course.
    const PARTED: f64 = 0.02;
    let (mut all, mut parted) = (0, 0);
    for (depth, rain, dt) in [(0.31, 3.3, 45.0), (1.7, 0.27, 200.0), (0.05, 1.0, 90.0)] {
        let mut columns = columns("warm");
        *columns.field_mut("delz") *= depth;
        *columns.field_mut("qr") *= rain;
        let single = columns.run(&OnCpu::<f32>::best(), dt, 1);
        let double = columns.run(&OnCpu::<f64>::best(), dt, 1);
        let count = columns.dim().1;
        let mut is_near = vec![true; count];
        for ((_, single), (_, double)) in single.named()[..4].iter().zip(&double.named()[..4]) {
            let largest = double.iter().fold(0.0_f64, |most, x| most.max(x.abs()));
            for ((at, &found), &expected) in single.indexed_iter().zip(double) {
                is_near[at[2]] &= (f64::from(found) - expected).abs() <= NEAR * largest;
            }
        }
        all += count;
        parted += is_near.iter().filter(|near| !**near).count();
    }
    println!("{parted} of {all} columns have parted");
    assert!(parted as f64 <= PARTED * all as f64, "{parted} of {all} columns differ");
}

/// Rain stays exactly zero in repeated calls if the scheme creates none.
#[test]
fn no_rain_comes_of_nothing() {
    let mut columns = columns("warm");
    columns.field_mut("qr").fill(0.0);
    columns.field_mut("qc").mapv_inplace(|qc| qc.min(5.0e-4));
    columns.field_mut("q").mapv_inplace(|q| 0.5 * q);
    let after = columns.run(&OnCpu::<f32>::best(), 120.0, 30);
    assert!(after.tracers[3].iter().all(|qr| *qr == 0.0));
    assert!(after.surface.iter().flatten().all(|rain| *rain == 0.0));
}
