//! A map of a horizontal field.

use ndarray::Array2;

use super::axes::{AxesFrame, Axis, BAR_ROOM, BELOW, LEFT, TOP, draw_bar, draw_title};
use super::canvas::{Anchor, Image, Picture, Stroke, Text};
use super::colour::{GREY, INK, Scale, WHITE};
use super::graticule;

/// A map. Positions are columns and rows of cells from the centre of the south-western one.
#[derive(Clone, Debug)]
pub struct Map<'a> {
    /// Title of the map.
    pub title: String,
    /// Lines below the title.
    pub below: Vec<String>,
    /// The field, in the units of the scale. Shape: (ny, nx).
    pub field: &'a Array2<f64>,
    /// Width and height of a cell, km.
    pub cell: [f64; 2],
    /// Colours of its values.
    pub scale: &'a Scale,
    /// Latitude and longitude of the cells, degrees. Shape of each: (ny, nx).
    pub earth: Option<[&'a Array2<f64>; 2]>,
    /// End points of a line across the map, such as that of a section: (i, j) in cells.
    pub line: Option<[[f64; 2]; 2]>,
    /// Note in the middle of an empty map.
    pub note: Option<String>,
}

/// Largest and smallest extents of a map, px.
const MOST: [f64; 2] = [700.0, 560.0];
const LEAST: [f64; 2] = [260.0, 200.0];
/// Space beside the colour bar, px.
const GAP: f64 = 20.0;
/// Most squares of an image: more cannot be seen.
const SQUARES: usize = 1400;

/// Draws a map.
pub fn draw(map: &Map<'_>) -> Picture {
    let frame = frame(map);
    let [_, right, top, bottom] = frame.sides();
    let width = right + GAP + BAR_ROOM;
    let mut picture = Picture::new(width, bottom + BELOW, &map.title);
    draw_title(&mut picture, &map.title, &map.below);
    draw_map(&mut picture, &frame, map);
    frame.draw_y(&mut picture);
    draw_bar(&mut picture, right + GAP, [top, bottom], map.scale);
    picture
}

fn frame(map: &Map<'_>) -> AxesFrame {
    let (ny, nx) = map.field.dim();
    let [x, y] = [nx as f64 * map.cell[0], ny as f64 * map.cell[1]];
    let scale = (MOST[0] / x).min(MOST[1] / y);
    let size = [(x * scale).max(LEAST[0]), (y * scale).max(LEAST[1])];
    let axis = |name: &str, length: f64, extent: f64| {
        Axis::linear(name, [0.0, length], (extent / 80.0) as usize)
    };
    AxesFrame { at: [LEFT, TOP], size, x: axis("x, km", x, size[0]), y: axis("y, km", y, size[1]) }
}

/// The field with all overlays, and the lower axis.
fn draw_map(picture: &mut Picture, frame: &AxesFrame, map: &Map<'_>) {
    let at_cell =
        |[i, j]: [f64; 2]| frame.place([(i + 0.5) * map.cell[0], (j + 0.5) * map.cell[1]]);
    picture.image(frame.at, frame.size, image(map.field, map.scale));
    picture.within(frame.at, frame.size, |picture| {
        if let Some(earth) = map.earth {
            graticule::draw(picture, earth, at_cell, |text| kept_inside(text, frame));
        }
        if let Some(line) = map.line {
            let ends = line.map(at_cell);
            picture.line(&ends, Stroke::solid(WHITE, 4.0));
            picture.line(&ends, Stroke::dashed(INK, 1.8, &[7.0, 3.0]));
            for (name, [x, y]) in ["A", "B"].into_iter().zip(ends) {
                let text = Text::new([x, y - 6.0], name).bold().held(Anchor::Middle).rimmed();
                picture.text(kept_inside(text, frame));
            }
        }
    });
    if let Some(note) = &map.note {
        let [left, right, top, bottom] = frame.sides();
        let at = [f64::midpoint(left, right), f64::midpoint(top, bottom)];
        let text = Text::new(at, note).sized(16.0).coloured(GREY);
        picture.text(text.held(Anchor::Middle).rimmed());
    }
    frame.draw_sides(picture);
    frame.draw_x(picture);
}

/// A text moved so that the frame does not clip it.
fn kept_inside(text: Text, frame: &AxesFrame) -> Text {
    const RIM: f64 = 4.0;
    let [left, right, top, bottom] = frame.sides();
    let before = match text.anchor {
        Anchor::Start => 0.0,
        Anchor::Middle => 0.5 * text.width(),
        Anchor::End => text.width(),
    };
    let most = (right - RIM - (text.width() - before)).max(left + RIM + before);
    let x = text.at[0].clamp(left + RIM + before, most);
    let y = text.at[1].clamp(top + RIM + text.size, bottom - RIM);
    Text { at: [x, y], ..text }
}

/// The cells as coloured squares, from north to south; if there are too many cells, each square has the value of the
/// largest magnitude.
fn image(field: &Array2<f64>, scale: &Scale) -> Image {
    let (ny, nx) = field.dim();
    let step = nx.max(ny).div_ceil(SQUARES);
    let extent = [nx.div_ceil(step), ny.div_ceil(step)];
    let colours = (0..extent[0] * extent[1]).map(|n| {
        let (row, column) = (extent[1] - 1 - n / extent[0], n % extent[0]);
        let rows = row * step..((row + 1) * step).min(ny);
        let cells = rows.flat_map(|j| {
            (column * step..((column + 1) * step).min(nx)).map(move |i| field[[j, i]])
        });
        let farthest = cells.reduce(|a, b| if b.is_nan() || b.abs() > a.abs() { b } else { a });
        farthest.and_then(|value| scale.colour(value))
    });
    Image { extent, colours: colours.collect() }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn drawn(field: &Array2<f64>, earth: Option<[&Array2<f64>; 2]>) -> Picture {
        draw(&Map {
            title: "a title".to_owned(),
            below: vec!["below".to_owned()],
            field,
            cell: [3.0, 3.0],
            scale: &Scale::amounts("amount, mm", 4.0),
            earth,
            line: Some([[0.0, 0.0], [9.0, 4.0]]),
            note: None,
        })
    }

    #[test]
    fn the_north_is_above() {
        let mut field = Array2::zeros((2, 3));
        field[[1, 0]] = 4.0;
        let image = image(&field, &Scale::amounts("x", 4.0));
        let is_coloured: Vec<bool> = image.colours.iter().map(Option::is_some).collect();
        assert_eq!(is_coloured, [true, false, false, false, false, false]);
    }

    #[test]
    fn large_fields_keep_their_extremes() {
        let mut field = Array2::zeros((3000, 20));
        field[[1234, 7]] = 4.0;
        let image = image(&field, &Scale::amounts("x", 4.0));
        assert!(image.extent[1] <= SQUARES);
        assert_eq!(image.colours.iter().flatten().count(), 1);
    }

    #[test]
    fn maps_of_every_shape_are_of_a_size_that_can_be_seen() {
        for shape in [(5, 10), (1, 200), (200, 1), (2, 2)] {
            let field = Array2::zeros(shape);
            let latitude = Array2::from_shape_fn(shape, |(j, _)| 40.0 + j as f64);
            let longitude = Array2::from_shape_fn(shape, |(_, i)| i as f64 - 2.0);
            let picture = drawn(&field, Some([&latitude, &longitude]));
            let [width, height] = picture.size();
            assert!((300.0..1000.0).contains(&width) && (300.0..800.0).contains(&height));
            let svg = picture.svg("m");
            assert!(!svg.contains("NaN") && !svg.contains("inf"), "{svg}");
        }
    }
}
