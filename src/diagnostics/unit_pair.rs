//! Units of a variable in two files, and how the values of the second become comparable.

use crate::diagnostics::difference::Band;
use crate::error::Result;
use crate::io::kind::Kind;
use crate::io::read::reader::Reader;
use crate::io::read::variables::Description;
use crate::units::{Conversion, Unit};

/// Comparability of the values of two files.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum UnitPair {
    /// The same units, or none in either file.
    Same,
    /// The values of the second file are converted, with a note.
    Converted(Conversion, String),
    /// One file states no units; the values are compared as they are, with a note.
    OneStated(String),
    /// Units of different quantities, or different unknown ones, with a note.
    Other(String),
}

impl UnitPair {
    /// Compares the units of a variable.
    ///
    /// # Errors
    ///
    /// [`crate::error::Error::Input`] when the units of one file alone are not known.
    pub(super) fn of(readers: [&Reader; 2], [a, b]: [&Description; 2]) -> Result<Self> {
        let (of_a, of_b) = match (&a.units, &b.units) {
            (None, None) => return Ok(Self::Same),
            (Some(of_a), None) => {
                return Ok(Self::OneStated(format!(
                    "{of_a:?} in A, no units in B, taken as those of A"
                )));
            }
            (None, Some(of_b)) => {
                return Ok(Self::OneStated(format!(
                    "no units in A, taken as those of B, {of_b:?}"
                )));
            }
            (Some(of_a), Some(of_b)) => (of_a, of_b),
        };
        if of_a.trim() == of_b.trim() {
            return Ok(Self::Same);
        }
        let both = format!("{of_a:?} in A, {of_b:?} in B");
        let unknown = |reader: &Reader, found: &str, other: &str| {
            Err(reader.error(format!(
                "variable {} has the units {found:?}, which are not known; in the other file they are {other:?}; \
                 correct the attribute, or remove it to compare the values as they are",
                a.name
            )))
        };
        match (Unit::parse(of_a), Unit::parse(of_b)) {
            (None, Some(_)) => unknown(readers[0], of_a, of_b),
            (Some(_), None) => unknown(readers[1], of_b, of_a),
            (None, None) => Ok(Self::Other(format!("{both}, which are not known"))),
            (Some(unit_a), Some(unit_b)) => Ok(match unit_b.to(&unit_a) {
                None => Self::Other(format!("{both}: not the same quantity")),
                Some(conversion) if conversion.is_identity() => Self::Same,
                Some(conversion) => Self::Converted(conversion, format!("{both}, converted")),
            }),
        }
    }

    /// The map of the values of the second file.
    pub(super) fn conversion(&self) -> Conversion {
        match self {
            Self::Converted(conversion, _) => *conversion,
            _ => Conversion::IDENTITY,
        }
    }

    /// The difference of the units, in words.
    pub(super) fn note(&self) -> Option<&str> {
        match self {
            Self::Same => None,
            Self::Converted(_, note) | Self::OneStated(note) | Self::Other(note) => Some(note),
        }
    }

    /// Rounding of converted values: each file has rounded the same value to its type, in its units.
    pub(super) fn rounding(&self, pair: [&Description; 2]) -> Option<Band> {
        let Self::Converted(conversion, _) = self else { return None };
        let is_double = pair.iter().all(|of| of.kind == Kind::Double);
        let ulp = if is_double { f64::EPSILON } else { f64::from(f32::EPSILON) };
        Some(Band { atol: ulp * conversion.offset().abs(), rtol: 2.0 * ulp })
    }
}
