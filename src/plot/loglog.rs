//! Curves on doubly logarithmic axes, with the bounds that they cannot cross.

use super::axes::{AxesFrame, Axis, draw_title};
use super::canvas::{Anchor, Picture, Point, Stroke, Text};
use super::colour::{FAINT, FAINTER, GREY, WHITE, series};
use super::log_axis::Decades;

/// Style of a series.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Style {
    /// A line with marks; the number selects colour and mark.
    Measured(usize),
    /// A dashed line without marks; the number selects the dashes.
    Bound(usize),
}

/// One curve.
#[derive(Clone, Debug)]
pub struct Series {
    /// Name of the series; series of the same name share a legend entry.
    pub name: String,
    /// Style of the series.
    pub style: Style,
    /// Points x, y, in order of x.
    pub points: Vec<[f64; 2]>,
}

/// One pair of axes.
#[derive(Clone, Debug)]
pub struct Panel {
    /// Title of the picture.
    pub title: String,
    /// Its curves.
    pub series: Vec<Series>,
}

const PANEL: [f64; 2] = [350.0, 360.0];
const LEFT: f64 = 76.0;
const TOP: f64 = 84.0;
const GAP: f64 = 34.0;
const BELOW: f64 = 56.0;
const RIGHT: f64 = 24.0;
const LEGEND_LINE: f64 = 20.0;
/// Width for a name in the legend.
const LEGEND_COLUMN: f64 = 366.0;
/// Dashes of the bounds.
const DASHES: [&[f64]; 3] = [&[7.0, 4.0], &[2.0, 3.0], &[10.0, 3.0, 2.0, 3.0]];
/// Half the size of a mark.
const MARK: f64 = 4.0;

/// A logarithmic axis that contains the given values, with ticks at powers of two.
fn powers_of_two(name: &str, values: impl Iterator<Item = f64>) -> Axis {
    let [least, most] = values.fold([f64::INFINITY, 0.0], |[least, most], x| {
        [least.min(x.log2().floor()), most.max(x.log2().ceil())]
    });
    let [first, last] = if most > least { [least, most] } else { [most - 1.0, most + 1.0] };
    // Every second power has a number if there are many.
    let apart = if last - first > 8.0 { 2 } else { 1 };
    let powers = (first as i32..=last as i32).step_by(apart);
    Axis {
        name: name.to_owned(),
        range: [first.exp2(), last.exp2()],
        ticks: powers.map(|power| (f64::from(power).exp2(), power_of_two(power))).collect(),
        is_logarithmic: true,
    }
}

/// Panels with common axes, a title, a line below it, and the names of the axes. x is labelled at powers of two, y at
/// powers of ten.
pub fn lines([title, below]: [&str; 2], [x_name, y_name]: [&str; 2], panels: &[Panel]) -> Picture {
    let all = || panels.iter().flat_map(|panel| &panel.series);
    let points = || all().flat_map(|series| &series.points);
    let x = powers_of_two(x_name, points().map(|[x, _]| *x));
    let decades = Decades::of(points().map(|[_, y]| *y));
    let y = Axis::decades(y_name, points().map(|[_, y]| *y));
    let mut names: Vec<(&str, Style)> = Vec::new();
    for series in all() {
        if !names.iter().any(|(name, _)| *name == series.name) {
            names.push((&series.name, series.style));
        }
    }
    let count = panels.len().max(1) as f64;
    let width = LEFT + count * PANEL[0] + (count - 1.0) * GAP + RIGHT;
    let columns = ((width - LEFT) / LEGEND_COLUMN).floor().max(1.0) as usize;
    let rows = names.len().div_ceil(columns) as f64;
    let height = TOP + PANEL[1] + BELOW + rows * LEGEND_LINE + 14.0;
    let mut picture = Picture::new(width, height, title);
    draw_title(&mut picture, title, &[below.to_owned()]);
    for (number, panel) in panels.iter().enumerate() {
        let at = [LEFT + number as f64 * (PANEL[0] + GAP), TOP];
        let frame = AxesFrame { at, size: PANEL, x: x.clone(), y: y.clone() };
        draw_grid(&mut picture, &frame, decades);
        frame.draw_sides(&mut picture);
        frame.draw_x(&mut picture);
        if number == 0 {
            frame.draw_y(&mut picture);
        }
        let title = Text::new([at[0] + PANEL[0] / 2.0, TOP - 10.0], &panel.title);
        picture.text(title.sized(15.0).bold().held(Anchor::Middle));
        for series in &panel.series {
            draw(&mut picture, &frame, series);
        }
    }
    for (number, (name, style)) in names.into_iter().enumerate() {
        let x = LEFT + (number % columns) as f64 * LEGEND_COLUMN;
        let y = TOP + PANEL[1] + BELOW + 14.0 + (number / columns) as f64 * LEGEND_LINE;
        picture.line(&[[x, y - 4.0], [x + 34.0, y - 4.0]], stroke(style));
        if let Style::Measured(number) = style {
            mark(&mut picture, [x + 17.0, y - 4.0], number);
        }
        picture.text(Text::new([x + 42.0, y], name));
    }
    picture
}

fn stroke(style: Style) -> Stroke {
    match style {
        Style::Measured(number) => Stroke::solid(series(number), 2.0),
        Style::Bound(number) => Stroke::dashed(GREY, 1.6, DASHES[number % DASHES.len()]),
    }
}

/// Lines at every power of two, and at ten multiples of each power of ten.
fn draw_grid(picture: &mut Picture, frame: &AxesFrame, decades: Decades) {
    let [left, right, top, bottom] = frame.sides();
    let ([first, last], [lowest, _]) = (frame.x.range, frame.y.range);
    for (value, is_decade) in decades.ticks() {
        let [_, y] = frame.place([first, value]);
        let colour = if is_decade { FAINT } else { FAINTER };
        picture.line(&[[left, y], [right, y]], Stroke::solid(colour, 1.0));
    }
    for power in first.log2() as i32..=last.log2() as i32 {
        let [x, _] = frame.place([f64::from(power).exp2(), lowest]);
        picture.line(&[[x, top], [x, bottom]], Stroke::solid(FAINTER, 1.0));
    }
}

/// A power of two as 2¹⁶.
fn power_of_two(power: i32) -> String {
    const DIGITS: [char; 10] = ['⁰', '¹', '²', '³', '⁴', '⁵', '⁶', '⁷', '⁸', '⁹'];
    let raised = |c: char| c.to_digit(10).map_or('⁻', |digit| DIGITS[digit as usize]);
    "2".chars().chain(power.to_string().chars().map(raised)).collect()
}

fn draw(picture: &mut Picture, frame: &AxesFrame, series: &Series) {
    let places: Vec<Point> = series.points.iter().map(|point| frame.place(*point)).collect();
    picture.lines(vec![places.clone()], stroke(series.style), Some(&series.name));
    if let Style::Measured(number) = series.style {
        for place in places {
            mark(picture, place, number);
        }
    }
}

/// A disc, a square, a triangle, a diamond, an inverted triangle, a cross, a ring.
fn mark(picture: &mut Picture, [x, y]: Point, number: usize) {
    let (fill, m) = (series(number), MARK);
    let polygon = |picture: &mut Picture, corners: &[[f64; 2]]| {
        let places: Vec<Point> = corners.iter().map(|[dx, dy]| [x + dx, y + dy]).collect();
        picture.area(&places, fill);
    };
    match number % 7 {
        0 => picture.circle([x, y], m, Some(fill), None),
        1 => polygon(picture, &[[-m, -m], [m, -m], [m, m], [-m, m]]),
        2 => polygon(picture, &[[0.0, -m - 1.0], [m + 1.0, m], [-m - 1.0, m]]),
        3 => polygon(picture, &[[0.0, -m - 1.5], [m + 1.5, 0.0], [0.0, m + 1.5], [-m - 1.5, 0.0]]),
        4 => polygon(picture, &[[0.0, m + 1.0], [m + 1.0, -m], [-m - 1.0, -m]]),
        5 => {
            let ends =
                vec![vec![[x - m, y - m], [x + m, y + m]], vec![[x + m, y - m], [x - m, y + m]]];
            picture.lines(ends, Stroke::solid(fill, 2.4), None);
        }
        _ => picture.circle([x, y], m, Some(WHITE), Some(Stroke::solid(fill, 2.0))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn powers_are_raised() {
        assert_eq!([power_of_two(6), power_of_two(27), power_of_two(-1)], ["2⁶", "2²⁷", "2⁻¹"]);
    }

    /// Panels without values, with one and with many.
    #[test]
    fn pictures_have_all_series_and_no_wild_numbers() {
        let series = |name: &str, style, points: &[[f64; 2]]| Series {
            name: name.to_owned(),
            style,
            points: points.to_vec(),
        };
        let measured = (0..8)
            .map(|n| series(&format!("a{n}"), Style::Measured(n), &[[64.0, 1.0], [4096.0, 20.0]]));
        let bound = series("bound", Style::Bound(4), &[[64.0, 0.5]]);
        let full = Panel { title: "one".to_owned(), series: measured.chain([bound]).collect() };
        let empty = Panel { title: "none".to_owned(), series: Vec::new() };
        for panels in [vec![full, empty.clone()], vec![empty], Vec::new()] {
            let svg = lines(["title & more", "below"], ["x", "y"], &panels).svg("p");
            assert!(svg.starts_with("<svg ") && svg.ends_with("</svg>\n"), "{svg}");
            assert!(!svg.contains("NaN") && !svg.contains("inf"), "{svg}");
            for panel in &panels {
                for series in &panel.series {
                    let name = format!(">{}<", series.name);
                    assert_eq!(svg.matches(&name).count(), 2, "{name}: {svg}");
                }
            }
        }
    }
}
