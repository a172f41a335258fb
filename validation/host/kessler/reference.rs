//! Whole calls of the scheme compared with those of WRF.

use std::sync::LazyLock;

use nwp_mini::physics::kessler::params::KesslerFactors;
use nwp_mini::physics::kessler::{Kessler, Vectorised};
use nwp_mini::simd::Instructions;

use super::case::OnCpu;
use super::judge::Reference;

static REFERENCE: LazyLock<Reference> = LazyLock::new(Reference::read);

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
        REFERENCE.judge(&engine).finish();
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
    let mut unnoticed = Vec::new();
    for &name in KesslerFactors::<f32>::NAMES {
        let mut scheme = Kessler::<f32>::default();
        *scheme.factors.of(name).expect("a process") = 1.01;
        let report = REFERENCE.judge(&OnCpu { scheme, instructions: Instructions::best() });
        println!("{name} + 1 %: {} limits exceeded", report.failures.len());
        if report.failures.is_empty() {
            unnoticed.push(name);
        }
    }
    assert!(unnoticed.is_empty(), "a change by 1 % is not noticed in {}", unnoticed.join(", "));
}
