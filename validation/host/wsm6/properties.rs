//! Properties of the scheme, on columns of the reference and on columns made of them.

use ndarray::{Array3, s};
use nwp_mini::physics::wsm6::Vectorised;
use nwp_mini::physics::wsm6::params::RimedIce;
use nwp_mini::physics::wsm6::scheme::Scheme;
use nwp_mini::simd::{Instructions, LANES};

use super::case::{CASES, Columns, OnCpu, State};

/// Time steps of one minor step, and of three.
const STEPS: [f64; 2] = [60.0, 300.0];

fn columns(case: &str) -> Columns {
    Columns::of(case).unforced()
}

/// Water of each column, kg m⁻².
fn water(state: &State<f64>) -> Vec<f64> {
    let [rho, dz] = [&state.air[0], &state.air[3]];
    let (nz, _, nx) = rho.dim();
    let layer = |k: usize, i: usize| {
        let all: f64 = state.tracers[1..].iter().map(|q| q[[k, 0, i]]).sum();
        rho[[k, 0, i]] * dz[[k, 0, i]] * all
    };
    (0..nx).map(|i| (0..nz).map(|k| layer(k, i)).sum()).collect()
}

/// The water of a column changes by what has fallen, and by what the budget says that the scheme has created. Nothing but
/// vapour is negative afterwards.
#[test]
fn the_budget_of_water_closes() {
    for case in CASES {
        for dt in STEPS {
            let before = State::<f64>::of(&columns(case));
            let mut after = before.clone();
            OnCpu::best(RimedIce::Graupel).call(dt, &mut after);
            let [fallen, residual, clipped] = &after.budget;
            for (i, (after, before)) in water(&after).into_iter().zip(water(&before)).enumerate() {
                let at = [0, i];
                let created = residual[at] + clipped[at];
                let off = (after + fallen[at] - created - before).abs() / before.abs().max(1.0);
                assert!(off < 1.0e-12, "{case}, dt {dt}, column {i}: {off:e}");
            }
            for field in &after.tracers[2..] {
                assert!(field.iter().all(|q| *q >= 0.0), "{case}, dt {dt}: something is negative");
            }
        }
    }
}

/// Air without condensate, and with less vapour than saturation, does not change by a bit.
fn unchanged<R: Vectorised>() {
    for instructions in [Instructions::best(), None] {
        let mut columns = columns("mixed");
        for name in ["qc", "qr", "qi", "qs", "qg"] {
            columns.field_mut(name).fill(0.0);
        }
        columns.field_mut("q").mapv_inplace(|q| 0.1 * q);
        let before = State::<R>::of(&columns);
        let mut after = before.clone();
        OnCpu { scheme: Scheme::default(), instructions }.call(R::of(300.0), &mut after);
        assert_eq!(after.tracers, before.tracers);
        assert!(after.surface.iter().flatten().all(|x| *x == R::ZERO));
    }
}

#[test]
fn dry_air_is_left_alone() {
    unchanged::<f32>();
    unchanged::<f64>();
}

/// All sets of vector instructions have the same bits, and so has a column whatever its neighbours are.
#[test]
fn neighbours_and_instructions_change_no_bit() {
    let columns = columns("deep");
    let count = columns.dim().1;
    let run = |columns: &Columns, instructions| {
        OnCpu::<f32> { scheme: Scheme::default(), instructions }.run(columns, 300.0, 1)
    };
    let Some(best) = Instructions::best() else { return };
    let whole = run(&columns, Some(best));
    for instructions in Instructions::available() {
        let other = run(&columns, Some(*instructions));
        assert_eq!(other.tracers, whole.tracers, "{instructions}");
        assert_eq!(other.surface, whole.surface, "{instructions}");
    }
    let picked: Vec<usize> = (0..count).rev().step_by(LANES / 8 + 1).collect();
    let part = run(&columns.select(&picked), Some(best));
    for (field, all) in part.tracers.iter().zip(&whole.tracers) {
        for (at, column) in picked.iter().enumerate() {
            let of = |field: &Array3<f32>, i: usize| field.slice(s![.., 0, i]).to_vec();
            assert_eq!(of(field, at), of(all, *column), "column {column}");
        }
    }
}

/// Without frozen condensate in air above freezing nothing freezes.
#[test]
fn no_ice_comes_of_warm_rain() {
    const WARM: f32 = 280.0;
    let mut columns = columns("warm");
    for name in ["qi", "qs", "qg"] {
        columns.field_mut(name).fill(0.0);
    }
    columns.field_mut("pii").fill(1.0);
    columns.field_mut("th").mapv_inplace(|t| t.max(WARM));
    let after = OnCpu::<f32>::best(RimedIce::Graupel).run(&columns, 60.0, 1);
    for field in &after.tracers[4..] {
        assert!(field.iter().all(|q| *q == 0.0));
    }
}
