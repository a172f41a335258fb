//! Order of the species that keeps the factors of the Jacobian sparse.
//!
//! An implicit step solves linear systems with the matrix I/(hγ) - J, and J, the Jacobian of the kinetics, is sparse: a
//! species depends on the few that it reacts with. Gaussian elimination of a column adds multiples of the pivot's row
//! to the rows below, and turns zeros of those rows into non-zero entries, the *fill*. The radicals, above all OH,
//! react with nearly everything; if they were eliminated first, the matrix would be full. The rule of Markowitz (1957)
//! next eliminates the species whose row and column have the fewest entries: (row entries - 1) (column entries - 1) is
//! a bound of its fill. *Diagonal* Markowitz takes pivots from the diagonal only, since the diagonal of I/(hγ) - J is
//! large; the order then depends on the pattern only, and is determined once for a mechanism.

use ndarray::{Array2, Axis, s};

use super::mechanism::Mechanism;

/// The pattern of a square matrix: true where it has entries.
#[derive(Clone, Debug)]
pub struct Pattern(Array2<bool>);

impl Pattern {
    /// An empty pattern.
    pub fn new(size: usize) -> Self {
        Self(Array2::from_elem((size, size), false))
    }

    /// Number of rows.
    pub fn size(&self) -> usize {
        self.0.nrows()
    }

    /// Adds an entry.
    pub fn insert(&mut self, row: usize, column: usize) {
        self.0[[row, column]] = true;
    }

    /// True if there is an entry.
    pub fn contains(&self, row: usize, column: usize) -> bool {
        self.0[[row, column]]
    }

    /// Columns of a row's entries, ascending.
    pub fn row(&self, row: usize) -> Vec<usize> {
        (0..self.size()).filter(|&column| self.contains(row, column)).collect()
    }

    /// Number of entries.
    pub fn entries(&self) -> usize {
        self.0.iter().filter(|is_entry| **is_entry).count()
    }

    /// The matrix with rows and columns in another order: entry (i, j) is the old (order\[i\], order\[j\]).
    pub(crate) fn permuted(&self, order: &[usize]) -> Self {
        let shape = self.0.dim();
        Self(Array2::from_shape_fn(shape, |(i, j)| self.contains(order[i], order[j])))
    }

    /// The combined pattern of the factors L and U of a matrix with this pattern.
    pub(crate) fn with_fill(&self) -> Self {
        let mut filled = self.clone();
        for pivot in 0..self.size() {
            let (above, mut below) = filled.0.view_mut().split_at(Axis(0), pivot + 1);
            let entries = above.slice(s![pivot, pivot..]);
            for mut row in below.rows_mut().into_iter().filter(|row| row[pivot]) {
                row.slice_mut(s![pivot..]).zip_mut_with(&entries, |is, inherited| *is |= inherited);
            }
        }
        filled
    }
}

/// Species that take part in a mechanism, before reordering: variable ones that react, then variable ones that are only
/// produced, then fixed ones, each group in the order of declaration.
pub(crate) fn initial_order(mechanism: &Mechanism) -> (Vec<usize>, Vec<usize>) {
    use super::mechanism::Role::{Fixed, Variable};
    let count = mechanism.species.len();
    let (mut reacts, mut occurs) = (vec![false; count], vec![false; count]);
    for reaction in &mechanism.reactions {
        reaction.reactants.iter().for_each(|&(species, _)| reacts[species] = true);
        reaction.products.iter().for_each(|&(species, _)| occurs[species] = true);
    }
    let of = |role, holds: &dyn Fn(usize) -> bool| -> Vec<usize> {
        (0..count).filter(|&s| mechanism.species[s].role == role && holds(s)).collect()
    };
    let mut variable = of(Variable, &|s| reacts[s]);
    variable.extend(of(Variable, &|s| occurs[s] && !reacts[s]));
    (variable, of(Fixed, &|s| reacts[s] || occurs[s]))
}

/// Pattern of the Jacobian with species in a given order: the diagonal, and (i, j) if a reaction changes i and has j on
/// its left side.
pub(crate) fn jacobian_pattern(mechanism: &Mechanism, order: &[usize]) -> Pattern {
    let mut place = vec![None; mechanism.species.len()];
    order.iter().enumerate().for_each(|(i, &species)| place[species] = Some(i));
    let mut pattern = Pattern::new(order.len());
    (0..order.len()).for_each(|i| pattern.insert(i, i));
    for reaction in &mechanism.reactions {
        let net = reaction.net();
        for i in net.iter().filter_map(|&(species, _)| place[species]) {
            for j in reaction.reactants.iter().filter_map(|&(species, _)| place[species]) {
                pattern.insert(i, j);
            }
        }
    }
    pattern
}

/// Order of elimination by the rule of Markowitz with diagonal pivots. Of several best species the first is swapped
/// with the one at the current position. `None` if the factors need more than `most` products.
pub(crate) fn markowitz(pattern: &Pattern, most: usize) -> Option<Vec<usize>> {
    let n = pattern.size();
    let mut products = 0;
    let mut order: Vec<usize> = (0..n).collect();
    // Rows and columns stay in place; only their order is swapped.
    let mut work = pattern.clone();
    let mut in_row = vec![0_usize; n];
    let mut in_column = vec![0_usize; n];
    for (row, count) in in_row.iter_mut().enumerate() {
        for column in work.row(row) {
            *count += 1;
            in_column[column] += 1;
        }
    }
    let mut is_left = vec![true; n];
    for step in 0..n.saturating_sub(1) {
        let cost = |place: &usize| {
            let species = order[*place];
            (in_row[species] - 1) * (in_column[species] - 1)
        };
        // The first of equal ones.
        let best = (step..n).min_by_key(cost).expect("places are left");
        order.swap(step, best);
        let pivot = order[step];
        let pivot_columns: Vec<usize> =
            work.row(pivot).into_iter().filter(|&column| is_left[column]).collect();
        for row in (0..n).filter(|&row| is_left[row] && row != pivot) {
            if !work.contains(row, pivot) {
                continue;
            }
            products += pivot_columns.len() - 1;
            for &column in &pivot_columns {
                if !work.contains(row, column) {
                    work.insert(row, column);
                    in_row[row] += 1;
                    in_column[column] += 1;
                }
            }
            in_row[row] -= 1;
        }
        if products > most {
            return None;
        }
        is_left[pivot] = false;
        for &column in &pivot_columns {
            in_column[column] -= 1;
        }
    }
    Some(order)
}
