//! Schemes of column physics against WRF's own results: files of columns, calls of the scheme on them, and the limits
//! for all implementations.
//!
//! A scheme states what its files hold ([`ColumnScheme`]), what runs it ([`Run`]) and its limits ([`Limits`]);
//! [`Reference`] reads the cases, runs them and judges every field.

pub mod columns;
pub mod field;
pub mod judge;
pub mod report;
pub mod stage;
pub mod truth;
pub mod yardstick;

pub use columns::Columns;
pub use field::Field;
pub use judge::{Case, Limits, Reference};
pub use report::Report;
pub use stage::Stage;
pub use truth::{Truth, group, values};

use ndarray::Array2;
use netcdf::types::NcTypeDescriptor;

/// A scheme as its reference files describe it.
pub trait ColumnScheme: Clone {
    /// The numbers of the input in the file.
    type Number: NcTypeDescriptor + Copy + Into<f64>;
    /// The reference file.
    const NAME: &'static str;
    /// Fields of the input: the tracers, then the air.
    const INPUTS: &'static [&'static str];
    /// Fields that are compared: those on levels, then those at the ground.
    const OUTPUTS: &'static [&'static str];
    /// Number of [`Self::OUTPUTS`] on levels.
    const ON_LEVELS: usize;

    /// False if errors of a build of WRF's code after so many calls set no limit.
    fn counts(_build: &str, _calls: usize) -> bool {
        true
    }
}

/// Something that runs a scheme on columns: its CPU version, or kernels.
pub trait Run<S: ColumnScheme, R> {
    /// The fields of [`ColumnScheme::OUTPUTS`] after some calls of `dt` seconds. Shape: (level or 1, column).
    fn outputs(&self, columns: &Columns<S>, dt: f64, calls: usize) -> Vec<Array2<R>>;
}
