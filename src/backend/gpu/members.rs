//! The members of an ensemble on the device: carried by the winds together, and then each with its own
//! microphysics.

use super::{OnDevice, OnGpu, Setting};
use crate::backend::members::{Members, Take};
use crate::backend::{Backend, FRAMES_IN_FLIGHT, PhaseTimes, Precipitation};
use crate::device::Gpu;
use crate::error::Result;
use crate::forcing::Moment;
use crate::state::State;
use crate::wsm5::scheme::Scheme;

/// Members on the GPU. In a step the tracers of all of them are one set, so that masses and fluxes are
/// read once, and the calls of the microphysics run side by side.
#[derive(Debug)]
pub struct MembersOnGpu<R> {
    /// All members; what it is asked for as a backend of one run would be that of the first.
    all: OnGpu<R>,
}

impl<R: OnDevice> MembersOnGpu<R> {
    /// Takes the memory, compiles the kernels, and copies the states to the device, of which `start`
    /// makes one after the other. The variant of all schemes is that of the setting.
    ///
    /// # Errors
    ///
    /// [`Error::Gpu`](crate::error::Error::Gpu) when the memory does not suffice, with the number of
    /// members that would fit, and when the kernels are not made for the grid.
    pub fn new(
        gpu: &Gpu,
        setting: &Setting<'_>,
        schemes: &[Scheme<R>],
        mut start: impl FnMut(usize) -> State<R>,
    ) -> Result<Self> {
        let mut all = OnGpu::of_members(gpu, setting, schemes)?;
        for member in 0..schemes.len() {
            all.put(member, &start(member))?;
        }
        Ok(Self { all })
    }

    /// Collects the oldest frame under way; whether more is wanted.
    fn hand_over(&mut self, take: Take<'_, R>) -> Result<bool> {
        let Some(&(_, member)) = self.all.captured.front() else { return Ok(true) };
        let frame = self.all.end_frame(true)?;
        Ok(frame.is_none_or(|frame| take(member, frame)))
    }
}

impl<R: OnDevice> Members<R> for MembersOnGpu<R> {
    fn count(&self) -> usize {
        self.all.members.len()
    }

    fn kind(&self) -> &'static str {
        self.all.kind()
    }

    fn describe(&self) -> String {
        self.all.describe()
    }

    fn device(&self) -> String {
        self.all.device()
    }

    fn drive(&mut self, moment: &Moment<R>) -> Result<()> {
        self.all.drive(moment)
    }

    fn step(&mut self, dt: f64) -> Result<()> {
        self.all.step(dt)
    }

    fn check(&mut self, step: usize, wait: bool) -> Result<()> {
        self.all.check(step, wait)
    }

    fn frames(&mut self, moment: &Moment<R>, take: Take<'_, R>) -> Result<()> {
        let mut is_wanted = true;
        for member in 0..self.count() {
            // One travels while the next one is made.
            if self.all.frames_under_way() == FRAMES_IN_FLIGHT {
                is_wanted = self.hand_over(take)?;
            }
            if !is_wanted {
                break;
            }
            self.all.begin_frame(member, moment)?;
        }
        while self.all.frames_under_way() > 0 {
            if is_wanted {
                is_wanted = self.hand_over(take)?;
            } else {
                self.all.end_frame(true)?;
            }
        }
        Ok(())
    }

    fn precipitation(&mut self, member: usize) -> Result<Precipitation> {
        self.all.hand_over()?;
        self.all.precipitation_of(member)
    }

    fn times(&mut self) -> Result<PhaseTimes> {
        self.all.times()
    }
}
