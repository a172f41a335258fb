//! Places of the fields of one of several states.

use crate::state::SPECIES;

/// Places of the fields of WSM5 of a state among those of several states in one array: first all potential
/// temperatures, and other tracers without limiter, then the water of one state after the other.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Abreast {
    /// Number of the state.
    pub number: usize,
    /// Fields before the water of the first state.
    pub before_water: usize,
}

impl Abreast {
    /// A state by itself.
    pub const ALONE: Self = Self { number: 0, before_water: 1 };

    /// Fields up to the end of those of the state.
    pub fn fields(self) -> usize {
        self.water().end
    }

    /// The place of the potential temperature.
    pub fn theta(self) -> usize {
        self.number
    }

    /// The places of the water.
    pub fn water(self) -> std::ops::Range<usize> {
        let first = self.before_water + self.number * SPECIES;
        first..first + SPECIES
    }

    /// The place of a field of the state.
    pub fn place(self, field: usize) -> usize {
        if field == 0 { self.theta() } else { self.water().start + field - 1 }
    }
}
