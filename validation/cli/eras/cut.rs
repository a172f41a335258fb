//! A piece of our storm, written down as WRF of another time would have.

use std::collections::BTreeMap;
use std::path::Path;

use ndarray::{ArrayD, Axis, Slice};
use netcdf::types::NcVariableType;
use nwp_mini::io::nc_char::NcChar;

/// Where the piece lies in `data/soc.nc`: its first column and row, and how many of them. The
/// front crosses it, with all kinds of water.
const ORIGIN: [usize; 2] = [30, 22];
const CELLS: [usize; 2] = [14, 12];

/// What a run needs of the storm, and what it may read beside that.
const VARIABLES: [&str; 35] = [
    "T",
    "QVAPOR",
    "QCLOUD",
    "QRAIN",
    "QICE",
    "QSNOW",
    "P",
    "PB",
    "PH",
    "PHB",
    "MU",
    "MUB",
    "U",
    "V",
    "W",
    "HGT",
    "P_TOP",
    "ZNU",
    "ZNW",
    "DNW",
    "RDNW",
    "DN",
    "RDN",
    "FNM",
    "FNP",
    "C1H",
    "C2H",
    "C1F",
    "C2F",
    "MAPFAC_MX",
    "MAPFAC_MY",
    "MAPFAC_UX",
    "MAPFAC_UY",
    "MAPFAC_VX",
    "MAPFAC_VY",
];

/// A variable of one time.
#[derive(Clone, Debug)]
pub(crate) struct Field {
    pub(crate) axes: Vec<String>,
    pub(crate) values: ArrayD<f32>,
    /// Whether it has the dimension Time before the others.
    pub(crate) has_time: bool,
}

/// A file in the making.
#[derive(Clone, Debug)]
pub(crate) struct Cut {
    pub(crate) fields: BTreeMap<String, Field>,
    pub(crate) numbers: BTreeMap<&'static str, f32>,
    pub(crate) stamp: String,
    /// Name of the dimension of the characters of a time.
    pub(crate) text_axis: &'static str,
}

impl Cut {
    /// The piece as the file has it: WRF 4.3, classic coordinate.
    pub(crate) fn new() -> Self {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("data/soc.nc");
        let file = netcdf::open(path).expect("the storm");
        let fields = VARIABLES.iter().map(|&name| {
            let variable = file.variable(name).unwrap_or_else(|| panic!("no {name}"));
            let mut axes: Vec<String> =
                variable.dimensions().iter().map(netcdf::Dimension::name).collect();
            let mut values: ArrayD<f32> = variable.get(..).expect("numbers");
            values.index_axis_inplace(Axis(0), 0);
            assert_eq!(axes.remove(0), "Time");
            for (at, axis) in axes.iter().enumerate() {
                let side = usize::from(axis.starts_with("south_north"));
                if axis.starts_with("bottom_top") {
                    continue;
                }
                let end = ORIGIN[side] + CELLS[side] + usize::from(axis.ends_with("_stag"));
                values.slice_axis_inplace(Axis(at), Slice::from(ORIGIN[side]..end));
            }
            (name.to_owned(), Field { axes, values, has_time: true })
        });
        Self {
            fields: fields.collect(),
            numbers: [("DX", 30_000.0), ("DY", 30_000.0), ("DT", 60.0)].into(),
            stamp: "0001-01-01_10:00:00".to_owned(),
            text_axis: "DateStrLen",
        }
    }

    pub(crate) fn values(&mut self, name: &str) -> &mut ArrayD<f32> {
        &mut self.fields.get_mut(name).unwrap_or_else(|| panic!("no {name}")).values
    }

    pub(crate) fn remove(&mut self, names: &[&str]) {
        for name in names {
            self.fields.remove(*name).unwrap_or_else(|| panic!("no {name}"));
        }
    }

    pub(crate) fn rename(&mut self, name: &str, new: &str) {
        let field = self.fields.remove(name).unwrap_or_else(|| panic!("no {name}"));
        self.fields.insert(new.to_owned(), field);
    }

    /// Adds a variable of the shape of another.
    pub(crate) fn add_like(&mut self, name: &str, like: &str, value: f32) {
        let mut field = self.fields[like].clone();
        field.values.fill(value);
        self.fields.insert(name.to_owned(), field);
    }

    /// The same air at another time.
    pub(crate) fn at(mut self, stamp: &str) -> Self {
        stamp.clone_into(&mut self.stamp);
        self
    }

    pub(crate) fn write(&self, path: &Path) {
        self.put(path).unwrap_or_else(|e| panic!("{}: {e}", path.display()));
    }

    fn put(&self, path: &Path) -> netcdf::Result<()> {
        let mut file = netcdf::create(path)?;
        file.add_unlimited_dimension("Time")?;
        file.add_dimension(self.text_axis, self.stamp.len())?;
        let mut lengths: BTreeMap<&str, usize> = BTreeMap::new();
        for field in self.fields.values() {
            lengths.extend(
                field.axes.iter().map(String::as_str).zip(field.values.shape().iter().copied()),
            );
        }
        for (name, length) in lengths {
            file.add_dimension(name, length)?;
        }
        for (name, value) in &self.numbers {
            file.add_attribute(name, *value)?;
        }
        let mut times =
            file.add_variable_with_type("Times", &["Time", self.text_axis], &NcVariableType::Char)?;
        times.put_values(&NcChar::of(&self.stamp), [0..1, 0..self.stamp.len()])?;
        for (name, field) in &self.fields {
            let time = field.has_time.then_some("Time");
            let axes: Vec<&str> =
                time.into_iter().chain(field.axes.iter().map(String::as_str)).collect();
            let mut variable = file.add_variable::<f32>(name, &axes)?;
            let values: Vec<f32> = field.values.iter().copied().collect();
            let whole = field.values.shape().iter().map(|&n| 0..n);
            let extents: Vec<_> = field.has_time.then_some(0..1).into_iter().chain(whole).collect();
            variable.put_values(&values, extents)?;
        }
        file.close()
    }
}
