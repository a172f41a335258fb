//! `nwp-mini tune`: the fastest settings of the kernels on this GPU.

mod cells;
mod fixture;
mod search;

use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use clap::{Args, ValueEnum};

use search::{KnobSearch, Trial};

use super::Precision;
use super::bench::bench_input;
use super::chemistry::read_mechanism;
use super::device::CompilerPlace;
use super::distinct_files::refuse_one_file_twice;
use super::option_values::check_positive;
use super::physics_choice::VariantOptions;
use crate::backend::gpu::GpuPrecision;
use crate::chemistry::mechanism::RateCode;
use crate::cli::FilePrecision;
use crate::device::tuning::{Choice, Tuning};
use crate::device::{CompilerFacts, Gpu, Options};
use crate::error::{Error, Result};
use crate::gpu::tuning::Knob;
use crate::io::store::atomic_file::AtomicFile;
use crate::model::replicated_grid::Replication;
use crate::os_text::Shown;
use crate::real::Real;

/// Measure which settings of the kernels are the fastest on this GPU, and keep them for later runs.
///
/// For the levels of the input, in one precision: how the threads of the transport march, and for each way
/// of falling the shapes of the blocks that the microphysics is shared out among, on a small grid and
/// on a large one, and the size from which on the setting of the large one is faster. The winners are
/// kept in a small file for each kind of GPU in the user's cache folder, beside the compiled kernels,
/// and every later run with as many levels uses them; nwp-mini info shows them. A file that was made by
/// another version or for other kernels is not used. For a mechanism of reactions: the mapping of cells
/// to threads, for few cells and for many. Results do not depend on the settings but for rounding, and a
/// setting whose results differ by more is left out.
///
/// Example: nwp-mini tune
///
/// Example: nwp-mini tune chemistry --mechanism data/chemistry/radm2.kpp
///
/// Example: nwp-mini tune --input wrfout_d01.nc --precision f64 --dry-run
#[derive(Debug, Args)]
pub(super) struct Tune {
    /// Parts to tune [default: advection and wsm5, and chemistry with --mechanism]
    #[arg(value_name = "PART")]
    parts: Vec<Part>,
    /// WRF file, or columns as for nwp-mini columns: levels and weather of the measurement
    #[arg(short, long, value_name = "FILE", default_value = "data/soc.nc")]
    input: PathBuf,
    /// Group of the input that holds the columns, with the dimensions k and col
    #[arg(long, value_name = "NAME")]
    group: Option<String>,
    /// The small grid, of repeated columns
    #[arg(long, value_name = "NXxNY", default_value = "71x58")]
    small: Replication,
    /// The large grid; cut to what fits
    #[arg(long, value_name = "NXxNY", default_value = "1024x1024")]
    large: Replication,
    #[command(flatten)]
    variants: VariantOptions,
    /// Mechanism of reactions to tune the chemistry for [default with chemistry: data/chemistry/radm2.kpp]
    #[arg(long, value_name = "FILE.kpp")]
    mechanism: Option<PathBuf>,
    /// Precision of the computation
    #[arg(long, value_name = "PRECISION", default_value = "f32")]
    precision: Precision,
    /// Number of the GPU
    #[arg(long, value_name = "N", default_value = "0")]
    device: usize,
    #[command(flatten)]
    place: CompilerPlace,
    /// Timed calls of the settings in the final round
    #[arg(long, value_name = "N", default_value = "25",
          value_parser = clap::value_parser!(u32).range(1..))]
    runs: u32,
    /// Time step in seconds
    #[arg(long, value_name = "S", default_value = "60")]
    dt: f64,
    /// Write to this file instead of the file that later runs read
    #[arg(long, value_name = "FILE")]
    output: Option<PathBuf>,
    /// Measure and print only; write no settings
    #[arg(long, conflicts_with = "output")]
    dry_run: bool,
    /// Write all figures to a JSON file
    #[arg(long, value_name = "FILE")]
    json: Option<PathBuf>,
    /// Overwrite the files of --output and --json
    #[arg(long)]
    force: bool,
}

/// Mechanism of the chemistry if none is given.
const MECHANISM: &str = "data/chemistry/radm2.kpp";

/// Parts that can be tuned.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Part {
    /// Transport of tracers
    Advection,
    /// Cloud microphysics
    #[value(name = "wsm5")]
    Physics,
    /// Mechanisms of reactions
    Chemistry,
}

impl Tune {
    pub(super) fn run(&self) -> Result<()> {
        check_positive("--dt", Some(self.dt))?;
        let mut read = vec![("the input file", &self.input)];
        read.extend(self.mechanism.iter().map(|path| ("the file of --mechanism", path)));
        refuse_one_file_twice(
            &[("--output", self.output.as_ref()), ("--json", self.json.as_ref())],
            &read,
        )?;
        let json = AtomicFile::if_asked(self.json.as_deref(), self.force)?;
        let output = AtomicFile::if_asked(self.output.as_deref(), self.force)?;
        // Before the weather is measured, which takes minutes.
        let mechanism =
            self.mechanism().map(|path| read_mechanism(path, &RateCode::default())).transpose()?;
        let options = Options { device: self.device, tuning: None, ..self.place.options() };
        let gpu = Gpu::open(&options)?;
        let mut out = io::stdout().lock();
        let (mut choices, mut trials) = (Vec::new(), Vec::new());
        if self.parts.is_empty() || self.parts.iter().any(|part| *part != Part::Chemistry) {
            (choices, trials) = match self.precision {
                Precision::F32 => self.measure::<f32>(&gpu, &mut out)?,
                Precision::F64 => self.measure::<f64>(&gpu, &mut out)?,
            };
        }
        if let Some(mechanism) = &mechanism {
            let (more_choices, more_trials) = cells::measure(self, &gpu, mechanism, &mut out)?;
            choices.extend(more_choices);
            trials.extend(more_trials);
        }
        let name = &gpu.device().name;
        let text_of = |choices| {
            let mut tuning = Tuning::empty(name);
            tuning.replace(choices);
            tuning.text()
        };
        if let Some(json) = json {
            json.write_json(&trials)?;
        }
        if self.dry_run {
            let text = text_of(choices);
            writeln!(out, "\nno settings are written; the file would contain\n\n{text}")?;
            return Ok(());
        }
        let kept = match output {
            Some(pending) => {
                let path = pending.target().to_owned();
                pending.write_text(&text_of(choices))?;
                path
            }
            None => keep(name, choices)?,
        };
        writeln!(out, "\nkept in {}", kept.shown())?;
        Ok(())
    }

    /// The mechanism to tune for, if there is one.
    fn mechanism(&self) -> Option<&Path> {
        let is_part = self.parts.contains(&Part::Chemistry);
        if !self.parts.is_empty() && !is_part {
            return None;
        }
        self.mechanism.as_deref().or(is_part.then_some(Path::new(MECHANISM)))
    }

    fn wants(&self, knob: &Knob) -> bool {
        let part = match knob {
            Knob::Transport => Part::Advection,
            Knob::Columns(scheme) => {
                if self.variants.excludes(&**scheme) {
                    return false;
                }
                Part::Physics
            }
        };
        self.parts.is_empty() || self.parts.contains(&part)
    }

    fn measure<R: FilePrecision + GpuPrecision>(
        &self,
        gpu: &Gpu,
        out: &mut impl Write,
    ) -> Result<(Vec<Choice>, Vec<Trial>)> {
        let source = bench_input::read::<R>(&self.input, self.group.as_deref())?;
        let CompilerFacts { name, version, .. } = gpu.compiler();
        writeln!(
            out,
            "{}, {name} {version}; columns of {}, {} levels, {}",
            gpu.device().name,
            self.input.shown(),
            source.grid.shape.nz,
            <R as Real>::NAME
        )?;
        let (mut choices, mut trials) = (Vec::new(), Vec::new());
        for knob in &Knob::all() {
            if !self.wants(knob) {
                continue;
            }
            if matches!(knob, Knob::Transport) && !source.has_winds {
                writeln!(out, "\n{}: skipped, as the input has no winds", knob.name())?;
                continue;
            }
            let mut search =
                KnobSearch { tune: self, gpu, source: &source, knob, out, trials: vec![] };
            choices.extend(search.decide()?);
            trials.append(&mut search.trials);
        }
        Ok((choices, trials))
    }
}

/// Adds the choices to the user's file.
fn keep(gpu: &str, choices: Vec<Choice>) -> Result<PathBuf> {
    let path = Tuning::path(gpu).ok_or_else(|| {
        Error::Usage(
            "there is no cache folder for the settings: neither XDG_CACHE_HOME nor HOME names a \
             folder; set one of them, or give --output or --dry-run"
                .to_owned(),
        )
    })?;
    // An invalid file is replaced.
    let known = Tuning::load(&path, gpu, Knob::is_possible).ok().flatten();
    let mut tuning = known.unwrap_or_else(|| Tuning::empty(gpu));
    tuning.replace(choices);
    // A folder of that name would block the new file.
    let failed = |e: io::Error| Error::io(&path, "write to", e);
    if path.is_dir() {
        return Err(Error::input(&path, "is a folder; remove it, or give --output"));
    }
    fs::create_dir_all(path.parent().unwrap_or(Path::new("."))).map_err(failed)?;
    AtomicFile::new(&path, true)?.write_text(&tuning.text())?;
    Ok(path)
}
