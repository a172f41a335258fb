//! Functions of Fortran and of C, and the rate functions of KPP and WRF-Chem.

use super::evaluator::Evaluator;
use super::syntax::{Argument, Binary, Fault, Read};
use super::tokens::Name;
use super::values::{Array, Kind, Scalar, Value};
use crate::chemistry::mechanism::diagnostics::{Span, nearest};
use crate::chemistry::mechanism::expression::{Expression, Operator};
use crate::chemistry::mechanism::functions::Function;

/// Functions of one real number by all their names.
const OF_ONE: [(&str, Function); 10] = [
    ("dexp", Function::Exp),
    ("alog", Function::Log),
    ("dlog", Function::Log),
    ("alog10", Function::Log10),
    ("dlog10", Function::Log10),
    ("dsqrt", Function::Sqrt),
    ("dabs", Function::Abs),
    ("fabs", Function::Abs),
    ("dint", Function::Truncate),
    ("trunc", Function::Truncate),
];

/// A function of one number.
type OfOne = fn(f64) -> f64;

/// Functions of one number that is the same in all cells.
const OF_CONSTANTS: [(&str, OfOne); 9] = [
    ("sin", f64::sin),
    ("cos", f64::cos),
    ("tan", f64::tan),
    ("asin", f64::asin),
    ("acos", f64::acos),
    ("atan", f64::atan),
    ("sinh", f64::sinh),
    ("cosh", f64::cosh),
    ("tanh", f64::tanh),
];

/// Names of other functions.
const OTHERS: [&str; 46] = [
    "min",
    "max",
    "amin1",
    "amax1",
    "dmin1",
    "dmax1",
    "min0",
    "max0",
    "fmin",
    "fmax",
    "sign",
    "dsign",
    "isign",
    "iabs",
    "mod",
    "amod",
    "dmod",
    "fmod",
    "int",
    "ifix",
    "idint",
    "nint",
    "idnint",
    "anint",
    "dnint",
    "floor",
    "ceiling",
    "ceil",
    "real",
    "float",
    "dble",
    "sngl",
    "dfloat",
    "sum",
    "product",
    "size",
    "minval",
    "maxval",
    "merge",
    "pow",
    "lbound",
    "ubound",
    "any",
    "all",
    "count",
    "dot_product",
];

impl Evaluator<'_> {
    /// A call of a function that no procedure of the mechanism defines.
    pub(super) fn library(
        &mut self,
        name: &Name,
        arguments: &[Argument],
        span: Span,
    ) -> Read<Value> {
        if let Some(function) = OF_ONE.iter().find(|(known, _)| *known == &**name).map(|x| x.1) {
            return self.function(function, name, arguments, span);
        }
        if let Some(function) = Function::named(name) {
            return self.function(function, name, arguments, span);
        }
        if let Some((_, function)) = OF_CONSTANTS.iter().find(|(known, _)| *known == &**name) {
            let [argument] = Self::plain(arguments, span)?[..] else {
                return Self::miscounted(name, arguments.len(), "1", span);
            };
            let argument = self.scalar(argument)?;
            let Some(value) = self.expressions.known(argument.node) else {
                let message = format!("{name} of a quantity that depends on the cell");
                let help = "expected EXP, LOG, LOG10, SQRT or arithmetic";
                return Err(Fault::new(span, message, help));
            };
            let node = self.number(function(value));
            return Ok(Value::Scalar(Scalar { kind: Kind::Real, node, loss: argument.loss }));
        }
        if OTHERS.contains(&&**name) {
            return self.other(name, arguments, span);
        }
        self.unknown(name, span)
    }

    fn unknown<T>(&self, name: &Name, span: Span) -> Read<T> {
        let text = self.spelling(span);
        let text = text.split('(').next().unwrap_or(name).trim();
        let own = self.code.procedures.keys().map(ToString::to_string);
        let known = Function::names().chain(["j"]).map(str::to_owned);
        let known: Vec<String> = own.chain(known).collect();
        let mut help = match nearest(name, known.iter().map(String::as_str)) {
            Some(near) => format!("nearest known name: {near}"),
            None => "expected a function of #INLINE F90_RATES, of KPP or WRF, EXP, LOG10 or j; an \
                 array is declared in #INLINE F90_GLOBAL"
                .to_owned(),
        };
        if !self.code.modules.is_empty() {
            let modules: Vec<&str> = self.code.modules.iter().map(|name| &**name).collect();
            help = format!(
                "{help}; the mechanism uses {}: a file with functions can be given",
                modules.join(", ")
            );
        }
        if !self.code.skipped.is_empty() {
            help = format!("{help}; not read: #INLINE {}", self.code.skipped.join(", "));
        }
        Err(Fault::new(span, format!("{text} is not a known function"), help))
    }

    fn miscounted<T>(name: &str, found: usize, expected: &str, span: Span) -> Read<T> {
        let message = format!("{name} has {found} arguments");
        Err(Fault::new(span, message, format!("expected {expected}")))
    }

    fn function(
        &mut self,
        function: Function,
        name: &Name,
        arguments: &[Argument],
        span: Span,
    ) -> Read<Value> {
        let (given, counts) = (arguments.len(), function.arguments());
        if !counts.contains(&given) {
            let counts: Vec<_> = counts.iter().map(usize::to_string).collect();
            let at = Span { end: (span.start + name.len()).min(span.end), ..span };
            let help = format!("expected {}: {}", counts.join(" or "), function.form());
            let message = format!("{} has {given} arguments", function.name());
            return Err(Fault::new(at, message, help));
        }
        let plain = Self::plain(arguments, span)?;
        if let [argument] = plain[..] {
            let value = self.value(argument)?;
            return self.each(&value, span, &mut |this, a| {
                let whole = function == Function::Abs && a.kind == Kind::Integer;
                let kind = if whole { Kind::Integer } else { Kind::Real };
                let a = this.converted(a, kind, span)?;
                Ok(Scalar { node: this.add(Expression::Call(function, vec![a.node])), ..a })
            });
        }
        let mut nodes = Vec::new();
        let mut loss = None;
        for argument in plain {
            let scalar = self.scalar(argument)?;
            let scalar = self.converted(scalar, Kind::Real, argument.span)?;
            nodes.push(scalar.node);
            loss = loss.or(scalar.loss);
        }
        let node = self.add(Expression::Call(function, nodes));
        Ok(Value::Scalar(Scalar { kind: Kind::Real, node, loss }))
    }

    fn other(&mut self, name: &Name, arguments: &[Argument], span: Span) -> Read<Value> {
        // The kind of the result has no meaning here.
        let arguments: Vec<Argument> = arguments
            .iter()
            .filter(|argument| !matches!(argument, Argument::Named(name, _) if &**name == "kind"))
            .map(|argument| match argument {
                Argument::Named(name, value) if &**name == "dim" => Argument::Value(value.clone()),
                other => other.clone(),
            })
            .collect();
        let plain = Self::plain(&arguments, span)?;
        let mut values = Vec::new();
        for argument in plain {
            values.push(self.value(argument)?);
        }
        let count = values.len();
        match (&**name, &values[..]) {
            ("min" | "amin1" | "dmin1" | "min0" | "fmin", [first, rest @ ..]) if count > 1 => {
                self.folded(first, rest, span, Operator::Minimum)
            }
            ("max" | "amax1" | "dmax1" | "max0" | "fmax", [first, rest @ ..]) if count > 1 => {
                self.folded(first, rest, span, Operator::Maximum)
            }
            ("sign" | "dsign" | "isign", [a, b]) => {
                self.folded(a, std::slice::from_ref(b), span, Operator::Sign)
            }
            ("iabs", [a]) => self.each(a, span, &mut |this, a| {
                Ok(Scalar { node: this.add(Expression::Call(Function::Abs, vec![a.node])), ..a })
            }),
            ("mod" | "amod" | "dmod" | "fmod", [a, b]) => {
                self.pair(a, b, span, &mut |this, a, b| this.remainder(a, b, span))
            }
            ("pow", [a, b]) => self.pair(a, b, span, &mut |this, a, b| {
                let a = this.converted(a, Kind::Real, span)?;
                this.binary(Binary::Power, a, b, span)
            }),
            (
                "int" | "ifix" | "idint" | "nint" | "idnint" | "anint" | "dnint" | "floor"
                | "ceiling" | "ceil",
                [a, ..],
            ) if count <= 2 => self.each(a, span, &mut |this, a| Ok(this.rounded(name, a))),
            ("real" | "float" | "dble" | "sngl" | "dfloat", [a, ..]) if count <= 2 => {
                self.each(a, span, &mut |this, a| {
                    let a = this.converted(a, Kind::Real, span)?;
                    Ok(Scalar { kind: Kind::Real, ..a })
                })
            }
            ("merge", [Value::Scalar(a), Value::Scalar(b), Value::Scalar(condition)]) => {
                let condition = self.condition(*condition, span)?;
                let node = self.select(condition, a.node, b.node);
                Ok(Value::Scalar(Scalar { node, loss: a.loss.or(b.loss), ..*a }))
            }
            ("dot_product", [a, b]) => {
                let products = self.pair(a, b, span, &mut |this, a, b| {
                    this.binary(Binary::Multiply, a, b, span)
                })?;
                self.reduced("sum", &products, span)
            }
            ("size" | "lbound" | "ubound", [Value::Array(array), dimension @ ..]) if count <= 2 => {
                self.extent(name, array, dimension.first(), span)
            }
            ("sum" | "product" | "minval" | "maxval" | "any" | "all" | "count", [array]) => {
                self.reduced(name, array, span)
            }
            _ => Self::miscounted(name, count, "those of Fortran", span),
        }
    }

    fn folded(
        &mut self,
        first: &Value,
        rest: &[Value],
        span: Span,
        operator: Operator,
    ) -> Read<Value> {
        let mut result = first.clone();
        for next in rest {
            result = self.pair(&result, next, span, &mut |this, a, b| {
                let is_whole = a.kind == Kind::Integer && b.kind == Kind::Integer;
                let kind = if is_whole { Kind::Integer } else { Kind::Real };
                let [a, b] = [this.converted(a, kind, span)?, this.converted(b, kind, span)?];
                let node = this.operate(operator, a.node, b.node);
                Ok(Scalar { kind, node, loss: a.loss.or(b.loss) })
            })?;
        }
        Ok(result)
    }

    /// a - b trunc(a/b).
    fn remainder(&mut self, a: Scalar, b: Scalar, span: Span) -> Read<Scalar> {
        let is_whole = a.kind == Kind::Integer && b.kind == Kind::Integer;
        if self.expressions.known(b.node) == Some(0.0) {
            return Err(Fault::new(span, "the remainder of a division by 0", "expected another"));
        }
        let quotient = self.operate(Operator::Divide, a.node, b.node);
        let whole = self.add(Expression::Call(Function::Truncate, vec![quotient]));
        let part = self.operate(Operator::Multiply, b.node, whole);
        let node = self.operate(Operator::Subtract, a.node, part);
        let kind = if is_whole { Kind::Integer } else { Kind::Real };
        Ok(Scalar { kind, node, loss: a.loss.or(b.loss) })
    }

    /// A number without its fraction, in the sense of a function.
    fn rounded(&mut self, name: &str, a: Scalar) -> Scalar {
        let half = 0.5;
        let truncate =
            |this: &mut Self, node| this.add(Expression::Call(Function::Truncate, vec![node]));
        let node = match name {
            "nint" | "idnint" | "anint" | "dnint" => {
                let half = self.number(half);
                let half = self.operate(Operator::Sign, half, a.node);
                let sum = self.operate(Operator::Add, a.node, half);
                truncate(self, sum)
            }
            "floor" => {
                let whole = truncate(self, a.node);
                let is_above = self.operate(Operator::Less, a.node, whole);
                self.operate(Operator::Subtract, whole, is_above)
            }
            "ceiling" | "ceil" => {
                let whole = truncate(self, a.node);
                let is_below = self.operate(Operator::Less, whole, a.node);
                self.operate(Operator::Add, whole, is_below)
            }
            _ => truncate(self, a.node),
        };
        let is_real =
            matches!(name, "anint" | "dnint") || (self.is_c() && matches!(name, "floor" | "ceil"));
        Scalar { kind: if is_real { Kind::Real } else { Kind::Integer }, node, loss: None }
    }

    fn extent(
        &mut self,
        name: &str,
        array: &Array,
        dimension: Option<&Value>,
        span: Span,
    ) -> Read<Value> {
        let dimension = match dimension {
            None if name == "size" => None,
            None if array.extents.len() == 1 => Some(0),
            Some(Value::Scalar(scalar)) => {
                let place = self.whole(*scalar).and_then(|number| usize::try_from(number - 1).ok());
                Some(place.filter(|&place| place < array.extents.len()).ok_or_else(|| {
                    Fault::new(
                        span,
                        format!("the dimension of {name}"),
                        "expected one of the array",
                    )
                })?)
            }
            _ => {
                return Err(Fault::new(
                    span,
                    format!("{name} of an array"),
                    "expected a dimension",
                ));
            }
        };
        let value = match (name, dimension) {
            ("size", None) => array.elements.len() as i64,
            ("size", Some(place)) => array.extents[place] as i64,
            ("lbound", Some(place)) => array.lower[place],
            (_, place) => {
                let place = place.unwrap_or(0);
                array.lower[place] + array.extents[place] as i64 - 1
            }
        };
        Ok(Value::Scalar(self.integer(value)))
    }

    /// A number of all elements of an array.
    fn reduced(&mut self, name: &str, array: &Value, span: Span) -> Read<Value> {
        let Value::Array(array) = array else {
            let help = "expected an array";
            return Err(Fault::new(span, format!("{name} of a number"), help));
        };
        let mut result: Option<Scalar> = None;
        for element in array.elements.iter() {
            self.spend(1, span)?;
            let next = self.element(*element, span)?;
            let kind = next.kind;
            result = Some(match (result, name) {
                (None, "count") => Scalar { kind: Kind::Integer, ..next },
                (None, _) => next,
                (Some(a), "count") => {
                    let node = self.operate(Operator::Add, a.node, next.node);
                    Scalar { node, ..a }
                }
                (Some(a), "sum") => self.binary(Binary::Add, a, next, span)?,
                (Some(a), "product") => self.binary(Binary::Multiply, a, next, span)?,
                (Some(a), "any") => self.binary(Binary::Or, a, next, span)?,
                (Some(a), "all") => self.binary(Binary::And, a, next, span)?,
                (Some(a), _) => {
                    let is_least = name == "minval";
                    let operator = if is_least { Operator::Minimum } else { Operator::Maximum };
                    let node = self.operate(operator, a.node, next.node);
                    Scalar { kind, node, loss: a.loss.or(next.loss) }
                }
            });
        }
        let empty = |this: &mut Self| match name {
            "sum" | "count" => Ok(this.integer(0)),
            "product" => Ok(this.integer(1)),
            "any" => Ok(this.logical(false)),
            "all" => Ok(this.logical(true)),
            _ => Err(Fault::new(span, format!("{name} of no elements"), "expected some")),
        };
        match result {
            Some(result) => Ok(Value::Scalar(result)),
            None => empty(self).map(Value::Scalar),
        }
    }
}
