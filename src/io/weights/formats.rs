//! The two formats of weight files: the same quantities under different names.

use tracing::{debug, warn};

use super::check::{self, Sums};
use super::{Arrangement, Coordinates, Normalisation, Target, WeightFile, Weights};
use crate::error::Result;
use crate::io::grid_north::unit_vector;
use crate::io::read::reader::{Reader, try_map};
use crate::os_text::Shown;
use crate::primitives::csr::Csr;
use crate::units::{Quantity, is_absent};

/// Names of the variables of a weight file.
#[derive(Debug)]
pub(super) struct WeightNames {
    /// Source index, target index and weight of each link.
    pub(super) links: [&'static str; 3],
    /// Dimensions: cells of the source and of the target, links.
    sizes: [&'static str; 3],
    /// Numbers of cells along the axes of source and target.
    dimensions: [&'static str; 2],
    /// Covered fraction of the cells of source and target.
    fractions: [&'static str; 2],
    /// Area of the cells of source and target.
    areas: [&'static str; 2],
    /// Longitude and latitude of the centres of source cells.
    source: [&'static str; 2],
    /// Longitude and latitude of the centres of target cells.
    target: [&'static str; 2],
    /// Longitude and latitude of the corners of target cells.
    corners: [&'static str; 2],
}

/// SCRIP format, which cdo writes too.
pub(super) const SCRIP: WeightNames = WeightNames {
    links: ["src_address", "dst_address", "remap_matrix"],
    sizes: ["src_grid_size", "dst_grid_size", "num_links"],
    dimensions: ["src_grid_dims", "dst_grid_dims"],
    fractions: ["src_grid_frac", "dst_grid_frac"],
    areas: ["src_grid_area", "dst_grid_area"],
    source: ["src_grid_center_lon", "src_grid_center_lat"],
    target: ["dst_grid_center_lon", "dst_grid_center_lat"],
    corners: ["dst_grid_corner_lon", "dst_grid_corner_lat"],
};

/// ESMF format, which NCO and others write too.
pub(super) const ESMF: WeightNames = WeightNames {
    links: ["col", "row", "S"],
    sizes: ["n_a", "n_b", "n_s"],
    dimensions: ["src_grid_dims", "dst_grid_dims"],
    fractions: ["frac_a", "frac_b"],
    areas: ["area_a", "area_b"],
    source: ["xc_a", "yc_a"],
    target: ["xc_b", "yc_b"],
    corners: ["xv_b", "yv_b"],
};

/// The name of the attribute that both formats have.
const NORMALISATION: &str = "normalization";

/// Weights of a link in SCRIP's conservative method: for the value and its two gradients.
const CONSERVATIVE_WEIGHTS: usize = 3;

impl WeightNames {
    /// Returns `true` if a file has this format.
    pub(super) fn is_of(&self, reader: &Reader) -> bool {
        self.links.iter().all(|name| reader.has(name))
    }

    /// Reads a file of this format.
    pub(super) fn read(&self, reader: &Reader) -> Result<WeightFile> {
        let [sources, targets, links] = try_map(self.sizes, |name| reader.dimension(name))?;
        let method = reader.text("map_method").unwrap_or_else(|| "not stated".to_owned());
        let normalisation = self.normalisation(reader)?;
        let [fraction_a, fraction_b] = self.fractions;
        if !reader.has(fraction_b) {
            return Err(reader.error(format!(
                "has no variable {fraction_b}, the covered fraction of each target cell, which is \
                 needed to check its weights; write the weights with their fractions"
            )));
        }
        let fraction = numbers(reader, fraction_b, targets)?;
        let [area_a, area_b] = self.areas;
        let areas = if reader.has(area_a) && reader.has(area_b) {
            Some([numbers(reader, area_a, sources)?, numbers(reader, area_b, targets)?])
        } else {
            None
        };
        let source_fraction =
            reader.has(fraction_a).then(|| numbers(reader, fraction_a, sources)).transpose()?;
        let target = self.target(reader, targets)?;
        let source = self.source(reader, sources)?;
        let matrix = self.matrix(reader, &method, [sources, targets, links])?;
        let mut weights = Weights {
            method,
            normalisation,
            matrix,
            fraction,
            areas,
            source_fraction,
            source,
            target,
        };
        let Sums { defect, divisors } = check::row_sums(reader, &weights)?;
        let conservation = check::conservation(reader, &weights)?;
        if let Some(divisors) = divisors {
            weights.matrix = check::divided(&weights.matrix, &divisors)
                .map_err(|e| reader.error(e.to_string()))?;
        }
        let source_dimensions = dimensions(reader, self.dimensions[0], sources)?;
        let path = reader.path().to_owned();
        debug!(
            "{}: {links} weights, {}, normalization {}; sums of weights are off by {defect:.1e} at \
             most{}",
            path.shown(),
            weights.method,
            normalisation.name(),
            conservation.map_or_else(String::new, |x| format!(", the total by {x:.1e}"))
        );
        Ok(WeightFile { path, weights, source_dimensions, conservation, defect })
    }

    fn normalisation(&self, reader: &Reader) -> Result<Normalisation> {
        let all = [Normalisation::FracArea, Normalisation::DestArea, Normalisation::None];
        let known = all.map(Normalisation::name).join(", ");
        let Some(text) = reader.text(NORMALISATION) else {
            return Err(reader.error(format!(
                "has no global attribute {NORMALISATION}, which defines the sum of the weights of \
                 a target cell; set it to one of {known}, as used by the program that wrote {}",
                self.links[2]
            )));
        };
        let found = all.into_iter().find(|x| text.trim().eq_ignore_ascii_case(x.name()));
        found.ok_or_else(|| {
            reader.error(format!("attribute {NORMALISATION} is {text:?}; one of {known} is needed"))
        })
    }

    /// The links as a matrix, from any order; repeated links are added.
    fn matrix(
        &self,
        reader: &Reader,
        method: &str,
        [sources, targets, links]: [usize; 3],
    ) -> Result<Csr<f64>> {
        let [from, to, weight] = self.links;
        let columns = indices(reader, from, links, sources)?;
        let rows = indices(reader, to, links, targets)?;
        let each = match reader.dimensions_of(weight)?.as_slice() {
            [(_, a), (_, b)] if *a == links => *b,
            _ => 1,
        };
        let is_conservative = check::is_conservative(method);
        if each != 1 && !(each == CONSERVATIVE_WEIGHTS && is_conservative) {
            return Err(reader.error(format!(
                "variable {weight} has {each} weights for each link ({method}); those after the \
                 first apply to gradients, which a run does not compute; create first-order \
                 weights, with one for each link"
            )));
        }
        if each != 1 {
            warn!(
                "{}: only the first of {each} weights for each link is used, which makes the method \
                 one of the first order",
                reader.path().shown()
            );
        }
        let values = numbers(reader, weight, links * each)?;
        let triplets: Vec<(usize, usize, f64)> = rows
            .into_iter()
            .zip(columns)
            .zip(values.chunks(each))
            .map(|((row, column), values)| (row, column, values[0]))
            .collect();
        Csr::from_triplets(targets, sources, &triplets).map_err(|e| reader.error(e.to_string()))
    }

    fn target(&self, reader: &Reader, cells: usize) -> Result<Target> {
        let lacking = |name: &str| {
            reader.error(format!(
                "has no variable {name}; the output on the target grid needs the coordinates of \
                 its cells"
            ))
        };
        if let Some(name) = self.target.into_iter().find(|name| !reader.has(name)) {
            return Err(lacking(name));
        }
        let (coordinates, [x, y]) = places(reader, self.target, cells)?;
        let corners = match self.corners.map(|name| reader.has(name)) {
            [true, true] => {
                let each = match reader.dimensions_of(self.corners[0])?.as_slice() {
                    [(_, a), (_, b)] if *a == cells => *b,
                    _ => 0,
                };
                let (found, corners) = places(reader, self.corners, cells * each)?;
                (each > 2 && found == coordinates).then_some(corners)
            }
            _ => None,
        };
        let arrangement = match dimensions(reader, self.dimensions[1], cells)?.as_slice() {
            [a, b] if *a > 1 && *b > 1 => rows(coordinates, &x, &y, [*a, *b]),
            _ => Arrangement::List(cells),
        };
        Ok(Target { arrangement, coordinates, x, y, corners })
    }

    fn source(
        &self,
        reader: &Reader,
        cells: usize,
    ) -> Result<Option<(Coordinates, [Vec<f64>; 2])>> {
        if self.source.iter().all(|name| reader.has(name)) {
            return places(reader, self.source, cells).map(Some);
        }
        Ok(None)
    }
}

/// Numbers of cells along the axes of a grid, if the file has them; their product is the number of cells.
fn dimensions(reader: &Reader, name: &str, cells: usize) -> Result<Vec<usize>> {
    if !reader.has(name) {
        return Ok(Vec::new());
    }
    let lengths: Vec<usize> = reader.dimensions_of(name)?.iter().map(|(_, n)| *n).collect();
    let found = numbers(reader, name, lengths.iter().product())?;
    if found.iter().product::<f64>() != cells as f64 || found.iter().any(|n| *n < 1.0) {
        return Err(reader.error(format!(
            "variable {name} is {found:?}, whose product is not {cells}, the number of cells; the \
             file is inconsistent"
        )));
    }
    Ok(found.into_iter().map(|n| n as usize).collect())
}

/// Index of the axis along a row.
///
/// It is the first in both formats. A file with the opposite order is detected by its coordinates: at the end of a row
/// the distance to the next cell is longer than before and after.
fn rows(coordinates: Coordinates, x: &[f64], y: &[f64], [a, b]: [usize; 2]) -> Arrangement {
    let way = |n: usize| match coordinates {
        Coordinates::Metres => (x[n] - x[n - 1]).hypot(y[n] - y[n - 1]),
        Coordinates::Degrees => {
            let [from, to] = [n - 1, n].map(|n| unit_vector([x[n], y[n]]));
            from.iter().zip(to).map(|(a, b)| (a - b).powi(2)).sum::<f64>().sqrt()
        }
    };
    let detour = |nx: usize| {
        let ends = (nx..x.len() - 1).step_by(nx);
        let count = ends.len() as f64;
        let detour = |n: usize| way(n) / (way(n - 1) + way(n + 1)).max(f64::MIN_POSITIVE);
        ends.map(detour).sum::<f64>() / count
    };
    let (nx, ny) = if detour(b) > detour(a) { (b, a) } else { (a, b) };
    Arrangement::Rows { nx, ny }
}

/// All values of a variable of any shape with `count` values, every one finite.
fn numbers(reader: &Reader, name: &str, count: usize) -> Result<Vec<f64>> {
    let found: usize = reader.dimensions_of(name)?.iter().map(|(_, n)| *n).product();
    if found != count {
        return Err(reader.error(format!(
            "variable {name} has {found} values; {count} are needed to fit the dimensions of the file"
        )));
    }
    reader.flat(name)
}

/// Indices from 1 in the file, converted to indices from 0.
fn indices(reader: &Reader, name: &str, links: usize, cells: usize) -> Result<Vec<usize>> {
    let values = numbers(reader, name, links)?;
    let index = |(link, &value): (usize, &f64)| {
        if value >= 1.0 && value <= cells as f64 && value.fract() == 0.0 {
            return Ok(value as usize - 1);
        }
        Err(reader.error(format!(
            "variable {name} is {value} in link {}; cells count from 1 to {cells}",
            link + 1
        )))
    };
    values.iter().enumerate().map(index).collect()
}

/// Longitudes and latitudes in degrees, or distances in metres.
fn places(reader: &Reader, names: [&str; 2], count: usize) -> Result<(Coordinates, [Vec<f64>; 2])> {
    let read = |name: &str| -> Result<(Coordinates, Vec<f64>)> {
        let values = numbers(reader, name, count)?;
        // Without units they could be either, so that they have to be stated.
        let stated = reader.units(name).filter(|units| !is_absent(units)).unwrap_or_default();
        let on_earth = Quantity::DEGREES.conversion(&stated);
        let (coordinates, conversion) = match (on_earth, Quantity::LENGTH.conversion(&stated)) {
            _ if stated.is_empty() => Err(&stated),
            (Ok(conversion), _) => Ok((Coordinates::Degrees, conversion)),
            (_, Ok(conversion)) => Ok((Coordinates::Metres, conversion)),
            _ => Err(&stated),
        }
        .map_err(|stated| {
            reader.error(format!(
                "variable {name} is in {stated:?}; units of radians, degrees or m are needed"
            ))
        })?;
        Ok((coordinates, values.iter().map(|x| conversion.of(*x)).collect()))
    };
    let ((one, x), (other, y)) = (read(names[0])?, read(names[1])?);
    if one != other {
        return Err(reader.error(format!(
            "variable {} is an angle and {} is not, or the other way round",
            names[0], names[1]
        )));
    }
    Ok((one, [x, y]))
}
