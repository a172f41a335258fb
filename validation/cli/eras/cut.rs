//! A piece of our storm, written down as WRF of another time would have.

use std::collections::BTreeMap;
use std::path::Path;

use ndarray::{ArrayD, Axis, Slice};
use netcdf::AttributeValue;
use netcdf::types::NcVariableType;
use nwp_mini::io::store::netcdf::nc_char::NcChar;

/// Position of the piece in `data/soc.nc`: its first column and row, and their numbers. The front crosses it, with all
/// kinds of water.
const ORIGIN: [usize; 2] = [30, 22];
const CELLS: [usize; 2] = [14, 12];

/// Variables of the storm that a run needs, and those that it may read in addition.
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

/// Storage of the values of a variable.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    Single,
    Double,
    Int,
    Short,
    Byte,
    UnsignedByte,
}

/// Storage of the times of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Stamps {
    /// Characters, a row for each time.
    Characters,
    /// Strings, one for each time.
    Strings,
    /// One text, as if the only time had been extracted without its dimension.
    Line,
    /// Not at all.
    None,
}

/// A variable of one time.
#[derive(Clone, Debug)]
pub(crate) struct Field {
    pub(crate) axes: Vec<String>,
    pub(crate) values: ArrayD<f32>,
    /// True if the dimension Time comes first.
    pub(crate) has_time: bool,
    pub(crate) kind: Kind,
    pub(crate) attributes: Vec<(&'static str, AttributeValue)>,
}

impl Field {
    /// A variable for each time, of single precision.
    pub(crate) fn new(axes: &[&str], values: ArrayD<f32>) -> Self {
        Self {
            axes: axes.iter().map(|axis| (*axis).to_owned()).collect(),
            values,
            has_time: true,
            kind: Kind::Single,
            attributes: Vec::new(),
        }
    }

    /// Stores `(value - offset) / scale`, rounded for integer types, with the attributes; `None` omits an attribute.
    pub(crate) fn pack(&mut self, kind: Kind, scale: Option<f32>, offset: Option<f32>) {
        let [by, from] = [scale.unwrap_or(1.0), offset.unwrap_or(0.0)].map(f64::from);
        let is_whole = !matches!(kind, Kind::Single | Kind::Double);
        self.values.mapv_inplace(|x| {
            let stored = (f64::from(x) - from) / by;
            (if is_whole { stored.round() } else { stored }) as f32
        });
        self.kind = kind;
        self.attributes.extend(scale.map(|x| ("scale_factor", x.into())));
        self.attributes.extend(offset.map(|x| ("add_offset", x.into())));
    }
}

/// A file in the making.
#[derive(Clone, Debug)]
pub(crate) struct Cut {
    pub(crate) fields: BTreeMap<String, Field>,
    pub(crate) numbers: BTreeMap<&'static str, f32>,
    pub(crate) stamp: String,
    /// Storage of its times.
    pub(crate) stamps: Stamps,
    pub(crate) texts: BTreeMap<&'static str, String>,
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
            let axes: Vec<&str> = axes.iter().map(String::as_str).collect();
            (name.to_owned(), Field::new(&axes, values))
        });
        Self {
            fields: fields.collect(),
            numbers: [("DX", 30_000.0), ("DY", 30_000.0), ("DT", 60.0)].into(),
            stamp: "0001-01-01_10:00:00".to_owned(),
            stamps: Stamps::Characters,
            texts: BTreeMap::new(),
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

    /// The variable itself.
    pub(crate) fn field(&mut self, name: &str) -> &mut Field {
        self.fields.get_mut(name).unwrap_or_else(|| panic!("no {name}"))
    }

    /// Adds a plane of the cells.
    pub(crate) fn add_plane(&mut self, name: &str, value: impl Fn(usize, usize) -> f32) {
        let plane = ndarray::Array2::from_shape_fn([CELLS[1], CELLS[0]], |(j, i)| value(j, i));
        let field = Field::new(&["south_north", "west_east"], plane.into_dyn());
        self.fields.insert(name.to_owned(), field);
    }

    pub(crate) fn write(&self, path: &Path) {
        Self::write_all(&[self], path);
    }

    /// Writes several times, all with the variables of the first, into one file.
    pub(crate) fn write_all(times: &[&Self], path: &Path) {
        Self::put(times, path).unwrap_or_else(|e| panic!("{}: {e}", path.display()));
    }

    fn put(times: &[&Self], path: &Path) -> netcdf::Result<()> {
        let first = times[0];
        let mut file = netcdf::create(path)?;
        let has_time = first.stamps != Stamps::Line;
        if has_time {
            file.add_unlimited_dimension("Time")?;
        }
        file.add_dimension(first.text_axis, first.stamp.len())?;
        let mut lengths: BTreeMap<&str, usize> = BTreeMap::new();
        for field in first.fields.values() {
            lengths.extend(
                field.axes.iter().map(String::as_str).zip(field.values.shape().iter().copied()),
            );
        }
        for (name, length) in lengths {
            file.add_dimension(name, length)?;
        }
        for (name, value) in &first.numbers {
            file.add_attribute(name, *value)?;
        }
        for (name, text) in &first.texts {
            file.add_attribute(name, text.as_str())?;
        }
        put_stamps(&mut file, times)?;
        for (name, field) in &first.fields {
            let has_time = field.has_time && has_time;
            let axes: Vec<&str> = has_time
                .then_some("Time")
                .into_iter()
                .chain(field.axes.iter().map(String::as_str))
                .collect();
            let mut variable = match field.kind {
                Kind::Single => file.add_variable::<f32>(name, &axes)?,
                Kind::Double => file.add_variable::<f64>(name, &axes)?,
                Kind::Int => file.add_variable::<i32>(name, &axes)?,
                Kind::Short => file.add_variable::<i16>(name, &axes)?,
                Kind::Byte => file.add_variable::<i8>(name, &axes)?,
                Kind::UnsignedByte => file.add_variable::<u8>(name, &axes)?,
            };
            // The library wants the fill value before any other.
            for (name, value) in &field.attributes {
                variable.put_attribute(name, value.clone())?;
            }
            for (number, time) in
                times.iter().enumerate().take(if has_time { times.len() } else { 1 })
            {
                let values: Vec<f32> = time.fields[name].values.iter().copied().collect();
                let whole = field.values.shape().iter().map(|&n| 0..n);
                let extents: Vec<_> =
                    has_time.then_some(number..number + 1).into_iter().chain(whole).collect();
                match field.kind {
                    Kind::Single => variable.put_values(&values, extents)?,
                    Kind::Double => variable.put_values(&mapped(&values, f64::from), extents)?,
                    Kind::Int => variable.put_values(&mapped(&values, |x| x as i32), extents)?,
                    Kind::Short => variable.put_values(&mapped(&values, |x| x as i16), extents)?,
                    Kind::Byte => variable.put_values(&mapped(&values, |x| x as i8), extents)?,
                    Kind::UnsignedByte => {
                        variable.put_values(&mapped(&values, |x| x as u8), extents)?;
                    }
                }
            }
        }
        file.close()
    }
}

fn mapped<T>(values: &[f32], to: impl Fn(f32) -> T) -> Vec<T> {
    values.iter().map(|x| to(*x)).collect()
}

fn put_stamps(file: &mut netcdf::FileMut, times: &[&Cut]) -> netcdf::Result<()> {
    let Cut { stamps, text_axis, .. } = times[0];
    match stamps {
        Stamps::Characters => {
            let axes = ["Time", text_axis];
            let mut variable =
                file.add_variable_with_type("Times", &axes, &NcVariableType::Char)?;
            for (number, Cut { stamp, .. }) in times.iter().enumerate() {
                variable.put_values(&NcChar::of(stamp), [number..number + 1, 0..stamp.len()])?;
            }
        }
        Stamps::Strings => {
            let mut variable = file.add_string_variable("Times", &["Time"])?;
            for (number, time) in times.iter().enumerate() {
                variable.put_string(&time.stamp, [number])?;
            }
        }
        Stamps::Line => {
            let mut variable =
                file.add_variable_with_type("Times", &[text_axis], &NcVariableType::Char)?;
            variable.put_values(&NcChar::of(&times[0].stamp), 0..times[0].stamp.len())?;
        }
        Stamps::None => {}
    }
    Ok(())
}
