//! Rates of the reactions, their derivatives, and dy/dt as straight-line code.

use std::fmt::Write;

use super::layout::Layout;
use super::{added, head, programs};
use crate::chemistry::gpu::declarations::Declarations;
use crate::chemistry::kinetics::Kinetics;

/// A rate constant times concentrations.
fn product(kinetics: &Kinetics, layout: &Layout, reaction: usize, factors: &[u32]) -> String {
    let number = kinetics.rates.rate[reaction];
    let slot = kinetics.rates.kept.binary_search(&number).expect("rates are kept");
    let mut product = format!("rates[{}]", slot * layout.cells);
    for &factor in factors {
        product = format!("__dmul_rn({product}, {})", layout.concentration(factor as usize));
    }
    product
}

/// Writes the derivatives of the reaction rates at the current concentrations.
pub(super) fn derivatives(text: &mut Declarations, kinetics: &Kinetics, layout: &Layout) {
    text.0 += &head("void", "straight_derivatives", "");
    let mut lists = vec![String::new(); layout.workers];
    let each = kinetics.partials.iter().zip(kinetics.partial_factors.iter());
    for (number, (partial, factors)) in each.enumerate() {
        let value = product(kinetics, layout, partial.reaction as usize, factors);
        let worker = number * layout.workers / kinetics.partials.len();
        let _ = writeln!(lists[worker], "{} = {value};", layout.number(layout.partials[number]));
    }
    programs(text, lists);
    text.0 += "}\n";
}

/// Distributes the species so that workers have about the same number of operations; a species goes preferably to a
/// worker that computes its reactions anyway.
fn shares(kinetics: &Kinetics, workers: usize) -> Vec<Vec<usize>> {
    let operations = |reaction: u32| 2 * kinetics.factors.list(reaction as usize).len() + 1;
    let mut order: Vec<usize> = (0..kinetics.variables()).collect();
    order.sort_by_key(|&species| std::cmp::Reverse(kinetics.net.list(species).len()));
    let mut shares = vec![Vec::new(); workers];
    let mut times = vec![0; workers];
    let mut has = vec![vec![false; kinetics.reactions()]; workers];
    for species in order {
        let terms = kinetics.net.list(species);
        let time = |worker: usize| {
            let missing = terms.iter().filter(|term| !has[worker][term.index as usize]);
            let reactions: usize = missing.map(|term| operations(term.index)).sum();
            times[worker] + terms.len() + reactions
        };
        let Some(worker) = (0..workers).min_by_key(|&worker| time(worker)) else { continue };
        times[worker] = time(worker);
        for term in terms {
            has[worker][term.index as usize] = true;
        }
        shares[worker].push(species);
    }
    shares
}

/// Writes dy/dt at the current concentrations, reaction by reaction, which is the order of terms of every species.
pub(super) fn tendencies(text: &mut Declarations, kinetics: &Kinetics, layout: &Layout) {
    text.0 += &head("void", "straight_tendencies", "");
    let all = shares(kinetics, layout.workers);
    let all = all.iter().map(|species| tendencies_of(kinetics, layout, species)).collect();
    programs(text, all);
    text.0 += "}\n";
}

/// Code of dy/dt for the species of a worker.
fn tendencies_of(kinetics: &Kinetics, layout: &Layout, species: &[usize]) -> String {
    let mut text = String::new();
    let mut changes = vec![Vec::new(); kinetics.reactions()];
    for &species in species {
        for term in kinetics.net.list(species) {
            changes[term.index as usize].push((species, term.coefficient));
        }
    }
    let mut has_begun = vec![false; kinetics.variables()];
    for (reaction, (changes, factors)) in changes.iter().zip(kinetics.factors.iter()).enumerate() {
        if changes.is_empty() {
            continue;
        }
        let rate = product(kinetics, layout, reaction, factors);
        let _ = writeln!(text, "const double a{reaction} = {rate};");
        for &(species, coefficient) in changes {
            let sum = format!("f{species}");
            let has_sum = std::mem::replace(&mut has_begun[species], true);
            let value =
                added(has_sum.then_some(sum.as_str()), coefficient, &format!("a{reaction}"));
            let kind = if has_sum { "" } else { "double " };
            let _ = writeln!(text, "{kind}{sum} = {value};");
        }
    }
    for &species in species {
        let value = if has_begun[species] { format!("f{species}") } else { "0.0".to_owned() };
        let _ = writeln!(text, "{} = {value};", layout.element(layout.f, species));
    }
    text
}
