//! Several runs that the same winds drive: the members of an ensemble.

use std::sync::Arc;

use super::cpu::{Cpu, Own};
use super::{
    Backend, Captured, Computing, Microphysics, PhaseTimes, Precipitation, WaterChange,
    check_finite,
};
use crate::advection::Limiter;
use crate::error::Result;
use crate::forcing::{Forcing, Moment};
use crate::grid::{Grid, Shape};
use crate::mass::MassCoordinate;
use crate::primitives::reduce::Number;
use crate::real::Real;
use crate::state::{State, Surface, TracerChange};
use crate::tracers::TracerSet;
use crate::wsm5::scheme::Scheme;

/// What a member starts with.
#[derive(Clone, Debug)]
pub struct Start<R> {
    /// Its microphysics.
    pub scheme: Scheme<R>,
    /// Its initial state.
    pub state: State<R>,
}

/// Takes the frames of the members, in the order of their numbers; whether more is wanted.
pub type Take<'a, R> = &'a mut dyn FnMut(usize, Captured<R>) -> bool;

/// One interface to the members of an ensemble on CPU and GPU.
///
/// What a member gets has the bits of a run by itself on the same backend. The order of calls is that of
/// a [`Backend`].
///
/// # Errors
///
/// Any method fails with [`Error::Gpu`](crate::error::Error::Gpu) when a device does, be it in what an earlier call
/// asked for.
pub trait Members<R> {
    /// How many there are.
    fn count(&self) -> usize;

    /// What computes them, as `--backend` takes it.
    fn kind(&self) -> &'static str;

    /// Where they are computed, for the head of a table.
    fn describe(&self) -> String;

    /// Name of the device: what its maker calls it.
    fn device(&self) -> String;

    /// Sets what drives the steps of all members from here on, as [`Backend::drive`].
    ///
    /// # Errors
    ///
    /// Those of the device.
    fn drive(&mut self, moment: &Moment<R>) -> Result<()>;

    /// One time step of `dt` seconds of all members.
    ///
    /// # Errors
    ///
    /// Those of the device.
    fn step(&mut self, dt: f64) -> Result<()>;

    /// Fails where a field of a member has become infinite or not a number, as [`Backend::check`].
    ///
    /// # Errors
    ///
    /// [`Error::Member`](crate::error::Error::Member) with the number of the member, and those of the device.
    fn check(&mut self, step: usize, wait: bool) -> Result<()>;

    /// Makes a frame of output of each member, as [`Backend::capture`] does, and hands all of them
    /// over; a few are in memory at a time. Ends early where no more is wanted.
    ///
    /// # Errors
    ///
    /// [`Error::Member`](crate::error::Error::Member) for a value that is not finite, and those of the device.
    fn frames(&mut self, moment: &Moment<R>, take: Take<'_, R>) -> Result<()>;

    /// Precipitation of a member inside the specified and open rows since the start.
    ///
    /// # Errors
    ///
    /// Those of the device.
    fn precipitation(&mut self, member: usize) -> Result<Precipitation>;

    /// Time spent on all members together.
    ///
    /// # Errors
    ///
    /// Those of the device.
    fn times(&mut self) -> Result<PhaseTimes>;
}

/// Members on the CPU: one after the other, each on all cores.
#[derive(Debug)]
pub struct MembersOnCpu<R: Real> {
    /// What they share; what belongs to a member is there for as long as it is looked at.
    shared: Cpu<R>,
    members: Vec<Own<R>>,
}

impl<R: Computing> MembersOnCpu<R> {
    /// Takes over what the members start with; `forcing` drives the steps until another one is given.
    pub fn new(
        grid: &Grid,
        coordinate: &MassCoordinate,
        (limiter, microphysics): (Limiter, Microphysics),
        forcing: &Arc<Forcing<R>>,
        starts: impl IntoIterator<Item = Start<R>>,
    ) -> Self {
        let members: Vec<Own<R>> = starts
            .into_iter()
            .map(|Start { scheme, state }| Own {
                scheme,
                passive: vec![TracerChange::default(); state.set().passive().len()],
                state,
                surface: Surface::zeros(grid.shape),
                changes: WaterChange::default(),
            })
            .collect();
        let set = members.first().map_or_else(TracerSet::moist_air, |x| Arc::clone(x.state.set()));
        let nobody = State::zeros_of(set, Shape { nx: 0, ny: 0, nz: 0 });
        Self { shared: Cpu::new(grid, coordinate, limiter, microphysics, forcing, nobody), members }
    }

    /// Has something done by the backend as it is for a member.
    fn as_member<T>(&mut self, member: usize, work: impl FnOnce(&mut Cpu<R>) -> T) -> T {
        let Self { shared, members } = self;
        shared.exchange(&mut members[member]);
        let done = work(shared);
        shared.exchange(&mut members[member]);
        done
    }
}

impl<R> Members<R> for MembersOnCpu<R>
where
    R: Computing + Number,
{
    fn count(&self) -> usize {
        self.members.len()
    }

    fn kind(&self) -> &'static str {
        self.shared.kind()
    }

    fn describe(&self) -> String {
        self.shared.describe()
    }

    fn device(&self) -> String {
        self.shared.device()
    }

    fn drive(&mut self, moment: &Moment<R>) -> Result<()> {
        self.shared.drive(moment)
    }

    fn step(&mut self, dt: f64) -> Result<()> {
        (0..self.count()).try_for_each(|member| self.as_member(member, |cpu| cpu.step(dt)))
    }

    fn check(&mut self, step: usize, _wait: bool) -> Result<()> {
        self.members.iter().enumerate().try_for_each(|(number, member)| {
            check_finite(&member.state, step).map_err(|error| error.of_member(number))
        })
    }

    fn frames(&mut self, moment: &Moment<R>, take: Take<'_, R>) -> Result<()> {
        for member in 0..self.count() {
            let frame = self.as_member(member, |cpu| {
                cpu.capture(moment)?;
                cpu.collect(true)
            })?;
            if frame.is_some_and(|frame| !take(member, frame)) {
                break;
            }
        }
        Ok(())
    }

    fn precipitation(&mut self, member: usize) -> Result<Precipitation> {
        self.as_member(member, Backend::precipitation)
    }

    fn times(&mut self) -> Result<PhaseTimes> {
        self.shared.times()
    }
}
