//! Mechanisms in the language of KPP, in the dialects of KPP and of WRF-Chem: parsed, checked, and converted to plain
//! tables.
//!
//! `diagnostics` holds errors and warnings, `lexer` tokens, `sections` the commands, `equations` the reactions, `fortran`
//! the code of functions, variables and rates, `rates` what becomes of it: `expression`, `functions` and `quantity`;
//! `atoms` the atom balance, `tables` the result.

pub mod atoms;
pub mod conserved_sums;
pub mod diagnostics;
mod equations;
pub mod expression;
mod fortran;
pub mod functions;
mod lexer;
pub mod quantity;
mod rates;
mod sections;
pub mod tables;

use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};

use diagnostics::{Diagnostics, Severity, stem};
use sections::MechanismParser;
pub use tables::{Mechanism, Reaction, Role, Species};

/// Maximum length of a mechanism with all its files, bytes.
pub const LONGEST_TEXT: u64 = 16 << 20;
/// Maximum number of species.
pub const MOST_SPECIES: usize = 8_000;
/// Maximum number of reactions.
pub const MOST_REACTIONS: usize = 30_000;
/// Maximum number of atoms.
pub const MOST_ATOMS: usize = 200;
/// Maximum number of files of a mechanism.
pub const MOST_FILES: usize = 64;
/// Maximum nesting of `#INCLUDE`.
pub const DEEPEST_INCLUDE: usize = 16;

/// A mechanism and the warnings from parsing it, or the errors that prevent its use.
#[derive(Debug)]
pub struct ParsedMechanism {
    /// The mechanism; `None` if there are errors.
    pub mechanism: Option<Mechanism>,
    /// The text, with the files that it includes in place of `#INCLUDE` and `#MODEL`; [`parse`] takes it.
    pub text: String,
    /// Errors and warnings.
    pub diagnostics: Diagnostics,
}

impl ParsedMechanism {
    /// The mechanism, or the text of all errors.
    ///
    /// # Errors
    ///
    /// The errors with their positions.
    pub fn mechanism(self) -> Result<(Mechanism, Diagnostics), String> {
        let Self { mechanism, diagnostics, .. } = self;
        mechanism.map_or_else(
            || {
                let text = diagnostics.text(Severity::Error);
                let count = diagnostics.errors();
                let faults = if count == 1 { "one fault" } else { "faults" };
                Err(format!("is not a valid mechanism, {faults}:\n{text}"))
            },
            |mechanism| Ok((mechanism, diagnostics.clone())),
        )
    }
}

/// Reads a mechanism from a file and the files that it includes.
///
/// # Errors
///
/// A message if the file itself cannot be read; errors in its text are part of the [`ParsedMechanism`].
pub fn read(path: &Path) -> Result<ParsedMechanism, String> {
    read_with(path, &RateCode::default())
}

/// Reads a mechanism from a file and the files that it includes, with code for its rates that it does not hold.
///
/// # Errors
///
/// As [`read`].
pub fn read_with(path: &Path, code: &RateCode) -> Result<ParsedMechanism, String> {
    let text = load(path, LONGEST_TEXT)?;
    Ok(understand(path, text, true, code))
}

/// Reads a mechanism from a text; `#INCLUDE` is rejected.
pub fn parse(name: &str, text: &str) -> ParsedMechanism {
    parse_with(name, text, &RateCode::default())
}

/// Reads a mechanism from a text with code for its rates; `#INCLUDE` is rejected.
pub fn parse_with(name: &str, text: &str, code: &RateCode) -> ParsedMechanism {
    understand(Path::new(name), text.to_owned(), false, code)
}

/// Code and constants that the rates of a mechanism need and its files do not hold.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct RateCode {
    /// Files with functions and variables, in Fortran, or in C if their names end in `.c`: paths and texts.
    pub files: Vec<(PathBuf, String)>,
    /// Values of names that no code defines, the same in all cells.
    pub constants: Vec<(String, f64)>,
}

impl RateCode {
    /// Reads a file with functions.
    ///
    /// # Errors
    ///
    /// A message if it cannot be read.
    pub fn add_file(&mut self, path: &Path) -> Result<(), String> {
        let text = load(path, LONGEST_TEXT)?;
        self.files.push((path.to_owned(), text));
        Ok(())
    }
}

fn understand(path: &Path, text: String, may_include: bool, code: &RateCode) -> ParsedMechanism {
    let mut reader = MechanismParser::new(stem(path), may_include);
    reader.file(path.to_owned(), text);
    reader.code(code);
    reader.finish()
}

/// The text of a file of at most `most` bytes.
fn load(path: &Path, most: u64) -> Result<String, String> {
    let describe = |error: std::io::Error| error.to_string();
    let about = path.metadata().map_err(describe)?;
    if !about.is_file() {
        return Err("is not a file".to_owned());
    }
    let mut bytes = Vec::new();
    File::open(path)
        .and_then(|file| file.take(most + 1).read_to_end(&mut bytes))
        .map_err(describe)?;
    if bytes.len() as u64 > most {
        return Err(format!(
            "has {} bytes; a mechanism has at most {LONGEST_TEXT}, including the files that it \
             includes",
            about.len()
        ));
    }
    Ok(String::from_utf8(bytes)
        .unwrap_or_else(|e| String::from_utf8_lossy(e.as_bytes()).into_owned()))
}

/// The search path of an included file: beside the file that includes it, then beside the first file.
fn candidates(name: &str, from: &Path, first: &Path) -> Vec<PathBuf> {
    let in_folder_of = |file: &Path| file.parent().unwrap_or(Path::new("")).join(name);
    let mut paths = vec![in_folder_of(from), in_folder_of(first)];
    paths.dedup();
    paths
}

/// Adds a number to that of an index in a list, in which every index occurs once.
fn add_up<T: std::ops::AddAssign>(sums: &mut Vec<(usize, T)>, index: usize, number: T) {
    match sums.iter_mut().find(|(known, _)| *known == index) {
        Some((_, sum)) => *sum += number,
        None => sums.push((index, number)),
    }
}
