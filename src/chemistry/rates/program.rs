//! All rates of a mechanism as one list of operations without common subexpressions.

use std::collections::HashMap;

use crate::chemistry::lanes::{Row, each};
use crate::chemistry::mechanism::Mechanism;
use crate::chemistry::mechanism::expression::{Input, Operator};
use crate::simd::double;

/// Maximum number of operations of a program.
pub(super) const MOST_OPERATIONS: usize = 200_000;

/// An operation; operands are the indices of earlier operations.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Operation {
    /// A number.
    Constant(f64),
    /// A quantity of the cell.
    Input(Input),
    /// Sum.
    Add(u32, u32),
    /// Difference.
    Subtract(u32, u32),
    /// Product.
    Multiply(u32, u32),
    /// Quotient.
    Divide(u32, u32),
    /// Power.
    Power(u32, u32),
    /// Negative.
    Negate(u32),
    /// Exponential.
    Exp(u32),
    /// Natural logarithm.
    Ln(u32),
    /// Decimal logarithm.
    Log10(u32),
    /// Square root.
    Sqrt(u32),
}

impl Operation {
    /// The operands.
    pub fn operands(self) -> impl Iterator<Item = u32> {
        let (first, second) = match self {
            Self::Constant(_) | Self::Input(_) => (None, None),
            Self::Negate(a) | Self::Exp(a) | Self::Ln(a) | Self::Log10(a) | Self::Sqrt(a) => {
                (Some(a), None)
            }
            Self::Add(a, b)
            | Self::Subtract(a, b)
            | Self::Multiply(a, b)
            | Self::Divide(a, b)
            | Self::Power(a, b) => (Some(a), Some(b)),
        };
        first.into_iter().chain(second)
    }

    /// The operation as bits and indices, equal for equal operations.
    fn identity(self) -> (u8, u64, u64) {
        let pair = |kind, a: u32, b: u32| (kind, u64::from(a), u64::from(b));
        match self {
            Self::Constant(x) => (0, x.to_bits(), 0),
            Self::Input(Input::Photolysis(number)) => (1, number as u64, 0),
            Self::Input(input) => {
                let place = Input::NAMES.iter().position(|(_, known)| *known == input);
                (2, place.unwrap_or_default() as u64, 0)
            }
            Self::Add(a, b) => pair(3, a, b),
            Self::Subtract(a, b) => pair(4, a, b),
            Self::Multiply(a, b) => pair(5, a, b),
            Self::Divide(a, b) => pair(6, a, b),
            Self::Power(a, b) => pair(7, a, b),
            Self::Negate(a) => pair(8, a, 0),
            Self::Exp(a) => pair(9, a, 0),
            Self::Ln(a) => pair(10, a, 0),
            Self::Log10(a) => pair(11, a, 0),
            Self::Sqrt(a) => pair(12, a, 0),
        }
    }
}

/// The rates of a mechanism.
#[derive(Clone, Debug, Default)]
pub struct Program {
    /// Operations, each of which has only earlier ones as operands.
    pub operations: Vec<Operation>,
    /// For every reaction the operation whose result is its rate constant.
    pub rate: Vec<u32>,
    /// Operations that depend on time (on [`Input::Sun`], directly or indirectly), ascending.
    pub timed: Vec<u32>,
    /// Operations whose results are used after the first evaluation: rates, and operands of time-dependent operations.
    pub kept: Vec<u32>,
}

impl Program {
    /// The rates of a mechanism.
    ///
    /// # Errors
    ///
    /// A message if they have more than `MOST_OPERATIONS` different operations.
    pub fn new(mechanism: &Mechanism) -> Result<Self, String> {
        let mut builder = Builder::default();
        let mut rate = Vec::with_capacity(mechanism.reactions.len());
        for reaction in &mechanism.reactions {
            rate.push(builder.expression(&reaction.rate));
            if builder.operations.len() > MOST_OPERATIONS {
                return Err(format!("its rates need more than {MOST_OPERATIONS} operations"));
            }
        }
        Ok(Self::finished(builder.operations, rate))
    }

    fn finished(operations: Vec<Operation>, rate: Vec<u32>) -> Self {
        let mut is_timed = vec![false; operations.len()];
        let mut is_kept = vec![false; operations.len()];
        for &number in &rate {
            is_kept[number as usize] = true;
        }
        for (number, operation) in operations.iter().enumerate() {
            is_timed[number] = *operation == Operation::Input(Input::Sun)
                || operation.operands().any(|operand| is_timed[operand as usize]);
            if is_timed[number] {
                operation.operands().for_each(|operand| is_kept[operand as usize] = true);
            }
        }
        let listed = |which: &[bool]| -> Vec<u32> {
            (0..which.len() as u32).filter(|&number| which[number as usize]).collect()
        };
        let (timed, kept) = (listed(&is_timed), listed(&is_kept));
        Self { operations, rate, timed, kept }
    }

    /// The first reaction whose rate depends on a quantity.
    pub fn first_user(&self, input: Input) -> Option<usize> {
        let mut depends = vec![false; self.operations.len()];
        for (number, operation) in self.operations.iter().enumerate() {
            depends[number] = *operation == Operation::Input(input)
                || operation.operands().any(|operand| depends[operand as usize]);
        }
        self.rate.iter().position(|&number| depends[number as usize])
    }

    /// True if a rate depends on a quantity.
    pub fn uses(&self, input: Input) -> bool {
        self.operations.contains(&Operation::Input(input))
    }

    /// All results for the cells of all lanes; `input` returns the quantities of a lane.
    #[inline(always)]
    pub fn evaluate(&self, results: &mut [Row], input: impl Fn(Input) -> Row) {
        for (number, &operation) in self.operations.iter().enumerate() {
            results[number] = value(operation, results, &input);
        }
    }

    /// The results that depend on time, after all others have been computed.
    #[inline(always)]
    pub fn evaluate_timed(&self, results: &mut [Row], sun: Row) {
        for &number in &self.timed {
            results[number as usize] = value(self.operations[number as usize], results, &|_| sun);
        }
    }
}

#[inline(always)]
fn value(operation: Operation, results: &[Row], input: &impl Fn(Input) -> Row) -> Row {
    let of = |number: u32| results[number as usize];
    match operation {
        Operation::Constant(x) => Row::all(x),
        Operation::Input(quantity) => input(quantity),
        Operation::Add(a, b) => two(of(a), of(b), |a, b| a + b),
        Operation::Subtract(a, b) => two(of(a), of(b), |a, b| a - b),
        Operation::Multiply(a, b) => two(of(a), of(b), |a, b| a * b),
        Operation::Divide(a, b) => two(of(a), of(b), |a, b| a / b),
        Operation::Power(a, b) => two(of(a), of(b), double::powf),
        Operation::Negate(a) => one(of(a), |a| -a),
        Operation::Exp(a) => one(of(a), double::exp),
        Operation::Ln(a) => one(of(a), double::ln),
        Operation::Log10(a) => one(of(a), double::log10),
        Operation::Sqrt(a) => one(of(a), f64::sqrt),
    }
}

#[inline(always)]
fn one(a: Row, function: impl Fn(f64) -> f64) -> Row {
    each(|lane| function(a[lane]))
}

#[inline(always)]
fn two(a: Row, b: Row, function: impl Fn(f64, f64) -> f64) -> Row {
    each(|lane| function(a[lane], b[lane]))
}

/// A collection of operations, without duplicates.
#[derive(Default)]
pub(super) struct Builder {
    operations: Vec<Operation>,
    known: HashMap<(u8, u64, u64), u32>,
}

impl Builder {
    /// The index of an operation.
    pub(super) fn add(&mut self, operation: Operation) -> u32 {
        let operation = self.folded(operation).map_or(operation, Operation::Constant);
        let next = self.operations.len() as u32;
        let number = *self.known.entry(operation.identity()).or_insert(next);
        if number == next {
            self.operations.push(operation);
        }
        number
    }

    /// The index of a constant.
    pub(super) fn constant(&mut self, value: f64) -> u32 {
        self.add(Operation::Constant(value))
    }

    /// The index of an operation on two operands.
    pub(super) fn operate(&mut self, operator: Operator, a: u32, b: u32) -> u32 {
        self.add(match operator {
            Operator::Add => Operation::Add(a, b),
            Operator::Subtract => Operation::Subtract(a, b),
            Operator::Multiply => Operation::Multiply(a, b),
            Operator::Divide => Operation::Divide(a, b),
            Operator::Power => Operation::Power(a, b),
        })
    }

    /// The value of a constant.
    pub(super) fn known_value(&self, number: u32) -> Option<f64> {
        match self.operations[number as usize] {
            Operation::Constant(value) => Some(value),
            _ => None,
        }
    }

    /// The value of an operation on constants.
    fn folded(&self, operation: Operation) -> Option<f64> {
        if matches!(operation, Operation::Constant(_) | Operation::Input(_)) {
            return None;
        }
        let of = |number| self.known_value(number);
        Some(match operation {
            Operation::Constant(_) | Operation::Input(_) => return None,
            Operation::Add(a, b) => of(a)? + of(b)?,
            Operation::Subtract(a, b) => of(a)? - of(b)?,
            Operation::Multiply(a, b) => of(a)? * of(b)?,
            Operation::Divide(a, b) => of(a)? / of(b)?,
            Operation::Power(a, b) => of(a)?.powf(of(b)?),
            Operation::Negate(a) => -of(a)?,
            Operation::Exp(a) => of(a)?.exp(),
            Operation::Ln(a) => of(a)?.ln(),
            Operation::Log10(a) => of(a)?.log10(),
            Operation::Sqrt(a) => of(a)?.sqrt(),
        })
    }
}
