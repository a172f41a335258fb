//! Search for the fastest setting of a knob.

use std::io::Write;
use std::time::Instant;

use rayon::prelude::*;
use serde::Serialize;
use time::OffsetDateTime;

use super::Tune;
use super::fixture::TestGrid;
use crate::backend::gpu::GpuPrecision;
use crate::chemistry::gpu::{ThreadMapping, tuning};
use crate::cli::FilePrecision;
use crate::device::Gpu;
use crate::device::tuning::Choice;
use crate::error::Result;
use crate::gpu::tuning::{Knob, KnobSetting};
use crate::model::replicated_grid::{ReplicatedGrid, Replication};
use crate::real::Precision;
use crate::real::Real;

/// Timed calls of the first round.
const FIRST_RUNS: u32 = 5;
/// Settings of the first round that are tried with other launch bounds.
const VARIED: usize = 3;
/// Settings in the final.
const FINALISTS: usize = 5;
/// Fewest columns along an axis when a grid is reduced to fit.
const SMALLEST: usize = 8;
/// Relative advantage over the built-in setting that counts: less is noise.
pub(super) const GAIN: f64 = 0.01;

/// Tolerance of results, relative to the largest value: rounding.
const ROUNDING: f64 = 1e-3;
/// Share of the values that may differ more: rounding decides about single cells.
const FATES: f64 = 0.01;

/// One timed setting, as output for programs.
#[derive(Clone, Debug, Serialize)]
pub(super) struct Trial {
    knob: String,
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

impl Trial {
    /// A form of the kernels for a mechanism, by the name of its setting, on some cells.
    pub(super) fn of_cells(
        gpu: &Gpu,
        knob: &str,
        cells: usize,
        (form, built_in): (ThreadMapping, ThreadMapping),
        median_s: f64,
        runs: u32,
    ) -> Self {
        Self {
            knob: knob.to_owned(),
            precision: Precision::F64.name(),
            nz: tuning::LEVELS_OF_CELLS,
            grid: format!("{cells} cells"),
            setting: form.to_string(),
            is_built_in: form == built_in,
            is_final: true,
            median_s,
            runs,
            gpu: gpu.device().name.clone(),
            version: env!("CARGO_PKG_VERSION"),
            commit: env!("NWP_MINI_COMMIT"),
        }
    }
}

/// Search for the fastest setting of one knob.
pub(super) struct KnobSearch<'a, R, W> {
    pub(super) tune: &'a Tune,
    pub(super) gpu: &'a Gpu,
    pub(super) source: &'a ReplicatedGrid<R>,
    pub(super) knob: &'a Knob,
    pub(super) out: &'a mut W,
    pub(super) trials: Vec<Trial>,
}

/// The fastest setting on a grid.
struct Fastest {
    tile: Replication,
    setting: KnobSetting,
    seconds: f64,
    built_in: f64,
}

impl<'a, R: FilePrecision + GpuPrecision, W: Write> KnobSearch<'a, R, W> {
    /// The choices: one for all sizes, or one for small grids and one for large ones.
    pub(super) fn decide(&mut self) -> Result<Vec<Choice>> {
        let (knob, nz) = (self.knob, self.source.grid.shape.nz);
        let test_grid = self.test_grid(self.tune.small)?;
        let all = knob.candidates(<R as Real>::PRECISION, nz);
        let (count, start) = (all.len(), Instant::now());
        let settings = self.sound(&test_grid, all)?;
        let (good, seconds) = (settings.len(), start.elapsed().as_secs_f64());
        writeln!(self.out, "\n{}: {good} of {count} settings after {seconds:.1} s", knob.name())?;
        let small = self.winner(&test_grid, &settings)?;
        drop(test_grid);
        let test_grid = self.test_grid(self.tune.large)?;
        let large = self.winner(&test_grid, &settings)?;
        drop(test_grid);
        if small.setting == large.setting {
            return Ok(vec![self.choice(&large, 1)]);
        }
        let from = self.crossover(&small, &large)?;
        writeln!(self.out, "the setting of the large grid counts from {from} columns on")?;
        Ok(vec![self.choice(&small, 1), self.choice(&large, from)])
    }

    /// The columns of the source on a grid of this size, or of the largest one that fits.
    fn test_grid(&mut self, mut tile: Replication) -> Result<TestGrid<'a, R>> {
        loop {
            match TestGrid::new(self.gpu, self.source, tile, self.knob) {
                Ok(test_grid) => return Ok(test_grid),
                Err(why) if why.is_of_gpu() && tile.nx.min(tile.ny) >= 2 * SMALLEST => {
                    tile = Replication { nx: tile.nx / 2, ny: tile.ny / 2 };
                    writeln!(self.out, "{tile} columns instead: {why}")?;
                }
                Err(error) => return Err(error),
            }
        }
    }

    /// Settings whose kernels compile, and give the results of the built-in one.
    fn sound(
        &mut self,
        test_grid: &TestGrid<'_, R>,
        settings: Vec<KnobSetting>,
    ) -> Result<Vec<KnobSetting>> {
        // Concurrently: compiling each takes seconds. Unusable settings are reported below.
        settings.par_iter().for_each(|one| drop(test_grid.candidate(one)));
        let dt = self.tune.dt;
        let result = |setting: &KnobSetting| test_grid.candidate(setting)?.result(dt);
        let expected = result(&self.built_in(test_grid))?;
        let mut sound = Vec::new();
        for setting in settings {
            let part = result(&setting).map(|x| part_off(&x, &expected, test_grid.shape().cells()));
            let fault = match part {
                Err(error) => error.to_string(),
                Ok(part) if part > FATES => format!("{:.1} % differ", 100.0 * part),
                Ok(_) => {
                    sound.push(setting);
                    continue;
                }
            };
            writeln!(self.out, "{setting} is skipped: {fault}")?;
        }
        Ok(sound)
    }

    /// Times of settings, the fastest first.
    fn round(
        &mut self,
        test_grid: &TestGrid<'_, R>,
        settings: &[KnobSetting],
        is_final: bool,
    ) -> Result<Vec<(KnobSetting, f64)>> {
        let runs = if is_final { self.tune.runs } else { FIRST_RUNS };
        let built_in = self.built_in(test_grid);
        let mut ranking = Vec::new();
        for setting in settings {
            let seconds = test_grid.candidate(setting)?.time(runs, self.tune.dt)?;
            ranking.push((setting.clone(), seconds));
            self.trials.push(Trial {
                knob: self.knob.name().to_owned(),
                precision: <R as Real>::NAME,
                nz: test_grid.shape().nz,
                grid: test_grid.shape().to_string(),
                setting: setting.to_string(),
                is_built_in: *setting == built_in,
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

    fn built_in(&self, test_grid: &TestGrid<'_, R>) -> KnobSetting {
        let shape = test_grid.shape();
        self.knob.built_in(<R as Real>::PRECISION, shape.nz, shape.columns())
    }

    /// The fastest setting on a grid: first all settings for a few calls, then the best also with other launch bounds,
    /// then the best of these against the built-in one.
    fn winner(&mut self, test_grid: &TestGrid<'_, R>, settings: &[KnobSetting]) -> Result<Fastest> {
        let mut ranking = self.round(test_grid, settings, false)?;
        let variants = ranking.iter().take(VARIED).flat_map(|(setting, _)| {
            self.knob.variants(setting, <R as Real>::PRECISION, test_grid.shape().nz)
        });
        let variants = variants.collect();
        let variants = self.sound(test_grid, variants)?;
        ranking.extend(self.round(test_grid, &variants, false)?);
        ranking.sort_by(|a, b| a.1.total_cmp(&b.1));
        let built_in = self.built_in(test_grid);
        let mut finalists: Vec<KnobSetting> = vec![built_in.clone()];
        let others = ranking.into_iter().map(|(setting, _)| setting).filter(|one| *one != built_in);
        finalists.extend(others.take(FINALISTS));
        let ranking = self.round(test_grid, &finalists, true)?;
        writeln!(self.out, "{} columns", test_grid.tile())?;
        for (setting, seconds) in &ranking {
            let note = if *setting == built_in { " (built in)" } else { "" };
            writeln!(self.out, "  {:>12.3} us  {setting}{note}", seconds * 1e6)?;
        }
        let of_built_in = ranking.iter().find(|(setting, _)| *setting == built_in);
        let built_in_seconds = of_built_in.map_or(f64::INFINITY, |(_, seconds)| *seconds);
        let (mut setting, mut seconds) = ranking[0].clone();
        if seconds > (1.0 - GAIN) * built_in_seconds {
            (setting, seconds) = (built_in, built_in_seconds);
        }
        Ok(Fastest { tile: test_grid.tile(), setting, seconds, built_in: built_in_seconds })
    }

    /// Columns from which on the setting of the large grid is faster, among powers of two between both grids.
    fn crossover(&mut self, small: &Fastest, large: &Fastest) -> Result<usize> {
        let [least, most] = [small, large].map(|won| won.tile.nx * won.tile.ny);
        let mut from = most;
        let mut power = most.ilog2();
        while power > 2 * SMALLEST.ilog2() && 1 << power > least {
            let tile = Replication { nx: 1 << power.div_ceil(2), ny: 1 << (power / 2) };
            let test_grid = self.test_grid(tile)?;
            let both = [small, large].map(|won| won.setting.clone());
            let ranking = self.round(&test_grid, &both, true)?;
            if ranking[0].0 == small.setting {
                break;
            }
            from = 1 << power;
            power -= 1;
        }
        Ok(from)
    }

    fn choice(&self, won: &Fastest, from_columns: usize) -> Choice {
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

/// The largest share of values of a field with more than rounding errors.
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

/// A time in µs with its significant digits.
pub(super) fn rounded(seconds: f64) -> f64 {
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
