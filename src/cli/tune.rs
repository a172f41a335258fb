//! `nwp-mini tune`: which settings of the kernels are the fastest on this GPU.

use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::time::Instant;

use clap::Args;
use rayon::prelude::*;
use serde::Serialize;
use time::OffsetDateTime;

use super::bench::figure::median;
use super::bench::gpu::Columns;
use super::bench::gpu_times::call_times;
use super::bench::source;
use super::device::CompilerPlace;
use super::{FalloutChoice, Precision};
use crate::backend::gpu::OnDevice;
use crate::error::{Error, Result};
use crate::gpu::clouds::{Clouds, Inside};
use crate::gpu::tuning::{Choice, Knob, Setting, Tuning};
use crate::gpu::{Gpu, Options};
use crate::grid::Shape;
use crate::io::pending::Pending;
use crate::model::Working;
use crate::model::tiled::{Tile, Tiled};
use crate::real::Real;
use crate::wsm5::Fallout;
use crate::wsm5::scheme::Scheme;

/// Measure which settings of the kernels are the fastest on this GPU, and keep them for later runs.
///
/// For the levels of the input, in one precision, for each way of falling: shapes of the blocks that the
/// microphysics is shared out among, on a small grid and on a large one, and the size from which on
/// the setting of the large one is faster. The winners are kept in a small file for each kind of GPU in the
/// user's cache folder, beside the compiled kernels, and every later run with as many levels uses
/// them; nwp-mini info shows them. A file that was made by another version or for other kernels is
/// not used. Results do not depend on the settings but for rounding, and a setting whose results
/// differ by more is left out.
///
/// Example: nwp-mini tune
///
/// Example: nwp-mini tune --input wrfout_d01.nc --precision f64 --dry-run
#[derive(Debug, Args)]
pub(super) struct Tune {
    /// WRF file, or columns as nwp-mini columns takes them: the levels and the weather to measure on
    #[arg(short, long, value_name = "FILE", default_value = "data/soc.nc")]
    input: PathBuf,
    /// Group of the input that holds the columns, with the dimensions k and col
    #[arg(long, value_name = "NAME")]
    group: Option<String>,
    /// The small grid, of repeated columns
    #[arg(long, value_name = "NXxNY", default_value = "71x58")]
    small: Tile,
    /// The large grid; cut to what fits
    #[arg(long, value_name = "NXxNY", default_value = "1024x1024")]
    large: Tile,
    /// How precipitation falls [default: both ways]
    #[arg(long, value_name = "SCHEME")]
    fallout: Option<FalloutChoice>,
    /// Precision of the computation
    #[arg(long, value_name = "PRECISION", default_value = "f32")]
    precision: Precision,
    /// Number of the GPU
    #[arg(long, value_name = "N", default_value = "0")]
    device: usize,
    #[command(flatten)]
    place: CompilerPlace,
    /// Timed calls of the settings that come to the final
    #[arg(long, value_name = "N", default_value = "25",
          value_parser = clap::value_parser!(u32).range(1..))]
    runs: u32,
    /// Time step in seconds
    #[arg(long, value_name = "S", default_value = "60")]
    dt: f64,
    /// Write to this file instead of the one that later runs use
    #[arg(long, value_name = "FILE")]
    output: Option<PathBuf>,
    /// Measure and show, and keep nothing
    #[arg(long, conflicts_with = "output")]
    dry_run: bool,
    /// Write all figures to a JSON file
    #[arg(long, value_name = "FILE")]
    json: Option<PathBuf>,
    /// Overwrite the files of --output and --json
    #[arg(long)]
    force: bool,
}

/// Timed calls of the first round.
const FIRST_RUNS: u32 = 5;
/// How many settings of the first round are tried with other bounds of their registers.
const VARIED: usize = 3;
/// How many settings come to the final.
const FINALISTS: usize = 5;
/// Fewest columns along an axis of a grid that is made smaller to fit.
const SMALLEST: usize = 8;
/// Part by which a setting has to be faster than the built-in one: less is noise.
const GAIN: f64 = 0.01;

/// What differs by more than this part of the largest value is no rounding.
const ROUNDING: f64 = 1e-3;
/// Part of the values that may differ by more: rounding decides the fate of single cells.
const FATES: f64 = 0.01;

/// One timed setting: what programs read.
#[derive(Clone, Debug, Serialize)]
struct Trial {
    knob: &'static str,
    precision: &'static str,
    nz: usize,
    grid: String,
    setting: String,
    is_built_in: bool,
    is_final: bool,
    median_s: f64,
    runs: u32,
    gpu: String,
    version: &'static str,
    commit: &'static str,
}

impl Tune {
    /// Runs the command.
    ///
    /// # Errors
    ///
    /// [`Error::Gpu`] without a GPU, those of the input, and those of writing.
    pub(super) fn run(&self) -> Result<()> {
        if self.dt <= 0.0 || !self.dt.is_finite() {
            return Err(Error::Usage(format!("--dt {}: give a positive number", self.dt)));
        }
        let pending = |path: &Option<PathBuf>| {
            path.as_ref().map(|path| Pending::new(path, self.force)).transpose()
        };
        let (json, output) = (pending(&self.json)?, pending(&self.output)?);
        let options = Options { device: self.device, tuning: false, ..self.place.options() };
        let gpu = Gpu::open(&options)?;
        let mut out = io::stdout().lock();
        let (choices, trials) = match self.precision {
            Precision::F32 => self.measure::<f32>(&gpu, &mut out)?,
            Precision::F64 => self.measure::<f64>(&gpu, &mut out)?,
        };
        let name = &gpu.device().name;
        if let Some(json) = json {
            json.write_json(&trials)?;
        }
        if self.dry_run {
            let mut tuning = Tuning::empty(name);
            tuning.replace(choices);
            writeln!(out, "\nnothing is kept; the file would say\n\n{}", tuning.text())?;
            return Ok(());
        }
        let kept = match output {
            Some(pending) => {
                let mut tuning = Tuning::empty(name);
                tuning.replace(choices);
                let path = pending.target().to_owned();
                pending.write_text(&tuning.text())?;
                path
            }
            None => keep(name, choices)?,
        };
        writeln!(out, "\nkept in {}", kept.display())?;
        Ok(())
    }

    fn measure<R: Working + OnDevice>(
        &self,
        gpu: &Gpu,
        out: &mut impl Write,
    ) -> Result<(Vec<Choice>, Vec<Trial>)> {
        let source = source::read::<R>(&self.input, self.group.as_deref())?;
        let (major, minor) = gpu.compiler().version();
        writeln!(
            out,
            "{}, NVRTC {major}.{minor}; columns of {}, {} levels, {}",
            gpu.device().name,
            self.input.display(),
            source.grid.shape.nz,
            <R as Real>::NAME
        )?;
        let (mut choices, mut trials) = (Vec::new(), Vec::new());
        for knob in Knob::ALL {
            let Knob::Clouds(fallout) = knob;
            if self.fallout.is_some_and(|only| Fallout::from(only) != fallout) {
                continue;
            }
            let mut contest =
                Contest { tune: self, gpu, source: &source, knob, out, trials: vec![] };
            choices.extend(contest.decide()?);
            trials.append(&mut contest.trials);
        }
        Ok((choices, trials))
    }
}

/// Adds the choices to the file that later runs use.
fn keep(gpu: &str, choices: Vec<Choice>) -> Result<PathBuf> {
    let path = Tuning::path(gpu).ok_or_else(|| {
        Error::Usage(
            "there is no cache folder to keep the settings in: neither XDG_CACHE_HOME nor HOME \
             names a folder; set one of them, or give --output or --dry-run"
                .to_owned(),
        )
    })?;
    // One that does not count any more is made anew.
    let known = Tuning::load(&path, gpu).ok().flatten();
    let mut tuning = known.unwrap_or_else(|| Tuning::empty(gpu));
    tuning.replace(choices);
    // A folder in its place would be in the way of the new file.
    let failed = |e: io::Error| Error::io(&path, "write to", e);
    if path.is_dir() {
        return Err(Error::input(&path, "is a folder; remove it, or give --output"));
    }
    fs::create_dir_all(path.parent().unwrap_or(Path::new("."))).map_err(failed)?;
    tuning.save(&path).map_err(failed)?;
    Ok(path)
}

/// The settings of one knob against each other.
struct Contest<'a, R, W> {
    tune: &'a Tune,
    gpu: &'a Gpu,
    source: &'a Tiled<R>,
    knob: Knob,
    out: &'a mut W,
    trials: Vec<Trial>,
}

/// Where settings are timed.
struct Ground<R> {
    tile: Tile,
    shape: Shape,
    columns: Columns<R>,
}

/// The fastest setting on a grid.
struct Won {
    tile: Tile,
    setting: Setting,
    seconds: f64,
    built_in: f64,
}

impl<R: Working + OnDevice, W: Write> Contest<'_, R, W> {
    /// The choices: one for all sizes, or one for small grids and one for large ones.
    fn decide(&mut self) -> Result<Vec<Choice>> {
        let (knob, nz) = (self.knob, self.source.grid.shape.nz);
        let ground = self.ground(self.tune.small)?;
        let all = knob.candidates(<R as Real>::PRECISION, nz);
        let (count, start) = (all.len(), Instant::now());
        let settings = self.sound(&ground, all)?;
        let (good, seconds) = (settings.len(), start.elapsed().as_secs_f64());
        writeln!(self.out, "\n{}: {good} of {count} settings after {seconds:.1} s", knob.name())?;
        let small = self.winner(&ground, &settings)?;
        drop(ground);
        let ground = self.ground(self.tune.large)?;
        let large = self.winner(&ground, &settings)?;
        drop(ground);
        if small.setting == large.setting {
            return Ok(vec![self.choice(&large, 1)]);
        }
        let from = self.crossover(&small, &large)?;
        writeln!(self.out, "the setting of the large grid counts from {from} columns on")?;
        Ok(vec![self.choice(&small, 1), self.choice(&large, from)])
    }

    /// The columns of the source on a grid of this size, or of the largest one that fits.
    fn ground(&mut self, mut tile: Tile) -> Result<Ground<R>> {
        loop {
            let bed = self.source.repeated(tile);
            match Columns::new(self.gpu, &bed, 0) {
                Ok(columns) => return Ok(Ground { tile, shape: bed.grid.shape, columns }),
                Err(Error::Gpu(why)) if tile.nx.min(tile.ny) >= 2 * SMALLEST => {
                    tile = Tile { nx: tile.nx / 2, ny: tile.ny / 2 };
                    writeln!(self.out, "{tile} columns instead: {why}")?;
                }
                Err(error) => return Err(error),
            }
        }
    }

    fn clouds(&self, shape: Shape, setting: Setting) -> Result<Clouds<R>> {
        clouds(self.gpu, self.knob, shape, setting)
    }

    /// Settings whose kernels can be made, and give what the built-in one gives.
    fn sound(&mut self, ground: &Ground<R>, settings: Vec<Setting>) -> Result<Vec<Setting>> {
        let Ground { shape, columns, .. } = ground;
        // Side by side: the compiler takes seconds for each. Those of no use are told below.
        let (gpu, knob) = (self.gpu, self.knob);
        settings.par_iter().for_each(|one| drop(clouds::<R>(gpu, knob, *shape, *one)));
        let result = |clouds: &Clouds<R>| {
            columns.restore()?;
            clouds.call(&columns.place(), self.tune.dt)?;
            columns.state().to_vec()
        };
        let built_in = self.knob.built_in(<R as Real>::PRECISION, shape.nz, shape.columns());
        let expected = result(&self.clouds(*shape, built_in)?)?;
        let (mut sound, mut faults) = (Vec::new(), Vec::new());
        for setting in settings {
            match self.clouds(*shape, setting) {
                Err(error) => faults.push(format!("{setting} is left out: {error}")),
                Ok(clouds) => {
                    let part = part_off(&result(&clouds)?, &expected, shape.cells());
                    if part > FATES {
                        let percent = 100.0 * part;
                        faults.push(format!("{setting} is left out: {percent:.1} % differ"));
                    } else {
                        sound.push(setting);
                    }
                }
            }
        }
        for fault in faults {
            writeln!(self.out, "{fault}")?;
        }
        Ok(sound)
    }

    /// Time of a call, s.
    fn time(&self, ground: &Ground<R>, setting: Setting, runs: u32) -> Result<f64> {
        let Ground { shape, columns, .. } = ground;
        let clouds = self.clouds(*shape, setting)?;
        let call = || clouds.call(&columns.place(), self.tune.dt);
        let (_, times) = call_times(self.gpu, runs, || columns.restore(), call)?;
        Ok(median(times))
    }

    /// Times of some settings, the fastest first.
    fn round(
        &mut self,
        ground: &Ground<R>,
        settings: &[Setting],
        is_final: bool,
    ) -> Result<Vec<(Setting, f64)>> {
        let runs = if is_final { self.tune.runs } else { FIRST_RUNS };
        let built_in = self.built_in(ground);
        let mut ranking = Vec::new();
        for &setting in settings {
            let seconds = self.time(ground, setting, runs)?;
            ranking.push((setting, seconds));
            self.trials.push(Trial {
                knob: self.knob.name(),
                precision: <R as Real>::NAME,
                nz: ground.shape.nz,
                grid: ground.shape.to_string(),
                setting: setting.to_string(),
                is_built_in: setting == built_in,
                is_final,
                median_s: seconds,
                runs,
                gpu: self.gpu.device().name.clone(),
                version: env!("CARGO_PKG_VERSION"),
                commit: env!("NWP_MINI_COMMIT"),
            });
        }
        ranking.sort_by(|a, b| a.1.total_cmp(&b.1));
        Ok(ranking)
    }

    fn built_in(&self, ground: &Ground<R>) -> Setting {
        let Ground { shape, .. } = ground;
        self.knob.built_in(<R as Real>::PRECISION, shape.nz, shape.columns())
    }

    /// The fastest setting on a grid: all of them for a few calls, the best also with other bounds
    /// of their registers, and the best of all these against the built-in one.
    fn winner(&mut self, ground: &Ground<R>, settings: &[Setting]) -> Result<Won> {
        let mut ranking = self.round(ground, settings, false)?;
        let variants = ranking.iter().take(VARIED).flat_map(|(setting, _)| {
            self.knob.variants(*setting, <R as Real>::PRECISION, ground.shape.nz)
        });
        let variants = variants.collect();
        let variants = self.sound(ground, variants)?;
        ranking.extend(self.round(ground, &variants, false)?);
        ranking.sort_by(|a, b| a.1.total_cmp(&b.1));
        let built_in = self.built_in(ground);
        let mut finalists: Vec<Setting> = vec![built_in];
        let others = ranking.iter().map(|(setting, _)| *setting).filter(|one| *one != built_in);
        finalists.extend(others.take(FINALISTS));
        let ranking = self.round(ground, &finalists, true)?;
        writeln!(self.out, "{} columns", ground.tile)?;
        for (setting, seconds) in &ranking {
            let note = if *setting == built_in { " (built in)" } else { "" };
            writeln!(self.out, "  {:>12.3} us  {setting}{note}", seconds * 1e6)?;
        }
        let of_built_in = ranking.iter().find(|(setting, _)| *setting == built_in);
        let built_in_seconds = of_built_in.map_or(f64::INFINITY, |(_, seconds)| *seconds);
        let (mut setting, mut seconds) = ranking[0];
        if seconds > (1.0 - GAIN) * built_in_seconds {
            (setting, seconds) = (built_in, built_in_seconds);
        }
        Ok(Won { tile: ground.tile, setting, seconds, built_in: built_in_seconds })
    }

    /// Columns from which on the setting of the large grid is the faster one, of powers of two
    /// between both grids.
    fn crossover(&mut self, small: &Won, large: &Won) -> Result<usize> {
        let [least, most] = [small, large].map(|won| won.tile.nx * won.tile.ny);
        let mut from = most;
        let mut power = most.ilog2();
        while power > 2 * SMALLEST.ilog2() && 1 << power > least {
            let tile = Tile { nx: 1 << power.div_ceil(2), ny: 1 << (power / 2) };
            let ground = self.ground(tile)?;
            let contest = [small.setting, large.setting];
            let ranking = self.round(&ground, &contest, true)?;
            if ranking[0].0 == small.setting {
                break;
            }
            from = 1 << power;
            power -= 1;
        }
        Ok(from)
    }

    fn choice(&self, won: &Won, from_columns: usize) -> Choice {
        Choice {
            knob: self.knob.name().to_owned(),
            precision: <R as Real>::NAME.to_owned(),
            nz: self.source.grid.shape.nz,
            from_columns,
            setting: won.setting.to_string(),
            measured_on: won.tile.nx * won.tile.ny,
            us: rounded(won.seconds),
            built_in_us: rounded(won.built_in),
            date: OffsetDateTime::now_utc().date().to_string(),
        }
    }
}

/// The microphysics of a setting.
fn clouds<R: Working + OnDevice>(
    gpu: &Gpu,
    knob: Knob,
    shape: Shape,
    setting: Setting,
) -> Result<Clouds<R>> {
    let (Knob::Clouds(fallout), Setting::Clouds(mapping)) = (knob, setting);
    let scheme = Scheme::default().with_fallout(fallout);
    Clouds::new(gpu, shape, Inside::all(shape), scheme, mapping, R::THETA_BASE)
}

/// The largest part of the values of a field that are off by more than rounding.
fn part_off<R: Real>(found: &[R], expected: &[R], cells: usize) -> f64 {
    let part = |(found, expected): (&[R], &[R])| {
        let largest = expected.iter().map(|x| x.f64().abs()).fold(0.0, f64::max);
        let is_off = |(a, b): &(&R, &R)| {
            let difference = (a.f64() - b.f64()).abs();
            difference > ROUNDING * largest || difference.is_nan()
        };
        found.iter().zip(expected).filter(is_off).count() as f64 / cells as f64
    };
    found.chunks(cells).zip(expected.chunks(cells)).map(part).fold(0.0, f64::max)
}

/// A time in µs with as many digits as it is good for.
fn rounded(seconds: f64) -> f64 {
    (seconds * 1e9).round() / 1e3
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn results_that_differ_by_more_than_rounding_are_noticed() {
        let expected: Vec<f64> = (0..200).map(f64::from).collect();
        assert_eq!(part_off(&expected, &expected, 100), 0.0);
        let rounded: Vec<f64> = expected.iter().map(|x| x * (1.0 + 1e-6)).collect();
        assert_eq!(part_off(&rounded, &expected, 100), 0.0);
        let mut wrong = expected.clone();
        wrong[3] = -1.0;
        wrong[150] = f64::NAN;
        wrong[160] = 0.0;
        assert!((part_off(&wrong, &expected, 100) - 0.02).abs() < 1e-12);
    }
}
