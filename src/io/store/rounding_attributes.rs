//! Attributes about rounded values.
//!
//! Source: CF conventions 1.12, section 8.4, lossy compression via quantization. The NetCDF library's attribute
//! `_QuantizeBitRoundNumberOfSignificantBits` is omitted: on reading it the library rounds the values again, and frames
//! may have more bits than the number says.

use std::path::Path;

use crate::io::store::fields::existing;
use crate::io::store::storage::rounding_error;

/// The variable that describes the method of rounding.
const CONTAINER: &str = "quantization_info";

/// Adds the attributes to variables of a closed file, from the numbers of remaining bits.
pub(in crate::io) fn tell(path: &Path, kept: &[(&'static str, u32)]) -> netcdf::Result<()> {
    if kept.is_empty() {
        return Ok(());
    }
    let mut file = netcdf::append(path)?;
    if file.variable(CONTAINER).is_none() {
        let mut container = file.add_variable::<i32>(CONTAINER, &[])?;
        container.put_attribute("algorithm", "bitround")?;
        let version = concat!("nwp-mini ", env!("CARGO_PKG_VERSION"));
        container.put_attribute("implementation", version)?;
    }
    for (name, bits) in kept {
        let mut variable = existing(&mut file, name)?;
        variable.put_attribute("quantization", CONTAINER)?;
        variable.put_attribute("quantization_nsb", *bits as i32)?;
        variable.put_attribute("quantization_maximum_relative_error", rounding_error(*bits))?;
    }
    file.close()
}
