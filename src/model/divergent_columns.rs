//! Columns in which two backends disagree, with all that is needed to look into it.

use serde::Serialize;

use super::RunPrecision;
use crate::diagnostics::pair::{RunState, Verdict};
use crate::forcing::TimeInterpolant;
use crate::state::{Environment, State};

/// Values of one quantity from the ground up.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct QuantityProfile {
    /// Its name.
    pub name: &'static str,
    /// Its values in SI units, nz of them; one where it is a quantity of the ground.
    pub values: Vec<f64>,
}

/// A column in which two backends disagree.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct DivergentColumn {
    /// After how many steps.
    pub steps: usize,
    /// The fields that fail there, and the cell `[k, j, i]` of each.
    pub fields: Vec<(&'static str, [usize; 3])>,
    /// The column before the first step, in the names of `nwp-mini columns`; only for
    /// that step.
    pub inputs: Option<Vec<QuantityProfile>>,
    /// The column on the CPU.
    pub a: Vec<QuantityProfile>,
    /// The column on the other backend.
    pub b: Vec<QuantityProfile>,
}

/// The columns of the bad verdicts.
///
/// `inputs`, for the first step, are the state before it and its air.
pub(super) fn suspects<R: RunPrecision>(
    verdicts: &[Verdict],
    [a, b]: [&RunState<R>; 2],
    inputs: Option<(&State<R>, &TimeInterpolant<R>)>,
) -> Vec<DivergentColumn> {
    let mut suspects: Vec<DivergentColumn> = Vec::new();
    for verdict in verdicts.iter().filter(|verdict| !verdict.pass) {
        let Some(cell) = verdict.suspect() else { continue };
        let [_, j, i] = cell;
        let known = suspects.iter_mut().find(|s| s.fields.iter().any(|(_, at)| at[1..] == [j, i]));
        if let Some(known) = known {
            known.fields.push((verdict.field, cell));
            continue;
        }
        suspects.push(DivergentColumn {
            steps: verdict.steps,
            fields: vec![(verdict.field, cell)],
            inputs: inputs.map(|(state, air)| column_before(state, air, [j, i])),
            a: column(a, [j, i]),
            b: column(b, [j, i]),
        });
    }
    suspects
}

fn column<R: RunPrecision>(sample: &RunState<R>, [j, i]: [usize; 2]) -> Vec<QuantityProfile> {
    let (columns, at) = (sample.columns(), j * sample.row() + i);
    let names = sample.names().into_iter();
    names
        .zip(sample.fields())
        .map(|(name, field)| QuantityProfile {
            name,
            values: field.chunks(columns).map(|plane| plane[at].f64()).collect(),
        })
        .collect()
}

fn column_before<R: RunPrecision>(
    state: &State<R>,
    air: &TimeInterpolant<R>,
    [j, i]: [usize; 2],
) -> Vec<QuantityProfile> {
    let nz = state.qv().len_of(ndarray::Axis(0));
    let of = |name, value: &dyn Fn([usize; 3]) -> R| QuantityProfile {
        name,
        values: (0..nz).map(|k| value([k, j, i]).f64()).collect(),
    };
    let mut profiles = vec![of("th", &|at| state.theta()[at] + R::THETA_BASE)];
    for (one, field) in state.set().of_scheme_only().iter().zip(state.fields()).skip(1) {
        profiles.push(of(one.column, &|at| field[at]));
    }
    for (n, name) in Environment::<R>::NAMES.into_iter().take(4).enumerate() {
        profiles.push(of(name, &|at| air.air_at(at)[n]));
    }
    profiles
}
