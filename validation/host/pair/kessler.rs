//! Verdicts on pairs of runs with the Kessler scheme.

use nwp_mini::physics::kessler::params::KesslerFactors;
use nwp_mini::physics::kessler::{ABOUT, Kessler};
use nwp_mini::physics::registry;
use nwp_mini::physics::scheme::Scheme as _;

use super::verdict::{bad, compare, cpu, passes, storm};

/// The scheme itself.
fn scheme() -> Kessler<f64> {
    Kessler::default()
}

/// Rounding of another kind in every step does not fail a backend, in either precision.
#[test]
fn other_rounding_passes() {
    let (mut case, start) = storm::<f32>();
    for (steps, dt) in [(1, 60.0), (10, 60.0), (24, 150.0)] {
        let mut other = cpu(&case, &start, &scheme());
        other.disturb(Some(20_081_114));
        let report = compare(&mut case, &start, &scheme(), (steps, dt), &mut other);
        passes(&report, &format!("{steps} steps of {dt} s"));
    }
    let (mut case, start) = storm::<f64>();
    let mut other = cpu(&case, &start, &scheme());
    other.disturb(Some(7));
    let report = compare(&mut case, &start, &scheme(), (3, 60.0), &mut other);
    passes(&report, "double precision");
}

/// One per cent too much in any process fails after the first step already. The storm has cloud water that autoconversion
/// does not act on, and so it has four times as much here.
#[test]
fn one_per_cent_of_a_process_fails() {
    let (mut case, mut start) = storm::<f32>();
    start.named_mut("qc").mapv_inplace(|qc| 4.0 * qc);
    assert_eq!(ABOUT.processes, KesslerFactors::<f32>::NAMES);
    for name in ABOUT.processes {
        let mut perturbed = scheme();
        perturbed.scale(name, 1.01).expect("a process");
        let mut other = cpu(&case, &start, &perturbed);
        let report = compare(&mut case, &start, &scheme(), (1, 60.0), &mut other);
        println!("{name}: {:?}", bad(&report));
        assert!(!bad(&report).is_empty(), "1 % of {name} is not noticed");
        assert!(!report.suspects.is_empty(), "{name}");
    }
}

/// A backend of WSM5 is none of Kessler, and the other way round.
#[test]
fn another_scheme_fails() {
    let (mut case, start) = storm::<f32>();
    let (itself, usual) = (scheme().boxed(), registry::usual());
    for (scheme, others) in [(&itself, &usual), (&usual, &itself)] {
        let mut other = cpu(&case, &start, &**others);
        let report = compare(&mut case, &start, &**scheme, (1, 60.0), &mut other);
        assert!(bad(&report).iter().any(|text| text.starts_with("qc")), "{:?}", bad(&report));
    }
}
