//! All code of a mechanism.

use std::collections::HashMap;

use super::Language;
use super::expressions::Cursor;
use super::syntax::{Block, Declaration, Expr, Fault, Procedure, Read, Unit};
use super::tokens::{Name, tokens};

/// All code of a mechanism.
#[derive(Debug, Default)]
pub(in crate::chemistry::mechanism) struct Code {
    pub(super) procedures: HashMap<Name, Procedure>,
    /// Variables outside of procedures.
    pub(super) declarations: Vec<Declaration>,
    /// Statements outside of procedures, which set them.
    pub(super) statements: Block,
    /// Modules that are used.
    pub(super) modules: Vec<Name>,
    /// Keys of blocks that may hold functions and were not read.
    pub(in crate::chemistry::mechanism) skipped: Vec<String>,
    /// Values that the user gives to names.
    pub(in crate::chemistry::mechanism) constants: Vec<(String, f64)>,
    pub(in crate::chemistry::mechanism) is_c: bool,
    /// True if a quotient of whole numbers is a whole number, as in Fortran and in C.
    pub(in crate::chemistry::mechanism) has_whole_quotients: bool,
}

impl Code {
    /// Adds the code in a part of a file.
    pub(in crate::chemistry::mechanism) fn add(
        &mut self,
        text: &[u8],
        file: usize,
        range: [usize; 2],
        language: Language,
    ) {
        let tokens = tokens(text, file, range, language);
        let mut cursor = Cursor::new(&tokens, text, "the code");
        let Unit { declarations, statements, procedures, modules } = match language {
            Language::C => cursor.c_unit(),
            _ => cursor.unit(),
        };
        self.declarations.extend(declarations);
        self.statements.extend(statements);
        self.modules.extend(modules);
        for procedure in procedures {
            let (name, span) = (procedure.name.clone(), procedure.span);
            let known = self.procedures.insert(name.clone(), procedure);
            if known.is_some()
                && let Some(second) = self.procedures.get_mut(&name)
            {
                let message = format!("{name} is defined a second time");
                second.fault = Some(Fault::new(span, message, "take one of the two away"));
            }
        }
    }
}

/// The expression of a rate, and the position after it.
pub(in crate::chemistry::mechanism) fn read_rate(
    text: &[u8],
    file: usize,
    range: [usize; 2],
) -> (Read<Expr>, usize) {
    let tokens = tokens(text, file, range, Language::Rate);
    let mut cursor = Cursor::new(&tokens, text, "a rate");
    let rate = cursor.rate();
    let end = cursor.place.checked_sub(1).map_or(range[0], |last| tokens[last].span.end);
    (rate, end)
}
