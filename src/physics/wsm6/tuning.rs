//! Parameters of the scheme: those of WSM5, and those of its rimed ice.

use super::shared::params::Tuning;
use super::shared::tuning::tuning;
use crate::physics::scheme::Parameter;

/// Kind of the rimed ice of the scheme (WRF `hail_opt`). They differ in intercept, density, fall speed and smallest size.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum RimedIce {
    /// Many particles of 500 kg m⁻³.
    #[default]
    Graupel,
    /// Few particles of 700 kg m⁻³.
    Hail,
}

impl RimedIce {
    /// All kinds.
    pub const ALL: [Self; 2] = [Self::Graupel, Self::Hail];
}

tuning! {
    /// Size distribution and fall of rimed ice, in the units of their WRF names; by default those of graupel.
    RimedIceTuning;
    /// Intercept of the size distribution of graupel or hail (WRF `n0g`), m⁻⁴.
    n0g: f32 = 4.0e6, Some("m-4"), [1e2, 1e10];
    /// Density of graupel or hail (WRF `deng`), kg m⁻³.
    graupel_density: f32 = 500.0, Some("kg m-3"), [50.0, 917.0];
    /// Factor of the fall speed of graupel or hail, v = a D^b (WRF `avtg`), m¹⁻ᵇ s⁻¹.
    fall_graupel: f32 = 330.0, None, [1.0, 1e5];
    /// Exponent of the fall speed of graupel or hail (WRF `bvtg`), 1.
    fall_graupel_exponent: f64 = 0.8, Some("1"), [0.0, 2.0];
    /// Largest slope of the size distribution of graupel or hail (WRF `lamdagmax`), m⁻¹.
    slope_graupel_max: f32 = 6.0e4, Some("m-1"), [1e3, 1e7];
}

/// Hail, in the same units.
const HAIL: RimedIceTuning = RimedIceTuning {
    n0g: 4.0e4,
    graupel_density: 700.0,
    fall_graupel: 285.0,
    fall_graupel_exponent: 0.8,
    slope_graupel_max: 2.0e4,
};

impl From<RimedIce> for RimedIceTuning {
    fn from(kind: RimedIce) -> Self {
        match kind {
            RimedIce::Graupel => Self::default(),
            RimedIce::Hail => HAIL,
        }
    }
}

/// Number of all parameters.
const COUNT: usize = Tuning::PARAMETERS.len() + RimedIceTuning::PARAMETERS.len();

/// All parameters, with the defaults of graupel.
pub static PARAMETERS: [Parameter; COUNT] = {
    let mut all = [Tuning::PARAMETERS[0]; COUNT];
    let (common, own) = (Tuning::PARAMETERS, RimedIceTuning::PARAMETERS);
    let mut at = 0;
    while at < COUNT {
        all[at] = if at < common.len() { common[at] } else { own[at - common.len()] };
        at += 1;
    }
    all
};
