//! Verdicts on pairs of runs with the Kessler scheme.

use nwp_mini::backend::Microphysics;
use nwp_mini::physics::kessler::params::KesslerFactors;

use super::verdict::{bad, compare, cpu, passes, storm};

const SCHEME: Microphysics = Microphysics::Kessler;

/// Rounding of another kind in every step does not fail a backend, in either precision.
#[test]
fn other_rounding_passes() {
    let (mut case, start) = storm::<f32>();
    for (steps, dt) in [(1, 60.0), (10, 60.0), (24, 150.0)] {
        let mut other = cpu(&case, &start, SCHEME);
        other.disturb(Some(20_081_114));
        let report = compare(&mut case, &start, SCHEME, (steps, dt), &mut other);
        passes(&report, &format!("{steps} steps of {dt} s"));
    }
    let (mut case, start) = storm::<f64>();
    let mut other = cpu(&case, &start, SCHEME);
    other.disturb(Some(7));
    let report = compare(&mut case, &start, SCHEME, (3, 60.0), &mut other);
    passes(&report, "double precision");
}

/// One per cent too much in any process fails after the first step already. The storm has cloud water that autoconversion
/// does not act on, and so it has four times as much here.
#[test]
fn one_per_cent_of_a_process_fails() {
    let (mut case, mut start) = storm::<f32>();
    start.qc_mut().mapv_inplace(|qc| 4.0 * qc);
    for name in KesslerFactors::<f32>::NAMES {
        let mut other = cpu(&case, &start, SCHEME);
        let scheme = other.kessler_mut().expect("the scheme of the run");
        *scheme.factors.of(name).expect("a process") = 1.01;
        let report = compare(&mut case, &start, SCHEME, (1, 60.0), &mut other);
        println!("{name}: {:?}", bad(&report));
        assert!(!bad(&report).is_empty(), "1 % of {name} is not noticed");
        assert!(!report.suspects.is_empty(), "{name}");
    }
}

/// A backend of WSM5 is none of Kessler, and the other way round.
#[test]
fn another_scheme_fails() {
    let (mut case, start) = storm::<f32>();
    for (scheme, others) in [(SCHEME, Microphysics::default()), (Microphysics::default(), SCHEME)] {
        let mut other = cpu(&case, &start, others);
        let report = compare(&mut case, &start, scheme, (1, 60.0), &mut other);
        assert!(bad(&report).iter().any(|text| text.starts_with("qc")), "{:?}", bad(&report));
    }
}
