//! `nwp-mini columns` writes the results of the library, in the documented format.

use std::path::{Path, PathBuf};
use std::process::Command;

use ndarray::{Array2, Axis};
use netcdf::AttributeValue;
use netcdf::types::{FloatType, NcVariableType};

use super::case::{CASES, Columns, INPUTS, ON_LEVELS, OUTPUTS, Outcome, Precision};
use super::weather::Vectors;
use nwp_mini::physics::wsm5::factors::Factors;
use nwp_mini::physics::wsm5::scheme::Scheme;

/// Writes columns in the input format of the command, with the given attributes.
pub fn write_input(path: &Path, columns: &Columns, dt: Option<f64>, calls: Option<i32>) {
    let mut file = netcdf::create(path).expect("a new file");
    let (nz, nx) = columns.dim();
    file.add_dimension("level", nz).expect("a dimension");
    file.add_dimension("column", nx).expect("a dimension");
    if let Some(dt) = dt {
        file.add_attribute("dt", dt).expect("an attribute");
    }
    if let Some(calls) = calls {
        file.add_attribute("calls", calls).expect("an attribute");
    }
    let mut add = |name: &str, values: &Array2<f32>| {
        let mut variable =
            file.add_variable::<f32>(name, &["level", "column"]).expect("a variable");
        let values: Vec<f32> = values.iter().copied().collect();
        variable.put_values(&values, ..).expect("values");
    };
    for name in INPUTS {
        add(name, columns.field(name));
    }
    if let Some([theta, qv]) = &columns.tendencies {
        add("th_tend", theta);
        add("q_tend", qv);
    }
}

/// The command with its files.
pub fn command(input: &Path, output: &Path) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_nwp-mini"));
    command.arg("columns").arg("--input").arg(input).arg("--output").arg(output);
    command
}

/// Runs the command, which must succeed; returns its message.
fn succeed(command: &mut Command) -> String {
    let output = command.output().expect("the program starts");
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{:?}: {errors}", output.status);
    String::from_utf8(output.stdout).expect("text")
}

struct Files {
    folder: tempfile::TempDir,
    input: PathBuf,
    output: PathBuf,
}

impl Files {
    fn new(columns: &Columns, dt: Option<f64>, calls: Option<i32>) -> Self {
        let folder = tempfile::tempdir().expect("a folder");
        let (input, output) = (folder.path().join("in.nc"), folder.path().join("out.nc"));
        write_input(&input, columns, dt, calls);
        Self { folder, input, output }
    }

    /// Only the two files are there.
    fn assert_tidy(&self) {
        let entries = std::fs::read_dir(self.folder.path()).expect("a folder");
        let mut names: Vec<_> = entries.map(|entry| entry.expect("an entry").file_name()).collect();
        names.sort();
        assert_eq!(names, ["in.nc", "out.nc"]);
    }
}

/// Reads the output and compares every bit, and its metadata.
fn check_output<R: Precision>(path: &Path, expected: &Outcome<R>, dt: f64, calls: f64) {
    let file = netcdf::open(path).expect("a NetCDF file");
    let number = |name: &str| match file.attribute(name).expect(name).value().expect(name) {
        AttributeValue::Double(x) => x,
        AttributeValue::Int(x) => x.into(),
        AttributeValue::Longlong(x) => x as f64,
        other => panic!("{name} is {other:?}"),
    };
    assert!((number("dt") - dt).abs() <= 0.0, "dt is {}", number("dt"));
    assert!((number("calls") - calls).abs() <= 0.0, "calls is {}", number("calls"));
    let mut names: Vec<String> = file.variables().map(|v| v.name()).collect();
    let mut promised = OUTPUTS.to_vec();
    names.sort();
    promised.sort_unstable();
    assert_eq!(names, promised);
    let float = if R::NAME == "f64" { FloatType::F64 } else { FloatType::F32 };
    for (output, name) in OUTPUTS.into_iter().enumerate() {
        let variable = file.variable(name).expect(name);
        let dimensions: Vec<String> =
            variable.dimensions().iter().map(netcdf::Dimension::name).collect();
        let wanted: &[&str] = if output < ON_LEVELS { &["level", "column"] } else { &["column"] };
        assert_eq!(dimensions, wanted, "{name}");
        assert_eq!(variable.vartype(), NcVariableType::Float(float), "{name}");
        assert!(variable.attribute("_FillValue").is_none(), "{name}");
        for attribute in ["units", "long_name"] {
            assert!(variable.attribute(attribute).is_some(), "{name} has no {attribute}");
        }
        let values: Vec<f64> = variable.get_values(..).expect("values");
        // The default fill value of NetCDF marks values that were not written.
        assert!(values.iter().all(|x| x.abs() < 1e30), "{name} has fill values");
        let expected: Vec<f64> = expected.fields[output].iter().map(|x| x.f64()).collect();
        assert!(values == expected, "{name} is not what the library computes");
    }
}

fn read(case: &str) -> Columns {
    assert!(CASES.contains(&case));
    Columns::of(case)
}

fn check<R: Precision>(case: &str, dt: f64, calls: u16) {
    let columns = read(case);
    let files = Files::new(&columns, Some(dt), Some(calls.into()));
    let said = succeed(command(&files.input, &files.output).args(["--precision", R::NAME]));
    assert!(said.contains(R::NAME), "{said}");
    check_output(&files.output, &columns.run::<R>(dt, calls.into()), dt, calls.into());
    files.assert_tidy();
}

#[test]
fn thirty_forced_calls() {
    check::<f32>("mixed", 60.0, 30);
    check::<f64>("mixed", 60.0, 30);
}

/// A single call also applies the tendencies, so these are omitted.
#[test]
fn one_call_of_several_minor_steps() {
    let check = |precision: &str| {
        let columns = read("edge").unforced();
        let files = Files::new(&columns, Some(300.0), None);
        succeed(command(&files.input, &files.output).args(["--precision", precision]));
        if precision == "f64" {
            check_output(&files.output, &columns.run::<f64>(300.0, 1), 300.0, 1.0);
        } else {
            check_output(&files.output, &columns.run::<f32>(300.0, 1), 300.0, 1.0);
        }
        files.assert_tidy();
    };
    check("f32");
    check("f64");
}

#[test]
fn options_override_attributes() {
    let columns = read("cold");
    for (dt, calls) in [(Some(300.0), Some(30)), (None, None)] {
        let files = Files::new(&columns, dt, calls);
        let options = ["--dt", "20", "--calls", "3", "--backend", "cpu", "--threads", "2"];
        succeed(command(&files.input, &files.output).args(options));
        check_output(&files.output, &columns.run::<f32>(20.0, 3), 20.0, 3.0);
    }
}

#[test]
fn output_is_overwritten_with_force() {
    let columns = read("dry").unforced();
    let files = Files::new(&columns, Some(60.0), None);
    std::fs::write(&files.output, "something else").expect("a file");
    succeed(command(&files.input, &files.output).arg("--force"));
    check_output(&files.output, &columns.run::<f32>(60.0, 1), 60.0, 1.0);
    files.assert_tidy();
}

/// The command adds tendencies before its only call, but the reference does not.
#[test]
fn tendencies_act_before_the_first_call() {
    let columns = read("warm");
    let mut changed = columns.clone().unforced();
    let [theta, qv] = columns.tendencies.as_ref().expect("tendencies");
    changed.field_mut("th").zip_mut_with(theta, |x, tendency| *x += 60.0 * tendency);
    changed.field_mut("q").zip_mut_with(qv, |x, tendency| *x = (*x + 60.0 * tendency).max(0.0));
    let files = Files::new(&columns, Some(60.0), Some(1));
    succeed(&mut command(&files.input, &files.output));
    check_output(&files.output, &changed.run::<f32>(60.0, 1), 60.0, 1.0);
    assert_eq!(changed.dim().1, columns.field("th").len_of(Axis(1)));
}

/// The hidden option sets off the process that it names, each of them, just as the library does.
#[test]
fn each_process_can_be_set_off() {
    let columns = read("mixed").unforced();
    for name in Factors::<f32>::NAMES {
        let files = Files::new(&columns, Some(60.0), Some(1));
        succeed(command(&files.input, &files.output).args(["--perturb", name]));
        let mut p = Scheme::<f32>::default();
        *p.factors.of(name).expect("a process") = 1.01;
        check_output(
            &files.output,
            &columns.run_with::<f32>(&Vectors::best(p), 60.0, 1),
            60.0,
            1.0,
        );
    }
}
