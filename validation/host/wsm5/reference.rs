//! Whole calls of the scheme compared with those of WRF.

use nwp_mini::physics::wsm5::factors::Factors;
use nwp_mini::physics::wsm5::scheme::Scheme;

use super::case::{CASES, Precision, Reference};
use super::judge::Parting;
use super::parameters;
use super::yardstick::{Spread, rms, share_of_sample};

/// Numbers of interleaved subsets of the columns of a case: the limits hold for any subset, such as the part of the
/// storm that is shipped with the project.
const PARTS: [usize; 3] = [1, 4, 11];

fn check<R: Precision>() {
    let reference = Reference::read(&CASES, |_, _| true);
    reference.judge_parts(&Scheme::<R>::default(), &Parting::LIKE_WRF, &PARTS).finish();
}

#[test]
fn single_precision() {
    check::<f32>();
}

#[test]
fn double_precision() {
    check::<f64>();
}

/// The limits are narrow enough: with any parameter of the scheme off by one per cent, they are
/// exceeded.
#[test]
fn one_per_cent_of_a_parameter_shows() {
    let wrong = parameters::off_by_one_per_cent();
    parameters::reference().expect_noticed(wrong, &Parting::LIKE_WRF);
}

/// And so they are with any process off by one per cent.
#[test]
fn one_per_cent_of_a_process_shows() {
    let wrong = Factors::<f32>::NAMES.iter().map(|&name| {
        let mut p = Scheme::<f32>::default();
        *p.factors.of(name).expect("a process") *= 1.01;
        (name, p)
    });
    parameters::reference().expect_noticed(wrong, &Parting::LIKE_WRF);
}

/// The table of errors is read and computed in the same way: for a whole case, the stored build has exactly the errors
/// of the table.
#[test]
fn yardstick_describes_the_stored_build() {
    let reference = Reference::read(&CASES, |_, _| true);
    let mut compared = 0;
    for case in &reference.cases {
        for stage in &case.stages {
            for (name, truth) in &stage.truths {
                let y = reference.yardsticks.of(case.name, stage.dt, stage.calls, name);
                let about = format!("{} dt={} calls={} {name}", case.name, stage.dt, stage.calls);
                // The table has four digits, and the errors six bits.
                let near = |a: f64, b: f64| (a - b).abs() <= 0.02 * b.abs();
                if truth.exact.len() == y.cells {
                    let spread = Spread::of(&truth.off, &truth.exact);
                    assert!(near(spread.p99, y.stored.p99), "{about}: {spread:?} {y:?}");
                    assert!(near(rms(&truth.exact), y.rms), "{about}: {y:?}");
                    compared += 1;
                }
                assert!(y.most.p99 >= y.stored.p99 && y.most.share >= y.stored.share, "{about}");
            }
        }
    }
    println!("{compared} fields compared in full");
}

/// ln n! of all n up to `most`.
fn ln_factorials(most: usize) -> Vec<f64> {
    let mut sums = vec![0.0];
    for n in 1..=most {
        sums.push(sums[n - 1] + (n as f64).ln());
    }
    sums
}

/// Of columns drawn from a case in which some have parted, more than is allowed for have parted less
/// often than once in a million, by the hypergeometric distribution; and of a whole case no more than
/// its share may have.
#[test]
fn more_columns_than_are_allowed_for_are_improbable() {
    for (whole, parted) in [(240, 2), (240, 10), (252, 60), (4118, 4), (4118, 41), (4118, 400)] {
        let ln = ln_factorials(whole);
        let choose = |n: usize, k: usize| ln[n] - ln[k] - ln[n - k];
        let share = parted as f64 / whole as f64;
        for drawn in [whole / 20, whole / 10, whole / 4] {
            let allowed = share_of_sample(share, 27, 27 * drawn, 27 * whole) * drawn as f64;
            let more = (allowed + 1.0e-9).floor() as usize + 1;
            let chance = |x: usize| {
                choose(parted, x) + choose(whole - parted, drawn - x) - choose(whole, drawn)
            };
            let tail: f64 = (more..=parted.min(drawn)).map(|x| chance(x).exp()).sum();
            assert!(tail < 1.0e-6, "{drawn} of {whole}, {parted} parted: {tail:e}");
        }
        let all = share_of_sample(share, 27, 27 * whole, 27 * whole);
        assert!((all - share).abs() <= 0.0, "{all} of {share}");
    }
}
