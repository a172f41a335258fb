//! Properties of the hopping term on any links.

use nwp_mini::lattice::dirac::{hop, preconditioned_even, wilson};
use nwp_mini::lattice::gauge::{distance_from_su3, link_of, random_link};
use nwp_mini::lattice::link::Link;
use nwp_mini::lattice::number::Complex;
use nwp_mini::lattice::{CpuDirac, Dirac, Extents, LINK_REALS, Parity, SPINOR_REALS};
use nwp_mini_support::random::Random;

use super::{DOUBLE, Gauge, LATTICES, distance, gamma_5, norm, product};

fn each(mut check: impl FnMut(&Gauge, &CpuDirac<f64>, &mut Random)) {
    for (seed, extents) in (1..).zip(LATTICES) {
        for antiperiodic_t in [false, true] {
            let random = &mut Random::new(seed);
            let gauge = Gauge::random(extents, antiperiodic_t, random);
            let dirac = CpuDirac::new(gauge.field()).unwrap();
            check(&gauge, &dirac, random);
        }
    }
}

/// An independent form of `D psi`: gamma matrices as tables, four spin components multiplied.
fn by_matrices(gauge: &Gauge, psi: &[f64]) -> Vec<f64> {
    // Of g_mu psi, component by component: which component, times which power of i.
    const GAMMA: [[(usize, u32); 4]; 4] = [
        [(3, 1), (2, 1), (1, 3), (0, 3)],
        [(3, 2), (2, 0), (1, 0), (0, 2)],
        [(2, 1), (3, 3), (0, 3), (1, 1)],
        [(2, 0), (3, 0), (0, 0), (1, 0)],
    ];
    let Gauge { extents, links, antiperiodic_t } = gauge;
    let [nx, ny, nz, nt] = extents.along();
    let mut result = vec![0.0; psi.len()];
    for site in 0..extents.volume() {
        let at = [site % nx, site / nx % ny, site / (nx * ny) % nz, site / (nx * ny * nz)];
        for (mu, gamma) in GAMMA.iter().enumerate() {
            for is_ahead in [true, false] {
                let there = extents.lexicographic(extents.neighbour(at, mu, is_ahead));
                let from = if is_ahead { site } else { there };
                let u =
                    link_of(&links[(mu * extents.volume() + from) * LINK_REALS..][..LINK_REALS]);
                let is_end = mu == 3 && at[3] == if is_ahead { nt - 1 } else { 0 };
                let sign = if is_end && *antiperiodic_t { -1.0 } else { 1.0 };
                let mut v = [[[0.0; 2]; 3]; 4];
                for (s, v) in v.iter_mut().enumerate() {
                    for (a, v) in v.iter_mut().enumerate() {
                        for (b, u_ab) in u[a].iter().enumerate() {
                            let z = if is_ahead { *u_ab } else { u[b][a] };
                            let im = if is_ahead { z.im } else { -z.im };
                            let p = there * SPINOR_REALS + 2 * (3 * s + b);
                            v[0] += sign * (z.re * psi[p] - im * psi[p + 1]);
                            v[1] += sign * (z.re * psi[p + 1] + im * psi[p]);
                        }
                    }
                }
                for (s, &(other, power)) in gamma.iter().enumerate() {
                    for (c, own) in v[s].iter().enumerate() {
                        let [mut re, mut im] = v[other][c];
                        for _ in 0..power {
                            (re, im) = (-im, re);
                        }
                        let g = if is_ahead { -1.0 } else { 1.0 };
                        let p = site * SPINOR_REALS + 2 * (3 * s + c);
                        result[p] += own[0] + g * re;
                        result[p + 1] += own[1] + g * im;
                    }
                }
            }
        }
    }
    result
}

#[test]
fn half_spinors_give_what_gamma_matrices_give() {
    each(|gauge, dirac, random| {
        let psi = gauge.spinors(random);
        let found = hop(dirac, false, &psi).unwrap();
        assert!(distance(&found, &by_matrices(gauge, &psi)) < DOUBLE, "{}", gauge.extents);
    });
}

#[test]
fn single_precision_is_near_double() {
    each(|gauge, dirac, random| {
        let psi = gauge.spinors(random);
        let single = CpuDirac::<f32>::new(gauge.field()).unwrap();
        let narrow: Vec<f32> = psi.iter().map(|&x| x as f32).collect();
        let found: Vec<f64> =
            hop(&single, false, &narrow).unwrap().iter().map(|&x| x.into()).collect();
        // Four times the largest error of 28 orders of summation.
        assert!(distance(&found, &hop(dirac, false, &psi).unwrap()) < 4e-7, "{}", gauge.extents);
    });
}

#[test]
fn gamma_5_turns_the_operator_into_its_adjoint() {
    each(|gauge, dirac, random| {
        let psi = gauge.spinors(random);
        let turned = gamma_5(&hop(dirac, false, &gamma_5(&psi)).unwrap());
        assert!(turned == hop(dirac, true, &psi).unwrap(), "{}: other bits", gauge.extents);
    });
}

#[test]
fn the_adjoint_is_one() {
    each(|gauge, dirac, random| {
        let [a, b] = [gauge.spinors(random), gauge.spinors(random)];
        let left = product(&a, &hop(dirac, false, &b).unwrap());
        let right = product(&hop(dirac, true, &a).unwrap(), &b);
        let scale = norm(&a) * norm(&b);
        for (left, right) in left.iter().zip(right) {
            assert!((left - right).abs() < DOUBLE * scale, "{left} {right}");
        }
    });
}

#[test]
fn the_even_part_is_the_adjoint_of_the_odd_one() {
    each(|gauge, dirac, random| {
        let zeroed = |mut field: Vec<f64>, parity: Parity| {
            for site in gauge.extents.sites(parity) {
                field[site * SPINOR_REALS..][..SPINOR_REALS].fill(0.0);
            }
            field
        };
        let a = zeroed(gauge.spinors(random), Parity::Odd);
        let b = zeroed(gauge.spinors(random), Parity::Even);
        let left = product(&a, &hop(dirac, false, &b).unwrap());
        let right = product(&gamma_5(&hop(dirac, false, &gamma_5(&a)).unwrap()), &b);
        let scale = norm(&a) * norm(&b);
        for (left, right) in left.iter().zip(right) {
            assert!((left - right).abs() < DOUBLE * scale, "{left} {right}");
        }
        // D couples opposite parities only.
        let odd = hop(dirac, false, &a).unwrap();
        assert!(zeroed(odd, Parity::Odd).iter().all(|x| *x == 0.0));
    });
}

#[test]
fn the_operator_commutes_with_a_change_of_gauge() {
    each(|gauge, dirac, random| {
        let extents = gauge.extents;
        let turns: Vec<Link<f64>> =
            (0..extents.volume()).map(|_| random_link(&mut || random.between(-1.0, 1.0))).collect();
        let turned = |field: &[f64]| -> Vec<f64> {
            let spinors = field.chunks_exact(SPINOR_REALS).zip(&turns);
            spinors
                .flat_map(|(spinor, g)| {
                    spinor.chunks_exact(6).flat_map(|v| times(g, v)).collect::<Vec<_>>()
                })
                .collect()
        };
        let mut links = gauge.links.clone();
        let [nx, ny, nz, _] = extents.along();
        for (n, link) in links.chunks_exact_mut(LINK_REALS).enumerate() {
            let (mu, site) = (n / extents.volume(), n % extents.volume());
            let at = [site % nx, site / nx % ny, site / (nx * ny) % nz, site / (nx * ny * nz)];
            let there = extents.lexicographic(extents.neighbour(at, mu, true));
            // G U G'† = (G' (G U)†)†
            let gu = product_of(&turns[site], &link_of(link));
            let new = adjoint(&product_of(&turns[there], &adjoint(&gu)));
            for (value, z) in link.chunks_exact_mut(2).zip(new.iter().flatten()) {
                [value[0], value[1]] = [z.re, z.im];
            }
        }
        let other = Gauge { extents, links, antiperiodic_t: gauge.antiperiodic_t };
        let psi = gauge.spinors(random);
        let there = CpuDirac::<f64>::new(other.field()).unwrap();
        let found = hop(&there, false, &turned(&psi)).unwrap();
        let expected = turned(&hop(dirac, false, &psi).unwrap());
        assert!(distance(&found, &expected) < DOUBLE, "{extents}");
    });
}

fn product_of(a: &Link<f64>, b: &Link<f64>) -> Link<f64> {
    std::array::from_fn(|row| {
        std::array::from_fn(|column| {
            (0..3).fold(Complex { re: 0.0, im: 0.0 }, |sum, k| {
                let (a, b) = (a[row][k], b[k][column]);
                Complex {
                    re: sum.re + a.re * b.re - a.im * b.im,
                    im: sum.im + a.re * b.im + a.im * b.re,
                }
            })
        })
    })
}

fn adjoint(a: &Link<f64>) -> Link<f64> {
    std::array::from_fn(|row| {
        std::array::from_fn(|column| Complex { re: a[column][row].re, im: -a[column][row].im })
    })
}

fn times(g: &Link<f64>, v: &[f64]) -> [f64; 6] {
    let mut result = [0.0; 6];
    for (row, result) in result.chunks_exact_mut(2).enumerate() {
        for column in 0..3 {
            let (z, re, im) = (g[row][column], v[2 * column], v[2 * column + 1]);
            result[0] += z.re * re - z.im * im;
            result[1] += z.re * im + z.im * re;
        }
    }
    result
}

#[test]
fn the_operator_commutes_with_translations() {
    for step in [[1, 0, 0, 0], [0, 1, 0, 1], [1, 1, 1, 0], [2, 0, 1, 3]] {
        let random = &mut Random::new(9);
        let gauge = Gauge::random([4, 6, 2, 8], false, random);
        let extents = gauge.extents;
        let [nx, ny, nz, _] = extents.along();
        let moved = |site: usize| {
            let at = [site % nx, site / nx % ny, site / (nx * ny) % nz, site / (nx * ny * nz)];
            let along = extents.along();
            extents.lexicographic(std::array::from_fn(|mu| (at[mu] + step[mu]) % along[mu]))
        };
        let shifted = |field: &[f64], reals: usize| {
            let mut result = field.to_vec();
            for n in 0..field.len() / reals {
                let (block, site) = (n / extents.volume(), n % extents.volume());
                let to = block * extents.volume() + moved(site);
                result[to * reals..][..reals].copy_from_slice(&field[n * reals..][..reals]);
            }
            result
        };
        let psi = gauge.spinors(random);
        let links = shifted(&gauge.links, LINK_REALS);
        let other = Gauge { extents, links, antiperiodic_t: false };
        let [here, there] = [&gauge, &other].map(|g| CpuDirac::<f64>::new(g.field()).unwrap());
        let found = hop(&there, false, &shifted(&psi, SPINOR_REALS)).unwrap();
        let expected = shifted(&hop(&here, false, &psi).unwrap(), SPINOR_REALS);
        assert!(found == expected, "{step:?}: other bits");
    }
}

#[test]
fn the_operator_has_a_norm_of_eight_at_most() {
    each(|gauge, dirac, random| {
        let mut psi = gauge.spinors(random);
        // Repeated, it turns to the vector that grows most.
        for _ in 0..20 {
            let next = hop(dirac, true, &hop(dirac, false, &psi).unwrap()).unwrap();
            let length = norm(&next);
            let growth = length / norm(&psi);
            assert!(growth <= 64.0 * (1.0 + DOUBLE), "{growth}");
            psi = next.iter().map(|x| x / length).collect();
        }
    });
}

#[test]
fn whole_and_preconditioned_operators_are_made_of_the_hopping_term() {
    each(|gauge, dirac, random| {
        let (psi, kappa) = (gauge.spinors(random), 0.15);
        let d_psi = hop(dirac, false, &psi).unwrap();
        let expected: Vec<f64> = psi.iter().zip(&d_psi).map(|(p, d)| p - kappa * d).collect();
        assert!(distance(&wilson(dirac, kappa, &psi).unwrap(), &expected) < DOUBLE);
        for is_dagger in [false, true] {
            let mut even = psi.clone();
            for site in gauge.extents.sites(Parity::Odd) {
                even[site * SPINOR_REALS..][..SPINOR_REALS].fill(0.0);
            }
            let twice = hop(dirac, is_dagger, &hop(dirac, is_dagger, &even).unwrap()).unwrap();
            let expected: Vec<f64> = gauge
                .extents
                .sites(Parity::Even)
                .flat_map(|site| site * SPINOR_REALS..(site + 1) * SPINOR_REALS)
                .map(|n| even[n] - kappa * kappa * twice[n])
                .collect();
            let found = preconditioned_even(dirac, kappa, is_dagger, &psi).unwrap();
            assert!(distance(&found, &expected) < DOUBLE, "{is_dagger}");
        }
    });
}

#[test]
fn links_that_are_drawn_are_of_su3_and_others_are_not() {
    let random = &mut Random::new(3);
    for _ in 0..100 {
        let mut u = random_link(&mut || random.between(-1.0, 1.0));
        assert!(distance_from_su3(&u) < 1e-14);
        let sound = u;
        u[1][2].im += 1e-3;
        assert!(distance_from_su3(&u) > 1e-4);
        // Of determinant -1, as links with the sign of the boundary are.
        let negative = sound.map(|row| row.map(|z| Complex { re: -z.re, im: -z.im }));
        assert!((distance_from_su3(&negative) - 2.0).abs() < 1e-12);
    }
}

#[test]
fn odd_extents_are_refused() {
    for extents in [[3, 4, 4, 4], [4, 4, 4, 0], [4, 1, 4, 4], [1 << 20, 1 << 20, 2, 2]] {
        let error = Extents::new(extents).unwrap_err().to_string();
        assert!(error.contains("even number of sites") || error.contains("32-bit"), "{error}");
    }
}

#[test]
fn the_bits_do_not_depend_on_the_number_of_threads() {
    let random = &mut Random::new(4);
    let gauge = Gauge::random([4, 4, 4, 8], true, random);
    let psi: Vec<f32> = gauge.spinors(random).iter().map(|&x| x as f32).collect();
    let dirac = CpuDirac::<f32>::new(gauge.field()).unwrap();
    let b = dirac.load(Parity::Even, &psi).unwrap();
    let stop = nwp_mini::lattice::Stop { tolerance: 1e-5, most: 100 };
    let solved = |threads: usize| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        pool.install(|| dirac.conjugate_gradient(0.12, &b, stop).unwrap())
    };
    assert!(solved(1) == solved(3), "other bits");
}
