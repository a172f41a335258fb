//! Soundings at a point.

use super::Drawn;
use super::pictures::place_name;
use super::scene::Scene;
use crate::diagnostics::section::{around, mean};
use crate::diagnostics::sounding::Sounding;
use crate::error::Result;
use crate::io::grid_north;
use crate::io::grid_north::{Axes, earth_relative, of_vector, unit_vector};
use crate::plot::colour::short;
use crate::plot::skew_t;

impl Scene<'_> {
    /// The column of air above a point.
    pub(super) fn sounding(&self) -> Drawn {
        let shape = self.input.shape();
        let around = around(self.point, [shape.nx, shape.ny]);
        let place = self.place(&around)?;
        let rotation = place.map(|place| self.rotation(&around, place)).transpose()?;
        let sounding = self.column(&around, rotation)?;
        let parcel = sounding.lift();
        let has_numbers = sounding.t.iter().any(|t| t.is_finite());
        let nothing = if has_numbers { "" } else { "; no numbers there" };
        let energies = parcel.as_ref().map_or(nothing.to_owned(), |parcel| {
            // Zero has no sign.
            let [cape, cin] = [parcel.cape, parcel.cin].map(|x| x.round() + 0.0);
            let lcl = parcel
                .condensation
                .map_or_else(|| "no LCL".to_owned(), |[p, _]| format!("LCL {:.0} hPa", p / 100.0));
            format!("; CAPE {cape} J kg⁻¹, CIN {cin} J kg⁻¹, {lcl}").replace('-', "−")
        });
        let mut words = format!("at {}", place_name(self.point));
        if let Some([longitude, latitude]) = place {
            words += &format!(" ({latitude:.2}°N {longitude:.2}°E)").replace('-', "−");
        }
        let mut below = vec![self.when(), format!("{words}{energies}")];
        if sounding.wind.is_some() && rotation.is_none() {
            below.push("wind along the axes of the grid, y upward".to_owned());
        }
        let is_southern = place.is_some_and(|[_, latitude]| latitude < 0.0);
        Ok(skew_t::draw("Sounding", &below, &sounding, parcel.as_ref(), is_southern))
    }

    /// Longitude and latitude of a point among its cells, degrees, if the grid is on Earth.
    fn place(&self, around: &Around) -> Result<Option<[f64; 2]>> {
        let Some([latitude, longitude]) = self.input.earth(self.time)? else { return Ok(None) };
        // By vectors, since longitudes jump at the date line and meet at a pole.
        let vector = |n: usize| mean(around, |at| unit_vector([longitude[at], latitude[at]])[n]);
        Ok(Some(of_vector([vector(0), vector(1), vector(2)])))
    }

    /// Sine and cosine of the angle from true east to the x axis of the grid at a point: from the file, else from its
    /// projection, else from its coordinates.
    fn rotation(&self, around: &Around, place: [f64; 2]) -> Result<[f64; 2]> {
        let stored = self.input.rotation(self.time)?;
        let attributes = self.input.projection()?;
        if let (None, Some(axes)) = (&stored, Axes::of(&attributes)) {
            return Ok(axes.at(place));
        }
        let fields = match (stored, self.input.earth(self.time)?) {
            (Some(fields), _) => fields,
            (None, Some([latitude, longitude])) => {
                grid_north::rotation(&attributes, &latitude, &longitude)
            }
            (None, None) => return Ok([0.0, 1.0]),
        };
        let [sine, cosine] = fields.map(|field| mean(around, |at| field[at]));
        let length = sine.hypot(cosine);
        Ok(if length > 0.0 { [sine / length, cosine / length] } else { [0.0, 1.0] })
    }

    /// The column at a point; its wind is eastward and northward if the direction of the axes is known.
    fn column(&self, around: &Around, rotation: Option<[f64; 2]>) -> Result<Sounding> {
        let (input, time, shape) = (self.input, self.time, self.input.shape());
        let profile = |field: ndarray::Array3<f32>| -> Vec<f64> {
            (0..shape.nz).map(|k| mean(around, |[j, i]| field[[k, j, i]].into())).collect()
        };
        let wind = if input.missing(&["U", "V"]).is_empty() {
            let [u, v] = input.wind(time)?.map(profile);
            let rotation = rotation.unwrap_or([0.0, 1.0]);
            let winds = u.iter().zip(&v).map(|(&u, &v)| earth_relative([u, v], rotation));
            let (east, north) = winds.map(|[east, north]| (east, north)).unzip();
            Some([east, north])
        } else {
            None
        };
        Ok(Sounding {
            p: profile(input.pressure(time)?),
            t: profile(input.temperature(time)?),
            qv: profile(input.volume("QVAPOR", time)?),
            wind,
        })
    }
}

/// The four cells around a point, and their weights.
type Around = [([usize; 2], f64); 4];

/// A number with a typographic sign, for the title of a difference.
pub(super) fn signed(x: f64) -> String {
    if x > 0.0 { format!("+{}", short(x)) } else { short(x) }
}
