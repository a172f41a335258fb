//! Output of a run on several ranks, of which each has its columns.
//!
//! All ranks make the same calls, from their main threads. A field is brought together slab by slab: for a single file on
//! the first rank, whole levels of 16 MB or one level at a time; in a store of several files each shard on one rank, in
//! turn, which writes it. The first rank writes everything else.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use ndarray::ArrayView3;

use crate::error::Result;
use crate::frame::output_statistics::OutputStatistics;
use crate::frame::{ColumnFrame, PointSample, Saved, Snapshot};
use crate::grid::{DividedGrid, Layout, Slab};
use crate::io::layout::{GRID, Variable};
use crate::io::out::frame_values::{Content, given_values, values};
use crate::io::out::output::{FileForm, Header, define, moment};
use crate::io::out::samples::AuxOutput;
use crate::io::restart::Restarter;
use crate::io::store;
use crate::io::store::bit_information::Sample;
use crate::io::store::format::{Done, Field, Form, HeldValues, Store, Values};
use crate::io::store::storage::Keep;
use crate::io::store::writer::Stored;
use crate::ranks::{Team, all, of_rank};

/// Most bytes of rows of columns that are brought together at a time.
const ROWS: usize = 16 << 20;

/// An output of several ranks.
#[derive(Debug)]
pub(crate) struct DividedOutput<R> {
    team: Team,
    divided: Arc<DividedGrid>,
    target: PathBuf,
    /// `None` on a rank that writes none of it.
    store: Option<Box<dyn Store>>,
    header: Header,
    form: FileForm,
    /// On the first rank.
    companions: Vec<Box<dyn AuxOutput<R>>>,
    restarter: Option<Restarter>,
    /// Bits that are kept of fields that are the same in all frames.
    lasting: BTreeMap<&'static str, Option<u32>>,
    is_begun: bool,
    frames: usize,
    /// The restart file that follows the last frame.
    last: Option<Box<Saved<R>>>,
    /// The first failure; after it nothing more is written.
    failure: Result<()>,
    /// A slab that this rank has to write, with those of the others.
    held: Option<HeldSlab>,
    /// Number of slabs that were shared out.
    shared: usize,
}

/// A slab of a field that waits to be written.
#[derive(Debug)]
struct HeldSlab {
    about: Variable,
    values: HeldValues,
    first: usize,
    bits: Option<u32>,
    lasts: bool,
}

impl HeldSlab {
    fn field(&self) -> Field<'_> {
        let Self { about, first, bits, lasts, .. } = *self;
        Field { about, values: self.values.values(), first, bits, lasts }
    }
}

impl<R: Stored> DividedOutput<R> {
    /// An output under a temporary name; `store` and companions are those of the first rank.
    pub(crate) fn new(
        team: &Team,
        divided: &Arc<DividedGrid>,
        (target, store): (&Path, Option<Box<dyn Store>>),
        (header, form): (Header, FileForm),
        companions: Vec<Box<dyn AuxOutput<R>>>,
        restarter: Option<Restarter>,
    ) -> Self {
        Self {
            team: team.clone(),
            divided: Arc::clone(divided),
            target: target.to_owned(),
            store: store.or_else(|| store::joined(target)),
            header,
            form,
            companions,
            restarter,
            lasting: BTreeMap::new(),
            is_begun: false,
            frames: 0,
            last: None,
            failure: Ok(()),
            held: None,
            shared: 0,
        }
    }

    /// The recorder of times and sizes.
    pub(crate) fn statistics(&self) -> &OutputStatistics {
        &self.form.statistics
    }

    /// Agrees on what was done; `false` if it failed, now or before.
    fn agreed(&mut self, done: Result<()>) -> bool {
        let done = self.team.agree(done);
        let is_done = done.is_ok();
        if self.failure.is_ok() {
            self.failure = done;
        }
        is_done
    }

    /// Lets the store of this rank do something, unless it has none.
    fn with_store(&mut self, call: impl FnOnce(&mut dyn Store) -> Done) -> Result<()> {
        let Some(store) = &mut self.store else { return Ok(()) };
        call(&mut **store).map_err(|e| store.failed(e))
    }

    /// Starts the output, and on the first rank defines its variables.
    fn begin(&mut self) -> Result<()> {
        if std::mem::replace(&mut self.is_begun, true) {
            return Ok(());
        }
        let FileForm { storage, statistics } = self.form.clone();
        let shape = self.header.shape();
        let form = Form { shape, compression: storage.compression, statistics };
        let (header, is_first) = (self.header.clone(), self.team.is_first());
        let of_file = self.form.clone();
        self.with_store(|store| {
            store.create(&form)?;
            if is_first { define::<R>(store, &header, &of_file) } else { Ok(()) }
        })
    }

    /// Writes a frame; `false` if that failed.
    #[must_use = "false means that the writing has failed, and finish tells why"]
    pub(crate) fn frame(&mut self, snapshot: &Snapshot<R>) -> bool {
        if self.failure.is_err() {
            return false;
        }
        let frame = self.frames;
        let begun = self.begin();
        let written = self.put_frame(frame, snapshot, begun);
        if !self.agreed(written) {
            return false;
        }
        let is_first = self.team.is_first();
        let ended = if is_first { self.with_store(|store| store.end(frame)) } else { Ok(()) };
        if !self.agreed(ended) {
            return false;
        }
        let followed = if is_first { Ok(()) } else { self.with_store(|store| store.end(frame)) };
        self.frames += 1;
        self.agreed(followed)
    }

    /// Writes the variables of a frame. A rank that fails goes on to give the others what they wait for.
    fn put_frame(&mut self, frame: usize, snapshot: &Snapshot<R>, begun: Result<()>) -> Result<()> {
        let header = self.header.clone();
        let storage = self.form.storage.clone();
        let mut done = begun;
        if self.team.is_first() && done.is_ok() {
            let (now, minutes) = moment(&header, snapshot.seconds);
            done = self.with_store(|store| {
                store.begin(frame)?;
                store.put("Times", frame, Values::Text(&now))?;
                store.put("XTIME", frame, Values::Double(&[minutes]))
            });
        }
        for (variable, content) in values(snapshot, &header.tracers) {
            if storage.writes(&variable, &header.tracers) {
                let lasts = snapshot.lasts && variable.is_wind();
                self.put(&variable, frame, (&content, lasts), &mut done);
            }
        }
        for (variable, content) in given_values(&snapshot.given, &header.domain) {
            if storage.writes(&variable, &header.tracers) {
                let of_grid = GRID.iter().any(|of_grid| of_grid.name == variable.name);
                self.put(&variable, frame, (&content, snapshot.lasts || of_grid), &mut done);
            }
        }
        self.put_held(frame, &mut done);
        done
    }

    /// Writes a variable: the first rank numbers, and the rank that is to write it each slab.
    fn put<T: Stored>(
        &mut self,
        about: &Variable,
        frame: usize,
        (content, lasts): (&Content<'_, T>, bool),
        done: &mut Result<()>,
    ) {
        let shape = self.header.shape();
        let slabs = store::slabs(&self.target, about.axes, shape, size_of::<T>());
        if slabs.is_empty() {
            if self.team.is_first() && done.is_ok() {
                let numbers = T::of_kind(content.values());
                *done = self.with_store(|store| store.put(about.name, frame, numbers));
            }
            return;
        }
        let layout = self.divided.layout(about.axes.more());
        let bits = self.bits(about, (content, lasts), (&layout, &slabs));
        let [rows, columns] = layout.extents();
        let is_shared = store::is_shared(&self.target);
        for slab in slabs {
            let writer = if is_shared { self.shared % self.team.ranks.size() } else { 0 };
            let first = (slab.levels.start * rows + slab.rows.start) * columns;
            let values = self.slab(&layout, content, slab, writer);
            if self.team.ranks.rank() == writer {
                let values = T::held(values);
                self.held = Some(HeldSlab { about: *about, values, first, bits, lasts });
            }
            self.shared += 1;
            // Each rank has one before all write theirs, side by side.
            if !is_shared || self.shared.is_multiple_of(self.team.ranks.size()) {
                self.put_held(frame, done);
            }
        }
    }

    /// The values of a slab on the rank that writes it; none elsewhere.
    fn slab<T: Stored>(
        &self,
        layout: &Layout,
        content: &Content<'_, T>,
        slab: Slab,
        writer: usize,
    ) -> Vec<T> {
        match content {
            Content::Field(field) => {
                let own = self.divided.own_points(field, layout.more());
                let mut wanted = vec![None; writer];
                wanted.push(Some(slab));
                layout.slabs(&*self.team.ranks, &own, &wanted)
            }
            Content::Whole(values) if self.team.ranks.rank() == writer => {
                let [_, columns] = layout.extents();
                values[slab.rows.start * columns..slab.rows.end * columns].to_vec()
            }
            Content::Whole(_) => Vec::new(),
        }
    }

    /// Writes the slab that waits.
    fn put_held(&mut self, frame: usize, done: &mut Result<()>) {
        if let Some(held) = self.held.take()
            && done.is_ok()
        {
            *done = self.with_store(|store| store.put_fields(frame, &[held.field()]));
        }
    }

    /// Bits of the significand that are kept of a field; `None` for all.
    fn bits<T: Stored>(
        &mut self,
        about: &Variable,
        (content, lasts): (&Content<'_, T>, bool),
        (layout, slabs): (&Layout, &[Slab]),
    ) -> Option<u32> {
        let known = self.lasting.get(about.name).copied().filter(|_| lasts);
        let bits = known.unwrap_or_else(|| match self.form.storage.keep_of(about) {
            Keep::All => None,
            Keep::Bits(bits) => Some(bits.min(T::STORED)),
            Keep::Auto => {
                let count = about.axes.lengths(self.header.shape()).iter().product();
                let mut sample = Sample::<T>::new(count, layout.extents()[1]);
                for slab in slabs {
                    sample.take(&self.slab(layout, content, slab.clone(), 0));
                }
                let bits = if self.team.is_first() { sample.kept_bits() } else { 0 };
                let [bits] = of_rank(&*self.team.ranks, 0, [bits.into()]);
                Some(bits as u32)
            }
        });
        if let Some(bits) = bits {
            self.form.statistics.keep(about.name, bits);
        }
        if lasts {
            self.lasting.insert(about.name, bits);
        }
        bits
    }

    /// Writes the product of an operator and the fields, as [`DividedOutput::frame`].
    #[must_use = "false means that the writing has failed, and finish tells why"]
    pub(crate) fn sample(&mut self, operator: usize, sample: &PointSample<R>) -> bool {
        let mut companions = self.companions.iter_mut();
        let done = companions.try_for_each(|file| file.sample(operator, sample));
        self.agreed(done)
    }

    /// Writes the columns, as [`DividedOutput::frame`].
    #[must_use = "false means that the writing has failed, and finish tells why"]
    pub(crate) fn columns(&mut self, frame: &ColumnFrame<R>) -> bool {
        let companions = &mut self.companions;
        let mut done = companions.iter_mut().try_for_each(|file| file.begin_columns(frame.seconds));
        let layout = self.divided.layout([0, 0]);
        let window = layout.window(self.team.ranks.rank());
        let [rows, columns] = [window.rows.len(), window.columns.len()];
        for (list, values) in frame.lists().enumerate() {
            let each = values.len() / (rows * columns).max(1);
            let layout = layout.with_values(each);
            let [all, of_row] = layout.extents();
            let own = ArrayView3::from_shape((1, rows, columns * each), values)
                .expect("as many values in every column");
            let together = (ROWS / (of_row * size_of::<R>()).max(1)).max(1);
            for first in (0..all).step_by(together) {
                let rows = first..(first + together).min(all);
                let slab = Slab { levels: 0..1, rows: rows.clone() };
                let values = layout.slabs(&*self.team.ranks, &own, &[Some(slab)]);
                if done.is_ok() {
                    done = companions
                        .iter_mut()
                        .try_for_each(|file| file.rows_of_columns(list, rows.clone(), &values));
                }
            }
        }
        self.agreed(done)
    }

    /// Keeps where the run stands, after everything before has its final name, as [`DividedOutput::frame`].
    #[must_use = "false means that the writing has failed, and finish tells why"]
    pub(crate) fn restart(&mut self, saved: Saved<R>) -> bool {
        if saved.is_last {
            self.last = Some(Box::new(saved));
            return true;
        }
        if !self.publish() {
            return false;
        }
        let done = self.write_restart(&saved);
        self.agreed(done)
    }

    /// Gives all that is complete its final name: shards of the other ranks first.
    fn publish(&mut self) -> bool {
        for is_turn in [!self.team.is_first(), self.team.is_first()] {
            let mut done = Ok(());
            if is_turn {
                let store = self.store.as_mut().map_or(Ok(()), |store| store.publish());
                let mut companions = self.companions.iter_mut();
                done = store.and_then(|()| companions.try_for_each(|file| file.publish()));
            }
            if !self.agreed(done) {
                return false;
            }
        }
        true
    }

    fn write_restart(&mut self, saved: &Saved<R>) -> Result<()> {
        let restarter = self.restarter.as_mut();
        restarter.map_or(Ok(()), |restarter| restarter.write(saved))
    }

    /// Completes the output under its final name; returns the number of frames in it.
    ///
    /// # Errors
    ///
    /// [`Error::Io`](crate::error::Error::Io) when writing has failed, on any rank.
    pub(crate) fn finish(mut self) -> Result<usize> {
        std::mem::replace(&mut self.failure, Ok(()))?;
        let begun = self.begin();
        self.team.agree(begun)?;
        let (store, companions) = (self.store.take(), std::mem::take(&mut self.companions));
        let mut done = store.map_or(Ok(()), Store::commit);
        if done.is_ok() {
            done = companions.into_iter().try_for_each(AuxOutput::commit);
        }
        self.team.agree(done)?;
        if let Some(saved) = self.last.take() {
            let done = self.write_restart(&saved);
            self.team.agree(done)?;
        }
        if self.team.has_failed() {
            return Ok(self.frames);
        }
        let statistics = &self.form.statistics;
        let mine = [statistics.raw_bytes(), statistics.stored_bytes()].map(u64::cast_signed);
        let others = all(&*self.team.ranks, mine).into_iter().enumerate();
        for (_, [raw, stored]) in others.filter(|(rank, _)| *rank != self.team.ranks.rank()) {
            statistics.count(raw as usize, stored as usize);
        }
        Ok(self.frames)
    }
}
