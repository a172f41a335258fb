//! Tokens of a mechanism: words, numbers and signs.
//!
//! Comments and inlined code are first replaced by blanks, byte by byte, so that positions in the remaining text are
//! positions in the file.

use super::diagnostics::{Diagnostics, Span};

/// A word, number or sign.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Kind {
    /// A letter or `_`, then letters, digits and `_`.
    Name,
    /// A decimal number; infinite if it overflows.
    Number(f64),
    /// `<...>`, the tag of a reaction.
    Tag,
    /// `**`.
    Power,
    /// Any other character.
    Sign(u8),
    /// The end of the section.
    End,
}

/// A token and its position.
#[derive(Clone, Copy, Debug)]
pub(super) struct Token {
    /// Its kind, and the value of a number.
    pub(super) kind: Kind,
    /// Its position.
    pub(super) span: Span,
}

/// Reads tokens from a part of a blanked text.
#[derive(Clone, Debug)]
pub(super) struct Lexer<'a> {
    text: &'a [u8],
    file: usize,
    position: usize,
    end: usize,
    /// True if numbers may have a Fortran kind, as in `1.0_dp`.
    has_kinds: bool,
}

impl<'a> Lexer<'a> {
    /// A lexer of the bytes from `start` to `end`.
    pub(super) fn new(text: &'a [u8], file: usize, start: usize, end: usize) -> Self {
        Self { text, file, position: start, end: end.min(text.len()), has_kinds: false }
    }

    /// The lexer for a rate expression, whose numbers may have a Fortran kind.
    pub(super) fn set_rate(&mut self, is_rate: bool) {
        self.has_kinds = is_rate;
    }

    /// Current position, bytes.
    pub(super) fn position(&self) -> usize {
        self.position
    }

    /// Goes to a position.
    pub(super) fn set_position(&mut self, position: usize) {
        self.position = position;
    }

    /// Text of a token.
    pub(super) fn text_of(&self, token: Token) -> &'a str {
        self.slice(token.span.start, token.span.end)
    }

    /// Text between two positions.
    pub(super) fn slice(&self, start: usize, end: usize) -> &'a str {
        std::str::from_utf8(&self.text[start..end]).unwrap_or("")
    }

    /// The whole text, blanked, with the index of its file.
    pub(super) fn whole(&self) -> (&'a [u8], usize) {
        (self.text, self.file)
    }

    /// The bytes from the current position on.
    pub(super) fn rest(&self) -> &'a [u8] {
        &self.text[self.position..self.end]
    }

    /// The next token, without consuming it.
    pub(super) fn peek(&self) -> Token {
        self.clone().next_token()
    }

    /// Consumes the next token.
    pub(super) fn next_token(&mut self) -> Token {
        self.skip_while(|byte| byte.is_ascii_whitespace());
        let start = self.position;
        let kind = match self.at(0) {
            None => Kind::End,
            Some(byte) if is_name_start(byte) => {
                self.skip_while(is_name_byte);
                Kind::Name
            }
            Some(byte) if byte.is_ascii_digit() => self.number(start),
            Some(b'.') if self.at(1).is_some_and(|byte| byte.is_ascii_digit()) => {
                self.number(start)
            }
            Some(b'<') => self.tag(),
            Some(b'*') if self.at(1) == Some(b'*') => {
                self.position += 2;
                Kind::Power
            }
            Some(byte) => {
                self.position += 1;
                // A multi-byte character is one token.
                self.skip_while(|next| byte >= 0x80 && (0x80..0xC0).contains(&next));
                Kind::Sign(byte)
            }
        };
        Token { kind, span: Span { file: self.file, start, end: self.position } }
    }

    fn at(&self, ahead: usize) -> Option<u8> {
        self.rest().get(ahead).copied()
    }

    /// Goes on to the first byte of another kind.
    pub(super) fn skip_while(&mut self, holds: impl Fn(u8) -> bool) {
        while self.at(0).is_some_and(&holds) {
            self.position += 1;
        }
    }

    fn tag(&mut self) -> Kind {
        let start = self.position;
        while let Some(byte) = self.at(0) {
            self.position += 1;
            match byte {
                b'>' => return Kind::Tag,
                b';' | b'\n' => break,
                _ => {}
            }
        }
        // Not a tag: a token by itself.
        self.position = start + 1;
        Kind::Sign(b'<')
    }

    fn number(&mut self, start: usize) -> Kind {
        self.skip_while(|byte| byte.is_ascii_digit());
        if self.at(0) == Some(b'.') {
            self.position += 1;
            self.skip_while(|byte| byte.is_ascii_digit());
        }
        // An exponent needs a digit: `2EO` is two times EO.
        if self.at(0).is_some_and(|byte| b"eEdD".contains(&byte)) {
            let sign = usize::from(self.at(1).is_some_and(|byte| b"+-".contains(&byte)));
            if self.at(1 + sign).is_some_and(|byte| byte.is_ascii_digit()) {
                self.position += 1 + sign;
                self.skip_while(|byte| byte.is_ascii_digit());
            }
        }
        let digits = self.slice(start, self.position).replace(['d', 'D'], "e");
        if self.has_kinds
            && self.at(0) == Some(b'_')
            && self.at(1).is_some_and(|byte| byte.is_ascii_alphabetic())
        {
            self.skip_while(is_name_byte);
        }
        Kind::Number(digits.parse().unwrap_or(f64::NAN))
    }
}

/// True if a name may begin with this byte.
pub(super) fn is_name_start(byte: u8) -> bool {
    byte.is_ascii_alphabetic() || byte == b'_'
}

/// True if a name may contain this byte.
pub(super) fn is_name_byte(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_'
}

/// Code of another language in a mechanism, between `#INLINE` and `#ENDINLINE`.
#[derive(Clone, Debug)]
pub(super) struct InlineBlock {
    /// Part of KPP's solver that the code is for, in capitals: `F90_RATES` and the like.
    pub(super) key: String,
    /// File, and first byte and the one after the last of the code.
    pub(super) file: usize,
    pub(super) range: [usize; 2],
}

/// Replaces comments, `{...}` and `//...`, and the code between `#INLINE` and `#ENDINLINE` by blanks; line breaks are
/// kept. The blocks of code are added to a list.
pub(super) fn blanked(
    text: &str,
    file: usize,
    diagnostics: &mut Diagnostics,
    blocks: &mut Vec<InlineBlock>,
) -> Vec<u8> {
    let mut bytes = text.as_bytes().to_vec();
    let mut i = 0;
    while i < bytes.len() {
        let end = match bytes[i] {
            b'{' => find(&bytes, i, b'}').map(|end| end + 1).ok_or(("{", "comment", "add }")),
            b'/' if bytes.get(i + 1) == Some(&b'/') => {
                Ok(find(&bytes, i, b'\n').unwrap_or(bytes.len()))
            }
            b'#' if is_word(&bytes, after_blanks(&bytes, i + 1), b"INLINE") => {
                let end = end_of_inline(&bytes, i);
                blocks.extend(end.map(|end| inline_block(&bytes, file, [i, end])));
                end.ok_or(("#INLINE", "code", "add #ENDINLINE after the code"))
            }
            _ => {
                i += 1;
                continue;
            }
        };
        let until = end.unwrap_or_else(|(begin, what, help)| {
            let span = Span { file, start: i, end: i + begin.len() };
            diagnostics.error(span, format!("the {what} that begins here is not closed"), help);
            bytes.len()
        });
        for byte in &mut bytes[i..until] {
            if *byte != b'\n' {
                *byte = b' ';
            }
        }
        i = until;
    }
    bytes
}

/// True if a whole word is at a position, ignoring case.
fn is_word(bytes: &[u8], start: usize, word: &[u8]) -> bool {
    let end = start + word.len();
    bytes.get(start..end).is_some_and(|found| found.eq_ignore_ascii_case(word))
        && !bytes.get(end).is_some_and(|&byte| is_name_byte(byte))
}

/// The position of the first byte that is no blank.
pub(super) fn after_blanks(bytes: &[u8], start: usize) -> usize {
    let blanks = bytes[start..].iter().take_while(|byte| matches!(byte, b' ' | b'\t'));
    start + blanks.count()
}

/// The block from `#INLINE` to the end of `#ENDINLINE`.
fn inline_block(bytes: &[u8], file: usize, [start, end]: [usize; 2]) -> InlineBlock {
    let word = after_blanks(bytes, start + 1) + b"INLINE".len();
    let line = find(&bytes[..end], word, b'\n').unwrap_or(end);
    let key = String::from_utf8_lossy(&bytes[word..line]);
    let key = key.split_whitespace().next().unwrap_or("").to_ascii_uppercase();
    let last = bytes[..end].iter().rposition(|&byte| byte == b'#').unwrap_or(end);
    InlineBlock { key, file, range: [line.min(last), last] }
}

fn end_of_inline(bytes: &[u8], start: usize) -> Option<usize> {
    const END: &[u8] = b"ENDINLINE";
    let mut from = start + 1;
    while let Some(mark) = find(bytes, from, b'#') {
        let word = after_blanks(bytes, mark + 1);
        if is_word(bytes, word, END) {
            return Some(word + END.len());
        }
        from = mark + 1;
    }
    None
}

fn find(bytes: &[u8], from: usize, what: u8) -> Option<usize> {
    bytes[from..].iter().position(|byte| *byte == what).map(|i| from + i)
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
