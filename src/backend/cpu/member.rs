//! Members on the CPU, and their columns for the microphysics.

use crate::constants::Constants;
use crate::grid::Shape;
use crate::physics::{Block, Budget};
use crate::real::Real;
use crate::state::{Environment, State, Surface, TracerChange, WaterChange};
use crate::wsm5::scheme::Scheme;

/// A member: a run by itself, but for what it shares with the others.
#[derive(Debug)]
pub(super) struct Member<R> {
    /// WSM5, which diagnoses in any case.
    pub(super) scheme: Scheme<R>,
    pub(super) state: State<R>,
    pub(super) surface: Surface<R>,
    pub(super) changes: WaterChange,
    /// Changes of the passive tracers.
    pub(super) passive: Vec<TracerChange>,
}

impl<R: Real> Member<R> {
    pub(super) fn new(shape: Shape, (scheme, state): (Scheme<R>, State<R>)) -> Self {
        let passive = vec![TracerChange::default(); state.set().passive().len()];
        let surface = Surface::zeros(shape);
        Self { scheme, state, surface, changes: WaterChange::default(), passive }
    }

    /// Goes back to a state.
    pub(super) fn restore(&mut self, state: &State<R>) {
        for (mine, given) in self.state.fields_mut().iter_mut().zip(state.fields()) {
            mine.assign(given);
        }
        for plane in [&mut self.surface.rain, &mut self.surface.snow] {
            plane.fill(R::ZERO);
        }
        self.changes = WaterChange::default();
        self.passive.fill(TracerChange::default());
    }
}

/// The columns of a run for a scheme of warm rain.
pub(super) fn warm_rain<'a, R: Constants>(
    state: &'a mut State<R>,
    air: &'a Environment<R>,
    surface: &'a mut Surface<R>,
) -> Block<'a, R> {
    let Surface { rain, rainncv, fallen, fall_residual, clipped, .. } = surface;
    let [theta, qv, qc, qr, _, _] = state.moist_air_mut().each_mut().map(|field| field.view_mut());
    Block {
        theta_base: R::THETA_BASE,
        tracers: vec![theta, qv, qc, qr],
        air: [&air.rho, &air.exner, &air.dz].map(|field| field.view()).into(),
        surface: vec![rain.view_mut(), rainncv.view_mut()],
        budget: Some(Budget {
            fallen: fallen.view_mut(),
            fall_residual: fall_residual.view_mut(),
            clipped: clipped.view_mut(),
            weighing: None,
        }),
    }
}
