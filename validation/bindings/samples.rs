//! Columns with weather, in a file of `nwp-mini columns` and in one of plain numbers, and results to compare.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use netcdf::NcTypeDescriptor;
use nwp_mini::physics::scheme::About;
use nwp_mini::physics::{Field, registry};
use nwp_mini_support::program;
use nwp_mini_support::wsm5::case::{Columns, INPUTS};
use nwp_mini_support::wsm5::columns::columns;
use tempfile::TempDir;

use crate::library::expect;

/// Columns of a row, rows, levels, calls.
const SIZE: [usize; 4] = [12, 9, 40, 3];
/// Length of a call, s: two parts in a scheme that divides calls.
const DT: f64 = 200.0;

/// A number of a file.
pub(crate) trait Number: Copy + NcTypeDescriptor {
    const NAME: &'static str;
    fn of(value: f32) -> Self;
    fn bytes(self) -> Vec<u8>;
}

impl Number for f32 {
    const NAME: &'static str = "f32";
    fn of(value: f32) -> Self {
        value
    }
    fn bytes(self) -> Vec<u8> {
        self.to_ne_bytes().to_vec()
    }
}

impl Number for f64 {
    const NAME: &'static str = "f64";
    fn of(value: f32) -> Self {
        value.into()
    }
    fn bytes(self) -> Vec<u8> {
        self.to_ne_bytes().to_vec()
    }
}

/// A folder with the columns in both forms.
pub(crate) struct Samples {
    folder: TempDir,
    about: &'static About,
}

impl Samples {
    /// Columns for a scheme; graupel is none at first.
    pub(crate) fn new<R: Number>(key: &str) -> Self {
        let about = registry::SCHEMES.into_iter().find(|about| about.key == key).expect(key);
        let folder = tempfile::tempdir().expect("a folder");
        let [ni, nj, nk, _] = SIZE;
        let mut weather = columns(nk, ni * nj);
        // Contents that a host which flushes subnormal numbers would lose.
        for field in &mut weather.fields[4..6] {
            field.iter_mut().step_by(7).for_each(|value| *value = 1e-39);
        }
        let samples = Self { folder, about };
        samples.write_netcdf(&weather);
        samples.write_plain::<R>(&weather);
        samples
    }

    pub(crate) fn folder(&self) -> &Path {
        self.folder.path()
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// The values of a field: 0 of those that the columns lack.
    fn values(weather: &Columns, field: &Field) -> Vec<f32> {
        match INPUTS.iter().position(|name| *name == field.name) {
            Some(at) => weather.fields[at].iter().copied().collect(),
            None => vec![0.0; weather.fields[0].len()],
        }
    }

    fn inputs(&self) -> impl Iterator<Item = &'static Field> {
        self.about.tracers.iter().chain(self.about.air)
    }

    fn write_netcdf(&self, weather: &Columns) {
        let mut file = netcdf::create(self.path("in.nc")).expect("a new file");
        let (nz, nx) = weather.dim();
        file.add_dimension("level", nz).expect("a dimension");
        file.add_dimension("column", nx).expect("a dimension");
        for field in self.inputs() {
            let variable = file.add_variable::<f32>(field.name, &["level", "column"]);
            let values = Self::values(weather, field);
            variable.expect("a variable").put_values(&values, ..).expect("values");
        }
    }

    fn write_plain<R: Number>(&self, weather: &Columns) {
        let mut bytes: Vec<u8> = SIZE.iter().flat_map(|n| (*n as i32).to_ne_bytes()).collect();
        bytes.extend(DT.to_ne_bytes());
        for field in self.inputs() {
            bytes.extend(Self::values(weather, field).into_iter().flat_map(|x| R::of(x).bytes()));
        }
        fs::write(self.path("in.bin"), bytes).expect("a new file");
    }

    /// Results of `nwp-mini columns` as programs write them: tracers, planes, diagnosed fields.
    pub(crate) fn right<R: Number>(&self, more: &[&str]) -> Vec<(String, Vec<u8>)> {
        let mut command = Command::new(program());
        command
            .current_dir(self.folder())
            .args(["columns", "--input", "in.nc", "--output", "out.nc", "--force"]);
        command.args(["--physics", self.about.key, "--precision", R::NAME, "--backend", "cpu"]);
        command.args(["--dt", &DT.to_string(), "--calls", &SIZE[3].to_string()]).args(more);
        expect(&command.output().expect("the program starts"), "columns");
        let file = netcdf::open(self.path("out.nc")).expect("its output");
        let fields =
            self.about.tracers.iter().chain(self.about.surface).chain(self.about.diagnosed);
        let values = |field: &Field| -> (String, Vec<u8>) {
            let variable = file.variable(field.name).expect(field.name);
            let values: Vec<R> = variable.get_values(..).expect("values");
            (field.name.to_owned(), values.into_iter().flat_map(Number::bytes).collect())
        };
        fields.map(values).collect()
    }

    /// Fails unless the file of a program has these results, in an order of names.
    pub(crate) fn compare(
        &self,
        name: &str,
        right: &[(String, Vec<u8>)],
        order: &[&str],
        what: &str,
    ) {
        let found = fs::read(self.path(name)).expect("the output of the program");
        let mut at = 0;
        for name in order {
            let (_, bytes) = right.iter().find(|(known, _)| known == name).expect(name);
            let end = at + bytes.len();
            assert!(end <= found.len(), "{what}: the output ends before {name}");
            assert!(found[at..end] == bytes[..], "{what}: {name} has other bits");
            at = end;
        }
        assert_eq!(at, found.len(), "{what}: more than the fields");
    }
}
