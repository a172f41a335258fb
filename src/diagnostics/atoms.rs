//! Budgets of atoms in a run with chemistry: sums over the budgets of the species, weighted by their composition.

use serde::Serialize;

use super::budget::TracerBudget;
use crate::chemistry::coupled::Coupled;
use crate::chemistry::coupling::{MOLAR_MASS_OF_AIR, PPM};
use crate::chemistry::mechanism::Mechanism;

/// Elements with a budget, if the mechanism declares them.
const BUDGETED: [&str; 3] = ["N", "S", "C"];

/// Imbalance of atoms that a reaction may have by rounding of sums of yields.
const BALANCED: f64 = 1e-9;

/// Moles of a species in 1 kg of dry air times 1 ppmv.
const MOLES: f64 = PPM * 1e3 / MOLAR_MASS_OF_AIR;

/// Terms of the budget of an atom inside the specified and open rows, mol.
///
/// end = start + sides + reacted + clipped
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct AtomBudget {
    /// Symbol of the element.
    pub atom: String,
    /// Amount at the start.
    pub start: f64,
    /// Net inflow through the sides.
    pub sides: f64,
    /// Change by reactions: the difference of the states before and after the integration.
    pub reacted: f64,
    /// Added by clipping at zero around the chemistry.
    pub clipped: f64,
    /// Amount at the end.
    pub end: f64,
    /// Residual of the budget, relative to its largest term.
    pub closure_rel: f64,
    /// Reactions whose stoichiometry does not balance this element.
    pub unbalanced_reactions: usize,
}

/// Number of atoms of an element in a species.
fn count(mechanism: &Mechanism, species: usize, atom: usize) -> f64 {
    let composition = mechanism.species[species].composition.iter();
    composition.filter(|(other, _)| *other == atom).map(|(_, count)| count).sum()
}

/// Budgets of N, S and C from those of the tracers of a run, each under the name of its field.
pub fn budgets(
    coupled: &Coupled,
    names: &[Option<&str>],
    tracers: &[TracerBudget],
) -> Vec<AtomBudget> {
    let mechanism = &coupled.mechanism;
    let number = |name: &&str| mechanism.atoms.iter().position(|atom| atom == name);
    let found = BUDGETED.iter().filter_map(|name| Some((*name, number(name)?)));
    found.map(|(name, atom)| budget(mechanism, (name, atom), names, tracers)).collect()
}

fn budget(
    mechanism: &Mechanism,
    (name, atom): (&str, usize),
    names: &[Option<&str>],
    tracers: &[TracerBudget],
) -> AtomBudget {
    let mut sums = [0.0; 5];
    for (species, field) in names.iter().enumerate() {
        let weight = MOLES * count(mechanism, species, atom);
        let tracer = tracers.iter().find(|tracer| Some(tracer.name) == *field);
        let (Some(tracer), true) = (tracer, weight != 0.0) else { continue };
        let TracerBudget { start, sides, reacted, clipped, end, .. } = *tracer;
        for (sum, term) in sums.iter_mut().zip([start, sides, reacted, clipped, end]) {
            *sum += weight * term;
        }
    }
    let [start, sides, reacted, clipped, end] = sums;
    let scale = sums.iter().fold(0.0, |most: f64, sum| most.max(sum.abs()));
    let left = end - (start + sides + reacted + clipped);
    let is_unbalanced = |net: Vec<(usize, f64)>| {
        let made: f64 = net.iter().map(|&(s, n)| n * count(mechanism, s, atom)).sum();
        made.abs() > BALANCED
    };
    AtomBudget {
        atom: name.to_owned(),
        start,
        sides,
        reacted,
        clipped,
        end,
        closure_rel: if scale > 0.0 { left / scale } else { 0.0 },
        unbalanced_reactions: mechanism
            .reactions
            .iter()
            .filter(|reaction| is_unbalanced(reaction.net()))
            .count(),
    }
}
