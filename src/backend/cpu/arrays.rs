//! Arrays of a run on the CPU: the fields of all members, and the air and winds that drive them.

use std::sync::Arc;

use crate::backend::nan_check::check_owned;
use crate::dry_mass::{AirMass, MassCoordinate};
use crate::error::{Error, Result};
use crate::forcing::{Continuity, Forcing, TimeInterpolant};
use crate::grid::Grid;
use crate::real::Real;
use crate::state::{State, Surface};

/// The fields of all members, and the air and winds that drive them.
#[derive(Debug)]
pub(super) struct Arrays<R> {
    pub(super) grid: Grid,
    /// Mass of the cells and capacity of the faces.
    pub(super) air: AirMass<R>,
    pub(super) members: Vec<MemberFields<R>>,
    /// Winds, air and sides that drive the steps: a frame of the input, shared, or one made here between two frames.
    pub(super) present: Arc<Forcing<R>>,
    continuity: Continuity,
}

/// The fields of a member.
#[derive(Debug)]
pub(super) struct MemberFields<R> {
    pub(super) state: State<R>,
    pub(super) surface: Surface<R>,
}

impl<R: Real> Arrays<R> {
    pub(super) fn new(
        grid: &Grid,
        coordinate: &MassCoordinate,
        forcing: &Arc<Forcing<R>>,
        states: impl IntoIterator<Item = State<R>>,
    ) -> Self {
        let fields = |state: State<R>| {
            let surface = Surface::zeros(state.set(), grid.shape);
            MemberFields { state, surface }
        };
        Self {
            grid: *grid,
            air: AirMass::new(grid, coordinate),
            members: states.into_iter().map(fields).collect(),
            present: Arc::clone(forcing),
            continuity: Continuity::new(coordinate),
        }
    }

    /// Sets the air and the winds at a time: between two frames of the input, or of a frame.
    pub(super) fn show(&mut self, moment: &TimeInterpolant<R>) {
        if let Some(forcing) = moment.buffer(&mut self.present) {
            forcing.set(moment, &mut self.continuity);
        }
    }

    /// Sets the air only.
    pub(super) fn show_air(&mut self, moment: &TimeInterpolant<R>) {
        if let Some(forcing) = moment.buffer(&mut self.present) {
            forcing.set_air(moment);
        }
    }

    /// Goes back to the states of all members, with nothing fallen.
    pub(super) fn restore(&mut self, states: &[State<R>]) {
        assert_eq!(states.len(), self.members.len(), "a state for each member");
        for (MemberFields { state, surface }, given) in self.members.iter_mut().zip(states) {
            for (mine, given) in state.fields_mut().iter_mut().zip(given.fields()) {
                mine.assign(given);
            }
            for plane in surface.planes_mut() {
                plane.fill(R::ZERO);
            }
        }
    }

    /// The fields of the member of a run of one.
    pub(super) fn sole_member(&self) -> &MemberFields<R> {
        assert_eq!(self.members.len(), 1, "an output of a run of one");
        &self.members[0]
    }

    /// Fails if a field of a member has become infinite or NaN.
    pub(super) fn check(&self, step: usize) -> Result<()> {
        self.members.iter().enumerate().try_for_each(|(number, member)| {
            check_owned(&self.grid, &member.state, step).map_err(|e| self.with_member(number, e))
        })
    }

    /// An error with the number of its member, where there are several.
    fn with_member(&self, member: usize, error: Error) -> Error {
        if self.members.len() > 1 { error.of_member(member) } else { error }
    }
}

#[cfg(test)]
mod tests {
    use super::super::fixture::{SHAPE, coordinate, forcing, grid};
    use super::*;
    use crate::physics::registry::usual_set;

    fn arrays(members: usize) -> Arrays<f64> {
        let states = (0..members).map(|_| State::zeros(&usual_set(), SHAPE));
        Arrays::new(&grid(), &coordinate(), &Arc::new(forcing(1.0)), states)
    }

    fn between(after: Option<f64>, weight: f64) -> TimeInterpolant<f64> {
        TimeInterpolant {
            after: after.map(|rho| Arc::new(forcing(rho))),
            air_weight: weight,
            ..TimeInterpolant::lasting(&Arc::new(forcing(1.0)))
        }
    }

    #[test]
    fn air_is_interpolated_and_a_frame_that_holds_is_shared() {
        let mut arrays = arrays(1);
        let moment = between(Some(3.0), 0.25);
        arrays.show_air(&moment);
        assert!(arrays.present.environment.rho.iter().all(|rho| *rho == 1.5));
        arrays.show(&moment);
        assert!(arrays.present.environment.rho.iter().all(|rho| *rho == 1.5));
        // The frames themselves stay as they are.
        assert!(moment.before.environment.rho.iter().all(|rho| *rho == 1.0));
        let holding = between(None, 0.0);
        arrays.show(&holding);
        assert!(Arc::ptr_eq(&arrays.present, &holding.before));
    }

    #[test]
    fn restored_members_have_their_own_states_and_dry_ground() {
        let mut arrays = arrays(2);
        let states = [1.0, 2.0]
            .map(|value| State::zeros(&usual_set(), SHAPE).into_map(|field| field + value));
        arrays.members[1].surface.named_mut("rain").fill(5.0);
        arrays.restore(&states);
        for (MemberFields { state, surface }, given) in arrays.members.iter().zip(&states) {
            assert_eq!(state.fields(), given.fields());
            assert_eq!(surface.named("rain").sum(), 0.0);
        }
    }

    #[test]
    fn a_blow_up_names_its_member_where_there_are_several() {
        for (members, is_named) in [(1, false), (2, true)] {
            let mut arrays = arrays(members);
            arrays.check(3).expect("finite");
            arrays.members[members - 1].state.fields_mut()[1][[0, 1, 2]] = f64::NAN;
            let error = arrays.check(3).expect_err("not a number");
            assert_eq!(matches!(error, Error::Member { .. }), is_named, "{error:?}");
        }
    }
}
