//! Arithmetic with the types of Fortran: of whole numbers a quotient is a whole number, and so is a power.

use super::evaluator::Evaluator;
use super::syntax::{Binary, Fault, Read};
use super::tokens::LARGEST_INTEGER;
use super::values::{Kind, Loss, Scalar};
use crate::chemistry::mechanism::diagnostics::Span;
use crate::chemistry::mechanism::expression::{Expression, Operator};
use crate::chemistry::mechanism::functions::Function;

impl Evaluator<'_> {
    /// Adds an expression; in procedures one of constants is its value.
    pub(super) fn add(&mut self, expression: Expression) -> u32 {
        let number = self.expressions.add(expression);
        match self.expressions.known(number) {
            Some(value)
                if self.is_inside()
                    && !matches!(self.expressions.get(number), Expression::Number(_)) =>
            {
                self.expressions.add(Expression::Number(value))
            }
            _ => number,
        }
    }

    pub(super) fn number(&mut self, value: f64) -> u32 {
        self.expressions.add(Expression::Number(value))
    }

    pub(super) fn operate(&mut self, operator: Operator, a: u32, b: u32) -> u32 {
        self.add(Expression::Operation(operator, [a, b]))
    }

    /// The truth of an expression, where it is the same in all cells.
    pub(super) fn truth(&self, node: u32) -> Option<bool> {
        self.expressions.known(node).map(|value| value != 0.0)
    }

    /// The first if the condition holds, else the second.
    pub(super) fn select(&mut self, condition: u32, a: u32, b: u32) -> u32 {
        match self.truth(condition) {
            Some(holds) => {
                if holds {
                    a
                } else {
                    b
                }
            }
            None if a == b => a,
            None => self.expressions.add(Expression::Select([condition, a, b])),
        }
    }

    pub(super) fn not(&mut self, a: u32) -> u32 {
        let one = self.number(1.0);
        self.operate(Operator::Subtract, one, a)
    }

    pub(super) fn and(&mut self, a: u32, b: u32) -> u32 {
        match (self.truth(a), self.truth(b)) {
            (Some(false), _) | (_, Some(true)) => a,
            (_, Some(false)) | (Some(true), _) => b,
            _ => self.operate(Operator::Multiply, a, b),
        }
    }

    pub(super) fn or(&mut self, a: u32, b: u32) -> u32 {
        match (self.truth(a), self.truth(b)) {
            (Some(true), _) | (_, Some(false)) => a,
            (_, Some(true)) | (Some(false), _) => b,
            _ => self.operate(Operator::Maximum, a, b),
        }
    }

    /// A whole number that is the same in all cells.
    pub(super) fn whole(&self, scalar: Scalar) -> Option<i64> {
        let value = self.expressions.known(scalar.node)?;
        let is_whole = scalar.kind != Kind::Real && value.fract() == 0.0;
        (is_whole && value.abs() <= LARGEST_INTEGER as f64).then_some(value as i64)
    }

    pub(super) fn integer(&mut self, value: i64) -> Scalar {
        Scalar { kind: Kind::Integer, node: self.number(value as f64), loss: None }
    }

    pub(super) fn logical(&mut self, value: bool) -> Scalar {
        Scalar { kind: Kind::Logical, node: self.number(f64::from(u8::from(value))), loss: None }
    }

    fn lose(&mut self, span: Span, message: String) -> u32 {
        let known = self.losses.iter().position(|loss| loss.span == span);
        known.unwrap_or_else(|| {
            self.losses.push(Loss { span, message });
            self.losses.len() - 1
        }) as u32
    }

    pub(super) fn negative(&mut self, a: Scalar, span: Span) -> Read<Scalar> {
        let a = self.numeric(a, span)?;
        Ok(Scalar { node: self.add(Expression::Negative(a.node)), ..a })
    }

    /// A value that is a number; in C truth is one.
    fn numeric(&self, a: Scalar, span: Span) -> Read<Scalar> {
        match a.kind {
            Kind::Logical if self.is_c() => Ok(Scalar { kind: Kind::Integer, ..a }),
            Kind::Logical => {
                Err(Fault::new(span, "a truth value where a number is needed", "expected a number"))
            }
            _ => Ok(a),
        }
    }

    /// A value that is true or false; in C every number is.
    pub(super) fn condition(&mut self, a: Scalar, span: Span) -> Read<u32> {
        match a.kind {
            Kind::Logical => Ok(a.node),
            // A quantity of the host may be a truth value.
            _ if self.is_c() || a.kind == Kind::Open => {
                let zero = self.number(0.0);
                let is_zero = self.operate(Operator::Equal, a.node, zero);
                Ok(self.not(is_zero))
            }
            _ => {
                let help = "expected a comparison, or a LOGICAL variable";
                Err(Fault::new(span, "a number where true or false is needed", help))
            }
        }
    }

    pub(super) fn binary(
        &mut self,
        operator: Binary,
        a: Scalar,
        b: Scalar,
        span: Span,
    ) -> Read<Scalar> {
        let loss = a.loss.or(b.loss);
        let truth = |node| Scalar { kind: Kind::Logical, node, loss };
        if let Binary::And | Binary::Or | Binary::Equivalent | Binary::Different = operator {
            let [a, b] = [self.condition(a, span)?, self.condition(b, span)?];
            return Ok(truth(match operator {
                Binary::And => self.and(a, b),
                Binary::Or => self.or(a, b),
                Binary::Equivalent => self.operate(Operator::Equal, a, b),
                _ => {
                    let equal = self.operate(Operator::Equal, a, b);
                    self.not(equal)
                }
            }));
        }
        let [a, b] = [self.numeric(a, span)?, self.numeric(b, span)?];
        let (first, second) = (a.node, b.node);
        let is_whole = a.kind == Kind::Integer && b.kind == Kind::Integer;
        let kind = if is_whole { Kind::Integer } else { Kind::Real };
        let simple = |this: &mut Self, operator| {
            let scalar = Scalar { kind, node: this.operate(operator, first, second), loss };
            this.within_range(scalar, span)
        };
        match operator {
            Binary::Add => simple(self, Operator::Add),
            Binary::Subtract => simple(self, Operator::Subtract),
            Binary::Multiply => simple(self, Operator::Multiply),
            Binary::Divide if is_whole && self.code.has_whole_quotients => {
                self.whole_quotient(a, b, span)
            }
            Binary::Divide => Ok(Scalar {
                kind: Kind::Real,
                node: self.operate(Operator::Divide, first, second),
                loss,
            }),
            Binary::Power if is_whole && self.code.has_whole_quotients => {
                self.whole_power(a, b, span)
            }
            Binary::Power => Ok(Scalar { kind: Kind::Real, node: self.power(first, second), loss }),
            Binary::Equal => Ok(truth(self.operate(Operator::Equal, first, second))),
            Binary::NotEqual => {
                let equal = self.operate(Operator::Equal, first, second);
                Ok(truth(self.not(equal)))
            }
            Binary::Less => Ok(truth(self.operate(Operator::Less, first, second))),
            Binary::LessEqual => Ok(truth(self.operate(Operator::LessEqual, first, second))),
            Binary::Greater => Ok(truth(self.operate(Operator::Less, second, first))),
            Binary::GreaterEqual => Ok(truth(self.operate(Operator::LessEqual, second, first))),
            Binary::And | Binary::Or | Binary::Equivalent | Binary::Different => {
                unreachable!("the cases above")
            }
        }
    }

    /// A whole number in the range of Fortran's.
    fn within_range(&self, scalar: Scalar, span: Span) -> Read<Scalar> {
        let value = self.expressions.known(scalar.node).unwrap_or(0.0);
        if scalar.kind == Kind::Integer && value.abs() > LARGEST_INTEGER as f64 {
            let message = format!("{value:e} is beyond the range of whole numbers");
            return Err(Fault::new(span, message, "write one of its numbers with a point"));
        }
        Ok(scalar)
    }

    fn whole_quotient(&mut self, a: Scalar, b: Scalar, span: Span) -> Read<Scalar> {
        let of = |this: &Self, scalar: Scalar| this.expressions.known(scalar.node);
        let loss = a.loss.or(b.loss);
        let kind = Kind::Integer;
        match (of(self, a), of(self, b)) {
            (_, Some(0.0)) => Err(Fault::new(
                span,
                "a division of whole numbers by 0",
                "expected another divisor",
            )),
            (Some(x), Some(y)) if x % y == 0.0 => {
                Ok(Scalar { kind, node: self.operate(Operator::Divide, a.node, b.node), loss })
            }
            (Some(x), Some(y)) => {
                let value = (x / y).trunc() + 0.0;
                let message = format!(
                    "{x}/{y} is {value} here, as a quotient of whole numbers is a whole number"
                );
                let loss = Some(self.lose(span, message));
                Ok(Scalar { kind, node: self.number(value), loss })
            }
            _ => {
                let message = "this quotient of whole numbers is a whole number".to_owned();
                let loss = Some(self.lose(span, message));
                let quotient = self.operate(Operator::Divide, a.node, b.node);
                let node = self.add(Expression::Call(Function::Truncate, vec![quotient]));
                Ok(Scalar { kind, node, loss })
            }
        }
    }

    fn whole_power(&mut self, a: Scalar, b: Scalar, span: Span) -> Read<Scalar> {
        let kind = Kind::Integer;
        let loss = a.loss.or(b.loss);
        let base = self.expressions.known(a.node);
        let exponent = self.expressions.known(b.node);
        if exponent.is_some_and(|n| n >= 0.0) || base.is_some_and(|x| x.abs() == 1.0) {
            let scalar = Scalar { kind, node: self.power(a.node, b.node), loss };
            return self.within_range(scalar, span);
        }
        if let (Some(x), Some(n)) = (base, exponent) {
            if x == 0.0 {
                let help = "expected another base";
                return Err(Fault::new(span, "a negative power of 0", help));
            }
            let message =
                format!("{x}**({n}) is 0 here, as a power of whole numbers is a whole number");
            let loss = Some(self.lose(span, message));
            return Ok(Scalar { kind, node: self.number(0.0), loss });
        }
        let message = "this power of whole numbers is a whole number".to_owned();
        let loss = Some(self.lose(span, message));
        let power = self.power(a.node, b.node);
        Ok(Scalar { kind, node: self.add(Expression::Call(Function::Truncate, vec![power])), loss })
    }

    /// A power, for which the base need not be positive if the exponent is a known whole number.
    pub(super) fn power(&mut self, base: u32, exponent: u32) -> u32 {
        let whole = self.expressions.known(exponent).filter(|n| n.fract() == 0.0);
        let is_plain = self.expressions.is_positive(base) || self.expressions.known(base).is_some();
        match whole {
            Some(2.0) if !is_plain => self.operate(Operator::Multiply, base, base),
            Some(n) if !is_plain => {
                let magnitude = self.add(Expression::Call(Function::Abs, vec![base]));
                let power = self.operate(Operator::Power, magnitude, exponent);
                if n % 2.0 == 0.0 { power } else { self.operate(Operator::Sign, power, base) }
            }
            _ => self.operate(Operator::Power, base, exponent),
        }
    }

    /// A value for a variable of a type.
    pub(super) fn converted(&mut self, scalar: Scalar, kind: Kind, span: Span) -> Read<Scalar> {
        match (scalar.kind, kind) {
            (Kind::Logical, Kind::Logical) | (_, Kind::Open) => Ok(scalar),
            (Kind::Logical, _) if !self.is_c() => {
                Err(Fault::new(span, "a truth value for a number", "expected a number"))
            }
            (_, Kind::Logical) => {
                Err(Fault::new(span, "a number for a truth value", "expected .true. or .false."))
            }
            (_, Kind::Real) => Ok(Scalar { kind, ..scalar }),
            (Kind::Integer, Kind::Integer) => Ok(Scalar { loss: None, ..scalar }),
            // Whole numbers are meant here, and nothing is lost.
            (Kind::Open, Kind::Integer) => Ok(Scalar { kind, loss: None, ..scalar }),
            (_, Kind::Integer) => {
                let node = self.add(Expression::Call(Function::Truncate, vec![scalar.node]));
                Ok(Scalar { kind, node, loss: None })
            }
        }
    }
}
