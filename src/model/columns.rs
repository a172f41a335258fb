//! Columns alone on two backends: how far they are apart, and how far they may be.
//!
//! As in [`crate::model::backend_comparison`], the limits are made on the spot: the first call is held against one in
//! double precision with the errors of calls on the CPU, from the columns and from such as are shifted by units in the
//! last place, and the last one against what such runs come apart.

use ndarray::Array3;

use crate::backend::{UlpPerturbation, check_finite};
use crate::diagnostics::difference::Value;
use crate::diagnostics::pair::{
    RoundingReference, RunSpread, RunState, Totals, Verdict, judge_later,
};
use crate::error::Result;
use crate::physics::PhysicsCase;
use crate::physics::scheme::{About, PhysicsPrecision, Scheme};
use crate::real::Real;
use crate::state::{CloudDiagnostics, State, Surface};

/// Columns after the first call and after the last.
#[derive(Clone, Debug)]
pub struct Ends<R> {
    /// After the first.
    pub first: PhysicsCase<R>,
    /// After the last.
    pub last: PhysicsCase<R>,
}

/// Calls of a scheme that are compared.
#[derive(Clone, Copy, Debug)]
pub struct Calls<'a> {
    /// The scheme.
    pub scheme: &'a dyn Scheme,
    /// Length of a call, s.
    pub dt: f64,
    /// Their number.
    pub count: usize,
}

/// The verdicts on columns of another backend beside those of the CPU, after the first call and after the last, and the
/// share of the columns that rounding alone throws off their course in the first.
///
/// `start` are the columns before the first call, `wide` the same in double precision.
///
/// # Errors
///
/// [`BlowUp`](crate::error::Error::BlowUp) where a value is not finite on the CPU.
pub fn compare<R: PhysicsPrecision + Value>(
    calls: &Calls<'_>,
    (start, wide): (&PhysicsCase<R>, &PhysicsCase<f64>),
    other: &Ends<R>,
) -> Result<(Vec<Verdict>, f64)> {
    let about = calls.scheme.about();
    let sample_of = |case: &PhysicsCase<R>| sample(about, case);
    let run = |start: PhysicsCase<R>, shifts: Option<u64>| calls.run(start, calls.count, shifts);
    let ours = run(start.clone(), None)?;
    let truth = calls.run(wide.clone(), 1, None)?;
    // The fall is divided by what it meets, which is one of the branches of the scheme.
    let mut reference = RoundingReference::new(sample(about, &truth.first), true);
    let first = sample_of(&ours.first);
    reference.add(&first);
    reference.surround(|shift| {
        Ok(sample_of(&calls.run(shifted(about, start, shift), 1, None)?.first))
    })?;
    let fragile_share = reference.fragile_share();
    let mut verdicts = reference.judge(&first, &sample_of(&other.first));
    if calls.count > 1 {
        let [a, b] = [&ours.last, &other.last].map(sample_of);
        let totals = |case: &PhysicsCase<R>| totals(about, case);
        let apart = |away: Ends<R>| {
            RunSpread::of(&a, &sample_of(&away.last), [totals(&ours.last), totals(&away.last)])
        };
        let above = apart(run(shifted(about, start, UlpPerturbation::Up(1)), None)?);
        let moved = apart(run(start.clone(), Some(0))?);
        let apart = above.larger(&moved).or_roundings(&reference.spreads(), calls.count);
        let both = [totals(&ours.last), totals(&other.last)];
        verdicts.append(&mut judge_later(calls.count, [&a, &b], both, &apart));
    }
    Ok((verdicts, fragile_share))
}

impl Calls<'_> {
    /// Some of the calls on the CPU; with a seed, the columns are moved by a unit up or down before each.
    fn run<S: PhysicsPrecision>(
        &self,
        mut case: PhysicsCase<S>,
        count: usize,
        mut seed: Option<u64>,
    ) -> Result<Ends<S>> {
        let columns = S::of_scheme(self.scheme).on_cpu(case.shape.nz, None);
        let mut first = None;
        for number in 1..=count {
            if let Some(seed) = &mut seed {
                case = shifted(
                    self.scheme.about(),
                    &case,
                    UlpPerturbation::Either { units: 1, seed: *seed },
                );
                *seed += 1;
            }
            case.force(S::of(self.dt));
            columns.call(S::of(self.dt), case.block());
            check_finite(&state(self.scheme.about(), &case), number)?;
            first.get_or_insert_with(|| case.clone());
        }
        let first = first.unwrap_or_else(|| case.clone());
        Ok(Ends { first, last: case })
    }
}

/// The columns with all values moved by units in the last place.
fn shifted<R: Real>(
    scheme: &About,
    start: &PhysicsCase<R>,
    shift: UlpPerturbation,
) -> PhysicsCase<R> {
    let mut state = state(scheme, start);
    shift.apply(&mut state);
    let mut case = start.clone();
    for (tracer, field) in case.tracers.iter_mut().zip(state.fields()) {
        tracer.assign(field);
    }
    case
}

/// The columns as a state of what the scheme carries.
fn state<R: Real>(scheme: &About, case: &PhysicsCase<R>) -> State<R> {
    let mut state = State::zeros(&scheme.set(), case.shape);
    for (field, tracer) in state.fields_mut().iter_mut().zip(&case.tracers) {
        field.assign(tracer);
    }
    state
}

/// The columns as they are compared; nothing is diagnosed of them.
fn sample<R: Real>(scheme: &About, case: &PhysicsCase<R>) -> RunState<R> {
    let state = state(scheme, case);
    let set = state.set();
    let mut surface = Surface::zeros(set, case.shape);
    for (plane, values) in surface.planes_mut().iter_mut().zip(&case.surface) {
        plane.assign(values);
    }
    let diagnostics = CloudDiagnostics::zeros(set, case.shape);
    RunState { state, diagnostics, surface }
}

/// Water and precipitation of all columns, of a square metre each.
fn totals<R: Real>(scheme: &About, case: &PhysicsCase<R>) -> Totals {
    let air = |name: &str| {
        let found = scheme.air.iter().zip(&case.air).find(|(field, _)| field.name == name);
        found.map(|(_, values)| values).expect("density and depth are of every air")
    };
    let (rho, dz) = (air("den"), air("delz"));
    let layers = |q: &Array3<R>| -> f64 {
        let mass = rho.iter().zip(dz).map(|(rho, dz)| rho.f64() * dz.f64());
        q.iter().zip(mass).map(|(q, mass)| q.f64() * mass).sum()
    };
    let rain = case.surface[0].iter().map(|mm| mm.f64()).sum();
    let water = case.tracers[1..].iter().map(layers).sum();
    Totals { water, rain, area: case.shape.columns() as f64 }
}
