//! Weights for the interpolation from the grid of a run to a regular grid.

use std::str::FromStr;

use rayon::prelude::*;
use tracing::warn;

use super::extent::Extent;
use super::locate::Locator;
use crate::domain::Domain;
use crate::error::{Advice, Error, Result};
use crate::io::mapping;
use crate::io::mapping::EARTH_RADIUS;
use crate::io::weights::{Arrangement, Coordinates, Normalisation, Target, Weights};
use crate::primitives::csr::Csr;

/// Interpolation to the other grid.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Method {
    /// Linear interpolation along both axes.
    Bilinear,
    /// Means over the overlap of cells (area-weighted), which conserve the total of a field.
    Conservative,
}

/// A grid of equal cells along longitude and latitude, or along x and y.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Regular {
    /// Kind of coordinates.
    pub coordinates: Coordinates,
    /// Side of a cell, degrees or m.
    pub spacing: f64,
    /// West, south, east and north edge; `None` for a grid around that of the run.
    pub bounds: Option<Bounds>,
}

/// West, south, east and north edge of a grid.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Bounds(pub [f64; 4]);

impl FromStr for Bounds {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let number = |x: &str| x.trim().parse().ok().filter(|x: &f64| x.is_finite());
        match text.split(',').map(number).collect::<Option<Vec<f64>>>().as_deref() {
            Some(&[west, south, east, north]) if west < east && south < north => {
                Ok(Self([west, south, east, north]))
            }
            _ => Err(format!(
                "{text:?} are not bounds; expected the west, south, east and north edge as in \
                 5,44,12,48"
            )),
        }
    }
}

/// Most cells of a target grid: their number is a 32-bit integer in the files.
const MOST_CELLS: f64 = i32::MAX as f64;

/// Rounding error of the number of cells between two edges, as a fraction of a cell.
const ROUNDING: f64 = 1e-6;

/// Distance by which rounding to single precision may move a centre off an edge, as a fraction of a cell.
const ON_EDGE: f64 = 1e-4;

/// Longitudes of a full parallel, degrees.
const AROUND: f64 = 360.0;

/// Latitude of the north pole, degrees.
const POLE: f64 = 90.0;

/// Cells of one axis of a target grid.
#[derive(Clone, Copy, Debug)]
struct Cells {
    /// The first edge.
    start: f64,
    /// Length of a cell.
    spacing: f64,
    /// Number of cells.
    count: usize,
    /// Gap between the last and the first cell around the Earth, degrees.
    gap: f64,
}

impl Cells {
    fn edge(self, n: usize) -> f64 {
        self.start + n as f64 * self.spacing
    }

    fn centre(self, n: usize) -> f64 {
        self.start + (n as f64 + 0.5) * self.spacing
    }
}

/// Number of cells of a regular grid.
///
/// # Errors
///
/// [`Error::Usage`], as [`weights`].
pub fn count(domain: &Domain, regular: Regular) -> Result<usize> {
    let [x, y] = cells(domain, &Locator::new(domain), regular)?;
    if x.gap > ROUNDING {
        warn!(
            "a spacing of {} does not divide {AROUND} degrees: {} columns of cells leave {:.4} degrees \
             between the last and the first",
            x.spacing, x.count, x.gap
        );
    }
    Ok(x.count * y.count)
}

/// Makes weights from the grid of a run to a regular one.
///
/// # Errors
///
/// [`Error::Usage`] when the grid of the run has no such coordinates, when the target has too many cells or none inside
/// the grid, and for conservative weights along longitude and latitude.
pub fn weights(domain: &Domain, regular: Regular, method: Method) -> Result<Weights> {
    let locator = Locator::new(domain);
    let cells = cells(domain, &locator, regular)?;
    let (target, is_map) = (target(&locator, regular.coordinates, cells), locator.map());
    let weights = match (method, regular.coordinates, is_map) {
        (Method::Bilinear, ..) => bilinear(domain, &locator, regular.coordinates, target, cells)?,
        (Method::Conservative, Coordinates::Metres, Some(map)) => {
            conservative(domain, map, target, cells)?
        }
        (Method::Conservative, ..) => {
            return Err(Error::Usage(
                "conservative weights need a target in metres, whose axes are those of the grid \
                 of the run"
                    .to_owned(),
            )
            .advise(Advice::UseBilinear));
        }
    };
    if weights.matrix.nonzeros() == 0 {
        return Err(Error::Usage("the grid of the run covers no cell of the target".to_owned())
            .advise(Advice::ChangeTarget));
    }
    Ok(weights)
}

/// The cells of the target along both axes.
fn cells(domain: &Domain, locator: &Locator, regular: Regular) -> Result<[Cells; 2]> {
    let Regular { coordinates, spacing, bounds } = regular;
    let whole = match coordinates {
        Coordinates::Metres => locator.map().map(|[x, y]| {
            let shape = domain.grid.shape;
            let end = |[first, step]: [f64; 2], n: usize| first + (n as f64 - 0.5) * step;
            [x[0] - 0.5 * x[1], y[0] - 0.5 * y[1], end(x, shape.nx), end(y, shape.ny)]
        }),
        Coordinates::Degrees => around_the_grid(domain, spacing),
    };
    let Some(whole) = whole else {
        let (lacks, advice) = match coordinates {
            Coordinates::Degrees => ("latitudes and longitudes", Advice::UseMetres),
            Coordinates::Metres => ("map in m", Advice::UseDegrees),
        };
        let told = format!("the grid of the run has no {lacks}");
        return Err(Error::Usage(told).advise(advice));
    };
    let Bounds([west, south, east, north]) = bounds.unwrap_or(Bounds(whole));
    let is_odd = south < -90.0 || north > 90.0 || east - west > 360.0;
    if coordinates == Coordinates::Degrees && bounds.is_some() && is_odd {
        return Err(Error::Usage(format!(
            "bounds of {west},{south},{east},{north}: latitudes must be between -90 and 90, and \
             longitudes span 360 degrees at most"
        ))
        .advise(Advice::ChangeBounds));
    }
    let along = |start: f64, end: f64| ((end - start) / spacing - ROUNDING).ceil().max(1.0);
    let (mut nx, mut ny, mut gap) = (along(west, east), along(south, north), 0.0);
    if coordinates == Coordinates::Degrees {
        if nx * spacing > AROUND + ROUNDING {
            nx = (AROUND / spacing + ROUNDING).floor().max(1.0);
            gap = AROUND - nx * spacing;
        }
        // A row whose middle is beyond the pole does not exist.
        while ny > 1.0 && south + (ny - 0.5) * spacing > POLE + ROUNDING {
            ny -= 1.0;
        }
    }
    if nx * ny > MOST_CELLS {
        return Err(Error::Usage(format!(
            "a spacing of {spacing} makes {:.3e} cells; {MOST_CELLS:e} are possible at most",
            nx * ny
        ))
        .advise(Advice::ChangeSpacing));
    }
    Ok([
        Cells { start: west, spacing, count: nx as usize, gap },
        Cells { start: south, spacing, count: ny as usize, gap: 0.0 },
    ])
}

/// Edges of a latitude-longitude grid around that of the run, degrees: multiples of the spacing, with longitudes from
/// -180 to 180 or from 0 to 360.
fn around_the_grid(domain: &Domain, spacing: f64) -> Option<[f64; 4]> {
    let centres: Vec<[f64; 2]> = mapping::centres(domain, false)?.collect();
    let (shape, sides) = (domain.grid.shape, domain.grid.sides);
    let extent = Extent::of(&centres, shape.nx, sides.periodic_x())?;
    let down = |x: f64| (x / spacing + ON_EDGE).floor() * spacing;
    let up = |x: f64| (x / spacing - ON_EDGE).ceil() * spacing;
    let mut south = down(extent.south);
    if south + 0.5 * spacing < -POLE {
        south += spacing;
    }
    let [west, east] = [down(extent.west), up(extent.east)];
    let [first, last] = [west + 0.5 * spacing, east - 0.5 * spacing];
    let fits = |start: f64| first >= start && last <= start + AROUND;
    // Across both the date line and Greenwich no convention makes the longitudes of a row increase.
    let is_whole =
        extent.is_around || east - west > AROUND - ROUNDING || !(fits(-0.5 * AROUND) || fits(0.0));
    let [west, east] = if is_whole { [-0.5 * AROUND, 0.5 * AROUND] } else { [west, east] };
    Some([west, south, east, up(extent.north)])
}

/// The target grid with its coordinates.
fn target(locator: &Locator, coordinates: Coordinates, [x, y]: [Cells; 2]) -> Target {
    let place = |at: [f64; 2]| match coordinates {
        Coordinates::Metres => locator.earth_of_map(at[0], at[1]).unwrap_or(at),
        Coordinates::Degrees => at,
    };
    // A cell that would reach beyond a pole ends there.
    let limit = |latitude: f64| match coordinates {
        Coordinates::Metres => latitude,
        Coordinates::Degrees => latitude.clamp(-POLE, POLE),
    };
    let over = |f: &dyn Fn(usize, usize) -> Vec<[f64; 2]>| {
        let places = (0..y.count).flat_map(|j| (0..x.count).flat_map(move |i| f(i, j)));
        let (x, y): (Vec<f64>, Vec<f64>) = places.map(|[x, y]| (x, y)).unzip();
        [x, y]
    };
    let [centres_x, centres_y] = over(&|i, j| vec![place([x.centre(i), y.centre(j)])]);
    let corners = over(&|i, j| {
        let around = [[i, j], [i + 1, j], [i + 1, j + 1], [i, j + 1]];
        around.map(|[i, j]| place([x.edge(i), limit(y.edge(j))])).to_vec()
    });
    let coordinates = match coordinates {
        Coordinates::Metres if !locator.is_on_earth() => Coordinates::Metres,
        _ => Coordinates::Degrees,
    };
    Target {
        arrangement: Arrangement::Rows { nx: x.count, ny: y.count },
        coordinates,
        x: centres_x,
        y: centres_y,
        corners: Some(corners),
    }
}

/// Centres of the source in the coordinates of the target.
fn source(domain: &Domain, coordinates: Coordinates) -> Option<(Coordinates, [Vec<f64>; 2])> {
    let centres = mapping::centres(domain, coordinates == Coordinates::Metres)?;
    let (x, y): (Vec<f64>, Vec<f64>) = centres.map(|[x, y]| (x, y)).unzip();
    Some((coordinates, [x, y]))
}

fn bilinear(
    domain: &Domain,
    locator: &Locator,
    coordinates: Coordinates,
    target: Target,
    [x, y]: [Cells; 2],
) -> Result<Weights> {
    let rows: Vec<_> = (0..x.count * y.count)
        .into_par_iter()
        .map(|row| {
            let at = [x.centre(row % x.count), y.centre(row / x.count)];
            match coordinates {
                Coordinates::Metres => locator.on_map(at[0], at[1]),
                Coordinates::Degrees => locator.on_earth(at[0], at[1]),
            }
        })
        .collect();
    let triplets: Vec<(usize, usize, f64)> = rows
        .iter()
        .enumerate()
        .flat_map(|(row, around)| {
            let parts = around.iter().flatten().filter(|(_, weight)| *weight > 0.0);
            parts.map(move |(cell, weight)| (row, *cell, *weight))
        })
        .collect();
    let columns = domain.grid.shape.columns();
    Ok(Weights {
        method: "Bilinear remapping".to_owned(),
        normalisation: Normalisation::None,
        matrix: Csr::from_triplets(rows.len(), columns, &triplets)?,
        fraction: rows.iter().map(|around| f64::from(u8::from(around.is_some()))).collect(),
        areas: None,
        source_fraction: None,
        source: source(domain, target.coordinates),
        target,
    })
}

/// Cells of the source that overlap a cell of the target along one axis, and the lengths of the overlaps.
fn overlaps([first, step]: [f64; 2], count: usize, target: Cells) -> Vec<Vec<(usize, f64)>> {
    let start = first - 0.5 * step;
    (0..target.count)
        .map(|n| {
            let [low, high] = [target.edge(n), target.edge(n + 1)].map(|x| (x - start) / step);
            let from = low.floor().clamp(0.0, count as f64) as usize;
            let to = high.ceil().clamp(0.0, count as f64) as usize;
            (from..to)
                .map(|cell| (cell, high.min(cell as f64 + 1.0) - low.max(cell as f64)))
                .filter(|(_, length)| *length > 0.0)
                .map(|(cell, length)| (cell, length * step))
                .collect()
        })
        .collect()
}

/// Cells of both grids are rectangles on the map; areas are those of the model's cells, dx dy / (m_x m_y).
fn conservative(
    domain: &Domain,
    [map_x, map_y]: [[f64; 2]; 2],
    target: Target,
    [x, y]: [Cells; 2],
) -> Result<Weights> {
    let shape = domain.grid.shape;
    let coordinate = &domain.coordinate;
    // Square radians if the target has latitudes and longitudes.
    let unit = match target.coordinates {
        Coordinates::Degrees => EARTH_RADIUS * EARTH_RADIUS,
        Coordinates::Metres => 1.0,
    };
    let shrink = |c: usize| {
        let at = [c / shape.nx, c % shape.nx];
        1.0 / (coordinate.map_x[at] * coordinate.map_y[at] * unit)
    };
    let [over_x, over_y] = [overlaps(map_x, shape.nx, x), overlaps(map_y, shape.ny, y)];
    let (cells, columns) = (x.count * y.count, shape.columns());
    let (mut triplets, mut fraction, mut areas) = (Vec::new(), Vec::new(), Vec::new());
    let mut covered_source = vec![0.0; columns];
    let whole = x.spacing * y.spacing;
    for row in 0..cells {
        let (of_x, of_y) = (&over_x[row % x.count], &over_y[row / x.count]);
        let parts: Vec<(usize, f64)> = of_y
            .iter()
            .flat_map(|(j, b)| of_x.iter().map(move |(i, a)| (j * shape.nx + i, a * b)))
            .collect();
        let on_map: f64 = parts.iter().map(|(_, area)| area).sum();
        let area: f64 = parts.iter().map(|(cell, area)| area * shrink(*cell)).sum();
        let part = (on_map / whole).min(1.0);
        for (cell, on_map) in parts {
            triplets.push((row, cell, on_map * shrink(cell) / area));
            covered_source[cell] += on_map;
        }
        fraction.push(part);
        areas.push(if part > 0.0 { area / part } else { whole / unit });
    }
    let source_cell = domain.grid.dx * domain.grid.dy;
    Ok(Weights {
        method: "Conservative remapping".to_owned(),
        normalisation: Normalisation::FracArea,
        matrix: Csr::from_triplets(cells, columns, &triplets)?,
        fraction,
        areas: Some([(0..columns).map(|c| source_cell * shrink(c)).collect(), areas]),
        source_fraction: Some(covered_source.iter().map(|x| (x / source_cell).min(1.0)).collect()),
        source: source(domain, target.coordinates),
        target,
    })
}
