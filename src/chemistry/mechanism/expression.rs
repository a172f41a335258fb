//! Rates as a list of expressions, each of which refers to earlier ones: what a function of a mechanism works out once
//! occurs once, however often it is used.

use super::functions::Function;

/// A quantity that a rate depends on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Input {
    /// `TEMP`, K.
    Temperature,
    /// `CFACTOR`: 1e-6 of the number density of air, molecules cm-3.
    AirFactor,
    /// `C_M`: number density of air, molecules cm-3.
    AirDensity,
    /// `SUN`: normalised sunlight, 0 to 1.
    Sun,
    /// `rc_n2o5`: hydrolysis of N2O5, s-1.
    Hydrolysis,
    /// `j(name)`: photolysis frequency with this index, s-1.
    Photolysis(usize),
    /// One of [`Mechanism::quantities`](super::Mechanism::quantities), by its index.
    Quantity(usize),
}

impl Input {
    /// Names that rates may use, in the spelling of KPP and WRF.
    pub const NAMES: [(&'static str, Self); 5] = [
        ("TEMP", Self::Temperature),
        ("CFACTOR", Self::AirFactor),
        ("C_M", Self::AirDensity),
        ("SUN", Self::Sun),
        ("rc_n2o5", Self::Hydrolysis),
    ];

    /// True of a quantity that is positive in every cell whose conditions are good.
    fn is_positive(self) -> bool {
        matches!(self, Self::Temperature | Self::AirFactor | Self::AirDensity)
    }
}

/// An operation on two numbers. Truth is 1, falsehood 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Operator {
    /// Sum.
    Add,
    /// Difference.
    Subtract,
    /// Product; of truths, both.
    Multiply,
    /// Quotient.
    Divide,
    /// Power.
    Power,
    /// The smaller number, the second if they are not ordered.
    Minimum,
    /// The larger number, the second if they are not ordered; of truths, either.
    Maximum,
    /// The magnitude of the first with the sign of the second.
    Sign,
    /// Truth if the first is smaller.
    Less,
    /// Truth if the first is not larger.
    LessEqual,
    /// Truth if they are equal.
    Equal,
}

impl Operator {
    /// Its result.
    pub fn value(self, a: f64, b: f64) -> f64 {
        let truth = |holds: bool| f64::from(u8::from(holds));
        match self {
            Self::Add => a + b,
            Self::Subtract => a - b,
            Self::Multiply => a * b,
            Self::Divide => a / b,
            Self::Power => a.powf(b),
            Self::Minimum => {
                if a < b {
                    a
                } else {
                    b
                }
            }
            Self::Maximum => {
                if a > b {
                    a
                } else {
                    b
                }
            }
            Self::Sign => a.abs().copysign(b),
            Self::Less => truth(a < b),
            Self::LessEqual => truth(a <= b),
            #[expect(clippy::float_cmp, reason = "the comparison of Fortran")]
            Self::Equal => truth(a == b),
        }
    }
}

/// A rate expression; operands are the indices of earlier ones.
#[derive(Clone, Debug)]
pub enum Expression {
    /// A number.
    Number(f64),
    /// A quantity of the cell.
    Input(Input),
    /// The negative of an expression.
    Negative(u32),
    /// An operation.
    Operation(Operator, [u32; 2]),
    /// The second if the first is true, else the third.
    Select([u32; 3]),
    /// A named function and its arguments.
    Call(Function, Vec<u32>),
}

/// Expressions, each of which has only earlier ones as operands.
#[derive(Clone, Debug, Default)]
pub struct Expressions {
    all: Vec<Expression>,
    /// Values of those that depend on no quantity of the cell, where they are known.
    known: Vec<Option<f64>>,
    /// True of those that are positive in every cell.
    is_positive: Vec<bool>,
}

impl Expressions {
    /// Number of expressions.
    pub fn len(&self) -> usize {
        self.all.len()
    }

    /// True without expressions.
    pub fn is_empty(&self) -> bool {
        self.all.is_empty()
    }

    /// An expression.
    pub fn get(&self, number: u32) -> &Expression {
        &self.all[number as usize]
    }

    /// The value of an expression that depends on no quantity of the cell, as far as it is known.
    pub fn known(&self, number: u32) -> Option<f64> {
        self.known[number as usize]
    }

    /// True of an expression that is known to be positive in every cell.
    pub(super) fn is_positive(&self, number: u32) -> bool {
        self.is_positive[number as usize]
    }

    /// Adds an expression.
    pub fn add(&mut self, expression: Expression) -> u32 {
        let of = |number: u32| self.known[number as usize];
        let positive = |number: u32| self.is_positive[number as usize];
        let known = match &expression {
            Expression::Number(value) => Some(*value),
            Expression::Input(_) => None,
            Expression::Negative(a) => of(*a).map(|a| -a),
            Expression::Operation(operator, [a, b]) => match (of(*a), of(*b)) {
                (Some(a), Some(b)) => Some(operator.value(a, b)),
                _ => None,
            },
            Expression::Select([condition, a, b]) => {
                of(*condition).and_then(|condition| of(if condition == 0.0 { *b } else { *a }))
            }
            Expression::Call(function, arguments) => match arguments[..] {
                [a] => of(a).and_then(|a| function.value(a)),
                _ => None,
            },
        };
        let is_positive = match &expression {
            Expression::Number(value) => *value > 0.0,
            Expression::Input(input) => input.is_positive(),
            Expression::Operation(
                Operator::Add
                | Operator::Multiply
                | Operator::Divide
                | Operator::Power
                | Operator::Minimum
                | Operator::Maximum,
                [a, b],
            ) => {
                let is_power = matches!(expression, Expression::Operation(Operator::Power, _));
                positive(*a) && (is_power || positive(*b))
            }
            Expression::Select([_, a, b]) => positive(*a) && positive(*b),
            Expression::Call(Function::Exp, _) => true,
            _ => false,
        };
        self.all.push(expression);
        self.known.push(known);
        self.is_positive.push(is_positive);
        (self.all.len() - 1) as u32
    }

    /// True of the expressions that some of them depend on, and of these themselves.
    pub fn needed(&self, roots: impl IntoIterator<Item = u32>) -> Vec<bool> {
        let mut is_needed = vec![false; self.all.len()];
        for root in roots {
            is_needed[root as usize] = true;
        }
        for number in (0..self.all.len()).rev() {
            if !is_needed[number] {
                continue;
            }
            let mut mark = |operand: u32| is_needed[operand as usize] = true;
            match &self.all[number] {
                Expression::Number(_) | Expression::Input(_) => {}
                Expression::Negative(a) => mark(*a),
                Expression::Operation(_, operands) => operands.iter().for_each(|&a| mark(a)),
                Expression::Select(operands) => operands.iter().for_each(|&a| mark(a)),
                Expression::Call(_, operands) => operands.iter().for_each(|&a| mark(a)),
            }
        }
        is_needed
    }
}
