//! Axes: positions of values on a picture, and their tick labels.

use super::canvas::{Anchor, Picture, Point, SIZE, Stroke, Text};
use super::colour::{FAINT, GREY, INK, Scale};
use super::log_axis::Decades;

/// A range of values with tick labels.
#[derive(Clone, Debug, PartialEq)]
pub struct Axis {
    /// Name of the quantity, with its units.
    pub name: String,
    /// Values at its ends, in the units of [`Axis::name`].
    pub range: [f64; 2],
    /// Values with a tick, and its label.
    pub ticks: Vec<(f64, String)>,
    /// `true` for a logarithmic axis.
    pub is_logarithmic: bool,
}

impl Axis {
    /// An axis from one value to another with about `count` round ticks.
    pub fn linear(name: &str, range: [f64; 2], count: usize) -> Self {
        let range = extended(range);
        let step = round_step(range[1] - range[0], count);
        let ticks = multiples(range, step).into_iter().map(|x| (x, number(x, step))).collect();
        Self { name: name.to_owned(), range, ticks, is_logarithmic: false }
    }

    /// An axis that contains the given values, between round numbers.
    pub fn around(name: &str, values: impl Iterator<Item = f64>, count: usize) -> Self {
        let finite = values.filter(|value| value.is_finite());
        let range = finite
            .fold([f64::INFINITY, f64::NEG_INFINITY], |[low, high], x| [low.min(x), high.max(x)]);
        let [low, high] = if range[0] > range[1] { [0.0, 1.0] } else { extended(range) };
        let step = round_step(high - low, count);
        // Zero may be an end; at other ends a margin keeps curves off the frame.
        let room = |end: f64| if end == 0.0 { 0.0 } else { 0.03 * (high - low) };
        let lowest = if low > 0.0 { (low - room(low)).max(0.0) } else { low - room(low) };
        let floor = (lowest / step + 1e-9).floor() * step;
        let ceiling = ((high + room(high)) / step - 1e-9).ceil() * step;
        Self::linear(name, [floor, ceiling], count)
    }

    /// A logarithmic axis that contains the given values, with ticks at the powers of ten.
    pub fn decades(name: &str, values: impl Iterator<Item = f64>) -> Self {
        let decades = Decades::of(values);
        let numbered = decades.ticks().into_iter().filter(|(_, has_number)| *has_number);
        Self {
            name: name.to_owned(),
            range: [decades.first, decades.last].map(|power| 10_f64.powi(power)),
            ticks: numbered.map(|(value, _)| (value, super::colour::short(value))).collect(),
            is_logarithmic: true,
        }
    }

    /// Position of a value, from 0 to 1.
    pub fn fraction(&self, value: f64) -> f64 {
        let [low, high] = self.range;
        if self.is_logarithmic {
            (value / low).ln() / (high / low).ln()
        } else {
            (value - low) / (high - low)
        }
    }
}

/// A nonempty range, also if both ends are equal or NaN.
fn extended([low, high]: [f64; 2]) -> [f64; 2] {
    if !low.is_finite() || !high.is_finite() {
        return [0.0, 1.0];
    }
    // With smaller steps, the labels of both ends would be equal.
    let least = 1e-9 * low.abs().max(high.abs());
    if high - low > least {
        return [low, high];
    }
    if low == 0.0 { [0.0, 1.0] } else { [low - 0.5 * low.abs(), high + 0.5 * high.abs()] }
}

/// The round step (1, 2, 5 times a power of ten) that divides a range into about `count` parts.
pub fn round_step(span: f64, count: usize) -> f64 {
    let raw = span / count.max(1) as f64;
    let unit = 10_f64.powi(raw.log10().floor() as i32);
    [1.0, 2.0, 5.0, 10.0].iter().map(|step| step * unit).find(|step| *step >= raw).unwrap_or(raw)
}

/// Multiples of a step within a range.
pub fn multiples([low, high]: [f64; 2], step: f64) -> Vec<f64> {
    let first = (low / step - 1e-9).ceil() as i64;
    let last = (high / step + 1e-9).floor() as i64;
    (first..=last).map(|n| n as f64 * step).collect()
}

/// A multiple of a step in digits.
pub fn number(x: f64, step: f64) -> String {
    if x == 0.0 {
        return "0".to_owned();
    }
    if !(1e-4..1e6).contains(&step) {
        return super::colour::short(x);
    }
    let digits = (-step.log10().floor()).max(0.0) as usize;
    format!("{x:.digits$}").replace('-', "−")
}

/// A pair of axes on a picture.
#[derive(Clone, Debug, PartialEq)]
pub struct AxesFrame {
    /// Upper left corner.
    pub at: Point,
    /// Width and height, px.
    pub size: Point,
    /// From left to right.
    pub x: Axis,
    /// From below upward.
    pub y: Axis,
}

impl AxesFrame {
    /// Position of a pair of values.
    pub fn place(&self, [x, y]: [f64; 2]) -> Point {
        let [left, top] = self.at;
        let [width, height] = self.size;
        [left + self.x.fraction(x) * width, top + (1.0 - self.y.fraction(y)) * height]
    }

    /// Left, right, top and bottom, px.
    pub fn sides(&self) -> [f64; 4] {
        let ([left, top], [width, height]) = (self.at, self.size);
        [left, left + width, top, top + height]
    }

    /// Faint grid lines at the ticks.
    pub fn draw_grid(&self, picture: &mut Picture) {
        let [left, right, top, bottom] = self.sides();
        let faint = Stroke::solid(FAINT, 1.0);
        for (value, _) in &self.x.ticks {
            let [x, _] = self.place([*value, self.y.range[0]]);
            picture.line(&[[x, top], [x, bottom]], faint);
        }
        for (value, _) in &self.y.ticks {
            let [_, y] = self.place([self.x.range[0], *value]);
            picture.line(&[[left, y], [right, y]], faint);
        }
    }

    /// The frame, the tick labels and the names.
    pub fn draw(&self, picture: &mut Picture) {
        self.draw_sides(picture);
        self.draw_x(picture);
        self.draw_y(picture);
    }

    /// The frame.
    pub fn draw_sides(&self, picture: &mut Picture) {
        picture.rectangle(self.at, self.size, None, Some(Stroke::solid(INK, 1.0)));
    }

    /// Tick labels and name of the lower axis.
    pub fn draw_x(&self, picture: &mut Picture) {
        let [left, right, _, bottom] = self.sides();
        let mut free = f64::NEG_INFINITY;
        for (value, label) in &self.x.ticks {
            let [x, _] = self.place([*value, self.y.range[0]]);
            picture.line(&[[x, bottom], [x, bottom + 4.0]], Stroke::solid(INK, 1.0));
            let text = Text::new([x, bottom + 18.0], label).held(Anchor::Middle);
            let half = text.width() / 2.0;
            if x - half > free {
                free = x + half + 4.0;
                picture.text(text);
            }
        }
        let name = Text::new([f64::midpoint(left, right), bottom + 37.0], &self.x.name);
        picture.text(name.held(Anchor::Middle));
    }

    /// Tick labels and name of the axis on the left.
    pub fn draw_y(&self, picture: &mut Picture) {
        let [left, _, top, bottom] = self.sides();
        let mut widest: f64 = 0.0;
        let mut free = f64::INFINITY;
        for (value, label) in &self.y.ticks {
            let [_, y] = self.place([self.x.range[0], *value]);
            picture.line(&[[left - 4.0, y], [left, y]], Stroke::solid(INK, 1.0));
            let text = Text::new([left - 7.0, y + 4.5], label).held(Anchor::End);
            if y + 0.5 * SIZE < free {
                free = y - 0.5 * SIZE;
                widest = widest.max(text.width());
                picture.text(text);
            }
        }
        let at = [left - 7.0 - widest - 12.0, f64::midpoint(top, bottom)];
        picture.text(Text::new(at, &self.y.name).held(Anchor::Middle).upright());
    }
}

/// Left margin of a picture, for tick labels and a name, px.
pub const LEFT: f64 = 82.0;
/// Top margin, for a title of three lines, px.
pub const TOP: f64 = 86.0;
/// Bottom margin, for tick labels and a name, px.
pub const BELOW: f64 = 56.0;
/// Left margin of titles, px.
pub const MARGIN: f64 = 20.0;

/// Title, and the grey line below it, each cut to the picture's width.
pub fn draw_title(picture: &mut Picture, title: &str, below: &[String]) {
    let most = picture.size()[0] - 2.0 * MARGIN;
    picture.text(Text::new([MARGIN, 30.0], title).sized(19.0).bold().fitted(most));
    for (number, line) in below.iter().enumerate() {
        let at = [MARGIN, 51.0 + 18.0 * number as f64];
        picture.text(Text::new(at, line).coloured(GREY).fitted(most));
    }
}

/// Width of a colour bar with its labels and its name, px.
pub const BAR_ROOM: f64 = 104.0;

/// A vertical colour bar beside `[top, bottom]`.
pub fn draw_bar(picture: &mut Picture, left: f64, [top, bottom]: [f64; 2], scale: &Scale) {
    const WIDTH: f64 = 18.0;
    let count = scale.colours.len() as f64;
    let height = (bottom - top) / count;
    for (number, colour) in scale.colours.iter().enumerate() {
        let y = bottom - (number as f64 + 1.0) * height;
        picture.rectangle([left, y], [WIDTH, height], Some(*colour), None);
    }
    picture.rectangle([left, top], [WIDTH, bottom - top], None, Some(Stroke::solid(INK, 1.0)));
    // Low classes are not all labelled.
    let apart = ((SIZE + 2.0) / height).ceil().max(1.0) as usize;
    let mut widest: f64 = 0.0;
    for (number, label) in scale.labels.iter().enumerate().step_by(apart) {
        let y = bottom - number as f64 * height;
        picture.line(&[[left + WIDTH, y], [left + WIDTH + 4.0, y]], Stroke::solid(INK, 1.0));
        let text = Text::new([left + WIDTH + 7.0, y + 4.5], label);
        widest = widest.max(text.width());
        picture.text(text);
    }
    let at = [left + WIDTH + 7.0 + widest + 18.0, f64::midpoint(top, bottom)];
    picture.text(Text::new(at, &scale.name).held(Anchor::Middle).upright());
}

/// Legend of lines by their names, in rows below `[left, top]`, no wider than `width`; returns its height, px.
pub fn draw_legend(
    picture: &mut Picture,
    [left, top]: Point,
    width: f64,
    entries: &[(&str, Stroke)],
) -> f64 {
    const ROW: f64 = 20.0;
    const SAMPLE: f64 = 28.0;
    let (mut x, mut y) = (left, top);
    for &(name, stroke) in entries {
        let text = Text::new([0.0, 0.0], name);
        let needed = SAMPLE + 6.0 + text.width();
        if x > left && x + needed > left + width {
            (x, y) = (left, y + ROW);
        }
        picture.line(&[[x, y - 4.5], [x + SAMPLE, y - 4.5]], stroke);
        picture.text(Text { at: [x + SAMPLE + 6.0, y], ..text });
        x += needed + 22.0;
    }
    y + ROW - top
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn axes_hold_their_values_and_have_round_numbers() {
        for values in [
            vec![0.0, 7.3],
            vec![-3.0, 12_345.0],
            vec![5.0, 5.0],
            vec![0.0],
            vec![f64::NAN],
            vec![],
            vec![1e-12, 4e-12],
            vec![-1e9, 1e9],
        ] {
            let axis = Axis::around("x", values.iter().copied(), 5);
            let [low, high] = axis.range;
            assert!(low < high, "{values:?}: {axis:?}");
            for value in values.iter().filter(|value| value.is_finite()) {
                assert!((-1e-6..=1.0 + 1e-6).contains(&axis.fraction(*value)), "{values:?}");
            }
            assert!((2..=12).contains(&axis.ticks.len()), "{values:?}: {:?}", axis.ticks);
            let labels: std::collections::BTreeSet<_> = axis.ticks.iter().map(|t| &t.1).collect();
            assert_eq!(labels.len(), axis.ticks.len(), "{:?}", axis.ticks);
        }
    }

    #[test]
    fn numbers_have_the_digits_of_their_step() {
        for (x, step, text) in [
            (0.3, 0.1, "0.3"),
            (-20.0, 5.0, "−20"),
            (0.0, 0.1, "0"),
            (0.25, 0.05, "0.25"),
            (2e-6, 1e-6, "2e−6"),
        ] {
            assert_eq!(number(x, step), text);
        }
    }
}
