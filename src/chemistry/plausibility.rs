//! Rate constants beyond what nature allows: mostly the sign of an activation energy, or a wrong unit.
//!
//! Two molecules meet at 1e-9 cm3 s-1 at most (Seinfeld and Pandis, Atmospheric Chemistry and Physics, chapter 3), a
//! molecule vibrates 1e14 times a second, and pre-exponential factors of its decay reach 1e17 s-1; reactions of three
//! stay below 1e-28 cm6 s-1. What is a hundred times beyond is a mistake.

use super::cells::{Cells, rate_constants};
use super::kinetics::Kinetics;
use super::lifetime::{reference_cell, uses_of_host};
use super::mechanism::Mechanism;

/// Temperatures at which rate constants are looked at, K.
const TEMPERATURES: [f64; 4] = [200.0, 250.0, 298.15, 320.0];

/// Largest factor by which a rate constant may be beyond the limit of nature.
const MARGIN: f64 = 100.0;

/// Largest pre-exponential factor of the decay of a molecule, s-1.
const DECAY: f64 = 1e17;
/// Largest rate constant of collisions of two molecules, cm3 s-1.
const COLLISIONS: f64 = 1e-9;
/// Largest rate constant of three molecules, cm6 s-1.
const THREE_BODIES: f64 = 1e-28;

/// A rate constant that nature does not allow.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ImpossibleRate {
    /// Reaction.
    pub reaction: usize,
    /// Rate constant, molecules, cm3 and s.
    pub rate: f64,
    /// Temperature at which it is largest of those looked at, K.
    pub temperature: f64,
    /// Limit that it exceeds by far.
    pub limit: f64,
    /// The limit in words.
    pub reason: &'static str,
}

/// Units of the rate constant of a reaction of an order.
pub fn rate_units(order: u32) -> &'static str {
    match order {
        0 => "cm-3 s-1",
        1 => "s-1",
        2 => "cm3 s-1",
        3 => "cm6 s-1",
        _ => "(cm3)^(order-1) s-1",
    }
}

/// The limit for reactions of an order, and its reason; none for orders without one.
fn limit(order: u32) -> Option<(f64, &'static str)> {
    match order {
        1 => Some((MARGIN * DECAY, "molecules decay at 1e17 s-1 at most")),
        2 => Some((MARGIN * COLLISIONS, "two molecules meet at 1e-9 cm3 s-1 at most")),
        3 => Some((MARGIN * THREE_BODIES, "three molecules react at 1e-28 cm6 s-1 at most")),
        _ => None,
    }
}

/// Rate constants beyond nature at one of several temperatures of clean air at the ground; those that depend on what only
/// the host knows are not judged.
pub fn impossible_rates(mechanism: &Mechanism, kinetics: &Kinetics) -> Vec<ImpossibleRate> {
    let mut found: Vec<Option<ImpossibleRate>> = vec![None; mechanism.reactions.len()];
    let is_unknown = uses_of_host(mechanism, kinetics);
    for temperature in TEMPERATURES {
        let cell = Cells { temperature: vec![temperature], ..reference_cell(mechanism) };
        for (reaction, rate) in rate_constants(kinetics, &cell).into_iter().enumerate() {
            let Some((limit, reason)) = limit(mechanism.reactions[reaction].order()) else {
                continue;
            };
            let is_more = found[reaction].is_none_or(|known| rate > known.rate);
            if rate > limit && is_more && !is_unknown[reaction] {
                found[reaction] =
                    Some(ImpossibleRate { reaction, rate, temperature, limit, reason });
            }
        }
    }
    found.into_iter().flatten().collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::chemistry::mechanism;

    #[test]
    fn rates_beyond_collisions_and_vibrations_are_found_by_order() {
        let text = "#DEFVAR A; B; C; #DEFFIX M; #EQUATIONS\n\
                    A + B = C : ARR_ab(1.0D-12, -12000.0);\n\
                    C = A + B : ARR_ab(1.0D16, -11000.0);\n\
                    C = A + B : ARR_ab(1.0D16, 11000.0);\n\
                    A + A = C : 3.0D-10;\n\
                    A + B + M = C + M : 5.0D-34;\n\
                    A + B + M = C + M : 5.0D-20;\n\
                    A + B = C : RO2;\n";
        let (mechanism, _) = mechanism::parse("m", text).mechanism().expect("a mechanism");
        let kinetics = Kinetics::new(&mechanism).expect("tables");
        let found = impossible_rates(&mechanism, &kinetics);
        let reactions: Vec<usize> = found.iter().map(|rate| rate.reaction).collect();
        assert_eq!(reactions, [0, 1, 5]);
        // A wrong sign is worst in the cold.
        assert!((found[0].temperature - 200.0).abs() < f64::EPSILON);
    }
}
