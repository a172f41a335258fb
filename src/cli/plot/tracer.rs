//! Pictures of a tracer: a map of the lowest layer, a section, a series.

use ndarray::{Array2, Array3, Axis};

use super::Drawn;
use super::pictures::{CUT, NO_VALUES, gaps, place_name};
use super::scene::{Scene, TimeAxis};
use crate::diagnostics::column_ops;
use crate::diagnostics::section::CrossSection;
use crate::passive::SPECIES_UNITS;
use crate::plot::canvas::Stroke;
use crate::plot::colour::{Scale, series, short};
use crate::plot::curves::{Curve, Layout, Panel};
use crate::plot::{curves, section};

/// Upper edge of a section, m: the troposphere and some of the stratosphere.
const TOP: f64 = 15_000.0;

/// Units of a picture, and the factor to them.
#[derive(Clone, Debug, PartialEq)]
struct Shown {
    units: String,
    factor: f64,
    /// True for a species of chemistry, whose classes have equal width between its extrema.
    is_species: bool,
}

impl Shown {
    /// Usual units of a species in ppmv of this magnitude; otherwise the units of the file.
    fn of(units: Option<&str>, most: f64) -> Self {
        /// Unit names, number of units in a ppmv, and least amount in that unit, ppmv.
        const SMALLER: [(&str, f64, f64); 3] =
            [("ppmv", 1.0, 1.0), ("ppbv", 1e3, 1e-4), ("pptv", 1e6, 0.0)];
        if units != Some(SPECIES_UNITS) {
            let units = units.unwrap_or("units not told").to_owned();
            return Self { units, factor: 1.0, is_species: false };
        }
        let found = SMALLER.into_iter().find(|(_, _, least)| most >= *least);
        let (units, factor, _) = found.unwrap_or(SMALLER[2]);
        Self { units: units.to_owned(), factor, is_species: true }
    }

    /// A scale for values between two extrema.
    fn scale(&self, name: &str, [least, most]: [f64; 2]) -> Scale {
        let named = format!("{name}, {}", self.units);
        if least < 0.0 && !self.is_species {
            // Negative values need a diverging scale.
            Scale::differences(&named, most.max(-least))
        } else if self.is_species {
            Scale::levels(&named, [least.max(0.0), most])
        } else {
            Scale::amounts(&named, most)
        }
    }
}

/// The extrema of a field: 0 and 0 without any number.
fn extremes(field: &Array2<f64>) -> [f64; 2] {
    let finite = || field.iter().copied().filter(|x| x.is_finite());
    if finite().next().is_none() {
        return [0.0; 2];
    }
    [finite().fold(f64::INFINITY, f64::min), finite().fold(f64::NEG_INFINITY, f64::max)]
}

/// The lowest layer of a field.
pub(super) fn lowest(volume: &Array3<f32>) -> Array2<f64> {
    volume.index_axis(Axis(0), 0).mapv(f64::from)
}

impl Scene<'_> {
    /// Units of the pictures of a tracer with this largest value.
    fn shown(&self, name: &str, most: f64) -> Shown {
        Shown::of(self.input.units(name).as_deref(), most)
    }

    /// A tracer in the lowest layer.
    pub(super) fn tracer(&self, name: &'static str) -> Drawn {
        let field = lowest(&self.input.volume(name, self.time)?);
        let shown = self.shown(name, extremes(&field)[1]);
        let field = field.mapv_into(|x| x * shown.factor);
        let (most, [j, i]) = column_ops::largest(&field).unwrap_or((0.0, [0, 0]));
        let [least, _] = extremes(&field);
        let about = format!(
            "in the lowest layer; mean {}, smallest {}, largest {} at {}{}",
            short(column_ops::mean(field.iter().copied())),
            short(least),
            short(most),
            place_name([i as f64, j as f64]),
            gaps(&field)
        );
        let scale = shown.scale(name, [least, most]);
        self.map(&format!("Tracer {name}"), about, &field, &scale, None)
    }

    /// A vertical section of a tracer.
    pub(super) fn tracer_section(&self, name: &'static str) -> Drawn {
        let faces = self.input.heights(self.time)?;
        let lid = column_ops::level_means(&faces).last().copied().unwrap_or(TOP);
        let top = TOP.min(lid);
        let cut = CrossSection::new(self.line, &faces, CUT, top);
        let field = cut.of(&self.input.volume(name, self.time)?);
        let shown = self.shown(name, extremes(&field)[1]);
        let field = field.mapv_into(|x| x * shown.factor);
        let is_empty = field.iter().all(|x| !x.is_finite());
        let panel = section::Panel {
            title: format!("{name}, {}", shown.units),
            scale: shown.scale(name, extremes(&field)),
            field: &field,
            lines: Vec::new(),
            wind: None,
            note: is_empty.then(|| NO_VALUES.to_owned()),
        };
        Ok(self.cut_open(format!("Vertical section of {name}"), &cut, top, vec![panel]))
    }

    /// Mean and extrema of a tracer in the lowest layer in time.
    pub(super) fn tracer_series(&self, name: &'static str) -> Drawn {
        let TimeAxis { minutes, unit, name: axis } = self.time_axis()?;
        let times = self.input.times();
        let mut rows = Vec::with_capacity(times.len());
        for time in 0..times.len() {
            let field = lowest(&self.input.volume(name, time)?);
            let [least, most] = extremes(&field);
            rows.push([column_ops::mean(field.iter().copied()), least, most]);
        }
        let most = rows.iter().map(|row| row[2]).fold(0.0, f64::max);
        let shown = self.shown(name, most);
        let span = minutes[minutes.len() - 1];
        let curve = |words: &str, which: usize, colour: usize| Curve {
            name: words.to_owned(),
            points: minutes
                .iter()
                .zip(&rows)
                .map(|(minute, row)| [minute / unit, row[which] * shown.factor])
                .collect(),
            stroke: Stroke::solid(series(colour), 2.2),
            has_dots: times.len() <= 40,
        };
        let panel = Panel {
            title: format!("{name} in the lowest layer"),
            names: [axis.to_owned(), shown.units.clone()],
            curves: vec![curve("mean", 0, 0), curve("smallest", 1, 2), curve("largest", 2, 1)],
            zero_on: None,
            x_range: Some([0.0, span / unit]),
        };
        let below = [self.period(), "over all cells of the lowest layer".to_owned()];
        let layout = Layout { columns: 1, size: [700.0, 300.0] };
        Ok(curves::draw(&format!("{name} in time"), &below, &[panel], layout))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn species_have_the_units_of_their_amount() {
        let of = |units, most| {
            let Shown { units, factor, .. } = Shown::of(units, most);
            (units, factor)
        };
        assert_eq!(of(Some("ppmv"), 380.0), ("ppmv".to_owned(), 1.0));
        assert_eq!(of(Some("ppmv"), 0.05), ("ppbv".to_owned(), 1e3));
        assert_eq!(of(Some("ppmv"), 3e-4), ("ppbv".to_owned(), 1e3));
        assert_eq!(of(Some("ppmv"), 2e-7), ("pptv".to_owned(), 1e6));
        assert_eq!(of(Some("kg kg-1"), 2e-7), ("kg kg-1".to_owned(), 1.0));
        assert_eq!(of(None, 2e-7).0, "units not told");
    }
}
