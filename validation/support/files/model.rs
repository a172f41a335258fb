//! A NetCDF file in memory, to be corrupted and written.

use std::path::Path;

use netcdf::types::{FloatType, IntType, NcVariableType};
use netcdf::{AttributeValue, Endianness, FileMut, Options, Variable, VariableMut};
use nwp_mini::io::restart;
use nwp_mini::io::store::netcdf::digest::digest;
use nwp_mini::io::store::netcdf::nc_char::NcChar;

/// Bytes of the largest file that is written.
const MOST_BYTES: usize = 32 << 20;

/// A dimension.
#[derive(Clone, Debug)]
pub struct Dimension {
    pub name: String,
    pub length: usize,
    pub unlimited: bool,
}

/// The values of a variable.
#[derive(Clone, Debug)]
pub enum Data {
    Text(Vec<u8>),
    Byte(Vec<i8>),
    Short(Vec<i16>),
    Int(Vec<i32>),
    Long(Vec<i64>),
    Float(Vec<f32>),
    Double(Vec<f64>),
    Strings(Vec<String>),
}

/// A variable.
#[derive(Clone, Debug)]
pub struct Field {
    pub name: String,
    pub axes: Vec<String>,
    pub attributes: Vec<(String, AttributeValue)>,
    pub data: Data,
    /// True to store the values in HDF5 with the byte order opposite to this machine's.
    pub turned: bool,
}

/// A file.
#[derive(Clone, Debug, Default)]
pub struct Model {
    pub dimensions: Vec<Dimension>,
    pub attributes: Vec<(String, AttributeValue)>,
    pub fields: Vec<Field>,
}

/// The form in which a file is stored.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Flavour {
    Classic,
    LongOffsets,
    LongData,
    Hdf5,
    Deflated,
}

impl Flavour {
    pub const ALL: [Self; 5] =
        [Self::Classic, Self::LongOffsets, Self::LongData, Self::Hdf5, Self::Deflated];

    pub fn is_hdf5(self) -> bool {
        matches!(self, Self::Hdf5 | Self::Deflated)
    }

    fn options(self) -> Options {
        match self {
            Self::Classic => Options::empty(),
            Self::LongOffsets => Options::_64BIT_OFFSET,
            Self::LongData => Options::_64BIT_DATA,
            Self::Hdf5 | Self::Deflated => Options::NETCDF4,
        }
    }
}

/// Values beyond this number are not written but left to the library: they are its fill values.
pub const MOST_VALUES: usize = 1 << 18;

impl Data {
    /// Number of values.
    #[allow(clippy::len_without_is_empty, reason = "tests never ask for it")]
    pub fn len(&self) -> usize {
        match self {
            Self::Text(x) => x.len(),
            Self::Byte(x) => x.len(),
            Self::Short(x) => x.len(),
            Self::Int(x) => x.len(),
            Self::Long(x) => x.len(),
            Self::Float(x) => x.len(),
            Self::Double(x) => x.len(),
            Self::Strings(x) => x.len(),
        }
    }

    /// Resizes the values to a count, by repetition.
    pub fn fit(&mut self, count: usize) {
        fn cycle<T: Clone + Default>(values: &mut Vec<T>, count: usize) {
            if values.is_empty() {
                values.push(T::default());
            }
            *values = values.iter().cycle().take(count).cloned().collect();
        }
        match self {
            Self::Text(x) => cycle(x, count),
            Self::Byte(x) => cycle(x, count),
            Self::Short(x) => cycle(x, count),
            Self::Int(x) => cycle(x, count),
            Self::Long(x) => cycle(x, count),
            Self::Float(x) => cycle(x, count),
            Self::Double(x) => cycle(x, count),
            Self::Strings(x) => cycle(x, count),
        }
    }

    /// Numbers; those of text are its bytes.
    pub fn numbers(&self) -> Vec<f64> {
        match self {
            Self::Text(x) => x.iter().map(|&x| x.into()).collect(),
            Self::Byte(x) => x.iter().map(|&x| x.into()).collect(),
            Self::Short(x) => x.iter().map(|&x| x.into()).collect(),
            Self::Int(x) => x.iter().map(|&x| x.into()).collect(),
            Self::Long(x) => x.iter().map(|&x| x as f64).collect(),
            Self::Float(x) => x.iter().map(|&x| x.into()).collect(),
            Self::Double(x) => x.clone(),
            Self::Strings(x) => x.iter().map(|x| x.parse().unwrap_or(0.0)).collect(),
        }
    }

    /// Numbers as values of the same kind.
    pub fn of_kind(&self, numbers: Vec<f64>) -> Self {
        match self {
            Self::Text(_) => Self::Text(numbers.into_iter().map(|x| x as u8).collect()),
            Self::Byte(_) => Self::Byte(numbers.into_iter().map(|x| x as i8).collect()),
            Self::Short(_) => Self::Short(numbers.into_iter().map(|x| x as i16).collect()),
            Self::Int(_) => Self::Int(numbers.into_iter().map(|x| x as i32).collect()),
            Self::Long(_) => Self::Long(numbers.into_iter().map(|x| x as i64).collect()),
            Self::Float(_) => Self::Float(numbers.into_iter().map(|x| x as f32).collect()),
            Self::Double(_) => Self::Double(numbers),
            Self::Strings(_) => Self::Strings(numbers.into_iter().map(|x| x.to_string()).collect()),
        }
    }

    fn kind(&self) -> NcVariableType {
        use NcVariableType as N;
        match self {
            Self::Text(_) => N::Char,
            Self::Byte(_) => N::Int(IntType::I8),
            Self::Short(_) => N::Int(IntType::I16),
            Self::Int(_) => N::Int(IntType::I32),
            Self::Long(_) => N::Int(IntType::I64),
            Self::Float(_) => N::Float(FloatType::F32),
            Self::Double(_) => N::Float(FloatType::F64),
            Self::Strings(_) => N::String,
        }
    }

    fn read(variable: &Variable<'_>) -> netcdf::Result<Self> {
        use NcVariableType as N;
        Ok(match variable.vartype() {
            N::Char => Self::Text(variable.get_raw_values(..)?),
            N::Int(IntType::I8) => Self::Byte(variable.get_values(..)?),
            N::Int(IntType::I16) => Self::Short(variable.get_values(..)?),
            N::Int(IntType::I32) => Self::Int(variable.get_values(..)?),
            N::Int(_) => Self::Long(variable.get_values(..)?),
            N::Float(FloatType::F32) => Self::Float(variable.get_values(..)?),
            _ => Self::Double(variable.get_values(..)?),
        })
    }

    fn put(&self, variable: &mut VariableMut<'_>, lengths: &[usize]) -> netcdf::Result<()> {
        let ranges: Vec<_> = lengths.iter().map(|&n| 0..n).collect();
        match self {
            Self::Text(x) => variable.put_values(&NcChar::of(x), ranges),
            Self::Byte(x) => variable.put_values(x, ranges),
            Self::Short(x) => variable.put_values(x, ranges),
            Self::Int(x) => variable.put_values(x, ranges),
            Self::Long(x) => variable.put_values(x, ranges),
            Self::Float(x) => variable.put_values(x, ranges),
            Self::Double(x) => variable.put_values(x, ranges),
            Self::Strings(x) => {
                let mut at = vec![0; lengths.len()];
                for text in x {
                    variable.put_string(text, at.clone())?;
                    for (index, length) in at.iter_mut().zip(lengths).rev() {
                        *index += 1;
                        if *index < *length {
                            break;
                        }
                        *index = 0;
                    }
                }
                Ok(())
            }
        }
    }
}

/// A copy of a file. A program that another test started while the file was being written may hold HDF5's lock on it;
/// the copy is not locked.
fn unlocked_copy(path: &Path) -> tempfile::NamedTempFile {
    let copy = tempfile::NamedTempFile::new().expect("a file");
    std::fs::copy(path, &copy).unwrap_or_else(|e| panic!("{}: {e}", path.display()));
    copy
}

impl Model {
    /// Takes a good file to memory.
    pub fn read(path: &Path) -> Self {
        Self::take(unlocked_copy(path).path()).unwrap_or_else(|e| panic!("{}: {e}", path.display()))
    }

    fn take(path: &Path) -> netcdf::Result<Self> {
        let file = netcdf::open(path)?;
        let dimensions = file.dimensions().map(|d| Dimension {
            name: d.name(),
            length: d.len(),
            unlimited: d.is_unlimited(),
        });
        let attribute = |a: netcdf::Attribute<'_>| Ok((a.name().to_owned(), a.value()?));
        let fields = file.variables().map(|variable| {
            Ok(Field {
                name: variable.name(),
                axes: variable.dimensions().iter().map(netcdf::Dimension::name).collect(),
                attributes: variable.attributes().map(attribute).collect::<netcdf::Result<_>>()?,
                data: Data::read(&variable)?,
                turned: false,
            })
        });
        Ok(Self {
            dimensions: dimensions.collect(),
            attributes: file.attributes().map(attribute).collect::<netcdf::Result<_>>()?,
            fields: fields.collect::<netcdf::Result<_>>()?,
        })
    }

    /// The length of a dimension; 1 if it does not exist.
    pub fn length(&self, name: &str) -> usize {
        self.dimensions.iter().find(|d| d.name == name).map_or(1, |d| d.length)
    }

    fn lengths(&self, field: &Field) -> Vec<usize> {
        field.axes.iter().map(|name| self.length(name)).collect()
    }

    /// Changes the length of a dimension, and the variables on it accordingly; the first values along the dimension are
    /// kept.
    pub fn resize(&mut self, name: &str, length: usize) {
        let before = self.clone();
        let Some(dimension) = self.dimensions.iter_mut().find(|d| d.name == name) else { return };
        dimension.length = length;
        let lengths: Vec<Vec<usize>> = self.fields.iter().map(|f| self.lengths(f)).collect();
        for ((field, new), old) in self.fields.iter_mut().zip(lengths).zip(&before.fields) {
            let count = new.iter().copied().fold(1, usize::saturating_mul);
            if count > MOST_VALUES || !field.axes.iter().any(|axis| axis == name) {
                continue;
            }
            let was = before.lengths(old);
            let values = old.data.numbers();
            if values.is_empty() {
                field.data.fit(count);
                continue;
            }
            let numbers = (0..count).map(|n| {
                let mut rest = n;
                let mut index = vec![0; new.len()];
                for (place, length) in index.iter_mut().zip(&new).rev() {
                    *place = rest % length;
                    rest /= length;
                }
                let at = index.iter().zip(&was).fold(0, |at, (i, length)| at * length + i % length);
                values[at % values.len()]
            });
            field.data = field.data.of_kind(numbers.collect());
        }
    }

    /// Keeps of a dimension `length` values from `first` on, and the values of the variables there.
    pub fn cut(&mut self, name: &str, first: usize, length: usize) {
        let Some(at) = self.dimensions.iter().position(|d| d.name == name) else { return };
        let lengths: Vec<Vec<usize>> = self.fields.iter().map(|f| self.lengths(f)).collect();
        for (field, was) in self.fields.iter_mut().zip(lengths) {
            let Some(axis) = field.axes.iter().position(|axis| axis == name) else { continue };
            let inner: usize = was[axis + 1..].iter().product();
            let values = field.data.numbers();
            let kept = values.chunks(inner * was[axis]);
            let kept = kept.flat_map(|all| &all[first * inner..][..length * inner]);
            field.data = field.data.of_kind(kept.copied().collect());
        }
        self.dimensions[at].length = length;
    }

    /// An existing variable.
    pub fn field(&mut self, name: &str) -> &mut Field {
        self.fields.iter_mut().find(|f| f.name == name).unwrap_or_else(|| panic!("no {name}"))
    }

    /// Gives a global attribute a value.
    pub fn set(&mut self, name: &str, value: impl Into<AttributeValue>) {
        self.attributes.retain(|(other, _)| other != name);
        self.attributes.push((name.to_owned(), value.into()));
    }

    /// Writes the file.
    ///
    /// # Errors
    ///
    /// If the library cannot write such a file.
    pub fn write(&self, path: &Path, flavour: Flavour) -> netcdf::Result<()> {
        self.check_size(flavour)?;
        // For the same reason a new file is created, instead of truncating an old one.
        let _ = std::fs::remove_file(path);
        let mut file = netcdf::create_with(path, flavour.options())?;
        for Dimension { name, length, unlimited } in &self.dimensions {
            if *unlimited {
                file.add_unlimited_dimension(name)?;
            } else {
                file.add_dimension(name, *length)?;
            }
        }
        for (name, value) in &self.attributes {
            file.add_attribute(name, value.clone())?;
        }
        for field in &self.fields {
            Self::define(&mut file, field, flavour)?;
        }
        if !flavour.is_hdf5() {
            file.enddef()?;
        }
        for field in &self.fields {
            let lengths = self.lengths(field);
            let count = lengths.iter().copied().fold(1, usize::saturating_mul);
            if count > MOST_VALUES || count == 0 {
                continue;
            }
            let mut data = field.data.clone();
            data.fit(count);
            let mut variable = file.variable_mut(&field.name).ok_or("no such variable")?;
            data.put(&mut variable, &lengths)?;
        }
        file.close()
    }

    /// Writes the file with the digest of its contents, as our restart files have it.
    ///
    /// # Errors
    ///
    /// If a variable has more than [`MOST_VALUES`] values.
    pub fn write_sealed(&mut self, path: &Path, flavour: Flavour) -> netcdf::Result<()> {
        let many = |field: &Field| {
            self.lengths(field).into_iter().fold(1, usize::saturating_mul) > MOST_VALUES
        };
        if self.fields.iter().any(many) {
            return Err("the contents would be too large to sum up".into());
        }
        self.write(path, flavour)?;
        let copy = unlocked_copy(path);
        let sum = digest(&netcdf::open(copy.path())?, restart::DIGEST)?;
        self.set(restart::DIGEST, sum);
        self.write(path, flavour)
    }

    /// An error if the library would write more than [`MOST_BYTES`]. It does so when a classic file is closed, even
    /// after an error, so that the check comes first.
    fn check_size(&self, flavour: Flavour) -> netcdf::Result<()> {
        let sizes = self.fields.iter().map(|field| {
            let count = self.lengths(field).into_iter().fold(1, usize::saturating_mul);
            // For unlimited dimensions HDF5 has chunks of 16 MB, even for few values.
            let is_unlimited =
                |axis: &String| self.dimensions.iter().any(|d| d.name == *axis && d.unlimited);
            if flavour.is_hdf5() && field.axes.len() > 1 && field.axes.iter().all(is_unlimited) {
                return MOST_BYTES;
            }
            // HDF5 does not store values that are not written; the longest value has 8 bytes.
            let stored = !flavour.is_hdf5() || count <= MOST_VALUES;
            if stored { count.saturating_mul(8) } else { 0 }
        });
        if sizes.fold(0, usize::saturating_add) > MOST_BYTES {
            return Err("the file would be too large to write".into());
        }
        Ok(())
    }

    fn define(file: &mut FileMut, field: &Field, flavour: Flavour) -> netcdf::Result<()> {
        let axes: Vec<&str> = field.axes.iter().map(String::as_str).collect();
        let mut variable = file.add_variable_with_type(&field.name, &axes, &field.data.kind())?;
        if flavour == Flavour::Deflated && !axes.is_empty() {
            variable.set_compression(2, true)?;
        }
        if flavour.is_hdf5() && field.turned {
            variable.set_endianness(Endianness::Big)?;
        }
        for (name, value) in field.attributes.iter().filter(|(name, _)| name != "_FillValue") {
            variable.put_attribute(name, value.clone())?;
        }
        Ok(())
    }
}
