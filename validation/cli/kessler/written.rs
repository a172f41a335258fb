//! The output has the bits of the library's results, and nothing else.

use netcdf::types::{FloatType, NcVariableType};

use nwp_mini::physics::kessler::params::KesslerFactors;
use nwp_mini::physics::kessler::{Kessler, Vectorised};
use nwp_mini_support::kessler::case::{Columns, INPUTS, OUTPUTS, OnCpu, State, TRACERS};

use super::Scene;

fn check_output<R: Vectorised>(scene: &Scene, expected: &State<R>) {
    let file = netcdf::open(scene.path("out.nc")).expect("a NetCDF file");
    let mut names: Vec<String> = file.variables().map(|variable| variable.name()).collect();
    let mut promised = [&OUTPUTS[..], &["refl_10cm"]].concat();
    names.sort();
    promised.sort_unstable();
    assert_eq!(names, promised);
    let float = if R::NAME == "f64" { FloatType::F64 } else { FloatType::F32 };
    for (at, (name, expected)) in expected.named().into_iter().enumerate() {
        let variable = file.variable(name).expect(name);
        let dimensions: Vec<String> =
            variable.dimensions().iter().map(netcdf::Dimension::name).collect();
        let wanted: &[&str] = if at < TRACERS { &["level", "column"] } else { &["column"] };
        assert_eq!(dimensions, wanted, "{name}");
        assert_eq!(variable.vartype(), NcVariableType::Float(float), "{name}");
        for attribute in ["units", "long_name"] {
            assert!(variable.attribute(attribute).is_some(), "{name} has no {attribute}");
        }
        assert!(variable.attribute("_FillValue").is_none(), "{name}");
        let values: Vec<f64> = variable.get_values(..).expect("values");
        let expected: Vec<f64> = expected.iter().map(|x| x.f64()).collect();
        assert!(values == expected, "{name} is not what the library computes");
    }
}

#[test]
fn forced_calls_are_those_of_the_library() {
    let columns = Columns::of("mixed");
    let scene = Scene::new(&columns, 60.0, Some(30));
    let options = ["--backend", "cpu", "--precision"];
    let said = scene.succeeds(&[&options[..], &["f32"]].concat());
    for word in ["Kessler", "f32", "30 calls of 60 s"] {
        assert!(said.contains(word), "no {word:?} in {said}");
    }
    check_output(&scene, &columns.run(&OnCpu::<f32>::best(), 60.0, 30));
    scene.succeeds(&[&options[..], &["f64", "--force", "--threads", "2"]].concat());
    check_output(&scene, &columns.run(&OnCpu::<f64>::best(), 60.0, 30));
}

#[test]
fn options_override_attributes() {
    let columns = Columns::of("warm_nk40").unforced();
    let scene = Scene::new(&columns, 300.0, Some(30));
    scene.succeeds(&["--dt", "20", "--calls", "1", "--backend", "cpu"]);
    check_output(&scene, &columns.run(&OnCpu::<f32>::best(), 20.0, 1));
}

/// Fields of WSM5 that the scheme does not use are unchanged, whatever their values.
#[test]
fn what_the_scheme_does_not_need_is_ignored() {
    let columns = Columns::of("warm").unforced();
    let scene = Scene::new(&columns, 60.0, None);
    let mut file = netcdf::append(scene.path("in.nc")).expect("the file");
    for name in ["qi", "qs", "p"] {
        let mut variable = file.add_variable::<f32>(name, &["column"]).expect("a variable");
        variable.put_values(&vec![f32::NAN; columns.dim().1], ..).expect("values");
    }
    file.close().expect("a whole file");
    scene.succeeds(&["--backend", "cpu"]);
    check_output(&scene, &columns.run(&OnCpu::<f32>::best(), 60.0, 1));
}

/// The hidden option sets off the process that it names, each of them.
#[test]
fn each_process_can_be_set_off() {
    let columns = Columns::of("mixed").unforced();
    let scene = Scene::new(&columns, 60.0, None);
    for &name in KesslerFactors::<f32>::NAMES {
        scene.succeeds(&["--backend", "cpu", "--force", "--perturb", name]);
        let mut engine = OnCpu::<f32>::best();
        engine.scheme = Kessler::default();
        *engine.scheme.factors.of(name).expect("a process") = 1.01;
        check_output(&scene, &columns.run(&engine, 60.0, 1));
    }
}

/// In double precision, input of type double keeps its digits: dry air leaves as it came.
#[test]
fn doubles_are_read_as_doubles() {
    let scene = Scene { folder: tempfile::tempdir().expect("a folder") };
    let theta = [300.0 + 1.0 / 3.0, 301.0 + 1.0 / 7.0];
    let mut file = netcdf::create(scene.path("in.nc")).expect("a new file");
    file.add_dimension("level", 2).expect("a dimension");
    file.add_dimension("column", 1).expect("a dimension");
    file.add_attribute("dt", 60.0).expect("an attribute");
    for (name, value) in INPUTS.into_iter().zip([300.0, 0.0, 0.0, 0.0, 1.0, 0.95, 400.0]) {
        let values = if name == "th" { theta } else { [value; 2] };
        let mut variable = file.add_variable::<f64>(name, &["level", "column"]).expect(name);
        variable.put_values(&values, ..).expect(name);
    }
    drop(file);
    let expected = |is_double| theta.map(|x| if is_double { x } else { f64::from(x as f32) });
    for (precision, is_double) in [("f64", true), ("f32", false)] {
        scene.succeeds(&["--backend", "cpu", "--force", "--precision", precision]);
        let file = netcdf::open(scene.path("out.nc")).expect("a NetCDF file");
        let found: Vec<f64> = file.variable("th").expect("th").get_values(..).expect("values");
        assert_eq!(found, expected(is_double), "{precision}");
    }
}
