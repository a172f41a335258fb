//! Whole calls of the scheme compared with those of WRF.

use std::sync::LazyLock;

use nwp_mini::physics::kessler::params::KesslerFactors;
use nwp_mini::physics::kessler::{Kessler, Vectorised};
use nwp_mini::simd::Instructions;

use super::case::{OnCpu, Reference};
use super::judge::{KesslerLimits, reference};

static REFERENCE: LazyLock<Reference> = LazyLock::new(reference);

/// With every set of vector instructions of this machine, and column by column.
fn check<R: Vectorised>() {
    let sets = Instructions::available().iter().copied().map(Some);
    for instructions in sets.chain([None]) {
        println!(
            "{}: {}",
            R::NAME,
            instructions.map_or("one column at a time", Instructions::name)
        );
        let engine = OnCpu::<R> { scheme: Kessler::default(), instructions };
        REFERENCE.judge(&engine, &KesslerLimits).finish();
    }
}

#[test]
fn single_precision() {
    check::<f32>();
}

#[test]
fn double_precision() {
    check::<f64>();
}

/// The limits are narrow enough: with any process off by one per cent, they are exceeded.
#[test]
fn one_per_cent_of_a_process_shows() {
    let wrong = KesslerFactors::<f32>::NAMES.iter().map(|&name| {
        let mut engine = OnCpu::<f32>::best();
        *engine.scheme.factors.of(name).expect("a process") = 1.01;
        (name, engine)
    });
    REFERENCE.expect_noticed(wrong, &KesslerLimits);
}
