//! Volumes that a scheme diagnoses.

use std::sync::Arc;

use ndarray::Array3;

use crate::constituents::Constituents;
use crate::grid::Shape;
use crate::real::Real;

/// The volumes that a scheme diagnoses from a state, such as reflectivity and effective radii. Shape of each:
/// (nz, ny, nx).
#[derive(Clone, Debug)]
pub struct CloudDiagnostics<R> {
    set: Arc<Constituents>,
    fields: Vec<Array3<R>>,
}

impl<R> CloudDiagnostics<R> {
    /// Diagnostics from their fields, in the order of [`Constituents::volumes`].
    ///
    /// # Panics
    ///
    /// When their number is another.
    pub fn of(set: &Arc<Constituents>, fields: Vec<Array3<R>>) -> Self {
        assert_eq!(fields.len(), set.volumes().len(), "volumes of the scheme");
        Self { set: Arc::clone(set), fields }
    }

    /// The fields, in the order of [`Constituents::volumes`].
    pub fn fields(&self) -> &[Array3<R>] {
        &self.fields
    }

    /// The fields for writing, in the order of [`Constituents::volumes`].
    pub fn fields_mut(&mut self) -> &mut [Array3<R>] {
        &mut self.fields
    }

    /// The fields by their names.
    pub fn iter(&self) -> impl Iterator<Item = (&'static str, &Array3<R>)> {
        self.set.volumes().iter().map(|volume| volume.name).zip(&self.fields)
    }

    /// The field of a name.
    pub fn get(&self, name: &str) -> Option<&Array3<R>> {
        self.iter().find(|(own, _)| *own == name).map(|(_, field)| field)
    }

    /// The same of a scheme that has it.
    ///
    /// # Panics
    ///
    /// When it has not.
    pub fn named(&self, name: &str) -> &Array3<R> {
        self.get(name).unwrap_or_else(|| panic!("no {name} is diagnosed"))
    }

    /// The same for writing; `None` in a scheme without it.
    pub fn get_mut(&mut self, name: &str) -> Option<&mut Array3<R>> {
        let found = self.set.volumes().iter().position(|volume| volume.name == name);
        found.map(|at| &mut self.fields[at])
    }

    /// Diagnostics with a function applied to each field.
    pub fn map<S>(&self, make: impl FnMut(&Array3<R>) -> Array3<S>) -> CloudDiagnostics<S> {
        CloudDiagnostics {
            set: Arc::clone(&self.set),
            fields: self.fields.iter().map(make).collect(),
        }
    }
}

impl<R: Real> CloudDiagnostics<R> {
    /// All zero.
    pub fn zeros(set: &Arc<Constituents>, shape: Shape) -> Self {
        let field = |_| Array3::zeros(shape.centre());
        Self::of(set, set.volumes().iter().map(field).collect())
    }
}
