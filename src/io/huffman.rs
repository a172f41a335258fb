//! Codes of different lengths for symbols, as deflate has them: the more often a symbol is there, the shorter.
//!
//! Source: RFC 1951, section 3.2; Huffman 1952, Proceedings of the IRE 40, 1098-1101.

/// Most bits of a code.
pub(super) const MOST_BITS: usize = 15;

/// Lengths of the codes of symbols by their counts, `most` bits at most; 0 for those that are not there.
pub(super) fn lengths<const N: usize>(counts: &[u32; N], most: usize) -> [u8; N] {
    let mut counts = *counts;
    loop {
        let lengths = unbounded(&counts);
        if lengths.iter().all(|length| usize::from(*length) <= most) {
            return lengths;
        }
        // Counts closer to each other give the rarest symbols shorter codes.
        counts.iter_mut().filter(|n| **n > 0).for_each(|n| *n = *n / 2 + 1);
    }
}

/// The same without a bound; the code of an only symbol has one bit.
fn unbounded<const N: usize>(counts: &[u32; N]) -> [u8; N] {
    let mut lengths = [0; N];
    let there = counts.iter().enumerate().filter(|(_, n)| **n > 0);
    let mut leaves: Vec<(u32, usize)> = there.map(|(symbol, n)| (*n, symbol)).collect();
    let [_, _, ..] = leaves[..] else {
        for (_, symbol) in leaves {
            lengths[symbol] = 1;
        }
        return lengths;
    };
    leaves.sort_unstable();
    // Leaves come first, then pairs as they are made: either row in the order of its weights.
    let count = leaves.len();
    let all = 2 * count - 1;
    let mut weights: Vec<u32> = leaves.iter().map(|(n, _)| *n).collect();
    let mut parents = vec![0; all];
    let (mut leaf, mut pair) = (0, count);
    for node in count..all {
        let mut weight = 0;
        for _ in 0..2 {
            let is_leaf = leaf < count && (pair >= node || weights[leaf] <= weights[pair]);
            let next = if is_leaf { &mut leaf } else { &mut pair };
            weight += weights[*next];
            parents[*next] = node;
            *next += 1;
        }
        weights.push(weight);
    }
    let mut depths = vec![0_u8; all];
    for node in (0..all - 1).rev() {
        depths[node] = depths[parents[node]] + 1;
    }
    for ((_, symbol), depth) in leaves.iter().zip(depths) {
        lengths[*symbol] = depth;
    }
    lengths
}

/// Codes of symbols by their lengths, the first bit lowest.
pub(super) fn codes<const N: usize>(lengths: &[u8; N]) -> [u32; N] {
    let mut counts = [0_u32; MOST_BITS + 1];
    lengths.iter().filter(|length| **length > 0).for_each(|n| counts[usize::from(*n)] += 1);
    let mut next = [0_u32; MOST_BITS + 1];
    for length in 1..next.len() {
        next[length] = (next[length - 1] + counts[length - 1]) << 1;
    }
    lengths.map(|length| {
        let code = &mut next[usize::from(length)];
        let bits = code.reverse_bits().checked_shr(u32::BITS - u32::from(length));
        *code += 1;
        bits.unwrap_or_default()
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Every sequence of bits is the beginning of one code.
    fn is_complete(lengths: &[u8]) -> bool {
        let there = lengths.iter().filter(|length| **length > 0);
        let shares = there.map(|length| 1_u32 << (MOST_BITS - usize::from(*length)));
        shares.sum::<u32>() == 1 << MOST_BITS
    }

    #[test]
    fn frequent_symbols_have_short_codes() {
        let lengths = lengths(&[8, 4, 2, 1, 0, 1], MOST_BITS);
        assert_eq!(lengths, [1, 2, 3, 4, 0, 4]);
        assert_eq!(codes(&lengths), [0b0, 0b01, 0b011, 0b0111, 0, 0b1111]);
    }

    #[test]
    fn codes_are_complete_and_no_longer_than_asked_for() {
        let mut counts = [1_u32; 30];
        for n in 2..counts.len() {
            counts[n] = counts[n - 1] + counts[n - 2];
        }
        assert!(unbounded(&counts).iter().any(|length| usize::from(*length) > MOST_BITS));
        for most in [5, 7, MOST_BITS] {
            let lengths = lengths(&counts, most);
            assert!(is_complete(&lengths), "{lengths:?}");
            assert!(lengths.iter().all(|length| usize::from(*length) <= most), "{lengths:?}");
        }
    }

    #[test]
    fn few_symbols_have_codes_too() {
        assert_eq!(lengths(&[0_u32; 3], MOST_BITS), [0; 3]);
        assert_eq!(lengths(&[0, 7, 0], MOST_BITS), [0, 1, 0]);
        assert_eq!(lengths(&[3, 7, 0], MOST_BITS), [1, 1, 0]);
    }
}
