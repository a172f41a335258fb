//! The columns of a run, each as one contiguous profile, with column totals: a CF file.

use std::path::Path;

use crate::error::Result;
use crate::grid::Shape;
use crate::io::append_file::{AppendFile, VariableInfo};
use crate::io::atomic_file::AtomicFile;
use crate::io::layout::{Axes, COMPUTED, CONTENTS, SAMPLED, Variable};
use crate::io::output::{AuxOutput, Header};
use crate::io::samples::ColumnFrame;
use crate::io::writer::Stored;

/// Dimensions of a profile in each column.
const PROFILE: [&str; 4] = ["time", "south_north", "west_east", "bottom_top"];
/// Dimensions of a number in each column.
const COLUMN: [&str; 3] = ["time", "south_north", "west_east"];

/// Descriptions of the column contents, in the order of [`CONTENTS`].
const TOTALS: [&str; CONTENTS.len()] = [
    "vapour of the column",
    "cloud water of the column",
    "rain of the column",
    "cloud ice of the column",
    "snow of the column",
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
                ..VariableInfo::default()
            })?;
        }
        let per_area = CONTENTS.iter().zip(TOTALS);
        let per_area = per_area.map(|(of, words)| (of.name, of.units, words, of.standard_name));
        let strongest = "largest radar reflectivity of the column (lamda = 10 cm)";
        let strongest = (STRONGEST, "dBZ", strongest, None);
        for (name, units, long_name, standard_name) in per_area.chain([strongest]) {
            file.variable::<R>(&VariableInfo {
                name,
                dimensions: &COLUMN,
                units,
                long_name: long_name.into(),
                standard_name,
                coordinates,
                ..VariableInfo::default()
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
        for (about, totals) in CONTENTS.iter().zip(&frame.totals) {
            self.put_numbers(about.name, totals)?;
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
