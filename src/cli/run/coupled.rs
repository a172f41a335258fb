//! `--chemistry`: the species of a mechanism in a run, their initial values, and the light.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use clap::{Args, ValueEnum};
use time::PrimitiveDateTime;
use time::macros::date;
use tracing::info;

use crate::calendar;
use crate::chemistry::coupled::{Coupled, Degrees, Light};
use crate::chemistry::kinetics::Kinetics;
use crate::chemistry::mechanism::{self, Mechanism, RateCode};
use crate::chemistry::zenith::latitude_of_coriolis;
use crate::cli::chemistry::read_mechanism_and_files;
use crate::cli::option_values::{check_positive, value_name};
use crate::cli::rate_code::{self, RateOptions, refuse_quantities_of_host};
use crate::cli::run::photolysis::{Photolysis, RunLight};
use crate::constituents::Constituents;
use crate::domain::Domain;
use crate::error::{Error, Result};
use crate::io::out::selection::is_taken;
use crate::io::read::reader::nearest;
use crate::io::read::text;
use crate::io::restart::RestartFile;
use crate::io::wrf::chemical;
use crate::os_text::Shown;
use crate::passive::{Background, MechanismTracers, PassiveTracers};

/// Options of the chemistry of a run.
#[derive(Args, Clone, Debug)]
#[group(id = "coupled")]
pub(in crate::cli) struct Coupling {
    /// Transport the species of this mechanism in the language of KPP as tracers (ppmv), and integrate its
    /// reactions in every cell
    #[arg(long, value_name = "FILE.kpp", conflicts_with = "restart")]
    chemistry: Option<PathBuf>,
    #[command(flatten)]
    rates: RateOptions,
    /// Time between calls of the chemistry in seconds [default: every step]
    #[arg(long, value_name = "S", requires = "chemistry")]
    chem_dt: Option<f64>,
    /// TOML file with profiles of the species that are missing in the input: [[species]] with name, height (m above
    /// the ground), value (ppmv) and source [default: <mechanism>.background.toml beside the mechanism, where there
    /// is one]
    #[arg(long, value_name = "FILE.toml", requires = "chemistry")]
    chem_background: Option<PathBuf>,
    /// Species to write to the output: names separated by commas, or all
    #[arg(long, value_name = "LIST", default_value = "all")]
    chem_output: String,
    /// Photolysis frequencies [default: input, if its first file has all fields that the mechanism needs, else
    /// clear-sky]
    #[arg(long, value_name = "LIGHT", requires = "chemistry")]
    photolysis: Option<Photolysis>,
    /// First step of each call of the chemistry in a cell: last for the step size proposed at the end of its last
    /// call, or off for 0.01 of the interval in every call, as in WRF-Chem [default: last]
    #[arg(long, value_name = "STEP", requires = "chemistry")]
    hstart: Option<FirstStep>,
    /// Latitude of all cells in degrees north [default: XLAT of the input, or from its Coriolis parameter]
    #[arg(long, value_name = "DEG", requires = "chemistry")]
    latitude: Option<f64>,
    /// Longitude of all cells in degrees east [default: XLONG of the input, or 0]
    #[arg(long, value_name = "DEG", requires = "chemistry")]
    longitude: Option<f64>,
    /// Date (UTC) at which the run starts, for the height of the sun [default: that of the input; for year 1, 21 June
    /// 2005 at the time of day of the input]
    #[arg(long, value_name = "YYYY-MM-DD_hh:mm:ss", requires = "chemistry")]
    date: Option<String>,
}

/// First step of a call in a cell.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum FirstStep {
    /// The step size proposed at the end of the cell's last call
    Last,
    /// A part of the interval
    Off,
}

/// The chemistry of a run, before its place is known.
#[derive(Debug)]
pub(in crate::cli) struct ChemistryConfig {
    /// Files that are read for it; none where a run goes on.
    pub(in crate::cli) files: Vec<PathBuf>,
    /// Attributes of a restart file that keep it: names and values.
    pub(in crate::cli) kept: Vec<(&'static str, String)>,
    /// The passive tracers with the species behind them.
    pub(in crate::cli) recipe: PassiveTracers,
    /// Names of the species that are not written.
    pub(in crate::cli) hidden: Vec<&'static str>,
    pub(in crate::cli) lit: RunLight,
    mechanism: Mechanism,
    kinetics: Kinetics,
    /// Name of the tracer of each species; `None` where the air gives it.
    names: Vec<Option<&'static str>>,
    /// Latitude and longitude of all cells, degrees north and east, where they are given.
    latitude: Option<f64>,
    longitude: Option<f64>,
    /// Date of the start, where it is given.
    date: Option<PrimitiveDateTime>,
    /// Time between calls, s; 0 for every step.
    interval: f64,
    /// See [`Coupled`].
    keeps_steps: bool,
    /// The file whose Coriolis parameter gives the latitude where nothing else does.
    input: Option<PathBuf>,
}

/// Names of attributes of restart files.
const MECHANISM: &str = "chemistry";
const NAME: &str = "chemistry_name";
const BACKGROUND: &str = "chemistry_background";
const FIELDS: &str = "chemistry_fields";
const INTERVAL: &str = "chemistry_dt";
const FIRST_STEP: &str = "chemistry_hstart";
const LIGHT: &str = "chemistry_photolysis";
const LATITUDE: &str = "chemistry_latitude";
const LONGITUDE: &str = "chemistry_longitude";
const DATE: &str = "chemistry_date";
const RATE_FUNCTIONS: &str = "chemistry_rate_functions";
const RATE_CONSTANTS: &str = "chemistry_rate_constants";
const ATTRIBUTES: [&str; 12] = [
    MECHANISM,
    NAME,
    BACKGROUND,
    FIELDS,
    INTERVAL,
    FIRST_STEP,
    LIGHT,
    LATITUDE,
    LONGITUDE,
    DATE,
    RATE_FUNCTIONS,
    RATE_CONSTANTS,
];

/// Default date, for runs whose input has none.
const USUAL_DAY: time::Date = date!(2005 - 06 - 21);

impl Coupling {
    /// True if a mechanism is given.
    pub(in crate::cli) fn is_given(&self) -> bool {
        self.chemistry.is_some()
    }

    /// The requested chemistry, or that of the continued run.
    pub(in crate::cli) fn choose(
        &self,
        inputs: &[PathBuf],
        tracers: (&Arc<Constituents>, Option<&PassiveTracers>),
        from: Option<&RestartFile>,
    ) -> Result<Option<ChemistryConfig>> {
        if let Some(from) = from {
            return self.of_restart(from, tracers);
        }
        let Some(path) = &self.chemistry else {
            if !self.rates.is_empty() {
                let message = "--rate-functions and --rate-constant need --chemistry";
                return Err(Error::Usage(message.to_owned()));
            }
            if self.chem_output == "all" {
                return Ok(None);
            }
            return Err(Error::Usage("--chem-output needs --chemistry".to_owned()));
        };
        check_positive("--chem-dt", self.chem_dt)?;
        for (option, value, most) in
            [("--latitude", self.latitude, 90.0), ("--longitude", self.longitude, 360.0)]
        {
            if let Some(value) = value.filter(|value| value.is_nan() || value.abs() > most) {
                return Err(Error::Usage(format!(
                    "{option} {value}: give degrees between -{most} and {most}"
                )));
            }
        }
        let date = self.date.as_deref().map(parse_date).transpose()?;
        let code = self.rates.read()?;
        let (mechanism, kinetics, files) = read_mechanism_and_files(path, &code)?;
        refuse_quantities_of_host(path, &mechanism, &kinetics)?;
        let background = self.chem_background.clone().or_else(|| background_of(path));
        let background_text =
            background.as_deref().map(text::read).transpose()?.unwrap_or_default();
        let fields = chemical::fields(&inputs[0])?;
        let lit = RunLight::choose(self.photolysis, &mechanism, (&inputs[0], &fields))?;
        let about = background.as_deref().unwrap_or(Path::new("--chem-background"));
        let carried = carried(&mechanism, tracers, (about, &background_text), &|name| {
            fields.iter().any(|field| field == name)
        })?;
        if let Some(background) = &background {
            info!("{}: background of species", background.shown());
        }
        if !carried.absent.is_empty() {
            info!(
                "species that start from 0, as neither the input nor a background has them: {}",
                carried.absent.join(", ")
            );
        }
        let first_step = self.hstart.unwrap_or(FirstStep::Last);
        let kept = vec![
            (MECHANISM, files.text),
            (NAME, mechanism.name.clone()),
            (BACKGROUND, background_text),
            (FIELDS, carried.from_input.join(" ")),
            (INTERVAL, self.chem_dt.unwrap_or(0.0).to_string()),
            (FIRST_STEP, value_name(&first_step)),
            (LIGHT, lit.name().to_owned()),
            (LATITUDE, text_of(self.latitude)),
            (LONGITUDE, text_of(self.longitude)),
            (DATE, date.map_or_else(String::new, calendar::format)),
            (RATE_FUNCTIONS, rate_code::text_of_files(&code.files)),
            (RATE_CONSTANTS, rate_code::text_of_constants(&code.constants)),
        ];
        let config = self.settled(path, kept, (mechanism, kinetics), carried, lit)?;
        let files = files.paths.into_iter().chain(background);
        let files = files.chain(self.rates.rate_functions.iter().cloned()).collect();
        Ok(Some(ChemistryConfig { files, input: Some(inputs[0].clone()), ..config }))
    }

    /// The chemistry of the run that a restart file comes from.
    fn of_restart(
        &self,
        from: &RestartFile,
        tracers: (&Arc<Constituents>, Option<&PassiveTracers>),
    ) -> Result<Option<ChemistryConfig>> {
        let Ok(text) = from.text(MECHANISM) else {
            if self.chem_output == "all" {
                return Ok(None);
            }
            return Err(Error::Usage(format!(
                "--chem-output: the run that wrote {} had no chemistry",
                from.path().shown()
            )));
        };
        if !self.rates.is_empty() {
            return Err(Error::Usage(format!(
                "--rate-functions and --rate-constant: {} has the rates of its run",
                from.path().shown()
            )));
        }
        let code = code_of_restart(from)?;
        let reading = mechanism::parse_with(&from.text(NAME)?, &text, &code);
        let (mechanism, _) = reading
            .mechanism()
            .map_err(|why| Error::input(from.path(), format!("its mechanism {why}")))?;
        let kinetics = Kinetics::new(&mechanism).map_err(|why| Error::input(from.path(), why))?;
        let kept = ATTRIBUTES.map(|name| (name, from.text(name).unwrap_or_default()));
        let [background, fields, photolysis] =
            [BACKGROUND, FIELDS, LIGHT].map(|name| from.text(name).unwrap_or_default());
        let from_input: Vec<&str> = fields.split_whitespace().collect();
        let mut carried = carried(&mechanism, tracers, (from.path(), &background), &|name| {
            from_input.contains(&name)
        })?;
        carried.recipe = carried.recipe.without_path();
        let lit = RunLight::of_restart(&photolysis, &mechanism)
            .ok_or_else(|| damaged(from.path(), LIGHT, &photolysis))??;
        // It has no default: a file without it is damaged.
        from.text(FIRST_STEP)?;
        self.settled(from.path(), kept.into(), (mechanism, kinetics), carried, lit).map(Some)
    }

    /// The chemistry with these attributes of a restart file, from a new run or from such a file.
    fn settled(
        &self,
        path: &Path,
        kept: Vec<(&'static str, String)>,
        (mechanism, kinetics): (Mechanism, Kinetics),
        MechanismTracers { recipe, names, .. }: MechanismTracers,
        lit: RunLight,
    ) -> Result<ChemistryConfig> {
        let text =
            |name: &str| kept.iter().find(|(other, _)| *other == name).map_or("", |x| x.1.as_str());
        let parsed = |name: &'static str| match text(name) {
            "" => Ok(None),
            text => text.parse::<f64>().map(Some).map_err(|_| damaged(path, name, text)),
        };
        let first_step = FirstStep::from_str(text(FIRST_STEP), false);
        let date = match text(DATE) {
            "" => None,
            text => Some(calendar::parse(text).ok_or_else(|| damaged(path, DATE, text))?),
        };
        Ok(ChemistryConfig {
            files: Vec::new(),
            hidden: self.hidden(&mechanism, &names)?,
            latitude: parsed(LATITUDE)?,
            longitude: parsed(LONGITUDE)?,
            date,
            interval: parsed(INTERVAL)?.unwrap_or(0.0),
            keeps_steps: first_step.map_err(|_| damaged(path, FIRST_STEP, text(FIRST_STEP)))?
                == FirstStep::Last,
            input: None,
            kept,
            recipe,
            lit,
            mechanism,
            kinetics,
            names,
        })
    }

    /// Names of the species that are not written.
    fn hidden(
        &self,
        mechanism: &Mechanism,
        names: &[Option<&'static str>],
    ) -> Result<Vec<&'static str>> {
        if self.chem_output == "all" {
            return Ok(Vec::new());
        }
        let known: Vec<(&str, &'static str)> = mechanism
            .species
            .iter()
            .zip(names)
            .filter_map(|(species, name)| Some((species.name.as_str(), (*name)?)))
            .collect();
        let mut written = Vec::new();
        for asked in self.chem_output.split(',').map(str::trim) {
            let same = |other: &str| other.eq_ignore_ascii_case(asked);
            let found = known.iter().find(|(species, name)| same(species) || same(name));
            let Some((_, name)) = found else {
                if mechanism.species_named(asked).is_some() {
                    return Err(Error::Usage(format!(
                        "--chem-output: {asked:?} is a fixed species of {} that follows from the air, and is not \
                         written; leave it out",
                        mechanism.name
                    )));
                }
                let near = nearest(asked, known.iter().map(|(species, _)| *species));
                let hint = near.map_or_else(
                    || "expected all, or names of species separated by commas".to_owned(),
                    |near| format!("the nearest is {near}"),
                );
                return Err(Error::Usage(format!(
                    "--chem-output: {asked:?} is not a species of {}; {hint}",
                    mechanism.name
                )));
            };
            written.push(*name);
        }
        Ok(known.into_iter().map(|(_, name)| name).filter(|name| !written.contains(name)).collect())
    }
}

/// The species as tracers, with a background.
fn carried(
    mechanism: &Mechanism,
    (set, tracers): (&Arc<Constituents>, Option<&PassiveTracers>),
    (path, text): (&Path, &str),
    is_in_input: &dyn Fn(&str) -> bool,
) -> Result<MechanismTracers> {
    let background =
        if text.is_empty() { Background::default() } else { Background::parse(path, text)? };
    if let [stranger, ..] = background.unknown_species(mechanism)[..] {
        let names = mechanism.species.iter().map(|species| species.name.as_str());
        let near = nearest(stranger, names);
        let hint = near.map_or_else(String::new, |near| format!("; the nearest species is {near}"));
        return Err(Error::Usage(format!(
            "{}: {stranger:?} is not a species of {}{hint}",
            path.shown(),
            mechanism.name
        )));
    }
    if let [fixed, ..] = background.species_of_air(mechanism)[..] {
        return Err(Error::Usage(format!(
            "{}: {fixed:?} is a fixed species of {} that follows from the air in every cell; remove its profile",
            path.shown(),
            mechanism.name
        )));
    }
    let is_taken = |name: &str| is_taken(name, set).is_some();
    let passive = tracers.map_or_else(|| PassiveTracers::none(set), Clone::clone);
    PassiveTracers::with_species(&passive, mechanism, &background, is_in_input, &is_taken)
}

/// Code and constants of the rates of the run that a restart file comes from.
fn code_of_restart(from: &RestartFile) -> Result<RateCode> {
    let [files, constants] =
        [RATE_FUNCTIONS, RATE_CONSTANTS].map(|name| from.text(name).unwrap_or_default());
    Ok(RateCode {
        files: rate_code::files_of(&files)
            .ok_or_else(|| damaged(from.path(), RATE_FUNCTIONS, &files))?,
        constants: rate_code::constants_of(&constants)
            .ok_or_else(|| damaged(from.path(), RATE_CONSTANTS, &constants))?,
    })
}

/// The background beside a mechanism, where there is one.
fn background_of(mechanism: &Path) -> Option<PathBuf> {
    let path = mechanism.with_extension("background.toml");
    path.is_file().then_some(path)
}

fn parse_date(text: &str) -> Result<PrimitiveDateTime> {
    calendar::parse(text).ok_or_else(|| {
        let fault = calendar::fault(text);
        Error::Usage(format!("--date {text:?}: {fault}, as in 2005-06-21_12:00:00"))
    })
}

fn text_of(number: Option<f64>) -> String {
    number.map_or_else(String::new, |number| number.to_string())
}

fn damaged(path: &Path, name: &str, value: &str) -> Error {
    Error::input(path, format!("attribute {name} is {value:?}, which a run never writes"))
}

impl ChemistryConfig {
    /// The chemistry at a position; `start` is the reference time of the run.
    pub(in crate::cli) fn at(
        &mut self,
        domain: &Domain,
        set: &Constituents,
        start: PrimitiveDateTime,
    ) -> Result<Arc<Coupled>> {
        let mut assumed = Vec::new();
        if self.latitude.is_none() && domain.latitude.is_none() {
            let coriolis = self.input.as_deref().map(chemical::coriolis).transpose()?.flatten();
            let of_coriolis = coriolis.and_then(latitude_of_coriolis);
            assumed.push(match of_coriolis {
                Some(degrees) => format!("latitude {degrees:.2} by the Coriolis parameter"),
                None => "latitude 0, as the input has none".to_owned(),
            });
            self.latitude = Some(of_coriolis.unwrap_or(0.0));
        }
        if self.longitude.is_none() && domain.longitude.is_none() {
            assumed.push("longitude 0".to_owned());
            self.longitude = Some(0.0);
        }
        let position = [(self.latitude, &domain.latitude), (self.longitude, &domain.longitude)];
        let position = position.map(|(one, each)| match (one, each) {
            (None, Some(plane)) => Degrees::Each(plane.clone()),
            (one, _) => Degrees::One(one.unwrap_or(0.0)),
        });
        let date = match self.date {
            Some(date) => date,
            None if start.year() == calendar::START.year() => {
                let date = start.replace_date(USUAL_DAY);
                assumed.push(format!("start at {}", calendar::format(date)));
                date
            }
            None => start,
        };
        self.date = Some(date);
        for (name, text) in &mut self.kept {
            match *name {
                LATITUDE => *text = text_of(self.latitude),
                LONGITUDE => *text = text_of(self.longitude),
                DATE => *text = calendar::format(date),
                _ => {}
            }
        }
        assumed.extend(self.lit.stand_ins.iter().map(|words| (*words).to_owned()));
        info!(
            "chemistry of {}: {} species and {} reactions, {}; {}{}",
            self.mechanism.name,
            self.names.iter().flatten().count(),
            self.kinetics.reactions(),
            if self.interval > 0.0 {
                format!("every {} s", self.interval)
            } else {
                "every step".to_owned()
            },
            match self.lit.light {
                Light::Dark => "in the dark",
                Light::ClearSky(_) => "under a clear sky",
                Light::Prescribed => "in the light of the input",
            },
            if assumed.is_empty() {
                String::new()
            } else {
                format!("; assumed: {}", assumed.join(", "))
            }
        );
        let field = |name: Option<&'static str>| name.and_then(|name| set.position(name));
        Ok(Arc::new(Coupled {
            fields: self.names.iter().copied().map(field).collect(),
            mechanism: self.mechanism.clone(),
            kinetics: self.kinetics.clone(),
            light: self.lit.light.clone(),
            place: position,
            date,
            interval: self.interval,
            keeps_steps: self.keeps_steps,
        }))
    }
}
