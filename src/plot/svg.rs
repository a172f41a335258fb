//! Pictures as SVG. Texts stay texts; a browser without the font uses one of similar width.

use std::fmt::Write;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;

use super::canvas::{Anchor, Image, Item, Picture, Point, Shape, Stroke, Text};
use super::colour::Colour;
use super::font::Weight;
use super::png;

/// The font of the pictures, and similar ones as fallback.
const FONTS: &str = "DejaVu Sans, Verdana, Bitstream Vera Sans, Helvetica, Arial, sans-serif";

impl Picture {
    /// The picture as SVG. `id` is the prefix of the ids inside it, which must be unique in a page with several
    /// pictures.
    pub fn svg(&self, id: &str) -> String {
        let [width, height] = self.size();
        let mut writer = Writer { svg: String::new(), id, windows: 0 };
        writer.line(&format!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{width:.0}\" height=\"{height:.0}\" \
             viewBox=\"0 0 {width:.0} {height:.0}\" font-family=\"{FONTS}\" role=\"img\">"
        ));
        writer.line(&format!("<title>{}</title>", escaped(self.title())));
        writer.line("<rect width=\"100%\" height=\"100%\" fill=\"#FFFFFF\"/>");
        writer.items(&self.items);
        writer.line("</svg>");
        writer.svg
    }
}

struct Writer<'a> {
    svg: String,
    id: &'a str,
    windows: usize,
}

impl Writer<'_> {
    fn line(&mut self, line: &str) {
        self.svg.push_str(line);
        self.svg.push('\n');
    }

    fn items(&mut self, items: &[Item]) {
        for item in items {
            match item {
                Item::Shape { shape, fill, stroke, name } => {
                    let element = element(shape);
                    let style = style(*fill, *stroke);
                    let tag = element.split(' ').next().unwrap_or_default();
                    self.line(&match name {
                        None => format!("<{element}{style}/>"),
                        Some(name) => {
                            format!("<{element}{style}><title>{}</title></{tag}>", escaped(name))
                        }
                    });
                }
                Item::Text(text) => self.text(text),
                Item::Image { at, size, image } => self.image(*at, *size, image),
                Item::Window { at: [x, y], size: [w, h], items } => {
                    self.windows += 1;
                    let name = format!("{}-{}", self.id, self.windows);
                    self.line(&format!(
                        "<clipPath id=\"{name}\"><rect x=\"{x:.2}\" y=\"{y:.2}\" \
                         width=\"{w:.2}\" height=\"{h:.2}\"/></clipPath>"
                    ));
                    self.line(&format!("<g clip-path=\"url(#{name})\">"));
                    self.items(items);
                    self.line("</g>");
                }
            }
        }
    }

    fn text(&mut self, text: &Text) {
        let [x, y] = text.at;
        let mut style = format!(" font-size=\"{}\" fill=\"{}\"", text.size, text.colour);
        style += match text.anchor {
            Anchor::Start => "",
            Anchor::Middle => " text-anchor=\"middle\"",
            Anchor::End => " text-anchor=\"end\"",
        };
        if text.weight == Weight::Bold {
            style += " font-weight=\"bold\"";
        }
        if text.is_upright {
            write!(style, " transform=\"rotate(-90 {x:.2} {y:.2})\"").expect("writing to memory");
        }
        if text.has_rim {
            style += " stroke=\"#FFFFFF\" stroke-width=\"3\" stroke-linejoin=\"round\" \
                      paint-order=\"stroke\"";
        }
        let words = escaped(&text.text);
        self.line(&format!("<text x=\"{x:.2}\" y=\"{y:.2}\"{style}>{words}</text>"));
    }

    fn image(&mut self, [x, y]: Point, [w, h]: Point, image: &Image) {
        let data = STANDARD.encode(png::of_image(image));
        self.line(&format!(
            "<image x=\"{x:.2}\" y=\"{y:.2}\" width=\"{w:.2}\" height=\"{h:.2}\" \
             preserveAspectRatio=\"none\" style=\"image-rendering:pixelated\" \
             href=\"data:image/png;base64,{data}\"/>"
        ));
    }
}

/// Name of the element of a shape, and its attributes.
fn element(shape: &Shape) -> String {
    match shape {
        Shape::Lines(pieces) => {
            let path: String = pieces.iter().map(|piece| path(piece)).collect();
            format!("path d=\"{path}\"")
        }
        Shape::Area(points) => format!("path d=\"{}Z\"", path(points)),
        Shape::Rectangle { at: [x, y], size: [w, h] } => {
            format!("rect x=\"{x:.2}\" y=\"{y:.2}\" width=\"{w:.2}\" height=\"{h:.2}\"")
        }
        Shape::Circle { centre: [x, y], radius } => {
            format!("circle cx=\"{x:.2}\" cy=\"{y:.2}\" r=\"{radius:.2}\"")
        }
    }
}

fn path(points: &[Point]) -> String {
    let mut path = String::new();
    for (number, [x, y]) in points.iter().enumerate() {
        let verb = if number == 0 { 'M' } else { 'L' };
        write!(path, "{verb}{x:.1} {y:.1}").expect("writing to memory");
    }
    path
}

fn style(fill: Option<Colour>, stroke: Option<Stroke>) -> String {
    let mut style = match fill {
        Some(colour) => format!(" fill=\"{colour}\""),
        None => " fill=\"none\"".to_owned(),
    };
    if let Some(Stroke { colour, width, dashes }) = stroke {
        write!(style, " stroke=\"{colour}\" stroke-width=\"{width}\" stroke-linejoin=\"round\"")
            .expect("writing to memory");
        if !dashes.is_empty() {
            let lengths: Vec<String> = dashes.iter().map(f64::to_string).collect();
            write!(style, " stroke-dasharray=\"{}\"", lengths.join(" "))
                .expect("writing to memory");
        }
    }
    style
}

/// A text with the special characters of SVG and HTML escaped.
pub fn escaped(text: &str) -> String {
    let mut safe = String::new();
    for c in text.chars() {
        match c {
            '&' => safe.push_str("&amp;"),
            '<' => safe.push_str("&lt;"),
            '>' => safe.push_str("&gt;"),
            '"' => safe.push_str("&quot;"),
            // XML does not allow these characters.
            c if c.is_control() || matches!(c, '\u{FFFE}' | '\u{FFFF}') => safe.push(' '),
            c => safe.push(c),
        }
    }
    safe
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_are_safe() {
        assert_eq!(escaped("a<b & \"c\"\u{1}"), "a&lt;b &amp; &quot;c&quot; ");
    }
}
