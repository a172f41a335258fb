//! The commands of a mechanism: files, declarations, initial values; all but the reactions.

use std::collections::HashMap;
use std::path::PathBuf;

use super::diagnostics::{Diagnostics, SourceFile, Span, nearest};
use super::lexer::{
    InlineBlock, Kind, Lexer, Token, after_blanks, blanked, describe, is_name_byte,
};
use super::rates::UnresolvedRate;
use super::tables::{Mechanism, Role, Species};
use super::{
    DEEPEST_INCLUDE, LONGEST_TEXT, MOST_ATOMS, MOST_FILES, MOST_SPECIES, ParsedMechanism, RateCode,
    add_up, atoms, candidates, load,
};
use crate::os_text::Shown;

/// Maximum length of the name of an atom or a species.
const LONGEST_NAME: usize = 29;

/// Commands that have an effect here.
const COMMANDS: &str = "\
    INCLUDE MODEL ATOMS DEFVAR DEFFIX SETVAR SETFIX EQUATIONS INITVALUES LANGUAGE REORDER";

/// Commands of KPP that concern its generated code or its output.
const SKIPPED: &str = "\
    AUTOREDUCE CHECK CHECKALL DECLARE DOUBLE DRIVER DUMMYINDEX ENDINLINE EQNTAGS FAMILIES FLUX \
    FUNCTION GRAPH HESSIAN INLINE INTEGRATOR INTFILE JACOBIAN LOOKAT LOOKATALL MEX \
    MINVERSION MONITOR RUN SPARSEDATA STOCHASTIC STOICMAT TRANSPORT UPPERCASEF90 USE";

/// Names that stand for all species of a kind.
const GROUPS: [&str; 3] = ["VAR_SPEC", "FIX_SPEC", "ALL_SPEC"];

/// Builder of a mechanism from its files.
#[derive(Default)]
pub(super) struct MechanismParser {
    pub(super) diagnostics: Diagnostics,
    pub(super) mechanism: Mechanism,
    /// Indices of the species by their names in capitals.
    pub(super) species: HashMap<String, usize>,
    /// Code of other languages.
    pub(super) blocks: Vec<InlineBlock>,
    /// Rates in the order of the file.
    pub(super) rates: Vec<UnresolvedRate>,
    /// Code and values beyond those of the files.
    pub(super) rate_code: RateCode,
    /// The word after `#LANGUAGE`, in capitals.
    pub(super) language: String,
    may_include: bool,
    /// Files that are being read, each included by the preceding one.
    stack: Vec<PathBuf>,
    bytes_left: u64,
    /// Commands that include a file, in the order of each file, and the index of that file.
    includes: Vec<(Span, usize)>,
    /// Terms of all equations so far.
    pub(super) terms: usize,
}

impl MechanismParser {
    pub(super) fn new(name: String, may_include: bool) -> Self {
        let mechanism = Mechanism { name, is_reordered: true, ..Mechanism::default() };
        Self { mechanism, may_include, bytes_left: LONGEST_TEXT, ..Self::default() }
    }

    /// Reads a file and its includes.
    pub(super) fn file(&mut self, path: PathBuf, text: String) {
        let file = self.diagnostics.sources.len();
        self.bytes_left = self.bytes_left.saturating_sub(text.len() as u64);
        let bytes = blanked(&text, file, &mut self.diagnostics, &mut self.blocks);
        self.diagnostics.sources.push(SourceFile { path: path.clone(), text });
        self.stack.push(path);
        let next_command = |from: usize| {
            bytes[from..].iter().position(|&byte| byte == b'#').map_or(bytes.len(), |i| from + i)
        };
        let mut position = next_command(0);
        self.refuse_text(&mut Lexer::new(&bytes, file, 0, position));
        while position < bytes.len() && !self.diagnostics.is_hopeless() {
            let name_start = after_blanks(&bytes, position + 1);
            let length = bytes[name_start..].iter().take_while(|&&b| is_name_byte(b)).count();
            let end = next_command(name_start);
            let command = Span { file, start: position, end: name_start + length };
            let name = String::from_utf8_lossy(&bytes[name_start..name_start + length]);
            let body = Lexer::new(&bytes, file, name_start + length, end);
            self.command(command, &name.to_ascii_uppercase(), body);
            position = end;
        }
        self.stack.pop();
    }

    /// The mechanism, if there was no error.
    pub(super) fn finish(mut self) -> ParsedMechanism {
        self.resolve_rates();
        if self.diagnostics.errors() == 0 {
            if self.mechanism.reactions.is_empty() {
                self.diagnostics
                    .general("no reactions were found", "expected a section #EQUATIONS");
            } else {
                self.warn_of_repetitions();
            }
        }
        let is_good = self.diagnostics.errors() == 0;
        ParsedMechanism {
            text: self.joined(0),
            mechanism: is_good.then_some(self.mechanism),
            diagnostics: self.diagnostics,
        }
    }

    /// The text of a file, with the files that it includes in place of the commands.
    fn joined(&self, file: usize) -> String {
        let text = &self.diagnostics.sources[file].text;
        let (mut joined, mut from) = (String::new(), 0);
        for (command, included) in self.includes.iter().filter(|(span, _)| span.file == file) {
            // A comment to the end of the line must not reach into the next file.
            joined += &format!("{}\n{}\n", &text[from..command.start], self.joined(*included));
            from = command.end;
        }
        joined + &text[from..]
    }

    fn command(&mut self, span: Span, name: &str, mut body: Lexer<'_>) {
        match name {
            "INCLUDE" | "MODEL" => self.include(span, name == "MODEL", body),
            "ATOMS" => self.atoms(&mut body),
            "DEFVAR" => self.define(&mut body, Role::Variable),
            "DEFFIX" => self.define(&mut body, Role::Fixed),
            "SETVAR" => self.set(&mut body, Role::Variable),
            "SETFIX" => self.set(&mut body, Role::Fixed),
            "EQUATIONS" => self.equations(&mut body),
            "INITVALUES" => self.initial_values(&mut body),
            "REORDER" => {
                let word = body.next_token();
                match body.text_of(word).to_ascii_uppercase().as_str() {
                    "ON" => self.mechanism.is_reordered = true,
                    "OFF" => self.mechanism.is_reordered = false,
                    _ => self.diagnostics.error(
                        word.span,
                        format!("{} after #REORDER", describe(&body, word)),
                        "expected ON or OFF",
                    ),
                }
            }
            "LANGUAGE" => {
                let word = body.next_token();
                self.language = body.text_of(word).to_ascii_uppercase();
            }
            "" => self.diagnostics.error(span, "# without a command", "expected a name after it"),
            _ if SKIPPED.split(' ').any(|known| known == name) => {}
            _ => {
                let near = nearest(name, COMMANDS.split(' ').chain(SKIPPED.split(' ')));
                let help = near.map(|near| format!("nearest known name: {near}"));
                let message = format!("the command #{name} is unknown, and skipped to the next #");
                self.diagnostics.warning(span, message, help.unwrap_or_default());
            }
        }
    }

    fn include(&mut self, command: Span, is_model: bool, mut body: Lexer<'_>) {
        body.skip_while(|byte| matches!(byte, b' ' | b'\t'));
        let start = body.position();
        body.skip_while(|byte| !byte.is_ascii_whitespace());
        let span = Span { start, end: body.position(), ..command };
        let mut name = body.slice(start, body.position()).trim_matches(['"', '\'']).to_owned();
        if name.is_empty() {
            let help = "expected it in the same line";
            return self.diagnostics.error(command, "the name of a file is missing", help);
        }
        if is_model {
            name += ".def";
        }
        let next = self.diagnostics.sources.len();
        self.splice(span, &name);
        if self.diagnostics.sources.len() > next {
            self.includes.push((Span { start: command.start, ..span }, next));
        }
        self.refuse_text(&mut body);
    }

    fn splice(&mut self, span: Span, name: &str) {
        if !self.may_include && is_list_of_elements(name) {
            return atoms::ELEMENTS.iter().for_each(|element| self.add_atom(element));
        }
        if !self.may_include {
            let help = "give the mechanism as a file";
            return self.diagnostics.error(span, "a text by itself includes no files", help);
        }
        if self.stack.len() >= DEEPEST_INCLUDE || self.diagnostics.sources.len() >= MOST_FILES {
            let help = format!(
                "expected at most {DEEPEST_INCLUDE} files in one another and {MOST_FILES} in all"
            );
            return self.diagnostics.error(span, format!("{name} is one file too many"), help);
        }
        let [from, first] = [self.stack.last(), self.stack.first()].map(Option::unwrap);
        let paths = candidates(name, from, first);
        let Some(path) = paths.iter().find(|path| path.exists()) else {
            if is_list_of_elements(name) {
                return atoms::ELEMENTS.iter().for_each(|element| self.add_atom(element));
            }
            let places: Vec<_> = paths.iter().map(|path| path.shown().into_owned()).collect();
            let help = format!("looked for {}", places.join(" and "));
            return self.diagnostics.error(span, format!("there is no file {name}"), help);
        };
        let same = |other: &PathBuf| path.canonicalize().ok() == other.canonicalize().ok();
        if self.stack.iter().any(same) {
            let help = "take one of the #INCLUDE away";
            return self.diagnostics.error(span, format!("{name} includes itself"), help);
        }
        match load(path, self.bytes_left) {
            Ok(text) => self.file(path.clone(), text),
            Err(reason) => {
                let message = format!("cannot read {}: {reason}", path.shown());
                self.diagnostics.error(span, message, "");
            }
        }
    }

    /// Notes an error if there is text outside of all sections.
    fn refuse_text(&mut self, body: &mut Lexer<'_>) {
        let token = body.peek();
        if token.kind != Kind::End {
            let message = format!("{} outside of a section", describe(body, token));
            let help = "expected a command such as #DEFVAR or #EQUATIONS before it";
            self.diagnostics.error(token.span, message, help);
        }
    }

    fn atoms(&mut self, body: &mut Lexer<'_>) {
        while let Some(token) = self.statement(body, "the name of an atom") {
            let name = body.text_of(token).to_owned();
            self.end_of_statement(body);
            if self.mechanism.atoms.len() >= MOST_ATOMS {
                return self.diagnostics.too_many(token.span, "atoms", MOST_ATOMS);
            }
            self.add_atom(&name);
        }
    }

    fn add_atom(&mut self, name: &str) {
        if self.atom(name).is_none() {
            self.mechanism.atoms.push(name.to_owned());
        }
    }

    /// The index of an atom.
    fn atom(&self, name: &str) -> Option<usize> {
        self.mechanism.atoms.iter().position(|atom| atom.eq_ignore_ascii_case(name))
    }

    fn define(&mut self, body: &mut Lexer<'_>, role: Role) {
        while let Some(token) = self.statement(body, "the name of a species") {
            let name = body.text_of(token).to_owned();
            let mut species =
                Species { name, role, composition: Vec::new(), is_balanced: true, initial: None };
            if body.peek().kind == Kind::Sign(b'=') {
                body.next_token();
                if !self.composition(body, &mut species) {
                    skip_statement(body);
                    continue;
                }
            } else {
                species.is_balanced = false;
            }
            self.end_of_statement(body);
            if self.species_named(&species.name).is_some() {
                let message = format!("{} is declared a second time", species.name);
                self.diagnostics.error(token.span, message, "take one of the declarations away");
                continue;
            }
            if self.mechanism.species.len() >= MOST_SPECIES {
                return self.diagnostics.too_many(token.span, "species", MOST_SPECIES);
            }
            let key = species.name.to_ascii_uppercase();
            self.species.insert(key, self.mechanism.species.len());
            self.mechanism.species.push(species);
        }
    }

    /// The atoms of a species, `2 C + 4 H`.
    fn composition(&mut self, body: &mut Lexer<'_>, species: &mut Species) -> bool {
        loop {
            let mut token = body.next_token();
            let mut count = 1.0;
            if let Kind::Number(value) = token.kind {
                count = value;
                if !count.is_finite() {
                    let message = format!("{} atoms", body.text_of(token));
                    self.diagnostics.error(token.span, message, "expected a small number");
                    return false;
                }
                token = body.next_token();
            }
            if token.kind != Kind::Name {
                let message = format!("{} in the composition", describe(body, token));
                let help = "expected an atom, with or without a number, or IGNORE";
                self.diagnostics.error(token.span, message, help);
                return false;
            }
            let name = body.text_of(token);
            if ["IGNORE", "CANCEL"].iter().any(|open| open.eq_ignore_ascii_case(name)) {
                species.is_balanced = false;
            } else if let Some(atom) = self.atom(name) {
                add_up(&mut species.composition, atom, count);
            } else {
                let known = self.mechanism.atoms.iter().map(String::as_str).chain(["IGNORE"]);
                let help = match nearest(name, known) {
                    Some(near) => format!("declare it in #ATOMS; nearest known name: {near}"),
                    None => "declare it in #ATOMS, or write IGNORE".to_owned(),
                };
                let message = format!("the atom {name} is not declared");
                self.diagnostics.error(token.span, message, help);
            }
            if body.peek().kind != Kind::Sign(b'+') {
                return true;
            }
            body.next_token();
        }
    }

    fn set(&mut self, body: &mut Lexer<'_>, role: Role) {
        while let Some(token) = self.statement(body, "the name of a species") {
            let name = body.text_of(token);
            self.end_of_statement(body);
            if let Some(group) = GROUPS.iter().find(|group| group.eq_ignore_ascii_case(name)) {
                let is_meant = |species: &Species| match *group {
                    "VAR_SPEC" => species.role == Role::Variable,
                    "FIX_SPEC" => species.role == Role::Fixed,
                    _ => true,
                };
                let species = self.mechanism.species.iter_mut().filter(|s| is_meant(s));
                species.for_each(|species| species.role = role);
            } else if let Some(number) = self.known_species(name, token.span) {
                self.mechanism.species[number].role = role;
            }
        }
    }

    fn initial_values(&mut self, body: &mut Lexer<'_>) {
        let mut factor = 1.0;
        let mut values = Vec::new();
        while let Some(token) = self.statement(body, "the name of a species, or CFACTOR") {
            let name = body.text_of(token).to_owned();
            let Some(value) = self.assigned(body) else {
                skip_statement(body);
                continue;
            };
            self.end_of_statement(body);
            if name.eq_ignore_ascii_case("CFACTOR") {
                factor = value;
            } else if GROUPS.iter().any(|group| group.eq_ignore_ascii_case(&name)) {
                if value != 0.0 {
                    let message = format!("the initial value of {name} is not used");
                    let help = "give values species by species, as KPP's Fortran needs them too";
                    self.diagnostics.warning(token.span, message, help);
                }
            } else if let Some(number) = self.known_species(&name, token.span) {
                values.push((number, value));
            }
        }
        for (number, value) in values {
            self.mechanism.species[number].initial = Some(value * factor);
        }
    }

    /// `= value`, with a sign.
    fn assigned(&mut self, body: &mut Lexer<'_>) -> Option<f64> {
        body.set_rate(true);
        let equals = body.next_token();
        let mut token = body.next_token();
        let is_negative = token.kind == Kind::Sign(b'-');
        if is_negative || token.kind == Kind::Sign(b'+') {
            token = body.next_token();
        }
        body.set_rate(false);
        match (equals.kind, token.kind) {
            (Kind::Sign(b'='), Kind::Number(value)) if value.is_finite() => {
                Some(if is_negative { -value } else { value })
            }
            (Kind::Sign(b'='), _) => {
                let message = format!("{} as a value", describe(body, token));
                self.diagnostics.error(token.span, message, "expected a number");
                None
            }
            _ => {
                let message = format!("{} after the name", describe(body, equals));
                self.diagnostics.error(equals.span, message, "expected = and a number");
                None
            }
        }
    }

    fn species_named(&self, name: &str) -> Option<usize> {
        self.species.get(&name.to_ascii_uppercase()).copied()
    }

    /// The index of a species; notes an error if there is none with this name.
    pub(super) fn known_species(&mut self, name: &str, span: Span) -> Option<usize> {
        let number = self.species_named(name);
        if number.is_none() {
            let mut help = "declare it in #DEFVAR or #DEFFIX".to_owned();
            let known = self.mechanism.species.iter().map(|s| s.name.as_str());
            if !self.diagnostics.is_hopeless()
                && let Some(near) = nearest(name, known)
            {
                help = format!("{help}; nearest known name: {near}");
            }
            self.diagnostics.error(span, format!("the species {name} is not declared"), help);
        }
        number
    }

    /// The name that begins the next statement; `None` at the end of the section.
    fn statement(&mut self, body: &mut Lexer<'_>, expected: &str) -> Option<Token> {
        loop {
            if self.diagnostics.is_hopeless() {
                return None;
            }
            let token = body.next_token();
            match token.kind {
                Kind::End => return None,
                Kind::Sign(b';') => {}
                Kind::Name => {
                    let length = body.text_of(token).len();
                    if length <= LONGEST_NAME {
                        return Some(token);
                    }
                    let message = format!("a name of {length} characters");
                    let help = format!("expected at most {LONGEST_NAME}");
                    self.diagnostics.error(token.span, message, help);
                    skip_statement(body);
                }
                _ => {
                    let message = describe(body, token);
                    self.diagnostics.error(token.span, message, format!("expected {expected}"));
                    skip_statement(body);
                }
            }
        }
    }

    /// The semicolon after a statement; notes an error if it is missing.
    fn end_of_statement(&mut self, body: &mut Lexer<'_>) {
        let before = body.position();
        if self.semicolon(body, ["", "expected ; after this"]) {
            return;
        }
        // A statement in the next line is then parsed as such.
        if !body.slice(before, body.peek().span.start).contains('\n') {
            skip_statement(body);
        }
    }

    /// The semicolon after something, which the last statement of a section may omit; notes an error with a help if it
    /// is missing, and returns false.
    pub(super) fn semicolon(&mut self, body: &mut Lexer<'_>, [after, help]: [&str; 2]) -> bool {
        let end = body.position();
        let token = body.peek();
        if matches!(token.kind, Kind::End | Kind::Sign(b';')) {
            body.next_token();
            return true;
        }
        let span = Span { start: end.saturating_sub(1), end, ..token.span };
        let message = format!("{} follows{after} without a semicolon", describe(body, token));
        self.diagnostics.error(span, message, help);
        false
    }
}

/// Skips to the position after the next semicolon.
fn skip_statement(body: &mut Lexer<'_>) {
    while !matches!(body.next_token().kind, Kind::End | Kind::Sign(b';')) {}
}

/// True if a name is one that KPP and WRF use for the file of all elements.
fn is_list_of_elements(name: &str) -> bool {
    let name = name.rsplit('/').next().unwrap_or(name).to_ascii_lowercase();
    let name = name.strip_suffix(".kpp").unwrap_or(&name);
    ["atoms", "atoms_red"].contains(&name)
}
