//! Location of a point among the cell centres: the four centres around it, and its coordinates between them.

use crate::domain::Domain;
use crate::grid::{Shape, Sides};
use crate::io::grid_north::{of_vector, unit_vector};
use crate::io::mapping;
use crate::io::mapping::turn;

/// Cells around a point, as `c = j nx + i`, with their weights, which add up to 1.
pub(crate) type Around = [(usize, f64); 4];

/// Largest distance beyond the outermost centres, cells, at which a point counts as on them: the uncertainty of
/// coordinates in single precision on a grid of 1 km.
const EDGE: f64 = 2e-3;

/// Distance from the pole, degrees of latitude, within which points are located on a polar projection, since meridians
/// meet there.
const POLAR: f64 = 80.0;

/// Degrees of longitude between corners of a quadrilateral from which on it may contain a pole.
const AROUND_POLE: f64 = 60.0;

/// The centres of the cells of a grid.
#[derive(Debug)]
pub(crate) struct Locator {
    shape: Shape,
    sides: Sides,
    map: Option<[[f64; 2]; 2]>,
    earth: Option<Earth>,
}

impl Locator {
    /// The cell centres of a run's grid.
    pub(crate) fn new(domain: &Domain) -> Self {
        let (shape, sides) = (domain.grid.shape, domain.grid.sides);
        let centres = mapping::centres(domain, false).map(Iterator::collect::<Vec<_>>);
        let earth = centres.map(|centres| Earth::new(centres, shape, sides));
        Self { shape, sides, map: mapping::metres(domain), earth }
    }

    /// Returns `true` if latitudes and longitudes are known.
    pub(crate) fn is_on_earth(&self) -> bool {
        self.earth.is_some()
    }

    /// First centre and spacing of the centres along x and y, m; `None` if the coordinates are angles.
    pub(crate) fn map(&self) -> Option<[[f64; 2]; 2]> {
        self.map
    }

    /// The cells around a point of the map, m; `None` outside, or if the map has no lengths.
    pub(crate) fn on_map(&self, x: f64, y: f64) -> Option<Around> {
        let [along_x, along_y] = self.map?;
        let Shape { nx, ny, .. } = self.shape;
        let along = |[first, step]: [f64; 2], at: f64, n: usize, is_periodic: bool| {
            let s = (at - first) / step;
            if is_periodic {
                let s = s.rem_euclid(n as f64);
                // Rounding may give n itself.
                let low = (s as usize).min(n - 1);
                return Some(([low, (low + 1) % n], s - low as f64));
            }
            let most = (n - 1) as f64;
            (-EDGE..=most + EDGE).contains(&s).then(|| {
                let s = s.clamp(0.0, most);
                let low = (s as usize).min(n - 2);
                ([low, low + 1], s - low as f64)
            })
        };
        let (i, s) = along(along_x, x, nx, self.sides.periodic_x())?;
        let (j, t) = along(along_y, y, ny, self.sides.periodic_y())?;
        Some(around(nx, i, j, [s, t]))
    }

    /// Longitude and latitude of a point of the map, degrees, also slightly outside of the grid; `None` if the
    /// latitudes and longitudes or the lengths are unknown.
    pub(crate) fn earth_of_map(&self, x: f64, y: f64) -> Option<[f64; 2]> {
        let (earth, [along_x, along_y]) = (self.earth.as_ref()?, self.map?);
        let Shape { nx, ny, .. } = self.shape;
        let along = |[first, step]: [f64; 2], at: f64, n: usize| {
            let s = (at - first) / step;
            // A periodic axis may have one cell.
            let low = (s.clamp(0.0, (n - 1) as f64) as usize).min(n.saturating_sub(2));
            ([low, (low + 1).min(n - 1)], s - low as f64)
        };
        let ((i, s), (j, t)) = (along(along_x, x, nx), along(along_y, y, ny));
        let mut sum = [0.0; 3];
        for (cell, weight) in around(nx, i, j, [s, t]) {
            for (sum, part) in sum.iter_mut().zip(unit_vector(earth.centres[cell])) {
                *sum += weight * part;
            }
        }
        Some(of_vector(sum))
    }

    /// The cells around a point on Earth, degrees; `None` outside, or if latitudes are unknown.
    pub(crate) fn on_earth(&self, longitude: f64, latitude: f64) -> Option<Around> {
        self.earth.as_ref()?.find([longitude, latitude])
    }
}

/// The four cells at two columns and two rows; s and t are the fractional distances to the second ones.
fn around(nx: usize, i: [usize; 2], j: [usize; 2], [s, t]: [f64; 2]) -> Around {
    [
        (j[0] * nx + i[0], (1.0 - s) * (1.0 - t)),
        (j[0] * nx + i[1], s * (1.0 - t)),
        (j[1] * nx + i[0], (1.0 - s) * t),
        (j[1] * nx + i[1], s * t),
    ]
}

/// The centres on Earth, and the quadrilaterals between neighbouring centres.
#[derive(Debug)]
struct Earth {
    nx: usize,
    /// Longitude and latitude, degrees.
    centres: Vec<[f64; 2]>,
    /// Quadrilaterals by the latitude bands that they overlap: column and row of the south-western corner, and column
    /// of the south-eastern one.
    bands: Vec<Vec<[usize; 3]>>,
    /// Latitude of the first band, and number of bands per degree.
    south: f64,
    per_degree: f64,
}

impl Earth {
    fn new(centres: Vec<[f64; 2]>, Shape { nx, ny, .. }: Shape, sides: Sides) -> Self {
        let last = if sides.periodic_x() { nx } else { nx - 1 };
        let quadrilaterals = (0..ny - 1)
            .flat_map(|j| (0..last).map(move |i| [i, j, (i + 1) % nx]))
            .collect::<Vec<_>>();
        let corners = |[i, j, east]: [usize; 3]| {
            [j * nx + i, j * nx + east, (j + 1) * nx + i, (j + 1) * nx + east].map(|c| centres[c])
        };
        let reaches: Vec<[f64; 2]> =
            quadrilaterals.iter().map(|q| latitudes(&corners(*q))).collect();
        let south = reaches.iter().map(|[low, _]| *low).fold(f64::INFINITY, f64::min);
        let north = reaches.iter().map(|[_, high]| *high).fold(f64::NEG_INFINITY, f64::max);
        let per_degree = ny as f64 / (north - south).max(f64::MIN_POSITIVE);
        let mut earth = Self { nx, centres, bands: vec![Vec::new(); ny], south, per_degree };
        for (quadrilateral, [low, high]) in quadrilaterals.into_iter().zip(reaches) {
            for band in earth.band(low)..=earth.band(high) {
                earth.bands[band].push(quadrilateral);
            }
        }
        earth
    }

    fn band(&self, latitude: f64) -> usize {
        let band = (latitude - self.south) * self.per_degree;
        (band.max(0.0) as usize).min(self.bands.len() - 1)
    }

    fn find(&self, place: [f64; 2]) -> Option<Around> {
        let [_, latitude] = place;
        let band = self.band(latitude);
        // A point on the edge of a band may belong to a quadrilateral that ends there.
        let near = band.saturating_sub(1)..=(band + 1).min(self.bands.len() - 1);
        let mut nearest: Option<(f64, [usize; 3], [f64; 2])> = None;
        for &[i, j, east] in near.flat_map(|band| &self.bands[band]) {
            let cells = [j * self.nx + i, j * self.nx + east];
            let corners = [cells[0], cells[1], cells[0] + self.nx, cells[1] + self.nx]
                .map(|cell| seen_from(place, self.centres[cell]));
            if !may_hold(&corners) {
                continue;
            }
            let Some([s, t]) = inside(&corners) else { continue };
            let beyond = |x: f64| (-x).max(x - 1.0).max(0.0);
            let beyond = beyond(s).max(beyond(t));
            if nearest.is_none_or(|(least, ..)| beyond < least) {
                nearest = Some((beyond, [i, j, east], [s.clamp(0.0, 1.0), t.clamp(0.0, 1.0)]));
            }
            if beyond == 0.0 {
                break;
            }
        }
        let (beyond, [i, j, east], at) = nearest?;
        (beyond <= EDGE).then(|| around(self.nx, [i, east], [j, j + 1], at))
    }
}

/// Range of latitudes of a quadrilateral, degrees.
fn latitudes(corners: &[[f64; 2]; 4]) -> [f64; 2] {
    let fold = |f: fn(f64, f64) -> f64, start| corners.iter().map(|c| c[1]).fold(start, f);
    let [mut low, mut high] = [fold(f64::min, f64::INFINITY), fold(f64::max, f64::NEG_INFINITY)];
    let span = |a: &[f64; 2]| corners.iter().map(|b| turn(b[0] - a[0]).abs()).fold(0.0, f64::max);
    let is_wide = corners.iter().map(span).fold(0.0, f64::max) > AROUND_POLE;
    // On the polar projection a straight edge comes nearer to the pole than its ends.
    let poleward = |latitude: f64| {
        let part = if is_wide { 0.0 } else { (0.5 * AROUND_POLE).to_radians().cos() };
        90.0 - (90.0 - latitude) * part
    };
    if high > POLAR {
        high = poleward(high);
    }
    if low < -POLAR {
        low = -poleward(-low);
    }
    [low, high]
}

/// A centre relative to a point: eastward and northward, degrees; near a pole on the polar projection.
fn seen_from(place: [f64; 2], centre: [f64; 2]) -> [f64; 2] {
    if place[1].abs() <= POLAR {
        return [turn(centre[0] - place[0]), centre[1] - place[1]];
    }
    let side = place[1].signum();
    let on_map = |[longitude, latitude]: [f64; 2]| {
        let (sin, cos) = longitude.to_radians().sin_cos();
        let from_pole = 90.0 - side * latitude;
        [from_pole * sin, from_pole * cos]
    };
    let ([x, y], [x0, y0]) = (on_map(centre), on_map(place));
    [x - x0, y - y0]
}

/// Returns `true` if the origin is in or near the bounding box of the corners, and the box is less than 180 degrees
/// wide.
fn may_hold(corners: &[[f64; 2]; 4]) -> bool {
    (0..2).all(|axis| {
        let of = corners.map(|corner| corner[axis]);
        let (low, high) = of.iter().fold((of[0], of[0]), |(a, b), x| (a.min(*x), b.max(*x)));
        let margin = EDGE * (high - low);
        high - low < 180.0 && low - margin <= 0.0 && high + margin >= 0.0
    })
}

/// Local coordinates of the origin, from 0 to 1, between the sides of a quadrilateral along its two axes.
///
/// Solves a + b s + c t + d s t = 0 by Newton's method, which converges in one step for d = 0.
fn inside([p00, p10, p01, p11]: &[[f64; 2]; 4]) -> Option<[f64; 2]> {
    const MOST: usize = 50;
    /// Convergence limit: the rounding error of numbers near 1.
    const NEAR: f64 = 1e-14;
    let b = [p10[0] - p00[0], p10[1] - p00[1]];
    let c = [p01[0] - p00[0], p01[1] - p00[1]];
    let d = [p11[0] - p10[0] - c[0], p11[1] - p10[1] - c[1]];
    let [mut s, mut t] = [0.5, 0.5];
    for _ in 0..MOST {
        let value = |n: usize| p00[n] + b[n] * s + c[n] * t + d[n] * s * t;
        let (f, g) = (value(0), value(1));
        let (fs, ft) = (b[0] + d[0] * t, c[0] + d[0] * s);
        let (gs, gt) = (b[1] + d[1] * t, c[1] + d[1] * s);
        let determinant = fs * gt - ft * gs;
        if determinant == 0.0 || !determinant.is_finite() {
            return None;
        }
        let ds = (f * gt - ft * g) / determinant;
        let dt = (fs * g - f * gs) / determinant;
        s -= ds;
        t -= dt;
        if ds.abs().max(dt.abs()) < NEAR {
            break;
        }
    }
    (s.is_finite() && t.is_finite()).then_some([s, t])
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::grid::Side;

    const SHAPE: Shape = Shape { nx: 9, ny: 8, nz: 1 };

    fn earth(at: impl Fn(f64, f64) -> [f64; 2], side: Side) -> Earth {
        let cells = (0..SHAPE.columns()).map(|c| ((c % SHAPE.nx) as f64, (c / SHAPE.nx) as f64));
        Earth::new(cells.map(|(i, j)| at(i, j)).collect(), SHAPE, Sides::all(side))
    }

    /// Points between the centres, as indices; some exactly on the edge.
    fn places() -> impl Iterator<Item = (f64, f64)> {
        let part = |n: usize, count: usize| n as f64 / 20.0 * (count - 1) as f64;
        (0..=20).flat_map(move |m| (0..=20).map(move |n| (part(n, SHAPE.nx), part(m, SHAPE.ny))))
    }

    /// Column and row of a point according to its weights.
    fn index(around: &Around) -> (f64, f64) {
        around.iter().fold((0.0, 0.0), |(i, j), (cell, weight)| {
            (i + weight * (cell % SHAPE.nx) as f64, j + weight * (cell / SHAPE.nx) as f64)
        })
    }

    fn check(at: impl Fn(f64, f64) -> [f64; 2], limit: f64) {
        let earth = earth(&at, Side::Specified);
        for (i, j) in places() {
            let [longitude, latitude] = at(i, j);
            // Any multiple of 360 degrees may be added to a longitude.
            for turns in [-360.0, 0.0, 360.0] {
                let around = earth.find([longitude + turns, latitude]);
                let (x, y) = index(&around.unwrap_or_else(|| panic!("{i} {j} is not found")));
                assert!((x - i).abs() < limit && (y - j).abs() < limit, "{i} {j}: {x} {y}");
            }
        }
        let mut sum = 0.0;
        for (i, j) in [(-0.1, 3.0), (8.1, 3.0), (4.0, -0.1), (4.0, 7.1), (90.0, 90.0)] {
            let [longitude, latitude] = at(i, j);
            sum += f64::from(u8::from(earth.find([longitude, latitude]).is_some()));
        }
        assert_eq!(sum, 0.0, "places outside");
    }

    #[test]
    fn places_on_meridians_and_parallels() {
        check(|i, j| [10.0 + 0.3 * i, 45.0 + 0.2 * j], 1e-9);
    }

    #[test]
    fn places_across_the_date_line() {
        check(|i, j| [turn(178.7 + 0.3 * i), -0.7 + 0.2 * j], 1e-9);
    }

    /// A bilinear map of the indices, which needs Newton's method.
    #[test]
    fn places_on_a_skewed_grid() {
        check(|i, j| [10.0 + 0.3 * i + 0.1 * j + 0.01 * i * j, 45.0 + 0.2 * j - 0.1 * i], 1e-9);
    }

    /// A plane over the pole: quadrilaterals are squares there, and one of them contains the pole.
    #[test]
    fn places_around_a_pole() {
        for side in [1.0, -1.0] {
            let at = |i: f64, j: f64| {
                let (x, y) = (0.7 * (i - 3.6), 0.7 * (j - 3.3));
                [x.atan2(y).to_degrees(), side * (90.0 - x.hypot(y))]
            };
            check(at, 1e-9);
        }
    }

    #[test]
    fn a_grid_around_the_earth_closes() {
        let at = |i: f64, j: f64| [40.0 * i - 170.0, 10.0 * j - 35.0];
        let around = earth(at, Side::Periodic).find([170.0, 0.0]).expect("between last and first");
        let columns: Vec<usize> = around.iter().map(|(cell, _)| cell % SHAPE.nx).collect();
        assert_eq!(columns, [8, 0, 8, 0]);
        assert!(around.iter().all(|(_, weight)| (weight - 0.25).abs() < 1e-9), "{around:?}");
        assert!(earth(at, Side::Open).find([170.0, 0.0]).is_none());
    }
}
