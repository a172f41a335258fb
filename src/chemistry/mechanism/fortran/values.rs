//! Values of variables: numbers as expressions, arrays of them.

use std::collections::HashMap;
use std::rc::Rc;

use super::syntax::Fault;
use super::tokens::Name;

/// The type of a number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    Integer,
    Real,
    Logical,
    /// A quantity of the host: whole where it is used so, else real.
    Open,
}

/// A number: an expression, its type, and the division that has lost its fraction on the way, if one has.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Scalar {
    pub(super) kind: Kind,
    pub(super) node: u32,
    pub(super) loss: Option<u32>,
}

/// An array in Fortran's order: the first index is the fastest.
#[derive(Clone, Debug)]
pub(super) struct Array {
    /// Lower bounds.
    pub(super) lower: Vec<i64>,
    pub(super) extents: Vec<usize>,
    pub(super) elements: Rc<Vec<Option<Scalar>>>,
}

impl Array {
    /// A list of values.
    pub(super) fn list(elements: Vec<Option<Scalar>>) -> Self {
        Self { lower: vec![1], extents: vec![elements.len()], elements: Rc::new(elements) }
    }

    /// The same shape with other elements.
    pub(super) fn with(&self, elements: Vec<Option<Scalar>>) -> Self {
        Self { elements: Rc::new(elements), ..self.clone() }
    }
}

/// A value.
#[derive(Clone, Debug)]
pub(super) enum Value {
    Scalar(Scalar),
    Array(Array),
}

/// The content of a variable.
#[derive(Clone, Debug)]
pub(super) enum Content {
    /// None so far.
    Unset,
    /// None, because of this.
    Faulty(Rc<Fault>),
    Value(Value),
}

/// A variable.
#[derive(Clone, Debug)]
pub(super) struct Variable {
    pub(super) kind: Kind,
    pub(super) content: Content,
    pub(super) is_constant: bool,
    /// True if it has a type and no value until one is assigned.
    pub(super) is_array: bool,
}

/// Variables by their names.
pub(super) type Variables = HashMap<Name, Variable>;

/// The ends of blocks so far: each a truth value of the cell, or `None` for never.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Flow {
    pub(super) returned: Option<u32>,
    pub(super) exited: Option<u32>,
    pub(super) cycled: Option<u32>,
}

/// All that statements change.
#[derive(Clone, Debug, Default)]
pub(super) struct State {
    /// Variables of the procedure.
    pub(super) local: Variables,
    /// Variables of the mechanism.
    pub(super) global: Rc<Variables>,
    pub(super) flow: Flow,
}
