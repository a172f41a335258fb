//! Samples on the device: products of operators with the fields, and contiguous columns.

use std::sync::Arc;

use super::GpuPrecision;
use super::arrays::Arrays;
use super::memory::MemoryEstimate;
use super::step::Stepper;
use crate::backend::{Products, Profiles, SamplingRequest};
use crate::constituents::Constituents;
use crate::device::{Buffer, Gpu};
use crate::error::Result;
use crate::forcing::TimeInterpolant;
use crate::gpu::column_profiles::{ColumnProfiles, ProfileKernels};
use crate::grid::Shape;
use crate::grid::gpu::Layout;
use crate::primitives::csr::Csr;
use crate::primitives::gpu::sampling::{Levels, Sampling};
use crate::state::gpu::device_fields::planes_of;

/// Operators, and the work memory that they need besides the state.
#[derive(Debug)]
pub(super) struct Sampler<R> {
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

/// One of the parts of equal length.
fn part<R: Copy>(values: &[R], number: usize, length: usize) -> Vec<R> {
    values[number * length..(number + 1) * length].to_vec()
}

impl<R: GpuPrecision> Sampler<R> {
    pub(super) fn new(
        gpu: &Gpu,
        (layout, set): (Layout, &Constituents),
        attached: &SamplingRequest<R>,
    ) -> Result<Self> {
        let shape = layout.shape;
        let SamplingRequest { operators, weights } = attached;
        let (fields, diagnosed) = (set.len(), set.volumes().len());
        let levels = (fields + diagnosed) * shape.nz + set.shown_planes().count();
        let is_asked = !operators.is_empty() || weights.is_some();
        let cells = if is_asked { diagnosed * shape.cells() } else { 0 };
        let is_picked = is_asked && (!layout.is_tight() || !set.passive().is_empty());
        let picked = is_picked
            .then(|| [fields * shape.cells(), planes_of(set.planes().len(), 1) * shape.columns()]);
        if is_asked {
            let of = |operator: &Arc<Csr<R>>| Sampling::bytes(operator, levels);
            let operators: usize = operators.iter().map(of).sum();
            let columns = weights.as_ref().map_or(0, |_| ProfileKernels::<R>::bytes(shape, set));
            let values = cells + picked.iter().flatten().sum::<usize>();
            MemoryEstimate::new(values * size_of::<R>() + operators + columns, shape).check(gpu)?;
        }
        for operator in operators {
            assert_eq!(operator.columns(), shape.columns(), "columns of an operator on the grid");
        }
        let sampling = |operator: &Arc<Csr<R>>| Sampling::new(gpu, operator, levels);
        let operators = operators.iter().map(sampling).collect::<Result<_>>()?;
        let profiles = |weights: &Arc<Vec<R>>| ProfileKernels::new(gpu, (shape, set), weights);
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

/// The samples.
impl<R: GpuPrecision> Sampler<R> {
    /// Begins the products of an operator with the present fields in the air of a moment, which is set.
    pub(super) fn begin_products(
        &mut self,
        operator: usize,
        moment: &TimeInterpolant<R>,
        arrays: &Arrays<R>,
        step: &Stepper<R>,
    ) -> Result<()> {
        self.diagnose_once(moment, arrays, step)?;
        let (state, surface) = match &self.picked {
            Some([state, surface]) => (state, surface),
            None => (arrays.present(), arrays.planes(0)),
        };
        let nz = arrays.layout.shape.nz;
        let set = &arrays.order.set;
        let (carried, passive) = (set.carried() * nz, set.passive().len() * nz);
        let mut groups = vec![
            Levels { array: state, first: 0, count: carried },
            Levels { array: &self.diagnosed, first: 0, count: set.volumes().len() * nz },
            Levels { array: state, first: carried, count: passive },
        ];
        let plane = |plane| Levels { array: surface, first: plane, count: 1 };
        groups.extend(set.shown_planes().map(plane));
        self.operators[operator].send(&groups)
    }

    /// Begins to gather the columns, diagnosed in the air of a moment, which is set.
    pub(super) fn begin_profiles(
        &mut self,
        moment: &TimeInterpolant<R>,
        arrays: &Arrays<R>,
        step: &Stepper<R>,
    ) -> Result<()> {
        self.diagnose_once(moment, arrays, step)?;
        let Self { columns, picked, diagnosed, .. } = self;
        let state = picked.as_ref().map_or(arrays.present(), |[state, _]| state);
        columns.as_mut().expect("weights are attached").send(state, diagnosed)
    }

    /// Diagnoses the state in the air of a moment, and copies it without padding, unless that has been done.
    fn diagnose_once(
        &mut self,
        moment: &TimeInterpolant<R>,
        arrays: &Arrays<R>,
        step: &Stepper<R>,
    ) -> Result<()> {
        let TimeInterpolant { number: frame, air_weight, .. } = *moment;
        let now = SampledMoment { steps: step.requested(), frame, air_weight };
        if self.moment != Some(now) {
            step.diagnose(0, arrays, &self.diagnosed, 0)?;
            if let Some([state, planes]) = &self.picked {
                arrays.pack_fields(0, state)?;
                arrays.pack_planes(0, planes, 0)?;
            }
            self.moment = Some(now);
        }
        Ok(())
    }

    /// The oldest pending columns, of states of a set.
    pub(super) fn end_profiles(
        &mut self,
        wait: bool,
        (shape, set): (Shape, &Constituents),
    ) -> Result<Option<Profiles<R>>> {
        let Some(columns) = &mut self.columns else { return Ok(None) };
        if !wait && !columns.are_complete()? {
            return Ok(None);
        }
        let turned = columns.receive()?;
        Ok(turned.map(|ColumnProfiles { profiles, totals, strongest }| Profiles {
            volumes: in_order_of_samples(set)
                .map(|number| part(&profiles, number, shape.cells()))
                .collect(),
            totals: (0..set.water().len())
                .map(|kind| part(&totals, kind, shape.columns()))
                .collect(),
            strongest,
        }))
    }

    /// The oldest products of an operator, with states of a set.
    pub(super) fn end_products(
        &mut self,
        operator: usize,
        wait: bool,
        (shape, set): (Shape, &Constituents),
    ) -> Result<Option<Products<R>>> {
        let count = set.len() + set.volumes().len();
        let operator = &mut self.operators[operator];
        if !wait && !operator.is_complete()? {
            return Ok(None);
        }
        let places = operator.places();
        let Some(values) = operator.receive()? else { return Ok(None) };
        let (volumes, planes) = values.split_at(count * shape.nz * places);
        Ok(Some(Products {
            volumes: (0..count).map(|number| part(volumes, number, shape.nz * places)).collect(),
            planes: (0..set.shown_planes().count())
                .map(|number| part(planes, number, places))
                .collect(),
        }))
    }
}

/// Numbers of the fields on the device in the order of a sample: diagnosed fields follow those of the state on the
/// device, and those of the scheme in a sample.
fn in_order_of_samples(set: &Constituents) -> impl Iterator<Item = usize> {
    let (carried, fields) = (set.carried(), set.len());
    (0..carried).chain(fields..fields + set.volumes().len()).chain(carried..fields)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::constituents::Constituent;
    use crate::physics::registry::usual_set;

    #[test]
    fn diagnosed_fields_come_before_passive_tracers() {
        let set = usual_set().with_passive(["a", "b"].map(Constituent::passive));
        let order: Vec<usize> = in_order_of_samples(&set).collect();
        assert_eq!(order, [0, 1, 2, 3, 4, 5, 8, 9, 10, 11, 6, 7]);
    }

    #[test]
    fn parts_follow_one_another() {
        assert_eq!(part(&[0, 1, 2, 3, 4, 5], 2, 2), [4, 5]);
    }
}
