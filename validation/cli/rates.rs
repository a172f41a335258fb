//! Rates with functions, quantities of the host and Fortran's arithmetic, as users meet them.

use std::path::Path;
use std::process::{Command, Output};

use nwp_mini_support::program;
use tempfile::TempDir;

const MECHANISM: &str = "#DEFVAR\nA = IGNORE; B = IGNORE;\n#DEFFIX\nONE = IGNORE;\n#EQUATIONS\n\
    <R1> ONE = ONE + A : 1.E-12*peroxy*twice(TEMP) + 2/3 ;\n<R2> ONE = ONE + B : area(2) ;\n\
    #INLINE F90_GLOBAL\n REAL(dp) :: area(3)\n#ENDINLINE\n";

const FUNCTIONS: &str = "MODULE laws\nCONTAINS\nREAL(dp) FUNCTION twice(t)\nREAL(dp), INTENT(IN) :: t\n\
    twice = 2.*t\nEND FUNCTION twice\nEND MODULE laws\n";

fn nwp_mini(folder: &Path, arguments: &[&str]) -> Output {
    Command::new(program()).current_dir(folder).args(arguments).output().expect("it starts")
}

fn words(output: &Output) -> String {
    let all = [&output.stdout[..], &output.stderr[..]].concat();
    String::from_utf8_lossy(&all).into_owned()
}

/// A folder with the mechanism, its functions and two cells; the array of the host has three elements.
fn folder(has_array: bool) -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("m.kpp"), MECHANISM).unwrap();
    std::fs::write(folder.path().join("laws.F90"), FUNCTIONS).unwrap();
    let mut file = netcdf::create(folder.path().join("cells.nc")).unwrap();
    file.add_dimension("cell", 2).unwrap();
    file.add_dimension("bin", 3).unwrap();
    for (name, values) in [("temp", [250.0, 300.0]), ("ONE", [1.0; 2]), ("c_m", [1e19; 2])] {
        file.add_variable::<f64>(name, &["cell"]).unwrap().put_values(&values, ..).unwrap();
    }
    if has_array {
        let mut area = file.add_variable::<f64>("AREA", &["cell", "bin"]).unwrap();
        area.put_values(&[1.0, 2.0, 3.0, 4.0, 5.0, 6.0], ..).unwrap();
    }
    folder
}

const CHEMISTRY: [&str; 12] = [
    "chemistry",
    "--mechanism",
    "m.kpp",
    "--input",
    "cells.nc",
    "--output",
    "out.nc",
    "--dt",
    "1",
    "--backend",
    "cpu",
    "--force",
];

fn run(folder: &TempDir, more: &[&str]) -> Output {
    nwp_mini(folder.path(), &[&CHEMISTRY[..], more].concat())
}

#[test]
fn functions_and_quantities_come_from_files_fields_and_constants() {
    let with_array = folder(true);
    let more = ["--rate-functions", "laws.F90", "--rate-constant", "PEROXY=5D8"];
    let output = run(&with_array, &more);
    assert!(output.status.success(), "{}", words(&output));
    let said = words(&output);
    assert!(said.contains("2/3 is 0 here") && said.contains("reaction <R1>"), "{said}");
    let file = netcdf::open(with_array.path().join("out.nc")).unwrap();
    let values = |name: &str| -> Vec<f64> { file.variable(name).unwrap().get_values(..).unwrap() };
    for (found, right) in [("A", [0.25, 0.3]), ("B", [2.0, 5.0])] {
        for (found, right) in values(found).iter().zip(right) {
            assert!((found - right).abs() < 1e-9, "{found} {right}");
        }
    }
    // Each that is missing is asked for by name.
    let output = run(&with_array, &more[..2]);
    let said = words(&output);
    assert_eq!(output.status.code(), Some(3), "{said}");
    for expected in ["no variable peroxy (cell)", "reaction <R1>", "--rate-constant NAME=VALUE"] {
        assert!(said.contains(expected), "{expected}: {said}");
    }
    let output = run(&folder(false), &more);
    let said = words(&output);
    assert!(said.contains("no variable area (cell, elements)"), "{said}");
    let output = run(&with_array, &more[2..]);
    assert!(
        words(&output).contains("m.kpp:6:36: twice is not a known function"),
        "{}",
        words(&output)
    );
}

#[test]
fn mechanism_lists_what_the_host_sets_and_warns_of_impossible_rates() {
    let folder = folder(true);
    let text = MECHANISM.replace("#INLINE", "<R3> A + B = ONE : ARR_ab(1.D-11, -9000.) ;\n#INLINE");
    std::fs::write(folder.path().join("m.kpp"), text).unwrap();
    let more = ["mechanism", "m.kpp", "--rate-functions", "laws.F90", "--rate-constant", "other=1"];
    let output = nwp_mini(folder.path(), &more);
    let said = words(&output);
    assert!(output.status.success(), "{said}");
    for expected in [
        "set by the model that the mechanism was written for: peroxy, area(1), area(2), area(3)",
        "k   unknown",
        "the rate constant of reaction <R3> is",
        "cm3 s-1 at 200 K, beyond 1e-7 cm3 s-1",
        "no rate uses other",
    ] {
        assert!(said.contains(expected), "{expected}: {said}");
    }
}

#[test]
fn constants_that_are_none_are_refused() {
    let folder = folder(true);
    for (value, expected) in [
        ("peroxy", "expected a name and its value"),
        ("2x=1", "expected a name and its value"),
        ("peroxy=many", "many is not a finite number"),
        ("peroxy=inf", "inf is not a finite number"),
    ] {
        let output = run(&folder, &["--rate-constant", value]);
        let said = words(&output);
        assert_eq!(output.status.code(), Some(2), "{said}");
        assert!(said.contains(expected), "{value}: {said}");
    }
    let twice = ["--rate-constant", "a=1", "--rate-constant", "A=2"];
    assert!(words(&run(&folder, &twice)).contains("--rate-constant A is given twice"));
    let output = run(&folder, &["--rate-functions", "laws.f9"]);
    assert!(words(&output).contains("cannot read laws.f9"), "{}", words(&output));
}
