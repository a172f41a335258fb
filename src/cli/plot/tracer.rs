//! The map of a tracer.

use ndarray::Axis;

use super::Drawn;
use super::pictures::{NO_VALUES, gaps, place_name};
use super::scene::Scene;
use crate::diagnostics::view;
use crate::error::Result;
use crate::plot::colour::{Scale, short};

impl Scene<'_> {
    /// A tracer in the lowest layer.
    pub(super) fn tracer(&self, name: &'static str) -> Result<Drawn> {
        if let Some(reason) = self.without(&[name]) {
            return Ok(reason);
        }
        let volume = self.album.volume(name, self.time)?;
        let field = volume.index_axis(Axis(0), 0).mapv(f64::from);
        let units = self.album.units(name);
        let named = format!("{name}, {}", units.as_deref().unwrap_or("units not told"));
        let largest = view::largest(&field);
        let (most, [j, i]) = largest.unwrap_or((0.0, [0, 0]));
        let least = -view::largest(&field.mapv(|x| -x)).map_or(0.0, |(most, _)| most);
        // Values below zero ask for a scale of two sides.
        let scale = if least < 0.0 {
            Scale::differences(&named, most.max(-least))
        } else {
            Scale::amounts(&named, most)
        };
        let about = format!(
            "in the lowest layer; mean {}, smallest {}, largest {} at {}{}",
            short(view::mean(field.iter().copied())),
            short(least),
            short(most),
            place_name([i as f64, j as f64]),
            gaps(&field)
        );
        let (about, note) = match largest {
            None => (NO_VALUES.to_owned(), Some(NO_VALUES.to_owned())),
            Some(_) => (about, None),
        };
        self.map(&format!("Tracer {name}"), about, &field, &scale, note)
    }
}
