//! Pictures as PNG.

use tiny_skia::{
    FillRule, FilterQuality, LineCap, LineJoin, Mask, Paint, Path, PathBuilder, Pixmap,
    PixmapPaint, PremultipliedColorU8, Rect, StrokeDash, Transform,
};

use super::canvas::{Anchor, Image, Item, Picture, Point, Shape, Stroke, Text};
use super::colour::{Colour, WHITE};
use super::font;

/// Width of the halo of a text, px.
const RIM: f64 = 3.0;

impl Picture {
    /// The picture as PNG, with `scale` pixels for each px.
    ///
    /// # Panics
    ///
    /// When its size is zero.
    pub fn png(&self, scale: f64) -> Vec<u8> {
        let [width, height] = self.size().map(|length| (length * scale).round() as u32);
        let mut pixels = Pixmap::new(width, height).expect("a picture has an extent");
        pixels.fill(WHITE.opaque());
        let scaled = Transform::from_scale(scale as f32, scale as f32);
        let mut painter = Painter { pixels, transform: scaled };
        painter.items(&self.items, None);
        encoded(&painter.pixels)
    }
}

fn encoded(pixels: &Pixmap) -> Vec<u8> {
    pixels.encode_png().expect("pixels in memory become a PNG")
}

/// An image as PNG, with a pixel for each square.
pub(super) fn of_image(image: &Image) -> Vec<u8> {
    encoded(&pixels(image))
}

fn pixels(image: &Image) -> Pixmap {
    let [columns, rows] = image.extent.map(|count| count.max(1) as u32);
    let mut pixels = Pixmap::new(columns, rows).expect("an image has squares");
    for (pixel, colour) in pixels.pixels_mut().iter_mut().zip(&image.colours) {
        if let Some(Colour([r, g, b])) = *colour {
            // Opaque, so premultiplication changes nothing.
            *pixel = PremultipliedColorU8::from_rgba(r, g, b, u8::MAX).expect("opaque");
        }
    }
    pixels
}

struct Painter {
    pixels: Pixmap,
    transform: Transform,
}

fn paint(colour: Colour) -> Paint<'static> {
    let mut paint = Paint::default();
    paint.set_color(colour.opaque());
    paint
}

fn line(stroke: Stroke) -> tiny_skia::Stroke {
    let Stroke { width, dashes, .. } = stroke;
    let dash = StrokeDash::new(dashes.iter().map(|&length| length as f32).collect(), 0.0);
    tiny_skia::Stroke {
        width: width as f32,
        line_join: LineJoin::Round,
        line_cap: LineCap::Butt,
        dash,
        ..tiny_skia::Stroke::default()
    }
}

fn rectangle([x, y]: Point, [w, h]: Point) -> Option<Rect> {
    Rect::from_xywh(x as f32, y as f32, w as f32, h as f32)
}

/// Path of a shape; `None` for one without extent.
fn outline(shape: &Shape) -> Option<Path> {
    let mut path = PathBuilder::new();
    let mut connect = |points: &[Point]| {
        for (number, point) in points.iter().enumerate() {
            let [x, y] = point.map(|x| x as f32);
            if number == 0 { path.move_to(x, y) } else { path.line_to(x, y) }
        }
    };
    match shape {
        Shape::Lines(pieces) => pieces.iter().for_each(|piece| connect(piece)),
        Shape::Area(points) => {
            connect(points);
            path.close();
        }
        Shape::Rectangle { at, size } => path.push_rect(rectangle(*at, *size)?),
        Shape::Circle { centre: [x, y], radius } => {
            path.push_circle(*x as f32, *y as f32, *radius as f32);
        }
    }
    path.finish()
}

impl Painter {
    fn items(&mut self, items: &[Item], mask: Option<&Mask>) {
        for item in items {
            match item {
                Item::Shape { shape, fill, stroke, .. } => {
                    let Some(path) = outline(shape) else { continue };
                    let transform = self.transform;
                    if let Some(fill) = fill {
                        let (paint, rule) = (paint(*fill), FillRule::Winding);
                        self.pixels.fill_path(&path, &paint, rule, transform, mask);
                    }
                    if let Some(stroke) = stroke {
                        let (paint, line) = (paint(stroke.colour), line(*stroke));
                        self.pixels.stroke_path(&path, &paint, &line, transform, mask);
                    }
                }
                Item::Text(text) => self.text(text, mask),
                Item::Image { at, size, image } => self.image(*at, *size, image, mask),
                Item::Window { at, size, items } => {
                    let (width, height) = (self.pixels.width(), self.pixels.height());
                    let window = Mask::new(width, height).zip(rectangle(*at, *size));
                    let Some((mut window, rectangle)) = window else { continue };
                    let path = PathBuilder::from_rect(rectangle);
                    window.fill_path(&path, FillRule::Winding, true, self.transform);
                    self.items(items, Some(&window));
                }
            }
        }
    }

    fn text(&mut self, text: &Text, mask: Option<&Mask>) {
        let [x, y] = text.at;
        let before = match text.anchor {
            Anchor::Start => 0.0,
            Anchor::Middle => text.width() / 2.0,
            Anchor::End => text.width(),
        };
        let mut path = PathBuilder::new();
        font::outlines(&text.text, text.size, text.weight, [x - before, y], &mut path);
        let Some(path) = path.finish() else { return };
        let turned = if text.is_upright {
            self.transform.pre_concat(Transform::from_rotate_at(-90.0, x as f32, y as f32))
        } else {
            self.transform
        };
        if text.has_rim {
            let rim = line(Stroke::solid(WHITE, RIM));
            self.pixels.stroke_path(&path, &paint(WHITE), &rim, turned, mask);
        }
        self.pixels.fill_path(&path, &paint(text.colour), FillRule::Winding, turned, mask);
    }

    fn image(&mut self, at: Point, size: Point, image: &Image, mask: Option<&Mask>) {
        let [columns, rows] = image.extent.map(|count| count.max(1) as f64);
        let stretched = self.transform.pre_translate(at[0] as f32, at[1] as f32);
        let stretched = stretched.pre_scale((size[0] / columns) as f32, (size[1] / rows) as f32);
        let quality = PixmapPaint { quality: FilterQuality::Nearest, ..PixmapPaint::default() };
        self.pixels.draw_pixmap(0, 0, pixels(image).as_ref(), &quality, stretched, mask);
    }
}
