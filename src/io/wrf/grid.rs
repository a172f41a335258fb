//! The grid of a WRF file alone, without air: for weights, and for stations in pictures.

use std::path::Path;

use ndarray::Array2;
use tracing::warn;

use super::coordinates::{self, Coordinates, Distances};
use super::source::TimeReader;
use super::{projection, read_maps, spacing, stored_sides};
use crate::calendar;
use crate::domain::{Domain, Vertical};
use crate::error::Result;
use crate::grid::{Grid, Shape, Side, Sides};
use crate::io::read::reader::Reader;
use crate::os_text::Shown;

/// Reads the positions of the cells of a file. It needs the dimensions west_east and south_north, DX and DY; the domain
/// has one layer, without air.
pub(crate) fn read(path: &Path) -> Result<Domain> {
    let reader = Reader::open(path)?;
    super::refuse_restart(&reader)?;
    let shape =
        Shape { nx: reader.dimension("west_east")?, ny: reader.dimension("south_north")?, nz: 1 };
    let (domain, doubt) = at(&TimeReader::new(&reader, shape, 0))?;
    if let Some(doubt) = doubt {
        warn!("{}: {doubt}", path.shown());
    }
    Ok(domain)
}

/// The grid at a time, and warnings about it.
pub(super) fn at(source: &TimeReader<'_>) -> Result<(Domain, Option<String>)> {
    let reader = source.reader;
    let [dx, dy] = spacing(reader)?;
    let maps = read_maps(source)?;
    let distances = Distances { cell: [dx, dy], maps: Some([&maps.centre_x, &maps.centre_y]) };
    let Coordinates { latitude, longitude, doubt } = coordinates::read(source, distances)?;
    let Shape { nx, ny, .. } = source.shape;
    let sides = stored_sides(reader).unwrap_or(Sides::all(Side::Specified));
    let vertical = Vertical::classic(vec![1.0, 0.0], 0.0);
    let domain = Domain {
        path: reader.path().to_owned(),
        grid: Grid::whole(Shape { nz: 1, ..source.shape }, [dx, dy], sides),
        coordinate: vertical.coordinate(
            Array2::zeros((ny, nx)),
            [maps.centre_x, maps.centre_y],
            0.0,
        ),
        face_maps: maps.faces,
        vertical,
        latitude,
        longitude,
        terrain: Array2::zeros((ny, nx)),
        dt: None,
        start: calendar::START,
        projection: projection(reader)?,
    };
    Ok((domain, doubt))
}
