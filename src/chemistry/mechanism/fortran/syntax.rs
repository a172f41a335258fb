//! Fortran as trees: expressions, statements, declarations, procedures.

use super::tokens::Name;
use crate::chemistry::mechanism::diagnostics::Span;

/// A construct that cannot be read or used: its position, the finding, the expectation.
#[derive(Clone, Debug)]
pub(in crate::chemistry::mechanism) struct Fault {
    pub(in crate::chemistry::mechanism) span: Span,
    pub(in crate::chemistry::mechanism) message: String,
    pub(in crate::chemistry::mechanism) help: String,
}

impl Fault {
    #[expect(clippy::unnecessary_box_returns, reason = "results have it in a box")]
    pub(super) fn new(
        span: Span,
        message: impl Into<String>,
        help: impl Into<String>,
    ) -> Box<Self> {
        Box::new(Self { span, message: message.into(), help: help.into() })
    }
}

/// The result of reading.
pub(in crate::chemistry::mechanism) type Read<T> = Result<T, Box<Fault>>;

/// An operation on two values.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Binary {
    Add,
    Subtract,
    Multiply,
    Divide,
    Power,
    Equal,
    NotEqual,
    Less,
    LessEqual,
    Greater,
    GreaterEqual,
    And,
    Or,
    Equivalent,
    Different,
}

/// An expression and its position.
#[derive(Clone, Debug)]
pub(in crate::chemistry::mechanism) struct Expr {
    pub(super) kind: ExprKind,
    pub(super) span: Span,
}

#[derive(Clone, Debug)]
pub(super) enum ExprKind {
    Integer(i64),
    Real(f64),
    Logical(bool),
    Text,
    Name(Name),
    Negative(Box<Expr>),
    Not(Box<Expr>),
    Binary(Binary, Box<[Expr; 2]>),
    /// An element or a section of an array, or a call.
    Reference(Name, Vec<Argument>),
    /// `(/ a, b /)`.
    List(Vec<Expr>),
    /// `a ? b : c`.
    Choice(Box<[Expr; 3]>),
}

/// An argument of a call, or an index.
#[derive(Clone, Debug)]
pub(super) enum Argument {
    Value(Expr),
    /// First, last, stride.
    Section(Box<[Option<Expr>; 3]>),
    /// An argument by its name.
    Named(Name, Expr),
}

/// Cases of a SELECT CASE: ranges, none for the default, and a block.
pub(super) type Cases = Vec<(Option<Vec<[Option<Expr>; 2]>>, Block)>;

/// A statement and its position.
#[derive(Clone, Debug)]
pub(super) struct Statement {
    pub(super) kind: StatementKind,
    pub(super) span: Span,
}

pub(super) type Block = Vec<Statement>;

#[derive(Clone, Debug)]
pub(super) enum StatementKind {
    /// The target is a name or a reference.
    Assign(Expr, Expr),
    /// Conditions and blocks, of which the last may have none.
    If(Vec<(Option<Expr>, Block)>),
    /// Variable, first, last, step; the block.
    Do(Name, Box<[Option<Expr>; 3]>, Block),
    While(Option<Expr>, Block),
    Select(Expr, Cases),
    Call(Name, Vec<Argument>),
    Return(Option<Expr>),
    Exit,
    Cycle,
    /// Without an effect on values, as CONTINUE or PRINT.
    Nothing,
    /// A statement that cannot be read, with the names that occur in it.
    Unreadable(Box<Fault>, Vec<Name>),
}

/// The type of a variable.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Type {
    Real,
    Integer,
    Logical,
    /// One that rates cannot use: text, complex numbers, derived types.
    Other,
}

/// A dimension of an array.
#[derive(Clone, Debug)]
pub(super) enum Dimension {
    /// Lower bound, 1 without one, and upper bound.
    Explicit(Option<Expr>, Expr),
    /// `:`, the extent of the actual argument, with a lower bound.
    Assumed(Option<Expr>),
    /// `*`, the rest of the actual argument.
    Rest,
}

/// Something that a declaration says of a name.
#[derive(Clone, Debug)]
pub(super) struct Declaration {
    pub(super) name: Name,
    pub(super) span: Span,
    pub(super) about: About,
}

#[derive(Clone, Debug)]
pub(super) enum About {
    Typed {
        kind: Type,
        shape: Option<Vec<Dimension>>,
        value: Option<Expr>,
        is_constant: bool,
    },
    Shape(Vec<Dimension>),
    /// `PARAMETER (a = 1)`.
    Constant(Expr),
    /// `DATA a / 1, 2*3 /`: repetitions and values.
    Data(Option<Vec<Argument>>, Vec<(Option<Expr>, Expr)>),
    /// A declaration of this name that cannot be read.
    Unreadable(Box<Fault>),
}

/// A function or a subroutine.
#[derive(Clone, Debug)]
pub(in crate::chemistry::mechanism) struct Procedure {
    pub(super) name: Name,
    pub(super) span: Span,
    pub(super) arguments: Vec<Name>,
    /// Name and type of the result; none of a subroutine.
    pub(super) result: Option<(Name, Option<Type>)>,
    pub(super) declarations: Vec<Declaration>,
    pub(super) body: Block,
    /// The first construct that could not be read.
    pub(super) fault: Option<Box<Fault>>,
}

/// All of a piece of code: variables and statements outside of procedures, and procedures.
#[derive(Clone, Debug, Default)]
pub(in crate::chemistry::mechanism) struct Unit {
    pub(super) declarations: Vec<Declaration>,
    pub(super) statements: Block,
    pub(super) procedures: Vec<Procedure>,
    /// Names of modules that are used.
    pub(super) modules: Vec<Name>,
}
