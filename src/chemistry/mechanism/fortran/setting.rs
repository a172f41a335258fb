//! The variables of a mechanism, set before its rates.

use std::rc::Rc;

use super::Code;
use super::evaluator::Evaluator;
use super::execution::{target_name, walk};
use super::syntax::{Argument, Fault, Statement, StatementKind};
use super::tokens::Name;
use super::values::{Content, Flow, Kind, Scalar, State, Value, Variable};

/// Names that a statement may set.
fn names_set(statement: &Statement) -> Vec<Name> {
    let mut names = Vec::new();
    walk(std::slice::from_ref(statement), &mut |kind| match kind {
        StatementKind::Assign(target, _) => names.extend(target_name(target).cloned()),
        StatementKind::Do(variable, ..) => names.push(variable.clone()),
        StatementKind::Call(_, arguments) => {
            names.extend(arguments.iter().filter_map(|argument| match argument {
                Argument::Value(value) => target_name(value).cloned(),
                _ => None,
            }));
        }
        StatementKind::Unreadable(_, all) => names.extend(all.iter().cloned()),
        _ => {}
    });
    names
}

impl Evaluator<'_> {
    /// Declares the variables of the mechanism and sets them. A statement that cannot be read or run spoils the variables
    /// that it sets: it is a fault of the rates that need them.
    pub(in crate::chemistry::mechanism) fn set_variables(&mut self) {
        let code: &Code = self.code;
        for (name, value) in &code.constants {
            let node = self.number(*value);
            let scalar = Scalar { kind: Kind::Open, node, loss: None };
            let variable = Variable {
                kind: Kind::Open,
                content: Content::Value(Value::Scalar(scalar)),
                is_constant: false,
                is_array: false,
            };
            let name = Name::from(name.to_ascii_lowercase());
            Rc::make_mut(&mut self.state.global).insert(name, variable);
        }
        self.set = code.statements.iter().flat_map(names_set).collect();
        for procedure in code.procedures.values().filter(|procedure| procedure.result.is_none()) {
            let is_own = |name: &Name| {
                procedure.arguments.contains(name)
                    || procedure.declarations.iter().any(|declaration| declaration.name == *name)
            };
            let names = procedure.body.iter().flat_map(names_set);
            self.set.extend(names.filter(|name| !is_own(name)));
        }
        self.is_setting = true;
        // Faults are those of the variables.
        let _ = self.declare(&code.declarations, false);
        for statement in &code.statements {
            let before = self.state.global.clone();
            self.depth = 0;
            let names = || names_set(statement);
            if let Err(mut fault) = self.block(std::slice::from_ref(statement)) {
                self.state = State { global: before, ..State::default() };
                if let Some(name) = self.calls.first() {
                    fault.message = format!("{}: in {name}", fault.message);
                }
                let fault = Rc::from(fault);
                self.calls.clear();
                for name in names() {
                    self.spoil(&name, &fault);
                }
            }
            self.state.flow = Flow::default();
        }
        self.is_setting = false;
        self.settled = self.state.global.clone();
    }

    /// Notes why a variable has no value.
    fn spoil(&mut self, name: &Name, fault: &Rc<Fault>) {
        let is_quantity = self.is_quantity(name) && !self.state.global.contains_key(name);
        if is_quantity || self.code.procedures.contains_key(name) {
            return;
        }
        let variable = Variable {
            kind: Kind::Real,
            content: Content::Faulty(fault.clone()),
            is_constant: false,
            is_array: false,
        };
        Rc::make_mut(&mut self.state.global).insert(name.clone(), variable);
    }
}
