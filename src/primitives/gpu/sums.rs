//! Constants of the sums in fixed point, for kernels.

use std::fmt::Write;

use crate::cuda_abi::literal;
use crate::primitives::sums::{BITS, BOUND, LIMBS, SPLITTERS, UNITS};

/// Words of a sum in device memory: limbs, a flag, and a counter of blocks.
pub(crate) const SUM_WORDS: usize = LIMBS + 2;

/// CUDA text of the constants of `kernels/primitives/sums.cuh`.
pub(crate) fn cuda_text() -> String {
    let mut text = format!(
        "constexpr int SUM_LIMBS = {LIMBS}, SUM_BITS = {BITS};\n\
         constexpr double SUM_BOUND = {};\n",
        literal(BOUND)
    );
    for (name, values) in [("SUM_SPLITTER", SPLITTERS), ("SUM_UNIT", UNITS)] {
        for (k, value) in values.into_iter().enumerate() {
            // Writing to a string cannot fail.
            let _ = writeln!(text, "constexpr double {name}_{k} = {};", literal(value));
        }
    }
    text
}
