//! Every function of a formula stands in Rust and in a kernel: both must compute the same.
//!
//! The kernels' functions are compiled as C++ of the host, with the text that NVRTC sees before
//! them, and called with the arguments that their Rust twins are called with: all over their
//! domains, at zeros and thresholds, next to them, and among the denormal numbers.
//!
//! The results must be the same bit by bit (but for the sign of zero). Twins hold the same
//! operations in the same order, both compilers round each of them, neither contracts two into one,
//! and both call the mathematical functions of the same C library: so every difference is one of
//! the text.

#[path = "twins/cells.rs"]
mod cells;
#[path = "twins/diagnostics.rs"]
mod diagnostics;
#[path = "twins/falls.rs"]
mod falls;
#[path = "support/kernels.rs"]
mod kernels;
#[path = "twins/pair.rs"]
mod pair;
#[path = "twins/program.rs"]
mod program;
#[path = "support/random.rs"]
mod random;
#[path = "twins/rates.rs"]
mod rates;
#[path = "tidy/text.rs"]
mod text;
#[path = "twins/thermo.rs"]
mod thermo;
#[path = "twins/values.rs"]
mod values;

use nwp_mini::gpu::prelude::Configuration;
use nwp_mini::wsm5::Fallout;
use nwp_mini::wsm5::scheme::Scheme;

use pair::Pair;
use program::{Program, headers};
use values::{Draw, Precision};

/// Sets of arguments for each function.
const SETS: u64 = 4000;

/// All pairs, by topic.
fn pairs<R: Precision>() -> Vec<Pair<R>> {
    [
        thermo::pairs(),
        rates::slopes(),
        rates::warm(),
        rates::ice(),
        cells::cells(),
        cells::melt(),
        cells::balance(),
        cells::step(),
        falls::fall(),
        falls::substep(),
        diagnostics::radii(),
        diagnostics::reflectivity(),
        diagnostics::complex_numbers(),
    ]
    .into_iter()
    .flatten()
    .collect()
}

fn configuration<R: Precision>(fallout: Fallout) -> Configuration {
    Configuration { precision: R::PRECISION, nz: 27, fallout, constants: Vec::new() }
}

/// Arguments for a pair, preceded by the parameters, and what the Rust twin makes of them.
fn sweep<R: Precision>(pair: &Pair<R>, fallout: Fallout) -> Draw<R> {
    let scheme = Scheme::default().with_fallout(fallout);
    let mut draw = Draw::new(SETS);
    draw.give(&scheme.params);
    for _ in 0..SETS {
        (pair.call)(&scheme, &mut draw);
    }
    draw
}

/// How far two results are apart, in units in the last place of the larger one; 0 for two zeros and
/// for two that are no numbers.
fn distance<R: Precision>(a: R, b: R) -> f64 {
    if a == b || a.is_nan() && b.is_nan() {
        return 0.0;
    }
    let larger = a.abs().max(b.abs());
    let distance = ((a - b).abs() / (larger - larger.neighbour(false))).f64();
    if distance.is_finite() { distance } else { f64::INFINITY }
}

/// What is wrong with the results of a kernel's function.
fn difference<R: Precision>(pair: &Pair<R>, kernel: &[R], rust: &[R]) -> Option<String> {
    let worst = kernel
        .iter()
        .zip(rust)
        .map(|(&a, &b)| (distance(a, b), a, b))
        .max_by(|a, b| a.0.total_cmp(&b.0))?;
    let (ulps, kernel, rust) = worst;
    (ulps > pair.ulps).then(|| {
        format!(
            "{}: {kernel:e} in the kernel is {rust:e} in Rust, {ulps} units in the last place apart, \
             not {} at most",
            pair.name, pair.ulps
        )
    })
}

fn twins_agree<R: Precision>(fallout: Fallout) {
    let program = Program::compile(&configuration::<R>(fallout), &headers());
    let mut findings = Vec::new();
    for pair in pairs::<R>() {
        let sweep = sweep(&pair, fallout);
        let results = &program.call(&[pair.name.to_owned()], &sweep.inputs)[0];
        assert_eq!(results.len(), sweep.outputs.len(), "{}: results", pair.name);
        let numbers = results.iter().filter(|x| !x.is_nan()).count();
        assert!(numbers * 10 > results.len() * 9, "{}: {numbers} numbers", pair.name);
        findings.extend(difference(&pair, results, &sweep.outputs));
    }
    assert!(findings.is_empty(), "{}", findings.join("\n"));
}

#[test]
fn twins_agree_in_single_precision() {
    twins_agree::<f32>(Fallout::SemiLagrangian);
}

#[test]
fn twins_agree_in_double_precision() {
    twins_agree::<f64>(Fallout::SemiLagrangian);
}

#[test]
fn twins_of_the_other_variant_agree() {
    twins_agree::<f32>(Fallout::Substepped);
    twins_agree::<f64>(Fallout::Substepped);
}
