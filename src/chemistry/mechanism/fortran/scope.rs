//! Variables as declarations make them.

use std::rc::Rc;

use super::evaluator::Evaluator;
use super::syntax::{About, Declaration, Dimension, Expr, Fault, Read, Type};
use super::tokens::Name;
use super::values::{Array, Content, Kind, Scalar, Value, Variable, Variables};
use crate::chemistry::mechanism::diagnostics::Span;

/// Largest number of elements of an array.
const MOST_ELEMENTS: usize = 100_000;

impl Kind {
    /// That of a declared type; none for one that rates cannot use.
    pub(super) fn of(kind: Type) -> Option<Self> {
        match kind {
            Type::Real => Some(Self::Real),
            Type::Integer => Some(Self::Integer),
            Type::Logical => Some(Self::Logical),
            Type::Other => None,
        }
    }
}

impl Evaluator<'_> {
    /// The variable with a name, in the procedure or in the mechanism.
    pub(super) fn variable(&mut self, name: &Name, is_local: bool) -> Option<&mut Variable> {
        self.variables(is_local).get_mut(name)
    }

    /// The variables of the procedure, or those of the mechanism.
    pub(super) fn variables(&mut self, is_local: bool) -> &mut Variables {
        if is_local { &mut self.state.local } else { Rc::make_mut(&mut self.state.global) }
    }

    fn put(&mut self, name: &Name, variable: Variable, is_local: bool) {
        self.variables(is_local).insert(name.clone(), variable);
    }

    /// Makes the variables of declarations. Faults in them are those of the variables.
    pub(super) fn declare(&mut self, declarations: &[Declaration], is_local: bool) -> Read<()> {
        for declaration in declarations {
            self.spend(1, declaration.span)?;
            if let Err(fault) = self.declare_one(declaration, is_local) {
                let content = Content::Faulty(Rc::from(fault));
                let variable =
                    Variable { kind: Kind::Real, content, is_constant: false, is_array: false };
                self.put(&declaration.name, variable, is_local);
            }
        }
        Ok(())
    }

    fn declare_one(&mut self, declaration: &Declaration, is_local: bool) -> Read<()> {
        let Declaration { name, span, about } = declaration;
        match about {
            About::Typed { kind, shape, value, is_constant } => {
                let Some(kind) = Kind::of(*kind) else {
                    let message = format!("{name} is a variable of a type that rates cannot use");
                    return Err(Fault::new(*span, message, "expected REAL, INTEGER or LOGICAL"));
                };
                // An argument has its value already.
                if let Some(known) = self.variable(name, is_local)
                    && let Content::Value(content) = known.content.clone()
                    && value.is_none()
                {
                    let content = self.as_declared(content, (kind, shape.as_deref()), *span)?;
                    let is_array = matches!(content, Value::Array(_));
                    let content = Content::Value(content);
                    let variable = Variable { kind, content, is_constant: false, is_array };
                    self.put(name, variable, is_local);
                    return Ok(());
                }
                let empty = match shape {
                    Some(shape) => Some(self.shaped(shape, None, *span)?),
                    None => None,
                };
                let content = match (value, empty) {
                    (Some(value), empty) => {
                        let value = self.value(value)?;
                        Content::Value(self.initial(&value, empty, kind, *span)?)
                    }
                    (None, Some(array)) => Content::Value(Value::Array(array)),
                    (None, None) => Content::Unset,
                };
                let is_array = shape.is_some();
                let variable = Variable { kind, content, is_constant: *is_constant, is_array };
                self.put(name, variable, is_local);
            }
            About::Shape(shape) => {
                let known = self.variable(name, is_local).cloned();
                let kind = known.as_ref().map_or(Kind::Real, |known| known.kind);
                let value = match known.map(|known| known.content) {
                    Some(Content::Value(value)) => {
                        self.as_declared(value, (kind, Some(shape)), *span)?
                    }
                    _ => Value::Array(self.shaped(shape, None, *span)?),
                };
                let content = Content::Value(value);
                let variable = Variable { kind, content, is_constant: false, is_array: true };
                self.put(name, variable, is_local);
            }
            About::Constant(value) => {
                let value = self.scalar(value)?;
                let kind = self.variable(name, is_local).map_or(value.kind, |known| known.kind);
                let value = self.converted(value, kind, *span)?;
                let content = Content::Value(Value::Scalar(value));
                let variable = Variable { kind, content, is_constant: true, is_array: false };
                self.put(name, variable, is_local);
            }
            About::Data(places, values) => {
                let values = self.data_values(values)?;
                let Some(known) = self.variable(name, is_local).cloned() else {
                    let message = format!("{name} has values, but no type");
                    return Err(Fault::new(*span, message, "expected its declaration before DATA"));
                };
                let content = match (known.content, places) {
                    (Content::Value(Value::Array(array)), None) => {
                        let all = values.into_iter().map(Some).collect();
                        let value = Value::Array(Array::list(all));
                        self.initial(&value, Some(array), known.kind, *span)?
                    }
                    (Content::Value(Value::Array(array)), Some(places)) => {
                        let selections = self.selections(&array, places, *span)?;
                        let value = match values[..] {
                            [value] => Value::Scalar(value),
                            _ => Value::Array(Array::list(values.into_iter().map(Some).collect())),
                        };
                        let about = (known.kind, *span);
                        Value::Array(self.replaced(&array, &selections, &value, about)?)
                    }
                    (_, None) if values.len() == 1 => {
                        Value::Scalar(self.converted(values[0], known.kind, *span)?)
                    }
                    _ => {
                        let message = format!("{} values for {name}", values.len());
                        return Err(Fault::new(*span, message, "expected one for each element"));
                    }
                };
                let content = Content::Value(content);
                self.put(name, Variable { content, ..known }, is_local);
            }
            About::Unreadable(fault) => return Err(fault.clone()),
        }
        Ok(())
    }

    fn data_values(&mut self, values: &[(Option<Expr>, Expr)]) -> Read<Vec<Scalar>> {
        let mut all = Vec::new();
        for (count, value) in values {
            let count = match count {
                Some(count) => self.constant(count, "a number of repetitions")?,
                None => 1,
            };
            let value = self.scalar(value)?;
            let count = usize::try_from(count).unwrap_or(0);
            if count + all.len() > MOST_ELEMENTS {
                let help = format!("expected at most {MOST_ELEMENTS}");
                return Err(Fault::new(values[0].1.span, "too many values", help));
            }
            all.extend(std::iter::repeat_n(value, count));
        }
        Ok(all)
    }

    /// A value for a variable with its declaration.
    fn initial(
        &mut self,
        value: &Value,
        empty: Option<Array>,
        kind: Kind,
        span: Span,
    ) -> Read<Value> {
        match (value, empty) {
            (Value::Scalar(scalar), None) => {
                Ok(Value::Scalar(self.converted(*scalar, kind, span)?))
            }
            (Value::Scalar(scalar), Some(array)) => {
                let scalar = self.converted(*scalar, kind, span)?;
                Ok(Value::Array(array.with(vec![Some(scalar); array.elements.len()])))
            }
            (Value::Array(values), Some(array)) => {
                if values.elements.len() != array.elements.len() {
                    let (found, needed) = (values.elements.len(), array.elements.len());
                    let message = format!("{found} values for an array of {needed} elements");
                    return Err(Fault::new(span, message, "expected one for each element"));
                }
                let mut all = Vec::new();
                for value in values.elements.iter() {
                    self.spend(1, span)?;
                    let value = self.element(*value, span)?;
                    all.push(Some(self.converted(value, kind, span)?));
                }
                Ok(Value::Array(array.with(all)))
            }
            (Value::Array(_), None) => {
                Err(Fault::new(span, "an array for a single number", "expected a number"))
            }
        }
    }

    /// An array without values; assumed bounds are those of the actual argument.
    fn shaped(&mut self, shape: &[Dimension], actual: Option<&Array>, span: Span) -> Read<Array> {
        let (mut lower, mut extents) = (Vec::new(), Vec::new());
        for (place, dimension) in shape.iter().enumerate() {
            let mut bound = |bound: &Option<Expr>| match bound {
                Some(bound) => self.constant(bound, "a bound of an array"),
                None => Ok(1),
            };
            let (first, extent) = match (dimension, actual) {
                (Dimension::Explicit(first, last), _) => {
                    let first = bound(first)?;
                    let last = self.constant(last, "a bound of an array")?;
                    (first, usize::try_from(last - first + 1).unwrap_or(0))
                }
                (Dimension::Assumed(first), Some(actual)) if place < actual.extents.len() => {
                    (bound(first)?, actual.extents[place])
                }
                (Dimension::Rest, Some(actual)) => (1, actual.elements.len()),
                _ => {
                    let message = "an array whose size is not told";
                    return Err(Fault::new(span, message, "expected bounds in its declaration"));
                }
            };
            lower.push(first);
            extents.push(extent);
            let count = extents.iter().fold(1_usize, |all, extent| all.saturating_mul(*extent));
            if count > MOST_ELEMENTS {
                let help = format!("expected at most {MOST_ELEMENTS}");
                return Err(Fault::new(span, format!("an array of {count} elements"), help));
            }
        }
        let count = extents.iter().product();
        self.spend(count, span)?;
        Ok(Array { lower, extents, elements: vec![None; count].into() })
    }

    /// An actual argument as the declaration of its dummy has it.
    fn as_declared(
        &mut self,
        value: Value,
        (kind, shape): (Kind, Option<&[Dimension]>),
        span: Span,
    ) -> Read<Value> {
        match (value, shape) {
            (Value::Scalar(scalar), None) => {
                let is_open = scalar.kind == Kind::Open || kind != Kind::Integer;
                if !is_open && scalar.kind == Kind::Real {
                    let message = format!("a real number for the INTEGER {}", self.spelling(span));
                    return Err(Fault::new(span, message, "expected a whole number"));
                }
                let loss = scalar.loss;
                let scalar = self.converted(scalar, kind, span)?;
                Ok(Value::Scalar(Scalar { loss, ..scalar }))
            }
            (Value::Array(actual), Some(shape)) => {
                let declared = self.shaped(shape, Some(&actual), span)?;
                let count = declared.elements.len();
                if count > actual.elements.len() {
                    let message = format!(
                        "{} has {count} elements, and is given {}",
                        self.spelling(span),
                        actual.elements.len()
                    );
                    return Err(Fault::new(span, message, "expected an array as large"));
                }
                let mut all = Vec::new();
                for element in &actual.elements[..count] {
                    all.push(match element {
                        Some(element) => Some(self.converted(*element, kind, span)?),
                        None => None,
                    });
                }
                Ok(Value::Array(declared.with(all)))
            }
            (Value::Array(_), None) => {
                let message = format!("an array for the number {}", self.spelling(span));
                Err(Fault::new(span, message, "expected a number"))
            }
            (Value::Scalar(_), Some(_)) => {
                let message = format!("a number for the array {}", self.spelling(span));
                Err(Fault::new(span, message, "expected an array"))
            }
        }
    }
}
