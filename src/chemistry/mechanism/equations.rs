//! The section `#EQUATIONS`: `<tag> left = right : rate ;`.

use std::collections::{BTreeSet, HashMap};

use super::diagnostics::{Severity, Span};
use super::fortran::{Expr, Fault, UnresolvedRate, read_rate};
use super::lexer::{Kind, Lexer, describe};
use super::sections::MechanismParser;
use super::tables::Reaction;
use super::{MOST_REACTIONS, add_up};

/// Maximum length of a rate without white space and comments, characters.
const LONGEST_RATE: usize = 999;

/// Largest coefficient on a left side.
const LARGEST_ORDER: u32 = 9;

/// Maximum number of terms of a side.
const MOST_TERMS: usize = 500;

/// Maximum number of terms of all equations.
const MOST_TERMS_IN_ALL: usize = 300_000;

/// Reserved words, which are not names of species.
const DUMMIES: [&str; 2] = ["hv", "PROD"];

/// An error was noted.
struct ErrorRecorded;

/// A species on one side of an equation.
struct Term {
    species: usize,
    coefficient: f64,
    span: Span,
}

/// One side of an equation.
#[derive(Default)]
struct Side {
    terms: Vec<Term>,
    has_light: bool,
    is_bad: bool,
}

impl MechanismParser {
    /// All reactions of a section.
    pub(super) fn equations(&mut self, body: &mut Lexer<'_>) {
        loop {
            let token = body.peek();
            match token.kind {
                Kind::End => return,
                Kind::Sign(b';') => {
                    body.next_token();
                }
                // As KPP's own scanner does.
                Kind::Sign(b')') => {
                    body.next_token();
                    let message = "a stray ) is skipped";
                    self.diagnostics.warning(token.span, message, "take it away");
                }
                _ if self.diagnostics.is_hopeless() => return,
                _ if self.mechanism.reactions.len() >= MOST_REACTIONS => {
                    return self.diagnostics.too_many(token.span, "reactions", MOST_REACTIONS);
                }
                _ if self.terms > MOST_TERMS_IN_ALL => {
                    let what = "terms in all equations";
                    return self.diagnostics.too_many(token.span, what, MOST_TERMS_IN_ALL);
                }
                _ => match self.reaction(body) {
                    Ok(Some(reaction)) => {
                        self.terms += reaction.reactants.len() + reaction.products.len();
                        self.mechanism.reactions.push(reaction);
                    }
                    Ok(None) => {}
                    Err(ErrorRecorded) => recover(body),
                },
            }
        }
    }

    /// A reaction; `None` after errors that allow parsing to continue.
    fn reaction(&mut self, body: &mut Lexer<'_>) -> Result<Option<Reaction>, ErrorRecorded> {
        let tag = if body.peek().kind == Kind::Tag {
            let token = body.next_token();
            body.text_of(token).trim_matches(['<', '>']).trim().to_owned()
        } else {
            String::new()
        };
        let left = self.side(body, b'=', "= and the products")?;
        let right = self.side(body, b':', ": and the rate")?;
        let (expression, rate_text) = self.rate(body)?;
        self.rates.push(UnresolvedRate { expression, reaction: None });
        let Some(reactants) = self.reactants(&left) else { return Ok(None) };
        if left.is_bad || right.is_bad {
            return Ok(None);
        }
        let mut products: Vec<(usize, f64)> = Vec::new();
        for Term { species, coefficient, .. } in right.terms {
            add_up(&mut products, species, coefficient);
        }
        let is_photolytic = left.has_light;
        if let Some(rate) = self.rates.last_mut() {
            rate.reaction = Some(self.mechanism.reactions.len());
        }
        let rate = 0;
        Ok(Some(Reaction { tag, reactants, products, is_photolytic, rate, rate_text }))
    }

    /// Integer coefficients of a left side, each species once.
    fn reactants(&mut self, side: &Side) -> Option<Vec<(usize, u32)>> {
        let mut reactants: Vec<(usize, u32)> = Vec::new();
        let mut is_good = true;
        for &Term { species, coefficient, span } in &side.terms {
            let whole = coefficient as u32;
            if f64::from(whole) != coefficient || !(1..=LARGEST_ORDER).contains(&whole) {
                let message = format!("the coefficient {coefficient} on the left side");
                let help = format!("expected a whole number from 1 to {LARGEST_ORDER}");
                self.diagnostics.error(span, message, help);
                is_good = false;
                continue;
            }
            add_up(&mut reactants, species, whole);
            if reactants.iter().map(|&(_, sum)| sum).sum::<u32>() > LARGEST_ORDER {
                let help = format!("expected at most {LARGEST_ORDER} molecules on the left side");
                self.diagnostics.error(span, "the order of the reaction is too high", help);
                return None;
            }
        }
        is_good.then_some(reactants)
    }

    /// The terms of a side and the token after them.
    fn side(
        &mut self,
        body: &mut Lexer<'_>,
        end: u8,
        expected: &str,
    ) -> Result<Side, ErrorRecorded> {
        let mut side = Side::default();
        // A right side without products, as older exports of MCM have it.
        if end == b':' && body.peek().kind == Kind::Sign(b':') {
            body.next_token();
            return Ok(side);
        }
        let mut sign = 1.0;
        if let Kind::Sign(byte @ (b'+' | b'-')) = body.peek().kind {
            body.next_token();
            sign = if byte == b'-' { -1.0 } else { 1.0 };
        }
        loop {
            self.term(body, sign, &mut side)?;
            let before = body.position();
            let token = body.next_token();
            match token.kind {
                Kind::Sign(b'+') => sign = 1.0,
                Kind::Sign(b'-') => sign = -1.0,
                Kind::Sign(byte) if byte == end => return Ok(side),
                _ => {
                    let message = format!("{} after a species", describe(body, token));
                    let help = format!("expected +, - or {expected}");
                    self.diagnostics.error(token.span, message, help);
                    body.set_position(before);
                    return Err(ErrorRecorded);
                }
            }
            if side.terms.len() > MOST_TERMS {
                self.diagnostics.too_many(token.span, "terms on a side", MOST_TERMS);
                return Err(ErrorRecorded);
            }
        }
    }

    fn term(
        &mut self,
        body: &mut Lexer<'_>,
        sign: f64,
        side: &mut Side,
    ) -> Result<(), ErrorRecorded> {
        let before = body.position();
        let mut token = body.next_token();
        let start = token.span;
        let mut coefficient = sign;
        if let Kind::Number(value) = token.kind {
            if !value.is_finite() {
                let message = format!("the coefficient {}", body.text_of(token));
                self.diagnostics.error(token.span, message, "expected a number below 1.8e308");
                side.is_bad = true;
            }
            coefficient *= value;
            token = body.next_token();
            if token.kind == Kind::Sign(b'*') {
                token = body.next_token();
            }
        }
        if token.kind != Kind::Name {
            let message = format!("{} in an equation", describe(body, token));
            self.diagnostics.error(token.span, message, "expected a species, hv or PROD");
            let is_end = token.kind == Kind::Sign(b';');
            body.set_position(if is_end { token.span.start } else { before });
            return Err(ErrorRecorded);
        }
        let name = body.text_of(token);
        if let Some(dummy) = DUMMIES.iter().find(|dummy| dummy.eq_ignore_ascii_case(name)) {
            side.has_light |= *dummy == "hv";
        } else if let Some(species) = self.known_species(name, token.span) {
            let span = Span { start: start.start, ..token.span };
            side.terms.push(Term { species, coefficient, span });
        } else {
            side.is_bad = true;
        }
        Ok(())
    }

    /// A rate and its text, up to the semicolon.
    fn rate(&mut self, body: &mut Lexer<'_>) -> Result<(Expr, String), ErrorRecorded> {
        let start = body.position();
        let next = body.peek();
        let length = body.rest().iter().take_while(|byte| **byte != b';').count();
        let rate = body.rest()[..length].iter();
        if rate.filter(|byte| !byte.is_ascii_whitespace()).count() > LONGEST_RATE {
            let message = format!("a rate of more than {LONGEST_RATE} characters");
            self.diagnostics.error(next.span, message, format!("expected at most {LONGEST_RATE}"));
            return Err(ErrorRecorded);
        }
        let (text, file) = body.whole();
        let (rate, end) = read_rate(text, file, [start, start + length]);
        let rate = match rate {
            Ok(rate) => rate,
            Err(fault) => {
                let Fault { span, message, help } = *fault;
                self.diagnostics.error(span, message, help);
                body.set_position(end.max(start));
                return Err(ErrorRecorded);
            }
        };
        body.set_position(end);
        let end = body.position();
        if !self.semicolon(body, [" the rate", "expected ; or an operator after this"]) {
            return Err(ErrorRecorded);
        }
        let text = body.slice(start, end).split_whitespace().collect::<Vec<_>>().join(" ");
        Ok((rate, text))
    }

    /// Warns of reactions that have the same equation.
    pub(super) fn warn_of_repetitions(&mut self) {
        let mut seen = HashMap::new();
        for (number, reaction) in self.mechanism.reactions.iter().enumerate() {
            let left = reaction.reactants.iter().copied().collect::<BTreeSet<_>>();
            let right = reaction.products.iter().map(|&(species, c)| (species, c.to_bits()));
            let form = (left, right.collect::<BTreeSet<_>>(), reaction.is_photolytic);
            let first = *seen.entry(form).or_insert(number);
            if first < number {
                let [name, first] = [number, first].map(|n| self.mechanism.reaction_name(n));
                let message = format!(
                    "{name} has the same equation as {first}: {}; both are kept",
                    self.mechanism.equation(number)
                );
                self.diagnostics.add(Severity::Warning, None, message, String::new());
            }
        }
    }
}

/// Skips to the position after the next semicolon, or to a tag that begins a line, whichever comes first.
fn recover(body: &mut Lexer<'_>) {
    loop {
        let before = body.position();
        let next = body.peek();
        let is_first_of_line = body.slice(before, next.span.start).contains('\n');
        if (next.kind == Kind::Tag && is_first_of_line)
            || matches!(body.next_token().kind, Kind::End | Kind::Sign(b';'))
        {
            return;
        }
    }
}
