//! Samples on the device: products of operators with the fields, and contiguous columns.

use std::sync::Arc;

use super::memory::MemoryEstimate;
use super::{GpuBackend, GpuPrecision};
use crate::backend::{PRODUCT_PLANES, PRODUCT_VOLUMES, Products, Profiles, SamplingRequest};
use crate::device::{Buffer, Gpu};
use crate::error::Result;
use crate::forcing::TimeInterpolant;
use crate::gpu::column_profiles::{ColumnProfiles, ProfileKernels};
use crate::grid::gpu::Layout;
use crate::primitives::csr::Csr;
use crate::primitives::gpu::sampling::{Levels, Sampling};
use crate::wsm5::gpu::launch::{DIAGNOSED_FIELDS, PLANES, STATE_FIELDS};

/// Operators, and the work memory that they need besides the state.
#[derive(Debug)]
pub(super) struct GpuSampling<R> {
    operators: Vec<Sampling<R>>,
    columns: Option<ProfileKernels<R>>,
    /// Copies of state and ground of the last sample without padding and in the order of the tracer set; `None` if the
    /// fields on the device have that layout already.
    picked: Option<[Buffer<R>; 2]>,
    /// Diagnosed fields of the last sample.
    diagnosed: Buffer<R>,
    /// Time of the last sample.
    moment: Option<SampledMoment>,
}

/// The time of a sample.
#[derive(Clone, Copy, Debug, PartialEq)]
struct SampledMoment {
    /// Completed steps.
    steps: usize,
    /// Number of the preceding frame.
    frame: usize,
    /// Weight of the air of the following one.
    air_weight: f64,
}

/// Planes `rain` and `snow`, which are adjacent in memory; operators are applied to these and to `sr`.
const ADJACENT_PLANES: usize = 2;

/// Number of a plane of the ground.
fn plane(name: &str) -> usize {
    PLANES.iter().position(|plane| *plane == name).expect("a plane of the ground")
}

/// One of the parts of equal length.
fn part<R: Copy>(values: &[R], number: usize, length: usize) -> Vec<R> {
    values[number * length..(number + 1) * length].to_vec()
}

impl<R: GpuPrecision> GpuSampling<R> {
    pub(super) fn new(
        gpu: &Gpu,
        (layout, fields): (Layout, usize),
        attached: &SamplingRequest<R>,
    ) -> Result<Self> {
        let shape = layout.shape;
        let SamplingRequest { operators, weights } = attached;
        let passive = fields - STATE_FIELDS;
        let levels = (PRODUCT_VOLUMES + passive) * shape.nz + PRODUCT_PLANES;
        let is_asked = !operators.is_empty() || weights.is_some();
        let cells = if is_asked { DIAGNOSED_FIELDS * shape.cells() } else { 0 };
        let is_picked = is_asked && (!layout.is_tight() || passive > 0);
        let picked = is_picked.then(|| [fields * shape.cells(), PLANES.len() * shape.columns()]);
        if is_asked {
            let of = |operator: &Arc<Csr<R>>| Sampling::bytes(operator, levels);
            let operators: usize = operators.iter().map(of).sum();
            let columns = weights.as_ref().map_or(0, |_| ProfileKernels::<R>::bytes(shape, fields));
            let values = cells + picked.iter().flatten().sum::<usize>();
            MemoryEstimate::new(values * size_of::<R>() + operators + columns, shape).check(gpu)?;
        }
        for operator in operators {
            assert_eq!(operator.columns(), shape.columns(), "columns of an operator on the grid");
        }
        let sampling = |operator: &Arc<Csr<R>>| Sampling::new(gpu, operator, levels);
        let operators = operators.iter().map(sampling).collect::<Result<_>>()?;
        let profiles = |weights: &Arc<Vec<R>>| ProfileKernels::new(gpu, (shape, fields), weights);
        let columns = weights.as_ref().map(profiles).transpose()?;
        let picked = match picked {
            Some([state, ground]) => Some([gpu.zeros(state)?, gpu.zeros(ground)?]),
            None => None,
        };
        Ok(Self { operators, columns, picked, diagnosed: gpu.zeros(cells)?, moment: None })
    }

    /// Drops all pending results.
    pub(super) fn clear(&mut self) -> Result<()> {
        self.moment = None;
        for operator in &mut self.operators {
            while operator.receive()?.is_some() {}
        }
        while self.columns.as_mut().map_or(Ok(None), ProfileKernels::receive)?.is_some() {}
        Ok(())
    }

    /// Time of all copies to the host, s.
    pub(super) fn seconds(&self) -> f64 {
        let columns = self.columns.as_ref().map_or(0.0, ProfileKernels::seconds);
        columns + self.operators.iter().map(Sampling::seconds).sum::<f64>()
    }
}

impl<R: GpuPrecision> GpuBackend<R> {
    /// Begins the products of an operator with the fields in the air of a moment.
    pub(super) fn begin_products(
        &mut self,
        operator: usize,
        moment: &TimeInterpolant<R>,
    ) -> Result<()> {
        self.diagnose_once(moment)?;
        let (state, surface) = match &self.samples.picked {
            Some([state, surface]) => (state, surface),
            None => (&self.tracers[self.now], &self.members[0].surface),
        };
        let nz = self.grid.shape.nz;
        let groups = [
            Levels { array: state, first: 0, count: STATE_FIELDS * nz },
            Levels { array: &self.samples.diagnosed, first: 0, count: DIAGNOSED_FIELDS * nz },
            Levels { array: state, first: STATE_FIELDS * nz, count: self.passive() * nz },
            Levels { array: surface, first: plane("rain"), count: ADJACENT_PLANES },
            Levels { array: surface, first: plane("sr"), count: PRODUCT_PLANES - ADJACENT_PLANES },
        ];
        self.samples.operators[operator].send(&groups)
    }

    /// Begins to gather the columns, diagnosed in the air of a moment.
    pub(super) fn begin_profiles(&mut self, moment: &TimeInterpolant<R>) -> Result<()> {
        self.diagnose_once(moment)?;
        let GpuSampling { columns, picked, diagnosed, .. } = &mut self.samples;
        let state = picked.as_ref().map_or(&self.tracers[self.now], |[state, _]| state);
        columns.as_mut().expect("weights are attached").send(state, diagnosed)
    }

    /// Passive tracers of a state.
    fn passive(&self) -> usize {
        self.order.set.passive().len()
    }

    /// The oldest pending columns.
    pub(super) fn end_profiles(&mut self, wait: bool) -> Result<Option<Profiles<R>>> {
        let Some(columns) = &mut self.samples.columns else { return Ok(None) };
        if !wait && !columns.are_complete()? {
            return Ok(None);
        }
        let shape = self.grid.shape;
        let turned = columns.receive()?;
        // Diagnosed fields follow those of the state on the device, and those of WSM5 here.
        let (fields, passive) = (self.order.set.len(), STATE_FIELDS..self.order.set.len());
        let numbers = (0..STATE_FIELDS).chain(fields..fields + DIAGNOSED_FIELDS).chain(passive);
        Ok(turned.map(|ColumnProfiles { profiles, totals, strongest }| Profiles {
            volumes: numbers.map(|number| part(&profiles, number, shape.cells())).collect(),
            totals: std::array::from_fn(|kind| part(&totals, kind, shape.columns())),
            strongest,
        }))
    }

    /// Diagnoses the state in the air of a moment, and copies it without padding, unless that has been done.
    fn diagnose_once(&mut self, moment: &TimeInterpolant<R>) -> Result<()> {
        let TimeInterpolant { number: frame, air_weight, .. } = *moment;
        let now = SampledMoment { steps: self.steps, frame, air_weight };
        if self.samples.moment != Some(now) {
            let sole_member = self.sole_member();
            let place = self.place(sole_member, &self.tracers[self.now]);
            sole_member.wsm5.diagnose(&place, &self.samples.diagnosed, 0)?;
            if let Some(picked) = &self.samples.picked {
                let layout = self.layout;
                self.gather_fields(sole_member, &picked[0])?;
                let ground = 0..PLANES.len() * layout.columns();
                picked[1].copy_rows(0, (&sole_member.surface, layout.rows()), ground)?;
            }
            self.samples.moment = Some(now);
        }
        Ok(())
    }

    /// The oldest products of an operator.
    pub(super) fn end_products(
        &mut self,
        operator: usize,
        wait: bool,
    ) -> Result<Option<Products<R>>> {
        let nz = self.grid.shape.nz;
        let count = PRODUCT_VOLUMES + self.passive();
        let operator = &mut self.samples.operators[operator];
        if !wait && !operator.is_complete()? {
            return Ok(None);
        }
        let places = operator.places();
        let Some(values) = operator.receive()? else { return Ok(None) };
        let (volumes, planes) = values.split_at(count * nz * places);
        Ok(Some(Products {
            volumes: (0..count).map(|number| part(volumes, number, nz * places)).collect(),
            planes: std::array::from_fn(|number| part(planes, number, places)),
        }))
    }
}
