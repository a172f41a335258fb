//! Labelled parallels and meridians of a map.

use ndarray::Array2;

use super::axes::{multiples, number, round_step};
use super::canvas::{Picture, Stroke, Text};
use super::colour::{Colour, GREY, hex};
use super::contour;
use crate::diagnostics::extent::Extent;
use crate::io::mapping::turn;

/// Colour of parallels and meridians.
const COLOUR: Colour = hex(0x70_7070);
/// Approximate number of lines of each kind.
const LINES: usize = 4;
/// Spacings of meridians that divide a full turn, degrees; smaller spacings are those of any axis.
const WIDE: [f64; 5] = [15.0, 30.0, 45.0, 60.0, 90.0];
/// Spacing of meridians around a pole, degrees.
const AROUND_POLE: f64 = 30.0;
/// Longitude of the date line, degrees.
const DATE_LINE: f64 = 180.0;

/// A line of points, (column, row) in cells or px on the picture.
type Line = Vec<[f64; 2]>;

/// Draws parallels and meridians. Shape of latitude and longitude: (ny, nx); `at_cell` maps columns and rows to points
/// on the picture, and `kept_inside` moves a text so that it is not clipped.
pub(super) fn draw(
    picture: &mut Picture,
    [latitude, longitude]: [&Array2<f64>; 2],
    at_cell: impl Fn([f64; 2]) -> [f64; 2],
    kept_inside: impl Fn(Text) -> Text,
) {
    let Some(extent) = extent(latitude, longitude) else { return };
    let mut line = |pieces: Vec<Line>, name: &str, label: Option<[f64; 2]>| {
        picture.lines(pieces, Stroke::dashed(COLOUR, 0.8, &[2.0, 3.0]), Some(name));
        if let Some(at) = label {
            let text = Text::new(at, name).sized(11.0).coloured(GREY).rimmed();
            picture.text(kept_inside(text));
        }
    };
    if extent.north > extent.south {
        let step = round_step(extent.north - extent.south, LINES);
        for value in multiples([extent.south, extent.north], step) {
            let pieces = on_picture(contour::lines(latitude, value), &at_cell);
            // Labelled at their left end.
            let first =
                pieces.iter().flatten().copied().reduce(|a, b| if b[0] < a[0] { b } else { a });
            let name = degrees(value, step, ["S", "N"]);
            line(pieces, &name, first.map(|[x, y]| [x + 6.0, y - 4.0]));
        }
    }
    let pole = extent.is_around.then(|| at_cell(nearest_to_pole(latitude)));
    for (value, step) in meridians(&extent) {
        let pieces = on_picture(meridian(latitude, longitude, value), &at_cell);
        // Labelled at the bottom, or at the end that is farthest from their pole.
        let is_before = |a: &[f64; 2], b: &[f64; 2]| match pole {
            Some([x, y]) => (b[0] - x).hypot(b[1] - y) > (a[0] - x).hypot(a[1] - y),
            None => b[1] > a[1],
        };
        let first =
            pieces.iter().flatten().copied().reduce(|a, b| if is_before(&a, &b) { b } else { a });
        let value = if value == DATE_LINE { value } else { turn(value) };
        let name = degrees(value, step, ["W", "E"]);
        line(pieces, &name, first.map(|[x, y]| [x + 4.0, y - 6.0]));
    }
}

fn extent(latitude: &Array2<f64>, longitude: &Array2<f64>) -> Option<Extent> {
    let centres: Vec<[f64; 2]> = longitude.iter().zip(latitude).map(|(&x, &y)| [x, y]).collect();
    Extent::of(&centres, latitude.dim().1, false)
}

fn on_picture(lines: Vec<Line>, at_cell: impl Fn([f64; 2]) -> [f64; 2]) -> Vec<Line> {
    lines.into_iter().map(|line| line.into_iter().map(&at_cell).collect()).collect()
}

/// Degrees with the letter of the hemisphere; the equator, Greenwich and the date line have no letter.
fn degrees(value: f64, step: f64, [negative, positive]: [&str; 2]) -> String {
    let side = match value {
        0.0 => "",
        x if x.abs() == DATE_LINE => "",
        x if x < 0.0 => negative,
        _ => positive,
    };
    format!("{}°{side}", number(value.abs(), step))
}

/// Longitudes of the meridians of a map, each with the spacing, degrees.
fn meridians(extent: &Extent) -> Vec<(f64, f64)> {
    let span = extent.east - extent.west;
    if span <= 0.0 {
        return Vec::new();
    }
    let step = if extent.is_around {
        AROUND_POLE
    } else {
        let step = round_step(span, LINES);
        let wide = WIDE.into_iter().find(|wide| *wide >= span / LINES as f64);
        if step > WIDE[0] { wide.unwrap_or(WIDE[WIDE.len() - 1]) } else { step }
    };
    let all = multiples([extent.west, extent.east], step);
    // Around the Earth the last meridian is the first.
    let first = usize::from(extent.is_around);
    all.into_iter().skip(first).map(|value| (value, step)).collect()
}

/// The lines of one meridian, from pole to pole, in cells.
///
/// In the projection onto the plane of the equator the meridian λ0 is where cos φ sin(λ - λ0), the distance from its
/// plane, is 0 and cos φ cos(λ - λ0) is positive: both are smooth at the date line and at a pole, where longitude is
/// not.
fn meridian(latitude: &Array2<f64>, longitude: &Array2<f64>, value: f64) -> Vec<Line> {
    let distance = Array2::from_shape_fn(latitude.dim(), |at| {
        let (sine, cosine) = (longitude[at] - value).to_radians().sin_cos();
        let radius = latitude[at].to_radians().cos();
        if radius * cosine > 0.0 { radius * sine } else { f64::NAN }
    });
    contour::lines(&distance, 0.0)
}

/// Column and row of the cell nearest to a pole.
fn nearest_to_pole(latitude: &Array2<f64>) -> [f64; 2] {
    let cells = latitude.indexed_iter().filter(|(_, y)| y.is_finite());
    let most = cells.max_by(|(_, a), (_, b)| a.abs().total_cmp(&b.abs()));
    most.map_or([0.0, 0.0], |((j, i), _)| [i as f64, j as f64])
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Longitude and latitude on a plane over the pole, with the meridian of 0 downward in the north.
    fn polar(side: f64) -> [Array2<f64>; 2] {
        let place = |j: usize, i: usize| (0.5 * (i as f64 - 9.3), 0.5 * (j as f64 - 8.6));
        let longitude = Array2::from_shape_fn((18, 20), |(j, i)| {
            let (x, y) = place(j, i);
            x.atan2(-side * y).to_degrees()
        });
        let latitude = Array2::from_shape_fn((18, 20), |(j, i)| {
            let (x, y) = place(j, i);
            side * (90.0 - x.hypot(y))
        });
        [latitude, longitude]
    }

    /// Meridians around a pole are straight rays: every point on them has their direction.
    #[test]
    fn meridians_meet_at_the_pole() {
        for side in [1.0, -1.0] {
            let [latitude, longitude] = polar(side);
            for value in [-150.0, -90.0, 0.0, 60.0, 180.0] {
                let lines = meridian(&latitude, &longitude, value);
                assert_eq!(lines.len(), 1, "{side} {value}");
                let (sine, cosine) = f64::to_radians(value).sin_cos();
                let mut longest = 0.0_f64;
                for [i, j] in &lines[0] {
                    let [x, y] = [i - 9.3, j - 8.6];
                    let along = x * sine - side * y * cosine;
                    let across = x * cosine + side * y * sine;
                    assert!(along > 0.0 && across.abs() < 0.02, "{side} {value}: {i} {j}");
                    longest = longest.max(along);
                }
                assert!(longest > 8.0, "{side} {value}: {longest}");
            }
        }
    }

    /// Across the date line there is one line at longitude 180, and none at the jump of longitude.
    #[test]
    fn the_date_line_is_a_meridian_like_others() {
        let latitude = Array2::from_shape_fn((6, 8), |(j, _)| -47.0 + 0.5 * j as f64);
        let longitude = Array2::from_shape_fn((6, 8), |(_, i)| turn(178.6 + 0.4 * i as f64));
        for (value, column) in [(180.0, 3.5), (179.0, 1.0), (-179.0, 6.0), (181.0, 6.0)] {
            let lines = meridian(&latitude, &longitude, value);
            assert_eq!(lines.len(), 1, "{value}");
            assert!(lines[0].iter().all(|[i, _]| (i - column).abs() < 1e-4), "{value}: {lines:?}");
        }
        assert!(meridian(&latitude, &longitude, 0.0).is_empty());
        let extent = extent(&latitude, &longitude).expect("an extent");
        let values: Vec<f64> = meridians(&extent).iter().map(|(value, _)| *value).collect();
        assert_eq!(values, [179.0, 180.0, 181.0]);
        assert_eq!(degrees(turn(181.0), 1.0, ["W", "E"]), "179°W");
        assert_eq!(degrees(180.0, 1.0, ["W", "E"]), "180°");
        assert_eq!(degrees(-60.0, 30.0, ["W", "E"]), "60°W");
    }

    #[test]
    fn there_are_twelve_meridians_around_a_pole() {
        let [latitude, longitude] = polar(-1.0);
        let extent = extent(&latitude, &longitude).expect("an extent");
        let values: Vec<f64> = meridians(&extent).iter().map(|(value, _)| *value).collect();
        assert_eq!(values, [-150., -120., -90., -60., -30., 0., 30., 60., 90., 120., 150., 180.]);
    }
}
