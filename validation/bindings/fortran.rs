//! Fortran: a driver that calls the schemes as WRF does.

use std::path::PathBuf;
use std::process::{Command, Output};

use nwp_mini::physics::registry;
use nwp_mini_support::project;

use crate::library::{Linked, expect, has, words};
use crate::samples::{Number, Samples};

const PACKAGE: &str = "gfortran";

/// Flags of WRF for real numbers of 8 bytes.
const DOUBLE: [&str; 2] = ["-fdefault-real-8", "-fdefault-double-8"];

/// Compiles the modules as WRF's makefiles would, and the driver; none may cause a warning.
fn driver<R: Number>(samples: &Samples, scheme: &str, linked: Linked) -> PathBuf {
    let folder = samples.folder();
    let graupel: &[&str] = if scheme == "wsm6" { &["-DGRAUPEL"] } else { &[] };
    let mut sources = Vec::new();
    for name in ["nwp_mini.f90", &format!("module_mp_{scheme}.F")] {
        let source = project().join("bindings/fortran").join(name);
        let mut cpp = Command::new("cpp");
        let output = cpp.args(["-P", "-traditional"]).arg(&source).output().expect("cpp starts");
        assert!(output.status.success(), "{}", words(&output));
        let plain = folder.join(name).with_extension("f90");
        std::fs::write(&plain, &output.stdout).expect("a new file");
        sources
            .push((plain, &["-std=f2008", "-Wall", "-Wextra", "-Wno-unused-dummy-argument"][..]));
    }
    sources.push((project().join("validation/bindings/programs/wrf_driver.F90"), graupel));
    let mut objects = Vec::new();
    for (source, flags) in sources {
        let object = folder.join(source.file_name().expect("a name")).with_extension("o");
        let mut compile = fortran::<R>();
        compile
            .current_dir(folder)
            .args(flags)
            .args(["-Werror", "-c"])
            .arg(&source)
            .arg("-o")
            .arg(&object);
        expect(&compile.output().unwrap(), &source.display().to_string());
        objects.push(object);
    }
    let program = folder.join(format!("driver_{linked:?}"));
    let mut link = fortran::<R>();
    link.args(objects).args(linked.arguments()).arg("-o").arg(&program);
    expect(&link.output().unwrap(), "link");
    program
}

fn fortran<R: Number>() -> Command {
    let mut command = Command::new("gfortran");
    command.args(["-O2", "-fopenmp"]);
    command.args(if R::NAME == "f64" { &DOUBLE[..] } else { &[] });
    command
}

fn run(samples: &Samples, program: &PathBuf, options: &str, more: &[&str]) -> Output {
    let mut run = Command::new(program);
    run.current_dir(samples.folder()).args(["in.bin", "out.bin"]).args(more);
    run.env("NWP_MINI_OPTIONS", options).output().expect("the driver starts")
}

fn bits<R: Number>(scheme: &str, planes: &[&str]) {
    let samples = Samples::new::<R>(scheme);
    let right = samples.right::<R>(&[]);
    let tracers = registry::SCHEMES.iter().find(|about| about.key == scheme).expect(scheme).tracers;
    let mut order: Vec<&str> = tracers.iter().map(|field| field.name).collect();
    order.extend(planes);
    order.extend(["refl_10cm", "re_cloud", "re_ice", "re_snow"]);
    for linked in [Linked::Shared, Linked::Static] {
        let program = driver::<R>(&samples, scheme, linked);
        let output = run(&samples, &program, "", &[]);
        let said = expect(&output, scheme);
        let line = format!("{} by nwp-mini", scheme.to_uppercase());
        assert_eq!(said.matches(&line).count(), 1, "{said}");
        samples.compare("out.bin", &right, &order, &format!("{scheme} {} {linked:?}", R::NAME));
        // A constant of the host that is another one, an option that is none.
        for (options, more, says) in
            [("", &["constant"][..], "the constant g "), ("n0q=3", &[], "no option n0q")]
        {
            let output = run(&samples, &program, options, more);
            assert!(
                !output.status.success() && words(&output).contains(says),
                "{}",
                words(&output)
            );
        }
    }
}

#[test]
fn wsm5_is_called_as_wrf_does() {
    if !has("gfortran", PACKAGE) {
        return;
    }
    let planes = ["rain", "rainncv", "snow", "snowncv", "sr"];
    bits::<f32>("wsm5", &planes);
    bits::<f64>("wsm5", &planes);
}

#[test]
fn wsm6_is_called_as_wrf_does() {
    if !has("gfortran", PACKAGE) {
        return;
    }
    let planes = ["rain", "rainncv", "snow", "snowncv", "sr", "graupel", "graupelncv"];
    bits::<f32>("wsm6", &planes);
    bits::<f64>("wsm6", &planes);
}
