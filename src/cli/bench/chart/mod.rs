//! Pictures of figures as SVG, which any browser opens: no library, no font beyond the usual ones.
//!
//! The colours are those of Okabe and Ito (2008), which people of all kinds of sight tell apart; no
//! line is told from another by its colour alone.

mod bars;
mod lines;

use std::fmt::Write;

pub(super) use bars::{Bar, Group, bars};
pub(super) use lines::{Panel, Series, Style, lines};

/// Black, vermillion, blue, green, orange, purple, light blue.
const COLOURS: [&str; 7] =
    ["#000000", "#D55E00", "#0072B2", "#009E73", "#E69F00", "#CC79A7", "#56B4E9"];
const INK: &str = "#222222";
const FAINT: &str = "#DDDDDD";
const GREY: &str = "#666666";

/// A colour by number; they repeat.
fn colour(number: usize) -> &'static str {
    COLOURS[number % COLOURS.len()]
}

/// Where a text is held.
#[derive(Clone, Copy)]
enum Anchor {
    Start,
    Middle,
    End,
}

/// A picture in the making.
struct Picture {
    svg: String,
}

impl Picture {
    fn new(width: f64, height: f64, title: &str) -> Self {
        let mut picture = Self { svg: String::new() };
        picture.add(&format!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{width:.0}\" height=\"{height:.0}\" \
             viewBox=\"0 0 {width:.0} {height:.0}\" font-family=\"Helvetica, Arial, sans-serif\" \
             font-size=\"13\" fill=\"{INK}\" role=\"img\">"
        ));
        picture.add(&format!("<title>{}</title>", escaped(title)));
        picture.add("<rect width=\"100%\" height=\"100%\" fill=\"#FFFFFF\"/>");
        picture
    }

    fn add(&mut self, line: &str) {
        self.svg.push_str(line);
        self.svg.push('\n');
    }

    fn line(&mut self, [x1, y1]: [f64; 2], [x2, y2]: [f64; 2], stroke: &str) {
        self.add(&format!(
            "<line x1=\"{x1:.1}\" y1=\"{y1:.1}\" x2=\"{x2:.1}\" y2=\"{y2:.1}\" {stroke}/>"
        ));
    }

    fn rectangle(&mut self, [x, y]: [f64; 2], [width, height]: [f64; 2], style: &str) {
        self.add(&format!(
            "<rect x=\"{x:.1}\" y=\"{y:.1}\" width=\"{width:.1}\" height=\"{height:.1}\" {style}/>"
        ));
    }

    /// A text; `style` is what else is said of it.
    fn text(&mut self, [x, y]: [f64; 2], anchor: Anchor, style: &str, text: &str) {
        let anchor = match anchor {
            Anchor::Start => "start",
            Anchor::Middle => "middle",
            Anchor::End => "end",
        };
        let text = escaped(text);
        self.add(&format!(
            "<text x=\"{x:.1}\" y=\"{y:.1}\" text-anchor=\"{anchor}\" {style}>{text}</text>"
        ));
    }

    fn finish(mut self) -> String {
        self.add("</svg>");
        self.svg
    }
}

/// A text without what means something in SVG.
fn escaped(text: &str) -> String {
    let mut safe = String::new();
    for c in text.chars() {
        match c {
            '&' => safe.push_str("&amp;"),
            '<' => safe.push_str("&lt;"),
            '>' => safe.push_str("&gt;"),
            '"' => safe.push_str("&quot;"),
            // XML has no place for them.
            c if c.is_control() => safe.push(' '),
            c => safe.push(c),
        }
    }
    safe
}

/// A number as short as it can be read.
fn short(x: f64) -> String {
    let mut text = String::new();
    let done = if x == 0.0 || (1e-4..1e6).contains(&x.abs()) {
        let digits =
            if x == 0.0 { 0 } else { (2 - x.abs().log10().floor() as i32).max(0) as usize };
        write!(text, "{x:.digits$}")
    } else {
        write!(text, "{x:.2e}")
    };
    done.expect("writing to memory");
    if text.contains('.') && !text.contains('e') {
        text.truncate(text.trim_end_matches('0').trim_end_matches('.').len());
    }
    text
}

/// A logarithmic axis from the decade below the smallest value to the one above the largest.
#[derive(Clone, Copy, Debug)]
struct Decades {
    first: i32,
    last: i32,
}

impl Decades {
    /// That of some values; those that are not positive do not count.
    fn of(values: impl Iterator<Item = f64>) -> Self {
        let positive = values.filter(|value| *value > 0.0 && value.is_finite());
        let (least, most) =
            positive.fold((f64::INFINITY, 0.0_f64), |(least, most), x| (least.min(x), most.max(x)));
        if most == 0.0 {
            return Self { first: 0, last: 1 };
        }
        let first = least.log10().floor() as i32;
        Self { first, last: (most.log10().ceil() as i32).max(first + 1) }
    }

    /// Place of a value between 0 and 1.
    fn place(self, value: f64) -> f64 {
        (value.log10() - f64::from(self.first)) / f64::from(self.last - self.first)
    }

    /// Values with a line across, and whether each has a label.
    fn ticks(self) -> Vec<(f64, bool)> {
        let decade = |power: i32| {
            let inner = (2..10).map(move |n| (f64::from(n) * 10_f64.powi(power), false));
            std::iter::once((10_f64.powi(power), true)).chain(inner)
        };
        let whole = (self.first..self.last).flat_map(decade);
        whole.chain([(10_f64.powi(self.last), true)]).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn axes_hold_their_values() {
        let axis = Decades::of([0.03, 2.0, 0.0, f64::NAN, 450.0].into_iter());
        assert_eq!((axis.first, axis.last), (-2, 3));
        assert!((axis.place(1.0) - 0.4).abs() < 1e-12);
        let labels = axis.ticks().into_iter().filter(|(_, has_label)| *has_label);
        assert_eq!(labels.count(), 6);
        let empty = Decades::of([].into_iter());
        assert!(empty.place(1.0).is_finite());
    }

    #[test]
    fn numbers_are_short_and_texts_are_safe() {
        for (x, text) in [
            (0.0, "0"),
            (1.0, "1"),
            (0.5, "0.5"),
            (1234.0, "1234"),
            (0.012_345, "0.0123"),
            (3e9, "3.00e9"),
        ] {
            assert_eq!(short(x), text);
        }
        assert_eq!(escaped("a<b & \"c\"\u{1}"), "a&lt;b &amp; &quot;c&quot; ");
    }
}
