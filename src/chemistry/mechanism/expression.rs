//! Rate expressions as trees, and their parser.

use super::diagnostics::{Diagnostics, Span, nearest};
use super::functions::Function;
use super::lexer::{Kind, Lexer, Token};

/// Maximum nesting of parentheses, calls, signs and powers.
const DEEPEST: usize = 64;

/// A quantity that a rate depends on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Input {
    /// `TEMP`, K.
    Temperature,
    /// `CFACTOR`: 1e-6 of the number density of air, molecules cm-3.
    AirFactor,
    /// `C_M`: number density of air, molecules cm-3.
    AirDensity,
    /// `SUN`: normalised sunlight, 0 to 1.
    Sun,
    /// `rc_n2o5`: hydrolysis of N2O5, s-1.
    Hydrolysis,
    /// `j(name)`: photolysis frequency with this index, s-1.
    Photolysis(usize),
}

impl Input {
    /// Names that rates may use, in the spelling of KPP and WRF.
    pub const NAMES: [(&'static str, Self); 5] = [
        ("TEMP", Self::Temperature),
        ("CFACTOR", Self::AirFactor),
        ("C_M", Self::AirDensity),
        ("SUN", Self::Sun),
        ("rc_n2o5", Self::Hydrolysis),
    ];
}

/// An operation on two numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Operator {
    /// Sum.
    Add,
    /// Difference.
    Subtract,
    /// Product.
    Multiply,
    /// Quotient.
    Divide,
    /// Power.
    Power,
}

/// A rate expression.
#[derive(Clone, Debug)]
pub enum Expression {
    /// A number.
    Number(f64),
    /// A quantity of the cell.
    Input(Input),
    /// The negative of an expression.
    Negative(Box<Expression>),
    /// An operation.
    Operation(Operator, Box<[Expression; 2]>),
    /// A named function and its arguments.
    Call(Function, Vec<Expression>),
}

/// An error was noted.
pub(super) struct ErrorRecorded;

/// Parser of one rate.
pub(super) struct Parser<'a, 'b> {
    /// Source of tokens, in the mode for rates.
    pub(super) lexer: &'b mut Lexer<'a>,
    /// Receiver of errors.
    pub(super) diagnostics: &'b mut Diagnostics,
    /// Names of the photolysis frequencies so far.
    pub(super) photolysis: &'b mut Vec<String>,
}

impl Parser<'_, '_> {
    /// An expression up to the first token that does not continue it.
    pub(super) fn expression(&mut self, depth: usize) -> Result<Expression, ErrorRecorded> {
        let signs = [(b'+', Operator::Add), (b'-', Operator::Subtract)];
        self.chain(signs, |parser| parser.product(depth))
    }

    fn product(&mut self, depth: usize) -> Result<Expression, ErrorRecorded> {
        let signs = [(b'*', Operator::Multiply), (b'/', Operator::Divide)];
        self.chain(signs, |parser| parser.signed(depth))
    }

    /// Operands between operators of one precedence, which bind from the left.
    fn chain(
        &mut self,
        signs: [(u8, Operator); 2],
        operand: impl Fn(&mut Self) -> Result<Expression, ErrorRecorded>,
    ) -> Result<Expression, ErrorRecorded> {
        let mut left = operand(self)?;
        loop {
            let next = self.lexer.peek().kind;
            let Some(&(_, operator)) = signs.iter().find(|(sign, _)| next == Kind::Sign(*sign))
            else {
                return Ok(left);
            };
            self.lexer.next_token();
            left = Expression::Operation(operator, Box::new([left, operand(self)?]));
        }
    }

    /// A power with signs before it: `**` binds tighter than a sign.
    fn signed(&mut self, depth: usize) -> Result<Expression, ErrorRecorded> {
        let next = self.lexer.peek();
        if depth > DEEPEST {
            let help = format!("expected at most {DEEPEST} levels");
            return self.refuse(next.span, "the rate is nested too deeply", help);
        }
        match next.kind {
            Kind::Sign(b'-') => {
                self.lexer.next_token();
                Ok(Expression::Negative(Box::new(self.signed(depth + 1)?)))
            }
            Kind::Sign(b'+') => {
                self.lexer.next_token();
                self.signed(depth + 1)
            }
            _ => self.power(depth),
        }
    }

    fn power(&mut self, depth: usize) -> Result<Expression, ErrorRecorded> {
        let base = self.primary(depth)?;
        if self.lexer.peek().kind != Kind::Power {
            return Ok(base);
        }
        self.lexer.next_token();
        let exponent = self.signed(depth + 1)?;
        Ok(Expression::Operation(Operator::Power, Box::new([base, exponent])))
    }

    fn primary(&mut self, depth: usize) -> Result<Expression, ErrorRecorded> {
        let token = self.lexer.next_token();
        match token.kind {
            Kind::Number(value) if value.is_finite() => Ok(Expression::Number(value)),
            Kind::Number(_) => {
                let message =
                    format!("{} is beyond the range of numbers", self.lexer.text_of(token));
                self.refuse(token.span, message, "expected a number below 1.8e308")
            }
            Kind::Sign(b'(') => {
                let inner = self.expression(depth + 1)?;
                self.closing(token)?;
                Ok(inner)
            }
            Kind::Name if self.lexer.peek().kind == Kind::Sign(b'(') => self.call(token, depth),
            Kind::Name => self.input(token),
            _ => {
                let message = format!("{} in a rate", self.found(token));
                let help = "expected a number, TEMP, a function or (";
                self.refuse(token.span, message, help)
            }
        }
    }

    fn input(&mut self, name: Token) -> Result<Expression, ErrorRecorded> {
        let text = self.lexer.text_of(name);
        let known = Input::NAMES.iter().find(|(known, _)| known.eq_ignore_ascii_case(text));
        if let Some(&(_, input)) = known {
            return Ok(Expression::Input(input));
        }
        let names = Input::NAMES.map(|(name, _)| name);
        let expected = format!("expected one of {}", names.join(", "));
        let help = match nearest(text, names) {
            Some(near) => format!("{expected}; nearest known name: {near}"),
            None if Function::named(text).is_some() => {
                "expected its arguments in parentheses".to_owned()
            }
            None => expected,
        };
        self.refuse(name.span, format!("{text} is not a quantity that a rate can depend on"), help)
    }

    fn call(&mut self, name: Token, depth: usize) -> Result<Expression, ErrorRecorded> {
        let text = self.lexer.text_of(name);
        let open = self.lexer.next_token();
        if text.eq_ignore_ascii_case("j") {
            return self.photolysis(open);
        }
        let Some(function) = Function::named(text) else {
            let help = match nearest(text, Function::names().chain(["j"])) {
                Some(near) => format!("nearest known name: {near}"),
                None => "expected a rate function of KPP or WRF, EXP, LOG10 or j; write others \
                         out as arithmetic"
                    .to_owned(),
            };
            return self.refuse(name.span, format!("{text} is not a known function"), help);
        };
        let mut arguments = Vec::new();
        if self.lexer.peek().kind != Kind::Sign(b')') {
            loop {
                arguments.push(self.expression(depth + 1)?);
                if self.lexer.peek().kind != Kind::Sign(b',') {
                    break;
                }
                self.lexer.next_token();
            }
        }
        self.closing(open)?;
        let (given, counts) = (arguments.len(), function.arguments());
        if !counts.contains(&given) {
            let counts: Vec<_> = counts.iter().map(usize::to_string).collect();
            let message = format!("{} has {given} arguments", function.name());
            let help = format!("expected {}: {}", counts.join(" or "), function.form());
            return self.refuse(name.span, message, help);
        }
        Ok(Expression::Call(function, arguments))
    }

    fn photolysis(&mut self, open: Token) -> Result<Expression, ErrorRecorded> {
        let token = self.lexer.next_token();
        if token.kind != Kind::Name {
            let message = format!("{} as the argument of j()", self.found(token));
            let help = "expected the name of a photolysis frequency, as in j(Pj_no2)";
            return self.refuse(token.span, message, help);
        }
        self.closing(open)?;
        let name = self.lexer.text_of(token);
        let number = self.photolysis.iter().position(|known| known.eq_ignore_ascii_case(name));
        let number = number.unwrap_or_else(|| {
            self.photolysis.push(name.to_owned());
            self.photolysis.len() - 1
        });
        Ok(Expression::Input(Input::Photolysis(number)))
    }

    fn closing(&mut self, open: Token) -> Result<(), ErrorRecorded> {
        let token = self.lexer.peek();
        if token.kind == Kind::Sign(b')') {
            self.lexer.next_token();
            return Ok(());
        }
        let message =
            format!("the parenthesis that opens here is followed by {}", self.found(token));
        self.refuse(open.span, message, "expected ) before it")
    }

    /// A token in words.
    fn found(&self, token: Token) -> String {
        describe(self.lexer, token)
    }

    fn refuse<T>(
        &mut self,
        span: Span,
        message: impl Into<String>,
        help: impl Into<String>,
    ) -> Result<T, ErrorRecorded> {
        self.diagnostics.error(span, message, help);
        Err(ErrorRecorded)
    }
}

/// A token in words.
pub(super) fn describe(lexer: &Lexer<'_>, token: Token) -> String {
    match token.kind {
        Kind::End => "the end of the section".to_owned(),
        Kind::Tag => format!("the tag {}", lexer.text_of(token)),
        Kind::Name | Kind::Number(_) | Kind::Power => lexer.text_of(token).to_owned(),
        Kind::Sign(byte) if byte.is_ascii_graphic() => char::from(byte).to_string(),
        Kind::Sign(_) => "a character outside of ASCII".to_owned(),
    }
}
