//! Atom balance of every reaction, if the compositions of all its species are declared.

use super::tables::{Mechanism, Reaction};

/// Symbols of the elements, which `#INCLUDE atoms` declares if there is no such file.
pub const ELEMENTS: [&str; 118] = [
    "H", "He", "Li", "Be", "B", "C", "N", "O", "F", "Ne", "Na", "Mg", "Al", "Si", "P", "S", "Cl",
    "Ar", "K", "Ca", "Sc", "Ti", "V", "Cr", "Mn", "Fe", "Co", "Ni", "Cu", "Zn", "Ga", "Ge", "As",
    "Se", "Br", "Kr", "Rb", "Sr", "Y", "Zr", "Nb", "Mo", "Tc", "Ru", "Rh", "Pd", "Ag", "Cd", "In",
    "Sn", "Sb", "Te", "I", "Xe", "Cs", "Ba", "La", "Ce", "Pr", "Nd", "Pm", "Sm", "Eu", "Gd", "Tb",
    "Dy", "Ho", "Er", "Tm", "Yb", "Lu", "Hf", "Ta", "W", "Re", "Os", "Ir", "Pt", "Au", "Hg", "Tl",
    "Pb", "Bi", "Po", "At", "Rn", "Fr", "Ra", "Ac", "Th", "Pa", "U", "Np", "Pu", "Am", "Cm", "Bk",
    "Cf", "Es", "Fm", "Md", "No", "Lr", "Rf", "Db", "Sg", "Bh", "Hs", "Mt", "Ds", "Rg", "Cn", "Nh",
    "Fl", "Mc", "Lv", "Ts", "Og",
];

/// Atoms by which a balance may be off without a warning: yields have three digits or so.
const TOLERANCE: f64 = 0.01;

/// Atoms on the right side minus those on the left side, by index of the atom; `None` if the composition of a species
/// is open.
pub fn imbalance(mechanism: &Mechanism, reaction: &Reaction) -> Option<Vec<(usize, f64)>> {
    let mut sums = vec![0.0; mechanism.atoms.len()];
    let left = reaction.reactants.iter().map(|&(species, c)| (species, -f64::from(c)));
    for (species, coefficient) in left.chain(reaction.products.iter().copied()) {
        let species = &mechanism.species[species];
        if !species.is_balanced {
            return None;
        }
        for &(atom, count) in &species.composition {
            sums[atom] += coefficient * count;
        }
    }
    let off = sums.into_iter().enumerate().filter(|(_, sum)| sum.abs() > TOLERANCE);
    Some(off.collect())
}
