//! The command `nwp-mini transport`, from file to file.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::sync::{Mutex, MutexGuard, PoisonError};

use ndarray::{Array3, ArrayD};
use nwp_mini::advection::Limiter;
use nwp_mini::grid::{Shape, Side, Sides};
use nwp_mini::io::cases::transport::TransportCase;
use tempfile::TempDir;

use super::case::{Prepared, difference, field, read, table};
use super::random_cases::random_case;
use super::support;

/// Error to make in a case file.
#[derive(Clone, Copy, PartialEq)]
enum Flaw {
    Nothing,
    Missing(&'static str),
    NotANumber,
    TooManyFaces,
    NoFlags,
    Attribute(&'static str, f64),
    Variable(&'static str, f32),
    Huge,
    OpenFace,
}

/// Writes a case as the command reads it.
fn write(path: &Path, case: &TransportCase, flaw: Flaw) {
    let mut file = netcdf::create(path).expect("a new file");
    let Shape { nx, ny, nz } = case.grid.shape;
    let faces = if flaw == Flaw::TooManyFaces { nx + 2 } else { nx + 1 };
    for (name, n) in
        [("x", nx), ("xs", faces), ("y", ny), ("ys", ny + 1), ("z", nz), ("zs", nz + 1)]
    {
        file.add_dimension(name, n).expect("a dimension");
    }
    let mut add = |name: &'static str, dimensions: &[&str], mut values: Vec<f32>| {
        match flaw {
            Flaw::Missing(missing) if missing == name => return,
            Flaw::Variable(which, value) if which == name => values[0] = value,
            Flaw::NotANumber if name == "q0" => values[nx + 2] = f32::NAN,
            Flaw::Huge if name == "q0" => values.fill(f32::MAX),
            Flaw::OpenFace if name == "ru" => values[nx] += 1.0,
            Flaw::TooManyFaces if name == "ru" => values = vec![0.0; ny * nz * faces],
            _ => {}
        }
        let mut variable = file.add_variable::<f32>(name, dimensions).expect("a variable");
        variable.put_values(&values, ..).expect("values");
    };
    let turned = |a: &Array3<f64>| {
        a.view().permuted_axes([1, 0, 2]).iter().map(|x| *x as f32).collect::<Vec<f32>>()
    };
    add("ru", &["y", "z", "xs"], turned(&case.ru));
    add("rv", &["ys", "z", "x"], turned(&case.rv));
    add("rom", &["y", "zs", "x"], turned(&case.rom));
    add("q0", &["y", "z", "x"], turned(&case.q));
    let c = &case.coordinate;
    for (name, profile) in
        [("c1h", &c.c1), ("c2h", &c.c2), ("fnm", &c.fnm), ("fnp", &c.fnp), ("rdnw", &c.rdnw)]
    {
        add(name, &["z"], profile.iter().map(|x| *x as f32).collect());
    }
    let none = &c.mu * 0.0;
    for (name, plane) in [
        ("mub", &c.mu),
        ("mu_old", &none),
        ("mut", &case.mu_end),
        ("msftx", &c.map_x),
        ("msfty", &c.map_y),
    ] {
        add(name, &["y", "x"], plane.iter().map(|x| *x as f32).collect());
    }
    let Sides { west, east, south, north } = case.grid.sides;
    let flag = |on: bool| if on && flaw != Flaw::NoFlags { 1.0 } else { 0.0 };
    let specified = [west, east, south, north].contains(&Side::Specified);
    for (name, value) in [
        ("periodic_x", flag(west == Side::Periodic)),
        ("periodic_y", flag(south == Side::Periodic)),
        ("specified", flag(specified)),
        ("open_xs", flag(west == Side::Open)),
        ("open_xe", flag(east == Side::Open)),
        ("open_ys", flag(south == Side::Open)),
        ("open_ye", flag(north == Side::Open)),
        ("nsteps", case.steps as f64),
        ("rdx", 1.0 / case.grid.dx),
        ("rdy", 1.0 / case.grid.dy),
        ("dt", case.dt),
    ] {
        let value = match flaw {
            Flaw::Missing(missing) if missing == name => continue,
            Flaw::Attribute(which, value) if which == name => value,
            _ => value,
        };
        file.add_attribute(name, value as f32).expect("an attribute");
    }
}

fn run(folder: &Path, options: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_nwp-mini"))
        .current_dir(folder)
        .args(["transport", "--input", "in.nc", "--output", "out.nc"])
        .args(options)
        .output()
        .expect("the command starts")
}

/// Keeps the tests of this file from running at the same time: a command started by one test would inherit the files,
/// and their locks, that the HDF5 library has open for another test.
fn alone() -> MutexGuard<'static, ()> {
    static ALONE: Mutex<()> = Mutex::new(());
    ALONE.lock().unwrap_or_else(PoisonError::into_inner)
}

fn folder() -> (TempDir, PathBuf) {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().to_owned();
    (folder, path)
}

fn variable(file: &netcdf::File, name: &str) -> ArrayD<f64> {
    file.variable(name).expect("variable is there").get(..).expect("readable")
}

/// Runs the reference cases from file to file, each with every scheme.
fn check_reference(precision: &str, limit: f64) {
    let file = support::reference("adv");
    let names = ["rk3_rotation", "rk3_general", "rk3_specified", "rk3_open", "rk3_smooth"];
    let mut count = 0;
    for group in names.iter().filter_map(|name| file.group(name).expect("a NetCDF-4 file")) {
        count += 1;
        let case = read(&group, "q0");
        // Reading adds the two parts of the column mass, which single precision cannot hold.
        let mub = table(&group, "mub");
        let mut case_file = case.clone();
        case_file.coordinate.mu = mub;
        let mu_old = table(&group, "mu_old");
        for (option, scheme) in [("plain", "plain"), ("pd", "pd"), ("monotonic", "mono")] {
            let (_keep, folder) = folder();
            write(&folder.join("in.nc"), &case_file, Flaw::Nothing);
            let mut input = netcdf::append(folder.join("in.nc")).expect("writable");
            let values: Vec<f32> = mu_old.iter().map(|x| *x as f32).collect();
            input.variable_mut("mu_old").expect("there").put_values(&values, ..).expect("values");
            input.close().expect("closed");

            let done = run(&folder, &["--scheme", option, "--precision", precision]);
            assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
            assert!(String::from_utf8_lossy(&done.stdout).contains("mass changed"));

            let output = netcdf::open(folder.join("out.nc")).expect("output");
            let root = output.root().expect("a NetCDF-4 file");
            let truth = field(&group, &format!("q_{scheme}_f64"));
            let error = difference(&field(&root, "q"), &truth);
            assert!(error <= limit, "{} {scheme}: {error:e} above {limit:e}", group.name());
            let history = table(&group, &format!("hist_{scheme}_f64"));
            for (s, name) in ["mass", "min", "max"].into_iter().enumerate() {
                let found = variable(&output, name);
                assert_eq!(found.len(), case.steps + 1);
                let truth = history.column(s);
                // Extremes are compared with the largest value, as the minimum may be zero.
                let scale = if s == 0 { truth[0].abs() } else { history[[0, 2]].abs() };
                for (found, truth) in found.iter().zip(truth) {
                    assert!((found - truth).abs() <= limit * scale, "{name}: {found} {truth}");
                }
            }
        }
    }
    assert!(count > 0, "the reference file has none of {names:?}");
}

#[test]
fn reference_cases_f64() {
    let _alone = alone();
    // The truth is stored with 11 digits.
    check_reference("f64", 1.0e-10);
}

#[test]
fn reference_cases_f32() {
    let _alone = alone();
    // WRF's own single precision is up to 1.3e-6 off after 50 steps.
    check_reference("f32", 5.0e-6);
}

fn some_case() -> TransportCase {
    random_case(Shape { nx: 7, ny: 6, nz: 4 }, Sides::all(Side::Periodic), 41)
}

/// The output has the results of the library, in the documented types and without fill values.
#[test]
fn output_types_and_defaults() {
    let _alone = alone();
    let (_keep, folder) = folder();
    write(&folder.join("in.nc"), &some_case(), Flaw::Nothing);
    let case = TransportCase::read(&folder.join("in.nc")).expect("a good case");
    for (precision, is_double) in [("f32", false), ("f64", true)] {
        let done = run(&folder, &["--precision", precision, "--force"]);
        assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
        let file = netcdf::open(folder.join("out.nc")).expect("output");
        let q = file.variable("q").expect("q");
        let names: Vec<String> = q.dimensions().iter().map(netcdf::Dimension::name).collect();
        assert_eq!(names, ["y", "z", "x"]);
        let double = netcdf::types::NcVariableType::Float(netcdf::types::FloatType::F64);
        assert_eq!(q.vartype() == double, is_double);
        assert_eq!(file.variable("mass").expect("mass").vartype(), double);
        assert!(q.attribute("_FillValue").is_none());
        let found = field(&file.root().expect("NetCDF-4"), "q");
        // Positive definite by default.
        let expected = if is_double {
            Prepared::<f64>::new(&case).steps(Limiter::PositiveDefinite, &case.q, case.steps)
        } else {
            let q = Prepared::<f32>::new(&case);
            { q }.steps(Limiter::PositiveDefinite, &case.q, case.steps).mapv(f64::from)
        };
        assert!(found == expected, "{precision}");
    }
}

/// Without `mub` and `mu_old` the column mass is `mut`.
#[test]
fn column_mass_of_either_kind() {
    let _alone = alone();
    let (_keep, folder) = folder();
    let path = folder.join("in.nc");
    write(&path, &some_case(), Flaw::Missing("mub"));
    let case = TransportCase::read(&path).expect("a good case");
    assert_eq!(case.coordinate.mu, case.mu_end);
    fs::remove_file(&path).expect("removable");
    write(&path, &some_case(), Flaw::Missing("mut"));
    let case = TransportCase::read(&path).expect("a good case");
    assert_eq!(case.coordinate.mu, case.mu_end);
}

/// Runs a flawed case; its message must hold all of `words`.
fn check_failure(flaw: Flaw, code: i32, words: &[&str]) {
    let (_keep, folder) = folder();
    write(&folder.join("in.nc"), &some_case(), flaw);
    let done = run(&folder, &[]);
    let message = String::from_utf8_lossy(&done.stderr);
    assert_eq!(done.status.code(), Some(code), "{message}");
    for word in words {
        assert!(message.contains(word), "{word:?} is not in: {message}");
    }
    let left: Vec<_> = fs::read_dir(&folder).expect("listing").collect();
    assert_eq!(left.len(), 1, "only the input is left: {left:?}");
}

#[test]
fn flawed_input() {
    let _alone = alone();
    for name in ["ru", "rv", "rom", "q0", "c1h", "fnm", "rdnw", "msftx"] {
        check_failure(Flaw::Missing(name), 3, &["in.nc", "no variable", name]);
    }
    for name in ["dt", "nsteps", "rdx"] {
        check_failure(Flaw::Missing(name), 3, &["in.nc", "no global attribute", name]);
    }
    check_failure(Flaw::NotANumber, 3, &["in.nc", "q0", "NaN", "finite"]);
    check_failure(Flaw::TooManyFaces, 3, &["in.nc", "xs", "9", "8"]);
    check_failure(Flaw::NoFlags, 3, &["in.nc", "periodic_x", "open_xs", "specified"]);
    check_failure(Flaw::OpenFace, 3, &["in.nc", "ru", "same face"]);
    check_failure(Flaw::Attribute("dt", 0.0), 3, &["in.nc", "dt is 0", "positive"]);
    check_failure(Flaw::Attribute("nsteps", 1.5), 3, &["in.nc", "nsteps is 1.5", "whole"]);
    check_failure(Flaw::Attribute("nsteps", 0.0), 3, &["in.nc", "nsteps is 0"]);
    check_failure(Flaw::Attribute("periodic_x", 2.0), 3, &["in.nc", "periodic_x is 2"]);
    check_failure(Flaw::Attribute("open_xs", 1.0), 3, &["in.nc", "periodic_x and open_xs"]);
    check_failure(Flaw::Variable("rdnw", 4.0), 3, &["in.nc", "rdnw is 4", "negative"]);
    check_failure(Flaw::Variable("mub", -9.0e4), 3, &["in.nc", "mass", "positive"]);
    check_failure(Flaw::Variable("msfty", 0.0), 3, &["in.nc", "msfty is 0", "positive"]);
}

#[test]
fn blow_up() {
    let _alone = alone();
    check_failure(Flaw::Huge, 5, &["q became", "step 1"]);
}

#[test]
fn small_axes() {
    let _alone = alone();
    for (shape, side, name) in [
        (Shape { nx: 3, ny: 6, nz: 4 }, Side::Open, "dimension x has length 3"),
        (Shape { nx: 6, ny: 3, nz: 4 }, Side::Specified, "dimension y has length 3"),
        (Shape { nx: 6, ny: 6, nz: 1 }, Side::Periodic, "dimension z has length 1"),
    ] {
        let (_keep, folder) = folder();
        write(&folder.join("in.nc"), &random_case(shape, Sides::all(side), 43), Flaw::Nothing);
        let done = run(&folder, &[]);
        let message = String::from_utf8_lossy(&done.stderr);
        assert_eq!(done.status.code(), Some(3), "{message}");
        assert!(message.contains(name), "{message}");
    }
}

#[test]
fn files_that_are_not_there_or_in_the_way() {
    let _alone = alone();
    let (_keep, folder) = folder();
    let code = |options: &[&str]| run(&folder, options).status.code();
    assert_eq!(code(&[]), Some(3), "no input");
    fs::write(folder.join("in.nc"), "plain text").expect("writable");
    let done = run(&folder, &[]);
    assert_eq!(done.status.code(), Some(3), "text as input");
    assert!(String::from_utf8_lossy(&done.stderr).contains("NetCDF"));
    fs::remove_file(folder.join("in.nc")).expect("removable");

    write(&folder.join("in.nc"), &some_case(), Flaw::Nothing);
    fs::write(folder.join("out.nc"), "precious").expect("writable");
    let done = run(&folder, &[]);
    assert_eq!(done.status.code(), Some(3), "output exists");
    assert!(String::from_utf8_lossy(&done.stderr).contains("--force"));
    assert_eq!(fs::read_to_string(folder.join("out.nc")).expect("still there"), "precious");
    assert_eq!(code(&["--force"]), Some(0));
    // A GPU is used if there is one.
    assert!([Some(0), Some(4)].contains(&code(&["--backend", "gpu", "--force"])));
    assert_eq!(code(&["--backend", "both", "--force"]), Some(2));
    assert_eq!(code(&["--scheme", "best"]), Some(2));
}
