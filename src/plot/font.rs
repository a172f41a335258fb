//! The font of the pictures, embedded in the program, so that no system font is needed.

use ttf_parser::{Face, GlyphId, OutlineBuilder};

static REGULAR: &[u8] = include_bytes!("font/DejaVuSans.ttf");
static BOLD: &[u8] = include_bytes!("font/DejaVuSans-Bold.ttf");

/// Font weight.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Weight {
    /// Regular.
    #[default]
    Regular,
    /// Bold.
    Bold,
}

/// A font with the size of its letters.
struct Font {
    face: Face<'static>,
    /// Pixels to a unit of the font.
    scale: f32,
}

impl Font {
    /// A font at `size` px.
    fn new(size: f64, weight: Weight) -> Self {
        let bytes = match weight {
            Weight::Regular => REGULAR,
            Weight::Bold => BOLD,
        };
        let face = Face::parse(bytes, 0).expect("the font inside the program is one");
        let scale = size as f32 / f32::from(face.units_per_em());
        Self { face, scale }
    }

    /// The glyph of a character; an empty box if the font lacks it.
    fn glyph(&self, c: char) -> GlyphId {
        self.face.glyph_index(c).unwrap_or(GlyphId(0))
    }

    /// Advance width of a glyph, px.
    fn advance(&self, glyph: GlyphId) -> f32 {
        f32::from(self.face.glyph_hor_advance(glyph).unwrap_or(0)) * self.scale
    }
}

/// Width of a line of text. Units: `size` px; returns px.
pub fn width(text: &str, size: f64, weight: Weight) -> f64 {
    let font = Font::new(size, weight);
    text.chars().map(|c| f64::from(font.advance(font.glyph(c)))).sum()
}

/// Draws the outlines of a line of text that begins at `at`, with y downward. A missing glyph is an empty box.
pub(super) fn outlines(
    text: &str,
    size: f64,
    weight: Weight,
    at: [f64; 2],
    path: &mut tiny_skia::PathBuilder,
) {
    let font = Font::new(size, weight);
    let [mut x, y] = at.map(|place| place as f32);
    for c in text.chars() {
        let glyph = font.glyph(c);
        // A space has no outline.
        font.face.outline_glyph(glyph, &mut Pen { path, x, y, scale: font.scale });
        x += font.advance(glyph);
    }
}

/// Adds outlines of glyphs, in font units with y upward, to a path of the picture.
struct Pen<'a> {
    path: &'a mut tiny_skia::PathBuilder,
    x: f32,
    y: f32,
    scale: f32,
}

impl Pen<'_> {
    fn place(&self, x: f32, y: f32) -> (f32, f32) {
        (self.x + x * self.scale, self.y - y * self.scale)
    }
}

impl OutlineBuilder for Pen<'_> {
    fn move_to(&mut self, x: f32, y: f32) {
        let (x, y) = self.place(x, y);
        self.path.move_to(x, y);
    }

    fn line_to(&mut self, x: f32, y: f32) {
        let (x, y) = self.place(x, y);
        self.path.line_to(x, y);
    }

    fn quad_to(&mut self, cx: f32, cy: f32, x: f32, y: f32) {
        let ((cx, cy), (x, y)) = (self.place(cx, cy), self.place(x, y));
        self.path.quad_to(cx, cy, x, y);
    }

    fn curve_to(&mut self, ax: f32, ay: f32, bx: f32, by: f32, x: f32, y: f32) {
        let ((ax, ay), (bx, by)) = (self.place(ax, ay), self.place(bx, by));
        let (x, y) = self.place(x, y);
        self.path.cubic_to(ax, ay, bx, by, x, y);
    }

    fn close(&mut self) {
        self.path.close();
    }
}

/// The beginning of a text that is at most `most` px wide, with an ellipsis if it is cut.
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

    /// Every character that pictures use is in both fonts.
    #[test]
    fn the_fonts_have_the_signs_of_units() {
        for weight in [Weight::Regular, Weight::Bold] {
            let font = Font::new(12.0, weight);
            for c in ('!'..='~').chain("θ°±−·×⁻¹²³⁴≥≤µπσΔΣ…éäß–".chars())
            {
                assert!(font.face.glyph_index(c).is_some(), "{c} in {weight:?}");
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
