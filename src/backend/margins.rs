//! The margins of a part of a grid, refreshed once a step.

use std::fmt::Debug;

use crate::error::Result;
use crate::grid::Grid;
use crate::state::State;

/// Refreshes the margins of a part before the transport of every step: the one place of a step in which cells of other
/// parts come in.
///
/// With a margin of [`MARGIN`](crate::advection::MARGIN) cells a step needs nothing else of its neighbours: the
/// transport runs on the part with its margin as on any grid, what is wrong at its cut sides spreads over no more than
/// the margin, and the microphysics is of the column. [`Parts`](crate::grid::Parts) says which cells come from where.
pub trait Margins<R>: Debug + Send + Sync {
    /// Sets the cells of `state` outside [`Grid::owned`](crate::grid::Grid::owned) to those of their owners at the
    /// start of the step. All parts call it as often.
    ///
    /// # Errors
    ///
    /// Those of the way to the neighbours.
    fn refresh(&mut self, state: &mut State<R>) -> Result<()>;
}

/// Refreshes the margins of a grid; one by itself has none.
///
/// # Panics
///
/// When a part has margins and nothing refreshes them.
pub(super) fn refresh<R>(
    grid: &Grid,
    margins: Option<&mut (dyn Margins<R> + 'static)>,
    state: &mut State<R>,
) -> Result<()> {
    let Some(margins) = margins else {
        assert!(grid.owns_all(), "the margins of a part of a grid have to be refreshed");
        return Ok(());
    };
    margins.refresh(state)
}
