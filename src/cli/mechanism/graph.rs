//! The reactions as a graph, and all tables as JSON.

use std::fmt::Write;

use serde_json::{Value, json};

use super::Subject;
use crate::chemistry::mechanism::Role;
use crate::chemistry::mechanism::atoms::imbalance;
use crate::chemistry::mechanism::quantity::Origin;

impl Subject {
    /// The graph in DOT (Graphviz): an arrow from every reactant to every product.
    pub(super) fn graph(&self) -> String {
        let mechanism = &self.mechanism;
        let quoted = |text: &str| text.replace(['\\', '"'], "_");
        let mut graph = format!("digraph \"{}\" {{\n  rankdir=LR;\n", quoted(&mechanism.name));
        let takes_part = self.kinetics.variable.iter().chain(&self.kinetics.fixed);
        for &species in takes_part {
            let species = &mechanism.species[species];
            let shape = if species.role == Role::Fixed { "box" } else { "ellipse" };
            // Writing to a string cannot fail.
            let _ = writeln!(graph, "  \"{}\" [shape={shape}];", species.name);
        }
        for (number, reaction) in mechanism.reactions.iter().enumerate() {
            let tag = match reaction.tag.as_str() {
                "" => (number + 1).to_string(),
                tag => quoted(tag),
            };
            let style = if reaction.is_photolytic { ", style=dashed" } else { "" };
            for &(from, _) in &reaction.reactants {
                for &(to, _) in &reaction.products {
                    let [from, to] = [from, to].map(|species| &mechanism.species[species].name);
                    let _ = writeln!(graph, "  \"{from}\" -> \"{to}\" [label=\"{tag}\"{style}];");
                }
            }
        }
        graph + "}\n"
    }

    /// All tables.
    pub(super) fn value(&self) -> Value {
        let Self { mechanism, kinetics, reference } = self;
        let name = |species: usize| mechanism.species[species].name.as_str();
        let lifetime = |number: usize| {
            // In the order of the species.
            let found = reference.lifetimes.binary_search_by_key(&number, |life| life.species);
            found.ok().map(|place| reference.lifetimes[place].time).filter(|time| time.is_finite())
        };
        let species: Vec<Value> = mechanism
            .species
            .iter()
            .enumerate()
            .map(|(number, species)| {
                let atoms: serde_json::Map<String, Value> = species
                    .composition
                    .iter()
                    .map(|&(atom, count)| (mechanism.atoms[atom].clone(), count.into()))
                    .collect();
                json!({
                    "name": species.name,
                    "role": if species.role == Role::Fixed { "fixed" } else { "variable" },
                    "atoms": atoms,
                    "composition_complete": species.is_balanced,
                    "initial": species.initial,
                    "lifetime_s": lifetime(number),
                })
            })
            .collect();
        let reactions: Vec<Value> = mechanism
            .reactions
            .iter()
            .enumerate()
            .map(|(number, reaction)| {
                let side = |terms: Vec<(usize, f64)>| -> Vec<Value> {
                    let one = |(species, coefficient)| json!([name(species), coefficient]);
                    terms.into_iter().map(one).collect()
                };
                let left = reaction.reactants.iter().map(|&(s, l)| (s, l.into())).collect();
                let imbalance: Option<serde_json::Map<String, Value>> =
                    imbalance(mechanism, reaction).map(|off| {
                        let named = |(atom, sum): (usize, f64)| {
                            (mechanism.atoms[atom].clone(), Value::from(sum))
                        };
                        off.into_iter().map(named).collect()
                    });
                json!({
                    "tag": reaction.tag,
                    "equation": mechanism.equation(number),
                    "reactants": side(left),
                    "products": side(reaction.products.clone()),
                    "net": side(reaction.net()),
                    "order": reaction.order(),
                    "photolytic": reaction.is_photolytic,
                    "rate": reaction.rate_text,
                    "rate_constant_298K": reference.rates[number],
                    "imbalance": imbalance,
                })
            })
            .collect();
        let quantities: Vec<Value> = mechanism
            .quantities
            .iter()
            .map(|quantity| {
                let origin = match quantity.origin {
                    Origin::Host(_) => "host",
                    Origin::Species(_) => "species",
                    _ => "air",
                };
                json!({ "name": quantity.label(), "origin": origin })
            })
            .collect();
        let lu = &kinetics.lu;
        let (quotients, products) = lu.operations();
        let names = |list: &[usize]| -> Vec<&str> { list.iter().map(|&s| name(s)).collect() };
        json!({
            "schema": 1,
            "name": mechanism.name,
            "atoms": mechanism.atoms,
            "species": species,
            "reactions": reactions,
            "photolysis": mechanism.photolysis,
            "quantities": quantities,
            "order_variable": names(&kinetics.variable),
            "order_fixed": names(&kinetics.fixed),
            "nnz_jac": kinetics.is_jacobian.iter().filter(|&&is| is).count(),
            "nnz_lu": lu.entries(),
            "nnz_lu_without_reordering": kinetics.entries_unordered,
            "lu_divisions": quotients,
            "lu_multiply_subtracts": products,
            "lu_irow": (0..lu.size()).flat_map(|r| lu.row(r).map(move |_| r)).collect::<Vec<_>>(),
            "lu_icol": lu.column,
            "lu_crow": lu.row_start,
            "lu_diag": lu.diagonal,
            "lu_is_jac": kinetics.is_jacobian.iter().map(|&is| u8::from(is)).collect::<Vec<_>>(),
            "rate_operations": kinetics.rates.operations.len(),
        })
    }
}
