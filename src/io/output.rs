//! Output of a run: a WRF file with CF attributes, written by a thread of its own.

use std::iter;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::thread::{self, JoinHandle};

use ndarray::{Array2, Array3};
use netcdf::FileMut;
use time::PrimitiveDateTime;

use crate::calendar;
use crate::error::{Error, Result};
use crate::grid::Shape;
use crate::io::atomic_file::AtomicFile;
pub use crate::io::aux_output::AuxOutput;
use crate::io::fields::{define_variable, field_type};
use crate::io::frame_slot::FrameSlot;
use crate::io::frames::{Field, FrameFile};
use crate::io::geometry;
use crate::io::layout::{self, COMPUTED, CONTENTS, COURANT, GIVEN, GRID, PROFILES, Variable};
use crate::io::mapping::Mapping;
pub use crate::io::output_form::Storage;
use crate::io::output_statistics::OutputStatistics;
use crate::io::restart::{Restarter, Saved};
use crate::io::rounding_attributes;
use crate::io::samples::{ColumnFrame, PointSample};
use crate::io::storage::Keep;
use crate::io::wrf::{Attribute, Domain};
use crate::io::writer::Stored;
use crate::state::{CloudDiagnostics, State, Surface, memory};
use crate::tracers::TracerSet;

/// Messages that may be queued before the run waits; the writer has one more at hand.
const WAITING: usize = 1;

/// Length of a time stamp.
pub(super) const DATE_LENGTH: usize = 19;

/// Fields of the input that are passed through unchanged. Shapes: (nz, ny, nx), (nz + 1, ny, nx), (ny, nx).
#[derive(Clone, Debug)]
pub struct PassThrough {
    /// Perturbation and base pressure, Pa.
    pub pressure: [Array3<f32>; 2],
    /// Perturbation and base geopotential, m² s⁻².
    pub geopotential: [Array3<f32>; 2],
    /// Perturbation and base column mass, Pa.
    pub column_mass: [Array2<f32>; 2],
}

/// One time of the output.
#[derive(Clone, Debug)]
pub struct Snapshot<R> {
    /// Time since the start of the run, s.
    pub seconds: f64,
    /// Potential temperature less 300 K, and the water.
    pub state: State<R>,
    /// Projected winds on the x-, y- and z-faces, m s⁻¹. Shapes: (nz, ny, nx + 1), (nz, ny + 1, nx),
    /// (nz + 1, ny, nx).
    pub winds: Arc<[Array3<R>; 3]>,
    /// Reflectivity and effective radii.
    pub diagnostics: CloudDiagnostics<R>,
    /// Planes at the ground.
    pub surface: Surface<R>,
    /// Column contents, in the order of the fields of the state. Shape: (species, ny, nx). Units: kg m⁻².
    pub contents: Array3<R>,
    /// Mean and root mean square over the levels of the fields of the state.
    /// Shape: (field, 2, nz).
    pub profiles: Array3<f64>,
    /// Largest Courant number: the fraction of a cell's air that leaves it in a time step.
    pub max_courant: f64,
    /// Air of the input at this time.
    pub given: Arc<PassThrough>,
    /// `true` if winds and prescribed fields are the same in all frames.
    pub lasts: bool,
}

impl<R: Stored> Snapshot<R> {
    /// The values of [`COMPUTED`].
    pub(super) fn computed(&self) -> impl Iterator<Item = &[R]> {
        let Surface { rain, snow, sr, .. } = &self.surface;
        let state = self.state.moist_air().iter().map(memory);
        let others = self.winds.iter().chain(self.diagnostics.fields()).map(memory);
        state.chain(others).chain([rain, snow, sr].map(memory))
    }

    /// The values of the passive tracers.
    pub(super) fn passive(&self) -> impl Iterator<Item = &[R]> {
        self.state.passive().iter().map(memory)
    }

    /// Bytes of the fields.
    pub(super) fn bytes(&self) -> usize {
        let computed: usize = self.computed().chain(self.passive()).map(size_of_val).sum();
        computed + self.given.values().into_iter().map(size_of_val).sum::<usize>()
    }

    /// The values of [`CONTENTS`].
    pub(super) fn contents(&self) -> impl Iterator<Item = &[R]> {
        memory(&self.contents).chunks_exact(self.surface.rain.len())
    }
}

impl PassThrough {
    /// The values of [`GIVEN`].
    pub(super) fn values(&self) -> [&[f32]; GIVEN.len()] {
        let [p, pb] = &self.pressure;
        let [ph, phb] = &self.geopotential;
        let [mu, mub] = &self.column_mass;
        [memory(p), memory(pb), memory(ph), memory(phb), memory(mu), memory(mub)]
    }
}

/// Global description of the file.
#[derive(Clone, Debug)]
pub struct Header {
    /// Domain of the run.
    pub domain: Domain,
    /// Start time of the run.
    pub start: PrimitiveDateTime,
    /// The transported tracers.
    pub tracers: Arc<TracerSet>,
    /// Number of the microphysics in WRF (`MP_PHYSICS`).
    pub physics: i32,
    /// Variables that are excluded from files besides the output; the output has a selection of its own.
    pub left_out: Vec<&'static str>,
    /// Time step, s.
    pub dt: f64,
    /// Global attributes about provenance.
    pub provenance: Vec<(String, Attribute)>,
}

impl Header {
    /// Shape of the grid.
    pub(super) fn shape(&self) -> Shape {
        self.domain.grid.shape
    }
}

/// Form of a file, and the recorder of its times and sizes.
#[derive(Clone, Debug, Default)]
pub struct FileForm {
    /// The form.
    pub storage: Storage,
    /// Times and sizes.
    pub statistics: OutputStatistics,
}

enum Message<R> {
    Frame(Box<Snapshot<R>>),
    Sample(usize, Box<PointSample<R>>),
    Columns(Box<ColumnFrame<R>>),
    Restart(Box<Saved<R>>),
    Commit,
}

/// An output file being written.
#[derive(Debug)]
pub struct Output<R> {
    target: PathBuf,
    statistics: OutputStatistics,
    desk: FrameSlot,
    sender: SyncSender<Message<R>>,
    thread: JoinHandle<Result<usize>>,
}

impl<R: Stored> Output<R> {
    /// Starts a file under a temporary name. Frames and samples go to the companion files too, which get their final
    /// names with it.
    ///
    /// # Errors
    ///
    /// [`Error::Io`] when no thread can be started.
    pub fn create(
        pending: AtomicFile,
        (header, form): (Header, FileForm),
        companions: Vec<Box<dyn AuxOutput<R>>>,
        restarter: Option<Restarter>,
    ) -> Result<Self> {
        let (target, statistics) = (pending.target().to_owned(), form.statistics.clone());
        let (sender, receiver) = sync_channel(WAITING);
        let writer = Writer { pending, header, form, companions, restarter };
        let (desk, leaving) = FrameSlot::of_writer();
        let thread = thread::Builder::new()
            .name("output".to_owned())
            .spawn(move || writer.run(&receiver, leaving.desk()))
            .map_err(|e| Error::io(&target, "start writing", e))?;
        Ok(Self { target, statistics, desk, sender, thread })
    }

    /// The final name of the file.
    pub fn target(&self) -> &Path {
        &self.target
    }

    /// The recorder of times and sizes.
    pub fn statistics(&self) -> &OutputStatistics {
        &self.statistics
    }

    /// The slot for a frame at the writer.
    pub fn desk(&self) -> &FrameSlot {
        &self.desk
    }

    /// Queues a frame; waits while the writer has another one at hand.
    ///
    /// # Errors
    ///
    /// Ignored here: [`Output::finish`] reports a failure of the writer.
    #[must_use = "false means that the writer has failed, and finish tells why"]
    pub fn send(&self, snapshot: Snapshot<R>) -> bool {
        self.desk.put(|| self.sender.send(Message::Frame(Box::new(snapshot))).is_ok())
    }

    /// Queues the product of an operator and the fields, as [`Output::send`].
    #[must_use = "false means that the writer has failed, and finish tells why"]
    pub fn send_sample(&self, operator: usize, sample: PointSample<R>) -> bool {
        self.sender.send(Message::Sample(operator, Box::new(sample))).is_ok()
    }

    /// Queues the columns, as [`Output::send`].
    #[must_use = "false means that the writer has failed, and finish tells why"]
    pub fn send_columns(&self, columns: ColumnFrame<R>) -> bool {
        self.sender.send(Message::Columns(Box::new(columns))).is_ok()
    }

    /// Queues a checkpoint. Everything queued before is first completed under its final name, so that no frame before
    /// the restart is missing on disk. As [`Output::send`].
    #[must_use = "false means that the writer has failed, and finish tells why"]
    pub fn send_restart(&self, saved: Saved<R>) -> bool {
        self.sender.send(Message::Restart(Box::new(saved))).is_ok()
    }

    /// Completes the file and renames it to its final name; returns the number of frames in it.
    ///
    /// # Errors
    ///
    /// [`Error::Io`] when writing has failed.
    pub fn finish(self) -> Result<usize> {
        let Self { target, sender, thread, .. } = self;
        // If this fails the writer has ended; its error is returned below.
        let _ = sender.send(Message::Commit);
        drop(sender);
        thread.join().unwrap_or_else(|_| Err(Error::io(&target, "write to", "the writer failed")))
    }
}

/// State of the writer thread. If it ends without [`Message::Commit`], the last copy with the final name is left.
struct Writer<R> {
    pending: AtomicFile,
    header: Header,
    form: FileForm,
    companions: Vec<Box<dyn AuxOutput<R>>>,
    restarter: Option<Restarter>,
}

impl<R: Stored> Writer<R> {
    fn run(mut self, receiver: &Receiver<Message<R>>, desk: &FrameSlot) -> Result<usize> {
        // Until there is a frame to write, the run has all processors.
        let Ok(first) = receiver.recv() else { return Ok(0) };
        let mut file = begin::<R>(self.pending.path(), &self.header, &self.form)
            .map_err(|e| self.pending.failed(e))?;
        let (mut frames, mut last) = (0, None);
        for message in iter::once(first).chain(receiver) {
            let _busy = self.form.statistics.busy();
            match message {
                Message::Frame(snapshot) => {
                    put_frame(&mut file, &self.header, &self.form.storage, frames, &snapshot)
                        .map_err(|e| self.pending.failed(e))?;
                    frames += 1;
                    drop(snapshot);
                    desk.clear();
                }
                Message::Sample(n, sample) => {
                    self.companions.iter_mut().try_for_each(|file| file.sample(n, &sample))?;
                }
                Message::Columns(columns) => {
                    self.companions.iter_mut().try_for_each(|file| file.columns(&columns))?;
                }
                // All output gets its final name before the restart file.
                Message::Restart(saved) if saved.is_last => last = Some(saved),
                Message::Restart(saved) => {
                    file = self.whole(file).map_err(|e| self.pending.failed(e))?;
                    self.keep(&saved)?;
                }
                Message::Commit => {
                    self.close(file).map_err(|e| self.pending.failed(e))?;
                    self.pending.commit()?;
                    for companion in self.companions {
                        companion.commit()?;
                    }
                    if let (Some(restarter), Some(saved)) = (&mut self.restarter, last) {
                        restarter.write(&saved)?;
                    }
                    return Ok(frames);
                }
            }
        }
        Ok(frames)
    }

    /// Closes the file and adds the attributes about rounding.
    fn close(&self, file: FrameFile) -> Result<(), String> {
        file.close()?;
        rounding_attributes::tell(self.pending.path(), &self.form.statistics.kept())
            .map_err(|e| e.to_string())
    }

    /// Flushes the file, which stays open for more frames.
    fn whole(&self, file: FrameFile) -> Result<FrameFile, String> {
        if self.form.storage.keep == Keep::All {
            file.sync()?;
            return Ok(file);
        }
        self.close(file)?;
        FrameFile::open(self.pending.path(), self.header.shape(), self.form.statistics.clone())
    }

    /// Copies the output so far to its final name, then writes a restart file.
    fn keep(&mut self, saved: &Saved<R>) -> Result<()> {
        let Some(restarter) = &mut self.restarter else { return Ok(()) };
        self.pending.publish()?;
        for companion in &mut self.companions {
            companion.publish()?;
        }
        restarter.write(saved)
    }
}

/// Starts a file and defines its variables.
fn begin<R: Stored>(path: &Path, header: &Header, form: &FileForm) -> Result<FrameFile, String> {
    let create = || -> netcdf::Result<()> {
        let mut file = netcdf::create(path)?;
        define::<R>(&mut file, header, form)?;
        file.close()
    };
    create().map_err(|e| e.to_string())?;
    FrameFile::open(path, header.shape(), form.statistics.clone())
}

fn define<R: Stored>(file: &mut FileMut, header: &Header, form: &FileForm) -> netcdf::Result<()> {
    let mapping = define_place(file, header)?;
    let chunks = (header.shape(), form.storage.compression);
    let chosen = |variable: &&Variable| form.storage.writes(variable);
    let summed = CONTENTS.iter().chain(PROFILES.iter().flatten()).chain([&COURANT]);
    let passive = Variable::passive(&header.tracers);
    for variable in COMPUTED.iter().chain(summed).chain(&passive).filter(chosen) {
        define_variable::<R>(file, variable, mapping.is_some(), chunks)?;
    }
    for variable in GIVEN.iter().chain(&GRID).filter(chosen) {
        define_variable::<f32>(file, variable, mapping.is_some(), chunks)?;
    }
    Ok(())
}

/// Defines dimensions, attributes and times; returns the map projection, if there is one.
pub(super) fn define_place(file: &mut FileMut, header: &Header) -> netcdf::Result<Option<Mapping>> {
    file.add_unlimited_dimension("Time")?;
    file.add_dimension("DateStrLen", DATE_LENGTH)?;
    for (name, length) in layout::dimensions(header.domain.grid.shape) {
        file.add_dimension(name, length)?;
    }
    define_attributes(file, header)?;

    file.add_variable_with_type(
        "Times",
        &["Time", "DateStrLen"],
        &netcdf::types::NcVariableType::Char,
    )?;
    let since = calendar::format(header.domain.start).replace('_', " ");
    let mut minutes = file.add_variable::<f64>("XTIME", &["Time"])?;
    minutes.put_attribute("FieldType", field_type::<f64>())?;
    minutes.put_attribute("MemoryOrder", "0  ")?;
    minutes.put_attribute("description", format!("minutes since {since}"))?;
    minutes.put_attribute("long_name", "time since the start of the simulation")?;
    minutes.put_attribute("units", format!("minutes since {since}"))?;
    minutes.put_attribute("standard_name", "time")?;
    minutes.put_attribute("calendar", "proleptic_gregorian")?;
    minutes.put_attribute("units_metadata", "leap_seconds: none")?;
    minutes.put_attribute("axis", "T")?;
    minutes.put_attribute("stagger", "")?;
    let mapping = Mapping::of(&header.domain);
    if let Some(mapping) = &mapping {
        mapping.define(file, header.domain.grid.shape)?;
    }
    Ok(mapping)
}

fn define_attributes(file: &mut FileMut, header: &Header) -> netcdf::Result<()> {
    let Header { domain, start, physics, dt, provenance, .. } = header;
    let shape = domain.grid.shape;
    file.add_attribute("TITLE", " OUTPUT FROM NWP-MINI, IN THE FORM OF WRF V4.7 MODEL")?;
    file.add_attribute("Conventions", "CF-1.11")?;
    file.add_attribute("title", "tracer advection and cloud microphysics")?;
    file.add_attribute("institution", "not stated")?;
    file.add_attribute("source", concat!("nwp-mini ", env!("CARGO_PKG_VERSION")))?;
    file.add_attribute("references", "Skamarock and others, ARW Technical Note, version 4")?;
    file.add_attribute("START_DATE", calendar::format(*start))?;
    file.add_attribute("SIMULATION_START_DATE", calendar::format(domain.start))?;
    file.add_attribute("WEST-EAST_GRID_DIMENSION", (shape.nx + 1) as i32)?;
    file.add_attribute("SOUTH-NORTH_GRID_DIMENSION", (shape.ny + 1) as i32)?;
    file.add_attribute("BOTTOM-TOP_GRID_DIMENSION", (shape.nz + 1) as i32)?;
    file.add_attribute("DX", domain.grid.dx as f32)?;
    file.add_attribute("DY", domain.grid.dy as f32)?;
    file.add_attribute("DT", *dt as f32)?;
    file.add_attribute("GRIDTYPE", "C")?;
    file.add_attribute("MP_PHYSICS", *physics)?;
    file.add_attribute("USE_THETA_M", 0)?;
    file.add_attribute("NWP_MINI_BOUNDARY", domain.grid.sides.to_string())?;
    for (name, value) in domain.projection.iter().chain(provenance) {
        match value {
            // WRF's readers expect the number of the projection as an integer.
            Attribute::Number(x) if name == "MAP_PROJ" => file.add_attribute(name, *x as i32)?,
            Attribute::Number(x) => file.add_attribute(name, *x as f32)?,
            Attribute::Text(text) => file.add_attribute(name, text.as_str())?,
        };
    }
    Ok(())
}

/// Writes a frame: small variables first, unencoded, then volumes and planes.
fn put_frame<R: Stored>(
    file: &mut FrameFile,
    header: &Header,
    storage: &Storage,
    frame: usize,
    snapshot: &Snapshot<R>,
) -> Result<(), String> {
    let (now, minutes) = moment(header, snapshot.seconds);
    file.begin(frame)?;
    file.put_bytes("Times", frame, now.as_bytes())?;
    file.put("XTIME", frame, &[minutes])?;
    let profiles: Vec<R> = snapshot.profiles.iter().map(|&x| R::of(x)).collect();
    let profiles = PROFILES.iter().flatten().zip(profiles.chunks_exact(header.shape().nz));
    let courant = [R::of(snapshot.max_courant)];
    let summed = CONTENTS.iter().zip(snapshot.contents()).chain(profiles);
    let computed = COMPUTED.iter().zip(snapshot.computed()).chain(summed);
    let passive = Variable::passive(&header.tracers);
    let computed = computed.chain([(&COURANT, &courant[..])]);
    let computed = computed.chain(passive.iter().zip(snapshot.passive()));
    let grid = geometry::values(&header.domain);
    let grid = GRID.iter().zip(&grid).map(|(variable, values)| (variable, (&values[..], true)));
    let given = GIVEN.iter().zip(snapshot.given.values());
    let given = given.map(|(variable, values)| (variable, (values, snapshot.lasts)));
    let mut fields = Vec::new();
    for (variable, values) in computed.filter(|(variable, _)| storage.writes(variable)) {
        let lasts = snapshot.lasts && matches!(variable.name, "U" | "V" | "W");
        fields.extend(put(file, variable, frame, (values, lasts), storage)?);
    }
    for (variable, values) in grid.chain(given) {
        if storage.writes(variable) {
            fields.extend(put(file, variable, frame, values, storage)?);
        }
    }
    file.put_fields(frame, &fields)
}

/// Writes variables with at most one dimension besides time, and returns the others.
fn put<'a, R: Stored>(
    file: &mut FrameFile,
    variable: &Variable,
    frame: usize,
    values: (&'a [R], bool),
    storage: &Storage,
) -> Result<Option<Field<'a>>, String> {
    let field = file.field(*variable, values, (storage.compression, storage.keep));
    if field.is_none() {
        file.put(variable.name, frame, values.0)?;
    }
    Ok(field)
}

/// The time of a frame as WRF writes it, and in minutes since the start of the simulation.
pub(super) fn moment(header: &Header, seconds: f64) -> (String, f64) {
    let now = calendar::after(header.start, seconds);
    let minutes = calendar::minutes(header.domain.start, header.start) + seconds / 60.0;
    (calendar::stamp(now), minutes)
}
