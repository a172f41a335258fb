//! Names of fields in Python, beside those in files of columns, which are those of WRF's arguments.

use nwp_mini::constituents::known;
use nwp_mini::physics::Field;
use nwp_mini::physics::registry::descriptions;
use nwp_mini::physics::scheme::{About, Parameter, Variant};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList};

/// Fields of the air with another name here.
const AIR: [(&str, &str); 3] = [("den", "rho"), ("pii", "exner"), ("delz", "dz")];

/// The name of a field in Python: that of the library for tracers and for the air.
pub(crate) fn of(field: &Field) -> &'static str {
    let air = || AIR.iter().find(|(column, _)| *column == field.name).map(|(_, name)| *name);
    let tracer = || known::constituent(field.name).map(|known| known.name);
    air().or_else(tracer).unwrap_or(field.name)
}

/// Descriptions of all schemes, from which their classes are made.
#[pyfunction]
pub(crate) fn schemes(py: Python<'_>) -> PyResult<Bound<'_, PyList>> {
    let all: PyResult<Vec<_>> = descriptions().into_iter().map(|about| scheme(py, about)).collect();
    PyList::new(py, all?)
}

fn scheme<'py>(py: Python<'py>, about: &About) -> PyResult<Bound<'py, PyDict>> {
    let fields = |fields: &[Field]| {
        let rows = fields.iter().map(|field| (of(field), field.name, field.units, field.about));
        rows.collect::<Vec<_>>()
    };
    let parameter = |Parameter { name, description, units, bounds, default }: &Parameter| {
        (*name, *description, *units, *bounds, *default)
    };
    let variant = |Variant { key, about, .. }: &Variant| (*key, *about);
    let of_scheme = PyDict::new(py);
    of_scheme.set_item("key", about.key)?;
    of_scheme.set_item("title", about.title)?;
    of_scheme.set_item("contents", about.contents)?;
    of_scheme.set_item("tracers", fields(about.tracers))?;
    of_scheme.set_item("air", fields(about.air))?;
    of_scheme.set_item("surface", fields(about.surface))?;
    of_scheme.set_item("diagnosed", fields(about.diagnosed))?;
    let levels = (*about.levels.start(), *about.levels.end());
    of_scheme.set_item("levels", levels)?;
    of_scheme.set_item("parameters", about.parameters.iter().map(parameter).collect::<Vec<_>>())?;
    of_scheme.set_item("variants", about.variants.iter().map(variant).collect::<Vec<_>>())?;
    Ok(of_scheme)
}
