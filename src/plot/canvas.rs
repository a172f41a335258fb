//! A drawing: lines, areas, texts and images, which become SVG or PNG.

use super::colour::{Colour, INK, WHITE};
use super::font::{self, Weight};

/// A point on the picture, px from the upper left corner, y downward.
pub type Point = [f64; 2];

/// Stroke of a line.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Stroke {
    /// Its colour.
    pub colour: Colour,
    /// Its width, px.
    pub width: f64,
    /// Lengths of dashes and gaps, px; empty for a solid line.
    pub dashes: &'static [f64],
}

impl Stroke {
    /// A solid line.
    pub const fn solid(colour: Colour, width: f64) -> Self {
        Self { colour, width, dashes: &[] }
    }

    /// A dashed line.
    pub const fn dashed(colour: Colour, width: f64, dashes: &'static [f64]) -> Self {
        Self { colour, width, dashes }
    }
}

/// Alignment of a text.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Anchor {
    /// At its beginning.
    #[default]
    Start,
    /// In its middle.
    Middle,
    /// At its end.
    End,
}

/// A line of text.
#[derive(Clone, Debug, PartialEq)]
pub struct Text {
    /// Anchor point on the base line.
    pub at: Point,
    /// Text.
    pub text: String,
    /// Part of the text at the anchor point.
    pub anchor: Anchor,
    /// Font size, px.
    pub size: f64,
    /// Font weight.
    pub weight: Weight,
    /// Their colour.
    pub colour: Colour,
    /// `true` for text that reads upward.
    pub is_upright: bool,
    /// `true` for a white halo around the letters.
    pub has_rim: bool,
}

/// Font size of axes, px.
pub const SIZE: f64 = 13.0;

impl Text {
    /// A text of the default size that begins at a point.
    pub fn new(at: Point, text: impl Into<String>) -> Self {
        Self {
            at,
            text: text.into(),
            anchor: Anchor::Start,
            size: SIZE,
            weight: Weight::Regular,
            colour: INK,
            is_upright: false,
            has_rim: false,
        }
    }

    /// The same with another alignment.
    pub fn held(self, anchor: Anchor) -> Self {
        Self { anchor, ..self }
    }

    /// The same in another size, px.
    pub fn sized(self, size: f64) -> Self {
        Self { size, ..self }
    }

    /// The same in bold letters.
    pub fn bold(self) -> Self {
        Self { weight: Weight::Bold, ..self }
    }

    /// The same in another colour.
    pub fn coloured(self, colour: Colour) -> Self {
        Self { colour, ..self }
    }

    /// The same, reading upward.
    pub fn upright(self) -> Self {
        Self { is_upright: true, ..self }
    }

    /// The same with a white halo.
    pub fn rimmed(self) -> Self {
        Self { has_rim: true, ..self }
    }

    /// The beginning of the text that is at most `most` px wide, with an ellipsis if it is cut.
    pub fn fitted(self, most: f64) -> Self {
        Self { text: font::fitted(&self.text, most, self.size, self.weight), ..self }
    }

    /// Width, px.
    pub fn width(&self) -> f64 {
        font::width(&self.text, self.size, self.weight)
    }
}

/// An image of coloured squares, row by row from the top.
#[derive(Clone, Debug, PartialEq)]
pub struct Image {
    /// Number of columns and of rows.
    pub extent: [usize; 2],
    /// A colour for each square; `None` for transparent.
    pub colours: Vec<Option<Colour>>,
}

/// Elements of a picture.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Item {
    Shape {
        shape: Shape,
        fill: Option<Colour>,
        stroke: Option<Stroke>,
        name: Option<String>,
    },
    Text(Text),
    Image {
        at: Point,
        size: Point,
        image: Image,
    },
    /// Elements clipped to a rectangle.
    Window {
        at: Point,
        size: Point,
        items: Vec<Item>,
    },
}

/// Outline of an element.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Shape {
    Lines(Vec<Vec<Point>>),
    Area(Vec<Point>),
    Rectangle { at: Point, size: Point },
    Circle { centre: Point, radius: f64 },
}

/// A picture.
#[derive(Clone, Debug, PartialEq)]
pub struct Picture {
    pub(super) width: f64,
    pub(super) height: f64,
    pub(super) title: String,
    pub(super) items: Vec<Item>,
}

impl Picture {
    /// An empty picture of a size in px. The title serves screen readers.
    pub fn new(width: f64, height: f64, title: impl Into<String>) -> Self {
        Self { width, height, title: title.into(), items: Vec::new() }
    }

    /// Its size, px.
    pub fn size(&self) -> [f64; 2] {
        [self.width, self.height]
    }

    /// Title of the picture.
    pub fn title(&self) -> &str {
        &self.title
    }

    /// A line through points.
    pub fn line(&mut self, places: &[Point], stroke: Stroke) {
        self.lines(vec![places.to_vec()], stroke, None);
    }

    /// Lines that belong together, with a tooltip.
    pub fn lines(&mut self, mut pieces: Vec<Vec<Point>>, stroke: Stroke, name: Option<&str>) {
        /// Points are at most this far outside of a picture, px: dashes are drawn one by one.
        const FAR: f64 = 2e4;
        let near = |place: &mut Point| *place = place.map(|x| x.clamp(-FAR, FAR));
        pieces.iter_mut().flatten().for_each(near);
        for piece in &mut pieces {
            piece.retain(|[x, y]| x.is_finite() && y.is_finite());
        }
        let (stroke, name) = (Some(stroke), name.map(str::to_owned));
        self.items.push(Item::Shape { shape: Shape::Lines(pieces), fill: None, stroke, name });
    }

    /// A filled area.
    pub fn area(&mut self, places: &[Point], fill: Colour) {
        let shape = Shape::Area(places.to_vec());
        self.items.push(Item::Shape { shape, fill: Some(fill), stroke: None, name: None });
    }

    /// A rectangle.
    pub fn rectangle(
        &mut self,
        at: Point,
        size: Point,
        fill: Option<Colour>,
        stroke: Option<Stroke>,
    ) {
        let shape = Shape::Rectangle { at, size };
        self.items.push(Item::Shape { shape, fill, stroke, name: None });
    }

    /// A circle.
    pub fn circle(
        &mut self,
        centre: Point,
        radius: f64,
        fill: Option<Colour>,
        stroke: Option<Stroke>,
    ) {
        let shape = Shape::Circle { centre, radius };
        self.items.push(Item::Shape { shape, fill, stroke, name: None });
    }

    /// A text.
    pub fn text(&mut self, text: Text) {
        self.items.push(Item::Text(text));
    }

    /// An image, scaled to a size.
    pub fn image(&mut self, at: Point, size: Point, image: Image) {
        self.items.push(Item::Image { at, size, image });
    }

    /// Draws elements that are clipped to a rectangle.
    pub fn within(&mut self, at: Point, size: Point, draw: impl FnOnce(&mut Self)) {
        let outside = std::mem::take(&mut self.items);
        draw(self);
        let items = std::mem::replace(&mut self.items, outside);
        self.items.push(Item::Window { at, size, items });
    }

    /// An arrow from one point to another, with a head in proportion to its length, and a white halo.
    pub fn arrow(&mut self, from: Point, to: Point, stroke: Stroke) {
        let [dx, dy] = [to[0] - from[0], to[1] - from[1]];
        let length = dx.hypot(dy);
        if length < 0.8 {
            self.circle(from, stroke.width, Some(stroke.colour), None);
            return;
        }
        let head = (0.38 * length).clamp(2.0, 7.0);
        let [ex, ey] = [dx / length, dy / length];
        let barb = |side: f64| {
            [to[0] - head * (ex - side * 0.5 * ey), to[1] - head * (ey + side * 0.5 * ex)]
        };
        let pieces = || vec![vec![from, to], vec![barb(1.0), to, barb(-1.0)]];
        self.lines(pieces(), Stroke::solid(WHITE, stroke.width + 1.6), None);
        self.lines(pieces(), stroke, None);
    }
}
