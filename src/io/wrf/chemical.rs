//! Chemistry in a WRF file: fields of species, and the Coriolis parameter, from which a latitude follows.

use std::path::Path;

use super::inspect::is_field;
use super::shape;
use super::source::TimeReader;
use crate::error::Result;
use crate::io::layout::Axes;
use crate::io::read::reader::Reader;

/// Names of all fields at the cell centres of a file.
pub(crate) fn fields(path: &Path) -> Result<Vec<String>> {
    let reader = Reader::open(path)?;
    let mut names = reader.variable_names();
    names.retain(|name| is_field(&reader, name));
    Ok(names)
}

/// Mean Coriolis parameter (WRF `F`) at the first time of a file, s⁻¹; `None` without it.
pub(crate) fn coriolis(path: &Path) -> Result<Option<f64>> {
    let reader = Reader::open(path)?;
    let source = TimeReader::new(&reader, shape(&reader)?, 0);
    let plane = source.optional_plane("F", Axes::Plane)?;
    Ok(plane.and_then(|plane| plane.mapv(f64::from).mean()))
}
