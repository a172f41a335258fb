//! Every function of a formula exists in Rust and in a kernel: both must compute the same.
//!
//! The kernels' functions are compiled as C++ of the host, with the text that NVRTC sees before
//! them, and called with the arguments that their Rust twins are called with: all over their
//! domains, at zeros and thresholds, next to them, and among the denormal numbers.
//!
//! The results must have the same bits (except for the sign of zero). Twins have the same operations in the same order,
//! both compilers round each of them, neither contracts two operations into one, and both call the mathematical
//! functions of the same C library. A difference of results is therefore a difference of the formulas.

mod advection;
mod cells;
mod diagnostics;
mod falls;
mod kessler;
mod mutants;
mod pair;
mod program;
mod rates;
mod thermo;
mod values;
mod wsm6;

use nwp_mini_support::{kernels, random, text};

use std::collections::BTreeSet;

use nwp_mini::gpu::prelude::{Configuration, prelude};
use nwp_mini::physics::wsm5::Sedimentation;
use nwp_mini::physics::wsm5::scheme::Scheme;
use nwp_mini::real;

use pair::Pair;
use program::{Program, headers};
use values::{Draw, Precision, flat};

/// Sets of arguments for each function.
const SETS: usize = 4000;
/// The first of them, which nearly every error shows in.
const FIRST_SETS: usize = 200;

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
        advection::pairs(),
        kessler::pairs(),
        wsm6::slopes(),
        wsm6::collection(),
        wsm6::precipitation(),
        wsm6::rates(),
        wsm6::cells(),
        wsm6::balance(),
        wsm6::reflectivity(),
    ]
    .into_iter()
    .flatten()
    .collect()
}

fn configuration<R: Precision>(fallout: Sedimentation) -> Configuration {
    Configuration {
        precision: R::PRECISION,
        nz: 27,
        variant: fallout as usize,
        constants: Vec::new(),
    }
}

/// The seed of the arguments.
const SEED: u64 = 4000;

/// Sets of arguments for a pair, preceded by the parameters, and the results of the Rust twin.
fn sweep<R: Precision>(pair: &Pair<R>, fallout: Sedimentation, sets: usize) -> Draw<R> {
    let scheme = Scheme::default().with_fallout(fallout);
    let mut draw = Draw::new(SEED);
    draw.give(&scheme.params);
    for _ in 0..sets {
        (pair.call)(&scheme, &mut draw);
    }
    draw
}

/// Distance of two results, in ULP of the larger one; 0 for two zeros and for two NaN.
fn distance<R: Precision>(a: R, b: R) -> f64 {
    if a == b || a.is_nan() && b.is_nan() {
        return 0.0;
    }
    let larger = a.abs().max(b.abs());
    let distance = ((a - b).abs() / (larger - larger.neighbour(false))).f64();
    if distance.is_finite() { distance } else { f64::INFINITY }
}

/// Description of a difference between the results of a kernel's function and its Rust twin.
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

fn twins_agree<R: Precision>(fallout: Sedimentation) {
    let program = Program::compile(&configuration::<R>(fallout), &headers());
    let mut findings = Vec::new();
    for pair in pairs::<R>() {
        let sweep = sweep(&pair, fallout, SETS);
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
    twins_agree::<f32>(Sedimentation::SemiLagrangian);
}

#[test]
fn twins_agree_in_double_precision() {
    twins_agree::<f64>(Sedimentation::SemiLagrangian);
}

#[test]
fn twins_of_the_other_variant_agree() {
    twins_agree::<f32>(Sedimentation::Substepped);
    twins_agree::<f64>(Sedimentation::Substepped);
}

/// Every device function is swept, and nothing else.
#[test]
fn no_device_function_is_left_out() {
    let headers = headers();
    let functions: BTreeSet<String> =
        headers.iter().flat_map(program::Header::functions).map(|f| f.path()).collect();
    let swept: BTreeSet<String> = pairs::<f64>().iter().map(|pair| pair.name.to_owned()).collect();
    let missing: Vec<&String> = functions.difference(&swept).collect();
    assert!(missing.is_empty(), "not swept; give them a line in validation/twins/: {missing:?}");
    let gone: Vec<&String> = swept.difference(&functions).collect();
    assert!(gone.is_empty(), "swept, but in no kernel: {gone:?}");
}

/// Names and values, as text, of the constants of type `real` that precede every kernel.
fn constants(prelude: &str) -> Vec<(String, String)> {
    let declarations = prelude.lines().filter_map(|line| line.strip_prefix("constexpr real "));
    let constant = |rest: &str| {
        let (name, value) = rest.split_once(';')?.0.split_once(" = ")?;
        Some((name.to_owned(), value.trim_end_matches('f').to_owned()))
    };
    declarations.filter_map(constant).collect()
}

/// A C++ compiler reads the same numbers from the prelude as Rust has written.
fn constants_survive<R: Precision + std::str::FromStr>() {
    let known = [
        ("GRAVITY", R::GRAVITY),
        ("L_SLOPE", R::L_SLOPE),
        ("PI", R::PI),
        ("Q_MIN", R::Q_MIN),
        ("SUTHERLAND", R::SUTHERLAND),
        ("ICE_DIAMETER_MIN", R::ICE_DIAMETER_MIN),
        ("INTERFACE_FAR", R::INTERFACE_FAR),
        ("RE_ICE_SHAPE", R::RE_ICE_SHAPE),
        ("MM6_PER_M3", R::MM6_PER_M3),
        ("ICE_DIELECTRIC", R::ICE_DIELECTRIC),
    ];
    let configuration = configuration::<R>(Sedimentation::SemiLagrangian);
    let constants = constants(&prelude(&configuration));
    assert!(constants.len() > 80, "{} constants", constants.len());
    let functions: Vec<String> = constants
        .iter()
        .map(|(name, _)| {
            format!("__device__ inline real times_{name}(real x) {{ return x * {name}; }}\n")
        })
        .collect();
    let header = program::Header { path: "constants.cuh".to_owned(), text: functions.concat() };
    let program = Program::compile(&configuration, &[header]);
    let inputs = [flat(&Scheme::<R>::default().params), vec![R::ONE]].concat();
    for (name, text) in &constants {
        let found = program.call(&[format!("times_{name}")], &inputs)[0][0];
        let Ok(expected) = text.parse::<R>() else { panic!("{name} = {text}") };
        assert!(found == expected, "{name}: {text} became {found:e}");
    }
    for (name, value) in known {
        let (_, text) = constants.iter().find(|(constant, _)| constant == name).expect(name);
        assert!(text.parse().ok() == Some(value), "{name}: {value:e} became {text}");
    }
}

#[test]
fn constants_are_the_same_in_kernels() {
    constants_survive::<f32>();
    constants_survive::<f64>();
}

/// The text before a kernel is complete and in order.
#[test]
fn the_prelude_has_its_parts() {
    let configuration = Configuration {
        precision: real::Precision::F64,
        nz: 40,
        variant: Sedimentation::Substepped as usize,
        constants: vec![("TILE".to_owned(), 8)],
    };
    let text = prelude(&configuration);
    let mut rest = &text[..];
    for part in [
        "typedef double real;\n",
        "constexpr int WARP = 32;\n",
        "constexpr int NZ = 40;\n",
        "struct LayeredPointers {\n",
        "constexpr real GRAVITY = 9.81; // [m s⁻²] Acceleration due to gravity (WRF `g`).\n",
        "constexpr int BINS = 50;\n",
        "enum class Sedimentation { SemiLagrangian, Substepped };\n",
        "constexpr Sedimentation FALLOUT = Sedimentation::Substepped;\n",
        "struct Wsm5Params {\n",
        "    real n0r; // [m⁻⁴] Intercept of the rain size distribution (WRF `n0r`).\n",
        "static_assert(sizeof(Wsm5Params) == 256, \"the layout of Wsm5Params differs from Rust's\");\n",
        "struct Slope {\n",
        "    Slope rain; // [m, mᵇ] Slope of the rain size distribution.\n",
        "    real diameter[50]; // [m] Diameter.\n",
        "\n// Settings\n",
        "constexpr int TILE = 8;\n",
    ] {
        let at = rest.find(part).unwrap_or_else(|| panic!("{part:?} is not where it belongs"));
        rest = &rest[at + part.len()..];
    }
    assert!(rest.is_empty(), "there is more: {rest:?}");
}

/// A wrong operator, function, constant or parameter in a device function does not go unnoticed.
#[test]
fn errors_in_device_functions_are_noticed() {
    let fallout = Sedimentation::SemiLagrangian;
    let configuration = configuration::<f64>(fallout);
    let names: Vec<String> =
        constants(&prelude(&configuration)).into_iter().map(|(name, _)| name).collect();
    let originals = headers();
    let (headers, mutants) = mutants::mutate(&originals, &names);
    let functions: usize = originals.iter().map(|header| header.functions().len()).sum();
    assert!(mutants.len() > 5 * functions, "{} errors in {functions} functions", mutants.len());
    let program = Program::compile_silently(&configuration, &headers);
    let mut unnoticed = Vec::new();
    for pair in pairs::<f64>() {
        let mut wrong: Vec<_> = mutants.iter().filter(|m| m.original == pair.name).collect();
        for sets in [FIRST_SETS, SETS] {
            let paths: Vec<String> = wrong.iter().map(|m| m.path.clone()).collect();
            if paths.is_empty() {
                break;
            }
            let sweep = sweep(&pair, fallout, sets);
            let results = program.call(&paths, &sweep.inputs);
            let mut results = results.iter();
            let mut is_right =
                || results.next().is_none_or(|r| difference(&pair, r, &sweep.outputs).is_none());
            wrong.retain(|_| is_right());
        }
        unnoticed.extend(wrong.iter().map(|mutant| mutant.error.clone()));
    }
    for (error, reason) in mutants::HARMLESS {
        let before = unnoticed.len();
        unnoticed.retain(|unnoticed| !unnoticed.contains(error));
        assert_ne!(before, unnoticed.len(), "{error}: was thought harmless, as {reason}");
    }
    assert!(unnoticed.is_empty(), "{} unnoticed:\n{}", unnoticed.len(), unnoticed.join("\n"));
}
