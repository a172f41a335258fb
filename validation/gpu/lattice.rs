//! The Wilson operator on the device against the CPU version, and the solver twice.
#![allow(clippy::float_cmp, reason = "equal bits are what some tests are about")]

use nwp_mini::device::Gpu;
use nwp_mini::lattice::dirac::{hop, wilson};
use nwp_mini::lattice::gauge::random_links;
use nwp_mini::lattice::gpu::ladder::{Fields, LowerRung, Rung};
use nwp_mini::lattice::gpu::{GpuDirac, KernelConfig, LatticePrecision, Load, Operator, TWO_ROWS};
use nwp_mini::lattice::number::Vectorised;
use nwp_mini::lattice::{
    CpuDirac, Dirac, Extents, GaugeField, LINK_REALS, Parity, SPINOR_REALS, Stop,
    defect_correction, solve,
};
use nwp_mini::real::{Precision, Real};

use crate::random::Random;
use crate::{gpu, seed};

const LATTICES: [[usize; 4]; 5] =
    [[2, 2, 2, 2], [4, 4, 4, 4], [6, 4, 2, 10], [16, 8, 4, 6], [32, 4, 4, 8]];
const KAPPA: f64 = 0.12;
/// Four times the largest error of 28 orders of summation.
const F32_LIMIT: f64 = 4e-7;
const F64_LIMIT: f64 = 1e-15;

fn distance<R: Real>(found: &[R], expected: &[R]) -> f64 {
    let squares = |terms: &mut dyn Iterator<Item = f64>| terms.map(|x| x * x).sum::<f64>();
    let differences = squares(&mut found.iter().zip(expected).map(|(a, b)| a.f64() - b.f64()));
    (differences / squares(&mut expected.iter().map(|x| x.f64()))).sqrt()
}

fn operators_agree<R: LatticePrecision + Vectorised>() {
    let Some(gpu) = gpu(true) else { return };
    let random = &mut Random::new(seed());
    for &extents in crate::sized(&LATTICES[..], &LATTICES[..3]) {
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
                let limit = if precision == Precision::F32 { F32_LIMIT } else { F64_LIMIT };
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

/// Forms of the kernels that no lattice of the other tests chooses.
fn forms(extents: Extents) -> [KernelConfig; 5] {
    let plain = KernelConfig { block_sites: 64, ..KernelConfig::plain(extents) };
    let best = KernelConfig { link_reals: TWO_ROWS, is_diagonal: true, ..plain };
    let bricks = KernelConfig { brick: Some([1; 4]), chunk: 8, ..best }.with_block(32);
    [
        KernelConfig {
            link_load: Load::Past,
            spinor_load: Load::Kept,
            is_streamed: true,
            slab: 1,
            ..bricks
        },
        KernelConfig { link_reals: LINK_REALS, is_diagonal: false, ..bricks },
        KernelConfig { is_backward_stored: true, ..bricks },
        KernelConfig { side_threads: 2, register_sides: 2, ..bricks },
        KernelConfig { loops_sides: true, ..bricks },
    ]
}

/// `D psi` or `D† psi` on the sites of a parity by the CPU version; other sites as in psi.
fn expected_hop<R: LatticePrecision + Vectorised>(
    cpu: &CpuDirac<R>,
    parity: Parity,
    is_dagger: bool,
    psi: &[R],
) -> Vec<R> {
    let (input, mut out) = (cpu.load(parity.other(), psi).unwrap(), cpu.zeros().unwrap());
    cpu.hop(parity, is_dagger, &input, None, &mut out).unwrap();
    let mut whole = psi.to_vec();
    cpu.store(parity, &out, &mut whole).unwrap();
    whole
}

fn forms_agree<R: LatticePrecision + Vectorised>(gpu: &Gpu, limit: f64) {
    let random = &mut Random::new(seed());
    for extents in [[4, 4, 4, 4], [6, 4, 2, 10]] {
        let extents = Extents::new(extents).unwrap();
        let links = random_links(extents, || random.between(-1.0, 1.0));
        let gauge = GaugeField { extents, links: &links, antiperiodic_t: true };
        let cpu = CpuDirac::<R>::new(gauge).unwrap();
        let reals = extents.volume() * SPINOR_REALS;
        let psi: Vec<R> = (0..reals).map(|_| R::of(random.between(-1.0, 1.0))).collect();
        for form in forms(extents) {
            let operator = Operator::<R>::new(gpu, gauge, form).unwrap();
            let sides = if form.loops_sides { 3 } else { form.sides() };
            for parity in Parity::BOTH {
                for &is_dagger in if form.loops_sides { &[false][..] } else { &[false, true] } {
                    let field = form.lay_spinors(parity.other(), &psi);
                    let input = gpu.upload(&field.repeat(sides)).unwrap();
                    let out = gpu.zeros(input.len()).unwrap();
                    out.poison().unwrap();
                    operator.hop(parity, is_dagger, &input, &out, 0).unwrap();
                    let expected = expected_hop(&cpu, parity, is_dagger, &psi);
                    for side in out.to_vec().unwrap().chunks_exact(field.len()) {
                        let mut found = psi.clone();
                        form.pick_spinors(parity, side, &mut found);
                        assert!(distance(&found, &expected) <= limit, "{extents} {form:?}");
                    }
                }
            }
        }
    }
}

#[test]
fn every_form_agrees_with_the_cpu() {
    let Some(gpu) = gpu(true) else { return };
    forms_agree::<f32>(&gpu, F32_LIMIT);
    forms_agree::<f64>(&gpu, F64_LIMIT);
}

#[test]
fn lower_rungs_agree_with_the_cpu() {
    let Some(gpu) = gpu(true) else { return };
    let random = &mut Random::new(seed());
    for extents in [[2, 2, 2, 2], [6, 4, 2, 10]] {
        let extents = Extents::new(extents).unwrap();
        let links = random_links(extents, || random.between(-1.0, 1.0));
        let gauge = GaugeField { extents, links: &links, antiperiodic_t: true };
        let reals = extents.volume() * SPINOR_REALS;
        let psi: Vec<f32> = (0..reals).map(|_| random.between(-1.0, 1.0) as f32).collect();
        let expected =
            expected_hop(&CpuDirac::<f32>::new(gauge).unwrap(), Parity::Even, false, &psi);
        // The whole lattice has the other sites, too.
        let even = |field: &[f32]| -> Vec<f32> {
            let sites = extents.sites(Parity::Even);
            sites.flat_map(|site| field[site * SPINOR_REALS..][..SPINOR_REALS].to_vec()).collect()
        };
        for rung in Rung::ALL {
            let fields = Fields::new(&gpu, rung, gauge, &psi).unwrap();
            fields.out.poison().unwrap();
            let lower = LowerRung::new(&gpu, rung, gauge, fields, [32, 1]).unwrap();
            lower.launch().unwrap();
            let mut found = psi.clone();
            let out = lower.out().to_vec().unwrap();
            rung.pick_spinors(extents, Parity::Even, &out, &mut found);
            assert!(distance(&even(&found), &even(&expected)) <= F32_LIMIT, "{rung:?}");
        }
    }
}

#[test]
fn solutions_are_the_same_in_every_run_and_solve_the_system() {
    let Some(gpu) = gpu(true) else { return };
    let random = &mut Random::new(seed());
    for &extents in crate::sized(&LATTICES[..], &LATTICES[..3]) {
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
