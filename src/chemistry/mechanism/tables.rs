//! A mechanism as plain tables: atoms, species, reactions, rate expressions.
//!
//! Names are compared ignoring case; the spelling of the declaration is kept.

use super::expression::Expressions;
use super::quantity::Quantity;

/// Role of a species in the integration.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
    /// Its concentration is integrated.
    Variable,
    /// Its concentration is prescribed.
    Fixed,
}

/// A species.
#[derive(Clone, Debug)]
pub struct Species {
    /// Name as declared.
    pub name: String,
    /// Variable or fixed.
    pub role: Role,
    /// Atoms and their numbers; empty if none are declared.
    pub composition: Vec<(usize, f64)>,
    /// True if the composition is complete; false with `IGNORE`, or without a composition.
    pub is_balanced: bool,
    /// Initial value times the `CFACTOR` of its section, molecules cm-3; `None` without one.
    pub initial: Option<f64>,
}

/// A reaction.
#[derive(Clone, Debug)]
pub struct Reaction {
    /// Text of `<tag>`, empty without one.
    pub tag: String,
    /// Species on the left side and their integer coefficients, each species once.
    pub reactants: Vec<(usize, u32)>,
    /// Species on the right side and their coefficients, each species once.
    pub products: Vec<(usize, f64)>,
    /// True if `hv` is on the left side.
    pub is_photolytic: bool,
    /// Rate constant, molecules, cm3 and s: its index among [`Mechanism::expressions`].
    pub rate: u32,
    /// Text of the rate without comments.
    pub rate_text: String,
}

impl Reaction {
    /// Sum of the coefficients of the left side.
    pub fn order(&self) -> u32 {
        self.reactants.iter().map(|&(_, coefficient)| coefficient).sum()
    }

    /// Net stoichiometry, products minus reactants, by ascending species; without zeros.
    pub fn net(&self) -> Vec<(usize, f64)> {
        let mut net = std::collections::BTreeMap::<usize, f64>::new();
        for &(species, coefficient) in &self.reactants {
            *net.entry(species).or_default() -= f64::from(coefficient);
        }
        for &(species, coefficient) in &self.products {
            *net.entry(species).or_default() += coefficient;
        }
        net.into_iter().filter(|&(_, coefficient)| coefficient != 0.0).collect()
    }
}

/// A mechanism as declared.
#[derive(Clone, Debug, Default)]
pub struct Mechanism {
    /// Name of the file without its extension.
    pub name: String,
    /// Names of the atoms.
    pub atoms: Vec<String>,
    /// Species in the order of declaration.
    pub species: Vec<Species>,
    /// Reactions in the order of the file.
    pub reactions: Vec<Reaction>,
    /// Expressions that the rates are made of.
    pub expressions: Expressions,
    /// Quantities of a cell that the rates name beyond those of [`Input::NAMES`](super::expression::Input::NAMES).
    pub quantities: Vec<Quantity>,
    /// Names of the photolysis frequencies, the arguments of `j()`, in the order of first use.
    pub photolysis: Vec<String>,
    /// True if species are reordered to keep the factors of the Jacobian sparse.
    pub is_reordered: bool,
}

impl Mechanism {
    /// Index of the species with a name.
    pub fn species_named(&self, name: &str) -> Option<usize> {
        self.species.iter().position(|species| species.name.eq_ignore_ascii_case(name))
    }

    /// Name of a reaction for messages: its tag, or its number counted from 1.
    pub fn reaction_name(&self, number: usize) -> String {
        match self.reactions[number].tag.as_str() {
            "" => format!("reaction {}", number + 1),
            tag => format!("reaction <{tag}>"),
        }
    }

    /// A reaction in words, `2 NO + O2 = 2 NO2`.
    pub fn equation(&self, number: usize) -> String {
        let Reaction { reactants, products, is_photolytic, .. } = &self.reactions[number];
        let left = self.side(reactants.iter().map(|&(s, c)| (s, f64::from(c))));
        let right = self.side(products.iter().copied());
        let light = if *is_photolytic { " + hv" } else { "" };
        format!("{left}{light} = {right}")
    }

    fn side(&self, terms: impl Iterator<Item = (usize, f64)>) -> String {
        let mut text = String::new();
        for (species, coefficient) in terms {
            let sign = match (text.is_empty(), coefficient < 0.0) {
                (true, false) => "",
                (true, true) => "- ",
                (false, false) => " + ",
                (false, true) => " - ",
            };
            text += sign;
            if coefficient.abs() != 1.0 {
                text += &rounded(coefficient.abs()).to_string();
                text.push(' ');
            }
            text += &self.species[species].name;
        }
        if text.is_empty() { "PROD".to_owned() } else { text }
    }
}

/// A coefficient in decimal notation, without the rounding errors of sums in the last digits.
fn rounded(coefficient: f64) -> f64 {
    const DIGITS: f64 = 1e9;
    let near = (coefficient * DIGITS).round() / DIGITS;
    if near == 0.0 { coefficient } else { near }
}
