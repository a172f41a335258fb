//! Reading restart files (checkpoints).

use std::path::Path;
use std::sync::Arc;

use time::PrimitiveDateTime;
use tracing::{debug, warn};

use super::check;
use super::dimension::{CHEMISTRY_CELL, PART};
use super::{
    CHEMISTRY_TALLY, COLUMN_MASS, DIGEST, DOMAIN_PLANES, FACE_PROFILES, FIRST_STEPS, FORM,
    LAYER_PROFILES, Restart, kept_name,
};
use crate::calendar;
use crate::constituents::{Constituents, known};
use crate::domain::{Domain, Vertical};
use crate::dry_mass::{AirMass, FaceMaps};
use crate::error::{Advice, Error, Result};
use crate::frame::{FIGURES, FrameRow, PastRun};
use crate::grid::{Grid, Shape, Window};
use crate::io::read::reader::{RESTART_MARK, Reader, try_map};
use crate::io::read::typed_arrays::{array, numbers, typed};
use crate::io::store::writer::Stored;
use crate::io::wrf::series::Series;
use crate::io::wrf::window::InputWindow;
use crate::io::wrf::{self, restart_frame};
use crate::os_text::Shown;
use crate::state::{
    Accumulators, Checkpoint, ChemistryTally, State, Surface, TracerChange, WaterChange,
};
use crate::time_steps::Past;

/// A restart file of this version of the program.
#[derive(Debug)]
pub struct RestartFile {
    reader: Reader,
}

impl RestartFile {
    /// Opens a restart file.
    ///
    /// # Errors
    ///
    /// [`Error::Io`](crate::error::Error::Io) when it cannot be read, [`Error::Input`](crate::error::Error::Input) when
    /// it is damaged, is not a restart file, or is one of another version.
    pub fn open(path: &Path) -> Result<Self> {
        let reader = Reader::open(path)?;
        if reader.text("title").is_none() || reader.number(RESTART_MARK)?.is_none() {
            return Err(reader
                .error("is not a restart file of nwp-mini")
                .advise(Advice::GiveRestartFile));
        }
        let file = Self { reader };
        let (form, version) = (file.number(RESTART_MARK)?, file.text("nwp_mini_version")?);
        let own = env!("CARGO_PKG_VERSION");
        if version != own || form != f64::from(FORM) {
            let [theirs, ours] = if version == own {
                [format!("form {form}"), format!("form {FORM}")]
            } else {
                [version, own.to_owned()]
            };
            return Err(file.reader.error(format!(
                "was written by nwp-mini {theirs}, and this is {ours}, whose results may differ; \
                 continue with the version that wrote it, or start again from its input"
            )));
        }
        let commit = file.reader.text("git_hash").unwrap_or_default();
        if commit != env!("NWP_MINI_COMMIT") {
            warn!(
                "{} was written by a program built from {commit}, this one from {}: the last bits \
                 may differ",
                path.shown(),
                env!("NWP_MINI_COMMIT")
            );
        }
        Ok(file)
    }

    /// The file's name.
    pub fn path(&self) -> &Path {
        self.reader.path()
    }

    /// A text attribute: the value of an option, or provenance.
    ///
    /// # Errors
    ///
    /// [`Error::Input`](crate::error::Error::Input) when it has none of this name.
    pub fn text(&self, name: &str) -> Result<String> {
        let found = self.reader.text(name);
        found.ok_or_else(|| self.reader.error(format!("has no global attribute {name}")))
    }

    /// The same with a default: the value of an option that older versions did not have.
    pub fn option(&self, name: &str) -> Option<String> {
        self.reader.text(name)
    }

    /// The description of the passive tracers of the run, if it has any.
    pub fn tracers(&self) -> Option<String> {
        self.reader.text("tracers")
    }

    /// Length of the steps, s.
    ///
    /// # Errors
    ///
    /// As [`RestartFile::text`].
    pub fn dt(&self) -> Result<f64> {
        self.number("dt")
    }

    fn number(&self, name: &str) -> Result<f64> {
        self.reader.required_number(name)
    }

    fn count(&self, name: &str) -> Result<usize> {
        let number = self.number(name)?;
        if number >= 0.0 && number.fract() == 0.0 {
            return Ok(number as usize);
        }
        Err(self.reader.error(format!("attribute {name} is {number}; a whole number is needed")))
    }

    fn time(&self, name: &str) -> Result<PrimitiveDateTime> {
        let text = self.text(name)?;
        self.parsed_time(name, &text)
    }

    fn parsed_time(&self, name: &str, text: &str) -> Result<PrimitiveDateTime> {
        calendar::parse(text).ok_or_else(|| {
            let fault = calendar::fault(text);
            self.reader.error(format!("attribute {name} holds {text:?}; {fault}"))
        })
    }

    /// Fails if the contents of the file have changed since it was written.
    fn verify(&self) -> Result<()> {
        check::sizes(&self.reader)?;
        let told = self.text(DIGEST)?;
        let found = self.reader.dataset().digest(DIGEST).map_err(|e| {
            self.reader.error(format!("cannot be read completely ({e}); is it complete?"))
        })?;
        if found == told {
            return Ok(());
        }
        Err(self.reader.error(
            "is damaged or was modified: its contents do not match its checksum; use another \
             restart file, or start again from the input",
        ))
    }

    /// Reads everything except the later frames, of a run with these tracers. `choose` may give a part of the grid of the
    /// run, for the domain of the input and the number of cells that each of its cells is divided into along an axis; volumes
    /// are then those of the part, and the frame has its window.
    ///
    /// # Errors
    ///
    /// [`Error::Input`](crate::error::Error::Input) when a part is damaged, missing, or of another precision; those of
    /// `choose`.
    pub fn load<R: Stored>(
        &self,
        tracers: &Arc<Constituents>,
        choose: impl FnOnce(&Domain, usize) -> Result<Option<Grid>>,
    ) -> Result<Restart<R>> {
        self.verify()?;
        let reader = &self.reader;
        let length = |name: &str| reader.dimension(name);
        let shape = Shape { nx: length("x")?, ny: length("y")?, nz: length("z")? };
        let input = Shape { nx: length("input_x")?, ny: length("input_y")?, ..shape };
        let refine = self.text("refine")?.parse().unwrap_or(0);
        let sides = self.text("boundary")?.parse().map_err(|e| reader.error(e))?;
        check::grids(reader, shape, (input, sides), (refine, tracers))?;
        let times = self.text("frame_times")?;
        let times = times.split_whitespace().map(|text| self.parsed_time("frame_times", text));
        let times = times.collect::<Result<Vec<_>>>()?;
        let (first, begin) = (self.count("first_frame")?, self.time("begin")?);
        let Some(time) = times.first() else { return Err(reader.error("holds no input frame")) };
        debug!("{} holds {} input frames from {first} on", self.path().shown(), times.len());
        let column_mass = try_map(COLUMN_MASS, |name| array(reader, name, (shape.ny, shape.nx)))?;
        let domain = self.domain(input)?;
        let left_out = self.left_out(&domain, shape, tracers)?;
        let part = choose(&domain, refine)?;
        let window = part.as_ref().map(|part| InputWindow::of_part(&domain.grid, refine, part));
        let frame = restart_frame::frame((reader, window.as_ref()), (input, tracers), 0, *time)?;
        let series = Series::kept(self.path(), &times, first, (begin, tracers));
        let series = match part.zip(window) {
            Some((part, window)) => series.of_part(part, window),
            None => series,
        };
        let restart = Restart {
            domain,
            frame,
            series,
            past: Past { steps: self.count("steps")?, lack: self.number("lack")? },
            dt: self.dt()?,
            begin,
            run: PastRun {
                checkpoint: self.checkpoint(shape, tracers, part.as_ref())?,
                column_mass,
                reports: self.reports()?,
                water_start: self.number("water_start")? - left_out,
                passive_start: self.of_tracers("tracer_start", 1, tracers)?,
            },
        };
        check::contents(reader, &restart, &times, part.as_ref())?;
        Ok(restart)
    }

    /// Species of water that a run of an earlier program carried and the scheme does not know: their mass in the region of
    /// the budget, kg, which is no longer part of its water.
    fn left_out(&self, domain: &Domain, shape: Shape, tracers: &Constituents) -> Result<f64> {
        let (reader, grid) = (&self.reader, &domain.grid);
        let Window { rows, columns } = grid.inner();
        let mut mass = 0.0;
        for one in known::CONSTITUENTS {
            if !reader.has(one.name) || tracers.position(one.name).is_some() {
                continue;
            }
            let name = one.name;
            warn!("{name} is not a species of {} and is ignored", tracers.scheme());
            // A refined run has no masses yet.
            if shape != grid.shape {
                continue;
            }
            let air = AirMass::<f64>::new(grid, &domain.coordinate);
            for k in 0..shape.nz {
                let level = [k..k + 1, 0..shape.ny, 0..shape.nx];
                let ratios: Vec<f64> = typed(reader, name, &level).or_else(|_| {
                    let single: Vec<f32> = typed(reader, name, &level)?;
                    Ok::<_, Error>(single.into_iter().map(f64::from).collect())
                })?;
                for (column, q) in ratios.into_iter().enumerate() {
                    let (i, j) = (column % shape.nx, column / shape.nx);
                    if rows.contains(&j) && columns.contains(&i) {
                        mass += q * air.cell.at(k, j, i);
                    }
                }
            }
        }
        Ok(mass)
    }

    fn checkpoint<R: Stored>(
        &self,
        shape: Shape,
        tracers: &Arc<Constituents>,
        part: Option<&Grid>,
    ) -> Result<Checkpoint<R>> {
        let reader = &self.reader;
        let window = part.map(|part| InputWindow::of_part(&part.whole_grid(), 1, part));
        let field = |name: &str| match &window {
            None => array::<R, _>(reader, name, shape.centre()),
            Some(window) => {
                let field =
                    window.volume((shape.nz, [0, 0]), |ranges| typed(reader, name, &ranges))?;
                Ok(window.picked(field, [0, 0]))
            }
        };
        let fields = tracers.iter().map(|tracer| field(&kept_name(tracer)));
        let state = State::new(Arc::clone(tracers), fields.collect::<Result<Vec<_>>>()?);
        let plane = |name| {
            let plane = array::<R, _>(reader, name, (shape.ny, shape.nx))?;
            Ok(part.map_or_else(|| plane.clone(), |part| part.columns(&plane)))
        };
        let planes = Surface::<R>::names(tracers).map(plane).collect::<Result<_>>()?;
        let list = |name: &str, dimension: &str| {
            if reader.has(name) {
                numbers(reader, name, &[reader.dimension(dimension)?])
            } else {
                Ok(Vec::new())
            }
        };
        let parts = list("parts", PART)?;
        let changes = reader.numbers("water_changes")?;
        let [fallen, sides, fallout_residual, clipped, mass_mismatch] = changes[..] else {
            return Err(reader.error("attribute water_changes does not hold five numbers"));
        };
        let changes = WaterChange { fallen, sides, fallout_residual, clipped, mass_mismatch };
        let of_tracers = |name: &str, each: usize| self.of_tracers(name, each, tracers);
        let passive = of_tracers("tracer_changes", 4)?;
        let (pairs, _) = passive.as_chunks::<4>();
        let passive = pairs.iter().map(|&[sides, decayed, reacted, clipped]| TracerChange {
            sides,
            decayed,
            reacted,
            clipped,
        });
        let tally = reader.numbers(CHEMISTRY_TALLY)?;
        let tally = tally.try_into().map_err(|_| {
            reader.error(format!(
                "attribute {CHEMISTRY_TALLY} does not hold {} numbers",
                ChemistryTally::NUMBERS
            ))
        })?;
        let chemistry = ChemistryTally::of_numbers(tally);
        let (surface, passive) = (Surface::of(tracers, planes), passive.collect());
        let first_steps = match part {
            Some(part) if reader.has(FIRST_STEPS) => self.first_steps_of(part)?,
            _ => list(FIRST_STEPS, CHEMISTRY_CELL)?,
        };
        check::first_steps(reader, &first_steps, part.map_or(shape, |part| part.shape))?;
        let gathered = Accumulators { surface, changes, passive, chemistry, first_steps, parts };
        Ok(Checkpoint { state, gathered })
    }

    /// First steps of the chemistry in the cells of a part that have it.
    fn first_steps_of(&self, part: &Grid) -> Result<Vec<f64>> {
        let reader = &self.reader;
        let whole = part.whole_grid();
        let Window { rows, columns } = whole.unspecified();
        let of_level = rows.len() * columns.len();
        let all = reader.dimension(CHEMISTRY_CELL)?;
        if all != whole.shape.nz * of_level {
            return Ok(Vec::new());
        }
        let own = part.unspecified();
        let mut steps = Vec::new();
        for level in 0..whole.shape.nz {
            let cells = level * of_level..(level + 1) * of_level;
            let values: Vec<f64> = typed(reader, FIRST_STEPS, std::slice::from_ref(&cells))?;
            for [j, i] in own.rows.clone().flat_map(|j| own.columns.clone().map(move |i| [j, i])) {
                let [j, i] = part.global_column([j, i]);
                steps.push(values[(j - rows.start) * columns.len() + i - columns.start]);
            }
        }
        Ok(steps)
    }

    /// Values that the file has for each passive tracer.
    fn of_tracers(&self, name: &str, each: usize, tracers: &Constituents) -> Result<Vec<f64>> {
        let count = each * tracers.passive().len();
        let numbers = if count == 0 { Vec::new() } else { self.reader.numbers(name)? };
        if numbers.len() == count {
            return Ok(numbers);
        }
        let found = numbers.len();
        Err(self
            .reader
            .error(format!("attribute {name} holds {found} numbers; {count} are needed")))
    }

    fn reports(&self) -> Result<Vec<FrameRow>> {
        let times = self.text("report_times")?;
        let times: Vec<&str> = times.split_whitespace().collect();
        if times.is_empty() {
            return Ok(Vec::new());
        }
        let figures: Vec<f64> = numbers(&self.reader, "reports", &[times.len(), FIGURES])?;
        let (figures, _) = figures.as_chunks::<FIGURES>();
        let row = |(time, figures): (&str, &[f64; FIGURES])| FrameRow {
            time: time.to_owned(),
            figures: *figures,
        };
        Ok(times.into_iter().zip(figures).map(row).collect())
    }

    fn domain(&self, shape: Shape) -> Result<Domain> {
        let reader = &self.reader;
        let [mu, map_x, map_y, u_x, u_y, v_x, v_y] = try_map(DOMAIN_PLANES, |(name, along)| {
            array(reader, name, (reader.dimension(along[0])?, reader.dimension(along[1])?))
        })?;
        let profile = |name: &str, along: &str| -> Result<Vec<f64>> {
            numbers(reader, name, &[reader.dimension(along)?])
        };
        let layers = try_map(LAYER_PROFILES, |name| profile(name, "z"))?;
        let faces = try_map(FACE_PROFILES, |name| profile(name, "z_face"))?;
        let vertical = Vertical::of_profiles(layers, faces, self.number("p_top")?);
        let unit = self.number("unit")?;
        let coordinate = vertical.coordinate(mu, [map_x, map_y], unit);
        let single = |name: &str| array::<f32, _>(reader, name, (shape.ny, shape.nx));
        let if_there = |name: &str| reader.has(name).then(|| single(name)).transpose();
        let sides = self.text("boundary")?.parse().map_err(|e| reader.error(e))?;
        Ok(Domain {
            path: self.path().to_owned(),
            grid: Grid::whole(shape, [self.number("dx")?, self.number("dy")?], sides),
            coordinate,
            face_maps: FaceMaps { u_x, u_y, v_x, v_y },
            vertical,
            latitude: if_there("latitude")?,
            longitude: if_there("longitude")?,
            terrain: single("terrain")?,
            dt: reader.number("input_dt")?,
            start: self.time("simulation_start")?,
            projection: wrf::projection(reader)?,
        })
    }
}
