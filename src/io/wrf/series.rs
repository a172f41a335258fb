//! The times of one or more WRF files, in order.

use std::cmp::Ordering;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use ndarray::{Array2, Array3};
use time::PrimitiveDateTime;

use super::photolysis::Frequency;
use super::source::TimeReader;
use super::window::InputWindow;
use super::{
    Domain, Frame, coordinates, look_at_grid, read_frame, read_maps, refine, refuse_missing,
    require_essentials, restart_frame, shape, spacing, times, tracer, vertical,
};
use crate::calendar;
use crate::constituents::Constituents;
use crate::error::{Advice, Result};
use crate::frame::FrameSource;
use crate::grid::{Grid, Shape, Sides};
use crate::io::read::missing_values::MissingValues;
use crate::io::read::reader::Reader;
use crate::os_text::Shown;
use crate::passive::{CellPositions, PassiveTracers, SourceVariable};

/// Relative tolerance between the grids of two files, for rounding.
const TOLERANCE: f64 = 1e-4;

/// One time of a file.
#[derive(Clone, Debug)]
struct InputTime {
    path: PathBuf,
    index: usize,
    time: PrimitiveDateTime,
    /// `true` for a restart file of this program.
    is_kept: bool,
}

impl InputTime {
    /// Source variables of passive tracers at this time, for the cells of `frame` and its window, and the photolysis frequencies.
    fn sources(
        &self,
        reader: &Reader,
        (frame, window): (&Frame, Option<&InputWindow>),
        (variables, frequencies): (&[SourceVariable], &[Frequency]),
    ) -> Result<Vec<Array3<f32>>> {
        let nz = frame.state.theta().dim().0;
        let (ny, nx) = frame.column_mass[0].dim();
        let shape = Shape { nx, ny, nz };
        let source = TimeReader { window, ..TimeReader::new(reader, shape, self.index) };
        let kept = |name: &str| restart_frame::source((reader, window), self.index, name);
        let read = |variable: &SourceVariable| {
            if self.is_kept { kept(variable.name) } else { tracer::read(&source, *variable, frame) }
        };
        let read_light = |frequency: &Frequency| {
            if self.is_kept { kept(frequency.kept) } else { frequency.read(&source) }
        };
        let light = frequencies.iter().map(read_light);
        variables.iter().map(read).chain(light).collect()
    }
}

/// Choice between files that have the same time, as before and after a restart.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Overlap {
    /// No choice: it is an error.
    #[default]
    Refuse,
    /// The earlier file.
    First,
    /// The later file, from its first time on.
    Last,
}

/// Largest number of values of a field, over all times, for which all times are checked in advance.
const LOOKED_AT: usize = 5_000_000;

/// The times of the input files. Their fields are read on demand.
#[derive(Clone, Debug)]
pub struct Series {
    moments: Vec<InputTime>,
    /// Index of the first of them; earlier ones precede the restart of a continued run.
    first: usize,
    /// The reference time of all times.
    start: PrimitiveDateTime,
    /// The grid of the files and the division of its cells, for a refined run.
    division: Option<(Box<Domain>, usize)>,
    /// The passive tracers, whose initial and boundary values come from the frames.
    recipe: Option<Arc<PassiveTracers>>,
    /// Photolysis frequencies that the frames give.
    frequencies: Vec<Frequency>,
    /// The set of the scheme of the run.
    set: Arc<Constituents>,
    /// The part of the grid of the run for which frames are read, and its window of the files.
    part: Option<(Grid, Arc<InputWindow>)>,
}

impl Series {
    /// Lists the times of `files`, of which `domain` was read from the first, for a run with a scheme that carries `set`.
    ///
    /// # Errors
    ///
    /// [`crate::error::Error::Input`] when a file cannot be input or has another grid, or when the times are out of
    /// order.
    pub fn open(
        files: &[PathBuf],
        domain: &Domain,
        (overlap, set): (Overlap, &Arc<Constituents>),
    ) -> Result<Self> {
        let mut moments: Vec<InputTime> = Vec::new();
        for path in files {
            let before = moments.len();
            let reader = Reader::open(path)?;
            require_essentials(&reader)?;
            let source = TimeReader::new(&reader, shape(&reader)?, 0);
            let times = times::read(&reader)?.moments;
            let holes = MissingValues::default();
            look_at_grid(&source, &holes)?;
            refuse_missing(&source, holes, times[0])?;
            check_same_grid(&source, domain)?;
            // Later times are checked when they are read.
            let are_few = source.shape.columns().saturating_mul(times.len()) <= LOOKED_AT;
            for (index, time) in times.into_iter().enumerate() {
                if index > 0 && are_few {
                    check_same_place(&source, index, time, domain)?;
                }
                let is_of_file = moments.len() > before;
                if overlap == Overlap::First
                    && !is_of_file
                    && moments.last().is_some_and(|last| time <= last.time)
                {
                    continue;
                }
                if overlap == Overlap::Last && index == 0 {
                    moments.retain(|earlier| earlier.time < time);
                }
                if let Some(last) = moments.last() {
                    check_order(&reader, time, last)?;
                }
                moments.push(InputTime { path: path.clone(), index, time, is_kept: false });
            }
            if overlap == Overlap::Last
                && before > 0
                && moments.first().is_none_or(|first| first.path != files[0])
            {
                return Err(reader
                    .error(format!(
                        "begins at or before {}, of which no time would be used, as the later file \
                     has precedence; omit that file",
                        files[0].shown()
                    ))
                    .advise(Advice::ChooseOverlap));
            }
        }
        let start = moments.first().map_or(calendar::START, |first| first.time);
        let (frequencies, set) = (Vec::new(), Arc::clone(set));
        Ok(Self {
            moments,
            first: 0,
            start,
            division: None,
            recipe: None,
            frequencies,
            set,
            part: None,
        })
    }

    /// The remaining times of a restart file, the first of which has the index `first`, and the reference time.
    pub fn kept(
        path: &Path,
        times: &[PrimitiveDateTime],
        first: usize,
        (start, set): (PrimitiveDateTime, &Arc<Constituents>),
    ) -> Self {
        let moment = |(index, time): (usize, &PrimitiveDateTime)| InputTime {
            path: path.to_owned(),
            index,
            time: *time,
            is_kept: true,
        };
        let moments = times.iter().enumerate().map(moment).collect();
        let (frequencies, set) = (Vec::new(), Arc::clone(set));
        Self { moments, first, start, division: None, recipe: None, frequencies, set, part: None }
    }

    /// Refinement: divides every cell of `coarse`, the grid of the files, into `count` x `count`.
    pub fn refined(self, coarse: Domain, count: usize) -> Self {
        Self { division: Some((Box::new(coarse), count)), ..self }
    }

    /// Lets the frames be those of a part of the grid of the run; planes stay those of the whole.
    pub(crate) fn of_part(self, part: Grid, window: InputWindow) -> Self {
        Self { part: Some((part, Arc::new(window))), ..self }
    }

    fn window(&self) -> Option<&InputWindow> {
        self.part.as_ref().map(|(_, window)| &**window)
    }

    /// Adds passive tracers to the frames.
    pub fn carrying(self, recipe: Arc<PassiveTracers>) -> Self {
        Self { recipe: Some(recipe), ..self }
    }

    /// Lets the frames give photolysis frequencies too, with the tracers.
    pub fn lit_by(self, frequencies: Vec<Frequency>) -> Self {
        Self { frequencies, ..self }
    }

    /// Variables that are read for passive tracers alone, then names of the photolysis frequencies that a frame gives.
    pub fn variables(&self) -> Vec<&'static str> {
        let mut all: Vec<_> = self.of_tracers().iter().map(|variable| variable.name).collect();
        all.extend(self.frequencies.iter().map(|frequency| frequency.kept));
        all
    }

    /// Variables that are read for passive tracers alone.
    fn of_tracers(&self) -> Vec<SourceVariable> {
        self.recipe.as_ref().map(|recipe| recipe.variables()).unwrap_or_default()
    }

    /// The first frame, which has been read already, with the source variables of passive tracers.
    ///
    /// # Errors
    ///
    /// As [`FrameSource::frame`].
    pub fn with_sources(&self, frame: Frame) -> Result<Frame> {
        let (Some(first), false) = (self.moments.first(), self.variables().is_empty()) else {
            return Ok(frame);
        };
        let reader = Reader::open(&first.path)?;
        let variables = (&self.of_tracers()[..], &self.frequencies[..]);
        let sources = first.sources(&reader, (&frame, self.window()), variables)?;
        Ok(Frame { sources, ..frame })
    }

    /// A frame of the files on the grid of the run, or on the part of it, with the cells of the files divided.
    pub(crate) fn on_grid(&self, frame: Frame, (sides, count): (Sides, usize)) -> Frame {
        match (self.window(), count) {
            (Some(window), _) => refine::frame_of_part(frame, (sides, count), window),
            (None, 1) => frame,
            (None, count) => refine::frame(&frame, sides, count),
        }
    }

    /// A frame on the grid of the run, which is `domain`, with its passive tracers.
    pub fn complete(&self, mut frame: Frame, domain: &Domain) -> Frame {
        let Some(recipe) = &self.recipe else { return frame };
        let photolysis = frame.sources.split_off(self.of_tracers().len());
        let heights = frame.heights();
        let grid = self.part.as_ref().map_or(&domain.grid, |(part, _)| part);
        let place = CellPositions { grid, heights: &heights };
        let state = recipe.complete(frame.state, &place, &frame.sources);
        Frame { state, sources: Vec::new(), photolysis, ..frame }
    }

    /// The grid of the files and the division of its cells; `domain` is the grid of the run.
    pub fn coarse<'a>(&'a self, domain: &'a Domain) -> (&'a Domain, usize) {
        self.division.as_ref().map_or((domain, 1), |(coarse, count)| (coarse, *count))
    }

    /// Reads the times from index `from` on, so that an invalid one is found even if the run does not reach it; in
    /// input of more than five million cells, over all times, later ones are checked by the run.
    ///
    /// # Errors
    ///
    /// As [`FrameSource::frame`].
    pub fn look_ahead(&self, from: usize, domain: &Domain) -> Result<()> {
        if !self.is_small(domain) {
            return Ok(());
        }
        let (coarse, _) = self.coarse(domain);
        let check = |number| self.in_window(number, coarse, self.window()).map(drop);
        (from..self.len()).try_for_each(check)
    }

    /// Returns `true` if all times together have so few cells that reading them only for a check is cheap.
    pub fn is_small(&self, domain: &Domain) -> bool {
        let (coarse, _) = self.coarse(domain);
        coarse.grid.shape.cells().saturating_mul(self.len()) <= LOOKED_AT
    }

    /// The fields of a time on the grid of the files, which is `domain`.
    ///
    /// # Errors
    ///
    /// As [`FrameSource::frame`].
    pub fn as_stored(&self, number: usize, domain: &Domain) -> Result<Frame> {
        self.in_window(number, domain, None)
    }

    /// The same within a window.
    pub(in crate::io) fn in_window(
        &self,
        number: usize,
        domain: &Domain,
        window: Option<&InputWindow>,
    ) -> Result<Frame> {
        let moment = &self.moments[number - self.first];
        let InputTime { path, index, is_kept, time } = moment;
        let reader = Reader::open(path)?;
        let frame = if *is_kept {
            restart_frame::frame((&reader, window), (domain.grid.shape, &self.set), *index, *time)?
        } else {
            let source = TimeReader::new(&reader, shape(&reader)?, *index);
            let source = TimeReader { window, ..source };
            let (frame, _) = read_frame(&source, *time, &self.set)?;
            check_same_grid(&source, domain)?;
            frame
        };
        let variables = (&self.of_tracers()[..], &self.frequencies[..]);
        let sources = moment.sources(&reader, (&frame, window), variables)?;
        Ok(Frame { sources, ..frame })
    }
}

impl FrameSource for Series {
    fn len(&self) -> usize {
        self.first + self.moments.len()
    }

    fn first(&self) -> usize {
        self.first
    }

    fn start(&self) -> PrimitiveDateTime {
        self.start
    }

    fn when(&self, number: usize) -> PrimitiveDateTime {
        self.moments[number - self.first].time
    }

    fn frame(&self, number: usize, domain: &Domain) -> Result<Frame> {
        let (coarse, count) = self.coarse(domain);
        let frame = self.in_window(number, coarse, self.window())?;
        Ok(self.complete(self.on_grid(frame, (coarse.grid.sides, count)), domain))
    }
}

fn check_order(reader: &Reader, time: PrimitiveDateTime, last: &InputTime) -> Result<()> {
    let (this, before) = (calendar::format(time), calendar::format(last.time));
    let file = last.path.shown();
    let message = match time.cmp(&last.time) {
        Ordering::Greater => return Ok(()),
        Ordering::Equal => {
            format!("contains {this}, which is also in {file}; give every time once")
        }
        Ordering::Less => format!(
            "contains {this} after {before} (in {file}); give the files in the order of their times"
        ),
    };
    Err(reader.error(message).advise(Advice::ChooseOverlap))
}

/// Fails if a time has another grid than the first.
fn check_same_grid(source: &TimeReader<'_>, domain: &Domain) -> Result<()> {
    let reader = source.reader;
    let differs = |what: &str, found: &str, expected: &str| {
        Err(reader.error(format!(
            "is on another grid than {}: {what} is {found} here and {expected} there; all frames \
             must have the same grid",
            domain.path.shown()
        )))
    };
    let of = domain.grid;
    if source.shape != of.shape {
        return differs("its shape", &source.shape.to_string(), &of.shape.to_string());
    }
    let [dx, dy] = spacing(reader)?;
    for (name, found, expected) in [("DX", dx, of.dx), ("DY", dy, of.dy)] {
        if !is_near(found, expected) {
            return differs(name, &format!("{found} m"), &format!("{expected} m"));
        }
    }
    let vertical = vertical::read(source)?;
    let maps = read_maps(source)?;
    let [latitude, longitude] = on_earth(source, domain)?;
    let wide = |plane: &Option<Array2<f32>>| -> Vec<f64> {
        plane.iter().flatten().map(|&x| x.into()).collect()
    };
    let flat = |plane: &Array2<f64>| plane.iter().copied().collect::<Vec<f64>>();
    let coordinate = &domain.coordinate;
    for (what, found, expected) in [
        ("RDNW", vertical.rdnw, coordinate.rdnw.clone()),
        ("C1H", vertical.c1h, coordinate.c1.clone()),
        ("C2H", vertical.c2h, coordinate.c2.clone()),
        ("the map factor", flat(&maps.centre_x), flat(&coordinate.map_x)),
        ("the latitude", wide(&latitude), wide(&domain.latitude)),
        ("the longitude", wide(&longitude), wide(&domain.longitude)),
    ] {
        if found.len() != expected.len() {
            return differs(what, presence(&found), presence(&expected));
        }
        if let Some(at) = (0..found.len()).find(|&at| !is_near(found[at], expected[at])) {
            let what = format!("{what} number {}", at + 1);
            return differs(&what, &found[at].to_string(), &expected[at].to_string());
        }
    }
    Ok(())
}

/// Fails if the grid has another position at a later time of a file, as a moving nest has.
fn check_same_place(
    source: &TimeReader<'_>,
    index: usize,
    time: PrimitiveDateTime,
    domain: &Domain,
) -> Result<()> {
    let holes = MissingValues::default();
    let found = on_earth(&TimeReader { time: index, holes: Some(&holes), ..*source }, domain)?;
    refuse_missing(&TimeReader { time: index, ..*source }, holes, time)?;
    let expected = [&domain.latitude, &domain.longitude];
    for ((name, found), expected) in ["XLAT", "XLONG"].into_iter().zip(&found).zip(expected) {
        let (Some(found), Some(expected)) = (found, expected) else { continue };
        let differs = |(a, b): (&f32, &f32)| !is_near((*a).into(), (*b).into());
        if found.iter().zip(expected).any(differs) {
            return Err(source.reader.error(format!(
                "is on another grid at {} than at its first time: {name} is {} in the \
                 south-western corner then and {} before; moving nests are not supported; run its \
                 times one by one",
                calendar::format(time),
                found[[0, 0]],
                expected[[0, 0]]
            )));
        }
    }
    Ok(())
}

/// Latitude and longitude of a time, if those of the first are known.
fn on_earth(source: &TimeReader<'_>, domain: &Domain) -> Result<[Option<Array2<f32>>; 2]> {
    if domain.latitude.is_none() && domain.longitude.is_none() {
        return Ok([None, None]);
    }
    coordinates::stored(source)
}

fn presence(values: &[f64]) -> &'static str {
    if values.is_empty() { "absent" } else { "present" }
}

fn is_near(a: f64, b: f64) -> bool {
    (a - b).abs() <= TOLERANCE * a.abs().max(b.abs()).max(TOLERANCE)
}
