//! The vertical coordinate of a WRF file, classic or hybrid, with checks of its profiles.

use tracing::debug;

use super::source::TimeReader;
use crate::domain::{
    Vertical,
    vertical::{differences, reciprocals},
};
use crate::error::Result;
use crate::io::layout::Axes;
use crate::io::read::reader::{Reader, try_map};

/// Names of the profiles in the layers, and of those at the z-faces.
pub(super) const LAYER_PROFILES: [&str; 9] =
    ["ZNU", "DNW", "RDNW", "DN", "RDN", "FNM", "FNP", "C1H", "C2H"];
/// See [`LAYER_PROFILES`].
pub(super) const FACE_PROFILES: [&str; 3] = ["ZNW", "C1F", "C2F"];

/// Reads the profiles, and derives missing ones from the eta levels.
pub(super) fn read(source: &TimeReader<'_>) -> Result<Vertical> {
    let layer = |name: &str| source.profile(name, Axes::Layer);
    let face = |name: &str| source.profile(name, Axes::Face);
    let rdnw = match (layer("RDNW")?, layer("DNW")?, face("ZNW")?) {
        (Some(rdnw), _, _) => rdnw,
        (None, Some(dnw), _) => reciprocals(&dnw),
        (None, None, Some(znw)) => reciprocals(&differences(&znw)),
        (None, None, None) => return Err(source.reader.error("has no ZNW, DNW or RDNW")),
    };
    let dnw = layer("DNW")?.unwrap_or_else(|| reciprocals(&rdnw));
    let znw = face("ZNW")?.unwrap_or_else(|| {
        let levels = dnw.iter().scan(1.0, |eta, d| {
            *eta += d;
            Some(*eta)
        });
        std::iter::once(1.0).chain(levels).collect()
    });
    check_levels(source.reader, &rdnw, &dnw, &znw)?;
    check_hybrid(source, layer("C1H")?.is_some())?;
    let p_top = source.scalar("P_TOP")?.unwrap_or(0.0);
    let derived = Vertical::derived(znw, [dnw, rdnw], p_top);
    let or = |found: Option<Vec<f64>>, name: &str, derived: &[f64]| {
        found.unwrap_or_else(|| {
            debug!("{name} is not in the file and is derived from the eta levels");
            derived.to_vec()
        })
    };
    let (layers, faces) = derived.profiles();
    let layers = std::array::from_fn(|n| (LAYER_PROFILES[n], layers[n]));
    let faces = std::array::from_fn(|n| (FACE_PROFILES[n], faces[n]));
    let layers = try_map(layers, |(name, derived)| Ok(or(layer(name)?, name, derived)))?;
    let faces = try_map(faces, |(name, derived)| Ok(or(face(name)?, name, derived)))?;
    Ok(Vertical::of_profiles(layers, faces, p_top))
}

/// Tolerance between the eta levels of a file and its layer thicknesses, relative to a layer.
///
/// Both are rounded to single precision, which is 1e-4 of a layer with a thickness of 1e-3.
const LEVEL_TOLERANCE: f64 = 1e-3;

/// Fails if eta does not decrease upward, or if the profiles contradict each other.
pub(in crate::io) fn check_levels(
    reader: &Reader,
    rdnw: &[f64],
    dnw: &[f64],
    znw: &[f64],
) -> Result<()> {
    let layers = differences(znw);
    for (k, &thickness) in layers.iter().enumerate() {
        if [rdnw[k], dnw[k], thickness].iter().any(|x| *x >= 0.0 || !x.is_finite()) {
            return Err(reader.error(format!(
                "eta (ZNW, DNW, RDNW) does not fall from face {k} to face {}; it must fall from 1 \
                 at the ground to 0 at the lid",
                k + 1
            )));
        }
    }
    for (k, &thickness) in layers.iter().enumerate() {
        for (name, other) in [("DNW", dnw[k]), ("1 / RDNW", 1.0 / rdnw[k])] {
            if (other / thickness - 1.0).abs() > LEVEL_TOLERANCE {
                return Err(reader.error(format!(
                    "layer {k} has the eta thickness {other} by {name} and {thickness} by ZNW; \
                     they must agree"
                )));
            }
        }
    }
    Ok(())
}

/// Fails if a file with the hybrid coordinate lacks the coefficients of its layers.
fn check_hybrid(source: &TimeReader<'_>, has_c1h: bool) -> Result<()> {
    let option = source.reader.number("HYBRID_OPT")?.unwrap_or(0.0);
    if option > 0.0 && !has_c1h {
        return Err(source.reader.error(format!(
            "is on the hybrid coordinate (attribute HYBRID_OPT is {option}) and lacks C1H; the \
             mass of its layers needs C1H and C2H"
        )));
    }
    Ok(())
}
