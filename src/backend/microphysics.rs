//! The microphysics that a run is made with.

use crate::wsm5::Sedimentation;

/// A scheme of microphysics.
///
/// Both work on the fields of [`State`](crate::state::State); those of ice and snow are carried in any case, and the
/// Kessler scheme leaves them as they are. Reflectivity and effective radii are diagnosed in one way for both, by the
/// drops and flakes of WSM5: the Kessler scheme has no sizes of its own.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Microphysics {
    /// WSM5, in one of its variants.
    Wsm5(Sedimentation),
    /// The warm rain of Kessler.
    Kessler,
}

impl Default for Microphysics {
    fn default() -> Self {
        Self::Wsm5(Sedimentation::default())
    }
}

impl From<Sedimentation> for Microphysics {
    fn from(fallout: Sedimentation) -> Self {
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
    pub fn fallout(self) -> Sedimentation {
        match self {
            Self::Wsm5(fallout) => fallout,
            Self::Kessler => Sedimentation::default(),
        }
    }
}
