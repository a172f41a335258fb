//! Attributes about rounded values.
//!
//! Source: CF conventions 1.12, section 8.4, lossy compression via quantization. The NetCDF library's attribute
//! `_QuantizeBitRoundNumberOfSignificantBits` is omitted: on reading it the library rounds the values again, and frames
//! may have more bits than the number says.

use crate::io::kind::Kind;
use crate::io::store::format::{Definition, Done, Schema};
use crate::io::store::storage::rounding_error;

/// The variable that describes the method of rounding.
const CONTAINER: &str = "quantization_info";

/// Adds the attributes to variables, from the numbers of remaining bits.
pub(in crate::io) fn tell(file: &mut dyn Schema, kept: &[(&'static str, u32)]) -> Done {
    if !kept.is_empty() && !file.has(CONTAINER) {
        file.variable(&Definition::small(CONTAINER, Kind::Int, &[]))?;
        file.attribute(Some(CONTAINER), "algorithm", "bitround".into())?;
        let version = concat!("nwp-mini ", env!("CARGO_PKG_VERSION"));
        file.attribute(Some(CONTAINER), "implementation", version.into())?;
    }
    for (name, bits) in kept {
        file.attribute(Some(name), "quantization", CONTAINER.into())?;
        file.attribute(Some(name), "quantization_nsb", (*bits as i32).into())?;
        let error = rounding_error(*bits);
        file.attribute(Some(name), "quantization_maximum_relative_error", error.into())?;
    }
    Ok(())
}
