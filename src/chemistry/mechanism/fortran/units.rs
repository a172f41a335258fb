//! Parser of pieces of code: variables, statements, procedures and the modules that may hold them.

use super::expressions::Cursor;
use super::statements::Mark;
use super::syntax::{Declaration, Fault, Procedure, Read, Statement, StatementKind, Type, Unit};
use super::tokens::{Kind, Name, Symbol};

/// Words before FUNCTION and SUBROUTINE.
const PREFIXES: [&str; 5] = ["pure", "elemental", "recursive", "impure", "non_recursive"];

/// The head of a procedure.
struct Head {
    is_function: bool,
    kind: Option<Type>,
}

impl Cursor<'_> {
    /// All of the code. What cannot be read is part of the result.
    pub(super) fn unit(&mut self) -> Unit {
        let mut unit = Unit::default();
        loop {
            while self.peek().kind == Kind::Break {
                self.advance();
            }
            if self.peek().kind == Kind::End {
                return unit;
            }
            let start = self.place;
            if let Some(head) = self.head() {
                let procedure = self.procedure(&head);
                unit.procedures.push(procedure);
                continue;
            }
            self.place = start;
            if let Some((Mark::End | Mark::Contains, _)) = self.mark() {
                self.skip_statement();
                continue;
            }
            let is_module = self.name().is_some_and(|name| &**name == "module")
                && matches!(self.ahead(1).kind, Kind::Name(_));
            if is_module {
                self.skip_statement();
                continue;
            }
            self.declared_or_executed(&mut unit);
        }
    }

    fn declared_or_executed(&mut self, unit: &mut Unit) {
        let (start, span) = (self.place, self.peek().span);
        let declared = self.declaration(&mut unit.modules);
        self.depth = 0;
        let result = match declared {
            Ok(Some(all)) => {
                unit.declarations.extend(all);
                return;
            }
            Ok(None) => self.statement(),
            Err(fault) => Err(fault),
        };
        // Beyond a block that cannot be read the code goes on with the next statement.
        let statement = result.unwrap_or_else(|fault| {
            let mut names = Vec::new();
            self.place = start;
            while !self.is_at_end() {
                names.extend(self.name().cloned());
                self.advance();
            }
            Statement { kind: StatementKind::Unreadable(fault, names), span }
        });
        // A mark without its block.
        if self.place == start {
            self.skip_statement();
        }
        unit.statements.push(statement);
    }

    /// The words up to FUNCTION or SUBROUTINE, if a procedure begins here.
    fn head(&mut self) -> Option<Head> {
        let mut kind = None;
        loop {
            if self.take_word(&PREFIXES) {
                continue;
            }
            match self.take_type() {
                Ok(Some(found)) => kind = Some(found),
                Ok(None) => break,
                Err(_) => return None,
            }
        }
        let is_function = self.is_function();
        let is_subroutine = self.name().is_some_and(|name| &**name == "subroutine")
            && matches!(self.ahead(1).kind, Kind::Name(_));
        if !is_function && !is_subroutine {
            return None;
        }
        self.advance();
        Some(Head { is_function, kind })
    }

    /// A procedure from its name on.
    fn procedure(&mut self, head: &Head) -> Procedure {
        let span = self.peek().span;
        let name = self.name().cloned().unwrap_or_else(|| Name::from(""));
        self.advance();
        let mut procedure = Procedure {
            result: head.is_function.then(|| (name.clone(), head.kind)),
            name,
            span,
            arguments: Vec::new(),
            declarations: Vec::new(),
            body: Vec::new(),
            fault: None,
        };
        self.depth = 0;
        if let Err(fault) = self.parts(&mut procedure) {
            procedure.fault = Some(fault);
            self.leave_procedure();
        }
        procedure
    }

    /// Arguments, declarations and statements.
    fn parts(&mut self, procedure: &mut Procedure) -> Read<()> {
        if self.take(Symbol::Open) {
            while !self.take(Symbol::Close) {
                procedure.arguments.push(self.need_name("the name of an argument")?);
                if !self.take(Symbol::Comma) && !self.is_symbol(Symbol::Close) {
                    return self.unexpected(", or )");
                }
            }
        }
        if self.take_word(&["result"]) {
            self.need(Symbol::Open, "( and the name of the result")?;
            let name = self.need_name("the name of the result")?;
            self.need(Symbol::Close, ")")?;
            if let Some((result, _)) = &mut procedure.result {
                *result = name;
            }
        }
        if !self.is_at_end() {
            return self.unexpected("the end of the statement");
        }
        let mut modules = Vec::new();
        loop {
            while self.peek().kind == Kind::Break {
                self.advance();
            }
            match self.mark() {
                Some((Mark::End, _)) => {
                    self.skip_statement();
                    return Ok(());
                }
                Some((Mark::Contains, _)) => {
                    let span = self.peek().span;
                    let help = "move them out of the function";
                    return Err(Fault::new(span, "procedures inside of a procedure", help));
                }
                Some(_) => return self.unexpected("a statement"),
                None => {}
            }
            if self.peek().kind == Kind::End {
                let message = format!("{} has no END", procedure.name);
                return Err(Fault::new(procedure.span, message, "expected END FUNCTION"));
            }
            // The next procedure.
            let start = self.place;
            if self.head().is_some() {
                self.place = start;
                let message = format!("{} has no END", procedure.name);
                let help = "expected END FUNCTION before the next procedure";
                return Err(Fault::new(procedure.span, message, help));
            }
            self.place = start;
            let found: Option<Vec<Declaration>> = self.declaration(&mut modules)?;
            match found {
                Some(all) => procedure.declarations.extend(all),
                None => procedure.body.push(self.statement()?),
            }
        }
    }

    /// Goes to the statement after the end of the procedure.
    fn leave_procedure(&mut self) {
        loop {
            while self.peek().kind == Kind::Break {
                self.advance();
            }
            if self.peek().kind == Kind::End {
                return;
            }
            if let Some((Mark::End, _)) = self.mark() {
                self.skip_statement();
                return;
            }
            let start = self.place;
            let begins = self.head().is_some();
            self.place = start;
            if begins {
                return;
            }
            self.skip_statement();
        }
    }
}
