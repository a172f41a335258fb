//! Parser of expressions, in the precedence of Fortran; C's `?:`, `&&`, `||` and `!` besides.

use super::syntax::{Argument, Binary, Expr, ExprKind, Fault, Read};
use super::tokens::{Kind, Name, Symbol, Token};
use crate::chemistry::mechanism::diagnostics::Span;

/// Maximum nesting of parentheses, calls, signs and powers.
const DEEPEST: usize = 64;

/// Most operators of one precedence in a row: trees are as deep.
const LONGEST_CHAIN: usize = 2_000;

/// Reader of tokens.
#[derive(Clone)]
pub(super) struct Cursor<'a> {
    pub(super) tokens: &'a [Token],
    pub(super) place: usize,
    /// The file's text, for messages.
    pub(super) text: &'a [u8],
    /// Holder of the expressions, for messages.
    pub(super) holder: &'static str,
    /// The nesting of statements.
    pub(super) depth: usize,
}

impl<'a> Cursor<'a> {
    pub(super) fn new(tokens: &'a [Token], text: &'a [u8], holder: &'static str) -> Self {
        Self { tokens, place: 0, text, holder, depth: 0 }
    }

    pub(super) fn peek(&self) -> &'a Token {
        self.ahead(0)
    }

    pub(super) fn ahead(&self, count: usize) -> &'a Token {
        &self.tokens[(self.place + count).min(self.tokens.len() - 1)]
    }

    pub(super) fn advance(&mut self) -> &'a Token {
        let token = self.peek();
        if self.place + 1 < self.tokens.len() {
            self.place += 1;
        }
        token
    }

    pub(super) fn is_symbol(&self, symbol: Symbol) -> bool {
        self.peek().kind == Kind::Symbol(symbol)
    }

    /// Takes a symbol if it is there.
    pub(super) fn take(&mut self, symbol: Symbol) -> bool {
        let is_there = self.is_symbol(symbol);
        if is_there {
            self.advance();
        }
        is_there
    }

    /// The name at the position.
    pub(super) fn name(&self) -> Option<&'a Name> {
        match &self.peek().kind {
            Kind::Name(name) => Some(name),
            _ => None,
        }
    }

    /// Takes one of these words if it is there.
    pub(super) fn take_word(&mut self, words: &[&str]) -> bool {
        let is_there = self.name().is_some_and(|name| words.contains(&&**name));
        if is_there {
            self.advance();
        }
        is_there
    }

    pub(super) fn is_at_end(&self) -> bool {
        matches!(self.peek().kind, Kind::Break | Kind::End)
    }

    /// The text of a token in words.
    pub(super) fn found(&self, token: &Token) -> String {
        match token.kind {
            Kind::End if self.holder == "a rate" => ";".to_owned(),
            Kind::End => "the end of the code".to_owned(),
            Kind::Break => "the end of the statement".to_owned(),
            _ => {
                let text = self.text.get(token.span.start..token.span.end).unwrap_or_default();
                if text.is_ascii() {
                    String::from_utf8_lossy(text).into_owned()
                } else {
                    "a character outside of ASCII".to_owned()
                }
            }
        }
    }

    /// A fault at the position.
    pub(super) fn unexpected<T>(&self, expected: &str) -> Read<T> {
        let token = self.peek();
        let message = format!("{} in {}", self.found(token), self.holder);
        Err(Fault::new(token.span, message, format!("expected {expected}")))
    }

    /// Takes a symbol that must be there.
    pub(super) fn need(&mut self, symbol: Symbol, expected: &str) -> Read<()> {
        if self.take(symbol) { Ok(()) } else { self.unexpected(expected) }
    }

    /// Takes a name that must be there.
    pub(super) fn need_name(&mut self, expected: &str) -> Read<Name> {
        match self.name() {
            Some(name) => {
                self.advance();
                Ok(name.clone())
            }
            None => self.unexpected(expected),
        }
    }

    pub(super) fn expression(&mut self) -> Read<Expr> {
        self.choice(0)
    }

    /// An expression without comparisons outside of parentheses, which would be tags of the next reaction.
    pub(super) fn rate(&mut self) -> Read<Expr> {
        self.sum(0)
    }

    fn choice(&mut self, depth: usize) -> Read<Expr> {
        let condition = self.equivalence(depth)?;
        if !self.take(Symbol::Question) {
            return Ok(condition);
        }
        self.limit(depth)?;
        let first = self.choice(depth + 1)?;
        self.need(Symbol::Colon, ":")?;
        let second = self.choice(depth + 1)?;
        let span = over(&condition, &second);
        Ok(Expr { kind: ExprKind::Choice(Box::new([condition, first, second])), span })
    }

    fn equivalence(&mut self, depth: usize) -> Read<Expr> {
        let signs =
            [(Symbol::Equivalent, Binary::Equivalent), (Symbol::Different, Binary::Different)];
        self.chain(&signs, |cursor| cursor.disjunction(depth))
    }

    fn disjunction(&mut self, depth: usize) -> Read<Expr> {
        self.chain(&[(Symbol::Or, Binary::Or)], |cursor| {
            cursor.chain(&[(Symbol::And, Binary::And)], |cursor| cursor.negation(depth))
        })
    }

    fn negation(&mut self, depth: usize) -> Read<Expr> {
        let token = self.peek();
        if !self.take(Symbol::Not) {
            return self.comparison(depth);
        }
        self.limit(depth)?;
        let inner = self.negation(depth + 1)?;
        let span = Span { end: inner.span.end, ..token.span };
        Ok(Expr { kind: ExprKind::Not(Box::new(inner)), span })
    }

    fn comparison(&mut self, depth: usize) -> Read<Expr> {
        let signs = [
            (Symbol::Equal, Binary::Equal),
            (Symbol::NotEqual, Binary::NotEqual),
            (Symbol::Less, Binary::Less),
            (Symbol::LessEqual, Binary::LessEqual),
            (Symbol::Greater, Binary::Greater),
            (Symbol::GreaterEqual, Binary::GreaterEqual),
        ];
        self.chain(&signs, |cursor| cursor.sum(depth))
    }

    fn sum(&mut self, depth: usize) -> Read<Expr> {
        let signs = [(Symbol::Plus, Binary::Add), (Symbol::Minus, Binary::Subtract)];
        self.chain(&signs, |cursor| cursor.product(depth))
    }

    fn product(&mut self, depth: usize) -> Read<Expr> {
        let signs = [(Symbol::Times, Binary::Multiply), (Symbol::Divide, Binary::Divide)];
        self.chain(&signs, |cursor| cursor.signed(depth))
    }

    /// Operands between operators of one precedence, which bind from the left.
    fn chain(
        &mut self,
        signs: &[(Symbol, Binary)],
        operand: impl Fn(&mut Self) -> Read<Expr>,
    ) -> Read<Expr> {
        let mut left = operand(self)?;
        // Long chains are deep trees.
        let mut length = 0;
        loop {
            let Kind::Symbol(next) = self.peek().kind else { return Ok(left) };
            let Some(&(_, operator)) = signs.iter().find(|(sign, _)| *sign == next) else {
                return Ok(left);
            };
            length += 1;
            if length > LONGEST_CHAIN {
                let help = format!("expected at most {LONGEST_CHAIN}");
                return Err(Fault::new(self.peek().span, "too many terms in a row", help));
            }
            self.advance();
            let right = operand(self)?;
            let span = over(&left, &right);
            left = Expr { kind: ExprKind::Binary(operator, Box::new([left, right])), span };
        }
    }

    fn limit(&self, depth: usize) -> Read<()> {
        if depth <= DEEPEST {
            return Ok(());
        }
        let message = format!("{} is nested too deeply", self.holder.replace("a rate", "the rate"));
        Err(Fault::new(self.peek().span, message, format!("expected at most {DEEPEST} levels")))
    }

    /// A power with signs before it: `**` binds tighter than a sign.
    fn signed(&mut self, depth: usize) -> Read<Expr> {
        self.limit(depth)?;
        let token = self.peek();
        if self.take(Symbol::Minus) {
            let inner = self.signed(depth + 1)?;
            let span = Span { end: inner.span.end, ..token.span };
            return Ok(Expr { kind: ExprKind::Negative(Box::new(inner)), span });
        }
        if self.take(Symbol::Plus) {
            return self.signed(depth + 1);
        }
        let base = self.primary(depth)?;
        if !self.take(Symbol::Power) {
            return Ok(base);
        }
        let exponent = self.signed(depth + 1)?;
        let span = over(&base, &exponent);
        Ok(Expr { kind: ExprKind::Binary(Binary::Power, Box::new([base, exponent])), span })
    }

    fn primary(&mut self, depth: usize) -> Read<Expr> {
        let token = self.peek();
        let kind = match &token.kind {
            Kind::Integer(value) => ExprKind::Integer(*value),
            Kind::Real(value) if value.is_finite() => ExprKind::Real(*value),
            Kind::Real(_) => {
                let message = format!("{} is beyond the range of numbers", self.found(token));
                return Err(Fault::new(token.span, message, "expected a number below 1.8e308"));
            }
            Kind::Logical(value) => ExprKind::Logical(*value),
            Kind::Text => ExprKind::Text,
            // C's logical negation binds like a sign.
            Kind::Symbol(Symbol::Not) => {
                self.advance();
                self.limit(depth)?;
                let inner = self.signed(depth + 1)?;
                let span = Span { end: inner.span.end, ..token.span };
                return Ok(Expr { kind: ExprKind::Not(Box::new(inner)), span });
            }
            Kind::Symbol(Symbol::Open) => {
                self.advance();
                let inner = self.choice(depth + 1)?;
                let end = self.closing(token)?;
                return Ok(Expr { span: Span { end, ..token.span }, ..inner });
            }
            Kind::Symbol(Symbol::OpenList) => return self.list(depth),
            Kind::Name(name) => return self.reference(name, depth),
            _ => return self.unexpected("a number, TEMP, a function or ("),
        };
        self.advance();
        Ok(Expr { kind, span: token.span })
    }

    fn list(&mut self, depth: usize) -> Read<Expr> {
        let open = self.advance();
        let mut elements = Vec::new();
        loop {
            self.limit(depth)?;
            elements.push(self.choice(depth + 1)?);
            if !self.take(Symbol::Comma) {
                break;
            }
        }
        let end = self.peek().span.end;
        self.need(Symbol::CloseList, ", or the end of the list")?;
        Ok(Expr { kind: ExprKind::List(elements), span: Span { end, ..open.span } })
    }

    /// A variable or an element.
    pub(super) fn c_reference(&mut self) -> Read<Expr> {
        match self.name() {
            Some(name) => self.reference(name, 0),
            None => self.unexpected("a variable"),
        }
    }

    fn reference(&mut self, name: &Name, depth: usize) -> Read<Expr> {
        let token = self.advance();
        let mut span = token.span;
        let kind = if self.is_symbol(Symbol::Open) {
            let (arguments, end) = self.arguments(depth)?;
            span.end = end;
            ExprKind::Reference(name.clone(), arguments)
        } else if self.is_symbol(Symbol::OpenList)
            && self.text.get(self.peek().span.start) == Some(&b'[')
        {
            return self.c_element(name, token, depth);
        } else {
            ExprKind::Name(name.clone())
        };
        if self.is_symbol(Symbol::Percent) || self.found(self.peek()) == "->" {
            let message = format!("{} is a variable of a derived type", self.found(token));
            let help = "expected numbers; nothing is known of the types of other modules";
            return Err(Fault::new(token.span, message, help));
        }
        Ok(Expr { kind, span })
    }

    /// `a[i]` of C, where indices begin with 0.
    fn c_element(&mut self, name: &Name, token: &Token, depth: usize) -> Read<Expr> {
        let mut arguments = Vec::new();
        let mut span = token.span;
        while self.take(Symbol::OpenList) {
            self.limit(depth)?;
            arguments.push(Argument::Value(self.choice(depth + 1)?));
            span.end = self.peek().span.end;
            self.need(Symbol::CloseList, "]")?;
        }
        Ok(Expr { kind: ExprKind::Reference(name.clone(), arguments), span })
    }

    /// Arguments in parentheses, and the position after them.
    pub(super) fn arguments(&mut self, depth: usize) -> Read<(Vec<Argument>, usize)> {
        let open = self.advance();
        let mut arguments = Vec::new();
        if !self.is_symbol(Symbol::Close) {
            loop {
                arguments.push(self.argument(depth)?);
                if !self.take(Symbol::Comma) {
                    break;
                }
            }
        }
        let end = self.closing(open)?;
        Ok((arguments, end))
    }

    fn argument(&mut self, depth: usize) -> Read<Argument> {
        if let Kind::Name(name) = &self.peek().kind
            && self.ahead(1).kind == Kind::Symbol(Symbol::Assign)
        {
            self.place += 2;
            return Ok(Argument::Named(name.clone(), self.choice(depth + 1)?));
        }
        let mut parts = [None, None, None];
        let starts_section = |cursor: &Self| {
            cursor.is_symbol(Symbol::Colon) || cursor.is_symbol(Symbol::DoubleColon)
        };
        if !starts_section(self) {
            let value = self.choice(depth + 1)?;
            if !starts_section(self) {
                return Ok(Argument::Value(value));
            }
            parts[0] = Some(value);
        }
        let is_part_there = |cursor: &Self| {
            !cursor.is_symbol(Symbol::Comma)
                && !cursor.is_symbol(Symbol::Close)
                && !cursor.is_symbol(Symbol::Colon)
        };
        let mut next = 1;
        if self.take(Symbol::DoubleColon) {
            next = 2;
        } else {
            self.advance();
        }
        while next < 3 {
            if is_part_there(self) {
                parts[next] = Some(self.choice(depth + 1)?);
            }
            next += 1;
            if next < 3 && !self.take(Symbol::Colon) {
                break;
            }
        }
        Ok(Argument::Section(Box::new(parts)))
    }

    fn closing(&mut self, open: &Token) -> Read<usize> {
        let token = self.peek();
        if self.take(Symbol::Close) {
            return Ok(token.span.end);
        }
        let message =
            format!("the parenthesis that opens here is followed by {}", self.found(token));
        Err(Fault::new(open.span, message, "expected ) before it"))
    }
}

fn over(first: &Expr, last: &Expr) -> Span {
    Span { end: last.span.end.max(first.span.end), ..first.span }
}
