//! Curves on pairs of axes: profiles, time series.

use super::axes::{AxesFrame, Axis, BELOW, LEFT, MARGIN, TOP, draw_legend, draw_title};
use super::canvas::{Anchor, Picture, Point, Stroke, Text};
use super::colour::{GREY, WHITE};

/// A curve.
#[derive(Clone, Debug, PartialEq)]
pub struct Curve {
    /// Name of the curve; curves of the same name have one place in the legend.
    pub name: String,
    /// Points x, y; a NaN makes a gap.
    pub points: Vec<[f64; 2]>,
    /// Stroke of the curve.
    pub stroke: Stroke,
    /// `true` for dots at the points.
    pub has_dots: bool,
}

/// Curves on one pair of axes.
#[derive(Clone, Debug, PartialEq)]
pub struct Panel {
    /// Title of the panel.
    pub title: String,
    /// Names of the axes, with units.
    pub names: [String; 2],
    /// The curves.
    pub curves: Vec<Curve>,
    /// Axis that must contain zero: 0 for x, 1 for y; `None` for logarithmic axes.
    pub zero_on: Option<usize>,
    /// Fixed range of x, as for times.
    pub x_range: Option<[f64; 2]>,
}

/// Arrangement of panels.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Layout {
    /// Panels in a row.
    pub columns: usize,
    /// Width and height of a panel, px.
    pub size: [f64; 2],
}

/// Space between adjacent panels, for tick labels and a name, px.
const GAP: f64 = 96.0;
/// Space between panels above each other, for tick labels, a name and a title, px.
const ABOVE: f64 = 84.0;

/// Draws panels below a title, with one legend.
pub fn draw(title: &str, below: &[String], panels: &[Panel], layout: Layout) -> Picture {
    let Layout { columns, size } = layout;
    let rows = panels.len().div_ceil(columns).max(1);
    let width = LEFT + columns as f64 * size[0] + (columns - 1) as f64 * GAP + 2.0 * MARGIN;
    let bottom = TOP + 20.0 + rows as f64 * size[1] + (rows - 1) as f64 * ABOVE + BELOW;
    let mut entries: Vec<(&str, Stroke)> = Vec::new();
    for curve in panels.iter().flat_map(|panel| &panel.curves) {
        if !entries.iter().any(|(name, _)| *name == curve.name) {
            entries.push((&curve.name, curve.stroke));
        }
    }
    // The height of the legend is known after drawing it, here on a canvas that is discarded.
    let room = width - LEFT - MARGIN;
    let legend = |picture: &mut Picture| draw_legend(picture, [LEFT, bottom + 8.0], room, &entries);
    let height = bottom + legend(&mut Picture::new(width, bottom, "")) + 8.0;
    let mut picture = Picture::new(width, height, title);
    draw_title(&mut picture, title, below);
    legend(&mut picture);
    for (number, panel) in panels.iter().enumerate() {
        let at = [
            LEFT + (number % columns) as f64 * (size[0] + GAP),
            TOP + 20.0 + (number / columns) as f64 * (size[1] + ABOVE),
        ];
        draw_panel(&mut picture, panel, at, size);
    }
    picture
}

fn draw_panel(picture: &mut Picture, panel: &Panel, at: Point, size: [f64; 2]) {
    let values = |axis: usize| {
        let zero = (panel.zero_on == Some(axis)).then_some(0.0);
        panel
            .curves
            .iter()
            .flat_map(|curve| &curve.points)
            .map(move |point| point[axis])
            .chain(zero)
    };
    let [x_name, y_name] = &panel.names;
    let [x_count, y_count] = [(size[0] / 80.0) as usize, (size[1] / 45.0) as usize];
    let (x, y) = match (panel.zero_on, panel.x_range) {
        (None, range) => {
            let ends = range.into_iter().flatten();
            (Axis::decades(x_name, values(0).chain(ends)), Axis::decades(y_name, values(1)))
        }
        (_, Some(range)) => {
            (Axis::linear(x_name, range, x_count), Axis::around(y_name, values(1), y_count))
        }
        _ => (Axis::around(x_name, values(0), x_count), Axis::around(y_name, values(1), y_count)),
    };
    let frame = AxesFrame { at, size, x, y };
    frame.draw_grid(picture);
    let zero = panel.zero_on.map(|axis| match axis {
        0 => [[0.0, frame.y.range[0]], [0.0, frame.y.range[1]]],
        _ => [[frame.x.range[0], 0.0], [frame.x.range[1], 0.0]],
    });
    picture.within(frame.at, frame.size, |picture| {
        if let Some(zero) = zero {
            picture.line(&zero.map(|place| frame.place(place)), Stroke::solid(GREY, 1.0));
        }
        for curve in &panel.curves {
            draw_curve(picture, &frame, curve);
        }
    });
    frame.draw(picture);
    let middle = [at[0] + size[0] / 2.0, at[1] - 8.0];
    picture.text(Text::new(middle, &panel.title).bold().held(Anchor::Middle));
}

fn draw_curve(picture: &mut Picture, frame: &AxesFrame, curve: &Curve) {
    let is_number = |point: &[f64; 2]| point.iter().all(|x| x.is_finite());
    let pieces: Vec<Vec<Point>> = curve
        .points
        .split(|point| !is_number(point))
        .map(|piece| piece.iter().map(|point| frame.place(*point)).collect())
        .collect();
    picture.lines(pieces, curve.stroke, Some(&curve.name));
    if curve.has_dots {
        for point in curve.points.iter().filter(|point| is_number(point)) {
            let rim = Stroke::solid(WHITE, 0.8);
            picture.circle(frame.place(*point), 3.6, Some(curve.stroke.colour), Some(rim));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plot::colour::series;

    #[test]
    fn panels_of_any_values_are_drawn() {
        for points in [vec![], vec![[0.0, 0.0]], vec![[0.0, f64::NAN], [1.0, 2.0], [2.0, 1.0]]] {
            let curve = Curve {
                name: "a < b".to_owned(),
                points,
                stroke: Stroke::solid(series(1), 2.0),
                has_dots: true,
            };
            let panel = Panel {
                title: "panel".to_owned(),
                names: ["x, 1".to_owned(), "y, 1".to_owned()],
                curves: vec![curve],
                zero_on: Some(1),
                x_range: None,
            };
            let layout = Layout { columns: 2, size: [300.0, 200.0] };
            let svg = draw("title", &[], &vec![panel; 3], layout).svg("c");
            assert!(!svg.contains("NaN") && !svg.contains("inf"), "{svg}");
            assert_eq!(svg.matches(">a &lt; b</text>").count(), 1);
            assert_eq!(svg.matches(">panel<").count(), 3);
        }
    }
}
