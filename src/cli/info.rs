//! `nwp-mini info`: the machine and the program, or the contents of a file as input, or a mechanism of reactions.

mod mechanism;
mod ranks;

use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use clap::Args;
use serde::Serialize;

use self::mechanism::{MechanismFacts, is_mechanism};
use self::ranks::MpiFacts;
use crate::chemistry::gpu::tuning as chemistry;
use crate::cli::advice::{by_option, message};
use crate::cli::device::{CompilerPlace, TuningChoice};
use crate::cli::distinct_files::refuse_one_file_twice;
use crate::cli::physics_choice::PhysicsChoice;
use crate::cli::run::metadata::{Machine, machine};
use crate::cli::run::refine;
use crate::constituents::Constituents;
use crate::device;
use crate::device::tuning::{Choice, Tuning};
use crate::error::Result;
use crate::frame::FrameSource;
use crate::gpu::tuning::Knob;
use crate::io::store::atomic_file::AtomicFile;
use crate::io::wrf;
use crate::io::wrf::inspect::{Survey, survey};
use crate::io::wrf::series::Overlap;
use crate::io::wrf::species::number_of_scheme;
use crate::model::RunInput;
use crate::os_text::{Shown, serialize_option};
use crate::ranks::mpi::Launch;

/// Describe this machine, or a file as input of a run, or a mechanism of its chemistry.
///
/// Example: nwp-mini info data/soc.nc
///
/// Example: nwp-mini info data/chemistry/radm2.kpp
#[derive(Debug, Args)]
pub(super) struct Info {
    /// WRF file, Zarr store of its variables, or mechanism in the language of KPP (.kpp, .def, .eqn), to inspect
    #[arg(value_name = "FILE")]
    file: Option<PathBuf>,
    #[command(flatten)]
    place: CompilerPlace,
    #[command(flatten)]
    tuning: TuningChoice,
    /// Write the same to a JSON file
    #[arg(long, value_name = "FILE")]
    json: Option<PathBuf>,
    /// Overwrite the JSON file
    #[arg(long)]
    force: bool,
}

/// Most cells of a grid whose winds are projected to determine the longest time step.
const CHEAP: usize = 5_000_000;

/// Report on the machine.
#[derive(Debug, Serialize)]
struct Facts {
    version: &'static str,
    commit: &'static str,
    machine: Machine,
    /// Available memory of the host, bytes.
    free_memory: Option<usize>,
    /// Folder of compiled kernels and measured settings.
    #[serde(serialize_with = "serialize_option")]
    cache: Option<PathBuf>,
    gpu: device::Survey,
    mpi: Option<MpiFacts>,
    tuning: Vec<TuningFacts>,
    file: Option<FileFacts>,
    mechanism: Option<MechanismFacts>,
}

/// Settings in force on a device.
#[derive(Debug, Serialize)]
struct TuningFacts {
    gpu: String,
    #[serde(serialize_with = "serialize_option")]
    path: Option<PathBuf>,
    /// Those of the file, if it is valid.
    tuning: Option<Tuning>,
    /// Reason why it is not.
    refused: Option<String>,
}

#[derive(Debug, Serialize)]
struct FileFacts {
    path: String,
    /// The microphysics of a run that asks for no other.
    physics: &'static str,
    #[serde(flatten)]
    survey: Survey,
    /// The longest time step that the winds of the first time admit, s.
    max_dt: Option<f64>,
    /// Reason why the file cannot be input; `None` if it can.
    problem: Option<String>,
}

impl Info {
    pub(super) fn run(&self) -> Result<()> {
        let read: Vec<_> = self.file.iter().map(|file| ("the input file", file)).collect();
        refuse_one_file_twice(&[("--json", self.json.as_ref())], &read)?;
        // The machine is described by the first of several ranks; a file by whoever is asked, without MPI.
        let mpi = self.file.is_none().then(MpiFacts::new);
        if self.file.is_none() && Launch::is_silent() {
            return Ok(());
        }
        let json = AtomicFile::if_asked(self.json.as_deref(), self.force)?;
        let survey = device::survey(&self.place.options());
        let ignored = self.tuning.no_tuning;
        let devices = survey.devices.iter();
        let tuning: Vec<TuningFacts> =
            devices.map(|device| TuningFacts::new(&device.name, ignored)).collect();
        let (mechanism, file) = match &self.file {
            Some(path) if is_mechanism(path) => {
                (Some(MechanismFacts::new(path, &survey.devices, &tuning)?), None)
            }
            Some(path) => (None, Some(FileFacts::new(path)?)),
            None => (None, None),
        };
        let facts = Facts {
            version: env!("CARGO_PKG_VERSION"),
            commit: env!("NWP_MINI_COMMIT"),
            machine: machine(),
            free_memory: refine::free_memory(),
            cache: device::user_folder(),
            tuning,
            gpu: survey,
            mpi,
            file,
            mechanism,
        };
        let mut out = io::stdout().lock();
        match (&facts.file, &facts.mechanism) {
            (Some(file), _) => file.print(&mut out)?,
            (None, Some(mechanism)) => mechanism.print(&mut out)?,
            (None, None) => facts.print(&mut out)?,
        }
        if let Some(json) = json {
            json.write_json(&facts)?;
        }
        Ok(())
    }
}

impl Facts {
    fn print(&self, out: &mut impl Write) -> Result<()> {
        let Machine { os, arch, cpu, cores, threads, instructions } = &self.machine;
        writeln!(out, "nwp-mini       {}, commit {}", self.version, self.commit)?;
        writeln!(out, "system         {os}, {arch}")?;
        writeln!(out, "CPU            {cpu}")?;
        writeln!(out, "cores          {cores}, of which {threads} would be used")?;
        writeln!(out, "instructions   {instructions}")?;
        let memory = self.free_memory.map_or_else(
            || "not told by the system".to_owned(),
            |bytes| {
                let cells = bytes / refine::BYTES_A_CELL;
                format!("{:.1} GB free, enough for a run of {cells} cells", bytes as f64 / 1e9)
            },
        );
        writeln!(out, "memory         {memory}")?;
        let cache = self.cache.as_deref().map_or_else(
            || {
                "none: neither XDG_CACHE_HOME nor HOME names a folder; every run compiles its \
                 kernels"
                    .to_owned()
            },
            |folder| folder.shown().into_owned(),
        );
        writeln!(out, "cache          {cache}")?;
        self.mpi.iter().try_for_each(|mpi| mpi.print(out))?;
        print_gpu(&self.gpu, out)?;
        self.tuning.iter().try_for_each(|tuning| tuning.print(out))
    }
}

impl TuningFacts {
    /// State of the stored settings of a device, such as `ignored`.
    fn new(gpu: &str, ignored: bool) -> Self {
        let path = Tuning::path(gpu);
        let found = match &path {
            Some(_) if ignored => Err("as --no-tuning or NWP_NO_TUNING requests".to_owned()),
            Some(path) => Tuning::load(path, gpu, Knob::is_possible),
            None => Ok(None),
        };
        let (tuning, refused) = match found {
            Ok(tuning) => (tuning, None),
            Err(why) => (None, Some(why)),
        };
        Self { gpu: gpu.to_owned(), path, tuning, refused }
    }

    fn print(&self, out: &mut impl Write) -> Result<()> {
        let path = self.path.as_deref().unwrap_or(Path::new("nowhere")).shown();
        let Some(tuning) = &self.tuning else {
            let why = self.refused.as_deref().map_or_else(
                || "none has been measured; run nwp-mini tune".to_owned(),
                |why| format!("{path} is not used: {why}"),
            );
            writeln!(out, "settings       built in; {why}")?;
            return Ok(());
        };
        writeln!(out, "settings       {path}")?;
        for choice in &tuning.choices {
            let Choice {
                knob, precision, nz, from_columns, setting, us, built_in_us, date, ..
            } = choice;
            let about = if knob.starts_with(chemistry::NAME) {
                format!("factors in {precision}, from {from_columns} cells")
            } else {
                format!("{precision}, {nz} levels, from {from_columns} columns")
            };
            writeln!(
                out,
                "{:<15}{knob}, {about}: {setting} ({us:.1} us instead of {built_in_us:.1}, {date})",
                ""
            )?;
        }
        Ok(())
    }
}

/// The devices, and every place that was searched for libraries.
fn print_gpu(survey: &device::Survey, out: &mut impl Write) -> Result<()> {
    for device in &survey.devices {
        let device::Device { name, architecture, multiprocessors, memory, cache, shared_bytes: _ } =
            device;
        let [gigabytes, megabytes] = [*memory as f64 / 1e9, *cache as f64 / 1e6];
        writeln!(
            out,
            "GPU            {name}, {architecture}, {multiprocessors} multiprocessors, \
             {gigabytes:.1} GB, cache {megabytes:.1} MB"
        )?;
    }
    if survey.devices.is_empty() {
        writeln!(out, "GPU            none")?;
    }
    for (name, search) in [("driver", &survey.driver), ("NVRTC", &survey.compiler)] {
        // One line for each reason, with all places that it applies to.
        for tried in search.tried.chunk_by(|a, b| a.why == b.why) {
            let places: Vec<_> = tried.iter().map(|at| at.path.shown().into_owned()).collect();
            writeln!(out, "{name:<15}{}: {}", tried[0].why, places.join(" "))?;
        }
        if let (Some(path), Some(version)) = (&search.found, &search.version) {
            writeln!(out, "{name:<15}{version}, {}", path.shown())?;
        }
    }
    match &survey.problem {
        None => writeln!(out, "GPU runs       yes")?,
        Some(problem) => writeln!(out, "GPU runs       no: {problem}")?,
    }
    Ok(())
}

impl FileFacts {
    fn new(path: &Path) -> Result<Self> {
        let physics = PhysicsChoice::of_files(number_of_scheme(path).unwrap_or_default());
        let set = physics.0.set();
        let mut survey = survey(path, &set)?;
        if let (Some(last), Some(advice)) = (survey.assumed.last_mut(), survey.advice) {
            *last = format!("{last}; {}", by_option(advice));
        }
        let cells = survey.grid.iter().copied().fold(1, usize::saturating_mul);
        let mut facts = Self {
            path: path.shown().into_owned(),
            physics: physics.0.title,
            survey,
            max_dt: None,
            problem: None,
        };
        // The result of a run's checks of the file, verbatim.
        match Self::as_input(path, cells, &set) {
            Ok((max_dt, unread)) => {
                facts.max_dt = max_dt;
                facts.survey.assumed.extend(unread);
            }
            Err(error) => facts.problem = Some(message(&error)),
        }
        Ok(facts)
    }

    /// Opens the file as a run does; returns the longest time step, if it is cheap to compute, and the parts that were
    /// not checked.
    fn as_input(
        path: &Path,
        cells: usize,
        set: &Arc<Constituents>,
    ) -> Result<(Option<f64>, Option<String>)> {
        let (domain, frame, series) = wrf::open(&[path.to_owned()], None, Overlap::Refuse, set)?;
        let is_small = series.is_small(&domain);
        let unread = (!is_small && series.len() > 1)
            .then(|| "times after the first: not checked, as they are large".to_owned());
        if cells > CHEAP {
            return Ok((None, unread));
        }
        let mut case = RunInput::<f32>::new(domain, frame)?;
        let max_dt = case.max_dt;
        if is_small {
            case = case.follow(series, f64::INFINITY)?;
        }
        drop(case);
        Ok((Some(max_dt), unread))
    }

    fn print(&self, out: &mut impl Write) -> Result<()> {
        let Survey { title, grid: [nx, ny, nz], spacing, times, .. } = &self.survey;
        let survey = &self.survey;
        writeln!(out, "file           {}", self.path)?;
        writeln!(out, "title          {}", title.as_deref().unwrap_or("none"))?;
        let spacing = match spacing {
            Some([dx, dy]) if dx == dy => format!("{dx:.0} m"),
            Some([dx, dy]) => format!("{dx:.0} m by {dy:.0} m"),
            None => "attributes DX and DY are missing".to_owned(),
        };
        writeln!(out, "grid           {nx}x{ny}x{nz} cells, {spacing}, {}", survey.vertical)?;
        writeln!(out, "map            {}", survey.map)?;
        let times = match &times[..] {
            [one] => one.clone(),
            [first, .., last] => format!("{}, from {first} to {last}", times.len()),
            [] => "none".to_owned(),
        };
        writeln!(out, "times          {times}")?;
        let dt = survey.dt.map_or_else(|| "not told".to_owned(), |dt| format!("{dt} s"));
        let most = match self.max_dt {
            Some(dt) if dt.is_finite() => {
                format!(", at most {dt:.1} s for the winds of the first time")
            }
            Some(_) => ", any for the calm of the first time".to_owned(),
            None => String::new(),
        };
        writeln!(out, "time step      {dt}{most}")?;
        writeln!(out, "microphysics   {}", self.physics)?;
        writeln!(out, "boundaries     {}", survey.boundary)?;
        writeln!(out, "present        {}", survey.present.join(" "))?;
        let missing = survey.missing.join(", ");
        writeln!(out, "missing        {}", if missing.is_empty() { "nothing" } else { &missing })?;
        for (at, line) in survey.assumed.iter().enumerate() {
            writeln!(out, "{:<15}{line}", if at == 0 { "assumed" } else { "" })?;
        }
        match &self.problem {
            None => writeln!(out, "input of run   yes")?,
            Some(problem) => writeln!(out, "input of run   no: {problem}")?,
        }
        Ok(())
    }
}
