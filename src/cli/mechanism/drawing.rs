//! Sparsity pattern of the factors of the Jacobian as a picture.

use super::Subject;
use crate::plot::canvas::{Anchor, Picture, Text};
use crate::plot::colour::{FAINT, GREY, series};

/// Width of the pattern, px.
const EXTENT: f64 = 720.0;
/// Width for names on the left, px.
const LEFT: f64 = 90.0;
/// Margin above, px.
const TOP: f64 = 110.0;
/// Margin below and on the right, px.
const MARGIN: f64 = 30.0;
/// Row height from which on names are drawn, px.
const LEGIBLE: f64 = 7.0;
/// Largest font size of names, px.
const LARGEST: f64 = 13.0;

impl Subject {
    /// Entries of the Jacobian, and fill-in, in the order of the elimination.
    pub(super) fn drawing(&self) -> Picture {
        let (lu, size) = (&self.kinetics.lu, self.kinetics.lu.size());
        let name = &self.mechanism.name;
        let (width, height) = (LEFT + EXTENT + MARGIN, TOP + EXTENT + MARGIN);
        let title = format!("{name}: Jacobian and fill");
        let mut picture = Picture::new(width, height, &title);
        picture.text(Text::new([LEFT, 30.0], &title).bold().sized(16.0));
        let entries = self.kinetics.is_jacobian.iter().filter(|&&is| is).count();
        let [jacobian, fill] = [series(2), series(1)];
        let about = format!(
            "{entries} entries of the Jacobian, {} of fill; without reordering {} of both",
            lu.entries() - entries,
            self.kinetics.entries_unordered
        );
        picture.text(Text::new([LEFT, 52.0], about).coloured(GREY));
        for (place, (text, colour)) in
            [("Jacobian", jacobian), ("fill", fill)].into_iter().enumerate()
        {
            let x = LEFT + 110.0 * place as f64;
            picture.rectangle([x, 64.0], [12.0, 12.0], Some(colour), None);
            picture.text(Text::new([x + 18.0, 75.0], text));
        }
        let cell = EXTENT / size as f64;
        picture.rectangle(
            [LEFT, TOP],
            [EXTENT, EXTENT],
            None,
            Some(crate::plot::canvas::Stroke::solid(FAINT, 1.0)),
        );
        for row in 0..size {
            let y = TOP + row as f64 * cell;
            for entry in lu.row(row) {
                let x = LEFT + f64::from(lu.column[entry]) * cell;
                let colour = if self.kinetics.is_jacobian[entry] { jacobian } else { fill };
                picture.rectangle([x, y], [0.9 * cell, 0.9 * cell], Some(colour), None);
            }
            if cell >= LEGIBLE {
                let species = &self.mechanism.species[self.kinetics.variable[row]].name;
                let letters = (0.9 * cell).min(LARGEST);
                let text = Text::new([LEFT - 6.0, y + 0.8 * cell], species).sized(letters);
                picture.text(text.held(Anchor::End));
                let text = Text::new([LEFT + (row as f64 + 0.8) * cell, TOP - 6.0], species);
                picture.text(text.sized(letters).upright());
            }
        }
        picture
    }
}
