//! The microphysics that a run is made with.

use ndarray::Array2;

use crate::constants::Constants;
use crate::mass::Layered;
use crate::physics::{Block, Budget};
use crate::state::{Environment, State, Surface};
use crate::wsm5::Fallout;

/// A scheme of microphysics.
///
/// Both work on the fields of [`State`](crate::state::State); those of ice and snow are carried in any case, and the
/// Kessler scheme leaves them as they are. Reflectivity and effective radii are diagnosed in one way for both, by the
/// drops and flakes of WSM5: the Kessler scheme has no sizes of its own.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Microphysics {
    /// WSM5, in one of its variants.
    Wsm5(Fallout),
    /// The warm rain of Kessler.
    Kessler,
}

impl Default for Microphysics {
    fn default() -> Self {
        Self::Wsm5(Fallout::default())
    }
}

impl From<Fallout> for Microphysics {
    fn from(fallout: Fallout) -> Self {
        Self::Wsm5(fallout)
    }
}

impl Microphysics {
    /// Its name.
    pub fn name(self) -> &'static str {
        match self {
            Self::Wsm5(_) => "WSM5",
            Self::Kessler => "Kessler",
        }
    }

    /// Its number in WRF (`MP_PHYSICS`).
    pub fn number(self) -> i32 {
        match self {
            Self::Wsm5(_) => 4,
            Self::Kessler => 1,
        }
    }

    /// The variant of WSM5, which diagnoses in any case.
    pub fn fallout(self) -> Fallout {
        match self {
            Self::Wsm5(fallout) => fallout,
            Self::Kessler => Fallout::default(),
        }
    }
}

/// The columns of a run for the Kessler scheme.
pub(super) fn warm_rain<'a, R: Constants>(
    state: &'a mut State<R>,
    air: &'a Environment<R>,
    surface: &'a mut Surface<R>,
    (mass, per_area, mass_mismatch): (&'a Layered<R>, &'a Array2<R>, &'a mut Array2<R>),
) -> Block<'a, R> {
    let Surface { rain, rainncv, fallen, fall_residual, clipped, .. } = surface;
    let [theta, qv, qc, qr, _, _] = state.moist_air_mut().each_mut().map(|field| field.view_mut());
    let terms = [fallen, fall_residual, clipped];
    Block {
        theta_base: R::THETA_BASE,
        tracers: vec![theta, qv, qc, qr],
        air: [&air.rho, &air.exner, &air.dz].map(|field| field.view()).into(),
        surface: vec![rain.view_mut(), rainncv.view_mut()],
        budget: Some(Budget::new(terms, mass_mismatch, mass, per_area)),
    }
}
