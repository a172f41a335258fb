//! Horizontal wind of samples: along the axes of the run, of another grid, or of the Earth.
//!
//! Samples hold the wind along the axes of the run. A grid along meridians and parallels, a list of cells and stations
//! on Earth get its eastward and northward components; a grid with axes of its own the components along these.

use std::borrow::Cow;

use super::append_file::VariableInfo;
use crate::domain::Domain;
use crate::frame::PointSample;
use crate::io::grid_north::{self, Axes as GridAxes, unit_vector};
use crate::io::mapping::EARTH_RADIUS;
use crate::io::store::writer::Stored;
use crate::io::weights::{Arrangement, Coordinates, Target};
use crate::primitives::csr::Csr;

/// Names of the horizontal components of the wind.
const WIND: [&str; 2] = ["U", "V"];

/// Error of the distance between two centres whose coordinates are in single precision, radians.
const COORDINATES: f64 = 5e-7;

/// Largest geodesic curvature of the axes of a map, in radii of the Earth, by which a chord differs from its arc.
const CURVATURE: f64 = 0.5;

/// Directions in a plane that count as the same: their sine is the rounding of coordinates.
const ROUNDING: f64 = 1e-9;

/// Directions of both components at a place: unit vectors along the axes of the run.
type Directions = [[f64; 2]; 2];

/// Directions that the components follow.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Along {
    /// The axes of the grid of the run.
    Run,
    /// Parallels and meridians.
    Earth,
    /// The axes of the grid that is sampled for.
    Target,
}

impl Along {
    /// Descriptions and CF standard names of the components, if they are not those of the run.
    fn names(self) -> Option<[[&'static str; 2]; 2]> {
        match self {
            Self::Run => None,
            Self::Earth => {
                Some([["eastward wind", "eastward_wind"], ["northward wind", "northward_wind"]])
            }
            Self::Target => Some([
                ["wind along the x axis of this grid", "x_wind"],
                ["wind along the y axis of this grid", "y_wind"],
            ]),
        }
    }
}

/// The components that a file has, and their directions at its places.
#[derive(Clone, Debug)]
pub(super) struct SampledWind {
    along: Along,
    /// `None` if they are those of the run.
    directions: Option<Vec<Directions>>,
}

impl SampledWind {
    /// The components for a target grid, to which `matrix` interpolates.
    pub(super) fn on_grid(domain: &Domain, target: &Target, matrix: &Csr<f64>) -> Self {
        let rows = match target.arrangement {
            Arrangement::Rows { nx, ny } => Some([nx, ny]),
            Arrangement::List(_) => None,
        };
        let of_run = Self { along: Along::Run, directions: None };
        match (target.coordinates, rows) {
            (Coordinates::Metres, None) => of_run,
            (Coordinates::Metres, Some(lengths)) => {
                let place = |c: usize| [target.x[c], target.y[c]];
                let chord = |a: usize, b: usize, _: usize| {
                    let ([x0, y0], [x1, y1]) = (place(a), place(b));
                    Some((unit([x1 - x0, y1 - y0])?, ROUNDING))
                };
                Self::along_target(lengths, matrix, chord)
            }
            (Coordinates::Degrees, rows) => {
                let places = [&*target.x, &*target.y];
                let Some(angles) = grid_north::at_places(domain, places, matrix) else {
                    return of_run;
                };
                match rows {
                    Some(lengths) if target.axes().is_none() => {
                        Self::along_target(lengths, matrix, on_earth(domain, target, &angles))
                    }
                    _ => Self::eastward(&angles),
                }
            }
        }
    }

    /// The components for places with these sines and cosines of the angle from true east to the x axis of the run;
    /// without them those of the run.
    pub(super) fn at_places(angles: Option<&[Vec<f64>; 2]>) -> Self {
        angles.map_or(Self { along: Along::Run, directions: None }, Self::eastward)
    }

    fn eastward([sine, cosine]: &[Vec<f64>; 2]) -> Self {
        let pairs =
            sine.iter().zip(cosine).map(|(&sine, &cosine)| [[cosine, -sine], [sine, cosine]]);
        Self { along: Along::Earth, directions: Some(pairs.collect()) }
    }

    /// The components along the rows and columns of a grid. `chord` is the direction from one cell to another, at a
    /// third one between them, along the axes of the run, and its error. They are those of the run if all cells that the
    /// run reaches have its axes within that error.
    fn along_target(
        [nx, ny]: [usize; 2],
        matrix: &Csr<f64>,
        chord: impl Fn(usize, usize, usize) -> Option<([f64; 2], f64)>,
    ) -> Self {
        let mut is_same = true;
        let cell = |j: usize, i: usize| j * nx + i;
        let mut at = |c: usize| -> Directions {
            let (j, i) = (c / nx, c % nx);
            let x = chord(cell(j, i.saturating_sub(1)), cell(j, (i + 1).min(nx - 1)), c);
            let y = chord(cell(j.saturating_sub(1), i), cell((j + 1).min(ny - 1), i), c);
            let error = [x, y].iter().flatten().fold(0.0, |most: f64, (_, error)| most.max(*error));
            let directions = match [x, y].map(|chord| chord.map(|(direction, _)| direction)) {
                [Some(x), Some(y)] => [x, y],
                // A single row or column: the other axis is across.
                [Some([a, b]), None] => [[a, b], [-b, a]],
                [None, Some([a, b])] => [[b, -a], [a, b]],
                [None, None] => [[1.0, 0.0], [0.0, 1.0]],
            };
            let [x, y] = directions;
            let is_reached = matrix.starts()[c] < matrix.starts()[c + 1];
            let is_near = x[0] > 0.0 && y[1] > 0.0 && x[1].abs() <= error && y[0].abs() <= error;
            is_same &= is_near || !is_reached;
            directions
        };
        let directions: Vec<Directions> = (0..nx * ny).map(&mut at).collect();
        Self { along: Along::Target, directions: (!is_same).then_some(directions) }
    }

    /// Describes a variable of the samples, if it is a component.
    pub(super) fn describe(&self, about: &mut VariableInfo<'_>) {
        let axis = WIND.iter().position(|wind| *wind == about.name);
        if let Some((axis, names)) = axis.zip(self.along.names()) {
            let [long_name, standard_name] = names[axis];
            (about.long_name, about.standard_name) = (long_name.into(), Some(standard_name));
        }
    }

    /// The fields of a sample with these components, in the order of the sample.
    pub(super) fn fields<'a, R: Stored>(&self, sample: &'a PointSample<R>) -> Vec<Cow<'a, [R]>> {
        let mut fields: Vec<_> =
            sample.fields.iter().map(|field| Cow::Borrowed(&**field)).collect();
        if let Some(directions) = &self.directions {
            let first = sample.order.wind().start;
            let [u, v] = [0, 1].map(|axis| &sample.fields[first + axis]);
            for axis in 0..WIND.len() {
                let at = directions.iter().map(|directions| directions[axis]).cycle();
                let values = u.iter().zip(v).zip(at).map(|((&u, &v), [along_x, along_y])| {
                    let [u, v] = [u, v].map(|x| x.to_f64().unwrap_or(f64::NAN));
                    R::of(u * along_x + v * along_y)
                });
                fields[first + axis] = values.collect::<Vec<R>>().into();
            }
        }
        fields
    }
}

/// Chords of a grid on Earth. The direction of a chord is that of the axis halfway, where the axes of the run are taken
/// too if their projection is known; else they are those of the cell.
fn on_earth(
    domain: &Domain,
    target: &Target,
    [sine, cosine]: &[Vec<f64>; 2],
) -> impl Fn(usize, usize, usize) -> Option<([f64; 2], f64)> {
    let cell_size = domain.grid.dx.max(domain.grid.dy) / EARTH_RADIUS;
    let axes = GridAxes::of(&domain.projection);
    move |a: usize, b: usize, cell: usize| {
        let [from, to] = [a, b].map(|c| unit_vector([target.x[c], target.y[c]]));
        let halfway = grid_north::of_vector([0, 1, 2].map(|n| from[n] + to[n]));
        let [east, north] = grid_north::east_and_north(halfway);
        let part = |axis: [f64; 3]| (0..3).map(|n| (to[n] - from[n]) * axis[n]).sum::<f64>();
        let chord = [part(east), part(north)];
        let ([east, north], length) = (unit(chord)?, chord[0].hypot(chord[1]));
        let [sine, cosine] = axes.map_or([sine[cell], cosine[cell]], |axes| axes.at(halfway));
        let direction = [east * cosine + north * sine, north * cosine - east * sine];
        Some((direction, COORDINATES / length + CURVATURE * length.max(cell_size)))
    }
}

/// A vector of length 1; `None` for one without length.
fn unit([x, y]: [f64; 2]) -> Option<[f64; 2]> {
    let length = x.hypot(y);
    (length > 0.0).then(|| [x / length, y / length])
}
