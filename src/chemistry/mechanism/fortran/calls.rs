//! Calls of the mechanism's own functions and subroutines.

use super::evaluator::Evaluator;
use super::syntax::{About, Argument, Expr, ExprKind, Fault, Procedure, Read};
use super::tokens::Name;
use super::values::{Content, Kind, Scalar, Value, Variable, Variables};
use crate::chemistry::mechanism::diagnostics::Span;

/// Most procedures that call each other in a row.
const DEEPEST: usize = 32;

impl Evaluator<'_> {
    /// The value of a function.
    pub(super) fn call(
        &mut self,
        procedure: &Procedure,
        arguments: &[Argument],
        span: Span,
    ) -> Read<Scalar> {
        let Some((result, kind)) = &procedure.result else {
            let message = format!("{} is a subroutine", procedure.name);
            return Err(Fault::new(span, message, "expected a function"));
        };
        let after = self.run(procedure, arguments, Some((result, *kind)), span)?;
        let found = after.get(result).map(|variable| (variable.content.clone(), variable.kind));
        match found {
            Some((Content::Value(Value::Scalar(scalar)), kind)) => {
                // The value leaves the procedure; a fault of it is not one of what comes after.
                self.calls.pop();
                let loss = scalar.loss;
                let scalar = self.converted(scalar, kind, span)?;
                Ok(Scalar { loss: scalar.loss.or(loss.filter(|_| kind == Kind::Real)), ..scalar })
            }
            Some((Content::Value(Value::Array(_)), _)) => {
                let message = format!("{} returns an array", procedure.name);
                Err(Fault::new(procedure.span, message, "expected a number"))
            }
            Some((Content::Faulty(fault), _)) => Err(Box::new((*fault).clone())),
            _ => {
                let message = format!("{} sets no result", procedure.name);
                let help = format!("expected an assignment to {result}");
                Err(Fault::new(procedure.span, message, help))
            }
        }
    }

    /// Runs a subroutine, and stores what it makes of its arguments.
    pub(super) fn call_subroutine(
        &mut self,
        procedure: &Procedure,
        arguments: &[Argument],
        span: Span,
    ) -> Read<()> {
        if procedure.result.is_some() {
            let message = format!("{} is a function", procedure.name);
            return Err(Fault::new(span, message, "expected a subroutine"));
        }
        let after = self.run(procedure, arguments, None, span)?;
        self.calls.pop();
        for (dummy, argument) in procedure.arguments.iter().zip(arguments) {
            let Argument::Value(target) = argument else { continue };
            let is_variable = match &target.kind {
                ExprKind::Name(name) => {
                    self.is_variable(name) || (self.is_setting && !self.is_quantity(name))
                }
                ExprKind::Reference(name, _) => {
                    self.is_variable(name) && !self.code.procedures.contains_key(name)
                }
                _ => false,
            };
            let Some(Variable { content: Content::Value(value), .. }) = after.get(dummy) else {
                continue;
            };
            if is_variable {
                self.store(target, value, target.span)?;
            }
        }
        Ok(())
    }

    fn is_variable(&self, name: &Name) -> bool {
        self.state.local.contains_key(name) || self.state.global.contains_key(name)
    }

    /// Runs the statements of a procedure, and returns its variables. The procedure stays among the calls, so that a fault
    /// names it.
    fn run(
        &mut self,
        procedure: &Procedure,
        arguments: &[Argument],
        result: Option<(&Name, Option<super::syntax::Type>)>,
        span: Span,
    ) -> Read<Variables> {
        let actual = self.actual(procedure, arguments, span)?;
        if self.calls.len() >= DEEPEST {
            let message =
                format!("{} is the last of {DEEPEST} calls in one another", procedure.name);
            return Err(Fault::new(span, message, "expected fewer; no function calls itself"));
        }
        self.calls.push(procedure.name.clone());
        if let Some(fault) = &procedure.fault {
            return Err(fault.clone());
        }
        let mut local = Variables::new();
        for (name, content) in procedure.arguments.iter().zip(&actual) {
            let is_array = matches!(content, Content::Value(Value::Array(_)));
            let kind = match content {
                Content::Value(Value::Scalar(scalar)) => scalar.kind,
                _ => Kind::Real,
            };
            let variable =
                Variable { kind, content: content.clone(), is_constant: false, is_array };
            local.insert(name.clone(), variable);
        }
        if let Some((name, kind)) = result {
            let kind = kind.map_or(Some(Kind::Real), Kind::of);
            let Some(kind) = kind else {
                let message = format!("{} returns no number", procedure.name);
                return Err(Fault::new(procedure.span, message, "expected REAL or INTEGER"));
            };
            let content = Content::Unset;
            local.insert(
                name.clone(),
                Variable { kind, content, is_constant: false, is_array: false },
            );
        }
        let outer = std::mem::replace(&mut self.state.local, local);
        let flow = std::mem::take(&mut self.state.flow);
        self.declare(&procedure.declarations, true)?;
        self.type_by_name(procedure, span)?;
        self.refuse_kept(procedure);
        let begun: Vec<Option<u32>> =
            procedure.arguments.iter().map(|name| self.node_of(name)).collect();
        self.block(&procedure.body)?;
        if result.is_some() {
            self.refuse_changed(procedure, arguments, &begun)?;
        }
        self.state.flow = flow;
        Ok(std::mem::replace(&mut self.state.local, outer))
    }

    /// Arguments that no declaration types: those of a name that does not begin with i to n are real.
    fn type_by_name(&mut self, procedure: &Procedure, span: Span) -> Read<()> {
        for name in &procedure.arguments {
            let is_declared =
                procedure.declarations.iter().any(|declaration| declaration.name == *name);
            if is_declared || name.starts_with(|letter: char| ('i'..='n').contains(&letter)) {
                continue;
            }
            let Some(variable) = self.state.local.get(name).cloned() else { continue };
            if let (Kind::Integer, Content::Value(Value::Scalar(scalar))) =
                (variable.kind, variable.content)
            {
                let scalar = self.converted(scalar, Kind::Real, span)?;
                let content = Content::Value(Value::Scalar(scalar));
                let variable =
                    Variable { kind: Kind::Real, content, is_constant: false, is_array: false };
                self.state.local.insert(name.clone(), variable);
            }
        }
        Ok(())
    }

    fn node_of(&self, name: &Name) -> Option<u32> {
        match self.state.local.get(name).map(|variable| &variable.content) {
            Some(Content::Value(Value::Scalar(scalar))) => Some(scalar.node),
            _ => None,
        }
    }

    /// A fault if a function changes an argument that is a variable where it is called.
    fn refuse_changed(
        &self,
        procedure: &Procedure,
        arguments: &[Argument],
        begun: &[Option<u32>],
    ) -> Read<()> {
        for ((name, argument), begun) in procedure.arguments.iter().zip(arguments).zip(begun) {
            let is_variable = matches!(
                argument,
                Argument::Value(Expr { kind: ExprKind::Name(_) | ExprKind::Reference(..), .. })
            );
            if is_variable && begun.is_some() && self.node_of(name) != *begun {
                let message = format!("{} changes its argument {name}", procedure.name);
                let help = "expected a variable of its own: the change would go on for the caller";
                return Err(Fault::new(procedure.span, message, help));
            }
        }
        Ok(())
    }

    /// Takes the values from variables that keep what a call has assigned for the next one.
    fn refuse_kept(&mut self, procedure: &Procedure) {
        for declaration in &procedure.declarations {
            let keeps = match &declaration.about {
                About::Typed { value, is_constant, .. } => value.is_some() && !is_constant,
                About::Data(..) => true,
                _ => false,
            };
            if !keeps
                || self.code.is_c
                || !super::execution::is_assigned(&procedure.body, &declaration.name)
            {
                continue;
            }
            if let Some(variable) = self.state.local.get_mut(&declaration.name)
                && !variable.is_array
            {
                variable.content = Content::Unset;
            }
        }
    }

    /// The values of the arguments in the order of the dummies.
    fn actual(
        &mut self,
        procedure: &Procedure,
        arguments: &[Argument],
        span: Span,
    ) -> Read<Vec<Content>> {
        let needed = procedure.arguments.len();
        if arguments.len() != needed {
            let message = format!("{} has {} arguments", procedure.name, arguments.len());
            let names: Vec<&str> = procedure.arguments.iter().map(|name| &**name).collect();
            let help = format!(
                "expected {needed}: {}({}), as the mechanism defines it",
                procedure.name,
                names.join(", ")
            );
            return Err(Fault::new(span, message, help));
        }
        let mut all: Vec<Option<Content>> = vec![None; needed];
        for (position, argument) in arguments.iter().enumerate() {
            let (place, value) = match argument {
                Argument::Value(value) => (position, value),
                Argument::Named(name, value) => {
                    let place = procedure.arguments.iter().position(|dummy| dummy == name);
                    let Some(place) = place else {
                        let message = format!("{} has no argument {name}", procedure.name);
                        return Err(Fault::new(span, message, "expected one of its own"));
                    };
                    (place, value)
                }
                Argument::Section(_) => {
                    return Err(Fault::new(span, "a section as an argument", "expected values"));
                }
            };
            all[place] = Some(self.argument(procedure, value)?);
        }
        Ok(all.into_iter().map(|content| content.unwrap_or(Content::Unset)).collect())
    }

    /// The value of an argument; a subroutine may be given a variable without one.
    fn argument(&mut self, procedure: &Procedure, value: &Expr) -> Read<Content> {
        if procedure.result.is_none()
            && let ExprKind::Name(name) = &value.kind
        {
            let known = self.state.local.get(name).or_else(|| self.state.global.get(name));
            if known.is_none() && self.is_setting && !self.is_quantity(name) {
                return Ok(Content::Unset);
            }
            if let Some(variable) = known {
                let is_unset = matches!(variable.content, Content::Unset);
                if let Content::Value(Value::Array(_)) = variable.content {
                    return Ok(variable.content.clone());
                }
                if is_unset && (self.state.local.contains_key(name) || self.set.contains(name)) {
                    return Ok(Content::Unset);
                }
            }
        }
        self.value(value).map(Content::Value)
    }
}
