//! Shape, spacing, staggering and sides of the grid.
//!
//! Fields are stored `(k, j, i)`: i (west to east) fastest, k = 0 at the ground. A level is one
//! contiguous plane, and columns flatten to `c = j * nx + i`. On the Arakawa C grid an x-face i
//! lies between cells i-1 and i (`nx + 1` faces), a y-face j between rows j-1 and j, a z-face k
//! between layers k-1 and k.
//!
//! Periodic neighbours are found by their index, and the lateral boundary conditions of the other sides set the
//! outermost cells of the grid, not ghost cells beyond it: a grid by itself has no halo.
//!
//! A grid may be a part of a larger one, the global grid ([`Parts`]). Its shape then covers the cells that it owns and
//! around them a margin (a halo) of cells that its neighbours own. Fields, layouts and kernels have the shape with the
//! margin and do not distinguish the two; sums, checks of finite values, microphysics and frames of output use
//! [`Grid::owned`], [`Grid::inner`] and [`Grid::unspecified`], in which a cell of the global grid is in exactly one
//! part. A grid by itself owns all of its cells and has no margin.
//!
//! # Decisions
//!
//! **A part has one wide margin, refreshed once a step.** A step of the transport reaches as far as
//! [`MARGIN`](crate::advection::MARGIN): three stages of three cells, and one for the limiter. Kernels run unchanged on
//! the part with its margin, and repeat cells of their neighbours; tiles of the transport leave out rows that no later
//! stage reads. Refreshing after every stage would transfer as many cells in three times as many messages, and would
//! divide a step.
//!
//! **A cut side is treated as a side, and the margin absorbs the error.** It has the kind of the side at the other end
//! of its axis, or is periodic if both are cut, so that no kernel has a further kind. What a run derives of the grid as a
//! whole from planes (the potential of the projection) every part derives for itself, and takes its faces of it.
//!
//! **On several ranks no rank has a volume of the whole** ([`DividedGrid`]): each reads its part of the input, with the
//! margin, and levels are brought together only where they are reduced or written. Planes of the whole may be anywhere.

mod divided;
mod gathered_columns;
#[cfg(feature = "gpu")]
pub mod gpu;
mod part;
mod parts;

use std::fmt;
use std::str::FromStr;

pub use divided::{DividedGrid, Layout, Slab};
pub use gathered_columns::GatheredColumns;
use part::Part;
pub use part::{Margins, Window};
pub use parts::{Parts, Piece};

/// Radius of the Earth, m (WRF `EARTH_RADIUS_M` of `share/module_llxy`).
pub const EARTH_RADIUS: f64 = 6_370_000.0;

/// Number of cells along each axis.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Shape {
    /// Cells from west to east.
    pub nx: usize,
    /// Cells from south to north.
    pub ny: usize,
    /// Layers from the ground up.
    pub nz: usize,
}

impl Shape {
    /// Number of cells.
    pub fn cells(self) -> usize {
        self.nx * self.ny * self.nz
    }

    /// Number of columns, which is also the number of cells in a level.
    pub fn columns(self) -> usize {
        self.nx * self.ny
    }

    /// Shape of a field at cell centres.
    pub fn centre(self) -> (usize, usize, usize) {
        (self.nz, self.ny, self.nx)
    }

    /// Shape of a field on x-faces.
    pub fn x_face(self) -> (usize, usize, usize) {
        (self.nz, self.ny, self.nx + 1)
    }

    /// Shape of a field on y-faces.
    pub fn y_face(self) -> (usize, usize, usize) {
        (self.nz, self.ny + 1, self.nx)
    }

    /// Shape of a field on z-faces.
    pub fn z_face(self) -> (usize, usize, usize) {
        (self.nz + 1, self.ny, self.nx)
    }
}

impl fmt::Display for Shape {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}x{}x{}", self.nx, self.ny, self.nz)
    }
}

/// Lateral boundary condition on a side of the grid.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Side {
    /// The opposite side.
    Periodic,
    /// Prescribed air: boundary values at inflow; outflow does not change the interior.
    Specified,
    /// Open: radiative outflow from the outermost row.
    Open,
}

impl fmt::Display for Side {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Periodic => "periodic",
            Self::Specified => "specified",
            Self::Open => "open",
        })
    }
}

impl FromStr for Side {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let all = [Self::Periodic, Self::Specified, Self::Open];
        let message = || format!("{text:?} is not a boundary: give periodic, specified or open");
        all.into_iter().find(|side| side.to_string() == text).ok_or_else(message)
    }
}

/// The four lateral sides; the two of an axis are both periodic or neither.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Sides {
    /// West, where i = 0.
    pub west: Side,
    /// East, where i = nx - 1.
    pub east: Side,
    /// South, where j = 0.
    pub south: Side,
    /// North, where j = ny - 1.
    pub north: Side,
}

impl Sides {
    /// The same on all sides.
    pub const fn all(side: Side) -> Self {
        Self { west: side, east: side, south: side, north: side }
    }

    /// Returns `true` if x is periodic: west joins east.
    pub fn periodic_x(self) -> bool {
        self.west == Side::Periodic
    }

    /// Returns `true` if y is periodic: south joins north.
    pub fn periodic_y(self) -> bool {
        self.south == Side::Periodic
    }

    /// Columns i inside the outermost specified or open ones.
    pub fn inner_x(self, nx: usize) -> std::ops::Range<usize> {
        if self.periodic_x() { 0..nx } else { 1..nx - 1 }
    }

    /// Rows j inside the outermost specified or open ones.
    pub fn inner_y(self, ny: usize) -> std::ops::Range<usize> {
        if self.periodic_y() { 0..ny } else { 1..ny - 1 }
    }
}

impl fmt::Display for Sides {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{},{}", self.west, self.south)
    }
}

/// One kind for all sides, or two for the sides in x and in y, as in `periodic,specified`.
impl FromStr for Sides {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let (x, y) = text.split_once(',').unwrap_or((text, text));
        let (x, y): (Side, Side) = (x.trim().parse()?, y.trim().parse()?);
        Ok(Self { west: x, east: x, south: y, north: y })
    }
}

/// The horizontal extent of the grid and its sides.
#[derive(Clone, Copy, Debug)]
pub struct Grid {
    /// Number of cells, those of the margin of a part included.
    pub shape: Shape,
    /// Distance between columns from west to east on the map, m.
    pub dx: f64,
    /// Distance between rows from south to north on the map, m.
    pub dy: f64,
    /// The lateral sides, as the transport treats them; [`Grid::boundaries`] says which of them are sides of the
    /// global grid.
    pub sides: Sides,
    /// The cells of the global grid that this one has, if it is a part of one.
    part: Option<Part>,
}

impl Grid {
    /// A grid by itself.
    ///
    /// Units: `dx` and `dy` m.
    pub fn whole(shape: Shape, [dx, dy]: [f64; 2], sides: Sides) -> Self {
        Self { shape, dx, dy, sides, part: None }
    }

    /// A grid by itself with the spacing and the number of cells of this one, and other sides.
    #[must_use]
    pub fn with_sides(self, sides: Sides) -> Self {
        Self::whole(self.shape, [self.dx, self.dy], sides)
    }

    /// A grid by itself with the spacing and the sides of this one, and another number of cells.
    #[must_use]
    pub fn with_shape(self, shape: Shape) -> Self {
        Self::whole(shape, [self.dx, self.dy], self.sides)
    }
}
