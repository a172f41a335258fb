//! Rounding of variables that their attributes state.
//!
//! Sources: CF conventions 1.12, section 8.4 (`quantization_nsb`, `quantization_nsd`); the attributes `_Quantize…` of the
//! NetCDF library; those that the NCO and the Python package netCDF4 write.

use crate::io::read::reader::Reader;

/// Attributes with the number of bits or decimal digits that a variable was rounded to.
const ATTRIBUTES: [&str; 10] = [
    "quantization_nsb",
    "quantization_nsd",
    "_QuantizeBitRoundNumberOfSignificantBits",
    "_QuantizeBitGroomNumberOfSignificantDigits",
    "_QuantizeGranularBitRoundNumberOfSignificantDigits",
    "number_of_significant_bits",
    "number_of_significant_digits",
    "significant_digits",
    "significant_digit",
    "least_significant_digit",
];

/// The remedy for values that are spoilt by the rounding of some of these variables; `None` if none is rounded.
pub(in crate::io) fn remedy(reader: &Reader, names: &[&str]) -> Option<String> {
    let rounded: Vec<String> = names.iter().filter_map(|name| rounding(reader, name)).collect();
    (!rounded.is_empty()).then(|| {
        format!(
            "by quantization of {}, too little is left of their differences; use the file as it was before it was \
             rounded",
            rounded.join(" and ")
        )
    })
}

/// A variable with the attribute about its rounding.
fn rounding(reader: &Reader, name: &str) -> Option<String> {
    let variable = reader.variable(name).ok()?;
    ATTRIBUTES.iter().find_map(|attribute| {
        let number = variable.attribute(attribute)?.as_ref().ok()?.number()?;
        Some(format!("{name} ({attribute} = {number})"))
    })
}
