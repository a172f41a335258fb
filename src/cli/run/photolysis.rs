//! `--photolysis`: the origin of the photolysis frequencies of a run with chemistry.

use std::path::Path;

use clap::ValueEnum;
use tracing::info;

use crate::chemistry::coupled::Light;
use crate::chemistry::mechanism::Mechanism;
use crate::error::{Error, Result};
use crate::io::wrf::photolysis::{Frequency, of_wrf_chem};

/// Origin of photolysis frequencies.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(in crate::cli) enum Photolysis {
    /// Fields of the input: `Pj_*` of the mechanism (s-1), or WRF-Chem's PHOTR* (min-1)
    Input,
    /// A clear sky, from position and date
    ClearSky,
    /// No photolysis (darkness)
    None,
}

/// The light of a run.
#[derive(Debug)]
pub(in crate::cli) struct RunLight {
    pub(in crate::cli) light: Light,
    /// Fields of the input that give it.
    pub(in crate::cli) frequencies: Vec<Frequency>,
    /// Words for frequencies that others stand in for.
    pub(in crate::cli) stand_ins: Vec<&'static str>,
}

impl RunLight {
    fn of(light: Light) -> Self {
        Self { light, frequencies: Vec::new(), stand_ins: Vec::new() }
    }

    /// The requested photolysis frequencies; without a choice that of the input, of which `fields` are the fields in the cells,
    /// where it has all that the mechanism needs, else a clear sky.
    pub(in crate::cli) fn choose(
        choice: Option<Photolysis>,
        mechanism: &Mechanism,
        (path, fields): (&Path, &[String]),
    ) -> Result<Self> {
        let names = &mechanism.photolysis;
        let found: Vec<_> = names.iter().map(|name| Frequency::among(fields, name)).collect();
        let missing = || {
            let missing = names.iter().zip(&found).filter(|(_, found)| found.is_none());
            let names = missing.map(|(name, _)| match of_wrf_chem(name) {
                Some(variable) => format!("{name} ({variable})"),
                None => name.clone(),
            });
            names.collect::<Vec<_>>().join(", ")
        };
        let is_complete = found.iter().all(Option::is_some);
        match choice {
            Some(Photolysis::None) => Ok(Self::of(Light::Dark)),
            Some(Photolysis::Input) if !is_complete => Err(Error::input(
                path,
                format!(
                    "--photolysis input: {} needs photolysis frequencies that are missing in the \
                     file: {}; add them, or use --photolysis clear-sky",
                    mechanism.name,
                    missing()
                ),
            )),
            Some(Photolysis::Input) => Ok(Self::of_input(found)),
            None if is_complete && !found.is_empty() => Ok(Self::of_input(found)),
            None if found.iter().any(Option::is_some) => {
                info!(
                    "photolysis frequencies are those of a clear sky, as the input has no field of {}",
                    missing()
                );
                Self::clear_sky(mechanism)
            }
            Some(Photolysis::ClearSky) | None => Self::clear_sky(mechanism),
        }
    }

    /// The light of the run that a restart file comes from, by its name; `None` for a name that no run leaves.
    pub(in crate::cli) fn of_restart(name: &str, mechanism: &Mechanism) -> Option<Result<Self>> {
        Some(match Photolysis::from_str(name, false).ok()? {
            Photolysis::None => Ok(Self::of(Light::Dark)),
            Photolysis::ClearSky => Self::clear_sky(mechanism),
            Photolysis::Input => {
                let kept = mechanism.photolysis.iter().map(|name| Some(Frequency::kept(name)));
                Ok(Self::prescribed(kept.collect()))
            }
        })
    }

    fn of_input(found: Vec<Option<Frequency>>) -> Self {
        let variables: Vec<&str> = found.iter().flatten().map(Frequency::variable).collect();
        info!("photolysis frequencies are those of the input: {}", variables.join(", "));
        Self::prescribed(found)
    }

    fn prescribed(frequencies: Vec<Option<Frequency>>) -> Self {
        let frequencies = frequencies.into_iter().flatten().collect();
        Self { frequencies, ..Self::of(Light::Prescribed) }
    }

    fn clear_sky(mechanism: &Mechanism) -> Result<Self> {
        let (light, stand_ins) = Light::clear_sky(mechanism).map_err(|names| {
            Error::Usage(format!(
                "--photolysis clear-sky: there are no parameters for {} of {}; rename them to \
                 frequencies that nwp-mini mechanism lists, add fields of them to the input, or \
                 use --photolysis none",
                names.join(", "),
                mechanism.name
            ))
        })?;
        Ok(Self { stand_ins, ..Self::of(light) })
    }

    /// The name of the choice, for restart files.
    pub(in crate::cli) fn name(&self) -> &'static str {
        match self.light {
            Light::Dark => "none",
            Light::ClearSky(_) => "clear-sky",
            Light::Prescribed => "input",
        }
    }
}
