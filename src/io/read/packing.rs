//! Packed values: unpacking and missing values by the attributes of a variable.
//!
//! A packed variable holds `stored`, which means `stored * scale_factor + add_offset`, in double precision. Missing
//! values are marked by `_FillValue`, `missing_value`, `valid_min`, `valid_max` and `valid_range`, in units of the
//! stored values, and by the library's fill value in variables that were never written.
//!
//! Sources: NetCDF Users Guide, "Attribute Conventions" and the fill values of netcdf.h; CF conventions
//! 1.11, sections 2.5.1 and 8.1.

use crate::io::attribute::AttributeValue;
use crate::io::kind::Kind;
use crate::io::read::dataset::Variable;

/// The attributes of values, for messages.
const SCALE: &str = "scale_factor";
const OFFSET: &str = "add_offset";
const UNSIGNED: &str = "_Unsigned";
const FILL: &str = "_FillValue";
const MISSING: &str = "missing_value";

/// NetCDF's fill value for types float and double: 15 * 2^119.
pub(crate) const FLOAT_FILL: f32 = 9.969_21e36;

/// Signedness of integers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Sign {
    /// That of the type.
    OfType,
    /// Unsigned, though the type is signed.
    Unsigned(i32),
    /// Signed, though the type is unsigned.
    Signed(i32),
}

impl Sign {
    fn apply(self, stored: f64) -> f64 {
        match self {
            Self::Unsigned(bits) if stored < 0.0 => stored + 2.0_f64.powi(bits),
            Self::Signed(bits) if stored >= 2.0_f64.powi(bits - 1) => stored - 2.0_f64.powi(bits),
            _ => stored,
        }
    }
}

/// Reason for a missing value.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(in crate::io) enum MissingReason {
    /// It is the fill value of the NetCDF library.
    NeverWritten,
    /// It equals the missing value of this attribute.
    Marked(&'static str),
    /// It lies outside the range of this attribute.
    Outside(&'static str),
    /// It is infinite or NaN, and no attribute declares that.
    NotFinite,
}

/// Decoding of stored values by the attributes of a variable.
#[derive(Clone, Debug)]
pub(in crate::io) struct Packing {
    scale: Option<f64>,
    offset: Option<f64>,
    sign: Sign,
    /// The library's fill value of the type, if it marks values that were never written.
    fill: Option<f64>,
    marks: Vec<(&'static str, f64)>,
    /// Attribute, least and greatest value.
    bounds: Vec<(&'static str, [f64; 2])>,
    is_single: bool,
}

impl Packing {
    /// Reads the attributes of a variable.
    pub(in crate::io) fn of(variable: &Variable) -> Result<Self, String> {
        let kind = variable.kind;
        let (is_single, is_whole) = (kind == Kind::Float, kind.is_whole());
        let sign = sign(variable, kind)?;
        let [scale, offset] = [SCALE, OFFSET].map(|name| factor(variable, name));
        let (scale, offset) = (scale?, offset?);
        // Converted to the type of the variable, for any type of the attribute.
        let stored = |x: f64| sign.apply(if is_single { f64::from(x as f32) } else { x });
        let mut marks = Vec::new();
        for name in [FILL, MISSING] {
            let found = numbers(variable, name)?.unwrap_or_default();
            marks.extend(found.into_iter().map(|mark| (name, stored(mark))));
        }
        let is_marked = marks.iter().any(|(name, _)| *name == FILL);
        let fill =
            default_fill(kind).filter(|_| !is_whole || !is_marked).map(|fill| sign.apply(fill));
        let is_packed_whole = is_whole && (scale.is_some() || offset.is_some());
        let mut bounds = Vec::new();
        for name in ["valid_min", "valid_max", "valid_range"] {
            let Some(found) = numbers(variable, name)? else { continue };
            let found: Vec<f64> = found.into_iter().map(stored).collect();
            let [low, high] = match (name, &*found) {
                ("valid_min", [low]) => [*low, f64::INFINITY],
                ("valid_max", [high]) => [f64::NEG_INFINITY, *high],
                ("valid_range", [low, high]) if low <= high => [*low, *high],
                _ => {
                    let needed = match name {
                        "valid_range" => "two numbers, the smaller first, are",
                        _ => "one number is",
                    };
                    return Err(refusal(variable, name, &format!("{found:?}"), needed));
                }
            };
            if low.is_nan() || high.is_nan() {
                return Err(refusal(variable, name, "NaN", "a number is"));
            }
            if is_packed_whole && is_floating(variable, name) {
                return Err(refusal(
                    variable,
                    name,
                    "of a floating type beside packed whole numbers, so that it may be meant packed or \
                     unpacked",
                    "the type of the variable is",
                ));
            }
            bounds.push((name, [low, high]));
        }
        Ok(Self { scale, offset, sign, fill, marks, bounds, is_single })
    }

    /// Returns `true` if values are stored unpacked, in single precision.
    pub(in crate::io) fn is_single(&self) -> bool {
        self.is_single && !self.is_packed()
    }

    /// Returns `true` if only the library's fill value marks missing values.
    pub(in crate::io) fn is_plain(&self) -> bool {
        self.marks.is_empty() && self.bounds.is_empty()
    }

    /// Returns `true` if stored values are packed.
    pub(in crate::io) fn is_packed(&self) -> bool {
        self.scale.is_some() || self.offset.is_some()
    }

    /// Returns `true` if stored values need neither unpacking nor checks for missing values.
    pub(in crate::io) fn is_as_stored(&self) -> bool {
        !self.is_packed() && self.sign == Sign::OfType
    }

    /// Half of the step between packed values, in units of the variable; 0 for unpacked integers.
    pub(in crate::io) fn half_step(&self) -> f64 {
        if self.is_single { 0.0 } else { 0.5 * self.scale.unwrap_or(0.0).abs() }
    }

    /// Reason why a stored value is missing; `None` if it is valid.
    pub(in crate::io) fn why(&self, stored: f64) -> Option<MissingReason> {
        let stored = self.sign.apply(stored);
        let is = |mark: f64| stored == mark || (stored.is_nan() && mark.is_nan());
        if self.fill == Some(stored) {
            return Some(MissingReason::NeverWritten);
        }
        if let Some((name, _)) = self.marks.iter().find(|(_, mark)| is(*mark)) {
            return Some(MissingReason::Marked(name));
        }
        if !stored.is_finite() {
            return Some(MissingReason::NotFinite);
        }
        let outside =
            |(_, [low, high]): &&(&'static str, [f64; 2])| stored < *low || stored > *high;
        self.bounds.iter().find(outside).map(|(name, _)| MissingReason::Outside(name))
    }

    /// The unpacked value of a stored one.
    pub(in crate::io) fn value(&self, stored: f64) -> f64 {
        self.sign.apply(stored) * self.scale.unwrap_or(1.0) + self.offset.unwrap_or(0.0)
    }

    /// The unpacked value of a stored one, or NaN if it is missing.
    pub(in crate::io) fn value_or_nan(&self, stored: f64) -> f64 {
        if self.why(stored).is_some() { f64::NAN } else { self.value(stored) }
    }
}

/// Message about an invalid attribute, with the remedy.
fn refusal(variable: &Variable, name: &str, found: &str, needed: &str) -> String {
    format!(
        "attribute {name} of the variable {} is {found}; {needed} needed; correct it (ncatted -a \
         {name},{}), or remove it where values are not meant so",
        variable.name, variable.name
    )
}

/// Returns `true` if an attribute is of type float or double.
fn is_floating(variable: &Variable, name: &str) -> bool {
    let value = variable.attribute(name);
    matches!(value, Some(Ok(AttributeValue::Numbers(kind, _))) if kind.is_real())
}

/// The numbers of an attribute; `None` if it does not exist.
fn numbers(variable: &Variable, name: &str) -> Result<Option<Vec<f64>>, String> {
    let Some(attribute) = variable.attribute(name) else { return Ok(None) };
    match attribute.as_ref().map_err(|e| refusal(variable, name, e, "a number is"))? {
        AttributeValue::Numbers(_, numbers) => Ok(Some(numbers.clone())),
        value => {
            let text = value.text().unwrap_or_default();
            Err(refusal(variable, name, &format!("the text {text:?}"), "a number is"))
        }
    }
}

/// `scale_factor` or `add_offset`.
fn factor(variable: &Variable, name: &str) -> Result<Option<f64>, String> {
    match numbers(variable, name)?.as_deref() {
        None => Ok(None),
        Some([x]) if x.is_finite() && (name != SCALE || *x != 0.0) => Ok(Some(*x)),
        Some(found) => {
            let needed = if name == SCALE {
                "one finite number that is not 0 is"
            } else {
                "one finite number is"
            };
            Err(refusal(variable, name, &format!("{found:?}"), needed))
        }
    }
}

/// Effect of `_Unsigned` on an integer type.
fn sign(variable: &Variable, kind: Kind) -> Result<Sign, String> {
    let Some(attribute) = variable.attribute(UNSIGNED) else { return Ok(Sign::OfType) };
    let needed = "the text true or false is";
    let value = attribute.as_ref().map_err(|e| refusal(variable, UNSIGNED, e, needed))?;
    let Some(text) = value.text() else {
        return Err(refusal(variable, UNSIGNED, &value.to_string(), needed));
    };
    let bits = 8 * kind.size() as i32;
    let effect = |is_contrary: bool, sign| if is_contrary { sign } else { Sign::OfType };
    match &*text.trim_end_matches('\0').to_lowercase() {
        "true" => Ok(effect(kind.is_signed(), Sign::Unsigned(bits))),
        "false" => Ok(effect(kind.is_whole() && !kind.is_signed(), Sign::Signed(bits))),
        _ => Err(refusal(variable, UNSIGNED, &format!("{text:?}"), needed)),
    }
}

/// The library's fill value of a type. Bytes have none, since all of them are valid data.
fn default_fill(kind: Kind) -> Option<f64> {
    Some(match kind {
        Kind::Float | Kind::Double => FLOAT_FILL.into(),
        Kind::Short => -32_767.0,
        Kind::UShort => 65_535.0,
        Kind::Int => -2_147_483_647.0,
        Kind::UInt => 4_294_967_295.0,
        Kind::Int64 => -9_223_372_036_854_775_806.0,
        Kind::UInt64 => 18_446_744_073_709_551_614.0,
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_fill_value_is_that_of_the_library() {
        assert_eq!(f64::from(FLOAT_FILL), 15.0 * 2.0_f64.powi(119));
        assert_eq!(f64::from(FLOAT_FILL), 9.969_209_968_386_869e36);
    }

    #[test]
    fn signs_are_those_that_are_meant() {
        assert_eq!(Sign::Unsigned(8).apply(-1.0), 255.0);
        assert_eq!(Sign::Unsigned(16).apply(32_767.0), 32_767.0);
        assert_eq!(Sign::Signed(8).apply(200.0), -56.0);
        assert_eq!(Sign::Signed(16).apply(32_767.0), 32_767.0);
        assert_eq!(Sign::OfType.apply(-1.0), -1.0);
    }
}
