//! The columns of a run, each as one contiguous profile, with column totals: a CF file.

use std::ops::Range;

use crate::error::Result;
use crate::frame::ColumnFrame;
use crate::grid::Shape;
use crate::io::layout::{self, Axes, PLACED, Variable};
use crate::io::out::append_file::{AppendFile, STRONGEST, VariableInfo};
use crate::io::out::output::Header;
use crate::io::out::samples::AuxOutput;
use crate::io::store::format::BlockStore;
use crate::io::store::writer::Stored;
use crate::io::weights::Coordinates;
use crate::state::memory;

/// Dimensions of a profile in each column.
const PROFILE: [&str; 4] = ["time", "south_north", "west_east", "bottom_top"];
/// Dimensions of a number in each column.
const COLUMN: [&str; 3] = ["time", "south_north", "west_east"];

/// A file of profiles, being written.
#[derive(Debug)]
pub(crate) struct Profiles {
    file: AppendFile,
    shape: Shape,
    /// The computed fields at cell centres, then the passive tracers.
    volumes: Vec<Variable>,
    /// Column contents.
    contents: Vec<Variable>,
}

impl Profiles {
    /// Starts the file.
    pub(crate) fn create<R: Stored>(file: Box<dyn BlockStore>, header: &Header) -> Result<Self> {
        let domain = &header.domain;
        let shape = domain.grid.shape;
        let mut file = AppendFile::create(file, header, "profiles of all columns")?;
        file.define(|file| {
            for (name, length) in PROFILE[1..].iter().zip([shape.ny, shape.nx, shape.nz]) {
                file.dimension(name, Some(length))?;
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
        let set = &header.tracers;
        let of_scheme = layout::fields(set).into_iter();
        let of_scheme: Vec<_> = of_scheme.filter(|about| about.axes == Axes::Volume).collect();
        let passive = Variable::passive(set);
        for variable in of_scheme.iter().chain(&PLACED).chain(&passive) {
            let about = VariableInfo::of(variable, &PROFILE, coordinates);
            let long_name = about.long_name.replace("faces", "middle").into();
            file.variable::<R>(&VariableInfo { long_name, ..about })?;
        }
        let contents: Vec<_> = layout::contents(set).collect();
        for (variable, water) in contents.iter().zip(set.species()) {
            let about = VariableInfo::of(variable, &COLUMN, coordinates);
            let long_name = format!("{} of the column", water.words).into();
            file.variable::<R>(&VariableInfo { long_name, ..about })?;
        }
        if set.reflectivity().is_some() {
            file.variable::<R>(&VariableInfo { dimensions: &COLUMN, coordinates, ..STRONGEST })?;
        }
        let volumes = [of_scheme, passive].concat();
        Ok(Self { file, shape, volumes, contents })
    }
}

impl<R: Stored> AuxOutput<R> for Profiles {
    fn columns(&mut self, frame: &ColumnFrame<R>) -> Result<()> {
        AuxOutput::<R>::begin_columns(self, frame.seconds)?;
        let rows = 0..self.shape.ny;
        let mut lists = frame.lists().enumerate();
        lists.try_for_each(|(list, values)| self.rows_of_columns(list, rows.clone(), values))
    }

    fn begin_columns(&mut self, seconds: f64) -> Result<()> {
        self.file.begin(seconds)
    }

    fn rows_of_columns(&mut self, list: usize, rows: Range<usize>, values: &[R]) -> Result<()> {
        let profiles = self.volumes.iter().chain(&PLACED).map(|variable| (variable.name, true));
        let numbers = self.contents.iter().map(|variable| variable.name).chain([STRONGEST.name]);
        let mut all = profiles.chain(numbers.map(|name| (name, false)));
        let Some((name, is_profile)) = all.nth(list) else { return Ok(()) };
        let Shape { nx, nz, .. } = self.shape;
        let block = [rows, 0..nx, 0..nz];
        let block = if is_profile { &block[..] } else { &block[..2] };
        self.file.now_in(name, 0, block, values)
    }

    fn publish(&mut self) -> Result<()> {
        self.file.publish()
    }

    fn commit(self: Box<Self>) -> Result<()> {
        self.file.commit()
    }
}
