//! What a backend can be asked for beside frames of output: products of operators, and columns.

use std::sync::Arc;

use super::SPECIES;
use crate::error::Result;
use crate::forcing::Moment;
use crate::primitives::csr::Csr;

/// The part of a backend that looks at the state where it is.
///
/// What is asked for need not be done when the call returns, as with frames.
pub trait Observed<R> {
    /// Sets what may be asked for beside frames. What is under way of what was set before is dropped.
    ///
    /// # Errors
    ///
    /// Those of the device.
    ///
    /// # Panics
    ///
    /// When an operator does not have as many columns as the grid, or there is not a weight for every
    /// cell.
    fn attach(&mut self, attached: &Attached<R>) -> Result<()>;

    /// Begins the products of an operator with the fields as they are after the steps asked for, and
    /// with what is diagnosed from them in the air of `moment`, level by level.
    ///
    /// No field leaves the device: what comes back is as small as the places are few. The air of the
    /// moment stays, as with [`capture`](super::Backend::capture).
    ///
    /// # Errors
    ///
    /// Those of the device.
    ///
    /// # Panics
    ///
    /// With [`FRAMES_IN_FLIGHT`](super::FRAMES_IN_FLIGHT) samples of the operator begun and none collected.
    fn sample(&mut self, operator: usize, moment: &Moment<R>) -> Result<()>;

    /// Hands over the oldest products of an operator that were begun, as
    /// [`collect`](super::Backend::collect) does frames; they may hold what is not finite.
    ///
    /// # Errors
    ///
    /// Those of the device.
    fn collect_sample(&mut self, operator: usize, wait: bool) -> Result<Option<Products<R>>>;

    /// Begins to bring the columns together, of the fields as they are after the steps asked for and of
    /// what is diagnosed from them in the air of `moment`, and what they hold.
    ///
    /// The air of the moment stays, as with [`capture`](super::Backend::capture).
    ///
    /// # Errors
    ///
    /// Those of the device.
    ///
    /// # Panics
    ///
    /// Without weights attached, and with [`FRAMES_IN_FLIGHT`](super::FRAMES_IN_FLIGHT) of them begun and none collected.
    fn profile(&mut self, moment: &Moment<R>) -> Result<()>;

    /// Hands over the oldest columns that were begun, as [`collect_sample`](Observed::collect_sample).
    ///
    /// # Errors
    ///
    /// Those of the device.
    fn collect_profiles(&mut self, wait: bool) -> Result<Option<Profiles<R>>>;
}

/// What a backend may be asked for beside frames.
#[derive(Clone, Debug, Default)]
pub struct Attached<R> {
    /// Operators that [`sample`](Observed::sample) names by their places in the list. Each takes a level
    /// of the grid, columns as `c = j nx + i`, to some places.
    pub operators: Vec<Arc<Csr<R>>>,
    /// What the cells count for in the totals of [`Profiles`]; `None` where nobody asks for these.
    /// Shape: (ny, nx, nz).
    pub weights: Option<Arc<Vec<R>>>,
}

/// Number of fields with levels in [`Products`] before those of passive tracers: the fields of WSM5 and what is
/// diagnosed from them.
pub const PRODUCT_VOLUMES: usize = 10;

/// Number of fields of the ground in [`Products`].
pub const PRODUCT_PLANES: usize = 3;

/// What an operator makes of the fields. Units: those of the fields, where its weights have none.
#[derive(Clone, Debug, PartialEq)]
pub struct Products<R> {
    /// Of the fields of WSM5, of [`CloudDiagnostics`](crate::state::CloudDiagnostics), and of the passive tracers.
    /// Shape of each: (nz, places).
    pub volumes: Vec<Vec<R>>,
    /// Of `rain`, `snow` and `sr` of [`Surface`](crate::state::Surface). Shape of each: (places).
    pub planes: [Vec<R>; PRODUCT_PLANES],
}

/// The columns of a state, each one contiguous, and what they hold. Units of the fields: their own.
#[derive(Clone, Debug, PartialEq)]
pub struct Profiles<R> {
    /// The fields of WSM5, those of [`CloudDiagnostics`](crate::state::CloudDiagnostics), and the passive tracers.
    /// Shape of each: (ny, nx, nz).
    pub volumes: Vec<Vec<R>>,
    /// Sums over the levels of weight times `qv`, `qc`, `qr`, `qi` and `qs`. Shape of each: (ny, nx).
    pub totals: [Vec<R>; SPECIES],
    /// Largest reflectivity of each column, dBZ. Shape: (ny, nx).
    pub strongest: Vec<R>,
}
