//! The columns of a run, each as one contiguous profile, with column totals: a CF file.

use std::path::Path;

use crate::error::Result;
use crate::grid::Shape;
use crate::io::append_file::{AppendFile, VariableInfo};
use crate::io::atomic_file::AtomicFile;
use crate::io::layout::{Axes, COMPUTED, SAMPLED, Variable};
use crate::io::output::{AuxOutput, Header};
use crate::io::samples::ColumnFrame;
use crate::io::writer::Stored;

/// Dimensions of a profile in each column.
const PROFILE: [&str; 4] = ["time", "south_north", "west_east", "bottom_top"];
/// Dimensions of a number in each column.
const COLUMN: [&str; 3] = ["time", "south_north", "west_east"];

/// Column content of each species of water: name, description and CF standard name.
const TOTALS: [(&str, &str, Option<&str>); 5] = [
    ("QVAPOR_PATH", "vapour of the column", Some("atmosphere_mass_content_of_water_vapor")),
    (
        "QCLOUD_PATH",
        "cloud water of the column",
        Some("atmosphere_mass_content_of_cloud_liquid_water"),
    ),
    ("QRAIN_PATH", "rain of the column", None),
    ("QICE_PATH", "cloud ice of the column", Some("atmosphere_mass_content_of_cloud_ice")),
    ("QSNOW_PATH", "snow of the column", None),
];

/// The largest reflectivity.
const STRONGEST: &str = "REFL_10CM_MAX";

/// A file of profiles, being written.
#[derive(Debug)]
pub struct Profiles {
    file: AppendFile,
    shape: Shape,
    /// The passive tracers.
    passive: Vec<Variable>,
}

/// The computed fields at cell centres.
fn volumes() -> impl Iterator<Item = Variable> {
    COMPUTED.into_iter().filter(|variable| variable.axes == Axes::Volume)
}

impl Profiles {
    /// Starts the file.
    ///
    /// # Errors
    ///
    /// [`Io`](crate::error::Error::Io).
    pub fn create<R: Stored>(pending: AtomicFile, header: &Header) -> Result<Self> {
        let domain = &header.domain;
        let shape = domain.grid.shape;
        let mut file = AppendFile::create(pending, header, "profiles of all columns")?;
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
        let placed = SAMPLED[COMPUTED.len()..].iter().copied();
        let passive = Variable::passive(&header.tracers);
        for variable in volumes().chain(placed).chain(passive.iter().copied()) {
            file.variable::<R>(&VariableInfo {
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
        let per_area = TOTALS.map(|(name, long_name, cf)| (name, "kg m-2", long_name, cf));
        let strongest = "largest radar reflectivity of the column (lamda = 10 cm)";
        let strongest = (STRONGEST, "dBZ", strongest, None);
        for (name, units, long_name, standard_name) in per_area.into_iter().chain([strongest]) {
            file.variable::<R>(&VariableInfo {
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
        Ok(Self { file, shape, passive })
    }

    /// Writes a number for each column.
    fn put_numbers<R: Stored>(&mut self, name: &str, numbers: &[R]) -> Result<()> {
        self.file.now(name, 0, &[self.shape.ny, self.shape.nx], numbers)
    }

    /// Writes a profile for each column.
    fn put<R: Stored>(&mut self, name: &str, profiles: &[R]) -> Result<()> {
        let Shape { nx, ny, nz } = self.shape;
        self.file.now(name, 0, &[ny, nx, nz], profiles)
    }
}

impl<R: Stored> AuxOutput<R> for Profiles {
    fn target(&self) -> &Path {
        self.file.target()
    }

    fn columns(&mut self, frame: &ColumnFrame<R>) -> Result<()> {
        self.file.begin(frame.seconds)?;
        let passive = self.passive.clone();
        for (variable, profiles) in volumes().chain(passive).zip(&frame.fields) {
            self.put(variable.name, profiles)?;
        }
        for (variable, profiles) in SAMPLED[COMPUTED.len()..].iter().zip(&frame.air) {
            self.put(variable.name, profiles)?;
        }
        for ((name, ..), totals) in TOTALS.iter().zip(&frame.totals) {
            self.put_numbers(name, totals)?;
        }
        self.put_numbers(STRONGEST, &frame.strongest)
    }

    fn publish(&mut self) -> Result<()> {
        self.file.publish()
    }

    fn commit(self: Box<Self>) -> Result<()> {
        self.file.commit()
    }
}
