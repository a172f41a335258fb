//! Fields of a part of a grid out of those of the global grid, and windows of fields.

use crate::grid::{Grid, Window};
use crate::state::{BoundaryValues, CloudDiagnostics, State, Surface};

impl<R: Copy> State<R> {
    /// The cells that a part of the grid has.
    ///
    /// # Panics
    ///
    /// When these are not of the global grid of the part.
    #[must_use]
    pub fn part(&self, part: &Grid) -> Self {
        self.map(|field| part.cells(field))
    }

    /// The columns of a window.
    ///
    /// # Panics
    ///
    /// When there are none such.
    #[must_use]
    pub fn within(&self, window: &Window) -> Self {
        self.map(|field| window.of(field).to_owned())
    }
}

impl<R: Copy> Surface<R> {
    /// The columns of a window.
    pub(crate) fn within(&self, window: &Window) -> Self {
        self.map(|plane| window.of_plane(plane).to_owned())
    }
}

impl<R: Copy> CloudDiagnostics<R> {
    /// The columns of a window.
    pub(crate) fn within(&self, window: &Window) -> Self {
        self.map(|field| window.of(field).to_owned())
    }
}

impl<R: Copy> BoundaryValues<R> {
    /// The rows and columns of the sides that a part of the grid has. Where it has a cut in place of a side, these are
    /// values that its margin may have as well as any.
    pub(crate) fn part(&self, part: &Grid) -> Self {
        Self {
            west: part.along_y(&self.west),
            east: part.along_y(&self.east),
            south: part.along_x(&self.south),
            north: part.along_x(&self.north),
        }
    }
}
