//! All rates of a mechanism as one list of operations without common subexpressions.

use std::collections::HashMap;

use crate::chemistry::lanes::{Row, each};
use crate::chemistry::mechanism::Mechanism;
use crate::chemistry::mechanism::expression::{Input, Operator};
use crate::simd::double;

/// Maximum number of operations of a program.
pub(super) const MOST_OPERATIONS: usize = 1_000_000;

/// A function of one number.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Unary {
    /// Negative.
    Negate,
    /// Exponential.
    Exp,
    /// Natural logarithm.
    Ln,
    /// Decimal logarithm.
    Log10,
    /// Square root.
    Sqrt,
    /// Magnitude.
    Absolute,
    /// Without its fraction.
    Truncate,
}

/// An operation; operands are the indices of earlier operations.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Operation {
    /// A number, by its bits.
    Constant(u64),
    /// A quantity of the cell.
    Input(Input),
    /// A function of one operand.
    Unary(Unary, u32),
    /// An operation on two.
    Binary(Operator, u32, u32),
    /// The second operand if the first is not 0, else the third.
    Select(u32, u32, u32),
}

impl Operation {
    /// The operands.
    pub fn operands(self) -> impl Iterator<Item = u32> {
        let (first, second, third) = match self {
            Self::Constant(_) | Self::Input(_) => (None, None, None),
            Self::Unary(_, a) => (Some(a), None, None),
            Self::Binary(_, a, b) => (Some(a), Some(b), None),
            Self::Select(condition, a, b) => (Some(condition), Some(a), Some(b)),
        };
        first.into_iter().chain(second).chain(third)
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
        let roots: Vec<u32> = mechanism.reactions.iter().map(|reaction| reaction.rate).collect();
        let rate = builder
            .expressions(&mechanism.expressions, &roots, MOST_OPERATIONS)
            .map_err(|()| format!("its rates need more than {MOST_OPERATIONS} operations"))?;
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
        self.users(|other| other == input).into_iter().position(|depends| depends)
    }

    /// True of the reactions whose rates depend on one of some quantities.
    pub fn users(&self, is_meant: impl Fn(Input) -> bool) -> Vec<bool> {
        let mut depends = vec![false; self.operations.len()];
        for (number, operation) in self.operations.iter().enumerate() {
            depends[number] = matches!(*operation, Operation::Input(input) if is_meant(input))
                || operation.operands().any(|operand| depends[operand as usize]);
        }
        self.rate.iter().map(|&number| depends[number as usize]).collect()
    }

    /// Number of photolysis frequencies of a cell that the rates need.
    pub fn frequencies(&self) -> usize {
        let numbers = self.operations.iter().map(|operation| match operation {
            Operation::Input(Input::Photolysis(number)) => number + 1,
            _ => 0,
        });
        numbers.max().unwrap_or(0)
    }

    /// Number of the mechanism's quantities of a cell that the rates need.
    pub fn quantities(&self) -> usize {
        let numbers = self.operations.iter().map(|operation| match operation {
            Operation::Input(Input::Quantity(number)) => number + 1,
            _ => 0,
        });
        numbers.max().unwrap_or(0)
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
    pub(crate) fn evaluate_timed(&self, results: &mut [Row], sun: Row) {
        for &number in &self.timed {
            results[number as usize] = value(self.operations[number as usize], results, &|_| sun);
        }
    }
}

#[inline(always)]
fn value(operation: Operation, results: &[Row], input: &impl Fn(Input) -> Row) -> Row {
    let of = |number: u32| results[number as usize];
    match operation {
        Operation::Constant(bits) => Row::all(f64::from_bits(bits)),
        Operation::Input(quantity) => input(quantity),
        Operation::Unary(function, a) => match function {
            Unary::Negate => one(of(a), |a| -a),
            Unary::Exp => one(of(a), double::exp),
            Unary::Ln => one(of(a), double::ln),
            Unary::Log10 => one(of(a), double::log10),
            Unary::Sqrt => one(of(a), f64::sqrt),
            Unary::Absolute => one(of(a), f64::abs),
            Unary::Truncate => one(of(a), f64::trunc),
        },
        Operation::Binary(operator, a, b) => match operator {
            Operator::Add => two(of(a), of(b), |a, b| a + b),
            Operator::Subtract => two(of(a), of(b), |a, b| a - b),
            Operator::Multiply => two(of(a), of(b), |a, b| a * b),
            Operator::Divide => two(of(a), of(b), |a, b| a / b),
            Operator::Power => two(of(a), of(b), double::powf),
            operator => two(of(a), of(b), |a, b| operator.value(a, b)),
        },
        Operation::Select(condition, a, b) => {
            let [condition, a, b] = [of(condition), of(a), of(b)];
            each(|lane| if condition[lane] == 0.0 { b[lane] } else { a[lane] })
        }
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
    known: HashMap<Operation, u32>,
}

impl Builder {
    /// The index of an operation.
    pub(super) fn add(&mut self, operation: Operation) -> u32 {
        let value = self.folded(operation);
        let operation = value.map_or(operation, |value| Operation::Constant(value.to_bits()));
        let next = self.operations.len() as u32;
        let number = *self.known.entry(operation).or_insert(next);
        if number == next {
            self.operations.push(operation);
        }
        number
    }

    /// Number of operations.
    pub(super) fn len(&self) -> usize {
        self.operations.len()
    }

    /// The index of a constant.
    pub(super) fn constant(&mut self, value: f64) -> u32 {
        self.add(Operation::Constant(value.to_bits()))
    }

    /// The index of a function of an operand.
    pub(super) fn apply(&mut self, function: Unary, a: u32) -> u32 {
        self.add(Operation::Unary(function, a))
    }

    /// The index of an operation on two operands.
    pub(super) fn operate(&mut self, operator: Operator, a: u32, b: u32) -> u32 {
        self.add(Operation::Binary(operator, a, b))
    }

    /// The value of a constant.
    pub(super) fn known_value(&self, number: u32) -> Option<f64> {
        match self.operations[number as usize] {
            Operation::Constant(bits) => Some(f64::from_bits(bits)),
            _ => None,
        }
    }

    /// The value of an operation on constants.
    fn folded(&self, operation: Operation) -> Option<f64> {
        let of = |number| self.known_value(number);
        Some(match operation {
            Operation::Constant(_) | Operation::Input(_) => return None,
            Operation::Select(condition, a, b) => of(if of(condition)? == 0.0 { b } else { a })?,
            Operation::Unary(function, a) => match function {
                Unary::Negate => -of(a)?,
                Unary::Exp => of(a)?.exp(),
                Unary::Ln => of(a)?.ln(),
                Unary::Log10 => of(a)?.log10(),
                Unary::Sqrt => of(a)?.sqrt(),
                Unary::Absolute => of(a)?.abs(),
                Unary::Truncate => of(a)?.trunc(),
            },
            Operation::Binary(operator, a, b) => operator.value(of(a)?, of(b)?),
        })
    }
}
