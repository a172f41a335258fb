//! Roofline: measured performance against the peak of the device.

use serde_json::Value;

use super::{number, text};
use crate::plot::canvas::{Picture, Stroke};
use crate::plot::colour::{GREY, series};
use crate::plot::curves::{self, Curve, Layout, Panel};

/// Rows with counts of operations and bytes, timed without transfers.
pub(super) fn points(rows: &[Value]) -> Vec<&Value> {
    let has_rates = |row: &Value| {
        let rate = |name: &str| number(row, name).is_some_and(|rate| rate > 0.0);
        rate("gop_per_s") && rate("gb_per_s") && rate("copy_gb_per_s")
    };
    let is_kept =
        |row: &&Value| matches!(text(row, "timing").as_str(), "wall" | "graph") && has_rates(row);
    rows.iter().filter(is_kept).collect()
}

/// Platform of a row.
pub(super) fn platform(row: &Value) -> String {
    let device = match text(row, "device") {
        // Not every record has it for the CPU.
        device if device.is_empty() => text(row, "cpu"),
        device => device,
    };
    match number(row, "threads") {
        Some(1.0) => format!("{device}, 1 thread"),
        Some(threads) => format!("{device}, {threads} threads"),
        None => device,
    }
}

/// Lower bound of the time of a part by the measured bandwidth and arithmetic rate, s.
pub(super) fn floor(row: &Value) -> Option<f64> {
    let seconds = number(row, "median_s")?;
    let share = |percent: &str| number(row, percent).map(|percent| percent / 100.0 * seconds);
    let floors = [share("percent_of_copy"), share("percent_of_arithmetic")];
    floors.into_iter().flatten().reduce(f64::max)
}

/// The roofline of every platform and precision; `None` without counts.
pub(super) fn draw(rows: &[Value]) -> Option<Picture> {
    let points = points(rows);
    let intensity = |row: &Value| Some(number(row, "gop_per_s")? / number(row, "gb_per_s")?);
    let mut platforms: Vec<String> = Vec::new();
    let mut parts: Vec<String> = Vec::new();
    let name = |row: &Value| format!("{}, {}", platform(row), text(row, "precision"));
    for row in &points {
        for (names, name) in [(&mut platforms, name(row)), (&mut parts, text(row, "bench"))] {
            if !names.contains(&name) {
                names.push(name);
            }
        }
    }
    let xs: Vec<f64> = points.iter().filter_map(|row| intensity(row)).collect();
    let least = xs.iter().copied().reduce(f64::min)? / 8.0;
    let most = xs.iter().copied().reduce(f64::max)? * 8.0;
    let panel = |platform: &String| {
        let own: Vec<&&Value> = points.iter().filter(|row| name(row) == *platform).collect();
        let copy = own.iter().filter_map(|row| number(row, "copy_gb_per_s")).reduce(f64::max)?;
        let arithmetic =
            own.iter().filter_map(|row| number(row, "arithmetic_gop_per_s")).reduce(f64::max);
        let mut curves = vec![roof(copy, arithmetic, [least, most])];
        for (number_of, part) in parts.iter().enumerate() {
            let measured = own.iter().filter(|row| text(row, "bench") == *part);
            curves.push(Curve {
                name: part.clone(),
                points: measured
                    .filter_map(|row| Some([intensity(row)?, number(row, "gop_per_s")?]))
                    // Single points without a line.
                    .flat_map(|point| [point, [f64::NAN; 2]])
                    .collect(),
                stroke: Stroke::solid(series(number_of + 1), 3.0),
                has_dots: true,
            });
        }
        Some(Panel {
            title: platform.clone(),
            names: [
                "operations for each byte that has to be moved".to_owned(),
                "billion operations a second".to_owned(),
            ],
            curves,
            zero_on: None,
            x_range: Some([least, most]),
        })
    };
    let panels: Vec<Panel> = platforms.iter().filter_map(panel).collect();
    let below = [
        "operations and bytes that no implementation can do without, each array moved once"
            .to_owned(),
        "roof: a copy and, where it was measured, chains of fused multiplications and additions"
            .to_owned(),
    ];
    let layout = Layout { columns: 1, size: [640.0, 320.0] };
    Some(curves::draw("Roofline", &below, &panels, layout))
}

/// Bound by bandwidth and arithmetic.
fn roof(copy: f64, arithmetic: Option<f64>, [least, most]: [f64; 2]) -> Curve {
    let limit = arithmetic.unwrap_or(f64::INFINITY);
    let ridge = limit / copy;
    let ends = [least, ridge.clamp(least, most), most];
    Curve {
        name: "roof: bytes by a copy, operations by arithmetic".to_owned(),
        points: ends.map(|x| [x, (x * copy).min(limit)]).to_vec(),
        stroke: Stroke::solid(GREY, 2.0),
        has_dots: false,
    }
}
