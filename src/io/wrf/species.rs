//! Species of water of a WRF file, depending on its microphysics.
//!
//! WSM3 (`MP_PHYSICS` 3) has one condensate and one precipitation: below freezing QCLOUD is cloud ice and QRAIN is
//! snow. The scheme of warm rain (1) has no ice. The species of larger schemes are read unchanged.
//!
//! Source: Hong, Dudhia and Chen 2004, Mon. Wea. Rev. 132, 103-120, on the simple-ice scheme.

use std::path::Path;

use ndarray::{Array3, ArrayD, Zip};
use tracing::warn;

use super::Frame;
use super::source::TimeReader;
use crate::constants::Constants;
use crate::constituents::Constituents;
use crate::error::Result;
use crate::io::read::reader::Reader;
use crate::os_text::Shown;
use crate::thermo;

/// The number of WSM3.
const WSM3: f64 = 3.0;

/// Numbers of the schemes of WRF from version 2 to 4.7, including none (0).
const KNOWN: [u8; 40] = [
    0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 13, 14, 15, 16, 17, 18, 19, 21, 22, 24, 26, 27, 28, 29,
    30, 32, 38, 40, 50, 51, 52, 53, 55, 56, 85, 95, 97, 98,
];

/// The variables of liquid and of frozen water that WSM3 has in one, the first.
pub(super) const ONE_OF_WSM3: [[&str; 2]; 2] = [["QCLOUD", "QICE"], ["QRAIN", "QSNOW"]];

/// Message about a file of WSM3.
pub(super) const SPLIT: &str =
    "QICE, QSNOW: what of QCLOUD and QRAIN is colder than 273.15 K, as in WSM3 (MP_PHYSICS 3)";

/// Message about a file of WSM3 that a scheme without ice takes.
const MELTED: &str = "QCLOUD and QRAIN: as liquid where it is cold too, since the scheme has no ice and WSM3 (MP_PHYSICS 3) none apart";

/// Message about a file of WSM3 without temperature.
pub(super) const UNSPLIT: &str = "QCLOUD and QRAIN contain ice and snow, as in WSM3 (MP_PHYSICS 3), and without T (or THM), P and PB they \
                                  cannot be told apart";

/// Number of the scheme in WRF (`MP_PHYSICS`) of a file, if it states one.
pub(crate) fn number_of_scheme(path: &Path) -> Result<Option<f64>> {
    Reader::open(path)?.number("MP_PHYSICS")
}

/// Returns `true` if a file is of WSM3.
pub(super) fn is_wsm3(reader: &Reader) -> Result<bool> {
    Ok(reader.number("MP_PHYSICS")? == Some(WSM3))
}

/// Converts frozen cloud water and rain to ice and snow, in a file of WSM3 without ice and snow, for a scheme that has
/// these.
pub(super) fn split(source: &TimeReader<'_>, frame: &mut Frame) -> Result<()> {
    if !is_wsm3(source.reader)? {
        return Ok(());
    }
    let state = &mut frame.state;
    for [_, frozen] in ONE_OF_WSM3 {
        if state.get(frozen).is_none_or(|field| field.iter().any(|q| *q != 0.0)) {
            return Ok(());
        }
        // The window of a part may be without ice where the whole is not.
        let is_empty = |level: &ArrayD<f32>| level.iter().all(|q| *q == 0.0);
        if source.window.is_some() && source.has(frozen) && !source.all_levels(frozen, is_empty)? {
            return Ok(());
        }
    }
    let cold = below_freezing(state.theta(), &frame.pressure);
    for [liquid, frozen] in ONE_OF_WSM3 {
        let mut ice = std::mem::take(state.named_mut(frozen));
        Zip::from(state.named_mut(liquid)).and(&mut ice).and(&cold).for_each(
            |liquid, ice, &is_cold| {
                if is_cold {
                    *ice = std::mem::take(liquid);
                }
            },
        );
        *state.named_mut(frozen) = ice;
    }
    Ok(())
}

/// True where WSM3's water is frozen: by potential temperature less 300 K, and perturbation and base pressure, Pa.
pub(super) fn below_freezing(theta: &Array3<f32>, [p, pb]: &[Array3<f32>; 2]) -> Array3<bool> {
    Zip::from(theta).and(p).and(pb).map_collect(|&theta, &p, &pb| {
        let exner = thermo::exner(f64::from(p) + f64::from(pb));
        (f64::from(theta) + f64::THETA_BASE) * exner < f64::FREEZING
    })
}

/// Message about the conversion of species for a set; `None` without one.
pub(super) fn conversion_message(reader: &Reader, set: &Constituents) -> Result<Option<String>> {
    let has_ice = ONE_OF_WSM3.iter().all(|[_, frozen]| set.position(frozen).is_some());
    Ok(match reader.number("MP_PHYSICS")? {
        Some(number) if number == WSM3 => {
            Some(if has_ice { SPLIT.to_owned() } else { MELTED.to_owned() })
        }
        Some(number) if !KNOWN.iter().any(|known| f64::from(*known) == number) => {
            let names: Vec<_> = set.species().iter().map(|water| water.variable).collect();
            let words = match &names[..] {
                [names @ .., last] => format!("{} and {last}", names.join(", ")),
                [] => String::new(),
            };
            Some(format!(
                "the water: as of a scheme with {words}; MP_PHYSICS {number} is not known"
            ))
        }
        _ => None,
    })
}

/// Logs the conversion of the species of a file.
pub(super) fn tell(reader: &Reader, set: &Constituents) -> Result<()> {
    if let Some(words) = conversion_message(reader, set)? {
        warn!("{}: {words}", reader.path().shown());
    }
    Ok(())
}
