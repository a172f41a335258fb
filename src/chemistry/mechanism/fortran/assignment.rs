//! Assignments to variables, elements and sections.

use super::evaluator::Evaluator;
use super::execution::target_name;
use super::syntax::{Expr, ExprKind, Fault, Read};
use super::tokens::Name;
use super::values::{Array, Content, Kind, Value, Variable};
use crate::chemistry::mechanism::diagnostics::Span;

impl Evaluator<'_> {
    /// Stores a value in a variable, an element or a section.
    pub(super) fn store(&mut self, target: &Expr, value: &Value, span: Span) -> Read<()> {
        let Some(name) = target_name(target).cloned() else {
            return Err(Fault::new(span, "an assignment to no variable", "expected a name"));
        };
        let is_local = self.state.local.contains_key(&name);
        if !is_local && !self.is_setting {
            let message = if self.state.global.contains_key(&name) {
                format!("{name} is a variable of the mechanism, which a function sets")
            } else {
                format!("{name} is not declared in the function")
            };
            let help = "expected a declared variable of its own";
            return Err(Fault::new(target.span, message, help));
        }
        if !is_local && !self.state.global.contains_key(&name) {
            self.declare_by_use(&name, target)?;
        }
        let variable =
            if is_local { self.state.local.get(&name) } else { self.state.global.get(&name) };
        let Some(variable) = variable.cloned() else { return Ok(()) };
        if variable.is_constant {
            let message = format!("{name} is a constant");
            return Err(Fault::new(target.span, message, "expected a variable"));
        }
        let content = match (&target.kind, &variable.content) {
            (_, Content::Faulty(fault)) => return Err(Box::new((**fault).clone())),
            (ExprKind::Reference(_, indices), Content::Value(Value::Array(array))) => {
                let selections = self.selections(array, indices, target.span)?;
                let about = (variable.kind, span);
                Value::Array(self.replaced(array, &selections, value, about)?)
            }
            (ExprKind::Reference(..), _) => {
                let message = format!("{name} is not an array");
                return Err(Fault::new(target.span, message, "expected its declaration as one"));
            }
            (_, Content::Value(Value::Array(array))) => {
                Value::Array(self.whole_array(array, value, (variable.kind, span))?)
            }
            _ => match value {
                Value::Scalar(scalar) => {
                    Value::Scalar(self.converted(*scalar, variable.kind, span)?)
                }
                Value::Array(_) => {
                    let message = format!("an array for the number {name}");
                    return Err(Fault::new(span, message, "expected a number"));
                }
            },
        };
        let content = Content::Value(content);
        self.variables(is_local).insert(name, Variable { content, ..variable });
        Ok(())
    }

    fn whole_array(
        &mut self,
        array: &Array,
        value: &Value,
        (kind, span): (Kind, Span),
    ) -> Read<Array> {
        let mut all = Vec::with_capacity(array.elements.len());
        for place in 0..array.elements.len() {
            self.spend(1, span)?;
            let element = match value {
                Value::Scalar(scalar) => Some(*scalar),
                Value::Array(values) if values.elements.len() == array.elements.len() => {
                    values.elements[place]
                }
                Value::Array(values) => {
                    let (found, needed) = (values.elements.len(), array.elements.len());
                    let message = format!("{found} values for an array of {needed} elements");
                    return Err(Fault::new(span, message, "expected as many"));
                }
            };
            all.push(match element {
                Some(element) => Some(self.converted(element, kind, span)?),
                None => None,
            });
        }
        Ok(array.with(all))
    }

    /// A variable of the mechanism that modules declare which are not there: a real number.
    fn declare_by_use(&mut self, name: &Name, target: &Expr) -> Read<()> {
        if matches!(target.kind, ExprKind::Reference(..)) {
            let message = format!("the array {name} is not declared");
            let help = "declare it in #INLINE F90_GLOBAL, with its bounds";
            return Err(Fault::new(target.span, message, help));
        }
        let variable = Variable {
            kind: Kind::Real,
            content: Content::Unset,
            is_constant: false,
            is_array: false,
        };
        self.variables(false).insert(name.clone(), variable);
        Ok(())
    }
}
