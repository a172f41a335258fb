//! Direction of the axes of a grid on Earth: grid north differs from true north.
//!
//! With α the angle from true east to the x axis, counterclockwise, a wind (u, v) along the axes of the
//! grid blows eastward with u cos α - v sin α and northward with v cos α + u sin α (WRF `COSALPHA`,
//! `SINALPHA`).
//!
//! Source: Snyder 1987, US Geol. Survey Prof. Paper 1395: convergence of meridians of the conformal
//! projections of the sphere.

use ndarray::Array2;

use crate::domain::{Attribute, Domain};
use crate::io::mapping::{self, GeoPoint};
use crate::primitives::csr::Csr;

/// Sine and cosine of the angle α of each cell. Shape of each: (ny, nx).
pub(crate) type Rotation = [Array2<f64>; 2];

/// A wind along the axes of the grid as eastward and northward wind.
///
/// Units: as those of the wind; `sine` and `cosine` of the angle α.
pub(crate) fn earth_relative([u, v]: [f64; 2], [sine, cosine]: [f64; 2]) -> [f64; 2] {
    [u * cosine - v * sine, v * cosine + u * sine]
}

/// The direction of the axes of a map projection.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Axes {
    /// Lambert's cone and the polar plane: α = -cone · (λ - λ0). The cone constant is positive in the northern
    /// hemisphere, and 1 or -1 on a polar plane.
    Conical {
        /// Sine of the only true latitude, or its equivalent for two.
        cone: f64,
        /// Meridian λ0 along the y axis, degrees.
        meridian: f64,
    },
    /// Mercator projection, and the unrotated latitude-longitude grid: α = 0.
    Upright,
    /// Rotated latitude-longitude grid: the y axis points to its pole.
    TowardPole {
        /// Latitude of the pole of the grid, degrees.
        latitude: f64,
        /// Longitude of the pole of the grid, degrees.
        longitude: f64,
    },
}

impl Axes {
    /// Axes of the projection that WRF's attributes describe; `None` on a plane, if an attribute is missing, and for
    /// other projections.
    pub(crate) fn of(attributes: &[(String, Attribute)]) -> Option<Self> {
        let number = |name: &str| mapping::number(attributes, name);
        match number("MAP_PROJ")? as i32 {
            1 => {
                let cone = mapping::cone([number("TRUELAT1")?, number("TRUELAT2")?]);
                Some(Self::Conical { cone, meridian: number("STAND_LON")? })
            }
            2 => {
                let cone = number("TRUELAT1")?.signum();
                Some(Self::Conical { cone, meridian: number("STAND_LON")? })
            }
            3 => Some(Self::Upright),
            6 => {
                let pole = number("POLE_LAT")?;
                if pole >= 90.0 {
                    return Some(Self::Upright);
                }
                let GeoPoint { latitude, longitude } =
                    mapping::grid_pole(pole, number("STAND_LON")?);
                Some(Self::TowardPole { latitude, longitude })
            }
            _ => None,
        }
    }

    /// Sine and cosine of α at a point, degrees.
    pub(crate) fn at(self, [longitude, latitude]: [f64; 2]) -> [f64; 2] {
        match self {
            Self::Conical { cone, meridian } => {
                let (sine, cosine) =
                    (-cone * mapping::turn(longitude - meridian).to_radians()).sin_cos();
                [sine, cosine]
            }
            Self::Upright => [0.0, 1.0],
            Self::TowardPole { latitude: pole, longitude: meridian } => {
                // The bearing of the pole, clockwise from north, is -α.
                let (sin_p, cos_p) = pole.to_radians().sin_cos();
                let (sin_y, cos_y) = latitude.to_radians().sin_cos();
                let (sin_x, cos_x) = (meridian - longitude).to_radians().sin_cos();
                let bearing = (sin_x * cos_p).atan2(cos_y * sin_p - sin_y * cos_p * cos_x);
                let (sine, cosine) = bearing.sin_cos();
                [-sine, cosine]
            }
        }
    }
}

/// Sine and cosine of α in all cells: from the projection if it is known, else from the differences of latitude and
/// longitude between cells.
///
/// Shape of `latitude` and `longitude`: (ny, nx). Units: degrees.
pub(crate) fn rotation(
    attributes: &[(String, Attribute)],
    latitude: &Array2<f64>,
    longitude: &Array2<f64>,
) -> Rotation {
    let pairs = match Axes::of(attributes) {
        Some(axes) => {
            Array2::from_shape_fn(latitude.dim(), |at| axes.at([longitude[at], latitude[at]]))
        }
        None => Array2::from_shape_fn(latitude.dim(), |at| along_cells(latitude, longitude, at)),
    };
    [0, 1].map(|n| pairs.mapv(|pair| pair[n]))
}

/// Sine and cosine of α at places, to which the rows of `matrix` interpolate: from the projection if it is known, else
/// between those of the cells; `None` if the run is not on Earth.
///
/// Units: longitude and latitude of the places in degrees.
pub(crate) fn at_places(
    domain: &Domain,
    [longitudes, latitudes]: [&[f64]; 2],
    matrix: &Csr<f64>,
) -> Option<[Vec<f64>; 2]> {
    let [latitude, longitude] =
        [domain.latitude.as_ref()?, domain.longitude.as_ref()?].map(|p| p.mapv(f64::from));
    if let Some(axes) = Axes::of(&domain.projection) {
        let places = longitudes.iter().zip(latitudes);
        let (sine, cosine) = places.map(|(&x, &y)| axes.at([x, y])).map(|[s, c]| (s, c)).unzip();
        return Some([sine, cosine]);
    }
    let [sine, cosine] = rotation(&domain.projection, &latitude, &longitude).map(|field| {
        let mut mean = vec![0.0; matrix.rows()];
        matrix.multiply(field.as_slice().expect("standard layout"), &mut mean);
        mean
    });
    let pairs = sine.iter().zip(&cosine).map(|(&sine, &cosine)| {
        let length = f64::hypot(sine, cosine);
        if length > 0.0 { (sine / length, cosine / length) } else { (0.0, 1.0) }
    });
    let (sine, cosine) = pairs.unzip();
    Some([sine, cosine])
}

/// A point on the unit sphere. Units: degrees.
pub(crate) fn unit_vector([longitude, latitude]: [f64; 2]) -> [f64; 3] {
    let (sin_x, cos_x) = longitude.to_radians().sin_cos();
    let (sin_y, cos_y) = latitude.to_radians().sin_cos();
    [cos_y * cos_x, cos_y * sin_x, sin_y]
}

/// Unit vectors to the east and to the north at a point. Units: degrees.
pub(crate) fn east_and_north([longitude, latitude]: [f64; 2]) -> [[f64; 3]; 2] {
    let (sin_x, cos_x) = longitude.to_radians().sin_cos();
    let (sin_y, cos_y) = latitude.to_radians().sin_cos();
    [[-sin_x, cos_x, 0.0], [-sin_y * cos_x, -sin_y * sin_x, cos_y]]
}

/// Longitude and latitude of a vector from the centre of the sphere, degrees.
pub(crate) fn of_vector([x, y, z]: [f64; 3]) -> [f64; 2] {
    [y.atan2(x).to_degrees(), z.atan2(x.hypot(y)).to_degrees()]
}

/// Sine and cosine of α from the neighbours of a cell along both axes; 0 and 1 if all coincide.
fn along_cells(
    latitude: &Array2<f64>,
    longitude: &Array2<f64>,
    (j, i): (usize, usize),
) -> [f64; 2] {
    let (ny, nx) = latitude.dim();
    let [east, north] = east_and_north([longitude[[j, i]], latitude[[j, i]]]);
    let vector = |j: usize, i: usize| unit_vector([longitude[[j, i]], latitude[[j, i]]]);
    // Direction from one cell to another, eastward and northward, as a unit vector.
    let way = |a: [f64; 3], b: [f64; 3]| {
        let part = |axis: [f64; 3]| (0..3).map(|n| (b[n] - a[n]) * axis[n]).sum::<f64>();
        let [x, y] = [part(east), part(north)];
        let length = x.hypot(y);
        if length > 0.0 { [x / length, y / length] } else { [0.0, 0.0] }
    };
    let [xe, xn] = way(vector(j, i.saturating_sub(1)), vector(j, (i + 1).min(nx - 1)));
    let [ye, yn] = way(vector(j.saturating_sub(1), i), vector((j + 1).min(ny - 1), i));
    let [sine, cosine] = [xn - ye, xe + yn];
    let length = sine.hypot(cosine);
    if length > 0.0 { [sine / length, cosine / length] } else { [0.0, 1.0] }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Checks the angles, degrees, of the axes of a projection at some longitudes and latitudes.
    fn check(projection: &[(&str, f64)], angles: &[([f64; 2], f64)]) {
        let number = |(name, x): &(&str, f64)| ((*name).to_owned(), Attribute::Number(*x));
        let attributes: Vec<_> = projection.iter().map(number).collect();
        let axes = Axes::of(&attributes).expect("a projection");
        for (place, degrees) in angles {
            let (found, (sine, cosine)) = (axes.at(*place), degrees.to_radians().sin_cos());
            let is_near = (found[0] - sine).abs() < 1e-6 && (found[1] - cosine).abs() < 1e-6;
            assert!(is_near, "{found:?} is not {degrees} at {place:?}");
        }
    }

    /// Over both poles the x axis points along the meridian 90 degrees from that of the y axis: away
    /// from the pole, which is southward in the north and northward in the south.
    #[test]
    fn a_polar_plane_turns_with_longitude() {
        for (latitude, quarter) in [(76.0, -90.0), (-76.0, 90.0)] {
            let at = |longitude: f64| [longitude, latitude];
            check(
                &[("MAP_PROJ", 2.0), ("TRUELAT1", latitude), ("STAND_LON", -68.0)],
                &[
                    (at(-68.0), 0.0),
                    (at(22.0), quarter),
                    (at(-158.0), -quarter),
                    (at(112.0), 2.0 * quarter),
                ],
            );
        }
    }

    /// A cone that touches at 30 degrees has the constant 1/2; across the date line the difference of longitudes is
    /// small.
    #[test]
    fn a_cone_turns_by_its_constant() {
        for (latitude, turn) in [(30.0, -2.0), (-30.0, 2.0)] {
            let parallels = [("TRUELAT1", latitude), ("TRUELAT2", latitude)];
            let cone = [&[("MAP_PROJ", 1.0), ("STAND_LON", 178.0)], &parallels[..]].concat();
            check(&cone, &[([-178.0, 10.0], turn)]);
        }
    }

    /// The y axis of a rotated globe points to its pole, at (50 N, 83 E) for a domain centred at (40 N, 97 W):
    /// northward there. On the equator, 90 degrees of longitude from the pole, the pole is at its own latitude above
    /// the eastern horizon: the bearing is 90 - 50 degrees.
    #[test]
    fn a_turned_globe_points_to_its_pole() {
        let pole = [("POLE_LAT", 50.0), ("POLE_LON", 180.0)];
        let globe = [&[("MAP_PROJ", 6.0), ("STAND_LON", 97.0)], &pole[..]].concat();
        check(&globe, &[([-97.0, 40.0], 0.0), ([-7.0, 0.0], -40.0)]);
    }

    /// The differences between cells agree with the formulas, over both poles and with a cone.
    #[test]
    fn coordinates_tell_the_same_as_projections() {
        // Inside the pole's plane of a stereographic map of 10 km about 300 km from the pole.
        for side in [1.0_f64, -1.0] {
            let place = |j: usize, i: usize| {
                let [x, y] = [i as f64 * 10.0 + 200.0, j as f64 * 10.0 - 240.0];
                let from_pole = 2.0 * (x.hypot(y) / (2.0 * 6370.0)).atan();
                [x.atan2(-side * y).to_degrees(), side * (90.0 - from_pole.to_degrees())]
            };
            let field = |n: usize| Array2::from_shape_fn((5, 6), |(j, i)| place(j, i)[n]);
            let [sine, cosine] = rotation(&[], &field(1), &field(0));
            for at in [[2, 3], [1, 1], [3, 4]] {
                let (s, c) = (-side * place(at[0], at[1])[0]).to_radians().sin_cos();
                // Differences over 20 km at 300 km from the pole: the error is of second order in the ratio.
                assert!((sine[at] - s).abs() < 2e-3 && (cosine[at] - c).abs() < 2e-3, "{at:?}");
            }
        }
        let flat = Array2::from_elem((4, 4), 40.0);
        let [sine, cosine] = rotation(&[], &flat, &flat);
        assert_eq!((sine[[1, 1]], cosine[[1, 1]]), (0.0, 1.0));
    }

    /// An eastward wind on a grid whose x axis points south.
    #[test]
    fn winds_are_turned_by_the_angle() {
        let [east, north] = earth_relative([20.0, 0.0], [-1.0, 0.0]);
        assert_eq!((east, north), (0.0, -20.0));
    }
}
