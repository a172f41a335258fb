//! Gas-phase chemistry: a mechanism, and its integration in cells.

use numpy::{IntoPyArray, PyArray1, PyReadonlyArray1, PyReadwriteArray2};
use nwp_mini::chemistry::rosenbrock::{Counters, Status};
use nwp_mini::embedded::chemistry::{CellChemistry, HostCells};
use nwp_mini_host::guarded;
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::errors::{Failure, Result};
use crate::process::OfProcess;

/// A mechanism with the settings of its integration.
#[pyclass(module = "nwp_mini._core", frozen)]
pub(crate) struct Mechanism(OfProcess<CellChemistry>);

#[pymethods]
impl Mechanism {
    /// A mechanism from a text of options, as "mechanism=radm2.kpp,method=rodas3"; `is_bound` where they ask for threads.
    #[new]
    fn new(py: Python<'_>, options: &str, is_bound: bool) -> Result<Self> {
        let make = || guarded(|| options.parse::<CellChemistry>());
        let chemistry = py.detach(make).map_err(Failure::Fault)??;
        Ok(Self(OfProcess::new(chemistry, "Chemistry", is_bound)))
    }

    /// Name of the mechanism.
    #[getter]
    fn name(&self) -> Result<String> {
        Ok(self.0.get()?.name().to_owned())
    }

    /// Names of the species: those that reactions change, then the fixed ones.
    #[getter]
    fn species(&self) -> Result<Vec<String>> {
        Ok(self.0.get()?.species().map(str::to_owned).collect())
    }

    /// Number of species that reactions change.
    #[getter]
    fn variable(&self) -> Result<usize> {
        Ok(self.0.get()?.variable())
    }

    /// Number of reactions.
    #[getter]
    fn reactions(&self) -> Result<usize> {
        Ok(self.0.get()?.reactions())
    }

    /// Names of the photolysis frequencies.
    #[getter]
    fn photolysis(&self) -> Result<Vec<String>> {
        Ok(self.0.get()?.photolysis().map(str::to_owned).collect())
    }

    /// Names of the quantities that rates use beside temperature and air.
    #[getter]
    fn quantities(&self) -> Result<Vec<String>> {
        Ok(self.0.get()?.quantities().map(str::to_owned).collect())
    }

    /// Integrates cells over `dt` seconds. `species` by species and cell is changed; `conditions` are temperature, density
    /// of air, hydrolysis, solar time, photolysis and quantities, those of a cell side by side. Returns the status of each
    /// cell, its time, and its counters by name.
    fn step<'py>(
        &self,
        py: Python<'py>,
        mut species: PyReadwriteArray2<'py, f64>,
        conditions: [PyReadonlyArray1<'py, f64>; 6],
        dt: f64,
    ) -> Result<Bound<'py, PyDict>> {
        let chemistry = self.0.get()?;
        let mut values = Vec::with_capacity(conditions.len());
        for condition in &conditions {
            let values_of =
                condition.as_slice().map_err(|error| Failure::Value(error.to_string()))?;
            values.push(values_of);
        }
        let mut cells = HostCells {
            species: species.as_array_mut(),
            temperature: values[0],
            air_density: values[1],
            hydrolysis: values[2],
            start: values[3],
            photolysis: values[4],
            quantities: values[5],
        };
        let work = || guarded(|| chemistry.step(dt, &mut cells));
        let outcomes = py.detach(work).map_err(Failure::Fault)??;
        let found = PyDict::new(py);
        let status: Vec<i32> = outcomes.iter().map(|outcome| outcome.status.0).collect();
        found.set_item("status", status.into_pyarray(py))?;
        let time: Vec<f64> = outcomes.iter().map(|outcome| outcome.time).collect();
        found.set_item("time", time.into_pyarray(py))?;
        let numbers = outcomes.iter().map(|outcome| {
            let Counters { functions, jacobians, steps, accepted, .. } = outcome.counters;
            let Counters { rejected, factorisations, solutions, singular, .. } = outcome.counters;
            [functions, jacobians, steps, accepted, rejected, factorisations, solutions, singular]
        });
        let numbers: Vec<[u32; 8]> = numbers.collect();
        let names = [
            "functions",
            "jacobians",
            "steps",
            "accepted",
            "rejected",
            "factorisations",
            "solutions",
            "singular",
        ];
        for (at, name) in names.into_iter().enumerate() {
            let column: Bound<'_, PyArray1<u32>> =
                numbers.iter().map(|cell| cell[at]).collect::<Vec<_>>().into_pyarray(py);
            found.set_item(name, column)?;
        }
        Ok(found)
    }
}

/// The reason of a status of a cell, in words.
#[pyfunction]
pub(crate) fn reason(status: i32) -> &'static str {
    Status(status).reason()
}
