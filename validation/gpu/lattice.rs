//! The Wilson operator on the device against the CPU version, and the solver twice.
#![allow(clippy::float_cmp, reason = "equal bits are what some tests are about")]

use nwp_mini::lattice::dirac::{hop, wilson};
use nwp_mini::lattice::gauge::random_links;
use nwp_mini::lattice::gpu::{GpuDirac, KernelConfig, LatticePrecision, TWO_ROWS};
use nwp_mini::lattice::number::Vectorised;
use nwp_mini::lattice::{
    CpuDirac, Extents, GaugeField, LINK_REALS, SPINOR_REALS, Stop, defect_correction, solve,
};
use nwp_mini::real::{Precision, Real};

use crate::random::Random;
use crate::{gpu, seed};

const LATTICES: [[usize; 4]; 5] =
    [[2, 2, 2, 2], [4, 4, 4, 4], [6, 4, 2, 10], [16, 8, 4, 6], [32, 4, 4, 8]];
const KAPPA: f64 = 0.12;

fn distance<R: Real>(found: &[R], expected: &[R]) -> f64 {
    let squares = |terms: &mut dyn Iterator<Item = f64>| terms.map(|x| x * x).sum::<f64>();
    let differences = squares(&mut found.iter().zip(expected).map(|(a, b)| a.f64() - b.f64()));
    (differences / squares(&mut expected.iter().map(|x| x.f64()))).sqrt()
}

fn operators_agree<R: LatticePrecision + Vectorised>() {
    let Some(gpu) = gpu(true) else { return };
    let random = &mut Random::new(seed());
    for extents in LATTICES {
        let extents = Extents::new(extents).unwrap();
        let links = random_links(extents, || random.between(-1.0, 1.0));
        let reals = extents.volume() * SPINOR_REALS;
        let psi: Vec<R> = (0..reals).map(|_| R::of(random.between(-1.0, 1.0))).collect();
        let gauge = GaugeField { extents, links: &links, antiperiodic_t: true };
        let cpu = CpuDirac::<R>::new(gauge).unwrap();
        let precision = <R as Real>::PRECISION;
        for link_reals in [LINK_REALS, TWO_ROWS] {
            for is_diagonal in [false, true] {
                let form = KernelConfig {
                    is_diagonal,
                    ..KernelConfig::choose(precision, extents, link_reals)
                };
                let device = GpuDirac::<R>::with(&gpu, gauge, form).unwrap();
                // Four times the largest error of 28 orders of summation.
                let limit = if precision == Precision::F32 { 4e-7 } else { 1e-15 };
                for is_dagger in [false, true] {
                    let expected = hop(&cpu, is_dagger, &psi).unwrap();
                    let found = hop(&device, is_dagger, &psi).unwrap();
                    assert!(distance(&found, &expected) <= limit, "{extents} {form:?}");
                    // Same operations, with the same fusing.
                    let is_same = link_reals == LINK_REALS && !is_diagonal;
                    assert!(!is_same || found == expected, "{extents}: other bits");
                }
                let expected = wilson(&cpu, KAPPA, &psi).unwrap();
                let found = wilson(&device, KAPPA, &psi).unwrap();
                assert!(distance(&found, &expected) <= limit, "{extents} {form:?}");
            }
        }
    }
}

#[test]
fn operators_agree_with_the_cpu_in_single_precision() {
    operators_agree::<f32>();
}

#[test]
fn operators_agree_with_the_cpu_in_double_precision() {
    operators_agree::<f64>();
}

#[test]
fn solutions_are_the_same_in_every_run_and_solve_the_system() {
    let Some(gpu) = gpu(true) else { return };
    let random = &mut Random::new(seed());
    for extents in LATTICES {
        let extents = Extents::new(extents).unwrap();
        let links = random_links(extents, || random.between(-1.0, 1.0));
        let reals = extents.volume() * SPINOR_REALS;
        let b: Vec<f64> = (0..reals).map(|_| random.between(-1.0, 1.0)).collect();
        let gauge = GaugeField { extents, links: &links, antiperiodic_t: true };
        let wide = GpuDirac::<f64>::new(&gpu, gauge, 1.0).unwrap();
        let stop = Stop { tolerance: 1e-10, most: 1000 };
        let found = solve(&wide, KAPPA, &b, stop).unwrap();
        assert!(found.converged && found.residual <= 1.01e-10, "{extents}: {}", found.residual);
        let again = solve(&wide, KAPPA, &b, stop).unwrap();
        assert!(again.x == found.x && again.history == found.history, "{extents}: other bits");
        let cpu = CpuDirac::<f64>::new(gauge).unwrap();
        let expected = solve(&cpu, KAPPA, &b, stop).unwrap();
        assert!(found.iterations.abs_diff(expected.iterations) <= 2, "{extents}");
        // The full operator gives the right-hand side back.
        assert!(distance(&wilson(&cpu, KAPPA, &found.x).unwrap(), &b) < 1e-9, "{extents}");
        let narrow = GpuDirac::<f32>::new(&gpu, gauge, 0.0).unwrap();
        let corrected = defect_correction(&wide, &narrow, KAPPA, &b, stop).unwrap();
        assert!(corrected.solution.converged && corrected.corrections > 1, "{extents}");
        assert!(distance(&corrected.solution.x, &found.x) < 1e-8, "{extents}");
    }
}
