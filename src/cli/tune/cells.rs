//! The mappings of cells to threads of a mechanism against each other.

use std::io::Write;

use time::OffsetDateTime;

use super::Tune;
use super::search::{GAIN, Trial, rounded};
use crate::chemistry::cells::Settings;
use crate::chemistry::gpu::{Integrator, Plan, ThreadMapping, integration_source, tuning};
use crate::chemistry::kinetics::Kinetics;
use crate::chemistry::mechanism::Mechanism;
use crate::cli::bench::chemistry::{INTERVAL, settings, warm_cells_of};
use crate::cli::bench::measurement::median;
use crate::device::Gpu;
use crate::device::tuning::Choice;
use crate::error::Result;
use crate::real::Precision;

/// Few cells and many: a level of a small grid, and all of it.
const COUNTS: [usize; 2] = [1 << 12, 1 << 17];

/// The forms of the kernels for a mechanism against each other.
struct Trials<'a, W> {
    tune: &'a Tune,
    gpu: &'a Gpu,
    mechanism: &'a Mechanism,
    kinetics: &'a Kinetics,
    /// Name of the setting in files.
    knob: String,
    out: &'a mut W,
    all: Vec<Trial>,
}

/// Forms by their times on some cells, s, the fastest first, with that of the built-in one.
struct Ranking {
    count: usize,
    times: Vec<(ThreadMapping, f64)>,
    built_in: f64,
}

/// Measures the mappings for a mechanism.
pub(super) fn measure(
    tune: &Tune,
    gpu: &Gpu,
    (mechanism, kinetics): &(Mechanism, Kinetics),
    out: &mut impl Write,
) -> Result<(Vec<Choice>, Vec<Trial>)> {
    let knob = tuning::name(kinetics);
    writeln!(out, "\n{knob}, which is {}", mechanism.name)?;
    let mut trials = Trials { tune, gpu, mechanism, kinetics, knob, out, all: Vec::new() };
    let choices = trials.decide()?;
    Ok((choices, trials.all))
}

impl<W: Write> Trials<'_, W> {
    /// The choices: one for all numbers of cells, or one for few and one for many.
    fn decide(&mut self) -> Result<Vec<Choice>> {
        let shared = self.gpu.device().shared_bytes as usize;
        let forms = tuning::candidates(self.kinetics, shared);
        let sources = forms.iter().map(|form| integration_source(self.kinetics, &plan(*form)));
        self.gpu.compile_ahead(sources.collect())?;
        let built_in = ThreadMapping::fastest(self.kinetics, shared);
        let [few, many] = COUNTS;
        let (few, many) =
            (self.ranking(&forms, built_in, few)?, self.ranking(&forms, built_in, many)?);
        let [best_of_few, best_of_many] = [&few, &many].map(|ranking| ranking.times[0].0);
        if best_of_few == best_of_many {
            return Ok(vec![self.choice(&many, 1)]);
        }
        let mut from = many.count;
        while from / 2 > few.count {
            let two = self.ranking(&[best_of_few, best_of_many], built_in, from / 2)?;
            // The built-in form may be before both.
            let first =
                two.times.iter().find(|(form, _)| [best_of_few, best_of_many].contains(form));
            if first.is_none_or(|(form, _)| *form == best_of_few) {
                break;
            }
            from /= 2;
        }
        writeln!(self.out, "{best_of_many} counts from {from} cells on")?;
        Ok(vec![self.choice(&few, 1), self.choice(&many, from)])
    }

    /// Times of some forms on so many cells. A form with other results than the built-in one is left out, and one that
    /// is not faster than that by more than noise comes after it.
    fn ranking(
        &mut self,
        forms: &[ThreadMapping],
        built_in: ThreadMapping,
        count: usize,
    ) -> Result<Ranking> {
        let settings = settings(INTERVAL);
        let cells = warm_cells_of(self.mechanism, self.kinetics, count);
        let mut times = Vec::new();
        let mut expected = None;
        let others = forms.iter().copied().filter(|form| *form != built_in);
        for form in [built_in].into_iter().chain(others) {
            let kernels = Integrator::new(self.gpu, self.kinetics, plan(form))?;
            let on_device = kernels.upload(&cells)?;
            // Once to warm up.
            kernels.timed(&on_device, &settings)?;
            let found = on_device.concentrations()?;
            if expected.get_or_insert_with(|| found.clone()) != &found {
                writeln!(self.out, "{form} is skipped: its results differ")?;
                continue;
            }
            let runs = (0..self.tune.runs).map(|_| kernels.timed(&on_device, &settings));
            let seconds = median(runs.collect::<Result<Vec<f64>>>()?);
            times.push((form, seconds));
            self.all.push(Trial::of_cells(
                self.gpu,
                &self.knob,
                count,
                (form, built_in),
                seconds,
                self.tune.runs,
            ));
        }
        let built_in_seconds = times[0].1;
        times.sort_by(|a, b| a.1.total_cmp(&b.1));
        writeln!(self.out, "{count} cells")?;
        for (form, seconds) in &times {
            let note = if *form == built_in { " (built in)" } else { "" };
            writeln!(self.out, "  {:>12.3} us  {form}{note}", seconds * 1e6)?;
        }
        if times[0].1 > (1.0 - GAIN) * built_in_seconds {
            times.sort_by_key(|(form, _)| *form != built_in);
        }
        Ok(Ranking { count, times, built_in: built_in_seconds })
    }

    fn choice(&self, ranking: &Ranking, from: usize) -> Choice {
        let (form, seconds) = ranking.times[0];
        Choice {
            knob: self.knob.clone(),
            precision: Precision::F64.name().to_owned(),
            nz: tuning::LEVELS_OF_CELLS,
            from_columns: from,
            setting: form.to_string(),
            measured_on: ranking.count,
            us: rounded(seconds),
            built_in_us: rounded(ranking.built_in),
            date: OffsetDateTime::now_utc().date().to_string(),
        }
    }
}

/// The plan of an integration with a mapping.
fn plan(form: ThreadMapping) -> Plan {
    let Settings { method, rates, .. } = settings(INTERVAL);
    Plan { method, rates, form }
}
