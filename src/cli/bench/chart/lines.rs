//! Curves side by side on logarithmic axes, with the bounds that they cannot cross.

use super::{Anchor, Decades, FAINT, GREY, INK, Picture, colour, escaped, short};

/// How a series is drawn.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::cli::bench) enum Style {
    /// A line with marks; the number tells the colour and the mark.
    Measured(usize),
    /// A dashed line without marks; the number tells the dashes.
    Bound(usize),
}

/// One curve.
#[derive(Clone, Debug)]
pub(in crate::cli::bench) struct Series {
    /// Its name; series of the same name have one place in the legend.
    pub(in crate::cli::bench) name: String,
    pub(in crate::cli::bench) style: Style,
    /// Places x, y, by x.
    pub(in crate::cli::bench) points: Vec<[f64; 2]>,
}

/// One pair of axes.
#[derive(Clone, Debug)]
pub(in crate::cli::bench) struct Panel {
    pub(in crate::cli::bench) title: String,
    pub(in crate::cli::bench) series: Vec<Series>,
}

const PANEL: [f64; 2] = [350.0, 360.0];
const LEFT: f64 = 76.0;
const TOP: f64 = 84.0;
const GAP: f64 = 34.0;
const BELOW: f64 = 56.0;
const RIGHT: f64 = 24.0;
const LEGEND_LINE: f64 = 20.0;
/// Room for a name in the legend.
const LEGEND_COLUMN: f64 = 366.0;
/// Dashes of the bounds.
const DASHES: [&str; 3] = ["7 4", "2 3", "10 3 2 3"];
/// Half the size of a mark.
const MARK: f64 = 4.0;

/// The axes of all panels.
#[derive(Clone, Copy)]
struct Axes {
    /// Powers of two at both ends.
    x: [f64; 2],
    y: Decades,
    left: f64,
}

impl Axes {
    fn at(&self, [x, y]: [f64; 2]) -> [f64; 2] {
        let [first, last] = self.x;
        let along = (x.log2() - first) / (last - first);
        [self.left + along * PANEL[0], TOP + (1.0 - self.y.place(y)) * PANEL[1]]
    }
}

/// Panels that share both axes, with a title, a line below it, and the names of the axes. x grows
/// by powers of two, y by powers of ten.
pub(in crate::cli::bench) fn lines(
    [title, below]: [&str; 2],
    [x_name, y_name]: [&str; 2],
    panels: &[Panel],
) -> String {
    let all = || panels.iter().flat_map(|panel| &panel.series);
    let points = || all().flat_map(|series| &series.points);
    let y = Decades::of(points().map(|[_, y]| *y));
    let (least, most) = points().fold((f64::INFINITY, 0.0_f64), |(least, most), [x, _]| {
        (least.min(x.log2().floor()), most.max(x.log2().ceil()))
    });
    let x = if most > least { [least, most] } else { [most - 1.0, most + 1.0] };
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
    picture.text([LEFT, 30.0], Anchor::Start, "font-size=\"19\" font-weight=\"bold\"", title);
    picture.text([LEFT, 50.0], Anchor::Start, &format!("fill=\"{GREY}\""), below);
    for (number, panel) in panels.iter().enumerate() {
        let left = LEFT + number as f64 * (PANEL[0] + GAP);
        let axes = Axes { x, y, left };
        draw_axes(&mut picture, axes, number == 0);
        picture.text(
            [left + PANEL[0] / 2.0, TOP - 10.0],
            Anchor::Middle,
            "font-size=\"15\" font-weight=\"bold\"",
            &panel.title,
        );
        let under = [left + PANEL[0] / 2.0, TOP + PANEL[1] + 40.0];
        picture.text(under, Anchor::Middle, "", x_name);
        for series in &panel.series {
            draw(&mut picture, axes, series);
        }
    }
    let [x, y] = [20.0, TOP + PANEL[1] / 2.0];
    let turned = format!("transform=\"rotate(-90 {x:.1} {y:.1})\"");
    picture.text([x, y], Anchor::Middle, &turned, y_name);
    for (number, (name, style)) in names.into_iter().enumerate() {
        let x = LEFT + (number % columns) as f64 * LEGEND_COLUMN;
        let y = TOP + PANEL[1] + BELOW + 14.0 + (number / columns) as f64 * LEGEND_LINE;
        picture.line([x, y - 4.0], [x + 34.0, y - 4.0], &stroke(style));
        if let Style::Measured(number) = style {
            mark(&mut picture, [x + 17.0, y - 4.0], number);
        }
        picture.text([x + 42.0, y], Anchor::Start, "", name);
    }
    picture.finish()
}

fn stroke(style: Style) -> String {
    match style {
        Style::Measured(number) => {
            format!("stroke=\"{}\" stroke-width=\"2\" fill=\"none\"", colour(number))
        }
        Style::Bound(number) => {
            let dashes = DASHES[number % DASHES.len()];
            format!(
                "stroke=\"{GREY}\" stroke-width=\"1.6\" stroke-dasharray=\"{dashes}\" fill=\"none\""
            )
        }
    }
}

fn draw_axes(picture: &mut Picture, axes: Axes, has_labels: bool) {
    let faint = format!("stroke=\"{FAINT}\" stroke-width=\"1\"");
    let fainter = "stroke=\"#F0F0F0\" stroke-width=\"1\"";
    for (value, is_decade) in axes.y.ticks() {
        let [_, y] = axes.at([axes.x[0].exp2(), value]);
        let ends = [[axes.left, y], [axes.left + PANEL[0], y]];
        picture.line(ends[0], ends[1], if is_decade { &faint } else { fainter });
        if is_decade && has_labels {
            picture.text([axes.left - 8.0, y + 4.5], Anchor::End, "", &short(value));
        }
    }
    let [first, last] = axes.x.map(|power| power as i32);
    // A label every second power where there are many.
    let apart = if last - first > 8 { 2 } else { 1 };
    for power in first..=last {
        let [x, _] = axes.at([f64::from(power).exp2(), 10_f64.powi(axes.y.first)]);
        let bottom = TOP + PANEL[1];
        picture.line([x, TOP], [x, bottom], fainter);
        if (power - first) % apart == 0 {
            picture.text([x, bottom + 18.0], Anchor::Middle, "", &power_of_two(power));
        }
    }
    let frame = format!("fill=\"none\" stroke=\"{INK}\" stroke-width=\"1\"");
    picture.rectangle([axes.left, TOP], PANEL, &frame);
}

/// A power of two as 2¹⁶.
fn power_of_two(power: i32) -> String {
    const DIGITS: [char; 10] = ['⁰', '¹', '²', '³', '⁴', '⁵', '⁶', '⁷', '⁸', '⁹'];
    let raised = |c: char| c.to_digit(10).map_or('⁻', |digit| DIGITS[digit as usize]);
    "2".chars().chain(power.to_string().chars().map(raised)).collect()
}

fn draw(picture: &mut Picture, axes: Axes, series: &Series) {
    let points: Vec<[f64; 2]> = series.points.iter().map(|point| axes.at(*point)).collect();
    let texts: Vec<String> = points.iter().map(|[x, y]| format!("{x:.1},{y:.1}")).collect();
    picture.add(&format!(
        "<polyline points=\"{}\" {} stroke-linejoin=\"round\"><title>{}</title></polyline>",
        texts.join(" "),
        stroke(series.style),
        escaped(&series.name)
    ));
    if let Style::Measured(number) = series.style {
        for point in points {
            mark(picture, point, number);
        }
    }
}

/// A disc, a square, a triangle, a diamond, a triangle on its head, a cross, a ring.
fn mark(picture: &mut Picture, [x, y]: [f64; 2], number: usize) {
    let (fill, m) = (colour(number), MARK);
    let polygon = |points: &[[f64; 2]]| {
        let texts: Vec<String> =
            points.iter().map(|[dx, dy]| format!("{:.1},{:.1}", x + dx, y + dy)).collect();
        format!("<polygon points=\"{}\" fill=\"{fill}\"/>", texts.join(" "))
    };
    let shape = match number % 7 {
        0 => format!("<circle cx=\"{x:.1}\" cy=\"{y:.1}\" r=\"{m}\" fill=\"{fill}\"/>"),
        1 => polygon(&[[-m, -m], [m, -m], [m, m], [-m, m]]),
        2 => polygon(&[[0.0, -m - 1.0], [m + 1.0, m], [-m - 1.0, m]]),
        3 => polygon(&[[0.0, -m - 1.5], [m + 1.5, 0.0], [0.0, m + 1.5], [-m - 1.5, 0.0]]),
        4 => polygon(&[[0.0, m + 1.0], [m + 1.0, -m], [-m - 1.0, -m]]),
        5 => format!(
            "<path d=\"M{:.1} {:.1}l{m2} {m2}m0 -{m2}l-{m2} {m2}\" stroke=\"{fill}\" \
             stroke-width=\"2.4\"/>",
            x - m,
            y - m,
            m2 = 2.0 * m
        ),
        _ => format!(
            "<circle cx=\"{x:.1}\" cy=\"{y:.1}\" r=\"{m}\" fill=\"#FFFFFF\" stroke=\"{fill}\" \
             stroke-width=\"2\"/>"
        ),
    };
    picture.add(&shape);
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
        let measured = (0..8).map(|n| {
            series(&format!("a<{n}>"), Style::Measured(n), &[[64.0, 1.0], [4096.0, 20.0]])
        });
        let bound = series("bound", Style::Bound(4), &[[64.0, 0.5]]);
        let full = Panel { title: "one".to_owned(), series: measured.chain([bound]).collect() };
        let empty = Panel { title: "none".to_owned(), series: Vec::new() };
        for panels in [vec![full, empty.clone()], vec![empty], Vec::new()] {
            let svg = lines(["title & more", "below"], ["x", "y"], &panels);
            assert!(svg.starts_with("<svg ") && svg.ends_with("</svg>\n"), "{svg}");
            assert!(!svg.contains("NaN") && !svg.contains("inf"), "{svg}");
            for panel in &panels {
                for series in &panel.series {
                    let name = escaped(&series.name);
                    assert_eq!(svg.matches(&format!(">{name}<")).count(), 2, "{name}: {svg}");
                }
            }
        }
    }
}
