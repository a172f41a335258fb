//! Operators that are applied on the device.

use std::sync::Arc;

use super::memory::Needs;
use super::{OnDevice, OnGpu};
use crate::backend::{PRODUCT_PLANES, PRODUCT_VOLUMES, Products};
use crate::error::Result;
use crate::forcing::Moment;
use crate::gpu::clouds::{DIAGNOSED_FIELDS, PLANES, Place, STATE_FIELDS};
use crate::gpu::sampling::{Levels, Sampling};
use crate::gpu::{Buffer, Gpu};
use crate::grid::Shape;
use crate::primitives::csr::Csr;

/// Operators, and what they need beside the state.
#[derive(Debug)]
pub(super) struct Samples<R> {
    pub(super) operators: Vec<Sampling<R>>,
    /// What is diagnosed, for the last sample.
    diagnosed: Buffer<R>,
    /// When that was: steps done, number of the frame before, and weight of the air.
    moment: Option<(usize, usize, u64)>,
}

/// Planes that operators are applied to: rain and snow, which are neighbours, and sr.
const TOGETHER: usize = 2;

/// Number of a plane of the ground.
fn plane(name: &str) -> usize {
    PLANES.iter().position(|plane| *plane == name).expect("a plane of the ground")
}

impl<R: OnDevice> Samples<R> {
    pub(super) fn new(gpu: &Gpu, shape: Shape, operators: &[Arc<Csr<R>>]) -> Result<Self> {
        let levels = PRODUCT_VOLUMES * shape.nz + PRODUCT_PLANES;
        let cells = if operators.is_empty() { 0 } else { DIAGNOSED_FIELDS * shape.cells() };
        if cells > 0 {
            let of = |operator: &Arc<Csr<R>>| Sampling::bytes(operator, levels);
            let bytes = cells * size_of::<R>() + operators.iter().map(of).sum::<usize>();
            Needs::new(bytes, shape).check(gpu)?;
        }
        for operator in operators {
            assert_eq!(operator.columns(), shape.columns(), "columns of an operator on the grid");
        }
        let sampling = |operator: &Arc<Csr<R>>| Sampling::new(gpu, operator, levels);
        let operators = operators.iter().map(sampling).collect::<Result<_>>()?;
        Ok(Self { operators, diagnosed: gpu.zeros(cells)?, moment: None })
    }

    /// Drops what is under way.
    pub(super) fn clear(&mut self) -> Result<()> {
        self.moment = None;
        for operator in &mut self.operators {
            while operator.receive()?.is_some() {}
        }
        Ok(())
    }

    /// Time of all copies to the host, s.
    pub(super) fn seconds(&self) -> f64 {
        self.operators.iter().map(Sampling::seconds).sum()
    }
}

impl<R: OnDevice> OnGpu<R> {
    /// Begins the products of an operator with the fields in the air of a moment.
    pub(super) fn begin_sample(&mut self, operator: usize, moment: &Moment<R>) -> Result<()> {
        let now = (self.steps, moment.number, moment.air_weight.to_bits());
        let air = self.air.array(&self.transport);
        let state = &self.tracers[self.now];
        let surface = &self.surface;
        if self.samples.moment != Some(now) {
            let place = Place { state, air, surface };
            self.clouds.diagnose(&place, &self.samples.diagnosed, 0)?;
            self.samples.moment = Some(now);
        }
        let nz = self.grid.shape.nz;
        let groups = [
            Levels { array: state, first: 0, count: STATE_FIELDS * nz },
            Levels { array: &self.samples.diagnosed, first: 0, count: DIAGNOSED_FIELDS * nz },
            Levels { array: surface, first: plane("rain"), count: TOGETHER },
            Levels { array: surface, first: plane("sr"), count: PRODUCT_PLANES - TOGETHER },
        ];
        self.samples.operators[operator].send(&groups)
    }

    /// The oldest products of an operator.
    pub(super) fn end_sample(
        &mut self,
        operator: usize,
        wait: bool,
    ) -> Result<Option<Products<R>>> {
        let nz = self.grid.shape.nz;
        let operator = &mut self.samples.operators[operator];
        if !wait && !operator.is_here()? {
            return Ok(None);
        }
        let places = operator.places();
        let Some(values) = operator.receive()? else { return Ok(None) };
        let (volumes, planes) = values.split_at(PRODUCT_VOLUMES * nz * places);
        let part = |values: &[R], number: usize, length: usize| {
            values[number * length..(number + 1) * length].to_vec()
        };
        Ok(Some(Products {
            volumes: std::array::from_fn(|number| part(volumes, number, nz * places)),
            planes: std::array::from_fn(|number| part(planes, number, places)),
        }))
    }
}
