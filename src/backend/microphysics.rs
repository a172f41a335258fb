//! The microphysics that a run is made with.

use crate::physics::wsm5::Sedimentation;

/// A scheme of microphysics.
///
/// All work on the fields of [`State`](crate::state::State); those of ice and snow are carried in any case, and a
/// scheme without ice leaves them as they are. Reflectivity and effective radii are diagnosed in one way for all, by
/// the drops and flakes of WSM5: the Kessler scheme has no sizes of its own.
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
    /// All schemes; WSM5 in its default variant.
    pub const ALL: [Self; 2] = [Self::Wsm5(Sedimentation::SemiLagrangian), Self::Kessler];

    /// Its name.
    pub fn name(self) -> &'static str {
        match self {
            Self::Wsm5(_) => "WSM5",
            Self::Kessler => "Kessler",
        }
    }

    /// Its name among options.
    pub fn key(self) -> &'static str {
        match self {
            Self::Wsm5(_) => "wsm5",
            Self::Kessler => "kessler",
        }
    }

    /// The water that it knows, besides vapour.
    pub fn about(self) -> &'static str {
        match self {
            Self::Wsm5(_) => "WSM5: cloud water, rain, cloud ice and snow",
            Self::Kessler => "Kessler: cloud water and rain, without ice",
        }
    }

    /// Its number in WRF (`MP_PHYSICS`).
    pub fn number(self) -> i32 {
        match self {
            Self::Wsm5(_) => 4,
            Self::Kessler => 1,
        }
    }

    /// True if ice and snow take part.
    pub fn has_ice(self) -> bool {
        match self {
            Self::Wsm5(_) => true,
            Self::Kessler => false,
        }
    }

    /// The variant, in WSM5.
    pub fn variant(self) -> Option<Sedimentation> {
        match self {
            Self::Wsm5(fallout) => Some(fallout),
            Self::Kessler => None,
        }
    }

    /// The variant of WSM5, which diagnoses in any case.
    pub fn fallout(self) -> Sedimentation {
        self.variant().unwrap_or_default()
    }
}
