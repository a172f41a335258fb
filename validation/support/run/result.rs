//! Contents of a NetCDF file.

use std::path::Path;

use ndarray::{ArrayD, Axis};
use netcdf::AttributeValue;

/// An open NetCDF file.
#[derive(Debug)]
pub struct Output {
    pub file: netcdf::File,
}

impl Output {
    /// Opens a file that must be there and be good.
    pub fn open(path: &Path) -> Self {
        let file = netcdf::open(path).unwrap_or_else(|e| panic!("{}: {e}", path.display()));
        Self { file }
    }

    /// A variable.
    pub fn variable(&self, name: &str) -> netcdf::Variable<'_> {
        self.file.variable(name).unwrap_or_else(|| panic!("the file has no {name}"))
    }

    /// Names of all variables.
    pub fn names(&self) -> Vec<String> {
        self.file.variables().map(|variable| variable.name()).collect()
    }

    /// All values of a variable; single precision becomes double without a change.
    pub fn values(&self, name: &str) -> ArrayD<f64> {
        self.variable(name).get(..).unwrap_or_else(|e| panic!("{name}: {e}"))
    }

    /// The values of a variable at one time.
    pub fn frame(&self, name: &str, time: usize) -> ArrayD<f64> {
        self.values(name).index_axis(Axis(0), time).to_owned()
    }

    /// The values of a variable at the last time.
    pub fn last(&self, name: &str) -> ArrayD<f64> {
        self.frame(name, self.frames() - 1)
    }

    /// Number of times.
    pub fn frames(&self) -> usize {
        self.file.dimension_len("Time").expect("a dimension Time")
    }

    /// The time stamps.
    pub fn times(&self) -> Vec<String> {
        let variable = self.variable("Times");
        let bytes = variable.get_raw_values(..).expect("the time stamps");
        let text = |row: &[u8]| String::from_utf8(row.to_vec()).expect("ASCII");
        bytes.chunks(variable.dimensions()[1].len()).map(text).collect()
    }

    /// A global attribute as text.
    pub fn text(&self, name: &str) -> String {
        text(self.file.attribute(name).map(|attribute| attribute.value()), name)
    }

    /// An attribute of a variable as text.
    pub fn text_of(&self, variable: &str, name: &str) -> String {
        let attribute = self.variable(variable).attribute_value(name);
        text(attribute, &format!("{variable}:{name}"))
    }

    /// A global attribute as a number.
    pub fn number(&self, name: &str) -> f64 {
        let attribute = self.file.attribute(name).unwrap_or_else(|| panic!("no attribute {name}"));
        attribute.value().expect("readable").try_into().expect("a number")
    }

    /// The bits of every floating-point variable, in the order of their names.
    pub fn bits(&self) -> Vec<(String, Vec<u64>)> {
        let mut names: Vec<String> =
            self.names().into_iter().filter(|name| name != "Times").collect();
        names.sort();
        names
            .into_iter()
            .map(|name| {
                let bits = self.values(&name).iter().map(|x| x.to_bits()).collect();
                (name, bits)
            })
            .collect()
    }

    /// The bits at the last time only.
    pub fn last_bits(&self) -> Vec<(String, Vec<u64>)> {
        let frames = self.frames();
        let last = |bits: Vec<u64>| bits[bits.len() / frames * (frames - 1)..].to_vec();
        self.bits().into_iter().map(|(name, bits)| (name, last(bits))).collect()
    }
}

fn text(value: Option<netcdf::Result<AttributeValue>>, name: &str) -> String {
    let value = value.unwrap_or_else(|| panic!("no attribute {name}")).expect("readable");
    value.try_into().unwrap_or_else(|e| panic!("{name}: {e}"))
}
