//! The columns of a run, each as one contiguous profile, with column totals: a CF file.

use crate::error::Result;
use crate::frame::ColumnFrame;
use crate::grid::Shape;
use crate::io::layout::{Axes, COMPUTED, CONTENTS, SAMPLED, Variable};
use crate::io::out::append_file::{AppendFile, STRONGEST, VariableInfo};
use crate::io::out::output::Header;
use crate::io::out::samples::AuxOutput;
use crate::io::store::atomic_file::AtomicFile;
use crate::io::store::writer::Stored;
use crate::io::weights::Coordinates;
use crate::state::memory;

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

/// A file of profiles, being written.
#[derive(Debug)]
pub(crate) struct Profiles {
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
    pub(crate) fn create<R: Stored>(pending: AtomicFile, header: &Header) -> Result<Self> {
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
        let mut coordinates = "";
        if let (Some(latitude), Some(longitude)) = (&domain.latitude, &domain.longitude) {
            coordinates = "XLONG XLAT";
            let [longitudes, latitudes] = Coordinates::Degrees.axes();
            for (name, (_, attributes), field) in
                [("XLAT", latitudes, latitude), ("XLONG", longitudes, longitude)]
            {
                file.fixed(name, &COLUMN[1..], &attributes, memory(field))?;
            }
        }
        let placed = SAMPLED[COMPUTED.len()..].iter().copied();
        let passive = Variable::passive(&header.tracers);
        for variable in volumes().chain(placed).chain(passive.iter().copied()) {
            let about = VariableInfo::of(&variable, &PROFILE, coordinates);
            let long_name = about.long_name.replace("faces", "middle").into();
            file.variable::<R>(&VariableInfo { long_name, ..about })?;
        }
        for (variable, long_name) in CONTENTS.iter().zip(TOTALS) {
            let about = VariableInfo::of(variable, &COLUMN, coordinates);
            file.variable::<R>(&VariableInfo { long_name: long_name.into(), ..about })?;
        }
        file.variable::<R>(&VariableInfo { dimensions: &COLUMN, coordinates, ..STRONGEST })?;
        Ok(Self { file, shape, passive })
    }
}

impl<R: Stored> AuxOutput<R> for Profiles {
    fn columns(&mut self, frame: &ColumnFrame<R>) -> Result<()> {
        self.file.begin(frame.seconds)?;
        let Shape { nx, ny, nz } = self.shape;
        let fields = volumes().chain(self.passive.iter().copied()).zip(&frame.fields);
        let air = SAMPLED[COMPUTED.len()..].iter().copied().zip(&frame.air);
        for (variable, profiles) in fields.chain(air) {
            self.file.now(variable.name, 0, &[ny, nx, nz], profiles)?;
        }
        for (variable, totals) in CONTENTS.iter().zip(&frame.totals) {
            self.file.now(variable.name, 0, &[ny, nx], totals)?;
        }
        self.file.now(STRONGEST.name, 0, &[ny, nx], &frame.strongest)
    }

    fn publish(&mut self) -> Result<()> {
        self.file.publish()
    }

    fn commit(self: Box<Self>) -> Result<()> {
        self.file.commit()
    }
}
