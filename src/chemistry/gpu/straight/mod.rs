//! The reactions, the factorisation and the solution of a mechanism as straight-line CUDA text, for one or
//! several threads a cell.
//!
//! No index is left to be computed when the kernel runs: every number of a cell has a place of its own, in shared
//! memory if it is read often, else in the block's scratch, and the text names it. The operations are those of
//! `crate::chemistry::rosenbrock` in their order.
//!
//! `layout` says where the numbers are, the other files write the functions: `reactions`, `factors`, `solution`.

mod factors;
mod layout;
mod reactions;
mod solution;

use std::fmt::Write;

pub(super) use layout::Layout;

use super::declarations::Text;
use crate::chemistry::kinetics::Kinetics;
use crate::cuda_abi::literal;

/// Instructions of a product with a number from memory.
const PRODUCT: usize = 4;

/// The beginning of a function that knows where all numbers of a cell are.
fn head(result: &str, name: &str, more: &str) -> String {
    format!(
        "__device__ __noinline__ {result} {name}(int cell, double* scratch, int worker{more})\n{{\n\
         [[maybe_unused]] double* const shared = shared_room + 2 * cell;\n\
         [[maybe_unused]] const double* const rates = in_global(scratch) + RATES_AT + cell;\n\
         scratch = in_global(scratch) + 2 * cell;\n"
    )
}

/// The programs of all workers.
fn programs(text: &mut Text, programs: Vec<String>) {
    text.0 += "switch (worker) {\n";
    for (worker, program) in programs.into_iter().enumerate() {
        let _ = writeln!(text.0, "case {worker}: {{\n{program}break;\n}}");
    }
    text.0 += "}\n";
}

/// Text of a line that ends a round.
const WAIT: &str = "wait_for_workers();\n";

/// A sum of terms, the first of which stands alone.
fn added(sum: Option<&str>, coefficient: f64, value: &str) -> String {
    match sum {
        None if coefficient == 1.0 => value.to_owned(),
        None if coefficient == -1.0 => format!("-{value}"),
        // Products that something is added to are rounded by name.
        None => format!("__dmul_rn({}, {value})", literal(coefficient)),
        Some(sum) if coefficient == 1.0 => format!("{sum} + {value}"),
        Some(sum) if coefficient == -1.0 => format!("{sum} - {value}"),
        Some(sum) => format!("fma({}, {value}, {sum})", literal(coefficient)),
    }
}

/// Writes the functions of a mechanism.
pub(super) fn write(text: &mut Text, kinetics: &Kinetics, layout: &Layout) {
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
        ("ABREAST", layout.abreast),
        ("SHARE", layout.share),
        ("FIRST_FIXED", layout.share * layout.workers),
    ] {
        text.whole(name, value);
    }
    text.0 += "#include \"chemistry/division.cuh\"\n#include \"chemistry/room.cuh\"\n";
    stages(text, layout);
    reactions::derivatives(text, kinetics, layout);
    reactions::tendencies(text, kinetics, layout);
    factors::factors(text, kinetics, layout);
    solution::solution(text, kinetics, layout);
}

/// The arrays of the stages.
fn stages(text: &mut Text, layout: &Layout) {
    text.0 += "template <class Column>\n__device__ inline void straight_stages(int cell, double* scratch, Column* k)\n\
               {\n[[maybe_unused]] double* const shared = shared_room + 2 * cell;\nscratch += 2 * cell;\n";
    for (stage, &array) in layout.stages.iter().enumerate() {
        // Writing to a string cannot fail, here and below.
        let _ = writeln!(text.0, "k[{stage}].first = &{};", layout.number(array));
    }
    text.0 += "}\n";
}
