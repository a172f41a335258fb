//! The reactions, the factorisation and the solution of a mechanism as straight-line CUDA code, for one or several
//! threads for each cell.
//!
//! The kernel computes no indices: every number of a cell has a constant address, in shared memory if it is read often,
//! else in the block's scratch memory. The operations are those of `crate::chemistry::rosenbrock` in order.
//!
//! `layout` assigns the addresses; `reactions`, `factors` and `solution` write the functions.

mod factors;
mod layout;
mod reactions;
mod solution;

use std::fmt::Write;

pub(super) use layout::Layout;

use super::declarations::Declarations;
use crate::chemistry::kinetics::Kinetics;
use crate::cuda_abi::literal;

/// Cost of a product with a number from memory, in instructions.
const PRODUCT: usize = 4;

/// The beginning of a function, with the pointers to the memory of a cell.
fn head(result: &str, name: &str, more: &str) -> String {
    format!(
        "__device__ __noinline__ {result} {name}(int cell, double* scratch, int worker{more})\n{{\n\
         [[maybe_unused]] double* const shared = shared_memory + 2 * cell;\n\
         [[maybe_unused]] const double* const rates = in_global(scratch) + RATES_AT + cell;\n\
         scratch = in_global(scratch) + 2 * cell;\n"
    )
}

/// Writes the programs of all workers.
fn programs(text: &mut Declarations, programs: Vec<String>) {
    text.0 += "switch (worker) {\n";
    for (worker, program) in programs.into_iter().enumerate() {
        let _ = writeln!(text.0, "case {worker}: {{\n{program}break;\n}}");
    }
    text.0 += "}\n";
}

/// The line that ends a round.
const WAIT: &str = "wait_for_workers();\n";

/// A sum of terms; the first one has no sum to be added to.
fn added(sum: Option<&str>, coefficient: f64, value: &str) -> String {
    match sum {
        None if coefficient == 1.0 => value.to_owned(),
        None if coefficient == -1.0 => format!("-{value}"),
        // Products that are summands use __dmul_rn, lest the compiler contract them.
        None => format!("__dmul_rn({}, {value})", literal(coefficient)),
        Some(sum) if coefficient == 1.0 => format!("{sum} + {value}"),
        Some(sum) if coefficient == -1.0 => format!("{sum} - {value}"),
        Some(sum) => format!("fma({}, {value}, {sum})", literal(coefficient)),
    }
}

/// Writes the functions of a mechanism.
pub(super) fn write(text: &mut Declarations, kinetics: &Kinetics, layout: &Layout) {
    text.0 += "#define STRAIGHT_LINE\n";
    for (name, array) in
        [("CONCENTRATIONS", layout.concentrations), ("Y", layout.y), ("F", layout.f)]
    {
        text.truth(&format!("{name}_SHARED"), array.is_shared);
        text.whole(&format!("{name}_AT"), layout.distance(array));
    }
    for (name, array) in [("DRIFT", layout.drift), ("RATES", layout.rates)] {
        text.whole(&format!("{name}_AT"), layout.distance(array));
    }
    for (name, value) in [
        ("SCRATCH_DOUBLES", layout.scratch),
        ("BATCH", layout.batch),
        ("SHARE", layout.share),
        ("FIRST_FIXED", layout.share * layout.workers),
    ] {
        text.whole(name, value);
    }
    text.0 += "#include \"chemistry/division.cuh\"\n#include \"chemistry/block_memory.cuh\"\n";
    stages(text, layout);
    reactions::derivatives(text, kinetics, layout);
    reactions::tendencies(text, kinetics, layout);
    factors::factors(text, kinetics, layout);
    solution::solution(text, kinetics, layout);
}

/// Writes the function that sets the arrays of the stages.
fn stages(text: &mut Declarations, layout: &Layout) {
    text.0 += "template <class Column>\n__device__ inline void straight_stages(int cell, double* scratch, Column* k)\n\
               {\n[[maybe_unused]] double* const shared = shared_memory + 2 * cell;\nscratch += 2 * cell;\n";
    for (stage, &array) in layout.stages.iter().enumerate() {
        // Writing to a string cannot fail, here and below.
        let _ = writeln!(text.0, "k[{stage}].first = &{};", layout.number(array));
    }
    text.0 += "}\n";
}
