//! A sounding on a Skew-T log-p diagram.

use super::axes::{AxesFrame, Axis, BELOW, LEFT, MARGIN, TOP, draw_legend, draw_title};
use super::canvas::{Anchor, Picture, Point, Stroke, Text};
use super::colour::{Colour, FAINT, INK, SERIES, hex};
use crate::constants::Constants;
use crate::diagnostics::sounding::{Parcel, Sounding, dew_point, dry_ascent, saturated_ascent};

const FREEZING: f64 = <f64 as Constants>::FREEZING;
const SIZE: [f64; 2] = [560.0, 600.0];
/// Pressures at the lower and at the upper edge, Pa.
const PRESSURE: [f64; 2] = [1.05e5, 1e4];
/// Temperatures at the lower edge, degrees Celsius.
const TEMPERATURE: [f64; 2] = [-40.0, 45.0];
/// Labelled pressures, hPa.
const PRESSURES: [u32; 11] = [1000, 850, 700, 600, 500, 400, 300, 250, 200, 150, 100];
/// Labelled mixing ratios, g kg⁻¹, and the pressure at which their lines end, Pa.
const RATIOS: [f64; 9] = [0.4, 1.0, 2.0, 4.0, 7.0, 10.0, 16.0, 24.0, 32.0];
const RATIOS_TO: f64 = 5.5e4;
/// Segments of a line from bottom to top.
const PARTS: usize = 70;

const DRY: Colour = hex(0xE8_C8A0);
const MOIST: Colour = hex(0xB8_D4B8);
const RATIO: Colour = hex(0xC4_C4E4);

/// Width for wind barbs, px.
const BARBS: f64 = 66.0;

/// Draws a sounding, and the ascent of a parcel from its lowest layer; in the southern hemisphere barbs are on the
/// other side of the staff.
pub fn draw(
    title: &str,
    below: &[String],
    sounding: &Sounding,
    parcel: Option<&Parcel>,
    is_southern: bool,
) -> Picture {
    let width = LEFT + SIZE[0] + BARBS + MARGIN;
    let height = TOP + 18.0 + SIZE[1] + BELOW + 58.0;
    let mut picture = Picture::new(width, height, title);
    draw_title(&mut picture, title, below);
    let ticks = PRESSURES.map(|hpa| (f64::from(hpa) * 100.0, hpa.to_string()));
    let frame = AxesFrame {
        at: [LEFT, TOP + 18.0],
        size: SIZE,
        x: Axis::linear("temperature, °C", TEMPERATURE, 9),
        y: Axis {
            name: "pressure, hPa".to_owned(),
            range: PRESSURE,
            ticks: ticks.to_vec(),
            is_logarithmic: true,
        },
    };
    let place = |p: f64, t: f64| {
        let [x, y] = frame.place([t - FREEZING, p]);
        // Isotherms are inclined to the right by 45 degrees.
        [x + frame.at[1] + SIZE[1] - y, y]
    };
    picture.within(frame.at, frame.size, |picture| {
        draw_background(picture, &place);
        draw_sounding(picture, &place, sounding, parcel);
    });
    frame.draw(&mut picture);
    if let Some(wind) = &sounding.wind {
        draw_wind(&mut picture, &frame, (&sounding.p, wind), is_southern);
    }
    let mut entries = vec![("temperature", MEASURED), ("dew point", DEW_POINT)];
    if parcel.is_some() {
        entries.push(("air lifted from below", LIFTED));
    }
    let background =
        [("dry adiabats", DRY), ("moist adiabats", MOIST), ("mixing ratio, g kg⁻¹", RATIO)];
    entries.extend(background.map(|(name, colour)| (name, Stroke::solid(colour, 1.6))));
    let [left, _, _, bottom] = frame.sides();
    let room = width - LEFT - MARGIN;
    draw_legend(&mut picture, [left, bottom + BELOW + 8.0], room, &entries);
    picture
}

const MEASURED: Stroke = Stroke::solid(SERIES[1], 2.6);
const DEW_POINT: Stroke = Stroke::dashed(SERIES[2], 2.6, &[8.0, 3.0]);
const LIFTED: Stroke = Stroke::dashed(INK, 1.6, &[3.0, 3.0]);

/// Pressures from the lower edge up to `top`.
fn levels(top: f64) -> impl Iterator<Item = f64> {
    let ratio = (top / PRESSURE[0]).ln();
    (0..=PARTS).map(move |n| PRESSURE[0] * (ratio * n as f64 / PARTS as f64).exp())
}

fn draw_background(picture: &mut Picture, place: &impl Fn(f64, f64) -> Point) {
    let faint = Stroke::solid(FAINT, 1.0);
    for hpa in PRESSURES {
        let p = f64::from(hpa) * 100.0;
        // From far left to far right; clipped by the frame.
        let [_, y] = place(p, FREEZING);
        picture.line(&[[0.0, y], [LEFT + SIZE[0], y]], faint);
    }
    for ten in -14..=5 {
        let t = FREEZING + 10.0 * f64::from(ten);
        let width = if ten == 0 { 2.0 } else { 1.0 };
        picture.line(&[place(PRESSURE[0], t), place(PRESSURE[1], t)], Stroke { width, ..faint });
    }
    for theta in (-5..=20).map(|n| FREEZING + 10.0 * f64::from(n)) {
        let line: Vec<Point> =
            levels(PRESSURE[1]).map(|p| place(p, dry_ascent(theta, 1e5, p))).collect();
        picture.line(&line, Stroke::solid(DRY, 1.0));
    }
    for start in (-3..=7).map(|n| FREEZING + 5.0 * f64::from(n)) {
        let (mut t, mut at) = (start, 1e5);
        let line = levels(2e4).map(|p| {
            t = saturated_ascent(t, at, p);
            at = p;
            place(p, t)
        });
        let line: Vec<Point> = line.collect();
        picture.line(&line, Stroke::solid(MOIST, 1.0));
    }
    for ratio in RATIOS {
        let line: Vec<Point> =
            levels(RATIOS_TO).map(|p| place(p, dew_point(ratio * 1e-3, p))).collect();
        picture.line(&line, Stroke::dashed(RATIO, 1.2, &[5.0, 3.0]));
        let [x, y] = line[line.len() - 1];
        let text = Text::new([x, y - 4.0], format!("{ratio}")).sized(10.0);
        picture.text(text.coloured(hex(0x60_60A0)).held(Anchor::Middle));
    }
}

fn draw_sounding(
    picture: &mut Picture,
    place: &impl Fn(f64, f64) -> Point,
    sounding: &Sounding,
    parcel: Option<&Parcel>,
) {
    let line = |values: &[f64]| -> Vec<Point> {
        let pairs = sounding.p.iter().zip(values).filter(|(p, t)| p.is_finite() && t.is_finite());
        pairs.map(|(&p, &t)| place(p, t)).collect()
    };
    if let Some(parcel) = parcel {
        let path: Vec<Point> = parcel.path.iter().map(|&[p, t]| place(p, t)).collect();
        picture.lines(vec![path], LIFTED, Some("air lifted from below"));
        if let Some([p, t]) = parcel.condensation {
            let [x, y] = place(p, t);
            picture.line(&[[x - 6.0, y], [x + 6.0, y]], Stroke::solid(INK, 2.0));
            let text = Text::new([x - 9.0, y + 4.0], "LCL").sized(11.0).held(Anchor::End);
            picture.text(text.rimmed());
        }
    }
    picture.lines(vec![line(&sounding.dew_points())], DEW_POINT, Some("dew point"));
    picture.lines(vec![line(&sounding.t)], MEASURED, Some("temperature"));
}

/// Wind barbs beside the diagram, spaced so that they can be read.
fn draw_wind(
    picture: &mut Picture,
    frame: &AxesFrame,
    (p, [u, v]): (&[f64], &[Vec<f64>; 2]),
    is_southern: bool,
) {
    const APART: f64 = 24.0;
    let [_, right, top, bottom] = frame.sides();
    let x = right + 34.0;
    picture.line(&[[x, top], [x, bottom]], Stroke::solid(FAINT, 1.0));
    let mut last = f64::INFINITY;
    for ((&p, &u), &v) in p.iter().zip(u).zip(v) {
        let [_, y] = frame.place([0.0, p]);
        if (top..=bottom).contains(&y) && last - y >= APART && u.is_finite() && v.is_finite() {
            draw_barb(picture, [x, y], [u, v], is_southern);
            last = y;
        }
    }
}

/// A wind barb for eastward u and northward v: the staff points to the origin of the wind, with a flag for 25 m s⁻¹ (50
/// kn), a long barb for 5 and a short one for 2.5 m s⁻¹.
fn draw_barb(picture: &mut Picture, [x, y]: Point, [u, v]: [f64; 2], is_southern: bool) {
    const STAFF: f64 = 26.0;
    const SPACE: f64 = 4.5;
    const BARB: f64 = 9.0;
    let ink = Stroke::solid(INK, 1.2);
    let speed = u.hypot(v);
    if speed < 1.25 {
        picture.circle([x, y], 3.0, None, Some(ink));
        return;
    }
    // Unit vectors on the picture, where y is downward: upwind, and toward low pressure, which is to the left along the
    // wind in the northern hemisphere and to the right in the southern.
    let [ex, ey] = [-u / speed, v / speed];
    let [sx, sy] = if is_southern { [ey, -ex] } else { [-ey, ex] };
    let along = |s: f64, side: f64| [x + s * ex + side * sx, y + s * ey + side * sy];
    picture.line(&[[x, y], along(STAFF, 0.0)], ink);
    // A staff has no room for more; such a wind is an error of its file.
    let mut halves = (speed / 2.5).round().min(60.0) as u32;
    let mut s = STAFF;
    while halves >= 10 {
        picture.area(&[along(s, 0.0), along(s - SPACE, BARB), along(s - 2.0 * SPACE, 0.0)], INK);
        (halves, s) = (halves - 10, s - 2.0 * SPACE - 1.0);
    }
    while halves >= 2 {
        picture.line(&[along(s, 0.0), along(s + 0.4 * BARB, BARB)], ink);
        (halves, s) = (halves - 2, s - SPACE);
    }
    if halves == 1 {
        // A single short barb is not at the very end of the staff.
        let s = if s == STAFF { s - SPACE } else { s };
        picture.line(&[along(s, 0.0), along(s + 0.2 * BARB, 0.5 * BARB)], ink);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn any_sounding_is_drawn() {
        let sounding = Sounding {
            p: vec![1e5, 8e4, 4e4, 2e4],
            t: vec![295.0, 283.0, 250.0, 215.0],
            qv: vec![0.012, 0.006, f64::NAN, 1e-6],
            wind: Some([vec![0.0, -12.0, 40.0, f64::NAN], vec![1.0, 7.0, 33.0, 0.0]]),
        };
        let parcel = sounding.lift();
        for sounding in [sounding, Sounding::default()] {
            let svg = draw("title", &[], &sounding, parcel.as_ref(), false).svg("s");
            assert!(!svg.contains("NaN") && !svg.contains("inf"));
            assert!(svg.contains(">dew point</text>"));
        }
    }
}
