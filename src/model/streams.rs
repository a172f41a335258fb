//! The outputs of a run, each with the part of it that the input prescribes.

use std::collections::VecDeque;
use std::sync::Arc;

use ndarray::{Array3, Zip, s};

use super::{Frames, OutputSink, RunInput, RunPrecision};
use crate::backend::{
    BudgetDomain, CapturedFrame, FRAMES_IN_FLIGHT, Output, Products, Profiles, SamplingRequest,
};
use crate::constants::Constants;
use crate::diagnostics::frame::FrameFigures;
use crate::domain::Domain;
use crate::dry_mass::AirMass;
use crate::frame::{ColumnFrame, PassThrough, PointSample, SampleOrder, Snapshot};
use crate::grid::{GatheredColumns, Window};
use crate::primitives::csr::Csr;
use crate::primitives::transpose::{Matrices, transpose};
use crate::real::Real;
use crate::state::memory;
use crate::time_steps::Plan;

/// An output that is due every now and then.
pub(super) struct Stream<R> {
    pub(super) output: Output,
    frames: Frames,
    /// Of those that the backend works at, what the input prescribes.
    pub(super) in_flight: VecDeque<Prescribed<R>>,
    /// The operator of samples.
    operator: Option<Arc<Csr<R>>>,
    /// Of samples, what the input prescribes where that is the same at all times.
    lasting: Option<PointSample<R>>,
}

/// The part of an output that the input prescribes.
pub(super) enum Prescribed<R> {
    /// Of a frame after so many steps.
    Frame(usize, Shows<R>),
    /// Of all columns.
    Columns(ColumnFrame<R>),
    /// Of a sample, with the number of its probe.
    Sample(usize, Box<PointSample<R>>),
}

/// Samples, columns and frames of a run, in this order, and what the backend has to hold ready for them.
pub(super) fn streams<R: RunPrecision>(
    sink: &dyn OutputSink<R>,
    frames: Frames,
    case: &RunInput<R>,
) -> (Vec<Stream<R>>, SamplingRequest<R>) {
    let (probes, columns) = (sink.probes(), sink.columns());
    let operators = probes.iter().map(|probe| Arc::clone(&probe.operator)).collect();
    let weights = columns.map(|_| Arc::new(mass(case)));
    let stream = |output: Output, frames: Frames, operator: Option<Arc<Csr<R>>>| Stream {
        output,
        frames,
        in_flight: VecDeque::with_capacity(FRAMES_IN_FLIGHT),
        operator,
        lasting: None,
    };
    let samples = probes.into_iter().enumerate();
    let samples = samples.map(|(number, probe)| {
        stream(Output::Products(number), probe.frames, Some(probe.operator))
    });
    let columns = columns.map(|frames| stream(Output::Profiles, frames, None));
    let all = samples.chain(columns).chain([stream(Output::Frame(0), frames, None)]);
    (all.collect(), SamplingRequest { operators, weights })
}

impl<R: RunPrecision> Stream<R> {
    /// Returns `true` if an output is due after a step.
    pub(super) fn is_due(&self, plan: &Plan, step: usize) -> bool {
        self.frames.due(plan, step) || (self.frames.after_first && step == 1)
    }

    /// The part of an output after a step that the input prescribes, which the case shows.
    pub(super) fn prescribed(
        &mut self,
        case: &RunInput<R>,
        step: usize,
        seconds: f64,
    ) -> Prescribed<R> {
        let (Output::Products(probe), Some(operator)) = (self.output, &self.operator) else {
            return if self.output == Output::Profiles {
                Prescribed::Columns(prescribed_columns(case, seconds))
            } else {
                Prescribed::Frame(step, Shows::at(case, seconds))
            };
        };
        let sample = match &self.lasting {
            Some(lasting) => PointSample { seconds, ..lasting.clone() },
            None => prescribed(operator, case, seconds),
        };
        if !case.has_sequence() && self.lasting.is_none() {
            self.lasting = Some(sample.clone());
        }
        Prescribed::Sample(probe, Box::new(sample))
    }
}

/// Fields of the input that a frame of output shows.
pub(super) struct Shows<R> {
    /// Time since the start, s.
    seconds: f64,
    winds: Arc<[Array3<R>; 3]>,
    given: Arc<PassThrough>,
    /// `true` where all frames show the same.
    lasts: bool,
}

impl<R: RunPrecision> Shows<R> {
    /// Those of a case that was set to this time.
    pub(super) fn at(case: &RunInput<R>, seconds: f64) -> Self {
        let (winds, given) = (Arc::clone(&case.winds), Arc::clone(&case.given));
        Self { seconds, winds, given, lasts: !case.has_sequence() }
    }
}

/// A frame of output and its figures, out of what a backend makes and what it shows of the input; `dt` is the time
/// step, s, and `start` the water at the start, kg.
pub(super) fn snapshot<R: RunPrecision>(
    captured: CapturedFrame<R>,
    shows: Shows<R>,
    case: &RunInput<R>,
    dt: f64,
    start: f64,
) -> (FrameFigures, Snapshot<R>) {
    let CapturedFrame { state, diagnostics, surface, mut summary } = captured;
    let Shows { seconds, winds, given, lasts } = shows;
    let shape = case.domain.grid.shape;
    // Figures are those of the whole, which the first rank has.
    let own = case.divided.as_ref().map(|divided| {
        let whole = divided.on_first(&summary.contents);
        std::mem::replace(&mut summary.contents, whole.unwrap_or_default())
    });
    let figures = FrameFigures::new(&summary, state.set(), shape, seconds, dt, start);
    let contents = own.unwrap_or(summary.contents);
    let frame = Snapshot {
        seconds,
        state,
        winds,
        diagnostics,
        surface,
        contents,
        profiles: figures.profiles(),
        max_courant: figures.courant.value,
        given,
        lasts,
    };
    (figures, frame)
}

/// Pressure and height of the columns, those that this rank owns, from the input; the rest is empty.
fn prescribed_columns<R: RunPrecision>(case: &RunInput<R>, seconds: f64) -> ColumnFrame<R> {
    let sum = |[a, b]: &[Array3<f32>; 2]| -> Array3<f64> {
        let own = |field: &Array3<f32>| case.owned(field).mapv(f64::from);
        own(a) + own(b)
    };
    let pressure = sum(&case.given.pressure).mapv(R::of);
    let (nz, ny, nx) = pressure.dim();
    let turned = |levels: &Array3<R>| {
        let mut columns = vec![R::ZERO; levels.len()];
        transpose(Matrices::levels(1, nz, ny, nx), memory(levels), &mut columns);
        columns
    };
    let faces = sum(&case.given.geopotential);
    let (below, above) = (faces.slice(s![..-1, .., ..]), faces.slice(s![1.., .., ..]));
    let gravity = <f64 as Constants>::GRAVITY;
    let height = Zip::from(below).and(above).map_collect(|a, b| R::of(0.5 * (a + b) / gravity));
    ColumnFrame {
        seconds,
        fields: Vec::new(),
        totals: Vec::new(),
        strongest: None,
        air: [turned(&pressure), turned(&height)],
    }
}

/// Mass of the dry air of every cell above a square metre, kg, in the columns that this rank owns. Shape: (ny, nx, nz).
fn mass<R: RunPrecision>(case: &RunInput<R>) -> Vec<R> {
    let Domain { grid, coordinate, .. } = &case.domain;
    let air = AirMass::<f64>::new(grid, coordinate);
    let area = BudgetDomain::new(grid, coordinate).area;
    let column = |[j, i]: [usize; 2]| {
        let (air, area) = (&air, area[[j, i]]);
        (0..grid.shape.nz).map(move |k| R::of(air.cell.at(k, j, i) / area))
    };
    let Window { rows, columns } = case.own_window();
    let places = rows.flat_map(|j| columns.clone().map(move |i| [j, i]));
    places.flat_map(column).collect()
}

/// The part of a sample that the input prescribes; without places on ranks but the first.
fn prescribed<R: RunPrecision>(
    operator: &Csr<R>,
    case: &RunInput<R>,
    seconds: f64,
) -> PointSample<R> {
    let order = SampleOrder::of(&case.tracers);
    let mut read: Vec<usize> = operator.column_of().iter().map(|column| *column as usize).collect();
    read.sort_unstable();
    read.dedup();
    let nx = case.domain.grid.shape.nx;
    let gathered = match &case.divided {
        None => {
            let places: Vec<_> = read.iter().map(|column| [column / nx, column % nx]).collect();
            Some(winds_and_air(case, &places))
        }
        Some(divided) => {
            let columns = GatheredColumns::new(divided, &read);
            let own = if columns.own().is_empty() {
                Vec::new()
            } else {
                winds_and_air(case, columns.own())
            };
            columns.gather(&**divided.ranks(), &own)
        }
    };
    let mut sample = PointSample {
        seconds,
        order,
        fields: vec![Vec::new(); order.fields()],
        passive: Vec::new(),
    };
    let nz = case.domain.grid.shape.nz;
    let places = order.wind().chain(order.air()).zip(levels_of_winds_and_air(nz));
    for ((place, levels), values) in places.zip(gathered.into_iter().flatten()) {
        sample.fields[place] = products(operator, (&read, levels), &values);
    }
    sample
}

/// Number of levels of each of [`winds_and_air`].
fn levels_of_winds_and_air(nz: usize) -> [usize; 5] {
    [nz, nz, nz + 1, nz, nz + 1]
}

/// The components of the wind in the middle of the cells, pressure, and height of the z-faces, in some columns. Shape of each:
/// (levels, columns).
fn winds_and_air<R: RunPrecision>(case: &RunInput<R>, columns: &[[usize; 2]]) -> Vec<Vec<R>> {
    let [u, v, w] = &*case.winds;
    let given = &case.given;
    let sum = |[a, b]: &[Array3<f32>; 2], at: [usize; 3]| f64::from(a[at]) + f64::from(b[at]);
    let gravity = <f64 as Constants>::GRAVITY;
    let values: [&dyn Fn([usize; 3]) -> R; 5] = [
        // Faces on both sides of a cell.
        &|[k, j, i]| R::HALF * (u[[k, j, i]] + u[[k, j, i + 1]]),
        &|[k, j, i]| R::HALF * (v[[k, j, i]] + v[[k, j + 1, i]]),
        &|at| w[at],
        &|at| R::of(sum(&given.pressure, at)),
        &|at| R::of(sum(&given.geopotential, at) / gravity),
    ];
    let levels = levels_of_winds_and_air(case.domain.grid.shape.nz);
    let list = |(value, levels): (&dyn Fn([usize; 3]) -> R, usize)| {
        let level = |k: usize| columns.iter().map(move |&[j, i]| value([k, j, i]));
        (0..levels).flat_map(level).collect()
    };
    values.into_iter().zip(levels).map(list).collect()
}

/// Products of an operator with the lowest levels of a field, of which the columns that it reads are given, in ascending order.
fn products<R: Real>(operator: &Csr<R>, (read, levels): (&[usize], usize), values: &[R]) -> Vec<R> {
    let (starts, columns, weights) = (operator.starts(), operator.column_of(), operator.values());
    let place: Vec<usize> = columns
        .iter()
        .map(|column| read.partition_point(|other| *other < *column as usize))
        .collect();
    let product = |k: usize, row: usize| {
        let entries = starts[row]..starts[row + 1];
        entries.fold(R::ZERO, |sum, at| sum + weights[at] * values[k * read.len() + place[at]])
    };
    let rows = |k| (0..operator.rows()).map(move |row| (k, row));
    (0..levels).flat_map(rows).map(|(k, row)| product(k, row)).collect()
}

/// A sample with what the backend has found.
pub(super) fn with_products<R>(
    mut sample: PointSample<R>,
    products: Products<R>,
) -> PointSample<R> {
    let mut volumes = products.volumes.into_iter();
    for (place, field) in sample.order.volumes().zip(&mut volumes) {
        sample.fields[place] = field;
    }
    sample.passive = volumes.collect();
    for (place, field) in sample.order.planes().zip(products.planes) {
        sample.fields[place] = field;
    }
    sample
}

/// Columns with what the backend has found.
pub(super) fn with_profiles<R>(columns: ColumnFrame<R>, profiles: Profiles<R>) -> ColumnFrame<R> {
    let Profiles { volumes, totals, strongest } = profiles;
    ColumnFrame { fields: volumes, totals, strongest, ..columns }
}
