//! `nwp-mini wilson`: its results on reference data, and its messages for invalid input.
#![allow(clippy::float_cmp, reason = "sums of eight equal numbers are exact")]

use std::path::Path;
use std::process::Output;

use nwp_mini_support::{program, reference_path};

/// Relative L2 error, and largest error relative to the root mean square: four times the largest of 28 orders of
/// summation in single precision, and the values scaled to double precision.
const LIMITS: [(&str, [f64; 2]); 2] = [("f32", [4e-7, 3e-6]), ("f64", [1e-15, 1e-14])];
/// Iterations by which the order of summation may differ; none did in the orders tried.
const ITERATIONS: f64 = 2.0;

fn wilson(input: &Path, output: &Path, options: &[&str]) -> Output {
    std::process::Command::new(program())
        .args(["-q", "wilson", "--backend", "cpu", "--input"])
        .arg(input)
        .arg("--output")
        .arg(output)
        .args(options)
        .output()
        .expect("the program starts")
}

fn values(file: &netcdf::File, name: &str) -> Vec<f64> {
    let variable = file.variable(name).unwrap_or_else(|| panic!("no {name}"));
    variable.get_values(..).unwrap()
}

fn text(file: &netcdf::File, name: &str) -> String {
    file.attribute(name).unwrap().value().unwrap().try_into().unwrap()
}

fn norm(values: &[f64]) -> f64 {
    values.iter().map(|x| x * x).sum::<f64>().sqrt()
}

#[test]
fn operators_and_solution_agree_with_the_reference() {
    let path = reference_path("wilson");
    let reference = netcdf::open(&path).unwrap();
    for (precision, [of_norm, of_rms]) in LIMITS {
        let folder = tempfile::tempdir().unwrap();
        let output = folder.path().join("out.nc");
        let run = wilson(&path, &output, &["--precision", precision]);
        assert!(run.status.success(), "{}", String::from_utf8_lossy(&run.stderr));
        let found = netcdf::open(&output).unwrap();
        assert_eq!(text(&found, "precision"), precision);
        assert_eq!(text(&found, "backend"), "cpu");
        for case in text(&reference, "cases").split_whitespace() {
            for what in ["hop", "hop_dagger", "m", "mpc", "mpc_dagger"] {
                let expected = values(&reference, &format!("{case}_ref_{what}"));
                let found = values(&found, &format!("{case}_{what}"));
                let differences: Vec<f64> =
                    found.iter().zip(&expected).map(|(a, b)| a - b).collect();
                let rms = norm(&expected) / (expected.len() as f64).sqrt();
                let largest = differences.iter().fold(0.0_f64, |most, d| most.max(d.abs()));
                let error = norm(&differences) / norm(&expected);
                assert!(error <= of_norm, "{case} {what} {precision}: {error:e}");
                assert!(largest <= of_rms * rms, "{case} {what} {precision}: {:e}", largest / rms);
            }
            let of = |file, name: &str| values(file, &format!("{case}_{name}"))[0];
            let (tolerance, iterations) = match precision {
                "f64" => ("tolerance", "ref_iterations"),
                _ => ("tolerance_f32", "ref_iterations_f32"),
            };
            let difference = of(&found, "iterations") - of(&reference, iterations);
            assert!(
                difference.abs() <= ITERATIONS,
                "{case} {precision}: {difference} iterations more"
            );
            let limit = of(&reference, tolerance);
            assert!(of(&found, "residual") <= limit, "{case}: {}", of(&found, "residual"));
            let expected = values(&reference, &format!("{case}_ref_solution"));
            let solution = values(&found, &format!("{case}_solution"));
            let differences: Vec<f64> =
                solution.iter().zip(&expected).map(|(a, b)| a - b).collect();
            // |x - x_exact| <= |r| / sigma_min on even sites; |D| <= 8 carries it to odd ones.
            let even = limit * of(&reference, "ref_source_norm") / of(&reference, "ref_sigma_min");
            let rounding = 4e-7 * norm(&expected);
            let bound = even * (1.0 + 8.0 * of(&reference, "kappa")) + rounding;
            assert!(norm(&differences) <= bound, "{case}: {:e}", norm(&differences));
        }
    }
}

#[test]
fn defect_correction_agrees_with_the_reference() {
    let path = reference_path("wilson");
    let reference = netcdf::open(&path).unwrap();
    let folder = tempfile::tempdir().unwrap();
    let output = folder.path().join("out.nc");
    let options = ["--precision", "f64", "--solver", "defect-correction"];
    let run = wilson(&path, &output, &options);
    assert!(run.status.success(), "{}", String::from_utf8_lossy(&run.stderr));
    let found = netcdf::open(&output).unwrap();
    for case in text(&reference, "cases").split_whitespace() {
        let [found, limit] = [
            values(&found, &format!("{case}_residual"))[0],
            values(&reference, &format!("{case}_tolerance"))[0],
        ];
        assert!(found <= limit, "{case}: {found:e}");
    }
}

/// A case of unit links on a lattice of some extents, changed by `spoil`.
fn made(path: &Path, extents: [usize; 4], spoil: impl FnOnce(&mut Made)) {
    let volume: usize = extents.iter().product();
    let unit = [1., 0., 0., 0., 0., 0., 0., 0., 1., 0., 0., 0., 0., 0., 0., 0., 1., 0.];
    let mut made = Made {
        links: unit.repeat(4 * volume),
        psi: vec![1.0; 24 * volume],
        kappa: 0.1,
        tolerance: 1e-8,
        antiperiodic_t: 0,
        without: "",
    };
    spoil(&mut made);
    let mut file = netcdf::create(path).unwrap();
    for (name, length) in ["x", "y", "z", "t"].into_iter().zip(extents) {
        file.add_dimension(name, length).unwrap();
    }
    for (name, length) in
        [("mu", 4), ("row", 3), ("col", 3), ("spin", 4), ("color", 3), ("complex", 2)]
    {
        file.add_dimension(name, length).unwrap();
    }
    let spinor = ["t", "z", "y", "x", "spin", "color", "complex"];
    let links = ["mu", "t", "z", "y", "x", "row", "col", "complex"];
    let mut put = |name: &str, dimensions: &[&str], values: &[f64]| {
        if name != made.without {
            let mut variable = file.add_variable::<f64>(name, dimensions).unwrap();
            variable.put_values(values, ..).unwrap();
        }
    };
    put("links", &links, &made.links);
    put("psi", &spinor, &made.psi);
    put("rhs", &spinor, &made.psi);
    put("kappa", &[], &[made.kappa]);
    put("tolerance", &[], &[made.tolerance]);
    put("tolerance_f32", &[], &[made.tolerance]);
    let mut variable = file.add_variable::<i32>("antiperiodic_t", &[]).unwrap();
    variable.put_values(&[made.antiperiodic_t], ..).unwrap();
}

/// Contents of a file.
struct Made {
    links: Vec<f64>,
    psi: Vec<f64>,
    kappa: f64,
    tolerance: f64,
    antiperiodic_t: i32,
    without: &'static str,
}

fn refused(extents: [usize; 4], code: i32, parts: &[&str], spoil: impl FnOnce(&mut Made)) {
    let folder = tempfile::tempdir().unwrap();
    let [input, output] = ["in.nc", "out.nc"].map(|name| folder.path().join(name));
    made(&input, extents, spoil);
    let run = wilson(&input, &output, &["--precision", "f64"]);
    let message = String::from_utf8_lossy(&run.stderr).into_owned();
    assert_eq!(run.status.code(), Some(code), "{message}");
    for part in parts {
        assert!(message.contains(part), "no \"{part}\" in: {message}");
    }
    let left: Vec<_> = std::fs::read_dir(folder.path()).unwrap().collect();
    assert_eq!(left.len(), 1, "only the input is left: {left:?}");
}

#[test]
fn wrong_input_is_refused_and_leaves_no_file() {
    const SMALL: [usize; 4] = [2, 4, 2, 4];
    refused([3, 4, 2, 4], 3, &["dimension x", "length 3", "even"], |_| {});
    refused(SMALL, 3, &["no variable psi"], |made| made.without = "psi");
    refused(SMALL, 3, &["psi is NaN at t=0 z=0 y=0 x=0 spin=1"], |made| made.psi[7] = f64::NAN);
    refused(SMALL, 3, &["links", "SU(3)", "mu=0 t=0 z=0 y=0 x=1"], |made| made.links[18] = 1.01);
    refused(SMALL, 3, &["antiperiodic_t is 2"], |made| made.antiperiodic_t = 2);
    refused(SMALL, 3, &["tolerance is 0", "positive"], |made| made.tolerance = 0.0);
}

/// At kappa 1/8 a constant field on unit links is annihilated, and no iteration finds a solution.
#[test]
fn a_system_without_a_solution_ends_without_a_file() {
    refused([2, 2, 2, 2], 5, &["not solved", "kappa"], |made| made.kappa = 0.125);
}

/// The residual that is carried along through the iteration falls below any tolerance, that of the solution does not:
/// it ends at the rounding of the precision. Either it is within the tolerance, or the case is not solved.
#[test]
fn the_residual_of_the_solution_is_the_one_that_counts() {
    const STEP: f64 = 1.3;
    for (precision, coarse, fine) in [("f32", 1e-6, 2e-8), ("f64", 1e-15, 1e-17)] {
        let (mut tolerance, mut ends) = (coarse, [0, 0]);
        while tolerance > fine {
            let folder = tempfile::tempdir().unwrap();
            let [input, output] = ["in.nc", "out.nc"].map(|name| folder.path().join(name));
            made(&input, [4, 4, 4, 4], |made| {
                for (n, x) in made.psi.iter_mut().enumerate() {
                    *x = (n as f64).sin() + 0.3 * (0.7 * n as f64 * n as f64).cos();
                }
                made.kappa = 0.12;
                made.tolerance = tolerance;
            });
            let run = wilson(&input, &output, &["--precision", precision]);
            let message = String::from_utf8_lossy(&run.stderr).into_owned();
            if run.status.success() {
                let found = values(&netcdf::open(&output).unwrap(), "residual")[0];
                assert!(found <= tolerance, "{precision}: {found:e} beyond {tolerance:e}");
            } else {
                assert_eq!(run.status.code(), Some(5), "{message}");
                let name = if precision == "f32" { "tolerance_f32 is" } else { "tolerance is" };
                for part in ["not solved", name, "below the rounding", "Take a larger"] {
                    assert!(message.contains(part), "no \"{part}\" in: {message}");
                }
                assert!(!output.exists());
            }
            ends[usize::from(run.status.success())] += 1;
            tolerance /= STEP;
        }
        assert!(ends[0] > 0 && ends[1] > 0, "{precision}: {ends:?} failed and succeeded");
    }
}

#[test]
fn a_case_without_a_name_is_computed() {
    let folder = tempfile::tempdir().unwrap();
    let [input, output] = ["in.nc", "out.nc"].map(|name| folder.path().join(name));
    made(&input, [2, 4, 2, 4], |made| made.tolerance = 1e-6);
    let run = wilson(&input, &output, &[]);
    assert!(run.status.success(), "{}", String::from_utf8_lossy(&run.stderr));
    let found = netcdf::open(&output).unwrap();
    // A constant on unit links is multiplied by 8.
    assert!(values(&found, "hop").iter().all(|x| *x == 8.0));
    assert!(found.attribute("cases").is_none());
}
