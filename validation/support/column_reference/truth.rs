//! Groups of the files of reference columns, and the exact results in them.

use ndarray::{Array2, ArrayD, Axis, Ix2};
use netcdf::types::NcTypeDescriptor;
use netcdf::{Extents, Group};

/// A group of the reference file.
pub fn group<'f>(file: &'f netcdf::File, name: &str) -> Group<'f> {
    file.group(name)
        .expect("a NetCDF-4 file")
        .unwrap_or_else(|| panic!("the reference file has no group {name}"))
}

/// Values of a variable.
pub fn values<T: NcTypeDescriptor + Copy>(
    group: &Group<'_>,
    name: &str,
    extents: impl TryInto<Extents, Error: Into<netcdf::Error>>,
) -> ArrayD<T> {
    let variable =
        group.variable(name).unwrap_or_else(|| panic!("{} has no variable {name}", group.name()));
    variable.get(extents).unwrap_or_else(|e| panic!("{} {name}: {e}", group.name()))
}

/// Values as a field of columns. Shape: (level, column).
pub fn on_levels<T>(values: ArrayD<T>) -> Array2<T> {
    values.into_dimensionality::<Ix2>().expect("(level, column)")
}

/// A field of the reference. Shape: (level or 1, column).
pub struct Truth {
    /// The exact result.
    pub exact: Array2<f64>,
    /// Error of WRF's own single precision; stored with six significant bits.
    pub off: Array2<f64>,
}

impl Truth {
    /// The result `name` at the time step and number of calls of the given indices, on levels or at the ground.
    pub fn read(group: &Group<'_>, name: &str, [a, b]: [usize; 2], has_levels: bool) -> Self {
        let read = |suffix: &str| {
            let name = format!("{name}_{suffix}");
            on_levels(if has_levels {
                values(group, &name, (a, b, .., ..))
            } else {
                values(group, &name, (a, b, ..)).insert_axis(Axis(0))
            })
        };
        let off: Array2<f64> = read("d64");
        Self { exact: read("out") + &off, off: off.mapv(f64::abs) }
    }
}
