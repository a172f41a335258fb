//! Bars on a logarithmic axis, group by group.

use super::{Anchor, Decades, FAINT, GREY, Picture, colour, short};

/// One bar.
#[derive(Clone, Debug)]
pub(in crate::cli::bench) struct Bar {
    pub(in crate::cli::bench) name: String,
    /// What stands behind it, besides its value.
    pub(in crate::cli::bench) note: String,
    pub(in crate::cli::bench) value: f64,
    /// Number of its colour.
    pub(in crate::cli::bench) colour: usize,
}

/// Bars of one kind.
#[derive(Clone, Debug)]
pub(in crate::cli::bench) struct Group {
    pub(in crate::cli::bench) title: String,
    pub(in crate::cli::bench) bars: Vec<Bar>,
}

const LEFT: f64 = 330.0;
const LENGTH: f64 = 520.0;
const RIGHT: f64 = 240.0;
const TOP: f64 = 74.0;
const BAR: f64 = 17.0;
const LINE: f64 = 23.0;
const HEAD: f64 = 34.0;
const BELOW: f64 = 52.0;

/// Groups of bars below a title and a line, above the name of the axis. A bar that is longer is
/// better, and begins at the left end of the axis: on a logarithmic one lengths are differences of powers.
pub(in crate::cli::bench) fn bars(
    [title, below]: [&str; 2],
    axis_name: &str,
    groups: &[Group],
) -> String {
    let values = groups.iter().flat_map(|group| &group.bars).map(|bar| bar.value);
    // No bar without length: half a unit below the smallest still counts.
    let axis = Decades::of(values.flat_map(|value| [value / 2.0, value]));
    let lines: usize = groups.iter().map(|group| group.bars.len()).sum();
    let body = lines as f64 * LINE + groups.len() as f64 * HEAD;
    let width = LEFT + LENGTH + RIGHT;
    let mut picture = Picture::new(width, TOP + body + BELOW, title);
    picture.text([24.0, 30.0], Anchor::Start, "font-size=\"19\" font-weight=\"bold\"", title);
    picture.text([24.0, 50.0], Anchor::Start, &format!("fill=\"{GREY}\""), below);
    for (value, is_decade) in axis.ticks() {
        let x = LEFT + axis.place(value) * LENGTH;
        let stroke = if is_decade { FAINT } else { "#F4F4F4" };
        picture.line([x, TOP], [x, TOP + body], &format!("stroke=\"{stroke}\""));
        if is_decade {
            picture.text([x, TOP + body + 18.0], Anchor::Middle, "", &short(value));
        }
    }
    let under = [LEFT + LENGTH / 2.0, TOP + body + 40.0];
    picture.text(under, Anchor::Middle, "", axis_name);
    let mut y = TOP;
    for group in groups {
        y += HEAD;
        let style = "font-size=\"15\" font-weight=\"bold\"";
        picture.text([24.0, y - 10.0], Anchor::Start, style, &group.title);
        for bar in &group.bars {
            let length = axis.place(bar.value).max(0.0) * LENGTH;
            let fill = format!("fill=\"{}\"", colour(bar.colour));
            picture.rectangle([LEFT, y], [length, BAR], &fill);
            picture.text([LEFT - 8.0, y + 13.0], Anchor::End, "", &bar.name);
            let note = if bar.note.is_empty() { "" } else { &format!("  ({})", bar.note) };
            let value = format!("{}{note}", short(bar.value));
            picture.text([LEFT + length + 6.0, y + 13.0], Anchor::Start, "", &value);
            y += LINE;
        }
    }
    picture.finish()
}
