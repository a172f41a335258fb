//! The seam between outputs and file formats: an output says what it holds through [`Schema`] and [`Store`], and knows
//! no format.
//!
//! Bits are chosen above the seam (`out::output`), so that all formats round alike; chunks and compression are those of
//! a format.

use std::fmt;
use std::ops::Range;
use std::path::Path;

use crate::error::{Error, Result};
use crate::frame::output_statistics::OutputStatistics;
use crate::grid::Shape;
use crate::io::attribute::AttributeValue;
use crate::io::kind::Kind;
use crate::io::layout::Variable;
use crate::io::store::storage::{Bits, Compression};

/// The result of a call, with the message of the format.
pub(crate) type Done = std::result::Result<(), String>;

/// Values of a variable.
#[derive(Clone, Copy, Debug)]
pub enum Values<'a> {
    /// Of [`Kind::Float`].
    Single(&'a [f32]),
    /// Of [`Kind::Double`].
    Double(&'a [f64]),
    /// Of [`Kind::Int`].
    Whole(&'a [i32]),
    /// Of [`Kind::Char`]: one text.
    Text(&'a str),
}

impl Values<'_> {
    /// Bytes of a value.
    #[cfg(feature = "zarr")]
    pub(crate) fn size(self) -> usize {
        match self {
            Self::Single(_) => size_of::<f32>(),
            Self::Double(_) => size_of::<f64>(),
            Self::Whole(_) => size_of::<i32>(),
            Self::Text(_) => 1,
        }
    }

    /// Number of the values.
    pub(crate) fn count(self) -> usize {
        match self {
            Self::Single(values) => values.len(),
            Self::Double(values) => values.len(),
            Self::Whole(values) => values.len(),
            Self::Text(text) => text.len(),
        }
    }

    /// The bytes of the values, the lowest first.
    pub(crate) fn plain(self) -> Vec<u8> {
        fn bytes<T: Bits>(values: &[T]) -> Vec<u8> {
            let mut bytes = Vec::with_capacity(size_of_val(values));
            T::plain(values, &mut bytes);
            bytes
        }
        match self {
            Self::Single(values) => bytes(values),
            Self::Double(values) => bytes(values),
            Self::Whole(values) => values.iter().flat_map(|x| x.to_le_bytes()).collect(),
            Self::Text(text) => text.as_bytes().to_vec(),
        }
    }
}

/// Values of a variable on their way to a file.
#[derive(Clone, Debug)]
pub enum HeldValues {
    /// Of [`Kind::Float`].
    Single(Vec<f32>),
    /// Of [`Kind::Double`].
    Double(Vec<f64>),
    /// Of [`Kind::Int`].
    Whole(Vec<i32>),
}

impl HeldValues {
    /// The values.
    pub(crate) fn values(&self) -> Values<'_> {
        match self {
            Self::Single(values) => Values::Single(values),
            Self::Double(values) => Values::Double(values),
            Self::Whole(values) => Values::Whole(values),
        }
    }
}

/// Form of a variable.
#[derive(Clone, Debug)]
pub(crate) struct Definition<'a> {
    pub(crate) name: &'a str,
    pub(crate) kind: Kind,
    pub(crate) dimensions: &'a [&'a str],
    /// Lengths of a chunk along each dimension, for formats that take them; `None` for those that the format chooses.
    pub(crate) chunks: Option<Vec<usize>>,
    /// Compression of the chunks.
    pub(crate) compression: Compression,
    /// Value that marks missing ones, if there may be any.
    pub(crate) fill: Option<f64>,
}

impl<'a> Definition<'a> {
    /// A small variable, which is not compressed.
    pub(crate) fn small(name: &'a str, kind: Kind, dimensions: &'a [&'a str]) -> Self {
        Self { name, kind, dimensions, chunks: None, compression: Compression::None, fill: None }
    }
}

/// What a file or a store holds, while it is defined.
pub(crate) trait Schema {
    /// Adds a dimension; without a length it grows.
    fn dimension(&mut self, name: &str, length: Option<usize>) -> Done;

    /// Length of a dimension that is defined.
    fn length_of(&self, dimension: &str) -> Option<usize>;

    /// Adds a variable.
    fn variable(&mut self, about: &Definition<'_>) -> Done;

    /// `true` if there is a variable of this name.
    fn has(&self, variable: &str) -> bool;

    /// Adds an attribute to a variable, or to the whole.
    fn attribute(&mut self, of: Option<&str>, name: &str, value: AttributeValue) -> Done;

    /// An attribute of a variable, if it is text.
    fn text_of(&self, variable: &str, name: &str) -> Option<String>;

    /// Writes all values of a variable that does not grow.
    fn fill(&mut self, name: &str, values: Values<'_>) -> Done;
}

/// An output whose variables are filled block by block, in any order.
///
/// Calls come in this order: `create`, definitions and blocks, at last `commit` or `deliver`.
pub(crate) trait BlockStore: Schema + fmt::Debug + Send {
    /// Name of the output, as the user gave it.
    fn target(&self) -> &Path;

    /// An error about the output, with the message of a call.
    fn failed(&self, reason: String) -> Error;

    /// Starts the output.
    fn create(&mut self) -> Done;

    /// Writes a block of a variable: a range along each of its dimensions.
    fn put(&mut self, name: &str, block: &[Range<usize>], values: Values<'_>) -> Done;

    /// Counts bytes of values that were put, and gives back memory where much of it holds such.
    fn relieve(&mut self, bytes: usize) -> Done;

    /// Digest of all attributes but `except`, and of all values.
    fn digest(&mut self, except: &str) -> std::result::Result<String, String>;

    /// Makes what is complete readable under the final name.
    fn publish(&mut self) -> Result<()>;

    /// Completes the output under its final name; the next one that is created will replace it.
    fn deliver(&mut self) -> Result<()>;

    /// Completes the output under its final name.
    fn commit(self: Box<Self>) -> Result<()>;
}

/// A volume or a plane of a frame, or some levels and rows of it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Field<'a> {
    pub(crate) about: Variable,
    pub(crate) values: Values<'a>,
    /// Number of the first of these values in the whole field.
    pub(crate) first: usize,
    /// Bits of the significand that are kept; `None` for all.
    pub(crate) bits: Option<u32>,
    /// `true` if the field is the same in all frames.
    pub(crate) lasts: bool,
}

impl Field<'_> {
    /// The place, among the values here, of a range of those of the whole field; `None` if they are not all here.
    pub(crate) fn within(&self, begin: usize, end: usize) -> Option<Range<usize>> {
        let is_here = begin >= self.first && end <= self.first + self.values.count();
        is_here.then(|| begin - self.first..end - self.first)
    }
}

/// Form of an output of frames.
#[derive(Clone, Debug)]
pub(crate) struct Form {
    pub(crate) shape: Shape,
    pub(crate) compression: Compression,
    /// Sizes are counted here, and the bits that variables keep.
    pub(crate) statistics: OutputStatistics,
}

/// An output of frames, which grow along the dimension `Time`.
///
/// Calls come in this order: `create`, definitions, then for each frame `begin`, `put`, `put_fields` and `end`, at last
/// `commit`.
pub(crate) trait Store: Schema + fmt::Debug + Send {
    /// Name of the output, as the user gave it.
    fn target(&self) -> &Path;

    /// An error about the output, with the message of a call.
    fn failed(&self, reason: String) -> Error;

    /// Starts the output.
    fn create(&mut self, form: &Form) -> Done;

    /// Begins a frame.
    fn begin(&mut self, frame: usize) -> Done;

    /// Writes all values of a variable with at most one dimension besides time.
    fn put(&mut self, name: &'static str, frame: usize, values: Values<'_>) -> Done;

    /// Writes volumes and planes, on all threads: of each the pieces, in the form of the format, whose values it has.
    fn put_fields(&mut self, frame: usize, fields: &[Field<'_>]) -> Done;

    /// Ends a frame, whose values are complete.
    fn end(&mut self, frame: usize) -> Done;

    /// Makes the complete frames readable under the final name.
    fn publish(&mut self) -> Result<()>;

    /// Completes the output under its final name.
    fn commit(self: Box<Self>) -> Result<()>;
}
