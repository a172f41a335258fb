//! Statements. A branch that depends on the cell is followed on both sides, and what they set is selected from; after a
//! RETURN, EXIT or CYCLE in such a branch the rest is followed with what it sets selected from in the same way.

use std::rc::Rc;

use super::evaluator::Evaluator;
use super::syntax::{
    Argument, Block, Cases, Expr, ExprKind, Fault, Procedure, Read, Statement, StatementKind,
};
use super::tokens::Name;
use super::values::{Content, Flow, Kind, Scalar, State, Value, Variable, Variables};
use crate::chemistry::mechanism::diagnostics::Span;
use crate::chemistry::mechanism::expression::Operator;

/// A case of a SELECT CASE.
type Case = (Option<Vec<[Option<Expr>; 2]>>, Block);

/// Calls a function for every statement of a block, and of the blocks in it.
pub(super) fn walk(block: &[Statement], visit: &mut dyn FnMut(&StatementKind)) {
    for statement in block {
        visit(&statement.kind);
        match &statement.kind {
            StatementKind::If(parts) => parts.iter().for_each(|(_, block)| walk(block, visit)),
            StatementKind::Do(_, _, block) | StatementKind::While(_, block) => walk(block, visit),
            StatementKind::Select(_, cases) => {
                for (_, block) in cases {
                    walk(block, visit);
                }
            }
            _ => {}
        }
    }
}

/// The variable of a target.
pub(super) fn target_name(target: &Expr) -> Option<&Name> {
    match &target.kind {
        ExprKind::Name(name) | ExprKind::Reference(name, _) => Some(name),
        _ => None,
    }
}

/// True if a block may assign to a variable.
pub(super) fn is_assigned(block: &[Statement], name: &Name) -> bool {
    let mut is = false;
    walk(block, &mut |kind| match kind {
        StatementKind::Assign(target, _) => is |= target_name(target) == Some(name),
        StatementKind::Do(variable, ..) => is |= variable == name,
        StatementKind::Call(_, arguments) => {
            is |= arguments.iter().any(|argument| match argument {
                Argument::Value(value) => target_name(value) == Some(name),
                _ => false,
            });
        }
        _ => {}
    });
    is
}

impl Evaluator<'_> {
    /// Runs statements.
    pub(super) fn block(&mut self, block: &[Statement]) -> Read<()> {
        for (place, statement) in block.iter().enumerate() {
            let Flow { returned, exited, cycled } = self.state.flow;
            let mut ended = None;
            for flag in [returned, exited, cycled].into_iter().flatten() {
                ended = Some(ended.map_or(flag, |other| self.or(other, flag)));
            }
            match ended.map(|ended| (ended, self.truth(ended))) {
                None | Some((_, Some(false))) => self.statement(statement)?,
                Some((_, Some(true))) => return Ok(()),
                Some((ended, None)) => {
                    let span = statement.span;
                    return self.unless(ended, span, &mut |this| this.block(&block[place..]));
                }
            }
        }
        Ok(())
    }

    /// Runs something whose effects count where a condition does not hold.
    fn unless(
        &mut self,
        condition: u32,
        span: Span,
        run: &mut dyn FnMut(&mut Self) -> Read<()>,
    ) -> Read<()> {
        let before = self.state.clone();
        self.spend(self.count_of_variables(), span)?;
        self.state.flow = Flow::default();
        self.deeper(span, run)?;
        let after = std::mem::take(&mut self.state);
        self.state = self.merged(condition, &before, after, span)?;
        Ok(())
    }

    /// Number of variables that statements may change.
    fn count_of_variables(&self) -> usize {
        self.state.local.len() + if self.is_setting { self.state.global.len() } else { 0 }
    }

    /// The first state where a condition holds, the second elsewhere.
    fn merged(&mut self, condition: u32, first: &State, second: State, span: Span) -> Read<State> {
        let flag = |this: &mut Self, a: Option<u32>, b: Option<u32>| {
            if a == b {
                return a;
            }
            let [a, b] = [a, b].map(|flag| flag.unwrap_or_else(|| this.number(0.0)));
            Some(this.select(condition, a, b))
        };
        let flow = Flow {
            returned: flag(self, first.flow.returned, second.flow.returned),
            exited: flag(self, first.flow.exited, second.flow.exited),
            cycled: flag(self, first.flow.cycled, second.flow.cycled),
        };
        let local = self.merged_variables(condition, &first.local, second.local, span)?;
        let global = if self.is_setting && !Rc::ptr_eq(&first.global, &second.global) {
            let second = Rc::unwrap_or_clone(second.global);
            Rc::new(self.merged_variables(condition, &first.global, second, span)?)
        } else {
            second.global
        };
        Ok(State { local, global, flow })
    }

    fn merged_variables(
        &mut self,
        condition: u32,
        first: &Variables,
        mut second: Variables,
        span: Span,
    ) -> Read<Variables> {
        for (name, a) in first {
            let Some(b) = second.get_mut(name) else {
                second.insert(name.clone(), a.clone());
                continue;
            };
            let taken = std::mem::replace(&mut b.content, Content::Unset);
            b.content = self.merged_content(condition, &a.content, taken, span)?;
        }
        Ok(second)
    }

    fn merged_content(
        &mut self,
        condition: u32,
        a: &Content,
        b: Content,
        span: Span,
    ) -> Read<Content> {
        Ok(match (a, b) {
            (Content::Unset, Content::Unset) => Content::Unset,
            (Content::Faulty(fault), _) => Content::Faulty(fault.clone()),
            (_, Content::Faulty(fault)) => Content::Faulty(fault),
            (Content::Value(Value::Array(a)), Content::Value(Value::Array(b))) => {
                if Rc::ptr_eq(&a.elements, &b.elements) {
                    return Ok(Content::Value(Value::Array(b)));
                }
                let mut all = Vec::with_capacity(a.elements.len());
                for (a, b) in a.elements.iter().zip(b.elements.iter()) {
                    self.spend(1, span)?;
                    all.push(self.merged_scalar(condition, *a, *b));
                }
                Content::Value(Value::Array(b.with(all)))
            }
            (a, b) => {
                let scalar = |content: &Content| match content {
                    Content::Value(Value::Scalar(scalar)) => Some(*scalar),
                    _ => None,
                };
                let [a, b] = [scalar(a), scalar(&b)];
                match self.merged_scalar(condition, a, b) {
                    Some(scalar) => Content::Value(Value::Scalar(scalar)),
                    None => Content::Unset,
                }
            }
        })
    }

    /// A number of either side; where a side has none it is not a number.
    fn merged_scalar(
        &mut self,
        condition: u32,
        a: Option<Scalar>,
        b: Option<Scalar>,
    ) -> Option<Scalar> {
        let either = a.or(b)?;
        let loss = a.and_then(|a| a.loss).or(b.and_then(|b| b.loss));
        let [a, b] = [a, b].map(|x| x.map_or_else(|| self.number(f64::NAN), |x| x.node));
        Some(Scalar { node: self.select(condition, a, b), loss, ..either })
    }

    fn statement(&mut self, statement: &Statement) -> Read<()> {
        let span = statement.span;
        self.spend(1, span)?;
        match &statement.kind {
            StatementKind::Nothing => Ok(()),
            StatementKind::Assign(target, value) => {
                let value = self.value(value)?;
                self.store(target, &value, span)
            }
            StatementKind::If(parts) => self.branches(parts, span),
            StatementKind::Do(name, bounds, block) => self.loop_over(name, bounds, block, span),
            StatementKind::While(condition, block) => self.repeat(condition.as_ref(), block, span),
            StatementKind::Select(value, cases) => {
                let value = self.scalar(value)?;
                self.cases(value, cases, span)
            }
            StatementKind::Call(name, arguments) => {
                let Some(procedure) = self.code.procedures.get(name) else {
                    let message = format!("the subroutine {name} is not in the mechanism");
                    let help = "give the file that it is in, or the values that it sets";
                    return Err(Fault::new(span, message, help));
                };
                let procedure: &Procedure = procedure;
                self.call_subroutine(procedure, arguments, span)
            }
            StatementKind::Return(value) => {
                if let Some(value) = value {
                    self.store_result(value)?;
                }
                self.state.flow.returned = Some(self.number(1.0));
                Ok(())
            }
            StatementKind::Exit => {
                self.state.flow.exited = Some(self.number(1.0));
                Ok(())
            }
            StatementKind::Cycle => {
                self.state.flow.cycled = Some(self.number(1.0));
                Ok(())
            }
            StatementKind::Unreadable(fault, _) => Err(fault.clone()),
        }
    }

    /// `return value` of C: the result has the name of the function.
    fn store_result(&mut self, value: &Expr) -> Read<()> {
        let result = self.value(value)?;
        let Some(name) = self.calls.last().cloned() else { return Ok(()) };
        let target = Expr { kind: ExprKind::Name(name), span: value.span };
        self.store(&target, &result, value.span)
    }

    /// Runs the block whose condition holds, of several in turn.
    fn branches(&mut self, parts: &[(Option<Expr>, Block)], span: Span) -> Read<()> {
        let Some(((condition, block), rest)) = parts.split_first() else { return Ok(()) };
        let Some(condition) = condition else { return self.block(block) };
        let scalar = self.scalar(condition)?;
        let node = self.condition(scalar, condition.span)?;
        self.either(node, span, &mut |this| this.block(block), &mut |this| {
            this.branches(rest, span)
        })
    }

    /// Runs the first where a condition holds, and the second elsewhere.
    fn either(
        &mut self,
        condition: u32,
        span: Span,
        first: &mut dyn FnMut(&mut Self) -> Read<()>,
        second: &mut dyn FnMut(&mut Self) -> Read<()>,
    ) -> Read<()> {
        match self.truth(condition) {
            Some(true) => self.deeper(span, first),
            Some(false) => self.deeper(span, second),
            None => {
                let before = self.state.clone();
                self.spend(2 * self.count_of_variables(), span)?;
                self.deeper(span, &mut *first)?;
                let then = std::mem::replace(&mut self.state, before);
                self.deeper(span, &mut *second)?;
                let other = std::mem::take(&mut self.state);
                self.state = self.merged(condition, &then, other, span)?;
                Ok(())
            }
        }
    }

    fn cases(&mut self, value: Scalar, cases: &Cases, span: Span) -> Read<()> {
        // The default comes last, wherever it stands.
        let chosen = cases.iter().filter(|(ranges, _)| ranges.is_some());
        let default = cases.iter().filter(|(ranges, _)| ranges.is_none());
        let ordered: Vec<_> = chosen.chain(default).collect();
        self.cases_in_turn(value, &ordered, span)
    }

    fn cases_in_turn(&mut self, value: Scalar, cases: &[&Case], span: Span) -> Read<()> {
        let Some(((ranges, block), rest)) = cases.split_first().map(|(first, rest)| {
            let (ranges, block) = first;
            ((ranges, block), rest)
        }) else {
            return Ok(());
        };
        let Some(ranges) = ranges else { return self.block(block) };
        let mut is_chosen = self.number(0.0);
        for [first, last] in ranges {
            let mut is_in = self.number(1.0);
            if let Some(first) = first {
                let bound = self.scalar(first)?;
                let holds = self.operate(Operator::LessEqual, bound.node, value.node);
                is_in = self.and(is_in, holds);
            }
            if let Some(last) = last {
                let bound = self.scalar(last)?;
                let holds = self.operate(Operator::LessEqual, value.node, bound.node);
                is_in = self.and(is_in, holds);
            }
            is_chosen = self.or(is_chosen, is_in);
        }
        self.either(is_chosen, span, &mut |this| this.block(block), &mut |this| {
            this.cases_in_turn(value, rest, span)
        })
    }

    fn loop_over(
        &mut self,
        name: &Name,
        bounds: &[Option<Expr>; 3],
        block: &Block,
        span: Span,
    ) -> Read<()> {
        let mut values = [1_i64; 3];
        for (value, bound) in values.iter_mut().zip(bounds) {
            if let Some(bound) = bound {
                *value = self.constant(bound, "a bound of a loop")?;
            }
        }
        let [first, last, step] = values;
        if step == 0 {
            return Err(Fault::new(span, "a loop with a step of 0", "expected another step"));
        }
        let turns = ((last - first + step) / step).max(0);
        let outer = (self.state.flow.exited, self.state.flow.cycled);
        (self.state.flow.exited, self.state.flow.cycled) = (None, None);
        for turn in 0..turns {
            self.spend(1, span)?;
            let index = self.integer(first + turn * step);
            if !self.turn(block, span, Some((name, index)))? {
                break;
            }
        }
        let index = self.integer(first + turns * step);
        match self.ended().map(|ended| (ended, self.truth(ended))) {
            None | Some((_, Some(false))) => self.set_index(name, index),
            Some((_, Some(true))) => {}
            Some((ended, None)) => {
                let flow = self.state.flow;
                self.unless(ended, span, &mut |this| {
                    this.set_index(name, index);
                    Ok(())
                })?;
                self.state.flow = flow;
            }
        }
        (self.state.flow.exited, self.state.flow.cycled) = outer;
        Ok(())
    }

    fn set_index(&mut self, name: &Name, index: Scalar) {
        let content = Content::Value(Value::Scalar(index));
        let is_local = !self.is_setting || !self.calls.is_empty();
        let variable =
            Variable { kind: Kind::Integer, content, is_constant: false, is_array: false };
        self.variables(is_local).insert(name.clone(), variable);
    }

    /// The truth of a loop having been left.
    fn ended(&mut self) -> Option<u32> {
        match (self.state.flow.returned, self.state.flow.exited) {
            (Some(a), Some(b)) => Some(self.or(a, b)),
            (a, b) => a.or(b),
        }
    }

    /// A turn of a loop; false if none follows.
    fn turn(&mut self, block: &Block, span: Span, index: Option<(&Name, Scalar)>) -> Read<bool> {
        self.state.flow.cycled = None;
        let mut run = |this: &mut Self| {
            if let Some((name, index)) = index {
                this.set_index(name, index);
            }
            this.block(block)
        };
        match self.ended().map(|ended| (ended, self.truth(ended))) {
            None | Some((_, Some(false))) => run(self)?,
            Some((_, Some(true))) => return Ok(false),
            Some((ended, None)) => self.unless(ended, span, &mut run)?,
        }
        Ok(true)
    }

    fn repeat(&mut self, condition: Option<&Expr>, block: &Block, span: Span) -> Read<()> {
        let outer = (self.state.flow.exited, self.state.flow.cycled);
        (self.state.flow.exited, self.state.flow.cycled) = (None, None);
        loop {
            self.spend(1, span)?;
            if let Some(condition) = condition {
                let scalar = self.scalar(condition)?;
                let node = self.condition(scalar, condition.span)?;
                match self.truth(node) {
                    Some(true) => {}
                    Some(false) => break,
                    None => {
                        let message = "the number of turns of this loop depends on the cell";
                        let help = "expected DO with bounds, and EXIT where it may end earlier";
                        return Err(Fault::new(span, message, help));
                    }
                }
            }
            if !self.turn(block, span, None)? {
                break;
            }
            let ended = [self.state.flow.returned, self.state.flow.exited];
            if ended.into_iter().flatten().any(|flag| self.truth(flag).is_none()) {
                let message = "the number of turns of this loop depends on the cell";
                let help = "expected DO with bounds, and EXIT where it may end earlier";
                return Err(Fault::new(span, message, help));
            }
        }
        (self.state.flow.exited, self.state.flow.cycled) = outer;
        Ok(())
    }
}
