//! Settings of launchers that can be tuned without changing results.
//!
//! To add a setting: a variant of [`Knob`] and of [`Setting`], its candidates beside its launcher, which looks up
//! measured settings there, and its timing in `nwp-mini tune`.

use std::fmt;

use crate::advection::gpu::{self as transport, March};
use crate::chemistry::gpu::tuning as chemistry;
use crate::device::Gpu;
use crate::device::tuning::Choice;
use crate::real::Precision;
use crate::wsm5::Sedimentation;
use crate::wsm5::gpu::{self as clouds, Mapping};

/// A setting that can be tuned without changing results.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Knob {
    /// Launch configuration of the transport.
    Transport,
    /// Mapping of columns to threads in the microphysics, for a variant of sedimentation.
    Clouds(Sedimentation),
}

/// Setting of a knob.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Setting {
    /// A setting of [`Knob::Transport`].
    Transport(March),
    /// A setting of [`Knob::Clouds`].
    Clouds(Mapping),
}

impl Knob {
    /// All knobs.
    pub const ALL: [Self; 3] = [
        Self::Transport,
        Self::Clouds(Sedimentation::SemiLagrangian),
        Self::Clouds(Sedimentation::Substepped),
    ];

    /// Its name in files.
    pub fn name(self) -> &'static str {
        match self {
            Self::Transport => transport::tuning::NAME,
            Self::Clouds(fallout) => clouds::tuning::name(fallout),
        }
    }

    /// Returns `true` if a choice is about a knob and one of its settings, or about a mechanism of reactions, which
    /// are not known before they are read.
    pub fn is_possible(choice: &Choice) -> bool {
        if chemistry::is_possible(choice) {
            return true;
        }
        let knob = Self::ALL.into_iter().find(|knob| knob.name() == choice.knob);
        let all = [Precision::F32, Precision::F64];
        let precision = all.into_iter().find(|real| real.name() == choice.precision);
        let (Some(knob), Some(precision)) = (knob, precision) else { return false };
        knob.parse(&choice.setting, precision, choice.nz).is_some()
    }

    /// The setting measured to be the fastest on this GPU; `None` if none has been measured.
    pub fn measured(
        self,
        gpu: &Gpu,
        precision: Precision,
        nz: usize,
        columns: usize,
    ) -> Option<Setting> {
        match self {
            Self::Transport => {
                transport::tuning::measured(gpu, precision, nz, columns).map(Setting::Transport)
            }
            Self::Clouds(fallout) => {
                let measured = clouds::tuning::measured(gpu, precision, fallout, nz, columns);
                measured.map(Setting::Clouds)
            }
        }
    }

    /// Reads a setting as [`Setting`] writes it; `None` if the text is not one, or not for this number of levels.
    pub fn parse(self, text: &str, precision: Precision, nz: usize) -> Option<Setting> {
        match self {
            Self::Transport => transport::tuning::parse(text, precision).map(Setting::Transport),
            Self::Clouds(fallout) => {
                clouds::tuning::parse(text, precision, fallout, nz).map(Setting::Clouds)
            }
        }
    }

    /// The built-in setting, used if none has been measured.
    pub fn built_in(self, precision: Precision, nz: usize, columns: usize) -> Setting {
        match self {
            Self::Transport => Setting::Transport(March::choose(columns, precision)),
            Self::Clouds(fallout) => {
                Setting::Clouds(Mapping::choose(columns, precision, fallout, nz))
            }
        }
    }

    /// First candidates, of all shapes.
    pub fn candidates(self, precision: Precision, nz: usize) -> Vec<Setting> {
        match self {
            Self::Transport => {
                let marches = transport::tuning::candidates(precision, nz);
                marches.into_iter().map(Setting::Transport).collect()
            }
            Self::Clouds(fallout) => {
                let mappings = clouds::tuning::candidates(precision, fallout, nz);
                mappings.into_iter().map(Setting::Clouds).collect()
            }
        }
    }

    /// Further candidates: the same shape with other launch bounds.
    pub fn variants(self, setting: Setting, precision: Precision, nz: usize) -> Vec<Setting> {
        match (self, setting) {
            (Self::Clouds(fallout), Setting::Clouds(mapping)) => {
                let mappings = clouds::tuning::variants(mapping, precision, fallout, nz);
                mappings.into_iter().map(Setting::Clouds).collect()
            }
            (Self::Transport, Setting::Transport(march)) => {
                let marches = transport::tuning::variants(march);
                marches.into_iter().map(Setting::Transport).collect()
            }
            _ => Vec::new(),
        }
    }
}

impl fmt::Display for Setting {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&match *self {
            Self::Transport(march) => transport::tuning::text(march),
            Self::Clouds(mapping) => clouds::tuning::text(mapping),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Every candidate is possible and is read back from its text, and the built-in shape is among them, for any number
    /// of levels.
    #[test]
    fn candidates_are_possible_and_read_as_written() {
        for nz in [4, 27, 50, 127, 128] {
            for precision in [Precision::F32, Precision::F64] {
                for knob in Knob::ALL {
                    let mut all = knob.candidates(precision, nz);
                    let more: Vec<Setting> =
                        all.iter().flat_map(|one| knob.variants(*one, precision, nz)).collect();
                    all.extend(more);
                    assert!(
                        knob == Knob::Transport || all.contains(&Setting::Clouds(Mapping::Column))
                    );
                    assert!(all.len() > 3, "{knob:?}, {nz} levels of {precision:?}: {all:?}");
                    all.extend([1, usize::MAX].map(|size| knob.built_in(precision, nz, size)));
                    for setting in all {
                        let text = setting.to_string();
                        assert_eq!(knob.parse(&text, precision, nz), Some(setting), "{text}");
                    }
                }
            }
        }
    }
}
