//! Digest of a file, which detects changes and damage.

use netcdf::{File, Variable};
use sha2::{Digest, Sha256};

/// SHA-256 of all global attributes but `except`, which holds the digest itself, and of all variables, in hexadecimal
/// digits.
///
/// # Errors
///
/// Those of the library, when a part cannot be read.
pub fn digest(file: &File, except: &str) -> netcdf::Result<String> {
    let mut sum = Sha256::new();
    let mut attributes = Vec::new();
    for attribute in file.attributes().filter(|attribute| attribute.name() != except) {
        attributes.push(format!("{}={:?}\n", attribute.name(), attribute.value()?));
    }
    attributes.sort();
    sum.update(attributes.concat());
    let mut variables: Vec<Variable<'_>> = file.variables().collect();
    variables.sort_by_key(Variable::name);
    for variable in &variables {
        let lengths: Vec<usize> =
            variable.dimensions().iter().map(netcdf::Dimension::len).collect();
        sum.update(format!("{} {:?} {lengths:?}\n", variable.name(), variable.vartype()));
        // A variable without values may have any number of parts.
        if lengths.contains(&0) {
            continue;
        }
        let [first, rest @ ..] = &lengths[..] else {
            sum.update(variable.get_raw_values(..)?);
            continue;
        };
        // Field by field, so that they need not be in memory together.
        let together = if lengths.len() > 2 { 1 } else { *first };
        for start in (0..*first).step_by(together.max(1)) {
            let of_part = std::iter::once(start..start + together);
            let extents: Vec<_> = of_part.chain(rest.iter().map(|length| 0..*length)).collect();
            sum.update(variable.get_raw_values(extents)?);
        }
    }
    Ok(format!("{:x}", sum.finalize()))
}
