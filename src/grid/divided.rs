//! A grid whose parts lie on several ranks, and its fields on their way between them.
//!
//! No rank has a volume of the whole. What needs whole levels, a file or the statistics of a level, asks for [`Slab`]s,
//! which are brought together on the ranks that want them, a slab on each at a time.

use std::ops::Range;
use std::sync::Arc;

use ndarray::{Array2, Array3, ArrayView3, Axis, s};

use super::{Grid, Parts, Shape, Window};
use crate::error::Result;
use crate::ranks::packing::{bytes, pack, unpack};
use crate::ranks::{Ranks, Received, Sent, Team, all};
use crate::real::Real;

/// Some levels and rows of a field of the whole grid, with all columns.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Slab {
    /// Levels.
    pub levels: Range<usize>,
    /// Rows.
    pub rows: Range<usize>,
}

impl Slab {
    /// The rows that it has in common with a window, in the numbers of the window.
    fn rows_of(&self, window: &Window) -> Range<usize> {
        let Range { start, end } = window.rows;
        let at = |row: usize| row.clamp(start, end) - start;
        at(self.rows.start)..at(self.rows.end)
    }
}

/// Points of a kind, centres of cells or faces, by the ranks that have them: each one is that of one rank.
#[derive(Clone, Debug)]
pub struct Layout {
    /// Rows and columns of the whole.
    extents: [usize; 2],
    /// So many of them more than cells.
    more: [usize; 2],
    /// Those of each rank, in the numbers of the whole.
    windows: Vec<Window>,
}

impl Layout {
    /// Points along y and x that there are more than cells.
    pub fn more(&self) -> [usize; 2] {
        self.more
    }

    /// Rows and columns of the whole.
    pub fn extents(&self) -> [usize; 2] {
        self.extents
    }

    /// Points with so many values each, one behind the other in their row.
    #[must_use]
    pub fn with_values(&self, values: usize) -> Self {
        let [rows, columns] = self.extents;
        let windows = self.windows.iter().map(|Window { rows, columns }| Window {
            rows: rows.clone(),
            columns: columns.start * values..columns.end * values,
        });
        Self { extents: [rows, columns * values], windows: windows.collect(), ..*self }
    }

    /// The points of a rank, in the numbers of the whole.
    pub fn window(&self, rank: usize) -> &Window {
        &self.windows[rank]
    }

    /// The slab that this rank wants, in the order of its values, out of those that all ranks want, by their numbers.
    /// All ranks ask for the same ones at once; each gives its points of the field.
    ///
    /// # Panics
    ///
    /// When the field does not have the points of this rank.
    pub fn slabs<R: Real>(
        &self,
        ranks: &dyn Ranks,
        mine: &ArrayView3<'_, R>,
        wanted: &[Option<Slab>],
    ) -> Vec<R> {
        let own = &self.windows[ranks.rank()];
        let (_, rows, columns) = mine.dim();
        assert_eq!([rows, columns], [own.rows.len(), own.columns.len()], "the points of this rank");
        let given = |slab: &Slab| {
            let Range { start, end } = slab.levels;
            mine.slice_move(s![start..end, slab.rows_of(own), ..])
        };
        let mut messages: Vec<(usize, Vec<u8>)> = Vec::new();
        for (rank, slab) in wanted.iter().enumerate() {
            if let Some(slab) = slab
                && rank != ranks.rank()
                && !slab.rows_of(own).is_empty()
            {
                let values = given(slab);
                let mut message = Vec::with_capacity(bytes::<R>(values.len()));
                pack(values, &mut message);
                messages.push((rank, message));
            }
        }
        let sent: Vec<Sent<'_>> =
            messages.iter().map(|(rank, bytes)| (*rank, &bytes[..])).collect();
        let Some(slab) = wanted.get(ranks.rank()).cloned().flatten() else {
            ranks.exchange(&sent, &mut []);
            return Vec::new();
        };
        let (levels, [_, nx]) = (slab.levels.len(), self.extents);
        let others = self
            .windows
            .iter()
            .enumerate()
            .filter(|(rank, window)| *rank != ranks.rank() && !slab.rows_of(window).is_empty());
        let mut rooms: Vec<(usize, Vec<u8>)> = others
            .map(|(rank, window)| {
                let values = levels * slab.rows_of(window).len() * window.columns.len();
                (rank, vec![0; bytes::<R>(values)])
            })
            .collect();
        let mut received: Vec<Received<'_>> =
            rooms.iter_mut().map(|(rank, room)| (*rank, &mut room[..])).collect();
        ranks.exchange(&sent, &mut received);
        let mut whole = Array3::zeros((levels, slab.rows.len(), nx));
        let place = |window: &Window| {
            let Range { start, end } = slab.rows_of(window);
            let first = window.rows.start + start - slab.rows.start;
            let rows = first..first + (end - start);
            (rows, window.columns.clone())
        };
        if !slab.rows_of(own).is_empty() {
            let (rows, columns) = place(own);
            whole.slice_mut(s![.., rows, columns]).assign(&given(&slab));
        }
        for (rank, room) in &rooms {
            let (rows, columns) = place(&self.windows[*rank]);
            unpack(room, whole.slice_mut(s![.., rows, columns]));
        }
        whole.into_raw_vec_and_offset().0
    }
}

/// A grid whose parts lie on several ranks, each on that of its number.
#[derive(Clone, Debug)]
pub struct DividedGrid {
    team: Team,
    parts: Parts,
}

impl DividedGrid {
    /// Parts of a grid, one for each rank.
    ///
    /// # Panics
    ///
    /// When there is not a part for each rank.
    pub fn new(team: &Team, parts: Parts) -> Self {
        assert_eq!(parts.grids().len(), team.ranks.size(), "a part for each rank");
        Self { team: team.clone(), parts }
    }

    /// Another grid, or another division, on the same ranks.
    ///
    /// # Panics
    ///
    /// As [`DividedGrid::new`].
    #[must_use]
    pub fn with_parts(&self, parts: Parts) -> Self {
        Self::new(&self.team, parts)
    }

    /// The ranks.
    pub fn ranks(&self) -> &Arc<dyn Ranks> {
        &self.team.ranks
    }

    /// The parts.
    pub fn parts(&self) -> &Parts {
        &self.parts
    }

    /// The part of this rank.
    pub fn own(&self) -> &Grid {
        &self.parts.grids()[self.team.ranks.rank()]
    }

    /// Points of the grid, so many more than cells along y and x: 1 along an axis for its faces. The last face of an axis
    /// is that of the owner of the last cell.
    pub fn layout(&self, more: [usize; 2]) -> Layout {
        let Shape { nx, ny, .. } = self.own().global();
        let end = |end: usize, all: usize, more: usize| if end == all { end + more } else { end };
        let with_faces = |Window { rows, columns }: Window| Window {
            rows: rows.start..end(rows.end, ny, more[0]),
            columns: columns.start..end(columns.end, nx, more[1]),
        };
        let windows = self.windows(Grid::owned).map(with_faces).collect();
        Layout { extents: [ny + more[0], nx + more[1]], more, windows }
    }

    /// The columns that the parts own outside the specified ones.
    pub fn unspecified(&self) -> Layout {
        let windows: Vec<Window> = self.windows(Grid::unspecified).collect();
        let first = |of: fn(&Window) -> usize| windows.iter().map(of).min().unwrap_or_default();
        let [row, column] =
            [first(|window| window.rows.start), first(|window| window.columns.start)];
        let last = |of: fn(&Window) -> usize| windows.iter().map(of).max().unwrap_or_default();
        let extents =
            [last(|window| window.rows.end) - row, last(|window| window.columns.end) - column];
        let from = |Window { rows, columns }: Window| Window {
            rows: rows.start - row..rows.end - row,
            columns: columns.start - column..columns.end - column,
        };
        Layout { extents, more: [0; 2], windows: windows.into_iter().map(from).collect() }
    }

    /// A window of each part, in the numbers of the whole.
    fn windows(&self, of: impl Fn(&Grid) -> Window) -> impl Iterator<Item = Window> {
        self.parts.grids().iter().map(move |part| {
            let Window { rows, columns } = of(part);
            let [j, i] = part.global_column([rows.start, columns.start]);
            Window { rows: j..j + rows.len(), columns: i..i + columns.len() }
        })
    }

    /// The points of a field of the part of this rank, with its margin, that are this rank's alone, and so many more than
    /// cells it has along y and x. Shape: (levels, ny, nx) of the part, or with one more along an axis.
    pub fn owned<'a, T>(&self, field: &'a Array3<T>) -> (ArrayView3<'a, T>, [usize; 2]) {
        let more = self.more_of(&field.view());
        (self.own_points(&field.view(), more), more)
    }

    /// Points along y and x that a field has more than the cells of this rank: of its part with the margin, or those that it
    /// owns.
    pub fn more_of<T>(&self, field: &ArrayView3<'_, T>) -> [usize; 2] {
        let (_, rows, columns) = field.dim();
        let Shape { nx, ny, .. } = self.own().shape;
        let owned = self.own().owned();
        let more = |points: usize, cells: usize, owned: usize| {
            points.checked_sub(cells).unwrap_or_else(|| points - owned)
        };
        [more(rows, ny, owned.rows.len()), more(columns, nx, owned.columns.len())]
    }

    /// The points of a field that are this rank's alone: of a field of its part with the margin, or of these points. `more`
    /// as in [`DividedGrid::layout`].
    pub fn own_points<'a, T>(
        &self,
        field: &ArrayView3<'a, T>,
        more: [usize; 2],
    ) -> ArrayView3<'a, T> {
        let layout = self.layout(more);
        let own = layout.window(self.team.ranks.rank());
        let (_, rows, columns) = field.dim();
        if [rows, columns] == [own.rows.len(), own.columns.len()] {
            return *field;
        }
        let Window { rows, columns } = self.own().owned();
        let rows = rows.start..rows.start + own.rows.len();
        let columns = columns.start..columns.start + own.columns.len();
        field.slice_move(s![.., rows, columns])
    }

    /// Planes of the whole on the first rank, of those of the columns that each rank owns; none elsewhere.
    /// Shape: (planes, ny, nx).
    pub fn on_first<R: Real>(&self, planes: &Array3<R>) -> Option<Array3<R>> {
        let layout = self.layout([0, 0]);
        let [rows, columns] = layout.extents;
        let count = planes.len_of(Axis(0));
        let all = Slab { levels: 0..count, rows: 0..rows };
        let values = layout.slabs(&*self.team.ranks, &planes.view(), &[Some(all)]);
        Array3::from_shape_vec((count, rows, columns), values).ok()
    }

    /// A result that all ranks have, or the failure of one of them ([`Team::agree`]).
    ///
    /// # Errors
    ///
    /// That of this rank, or of another one.
    pub fn agree<T>(&self, result: Result<T>) -> Result<T> {
        self.team.agree(result)
    }

    /// The smallest of the values that the ranks have.
    pub fn least(&self, value: f64) -> f64 {
        let values = all(&*self.team.ranks, [value.to_bits().cast_signed()]).into_iter();
        values.map(|[bits]| f64::from_bits(bits.cast_unsigned())).fold(f64::INFINITY, f64::min)
    }

    /// A plane of the whole on every rank, of a plane of each part with its margin.
    ///
    /// # Panics
    ///
    /// When the plane is not of the part.
    pub fn everywhere<R: Real>(&self, plane: &Array2<R>) -> Array2<R> {
        let field = plane.view().insert_axis(Axis(0)).to_owned();
        let (mine, more) = self.owned(&field);
        let layout = self.layout(more);
        let [rows, columns] = layout.extents;
        let all = Slab { levels: 0..1, rows: 0..rows };
        let values =
            layout.slabs(&*self.team.ranks, &mine, &vec![Some(all); self.team.ranks.size()]);
        Array2::from_shape_vec((rows, columns), values).expect("all points of the plane")
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::grid::{Shape, Side, Sides};
    use crate::ranks::Alone;

    #[test]
    fn who_is_alone_has_every_slab() {
        let shape = Shape { nx: 5, ny: 4, nz: 3 };
        let grid = Grid::whole(shape, [1.0, 1.0], Sides::all(Side::Open));
        let team = Team::new(Arc::new(Alone));
        let divided = DividedGrid::new(&team, Parts::new(&grid, [&[], &[]], [10, 10]));
        let faces =
            Array3::from_shape_fn(shape.x_face(), |(k, j, i)| (100 * k + 10 * j + i) as f32);
        let (mine, more) = divided.owned(&faces);
        let layout = divided.layout(more);
        assert_eq!((more, layout.extents()), ([0, 1], [4, 6]));
        let slab = Slab { levels: 1..3, rows: 1..3 };
        let found = layout.slabs(&Alone, &mine, &[Some(slab)]);
        assert_eq!(found, faces.slice(s![1..3, 1..3, ..]).iter().copied().collect::<Vec<_>>());
        assert!(layout.slabs(&Alone, &mine, &[None]).is_empty());
        let plane = Array2::from_shape_fn((4, 5), |(j, i)| (10 * j + i) as f64);
        assert_eq!(divided.everywhere(&plane), plane);
        let layout = divided.layout([0, 0]).with_values(2);
        assert_eq!(layout.extents(), [4, 10]);
    }
}
