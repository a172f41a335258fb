//! The domain of a run: its grid, vertical coordinate and map factors, and its position on the Earth.

pub(crate) mod vertical;

use std::path::PathBuf;

use ndarray::Array2;
use time::PrimitiveDateTime;

use crate::constants::Constants;
use crate::dry_mass::{FaceMaps, MassCoordinate};
use crate::grid::Grid;
pub use vertical::Vertical;

/// Domain of a run.
#[derive(Clone, Debug)]
pub struct Domain {
    /// The file that it was read from, or any other name for messages.
    pub path: PathBuf,
    /// Cells, spacing and sides.
    pub grid: Grid,
    /// Vertical coordinate and map factors, with the column mass of the first time.
    pub coordinate: MassCoordinate,
    /// Map factors on the faces.
    pub face_maps: FaceMaps,
    /// The vertical coordinate.
    pub vertical: Vertical,
    /// Latitude at cell centres, degrees north; `None` on a plane. Shape: (ny, nx).
    pub latitude: Option<Array2<f32>>,
    /// Longitude at cell centres, degrees east; `None` on a plane. Shape: (ny, nx).
    pub longitude: Option<Array2<f32>>,
    /// Height of the ground (WRF `HGT`), m. Shape: (ny, nx).
    pub terrain: Array2<f32>,
    /// Time step of the model that wrote the file (attribute `DT`), s.
    pub dt: Option<f64>,
    /// Start of the simulation, from which times count.
    pub start: PrimitiveDateTime,
    /// Global attributes about the position of the grid on Earth.
    pub projection: Vec<(String, Attribute)>,
}

impl Domain {
    /// A plane without map factors and without a position on the Earth, with this column mass. Shape of `mu`: (ny, nx).
    /// Units: Pa.
    pub fn plane(
        grid: Grid,
        vertical: Vertical,
        mu: Array2<f64>,
        start: PrimitiveDateTime,
    ) -> Self {
        let plane = mu.dim();
        let maps = [Array2::ones(plane), Array2::ones(plane)];
        Self {
            path: PathBuf::new(),
            grid,
            coordinate: vertical.coordinate(mu, maps, grid.dx * grid.dy / f64::GRAVITY),
            face_maps: FaceMaps::plane(grid.shape),
            vertical,
            latitude: None,
            longitude: None,
            terrain: Array2::zeros(plane),
            dt: None,
            start,
            projection: vec![
                ("MAP_PROJ".to_owned(), Attribute::Number(0.0)),
                ("MAP_PROJ_CHAR".to_owned(), Attribute::Text("Cartesian".to_owned())),
            ],
        }
    }
}

/// The value of a global attribute that is copied to output.
#[derive(Clone, Debug, PartialEq)]
pub enum Attribute {
    /// A number.
    Number(f64),
    /// A text.
    Text(String),
}
