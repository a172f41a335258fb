//! Attributes that tell of values that were rounded.
//!
//! Source: CF conventions 1.12, section 8.4, lossy compression via quantization. The attribute of the NetCDF library,
//! `_QuantizeBitRoundNumberOfSignificantBits`, is left out: the library rounds what it reads once more where it finds
//! that, and frames may have more bits than the number says.

use std::path::Path;

use crate::io::storage::rounding_error;

/// The variable that says in which way values were rounded.
const CONTAINER: &str = "quantization_info";

/// Tells of variables, by the bits of the significand that are left, in a file that is closed.
///
/// # Errors
///
/// Those of the NetCDF library.
pub(super) fn tell(path: &Path, kept: &[(&'static str, u32)]) -> netcdf::Result<()> {
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
        let missing = || format!("no variable {name}");
        let mut variable = file.variable_mut(name).ok_or_else(missing)?;
        variable.put_attribute("quantization", CONTAINER)?;
        variable.put_attribute("quantization_nsb", *bits as i32)?;
        variable.put_attribute("quantization_maximum_relative_error", rounding_error(*bits))?;
    }
    file.close()
}
