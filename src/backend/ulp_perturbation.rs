//! States that differ from a given one by rounding.

use rayon::prelude::*;

use crate::counter_rng::Random;
use crate::real::Real;
use crate::state::State;

/// Perturbation of all values of a state, in units in the last place (ULP).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum UlpPerturbation {
    /// All of them up by so many units.
    Up(u32),
    /// All of them down.
    Down(u32),
    /// Each of them up or down, as a coin falls that falls alike wherever the seed is the same.
    Either {
        /// Size of the perturbation, ULP.
        units: u32,
        /// Which coin.
        seed: u64,
    },
}

impl UlpPerturbation {
    /// Moves all values but zeros: where there is no cloud, there is none to change.
    ///
    /// # Panics
    ///
    /// When a field is not in standard layout.
    pub fn apply<R: Real>(self, state: &mut State<R>) {
        for (n, field) in state.fields_mut().iter_mut().enumerate() {
            let values = field.as_slice_mut().expect("fields are in standard layout");
            values.par_iter_mut().enumerate().for_each(|(at, x)| {
                if *x == R::ZERO {
                    return;
                }
                let (is_up, units) = match self {
                    Self::Up(units) => (true, units),
                    Self::Down(units) => (false, units),
                    Self::Either { units, seed } => {
                        (coin(seed, ((n as u64) << 48) | at as u64), units)
                    }
                };
                for _ in 0..units {
                    *x = if is_up { x.next_up() } else { x.next_down() };
                }
            });
        }
    }
}

/// A bit that depends on two numbers in no visible way.
fn coin(seed: u64, number: u64) -> bool {
    Random::new(seed).at(number).bits() & 1 == 1
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::grid::Shape;
    use crate::physics::registry::usual_set;

    fn state() -> State<f32> {
        let mut state = State::zeros(&usual_set(), Shape { nx: 20, ny: 10, nz: 5 });
        for (n, field) in state.fields_mut().iter_mut().enumerate() {
            for (at, x) in field.iter_mut().enumerate().filter(|(at, _)| at % 3 > 0) {
                *x = (at as f32 + 0.7) * 1.3e-3 - if n == 0 { 0.5 } else { 0.0 };
            }
        }
        state
    }

    fn moves(shift: UlpPerturbation) -> Vec<(f32, f32)> {
        let (before, mut after) = (state(), state());
        shift.apply(&mut after);
        let pairs = before.fields().iter().zip(after.fields());
        pairs.flat_map(|(a, b)| a.iter().copied().zip(b.iter().copied())).collect()
    }

    #[test]
    fn values_move_by_units_in_the_last_place_and_zeros_stay() {
        for units in [1, 4] {
            for shift in [
                UlpPerturbation::Up(units),
                UlpPerturbation::Down(units),
                UlpPerturbation::Either { units, seed: 1 },
            ] {
                let moves = moves(shift);
                assert!(moves.iter().any(|(a, _)| *a == 0.0));
                for (a, b) in &moves {
                    let steps = if *a == 0.0 { 0 } else { units };
                    assert_eq!(a.to_bits().abs_diff(b.to_bits()), steps, "{shift:?} {a} {b}");
                }
                let up = moves.iter().filter(|(a, b)| b > a).count();
                let down = moves.iter().filter(|(a, b)| b < a).count();
                match shift {
                    UlpPerturbation::Up(_) => assert_eq!(down, 0),
                    UlpPerturbation::Down(_) => assert_eq!(up, 0),
                    // Of 4,000 throws, 1,750 to 2,250 of a kind: eight standard deviations.
                    UlpPerturbation::Either { .. } => {
                        assert!(up > 1750 && down > 1750, "{up} {down}");
                    }
                }
            }
        }
    }
}
