//! Properties of the variant for any column, on the columns of the reference and on small ones.

use nwp_mini::physics::wsm5::scheme::Scheme;
use nwp_mini::physics::wsm5::{Air, Cell, Column, Sedimentation};

use super::case::{CASES, Columns, Outcome, Precision};
use super::variant::{OUTPUTS, parameters, water};

/// The species of water.
const WATER: [&str; 5] = ["q", "qc", "qr", "qi", "qs"];

/// A time step of one minor step, and one of three.
const TIME_STEPS: [f64; 2] = [120.0, 300.0];

/// Runs every case at every time step.
fn each_outcome<R: Precision>(check: impl Fn(&str, &Columns, f64, Outcome<R>)) {
    for case in CASES {
        let columns = Columns::of(case);
        for dt in TIME_STEPS {
            let outcome = columns.run_with(&parameters::<R>(), dt, 1);
            check(&format!("{case} dt={dt} {}", R::NAME), &columns, dt, outcome);
        }
    }
}

fn check_water<R: Precision>(limit: f64) {
    each_outcome::<R>(|about, columns, _, outcome| {
        let before = water(columns, &WATER.map(|name| columns.field(name)));
        let after = water(columns, &WATER.map(|name| outcome.field(name)));
        let mut largest = 0.0_f64;
        for (i, before) in before.iter().enumerate() {
            assert!(outcome.residual[i] == R::ZERO, "{about}: this fall keeps all it is given");
            let made = after[i] + outcome.fallen[i].f64() - outcome.clipped[i].f64() - before;
            let all = before.abs() + outcome.clipped[i].f64().abs();
            largest = largest.max(made.abs() / all.max(f64::MIN_POSITIVE));
        }
        println!("{about}: water to {largest:.1e}");
        assert!(largest <= limit, "{about}: {largest:e}");
    });
}

/// About ten roundings of a column's water, in each precision.
#[test]
fn column_water_is_kept_to_rounding() {
    check_water::<f64>(2.0e-15);
    check_water::<f32>(1.0e-6);
}

fn check_signs<R: Precision>() {
    each_outcome::<R>(|about, _, dt, outcome| {
        // All but the first two, temperature and vapour.
        for name in &OUTPUTS[2..] {
            assert!(outcome.field(name).iter().all(|x| *x >= R::ZERO), "{about} {name}");
        }
        let [rain, rainncv] = ["rain", "rainncv"].map(|name| outcome.field(name).iter());
        let equal = rain.clone().zip(rainncv.clone()).filter(|(all, last)| all == last).count();
        assert!(rain.zip(rainncv).all(|(all, last)| all >= last), "{about}");
        // The precipitation of the call is that of its last minor step.
        assert!(dt > 120.0 || equal == outcome.fallen.len(), "{about}");
    });
}

#[test]
fn nothing_is_negative() {
    check_signs::<f64>();
    check_signs::<f32>();
}

#[test]
fn precipitation_of_a_call_is_that_of_its_last_minor_step() {
    let columns = Columns::of("mixed");
    let outcome = columns.run_with(&parameters::<f64>(), 300.0, 1);
    let [rain, rainncv] = ["rain", "rainncv"].map(|name| outcome.field(name));
    let more = rain.iter().zip(rainncv).filter(|(all, last)| **last > 0.0 && all > last).count();
    assert!(more > 0, "three minor steps bring more than one");
    for (i, fallen) in outcome.fallen.iter().enumerate() {
        assert!((fallen - rain[[0, i]]).abs() <= 1e-15, "the water account has all of it");
    }
}

#[test]
fn any_number_of_threads_gives_the_same_bits() {
    let columns = Columns::of("storm");
    let with = |threads: usize| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().expect("threads");
        pool.install(|| columns.run_with(&parameters::<f32>(), 60.0, 3)).fields
    };
    let one = with(1);
    for threads in [2, 5] {
        assert!(one == with(threads), "{threads} threads");
    }
}

/// A column of one layer of snow.
fn single_layer(t: f64, dz: f64) -> Column<f64> {
    let mut column = Column::new(1);
    column.cells[0] = Cell { t, qv: 1e-3, qs: 1e-3, ..Cell::default() };
    column.air[0] = Air { rho: 1.0, p: 9e4, dz, ..Air::default() };
    column
}

#[test]
fn one_layer_is_enough() {
    let mut column = single_layer(260.0, 100.0);
    let fallen = column.call(&parameters(), 60.0);
    let Cell { qv, qc, qr, qi, qs, .. } = column.cells[0];
    let water = (qv + qc + qr + qi + qs) * 100.0 + fallen.rain;
    assert!(fallen.rain > 0.0 && fallen.sr > 0.99);
    assert!((water - 0.2).abs() < 1e-15, "{water}");
}

/// With m sub-steps, no more than 1 - (1 - 1/m)^m of the snow melts; the default melts it all.
#[test]
fn a_substep_melts_its_part_of_the_snow_at_most() {
    let snow_left = |fallout: Sedimentation, dz: f64| {
        let mut column = single_layer(303.15, dz);
        column.cells[0].qs = 1e-6;
        let sum = column.call(&Scheme::default().with_fallout(fallout), 120.0);
        (column.cells[0].qs * dz + sum.snow, column.substeps()[0])
    };
    let (left, substeps) = snow_left(Sedimentation::Substepped, 20.0);
    assert!(substeps > 1);
    let untouched = 1e-6 * 20.0 * (1.0 - 1.0 / substeps as f64).powi(substeps as i32);
    assert!(left >= untouched, "{left:e} of {untouched:e} in {substeps} sub-steps");
}

/// The smallest drops fall at pvtr (1 / lamdarmax)^0.8 = 0.298867 m/s, through a layer of 10 m 3.586 times in 120 s, at
/// any height and with any contents.
#[test]
fn empty_layers_above_the_precipitation_count() {
    let mut column = Column::<f64>::new(2);
    column.cells.fill(Cell { t: 260.0, qv: 1e-4, ..Cell::default() });
    column.air.fill(Air { rho: 1.28, p: 9e4, dz: 10.0, ..Air::default() });
    column.cells[0].qs = 1e-4;
    column.air[0].dz = 1000.0;
    column.call(&parameters(), 120.0);
    assert_eq!(column.substeps()[0], 4);
}
