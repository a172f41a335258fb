//! The columns of a run, each as one contiguous profile, with what they hold in all: a CF file.

use std::path::Path;

use crate::error::Result;
use crate::grid::Shape;
use crate::io::growing::{About, Growing};
use crate::io::layout::{Axes, COMPUTED, SAMPLED, Variable};
use crate::io::output::{Companion, Header, Snapshot};
use crate::io::writer::Stored;
use crate::mass::AirMass;
use crate::primitives::reduce;
use crate::primitives::transpose::{Matrices, transpose};

/// Dimensions of a profile for each column.
const PROFILE: [&str; 4] = ["time", "south_north", "west_east", "bottom_top"];
/// Dimensions of a number for each column.
const COLUMN: [&str; 3] = ["time", "south_north", "west_east"];

/// What the columns hold of each species of water: place among the computed fields, name, description
/// and name in the CF table.
const TOTALS: [(usize, &str, &str, Option<&str>); 5] = [
    (1, "COLUMN_QVAPOR", "vapour of the column", Some("atmosphere_mass_content_of_water_vapor")),
    (
        2,
        "COLUMN_QCLOUD",
        "cloud water of the column",
        Some("atmosphere_mass_content_of_cloud_liquid_water"),
    ),
    (3, "COLUMN_QRAIN", "rain of the column", None),
    (4, "COLUMN_QICE", "cloud ice of the column", Some("atmosphere_mass_content_of_cloud_ice")),
    (5, "COLUMN_QSNOW", "snow of the column", None),
];

/// The strongest echo: place among the computed fields, and name.
const STRONGEST: (usize, &str) = (9, "REFL_10CM_MAX");

/// A file of profiles, in the making.
#[derive(Debug)]
pub struct Profiles {
    file: Growing,
    shape: Shape,
    /// Mass of dry air above a square metre, profile by profile, kg.
    mass: Vec<f64>,
}

/// The computed fields that have a value in every cell.
fn volumes() -> impl Iterator<Item = (usize, &'static Variable)> {
    COMPUTED.iter().enumerate().filter(|(_, variable)| variable.axes == Axes::Volume)
}

impl Profiles {
    /// Starts the file.
    ///
    /// # Errors
    ///
    /// Those of [`Pending::new`](crate::io::pending::Pending::new), and
    /// [`Io`](crate::error::Error::Io).
    pub fn create<R: Stored>(target: &Path, force: bool, header: &Header) -> Result<Self> {
        let domain = &header.domain;
        let shape = domain.grid.shape;
        let mut file = Growing::create(target, force, header, "profiles of all columns")?;
        file.define(|file| {
            for (name, length) in PROFILE[1..].iter().zip([shape.ny, shape.nx, shape.nz]) {
                file.add_dimension(name, length)?;
            }
            Ok(())
        })?;
        let attributes = [("units", "1"), ("long_name", "eta in the middle of the layers")];
        file.fixed("ZNU", &["bottom_top"], &attributes, &domain.vertical.znu)?;
        let plane = ["south_north", "west_east"];
        let mut coordinates = "";
        if let (Some(latitude), Some(longitude)) = (&domain.latitude, &domain.longitude) {
            coordinates = "XLONG XLAT";
            for (name, units, meaning, field) in [
                ("XLAT", "degrees_north", "latitude", latitude),
                ("XLONG", "degrees_east", "longitude", longitude),
            ] {
                let attributes =
                    [("units", units), ("long_name", meaning), ("standard_name", meaning)];
                let values: Vec<f32> = field.iter().copied().collect();
                file.fixed(name, &plane, &attributes, &values)?;
            }
        }
        let placed = &SAMPLED[COMPUTED.len()..];
        for variable in volumes().map(|(_, variable)| variable).chain(placed) {
            file.variable::<R>(&About {
                name: variable.name,
                dimensions: &PROFILE,
                units: variable.units,
                long_name: variable.description.to_lowercase().replace("faces", "middle").into(),
                standard_name: variable.standard_name,
                coordinates,
                has_gaps: false,
                chunks: &[],
            })?;
        }
        let per_area = TOTALS.map(|(_, name, long_name, cf)| (name, "kg m-2", long_name, cf));
        let strongest = "largest radar reflectivity of the column (lamda = 10 cm)";
        let strongest = (STRONGEST.1, "dBZ", strongest, None);
        for (name, units, long_name, standard_name) in per_area.into_iter().chain([strongest]) {
            file.variable::<R>(&About {
                name,
                dimensions: &COLUMN,
                units,
                long_name: long_name.into(),
                standard_name,
                coordinates,
                has_gaps: false,
                chunks: &[],
            })?;
        }
        let air = AirMass::<f64>::new(&domain.grid, &domain.coordinate);
        let (map_x, map_y) = (&domain.coordinate.map_x, &domain.coordinate.map_y);
        let mass = (0..shape.columns())
            .map(|c| (c / shape.nx, c % shape.nx))
            .flat_map(|(j, i)| {
                let area = domain.grid.dx * domain.grid.dy / (map_x[[j, i]] * map_y[[j, i]]);
                let air = &air;
                (0..shape.nz).map(move |k| air.cell.at(k, j, i) / area)
            })
            .collect();
        Ok(Self { file, shape, mass })
    }

    /// Writes a field, levels of which follow each other, as profiles; returns these.
    fn put<R: Stored>(&mut self, name: &str, levels: &[R]) -> Result<Vec<R>> {
        let Shape { nx, ny, nz } = self.shape;
        let mut profiles = vec![R::ZERO; levels.len()];
        transpose(Matrices::levels(1, nz, ny, nx), levels, &mut profiles);
        self.file.now(name, 0, &[ny, nx, nz], &profiles)?;
        Ok(profiles)
    }

    fn put_numbers<R: Stored>(&mut self, name: &str, numbers: &[R]) -> Result<()> {
        self.file.now(name, 0, &[self.shape.ny, self.shape.nx], numbers)
    }
}

impl<R: Stored> Companion<R> for Profiles {
    fn target(&self) -> &Path {
        self.file.target()
    }

    fn frame(&mut self, frame: &Snapshot<R>) -> Result<()> {
        self.file.begin(frame.seconds)?;
        let (nz, plane) = (self.shape.nz, self.shape.columns());
        let fields = frame.computed();
        for (number, variable) in volumes() {
            let profiles = self.put(variable.name, fields[number])?;
            let columns = profiles.chunks(nz);
            if let Some((_, name, ..)) = TOTALS.iter().find(|(place, ..)| *place == number) {
                let mass: Vec<R> = self.mass.iter().map(|x| R::of(*x)).collect();
                let total = |(q, mass): (&[R], &[R])| R::of(reduce::dot(q, mass));
                let totals: Vec<R> = columns.zip(mass.chunks(nz)).map(total).collect();
                self.put_numbers(name, &totals)?;
            } else if number == STRONGEST.0 {
                let most = |x: &[R]| reduce::extrema(x).map_or_else(R::nan, |found| found.max);
                let most: Vec<R> = columns.map(most).collect();
                self.put_numbers(STRONGEST.1, &most)?;
            }
        }
        let sum = |fields: &[ndarray::Array3<f32>; 2]| -> Vec<f64> {
            let [a, b] = fields;
            a.iter().zip(b).map(|(a, b)| f64::from(*a) + f64::from(*b)).collect()
        };
        let pressure: Vec<R> = sum(&frame.given.pressure).into_iter().map(R::of).collect();
        let gravity = <f64 as crate::constants::Constants>::GRAVITY;
        let faces = sum(&frame.given.geopotential);
        let middle = faces[..nz * plane].iter().zip(&faces[plane..]);
        let height: Vec<R> = middle.map(|(a, b)| R::of(0.5 * (a + b) / gravity)).collect();
        for (variable, values) in SAMPLED[COMPUTED.len()..].iter().zip([pressure, height]) {
            self.put(variable.name, &values)?;
        }
        Ok(())
    }

    fn commit(self: Box<Self>) -> Result<()> {
        self.file.commit()
    }
}
