//! Parser of declarations.

use super::expressions::Cursor;
use super::syntax::{About, Argument, Declaration, Dimension, Expr, ExprKind, Fault, Read, Type};
use super::tokens::{Kind, Name, Symbol};

/// Words that begin the declaration of a type.
const TYPES: [(&str, Type); 9] = [
    ("real", Type::Real),
    ("double", Type::Real),
    ("doubleprecision", Type::Real),
    ("integer", Type::Integer),
    ("logical", Type::Logical),
    ("character", Type::Other),
    ("complex", Type::Other),
    ("type", Type::Other),
    ("class", Type::Other),
];

/// Attributes without a meaning here.
const ATTRIBUTES: [&str; 10] = [
    "intent",
    "save",
    "public",
    "private",
    "target",
    "value",
    "volatile",
    "external",
    "intrinsic",
    "protected",
];

/// Statements of declarations without a meaning here.
const SKIPPED: [&str; 11] = [
    "implicit",
    "intrinsic",
    "external",
    "save",
    "public",
    "private",
    "include",
    "format",
    "import",
    "contains",
    "protected",
];

impl Cursor<'_> {
    /// The type that a declaration or the head of a function begins with.
    pub(super) fn take_type(&mut self) -> Read<Option<Type>> {
        let Some(name) = self.name() else { return Ok(None) };
        let Some(&(word, kind)) = TYPES.iter().find(|(word, _)| *word == &**name) else {
            return Ok(None);
        };
        // A variable with such a name.
        if matches!(self.ahead(1).kind, Kind::Symbol(Symbol::Assign | Symbol::Percent)) {
            return Ok(None);
        }
        self.advance();
        if word == "double" && !self.take_word(&["precision"]) {
            return self.unexpected("PRECISION");
        }
        if self.take(Symbol::Times) {
            self.advance();
        } else if self.is_symbol(Symbol::Open) {
            self.skip_parentheses()?;
        }
        Ok(Some(kind))
    }

    /// Skips a pair of parentheses and all in it.
    pub(super) fn skip_parentheses(&mut self) -> Read<()> {
        let open = self.peek();
        let mut depth = 0_usize;
        loop {
            match self.peek().kind {
                Kind::Symbol(Symbol::Open | Symbol::OpenList) => depth += 1,
                Kind::Symbol(Symbol::Close | Symbol::CloseList) => depth = depth.saturating_sub(1),
                Kind::Break | Kind::End => {
                    let message = "the parenthesis that opens here is not closed";
                    return Err(Fault::new(open.span, message, "expected )"));
                }
                _ => {}
            }
            self.advance();
            if depth == 0 {
                return Ok(());
            }
        }
    }

    /// The declarations of a statement, if it is one; names of modules are added to `modules`.
    pub(super) fn declaration(
        &mut self,
        modules: &mut Vec<Name>,
    ) -> Read<Option<Vec<Declaration>>> {
        let Some(word) = self.name().cloned() else { return Ok(None) };
        if matches!(self.ahead(1).kind, Kind::Symbol(Symbol::Assign)) {
            return Ok(None);
        }
        let is_next_name = matches!(self.ahead(1).kind, Kind::Name(_));
        match &*word {
            "use" if is_next_name || self.ahead(1).kind == Kind::Symbol(Symbol::Comma) => {
                self.advance();
                while !self.is_at_end() {
                    if let Some(name) = self.name() {
                        modules.push(name.clone());
                        break;
                    }
                    self.advance();
                }
                self.skip_statement();
                Ok(Some(Vec::new()))
            }
            "parameter" if self.ahead(1).kind == Kind::Symbol(Symbol::Open) => {
                self.advance();
                self.parameters().map(Some)
            }
            "dimension" if is_next_name => {
                self.advance();
                self.shapes().map(Some)
            }
            "data" if is_next_name => {
                self.advance();
                self.data().map(Some)
            }
            word if SKIPPED.contains(&word) && (is_next_name || word != "format") => {
                self.skip_statement();
                Ok(Some(Vec::new()))
            }
            _ => {
                let start = self.place;
                match self.take_type()? {
                    Some(kind) if !self.is_function() => self.typed(kind).map(Some),
                    _ => {
                        self.place = start;
                        Ok(None)
                    }
                }
            }
        }
    }

    /// True at the word FUNCTION before a name.
    pub(super) fn is_function(&self) -> bool {
        self.name().is_some_and(|name| &**name == "function")
            && matches!(self.ahead(1).kind, Kind::Name(_))
    }

    pub(super) fn skip_statement(&mut self) {
        while !self.is_at_end() {
            self.advance();
        }
    }

    /// `PARAMETER (a = 1, b = 2)` behind the word.
    fn parameters(&mut self) -> Read<Vec<Declaration>> {
        self.advance();
        let mut all = Vec::new();
        loop {
            let span = self.peek().span;
            let name = self.need_name("the name of a constant")?;
            self.need(Symbol::Assign, "=")?;
            let about = About::Constant(self.expression()?);
            all.push(Declaration { name, span, about });
            if !self.take(Symbol::Comma) {
                break;
            }
        }
        self.need(Symbol::Close, ", or )")?;
        Ok(all)
    }

    /// `DIMENSION a(3), b(n)` behind the word.
    fn shapes(&mut self) -> Read<Vec<Declaration>> {
        let mut all = Vec::new();
        loop {
            let span = self.peek().span;
            let name = self.need_name("the name of an array")?;
            all.push(Declaration { name, span, about: About::Shape(self.shape()?) });
            if !self.take(Symbol::Comma) {
                return Ok(all);
            }
        }
    }

    /// `DATA a, b / 1, 2*3 /, c / 4 /` behind the word.
    fn data(&mut self) -> Read<Vec<Declaration>> {
        let mut all = Vec::new();
        while !self.is_at_end() {
            let span = self.peek().span;
            let name = self.need_name("the name of a variable")?;
            let places =
                if self.is_symbol(Symbol::Open) { Some(self.arguments(0)?.0) } else { None };
            let mut targets = vec![(name, span, places)];
            while self.take(Symbol::Comma) {
                let span = self.peek().span;
                let name = self.need_name("the name of a variable")?;
                let has_places = self.is_symbol(Symbol::Open);
                let places = if has_places { Some(self.arguments(0)?.0) } else { None };
                targets.push((name, span, places));
            }
            self.need(Symbol::Divide, "/ and the values")?;
            let mut values = self.data_values()?;
            if targets.len() > 1 && targets.len() != values.len() {
                let message = format!("{} values for a list of {}", values.len(), targets.len());
                let help = "give each variable its own values";
                return Err(Fault::new(span, message, help));
            }
            let is_list = targets.len() > 1;
            for (name, span, places) in targets {
                let own =
                    if is_list { values.drain(..1).collect() } else { std::mem::take(&mut values) };
                all.push(Declaration { name, span, about: About::Data(places, own) });
            }
            self.take(Symbol::Comma);
        }
        Ok(all)
    }

    /// Values to the closing slash.
    fn data_values(&mut self) -> Read<Vec<(Option<Expr>, Expr)>> {
        let mut values = Vec::new();
        loop {
            let first = self.data_value()?;
            if self.take(Symbol::Times) {
                values.push((Some(first), self.data_value()?));
            } else {
                values.push((None, first));
            }
            if self.take(Symbol::Comma) {
                continue;
            }
            self.need(Symbol::Divide, ", or /")?;
            return Ok(values);
        }
    }

    /// A number with a sign, or a name.
    fn data_value(&mut self) -> Read<Expr> {
        let token = self.peek();
        if self.take(Symbol::Minus) {
            let inner = self.data_value()?;
            let span = inner.span;
            return Ok(Expr { kind: ExprKind::Negative(Box::new(inner)), span });
        }
        self.take(Symbol::Plus);
        let token = if self.is_symbol(Symbol::Plus) { self.advance() } else { token };
        let kind = match &self.peek().kind {
            Kind::Integer(value) => ExprKind::Integer(*value),
            Kind::Real(value) if value.is_finite() => ExprKind::Real(*value),
            Kind::Logical(value) => ExprKind::Logical(*value),
            Kind::Name(name) => ExprKind::Name(name.clone()),
            _ => return self.unexpected("a number"),
        };
        self.advance();
        Ok(Expr { kind, span: token.span })
    }

    /// The rest of the declaration of variables of a type.
    fn typed(&mut self, kind: Type) -> Read<Vec<Declaration>> {
        let (mut is_constant, mut common) = (false, None);
        let mut unusable: Option<Name> = None;
        while self.take(Symbol::Comma) {
            let name = self.need_name("an attribute")?;
            match &*name {
                "parameter" => is_constant = true,
                "dimension" => common = Some(self.shape()?),
                known if ATTRIBUTES.contains(&known) => {
                    if self.is_symbol(Symbol::Open) {
                        self.skip_parentheses()?;
                    }
                }
                _ => {
                    if self.is_symbol(Symbol::Open) {
                        self.skip_parentheses()?;
                    }
                    unusable = Some(name);
                }
            }
        }
        self.take(Symbol::DoubleColon);
        let mut all = Vec::new();
        loop {
            let span = self.peek().span;
            let name = self.need_name("the name of a variable")?;
            let mut shape = common.clone();
            if self.is_symbol(Symbol::Open) {
                shape = Some(self.shape()?);
            }
            if self.take(Symbol::Times) {
                // A length of text.
                self.advance();
            }
            let value = if self.take(Symbol::Assign) { Some(self.expression()?) } else { None };
            let about = match &unusable {
                Some(attribute) => About::Unreadable(Fault::new(
                    span,
                    format!("{name} is declared as {}", attribute.to_ascii_uppercase()),
                    "expected a variable or an array of fixed size",
                )),
                None => About::Typed { kind, shape, value, is_constant },
            };
            all.push(Declaration { name, span, about });
            if !self.take(Symbol::Comma) {
                break;
            }
        }
        if !self.is_at_end() {
            return self.unexpected(", or the end of the declaration");
        }
        Ok(all)
    }

    /// The shape of an array in parentheses.
    fn shape(&mut self) -> Read<Vec<Dimension>> {
        if self.peek().kind == Kind::Symbol(Symbol::Open)
            && self.ahead(1).kind == Kind::Symbol(Symbol::Times)
        {
            self.place += 2;
            self.need(Symbol::Close, ")")?;
            return Ok(vec![Dimension::Rest]);
        }
        if !self.is_symbol(Symbol::Open) {
            return self.unexpected("(");
        }
        let span = self.peek().span;
        let (arguments, _) = self.arguments(0)?;
        let one = |argument: Argument| match argument {
            Argument::Value(last) => Ok(Dimension::Explicit(None, last)),
            Argument::Section(parts) => match *parts {
                [first, Some(last), None] => Ok(Dimension::Explicit(first, last)),
                [first, None, None] => Ok(Dimension::Assumed(first)),
                _ => Err(Fault::new(span, "a stride in a declaration", "expected bounds")),
            },
            Argument::Named(..) => Err(Fault::new(span, "= in a declaration", "expected bounds")),
        };
        arguments.into_iter().map(one).collect()
    }
}
