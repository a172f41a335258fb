//! Interpolation weights for another grid, from files in SCRIP or ESMF format.
//!
//! A weight file lists links, each with a source cell, a target cell and a weight; cells count from 1 in row-major
//! order. The links are the entries of a sparse matrix that interpolates a level of the source to one of the target.
//!
//! Sources: Jones 1999, Mon. Wea. Rev. 127, 2204-2210, and the SCRIP user's guide 1.4 for the SCRIP format; the
//! reference manual of ESMF, "Regrid Weight File Format", for the other.
//!
//! # Decisions
//!
//! **A weight file is checked as far as it can be.** Sums of weights are compared with the normalisation that the file
//! names and the covered fractions that it lists, totals where it has areas, and the positions of its source cells with
//! those of the grid. The order of its dimensions is not trusted either: rows end where the distance to the next cell
//! is longer than before and after.

mod check;
mod formats;
mod scrip;

use std::fmt;
use std::path::{Path, PathBuf};

use crate::domain::Domain;
use crate::error::{Error, Result};
use crate::grid::Shape;
use crate::io::read::reader::Reader;
use crate::primitives::csr::Csr;
use formats::{ESMF, SCRIP};

/// Sum of the weights of a target cell, as the file states it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Normalisation {
    /// 1: the weights give the mean over the covered part of the cell.
    FracArea,
    /// The covered fraction: the content of the covered part is spread over the whole cell.
    DestArea,
    /// 1 for interpolation; the covered area for conservative weights.
    None,
}

impl Normalisation {
    /// Value of the attribute `normalization`.
    pub fn name(self) -> &'static str {
        match self {
            Self::FracArea => "fracarea",
            Self::DestArea => "destarea",
            Self::None => "none",
        }
    }
}

/// Kind of horizontal coordinates.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Coordinates {
    /// Longitude and latitude, degrees.
    Degrees,
    /// Distances along x and y on a plane or a map, m.
    Metres,
}

impl Coordinates {
    /// Name and attributes of the coordinates along x and y in CF files.
    pub(in crate::io) fn axes(self) -> [(&'static str, [(&'static str, &'static str); 3]); 2] {
        let about = |name, units, long_name, standard_name| {
            let units = ("units", units);
            (name, [units, ("long_name", long_name), ("standard_name", standard_name)])
        };
        match self {
            Self::Degrees => [
                about("lon", "degrees_east", "longitude", "longitude"),
                about("lat", "degrees_north", "latitude", "latitude"),
            ],
            Self::Metres => [
                about("x", "m", "distance along x", "projection_x_coordinate"),
                about("y", "m", "distance along y", "projection_y_coordinate"),
            ],
        }
    }
}

/// Arrangement of the cells of a target grid.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Arrangement {
    /// In rows of `nx` cells, `ny` of them.
    Rows {
        /// Cells of a row.
        nx: usize,
        /// Number of rows.
        ny: usize,
    },
    /// A list of cells.
    List(usize),
}

impl Arrangement {
    /// Number of cells.
    pub fn cells(self) -> usize {
        match self {
            Self::Rows { nx, ny } => nx * ny,
            Self::List(cells) => cells,
        }
    }
}

impl fmt::Display for Arrangement {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Rows { nx, ny } => write!(f, "{nx}x{ny}"),
            Self::List(cells) => write!(f, "{cells}"),
        }
    }
}

/// The target grid of the weights.
#[derive(Clone, Debug, PartialEq)]
pub struct Target {
    /// Arrangement of its cells.
    pub arrangement: Arrangement,
    /// Kind of its coordinates.
    pub coordinates: Coordinates,
    /// Longitude, degrees, or x, m, of every cell's centre.
    pub x: Vec<f64>,
    /// Latitude, degrees, or y, m, of every cell's centre.
    pub y: Vec<f64>,
    /// The same for the corners; every cell has the same number, those of a cell are contiguous.
    pub corners: Option<[Vec<f64>; 2]>,
}

impl Target {
    /// Coordinates of the columns and of the rows, if all rows and all columns are alike.
    pub fn axes(&self) -> Option<[Vec<f64>; 2]> {
        let Arrangement::Rows { nx, ny } = self.arrangement else { return None };
        let x = self.x[..nx].to_vec();
        let y: Vec<f64> = self.y.iter().step_by(nx).copied().collect();
        let alike = (0..ny)
            .all(|j| (0..nx).all(|i| self.x[j * nx + i] == x[i] && self.y[j * nx + i] == y[j]));
        alike.then_some([x, y])
    }
}

/// Weights from one grid to another.
#[derive(Clone, Debug)]
pub struct Weights {
    /// Description of the method.
    pub method: String,
    /// Sum of the weights of a cell.
    pub normalisation: Normalisation,
    /// Matrix from a level of the source grid to one of the target grid. Weights that contained areas have been divided
    /// by them.
    pub matrix: Csr<f64>,
    /// Covered fraction of each target cell.
    pub fraction: Vec<f64>,
    /// Areas of the cells of source and target in the same unit, if known.
    pub areas: Option<[Vec<f64>; 2]>,
    /// Covered fraction of each source cell, if it is known.
    pub source_fraction: Option<Vec<f64>>,
    /// Centres of the source cells, if known: longitude, degrees, or x, m, and latitude or y of every cell.
    pub source: Option<(Coordinates, [Vec<f64>; 2])>,
    /// The target grid.
    pub target: Target,
}

/// A weight file that has been read and is consistent in itself.
#[derive(Clone, Debug)]
pub struct WeightFile {
    /// Its name.
    pub path: PathBuf,
    /// Weights of the file.
    pub weights: Weights,
    /// Numbers of cells along the axes of the source grid, if the file has them.
    pub source_dimensions: Vec<usize>,
    /// Difference of the total of the target from that of the source, relative to it, if areas are known and the method
    /// is conservative.
    pub conservation: Option<f64>,
    /// Largest distance of the sums of weights from those of the normalisation.
    pub defect: f64,
}

impl WeightFile {
    /// Reads a weight file of either format.
    ///
    /// # Errors
    ///
    /// [`Error::Io`] or [`Error::Input`] when the file cannot be read, has another format, lacks a variable, has an
    /// index out of range, or has weights that contradict its normalisation.
    pub fn read(path: &Path) -> Result<Self> {
        let reader = Reader::open(path)?;
        let form =
            [&SCRIP, &ESMF].into_iter().find(|form| form.is_of(&reader)).ok_or_else(|| {
                reader.error(format!(
                    "is not a weight file: it has neither {} (SCRIP) nor {} (ESMF); nwp-mini \
                     weights writes one",
                    SCRIP.links.join(", "),
                    ESMF.links.join(", ")
                ))
            })?;
        form.read(&reader)
    }

    /// Fails unless the source grid of the weights is that of a run.
    ///
    /// # Errors
    ///
    /// [`Error::Input`] with both sizes, or with the cell whose position differs.
    pub fn check_source(&self, domain: &Domain) -> Result<()> {
        let Shape { nx, ny, .. } = domain.grid.shape;
        let found = self.weights.matrix.columns();
        // A file may name the number of rows first; the order of the cells is the same.
        let dimensions: &[usize] = &self.source_dimensions;
        let fits = match dimensions {
            [a, b] => [*a, *b] == [nx, ny] || [*a, *b] == [ny, nx],
            _ => true,
        };
        if found != nx * ny || !fits {
            let found = match dimensions {
                [a, b] => format!("{a}x{b} cells"),
                _ => format!("{found} cells"),
            };
            return Err(Error::input(
                &self.path,
                format!(
                    "has a source grid of {found}; the run has {nx}x{ny}, {}; create weights for \
                     that grid, for example with nwp-mini weights",
                    nx * ny
                ),
            ));
        }
        check::same_places(&self.path, &self.weights, domain)
    }
}
