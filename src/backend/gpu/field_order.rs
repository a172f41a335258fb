//! The order of the tracers of all states in the arrays of the device.

use std::sync::Arc;

use crate::advection::Limiter;
use crate::constituents::Constituents;
use crate::state::gpu::member_layout::MemberLayout;

/// The places of the fields of the states among all fields on the device.
///
/// A transport wants the tracers without limiter first and the microphysics the water of a state in one piece:
/// first the potential temperatures of all states, then what else goes without limiter, then the water of one state
/// after the other with its properties, then passive tracers with the limiter of the run, and last those with a limiter of their own,
/// which have a transport of their own.
#[derive(Clone, Debug)]
pub(super) struct FieldOrder {
    pub(super) set: Arc<Constituents>,
    pub(super) states: usize,
    /// Numbers of the passive tracers by their limiters: none, that of the run, and the others.
    groups: Vec<(Limiter, Vec<usize>)>,
}

/// Tracers of all states that follow one another and that one transport carries.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct TracerGroup {
    /// Place of the first.
    pub(super) first: usize,
    /// Their number, and that of those among them without limiter.
    pub(super) tracers: [usize; 2],
    /// That of the others.
    pub(super) limiter: Limiter,
}

impl FieldOrder {
    /// The order for so many states of a set, in a run with this limiter.
    pub(super) fn new(set: &Arc<Constituents>, limiter: Limiter, states: usize) -> Self {
        let mut groups = vec![(Limiter::None, Vec::new()), (limiter, Vec::new())];
        for (number, tracer) in set.iter().enumerate().skip(set.carried()) {
            let own = tracer.limiter(limiter);
            match groups.iter_mut().find(|(of_group, _)| *of_group == own) {
                Some((_, numbers)) => numbers.push(number),
                None => groups.push((own, vec![number])),
            }
        }
        Self { set: Arc::clone(set), states, groups }
    }

    /// Number of the passive tracers without limiter.
    fn unlimited(&self) -> usize {
        self.groups[0].1.len()
    }

    /// Fields of all states.
    pub(super) fn len(&self) -> usize {
        self.states * self.set.len()
    }

    /// The group that the transport of the water carries, and those of the others behind it.
    pub(super) fn groups(&self, limiter: Limiter) -> Vec<TracerGroup> {
        let of_states = |tracers: usize| self.states * tracers;
        let unlimited = 1 + self.unlimited();
        let main = unlimited + self.set.limited().len() + self.groups[1].1.len();
        let tracers = [main, unlimited].map(of_states);
        let mut groups = vec![TracerGroup { first: 0, tracers, limiter }];
        for (limiter, numbers) in &self.groups[2..] {
            let first = groups.iter().map(|group| group.tracers[0]).sum();
            let tracers = [of_states(numbers.len()), 0];
            groups.push(TracerGroup { first, tracers, limiter: *limiter });
        }
        groups
    }

    /// The places of the fields of the scheme of a state.
    pub(super) fn indices(&self, state: usize) -> MemberLayout {
        let before_water = self.states * (1 + self.unlimited());
        MemberLayout { number: state, before_water, ..MemberLayout::alone(&self.set) }
    }

    /// The place of a field of a state.
    pub(super) fn place(&self, state: usize, field: usize) -> usize {
        if field < self.set.carried() {
            return self.indices(state).place(field);
        }
        let mut in_order = self.groups.iter().flat_map(|(_, numbers)| numbers);
        let at = in_order.position(|number| *number == field).expect("a tracer of the set");
        // Behind the potential temperatures, and what is limited behind the water too.
        let water = if at < self.unlimited() { 0 } else { self.set.limited().len() };
        self.states * (1 + water + at) + state
    }

    /// Which state a place belongs to, and which field of it lies there.
    pub(super) fn at(&self, place: usize) -> [usize; 2] {
        let fields =
            (0..self.set.len()).flat_map(|field| (0..self.states).map(move |s| [s, field]));
        let found = fields.into_iter().find(|&[state, field]| self.place(state, field) == place);
        found.unwrap_or_default()
    }

    /// The number of the tracer at each place.
    pub(super) fn numbers(&self) -> Vec<usize> {
        let mut numbers = vec![0; self.len()];
        for field in 0..self.set.len() {
            for state in 0..self.states {
                numbers[self.place(state, field)] = field;
            }
        }
        numbers
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::constituents::Constituent;
    use crate::physics::registry::usual_set;

    fn passive(name: &'static str, limiter: Option<Limiter>) -> Constituent {
        Constituent { limiter, ..Constituent::passive(name) }
    }

    #[test]
    fn every_field_has_one_place_and_groups_hold_their_limiters() {
        let set = Arc::new(usual_set().with_passive([
            passive("a", None),
            passive("b", Some(Limiter::None)),
            passive("c", Some(Limiter::Monotonic)),
            passive("d", Some(Limiter::PositiveDefinite)),
            passive("e", Some(Limiter::Monotonic)),
        ]));
        for of_run in [Limiter::None, Limiter::PositiveDefinite, Limiter::Monotonic] {
            for states in [1, 3] {
                let order = FieldOrder::new(&set, of_run, states);
                let mut seen = vec![false; order.len()];
                let groups = order.groups(of_run);
                for state in 0..states {
                    for field in 0..set.len() {
                        let place = order.place(state, field);
                        assert!(!std::mem::replace(&mut seen[place], true), "{place} twice");
                        assert_eq!(order.at(place), [state, field]);
                        assert_eq!(order.numbers()[place], field);
                        let group = groups
                            .iter()
                            .find(|g| (g.first..g.first + g.tracers[0]).contains(&place))
                            .expect("a group for every tracer");
                        let is_unlimited = place - group.first < group.tracers[1];
                        let found = if is_unlimited { Limiter::None } else { group.limiter };
                        assert_eq!(
                            found,
                            set[field].limiter(of_run),
                            "{field} in a run with {of_run:?}"
                        );
                    }
                }
            }
        }
    }
}
