//! The part of a sum over species that reactions can change, and the part that they leave alone.
//!
//! Whatever reactions do in a step, the change of the concentrations is Δy = N ξ, with the net stoichiometry N of the
//! variable species in the reactions and extents ξ. Rosenbrock methods keep to that: every stage solves
//! (I/(hγ) - J) k = f + ..., where f and J k lie in the range of N. Of a sum w·y, the part P w, with the orthogonal
//! projection P on that range, therefore tells all that reactions make: w·N ξ = (P w)·N ξ. The rest, (I - P) w, is an
//! invariant of the mechanism: what it changes by is an error of the integration.

use super::tables::{Mechanism, Role};

/// Part of a column that is new beyond those before it, from which it counts as independent: yields have three digits
/// or so, and rounding leaves 1e-15.
const INDEPENDENT: f64 = 1e-9;

/// Part of the size of its terms that a sum may be off 0 by: what rounding makes of sums of yields.
const BALANCED: f64 = 1e-12;

/// A sum over the species of a mechanism, in two parts.
#[derive(Clone, Debug, PartialEq)]
pub struct SumParts {
    /// The part that reactions can change, P w; exactly nothing where they change nothing.
    pub reachable: Vec<f64>,
    /// The part that they leave alone, w - P w.
    pub invariant: Vec<f64>,
    /// Reactions that change the sum.
    pub changing: usize,
}

/// Splits the sum with the weight of each species; fixed species, which reactions do not change, have none in either
/// part.
///
/// # Panics
///
/// When there is not a weight for each species.
pub fn split(mechanism: &Mechanism, weights: &[f64]) -> SumParts {
    assert_eq!(weights.len(), mechanism.species.len(), "a weight for each species");
    let is_variable = |species: usize| mechanism.species[species].role == Role::Variable;
    let weights: Vec<f64> = weights
        .iter()
        .enumerate()
        .map(|(species, weight)| if is_variable(species) { *weight } else { 0.0 })
        .collect();
    let columns: Vec<Vec<f64>> = mechanism
        .reactions
        .iter()
        .map(|reaction| {
            let mut column = vec![0.0; weights.len()];
            for (species, net) in reaction.net() {
                if is_variable(species) {
                    column[species] = net;
                }
            }
            column
        })
        .collect();
    let changing = columns.iter().filter(|column| makes(&weights, column)).count();
    let mut reachable = vec![0.0; weights.len()];
    if changing > 0 {
        for direction in &basis(columns) {
            add(&mut reachable, dot(&weights, direction), direction);
        }
    }
    let invariant = weights.iter().zip(&reachable).map(|(w, part)| w - part).collect();
    SumParts { reachable, invariant, changing }
}

/// True of a reaction that changes a sum.
fn makes(weights: &[f64], column: &[f64]) -> bool {
    let terms = || weights.iter().zip(column).map(|(weight, net)| weight * net);
    terms().sum::<f64>().abs() > BALANCED * terms().map(f64::abs).sum::<f64>()
}

/// Orthogonal directions of length 1 that span columns, by the method of Gram and Schmidt, each made orthogonal twice.
fn basis(columns: Vec<Vec<f64>>) -> Vec<Vec<f64>> {
    let mut basis: Vec<Vec<f64>> = Vec::new();
    for mut column in columns {
        let length = dot(&column, &column).sqrt();
        for _ in 0..2 {
            for direction in &basis {
                let along = dot(&column, direction);
                add(&mut column, -along, direction);
            }
        }
        let left = dot(&column, &column).sqrt();
        if left > INDEPENDENT * length {
            for x in &mut column {
                *x /= left;
            }
            basis.push(column);
        }
    }
    basis
}

fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

fn add(to: &mut [f64], factor: f64, direction: &[f64]) {
    for (x, d) in to.iter_mut().zip(direction) {
        *x += factor * d;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::chemistry::mechanism;

    fn mechanism(equations: &str) -> Mechanism {
        let text = format!(
            "#DEFVAR A = IGNORE; B = IGNORE; C = IGNORE; D = IGNORE; #DEFFIX F = IGNORE; #EQUATIONS {equations}"
        );
        mechanism::parse("m", &text).mechanism().expect("a mechanism").0
    }

    fn is_near(a: f64, b: f64) -> bool {
        (a - b).abs() < 1e-14
    }

    #[test]
    fn reactions_that_balance_a_sum_make_nothing_of_it() {
        let mechanism = mechanism("A + B = C : 1; C = 0.3 A + 0.7 D + 0.3 B : 1; A = B : 1;");
        // Both parts of C, and D has what its yield leaves.
        let parts = split(&mechanism, &[1.0, 1.0, 2.0, 2.0, 5.0]);
        assert_eq!(parts.changing, 0);
        assert_eq!(parts.reachable, [0.0; 5]);
        assert_eq!(parts.invariant, [1.0, 1.0, 2.0, 2.0, 0.0]);
    }

    #[test]
    fn what_reactions_do_lies_in_the_part_that_they_can_change() {
        // The second and the fourth depend on the others; the third takes of what is fixed.
        let mechanism = mechanism("A = 2 B : 1; 2 B = A : 1; F + B = C : 1; A = 2 C : 1;");
        let weights = [1.0, 2.0, 3.0, 4.0, 7.0];
        let SumParts { reachable, invariant, changing } = split(&mechanism, &weights);
        assert_eq!(changing, 4);
        for reaction in &mechanism.reactions {
            let mut made = [0.0; 3];
            for (species, net) in reaction.net().into_iter().filter(|(species, _)| *species < 4) {
                for (sum, w) in made.iter_mut().zip([&weights[..], &reachable, &invariant]) {
                    *sum += net * w[species];
                }
            }
            let [all, by_reactions, by_error] = made;
            assert!(is_near(all, by_reactions) && is_near(by_error, 0.0), "{made:?}");
        }
        // D reacts with nothing, and 2 A + B + C is an invariant: a change along it is no reaction's doing.
        assert!(is_near(reachable[3], 0.0) && is_near(invariant[3], 4.0));
        let along = |w: &[f64]| 2.0 * w[0] + w[1] + w[2];
        assert!(is_near(along(&reachable), 0.0) && is_near(along(&invariant), 7.0));
    }
}
