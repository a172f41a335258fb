//! The letters of the pictures: a font inside the program, so that none of the system is needed.

use skrifa::instance::{LocationRef, Size};
use skrifa::outline::{DrawSettings, OutlinePen};
use skrifa::{FontRef, GlyphId, MetadataProvider};

static REGULAR: &[u8] = include_bytes!("font/DejaVuSans.ttf");
static BOLD: &[u8] = include_bytes!("font/DejaVuSans-Bold.ttf");

/// How thick letters are.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Weight {
    /// As in a text.
    #[default]
    Regular,
    /// As in a title.
    Bold,
}

fn font(weight: Weight) -> FontRef<'static> {
    let bytes = match weight {
        Weight::Regular => REGULAR,
        Weight::Bold => BOLD,
    };
    FontRef::new(bytes).expect("the font inside the program is one")
}

/// Width of a line of text. Units: `size` px; returns px.
pub fn width(text: &str, size: f64, weight: Weight) -> f64 {
    let font = font(weight);
    let (letters, widths) =
        (font.charmap(), font.glyph_metrics(Size::new(size as f32), LocationRef::default()));
    let width = |c: char| widths.advance_width(letters.map(c).unwrap_or(GlyphId::NOTDEF));
    text.chars().filter_map(width).map(f64::from).sum()
}

/// Draws the outlines of a line of text that begins at `at`, with y downward. A letter that the font
/// does not have is an empty box.
pub(super) fn outlines(
    text: &str,
    size: f64,
    weight: Weight,
    at: [f64; 2],
    path: &mut tiny_skia::PathBuilder,
) {
    let font = font(weight);
    let size = Size::new(size as f32);
    let (letters, shapes) = (font.charmap(), font.outline_glyphs());
    let widths = font.glyph_metrics(size, LocationRef::default());
    let [mut x, y] = at.map(|place| place as f32);
    for c in text.chars() {
        let glyph = letters.map(c).unwrap_or(GlyphId::NOTDEF);
        if let Some(shape) = shapes.get(glyph) {
            let settings = DrawSettings::unhinted(size, LocationRef::default());
            // A space has no outline, and the letters of the font are whole.
            let _ = shape.draw(settings, &mut Pen { path, x, y });
        }
        x += widths.advance_width(glyph).unwrap_or(0.0);
    }
}

/// Puts outlines of letters, with y upward, into a path of the picture.
struct Pen<'a> {
    path: &'a mut tiny_skia::PathBuilder,
    x: f32,
    y: f32,
}

impl OutlinePen for Pen<'_> {
    fn move_to(&mut self, x: f32, y: f32) {
        self.path.move_to(self.x + x, self.y - y);
    }

    fn line_to(&mut self, x: f32, y: f32) {
        self.path.line_to(self.x + x, self.y - y);
    }

    fn quad_to(&mut self, cx: f32, cy: f32, x: f32, y: f32) {
        self.path.quad_to(self.x + cx, self.y - cy, self.x + x, self.y - y);
    }

    fn curve_to(&mut self, ax: f32, ay: f32, bx: f32, by: f32, x: f32, y: f32) {
        let (left, base) = (self.x, self.y);
        self.path.cubic_to(left + ax, base - ay, left + bx, base - by, left + x, base - y);
    }

    fn close(&mut self) {
        self.path.close();
    }
}

/// The beginning of a text that is no wider than `most` px, with an ellipsis where something is cut.
pub fn fitted(text: &str, most: f64, size: f64, weight: Weight) -> String {
    if width(text, size, weight) <= most {
        return text.to_owned();
    }
    let mut cut = String::new();
    for c in text.chars() {
        cut.push(c);
        if width(&cut, size, weight) + width("…", size, weight) > most {
            cut.pop();
            break;
        }
    }
    cut + "…"
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Every sign that pictures write is in both fonts.
    #[test]
    fn the_fonts_have_the_signs_of_units() {
        for weight in [Weight::Regular, Weight::Bold] {
            let letters = font(weight).charmap();
            for c in ('!'..='~').chain("θ°±−·×⁻¹²³⁴≥≤µπσΔΣ…éäß–".chars())
            {
                assert!(letters.map(c).is_some(), "{c} in {weight:?}");
            }
        }
    }

    #[test]
    fn widths_grow_with_text_and_size() {
        let narrow = width("iii", 10.0, Weight::Regular);
        assert!(width("mmm", 10.0, Weight::Regular) > 2.0 * narrow);
        assert!((width("iii", 20.0, Weight::Regular) - 2.0 * narrow).abs() < 1e-3);
        assert!(width("iii", 10.0, Weight::Bold) > narrow);
        assert_eq!(width("", 10.0, Weight::Regular), 0.0);
    }

    #[test]
    fn long_texts_are_cut() {
        assert_eq!(fitted("short", 100.0, 12.0, Weight::Regular), "short");
        let cut = fitted("a very long name of a file", 80.0, 12.0, Weight::Regular);
        assert!(cut.ends_with('…') && width(&cut, 12.0, Weight::Regular) <= 80.0, "{cut}");
        assert_eq!(fitted("abc", 0.0, 12.0, Weight::Regular), "…");
    }
}
