//! The page of a measurement.

use serde_json::Value;

use super::{
    Cell, Page, brief, figure, fixed, number, paragraph, provenance, roofline, table, text,
};
use crate::plot::bars::{Bar, Group, bars};

/// The ladders: names of their parts, what they compute, and pages of `benches/ladders` about them.
const LADDERS: [(&str, &str, &str); 4] = [
    ("reduce", "the sum over an array", "sum"),
    ("transpose", "the transpose", "transpose"),
    ("csr", "the product of a sparse matrix and a vector", "sparse_products"),
    ("wilson", "the Wilson operator", "wilson"),
];

/// Says where a ladder is explained.
fn explained(page: &str) -> String {
    paragraph(&format!(
        "What changes from rung to rung, what was to be expected of it, and what chips say: benches/ladders/{page}.md"
    ))
}

/// The page of a measurement, from its `--json` rows, with the picture of `scale` if that was measured.
pub(in crate::cli) fn page(rows: &[Value], scale: Option<&str>) -> String {
    let first = rows.first().unwrap_or(&Value::Null);
    let mut page = Page::new("nwp-mini bench");
    page.facts(&summary(rows));
    if let Some(picture) = roofline::draw(rows) {
        page.section("Roofline", figure(&picture.svg("roofline")));
    }
    page.section("Parts of a step", parts(rows));
    page.section("Ladders", ladders(rows));
    page.section("Memory", memory(rows));
    page.section("Growth with the grid", scale.map_or(String::new(), figure));
    let tuned = first["tuned"]
        .as_bool()
        .map_or("", |tuned| if tuned { ", settings measured by tune" } else { "" });
    page.section(
        "Provenance",
        provenance(&[
            (
                "program",
                format!("nwp-mini {}, commit {}", text(first, "version"), text(first, "commit")),
            ),
            ("measured", text(first, "date")),
            ("CPU", format!("{}, {} cores", text(first, "cpu"), text(first, "cores"))),
            ("GPU driver", text(first, "driver")),
            ("NVRTC", text(first, "compiler") + tuned),
            ("input", text(first, "input")),
        ]),
    );
    page.html()
}

/// The fastest whole step, or the fastest part, of every platform.
fn summary(rows: &[Value]) -> Vec<(String, String)> {
    let mut fastest: Vec<&Value> = Vec::new();
    for row in roofline::points(rows) {
        let same = |other: &&mut &Value| {
            let key = |row: &Value| (roofline::platform(row), text(row, "bench"));
            key(other) == key(row)
        };
        let speed = |row: &Value| number(row, "cells_per_s").unwrap_or(0.0);
        match fastest.iter_mut().find(same) {
            Some(other) if speed(other) < speed(row) => *other = row,
            Some(_) => {}
            None => fastest.push(row),
        }
    }
    let fact = |row: &&Value| {
        let speed = number(row, "cells_per_s").map(|speed| speed / 1e6);
        let what = format!(
            "cells a second, {}, {}, {}",
            text(row, "bench"),
            text(row, "grid_or_n"),
            roofline::platform(row)
        );
        (format!("{} M", brief(speed)), what)
    };
    fastest.iter().map(fact).collect()
}

fn is_ladder(row: &Value) -> bool {
    LADDERS.iter().any(|(name, ..)| row["bench"] == *name)
}

fn timed_by(row: &Value) -> String {
    let place = text(row, "place");
    let timing = text(row, "timing");
    if place.is_empty() { timing } else { format!("{timing}, {place}") }
}

fn parts(rows: &[Value]) -> String {
    let is_part =
        |row: &&Value| !is_ladder(row) && row["bench"] != "memory" && row["median_s"].is_number();
    let html = table(rows.iter().filter(is_part).map(|row| {
        let ms = |name: &str| number(row, name).map(|seconds| seconds * 1e3);
        let floor = roofline::floor(row);
        let share = floor.zip(number(row, "median_s")).map(|(floor, found)| found / floor);
        [
            ("part", format!("{}: {}", text(row, "bench"), text(row, "variant")).into()),
            ("where", roofline::platform(row).into()),
            ("grid", format!("{}, {}", text(row, "grid_or_n"), text(row, "precision")).into()),
            ("timed by", timed_by(row).into()),
            ("median, ms", fixed(ms("median_s"), 4).into()),
            (
                "least … most, ms",
                format!("{} … {}", fixed(ms("min_s"), 4), fixed(ms("max_s"), 4)).into(),
            ),
            ("floor, ms", fixed(floor.map(|seconds| seconds * 1e3), 4).into()),
            ("× floor", fixed(share, 1).into()),
            ("ns/cell", fixed(number(row, "ns_per_cell"), 3).into()),
            ("GB/s", fixed(number(row, "gb_per_s"), 1).into()),
            ("G op/s", fixed(number(row, "gop_per_s"), 1).into()),
        ]
    }));
    if html.is_empty() {
        return html;
    }
    let note = "Floor: the bytes that have to be moved by what a copy moves, or the operations by what \
                arithmetic makes, whichever takes longer, both measured beside.";
    html + &paragraph(note)
}

/// The rungs of every ladder as bars and as a table.
fn ladders(rows: &[Value]) -> String {
    let mut html = String::new();
    for (name, words, page) in LADDERS {
        let rungs: Vec<&Value> = rows.iter().filter(|row| row["bench"] == name).collect();
        if rungs.is_empty() {
            continue;
        }
        let mut groups: Vec<Group> = Vec::new();
        for row in &rungs {
            let Some(value) = number(row, "gb_per_s").filter(|rate| *rate > 0.0) else { continue };
            let title = format!(
                "{} of {}, timed by {}",
                text(row, "grid_or_n"),
                text(row, "precision"),
                timed_by(row)
            );
            let gain = number(row, "cumulative_speed_up");
            let bar = Bar {
                name: text(row, "variant"),
                note: gain.map_or(String::new(), |gain| format!("{gain:.1}× the first")),
                value,
                colour: if row["backend"] == "gpu" { 3 } else { 4 },
            };
            match groups.iter_mut().find(|group| group.title == title) {
                Some(group) => group.bars.push(bar),
                None => groups.push(Group { title, bars: vec![bar] }),
            }
        }
        let title = format!("The ladder of {words}");
        let below = "each form of the kernel below the one before; longer is faster";
        html += &figure(&bars([&title, below], "GB/s that have to be moved", &groups).svg(name));
        html += &explained(page);
        html += &rung_table(&rungs);
    }
    html
}

fn rung_table(rungs: &[&Value]) -> String {
    table(rungs.iter().map(|row| {
        let us = |name: &str| number(row, name).map(|seconds| seconds * 1e6);
        [
            ("form", text(row, "variant").into()),
            ("size", text(row, "grid_or_n").into()),
            ("timed by", timed_by(row).into()),
            ("median, µs", fixed(us("median_s"), 2).into()),
            ("GB/s", fixed(number(row, "gb_per_s"), 1).into()),
            ("% of a copy", fixed(number(row, "percent_of_copy"), 1).into()),
            ("× the one before", fixed(number(row, "step_speed_up"), 2).into()),
            ("× the first", fixed(number(row, "cumulative_speed_up"), 2).into()),
            ("result", Cell::verdict(row["is_right"].as_bool().unwrap_or(false))),
        ]
    }))
}

fn memory(rows: &[Value]) -> String {
    let is_experiment = |row: &&Value| row["bench"] == "memory" && row["median_s"].is_number();
    if !rows.iter().any(|row| is_experiment(&row)) {
        return String::new();
    }
    let html = table(rows.iter().filter(is_experiment).map(|row| {
        let us = number(row, "median_s").map(|seconds| seconds * 1e6);
        [
            ("experiment", text(row, "variant").into()),
            ("size", text(row, "grid_or_n").into()),
            ("median, µs", fixed(us, 2).into()),
            ("GB/s", fixed(number(row, "gb_per_s"), 1).into()),
            ("% of a copy", fixed(number(row, "percent_of_copy"), 1).into()),
        ]
    }));
    explained("memory") + &html
}
