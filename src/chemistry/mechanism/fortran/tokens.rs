//! Tokens of Fortran in free form, and of the C that KPP's mechanisms have.
//!
//! Fortran knows neither case nor reserved words: names are in lower case, and keywords are names. So they are in C here.

use std::rc::Rc;

use super::Language;
use crate::chemistry::mechanism::diagnostics::Span;
use crate::chemistry::mechanism::lexer::{is_name_byte, is_name_start};

/// A name in lower case.
pub(in crate::chemistry::mechanism) type Name = Rc<str>;

/// Largest whole number of Fortran's default kind; larger ones are taken for reals.
pub(super) const LARGEST_INTEGER: i64 = i32::MAX as i64;

/// A sign or an operator.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Symbol {
    Plus,
    Minus,
    Times,
    Divide,
    Power,
    Open,
    Close,
    OpenList,
    CloseList,
    OpenBlock,
    CloseBlock,
    Comma,
    Assign,
    Equal,
    NotEqual,
    Less,
    LessEqual,
    Greater,
    GreaterEqual,
    And,
    Or,
    Not,
    Equivalent,
    Different,
    Colon,
    DoubleColon,
    Question,
    Percent,
    /// Any other character.
    Other,
}

/// The kind of a token.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Kind {
    /// A name.
    Name(Name),
    /// A whole number.
    Integer(i64),
    /// A real number; infinite if it overflows.
    Real(f64),
    /// True or false.
    Logical(bool),
    /// A text constant.
    Text,
    /// A sign.
    Symbol(Symbol),
    /// The end of a statement: of a line that is not continued, or a semicolon.
    Break,
    /// The end of the text.
    End,
}

/// A token and its position.
#[derive(Clone, Debug)]
pub(super) struct Token {
    pub(super) kind: Kind,
    pub(super) span: Span,
}

/// Symbols of several characters, the longer ones first, in Fortran and in C.
const LONG_SYMBOLS: [(&[u8], Symbol, bool, bool); 14] = [
    (b"**", Symbol::Power, true, false),
    (b"==", Symbol::Equal, true, true),
    (b"/=", Symbol::NotEqual, true, false),
    (b"!=", Symbol::NotEqual, false, true),
    (b"<=", Symbol::LessEqual, true, true),
    (b">=", Symbol::GreaterEqual, true, true),
    (b"::", Symbol::DoubleColon, true, false),
    (b"(/", Symbol::OpenList, true, false),
    (b"/)", Symbol::CloseList, true, false),
    (b"&&", Symbol::And, false, true),
    (b"||", Symbol::Or, false, true),
    (b"++", Symbol::Other, false, true),
    (b"--", Symbol::Other, false, true),
    (b"->", Symbol::Other, false, true),
];

/// Operators between points.
const WORDS: [(&str, Kind); 13] = [
    ("eq", Kind::Symbol(Symbol::Equal)),
    ("ne", Kind::Symbol(Symbol::NotEqual)),
    ("lt", Kind::Symbol(Symbol::Less)),
    ("le", Kind::Symbol(Symbol::LessEqual)),
    ("gt", Kind::Symbol(Symbol::Greater)),
    ("ge", Kind::Symbol(Symbol::GreaterEqual)),
    ("and", Kind::Symbol(Symbol::And)),
    ("or", Kind::Symbol(Symbol::Or)),
    ("not", Kind::Symbol(Symbol::Not)),
    ("eqv", Kind::Symbol(Symbol::Equivalent)),
    ("neqv", Kind::Symbol(Symbol::Different)),
    ("true", Kind::Logical(true)),
    ("false", Kind::Logical(false)),
];

/// Reader of the tokens of a piece of a file.
pub(super) struct Scanner<'a> {
    text: &'a [u8],
    file: usize,
    position: usize,
    end: usize,
    language: Language,
    tokens: Vec<Token>,
}

/// The tokens of the bytes from `start` to `end`; the last one is [`Kind::End`].
pub(super) fn tokens(
    text: &[u8],
    file: usize,
    [start, end]: [usize; 2],
    language: Language,
) -> Vec<Token> {
    let end = end.min(text.len());
    let mut scanner =
        Scanner { text, file, position: start.min(end), end, language, tokens: Vec::new() };
    while scanner.position < scanner.end {
        scanner.next();
    }
    scanner.push(Kind::End, scanner.end);
    scanner.tokens
}

impl Scanner<'_> {
    fn at(&self, ahead: usize) -> Option<u8> {
        let place = self.position + ahead;
        (place < self.end).then(|| self.text[place])
    }

    fn push(&mut self, kind: Kind, start: usize) {
        let span = Span { file: self.file, start, end: self.position.max(start) };
        self.tokens.push(Token { kind, span });
    }

    fn skip_while(&mut self, holds: impl Fn(u8) -> bool) {
        while self.at(0).is_some_and(&holds) {
            self.position += 1;
        }
    }

    fn starts_with(&self, text: &[u8]) -> bool {
        self.text[self.position..self.end].starts_with(text)
    }

    fn next(&mut self) {
        let start = self.position;
        let Some(byte) = self.at(0) else { return };
        let is_c = self.language == Language::C;
        match byte {
            b'\n' => {
                self.position += 1;
                if self.language == Language::Fortran {
                    self.push(Kind::Break, start);
                }
            }
            _ if byte.is_ascii_whitespace() => self.position += 1,
            b'!' if self.language == Language::Fortran => self.skip_while(|byte| byte != b'\n'),
            b'/' if is_c && self.starts_with(b"//") => self.skip_while(|byte| byte != b'\n'),
            b'/' if is_c && self.starts_with(b"/*") => self.c_comment(),
            b'&' if self.language == Language::Fortran => self.continued(),
            b';' => {
                self.position += 1;
                self.push(Kind::Break, start);
            }
            b'\'' | b'"' => self.text(byte),
            _ if is_name_start(byte) => self.name(),
            _ if byte.is_ascii_digit() => self.number(),
            b'.' if self.at(1).is_some_and(|next| next.is_ascii_digit()) => self.number(),
            b'.' => self.dotted(),
            _ => self.symbol(byte),
        }
    }

    fn c_comment(&mut self) {
        self.position += 2;
        while self.position < self.end && !self.starts_with(b"*/") {
            self.position += 1;
        }
        self.position = (self.position + 2).min(self.end);
    }

    /// A continued line: to the first character of the next one that is not blank, or behind its own `&`.
    fn continued(&mut self) {
        let start = self.position;
        self.position += 1;
        self.skip_while(|byte| byte != b'\n' && byte.is_ascii_whitespace());
        if !matches!(self.at(0), None | Some(b'\n' | b'!')) {
            // Not at the end of a line: a sign that nothing expects.
            self.position = start + 1;
            return self.push(Kind::Symbol(Symbol::Other), start);
        }
        // Lines of comments and blank ones may follow.
        loop {
            self.skip_while(|byte| byte.is_ascii_whitespace());
            match self.at(0) {
                Some(b'!') => self.skip_while(|byte| byte != b'\n'),
                Some(b'&') => {
                    self.position += 1;
                    return;
                }
                _ => return,
            }
        }
    }

    fn text(&mut self, quote: u8) {
        let start = self.position;
        self.position += 1;
        self.skip_while(|byte| byte != quote && byte != b'\n');
        if self.at(0) == Some(quote) {
            self.position += 1;
        }
        self.push(Kind::Text, start);
    }

    fn name(&mut self) {
        let start = self.position;
        self.skip_while(is_name_byte);
        let text = String::from_utf8_lossy(&self.text[start..self.position]);
        let name = Name::from(text.to_ascii_lowercase().as_str());
        self.push(Kind::Name(name), start);
    }

    /// `.and.` and the like.
    fn dotted(&mut self) {
        let start = self.position;
        let letters =
            self.text[start + 1..self.end].iter().take_while(|byte| byte.is_ascii_alphabetic());
        let end = start + 1 + letters.count();
        if self.text.get(end) == Some(&b'.') && end < self.end {
            let word = String::from_utf8_lossy(&self.text[start + 1..end]).to_ascii_lowercase();
            if let Some((_, kind)) = WORDS.iter().find(|(known, _)| *known == word) {
                self.position = end + 1;
                return self.push(kind.clone(), start);
            }
        }
        self.symbol(b'.');
    }

    fn number(&mut self) {
        let start = self.position;
        let mut is_real = false;
        self.skip_while(|byte| byte.is_ascii_digit());
        // `1.and.` is a number before an operator, `1.e3` a number.
        if self.at(0) == Some(b'.') && !self.is_word_ahead() {
            is_real = true;
            self.position += 1;
            self.skip_while(|byte| byte.is_ascii_digit());
        }
        if self.at(0).is_some_and(|byte| b"eEdD".contains(&byte)) {
            let sign = usize::from(self.at(1).is_some_and(|byte| b"+-".contains(&byte)));
            if self.at(1 + sign).is_some_and(|byte| byte.is_ascii_digit()) {
                is_real = true;
                self.position += 1 + sign;
                self.skip_while(|byte| byte.is_ascii_digit());
            }
        }
        let digits = String::from_utf8_lossy(&self.text[start..self.position]);
        let digits = digits.replace(['d', 'D'], "e");
        let kind = match digits.parse::<i64>() {
            Ok(value) if !is_real && value <= LARGEST_INTEGER => Kind::Integer(value),
            _ => Kind::Real(digits.parse().unwrap_or(f64::NAN)),
        };
        if self.at(0) == Some(b'_') && self.at(1).is_some_and(|byte| byte.is_ascii_alphanumeric()) {
            // The kind of a number.
            self.skip_while(is_name_byte);
        } else if self.language == Language::C {
            self.skip_while(|byte| b"fFlL".contains(&byte));
        }
        self.push(kind, start);
    }

    /// True if an operator between points is at the position.
    fn is_word_ahead(&self) -> bool {
        let rest = &self.text[self.position + 1..self.end];
        let count = rest.iter().take_while(|byte| byte.is_ascii_alphabetic()).count();
        rest.get(count) == Some(&b'.')
            && WORDS.iter().any(|(word, _)| rest[..count].eq_ignore_ascii_case(word.as_bytes()))
    }

    fn symbol(&mut self, byte: u8) {
        let start = self.position;
        let (is_fortran, is_c) = match self.language {
            Language::Fortran => (true, false),
            Language::C => (false, true),
            Language::Rate => (true, true),
        };
        for (text, symbol, of_fortran, of_c) in LONG_SYMBOLS {
            if self.starts_with(text) && ((of_fortran && is_fortran) || (of_c && is_c)) {
                self.position += text.len();
                return self.push(Kind::Symbol(symbol), start);
            }
        }
        let symbol = match byte {
            b'+' => Symbol::Plus,
            b'-' => Symbol::Minus,
            b'*' => Symbol::Times,
            b'/' => Symbol::Divide,
            b'(' => Symbol::Open,
            b')' => Symbol::Close,
            b'[' => Symbol::OpenList,
            b']' => Symbol::CloseList,
            b'{' => Symbol::OpenBlock,
            b'}' => Symbol::CloseBlock,
            b',' => Symbol::Comma,
            b'=' => Symbol::Assign,
            b'<' => Symbol::Less,
            b'>' => Symbol::Greater,
            b':' => Symbol::Colon,
            b'?' => Symbol::Question,
            b'!' => Symbol::Not,
            b'%' => Symbol::Percent,
            _ => Symbol::Other,
        };
        self.position += 1;
        // A multi-byte character is one token.
        self.skip_while(|next| byte >= 0x80 && (0x80..0xC0).contains(&next));
        self.push(Kind::Symbol(symbol), start);
    }
}
