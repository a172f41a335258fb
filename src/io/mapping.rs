//! Position of the grid on Earth, as the CF conventions state it: a grid mapping and map coordinates.
//!
//! Source: Snyder 1987, US Geol. Survey Prof. Paper 1395, the forms for a sphere.

use ndarray::Array2;

use crate::domain::{Attribute, Domain};
pub(crate) use crate::grid::EARTH_RADIUS;
use crate::grid::Shape;
use crate::io::attribute::AttributeValue;
use crate::io::kind::Kind;
use crate::io::layout::GRID_MAPPING;
use crate::io::store::fields::describe;
use crate::io::store::format::{Definition, Done, Schema, Values};

/// Parallels closer than this count as equal, degrees.
const ONE_PARALLEL: f64 = 0.1;

/// A map coordinate along the grid.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Axis {
    /// Value at the first cell centre.
    first: f64,
    /// Spacing of the cells.
    step: f64,
}

impl Axis {
    /// Adds the coordinate of cell centres under the usual name, `lon` or `lat`, on the unrotated globe.
    fn define_known(
        self,
        file: &mut dyn Schema,
        [units, meaning]: [&str; 2],
        (dimension, cells, _): (&str, usize, &str),
    ) -> Done {
        let known = GEOGRAPHIC.iter().zip(["lon", "lat"]).find(|([of, _], _)| *of == units);
        let Some((_, name)) = known else { return Ok(()) };
        let along = (0..cells).map(|n| self.first + n as f64 * self.step);
        file.variable(&Definition::small(name, Kind::Double, &[dimension]))?;
        describe(file, name, &[("units", units), ("long_name", meaning)])?;
        file.fill(name, Values::Double(&along.collect::<Vec<f64>>()))
    }

    /// Adds the coordinates of cell centres and of faces.
    fn define(
        self,
        file: &mut dyn Schema,
        [units, standard_name]: [&str; 2],
        (name, cells, letter): (&str, usize, &str),
    ) -> Done {
        for (name, length, start) in
            [(name.to_owned(), cells, 0.0), (format!("{name}_stag"), cells + 1, -0.5)]
        {
            let along = (0..length).map(|n| self.first + (n as f64 + start) * self.step);
            file.variable(&Definition::small(&name, Kind::Double, &[&name]))?;
            let is_known = GEOGRAPHIC.iter().any(|[known, _]| *known == units);
            let long_name = if is_known { standard_name } else { "coordinate on the map" };
            let mut attributes = vec![("units", units), ("long_name", long_name), ("axis", letter)];
            // A mapping has one coordinate of each CF name, that of the cells.
            if length == cells {
                attributes.push(("standard_name", standard_name));
            }
            describe(file, &name, &attributes)?;
            file.fill(&name, Values::Double(&along.collect::<Vec<f64>>()))?;
        }
        Ok(())
    }
}

/// The mapping of a grid.
#[derive(Clone, Debug, PartialEq)]
pub(in crate::io) struct Mapping {
    parameters: Vec<(&'static str, AttributeValue)>,
    /// Coordinates from west to east and from south to north, with unit and CF name; `None` on the unrotated globe if
    /// the cells do not lie along meridians and parallels.
    axes: Option<[(Axis, [&'static str; 2]); 2]>,
}

/// Coordinates that are lengths on the map.
const LENGTHS: [[&str; 2]; 2] =
    [["m", "projection_x_coordinate"], ["m", "projection_y_coordinate"]];
/// Coordinates on the unrotated globe.
const GEOGRAPHIC: [[&str; 2]; 2] = [["degrees_east", "longitude"], ["degrees_north", "latitude"]];
/// Coordinates on a rotated globe.
const TURNED: [[&str; 2]; 2] = [["degrees", "grid_longitude"], ["degrees", "grid_latitude"]];

impl Mapping {
    /// The mapping of a domain; `None` on a plane, or if the file does not describe it completely.
    pub(in crate::io) fn of(domain: &Domain) -> Option<Self> {
        let number = |name: &str| number(&domain.projection, name);
        let [latitude, longitude] =
            [&domain.latitude, &domain.longitude].map(|p| p.as_ref().map(|p| f64::from(p[[0, 0]])));
        let corner = GeoPoint { latitude: latitude?, longitude: longitude? };
        let steps = [domain.grid.dx, domain.grid.dy];
        match number("MAP_PROJ")? as i32 {
            1 => {
                let parallels = [number("TRUELAT1")?, number("TRUELAT2")?];
                let origin =
                    GeoPoint { latitude: number("MOAD_CEN_LAT")?, longitude: number("STAND_LON")? };
                Some(lambert(parallels, origin, corner, steps))
            }
            2 => Some(polar(number("TRUELAT1")?, number("STAND_LON")?, corner, steps)),
            3 => Some(mercator(number("TRUELAT1")?, number("CEN_LON")?, corner, steps)),
            6 => {
                let pole = [number("POLE_LAT")?, number("POLE_LON")?];
                let mut mapping = globe(pole, number("STAND_LON")?, corner, steps);
                if mapping.axes.is_none() {
                    let axes =
                        along_meridians(domain.latitude.as_ref()?, domain.longitude.as_ref()?);
                    mapping.axes = axes.map(|[x, y]| [(x, GEOGRAPHIC[0]), (y, GEOGRAPHIC[1])]);
                }
                Some(mapping)
            }
            _ => None,
        }
    }

    /// Adds the variables of the mapping to a file that has the dimensions.
    pub(in crate::io) fn define(&self, file: &mut dyn Schema, shape: Shape) -> Done {
        file.variable(&Definition::small(GRID_MAPPING, Kind::Int, &[]))?;
        let words = "where on Earth the grid lies";
        file.attribute(Some(GRID_MAPPING), "long_name", words.into())?;
        for (name, value) in &self.parameters {
            file.attribute(Some(GRID_MAPPING), name, value.clone())?;
        }
        file.fill(GRID_MAPPING, Values::Whole(&[0]))?;
        let names = [("west_east", shape.nx, "X"), ("south_north", shape.ny, "Y")];
        for ((axis, about), name) in self.axes.iter().flatten().zip(names) {
            axis.define(file, *about, name)?;
            axis.define_known(file, *about, name)?;
        }
        Ok(())
    }
}

/// Coordinates of cell centres along x and y: the first one and the spacing, m.
///
/// The map coordinates of the output; on a plane they are relative to its south-western corner. `None` if the
/// coordinates of the map are angles.
pub(crate) fn metres(domain: &Domain) -> Option<[[f64; 2]; 2]> {
    let [dx, dy] = [domain.grid.dx, domain.grid.dy];
    let Some(mapping) = Mapping::of(domain) else {
        return Some([[0.5 * dx, dx], [0.5 * dy, dy]]);
    };
    let axes = mapping.axes?;
    let about = axes.map(|(_, about)| about);
    (about == LENGTHS).then(|| axes.map(|(axis, _)| [axis.first, axis.step]))
}

/// Coordinates of all cell centres, row by row: x and y in m, or longitude and latitude in degrees; `None` if the grid
/// has none of that kind.
pub(crate) fn centres(
    domain: &Domain,
    in_metres: bool,
) -> Option<Box<dyn Iterator<Item = [f64; 2]> + '_>> {
    if in_metres {
        let Shape { nx, ny, .. } = domain.grid.shape;
        let [x, y] = metres(domain)?;
        let at = |[first, step]: [f64; 2], n: usize| first + step * n as f64;
        return Some(Box::new((0..nx * ny).map(move |c| [at(x, c % nx), at(y, c / nx)])));
    }
    let (latitude, longitude) = (domain.latitude.as_ref()?, domain.longitude.as_ref()?);
    let places = longitude.iter().zip(latitude);
    Some(Box::new(places.map(|(&x, &y)| [f64::from(x), f64::from(y)])))
}

/// A point on the globe, degrees.
#[derive(Clone, Copy, Debug)]
pub(in crate::io) struct GeoPoint {
    pub(in crate::io) latitude: f64,
    pub(in crate::io) longitude: f64,
}

/// The attribute of this name, if it is a number.
pub(in crate::io) fn number(attributes: &[(String, Attribute)], name: &str) -> Option<f64> {
    let value = attributes.iter().find(|(found, _)| found == name);
    value.and_then(|(_, value)| match value {
        Attribute::Number(x) => Some(*x),
        Attribute::Text(_) => None,
    })
}

/// The difference of two longitudes, at most half a turn.
///
/// Units: degrees; in [-180, 180).
pub(crate) fn turn(degrees: f64) -> f64 {
    (degrees + 180.0).rem_euclid(360.0) - 180.0
}

/// tan(π/4 + φ/2), which grows from the south pole to the north pole.
fn half_tangent(latitude: f64) -> f64 {
    (45.0 + 0.5 * latitude).to_radians().tan()
}

/// A mapping of the sphere whose first cell has the coordinates `corner`.
fn mapping<const N: usize>(
    name: &'static str,
    parameters: [(&'static str, AttributeValue); N],
    [corner, steps]: [[f64; 2]; 2],
    about: [[&'static str; 2]; 2],
) -> Mapping {
    let parameters = on_sphere(name).into_iter().chain(parameters).collect();
    let axis = |n: usize| (Axis { first: corner[n], step: steps[n] }, about[n]);
    Mapping { parameters, axes: Some([axis(0), axis(1)]) }
}

fn on_sphere(name: &'static str) -> [(&'static str, AttributeValue); 2] {
    [("grid_mapping_name", name.into()), ("earth_radius", EARTH_RADIUS.into())]
}

/// Returns `true` if a cone touches the sphere instead of intersecting it.
fn is_one_parallel([one, two]: [f64; 2]) -> bool {
    (one - two).abs() < ONE_PARALLEL
}

/// Cone constant of Lambert's projection with two standard parallels: angle between meridians on the map for one degree
/// of longitude; negative in the southern hemisphere.
pub(in crate::io) fn cone(parallels: [f64; 2]) -> f64 {
    let [one, two] = parallels;
    if is_one_parallel(parallels) {
        return one.to_radians().sin();
    }
    let cosine = |latitude: f64| latitude.to_radians().cos();
    (cosine(one) / cosine(two)).ln() / (half_tangent(two) / half_tangent(one)).ln()
}

/// Lambert conformal conic projection.
fn lambert(parallels: [f64; 2], origin: GeoPoint, corner: GeoPoint, steps: [f64; 2]) -> Mapping {
    let [one, two] = parallels;
    let is_one = is_one_parallel(parallels);
    let cone = cone(parallels);
    let scale = EARTH_RADIUS * one.to_radians().cos() * half_tangent(one).powf(cone) / cone;
    let radius = |latitude: f64| scale / half_tangent(latitude).powf(cone);
    let angle = cone * turn(corner.longitude - origin.longitude).to_radians();
    let (r, r0) = (radius(corner.latitude), radius(origin.latitude));
    let parameters = [
        // A single parallel is written twice: readers take one value for the origin.
        ("standard_parallel", vec![one, if is_one { one } else { two }].into()),
        ("longitude_of_central_meridian", origin.longitude.into()),
        ("latitude_of_projection_origin", origin.latitude.into()),
    ];
    let corner = [r * angle.sin(), r0 - r * angle.cos()];
    mapping("lambert_conformal_conic", parameters, [corner, steps], LENGTHS)
}

/// Polar stereographic projection, for the hemisphere of its true latitude.
fn polar(true_latitude: f64, meridian: f64, corner: GeoPoint, steps: [f64; 2]) -> Mapping {
    let side = true_latitude.signum();
    let scale = EARTH_RADIUS * (1.0 + (side * true_latitude).to_radians().sin());
    let r = scale / half_tangent(side * corner.latitude);
    let angle = turn(corner.longitude - meridian).to_radians();
    let parameters = [
        ("straight_vertical_longitude_from_pole", meridian.into()),
        ("latitude_of_projection_origin", (90.0 * side).into()),
        ("standard_parallel", true_latitude.into()),
    ];
    let corner = [r * angle.sin(), -side * r * angle.cos()];
    mapping("polar_stereographic", parameters, [corner, steps], LENGTHS)
}

/// Mercator projection.
fn mercator(true_latitude: f64, meridian: f64, corner: GeoPoint, steps: [f64; 2]) -> Mapping {
    let scale = EARTH_RADIUS * true_latitude.to_radians().cos();
    let x = scale * turn(corner.longitude - meridian).to_radians();
    let y = scale * half_tangent(corner.latitude).ln();
    let parameters = [
        ("longitude_of_projection_origin", meridian.into()),
        ("standard_parallel", true_latitude.into()),
    ];
    mapping("mercator", parameters, [[x, y], steps], LENGTHS)
}

/// Tolerance for a centre's distance from its meridian or parallel, as a fraction of a cell: single precision has an
/// error of 2 % at 180 degrees on a grid of 100 m.
const OFF_LINE: f64 = 0.1;

/// Longitudes of the columns and latitudes of the rows, if the cells lie along meridians and parallels at equal
/// distances.
fn along_meridians(latitude: &Array2<f32>, longitude: &Array2<f32>) -> Option<[Axis; 2]> {
    let (ny, nx) = latitude.dim();
    let [x, y] = [longitude, latitude].map(|field| move |j, i| f64::from(field[[j, i]]));
    let east: f64 = (1..nx).map(|i| turn(x(0, i) - x(0, i - 1))).sum();
    let step_x = east / (nx.max(2) - 1) as f64;
    let step_y = (y(ny - 1, 0) - y(0, 0)) / (ny.max(2) - 1) as f64;
    let axes = [Axis { first: x(0, 0), step: step_x }, Axis { first: y(0, 0), step: step_y }];
    let is_on_line = |(j, i): (usize, usize)| {
        let off_x = turn(x(j, i) - axes[0].first - i as f64 * step_x);
        let off_y = y(j, i) - axes[1].first - j as f64 * step_y;
        off_x.abs() < OFF_LINE * step_x.abs() && off_y.abs() < OFF_LINE * step_y.abs()
    };
    ndarray::indices((ny, nx)).into_iter().all(is_on_line).then_some(axes)
}

/// Position on Earth of the north pole of a rotated globe.
pub(in crate::io) fn grid_pole(pole_latitude: f64, stand: f64) -> GeoPoint {
    GeoPoint { latitude: pole_latitude, longitude: turn(-180.0 - stand) }
}

/// Latitude and longitude, unrotated or of a rotated globe.
///
/// WRF turns the globe by `STAND_LON` eastward before it moves the pole to `POLE_LAT`, `POLE_LON`.
fn globe(pole: [f64; 2], stand: f64, corner: GeoPoint, steps: [f64; 2]) -> Mapping {
    let steps = steps.map(|metres| (metres / EARTH_RADIUS).to_degrees());
    let [pole_latitude, pole_longitude] = pole;
    if pole_latitude >= 90.0 {
        return Mapping { parameters: on_sphere("latitude_longitude").into(), axes: None };
    }
    let north = grid_pole(pole_latitude, stand);
    let true_pole = turn(180.0 - pole_longitude);
    let (sin_p, cos_p) = north.latitude.to_radians().sin_cos();
    let (sin_c, cos_c) = corner.latitude.to_radians().sin_cos();
    let (sin_l, cos_l) = (corner.longitude - north.longitude).to_radians().sin_cos();
    let latitude = (sin_c * sin_p + cos_c * cos_p * cos_l).asin().to_degrees();
    let from_true_pole = (-cos_c * sin_l).atan2(sin_c * cos_p - cos_c * sin_p * cos_l);
    let longitude = turn(from_true_pole.to_degrees() + true_pole);
    let parameters = [
        ("grid_north_pole_latitude", north.latitude.into()),
        ("grid_north_pole_longitude", north.longitude.into()),
        ("north_pole_grid_longitude", true_pole.into()),
    ];
    mapping("rotated_latitude_longitude", parameters, [[longitude, latitude], steps], TURNED)
}

#[cfg(test)]
mod tests {
    use super::*;

    const CORNER: GeoPoint = GeoPoint { latitude: 30.0, longitude: -100.0 };

    fn first(mapping: &Mapping) -> [f64; 2] {
        mapping.axes.expect("a map").map(|(axis, _)| axis.first)
    }

    fn near([a, b]: [f64; 2], [x, y]: [f64; 2], limit: f64) -> bool {
        (a - x).abs() < limit && (b - y).abs() < limit
    }

    /// Snyder's numerical example for the sphere, p. 295: 33 and 45 degrees, radius 1.
    #[test]
    fn lambert_of_the_textbook() {
        let origin = GeoPoint { latitude: 23.0, longitude: -96.0 };
        let corner = GeoPoint { latitude: 35.0, longitude: -75.0 };
        let mapping = lambert([33.0, 45.0], origin, corner, [1.0; 2]);
        let found = first(&mapping).map(|x| x / EARTH_RADIUS);
        assert!(near(found, [0.296_678_5, 0.246_211_2], 1e-7), "{found:?}");
    }

    #[test]
    fn true_parallels_keep_lengths() {
        let step = 1e-4;
        let east = |p: GeoPoint| GeoPoint { longitude: p.longitude + step, ..p };
        let of: [fn(GeoPoint) -> Mapping; 3] = [
            |c| lambert([30.0, 60.0], GeoPoint { latitude: 40.0, longitude: -90.0 }, c, [1.0; 2]),
            |c| polar(30.0, -90.0, c, [1.0; 2]),
            |c| mercator(30.0, -90.0, c, [1.0; 2]),
        ];
        for mapping in of {
            let ([ax, ay], [bx, by]) = (first(&mapping(CORNER)), first(&mapping(east(CORNER))));
            let length = EARTH_RADIUS * step.to_radians() * 30.0_f64.to_radians().cos();
            assert!(((bx - ax).hypot(by - ay) / length - 1.0).abs() < 1e-5);
        }
    }

    #[test]
    fn the_south_mirrors_the_north() {
        let south = GeoPoint { latitude: -30.0, ..CORNER };
        let [x, y] = first(&polar(60.0, -90.0, CORNER, [1.0; 2]));
        let [u, v] = first(&polar(-60.0, -90.0, south, [1.0; 2]));
        assert!(near([u, v], [x, -y], 1e-6));
    }

    /// The recipes of WRF's user's guide put the centre of the domain at the origin of the rotated axes.
    #[test]
    fn a_turned_globe_has_the_domain_at_its_equator() {
        for (middle, pole, stand) in [
            (GeoPoint { latitude: 40.0, longitude: -97.0 }, [50.0, 180.0], 97.0),
            (GeoPoint { latitude: -30.0, longitude: 150.0 }, [60.0, 0.0], 30.0),
        ] {
            let found = first(&globe(pole, stand, middle, [1.0; 2]));
            assert!(near(found, [0.0, 0.0], 1e-9), "{found:?}");
            let east = GeoPoint { longitude: middle.longitude + 1e-3, ..middle };
            let [x, y] = first(&globe(pole, stand, east, [1.0; 2]));
            assert!(x > 0.0 && y.abs() < 1e-6, "{x} {y}");
        }
        assert_eq!(globe([90.0, 0.0], 0.0, CORNER, [1.0; 2]).axes, None);
    }
}
