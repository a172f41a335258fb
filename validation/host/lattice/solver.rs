//! Solutions against the full operator, at the ends of the range of kappa, and by defect correction.

use nwp_mini::lattice::dirac::wilson;
use nwp_mini::lattice::{CpuDirac, Stop, defect_correction, solve};
use nwp_mini_support::random::Random;

use super::{Gauge, LATTICES, distance};

const KAPPA: f64 = 0.12;

#[test]
fn the_full_operator_gives_the_right_hand_side_back() {
    for (seed, extents) in (1..).zip(LATTICES) {
        let random = &mut Random::new(seed);
        let gauge = Gauge::random(extents, true, random);
        let (dirac, b) = (CpuDirac::<f64>::new(gauge.field()).unwrap(), gauge.spinors(random));
        let stop = Stop { tolerance: 1e-11, most: 1000 };
        let found = solve(&dirac, KAPPA, &b, stop).unwrap();
        assert!(found.converged && found.iterations > 2, "{found:?}");
        assert!(found.residual <= 1.01 * stop.tolerance, "{}", found.residual);
        assert_eq!(found.history.len(), found.iterations + 1);
        // b_hat is not smaller than a tenth of b here.
        let m_x = wilson(&dirac, KAPPA, &found.x).unwrap();
        assert!(distance(&m_x, &b) < 10.0 * stop.tolerance, "{}", distance(&m_x, &b));
    }
}

#[test]
fn single_precision_solves_to_its_tolerance() {
    let random = &mut Random::new(8);
    let gauge = Gauge::random([4, 4, 4, 8], true, random);
    let dirac = CpuDirac::<f32>::new(gauge.field()).unwrap();
    let b: Vec<f32> = gauge.spinors(random).iter().map(|&x| x as f32).collect();
    let found = solve(&dirac, KAPPA, &b, Stop { tolerance: 1e-5, most: 1000 }).unwrap();
    // The residual that is carried along differs from the true one by rounding.
    assert!(found.converged && found.residual < 1.2e-5, "{}", found.residual);
}

#[test]
fn without_hopping_one_iteration_is_enough() {
    let random = &mut Random::new(2);
    let gauge = Gauge::random([2, 4, 2, 4], false, random);
    let (dirac, b) = (CpuDirac::<f64>::new(gauge.field()).unwrap(), gauge.spinors(random));
    let found = solve(&dirac, 0.0, &b, Stop { tolerance: 1e-10, most: 10 }).unwrap();
    assert_eq!(found.iterations, 1);
    assert!(found.x == b, "x is b");
}

#[test]
fn nothing_is_solved_by_nothing() {
    let random = &mut Random::new(2);
    let gauge = Gauge::random([2, 4, 2, 4], false, random);
    let dirac = CpuDirac::<f64>::new(gauge.field()).unwrap();
    let b = vec![0.0; gauge.spinors(random).len()];
    let found = solve(&dirac, KAPPA, &b, Stop { tolerance: 1e-10, most: 10 }).unwrap();
    assert_eq!((found.iterations, found.residual, found.converged), (0, 0.0, true));
    assert!(found.x.iter().all(|x| *x == 0.0));
}

#[test]
fn too_few_iterations_are_reported() {
    let random = &mut Random::new(2);
    let gauge = Gauge::random([2, 4, 2, 4], false, random);
    let (dirac, b) = (CpuDirac::<f64>::new(gauge.field()).unwrap(), gauge.spinors(random));
    let found = solve(&dirac, KAPPA, &b, Stop { tolerance: 1e-10, most: 3 }).unwrap();
    assert!(!found.converged && found.iterations == 3);
}

#[test]
fn defect_correction_gives_the_digits_of_double_precision() {
    let random = &mut Random::new(6);
    let gauge = Gauge::random([4, 4, 2, 8], true, random);
    let wide = CpuDirac::<f64>::new(gauge.field()).unwrap();
    let narrow = CpuDirac::<f32>::new(gauge.field()).unwrap();
    let b = gauge.spinors(random);
    let stop = Stop { tolerance: 1e-12, most: 1000 };
    let found = defect_correction(&wide, &narrow, KAPPA, &b, stop).unwrap();
    assert!(found.solution.converged && found.corrections > 1, "{found:?}");
    let expected = solve(&wide, KAPPA, &b, stop).unwrap();
    // Both are within 1e-12 of the right-hand side over the smallest singular value, some tenths.
    assert!(distance(&found.solution.x, &expected.x) < 1e-11);
}
