//! Fields of a host, held against those that a scheme takes.

use ndarray::{ArrayBase, ArrayView3, ArrayViewMut3};

use crate::error::{Error, Result};
use crate::physics::scheme::About;
use crate::physics::{Block, Field};
use crate::real::Real;

type Dim = (usize, usize, usize);

/// Checks the fields of a call. Returns their number of levels.
pub(super) fn check<R: Real>(about: &About, block: &Block<'_, R>) -> Result<usize> {
    let Block { tracers, air, surface, .. } = block;
    let shape = |views: &[ArrayViewMut3<'_, R>]| views.iter().map(ArrayBase::dim).collect();
    let of_tracers: Vec<Dim> = shape(tracers);
    let dim = check_fields(about, &of_tracers, air)?;
    let (_, ny, nx) = dim;
    count(about, "planes at the ground", about.surface, surface.len())?;
    for (field, plane) in about.surface.iter().zip(surface) {
        if plane.dim() != (ny, nx) {
            let ((found_y, found_x), name) = (plane.dim(), field.name);
            return Err(Error::Usage(format!(
                "{name} has {found_y} rows of {found_x} columns, the other fields {ny} of {nx}"
            )));
        }
    }
    levels(about, dim)
}

/// Checks the fields of a diagnosis. Returns their number of levels.
pub(super) fn check_diagnosis<R: Real>(
    about: &About,
    [tracers, air]: [&[ArrayView3<'_, R>]; 2],
    out: &[Option<ArrayViewMut3<'_, R>>],
) -> Result<usize> {
    let of_tracers: Vec<Dim> = tracers.iter().map(ArrayBase::dim).collect();
    let dim = check_fields(about, &of_tracers, air)?;
    count(about, "diagnosed fields", about.diagnosed, out.len())?;
    for (field, view) in about.diagnosed.iter().zip(out) {
        if let Some(view) = view {
            same(field, view.dim(), dim)?;
        }
    }
    levels(about, dim)
}

/// The shape of all fields.
fn check_fields<R: Real>(about: &About, tracers: &[Dim], air: &[ArrayView3<'_, R>]) -> Result<Dim> {
    count(about, "tracers", about.tracers, tracers.len())?;
    count(about, "fields of the air", about.air, air.len())?;
    let dim = tracers[0];
    for (field, found) in about.tracers.iter().zip(tracers) {
        same(field, *found, dim)?;
    }
    for (field, view) in about.air.iter().zip(air) {
        same(field, view.dim(), dim)?;
    }
    Ok(dim)
}

pub(super) fn count(about: &About, kind: &str, fields: &[Field], found: usize) -> Result<()> {
    if found == fields.len() {
        return Ok(());
    }
    let names: Vec<&str> = fields.iter().map(|field| field.name).collect();
    let (title, needed) = (about.title, fields.len());
    Err(Error::Usage(format!(
        "{found} {kind}; {title} takes {needed}, in this order: {}",
        names.join(" ")
    )))
}

fn same(field: &Field, (k, j, i): Dim, (nz, ny, nx): Dim) -> Result<()> {
    if (k, j, i) == (nz, ny, nx) {
        return Ok(());
    }
    Err(Error::Usage(format!(
        "{} has {k} levels, {j} rows and {i} columns, the first field {nz}, {ny} and {nx}",
        field.name
    )))
}

fn levels(about: &About, (nz, ..): Dim) -> Result<usize> {
    let [least, most] = [about.levels.start(), about.levels.end()];
    if about.levels.contains(&nz) {
        return Ok(nz);
    }
    Err(Error::Usage(format!("{nz} levels; {} takes {least} to {most}", about.title)))
}
