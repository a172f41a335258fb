//! Prescribed input: mass fluxes, the air that the microphysics reads, boundary values.
//!
//! An input gives them at the times of its frames. Between two frames they are linear in time, except the vertical
//! fluxes, which follow from the horizontal ones by continuity.
//!
//! # Decisions
//!
//! **Fluxes are those of the middle of a step, air and boundary values those of its end.** Each is taken at the time of
//! its use: at the time of a frame the boundary rows hold exactly the values of the frame. Horizontal fluxes are linear
//! in time; vertical ones follow from them by continuity in every step, since three separately rounded fluxes would not
//! close the mass balance of a cell.

pub mod blend;
mod continuity;
#[cfg(feature = "gpu")]
pub mod gpu;

use std::sync::Arc;

use ndarray::Array3;

use crate::dry_mass::MassFlux;
use crate::grid::Grid;
use crate::real::Real;
use crate::state::{BoundaryValues, Environment};
use blend::{between, blend};
pub use continuity::Continuity;

/// Prescribed input at one time.
#[derive(Clone, Debug)]
pub struct Forcing<R> {
    /// Mass fluxes through the faces, kg s⁻¹.
    pub flux: MassFlux<R>,
    /// The air that the microphysics reads.
    pub environment: Environment<R>,
    /// Boundary values of the fields of [`State`](crate::state::State), in its order and units; `None` for the value of
    /// the neighbour inside.
    pub inflow: Vec<Option<BoundaryValues<R>>>,
    /// Photolysis frequencies of the input in the order of a mechanism, s⁻¹; none where the input does not give the light.
    /// Shape of each: (nz, ny, nx).
    pub photolysis: Vec<Array3<R>>,
}

/// A time between two frames of the input, or after the last frame.
///
/// The frames are shared, not copied.
#[derive(Clone, Debug)]
pub struct TimeInterpolant<R> {
    /// Index of the earlier frame, which changes whenever the two frames do.
    pub number: usize,
    /// The earlier frame.
    pub before: Arc<Forcing<R>>,
    /// The later frame; `None` if the earlier one is valid from here on.
    pub after: Option<Arc<Forcing<R>>>,
    /// Weight of the later frame for the fluxes, 0 to 1.
    pub flux_weight: f64,
    /// Weight of the later frame for the air and the boundary values, 0 to 1.
    pub air_weight: f64,
    /// The time of the air, s since the first frame.
    pub seconds: f64,
    /// Times of the two frames, s since the first one; twice that of the frame before where it holds from here on.
    pub times: [f64; 2],
}

/// Weight of the later of two frames at a time, 0 to 1; 0 before both, and where there is only one.
pub(crate) fn weight_between([before, after]: [f64; 2], seconds: f64) -> f64 {
    if after > before { ((seconds - before) / (after - before)).clamp(0.0, 1.0) } else { 0.0 }
}

impl<R: Real> TimeInterpolant<R> {
    /// The two frames; the earlier one twice if there is no later one.
    fn frames(&self) -> [&Forcing<R>; 2] {
        [&self.before, self.after.as_ref().unwrap_or(&self.before)]
    }

    /// The buffer for the forcing at a time between two frames, without the light, which is interpolated when the
    /// chemistry is due; `None` where a frame holds, which becomes the present forcing then.
    pub(crate) fn buffer<'a>(
        &self,
        present: &'a mut Arc<Forcing<R>>,
    ) -> Option<&'a mut Forcing<R>> {
        if self.after.is_none() {
            *present = Arc::clone(&self.before);
            return None;
        }
        if Arc::get_mut(present).is_none() {
            let Forcing { flux, environment, inflow, .. } = &**present;
            let (flux, environment, inflow) = (flux.clone(), environment.clone(), inflow.clone());
            *present = Arc::new(Forcing { flux, environment, inflow, photolysis: Vec::new() });
        }
        let buffer = Arc::get_mut(present)?;
        buffer.photolysis.clear();
        Some(buffer)
    }

    /// The time of a frame that is always valid.
    pub fn lasting(forcing: &Arc<Forcing<R>>) -> Self {
        Self {
            number: 0,
            before: Arc::clone(forcing),
            after: None,
            flux_weight: 0.0,
            air_weight: 0.0,
            seconds: 0.0,
            times: [0.0; 2],
        }
    }

    /// The same at a given time, s since the first frame.
    #[must_use]
    pub fn at(self, seconds: f64) -> Self {
        Self { seconds, ..self }
    }

    /// The air of a cell `[k, j, i]`: rho (kg m⁻³), Exner function (1), p (Pa) and dz (m).
    pub fn air_at(&self, at: [usize; 3]) -> [R; 4] {
        let of = |e: &Environment<R>| [e.rho[at], e.exner[at], e.p[at], e.dz[at]];
        let [a, b] = self.frames().map(|frame| of(&frame.environment));
        let weight = R::of(self.air_weight);
        std::array::from_fn(|n| between(a[n], b[n], weight))
    }

    /// The same in double precision, with exact values.
    pub fn widened(&self) -> TimeInterpolant<f64> {
        TimeInterpolant {
            number: self.number,
            before: Arc::new(self.before.widened()),
            after: self.after.as_ref().map(|after| Arc::new(after.widened())),
            flux_weight: self.flux_weight,
            air_weight: self.air_weight,
            seconds: self.seconds,
            times: self.times,
        }
    }
}

impl<R: Real> Forcing<R> {
    /// Sets all forcing of a step.
    ///
    /// The vertical fluxes follow from continuity: separately rounded fluxes would not close the mass balance of a
    /// cell.
    pub fn set(&mut self, moment: &TimeInterpolant<R>, continuity: &mut Continuity) {
        let [a, b] = moment.frames();
        blend(&mut self.flux.x, &a.flux.x, &b.flux.x, moment.flux_weight);
        blend(&mut self.flux.y, &a.flux.y, &b.flux.y, moment.flux_weight);
        continuity.close(&mut self.flux);
        self.set_air(moment);
        let weight = moment.air_weight;
        for ((out, a), b) in self.inflow.iter_mut().zip(&a.inflow).zip(&b.inflow) {
            let (Some(out), Some(a), Some(b)) = (out, a, b) else { continue };
            for ((out, a), b) in out.sides_mut().into_iter().zip(a.sides()).zip(b.sides()) {
                blend(out, a, b, weight);
            }
        }
    }

    /// Sets the air only.
    pub(crate) fn set_air(&mut self, moment: &TimeInterpolant<R>) {
        let [a, b] = moment.frames().map(|frame| frame.environment.fields());
        for ((out, a), b) in self.environment.fields_mut().zip(a).zip(b) {
            blend(out, a, b, moment.air_weight);
        }
    }

    fn widened(&self) -> Forcing<f64> {
        let wide = |x: &R| x.f64();
        let sides = |values: &BoundaryValues<R>| values.map(|side| side.map(wide));
        Forcing {
            flux: MassFlux {
                x: self.flux.x.map(wide),
                y: self.flux.y.map(wide),
                z: self.flux.z.map(wide),
            },
            environment: self.environment.map(|field| field.map(wide)),
            inflow: self.inflow.iter().map(|values| values.as_ref().map(sides)).collect(),
            photolysis: self.photolysis.iter().map(|field| field.map(wide)).collect(),
        }
    }

    /// Prescribed input for a part of the grid.
    ///
    /// # Panics
    ///
    /// When this is not of the global grid of the part.
    #[must_use]
    pub fn part(&self, part: &Grid) -> Self {
        let of_part = |values: &Option<BoundaryValues<R>>| values.as_ref().map(|x| x.part(part));
        Self {
            flux: self.flux.part(part),
            environment: self.environment.map(|field| part.cells(field)),
            inflow: self.inflow.iter().map(of_part).collect(),
            photolysis: self.photolysis.iter().map(|field| part.cells(field)).collect(),
        }
    }
}
