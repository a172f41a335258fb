//! Indices of the fields of one of several states (ensemble members) in one array.

use crate::state::WATER_SPECIES;

/// Indices of the fields of WSM5 of one state among several in one array: first all potential temperatures, and other
/// tracers without limiter, then the water of one state after the other.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MemberLayout {
    /// Index of the state.
    pub number: usize,
    /// Fields before the water of the first state.
    pub before_water: usize,
}

impl MemberLayout {
    /// A single state.
    pub const ALONE: Self = Self { number: 0, before_water: 1 };

    /// End of the fields of the state.
    pub fn fields(self) -> usize {
        self.water().end
    }

    /// Index of the potential temperature.
    pub fn theta(self) -> usize {
        self.number
    }

    /// Indices of the water.
    pub fn water(self) -> std::ops::Range<usize> {
        let first = self.before_water + self.number * WATER_SPECIES;
        first..first + WATER_SPECIES
    }

    /// Index of a field of the state.
    pub fn place(self, field: usize) -> usize {
        if field == 0 { self.theta() } else { self.water().start + field - 1 }
    }
}
