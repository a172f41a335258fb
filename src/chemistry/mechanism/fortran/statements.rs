//! Parser of statements that are executed.

use super::expressions::Cursor;
use super::syntax::{Block, Expr, ExprKind, Fault, Read, Statement, StatementKind};
use super::tokens::{Kind, Name, Symbol};
use crate::chemistry::mechanism::diagnostics::Span;

/// Maximum nesting of blocks.
const DEEPEST: usize = 32;

/// Statements without an effect on values.
const IDLE: [&str; 7] = ["continue", "print", "write", "open", "close", "read", "flush"];

/// The words that end or divide blocks, joined.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Mark {
    ElseIf,
    Else,
    EndIf,
    EndDo,
    Case,
    EndSelect,
    /// The end of a procedure or of a module.
    End,
    Contains,
}

impl Cursor<'_> {
    /// The mark of a block at the position, and the number of its tokens.
    pub(super) fn mark(&self) -> Option<(Mark, usize)> {
        let word = self.name()?;
        if self.ahead(1).kind == Kind::Symbol(Symbol::Assign) {
            return None;
        }
        let next = match &self.ahead(1).kind {
            Kind::Name(name) => &**name,
            _ => "",
        };
        let ends = matches!(self.ahead(1).kind, Kind::Break | Kind::End);
        Some(match (&**word, next) {
            ("elseif", _) => (Mark::ElseIf, 1),
            ("else", "if") => (Mark::ElseIf, 2),
            ("else", _) => (Mark::Else, 1),
            ("endif", _) => (Mark::EndIf, 1),
            ("end", "if") => (Mark::EndIf, 2),
            ("enddo", _) => (Mark::EndDo, 1),
            ("end", "do") => (Mark::EndDo, 2),
            ("case", _) => (Mark::Case, 1),
            ("endselect", _) => (Mark::EndSelect, 1),
            ("end", "select") => (Mark::EndSelect, 2),
            ("end", "function" | "subroutine" | "module" | "program") => (Mark::End, 2),
            ("endfunction" | "endsubroutine" | "endmodule" | "endprogram", _) => (Mark::End, 1),
            ("end", _) if ends => (Mark::End, 1),
            ("contains", _) if ends => (Mark::Contains, 1),
            _ => return None,
        })
    }

    /// Statements up to a mark, which is not taken, or to the end of the code.
    pub(super) fn block(&mut self) -> Read<Block> {
        self.depth += 1;
        if self.depth > DEEPEST {
            let help = format!("expected at most {DEEPEST} levels");
            return Err(Fault::new(self.peek().span, "blocks are nested too deeply", help));
        }
        let mut block = Vec::new();
        loop {
            while self.peek().kind == Kind::Break {
                self.advance();
            }
            if self.peek().kind == Kind::End || self.mark().is_some() {
                break;
            }
            block.push(self.statement()?);
        }
        self.depth -= 1;
        Ok(block)
    }

    /// A statement; one that cannot be read is a statement too, unless it is a block.
    pub(super) fn statement(&mut self) -> Read<Statement> {
        let start = self.place;
        let span = self.peek().span;
        // A label.
        if matches!(self.peek().kind, Kind::Integer(_)) {
            self.advance();
        }
        let kind = match self.compound() {
            Some(result) => result?,
            None => self.simple_or_unreadable(start),
        };
        Ok(Statement { kind, span })
    }

    /// A statement that is not a block, or why it cannot be read.
    fn simple_or_unreadable(&mut self, start: usize) -> StatementKind {
        let result = self.simple().and_then(|kind| {
            if self.is_at_end() { Ok(kind) } else { self.unexpected("the end of the statement") }
        });
        result.unwrap_or_else(|fault| {
            self.place = start;
            let mut names = Vec::new();
            while !self.is_at_end() {
                names.extend(self.name().cloned());
                self.advance();
            }
            StatementKind::Unreadable(fault, names)
        })
    }

    fn is_assigned(&self) -> bool {
        self.ahead(1).kind == Kind::Symbol(Symbol::Assign)
    }

    /// A statement with a block, if one is here.
    fn compound(&mut self) -> Option<Read<StatementKind>> {
        let start = self.place;
        // The name of a construct.
        if matches!(self.peek().kind, Kind::Name(_))
            && self.ahead(1).kind == Kind::Symbol(Symbol::Colon)
        {
            self.place += 2;
        }
        let word = self.name()?.clone();
        if self.is_assigned() {
            self.place = start;
            return None;
        }
        let next = match &self.ahead(1).kind {
            Kind::Name(name) => name.to_string(),
            _ => String::new(),
        };
        match &*word {
            "if" if self.ahead(1).kind == Kind::Symbol(Symbol::Open) => Some(self.if_statement()),
            "do" | "dowhile" => Some(self.loop_statement()),
            "select" if next == "case" => {
                self.place += 2;
                Some(self.select())
            }
            "selectcase" => {
                self.advance();
                Some(self.select())
            }
            _ => {
                self.place = start;
                None
            }
        }
    }

    /// A condition in parentheses.
    fn condition(&mut self) -> Read<Expr> {
        self.need(Symbol::Open, "( and a condition")?;
        let condition = self.expression()?;
        self.need(Symbol::Close, ") after the condition")?;
        Ok(condition)
    }

    fn if_statement(&mut self) -> Read<StatementKind> {
        let open = self.advance().span;
        let condition = self.condition()?;
        if !self.take_word(&["then"]) {
            let start = self.place;
            let span = self.peek().span;
            let kind = self.simple_or_unreadable(start);
            return Ok(StatementKind::If(vec![(Some(condition), vec![Statement { kind, span }])]));
        }
        let mut parts = vec![(Some(condition), self.block()?)];
        loop {
            match self.mark() {
                Some((Mark::ElseIf, count)) => {
                    self.place += count;
                    let condition = self.condition()?;
                    self.take_word(&["then"]);
                    parts.push((Some(condition), self.block()?));
                }
                Some((Mark::Else, count)) => {
                    self.place += count;
                    parts.push((None, self.block()?));
                }
                Some((Mark::EndIf, count)) => {
                    self.place += count;
                    self.skip_statement();
                    return Ok(StatementKind::If(parts));
                }
                _ => return self.unclosed(open, "IF", "END IF"),
            }
        }
    }

    fn unclosed<T>(&self, open: Span, what: &str, expected: &str) -> Read<T> {
        let message =
            format!("the {what} that begins here is followed by {}", self.found(self.peek()));
        Err(Fault::new(open, message, format!("expected {expected} before it")))
    }

    fn loop_statement(&mut self) -> Read<StatementKind> {
        let open = self.peek().span;
        let word = self.advance();
        let is_joined = self.found(word).eq_ignore_ascii_case("dowhile");
        // The label of the last statement.
        let label = match self.peek().kind {
            Kind::Integer(label) => {
                self.advance();
                self.take(Symbol::Comma);
                Some(label)
            }
            _ => None,
        };
        let mut condition = None;
        let mut bounds = None;
        if is_joined || self.take_word(&["while"]) {
            condition = Some(self.condition()?);
        } else if let Some(name) = self.name().cloned() {
            if &*name == "concurrent" {
                return self.unexpected("a variable");
            }
            self.advance();
            self.need(Symbol::Assign, "= and the first value")?;
            let first = Some(self.expression()?);
            self.need(Symbol::Comma, ", and the last value")?;
            let last = Some(self.expression()?);
            let step = if self.take(Symbol::Comma) { Some(self.expression()?) } else { None };
            bounds = Some((name, Box::new([first, last, step])));
        }
        if !self.is_at_end() {
            return self.unexpected("the end of the statement");
        }
        let block = if let Some(label) = label {
            self.labelled_block(open, label)?
        } else {
            let block = self.block()?;
            match self.mark() {
                Some((Mark::EndDo, count)) => self.place += count,
                _ => return self.unclosed(open, "DO", "END DO"),
            }
            self.skip_statement();
            block
        };
        Ok(match bounds {
            Some((name, bounds)) => StatementKind::Do(name, bounds, block),
            None => StatementKind::While(condition, block),
        })
    }

    /// Statements up to that with a label, inclusive.
    fn labelled_block(&mut self, open: Span, label: i64) -> Read<Block> {
        self.depth += 1;
        let mut block = Vec::new();
        while self.depth <= DEEPEST {
            while self.peek().kind == Kind::Break {
                self.advance();
            }
            if self.peek().kind == Kind::End {
                break;
            }
            let is_last = self.peek().kind == Kind::Integer(label);
            if is_last {
                self.advance();
            }
            match self.mark() {
                Some((Mark::EndDo, count)) if is_last => {
                    self.place += count;
                    self.depth -= 1;
                    return Ok(block);
                }
                Some(_) => break,
                None => block.push(self.statement()?),
            }
            if is_last {
                self.depth -= 1;
                return Ok(block);
            }
        }
        self.unclosed(open, "DO", &format!("the label {label}"))
    }

    fn select(&mut self) -> Read<StatementKind> {
        let open = self.peek().span;
        let value = self.condition()?;
        let mut cases = Vec::new();
        while self.peek().kind == Kind::Break {
            self.advance();
        }
        loop {
            match self.mark() {
                Some((Mark::Case, count)) => {
                    self.place += count;
                    let ranges =
                        if self.take_word(&["default"]) { None } else { Some(self.ranges()?) };
                    self.skip_statement();
                    cases.push((ranges, self.block()?));
                }
                Some((Mark::EndSelect, count)) => {
                    self.place += count;
                    self.skip_statement();
                    return Ok(StatementKind::Select(value, cases));
                }
                _ => return self.unclosed(open, "SELECT CASE", "CASE or END SELECT"),
            }
        }
    }

    /// `(1, 3:5)`: first and last values.
    fn ranges(&mut self) -> Read<Vec<[Option<Expr>; 2]>> {
        let span = self.peek().span;
        if !self.is_symbol(Symbol::Open) {
            return self.unexpected("( and values");
        }
        let (arguments, _) = self.arguments(0)?;
        let range = |argument| match argument {
            super::syntax::Argument::Value(value) => Ok([Some(value.clone()), Some(value)]),
            super::syntax::Argument::Section(parts) => {
                let [first, last, _] = *parts;
                Ok([first, last])
            }
            super::syntax::Argument::Named(..) => {
                Err(Fault::new(span, "= in a CASE", "expected values"))
            }
        };
        arguments.into_iter().map(range).collect()
    }

    /// A statement that is not a block.
    fn simple(&mut self) -> Read<StatementKind> {
        let Some(word) = self.name().cloned() else {
            return self.unexpected("a statement");
        };
        if !self.is_assigned() {
            match &*word {
                "call" => {
                    self.advance();
                    let name: Name = self.need_name("the name of a subroutine")?;
                    let arguments = if self.is_symbol(Symbol::Open) {
                        self.arguments(0)?.0
                    } else {
                        Vec::new()
                    };
                    return Ok(StatementKind::Call(name, arguments));
                }
                "return" => {
                    self.advance();
                    return Ok(StatementKind::Return(None));
                }
                "exit" | "cycle" => {
                    self.advance();
                    if !self.is_at_end() {
                        return self.unexpected("the end of the statement: no name of a loop");
                    }
                    let is_exit = &*word == "exit";
                    return Ok(if is_exit { StatementKind::Exit } else { StatementKind::Cycle });
                }
                idle if IDLE.contains(&idle) => {
                    self.skip_statement();
                    return Ok(StatementKind::Nothing);
                }
                _ => {}
            }
        }
        // Neither a call nor a comparison has a meaning here.
        let target = self.target()?;
        if !self.take(Symbol::Assign) {
            return self
                .unexpected("an assignment, IF, DO, SELECT CASE, CALL, EXIT, CYCLE or RETURN");
        }
        Ok(StatementKind::Assign(target, self.expression()?))
    }

    fn target(&mut self) -> Read<Expr> {
        let token = self.peek();
        let name = self.need_name("a variable")?;
        let mut span = token.span;
        if self.is_symbol(Symbol::Percent) {
            let message = format!("{} is a variable of a derived type", self.found(token));
            return Err(Fault::new(span, message, "expected numbers"));
        }
        if !self.is_symbol(Symbol::Open) {
            return Ok(Expr { kind: ExprKind::Name(name), span });
        }
        let (arguments, end) = self.arguments(0)?;
        span.end = end;
        Ok(Expr { kind: ExprKind::Reference(name, arguments), span })
    }
}
