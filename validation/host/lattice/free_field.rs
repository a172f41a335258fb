//! Plane waves on a lattice of unit links: eigenvectors that are known in closed form.

use std::f64::consts::TAU;

use nwp_mini::lattice::dirac::hop;
use nwp_mini::lattice::{CpuDirac, SPINOR_REALS};
use nwp_mini_support::random::Random;

use super::{DOUBLE, Gauge, distance};

type Complex = num_complex::Complex64;

/// The gamma matrices of DeGrand and Rossi.
fn gamma(mu: usize, u: [Complex; 4]) -> [Complex; 4] {
    let i = Complex::i();
    let [a, b, c, d] = u;
    match mu {
        0 => [i * d, i * c, -i * b, -i * a],
        1 => [-d, c, b, -a],
        2 => [i * c, -i * d, -i * a, i * b],
        _ => [c, d, a, b],
    }
}

/// `D psi = 2 sum cos(p) psi - 2 i sum sin(p) g psi` for `psi = u exp(i p x)`.
#[test]
fn plane_waves_are_turned_as_the_formula_says() {
    for antiperiodic_t in [false, true] {
        let extents = [4, 6, 2, 8];
        let gauge = Gauge::free(extents, antiperiodic_t);
        let dirac = CpuDirac::<f64>::new(gauge.field()).unwrap();
        let random = &mut Random::new(7);
        for waves in [[0, 0, 0, 0], [1, 2, 1, 3], [3, 5, 0, 7], [2, 3, 1, 4]] {
            let p: [f64; 4] = std::array::from_fn(|mu| {
                let half = if mu == 3 && antiperiodic_t { 0.5 } else { 0.0 };
                TAU * (f64::from(waves[mu]) + half) / extents[mu] as f64
            });
            let mut number = || Complex::new(random.between(-1.0, 1.0), random.between(-1.0, 1.0));
            let u: [[Complex; 4]; 3] = std::array::from_fn(|_| std::array::from_fn(|_| number()));
            let cosines: f64 = p.iter().map(|p| p.cos()).sum();
            let turned = u.map(|u| {
                let mut sum = u.map(|z| 2.0 * cosines * z);
                for (mu, p) in p.iter().enumerate() {
                    for (sum, g) in sum.iter_mut().zip(gamma(mu, u)) {
                        *sum -= 2.0 * Complex::i() * p.sin() * g;
                    }
                }
                sum
            });
            let wave = |u: [[Complex; 4]; 3]| -> Vec<f64> {
                let mut field = Vec::new();
                for site in 0..gauge.extents.volume() {
                    let [nx, ny, nz, _] = extents;
                    let at =
                        [site % nx, site / nx % ny, site / (nx * ny) % nz, site / (nx * ny * nz)];
                    let angle: f64 = p.iter().zip(at).map(|(p, x)| p * x as f64).sum();
                    let phase = Complex::cis(angle);
                    for spin in 0..4 {
                        for of_color in &u {
                            let z = phase * of_color[spin];
                            field.extend([z.re, z.im]);
                        }
                    }
                }
                field
            };
            let found = hop(&dirac, false, &wave(u)).unwrap();
            let expected = wave(turned);
            assert_eq!(found.len() % SPINOR_REALS, 0);
            assert!(distance(&found, &expected) < DOUBLE, "{waves:?} {antiperiodic_t}");
        }
    }
}

#[test]
fn a_constant_is_multiplied_by_eight() {
    let gauge = Gauge::free([2, 4, 4, 6], false);
    let dirac = CpuDirac::<f64>::new(gauge.field()).unwrap();
    let psi: Vec<f64> = (0..gauge.extents.volume() * SPINOR_REALS)
        .map(|n| 1.0 + (n % SPINOR_REALS) as f64)
        .collect();
    let expected: Vec<f64> = psi.iter().map(|x| 8.0 * x).collect();
    assert!(hop(&dirac, false, &psi).unwrap() == expected);
}
