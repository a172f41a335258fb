//! `--restart` and `--restart-output`: continuing an earlier run.

use std::path::Path;

use clap::ValueEnum;
use tracing::warn;

use crate::advection::Limiter;
use crate::cli::option_values::{check_positive, value_name};
use crate::cli::physics_choice::{PhysicsChoice, VariantChoice, VariantOptions};
use crate::cli::run::options::{RunConfig, SchemeOptions, SchemeSettings};
use crate::cli::run::scheme::of_input;
use crate::cli::{FilePrecision, Precision};
use crate::domain::Attribute;
use crate::error::{Error, Result};
use crate::grid::Sides;
use crate::io::restart::{RestartFile, Restarter, RunConstants};
use crate::io::store::atomic_file::AtomicFile;
use crate::io::store::blocks;
use crate::io::wrf::series::Series;
use crate::model::RunInput;
use crate::os_text::Shown;
use crate::physics::registry;
use crate::projection::RESIDUAL;
use crate::time_steps::Plan;

impl SchemeOptions {
    /// Value of each option: the given one, else that of the restart file, else the default. Fails if a given value
    /// differs from that of the restart file.
    pub(in crate::cli) fn resolve(
        self,
        refine: Option<u16>,
        dt: Option<f64>,
        input: Option<&Path>,
        file: Option<&RestartFile>,
    ) -> Result<SchemeSettings> {
        let Self { precision, physics, variants, limiter, boundary, projection_residual } = self;
        check_residual(projection_residual)?;
        let Some(file) = file else {
            return Ok(SchemeSettings {
                precision: precision.unwrap_or(Precision::F32),
                physics: of_input(physics, variants, input)?.into(),
                limiter: limiter.unwrap_or(Limiter::PositiveDefinite),
                boundary,
                projection_residual: projection_residual.unwrap_or(RESIDUAL),
                refine: refine.map_or(1, usize::from),
                dt,
            });
        };
        let its = file.dt()?;
        if let Some(dt) = dt.filter(|dt| *dt != its) {
            return Err(differs(file, "dt", &dt.to_string(), &format!("steps of {its} s")));
        }
        let scheme: PhysicsChoice = kept(file, PHYSICS, physics, value_name, of_name)?;
        let variant = kept_variant(file, scheme, variants)?;
        let number = |text: &str| text.parse::<f64>().map_err(|e| e.to_string());
        let residual =
            kept(file, PROJECTION_RESIDUAL, projection_residual, f64::to_string, number)?;
        let whole = |text: &str| text.parse::<u16>().map_err(|e| e.to_string());
        Ok(SchemeSettings {
            precision: kept(file, "precision", precision, value_name, of_name)?,
            physics: registry::make(scheme.0.key, variant)?.into(),
            limiter: kept(file, "limiter", limiter, value_name, of_name)?,
            boundary: Some(kept(file, "boundary", boundary, Sides::to_string, str::parse)?),
            projection_residual: residual,
            refine: kept(file, "refine", refine, u16::to_string, whole)?.into(),
            dt: Some(its),
        })
    }
}

/// The variant in a restart file, which a given one must equal.
fn kept_variant(
    file: &RestartFile,
    scheme: PhysicsChoice,
    options: VariantOptions,
) -> Result<Option<&'static str>> {
    scheme.check_variants(options)?;
    if scheme.0.variants.is_empty() {
        return Ok(None);
    }
    let given = options.given().next().map(|(_, variant)| variant);
    let parse = |name: &str| {
        let found = scheme.0.variants.iter().find(|variant| variant.key == name);
        found
            .map(VariantChoice)
            .ok_or_else(|| format!("{name} is no variant of {}", scheme.0.title))
    };
    let VariantChoice(its) = kept(file, scheme.0.variant_option, given, value_name, parse)?;
    Ok(Some(its.key))
}

/// The option of the scheme.
const PHYSICS: &str = "physics";

/// The option of the wind projection.
const PROJECTION_RESIDUAL: &str = "projection_residual";

/// Largest value of that option, Pa h⁻¹: a part in 10⁵ of the mass of a column in an hour.
const MOST_RESIDUAL: f64 = 1.0;

/// Fails if the winds would not conserve mass.
fn check_residual(given: Option<f64>) -> Result<()> {
    check_positive("--projection-residual", given)?;
    match given {
        Some(residual) if residual > MOST_RESIDUAL => Err(Error::Usage(format!(
            "--projection-residual {residual}: the columns would not conserve their mass; choose \
             at most {MOST_RESIDUAL} Pa/h"
        ))),
        _ => Ok(()),
    }
}

fn of_name<T: ValueEnum>(name: &str) -> Result<T, String> {
    T::from_str(name, false)
}

/// The value in a restart file, which a given one must equal.
fn kept<T>(
    file: &RestartFile,
    name: &str,
    given: Option<T>,
    show: impl Fn(&T) -> String,
    parse: impl Fn(&str) -> Result<T, String>,
) -> Result<T> {
    let its = match file.option(name) {
        // Older programs had no other scheme or value.
        None if name == PHYSICS => value_name(&PhysicsChoice::default()),
        None if name == PROJECTION_RESIDUAL => RESIDUAL.to_string(),
        _ => file.text(name)?,
    };
    if let Some(given) = given.map(|given| show(&given)).filter(|given| *given != its) {
        return Err(differs(file, name, &given, &format!("--{} {its}", name.replace('_', "-"))));
    }
    parse(&its).map_err(|e| Error::input(file.path(), format!("attribute {name}: {e}")))
}

fn differs(file: &RestartFile, name: &str, given: &str, its: &str) -> Error {
    let name = name.replace('_', "-");
    Error::Usage(format!(
        "--{name} {given}: the run that wrote {} used {its}, which its continuation must keep; \
         omit the option, or start again with --input",
        file.path().shown()
    ))
}

/// Says where the bits may not be those of a run without a break.
pub(in crate::cli) fn warn_of_another_backend(from: Option<&RestartFile>, kind: &str) {
    let Some(file) = from else { return };
    let its = file.text("backend").unwrap_or_default();
    if its != kind {
        warn!(
            "{} was computed by the backend {its}, and this is {kind}: results continue with \
             other rounding",
            file.path().shown()
        );
    }
}

/// Writer of the restart files of a run; `pending` is that of the first rank.
pub(in crate::cli) fn restarter<R: FilePrecision>(
    pending: Option<AtomicFile>,
    config: &RunConfig,
    (case, series, plan): (&RunInput<R>, Series, &Plan),
    provenance: Vec<(String, Attribute)>,
) -> Restarter {
    let choices = [
        ("limiter", value_name(&config.scheme.limiter)),
        ("boundary", case.domain.grid.sides.to_string()),
        ("refine", config.scheme.refine.to_string()),
        (PROJECTION_RESIDUAL, config.scheme.projection_residual.to_string()),
    ];
    let precision = std::iter::once(("precision", R::NAME.to_owned()));
    let physics = &config.scheme.physics;
    let is_usual = PhysicsChoice::default().0 == physics.about();
    // The usual scheme is not named, as in files of versions without another one.
    let key = (!is_usual).then(|| (PHYSICS, physics.about().key.to_owned()));
    let variant =
        physics.variant().map(|variant| (physics.about().variant_option, variant.key.to_owned()));
    let scheme = key.into_iter().chain(variant);
    let recipe = config.tracers.as_ref().filter(|recipe| !recipe.text.is_empty());
    let tracers = recipe.map(|recipe| ("tracers", recipe.text.clone()));
    let chemistry = config.chemistry.iter().flat_map(|chosen| chosen.kept.iter().cloned());
    let about = RunConstants {
        domain: series.coarse(&case.domain).0.clone(),
        column_mass: case.given.column_mass.clone(),
        series,
        dt: plan.dt,
        options: precision.chain(scheme).chain(choices).chain(tracers).chain(chemistry).collect(),
        provenance,
    };
    match (&case.divided, pending) {
        (Some(divided), pending) => Restarter::divided(pending.map(blocks), about, divided),
        (None, pending) => Restarter::new(pending.map(blocks), about),
    }
}
