//! `--tracers`: passive tracers, out of a file, in a number, or as a restart file has them.

use std::path::Path;

use crate::cli::refine::free_memory;
use crate::error::{Error, Result};
use crate::grid::Shape;
use crate::io::restart::RestartFile;
use crate::io::selection::is_taken;
use crate::io::text;
use crate::os_text::Shown;
use crate::passive::Recipe;

/// The passive tracers that a run is asked to carry, or that the run carries which it goes on from.
///
/// # Errors
///
/// Those of [`Recipe::parse`], and [`Error::Usage`] for a name that the output has for something else.
pub(super) fn recipe(given: Option<&Path>, from: Option<&RestartFile>) -> Result<Option<Recipe>> {
    if let Some(file) = from {
        let recipe = file.tracers().map(|text| Recipe::parse(file.path(), &text)).transpose()?;
        return Ok(recipe.map(Recipe::without_path));
    }
    let Some(path) = given else { return Ok(None) };
    let number = path.to_str().and_then(|text| text.parse::<i64>().ok());
    let recipe = match number {
        Some(number) => Recipe::numbered(number)?,
        None => Recipe::parse(path, &text::read(path)?)?,
    };
    for tracer in recipe.set().passive() {
        if let Some(what) = is_taken(tracer.variable) {
            return Err(Error::Usage(format!(
                "{}: tracer {:?}: the output has {what} of that name; give another one",
                path.shown(),
                tracer.name
            )));
        }
    }
    Ok(Some(recipe))
}

/// Copies of a field that the host has of a passive tracer at most: as read, as carried, as it is compared, in the
/// frames on their way, and a stage.
const COPIES: usize = 8;

/// Fails where the memory of this machine does not hold the passive tracers of a run on a grid.
///
/// # Errors
///
/// [`Error::Usage`] with the needed and the free memory, and the number that would fit.
pub(super) fn refuse_too_many(recipe: &Recipe, shape: Shape, bytes: usize) -> Result<()> {
    let count = recipe.set().passive().len();
    let each = shape.cells().saturating_mul(COPIES * bytes);
    let (needed, free) = (count.saturating_mul(each), free_memory());
    if free.is_none_or(|free| needed <= free) {
        return Ok(());
    }
    let free = free.unwrap_or_default();
    Err(Error::Usage(format!(
        "--tracers: {count} tracers on a grid of {shape} cells need about {:.1} GB, and {:.1} GB are free; {} would \
         fit",
        needed as f64 / 1e9,
        free as f64 / 1e9,
        free / each
    )))
}
