//! Species of water of a WRF file, depending on its microphysics.
//!
//! WSM3 (`MP_PHYSICS` 3) has one condensate and one precipitation: below freezing QCLOUD is cloud ice and QRAIN is
//! snow. The scheme of warm rain (1) has no ice. The species of larger schemes are read unchanged.
//!
//! Source: Hong, Dudhia and Chen 2004, Mon. Wea. Rev. 132, 103-120, on the simple-ice scheme.

use std::path::Path;

use ndarray::{Array3, Zip};
use tracing::warn;

use super::Frame;
use crate::constants::Constants;
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

/// Message about a file of WSM3 without temperature.
pub(super) const UNSPLIT: &str = "QCLOUD and QRAIN contain ice and snow, as in WSM3 (MP_PHYSICS 3), and without T (or THM), P and PB they \
                                  cannot be told apart";

/// The microphysics of a file, as its attributes state it.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct FileMicrophysics {
    /// Number of the scheme in WRF (`MP_PHYSICS`), if stated.
    pub number: Option<f64>,
    /// Variables of [`FROZEN`] in the file; all of them for WSM3, whose water and rain are in part ice and snow.
    pub frozen: Vec<&'static str>,
}

/// Variables that a scheme without ice does not use.
pub(crate) const FROZEN: [&str; 3] = ["QICE", "QSNOW", "SNOWNC"];

/// Determines the scheme of a file.
pub(crate) fn written(path: &Path) -> Result<FileMicrophysics> {
    let reader = &Reader::open(path)?;
    let number = reader.number("MP_PHYSICS")?;
    let is_split = is_wsm3(reader)?;
    let has = |name: &&str| is_split || reader.has(name);
    Ok(FileMicrophysics { number, frozen: FROZEN.into_iter().filter(has).collect() })
}

/// Returns `true` if a file is of WSM3.
pub(super) fn is_wsm3(reader: &Reader) -> Result<bool> {
    Ok(reader.number("MP_PHYSICS")? == Some(WSM3))
}

/// Converts frozen cloud water and rain to ice and snow, in a file of WSM3 without ice and snow.
pub(super) fn split(reader: &Reader, frame: &mut Frame) -> Result<()> {
    let has = |field: &Array3<f32>| field.iter().any(|q| *q != 0.0);
    if !is_wsm3(reader)? || has(frame.state.qi()) || has(frame.state.qs()) {
        return Ok(());
    }
    let cold = below_freezing(frame.state.theta(), &frame.pressure);
    let state = &mut frame.state;
    let [_, _, cloud, rain, ice, snow] = state.moist_air_mut();
    for (liquid, frozen) in [(cloud, ice), (rain, snow)] {
        Zip::from(liquid).and(frozen).and(&cold).for_each(|liquid, frozen, &is_cold| {
            if is_cold {
                *frozen = std::mem::take(liquid);
            }
        });
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

/// Message about the conversion of species; `None` without one.
pub(super) fn conversion_message(reader: &Reader) -> Result<Option<String>> {
    Ok(match reader.number("MP_PHYSICS")? {
        Some(number) if number == WSM3 => Some(SPLIT.to_owned()),
        Some(number) if !KNOWN.iter().any(|known| f64::from(*known) == number) => Some(format!(
            "the water: as of a scheme with QVAPOR, QCLOUD, QRAIN, QICE and QSNOW; MP_PHYSICS {number} is not known"
        )),
        _ => None,
    })
}

/// Logs the conversion of the species of a file.
pub(super) fn tell(reader: &Reader) -> Result<()> {
    if let Some(words) = conversion_message(reader)? {
        warn!("{}: {words}", reader.path().shown());
    }
    Ok(())
}
