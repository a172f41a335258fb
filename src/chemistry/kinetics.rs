//! The equations of a mechanism as tables: dy/dt, its Jacobian and the order of the species.
//!
//! With mass action, the rate of reaction r is Aᵣ = kᵣ Π yⱼ^lⱼᵣ, and
//!
//! - dyᵢ/dt = Σᵣ nᵢᵣ Aᵣ with the net stoichiometry n,
//! - Jᵢⱼ = Σᵣ nᵢᵣ ∂Aᵣ/∂yⱼ with ∂Aᵣ/∂yⱼ = kᵣ lⱼᵣ yⱼ^(lⱼᵣ-1) Π (other reactants).
//!
//! Both are sums over lists: a list of reactions for every species, and a list of partial derivatives for every entry
//! of the Jacobian, on the pattern of its factors.

use super::mechanism::Mechanism;
use super::ordering::{initial_order, jacobian_pattern, markowitz};
use super::rates::Program;
use super::sparse_lu::{MOST_PRODUCTS, SparseLu, too_dense};

/// Lists of numbers in one array.
#[derive(Clone, Debug, Default)]
pub struct Lists<T> {
    /// First element of every list, and the total number of elements.
    pub start: Vec<u32>,
    /// Elements of all lists.
    pub elements: Vec<T>,
}

impl<T, L: IntoIterator<Item = T>> FromIterator<L> for Lists<T> {
    fn from_iter<I: IntoIterator<Item = L>>(all: I) -> Self {
        let mut lists = Self::new();
        all.into_iter().for_each(|list| lists.push(list));
        lists
    }
}

impl<T> Lists<T> {
    fn new() -> Self {
        Self { start: vec![0], elements: Vec::new() }
    }

    fn push(&mut self, list: impl IntoIterator<Item = T>) {
        self.elements.extend(list);
        self.start.push(self.elements.len() as u32);
    }

    /// Number of lists.
    pub fn len(&self) -> usize {
        self.start.len() - 1
    }

    /// True if there are no lists.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// A list.
    #[inline(always)]
    pub fn list(&self, number: usize) -> &[T] {
        &self.elements[self.start[number] as usize..self.start[number + 1] as usize]
    }

    /// All lists in order.
    #[inline(always)]
    pub fn iter(&self) -> impl Iterator<Item = &[T]> {
        self.start.windows(2).map(|ends| &self.elements[ends[0] as usize..ends[1] as usize])
    }
}

/// A term of a sum: the coefficient of an element of another list.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Term {
    /// Index of the element.
    pub index: u32,
    /// Its coefficient.
    pub coefficient: f64,
}

/// The derivative of a reaction with respect to one of its reactants.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Partial {
    /// Reaction.
    pub reaction: u32,
    /// Variable species, in the order of the integration.
    pub species: u32,
    /// Coefficient of the species on the left side.
    pub multiplicity: u32,
}

/// The tables of a mechanism.
///
/// Concentrations are numbered consecutively: the variable species in the order of the integration, then the fixed
/// ones.
#[derive(Clone, Debug)]
pub struct Kinetics {
    /// Species of the mechanism in the order of the integration.
    pub variable: Vec<usize>,
    /// Fixed species that occur, in the order of declaration.
    pub fixed: Vec<usize>,
    /// Rate constants.
    pub rates: Program,
    /// Concentrations whose product with the rate constant is a reaction's rate, each as often as its coefficient.
    pub factors: Lists<u32>,
    /// For every variable species the reactions that change it, with the net stoichiometry.
    pub net: Lists<Term>,
    /// Derivatives of reaction rates, by reaction.
    pub partials: Vec<Partial>,
    /// Concentrations whose product with the rate constant and the multiplicity is a derivative.
    pub partial_factors: Lists<u32>,
    /// For every entry of the factors the derivatives whose sum is the entry of the Jacobian, with net stoichiometry
    /// times multiplicity as coefficients; none if it is fill.
    pub jacobian: Lists<Term>,
    /// True if an entry of the factors is one of the Jacobian; false if it is fill.
    pub is_jacobian: Vec<bool>,
    /// Operations of the linear algebra.
    pub lu: SparseLu,
    /// Number of entries that the factors would have without reordering.
    pub entries_unordered: usize,
}

impl Kinetics {
    /// Computes the tables of a mechanism.
    ///
    /// # Errors
    ///
    /// A message if the mechanism is too large.
    #[expect(
        clippy::missing_panics_doc,
        reason = "numbers of species and reactions fit, as the parser sees to"
    )]
    pub fn new(mechanism: &Mechanism) -> Result<Self, String> {
        let (initial, fixed) = initial_order(mechanism);
        if initial.is_empty() {
            return Err("has no variable species in its reactions".to_owned());
        }
        let unordered = jacobian_pattern(mechanism, &initial);
        let order = if mechanism.is_reordered {
            markowitz(&unordered, MOST_PRODUCTS).ok_or_else(too_dense)?
        } else {
            (0..initial.len()).collect()
        };
        let variable: Vec<usize> = order.iter().map(|&place| initial[place]).collect();
        let pattern = unordered.permuted(&order);
        let lu = SparseLu::new(&pattern.with_fill())?;

        let mut place = vec![u32::MAX; mechanism.species.len()];
        let all = variable.iter().chain(&fixed);
        all.enumerate().for_each(|(i, &species)| place[species] = i as u32);
        let number = variable.len() as u32;

        let mut factors = Lists::new();
        let mut net = vec![Vec::new(); variable.len()];
        let (mut partials, mut partial_factors) = (Vec::new(), Lists::new());
        let mut jacobian = vec![Vec::new(); lu.entries()];
        for (r, reaction) in mechanism.reactions.iter().enumerate() {
            let reactants = || reaction.reactants.iter().map(|&(species, l)| (place[species], l));
            factors.push(reactants().flat_map(|(i, l)| (0..l).map(move |_| i)));
            let changes: Vec<(usize, f64)> = reaction
                .net()
                .into_iter()
                .map(|(species, coefficient)| (place[species] as usize, coefficient))
                .filter(|&(i, _)| i < variable.len())
                .collect();
            for &(i, coefficient) in &changes {
                net[i].push(Term { index: r as u32, coefficient });
            }
            for (j, multiplicity) in reactants().filter(|&(j, _)| j < number) {
                let index = partials.len() as u32;
                partials.push(Partial { reaction: r as u32, species: j, multiplicity });
                partial_factors.push(reactants().flat_map(|(i, l)| {
                    let count = if i == j { l - 1 } else { l };
                    (0..count).map(move |_| i)
                }));
                for &(i, coefficient) in &changes {
                    let entry = lu.entry(i, j as usize).expect("the pattern holds the Jacobian");
                    let coefficient = coefficient * f64::from(multiplicity);
                    jacobian[entry].push(Term { index, coefficient });
                }
            }
        }
        let is_jacobian = (0..lu.size())
            .flat_map(|row| {
                let (lu, pattern) = (&lu, &pattern);
                lu.row(row).map(move |entry| pattern.contains(row, lu.column[entry] as usize))
            })
            .collect();
        Ok(Self {
            rates: Program::new(mechanism)?,
            factors,
            net: net.into_iter().collect(),
            partials,
            partial_factors,
            jacobian: jacobian.into_iter().collect(),
            is_jacobian,
            entries_unordered: unordered.with_fill().entries(),
            variable,
            fixed,
            lu,
        })
    }

    /// Number of variable species.
    pub fn variables(&self) -> usize {
        self.variable.len()
    }

    /// Number of all species.
    pub fn species(&self) -> usize {
        self.variable.len() + self.fixed.len()
    }

    /// Number of reactions.
    pub fn reactions(&self) -> usize {
        self.factors.len()
    }
}
