//! Rate constants as straight-line CUDA code, one operation in a line.

use std::fmt::Write;

use super::declarations::Declarations;
use crate::chemistry::mechanism::expression::{Input, Operator};
use crate::chemistry::rates::{Operation, Program, Unary};
use crate::cuda_abi::literal;

/// Maximum number of operations in straight-line code.
pub(super) const MOST_OPERATIONS: usize = 8_000;

/// A number as a CUDA literal.
fn number(value: f64) -> String {
    if value.is_nan() {
        "(INFINITE - INFINITE)".to_owned()
    } else if value.is_infinite() {
        if value > 0.0 { "INFINITE".to_owned() } else { "(-INFINITE)".to_owned() }
    } else {
        literal(value)
    }
}

/// The right side of an operation. The intrinsics keep the compiler from contracting products and sums.
fn expression(operation: Operation) -> String {
    match operation {
        Operation::Constant(bits) => number(f64::from_bits(bits)),
        Operation::Input(input) => match input {
            Input::Temperature => "quantities.temperature".to_owned(),
            Input::AirFactor => "quantities.air_factor".to_owned(),
            Input::AirDensity => "quantities.air_density".to_owned(),
            Input::Hydrolysis => "quantities.hydrolysis".to_owned(),
            Input::Sun => "sun".to_owned(),
            Input::Photolysis(number) => format!("args.photolysis[{number} * args.cells + cell]"),
            Input::Quantity(number) => format!("args.quantities[{number} * args.cells + cell]"),
        },
        Operation::Unary(function, a) => match function {
            Unary::Negate => format!("-r{a}"),
            Unary::Exp => format!("exp_of(r{a})"),
            Unary::Ln => format!("ln_of(r{a})"),
            Unary::Log10 => format!("log10_of(r{a})"),
            Unary::Sqrt => format!("sqrt(r{a})"),
            Unary::Absolute => format!("fabs(r{a})"),
            Unary::Truncate => format!("trunc(r{a})"),
        },
        Operation::Binary(operator, a, b) => match operator {
            Operator::Add => format!("r{a} + r{b}"),
            Operator::Subtract => format!("r{a} - r{b}"),
            Operator::Multiply => format!("__dmul_rn(r{a}, r{b})"),
            Operator::Divide => format!("r{a} / r{b}"),
            Operator::Power => format!("power_of(r{a}, r{b})"),
            Operator::Minimum => format!("r{a} < r{b} ? r{a} : r{b}"),
            Operator::Maximum => format!("r{a} > r{b} ? r{a} : r{b}"),
            Operator::Sign => format!("copysign(fabs(r{a}), r{b})"),
            Operator::Less => format!("r{a} < r{b} ? 1.0 : 0.0"),
            Operator::LessEqual => format!("r{a} <= r{b} ? 1.0 : 0.0"),
            Operator::Equal => format!("r{a} == r{b} ? 1.0 : 0.0"),
        },
        Operation::Select(condition, a, b) => format!("r{condition} == 0.0 ? r{b} : r{a}"),
    }
}

/// The function that computes all rate constants of a cell, and its includes.
pub(super) fn write(text: &mut Declarations, program: &Program) {
    for (name, input) in [
        ("TEMPERATURE", Input::Temperature),
        ("AIR_FACTOR", Input::AirFactor),
        ("AIR_DENSITY", Input::AirDensity),
        ("HYDROLYSIS", Input::Hydrolysis),
        ("SUN", Input::Sun),
    ] {
        text.whole(&format!("USES_{name}"), u8::from(program.uses(input)));
    }
    text.whole("PHOTOLYSIS", program.frequencies());
    text.whole("QUANTITIES", program.quantities());
    text.0 += "#include \"chemistry/functions.cuh\"\n#include \"chemistry/sun.cuh\"\n\
               #include \"chemistry/rate_inputs.cuh\"\n\
               __device__ inline void evaluate_rates(const Quantities& quantities, \
               const ChemistryArgs& args, long long cell)\n{\n";
    if program.uses(Input::Sun) {
        text.0 += "const double sun = sunlight_at(quantities.start);\n";
    }
    let mut is_used = vec![false; program.operations.len()];
    program.operations.iter().flat_map(|operation| operation.operands()).for_each(|operand| {
        is_used[operand as usize] = true;
    });
    for (number, &operation) in program.operations.iter().enumerate() {
        // Constants that were folded into others are not used.
        if !is_used[number] && program.kept.binary_search(&(number as u32)).is_err() {
            continue;
        }
        // Writing to a string cannot fail.
        let _ = writeln!(text.0, "const double r{number} = {};", expression(operation));
        if let Ok(slot) = program.kept.binary_search(&(number as u32)) {
            let _ = writeln!(text.0, "args.rates[{slot} * args.cells + cell] = r{number};");
        }
    }
    text.0 += "}\n";
}

/// The function that computes the rate constants that depend on time, for a cell of a block.
pub(super) fn write_timed(text: &mut Declarations, program: &Program, cells: usize) {
    text.whole("TIMED_RATES", program.timed.len());
    text.0 += "__device__ inline void evaluate_timed(double* rates, double sun)\n{\n";
    let mut is_loaded = vec![false; program.operations.len()];
    for &number in &program.timed {
        let operation = program.operations[number as usize];
        for operand in operation.operands() {
            let is_timed = program.timed.binary_search(&operand).is_ok();
            if is_timed || std::mem::replace(&mut is_loaded[operand as usize], true) {
                continue;
            }
            let slot = program.kept.binary_search(&operand).expect("operands are kept");
            let _ = writeln!(text.0, "const double r{operand} = rates[{}];", slot * cells);
        }
        let _ = writeln!(text.0, "const double r{number} = {};", expression(operation));
        if let Ok(slot) = program.kept.binary_search(&number) {
            let _ = writeln!(text.0, "rates[{}] = r{number};", slot * cells);
        }
    }
    text.0 += "}\n";
}
