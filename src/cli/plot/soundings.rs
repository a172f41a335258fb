//! The sounding of a place.

use super::Drawn;
use super::pictures::place_name;
use super::scene::Scene;
use crate::diagnostics::section::{around, mean};
use crate::diagnostics::sounding::Sounding;
use crate::error::Result;
use crate::plot::colour::short;
use crate::plot::skew_t;

impl Scene<'_> {
    /// The column of air above a place.
    pub(super) fn sounding(&self) -> Result<Drawn> {
        if let Some(reason) = self.without(&["T|THM", "P", "PB", "QVAPOR"]) {
            return Ok(reason);
        }
        let sounding = self.column()?;
        let parcel = sounding.lift();
        let has_numbers = sounding.t.iter().any(|t| t.is_finite());
        let nothing = if has_numbers { "" } else { "; no numbers there" };
        let energies = parcel.as_ref().map_or(nothing.to_owned(), |parcel| {
            // Nothing has no sign.
            let [cape, cin] = [parcel.cape, parcel.cin].map(|x| x.round() + 0.0);
            let lcl = parcel.condensation[0] / 100.0;
            format!("; CAPE {cape} J kg⁻¹, CIN {cin} J kg⁻¹, LCL {lcl:.0} hPa").replace('-', "−")
        });
        let mut place = format!("at {}", place_name(self.point));
        if let Some(earth) = self.album.earth(self.time)? {
            let shape = self.album.shape();
            let around = around(self.point, [shape.nx, shape.ny]);
            let [latitude, longitude] = earth.map(|field| mean(&around, |at| field[at]));
            place += &format!(" ({latitude:.2}°N {longitude:.2}°E)").replace('-', "−");
        }
        let below = [self.when(), format!("{place}{energies}")];
        let picture = skew_t::draw("Sounding", &below, &sounding, parcel.as_ref());
        Ok(Drawn::Picture(Box::new(picture)))
    }

    fn column(&self) -> Result<Sounding> {
        let (album, time, shape) = (self.album, self.time, self.album.shape());
        let around = around(self.point, [shape.nx, shape.ny]);
        let profile = |field: ndarray::Array3<f32>| -> Vec<f64> {
            (0..shape.nz).map(|k| mean(&around, |[j, i]| field[[k, j, i]].into())).collect()
        };
        let wind = if album.missing(&["U", "V"]).is_empty() {
            Some(album.wind(time)?.map(profile))
        } else {
            None
        };
        Ok(Sounding {
            p: profile(album.pressure(time)?),
            t: profile(album.temperature(time)?),
            qv: profile(album.volume("QVAPOR", time)?),
            wind,
        })
    }
}

/// A number with its sign in print, for the title of a difference.
pub(super) fn signed(x: f64) -> String {
    if x > 0.0 { format!("+{}", short(x)) } else { short(x) }
}
