//! Variables of any type and shape, for comparisons of files.

use std::ops::Range;

use netcdf::Variable;
use netcdf::types::{FloatType, IntType, NcVariableType};

use crate::error::Result;
use crate::io::read::packing::{FLOAT_FILL, MissingReason, Packing};
use crate::io::read::reader::Reader;
use crate::real::Real;
use crate::units::is_absent;

/// The type of a variable, by its name in CDL.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Kind(pub &'static str);

/// A dimension of a variable.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Extent {
    /// Its name.
    pub name: String,
    /// Its length.
    pub length: usize,
    /// `true` if it may grow.
    pub unlimited: bool,
}

/// Description of a variable.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Description {
    /// Its name.
    pub name: String,
    /// Its type.
    pub kind: Kind,
    /// Its dimensions.
    pub extents: Vec<Extent>,
    /// For packed values: half of the step between packed values, in units of the variable.
    pub packed: Option<f64>,
    /// Its units, if it is numeric and states any.
    pub units: Option<String>,
}

/// Values of a variable, unpacked; missing ones of floating-point types are NaN.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Values {
    /// Of type float.
    Single(Vec<f32>),
    /// Of type double.
    Double(Vec<f64>),
    /// Of an integer type except uint64.
    Signed(Vec<i64>),
    /// Of type uint64.
    Unsigned(Vec<u64>),
    /// Of type char.
    Text(Vec<u8>),
    /// Of type string.
    Strings(Vec<String>),
    /// Of a user-defined type; not read.
    Unreadable,
}

impl Values {
    /// Numbers in double precision, if they are numbers.
    pub(crate) fn wide(self) -> Option<Vec<f64>> {
        match self {
            Self::Single(values) => Some(values.into_iter().map(f64::from).collect()),
            Self::Double(values) => Some(values),
            Self::Signed(values) => Some(values.into_iter().map(|x| x as f64).collect()),
            Self::Unsigned(values) => Some(values.into_iter().map(|x| x as f64).collect()),
            Self::Text(_) | Self::Strings(_) | Self::Unreadable => None,
        }
    }
}

/// The name in CDL.
fn kind(of: &NcVariableType) -> Kind {
    use NcVariableType as N;
    Kind(match of {
        N::Float(FloatType::F32) => "float",
        N::Float(FloatType::F64) => "double",
        N::Int(IntType::I8) => "byte",
        N::Int(IntType::U8) => "ubyte",
        N::Int(IntType::I16) => "short",
        N::Int(IntType::U16) => "ushort",
        N::Int(IntType::I32) => "int",
        N::Int(IntType::U32) => "uint",
        N::Int(IntType::I64) => "int64",
        N::Int(IntType::U64) => "uint64",
        N::Char => "char",
        N::String => "string",
        N::Compound(_) | N::Opaque(_) | N::Enum(_) | N::Vlen(_) => "user-defined",
    })
}

impl Reader {
    /// Descriptions of the variables of the file, in its order.
    pub(crate) fn descriptions(&self) -> Result<Vec<Description>> {
        self.variable_names().iter().map(|name| self.description(name)).collect()
    }

    /// Description of a variable.
    pub(crate) fn description(&self, name: &str) -> Result<Description> {
        let variable = self.variable(name)?;
        let extents = variable.dimensions().iter().map(|d| Extent {
            name: d.name(),
            length: d.len(),
            unlimited: d.is_unlimited(),
        });
        let packing = self.packing_of_numbers(&variable)?;
        let packed = packing.as_ref().filter(|packing| !packing.is_as_stored());
        Ok(Description {
            name: name.to_owned(),
            kind: kind(&variable.vartype()),
            extents: extents.collect(),
            packed: packed.map(Packing::half_step),
            units: packing.and_then(|_| self.units(name)).filter(|units| !is_absent(units)),
        })
    }

    /// Packing and missing values of a variable, by its attributes; `None` if it is not numeric.
    fn packing_of_numbers(&self, variable: &Variable<'_>) -> Result<Option<Packing>> {
        match variable.vartype() {
            NcVariableType::Float(_) | NcVariableType::Int(_) => self.packing(variable).map(Some),
            _ => Ok(None),
        }
    }

    /// The values of a variable within a range along every dimension.
    pub(crate) fn part(&self, name: &str, ranges: &[Range<usize>]) -> Result<Values> {
        let variable = self.variable(name)?;
        self.check_size(&variable)?;
        let ranges = ranges.to_vec();
        let packing = self.packing_of_numbers(&variable)?;
        let read = || -> netcdf::Result<Values> {
            if let Some(packing) = packing.as_ref().filter(|packing| !packing.is_as_stored()) {
                let stored: Vec<f64> = variable.get_values(ranges)?;
                let values = stored.into_iter().map(|x| packing.value_or_nan(x));
                return Ok(Values::Double(values.collect()));
            }
            Ok(match variable.vartype() {
                NcVariableType::Float(FloatType::F32) => {
                    Values::Single(masked(variable.get_values(ranges)?, packing.as_ref()))
                }
                NcVariableType::Float(FloatType::F64) => {
                    Values::Double(masked(variable.get_values(ranges)?, packing.as_ref()))
                }
                NcVariableType::Int(IntType::U64) => Values::Unsigned(variable.get_values(ranges)?),
                NcVariableType::Int(_) => Values::Signed(variable.get_values(ranges)?),
                NcVariableType::Char => Values::Text(variable.get_raw_values(ranges)?),
                NcVariableType::String => {
                    let places = places(&ranges).into_iter();
                    let strings = places.map(|place| variable.get_string(place));
                    Values::Strings(strings.collect::<netcdf::Result<_>>()?)
                }
                _ => Values::Unreadable,
            })
        };
        read().map_err(|e| self.unreadable(name, "cannot be read", &e))
    }
}

/// The values, with NaN for those that are marked as missing or were never written.
fn masked<T: Real>(mut values: Vec<T>, packing: Option<&Packing>) -> Vec<T> {
    let Some(packing) = packing else { return values };
    let fill = T::of(FLOAT_FILL.into());
    let is_missing = |x: &T| {
        if packing.is_plain() {
            return *x == fill;
        }
        !matches!(packing.why(x.f64()), None | Some(MissingReason::NotFinite))
    };
    values.iter_mut().filter(|x| is_missing(x)).for_each(|x| *x = T::of(f64::NAN));
    values
}

/// Every index within the ranges, the last dimension fastest.
fn places(ranges: &[Range<usize>]) -> Vec<Vec<usize>> {
    ranges.iter().fold(vec![Vec::new()], |places, range| {
        let longer = |place: &Vec<usize>| {
            let place = place.clone();
            range.clone().map(move |index| [place.as_slice(), &[index]].concat())
        };
        places.iter().flat_map(longer).collect()
    })
}
