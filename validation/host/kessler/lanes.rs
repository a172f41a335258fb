//! Columns in SIMD lanes: each has the result of a single column, with every instruction set of this machine.

use ndarray::Array;

use nwp_mini::physics::kessler::columns::{self, Level};
use nwp_mini::physics::kessler::{Kessler, Vectorised};
use nwp_mini::real::Real;
use nwp_mini::simd::Instructions;

use super::case::{CASES, Columns, Engine, OnCpu, State};

/// Single columns with the functions of the SIMD version: one lane instead of many.
struct OneLane;

impl<R: Vectorised> Engine<R> for OneLane {
    fn call(&self, dt: R, state: &mut State<R>) {
        let (nz, ny, nx) = state.tracers[0].dim();
        let factors = Kessler::default().factors.map(R::lane);
        for (j, i) in (0..ny).flat_map(|j| (0..nx).map(move |i| (j, i))) {
            let mut column = columns::ColumnBlock::<R::Lane, 1>::new(nz);
            column.theta_base = state.theta_base.lane();
            for (k, level) in column.levels.iter_mut().enumerate() {
                let Level { theta, qv, qc, qr, rho, exner, dz, .. } = level;
                let fields = state.tracers.iter().chain(&state.air);
                for (place, field) in [theta, qv, qc, qr, rho, exner, dz].into_iter().zip(fields) {
                    *place = [field[[k, j, i]].lane()];
                }
            }
            column.rain = [state.surface[0][[j, i]].lane()];
            column.call(&factors, dt.lane());
            for (k, level) in column.levels.iter().enumerate() {
                let Level { theta, qv, qc, qr, .. } = level;
                for (field, place) in state.tracers.iter_mut().zip([theta, qv, qc, qr]) {
                    field[[k, j, i]] = R::of_lane(place[0]);
                }
            }
            state.surface[0][[j, i]] = R::of_lane(column.rain[0]);
            state.surface[1][[j, i]] = R::of_lane(column.rainncv[0]);
        }
    }
}

fn columns(case: &str) -> Columns {
    Columns::of(case).unforced()
}

fn check<R: Vectorised>() {
    for case in CASES {
        for (ny, dt) in [(1, 60.0), (3, 300.0)] {
            let before = State::<R>::of(&columns(case), ny, 300.0);
            let mut alone = before.clone();
            OneLane.call(R::of(dt), &mut alone);
            for set in Instructions::available() {
                let mut side_by_side = before.clone();
                let instructions = Some(*set);
                OnCpu { scheme: Kessler::default(), instructions }
                    .call(R::of(dt), &mut side_by_side);
                let about = format!("{case}, {ny} rows, {dt} s, {}, {set}", R::NAME);
                expect_same(&about, &side_by_side, &alone);
            }
        }
    }
}

fn expect_same<R: Real>(about: &str, found: &State<R>, expected: &State<R>) {
    for ((name, found), (_, expected)) in found.named().into_iter().zip(expected.named()) {
        let differ = Array::from_iter(found.iter().zip(&expected).filter(|(a, b)| a != b));
        assert!(differ.is_empty(), "{about}, {name}: {} values, {:?}", differ.len(), differ[0]);
    }
}

#[test]
fn one_lane_has_the_bits_of_many() {
    check::<f32>();
    check::<f64>();
}

/// The result depends neither on the number of threads nor on the division of the columns into blocks.
#[test]
fn threads_change_nothing() {
    let before = State::<f32>::of(&columns("storm"), 4, 0.0);
    let after = |threads: usize| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().expect("threads");
        let mut state = before.clone();
        pool.install(|| OnCpu::best().call(60.0, &mut state));
        state
    };
    let alone = after(1);
    for threads in [2, 5] {
        expect_same(&format!("{threads} threads"), &after(threads), &alone);
    }
}
