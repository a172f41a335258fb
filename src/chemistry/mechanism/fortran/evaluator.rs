//! Rates and functions worked out at reading: what is the same in all cells becomes a number, the rest expressions of
//! the quantities of a cell.
//!
//! A function is evaluated where it is called, with the values that it gets: its statements run once, loops turn as
//! often as their bounds say, and of a branch that depends on the cell both sides are followed, and selected from. So
//! the rates of a mechanism are straight-line arithmetic, on the CPU as on the GPU.

use std::collections::{HashMap, HashSet};
use std::rc::Rc;

use super::Code;
use super::arithmetic::Loss;
use super::syntax::{Argument, Binary, Expr, ExprKind, Fault, Read};
use super::tokens::Name;
use super::values::{Array, Kind, Scalar, State, Value, Variables};
use crate::chemistry::mechanism::diagnostics::{SourceFile, Span};
use crate::chemistry::mechanism::expression::{Expression, Expressions, Input};
use crate::chemistry::mechanism::quantity::{Origin, Quantity};

/// Most steps of all rates together: each evaluation of an expression, each statement.
const MOST_STEPS: u64 = 20_000_000;

/// Most expressions of all rates together.
const MOST_EXPRESSIONS: usize = 2_000_000;

/// Deepest nesting of calls, blocks and expressions in one another.
const DEEPEST: usize = 300;

/// Evaluation of the rates of a mechanism.
pub(in crate::chemistry::mechanism) struct Evaluator<'a> {
    pub(in crate::chemistry::mechanism) expressions: Expressions,
    pub(in crate::chemistry::mechanism) photolysis: Vec<String>,
    pub(in crate::chemistry::mechanism) quantities: Vec<Quantity>,
    pub(in crate::chemistry::mechanism) losses: Vec<Loss>,
    pub(super) code: &'a Code,
    pub(super) sources: &'a [SourceFile],
    /// Indices of the species by their names in capitals.
    pub(super) species: &'a HashMap<String, usize>,
    pub(super) state: State,
    /// Indices of photolysis frequencies by their names in lower case.
    pub(super) frequencies: HashMap<String, usize>,
    /// Expressions of quantities by origin and name.
    pub(super) inputs: HashMap<(Origin, Name), u32>,
    /// Variables of the mechanism that its statements set.
    pub(super) set: HashSet<Name>,
    /// Procedures that are being evaluated, each called by the one before.
    pub(super) calls: Vec<Name>,
    /// Variables of the mechanism as the rates find them.
    pub(super) settled: Rc<Variables>,
    /// True while the variables of the mechanism are being set.
    pub(super) is_setting: bool,
    /// Calls, blocks and expressions that are being evaluated, each in the one before.
    pub(super) depth: usize,
    steps: u64,
}

impl<'a> Evaluator<'a> {
    pub(in crate::chemistry::mechanism) fn new(
        code: &'a Code,
        sources: &'a [SourceFile],
        species: &'a HashMap<String, usize>,
    ) -> Self {
        Self {
            expressions: Expressions::default(),
            photolysis: Vec::new(),
            quantities: Vec::new(),
            losses: Vec::new(),
            code,
            sources,
            species,
            state: State::default(),
            frequencies: HashMap::new(),
            inputs: HashMap::new(),
            set: HashSet::new(),
            calls: Vec::new(),
            settled: Rc::default(),
            is_setting: false,
            depth: 0,
            steps: 0,
        }
    }

    /// The expression of a rate, and the division of whole numbers that has changed it, if one has.
    pub(in crate::chemistry::mechanism) fn rate(
        &mut self,
        rate: &Expr,
    ) -> Read<(u32, Option<u32>)> {
        self.state = State { global: self.settled.clone(), ..State::default() };
        self.depth = 0;
        let result = self.scalar(rate);
        let calls = std::mem::take(&mut self.calls);
        let scalar = result.map_err(|mut fault| {
            needed_by(&mut fault, &calls);
            fault
        })?;
        if scalar.kind == Kind::Logical && !self.is_c() {
            return Err(Fault::new(rate.span, "a rate that is true or false", "expected a number"));
        }
        Ok((scalar.node, scalar.loss))
    }

    /// True in procedures, and while variables are being set.
    pub(super) fn is_inside(&self) -> bool {
        self.is_setting || !self.calls.is_empty()
    }

    pub(super) fn is_c(&self) -> bool {
        self.code.is_c
    }

    /// Counts steps.
    pub(super) fn spend(&mut self, steps: usize, span: Span) -> Read<()> {
        self.steps += steps as u64;
        if self.steps <= MOST_STEPS && self.expressions.len() <= MOST_EXPRESSIONS {
            return Ok(());
        }
        let help = format!("expected at most {MOST_STEPS} steps for all rates together");
        Err(Fault::new(span, "the rates take too many steps", help))
    }

    /// The text of a part of a file.
    pub(super) fn spelling(&self, span: Span) -> String {
        let text = self.sources.get(span.file).map_or("", |source| source.text.as_str());
        text.get(span.start..span.end).unwrap_or("").to_owned()
    }

    pub(super) fn input(&mut self, input: Input) -> Scalar {
        let node = self.expressions.add(Expression::Input(input));
        Scalar { kind: Kind::Real, node, loss: None }
    }

    /// A quantity beyond those of [`Input::NAMES`].
    pub(super) fn quantity(&mut self, origin: Origin, spelling: &str, kind: Kind) -> Scalar {
        let key = (origin, Name::from(spelling.to_ascii_lowercase()));
        let node = if let Some(&node) = self.inputs.get(&key) {
            node
        } else {
            self.quantities.push(Quantity { name: spelling.to_owned(), origin });
            let input = Input::Quantity(self.quantities.len() - 1);
            let node = self.expressions.add(Expression::Input(input));
            self.inputs.insert(key, node);
            node
        };
        Scalar { kind, node, loss: None }
    }

    /// A number.
    pub(super) fn scalar(&mut self, expr: &Expr) -> Read<Scalar> {
        match self.value(expr)? {
            Value::Scalar(scalar) => Ok(scalar),
            Value::Array(_) => {
                let message =
                    format!("the array {} where a number is needed", self.spelling(expr.span));
                Err(Fault::new(expr.span, message, "expected one of its elements, or SUM"))
            }
        }
    }

    /// Runs something one level deeper. After a fault the level is that of the fault.
    pub(super) fn deeper<T>(
        &mut self,
        span: Span,
        run: impl FnOnce(&mut Self) -> Read<T>,
    ) -> Read<T> {
        if self.depth >= DEEPEST {
            let help =
                format!("expected at most {DEEPEST} levels of calls, blocks and expressions");
            return Err(Fault::new(span, "the code is nested too deeply", help));
        }
        self.depth += 1;
        let result = run(self)?;
        self.depth -= 1;
        Ok(result)
    }

    /// The value of an expression.
    pub(super) fn value(&mut self, expr: &Expr) -> Read<Value> {
        self.spend(1, expr.span)?;
        self.deeper(expr.span, |this| this.value_of(expr))
    }

    fn value_of(&mut self, expr: &Expr) -> Read<Value> {
        let scalar = match &expr.kind {
            ExprKind::Integer(value) => self.integer(*value),
            ExprKind::Real(value) => {
                Scalar { kind: Kind::Real, node: self.number(*value), loss: None }
            }
            ExprKind::Logical(value) => self.logical(*value),
            ExprKind::Text => {
                return Err(Fault::new(expr.span, "a text in an expression", "expected a number"));
            }
            ExprKind::Name(name) => return self.named(name, expr.span),
            ExprKind::Negative(inner) => {
                let inner = self.value(inner)?;
                return self.each(&inner, expr.span, &mut |this, a| this.negative(a, expr.span));
            }
            ExprKind::Not(inner) => {
                let inner = self.scalar(inner)?;
                let condition = self.condition(inner, expr.span)?;
                Scalar { kind: Kind::Logical, node: self.not(condition), loss: inner.loss }
            }
            ExprKind::Binary(..) => return self.chain(expr),
            ExprKind::Reference(name, arguments) => {
                return self.reference(name, arguments, expr.span);
            }
            ExprKind::List(elements) => {
                let mut all = Vec::new();
                for element in elements {
                    match self.value(element)? {
                        Value::Scalar(scalar) => all.push(Some(scalar)),
                        Value::Array(array) => all.extend(array.elements.iter().copied()),
                    }
                }
                return Ok(Value::Array(Array::list(all)));
            }
            ExprKind::Choice(parts) => {
                let condition = self.scalar(&parts[0])?;
                let condition = self.condition(condition, expr.span)?;
                let [a, b] = [self.scalar(&parts[1])?, self.scalar(&parts[2])?];
                let kind = if a.kind == b.kind { a.kind } else { Kind::Real };
                let node = self.select(condition, a.node, b.node);
                Scalar { kind, node, loss: a.loss.or(b.loss) }
            }
        };
        Ok(Value::Scalar(scalar))
    }

    /// Operations in a row, which are a tree as deep as the row is long.
    fn chain(&mut self, expr: &Expr) -> Read<Value> {
        let mut row: Vec<(Binary, &Expr, Span)> = Vec::new();
        let mut first = expr;
        while let ExprKind::Binary(operator, operands) = &first.kind {
            row.push((*operator, &operands[1], first.span));
            first = &operands[0];
        }
        let mut left = self.value(first)?;
        for (operator, right, span) in row.into_iter().rev() {
            let right = self.value(right)?;
            left = self
                .pair(&left, &right, span, &mut |this, a, b| this.binary(operator, a, b, span))?;
        }
        Ok(left)
    }

    /// A function of every element.
    pub(super) fn each(
        &mut self,
        value: &Value,
        span: Span,
        function: &mut dyn FnMut(&mut Self, Scalar) -> Read<Scalar>,
    ) -> Read<Value> {
        match value {
            Value::Scalar(scalar) => function(self, *scalar).map(Value::Scalar),
            Value::Array(array) => {
                let mut all = Vec::with_capacity(array.elements.len());
                for element in array.elements.iter() {
                    self.spend(1, span)?;
                    let element = self.element(*element, span)?;
                    all.push(Some(function(self, element)?));
                }
                Ok(Value::Array(array.with(all)))
            }
        }
    }

    /// A function of pairs of elements, or of elements and one number.
    pub(super) fn pair(
        &mut self,
        a: &Value,
        b: &Value,
        span: Span,
        function: &mut dyn FnMut(&mut Self, Scalar, Scalar) -> Read<Scalar>,
    ) -> Read<Value> {
        match (a, b) {
            (Value::Scalar(a), Value::Scalar(b)) => function(self, *a, *b).map(Value::Scalar),
            (Value::Array(_), Value::Scalar(b)) => {
                self.each(a, span, &mut |this, a| function(this, a, *b))
            }
            (Value::Scalar(a), Value::Array(_)) => {
                self.each(b, span, &mut |this, b| function(this, *a, b))
            }
            (Value::Array(first), Value::Array(second)) => {
                if first.extents != second.extents {
                    let message = format!(
                        "arrays of {} and {} elements in an operation",
                        first.elements.len(),
                        second.elements.len()
                    );
                    return Err(Fault::new(span, message, "expected the same shape"));
                }
                let mut all = Vec::with_capacity(first.elements.len());
                for (a, b) in first.elements.iter().zip(second.elements.iter()) {
                    self.spend(1, span)?;
                    let [a, b] = [self.element(*a, span)?, self.element(*b, span)?];
                    all.push(Some(function(self, a, b)?));
                }
                Ok(Value::Array(first.with(all)))
            }
        }
    }

    /// An element that has a value.
    pub(super) fn element(&self, element: Option<Scalar>, span: Span) -> Read<Scalar> {
        element.ok_or_else(|| {
            let message = format!("{} is used before it is set", self.spelling(span));
            Fault::new(span, message, "expected an assignment before this")
        })
    }

    /// The arguments of a call without names and sections.
    pub(super) fn plain<'e>(arguments: &'e [Argument], span: Span) -> Read<Vec<&'e Expr>> {
        let one = |argument: &'e Argument| match argument {
            Argument::Value(value) => Ok(value),
            Argument::Named(name, _) => {
                let help = "expected the arguments in their order";
                Err(Fault::new(span, format!("the argument {name} by its name"), help))
            }
            Argument::Section(_) => {
                Err(Fault::new(span, "a section as an argument", "expected numbers"))
            }
        };
        arguments.iter().map(one).collect()
    }
}

/// Names the functions that a rate needed.
fn needed_by(fault: &mut Fault, calls: &[Name]) {
    let chain: Vec<&str> = calls.iter().map(|name| &**name).collect();
    let what = match chain[..] {
        [] => return,
        [_] => "the function",
        _ => "the functions",
    };
    fault.message = format!("{}: a rate needs {what} {}", fault.message, chain.join(", "));
}
