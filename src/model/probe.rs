//! Who takes what a run makes, and samples of the fields at other places.

use std::collections::VecDeque;
use std::sync::Arc;

use super::{Case, Frames, Working};
use crate::backend::{Backend, FRAMES_IN_FLIGHT, Products};
use crate::constants::Constants;
use crate::error::Result;
use crate::forcing::Moment;
use crate::io::output::Snapshot;
use crate::io::sampled::Sample;
use crate::primitives::csr::Csr;
use crate::real::Real;

/// Who takes what a run makes.
pub trait Sink<R> {
    /// Takes a frame of output, made after so many steps; where it says no, the run ends.
    fn frame(&mut self, step: usize, frame: Snapshot<R>) -> bool;

    /// What it wants to have sampled; asked once, before the run.
    fn probes(&self) -> Vec<Probe<R>> {
        Vec::new()
    }

    /// Takes a sample, with the number of its probe; where it says no, the run ends.
    fn sample(&mut self, _probe: usize, _sample: Sample<R>) -> bool {
        true
    }
}

/// Frames alone.
impl<R, F: FnMut(usize, Snapshot<R>) -> bool> Sink<R> for F {
    fn frame(&mut self, step: usize, frame: Snapshot<R>) -> bool {
        self(step, frame)
    }
}

/// Takes everything and keeps nothing.
#[derive(Clone, Copy, Debug)]
pub struct Nobody;

impl<R> Sink<R> for Nobody {
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

/// Samples on their way from the backend.
#[derive(Debug)]
pub(super) struct Samples<R> {
    probes: Vec<Probe<R>>,
    /// For each probe what the input says, for those that the backend works at.
    pending: Vec<VecDeque<Sample<R>>>,
    /// For each probe what the input says where it says the same at all times.
    lasting: Vec<Option<Sample<R>>>,
}

impl<R: Working> Samples<R> {
    /// Hands the operators to the backend.
    pub(super) fn new(probes: Vec<Probe<R>>, backend: &mut dyn Backend<R>) -> Result<Self> {
        let operators: Vec<_> = probes.iter().map(|probe| Arc::clone(&probe.operator)).collect();
        backend.attach(&operators)?;
        let pending = probes.iter().map(|_| VecDeque::with_capacity(FRAMES_IN_FLIGHT)).collect();
        let lasting = probes.iter().map(|_| None).collect();
        Ok(Self { probes, pending, lasting })
    }

    /// Number of probes.
    pub(super) fn len(&self) -> usize {
        self.probes.len()
    }

    /// When a probe is applied.
    pub(super) fn frames(&self, probe: usize) -> Frames {
        self.probes[probe].frames
    }

    /// Whether as many samples of a probe are under way as may be.
    pub(super) fn is_full(&self, probe: usize) -> bool {
        self.pending[probe].len() == FRAMES_IN_FLIGHT
    }

    /// Begins a sample in the air of `moment`, which the case shows.
    pub(super) fn begin(
        &mut self,
        probe: usize,
        case: &Case<R>,
        moment: &Moment<R>,
        backend: &mut dyn Backend<R>,
        seconds: f64,
    ) -> Result<()> {
        backend.sample(probe, moment)?;
        let operator = &self.probes[probe].operator;
        let sample = match &self.lasting[probe] {
            Some(lasting) => Sample { seconds, ..lasting.clone() },
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
    ) -> Result<Option<Sample<R>>> {
        if self.pending[probe].is_empty() {
            return Ok(None);
        }
        let Some(products) = backend.collect_sample(probe, wait)? else { return Ok(None) };
        let sample = self.pending[probe].pop_front();
        Ok(sample.map(|sample| complete(sample, products)))
    }
}

/// Places of the fields in [`Sample::fields`] that the input prescribes: the wind, pressure and height.
const WIND: [usize; 3] = [6, 7, 8];
const AIR: [usize; 2] = [16, 17];
/// Those of [`Products::volumes`] and of [`Products::planes`].
const VOLUMES: [usize; 10] = [0, 1, 2, 3, 4, 5, 9, 10, 11, 12];
const PLANES: [usize; 3] = [13, 14, 15];

/// The part of a sample that the input prescribes.
fn prescribed<R: Working>(operator: &Csr<R>, case: &Case<R>, seconds: f64) -> Sample<R> {
    let (nx, nz) = (case.domain.grid.shape.nx, case.domain.grid.shape.nz);
    let mut sample = Sample { seconds, fields: std::array::from_fn(|_| Vec::new()) };
    let [u, v, w] = &case.winds;
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
    let sum = |fields: &[ndarray::Array3<f32>; 2], k: usize, c: usize| {
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
fn complete<R>(mut sample: Sample<R>, products: Products<R>) -> Sample<R> {
    for (place, field) in VOLUMES.into_iter().zip(products.volumes) {
        sample.fields[place] = field;
    }
    for (place, field) in PLANES.into_iter().zip(products.planes) {
        sample.fields[place] = field;
    }
    sample
}
