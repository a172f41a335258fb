//! A vertical cross section: a field in colours, contour lines of others, and the wind in its plane.

use ndarray::Array2;

use super::axes::{
    AxesFrame, Axis, BAR_ROOM, BELOW, LEFT, MARGIN, TOP, draw_bar, draw_legend, draw_title,
};
use super::canvas::{Anchor, Image, Picture, Point, Stroke, Text};
use super::colour::{GREY, GROUND, INK, Scale, WHITE};
use super::contour;

/// Contour lines of a field.
#[derive(Clone, Debug)]
pub struct Lines<'a> {
    /// Name of the lines, with units, for the legend.
    pub name: String,
    /// The field, in the units of its name. Shape: (heights, places).
    pub field: &'a Array2<f64>,
    /// Contour values, in the same units, and widths of their lines, px.
    pub values: Vec<(f64, f64)>,
    /// Colour and dashes.
    pub stroke: Stroke,
    /// `true` for labels on the lines.
    pub has_numbers: bool,
}

/// Wind in the plane of the section.
#[derive(Clone, Debug)]
pub struct Wind<'a> {
    /// Along the section, m s⁻¹. Shape: (heights, places).
    pub along: &'a Array2<f64>,
    /// Upward, m s⁻¹. Shape: (heights, places).
    pub upward: &'a Array2<f64>,
}

/// One pair of axes.
#[derive(Clone, Debug)]
pub struct Panel<'a> {
    /// Title of the panel.
    pub title: String,
    /// The field in colours. Shape: (heights, places).
    pub field: &'a Array2<f64>,
    /// Its colours.
    pub scale: Scale,
    /// Contour lines.
    pub lines: Vec<Lines<'a>>,
    /// Wind arrows.
    pub wind: Option<Wind<'a>>,
    /// Note for an empty panel.
    pub note: Option<String>,
}

/// A section. Fields are equidistant along the section and in height.
#[derive(Clone, Debug)]
pub struct Section<'a> {
    /// Title of the section.
    pub title: String,
    /// Lines below the title.
    pub below: Vec<String>,
    /// Length, km.
    pub length: f64,
    /// Height of its upper edge, km.
    pub top: f64,
    /// Terrain height, km, at equal distances from end to end.
    pub ground: Vec<f64>,
    /// Panels, one above the other.
    pub panels: Vec<Panel<'a>>,
}

const SIZE: [f64; 2] = [700.0, 300.0];
const GAP: f64 = 20.0;
/// Space between two panels, for a legend and a title, px.
const BETWEEN: f64 = 76.0;

/// Draws a section.
pub fn draw(section: &Section<'_>) -> Picture {
    let count = section.panels.len() as f64;
    let height = TOP + 24.0 + count * SIZE[1] + (count - 1.0) * BETWEEN + BELOW + 44.0;
    let width = LEFT + SIZE[0] + GAP + BAR_ROOM;
    let mut picture = Picture::new(width, height, &section.title);
    draw_title(&mut picture, &section.title, &section.below);
    for (number, panel) in section.panels.iter().enumerate() {
        let top = TOP + 24.0 + number as f64 * (SIZE[1] + BETWEEN);
        let frame = AxesFrame {
            at: [LEFT, top],
            size: SIZE,
            x: Axis::linear("distance from A, km", [0.0, section.length], 9),
            y: Axis::linear("height, km", [0.0, section.top], 6),
        };
        draw_panel(&mut picture, &frame, panel, section);
        let is_last = number + 1 == section.panels.len();
        if is_last {
            frame.draw_x(&mut picture);
        }
        let [left, right, top, bottom] = frame.sides();
        for (end, x) in [("A", left), ("B", right)] {
            picture.text(Text::new([x, top - 7.0], end).bold().held(Anchor::Middle));
        }
        frame.draw_y(&mut picture);
        draw_bar(&mut picture, right + GAP, [top, bottom], &panel.scale);
        let entries: Vec<(&str, Stroke)> =
            panel.lines.iter().map(|lines| (&*lines.name, lines.stroke)).collect();
        let below = bottom + if is_last { BELOW + 6.0 } else { 24.0 };
        let width = picture.size()[0] - LEFT - MARGIN;
        draw_legend(&mut picture, [left, below], width, &entries);
    }
    picture
}

fn draw_panel(picture: &mut Picture, frame: &AxesFrame, panel: &Panel<'_>, section: &Section<'_>) {
    let [left, right, top, bottom] = frame.sides();
    let middle = f64::midpoint(left, right);
    picture.text(Text::new([middle, top - 7.0], &panel.title).bold().held(Anchor::Middle));
    let (rows, columns) = panel.field.dim();
    let colours = (0..rows * columns).map(|n| {
        let value = panel.field[[rows - 1 - n / columns, n % columns]];
        // Above the uppermost layer there are no values, and none are drawn.
        if value.is_nan() { None } else { panel.scale.colour(value) }
    });
    let image = Image { extent: [columns, rows], colours: colours.collect() };
    picture.image(frame.at, frame.size, image);
    let at_node = |[i, j]: Point| {
        let x = (i + 0.5) / columns as f64 * section.length;
        frame.place([x, (j + 0.5) / rows as f64 * section.top])
    };
    picture.within(frame.at, frame.size, |picture| {
        let mut labels = Vec::new();
        for lines in &panel.lines {
            labels.extend(draw_lines(picture, lines, &at_node, frame));
        }
        draw_ground(picture, frame, section);
        if let Some(wind) = &panel.wind {
            draw_wind(picture, frame, wind, section);
        }
        for label in labels {
            picture.text(label);
        }
        if let Some(note) = &panel.note {
            let text = Text::new([middle, f64::midpoint(top, bottom)], note).sized(16.0);
            picture.text(text.coloured(GREY).held(Anchor::Middle).rimmed());
        }
    });
    frame.draw_sides(picture);
}

fn draw_ground(picture: &mut Picture, frame: &AxesFrame, section: &Section<'_>) {
    if section.ground.iter().all(|&height| height <= 0.0) {
        return;
    }
    let last = section.ground.len().saturating_sub(1).max(1) as f64;
    let along = |n: usize| n as f64 / last * section.length;
    let mut area: Vec<Point> = section
        .ground
        .iter()
        .enumerate()
        .map(|(n, &height)| frame.place([along(n), height]))
        .collect();
    area.push(frame.place([section.length, 0.0]));
    area.push(frame.place([0.0, 0.0]));
    picture.area(&area, GROUND);
}

/// Contour lines; returns their labels.
fn draw_lines(
    picture: &mut Picture,
    lines: &Lines<'_>,
    at_node: &impl Fn(Point) -> Point,
    frame: &AxesFrame,
) -> Vec<Text> {
    /// Lines shorter than this have no label, px.
    const LEAST: f64 = 90.0;
    let mut labels: Vec<Text> = Vec::new();
    for &(value, width) in &lines.values {
        let pieces: Vec<Vec<Point>> = contour::lines(lines.field, value)
            .into_iter()
            .map(|line| line.into_iter().map(at_node).collect())
            .collect();
        if pieces.is_empty() {
            continue;
        }
        let longest = pieces.iter().max_by(|a, b| length(a).total_cmp(&length(b)));
        if let Some(line) = longest.filter(|line| lines.has_numbers && length(line) > LEAST) {
            // Labels of adjacent lines are at different positions.
            let fraction = 0.15 + 0.7 * ((labels.len() * 3) % 7) as f64 / 6.0;
            let [x, y] = line[((line.len() - 1) as f64 * fraction) as usize];
            let text = format!("{value}").replace('-', "−");
            let text = Text::new([x, y + 4.0], text).sized(11.0).held(Anchor::Middle).rimmed();
            let [left, right, top, bottom] = frame.sides();
            let is_inside =
                (left + 14.0..right - 14.0).contains(&x) && (top + 12.0..bottom - 4.0).contains(&y);
            let is_free = labels.iter().all(|other| {
                (other.at[0] - x).abs() > 30.0 || (other.at[1] - y - 4.0).abs() > 13.0
            });
            if is_inside && is_free {
                labels.push(text.coloured(lines.stroke.colour));
            }
        }
        let stroke = Stroke { width, ..lines.stroke };
        picture.lines(pieces, stroke, Some(&format!("{}: {value}", lines.name)));
    }
    labels
}

fn length(line: &[Point]) -> f64 {
    line.windows(2).map(|pair| (pair[1][0] - pair[0][0]).hypot(pair[1][1] - pair[0][1])).sum()
}

/// Arrows in the direction of the motion on the picture, with each component in the scale of its axis, and a reference
/// arrow.
fn draw_wind(picture: &mut Picture, frame: &AxesFrame, wind: &Wind<'_>, section: &Section<'_>) {
    /// Numbers of arrows from end to end and from the ground to the top.
    const ARROWS_ALONG: usize = 26;
    const ARROWS_UP: usize = 11;
    let (rows, columns) = wind.along.dim();
    // Speed of the air on the picture, px in a second.
    let scales = [frame.size[0] / (section.length * 1e3), frame.size[1] / (section.top * 1e3)];
    let node = |n: usize, count: usize, of: usize| ((2 * n + 1) * of / (2 * count)).min(of - 1);
    let mut arrows = Vec::new();
    for n in 0..ARROWS_ALONG * ARROWS_UP {
        let i = node(n % ARROWS_ALONG, ARROWS_ALONG, columns);
        let j = node(n / ARROWS_ALONG, ARROWS_UP, rows);
        let [u, w] = [wind.along[[j, i]], wind.upward[[j, i]]];
        let at = [
            (i as f64 + 0.5) / columns as f64 * section.length,
            (j as f64 + 0.5) / rows as f64 * section.top,
        ];
        if u.is_finite() && w.is_finite() {
            arrows.push((frame.place(at), [u * scales[0], -w * scales[1]], u));
        }
    }
    let fastest = arrows.iter().map(|(_, [dx, dy], _)| dx.hypot(*dy)).fold(0.0, f64::max);
    if fastest <= 0.0 {
        return;
    }
    // The longest arrow nearly reaches the next one.
    let time = 0.85 * frame.size[0] / ARROWS_ALONG as f64 / fastest;
    for ([x, y], [dx, dy], _) in &arrows {
        picture.arrow([*x, *y], [x + time * dx, y + time * dy], Stroke::solid(INK, 1.0));
    }
    let most = arrows.iter().map(|(_, _, u)| u.abs()).fold(0.0, f64::max);
    let speed = super::axes::round_step(most, 1).max(f64::MIN_POSITIVE);
    let speed = if speed > 1.5 * most { speed / 2.0 } else { speed };
    let span = speed * scales[0] * time;
    let text = Text::new([0.0, 0.0], format!("{} m s⁻¹", super::colour::short(speed)));
    let [_, right, top, _] = frame.sides();
    let width = text.width() + span + 22.0;
    let rim = Some(Stroke::solid(INK, 1.0));
    picture.rectangle([right - width, top], [width, 22.0], Some(WHITE), rim);
    let from = [right - width + 8.0, top + 11.0];
    picture.arrow(from, [from[0] + span, from[1]], Stroke::solid(INK, 1.2));
    picture.text(Text { at: [from[0] + span + 6.0, top + 15.5], ..text });
}
