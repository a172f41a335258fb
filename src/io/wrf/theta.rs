//! The potential temperature of a WRF file: `T`, or `THM`, which may be moist.
//!
//! Since version 4 the model's prognostic variable is THM, which is θ (1 + rv / rd qv) if the attribute `USE_THETA_M`
//! is 1, and θ if it is 0; restart files have no other. Files of version 4.0 may also have a T that was never filled:
//! zero, or uniform.
//!
//! Source: Skamarock and others, ARW Technical Note, version 4, section 2.2.

use ndarray::Array3;
use tracing::warn;

use super::air;
use super::source::TimeReader;
use crate::calendar;
use crate::error::Result;
use crate::io::layout::Axes;
use crate::io::read::missing_values::MissingValues;
use crate::io::read::reader::Reader;
use crate::os_text::Shown;

/// Source of the potential temperature.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Origin {
    /// T.
    Own,
    /// THM, because T is missing.
    Thm {
        /// `true` if THM is moist.
        is_moist: bool,
        /// `true` if the file has a T that was never filled.
        has_empty_t: bool,
    },
}

impl Origin {
    /// Assumption, in words; `None` if T is used.
    pub(super) fn words(self) -> Option<String> {
        let Self::Thm { is_moist, has_empty_t } = self else { return None };
        let from = if is_moist {
            "from THM and QVAPOR"
        } else {
            "from THM, which is dry as USE_THETA_M is 0"
        };
        let why = if has_empty_t { "; T is the same everywhere and was never filled" } else { "" };
        Some(format!("theta: {from}{why}"))
    }
}

/// Returns `true` if THM is the moist potential temperature.
fn is_moist(reader: &Reader) -> Result<bool> {
    match reader.number("USE_THETA_M")? {
        Some(0.0) => Ok(false),
        // Files without the attribute are from versions in which it was always moist.
        None | Some(1.0) => Ok(true),
        Some(x) => Err(reader.error(format!(
            "attribute USE_THETA_M is {x}; 0 (THM is dry) or 1 (THM is moist) is needed to read THM"
        ))),
    }
}

/// Returns `true` if a field was never filled: no value, or a uniform one.
fn is_empty(field: &Array3<f32>) -> bool {
    let first = field.first().copied().unwrap_or(f32::NAN);
    field.iter().all(|x| *x == first || (x.is_nan() && first.is_nan()))
}

/// Chooses between T and THM; `read` reads them if they exist.
pub(super) fn choose(
    reader: &Reader,
    read: impl FnMut(&str) -> Result<Option<Array3<f32>>>,
) -> Result<(Array3<f32>, Origin)> {
    choose_by(reader, read, |_, field| Ok(is_empty(field)))
}

/// The same; `is_empty` tells whether one was never filled.
fn choose_by(
    reader: &Reader,
    mut read: impl FnMut(&str) -> Result<Option<Array3<f32>>>,
    is_empty: impl Fn(&str, &Array3<f32>) -> Result<bool>,
) -> Result<(Array3<f32>, Origin)> {
    let t = read("T")?;
    let thm = match &t {
        Some(t) if !is_empty("T", t)? => None,
        _ => read("THM")?,
    };
    match (t, thm) {
        (None, None) => Err(reader.error("has neither T nor THM")),
        (Some(t), None) => Ok((t, Origin::Own)),
        (Some(t), Some(thm)) if is_empty("THM", &thm)? => Ok((t, Origin::Own)),
        (t, Some(thm)) => {
            Ok((thm, Origin::Thm { is_moist: is_moist(reader)?, has_empty_t: t.is_some() }))
        }
    }
}

/// `true` if all levels of a variable have one value, or none.
fn is_uniform(source: &TimeReader<'_>, name: &str) -> Result<bool> {
    let mut first = None;
    source.all_levels(name, |level| {
        let first = *first.get_or_insert_with(|| level.first().copied().unwrap_or(f32::NAN));
        level.iter().all(|x| *x == first || (x.is_nan() && first.is_nan()))
    })
}

/// Potential temperature less 300 K; missing values are added to the list of the source. Shape: (nz, ny, nx).
pub(super) fn read(source: &TimeReader<'_>, qv: &Array3<f32>) -> Result<(Array3<f32>, Origin)> {
    let own = MissingValues::default();
    let (field, origin) = choose_by(
        source.reader,
        |name| {
            let holes = if name == "T" { Some(&own) } else { source.holes };
            let source = TimeReader { holes, ..*source };
            source.optional_volume(name)
        },
        |name, field| {
            // The window of a part may be uniform where the whole is not.
            Ok(is_empty(field) && (source.window.is_none() || is_uniform(source, name)?))
        },
    )?;
    match (origin, source.holes) {
        (Origin::Thm { is_moist: true, .. }, _) => Ok((air::dry_theta(field, qv), origin)),
        (Origin::Thm { .. }, _) => Ok((field, origin)),
        (Origin::Own, Some(holes)) => {
            own.move_to(holes);
            Ok((field, origin))
        }
        (Origin::Own, None) => source.volume("T", Axes::Volume).map(|field| (field, origin)),
    }
}

/// Logs the source of the potential temperature of the first time, if it is not T.
pub(super) fn tell(source: &TimeReader<'_>, origin: Origin, time: time::PrimitiveDateTime) {
    if let Some(words) = origin.words() {
        let path = source.reader.path().shown();
        warn!("{path}: at {}: {words}", calendar::format(time));
    }
}
