//! Settings of launchers that can be tuned without changing results.
//!
//! To add a setting: a variant of [`Knob`] and of [`KnobSetting`], its candidates beside its launcher, which looks up
//! measured settings there, and its timing in `nwp-mini tune`. Those of a scheme come with it.

use std::fmt;

use crate::advection::gpu::{self as transport, TuningPoint};
use crate::chemistry::gpu::tuning as chemistry;
use crate::device::tuning::Choice;
use crate::physics::registry;
use crate::physics::scheme::Scheme;
use crate::real::Precision;

/// A setting that can be tuned without changing results.
#[derive(Debug)]
pub enum Knob {
    /// Launch configuration of the transport.
    Transport,
    /// Mapping of columns to threads in a scheme that has a choice, in one variant.
    Columns(Box<dyn Scheme>),
}

/// Setting of a knob.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum KnobSetting {
    /// A setting of [`Knob::Transport`].
    Transport(TuningPoint),
    /// A setting of [`Knob::Columns`].
    Columns(String),
}

impl Knob {
    /// All knobs.
    pub fn all() -> Vec<Self> {
        let mut all = vec![Self::Transport];
        for scheme in registry::all().into_iter().filter(|scheme| scheme.mappings().is_some()) {
            // Variants with the same kernels share a setting.
            let knob = Self::Columns(scheme);
            if all.iter().all(|known| known.name() != knob.name()) {
                all.push(knob);
            }
        }
        all
    }

    /// Its name in files.
    pub fn name(&self) -> &'static str {
        match self {
            Self::Transport => transport::tuning::NAME,
            Self::Columns(scheme) => scheme.mappings().map_or("", |mappings| mappings.knob()),
        }
    }

    /// Returns `true` if a choice is about a knob and one of its settings, or about a mechanism of reactions, which
    /// are not known before they are read.
    pub fn is_possible(choice: &Choice) -> bool {
        if chemistry::is_possible(choice) {
            return true;
        }
        let knob = Self::all().into_iter().find(|knob| knob.name() == choice.knob);
        let all = [Precision::F32, Precision::F64];
        let precision = all.into_iter().find(|real| real.name() == choice.precision);
        let (Some(knob), Some(precision)) = (knob, precision) else { return false };
        knob.parse(&choice.setting, precision, choice.nz).is_some()
    }

    /// Reads a setting as [`KnobSetting`] writes it; `None` if the text is not one, or not for this number of levels.
    pub fn parse(&self, text: &str, precision: Precision, nz: usize) -> Option<KnobSetting> {
        match self {
            Self::Transport => {
                transport::tuning::parse(text, precision).map(KnobSetting::Transport)
            }
            Self::Columns(scheme) => {
                let is_possible = scheme.mappings()?.is_possible(text, precision, nz);
                is_possible.then(|| KnobSetting::Columns(text.to_owned()))
            }
        }
    }

    /// The built-in setting, used if none has been measured.
    pub fn built_in(&self, precision: Precision, nz: usize, columns: usize) -> KnobSetting {
        match self {
            Self::Transport => KnobSetting::Transport(TuningPoint::choose(columns, precision)),
            Self::Columns(scheme) => KnobSetting::Columns(
                scheme
                    .mappings()
                    .map_or_else(String::new, |all| all.built_in(precision, nz, columns)),
            ),
        }
    }

    /// First candidates, of all shapes.
    pub fn candidates(&self, precision: Precision, nz: usize) -> Vec<KnobSetting> {
        match self {
            Self::Transport => {
                let marches = transport::tuning::candidates(precision, nz);
                marches.into_iter().map(KnobSetting::Transport).collect()
            }
            Self::Columns(scheme) => {
                let mappings = scheme.mappings().map(|all| all.candidates(precision, nz));
                mappings.into_iter().flatten().map(KnobSetting::Columns).collect()
            }
        }
    }

    /// Further candidates: the same shape with other launch bounds.
    pub fn variants(
        &self,
        setting: &KnobSetting,
        precision: Precision,
        nz: usize,
    ) -> Vec<KnobSetting> {
        match (self, setting) {
            (Self::Columns(scheme), KnobSetting::Columns(mapping)) => {
                let mappings = scheme.mappings().map(|all| all.variants(mapping, precision, nz));
                mappings.into_iter().flatten().map(KnobSetting::Columns).collect()
            }
            (Self::Transport, KnobSetting::Transport(march)) => {
                let marches = transport::tuning::variants(*march);
                marches.into_iter().map(KnobSetting::Transport).collect()
            }
            _ => Vec::new(),
        }
    }
}

impl fmt::Display for KnobSetting {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Transport(march) => f.write_str(&transport::tuning::text(*march)),
            Self::Columns(mapping) => f.write_str(mapping),
        }
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
                for knob in Knob::all() {
                    let mut all = knob.candidates(precision, nz);
                    let more: Vec<KnobSetting> =
                        all.iter().flat_map(|one| knob.variants(one, precision, nz)).collect();
                    all.extend(more);
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
