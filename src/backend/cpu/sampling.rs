//! Samples of a run on the CPU: products of operators with the fields, and contiguous columns.

use super::arrays::{Arrays, MemberFields};
use super::scheme_calls::SchemeCalls;
use crate::backend::column_profiles::ProfileExtractor;
use crate::backend::interpolation::{GatheredColumns, Operator};
use crate::backend::{ComputePrecision, FRAMES_IN_FLIGHT, Products, Profiles, SamplingRequest};
use crate::grid::Shape;
use crate::primitives::reduce::Number;
use crate::state::CloudDiagnostics;

/// Operators and weights of the samples, with the samples that have not been collected.
#[derive(Debug)]
pub(super) struct Sampler<R> {
    operators: Vec<Operator<R>>,
    extractor: Option<ProfileExtractor<R>>,
}

impl<R> Default for Sampler<R> {
    /// No samples.
    fn default() -> Self {
        Self { operators: Vec::new(), extractor: None }
    }
}

impl<R: ComputePrecision + Number> Sampler<R> {
    pub(super) fn new(shape: Shape, request: &SamplingRequest<R>) -> Self {
        let SamplingRequest { operators, weights } = request;
        Self {
            operators: operators.iter().map(|x| Operator::new(x, shape.columns())).collect(),
            extractor: weights.as_ref().map(|weights| ProfileExtractor::new(shape, weights)),
        }
    }

    /// Begins the products of an operator with the present fields: only the columns that it reads are diagnosed.
    pub(super) fn begin_products(
        &mut self,
        operator: usize,
        arrays: &Arrays<R>,
        schemes: &SchemeCalls<R>,
    ) {
        let operator = &mut self.operators[operator];
        assert!(operator.in_flight.len() < FRAMES_IN_FLIGHT, "a sample was not collected");
        let products = operator.products(&column_values(operator, arrays, schemes));
        operator.in_flight.push_back(products);
    }

    /// Begins the columns of the present fields.
    pub(super) fn begin_profiles(&mut self, arrays: &Arrays<R>, schemes: &SchemeCalls<R>) {
        let (shape, state) = (arrays.grid.shape, &arrays.sole_member().state);
        let diagnostics = diagnosed(arrays, schemes);
        let extractor = self.extractor.as_mut().expect("weights are attached");
        assert!(extractor.in_flight.len() < FRAMES_IN_FLIGHT, "columns were not collected");
        let profiles = extractor.profiles(shape, state, &diagnostics);
        extractor.in_flight.push_back(profiles);
    }

    /// The oldest products of an operator.
    pub(super) fn end_products(&mut self, operator: usize) -> Option<Products<R>> {
        self.operators[operator].in_flight.pop_front()
    }

    /// The oldest columns.
    pub(super) fn end_profiles(&mut self) -> Option<Profiles<R>> {
        self.extractor.as_mut().and_then(|extractor| extractor.in_flight.pop_front())
    }
}

/// The values of the columns that an operator reads.
pub(super) fn column_values<R: ComputePrecision>(
    operator: &Operator<R>,
    arrays: &Arrays<R>,
    schemes: &SchemeCalls<R>,
) -> Products<R> {
    let MemberFields { state, surface } = arrays.sole_member();
    let GatheredColumns { state, air, mut diagnostics } =
        operator.gather(state, &arrays.present.environment);
    schemes.diagnose(0, &state, &air, &mut diagnostics);
    operator.values((&state, &diagnostics), surface)
}

/// Fields diagnosed from the present state.
pub(super) fn diagnosed<R: ComputePrecision>(
    arrays: &Arrays<R>,
    schemes: &SchemeCalls<R>,
) -> CloudDiagnostics<R> {
    let state = &arrays.sole_member().state;
    let mut diagnostics = CloudDiagnostics::zeros(state.set(), arrays.grid.shape);
    schemes.diagnose(0, state, &arrays.present.environment, &mut diagnostics);
    diagnostics
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::super::fixture::{SHAPE, coordinate, forcing, grid};
    use super::*;
    use crate::physics::registry::usual_set;
    use crate::primitives::csr::Csr;
    use crate::state::State;

    /// A column's vapour, linear in its place.
    fn vapour([k, j, i]: [usize; 3]) -> f64 {
        1e-3 * (4.0 * k as f64 + 2.0 * j as f64 + i as f64)
    }

    fn run() -> (Arrays<f64>, SchemeCalls<f64>) {
        let mut state = State::zeros(&usual_set(), SHAPE);
        let field = &mut state.fields_mut()[1];
        field.indexed_iter_mut().for_each(|((k, j, i), q)| *q = vapour([k, j, i]));
        let arrays = Arrays::new(&grid(), &coordinate(), &Arc::new(forcing(1.0)), [state]);
        let schemes = SchemeCalls::of_one(SHAPE.nz);
        (arrays, schemes)
    }

    #[test]
    fn products_of_a_linear_field_are_its_values_between_the_columns() {
        let (mut arrays, schemes) = run();
        // Halfway from column (1, 1) to (1, 2), and a quarter of the way from there to (2, 2).
        let [a, b, c] = [[1, 1], [1, 2], [2, 2]].map(|[j, i]| (j * SHAPE.nx + i) as u32);
        let weights = vec![0.5, 0.5, 0.75, 0.25];
        let operator =
            Csr::from_parts(SHAPE.columns(), vec![0, 2, 4], vec![a, b, b, c], weights).unwrap();
        let request = SamplingRequest { operators: vec![Arc::new(operator)], weights: None };
        let mut sampler = Sampler::new(SHAPE, &request);
        sampler.begin_products(0, &arrays, &schemes);
        arrays.members[0].state.fields_mut()[1].fill(0.0);
        sampler.begin_products(0, &arrays, &schemes);
        let products = sampler.end_products(0).expect("the first products");
        for k in 0..SHAPE.nz {
            let expected = [1e-3 * (4.0 * k as f64 + 3.5), 1e-3 * (4.0 * k as f64 + 4.5)];
            for (found, expected) in products.volumes[1][2 * k..][..2].iter().zip(expected) {
                assert!((found - expected).abs() < 1e-15, "{found} {expected}");
            }
        }
        let later = sampler.end_products(0).expect("the products after the change");
        assert!(later.volumes[1].iter().all(|q| *q == 0.0));
        assert!(sampler.end_products(0).is_none() && sampler.end_profiles().is_none());
    }

    #[test]
    fn profiles_are_columns_with_their_weighted_totals() {
        let (arrays, schemes) = run();
        let weights = Some(Arc::new(vec![2.0; SHAPE.cells()]));
        let mut sampler = Sampler::new(SHAPE, &SamplingRequest { operators: Vec::new(), weights });
        sampler.begin_profiles(&arrays, &schemes);
        let profiles = sampler.end_profiles().expect("profiles");
        let column: Vec<f64> = (0..SHAPE.nz).map(|k| vapour([k, 1, 2])).collect();
        let at = SHAPE.nx + 2;
        assert_eq!(profiles.volumes[1][at * SHAPE.nz..][..SHAPE.nz], column);
        let total = 2.0 * column.iter().sum::<f64>();
        assert!((profiles.totals[0][at] - total).abs() < 1e-15);
    }

    #[test]
    #[should_panic(expected = "columns were not collected")]
    fn no_more_samples_are_under_way_than_frames() {
        let (arrays, schemes) = run();
        let weights = Some(Arc::new(vec![1.0; SHAPE.cells()]));
        let mut sampler = Sampler::new(SHAPE, &SamplingRequest { operators: Vec::new(), weights });
        for _ in 0..=FRAMES_IN_FLIGHT {
            sampler.begin_profiles(&arrays, &schemes);
        }
    }
}
