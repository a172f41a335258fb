//! A grid cut into parts, and which cells of a margin come from which part.

use std::ops::Range;

use ndarray::Array3;

use super::part::{Axis, Window};
use super::{Grid, Shape};

/// A grid cut into parts along x and along y: each cell of it has one owner.
#[derive(Clone, Debug)]
pub struct Parts {
    /// The axes of the parts from west to east.
    x: Vec<Axis>,
    /// The axes of the parts from south to north.
    y: Vec<Axis>,
    grids: Vec<Grid>,
}

/// Columns of a part's margin that lie side by side in the part that owns them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Piece {
    /// Number of the owner.
    pub from: usize,
    /// The columns in the numbers of the owner.
    pub source: Window,
    /// The columns in the numbers of the part whose margin they are.
    pub target: Window,
}

impl Piece {
    /// Copies the piece of a field of the owner into that of the part. Shape: (nz, ny, nx) of either.
    ///
    /// # Panics
    ///
    /// When a field is not of its part.
    pub fn copy<T: Copy>(&self, owner: &Array3<T>, part: &mut Array3<T>) {
        self.target.of_mut(part).assign(&self.source.of(owner));
    }
}

impl Parts {
    /// Cuts a grid at these columns and rows, in ascending order and inside the grid, with margins of so many columns
    /// and rows at the cuts.
    ///
    /// A margin ends at a side of the grid that is not periodic. A step of the transport needs
    /// [`MARGIN`](crate::advection::MARGIN).
    ///
    /// # Panics
    ///
    /// When a part would have no cell, or when the grid is a part itself.
    pub fn new(
        grid: &Grid,
        [columns, rows]: [&[usize]; 2],
        [margin_x, margin_y]: [usize; 2],
    ) -> Self {
        assert!(grid.part.is_none(), "a part is not cut again");
        let Shape { nx, ny, .. } = grid.shape;
        let axes = |cuts: &[usize], cells: usize, margin: usize, is_periodic: bool| -> Vec<Axis> {
            let starts = std::iter::once(0).chain(cuts.iter().copied());
            let ends = cuts.iter().copied().chain(std::iter::once(cells));
            starts.zip(ends).map(|(a, b)| Axis::new(cells, a..b, margin, is_periodic)).collect()
        };
        let x = axes(columns, nx, margin_x, grid.sides.periodic_x());
        let y = axes(rows, ny, margin_y, grid.sides.periodic_y());
        let grids =
            y.iter().flat_map(|&y| x.iter().map(move |&x| [x, y])).map(|[x, y]| grid.part(x, y));
        Self { grids: grids.collect(), x, y }
    }

    /// The parts from west to east, row by row from south to north.
    pub fn grids(&self) -> &[Grid] {
        &self.grids
    }

    /// The pieces that the margin of a part is made of, each column in one of them.
    pub fn pieces(&self, part: usize) -> Vec<Piece> {
        let [row, column] = [part / self.x.len(), part % self.x.len()];
        let [rows, columns] = [stretches(&self.y, row), stretches(&self.x, column)];
        let mut pieces = Vec::new();
        for y in &rows {
            for x in columns.iter().filter(|x| !(x.is_owned && y.is_owned)) {
                pieces.push(Piece {
                    from: y.from * self.x.len() + x.from,
                    source: Window { rows: y.source.clone(), columns: x.source.clone() },
                    target: Window { rows: y.target.clone(), columns: x.target.clone() },
                });
            }
        }
        pieces
    }
}

/// Cells of one part's axis that lie side by side in the axis of their owner.
struct Stretch {
    from: usize,
    source: Range<usize>,
    target: Range<usize>,
    /// They are not of the margin.
    is_owned: bool,
}

/// All cells of one of the axes that another one is cut into, as stretches.
fn stretches(axes: &[Axis], number: usize) -> Vec<Stretch> {
    let axis = axes[number];
    let owner = |cell: usize| {
        let owners = axes.iter().enumerate();
        let mut found = owners.filter_map(|(from, axis)| Some((from, axis.local(cell)?)));
        found.next().expect("every cell has an owner")
    };
    let mut stretches: Vec<Stretch> = Vec::new();
    for cell in 0..axis.cells() {
        let (from, at) = owner(axis.global(cell));
        let is_owned = axis.range().contains(&cell);
        match stretches.last_mut() {
            Some(last)
                if last.from == from && last.source.end == at && last.is_owned == is_owned =>
            {
                last.source.end += 1;
                last.target.end += 1;
            }
            _ => stretches.push(Stretch {
                from,
                source: at..at + 1,
                target: cell..cell + 1,
                is_owned,
            }),
        }
    }
    stretches
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::grid::{Margins, Side, Sides};

    fn grid(nx: usize, x: Side, y: Side) -> Grid {
        let sides = Sides { west: x, east: x, south: y, north: y };
        Grid::whole(Shape { nx, ny: 20, nz: 2 }, [1.0, 2.0], sides)
    }

    /// The numbers of the columns of a grid, in each of two levels.
    fn numbers(grid: &Grid) -> Array3<usize> {
        let Shape { nx, ny, .. } = grid.shape;
        Array3::from_shape_fn(grid.shape.centre(), |(k, j, i)| (k * ny + j) * nx + i)
    }

    /// Each part with its margin filled by pieces has the cells of the whole, whatever the sides; margins of 25 go
    /// more than once around an axis of 21 cells.
    #[test]
    fn pieces_fill_margins_with_the_cells_of_the_whole() {
        for (x, y) in [(Side::Periodic, Side::Open), (Side::Specified, Side::Periodic)] {
            for (cuts, margin) in [
                ([&[9][..], &[12][..]], 3),
                ([&[5, 6, 16][..], &[][..]], 4),
                ([&[10][..], &[10][..]], 25),
                ([&[][..], &[][..]], 10),
            ] {
                let whole = grid(21, x, y);
                let parts = Parts::new(&whole, cuts, [margin; 2]);
                let all = numbers(&whole);
                let mut owners = Array3::<usize>::zeros(all.dim());
                let full: Vec<_> = parts.grids().iter().map(|part| part.cells(&all)).collect();
                for (n, part) in parts.grids().iter().enumerate() {
                    let mut mine = Array3::from_elem(part.shape.centre(), usize::MAX);
                    let owned = part.owned();
                    owned.of_mut(&mut mine).assign(&owned.of(&full[n]));
                    for piece in parts.pieces(n) {
                        piece.copy(&full[piece.from], &mut mine);
                        // The owner owns them.
                        let of_owner = parts.grids()[piece.from].owned();
                        assert!(piece.source.rows.end <= of_owner.rows.end);
                        assert!(piece.source.columns.start >= of_owner.columns.start);
                    }
                    assert_eq!(mine, full[n], "{part:?}");
                    for j in owned.rows.clone() {
                        for i in owned.columns.clone() {
                            let [j, i] = part.global_column([j, i]);
                            owners[[0, j, i]] += 1;
                        }
                    }
                }
                assert!(owners.slice(ndarray::s![0, .., ..]).iter().all(|&n| n == 1), "{cuts:?}");
            }
        }
    }

    #[test]
    fn margins_end_at_sides_and_go_around_periodic_axes() {
        let whole = grid(21, Side::Specified, Side::Periodic);
        let parts = Parts::new(&whole, [&[7, 14], &[5]], [3, 4]);
        let west = &parts.grids()[0];
        assert_eq!(west.margins(), Margins { west: 0, east: 3, south: 4, north: 4 });
        assert_eq!((west.shape.nx, west.shape.ny), (10, 13));
        assert_eq!(west.sides, whole.sides);
        assert_eq!(west.boundaries(), [Some(Side::Specified), None, None, None]);
        assert_eq!(west.inner(), Window { rows: 4..9, columns: 1..7 });
        assert_eq!(west.unspecified(), west.inner());
        assert_eq!(west.global_column([0, 9]), [16, 9]);
        assert_eq!(west.global(), whole.shape);
        // Cut on both sides: neither is a side.
        let middle = &parts.grids()[1];
        assert_eq!([middle.sides.west, middle.sides.east], [Side::Periodic; 2]);
        assert_eq!(middle.boundaries(), [None; 4]);
        assert_eq!(middle.inner(), middle.owned());
        // A margin that reaches the other side sees it, without owning it.
        let parts = Parts::new(&whole, [&[18], &[]], [3, 4]);
        assert_eq!(parts.grids()[0].shape.nx, 21);
        assert_eq!(parts.grids()[0].boundaries()[1], None);
        assert_eq!(parts.grids()[0].margins(), Margins { east: 3, ..Margins::default() });
    }

    #[test]
    fn a_grid_by_itself_is_whole_and_has_no_margin() {
        let sides = Sides { east: Side::Open, ..Sides::all(Side::Specified) };
        let whole = Grid::whole(Shape { nx: 6, ny: 5, nz: 2 }, [1.0, 1.0], sides);
        assert!(whole.is_whole());
        assert_eq!(whole.owned(), Window { rows: 0..5, columns: 0..6 });
        assert_eq!(whole.inner(), Window { rows: 1..4, columns: 1..5 });
        assert_eq!(whole.unspecified(), Window { rows: 1..4, columns: 1..6 });
        assert_eq!(whole.cells(&numbers(&whole)), numbers(&whole));
        let faces = Array3::from_shape_fn(whole.shape.x_face(), |(k, j, i)| [k, j, i]);
        assert_eq!(whole.x_faces(&faces), faces);
        let one = Parts::new(&whole, [&[], &[]], [10, 10]);
        assert!(one.grids()[0].is_whole() && one.pieces(0).is_empty());
        assert_eq!(one.grids()[0].sides, whole.sides);
    }

    #[test]
    #[should_panic(expected = "cells 9..9 of an axis of 21")]
    fn every_part_has_cells() {
        Parts::new(&grid(21, Side::Open, Side::Open), [&[9, 9], &[]], [1, 1]);
    }
}
