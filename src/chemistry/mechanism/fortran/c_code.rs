//! Parser of C as KPP's mechanisms have it: functions of numbers, variables, assignments, `if`, `for`, `while` and `return`,
//! and constants by `#define`.

use super::expressions::Cursor;
use super::syntax::{
    About, Binary, Block, Declaration, Dimension, Expr, ExprKind, Fault, Procedure, Read,
    Statement, StatementKind, Type, Unit,
};
use super::tokens::{Kind, Name, Symbol};
use crate::chemistry::mechanism::diagnostics::Span;

/// Maximum nesting of blocks.
const DEEPEST: usize = 32;

/// Words that begin a declaration.
const TYPES: [(&str, Type); 12] = [
    ("double", Type::Real),
    ("float", Type::Real),
    ("real", Type::Real),
    ("kpp_real", Type::Real),
    ("int", Type::Integer),
    ("long", Type::Integer),
    ("short", Type::Integer),
    ("unsigned", Type::Integer),
    ("void", Type::Other),
    ("char", Type::Other),
    ("struct", Type::Other),
    ("bool", Type::Integer),
];

/// Words before types without a meaning here.
const QUALIFIERS: [&str; 6] = ["static", "const", "inline", "extern", "register", "volatile"];

impl Cursor<'_> {
    /// All of the code. What cannot be read is part of the result.
    pub(super) fn c_unit(&mut self) -> Unit {
        let mut unit = Unit::default();
        while self.peek().kind != Kind::End {
            if self.peek().kind == Kind::Break {
                self.advance();
                continue;
            }
            let (start, span) = (self.place, self.peek().span);
            self.depth = 0;
            if let Err(fault) = self.c_item(&mut unit) {
                let mut names = Vec::new();
                self.place = start;
                self.c_skip(&mut names);
                let kind = StatementKind::Unreadable(fault, names);
                unit.statements.push(Statement { kind, span });
            }
            if self.place == start {
                self.advance();
            }
        }
        unit
    }

    /// Skips a statement, or a function with its block, and notes its names.
    fn c_skip(&mut self, names: &mut Vec<Name>) {
        let mut depth = 0_usize;
        loop {
            match &self.peek().kind {
                Kind::End => return,
                Kind::Name(name) => names.push(name.clone()),
                Kind::Symbol(Symbol::OpenBlock) => depth += 1,
                Kind::Symbol(Symbol::CloseBlock) => {
                    depth = depth.saturating_sub(1);
                    if depth == 0 {
                        self.advance();
                        return;
                    }
                }
                Kind::Break if depth == 0 => return,
                _ => {}
            }
            self.advance();
        }
    }

    fn c_item(&mut self, unit: &mut Unit) -> Read<()> {
        if self.found(self.peek()) == "#" {
            return self.c_define(unit);
        }
        let Some(kind) = self.c_type() else {
            let statement = self.c_statement(&mut unit.declarations)?;
            unit.statements.extend(statement);
            return Ok(());
        };
        let is_function = matches!(self.peek().kind, Kind::Name(_))
            && self.ahead(1).kind == Kind::Symbol(Symbol::Open);
        if is_function {
            unit.procedures.extend(self.c_function(kind)?);
            return Ok(());
        }
        unit.declarations.extend(self.c_variables(kind, false)?);
        Ok(())
    }

    /// `#define NAME expression`, to the end of the line.
    fn c_define(&mut self, unit: &mut Unit) -> Read<()> {
        let hash = self.advance().span;
        let line_end = |cursor: &Self| {
            let text = cursor.text.get(hash.start..).unwrap_or_default();
            hash.start + text.iter().position(|&byte| byte == b'\n').unwrap_or(text.len())
        };
        let end = line_end(self);
        let is_define = self.take_word(&["define"]);
        let span = self.peek().span;
        let name = self.name().cloned();
        let is_plain = is_define
            && name.is_some()
            && self.text.get(span.end) != Some(&b'(')
            && self.ahead(1).span.start < end;
        let mut value = None;
        if is_plain {
            self.advance();
            value = Some(self.expression()?);
        }
        // Lines of the preprocessor end without a sign.
        while self.peek().kind != Kind::End && self.peek().span.start < end {
            self.advance();
        }
        if let (Some(name), Some(value)) = (name, value) {
            let about = About::Typed {
                kind: Type::Real,
                shape: None,
                value: Some(value),
                is_constant: true,
            };
            unit.declarations.push(Declaration { name, span, about });
        }
        Ok(())
    }

    fn c_type(&mut self) -> Option<Type> {
        let start = self.place;
        while self.take_word(&QUALIFIERS) {}
        let mut found = None;
        while let Some(name) = self.name() {
            let Some((_, kind)) = TYPES.iter().find(|(word, _)| *word == &**name) else { break };
            self.advance();
            found = Some(*kind);
            self.take_word(&QUALIFIERS);
        }
        if found.is_none() {
            self.place = start;
        }
        found
    }

    /// Variables behind their type, to the semicolon.
    fn c_variables(&mut self, kind: Type, is_constant: bool) -> Read<Vec<Declaration>> {
        let mut all = Vec::new();
        loop {
            let span = self.peek().span;
            if self.is_symbol(Symbol::Times) {
                return self.unexpected("the name of a number; pointers are not read");
            }
            let name = self.need_name("the name of a variable")?;
            let shape = self.c_bounds()?;
            let value = if self.take(Symbol::Assign) { Some(self.c_value()?) } else { None };
            let about = About::Typed { kind, shape, value, is_constant };
            all.push(Declaration { name, span, about });
            if !self.take(Symbol::Comma) {
                break;
            }
        }
        self.c_semicolon()?;
        Ok(all)
    }

    /// `[3][4]`: indices begin with 0.
    fn c_bounds(&mut self) -> Read<Option<Vec<Dimension>>> {
        let mut shape = Vec::new();
        while self.is_symbol(Symbol::OpenList) {
            let span = self.advance().span;
            let count = self.expression()?;
            self.need(Symbol::CloseList, "]")?;
            let number = |value| Expr { kind: ExprKind::Integer(value), span };
            let operands = Box::new([count, number(1)]);
            let last = Expr { kind: ExprKind::Binary(Binary::Subtract, operands), span };
            shape.push(Dimension::Explicit(Some(number(0)), last));
        }
        Ok(Some(shape).filter(|shape| !shape.is_empty()))
    }

    /// A value, or a list in braces.
    fn c_value(&mut self) -> Read<Expr> {
        let span = self.peek().span;
        if !self.take(Symbol::OpenBlock) {
            return self.expression();
        }
        let mut all = Vec::new();
        while !self.take(Symbol::CloseBlock) {
            all.push(self.expression()?);
            if !self.take(Symbol::Comma) && !self.is_symbol(Symbol::CloseBlock) {
                return self.unexpected(", or }");
            }
        }
        Ok(Expr { kind: ExprKind::List(all), span })
    }

    fn c_semicolon(&mut self) -> Read<()> {
        if self.peek().kind == Kind::Break {
            self.advance();
            return Ok(());
        }
        self.unexpected(";")
    }

    /// A function from its name on; none for a declaration of one.
    fn c_function(&mut self, kind: Type) -> Read<Option<Procedure>> {
        let span = self.peek().span;
        let name = self.need_name("the name of a function")?;
        self.need(Symbol::Open, "(")?;
        let (mut arguments, mut declarations) = (Vec::new(), Vec::new());
        while !self.take(Symbol::Close) {
            let Some(kind) = self.c_type() else {
                return self.unexpected("the type of an argument");
            };
            if let (Type::Other, true) = (kind, self.is_symbol(Symbol::Close)) {
                continue;
            }
            let span = self.peek().span;
            if self.is_symbol(Symbol::Times) {
                return self.unexpected("the name of a number; pointers are not read");
            }
            let argument = self.need_name("the name of an argument")?;
            let shape = self.c_bounds()?;
            let about = About::Typed { kind, shape, value: None, is_constant: false };
            declarations.push(Declaration { name: argument.clone(), span, about });
            arguments.push(argument);
            if !self.take(Symbol::Comma) && !self.is_symbol(Symbol::Close) {
                return self.unexpected(", or )");
            }
        }
        if self.peek().kind == Kind::Break {
            self.advance();
            return Ok(None);
        }
        let start = self.place;
        let result = (kind != Type::Other).then(|| (name.clone(), Some(kind)));
        let mut procedure = Procedure {
            name,
            span,
            arguments,
            result,
            declarations,
            body: Vec::new(),
            fault: None,
        };
        let mut own = Vec::new();
        match self.c_block(&mut own) {
            Ok(body) => procedure.body = body,
            Err(fault) => {
                procedure.fault = Some(fault);
                self.place = start;
                self.c_skip(&mut Vec::new());
            }
        }
        procedure.declarations.extend(own);
        Ok(Some(procedure))
    }

    /// Statements in braces.
    fn c_block(&mut self, declarations: &mut Vec<Declaration>) -> Read<Block> {
        self.need(Symbol::OpenBlock, "{")?;
        let mut block = Vec::new();
        while !self.take(Symbol::CloseBlock) {
            if self.peek().kind == Kind::End {
                return self.unexpected("}");
            }
            block.extend(self.c_statement(declarations)?);
        }
        Ok(block)
    }

    /// A statement, or several in braces.
    fn c_body(&mut self, declarations: &mut Vec<Declaration>) -> Read<Block> {
        self.depth += 1;
        if self.depth > DEEPEST {
            let help = format!("expected at most {DEEPEST} levels");
            return Err(Fault::new(self.peek().span, "blocks are nested too deeply", help));
        }
        let body = if self.is_symbol(Symbol::OpenBlock) {
            self.c_block(declarations)
        } else {
            self.c_statement(declarations)
        };
        self.depth -= 1;
        body
    }

    fn c_statement(&mut self, declarations: &mut Vec<Declaration>) -> Read<Block> {
        let span = self.peek().span;
        let one = |kind| Ok(vec![Statement { kind, span }]);
        if self.peek().kind == Kind::Break {
            self.advance();
            return Ok(Vec::new());
        }
        if self.is_symbol(Symbol::OpenBlock) {
            return self.c_body(declarations);
        }
        if self.take_word(&["if"]) {
            self.need(Symbol::Open, "( and a condition")?;
            let condition = self.expression()?;
            self.need(Symbol::Close, ") after the condition")?;
            let mut parts = vec![(Some(condition), self.c_body(declarations)?)];
            if self.take_word(&["else"]) {
                parts.push((None, self.c_body(declarations)?));
            }
            return one(StatementKind::If(parts));
        }
        if self.take_word(&["while"]) {
            self.need(Symbol::Open, "( and a condition")?;
            let condition = self.expression()?;
            self.need(Symbol::Close, ") after the condition")?;
            let body = self.c_body(declarations)?;
            return one(StatementKind::While(Some(condition), body));
        }
        if self.take_word(&["for"]) {
            return self.c_for(declarations, span);
        }
        if self.take_word(&["return"]) {
            let has_value = self.peek().kind != Kind::Break;
            let value = if has_value { Some(self.expression()?) } else { None };
            self.c_semicolon()?;
            return one(StatementKind::Return(value));
        }
        for (word, kind) in [("break", StatementKind::Exit), ("continue", StatementKind::Cycle)] {
            if self.take_word(&[word]) {
                self.c_semicolon()?;
                return one(kind);
            }
        }
        if let Some(kind) = self.c_type() {
            return self.c_local(kind, declarations);
        }
        let assignment = self.c_assignment()?;
        self.c_semicolon()?;
        Ok(vec![assignment])
    }

    /// A declaration in a function: values are assigned where it stands, those of arrays at the start.
    fn c_local(&mut self, kind: Type, declarations: &mut Vec<Declaration>) -> Read<Block> {
        let mut block = Vec::new();
        for mut declaration in self.c_variables(kind, false)? {
            if let About::Typed { shape: None, value, .. } = &mut declaration.about
                && let Some(value) = value.take()
            {
                let span = declaration.span;
                let target = Expr { kind: ExprKind::Name(declaration.name.clone()), span };
                block.push(Statement { kind: StatementKind::Assign(target, value), span });
            }
            declarations.push(declaration);
        }
        Ok(block)
    }

    /// An assignment with its operator, without the semicolon.
    fn c_assignment(&mut self) -> Read<Statement> {
        let span = self.peek().span;
        let target = self.c_target()?;
        let operators = [
            (Symbol::Plus, Binary::Add),
            (Symbol::Minus, Binary::Subtract),
            (Symbol::Times, Binary::Multiply),
            (Symbol::Divide, Binary::Divide),
        ];
        let together = |operator, target: &Expr, value| {
            ExprKind::Binary(operator, Box::new([target.clone(), value]))
        };
        let number = Expr { kind: ExprKind::Integer(1), span };
        let value = match self.found(self.peek()).as_str() {
            "++" => {
                self.advance();
                Expr { kind: together(Binary::Add, &target, number), span }
            }
            "--" => {
                self.advance();
                Expr { kind: together(Binary::Subtract, &target, number), span }
            }
            _ => {
                let found =
                    operators.iter().find(|(symbol, _)| self.is_symbol(*symbol)).map(|x| x.1);
                if found.is_some() {
                    self.advance();
                }
                if !self.take(Symbol::Assign) {
                    return self.unexpected("an assignment, if, for, while or return");
                }
                let value = self.expression()?;
                match found {
                    Some(operator) => Expr { kind: together(operator, &target, value), span },
                    None => value,
                }
            }
        };
        Ok(Statement { kind: StatementKind::Assign(target, value), span })
    }

    fn c_target(&mut self) -> Read<Expr> {
        let span = self.peek().span;
        let target = self.c_reference()?;
        match target.kind {
            ExprKind::Name(_) | ExprKind::Reference(..) => Ok(target),
            _ => Err(Fault::new(span, "an assignment to no variable", "expected a name")),
        }
    }

    /// `for (i = 0; i < n; i++)`, as a loop with its condition.
    fn c_for(&mut self, declarations: &mut Vec<Declaration>, span: Span) -> Read<Block> {
        self.need(Symbol::Open, "(")?;
        let mut block = match self.c_type() {
            Some(kind) => self.c_local(kind, declarations)?,
            None if self.peek().kind == Kind::Break => {
                self.advance();
                Vec::new()
            }
            None => {
                let first = self.c_assignment()?;
                self.c_semicolon()?;
                vec![first]
            }
        };
        let has_condition = self.peek().kind != Kind::Break;
        let condition = if has_condition { Some(self.expression()?) } else { None };
        self.c_semicolon()?;
        let next = if self.is_symbol(Symbol::Close) { None } else { Some(self.c_assignment()?) };
        self.need(Symbol::Close, ")")?;
        let mut body = self.c_body(declarations)?;
        let mut continues = false;
        super::execution::walk(&body, &mut |kind| {
            continues |= matches!(kind, StatementKind::Cycle);
        });
        if continues {
            return Err(Fault::new(span, "continue in a for loop", "expected if"));
        }
        body.extend(next);
        block.push(Statement { kind: StatementKind::While(condition, body), span });
        Ok(block)
    }
}
