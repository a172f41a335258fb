//! Whole calls of the scheme compared with those of WRF.

use nwp_mini::physics::wsm6::Vectorised;
use nwp_mini::physics::wsm6::factors::Wsm6Factors;
use nwp_mini::physics::wsm6::params::RimedIce;
use nwp_mini::physics::wsm6::scheme::Scheme;
use nwp_mini::simd::Instructions;

use super::case::{CASES, HAIL_CASES, OnCpu};
use super::judge::{Wsm6Limits, reference, smooth};

/// The cases of each kind of rimed ice.
const KINDS: [(RimedIce, &[&str]); 2] =
    [(RimedIce::Graupel, &CASES), (RimedIce::Hail, &HAIL_CASES)];

/// With every set of vector instructions of this machine, and column by column.
fn check<R: Vectorised>() {
    for (kind, cases) in KINDS {
        let reference = reference(cases);
        let sets = Instructions::available().iter().copied().map(Some);
        for instructions in sets.chain([None]) {
            let name = instructions.map_or("one column at a time", Instructions::name);
            println!("{kind:?}, {}: {name}", R::NAME);
            let engine = OnCpu::<R> { scheme: Scheme::from(kind), instructions };
            reference.judge(&engine, &Wsm6Limits).finish();
        }
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
    let wrong = Wsm6Factors::<f32>::NAMES.iter().map(|&name| {
        let mut engine = OnCpu::<f32>::best(RimedIce::Graupel);
        *engine.scheme.factors.of(name).expect("a process") = 1.01;
        (name, engine)
    });
    smooth(&CASES).expect_noticed(wrong, &Wsm6Limits);
}

/// Hail is another scheme than graupel.
#[test]
fn the_kind_of_rimed_ice_shows() {
    let graupel = OnCpu::<f32>::best(RimedIce::Graupel);
    let report = smooth(&HAIL_CASES).judge(&graupel, &Wsm6Limits);
    assert!(!report.failures.is_empty());
}
