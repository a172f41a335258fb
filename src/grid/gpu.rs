//! Memory layout of the rows of a grid on the device.

use std::borrow::Cow;

use rayon::prelude::*;

use crate::device::{Buffer, Element, Rows};
use crate::error::Result;
use crate::grid::{Grid, Shape};

/// Memory layout of the rows of a grid, the same in all its fields and planes.
///
/// A thread of the transport has a group of adjacent cells of a row and loads them at once, so rows begin at multiples
/// of the group size. If cells do not fill the last group of a row, padding elements do, as many before the first cell
/// as behind the last one or one less: the groups at both ends then have at least two cells, as boundaries need. The
/// value of a padding element is finite and never used.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Layout {
    /// The grid.
    pub shape: Shape,
    /// Padding elements of a row.
    pub fill: usize,
    /// Position of the first cell of a row.
    pub first: usize,
    /// Elements of a row of x-faces beyond those of a row of cells.
    pub more_faces: usize,
}

/// Single-precision values of a memory sector, the unit of memory access.
pub(crate) const SECTOR: usize = 8;

/// Smallest group size for which rows are padded: with smaller groups a boundary would have a single cell.
const FILLABLE: usize = 4;

/// Fewest elements that a thread lays out: memory of a large field is touched first by all threads.
const ELEMENTS: usize = 1 << 15;

impl Layout {
    /// Contiguous rows, as on the host.
    pub fn tight(shape: Shape) -> Self {
        Self { shape, fill: 0, first: 0, more_faces: 1 }
    }

    /// Rows for the microphysics alone, which reads no neighbours: rows begin at a memory sector.
    pub(crate) fn in_sectors(shape: Shape) -> Self {
        Self { fill: shape.nx.next_multiple_of(SECTOR) - shape.nx, ..Self::tight(shape) }
    }

    /// Rows for threads with `cells` cells each.
    pub fn of(grid: &Grid, cells: usize) -> Self {
        let shape = grid.shape;
        let fill = shape.nx.next_multiple_of(cells) - shape.nx;
        // With a periodic axis the neighbours of the last cell are elsewhere in memory.
        let can_be_filled = cells >= FILLABLE && shape.nx >= 2 * cells && !grid.sides.periodic_x();
        if fill == 0 || can_be_filled {
            Self { shape, fill, first: fill / 2, more_faces: cells }
        } else {
            Self::tight(shape)
        }
    }

    /// Returns `true` if all rows, including those of x-faces, begin at multiples of `cells` elements.
    pub(crate) fn has_groups_of(self, cells: usize) -> bool {
        self.pitch().is_multiple_of(cells) && self.more_faces.is_multiple_of(cells)
    }

    /// Range of the cells among the elements of a row.
    pub fn rows(self) -> Rows {
        Rows { first: self.first, count: self.shape.nx, pitch: self.pitch() }
    }

    /// Returns `true` if fields have the layout of the host, except those on x-faces.
    pub(crate) fn is_tight(self) -> bool {
        self.fill == 0
    }

    /// Elements of a row.
    pub fn pitch(self) -> usize {
        self.shape.nx + self.fill
    }

    /// Elements of a row of x-faces.
    pub fn face_pitch(self) -> usize {
        self.pitch() + self.more_faces
    }

    /// The grid as if all elements of its rows were cells.
    pub(crate) fn in_memory(self) -> Shape {
        Shape { nx: self.pitch(), ..self.shape }
    }

    /// Elements of a field.
    pub fn cells(self) -> usize {
        self.in_memory().cells()
    }

    /// Elements of a plane.
    pub fn columns(self) -> usize {
        self.in_memory().columns()
    }

    /// Elements of fields on x-, y- and z-faces.
    pub fn faces(self) -> [usize; 3] {
        let (Shape { ny, nz, .. }, pitch) = (self.shape, self.pitch());
        [nz * ny * self.face_pitch(), nz * (ny + 1) * pitch, (nz + 1) * ny * pitch]
    }

    /// Range of columns i as elements of a row.
    pub fn places(self, columns: std::ops::Range<usize>) -> std::ops::Range<usize> {
        columns.start + self.first..columns.end + self.first
    }

    /// Row and column of an element of a plane.
    pub(crate) fn row_and_column(self, place: usize) -> [usize; 2] {
        [
            place / self.pitch(),
            (place % self.pitch()).saturating_sub(self.first).min(self.shape.nx - 1),
        ]
    }

    /// Rows of cells in the layout of the device. Padding elements repeat the nearest cell.
    ///
    /// # Panics
    ///
    /// When the values are not whole rows, as all below.
    pub fn padded<T: Copy + Send + Sync>(self, values: &[T]) -> Cow<'_, [T]> {
        let (count, pitch) = (self.shape.nx, self.pitch());
        HostRows { values, count, first: self.first, pitch }.padded()
    }

    /// Rows of x-faces in the layout of the device, padded likewise.
    pub fn padded_x_faces<T: Copy + Send + Sync>(self, values: &[T]) -> Cow<'_, [T]> {
        let (count, pitch) = (self.shape.nx + 1, self.face_pitch());
        HostRows { values, count, first: self.first, pitch }.padded()
    }

    /// Copies rows of cells to the elements of an array from `at` on, padded likewise.
    ///
    /// # Errors
    ///
    /// Those of the device.
    ///
    /// # Panics
    ///
    /// As [`Layout::padded`], and when they do not fit into the array.
    pub fn upload<T: Element>(self, values: &[T], to: &Buffer<T>, at: usize) -> Result<()> {
        HostRows { values, count: self.shape.nx, first: self.first, pitch: self.pitch() }
            .upload(to, at)
    }

    /// The same for rows of x-faces.
    ///
    /// # Errors
    ///
    /// As [`Layout::upload`].
    ///
    /// # Panics
    ///
    /// As [`Layout::upload`].
    pub fn upload_x_faces<T: Element>(self, values: &[T], to: &Buffer<T>, at: usize) -> Result<()> {
        let (count, pitch) = (self.shape.nx + 1, self.face_pitch());
        HostRows { values, count, first: self.first, pitch }.upload(to, at)
    }

    /// The cells of rows from the layout of the device.
    ///
    /// # Panics
    ///
    /// As [`Layout::padded`].
    pub fn unpadded<T: Copy + Send + Sync>(self, values: &[T]) -> Cow<'_, [T]> {
        assert!(values.len().is_multiple_of(self.pitch()), "whole rows");
        if self.is_tight() {
            return Cow::Borrowed(values);
        }
        let (nx, pitch, first) = (self.shape.nx, self.pitch(), self.first);
        let cells = values.len() / pitch * nx;
        let value = |at: usize| values[at / nx * pitch + first + at % nx];
        Cow::Owned((0..cells).into_par_iter().with_min_len(ELEMENTS).map(value).collect())
    }
}

/// Rows of `count` values, the first of which is at element `first` of `pitch` on the device.
#[derive(Clone, Copy)]
struct HostRows<'a, T> {
    values: &'a [T],
    count: usize,
    first: usize,
    pitch: usize,
}

impl<'a, T: Copy + Send + Sync> HostRows<'a, T> {
    /// Number of elements on the device.
    fn places(self) -> usize {
        assert!(self.values.len().is_multiple_of(self.count), "whole rows");
        self.values.len() / self.count * self.pitch
    }

    /// An element on the device.
    fn at(self, place: usize) -> T {
        let column = (place % self.pitch).saturating_sub(self.first).min(self.count - 1);
        self.values[place / self.pitch * self.count + column]
    }

    fn padded(self) -> Cow<'a, [T]> {
        let places = self.places();
        if self.count == self.pitch {
            return Cow::Borrowed(self.values);
        }
        let places = (0..places).into_par_iter().with_min_len(ELEMENTS);
        Cow::Owned(places.map(|place| self.at(place)).collect())
    }
}

impl<T: Element> HostRows<'_, T> {
    fn upload(self, to: &Buffer<T>, at: usize) -> Result<()> {
        let places = self.places();
        if self.count == self.pitch {
            return to.upload_to(at, self.values);
        }
        to.upload_made(at, places, |range, out| {
            out.iter_mut().zip(range).for_each(|(out, place)| *out = self.at(place));
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::grid::{Side, Sides};

    fn grid(nx: usize, side: Side) -> Grid {
        let shape = Shape { nx, ny: 2, nz: 1 };
        Grid::whole(shape, [1.0; 2], Sides::all(side))
    }

    #[test]
    fn what_is_laid_can_be_picked() {
        for nx in 8..13 {
            let layout = Layout::of(&grid(nx, Side::Specified), 4);
            assert!(layout.has_groups_of(4));
            let values: Vec<usize> = (0..2 * nx).collect();
            let places = layout.padded(&values);
            assert_eq!(places.len(), layout.columns());
            assert_eq!(places[layout.first], 0);
            assert_eq!(places[layout.pitch() + layout.first + 2], nx + 2);
            assert_eq!(*layout.unpadded(&places), *values);
            // The groups at both ends have two cells or more.
            assert!(layout.first <= 2 && layout.fill - layout.first <= 2, "{layout:?}");
            assert_eq!(layout.row_and_column(layout.pitch() + layout.first + 3), [1, 3]);
            let faces: Vec<usize> = (0..2 * (nx + 1)).collect();
            assert_eq!(layout.padded_x_faces(&faces)[layout.face_pitch() + layout.first], nx + 1);
        }
    }

    #[test]
    fn rows_in_sectors_begin_with_one() {
        for (nx, pitch) in [(71, 72), (72, 72), (73, 80), (1, 8)] {
            let layout = Layout::in_sectors(Shape { nx, ny: 2, nz: 1 });
            let values: Vec<usize> = (0..2 * nx).collect();
            let places = layout.padded(&values);
            assert_eq!((layout.pitch(), places.len()), (pitch, 2 * pitch));
            assert_eq!([places[0], places[pitch]], [0, nx]);
            assert_eq!(*layout.unpadded(&places), *values);
        }
    }

    #[test]
    fn rows_that_cannot_be_filled_stay_as_they_are() {
        for (nx, side, cells) in
            [(9, Side::Periodic, 4), (9, Side::Specified, 2), (7, Side::Open, 4)]
        {
            let layout = Layout::of(&grid(nx, side), cells);
            assert_eq!(layout, Layout::tight(layout.shape));
            assert!(!layout.has_groups_of(cells));
        }
        let layout = Layout::of(&grid(12, Side::Periodic), 4);
        assert!(layout.is_tight() && layout.has_groups_of(4));
    }
}
