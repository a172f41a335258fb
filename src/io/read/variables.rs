//! Variables of any type and shape, for comparisons of files.

use std::ops::Range;

use crate::error::Result;
use crate::io::kind::Kind;
pub(crate) use crate::io::read::dataset::Extent;
use crate::io::read::dataset::{Answer, Variable};
use crate::io::read::packing::{FLOAT_FILL, MissingReason, Packing};
use crate::io::read::reader::Reader;
use crate::real::Real;
use crate::units::is_absent;

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

impl Reader {
    /// Descriptions of the variables of the file, in its order.
    pub(crate) fn descriptions(&self) -> Result<Vec<Description>> {
        self.variable_names().iter().map(|name| self.description(name)).collect()
    }

    /// Description of a variable.
    pub(crate) fn description(&self, name: &str) -> Result<Description> {
        let variable = self.variable(name)?;
        let packing = self.packing_of_numbers(&variable)?;
        let packed = packing.as_ref().filter(|packing| !packing.is_as_stored());
        Ok(Description {
            name: name.to_owned(),
            kind: variable.kind,
            extents: variable.extents.clone(),
            packed: packed.map(Packing::half_step),
            units: packing.and_then(|_| self.units(name)).filter(|units| !is_absent(units)),
        })
    }

    /// Packing and missing values of a variable, by its attributes; `None` if it is not numeric.
    fn packing_of_numbers(&self, variable: &Variable) -> Result<Option<Packing>> {
        variable.kind.is_number().then(|| self.packing(variable)).transpose()
    }

    /// The values of a variable within a range along every dimension.
    pub(crate) fn part(&self, name: &str, ranges: &[Range<usize>]) -> Result<Values> {
        let variable = self.variable(name)?;
        self.check_size(&variable)?;
        let packing = self.packing_of_numbers(&variable)?;
        let of = self.dataset();
        let read = || -> Answer<Values> {
            if let Some(packing) = packing.as_ref().filter(|packing| !packing.is_as_stored()) {
                let values = of.doubles(name, ranges)?.into_iter();
                return Ok(Values::Double(values.map(|x| packing.value_or_nan(x)).collect()));
            }
            Ok(match variable.kind {
                Kind::Float => Values::Single(masked(of.singles(name, ranges)?, packing.as_ref())),
                Kind::Double => Values::Double(masked(of.doubles(name, ranges)?, packing.as_ref())),
                Kind::UInt64 => Values::Unsigned(of.naturals(name, ranges)?),
                kind if kind.is_whole() => Values::Signed(of.integers(name, ranges)?),
                Kind::Char => Values::Text(of.characters(name, ranges)?),
                Kind::String => Values::Strings(of.strings(name, ranges)?),
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
