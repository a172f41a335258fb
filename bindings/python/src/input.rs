//! Fields of a WRF file, as the schemes take them.

use std::path::PathBuf;

use ndarray::{Array2, Array3};
use numpy::{Element, IntoPyArray};
use nwp_mini::calendar;
use nwp_mini::constants::Constants;
use nwp_mini::device::Element as DeviceElement;
use nwp_mini::dry_mass::MassCoordinate;
use nwp_mini::io::wrf;
use nwp_mini::model::{RunInput, RunPrecision};
use nwp_mini::physics::registry;
use nwp_mini_host::guarded;
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::errors::{Failure, Result};
use crate::process::use_common_threads;

/// The first time of a WRF file: a dictionary of fields at cell centres (`fields`), mass fluxes (`fluxes`), planes and
/// profiles of the mass of the air (`planes`, `profiles`), and of numbers and texts. Fields are those of a run: full
/// potential temperature, the tracers of the scheme, and its air.
#[pyfunction]
pub(crate) fn read<'py>(
    py: Python<'py>,
    path: PathBuf,
    physics: &str,
    is_double: bool,
) -> Result<Bound<'py, PyDict>> {
    use_common_threads()?;
    if is_double { read_in::<f64>(py, path, physics) } else { read_in::<f32>(py, path, physics) }
}

fn read_in<'py, R: RunPrecision + Constants + DeviceElement + Element>(
    py: Python<'py>,
    path: PathBuf,
    physics: &str,
) -> Result<Bound<'py, PyDict>> {
    let set = registry::make(physics, None)?.about().set();
    let load = || -> nwp_mini::error::Result<_> {
        let (domain, frame) = wrf::read_for(&path, None, &set)?;
        let time = calendar::format(frame.time);
        let mut input = RunInput::<R>::new(domain, frame)?;
        let state = input.take_state();
        Ok((input, state, time))
    };
    let (input, state, time) = py.detach(|| guarded(load)).map_err(Failure::Fault)??;
    let volume = |field: Array3<R>| field.into_pyarray(py);
    let fields = PyDict::new(py);
    for (at, (constituent, field)) in state.tracers().enumerate() {
        // The state holds the potential temperature less 300 K.
        let full = if at == 0 { field.mapv(|theta| theta + R::THETA_BASE) } else { field.clone() };
        fields.set_item(constituent.name, volume(full))?;
    }
    let air = &input.forcing.environment;
    for (name, field) in [("rho", &air.rho), ("exner", &air.exner), ("p", &air.p), ("dz", &air.dz)]
    {
        fields.set_item(name, volume(field.clone()))?;
    }
    if let Some(w) = &air.w {
        fields.set_item("w", volume(w.clone()))?;
    }
    let fluxes = PyDict::new(py);
    let flux = &input.forcing.flux;
    for (name, field) in [("flux_x", &flux.x), ("flux_y", &flux.y), ("flux_z", &flux.z)] {
        fluxes.set_item(name, volume(field.clone()))?;
    }
    let MassCoordinate { mu, map_x, map_y, c1, c2, rdnw, fnm, fnp, .. } = &input.domain.coordinate;
    let planes = PyDict::new(py);
    let plane = |plane: &Array2<f64>| plane.clone().into_pyarray(py);
    for (name, field) in [("mu", mu), ("map_x", map_x), ("map_y", map_y)] {
        planes.set_item(name, plane(field))?;
    }
    let profiles = PyDict::new(py);
    for (name, values) in [("c1", c1), ("c2", c2), ("rdnw", rdnw), ("fnm", fnm), ("fnp", fnp)] {
        profiles.set_item(name, values.clone().into_pyarray(py))?;
    }
    let found = PyDict::new(py);
    for (name, part) in
        [("fields", fields), ("fluxes", fluxes), ("planes", planes), ("profiles", profiles)]
    {
        found.set_item(name, part)?;
    }
    let grid = &input.domain.grid;
    found.set_item("time", time)?;
    found.set_item("dx", grid.dx)?;
    found.set_item("dy", grid.dy)?;
    found.set_item("boundary", grid.sides.to_string())?;
    found.set_item("max_dt", input.max_dt)?;
    Ok(found)
}
