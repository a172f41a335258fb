//! Output of an ensemble: the variables of a run with a dimension for the members, and their mean and
//! spread.

use std::sync::mpsc::Receiver;

use serde::Serialize;

use crate::error::{Error, Result};
use crate::frame::Snapshot;
use crate::io::kind::Kind;
use crate::io::layout;
use crate::io::layout::{Axes, COURANT, ENSEMBLE_MEAN, ENSEMBLE_SPREAD, GIVEN, GRID, Variable};
use crate::io::out::frame_values;
use crate::io::out::ideal_input::put_time;
use crate::io::out::output::{Header, define_place};
use crate::io::store::fields::{StoredVariable, define, describe, put};
use crate::io::store::format::{BlockStore, Definition, Done, Schema, Values};
use crate::io::store::storage::Compression;
use crate::io::store::writer::Stored;
use crate::io::store::writer_thread::WriterThread;
use crate::primitives::moments::Moments;

/// Frames of members that may be queued for the writer before the run waits.
const WAITING: usize = 2;

/// The dimension of the members, and the variable with their numbers.
const MEMBER: &str = "member";

/// A parameter that differs between members.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct VariedParameter {
    /// Its name.
    pub name: &'static str,
    /// Description of the parameter.
    #[serde(skip)]
    pub description: &'static str,
    /// Its unit; `None` if it has fractional powers.
    pub units: Option<&'static str>,
    /// Its values, one for each member.
    pub values: Vec<f64>,
}

/// Description of the members in the file of an ensemble.
#[derive(Clone, Debug)]
pub(crate) struct MemberTable {
    /// Number of members.
    pub members: usize,
    /// `true` if their fields are written, beside mean and spread.
    pub writes_members: bool,
    /// The parameters that differ between members.
    pub parameters: Vec<VariedParameter>,
}

/// Number of a member, and its frame.
type MemberFrame<R> = (usize, Box<Snapshot<R>>);

/// The output file of an ensemble, being written.
#[derive(Debug)]
pub(crate) struct EnsembleOutput<R>(WriterThread<MemberFrame<R>>);

impl<R: Stored> EnsembleOutput<R> {
    /// Starts the output.
    pub(crate) fn create(
        file: Box<dyn BlockStore>,
        header: Header,
        table: MemberTable,
    ) -> Result<Self> {
        let target = file.target().to_owned();
        let write = move |frames| write(file, &header, &table, frames);
        WriterThread::start(target, WAITING, write).map(Self)
    }

    /// Queues the frame of a member; the frames of a time come in the order of the members. Waits only if the writer is
    /// behind.
    #[must_use = "false means that the writer has failed, and finish tells why"]
    pub(crate) fn send(&self, member: usize, snapshot: Snapshot<R>) -> bool {
        self.0.send((member, Box::new(snapshot)))
    }

    /// Completes the file and renames it to its final name; returns the number of times in it. If writing has failed,
    /// or members are missing at the last time, no file is left.
    pub(crate) fn finish(self) -> Result<usize> {
        self.0.finish()
    }
}

fn write<R: Stored>(
    mut file: Box<dyn BlockStore>,
    header: &Header,
    table: &MemberTable,
    frames: Receiver<Option<MemberFrame<R>>>,
) -> Result<usize> {
    let begun =
        file.create().and_then(|()| EnsembleFileState::begin::<R>(&mut *file, header, table));
    let mut state = begun.map_err(|e| file.failed(e))?;
    for message in frames {
        if let Some((member, snapshot)) = message {
            let added = state.add(&mut *file, header, member, &snapshot);
            added.and_then(|bytes| file.relieve(bytes)).map_err(|e| file.failed(e))?;
            continue;
        }
        if state.members > 0 {
            let reason = format!(
                "the last time has {} of {} members; it is incomplete and was discarded",
                state.members, table.members
            );
            return Err(Error::io(file.target(), "complete", reason));
        }
        file.commit()?;
        break;
    }
    Ok(state.frames)
}

/// Form of a variable in the file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Form {
    /// A field of every member, with mean and spread.
    Field,
    /// A profile of every member.
    Profile,
    /// The same for all members.
    Shared,
}

impl Form {
    fn of(variable: &Variable) -> Self {
        if variable.axes == Axes::Layer {
            Self::Profile
        } else if variable.is_wind() || variable.name == COURANT.name {
            Self::Shared
        } else {
            Self::Field
        }
    }
}

/// A variable of every member.
fn of_members(about: &Variable) -> StoredVariable<'_> {
    StoredVariable { between: Some(MEMBER), ..StoredVariable::plain(about) }
}

/// Mean and spread of a variable. The names differ from those of the profiles over levels, which end in `_MEAN` too.
fn statistics(about: &Variable) -> [StoredVariable<'_>; 2] {
    [
        (ENSEMBLE_MEAN, "mean", "realization: mean"),
        (ENSEMBLE_SPREAD, "spread", "realization: standard_deviation"),
    ]
    .map(|(end, word, methods)| StoredVariable {
        name: format!("{}{end}", about.name),
        description: format!("Ensemble {word} of {}", about.description),
        cell_methods: Some(methods),
        ..StoredVariable::plain(about)
    })
}

/// State of the file: its contents and position.
struct EnsembleFileState {
    /// Of each field, in the order of [`layout::computed`].
    moments: Vec<Moments>,
    table: MemberTable,
    /// Number of complete times, and number of members of the next one.
    frames: usize,
    members: usize,
}

impl EnsembleFileState {
    /// Defines all variables and writes the constant variables.
    fn begin<R: Stored>(
        file: &mut dyn Schema,
        header: &Header,
        table: &MemberTable,
    ) -> std::result::Result<Self, String> {
        define_place(file, header)?;
        file.dimension(MEMBER, Some(table.members))?;
        put_table(file, table)?;
        let mut variables: Vec<Variable> = layout::computed(&header.tracers).collect();
        variables.sort_by_key(|variable| Form::of(variable) as usize);
        let (shape, mut moments) = (header.shape(), Vec::new());
        for about in &variables {
            let form = Form::of(about);
            if form != Form::Shared && table.writes_members {
                define::<R>(file, &of_members(about), Compression::Fast)?;
            }
            match form {
                Form::Field => {
                    for statistic in statistics(about) {
                        define::<R>(file, &statistic, Compression::Fast)?;
                    }
                    let levels = if about.axes == Axes::Plane { 1 } else { shape.nz };
                    moments.push(Moments::new(levels * shape.columns()));
                }
                Form::Profile => {}
                Form::Shared => {
                    define::<R>(file, &StoredVariable::plain(about), Compression::Fast)?;
                }
            }
        }
        for about in GIVEN.iter().chain(&GRID) {
            define::<f32>(file, &StoredVariable::plain(about), Compression::Fast)?;
        }
        Ok(Self { moments, table: table.clone(), frames: 0, members: 0 })
    }

    /// Writes the fields of a member at a time; with the last member also mean and spread. Returns the size of the
    /// member's values, bytes.
    fn add<R: Stored>(
        &mut self,
        file: &mut dyn BlockStore,
        header: &Header,
        member: usize,
        snapshot: &Snapshot<R>,
    ) -> std::result::Result<usize, String> {
        let (shape, frame) = (header.shape(), self.frames);
        let mut bytes = 0;
        if member == 0 {
            self.moments.iter_mut().for_each(Moments::clear);
            put_time(file, header, frame, snapshot.seconds)?;
            for (about, values) in frame_values::given_values(&snapshot.given, &header.domain) {
                put(file, shape, &StoredVariable::plain(&about), &[frame], values.values())?;
                bytes += size_of_val(values.values());
            }
        }
        self.members = member + 1;
        let is_complete = self.members == self.table.members;
        let mut moments = self.moments.iter_mut().peekable();
        for (about, values) in frame_values::values(snapshot, &header.tracers) {
            let values = values.values();
            bytes += size_of_val(values);
            let form = Form::of(&about);
            if form == Form::Shared {
                if member == 0 {
                    put(file, shape, &StoredVariable::plain(&about), &[frame], values)?;
                }
                continue;
            }
            if self.table.writes_members {
                put(file, shape, &of_members(&about), &[frame, member], values)?;
            }
            let Some(moments) = moments.next_if(|_| form == Form::Field) else { continue };
            moments.add(values);
            if is_complete {
                let [mean, spread] = statistics(&about);
                put(file, shape, &mean, &[frame], &moments.mean::<R>())?;
                put(file, shape, &spread, &[frame], &moments.spread::<R>())?;
            }
        }
        if is_complete {
            (self.frames, self.members) = (frame + 1, 0);
        }
        Ok(bytes)
    }
}

/// Writes the numbers of the members, and the parameters that they differ by.
fn put_table(file: &mut dyn Schema, table: &MemberTable) -> Done {
    let numbers: Vec<i32> = (0..table.members as i32).collect();
    file.variable(&Definition::small(MEMBER, Kind::Int, &[MEMBER]))?;
    let long_name = ("long_name", "number of the ensemble member");
    describe(file, MEMBER, &[("standard_name", "realization"), long_name, ("units", "1")])?;
    file.fill(MEMBER, Values::Whole(&numbers))?;
    for VariedParameter { name, description, units, values } in &table.parameters {
        let name = format!("PARAM_{}", name.to_uppercase());
        file.variable(&Definition::small(&name, Kind::Double, &[MEMBER]))?;
        let units = ("units", units.unwrap_or_default());
        describe(file, &name, &[("long_name", *description), units])?;
        file.fill(&name, Values::Double(values))?;
    }
    Ok(())
}
