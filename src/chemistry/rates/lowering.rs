//! Rate expressions and named functions as operations.

use super::program::{Builder, Operation, Unary};
use crate::chemistry::mechanism::expression::{Expression, Expressions, Input, Operator};
use crate::chemistry::mechanism::functions::Function;

/// Temperature to which powers of the temperature refer, K.
const REFERENCE_TEMPERATURE: f64 = 300.0;

/// Broadening of the fall-off if none is given.
const TROE_BROADENING: f64 = 0.6;

/// Intercept of the width of the IUPAC fall-off: N = 0.75 - 1.27 log₁₀F.
const IUPAC_WIDTH: f64 = 0.75;
/// Its slope in log₁₀F.
const IUPAC_SLOPE: f64 = 1.27;

/// Inverse of the temperature that `k_arr` refers to, in KPP's digits, K-1.
const INVERSE_OF_ROOM: f64 = 3.3540e-3;

/// Molecules cm-3 in a unit of `CFACTOR`.
pub const PER_AIR_FACTOR: f64 = 1e6;

impl Builder {
    /// Indices of the operations whose results are expressions, of those that some of them need.
    ///
    /// # Errors
    ///
    /// If there are more than `most` different operations.
    pub(super) fn expressions(
        &mut self,
        expressions: &Expressions,
        roots: &[u32],
        most: usize,
    ) -> Result<Vec<u32>, ()> {
        let is_needed = expressions.needed(roots.iter().copied());
        let mut found = vec![u32::MAX; expressions.len()];
        for (number, _) in is_needed.iter().enumerate().filter(|(_, is_needed)| **is_needed) {
            found[number] = self.expression(expressions.get(number as u32), &found);
            if self.len() > most {
                return Err(());
            }
        }
        Ok(roots.iter().map(|&root| found[root as usize]).collect())
    }

    /// Index of the operation whose result is an expression, with those of earlier expressions.
    fn expression(&mut self, expression: &Expression, found: &[u32]) -> u32 {
        let of = |number: u32| found[number as usize];
        match expression {
            Expression::Number(value) => self.constant(*value),
            Expression::Input(input) => self.add(Operation::Input(*input)),
            Expression::Negative(inner) => self.apply(Unary::Negate, of(*inner)),
            Expression::Operation(operator, operands) => {
                let [a, b] = operands.map(of);
                self.operate(*operator, a, b)
            }
            Expression::Select(operands) => {
                let [condition, a, b] = operands.map(of);
                self.add(Operation::Select(condition, a, b))
            }
            Expression::Call(function, arguments) => {
                let arguments: Vec<u32> = arguments.iter().map(|&argument| of(argument)).collect();
                self.call(*function, &arguments)
            }
        }
    }

    /// The number density of air in KPP's own functions.
    fn air_of_factor(&mut self) -> u32 {
        let factor = self.add(Operation::Input(Input::AirFactor));
        let unit = self.constant(PER_AIR_FACTOR);
        self.multiply(factor, unit)
    }

    fn temperature(&mut self) -> u32 {
        self.add(Operation::Input(Input::Temperature))
    }

    fn call(&mut self, function: Function, arguments: &[u32]) -> u32 {
        match (function, arguments) {
            (Function::Exp, &[x]) => self.apply(Unary::Exp, x),
            (Function::Log, &[x]) => self.apply(Unary::Ln, x),
            (Function::Log10, &[x]) => self.apply(Unary::Log10, x),
            (Function::Sqrt, &[x]) => self.apply(Unary::Sqrt, x),
            (Function::Abs, &[x]) => self.apply(Unary::Absolute, x),
            (Function::Truncate, &[x]) => self.apply(Unary::Truncate, x),
            (Function::ArrAb, &[a, b]) => {
                let t = self.temperature();
                self.arrhenius(a, b, t)
            }
            (Function::ArrAc, &[a, c]) => {
                let t = self.temperature();
                let power = self.temperature_power(t, c);
                self.multiply(a, power)
            }
            (Function::Arr, &[a, b, c, t]) => self.modified_arrhenius(a, b, c, t),
            (Function::Arr | Function::ArrAbc, &[a, b, c]) => {
                let t = self.temperature();
                self.modified_arrhenius(a, b, c, t)
            }
            (Function::Third, &[t, air, k0, n, ki, m, broadening]) => {
                self.troe([k0, n, ki, m], broadening, None, t, air)
            }
            (Function::Arr2, &[a, b, t]) => self.arrhenius(a, b, t),
            (Function::Arr2, &[a, b]) => {
                let t = self.temperature();
                let exponent = self.divide(b, t);
                let exponential = self.apply(Unary::Exp, exponent);
                self.multiply(a, exponential)
            }
            (Function::KArr, &[k, b, t]) => {
                let one = self.constant(1.0);
                let inverse = self.divide(one, t);
                let reference = self.constant(INVERSE_OF_ROOM);
                let distance = self.operate(Operator::Subtract, inverse, reference);
                let exponent = self.multiply(b, distance);
                let exponential = self.apply(Unary::Exp, exponent);
                self.multiply(k, exponential)
            }
            (Function::ThermalT2, &[c, d, t]) => {
                let square = self.multiply(t, t);
                let rate = self.arrhenius(c, d, t);
                self.multiply(square, rate)
            }
            (Function::Troe, &[k0, n, ki, m, t, air]) => {
                let broadening = self.constant(TROE_BROADENING);
                self.troe([k0, n, ki, m], broadening, None, t, air)
            }
            (Function::Troee, &[a, b, k0, n, ki, m, t, air]) => {
                let broadening = self.constant(TROE_BROADENING);
                let forward = self.troe([k0, n, ki, m], broadening, None, t, air);
                let equilibrium = self.arrhenius(a, b, t);
                self.multiply(equilibrium, forward)
            }
            (Function::ThirdJpl, &[air, k0, n, ki, m, broadening]) => {
                let t = self.temperature();
                self.troe([k0, n, ki, m], broadening, None, t, air)
            }
            (Function::ThirdIupac, &[air, k0, n, ki, m, broadening]) => {
                let t = self.temperature();
                let width = self.iupac_width(broadening);
                self.troe([k0, n, ki, m], broadening, Some(width), t, air)
            }
            _ => self.call_of_either_library(function, arguments),
        }
    }

    /// Functions of both libraries: KPP's takes temperature and air from the cell, WRF's as its last arguments.
    fn call_of_either_library(&mut self, function: Function, arguments: &[u32]) -> u32 {
        let own = function.arguments()[0];
        let (t, air) = match arguments[own..] {
            [t, air] => (t, air),
            _ => (self.temperature(), self.air_of_factor()),
        };
        match (function, &arguments[..own]) {
            (Function::Ep2, &[a0, c0, a2, c2, a3, c3]) => {
                let q0 = self.arrhenius(a0, c0, t);
                let q2 = self.arrhenius(a2, c2, t);
                let q3 = self.arrhenius(a3, c3, t);
                let q3 = self.multiply(q3, air);
                let ratio = self.divide(q3, q2);
                let damped = self.over_one_plus(q3, ratio);
                self.operate(Operator::Add, q0, damped)
            }
            (Function::Ep3, &[a1, c1, a2, c2]) => {
                let first = self.arrhenius(a1, c1, t);
                let second = self.arrhenius(a2, c2, t);
                let second = self.multiply(second, air);
                self.operate(Operator::Add, first, second)
            }
            (
                Function::Fall | Function::F2,
                &[a0, b0, c0, a1, b1, c1, broadening, ref width @ ..],
            ) => {
                let low = self.modified_arrhenius(a0, b0, c0, t);
                let low = self.multiply(low, air);
                let high = self.modified_arrhenius(a1, b1, c1, t);
                self.fall_off(low, high, broadening, width.first().copied())
            }
            _ => unreachable!("the parser has counted the arguments of {}", function.name()),
        }
    }

    fn multiply(&mut self, a: u32, b: u32) -> u32 {
        self.operate(Operator::Multiply, a, b)
    }

    fn divide(&mut self, a: u32, b: u32) -> u32 {
        self.operate(Operator::Divide, a, b)
    }

    /// A e^(-B/T).
    fn arrhenius(&mut self, a: u32, b: u32, t: u32) -> u32 {
        if self.known_value(b) == Some(0.0) {
            return a;
        }
        let negative = self.apply(Unary::Negate, b);
        let exponent = self.divide(negative, t);
        let exponential = self.apply(Unary::Exp, exponent);
        self.multiply(a, exponential)
    }

    /// (T/300)^C.
    fn temperature_power(&mut self, t: u32, exponent: u32) -> u32 {
        let reference = self.constant(REFERENCE_TEMPERATURE);
        let ratio = self.divide(t, reference);
        if self.known_value(exponent) == Some(0.0) {
            return self.constant(1.0);
        }
        self.operate(Operator::Power, ratio, exponent)
    }

    /// A e^(-B/T) (T/300)^C.
    fn modified_arrhenius(&mut self, a: u32, b: u32, c: u32, t: u32) -> u32 {
        let rate = self.arrhenius(a, b, t);
        if self.known_value(c) == Some(0.0) {
            return rate;
        }
        let power = self.temperature_power(t, c);
        self.multiply(rate, power)
    }

    /// k₀ (300/T)^n M and kᵢ (300/T)^m as limits of a fall-off.
    fn troe(
        &mut self,
        [k0, n, ki, m]: [u32; 4],
        broadening: u32,
        width: Option<u32>,
        t: u32,
        air: u32,
    ) -> u32 {
        let [n, m] = [n, m].map(|exponent| self.apply(Unary::Negate, exponent));
        let power = self.temperature_power(t, n);
        let low = self.multiply(k0, power);
        let low = self.multiply(low, air);
        let power = self.temperature_power(t, m);
        let high = self.multiply(ki, power);
        self.fall_off(low, high, broadening, width)
    }

    /// a / (1 + x) F^(1 / (1 + (log₁₀x / N)²)) with x = a/b.
    fn fall_off(&mut self, low: u32, high: u32, broadening: u32, width: Option<u32>) -> u32 {
        let ratio = self.divide(low, high);
        let logarithm = self.apply(Unary::Log10, ratio);
        let scaled = match width {
            Some(width) => self.divide(logarithm, width),
            None => logarithm,
        };
        let square = self.multiply(scaled, scaled);
        let one = self.constant(1.0);
        let exponent = self.over_one_plus(one, square);
        let factor = self.operate(Operator::Power, broadening, exponent);
        let rate = self.over_one_plus(low, ratio);
        self.multiply(rate, factor)
    }

    fn over_one_plus(&mut self, numerator: u32, x: u32) -> u32 {
        let one = self.constant(1.0);
        let sum = self.operate(Operator::Add, one, x);
        self.divide(numerator, sum)
    }

    fn iupac_width(&mut self, broadening: u32) -> u32 {
        let logarithm = self.apply(Unary::Log10, broadening);
        let slope = self.constant(IUPAC_SLOPE);
        let part = self.multiply(slope, logarithm);
        let width = self.constant(IUPAC_WIDTH);
        self.operate(Operator::Subtract, width, part)
    }
}
