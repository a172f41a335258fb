//! Sums in fixed point: correctly rounded, of any order, and never wrong in silence.

use nwp_mini::primitives::sums::{AT_ONCE, BOUND, Sums};

use super::random::Random;

/// Terms of nine decades and both signs, multiples of the last bit of the sums.
fn terms(random: &mut Random, n: usize) -> Vec<f64> {
    let decades = [1.0, 1e-3, 1e-6, 1e3];
    (0..n)
        .map(|at| {
            let term: f64 = random.between(-3e3, 3e3) * decades[at % decades.len()];
            (term * LAST).round() / LAST
        })
        .collect()
}

/// Reciprocal of the last bit of the sums, 2⁶⁰, and of terms of up to 10⁶ in double precision.
const LAST: f64 = (1_u64 << 32) as f64;

fn of_groups(terms: &[f64], size: usize) -> Sums {
    terms.chunks(size).fold(Sums::default(), |mut sum, group| {
        sum += Sums::of(group.iter().copied());
        sum
    })
}

#[test]
fn sums_are_exact_and_do_not_depend_on_the_order() {
    let random = &mut Random::new(41);
    let mut terms = terms(random, 200_000);
    // In units of the last bit the terms are integers.
    let exact: i128 = terms.iter().map(|term| (term * LAST) as i128).sum();
    let expected = exact as f64 / LAST;
    let mut first = None;
    for size in [1, 7, 256, AT_ONCE] {
        let found = of_groups(&terms, size).value();
        assert!(
            (found - expected).abs() <= 2.0 * f64::EPSILON * expected.abs(),
            "{found} {expected}"
        );
        assert_eq!(found.to_bits(), first.get_or_insert(found).to_bits(), "groups of {size}");
        for at in (1..terms.len()).rev() {
            terms.swap(at, random.between(0.0, at as f64) as usize);
        }
    }
}

#[test]
fn small_sums_of_large_terms_keep_their_digits() {
    for (terms, expected) in [
        (vec![1e9, 1e-9, -1e9], 1e-9),
        (vec![-1e9, -1e-9, 1e9], -1e-9),
        (vec![3.0, -3.0], 0.0),
        (vec![-1.0 / 1_048_576.0], -1.0 / 1_048_576.0),
    ] {
        let found = Sums::of(terms.iter().copied()).value();
        // The last bit is 2⁻⁶⁰.
        assert!((found - expected).abs() < 1e-17, "{terms:?}: {found:e}");
    }
}

#[test]
fn terms_beyond_the_range_are_not_lost_in_silence() {
    for term in [BOUND, -BOUND, f64::INFINITY, f64::NEG_INFINITY, f64::NAN] {
        let mut sum = Sums::of([1.0, term, -term].into_iter());
        sum += Sums::of([1.0].into_iter());
        assert!(sum.value().is_nan(), "{term}");
    }
    let most = BOUND * (1.0 - f64::EPSILON);
    let mut sum = Sums::default();
    for _ in 0..1000 {
        sum += Sums::of([most; 1000].into_iter());
    }
    assert!((sum.value() / (1e6 * most) - 1.0).abs() < 1e-15);
}
