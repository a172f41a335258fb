//! Exact values of a file: of the requested shape and type.

use ndarray::Dimension;

use crate::error::Result;
use crate::io::read::reader::Reader;
use crate::io::store::writer::Stored;

/// All values of a variable, which must have this shape and type.
pub(in crate::io) fn array<T: Stored, D>(
    reader: &Reader,
    name: &str,
    shape: D,
) -> Result<ndarray::Array<T, D::Dim>>
where
    D: ndarray::IntoDimension + Copy,
{
    let lengths = shape.into_dimension();
    let values = numbers(reader, name, lengths.slice())?;
    shaped(reader, name, shape, values)
}

/// Values in the given shape.
pub(in crate::io) fn shaped<T, D>(
    reader: &Reader,
    name: &str,
    shape: D,
    values: Vec<T>,
) -> Result<ndarray::Array<T, D::Dim>>
where
    D: ndarray::IntoDimension,
{
    let shape = shape.into_dimension();
    let about = format!("variable {name} does not have the shape {:?}", shape.slice());
    let array = ndarray::Array::from_shape_vec(shape, values);
    array.map_err(|_| reader.error(about))
}

/// All values of a variable, which must have these lengths.
pub(in crate::io) fn numbers<T: Stored>(
    reader: &Reader,
    name: &str,
    lengths: &[usize],
) -> Result<Vec<T>> {
    let ranges: Vec<_> = lengths.iter().map(|length| 0..*length).collect();
    typed(reader, name, &ranges)
}

/// Exact values of a variable.
pub(in crate::io) fn typed<T: Stored>(
    reader: &Reader,
    name: &str,
    ranges: &[std::ops::Range<usize>],
) -> Result<Vec<T>> {
    let about = reader.description(name)?;
    let lengths: Vec<usize> = about.extents.iter().map(|extent| extent.length).collect();
    let is_inside = lengths.len() == ranges.len()
        && lengths.iter().zip(ranges).all(|(length, range)| range.end <= *length);
    if !is_inside {
        return Err(reader.error(format!("variable {name} has the lengths {lengths:?}")));
    }
    if about.kind != T::KIND {
        return Err(reader.error(format!(
            "variable {name} is of type {}; {} is needed",
            about.kind.name(),
            T::KIND.name()
        )));
    }
    let values = reader.part(name, ranges)?.wide().unwrap_or_default();
    Ok(values.into_iter().map(T::of).collect())
}
