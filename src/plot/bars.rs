//! Grouped bars on a logarithmic axis.

use super::axes::{MARGIN, draw_title};
use super::canvas::{Anchor, Picture, Stroke, Text};
use super::colour::{FAINT, FAINTER, series, short};
use super::log_axis::Decades;

/// One bar.
#[derive(Clone, Debug)]
pub struct Bar {
    /// Name of the bar.
    pub name: String,
    /// Text after the value.
    pub note: String,
    /// Length of the bar.
    pub value: f64,
    /// Index of its colour.
    pub colour: usize,
}

/// Bars of one kind.
#[derive(Clone, Debug)]
pub struct Group {
    /// Title that they share.
    pub title: String,
    /// The bars.
    pub bars: Vec<Bar>,
}

const LENGTH: f64 = 430.0;
const TOP: f64 = 74.0;
const BAR: f64 = 17.0;
const LINE: f64 = 23.0;
const HEAD: f64 = 34.0;
const BELOW: f64 = 52.0;
/// Bounds of the width for names, px.
const NAMES: [f64; 2] = [110.0, 420.0];

/// Text after a bar.
fn behind(bar: &Bar) -> String {
    let note = if bar.note.is_empty() { "" } else { &format!("  ({})", bar.note) };
    format!("{}{note}", short(bar.value))
}

/// Groups of bars below a title and a line, above the name of the axis. Longer is better. Bars begin at the left end of
/// the axis: on a logarithmic axis lengths are ratios.
pub fn bars([title, below]: [&str; 2], axis_name: &str, groups: &[Group]) -> Picture {
    let all = || groups.iter().flat_map(|group| &group.bars);
    // Every bar has a length: the axis begins half a unit below the smallest value.
    let axis = Decades::of(all().flat_map(|bar| [bar.value / 2.0, bar.value]));
    let width_of = |text: &str| Text::new([0.0, 0.0], text).width();
    let names = all().map(|bar| width_of(&bar.name)).fold(NAMES[0], f64::max).min(NAMES[1]);
    let left = MARGIN + names + 10.0;
    let ends = all().map(|bar| {
        let end = axis.fraction(bar.value).clamp(0.0, 1.0) * LENGTH + width_of(&behind(bar));
        end - LENGTH
    });
    let right = ends.fold(0.0, f64::max) + 2.0 * MARGIN;
    let lines: usize = groups.iter().map(|group| group.bars.len()).sum();
    let body = lines as f64 * LINE + groups.len() as f64 * HEAD;
    let mut picture = Picture::new(left + LENGTH + right, TOP + body + BELOW, title);
    draw_title(&mut picture, title, &[below.to_owned()]);
    for (value, is_decade) in axis.ticks() {
        let x = left + axis.fraction(value) * LENGTH;
        let colour = if is_decade { FAINT } else { FAINTER };
        picture.line(&[[x, TOP], [x, TOP + body]], Stroke::solid(colour, 1.0));
        if is_decade {
            let text = Text::new([x, TOP + body + 18.0], short(value));
            picture.text(text.held(Anchor::Middle));
        }
    }
    let under = [left + LENGTH / 2.0, TOP + body + 40.0];
    picture.text(Text::new(under, axis_name).held(Anchor::Middle));
    let mut y = TOP;
    for group in groups {
        y += HEAD;
        picture.text(Text::new([MARGIN, y - 10.0], &group.title).sized(15.0).bold());
        for bar in &group.bars {
            let length = axis.fraction(bar.value).max(0.0) * LENGTH;
            picture.rectangle([left, y], [length, BAR], Some(series(bar.colour)), None);
            let name = Text::new([left - 8.0, y + 13.0], &bar.name).fitted(names);
            picture.text(name.held(Anchor::End));
            picture.text(Text::new([left + length + 6.0, y + 13.0], behind(bar)));
            y += LINE;
        }
    }
    picture
}
