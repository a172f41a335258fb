//! `--tracers`: passive tracers, from a file, by number for benchmarks, or from a restart file.

use std::path::Path;
use std::sync::Arc;

use crate::cli::run::refine::lack_of_memory;
use crate::constituents::Constituents;
use crate::error::{Error, Result};
use crate::grid::Shape;
use crate::io::out::selection::is_taken;
use crate::io::read::text;
use crate::io::restart::RestartFile;
use crate::os_text::Shown;
use crate::passive::PassiveTracers;

/// The requested passive tracers, or those of the continued run, whose scheme carries `set`.
pub(in crate::cli) fn recipe(
    set: &Arc<Constituents>,
    given: Option<&Path>,
    from: Option<&RestartFile>,
) -> Result<Option<PassiveTracers>> {
    if let Some(file) = from {
        let recipe = file
            .tracers()
            .map(|text| PassiveTracers::parse(set, file.path(), &text))
            .transpose()?;
        return Ok(recipe.map(PassiveTracers::without_path));
    }
    let Some(path) = given else { return Ok(None) };
    let number = path.to_str().and_then(|text| text.parse::<i64>().ok());
    let recipe = match number {
        Some(number) => PassiveTracers::numbered(set, number)?,
        None => PassiveTracers::parse(set, path, &text::read(path)?)?,
    };
    for tracer in recipe.set().passive() {
        if let Some(what) = is_taken(tracer.variable, set) {
            return Err(Error::Usage(format!(
                "{}: tracer {:?}: the output has {what} of that name; choose another one",
                path.shown(),
                tracer.name
            )));
        }
    }
    Ok(Some(recipe))
}

/// Most copies of a passive tracer's field on the host: input, state, comparison, frames under way, and a stage.
const COPIES: usize = 8;

/// Fails if the memory of this machine is not sufficient for the passive tracers of a run on a grid.
pub(in crate::cli) fn refuse_too_many(
    recipe: &PassiveTracers,
    shape: Shape,
    bytes: usize,
) -> Result<()> {
    let count = recipe.set().passive().len();
    let each = shape.cells().saturating_mul(COPIES * bytes);
    let Some([needed, free]) = lack_of_memory(count.saturating_mul(each)) else { return Ok(()) };
    let fitting = (1e9 * free / each as f64) as usize;
    Err(Error::Usage(format!(
        "--tracers: {count} tracers on a grid of {shape} cells need about {needed:.1} GB, and {free:.1} GB are free; \
         {fitting} would fit"
    )))
}
