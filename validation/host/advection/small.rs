//! Small and odd sizes with every kind of side, against the scheme in WRF's form.

use nwp_mini::grid::{Shape, Side};

use super::case::{Prepared, SCHEMES, difference};
use super::random_cases::{KINDS, random_case, sides};
use super::wrf_form;

/// Both are double precision and differ in the order of the operations only; the limiters'
/// quotients of small differences lose a few digits.
const LIMIT: f64 = 1.0e-11;

fn check(shape: Shape, kind: [Side; 4], seed: u64) -> f64 {
    let case = random_case(shape, sides(kind), seed);
    let mut worst = 0.0_f64;
    for (limiter, name) in SCHEMES {
        let mut expected = case.q.clone();
        for _ in 0..case.steps {
            expected = wrf_form::step(&case, limiter, &expected);
        }
        let found = Prepared::<f64>::new(&case).steps(limiter, &case.q, case.steps);
        let error = difference(&found, &expected);
        assert!(error <= LIMIT, "{shape} {kind:?} {name}: {error:e} above {LIMIT:e}");
        worst = worst.max(error);
    }
    worst
}

#[test]
fn every_small_size() {
    let mut worst = 0.0_f64;
    for kind in KINDS {
        for (nx, ny) in (4..=9).flat_map(|nx| (4..=9).map(move |ny| (nx, ny))) {
            for nz in 2..=5 {
                let seed = (nx * 100 + ny * 10 + nz) as u64;
                worst = worst.max(check(Shape { nx, ny, nz }, kind, seed));
            }
        }
    }
    println!("worst difference {worst:.1e}");
}

/// Periodic axes shorter than the stencil wrap around more than once.
#[test]
fn tiny_periodic_sizes() {
    for (nx, ny) in (1..=4).flat_map(|nx| (1..=4).map(move |ny| (nx, ny))) {
        check(Shape { nx, ny, nz: 3 }, [Side::Periodic; 4], (nx * 10 + ny) as u64);
    }
    check(
        Shape { nx: 2, ny: 6, nz: 4 },
        [Side::Periodic, Side::Periodic, Side::Specified, Side::Specified],
        1,
    );
    check(
        Shape { nx: 6, ny: 1, nz: 4 },
        [Side::Open, Side::Open, Side::Periodic, Side::Periodic],
        2,
    );
}

/// Blocks as one thread and as many have them, rows as wide as a vector and a bit; for eight threads 57
/// rows make seven blocks and a last one of a single row.
#[test]
fn seams_between_blocks() {
    for threads in [1, 8] {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        pool.install(|| {
            for kind in KINDS {
                for ny in [8, 15, 17, 25, 57] {
                    check(Shape { nx: 19, ny, nz: 6 }, kind, ny as u64);
                }
            }
        });
    }
}
