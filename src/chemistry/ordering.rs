//! Order of the species that keeps the factors of the Jacobian sparse.
//!
//! An implicit step solves linear systems with the matrix I/(hγ) - J, and J, the Jacobian of the kinetics, is sparse: a
//! species depends on the few that it reacts with. Gaussian elimination of a column adds multiples of the pivot's row
//! to the rows below, and turns zeros of those rows into non-zero entries, the *fill*. The radicals, above all OH,
//! react with nearly everything; if they were eliminated first, the matrix would be full. The rule of Markowitz (1957)
//! next eliminates the species whose row and column have the fewest entries: (row entries - 1) (column entries - 1) is
//! a bound of its fill. *Diagonal* Markowitz takes pivots from the diagonal only, since the diagonal of I/(hγ) - J is
//! large; the order then depends on the pattern only, and is determined once for a mechanism.

use super::mechanism::Mechanism;

/// Bits of a word.
const BITS: usize = u64::BITS as usize;

/// The pattern of a square matrix, true where it has entries: a bit for each, in words, row by row.
#[derive(Clone, Debug)]
pub struct Pattern {
    size: usize,
    /// Words of a row.
    words: usize,
    bits: Vec<u64>,
}

impl Pattern {
    /// An empty pattern.
    pub fn new(size: usize) -> Self {
        let words = size.div_ceil(BITS);
        Self { size, words, bits: vec![0; size * words] }
    }

    /// Number of rows.
    pub fn size(&self) -> usize {
        self.size
    }

    /// Adds an entry.
    pub fn insert(&mut self, row: usize, column: usize) {
        self.bits[row * self.words + column / BITS] |= 1 << (column % BITS);
    }

    /// True if there is an entry.
    pub fn contains(&self, row: usize, column: usize) -> bool {
        self.bits[row * self.words + column / BITS] >> (column % BITS) & 1 == 1
    }

    /// Columns of a row's entries, ascending.
    pub fn row(&self, row: usize) -> Vec<usize> {
        columns_of(self.words_of(row)).collect()
    }

    /// Number of entries.
    pub fn entries(&self) -> usize {
        self.bits.iter().map(|word| word.count_ones() as usize).sum()
    }

    fn words_of(&self, row: usize) -> &[u64] {
        &self.bits[row * self.words..][..self.words]
    }

    /// The matrix with rows and columns in another order: entry (i, j) is the old (order\[i\], order\[j\]).
    pub(crate) fn permuted(&self, order: &[usize]) -> Self {
        let mut place = vec![0; self.size];
        order.iter().enumerate().for_each(|(i, &old)| place[old] = i);
        let mut permuted = Self::new(self.size);
        for (i, &old) in order.iter().enumerate() {
            columns_of(self.words_of(old)).for_each(|column| permuted.insert(i, place[column]));
        }
        permuted
    }

    /// The combined pattern of the factors L and U of a matrix with this pattern.
    pub(crate) fn with_fill(&self) -> Self {
        let mut filled = self.clone();
        let words = self.words;
        for pivot in 0..self.size {
            let (above, below) = filled.bits.split_at_mut((pivot + 1) * words);
            let first = pivot / BITS;
            let inherited = &above[pivot * words..][first..];
            // Columns from the pivot on.
            let mask = u64::MAX << (pivot % BITS);
            for row in below.chunks_exact_mut(words) {
                if row[first] >> (pivot % BITS) & 1 == 0 {
                    continue;
                }
                row[first] |= inherited[0] & mask;
                for (word, inherited) in row[first + 1..].iter_mut().zip(&inherited[1..]) {
                    *word |= inherited;
                }
            }
        }
        filled
    }
}

/// Columns of the entries of a row, ascending.
fn columns_of(words: &[u64]) -> impl Iterator<Item = usize> {
    words.iter().enumerate().flat_map(|(number, &word)| {
        let mut rest = word;
        std::iter::from_fn(move || {
            let column = (rest != 0).then(|| number * BITS + rest.trailing_zeros() as usize)?;
            rest &= rest - 1;
            Some(column)
        })
    })
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
    let words = work.words;
    // A bit for each column that has not been eliminated.
    let mut left = vec![u64::MAX; words];
    for step in 0..n.saturating_sub(1) {
        let cost = |place: &usize| {
            let species = order[*place];
            (in_row[species] - 1) * (in_column[species] - 1)
        };
        // The first of equal ones.
        let best = (step..n).min_by_key(cost).expect("places are left");
        order.swap(step, best);
        let pivot = order[step];
        let pivot_row: Vec<u64> =
            work.words_of(pivot).iter().zip(&left).map(|(word, left)| word & left).collect();
        let pivot_columns = pivot_row.iter().map(|word| word.count_ones() as usize).sum::<usize>();
        for &row in &order[step + 1..] {
            if !work.contains(row, pivot) {
                continue;
            }
            products += pivot_columns - 1;
            let entries = &mut work.bits[row * words..][..words];
            for (number, (entry, pivot)) in entries.iter_mut().zip(&pivot_row).enumerate() {
                let mut fill = pivot & !*entry;
                *entry |= fill;
                in_row[row] += fill.count_ones() as usize;
                while fill != 0 {
                    in_column[number * BITS + fill.trailing_zeros() as usize] += 1;
                    fill &= fill - 1;
                }
            }
            in_row[row] -= 1;
        }
        if products > most {
            return None;
        }
        left[pivot / BITS] &= !(1 << (pivot % BITS));
        columns_of(&pivot_row).for_each(|column| in_column[column] -= 1);
    }
    Some(order)
}
