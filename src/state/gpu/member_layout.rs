//! Places of the fields of one of several states (ensemble members) in one array.

use std::ops::Range;

use crate::constituents::Constituents;

/// Indices of the fields of one state among several in one array: first all potential temperatures, and other tracers
/// without limiter, then the water of one state after the other, each with its properties.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MemberLayout {
    /// Index of the state.
    pub number: usize,
    /// Fields before the water of the first state.
    pub before_water: usize,
    /// Species of water of a state, and their properties.
    pub limited: usize,
    /// Species of water of a state.
    pub species: usize,
    /// Planes at the ground of the scheme.
    pub planes: usize,
    /// Fields of the air.
    pub air: usize,
}

impl MemberLayout {
    /// A single state of a set.
    pub fn alone(set: &Constituents) -> Self {
        Self {
            number: 0,
            before_water: 1,
            limited: set.limited().len(),
            species: set.water().len(),
            planes: set.planes().len(),
            air: super::air_fields(set),
        }
    }

    /// End of the fields of the state.
    pub fn fields(self) -> usize {
        self.limited().end
    }

    /// Index of the potential temperature.
    pub fn theta(self) -> usize {
        self.number
    }

    /// Indices of the water with its properties.
    pub fn limited(self) -> Range<usize> {
        let first = self.before_water + self.number * self.limited;
        first..first + self.limited
    }

    /// Indices of the species of water.
    pub fn water(self) -> Range<usize> {
        let first = self.limited().start;
        first..first + self.species
    }

    /// Index of a field of the scheme.
    pub fn place(self, field: usize) -> usize {
        if field == 0 { self.theta() } else { self.limited().start + field - 1 }
    }
}
