//! The Fortran of a mechanism, which KPP copies into the solver that it writes: functions of `#INLINE F90_RATES`, variables
//! of `F90_GLOBAL`, their values in `F90_RCONST`, and the rates themselves; the same of C.
//!
//! - `tokens`, `syntax`, `expressions`, `statements`, `declarations` and `units` read it into trees. What cannot be read
//!   is kept as a fault, which counts only where a rate needs it. `c_code` does so for C.
//! - `evaluator` works the trees out at reading: `names`, `library` and `calls` what names and parentheses mean, `scope`
//!   declarations, `execution` and `assignment` statements,
//!   `setting` the variables of the mechanism, `arrays` indices, `arithmetic` numbers with their types.

mod arithmetic;
mod arrays;
mod assignment;
mod c_code;
mod calls;
mod code;
mod declarations;
mod evaluator;
mod execution;
mod expressions;
mod library;
mod names;
mod scope;
mod setting;
mod statements;
mod syntax;
mod tokens;
mod units;
mod values;

pub(super) use code::{Code, read_rate};
pub(super) use evaluator::Evaluator;
pub(super) use syntax::{Expr, Fault};

/// A language of code.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Language {
    /// Fortran in free form.
    Fortran,
    /// C.
    C,
    /// That of rates: expressions of either, in one piece.
    Rate,
}
