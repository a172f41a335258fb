//! Where the fields of one of several states lie.

use crate::state::{SPECIES, STATE_FIELDS};

/// Where the fields of a state are among those of several states in one array: first all potential
/// temperatures, then the water of one state after the other.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Abreast {
    /// Number of the state.
    pub number: usize,
    /// How many states there are.
    pub count: usize,
}

impl Abreast {
    /// A state by itself.
    pub const ALONE: Self = Self { number: 0, count: 1 };

    /// Fields of all states.
    pub fn fields(self) -> usize {
        self.count * STATE_FIELDS
    }

    /// The place of the potential temperature.
    pub fn theta(self) -> usize {
        self.number
    }

    /// The places of the water.
    pub fn water(self) -> std::ops::Range<usize> {
        let first = self.count + self.number * SPECIES;
        first..first + SPECIES
    }

    /// The place of a field of the state.
    pub fn place(self, field: usize) -> usize {
        if field == 0 { self.theta() } else { self.water().start + field - 1 }
    }

    /// Which state a place belongs to, and which field of it lies there.
    pub fn at(count: usize, place: usize) -> (Self, usize) {
        let (number, field) = match place.checked_sub(count) {
            None => (place, 0),
            Some(water) => (water / SPECIES, 1 + water % SPECIES),
        };
        (Self { number, count }, field)
    }
}
