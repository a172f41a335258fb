//! Output of a run: a WRF file with CF attributes, written by a thread of its own.

use std::collections::BTreeMap;
use std::iter;
use std::sync::Arc;
use std::sync::mpsc::Receiver;

use time::PrimitiveDateTime;
use tracing::debug;

use crate::calendar;
use crate::constituents::Constituents;
use crate::domain::{Attribute, Domain};
use crate::error::Result;
use crate::frame::output_statistics::OutputStatistics;
use crate::frame::{ColumnFrame, PointSample, Saved, Snapshot};
use crate::grid::Shape;
use crate::io::kind::Kind;
use crate::io::layout;
use crate::io::layout::{GIVEN, GRID, Variable};
use crate::io::mapping::Mapping;
use crate::io::out::frame_values::{given_values, values};
use crate::io::out::samples::AuxOutput;
use crate::io::out::selection::Selection;
use crate::io::restart::Restarter;
use crate::io::store::bit_information::kept_bits;
use crate::io::store::fields;
use crate::io::store::fields::{OF_TIME, StoredVariable, describe, describe_file, field_type};
use crate::io::store::format::{Definition, Done, Field, Form, Schema, Store, Values};
use crate::io::store::frame_slot::FrameSlot;
use crate::io::store::storage::{Blocks, Compression, Keep};
use crate::io::store::writer::Stored;
use crate::io::store::writer_thread::WriterThread;

/// Messages that may be queued before the run waits; the writer has one more at hand.
const WAITING: usize = 1;

/// Length of a time stamp.
pub(in crate::io) const DATE_LENGTH: usize = 19;

/// Global description of the file.
#[derive(Clone, Debug)]
pub struct Header {
    /// Domain of the run.
    pub domain: Domain,
    /// Start time of the run.
    pub start: PrimitiveDateTime,
    /// The transported tracers.
    pub tracers: Arc<Constituents>,
    /// Number of the microphysics in WRF (`MP_PHYSICS`).
    pub physics: i32,
    /// Time step, s.
    pub dt: f64,
    /// Global attributes about provenance.
    pub provenance: Vec<(String, Attribute)>,
}

impl Header {
    /// Shape of the grid.
    pub(in crate::io) fn shape(&self) -> Shape {
        self.domain.grid.shape
    }
}

/// Form of the output.
#[derive(Clone, Debug, Default)]
pub struct Storage {
    /// Compression of volumes.
    pub compression: Compression,
    /// Bits of their values that are kept.
    pub keep: Keep,
    /// Selection of the variables.
    pub variables: Selection,
    /// Names of species that are never written, with any selection.
    pub hidden: Vec<&'static str>,
}

impl Storage {
    /// Bits that are kept of a variable.
    pub(super) fn keep_of(&self, about: &Variable) -> Keep {
        let is_volume = about.axes.names().len() == 3;
        if is_volume && about.may_be_rounded() { self.keep } else { Keep::All }
    }

    /// True if a variable of a run with this set is written.
    pub(super) fn writes(&self, variable: &Variable, set: &Constituents) -> bool {
        self.variables.has(variable, set) && !self.hidden.contains(&variable.name)
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

#[derive(Debug)]
enum Message<R> {
    Frame(Box<Snapshot<R>>),
    Sample(usize, Box<PointSample<R>>),
    Columns(Box<ColumnFrame<R>>),
    Restart(Box<Saved<R>>),
}

/// An output file being written.
#[derive(Debug)]
pub struct Output<R> {
    statistics: OutputStatistics,
    slot: FrameSlot,
    thread: WriterThread<Message<R>>,
}

impl<R: Stored> Output<R> {
    /// Starts a file under a temporary name. Frames and samples go to the companion files too, which get their final
    /// names with it.
    pub(crate) fn create(
        store: Box<dyn Store>,
        (header, form): (Header, FileForm),
        companions: Vec<Box<dyn AuxOutput<R>>>,
        restarter: Option<Restarter>,
    ) -> Result<Self> {
        let (target, statistics) = (store.target().to_owned(), form.statistics.clone());
        let lasting = BTreeMap::new();
        let writer = Writer { store, header, form, companions, restarter, lasting };
        let (slot, release) = FrameSlot::of_writer();
        // A frame that was sent after the slot was freed would wait for ever.
        let write = move |receiver| writer.run(receiver, release.slot());
        let thread = WriterThread::start(target, WAITING, write)?;
        Ok(Self { statistics, slot, thread })
    }

    /// The recorder of times and sizes.
    pub fn statistics(&self) -> &OutputStatistics {
        &self.statistics
    }

    /// The slot for a frame at the writer.
    pub fn slot(&self) -> &FrameSlot {
        &self.slot
    }

    /// Queues a frame; waits while the writer has another one at hand. A failure of the writer is returned by
    /// [`Output::finish`].
    #[must_use = "false means that the writer has failed, and finish tells why"]
    pub fn send(&self, snapshot: Snapshot<R>) -> bool {
        self.slot.put(|| self.thread.send(Message::Frame(Box::new(snapshot))))
    }

    /// Queues the product of an operator and the fields, as [`Output::send`].
    #[must_use = "false means that the writer has failed, and finish tells why"]
    pub fn send_sample(&self, operator: usize, sample: PointSample<R>) -> bool {
        self.thread.send(Message::Sample(operator, Box::new(sample)))
    }

    /// Queues the columns, as [`Output::send`].
    #[must_use = "false means that the writer has failed, and finish tells why"]
    pub fn send_columns(&self, columns: ColumnFrame<R>) -> bool {
        self.thread.send(Message::Columns(Box::new(columns)))
    }

    /// Queues a checkpoint. Everything queued before is first completed under its final name, so that no frame before
    /// the restart is missing on disk. As [`Output::send`].
    #[must_use = "false means that the writer has failed, and finish tells why"]
    pub fn send_restart(&self, saved: Saved<R>) -> bool {
        self.thread.send(Message::Restart(Box::new(saved)))
    }

    /// Completes the file and renames it to its final name; returns the number of frames in it.
    ///
    /// # Errors
    ///
    /// [`Error::Io`](crate::error::Error::Io) when writing has failed.
    pub fn finish(self) -> Result<usize> {
        self.thread.finish()
    }
}

/// State of the writer thread. If the messages end without `None`, the last copy with the final name is left.
struct Writer<R> {
    store: Box<dyn Store>,
    header: Header,
    form: FileForm,
    companions: Vec<Box<dyn AuxOutput<R>>>,
    restarter: Option<Restarter>,
    /// Bits that are kept of fields that are the same in all frames.
    lasting: BTreeMap<&'static str, Option<u32>>,
}

impl<R: Stored> Writer<R> {
    fn run(mut self, messages: Receiver<Option<Message<R>>>, slot: &FrameSlot) -> Result<usize> {
        // Until there is a frame to write, the run has all processors.
        let Ok(first) = messages.recv() else { return Ok(0) };
        self.begin().map_err(|e| self.store.failed(e))?;
        let (mut frames, mut last) = (0, None);
        for message in iter::once(first).chain(messages) {
            let _busy = self.form.statistics.busy();
            match message {
                Some(Message::Frame(snapshot)) => {
                    self.put_frame(frames, &snapshot).map_err(|e| self.store.failed(e))?;
                    debug!("frame {frames} is written");
                    frames += 1;
                    drop(snapshot);
                    slot.clear();
                }
                Some(Message::Sample(n, sample)) => {
                    self.companions.iter_mut().try_for_each(|file| file.sample(n, &sample))?;
                }
                Some(Message::Columns(columns)) => {
                    self.companions.iter_mut().try_for_each(|file| file.columns(&columns))?;
                }
                // All output gets its final name before the restart file.
                Some(Message::Restart(saved)) if saved.is_last => last = Some(saved),
                Some(Message::Restart(saved)) => self.keep(&saved)?,
                None => {
                    self.store.commit()?;
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

    /// Starts the output and defines its variables.
    fn begin(&mut self) -> Done {
        let Self { store, header, form, .. } = self;
        let FileForm { storage, statistics } = form;
        let compression = storage.compression;
        store.create(&Form {
            shape: header.shape(),
            compression,
            statistics: statistics.clone(),
        })?;
        define::<R>(&mut **store, header, form)
    }

    /// Gives the output so far its final name, then writes a restart file.
    fn keep(&mut self, saved: &Saved<R>) -> Result<()> {
        let Some(restarter) = &mut self.restarter else { return Ok(()) };
        self.store.publish()?;
        for companion in &mut self.companions {
            companion.publish()?;
        }
        restarter.write(saved)
    }

    /// Writes a frame: small variables first, unencoded, then volumes and planes.
    fn put_frame(&mut self, frame: usize, snapshot: &Snapshot<R>) -> Done {
        let header = self.header.clone();
        let storage = self.form.storage.clone();
        let (now, minutes) = moment(&header, snapshot.seconds);
        self.store.begin(frame)?;
        self.store.put("Times", frame, Values::Text(&now))?;
        self.store.put("XTIME", frame, Values::Double(&[minutes]))?;
        let computed = values(snapshot, &header.tracers);
        let computed: Vec<_> =
            computed.filter(|(variable, _)| storage.writes(variable, &header.tracers)).collect();
        let prescribed = given_values(&snapshot.given, &header.domain);
        let prescribed: Vec<_> =
            prescribed.filter(|(variable, _)| storage.writes(variable, &header.tracers)).collect();
        let mut fields = Vec::new();
        for (variable, values) in &computed {
            let lasts = snapshot.lasts && variable.is_wind();
            fields.extend(self.put(*variable, frame, (values.values(), lasts))?);
        }
        for (variable, values) in &prescribed {
            let lasts = snapshot.lasts || GRID.iter().any(|of_grid| of_grid.name == variable.name);
            fields.extend(self.put(*variable, frame, (values.values(), lasts))?);
        }
        self.store.put_fields(frame, &fields)?;
        self.store.end(frame)
    }

    /// Writes a variable with at most one dimension besides time, and returns any other. `lasts`: it is the same in
    /// all frames.
    fn put<'a, T: Stored>(
        &mut self,
        about: Variable,
        frame: usize,
        (values, lasts): (&'a [T], bool),
    ) -> std::result::Result<Option<Field<'a>>, String> {
        let of_kind = T::of_kind(values);
        let Some(blocks) = Blocks::of(about.axes, self.header.shape(), size_of::<T>()) else {
            self.store.put(about.name, frame, of_kind)?;
            return Ok(None);
        };
        let known = self.lasting.get(about.name).copied().filter(|_| lasts);
        let bits = known.unwrap_or_else(|| match self.form.storage.keep_of(&about) {
            Keep::All => None,
            Keep::Bits(bits) => Some(bits.min(T::STORED)),
            Keep::Auto => Some(kept_bits(values, blocks.row())),
        });
        if let Some(bits) = bits {
            self.form.statistics.keep(about.name, bits);
        }
        if lasts {
            self.lasting.insert(about.name, bits);
        }
        Ok(Some(Field { about, values: of_kind, first: 0, bits, lasts }))
    }
}

/// Defines the variables of an output.
pub(super) fn define<R: Stored>(file: &mut dyn Schema, header: &Header, form: &FileForm) -> Done {
    define_place(file, header)?;
    let (shape, compression) = (header.shape(), form.storage.compression);
    let chosen = |variable: &Variable| form.storage.writes(variable, &header.tracers);
    for variable in layout::computed(&header.tracers).filter(chosen) {
        fields::define::<R>(file, &StoredVariable::in_blocks::<R>(&variable, shape), compression)?;
    }
    for variable in GIVEN.into_iter().chain(GRID).filter(chosen) {
        let form = StoredVariable::in_blocks::<f32>(&variable, shape);
        fields::define::<f32>(file, &form, compression)?;
    }
    Ok(())
}

/// Defines dimensions, attributes, times, and the map projection, if there is one.
pub(in crate::io) fn define_place(file: &mut dyn Schema, header: &Header) -> Done {
    let shape = header.shape();
    file.dimension("Time", None)?;
    file.dimension("DateStrLen", Some(DATE_LENGTH))?;
    for (name, length) in layout::dimensions(shape) {
        file.dimension(name, Some(length))?;
    }
    define_attributes(file, header)?;

    file.variable(&Definition::small("Times", Kind::Char, &["Time", "DateStrLen"]))?;
    let since = calendar::format(header.domain.start).replace('_', " ");
    let since = format!("minutes since {since}");
    file.variable(&Definition::small("XTIME", Kind::Double, &["Time"]))?;
    file.attribute(Some("XTIME"), "FieldType", field_type::<f64>().into())?;
    let long_name = ("long_name", "time since the start of the simulation");
    let attributes =
        [("MemoryOrder", "0  "), ("description", &since), long_name, ("units", &since)];
    describe(file, "XTIME", &attributes)?;
    describe(file, "XTIME", &OF_TIME)?;
    file.attribute(Some("XTIME"), "stagger", "".into())?;
    Mapping::of(&header.domain).map_or(Ok(()), |mapping| mapping.define(file, shape))
}

fn define_attributes(file: &mut dyn Schema, header: &Header) -> Done {
    let Header { domain, start, physics, dt, provenance, .. } = header;
    let shape = domain.grid.shape;
    let put = |file: &mut dyn Schema, name: &str, value| file.attribute(None, name, value);
    put(file, "TITLE", " OUTPUT FROM NWP-MINI, IN THE FORM OF WRF V4.7 MODEL".into())?;
    describe_file(file, "tracer advection and cloud microphysics")?;
    put(file, "START_DATE", calendar::format(*start).into())?;
    put(file, "SIMULATION_START_DATE", calendar::format(domain.start).into())?;
    put(file, "WEST-EAST_GRID_DIMENSION", ((shape.nx + 1) as i32).into())?;
    put(file, "SOUTH-NORTH_GRID_DIMENSION", ((shape.ny + 1) as i32).into())?;
    put(file, "BOTTOM-TOP_GRID_DIMENSION", ((shape.nz + 1) as i32).into())?;
    put(file, "DX", (domain.grid.dx as f32).into())?;
    put(file, "DY", (domain.grid.dy as f32).into())?;
    put(file, "DT", (*dt as f32).into())?;
    put(file, "GRIDTYPE", "C".into())?;
    put(file, "MP_PHYSICS", (*physics).into())?;
    put(file, "USE_THETA_M", 0_i32.into())?;
    put(file, "NWP_MINI_BOUNDARY", domain.grid.sides.to_string().into())?;
    for (name, value) in domain.projection.iter().chain(provenance) {
        match value {
            // WRF's readers expect the number of the projection as an integer.
            Attribute::Number(x) if name == "MAP_PROJ" => put(file, name, (*x as i32).into())?,
            Attribute::Number(x) => put(file, name, (*x as f32).into())?,
            text @ Attribute::Text(_) => put(file, name, text.into())?,
        }
    }
    Ok(())
}

/// The time of a frame as WRF writes it, and in minutes since the start of the simulation.
pub(in crate::io) fn moment(header: &Header, seconds: f64) -> (String, f64) {
    let now = calendar::after(header.start, seconds);
    let minutes = calendar::minutes(header.domain.start, header.start) + seconds / 60.0;
    (calendar::stamp(now), minutes)
}
