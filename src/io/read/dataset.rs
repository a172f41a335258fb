//! The seam between inputs and file formats: what a file or a store holds, and slabs of its variables.
//!
//! Units, packing and missing values are interpreted above it, so that all formats read alike.

use std::fmt;
use std::ops::Range;

use crate::io::attribute::AttributeValue;
use crate::io::kind::Kind;

/// What a format answers, or its message.
pub(in crate::io) type Answer<T> = std::result::Result<T, String>;

/// A dimension of a variable.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Extent {
    /// Its name.
    pub name: String,
    /// Its length.
    pub length: usize,
    /// `true` if it may grow.
    pub unlimited: bool,
}

/// A variable.
#[derive(Clone, Debug)]
pub(in crate::io) struct Variable {
    pub(in crate::io) name: String,
    pub(in crate::io) kind: Kind,
    pub(in crate::io) extents: Vec<Extent>,
    pub(in crate::io) attributes: Vec<(String, Answer<AttributeValue>)>,
}

impl Variable {
    /// An attribute, if there is one of this name.
    pub(in crate::io) fn attribute(&self, name: &str) -> Option<&Answer<AttributeValue>> {
        self.attributes.iter().find(|(other, _)| other == name).map(|(_, value)| value)
    }

    /// Lengths of its dimensions.
    pub(in crate::io) fn lengths(&self) -> Vec<usize> {
        self.extents.iter().map(|extent| extent.length).collect()
    }

    /// Ranges of all its values.
    pub(in crate::io) fn all(&self) -> Vec<Range<usize>> {
        self.extents.iter().map(|extent| 0..extent.length).collect()
    }
}

/// An open file or store.
pub(in crate::io) trait Dataset: fmt::Debug {
    /// Names of the variables, in the order of the file.
    fn names(&self) -> Vec<String>;

    /// A variable.
    fn variable(&self, name: &str) -> Option<Variable>;

    /// Names of the groups inside.
    fn groups(&self) -> Answer<Vec<String>>;

    /// Names and lengths of the dimensions.
    fn dimensions(&self) -> Vec<(String, usize)>;

    /// A global attribute.
    fn attribute(&self, name: &str) -> Option<Answer<AttributeValue>>;

    /// Digest of all global attributes but `except`, and of all values.
    fn digest(&self, except: &str) -> Answer<String>;

    /// Describes a variable that is larger than the file can hold; `None` otherwise.
    fn excess(&self, variable: &Variable) -> Option<String>;

    /// Values within ranges, the last index fastest, in single precision.
    fn singles(&self, name: &str, ranges: &[Range<usize>]) -> Answer<Vec<f32>>;

    /// The same in double precision, of any type of numbers.
    fn doubles(&self, name: &str, ranges: &[Range<usize>]) -> Answer<Vec<f64>>;

    /// The same as integers.
    fn integers(&self, name: &str, ranges: &[Range<usize>]) -> Answer<Vec<i64>>;

    /// The same as integers without sign.
    fn naturals(&self, name: &str, ranges: &[Range<usize>]) -> Answer<Vec<u64>>;

    /// Characters within ranges.
    fn characters(&self, name: &str, ranges: &[Range<usize>]) -> Answer<Vec<u8>>;

    /// Strings within ranges.
    fn strings(&self, name: &str, ranges: &[Range<usize>]) -> Answer<Vec<String>>;
}
