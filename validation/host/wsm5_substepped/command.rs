//! The commands take the variant.

use std::path::Path;
use std::process::Command;

use ndarray::Array2;

use super::case::{Columns, INPUTS};
use super::variant::{OUTPUTS, parameters};

fn succeed(command: &mut Command) -> String {
    let output = command.output().expect("the program starts");
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{:?}: {errors}", output.status);
    String::from_utf8(output.stdout).expect("text")
}

fn nwp_mini(arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_nwp-mini"));
    command.args(arguments);
    command
}

fn write_input(path: &Path, columns: &Columns) {
    let mut file = netcdf::create(path).expect("a new file");
    let (nz, nx) = columns.dim();
    file.add_dimension("level", nz).expect("a dimension");
    file.add_dimension("column", nx).expect("a dimension");
    for (name, field) in INPUTS.iter().zip(&columns.fields) {
        let mut variable =
            file.add_variable::<f32>(name, &["level", "column"]).expect("a variable");
        let values: Vec<f32> = field.iter().copied().collect();
        variable.put_values(&values, ..).expect("values");
    }
}

#[test]
fn columns_computes_what_the_library_computes() {
    let columns = Columns::of("mixed").unforced();
    let folder = tempfile::tempdir().expect("a folder");
    let [input, output] = ["in.nc", "out.nc"].map(|name| folder.path().join(name));
    write_input(&input, &columns);
    let [from, to] = [&input, &output].map(|path| path.to_str().expect("text"));
    let arguments = ["columns", "--fallout", "substepped", "--dt", "60", "--input", from];
    succeed(nwp_mini(&arguments).args(["--output", to]));
    let file = netcdf::open(&output).expect("a NetCDF file");
    let expected = columns.run_with(&parameters::<f32>(), 60.0, 1);
    for name in OUTPUTS {
        let expected = expected.field(name);
        let found = file.variable(name).expect("an output").get::<f32, _>(..).expect("numbers");
        let found = Array2::from_shape_vec(expected.dim(), found.into_iter().collect());
        assert!(found.expect("as many") == expected, "{name}");
    }
}

/// Closure of the water budget of a run, as a share of all water.
fn closure(precision: &str) -> f64 {
    let folder = tempfile::tempdir().expect("a folder");
    let [output, json] = ["out.nc", "run.json"].map(|name| folder.path().join(name));
    let input = Path::new(env!("CARGO_MANIFEST_DIR")).join("data/soc.nc");
    // Two minor steps a step: only the account of the whole call closes.
    let run = ["run", "--fallout", "substepped", "--dt", "190", "--steps", "2", "--quiet"];
    let mut command = nwp_mini(&run);
    command.args(["--precision", precision]);
    command.arg("--input").arg(input).arg("--output").arg(output).arg("--json").arg(&json);
    succeed(&mut command);
    let text = std::fs::read_to_string(json).expect("the figures");
    let figures: serde_json::Value = serde_json::from_str(&text).expect("JSON");
    assert_eq!(figures["fallout"], "Substepped");
    assert_eq!(figures["water"]["fallout_residual"], 0.0);
    figures["water"]["closure_rel"].as_f64().expect("a number")
}

#[test]
fn the_water_of_a_run_is_accounted_for() {
    let [single, double] = ["f32", "f64"].map(closure);
    println!("unexplained: {single:.1e} in single, {double:.1e} in double precision");
    assert!(single.abs() <= 1.0e-6, "{single:e}");
    assert!(double.abs() <= 1.0e-10, "{double:e}");
}

#[test]
fn help_names_both_variants() {
    for command in ["run", "columns"] {
        let help = succeed(&mut nwp_mini(&[command, "--help"]));
        assert!(help.contains("semi-lagrangian") && help.contains("substepped"), "{help}");
    }
}
