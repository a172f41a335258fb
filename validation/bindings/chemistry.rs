//! Chemistry of the library beside `nwp-mini chemistry`.

use std::fs;
use std::path::Path;
use std::process::Command;

use nwp_mini::chemistry::cells::Cells;
use nwp_mini_support::chemistry::Case;
use nwp_mini_support::{program, project};

use crate::library::{Linked, compiled, expect};

/// Length of the call, s.
const DT: f64 = 600.0;

/// RADM2, with photolysis and the hydrolysis of N2O5.
#[test]
fn cells_have_the_bits_of_the_program() {
    let case = Case::named("radm2");
    let cells = case.cells();
    let folder = tempfile::tempdir().expect("a folder");
    write_netcdf(&case, &cells, &folder.path().join("in.nc"));
    write_plain(&cells, &folder.path().join("in.bin"));
    let mechanism = project().join("data/chemistry/radm2.kpp");

    let mut command = Command::new(program());
    command.current_dir(&folder).arg("chemistry").arg("--mechanism").arg(&mechanism);
    command.args(["--input", "in.nc", "--output", "out.nc", "--dt", &DT.to_string()]);
    command.args(["--method", "ros3", "--backend", "cpu"]);
    expect(&command.output().expect("the program starts"), "chemistry");
    let file = netcdf::open(folder.path().join("out.nc")).expect("its output");
    let values = |name: &str| file.variable(name).expect(name).get_values(..).expect(name);
    let right: Vec<Vec<f64>> =
        names(&case, &case.kinetics.variable).into_iter().map(values).collect();

    let source = "validation/bindings/programs/chemistry.c";
    let host = compiled(source, Linked::Shared, folder.path());
    for threads in [1, 2] {
        let options = format!("mechanism={},method=ros3,threads={threads}", mechanism.display());
        let mut run = Command::new(&host);
        run.current_dir(&folder).args(["in.bin", "out.bin", &options]);
        expect(&run.output().expect("the host starts"), &options);
        let bytes = fs::read(folder.path().join("out.bin")).expect("the output of the host");
        let found: Vec<f64> =
            bytes.chunks_exact(8).map(|x| f64::from_ne_bytes(x.try_into().unwrap())).collect();
        assert_eq!(found.len(), right.len() * cells.len(), "{options}");
        for (at, value) in found.iter().enumerate() {
            let (cell, species) = (at / right.len(), at % right.len());
            let expected = right[species][cell];
            assert_eq!(value.to_bits(), expected.to_bits(), "{options}: {species} of cell {cell}");
        }
    }
}

/// Names of species by their numbers in the mechanism.
fn names<'a>(case: &'a Case, numbers: &[usize]) -> Vec<&'a str> {
    numbers.iter().map(|number| case.mechanism.species[*number].name.as_str()).collect()
}

/// The cells as the program reads them.
fn write_netcdf(case: &Case, cells: &Cells, path: &Path) {
    let mut file = netcdf::create(path).expect("a new file");
    file.add_dimension("cell", cells.len()).expect("a dimension");
    let mut put = |name: &str, values: Vec<f64>| {
        let variable = file.add_variable::<f64>(name, &["cell"]);
        variable.expect(name).put_values(&values, ..).expect(name);
    };
    put("temp", cells.temperature.clone());
    put("c_m", cells.air_density.clone());
    put("rc_n2o5", cells.hydrolysis.clone());
    put("tstart", cells.start.clone());
    let frequencies = case.mechanism.photolysis.iter().map(String::as_str).collect();
    for (names, values) in [
        (frequencies, &cells.photolysis),
        (names(case, &case.kinetics.variable), &cells.variable),
        (names(case, &case.kinetics.fixed), &cells.fixed),
    ] {
        for (at, name) in names.iter().enumerate() {
            put(name, values.iter().skip(at).step_by(names.len()).copied().collect());
        }
    }
}

/// The cells as the host reads them: counts, conditions, frequencies and species, those of a cell side by side.
fn write_plain(cells: &Cells, path: &Path) {
    let count = cells.len();
    let [variable, fixed, frequencies] =
        [&cells.variable, &cells.fixed, &cells.photolysis].map(|values| values.len() / count);
    let counts = [count, variable + fixed, frequencies].map(|n| (n as i64).to_ne_bytes());
    let mut bytes = counts.concat();
    let mut put = |values: &[f64]| bytes.extend(values.iter().flat_map(|x| x.to_ne_bytes()));
    put(&[DT]);
    for values in
        [&cells.temperature, &cells.air_density, &cells.hydrolysis, &cells.start, &cells.photolysis]
    {
        put(values);
    }
    for cell in 0..count {
        put(&cells.variable[cell * variable..][..variable]);
        put(&cells.fixed[cell * fixed..][..fixed]);
    }
    fs::write(path, bytes).expect("a new file");
}
