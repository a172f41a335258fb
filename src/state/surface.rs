//! Planes at the ground.

use std::sync::Arc;

use ndarray::Array2;

use crate::constituents::{Constituents, Diagnostic};
use crate::grid::Shape;
use crate::real::Real;

/// The planes at the ground of a scheme, and the terms of the water budget of a step. Shape of each: (ny, nx).
#[derive(Clone, Debug)]
pub struct Surface<R> {
    set: Arc<Constituents>,
    /// Those of the scheme, then the terms.
    planes: Vec<Array2<R>>,
}

/// Terms of the water budget of a step, kg m⁻²: water that has reached the ground, water that sedimentation has created
/// (< 0: lost), water that clipping at zero has added.
pub const TERMS: [&str; 3] = ["fallen", "fall_residual", "clipped"];

impl<R> Surface<R> {
    /// Names of the planes, in their order everywhere: those of the scheme first, the terms of the water budget last.
    pub fn names(set: &Constituents) -> impl Iterator<Item = &'static str> {
        set.planes().iter().map(|plane| plane.name).chain(TERMS)
    }

    /// A surface from its planes, in the order of [`Surface::names`].
    ///
    /// # Panics
    ///
    /// When their number is another.
    pub fn of(set: &Arc<Constituents>, planes: Vec<Array2<R>>) -> Self {
        assert_eq!(planes.len(), set.planes().len() + TERMS.len(), "planes of the scheme");
        Self { set: Arc::clone(set), planes }
    }

    /// The planes, in the order of [`Surface::names`].
    pub fn planes(&self) -> &[Array2<R>] {
        &self.planes
    }

    /// The planes for writing, in the order of [`Surface::names`].
    pub fn planes_mut(&mut self) -> &mut [Array2<R>] {
        &mut self.planes
    }

    /// The plane of a name.
    pub fn get(&self, name: &str) -> Option<&Array2<R>> {
        Self::names(&self.set).zip(&self.planes).find(|(own, _)| *own == name).map(|(_, x)| x)
    }

    /// The same of a scheme that has it.
    ///
    /// # Panics
    ///
    /// When it has not.
    pub fn named(&self, name: &str) -> &Array2<R> {
        self.get(name).unwrap_or_else(|| panic!("no {name} at the ground"))
    }

    /// The same for writing.
    ///
    /// # Panics
    ///
    /// As [`Surface::named`].
    pub fn named_mut(&mut self, name: &str) -> &mut Array2<R> {
        let found = Self::names(&self.set).position(|own| own == name);
        &mut self.planes[found.unwrap_or_else(|| panic!("no {name} at the ground"))]
    }

    /// The terms of the water budget, in the order of [`TERMS`].
    pub fn terms(&self) -> [&Array2<R>; TERMS.len()] {
        std::array::from_fn(|term| &self.planes[self.planes.len() - TERMS.len() + term])
    }

    /// The planes that the output has.
    pub fn shown(&self) -> impl Iterator<Item = (&Diagnostic, &Array2<R>)> {
        let of = |number: usize| (&self.set.planes()[number], &self.planes[number]);
        self.set.shown_planes().map(of)
    }

    /// All precipitation since the start of the run, mm, in a scheme that gathers it.
    pub fn precipitation(&self) -> Option<&Array2<R>> {
        self.set.precipitation().map(|number| &self.planes[number])
    }

    /// The planes of its frozen parts, mm.
    pub fn frozen(&self) -> impl Iterator<Item = &Array2<R>> {
        self.set.frozen_precipitation().map(|number| &self.planes[number])
    }

    /// A surface with a function applied to each plane.
    pub fn map<S>(&self, make: impl FnMut(&Array2<R>) -> Array2<S>) -> Surface<S> {
        Surface { set: Arc::clone(&self.set), planes: self.planes.iter().map(make).collect() }
    }
}

impl<R: Real> Surface<R> {
    /// All planes zero.
    pub fn zeros(set: &Arc<Constituents>, shape: Shape) -> Self {
        let plane = |_| Array2::zeros((shape.ny, shape.nx));
        Self::of(set, Self::names(set).map(plane).collect())
    }
}
