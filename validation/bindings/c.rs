//! Programs in C and C++.

use std::process::Command;

use crate::library::{Linked, compiled, expect, folder, has, words};
use crate::samples::{Number, Samples};

/// Names of symbols of NetCDF and HDF5.
const FOREIGN: [&str; 3] = ["H5", "nc_", "NC"];

#[test]
fn the_library_exports_its_functions_and_nothing_of_netcdf() {
    if !has("nm", "binutils") {
        return;
    }
    let symbols = |arguments: &[&str], name: &str| -> Vec<String> {
        let mut nm = Command::new("nm");
        let output = nm.args(arguments).arg(folder().join(name)).output().expect("nm starts");
        let text = String::from_utf8_lossy(&output.stdout).into_owned();
        let last = |line: &str| line.split_whitespace().last().map(str::to_owned);
        text.lines().filter_map(last).collect()
    };
    let shared = symbols(&["--dynamic", "--defined-only"], "libnwp_mini_c.so");
    assert!(shared.iter().all(|name| name.starts_with("nwp_mini_")), "{shared:?}");
    let header =
        std::fs::read_to_string(nwp_mini_support::project().join("bindings/c/include/nwp_mini.h"));
    let header = header.expect("the header");
    for name in &shared {
        assert!(header.contains(&format!("{name}(")), "{name} is not in the header");
    }
    let most = 24;
    assert!((15..=most).contains(&shared.len()), "{} functions", shared.len());
    // No function names a scheme.
    for about in nwp_mini::physics::registry::SCHEMES {
        assert!(!shared.iter().any(|name| name.contains(about.key)), "{shared:?}");
    }
    let all = symbols(&[], "libnwp_mini_c.a");
    assert!(all.len() > 1000, "{} symbols of the static library", all.len());
    let foreign: Vec<_> =
        all.iter().filter(|name| FOREIGN.iter().any(|start| name.starts_with(start))).collect();
    assert!(foreign.is_empty(), "{foreign:?}");
}

#[test]
fn examples_compile_without_a_warning_and_run() {
    let place = tempfile::tempdir().unwrap();
    for source in ["bindings/c/examples/column.c", "bindings/c/examples/tiles.cpp"] {
        for linked in [Linked::Shared, Linked::Static] {
            let program = compiled(source, linked, place.path());
            let said = expect(&Command::new(program).output().unwrap(), source);
            assert!(said.contains(" mm"), "{said}");
        }
    }
}

#[test]
fn wrong_arguments_are_refused_and_nothing_leaks() {
    let place = tempfile::tempdir().unwrap();
    let program = compiled("validation/bindings/programs/contract.c", Linked::Shared, place.path());
    expect(&Command::new(&program).current_dir(&place).output().unwrap(), "contract");
    if !has("valgrind", "valgrind") {
        return;
    }
    let example = compiled("bindings/c/examples/column.c", Linked::Shared, place.path());
    for program in [program, example] {
        let mut valgrind = Command::new("valgrind");
        valgrind.args([
            "--quiet",
            "--leak-check=full",
            "--errors-for-leak-kinds=definite,possible",
        ]);
        valgrind.current_dir(&place).arg("--error-exitcode=9").arg(program);
        let output = valgrind.output().unwrap();
        assert!(!expect(&output, "valgrind").contains("=="), "{}", words(&output));
    }
}

/// Arrays in any order of axes with halos, tiles from two threads, and a host that flushes subnormal numbers: the bits
/// are those of the program.
#[test]
fn columns_have_the_bits_of_the_program() {
    bits::<f32>();
    bits::<f64>();
}

fn bits<R: Number>() {
    for (key, variant) in [("wsm5", None), ("wsm5", Some("substepped")), ("kessler", None)] {
        let samples = Samples::new::<R>(key);
        let program =
            compiled("validation/bindings/programs/columns.c", Linked::Shared, samples.folder());
        let option = variant.map(|variant| ["--fallout", variant]);
        let right = samples.right::<R>(option.as_ref().map_or(&[], |option| &option[..]));
        let names: Vec<&str> = right.iter().map(|(name, _)| name.as_str()).collect();
        let options =
            format!("physics={key}{}", variant.map_or(String::new(), |v| format!(",fallout={v}")));
        let pool = format!("{options},threads=2");
        for (options, order, host) in [
            (&options, "kji", "usual"),
            (&options, "jki", "usual"),
            (&options, "jik", "flush"),
            (&options, "ijk", "alone"),
            (&pool, "jki", "flush"),
        ] {
            let what = format!("{options} {} {order} {host}", R::NAME);
            let mut run = Command::new(&program);
            run.current_dir(samples.folder()).args([
                "in.bin",
                "out.bin",
                options,
                order,
                R::NAME,
                host,
            ]);
            expect(&run.output().unwrap(), &what);
            samples.compare("out.bin", &right, &names, &what);
        }
    }
}
