//! Plot of the measurements: time of a cell by columns, with bounds.

use std::path::Path;

use super::findings::Finding;
use super::{Point, Subject};
use crate::os_text::Shown;
use crate::physics::scheme::Scheme;
use crate::plot::loglog::{Panel, Series, Style, lines};

/// Names of the bounds, in the order of their dashes.
const BOUNDS: [&str; 3] = [
    "bound of the GPU: bytes needed / copy",
    "bound of the GPU: operations / arithmetic",
    "bound of the CPU, all threads: bytes / copy",
];

/// Plots the points, of which there must be some.
pub(super) fn draw(
    points: &[Point],
    found: &[Finding],
    scheme: &dyn Scheme,
    input: &Path,
) -> String {
    let names = super::series(points);
    let panel = |finding: &Finding| {
        let subject = finding.subject;
        let measured = names.iter().enumerate().map(|(number, name)| Series {
            name: (*name).to_owned(),
            style: Style::Measured(number),
            points: places(
                points,
                subject,
                |point| point.series == *name,
                |point| Some(point.figure.ns_per_cell),
            ),
        });
        let series = bounds(points, subject).into_iter().chain(measured);
        Panel {
            title: title(subject, scheme),
            series: series.filter(|series| !series.points.is_empty()).collect(),
        }
    };
    let panels: Vec<Panel> = found.iter().map(panel).collect();
    let first = &points[0].figure;
    let mut devices: Vec<&str> =
        points.iter().map(|point| point.figure.measured.processor.device.as_str()).collect();
    devices.sort_unstable();
    devices.dedup();
    let variant = match scheme.variant().map_or("", |variant| variant.mark) {
        "" => String::new(),
        mark => format!(", {mark} fall"),
    };
    let measured = &first.measured;
    let levels = measured.grid_or_n.rsplit('x').next().unwrap_or_default();
    let below = format!(
        "{}; columns of {} repeated, {levels} levels, {}, dt {} s{variant}; nwp-mini {}, commit {}",
        devices.join(", "),
        input.shown_name(),
        measured.precision,
        first.dt,
        measured.version,
        measured.commit
    );
    lines(
        ["Time of a cell by the size of the grid", &below],
        ["columns", "time of a cell, ns"],
        &panels,
    )
    .svg("scale")
}

fn title(subject: Subject, scheme: &dyn Scheme) -> String {
    match subject {
        Subject::Physics => format!("{}, a call", scheme.about().title),
        Subject::Advection => "advection, 6 tracers, RK3".to_owned(),
        Subject::Step => "whole step".to_owned(),
    }
}

fn places(
    points: &[Point],
    subject: Subject,
    is_of: impl Fn(&Point) -> bool,
    time: impl Fn(&Point) -> Option<f64>,
) -> Vec<[f64; 2]> {
    let chosen = points.iter().filter(|point| point.subject == subject && is_of(point));
    chosen.filter_map(|point| Some([point.columns as f64, time(point)?])).collect()
}

/// The bounds, once for each size.
fn bounds(points: &[Point], subject: Subject) -> Vec<Series> {
    let threads = |point: &Point| point.figure.measured.processor.threads;
    let most = points.iter().filter_map(threads).max();
    let share = |point: &Point, percent: Option<f64>| {
        percent.map(|percent| percent / 100.0 * point.figure.ns_per_cell)
    };
    let on_gpu = |point: &Point| threads(point).is_none();
    let on_cpu = |point: &Point| threads(point).is_some() && threads(point) == most;
    let bytes = |point: &Point| share(point, point.figure.percent_of_copy);
    let operations = |point: &Point| share(point, point.figure.percent_of_arithmetic);
    let all = [
        places(points, subject, on_gpu, bytes),
        places(points, subject, on_gpu, operations),
        places(points, subject, on_cpu, bytes),
    ];
    let series = all.into_iter().zip(BOUNDS).enumerate();
    series
        .map(|(number, (mut points, name))| {
            points.dedup_by(|a, b| a[0] == b[0]);
            Series { name: name.to_owned(), style: Style::Bound(number), points }
        })
        .collect()
}
