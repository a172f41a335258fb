//! Sinks of the outputs of a run, and samples of the fields at other places.

use std::collections::VecDeque;
use std::sync::Arc;

use ndarray::Array3;

use super::{Frames, RunInput, RunPrecision};
use crate::backend::{
    Backend, BudgetDomain, CollectedOutput, FRAMES_IN_FLIGHT, Output, Products, Profiles,
    SamplingRequest,
};
use crate::constants::Constants;
use crate::dry_mass::AirMass;
use crate::error::Result;
use crate::forcing::TimeInterpolant;
use crate::io::output::{PassThrough, Snapshot};
use crate::io::output_statistics::OutputStatistics;
use crate::io::restart::Saved;
use crate::io::samples::{ColumnFrame, PointSample};
use crate::io::wrf::Domain;
use crate::primitives::csr::Csr;
use crate::primitives::transpose::{Matrices, transpose};
use crate::real::Real;

/// Sink of the outputs of a run.
pub trait OutputSink<R> {
    /// Takes a frame of output, made after so many steps; where it says no, the run ends.
    fn frame(&mut self, step: usize, frame: Snapshot<R>) -> bool;

    /// True when it takes a frame at once.
    fn is_free(&self) -> bool {
        true
    }

    /// Waits until it takes a frame at once.
    fn wait(&self) {}

    /// Time, bytes and kept bits of the output.
    fn statistics(&self) -> OutputStatistics {
        OutputStatistics::default()
    }

    /// Operators of the samples; called once, before the run.
    fn probes(&self) -> Vec<Probe<R>> {
        Vec::new()
    }

    /// Takes a sample, with the number of its probe; where it says no, the run ends.
    fn sample(&mut self, _probe: usize, _sample: PointSample<R>) -> bool {
        true
    }

    /// When it wants to have the columns, if it does; asked once, before the run.
    fn columns(&self) -> Option<Frames> {
        None
    }

    /// Takes the columns; where it says no, the run ends.
    fn take_columns(&mut self, _columns: ColumnFrame<R>) -> bool {
        true
    }

    /// When it wants to know where the run stands, but for the start, if it does; asked once, before
    /// the run.
    fn restarts(&self) -> Option<Frames> {
        None
    }

    /// Takes where the run stands, after all that was made until then; where it says no, the run
    /// ends.
    fn take_restart(&mut self, _saved: Saved<R>) -> bool {
        true
    }
}

/// Frames alone.
impl<R, F: FnMut(usize, Snapshot<R>) -> bool> OutputSink<R> for F {
    fn frame(&mut self, step: usize, frame: Snapshot<R>) -> bool {
        self(step, frame)
    }
}

/// Takes everything and keeps nothing.
#[derive(Clone, Copy, Debug)]
pub struct NullSink;

impl<R> OutputSink<R> for NullSink {
    fn frame(&mut self, _step: usize, _frame: Snapshot<R>) -> bool {
        true
    }
}

/// An operator to be applied to the fields every now and then.
#[derive(Clone, Debug)]
pub struct Probe<R> {
    /// Takes a level of the grid to some places.
    pub operator: Arc<Csr<R>>,
    /// When.
    pub frames: Frames,
}

/// Samples and columns on their way from the backend.
#[derive(Debug)]
pub(super) struct PendingSamples<R> {
    /// When columns are wanted, and those that the backend works at, with what the input says.
    columns: Option<Frames>,
    pending_columns: VecDeque<ColumnFrame<R>>,
    probes: Vec<Probe<R>>,
    /// For each probe what the input says, for those that the backend works at.
    pending: Vec<VecDeque<PointSample<R>>>,
    /// For each probe what the input says where it says the same at all times.
    lasting: Vec<Option<PointSample<R>>>,
}

impl<R: RunPrecision> PendingSamples<R> {
    /// Samples and columns of a run, and what the backend has to hold ready for them.
    pub(super) fn new(
        (probes, columns): (Vec<Probe<R>>, Option<Frames>),
        domain: &Domain,
    ) -> (Self, SamplingRequest<R>) {
        let operators: Vec<_> = probes.iter().map(|probe| Arc::clone(&probe.operator)).collect();
        let weights = columns.map(|_| Arc::new(mass(domain)));
        let pending = probes.iter().map(|_| VecDeque::with_capacity(FRAMES_IN_FLIGHT)).collect();
        let lasting = probes.iter().map(|_| None).collect();
        let pending_columns = VecDeque::with_capacity(FRAMES_IN_FLIGHT);
        let samples = Self { columns, pending_columns, probes, pending, lasting };
        (samples, SamplingRequest { operators, weights })
    }

    /// Number of probes.
    pub(super) fn len(&self) -> usize {
        self.probes.len()
    }

    /// When a probe is applied.
    pub(super) fn frames(&self, probe: usize) -> Frames {
        self.probes[probe].frames
    }

    /// Returns `true` when as many samples of a probe are under way as may be.
    pub(super) fn is_full(&self, probe: usize) -> bool {
        self.pending[probe].len() == FRAMES_IN_FLIGHT
    }

    /// Begins a sample in the air of `moment`, which the case shows.
    pub(super) fn begin(
        &mut self,
        probe: usize,
        case: &RunInput<R>,
        moment: &TimeInterpolant<R>,
        backend: &mut dyn Backend<R>,
        seconds: f64,
    ) -> Result<()> {
        backend.capture(Output::Products(probe), moment)?;
        let operator = &self.probes[probe].operator;
        let sample = match &self.lasting[probe] {
            Some(lasting) => PointSample { seconds, ..lasting.clone() },
            None => prescribed(operator, case, seconds),
        };
        if !case.has_sequence() && self.lasting[probe].is_none() {
            self.lasting[probe] = Some(sample.clone());
        }
        self.pending[probe].push_back(sample);
        Ok(())
    }

    /// The oldest sample of a probe, if it is ready.
    pub(super) fn collect(
        &mut self,
        probe: usize,
        backend: &mut dyn Backend<R>,
        wait: bool,
    ) -> Result<Option<PointSample<R>>> {
        if self.pending[probe].is_empty() {
            return Ok(None);
        }
        let products = backend.collect(Output::Products(probe), wait)?;
        let Some(products) = products.and_then(CollectedOutput::products) else { return Ok(None) };
        let sample = self.pending[probe].pop_front();
        Ok(sample.map(|sample| complete(sample, products)))
    }
}

impl<R: RunPrecision> PendingSamples<R> {
    /// When columns are wanted.
    pub(super) fn columns(&self) -> Option<Frames> {
        self.columns
    }

    /// Returns `true` when as many columns are under way as may be.
    pub(super) fn are_columns_full(&self) -> bool {
        self.pending_columns.len() == FRAMES_IN_FLIGHT
    }

    /// Begins columns in the air of `moment`, which the case shows.
    pub(super) fn begin_columns(
        &mut self,
        case: &RunInput<R>,
        moment: &TimeInterpolant<R>,
        backend: &mut dyn Backend<R>,
        seconds: f64,
    ) -> Result<()> {
        backend.capture(Output::Profiles, moment)?;
        self.pending_columns.push_back(prescribed_columns(&case.given, seconds));
        Ok(())
    }

    /// The oldest columns, if they are ready.
    pub(super) fn collect_columns(
        &mut self,
        backend: &mut dyn Backend<R>,
        wait: bool,
    ) -> Result<Option<ColumnFrame<R>>> {
        if self.pending_columns.is_empty() {
            return Ok(None);
        }
        let profiles = backend.collect(Output::Profiles, wait)?;
        let Some(profiles) = profiles.and_then(CollectedOutput::profiles) else { return Ok(None) };
        let Some(mut frame) = self.pending_columns.pop_front() else { return Ok(None) };
        let Profiles { volumes, totals, strongest } = profiles;
        (frame.fields, frame.totals, frame.strongest) = (volumes, totals, strongest);
        Ok(Some(frame))
    }
}

/// Pressure and height of the columns, from the input; the rest is empty.
fn prescribed_columns<R: RunPrecision>(given: &PassThrough, seconds: f64) -> ColumnFrame<R> {
    let sum = |fields: &[Array3<f32>; 2]| -> Vec<f64> {
        let [a, b] = fields;
        a.iter().zip(b).map(|(a, b)| f64::from(*a) + f64::from(*b)).collect()
    };
    let (nz, ny, nx) = given.pressure[0].dim();
    let turned = |levels: &[R]| {
        let mut columns = vec![R::ZERO; levels.len()];
        transpose(Matrices::levels(1, nz, ny, nx), levels, &mut columns);
        columns
    };
    let pressure: Vec<R> = sum(&given.pressure).into_iter().map(R::of).collect();
    let faces = sum(&given.geopotential);
    let middle = faces.iter().zip(&faces[ny * nx..]);
    let gravity = <f64 as Constants>::GRAVITY;
    let height: Vec<R> = middle.map(|(a, b)| R::of(0.5 * (a + b) / gravity)).collect();
    ColumnFrame {
        seconds,
        fields: Vec::new(),
        totals: std::array::from_fn(|_| Vec::new()),
        strongest: Vec::new(),
        air: [turned(&pressure), turned(&height)],
    }
}

/// Mass of the dry air of every cell above a square metre, kg. Shape: (ny, nx, nz).
fn mass<R: RunPrecision>(domain: &Domain) -> Vec<R> {
    let (grid, coordinate) = (&domain.grid, &domain.coordinate);
    let air = AirMass::<f64>::new(grid, coordinate);
    let area = BudgetDomain::new(grid, coordinate).area;
    let column = |(j, i): (usize, usize)| {
        let (air, area) = (&air, area[[j, i]]);
        (0..grid.shape.nz).map(move |k| R::of(air.cell.at(k, j, i) / area))
    };
    let places = (0..grid.shape.columns()).map(|c| (c / grid.shape.nx, c % grid.shape.nx));
    places.flat_map(column).collect()
}

/// Places of the fields in `PointSample::fields` that the input prescribes: the wind, pressure and height.
const WIND: [usize; 3] = [6, 7, 8];
const AIR: [usize; 2] = [16, 17];
/// Those of [`Products::volumes`] and of [`Products::planes`].
const VOLUMES: [usize; 10] = [0, 1, 2, 3, 4, 5, 9, 10, 11, 12];
const PLANES: [usize; 3] = [13, 14, 15];

/// The part of a sample that the input prescribes.
fn prescribed<R: RunPrecision>(
    operator: &Csr<R>,
    case: &RunInput<R>,
    seconds: f64,
) -> PointSample<R> {
    let (nx, nz) = (case.domain.grid.shape.nx, case.domain.grid.shape.nz);
    let fields = std::array::from_fn(|_| Vec::new());
    let mut sample = PointSample { seconds, fields, passive: Vec::new() };
    let [u, v, w] = &*case.winds;
    let given = &case.given;
    // Faces on both sides of a cell.
    let u = |k: usize, c: usize| {
        let (j, i) = (c / nx, c % nx);
        R::HALF * (u[[k, j, i]] + u[[k, j, i + 1]])
    };
    let v = |k: usize, c: usize| {
        let (j, i) = (c / nx, c % nx);
        R::HALF * (v[[k, j, i]] + v[[k, j + 1, i]])
    };
    let sum = |fields: &[Array3<f32>; 2], k: usize, c: usize| {
        let at = [k, c / nx, c % nx];
        f64::from(fields[0][at]) + f64::from(fields[1][at])
    };
    let gravity = <f64 as Constants>::GRAVITY;
    let fields = [
        products(operator, nz, u),
        products(operator, nz, v),
        products(operator, nz + 1, |k, c| w[[k, c / nx, c % nx]]),
        products(operator, nz, |k, c| R::of(sum(&given.pressure, k, c))),
        products(operator, nz + 1, |k, c| R::of(sum(&given.geopotential, k, c) / gravity)),
    ];
    for (place, field) in WIND.into_iter().chain(AIR).zip(fields) {
        sample.fields[place] = field;
    }
    sample
}

/// Products of an operator with levels whose values are computed where they are needed.
fn products<R: Real>(
    operator: &Csr<R>,
    levels: usize,
    value: impl Fn(usize, usize) -> R,
) -> Vec<R> {
    let (starts, columns, weights) = (operator.starts(), operator.column_of(), operator.values());
    let product = |k: usize, row: usize| {
        let entries = starts[row]..starts[row + 1];
        entries.fold(R::ZERO, |sum, at| sum + weights[at] * value(k, columns[at] as usize))
    };
    (0..levels)
        .flat_map(|k| (0..operator.rows()).map(move |row| (k, row)))
        .map(|(k, row)| product(k, row))
        .collect()
}

/// A sample with what the backend has found.
fn complete<R>(mut sample: PointSample<R>, products: Products<R>) -> PointSample<R> {
    let mut volumes = products.volumes.into_iter();
    for (place, field) in VOLUMES.into_iter().zip(&mut volumes) {
        sample.fields[place] = field;
    }
    sample.passive = volumes.collect();
    for (place, field) in PLANES.into_iter().zip(products.planes) {
        sample.fields[place] = field;
    }
    sample
}
