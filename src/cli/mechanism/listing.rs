//! A mechanism as text.

use std::fmt::Write;

use super::Subject;
use crate::chemistry::lifetime::in_words;
use crate::chemistry::mechanism::Role;
use crate::chemistry::mechanism::atoms::imbalance;
use crate::chemistry::mechanism::expression::Operator;
use crate::chemistry::mechanism::quantity::{Origin, Quantity};
use crate::chemistry::rates::{Operation, Unary};

/// Most unbalanced reactions that are listed.
const LISTED: usize = 12;

/// Stages and evaluations of f of the method in the cost estimate, RODAS3.
const STAGES: usize = 4;
/// See [`STAGES`].
const EVALUATIONS: usize = 3;

impl Subject {
    /// The whole text.
    pub(super) fn listing(&self) -> String {
        let mut text = String::new();
        // Writing to a string cannot fail.
        let _ = self
            .head(&mut text)
            .and_then(|()| self.species(&mut text))
            .and_then(|()| self.reactions(&mut text))
            .and_then(|()| self.balance(&mut text))
            .and_then(|()| self.cost(&mut text));
        text
    }

    fn head(&self, text: &mut String) -> std::fmt::Result {
        let (mechanism, kinetics) = (&self.mechanism, &self.kinetics);
        let inert = mechanism.species.len() - kinetics.species();
        writeln!(
            text,
            "{}: {} variable and {} fixed species, {} reactions",
            mechanism.name,
            kinetics.variables(),
            kinetics.fixed.len(),
            kinetics.reactions()
        )?;
        if inert > 0 {
            writeln!(text, "{inert} more species occur in no reaction")?;
        }
        let reactions = &mechanism.reactions;
        let of_order = |order| reactions.iter().filter(|r| r.order().min(3) == order).count();
        writeln!(
            text,
            "by order: {} of order 0, {} of order 1, {} of order 2, {} of order 3 or more; {} need light",
            of_order(0),
            of_order(1),
            of_order(2),
            of_order(3),
            reactions.iter().filter(|r| r.is_photolytic).count()
        )
    }

    fn species(&self, text: &mut String) -> std::fmt::Result {
        let mechanism = &self.mechanism;
        writeln!(
            text,
            "\nSpecies; lifetimes in clean air at 298.15 K with the sun at 45 degrees\n\
             {:<16} {:<14} {:>5} {:>5}  {:>12}  largest loss",
            "name", "atoms", "made", "lost", "lifetime"
        )?;
        let count = mechanism.species.len();
        let (mut making, mut losing, mut lifetimes) =
            (vec![0_usize; count], vec![0_usize; count], vec![None; count]);
        for reaction in &mechanism.reactions {
            reaction.products.iter().for_each(|&(species, _)| making[species] += 1);
            reaction.reactants.iter().for_each(|&(species, _)| losing[species] += 1);
        }
        for lifetime in &self.reference.lifetimes {
            lifetimes[lifetime.species] = Some(lifetime);
        }
        for (number, species) in mechanism.species.iter().enumerate() {
            let [made, lost] = [&making, &losing].map(|counts| counts[number]);
            let found = lifetimes[number];
            let time = match (species.role, found) {
                (Role::Fixed, _) => "fixed".to_owned(),
                (Role::Variable, Some(lifetime)) => in_words(lifetime.time),
                (Role::Variable, None) => "inert".to_owned(),
            };
            let loss = found.and_then(|lifetime| lifetime.main_loss);
            let loss = loss.map_or_else(String::new, |r| mechanism.equation(r));
            let line = format!(
                "{:<16} {:<14} {made:>5} {lost:>5}  {time:>12}  {loss}",
                species.name,
                self.formula(number)
            );
            writeln!(text, "{}", line.trim_end())?;
        }
        let named: Vec<String> = mechanism
            .quantities
            .iter()
            .filter(|quantity| matches!(quantity.origin, Origin::Host(_)))
            .map(Quantity::label)
            .collect();
        if !named.is_empty() {
            let named = named.join(", ");
            writeln!(text, "set by the model that the mechanism was written for: {named}")?;
        }
        if !self.reference.dark.is_empty() {
            let dark = self.reference.dark.join(", ");
            writeln!(text, "counted as 0 in lifetimes: {dark}")?;
        }
        Ok(())
    }

    /// Atoms of a species, `C2H3NO5`.
    fn formula(&self, number: usize) -> String {
        let species = &self.mechanism.species[number];
        let mut formula = String::new();
        for &(atom, count) in &species.composition {
            formula += &self.mechanism.atoms[atom];
            if count != 1.0 {
                formula += &count.to_string();
            }
        }
        match (formula.is_empty(), species.is_balanced) {
            (true, _) => "-".to_owned(),
            (false, true) => formula,
            (false, false) => formula + "...",
        }
    }

    fn reactions(&self, text: &mut String) -> std::fmt::Result {
        writeln!(text, "\nReactions; k at 298.15 K in molecules, cm3 and s")?;
        for (number, reaction) in self.mechanism.reactions.iter().enumerate() {
            let tag = match reaction.tag.as_str() {
                "" => format!("{}", number + 1),
                tag => format!("<{tag}>"),
            };
            writeln!(
                text,
                "{tag:<7} order {}  k {:>9.3e}  {}  : {}",
                reaction.order(),
                self.reference.rates[number],
                self.mechanism.equation(number),
                reaction.rate_text
            )?;
        }
        Ok(())
    }

    fn balance(&self, text: &mut String) -> std::fmt::Result {
        let mechanism = &self.mechanism;
        if mechanism.atoms.is_empty() {
            return writeln!(text, "\nAtoms: none are declared");
        }
        let mut open = 0;
        let mut off = Vec::new();
        for (number, reaction) in mechanism.reactions.iter().enumerate() {
            match imbalance(mechanism, reaction) {
                None => open += 1,
                Some(sums) if sums.is_empty() => {}
                Some(sums) => off.push((number, sums)),
            }
        }
        let all = mechanism.reactions.len();
        writeln!(
            text,
            "\nAtoms: {}; {} reactions balance, {} do not, {open} cannot be told (IGNORE)",
            mechanism.atoms.join(" "),
            all - open - off.len(),
            off.len()
        )?;
        for (number, sums) in off.iter().take(LISTED) {
            let sums: Vec<String> = sums
                .iter()
                .map(|&(atom, sum)| format!("{sum:+} {}", mechanism.atoms[atom]))
                .collect();
            let (name, equation) = (mechanism.reaction_name(*number), mechanism.equation(*number));
            writeln!(text, "  {name} makes {}: {equation}", sums.join(", "))?;
        }
        if off.len() > LISTED {
            writeln!(text, "  and {} more", off.len() - LISTED)?;
        }
        Ok(())
    }

    fn cost(&self, text: &mut String) -> std::fmt::Result {
        let (kinetics, lu) = (&self.kinetics, &self.kinetics.lu);
        let entries = kinetics.is_jacobian.iter().filter(|&&is| is).count();
        let (quotients, products) = lu.operations();
        let factors = kinetics.factors.elements.len();
        let f = factors + kinetics.net.elements.len();
        let derivatives =
            kinetics.partial_factors.elements.len() + kinetics.jacobian.elements.len();
        let solve = lu.entries();
        let functions = kinetics
            .rates
            .operations
            .iter()
            .filter(|operation| {
                matches!(
                    operation,
                    Operation::Unary(Unary::Exp | Unary::Ln | Unary::Log10, _)
                        | Operation::Binary(Operator::Power, ..)
                )
            })
            .count();
        let step = EVALUATIONS * f + derivatives + quotients + products + STAGES * solve;
        writeln!(
            text,
            "\nSparsity: {entries} entries of the Jacobian, {} of its factors ({} of fill); \
             {} without reordering, {} of a full matrix\n\
             Cost: rates {} operations, of which {functions} exponentials, logarithms and powers; \
             products a step: f {f}, Jacobian {derivatives}, factors {quotients} + {products}, \
             solution {solve}; with RODAS3 {step} a step, {} bytes of factors a cell",
            lu.entries(),
            lu.entries() - entries,
            kinetics.entries_unordered,
            lu.size() * lu.size(),
            kinetics.rates.operations.len(),
            size_of::<f64>() * lu.entries()
        )
    }
}
