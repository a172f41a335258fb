//! A part of a global grid: the cells that it has, owns, and shares sides of.

use std::ops::Range;

use ndarray::{Array2, Array3, ArrayView2, ArrayView3, ArrayViewMut3, s};

use super::{Grid, Shape, Side, Sides};

/// A rectangle of columns, in the numbers of one grid.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Window {
    /// Rows j.
    pub rows: Range<usize>,
    /// Columns i.
    pub columns: Range<usize>,
}

impl Window {
    /// Number of its columns from west to east, from south to north, and of the layers above them.
    pub fn shape(&self, nz: usize) -> Shape {
        Shape { nx: self.columns.len(), ny: self.rows.len(), nz }
    }

    /// The cells of a field above the window. Shape: (nz, ny, nx).
    ///
    /// # Panics
    ///
    /// When the field has no such cells, as all below.
    pub fn of<'a, T>(&self, field: &'a Array3<T>) -> ArrayView3<'a, T> {
        field.slice(s![.., self.rows.clone(), self.columns.clone()])
    }

    /// The same for writing.
    pub fn of_mut<'a, T>(&self, field: &'a mut Array3<T>) -> ArrayViewMut3<'a, T> {
        field.slice_mut(s![.., self.rows.clone(), self.columns.clone()])
    }

    /// The window of a plane. Shape: (ny, nx).
    pub fn of_plane<'a, T>(&self, plane: &'a Array2<T>) -> ArrayView2<'a, T> {
        plane.slice(s![self.rows.clone(), self.columns.clone()])
    }
}

/// Cells of a margin beyond each end of what a part owns.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Margins {
    /// Columns to the west.
    pub west: usize,
    /// Columns to the east.
    pub east: usize,
    /// Rows to the south.
    pub south: usize,
    /// Rows to the north.
    pub north: usize,
}

/// Cells of an axis of the global grid that a part has: the ones that it owns between two margins.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Axis {
    /// Cells of the axis of the global grid.
    global: usize,
    /// The first owned one among them.
    first: usize,
    /// Number of owned cells.
    owned: usize,
    /// Cells of the margin before the owned ones and behind them.
    margin: [usize; 2],
}

impl Axis {
    /// The cells `owned` of an axis of `global` cells, with margins of `margin` cells where there are as many.
    ///
    /// A periodic axis that is cut goes on around its ends, even more than once; an axis that is not cut has no margin.
    pub(super) fn new(
        global: usize,
        owned: Range<usize>,
        margin: usize,
        is_periodic: bool,
    ) -> Self {
        assert!(
            owned.start < owned.end && owned.end <= global,
            "cells {owned:?} of an axis of {global}"
        );
        let within = [owned.start, global - owned.end];
        let is_cut = owned.len() < global;
        let margin = match (is_periodic, is_cut) {
            (true, true) => [margin; 2],
            (true, false) => [0; 2],
            (false, _) => within.map(|cells| margin.min(cells)),
        };
        Self { global, first: owned.start, owned: owned.len(), margin }
    }

    /// Number of cells with the margins.
    pub(super) fn cells(self) -> usize {
        self.margin[0] + self.owned + self.margin[1]
    }

    /// The owned ones among these cells.
    pub(super) fn range(self) -> Range<usize> {
        self.margin[0]..self.margin[0] + self.owned
    }

    /// The number of a cell in the global grid.
    pub(super) fn global(self, cell: usize) -> usize {
        let turns = self.margin[0].div_ceil(self.global) * self.global;
        (turns + self.first + cell - self.margin[0]) % self.global
    }

    /// The number of a cell in the global grid, among those owned here; `None` if another part owns it.
    pub(super) fn local(self, global: usize) -> Option<usize> {
        let owned = self.first..self.first + self.owned;
        owned.contains(&global).then(|| global - self.first + self.margin[0])
    }

    /// The first and the last owned cell are those of the global axis.
    fn reaches(self) -> [bool; 2] {
        [self.first == 0, self.first + self.owned == self.global]
    }

    /// The first and the last cell, with the margins, are those of the global axis.
    fn sees(self) -> [bool; 2] {
        [self.first == self.margin[0], self.first + self.owned + self.margin[1] == self.global]
    }

    /// The sides of the cells with the margins: a cut one is of the kind of the side of the global grid at the other
    /// end, and periodic if there is none. The false values that come of it stay within a margin that is wide enough.
    fn sides(self, global: [Side; 2]) -> [Side; 2] {
        match (global[0] == Side::Periodic, self.sees()) {
            (true, _) | (false, [false, false]) => [Side::Periodic; 2],
            (false, [true, true]) => global,
            (false, [true, false]) => [global[0]; 2],
            (false, [false, true]) => [global[1]; 2],
        }
    }
}

/// The columns of the global grid that a part has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Part {
    pub(super) x: Axis,
    pub(super) y: Axis,
    /// The sides of the global grid.
    sides: Sides,
}

impl Grid {
    /// The part of this grid with these axes.
    pub(super) fn part(&self, x: Axis, y: Axis) -> Self {
        let Sides { west, east, south, north } = self.sides;
        let [west, east] = x.sides([west, east]);
        let [south, north] = y.sides([south, north]);
        Self {
            shape: Shape { nx: x.cells(), ny: y.cells(), nz: self.shape.nz },
            sides: Sides { west, east, south, north },
            part: Some(Part { x, y, sides: self.sides }),
            ..*self
        }
    }

    /// Axes of the grid from west to east and from south to north, and the sides of the global grid.
    fn axes(&self) -> Part {
        let Shape { nx, ny, .. } = self.shape;
        let whole = |cells| Axis { global: cells, first: 0, owned: cells, margin: [0; 2] };
        self.part.unwrap_or(Part { x: whole(nx), y: whole(ny), sides: self.sides })
    }

    /// Number of cells of the global grid.
    pub fn global(&self) -> Shape {
        let Part { x, y, .. } = self.axes();
        Shape { nx: x.global, ny: y.global, nz: self.shape.nz }
    }

    /// Row and column of the global grid that a row j and a column i of this one are.
    pub fn global_column(&self, [j, i]: [usize; 2]) -> [usize; 2] {
        let Part { x, y, .. } = self.axes();
        [y.global(j), x.global(i)]
    }

    /// Widths of the margin.
    pub fn margins(&self) -> Margins {
        let Part { x, y, .. } = self.axes();
        let ([west, east], [south, north]) = (x.margin, y.margin);
        Margins { west, east, south, north }
    }

    /// The columns that this grid owns: each one of the global grid has one owner.
    pub fn owned(&self) -> Window {
        let Part { x, y, .. } = self.axes();
        Window { rows: y.range(), columns: x.range() }
    }

    /// Returns `true` if the grid owns all columns of the global grid.
    pub fn is_whole(&self) -> bool {
        self.owned().shape(self.shape.nz) == self.global()
    }

    /// The specified and open sides of the global grid at owned columns: west, east, south, north. Periodic sides and
    /// cuts are none.
    pub fn boundaries(&self) -> [Option<Side>; 4] {
        let Part { x, y, sides } = self.axes();
        let Sides { west, east, south, north } = sides;
        let ([at_west, at_east], [at_south, at_north]) = (x.reaches(), y.reaches());
        let side = |side: Side, is_here: bool| (is_here && side != Side::Periodic).then_some(side);
        [side(west, at_west), side(east, at_east), side(south, at_south), side(north, at_north)]
    }

    /// The owned columns inside the outermost specified and open ones of the global grid: those of the budgets.
    pub fn inner(&self) -> Window {
        self.owned_without(|_| true)
    }

    /// The owned columns outside the outermost specified ones of the global grid: those of microphysics and chemistry.
    pub fn unspecified(&self) -> Window {
        self.owned_without(|side| side == Side::Specified)
    }

    /// The owned columns without the outermost ones at boundaries that are chosen.
    fn owned_without(&self, is_chosen: impl Fn(Side) -> bool) -> Window {
        let [west, east, south, north] =
            self.boundaries().map(|side| usize::from(side.is_some_and(&is_chosen)));
        let Window { rows, columns } = self.owned();
        let less = |cells: Range<usize>, low, high| cells.start + low..cells.end - high;
        Window { rows: less(rows, south, north), columns: less(columns, west, east) }
    }

    /// The cells of a global field that this grid has. Shape: (nz, ny, nx) of either.
    ///
    /// # Panics
    ///
    /// When the field is not of the global grid, as all below.
    pub fn cells<T: Copy>(&self, field: &Array3<T>) -> Array3<T> {
        self.points(field, [0, 0])
    }

    /// The x-faces of a global field that this grid has. Shape: (nz, ny, nx + 1) of either. Where the grid goes on
    /// around a periodic axis, the last face of the axis is the first one.
    pub fn x_faces<T: Copy>(&self, field: &Array3<T>) -> Array3<T> {
        self.points(field, [0, 1])
    }

    /// The y-faces of a global field that this grid has, likewise. Shape: (nz, ny + 1, nx) of either.
    pub fn y_faces<T: Copy>(&self, field: &Array3<T>) -> Array3<T> {
        self.points(field, [1, 0])
    }

    /// Points of a global field, with so many more than cells along y and x.
    fn points<T: Copy>(&self, field: &Array3<T>, more: [usize; 2]) -> Array3<T> {
        let Shape { nx, ny, .. } = self.global();
        let (levels, rows, columns) = field.dim();
        assert_eq!([rows, columns], [ny + more[0], nx + more[1]], "points of the global grid");
        let [y, x] = self.global_points(more);
        Array3::from_shape_fn((levels, y.len(), x.len()), |(k, j, i)| field[[k, y[j], x[i]]])
    }

    /// Rows and columns of the global grid of the points of this one, with so many more than cells along y and x: the last
    /// face is the one behind the last cell.
    pub fn global_points(&self, more: [usize; 2]) -> [Vec<usize>; 2] {
        let Part { x, y, .. } = self.axes();
        let along = |axis: Axis, more: usize| {
            let behind = axis.global(axis.cells() - 1) + 1;
            let faces = std::iter::repeat_n(behind, more);
            (0..axis.cells()).map(|cell| axis.global(cell)).chain(faces).collect()
        };
        [along(y, more[0]), along(x, more[1])]
    }

    /// The global grid.
    #[must_use]
    pub fn whole_grid(&self) -> Self {
        Self { shape: self.global(), sides: self.axes().sides, part: None, ..*self }
    }

    /// The faces of a global plane that this grid has, so many more than cells along y and x. Shape: (ny, nx) of either, or
    /// with one more along an axis.
    pub fn faces_of_plane<T: Copy>(&self, plane: &Array2<T>, more: [usize; 2]) -> Array2<T> {
        let [y, x] = self.global_points(more);
        Array2::from_shape_fn((y.len(), x.len()), |(j, i)| plane[[y[j], x[i]]])
    }

    /// The columns of a global plane that this grid has. Shape: (ny, nx) of either.
    ///
    /// # Panics
    ///
    /// As [`Grid::cells`].
    pub fn columns<T: Copy>(&self, plane: &Array2<T>) -> Array2<T> {
        let Shape { nx, ny, .. } = self.global();
        assert_eq!(plane.dim(), (ny, nx), "columns of the global grid");
        let Part { x, y, .. } = self.axes();
        let shape = (y.cells(), x.cells());
        Array2::from_shape_fn(shape, |(j, i)| plane[[y.global(j), x.global(i)]])
    }

    /// The rows of values along the western or eastern side that this grid has, those of the margin included. Shape: (nz, ny) of
    /// either.
    pub fn along_y<T: Copy>(&self, side: &Array2<T>) -> Array2<T> {
        along(side, self.axes().y)
    }

    /// The columns of values along the southern or northern side that this grid has. Shape: (nz, nx) of either.
    pub fn along_x<T: Copy>(&self, side: &Array2<T>) -> Array2<T> {
        along(side, self.axes().x)
    }
}

/// The cells of an axis that a part has, at all levels.
fn along<T: Copy>(side: &Array2<T>, axis: Axis) -> Array2<T> {
    assert_eq!(side.ncols(), axis.global, "cells of the global axis");
    Array2::from_shape_fn((side.nrows(), axis.cells()), |(k, n)| side[[k, axis.global(n)]])
}
