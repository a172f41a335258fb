//! The matrix of a grid in double precision, from which the hierarchy is computed.

use rayon::prelude::*;

use crate::error::Result;
use crate::primitives::csr::Csr;

/// Conductances of the faces between the cells of a rectangle, and between its outermost cells and a potential of 0.
#[derive(Clone, Debug, PartialEq)]
pub struct Conductances {
    /// Cells in x and y.
    pub extents: [usize; 2],
    /// `true` for directions in which the last cell is a neighbour of the first.
    pub periodic: [bool; 2],
    /// Conductances of the faces between neighbours in x; the first and last of a row are the same face if x is
    /// periodic. Shape: (ny, nx + 1).
    pub x: Vec<f64>,
    /// The same in y. Shape: (ny + 1, nx).
    pub y: Vec<f64>,
}

/// Faces of a cell.
const FACES: usize = 4;

impl Conductances {
    /// The matrix of the equation. A face couples its two cells symmetrically.
    ///
    /// # Errors
    ///
    /// [`Error::Input`](crate::error::Error::Input) when a conductance is not finite.
    ///
    /// # Panics
    ///
    /// When a plane does not have its shape.
    pub fn matrix(&self) -> Result<Csr<f64>> {
        let [nx, ny] = self.extents;
        self.check_shapes();
        let rows: Vec<(Vec<u32>, Vec<f64>, Vec<usize>)> = (0..ny)
            .into_par_iter()
            .map(|j| {
                let (mut columns, mut values) = (Vec::new(), Vec::new());
                let mut ends = Vec::with_capacity(nx);
                columns.reserve((FACES + 1) * nx);
                values.reserve((FACES + 1) * nx);
                for i in 0..nx {
                    self.put_row([j, i], &mut columns, &mut values);
                    ends.push(values.len());
                }
                (columns, values, ends)
            })
            .collect();
        let entries = rows.iter().map(|(_, values, _)| values.len()).sum();
        let mut starts = Vec::with_capacity(nx * ny + 1);
        starts.push(0);
        let (mut column_of, mut values) =
            (Vec::with_capacity(entries), Vec::with_capacity(entries));
        for (columns, row, ends) in rows {
            let from = values.len();
            starts.extend(ends.iter().map(|end| from + end));
            column_of.extend(columns);
            values.extend(row);
        }
        Csr::from_parts(nx * ny, starts, column_of, values)
    }

    /// Appends the entries of a cell; two of its neighbours may be the same cell.
    fn put_row(&self, [j, i]: [usize; 2], columns: &mut Vec<u32>, values: &mut Vec<f64>) {
        let [nx, ny] = self.extents;
        let number = |j: usize, i: usize| (j * nx + i) as u32;
        if (1..nx.max(1) - 1).contains(&i) && (1..ny.max(1) - 1).contains(&j) {
            let [west, east] = [self.x[j * (nx + 1) + i], self.x[j * (nx + 1) + i + 1]];
            let [south, north] = [self.y[j * nx + i], self.y[(j + 1) * nx + i]];
            let c = number(j, i);
            columns.extend([c - nx as u32, c - 1, c, c + 1, c + nx as u32]);
            values.extend([-south, -west, west + south + east + north, -east, -north]);
            return;
        }
        let neighbour = |at: usize, n: usize, periodic: bool, ahead: bool| {
            let inside = if ahead { (at + 1 < n).then_some(at + 1) } else { at.checked_sub(1) };
            inside.or(periodic.then_some(if ahead { 0 } else { n - 1 }))
        };
        let mut terms = [(0, 0.0); 2 * FACES];
        let mut count = 0;
        let mut put = |column: u32, value: f64| {
            terms[count] = (column, value);
            count += 1;
        };
        for ahead in [false, true] {
            let conductance = self.x[j * (nx + 1) + i + usize::from(ahead)];
            put(number(j, i), conductance);
            if let Some(other) = neighbour(i, nx, self.periodic[0], ahead) {
                put(number(j, other), -conductance);
            }
            let conductance = self.y[(j + usize::from(ahead)) * nx + i];
            put(number(j, i), conductance);
            if let Some(other) = neighbour(j, ny, self.periodic[1], ahead) {
                put(number(other, i), -conductance);
            }
        }
        let terms = &mut terms[..count];
        terms.sort_by_key(|(column, _)| *column);
        for same in terms.chunk_by(|a, b| a.0 == b.0) {
            columns.push(same[0].0);
            values.push(same.iter().map(|(_, value)| value).sum());
        }
    }

    fn check_shapes(&self) {
        let [nx, ny] = self.extents;
        let found = [self.x.len(), self.y.len()];
        assert_eq!(found, [ny * (nx + 1), (ny + 1) * nx], "shapes of the conductances");
    }
}

/// A symmetric matrix with entries for the eight neighbours of a cell, as planes (ny, nx).
#[derive(Clone, Debug)]
pub(super) struct Stencil {
    /// Cells in x and y.
    pub(super) extents: [usize; 2],
    /// `true` for directions in which the last cell is a neighbour of the first. With two cells a direction is not
    /// periodic: both faces between them count as one.
    pub(super) wraps: [bool; 2],
    /// Couplings to the neighbours, as in [`Level`](super::Level).
    pub(super) west: Vec<f64>,
    pub(super) south: Vec<f64>,
    pub(super) south_west: Vec<f64>,
    pub(super) south_east: Vec<f64>,
    pub(super) diagonal: Vec<f64>,
}

/// Fewest cells of a direction that wraps around.
const FEWEST: usize = 3;

impl Stencil {
    /// The matrix of conductances.
    pub(super) fn new(conductances: &Conductances) -> Self {
        conductances.check_shapes();
        let Conductances { extents, periodic, x, y } = conductances;
        let [nx, ny] = *extents;
        let wraps = [periodic[0] && nx >= FEWEST, periodic[1] && ny >= FEWEST];
        // Faces on both sides of a cell, and those that connect it with itself.
        let of_x = |j: usize, i: usize| {
            let [a, b] = [x[j * (nx + 1) + i], x[j * (nx + 1) + i + 1]];
            if periodic[0] && nx == 1 { [0.0; 2] } else { [a, b] }
        };
        let of_y = |j: usize, i: usize| {
            let [a, b] = [y[j * nx + i], y[(j + 1) * nx + i]];
            if periodic[1] && ny == 1 { [0.0; 2] } else { [a, b] }
        };
        let plane = |value: &(dyn Fn(usize, usize) -> f64 + Sync)| -> Vec<f64> {
            (0..nx * ny).into_par_iter().map(|c| value(c / nx, c % nx)).collect()
        };
        let west = plane(&|j, i| {
            let [a, b] = of_x(j, i);
            let both = if periodic[0] && nx == 2 { a + b } else { a };
            if i > 0 {
                both
            } else if wraps[0] {
                a
            } else {
                0.0
            }
        });
        let south = plane(&|j, i| {
            let [a, b] = of_y(j, i);
            let both = if periodic[1] && ny == 2 { a + b } else { a };
            if j > 0 {
                both
            } else if wraps[1] {
                a
            } else {
                0.0
            }
        });
        let diagonal = plane(&|j, i| {
            let ([a, b], [c, d]) = (of_x(j, i), of_y(j, i));
            (a + b) + (c + d)
        });
        let (south_west, south_east) = (Vec::new(), Vec::new());
        Self { extents: *extents, wraps, west, south, south_west, south_east, diagonal }
    }

    /// A matrix without entries.
    pub(super) fn zeros(extents: [usize; 2], wraps: [bool; 2]) -> Self {
        let plane = || vec![0.0; extents[0] * extents[1]];
        Self {
            extents,
            wraps: [wraps[0] && extents[0] >= FEWEST, wraps[1] && extents[1] >= FEWEST],
            west: plane(),
            south: plane(),
            south_west: plane(),
            south_east: plane(),
            diagonal: plane(),
        }
    }

    /// The neighbour of a cell at an offset of -1 to 1 in x and y, and the coupling to it; `None` where there is none.
    pub(super) fn neighbour(
        &self,
        [j, i]: [usize; 2],
        [oy, ox]: [isize; 2],
    ) -> Option<([usize; 2], f64)> {
        let [nx, ny] = self.extents;
        let there = [moved(j, oy, ny, self.wraps[1])?, moved(i, ox, nx, self.wraps[0])?];
        let [here, other] = [j * nx + i, there[0] * nx + there[1]];
        let corner = |plane: &[f64], at: usize| if plane.is_empty() { 0.0 } else { plane[at] };
        let coupling = match (oy, ox) {
            (0, -1) => self.west[here],
            (0, 1) => self.west[other],
            (-1, 0) => self.south[here],
            (1, 0) => self.south[other],
            (-1, -1) => corner(&self.south_west, here),
            (1, 1) => corner(&self.south_west, other),
            (-1, 1) => corner(&self.south_east, here),
            (1, -1) => corner(&self.south_east, other),
            _ => return None,
        };
        Some((there, coupling))
    }
}

/// Index at an offset of -1 to 1.
fn moved(at: usize, offset: isize, n: usize, wraps: bool) -> Option<usize> {
    match offset {
        0 => Some(at),
        1 if at + 1 < n => Some(at + 1),
        1 => wraps.then_some(0),
        _ => at.checked_sub(1).or(wraps.then_some(n - 1)),
    }
}

/// Offsets of the neighbours in y and x.
pub(super) const AROUND: [[isize; 2]; 8] =
    [[-1, -1], [-1, 0], [-1, 1], [0, -1], [0, 1], [1, -1], [1, 0], [1, 1]];
