//! The margins of a part of a grid, refreshed by its neighbours once a step.

use std::fmt::Debug;

use crate::error::Result;
use crate::state::State;

/// Neighbours of a part, by which its margins are refreshed before the transport of every step: the one place of a step
/// in which cells of other parts come in.
///
/// With a margin of [`MARGIN`](crate::advection::MARGIN) cells a step needs nothing else of its neighbours: the
/// transport runs on the part with its margin as on any grid, what is wrong at its cut sides spreads over no more than
/// the margin, and the microphysics is of the column. [`Parts`](crate::grid::Parts) says which cells come from where.
pub trait Neighbours<R>: Debug + Send + Sync {
    /// Sets the cells of `state` outside [`Grid::owned`](crate::grid::Grid::owned) to those of their owners at the
    /// start of the step. All parts call it as often.
    ///
    /// # Errors
    ///
    /// Those of the way to the neighbours.
    fn refresh(&mut self, state: &mut State<R>) -> Result<()>;
}
