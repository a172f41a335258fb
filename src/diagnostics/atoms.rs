//! Budgets of atoms in a run with chemistry: sums over the budgets of the species, weighted by their composition.

use serde::Serialize;

use super::budget::TracerBudget;
use crate::chemistry::coupled::Coupled;
use crate::chemistry::coupling::{MOLAR_MASS_OF_AIR, PPM};
use crate::chemistry::mechanism::Mechanism;
use crate::chemistry::mechanism::conserved_sums::{self, SumParts};

/// Elements with a budget, if the mechanism declares them.
const BUDGETED: [&str; 3] = ["N", "S", "C"];

/// Moles of a species of which there is 1 kg of dry air times ppmv.
const MOLES: f64 = PPM * 1e3 / MOLAR_MASS_OF_AIR;

/// Terms of the budget of an atom inside the specified and open rows, mol.
///
/// end = start + sides + reacted + integration + clipped
///
/// With the atoms w of the species and the differences Δy of the states before and after the integration, `reacted` is
/// (P w)·Δy and `integration` (w - P w)·Δy, where P w is the part that reactions can change by their stoichiometry
/// ([`conserved_sums`]): nothing at all of an element that all of them balance.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub(crate) struct AtomBudget {
    /// Symbol of the element.
    pub atom: String,
    /// Amount at the start.
    pub start: f64,
    /// Net inflow through the sides.
    pub sides: f64,
    /// Change by reactions: the difference of the states before and after the integration.
    pub reacted: f64,
    /// Made by the integration beside the reactions: its error of conservation.
    pub integration: f64,
    /// Made by clipping at zero around the chemistry.
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
pub(crate) fn budgets(
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
    let atoms: Vec<f64> =
        (0..mechanism.species.len()).map(|species| count(mechanism, species, atom)).collect();
    let SumParts { reachable, invariant, changing } = conserved_sums::split(mechanism, &atoms);
    let mut sums = [0.0; 6];
    for (species, field) in names.iter().enumerate() {
        let tracer = tracers.iter().find(|tracer| Some(tracer.name) == *field);
        let Some(tracer) = tracer else { continue };
        let TracerBudget { start, sides, reacted, clipped, end, .. } = *tracer;
        let all = atoms[species];
        let parts = [reachable[species] * reacted, invariant[species] * reacted];
        let [reacted, integration] = parts;
        let terms = [all * start, all * sides, reacted, integration, all * clipped, all * end];
        for (sum, term) in sums.iter_mut().zip(terms) {
            *sum += MOLES * term;
        }
    }
    let [start, sides, reacted, integration, clipped, end] = sums;
    let scale = sums.iter().fold(0.0, |most: f64, sum| most.max(sum.abs()));
    let left = end - (start + sides + reacted + integration + clipped);
    AtomBudget {
        atom: name.to_owned(),
        start,
        sides,
        reacted,
        integration,
        clipped,
        end,
        closure_rel: if scale > 0.0 { left / scale } else { 0.0 },
        unbalanced_reactions: changing,
    }
}
