//! The potential temperature of a WRF file: `T`, or `THM`, which is moist or dry.
//!
//! Since version 4 the model steps THM, which is θ (1 + rv / rd qv) where the attribute `USE_THETA_M` is 1, and θ
//! itself where it is 0; restart files hold nothing else. Files of version 4.0 may have a T that nobody has
//! filled beside it: zero, or the same everywhere.
//!
//! Source: Skamarock and others, ARW Technical Note, version 4, section 2.2.

use ndarray::Array3;
use tracing::warn;

use super::air;
use super::source::{Place, Source};
use crate::calendar;
use crate::error::Result;
use crate::io::holes::Holes;
use crate::io::reader::Reader;

/// Source of the potential temperature.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Origin {
    /// T.
    Own,
    /// THM, because T is not there.
    Thm {
        /// `true` if it is moist.
        is_moist: bool,
        /// `true` if there is a T that was never filled.
        has_empty_t: bool,
    },
}

impl Origin {
    /// Assumption, in words; `None` if it is T itself.
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
        // Files that do not tell are of the time when it was always moist.
        None | Some(1.0) => Ok(true),
        Some(x) => Err(reader.error(format!(
            "attribute USE_THETA_M is {x}; 0 (THM is dry) or 1 (THM is moist) is needed to read THM"
        ))),
    }
}

/// Returns `true` if a field says nothing: no value, or the same one everywhere.
fn is_empty(field: &Array3<f32>) -> bool {
    let first = field.first().copied().unwrap_or(f32::NAN);
    field.iter().all(|x| *x == first || (x.is_nan() && first.is_nan()))
}

/// Chooses between T and THM, which `read` reads where they are there.
pub(super) fn choose(
    reader: &Reader,
    mut read: impl FnMut(&str) -> Result<Option<Array3<f32>>>,
) -> Result<(Array3<f32>, Origin)> {
    let t = read("T")?;
    let thm = match &t {
        Some(t) if !is_empty(t) => None,
        _ => read("THM")?,
    };
    match (t, thm) {
        (None, None) => Err(reader.error("has neither T nor THM")),
        (Some(t), None) => Ok((t, Origin::Own)),
        (Some(t), Some(thm)) if is_empty(&thm) => Ok((t, Origin::Own)),
        (t, Some(thm)) => {
            Ok((thm, Origin::Thm { is_moist: is_moist(reader)?, has_empty_t: t.is_some() }))
        }
    }
}

/// Potential temperature less 300 K; missing values go to the list of the source. Shape: (nz, ny, nx).
pub(super) fn read(source: &Source<'_>, qv: &Array3<f32>) -> Result<(Array3<f32>, Origin)> {
    let own = Holes::default();
    let (field, origin) = choose(source.reader, |name| {
        let holes = if name == "T" { Some(&own) } else { source.holes };
        let source = Source { holes, ..*source };
        if source.has(name) { source.volume(name, Place::Centre).map(Some) } else { Ok(None) }
    })?;
    match (origin, source.holes) {
        (Origin::Thm { is_moist: true, .. }, _) => Ok((air::dry_theta(field, qv), origin)),
        (Origin::Thm { .. }, _) => Ok((field, origin)),
        (Origin::Own, Some(holes)) => {
            own.give(holes);
            Ok((field, origin))
        }
        (Origin::Own, None) => source.volume("T", Place::Centre).map(|field| (field, origin)),
    }
}

/// Says where the potential temperature of the first time comes from, where it is not T.
pub(super) fn tell(source: &Source<'_>, origin: Origin, time: time::PrimitiveDateTime) {
    if let Some(words) = origin.words() {
        let path = source.reader.path().display();
        warn!("{path}: at {}: {words}", calendar::format(time));
    }
}
