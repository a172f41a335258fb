//! The file of measured settings, which is read if there is a GPU: here by the library itself.

use std::panic::catch_unwind;
use std::path::Path;
use std::time::{Duration, Instant};

use nwp_mini::device::tuning::{Choice, Tuning};
use nwp_mini::gpu::tuning::Knob;
use nwp_mini::real::Precision;

use super::child::Ended;

/// The GPU that the good file is for.
const GPU: &str = "NVIDIA H200";

/// Time that reading may take.
const PATIENCE: Duration = Duration::from_secs(5);

/// A good file.
pub(crate) fn good() -> Vec<u8> {
    let mut tuning = Tuning::empty(GPU);
    let choice = |knob: &Knob, precision: Precision, from_columns: usize| Choice {
        knob: knob.name().to_owned(),
        precision: precision.name().to_owned(),
        nz: 27,
        from_columns,
        setting: knob.built_in(precision, 27, from_columns).to_string(),
        measured_on: 4118,
        us: 7.25,
        built_in_us: 11.8,
        date: "2026-11-21".to_owned(),
    };
    let sizes = [(Precision::F32, 1), (Precision::F32, 40_000), (Precision::F64, 1)];
    let knobs = Knob::all();
    let choices = knobs.iter().flat_map(|knob| sizes.map(|(real, from)| choice(knob, real, from)));
    tuning.replace(choices.collect());
    tuning.text().into_bytes()
}

/// Reads a file and looks up the settings of some grids; exit code 3 stands for a rejection.
///
/// # Errors
///
/// A violated requirement.
pub(crate) fn survives(path: &Path) -> Result<Ended, String> {
    let start = Instant::now();
    let read = catch_unwind(|| {
        let tuning = Tuning::load(path, GPU, Knob::is_possible)?;
        for (knob, columns) in Knob::all().into_iter().zip([4118, usize::MAX]) {
            tuning.as_ref().and_then(|t| t.choice(knob.name(), Precision::F32, 27, columns));
        }
        Ok(())
    });
    let seconds = start.elapsed().as_secs_f64();
    if start.elapsed() > PATIENCE {
        return Err(format!("took {seconds:.1} s"));
    }
    let read: Result<(), String> = read.map_err(|_| "panicked".to_owned())?;
    let (code, said) = read.map_or_else(|why| (3, why), |()| (0, String::new()));
    if code == 3 && (said.is_empty() || said.contains('\n')) {
        return Err(format!("is refused, but not in one line: {said:?}"));
    }
    Ok(Ended { code, said, seconds, memory: 0 })
}
