//! Output of an ensemble: the variables of a run with a dimension for the members, and their mean and
//! spread.

use std::path::PathBuf;
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::thread::{self, JoinHandle};

use netcdf::FileMut;
use serde::Serialize;

use crate::error::{Error, Result};
use crate::io::atomic_file::AtomicFile;
use crate::io::fields::{StoredVariable, define, put, put_at};
use crate::io::flushing_file::FlushingFile;
use crate::io::ideal_input::{put_grid, put_time};
use crate::io::layout::{
    COMPUTED, CONTENTS, COURANT, ENSEMBLE_MEAN, ENSEMBLE_SPREAD, GIVEN, GRID, PROFILES, Variable,
};
use crate::io::output::{Header, Snapshot, define_place};
use crate::io::selection::is_left_out;
use crate::io::writer::Stored;
use crate::primitives::moments::Moments;

/// Frames of members that may be queued for the writer before the run waits.
const WAITING: usize = 2;

/// The dimension of the members, and the variable with their numbers.
const MEMBER: &str = "member";

/// A parameter that differs between members.
#[derive(Clone, Debug, Serialize)]
pub struct VariedParameter {
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
pub struct MemberTable {
    /// Number of members.
    pub members: usize,
    /// `true` if their fields are written, beside mean and spread.
    pub writes_members: bool,
    /// The parameters that differ between members.
    pub parameters: Vec<VariedParameter>,
}

enum Message<R> {
    Frame(usize, Box<Snapshot<R>>),
    Commit,
}

/// The output file of an ensemble, being written.
#[derive(Debug)]
pub struct EnsembleOutput<R> {
    target: PathBuf,
    sender: SyncSender<Message<R>>,
    thread: JoinHandle<Result<usize>>,
}

impl<R: Stored> EnsembleOutput<R> {
    /// Starts a file under a temporary name.
    ///
    /// # Errors
    ///
    /// [`Error::Io`] when no thread can be started.
    pub fn create(pending: AtomicFile, header: Header, roll: MemberTable) -> Result<Self> {
        let target = pending.target().to_owned();
        let (sender, receiver) = sync_channel(WAITING);
        let thread = thread::Builder::new()
            .name("output".to_owned())
            .spawn(move || write(pending, &header, &roll, &receiver))
            .map_err(|e| Error::io(&target, "start writing", e))?;
        Ok(Self { target, sender, thread })
    }

    /// Queues the frame of a member; the frames of a time come in the order of the members. Waits only if the writer is
    /// behind.
    #[must_use = "false means that the writer has failed, and finish tells why"]
    pub fn send(&self, member: usize, snapshot: Snapshot<R>) -> bool {
        self.sender.send(Message::Frame(member, Box::new(snapshot))).is_ok()
    }

    /// Completes the file and renames it to its final name; returns the number of times in it.
    ///
    /// # Errors
    ///
    /// [`Error::Io`] when writing has failed, or members are missing at the last time: then no file is left.
    pub fn finish(self) -> Result<usize> {
        let Self { target, sender, thread } = self;
        // If this fails the writer has ended; its error is returned below.
        let _ = sender.send(Message::Commit);
        drop(sender);
        thread.join().unwrap_or_else(|_| Err(Error::io(&target, "write to", "the writer failed")))
    }
}

fn write<R: Stored>(
    pending: AtomicFile,
    header: &Header,
    roll: &MemberTable,
    receiver: &Receiver<Message<R>>,
) -> Result<usize> {
    let begin = || -> netcdf::Result<_> {
        let mut file = FlushingFile::create(pending.path())?;
        let book = EnsembleFileState::begin::<R>(file.file()?, header, roll)?;
        Ok((file, book))
    };
    let (mut file, mut book) = begin().map_err(|e| pending.failed(e))?;
    while let Ok(message) = receiver.recv() {
        match message {
            Message::Frame(member, snapshot) => {
                file.file()
                    .and_then(|file| book.add(file, header, member, &snapshot))
                    .and_then(|()| file.count_written(snapshot.bytes()))
                    .map_err(|e| pending.failed(e))?;
            }
            Message::Commit if book.members > 0 => {
                let reason = format!(
                    "the last time has {} of {} members; it is incomplete and was discarded",
                    book.members, roll.members
                );
                return Err(Error::io(pending.target(), "complete", reason));
            }
            Message::Commit => {
                file.close().map_err(|e| pending.failed(e))?;
                pending.commit()?;
                return Ok(book.frames);
            }
        }
    }
    Ok(book.frames)
}

/// Fields that differ between members and have mean and spread, in the order of [`differing_values`]: all except the
/// winds and excluded ones.
fn differing(header: &Header) -> Vec<Variable> {
    let fields = COMPUTED.iter().filter(|variable| !is_wind(variable)).chain(&CONTENTS).copied();
    fields
        .chain(Variable::passive(&header.tracers))
        .filter(|about| is_written(header, about))
        .collect()
}

fn is_written(header: &Header, variable: &Variable) -> bool {
    !is_left_out(&header.left_out, variable.name)
}

fn is_wind(variable: &Variable) -> bool {
    matches!(variable.name, "U" | "V" | "W")
}

fn differing_values<'a, R: Stored>(
    header: &'a Header,
    snapshot: &'a Snapshot<R>,
) -> impl Iterator<Item = &'a [R]> {
    let computed = COMPUTED.iter().zip(snapshot.computed());
    let computed = computed.filter(|(variable, _)| !is_wind(variable));
    let known = computed.chain(CONTENTS.iter().zip(snapshot.contents()));
    let known =
        known.filter(|(variable, _)| is_written(header, variable)).map(|(_, values)| values);
    known.chain(snapshot.passive())
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
    moments: Vec<Moments>,
    roll: MemberTable,
    /// Number of complete times, and number of members of the next one.
    frames: usize,
    members: usize,
}

impl EnsembleFileState {
    /// Defines all variables and writes the constant variables.
    fn begin<R: Stored>(
        file: &mut FileMut,
        header: &Header,
        roll: &MemberTable,
    ) -> netcdf::Result<Self> {
        let is_mapped = define_place(file, header)?.is_some();
        file.add_dimension(MEMBER, roll.members)?;
        put_roll(file, roll)?;
        let (shape, mut moments) = (header.shape(), Vec::new());
        for about in &differing(header) {
            if roll.writes_members {
                define::<R>(file, &of_members(about), is_mapped)?;
            }
            for form in statistics(about) {
                define::<R>(file, &form, is_mapped)?;
            }
            let levels = if about.axes.names().len() == 3 { shape.nz } else { 1 };
            moments.push(Moments::new(levels * shape.columns()));
        }
        if roll.writes_members {
            for about in PROFILES.iter().flatten().filter(|about| is_written(header, about)) {
                define::<R>(file, &of_members(about), is_mapped)?;
            }
        }
        for about in COMPUTED.iter().filter(|about| is_wind(about)).chain([&COURANT]) {
            define::<R>(file, &StoredVariable::plain(about), is_mapped)?;
        }
        for about in GIVEN.iter().chain(&GRID) {
            define::<f32>(file, &StoredVariable::plain(about), is_mapped)?;
        }
        Ok(Self { moments, roll: roll.clone(), frames: 0, members: 0 })
    }

    /// Writes the fields of a member at a time; with the last member also mean and spread.
    fn add<R: Stored>(
        &mut self,
        file: &mut FileMut,
        header: &Header,
        member: usize,
        snapshot: &Snapshot<R>,
    ) -> netcdf::Result<()> {
        let (shape, frame) = (header.shape(), self.frames);
        if member == 0 {
            self.moments.iter_mut().for_each(Moments::clear);
            put_time(file, header, frame, snapshot.seconds)?;
            for (about, values) in COMPUTED.iter().zip(snapshot.computed()) {
                if is_wind(about) {
                    put(file, shape, frame, about, values)?;
                }
            }
            put_prescribed(file, header, frame, snapshot)?;
        }
        let at = [frame, member];
        let values = differing_values(header, snapshot);
        let fields = differing(header);
        for ((about, moments), values) in fields.iter().zip(&mut self.moments).zip(values) {
            moments.add(values);
            if self.roll.writes_members {
                put_at(file, shape, &of_members(about), &at, values)?;
            }
        }
        if self.roll.writes_members {
            let profiles: Vec<R> = snapshot.profiles.iter().map(|&x| R::of(x)).collect();
            let profiles = PROFILES.iter().flatten().zip(profiles.chunks_exact(shape.nz));
            for (about, values) in profiles.filter(|(about, _)| is_written(header, about)) {
                put_at(file, shape, &of_members(about), &at, values)?;
            }
        }
        self.members = member + 1;
        if self.members == self.roll.members {
            for (about, moments) in fields.iter().zip(&self.moments) {
                let [mean, spread] = statistics(about);
                put_at(file, shape, &mean, &[frame], &moments.mean::<R>())?;
                put_at(file, shape, &spread, &[frame], &moments.spread::<R>())?;
            }
            (self.frames, self.members) = (frame + 1, 0);
        }
        Ok(())
    }
}

/// Writes the numbers of the members, and the parameters that they differ by.
fn put_roll(file: &mut FileMut, roll: &MemberTable) -> netcdf::Result<()> {
    let numbers: Vec<i32> = (0..roll.members as i32).collect();
    let mut members = file.add_variable::<i32>(MEMBER, &[MEMBER])?;
    members.put_attribute("standard_name", "realization")?;
    members.put_attribute("long_name", "number of the ensemble member")?;
    members.put_attribute("units", "1")?;
    members.put_values(&numbers, ..)?;
    for VariedParameter { name, description, units, values } in &roll.parameters {
        let name = format!("PARAM_{}", name.to_uppercase());
        let mut variable = file.add_variable::<f64>(&name, &[MEMBER])?;
        variable.put_attribute("long_name", *description)?;
        if let Some(units) = units {
            variable.put_attribute("units", *units)?;
        }
        variable.put_values(values, ..)?;
    }
    Ok(())
}

/// Writes the air of the input, and the description of the grid.
fn put_prescribed<R: Stored>(
    file: &mut FileMut,
    header: &Header,
    frame: usize,
    snapshot: &Snapshot<R>,
) -> netcdf::Result<()> {
    put(file, header.shape(), frame, &COURANT, &[R::of(snapshot.max_courant)])?;
    for (variable, values) in GIVEN.iter().zip(snapshot.given.values()) {
        put(file, header.shape(), frame, variable, values)?;
    }
    put_grid(file, header, frame)
}
