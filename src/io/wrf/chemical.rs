//! Chemistry in a WRF file: fields of species, and the Coriolis parameter, from which a latitude follows.

use std::path::Path;

use super::shape;
use super::source::{Stagger, TimeReader};
use crate::error::Result;
use crate::io::reader::Reader;

/// Dimensions of a field in the cells.
const CELLS: [&str; 3] = ["bottom_top", "south_north", "west_east"];

/// Names of all fields at the cell centres of a file.
///
/// # Errors
///
/// Those of [`Reader::open`].
pub fn fields(path: &Path) -> Result<Vec<String>> {
    let reader = Reader::open(path)?;
    let mut names = reader.variable_names();
    names.retain(|name| {
        let dimensions = reader.dimensions_of(name).unwrap_or_default();
        let names: Vec<&str> = dimensions.iter().map(|(name, _)| name.as_str()).collect();
        names.ends_with(&CELLS)
    });
    Ok(names)
}

/// Mean Coriolis parameter (WRF `F`) at the first time of a file, s⁻¹; `None` without it.
///
/// # Errors
///
/// Those of [`Reader::open`], and of reading the variable.
pub fn coriolis(path: &Path) -> Result<Option<f64>> {
    let reader = Reader::open(path)?;
    let source = TimeReader::new(&reader, shape(&reader)?, 0);
    let plane = source.optional_plane("F", Stagger::Centre)?;
    Ok(plane.and_then(|plane| plane.mapv(f64::from).mean()))
}
