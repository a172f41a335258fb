//! Colours, and scales that map values to colours.

use std::fmt;

/// A colour: red, green, blue.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Colour(pub [u8; 3]);

/// Colour of texts and axes.
pub const INK: Colour = hex(0x22_2222);
/// Colour of secondary texts.
pub const GREY: Colour = hex(0x60_6060);
/// Lines of a grid.
pub const FAINT: Colour = hex(0xDD_DDDD);
/// Lines of a finer grid.
pub const FAINTER: Colour = hex(0xF0_F0F0);
/// Background.
pub const WHITE: Colour = hex(0xFF_FFFF);
/// Colour of missing values.
pub const NOTHING: Colour = hex(0xB4_B4B4);
/// The ground.
pub const GROUND: Colour = hex(0x8C_7B6B);

/// Black, vermillion, blue, green, orange, purple, light blue: the palette of Okabe and Ito (2008), which is safe for
/// colour-blind readers.
pub const SERIES: [Colour; 7] = [
    hex(0x00_0000),
    hex(0xD5_5E00),
    hex(0x00_72B2),
    hex(0x00_9E73),
    hex(0xE6_9F00),
    hex(0xCC_79A7),
    hex(0x56_B4E9),
];

/// A colour by index, cyclically.
pub fn series(number: usize) -> Colour {
    SERIES[number % SERIES.len()]
}

/// A colour as HTML writes it, 0xRRGGBB.
pub const fn hex(code: u32) -> Colour {
    let [_, r, g, b] = code.to_be_bytes();
    Colour([r, g, b])
}

impl Colour {
    /// The opaque colour.
    pub(super) fn opaque(self) -> tiny_skia::Color {
        let Self([r, g, b]) = self;
        tiny_skia::Color::from_rgba8(r, g, b, u8::MAX)
    }
}

impl fmt::Display for Colour {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self([r, g, b]) = self;
        write!(f, "#{r:02X}{g:02X}{b:02X}")
    }
}

/// Colours of the radar maps of the US National Weather Service, from 5 dBZ in steps of 5 dBZ: not safe for colour-blind
/// readers, but familiar.
const RADAR: [u32; 15] = [
    0x00_ECEC, 0x01_A0F6, 0x00_00F6, 0x00_FF00, 0x00_C800, 0x00_9000, 0xFF_FF00, 0xE7_C000,
    0xFF_9000, 0xFF_0000, 0xD6_0000, 0xC0_0000, 0xFF_00FF, 0x99_55C9, 0xFD_FDFD,
];
/// Lowest reflectivity with a colour, and the width of a class, dBZ.
const RADAR_STEP: f64 = 5.0;

/// Classes of values, each with a colour.
#[derive(Clone, Debug, PartialEq)]
pub struct Scale {
    /// Name of the quantity, with its units.
    pub name: String,
    /// Bounds of the classes, upward: one more than colours.
    pub bounds: Vec<f64>,
    /// Colours of the classes.
    pub colours: Vec<Colour>,
    /// Colour of lower values; `None` for transparent.
    pub below: Option<Colour>,
    /// Colour of higher values.
    pub above: Colour,
    /// Labels at the bounds.
    pub labels: Vec<String>,
}

impl Scale {
    /// The colour of a value; `None` for transparent.
    pub fn colour(&self, value: f64) -> Option<Colour> {
        if value.is_nan() {
            return Some(NOTHING);
        }
        match self.bounds.partition_point(|&bound| bound <= value) {
            0 => self.below,
            n if n <= self.colours.len() => Some(self.colours[n - 1]),
            _ => Some(self.above),
        }
    }

    /// Radar reflectivity, dBZ.
    pub fn radar() -> Self {
        let bounds: Vec<f64> = (1..=RADAR.len() + 1).map(|n| n as f64 * RADAR_STEP).collect();
        Self {
            name: "reflectivity, dBZ".to_owned(),
            labels: bounds.iter().map(|bound| format!("{bound:.0}")).collect(),
            bounds,
            colours: RADAR.map(hex).to_vec(),
            below: None,
            above: WHITE,
        }
    }

    /// Amounts from nearly zero to `most` in steps of 1, 2, 5 times powers of ten, light to dark.
    pub fn amounts(name: &str, most: f64) -> Self {
        const CLASSES: i32 = 10;
        let most = if most > 0.0 && most.is_finite() { most } else { 1.0 };
        // The first number of the series that is not below the largest value.
        let mut last = (most.log10().floor() as i32) * 3;
        while in_row(last) < most {
            last += 1;
        }
        let bounds: Vec<f64> = (last - CLASSES..=last).map(in_row).collect();
        Self::of_bounds(name, bounds, |t| colorous::YELLOW_GREEN_BLUE.eval_continuous(t))
    }

    /// Differences of up to `most`, diverging: blue below zero, red above, white around zero.
    pub fn differences(name: &str, most: f64) -> Self {
        // Eleven classes, the middle one around zero.
        const SIDE: i32 = 5;
        let most = if most > 0.0 && most.is_finite() { most } else { 1.0 };
        let step = rounded_up(most / (f64::from(SIDE) + 0.5));
        let bounds: Vec<f64> = (-SIDE..=SIDE + 1).map(|n| (f64::from(n) - 0.5) * step).collect();
        Self::of_bounds(name, bounds, |t| colorous::RED_BLUE.eval_continuous(1.0 - t))
            .with_middle(WHITE)
    }

    /// Classes of equal, round width from one value to another, light to dark.
    pub fn levels(name: &str, [least, most]: [f64; 2]) -> Self {
        const CLASSES: f64 = 10.0;
        let span = most - least;
        let step = if span > 0.0 && span.is_finite() { rounded_up(span / CLASSES) } else { 1.0 };
        let first = if least.is_finite() { (least / step).floor() } else { 0.0 };
        let last = if most.is_finite() { (most / step).floor() + 1.0 } else { first };
        let count = (last - first).max(2.0) as u32;
        let bounds = (0..=count).map(|n| (first + f64::from(n)) * step).collect();
        Self::of_bounds(name, bounds, |t| colorous::YELLOW_GREEN_BLUE.eval_continuous(t))
    }

    fn with_middle(mut self, colour: Colour) -> Self {
        let middle = self.colours.len() / 2;
        self.colours[middle] = colour;
        self.below = Some(self.colours[0]);
        self
    }

    fn of_bounds(name: &str, bounds: Vec<f64>, of_share: impl Fn(f64) -> colorous::Color) -> Self {
        let count = bounds.len() - 1;
        let colour = |n: usize| Colour(of_share(n as f64 / (count - 1) as f64).as_array());
        let colours: Vec<Colour> = (0..count).map(colour).collect();
        Self {
            name: name.to_owned(),
            labels: bounds.iter().map(|&bound| short(bound)).collect(),
            above: colours[count - 1],
            bounds,
            colours,
            below: None,
        }
    }
}

/// Element `n` of the series ..., 0.1, 0.2, 0.5, 1, 2, 5, 10, ..., in which 1 is element 0.
fn in_row(n: i32) -> f64 {
    [1.0, 2.0, 5.0][n.rem_euclid(3) as usize] * 10_f64.powi(n.div_euclid(3))
}

/// The next of the numbers 1, 2, 4, 6, 8 times powers of ten, whose halves are round too.
fn rounded_up(x: f64) -> f64 {
    let unit = 10_f64.powi(x.log10().floor() as i32);
    let steps = [1.0, 2.0, 4.0, 6.0, 8.0];
    // A rounding error must not lead to the next number.
    steps.iter().map(|step| step * unit).find(|&y| y * (1.0 + 1e-12) >= x).unwrap_or(10.0 * unit)
}

/// A number in its shortest readable form, with a typographic minus sign.
pub fn short(x: f64) -> String {
    let text = if x == 0.0 {
        "0".to_owned()
    } else if (1e-4..1e6).contains(&x.abs()) {
        let digits = (2 - x.abs().log10().floor() as i32).max(0) as usize;
        let text = format!("{x:.digits$}");
        if text.contains('.') {
            text.trim_end_matches('0').trim_end_matches('.').to_owned()
        } else {
            text
        }
    } else {
        let text = format!("{x:.1e}");
        text.replace(".0e", "e")
    };
    text.replace('-', "−")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn levels_hold_both_ends_in_round_classes() {
        let scale = Scale::levels("ozone", [38.2, 47.9]);
        assert_eq!((scale.bounds[0], scale.bounds[scale.bounds.len() - 1]), (38.0, 48.0));
        assert_eq!(scale.colours.len(), scale.bounds.len() - 1);
        assert!(
            scale.colour(38.2).is_some() && scale.colour(47.9) == scale.colours.last().copied()
        );
        for same in [0.0, 1.85] {
            assert!(Scale::levels("same", [same; 2]).colour(same).is_some());
        }
    }

    #[test]
    fn radar_classes_are_five_decibels_wide() {
        let scale = Scale::radar();
        for (value, colour) in [
            (-35.0, None),
            (4.99, None),
            (5.0, Some(hex(0x00_ECEC))),
            (34.9, Some(hex(0x00_9000))),
            (35.0, Some(hex(0xFF_FF00))),
            (50.0, Some(hex(0xFF_0000))),
            (79.0, Some(hex(0xFD_FDFD))),
            (f64::NAN, Some(NOTHING)),
        ] {
            assert_eq!(scale.colour(value), colour, "{value} dBZ");
        }
    }

    #[test]
    fn amounts_reach_the_largest_value() {
        for most in [0.0, 1e-9, 0.3, 5.0, 5.1, 812.0] {
            let scale = Scale::amounts("x", most);
            let last = *scale.bounds.last().unwrap();
            assert!(last >= most && (most == 0.0 || last <= 2.6 * most), "{most}: {last}");
            assert_eq!(scale.bounds.len(), scale.colours.len() + 1);
            assert_eq!(scale.colour(0.0), None);
        }
    }

    #[test]
    fn differences_are_symmetric() {
        for most in [1e-7, 0.02, 0.9, 1.0, 47.0] {
            let scale = Scale::differences("x", most);
            let ends = [scale.bounds[0], *scale.bounds.last().unwrap()];
            assert!((ends[0] + ends[1]).abs() < 1e-12 * ends[1], "{ends:?}");
            assert!(ends[1] >= most * 0.999_999 && ends[1] < 2.1 * most, "{most}: {ends:?}");
            assert_eq!(scale.colour(0.0), Some(WHITE));
            let red = |value: f64| {
                let Colour([r, _, b]) = scale.colour(value).unwrap();
                i32::from(r) - i32::from(b)
            };
            assert!(red(most) > 50 && red(-most) < -50, "{most}");
        }
    }

    #[test]
    fn numbers_are_short() {
        for (x, text) in [
            (0.0, "0"),
            (0.5, "0.5"),
            (-1234.0, "−1234"),
            (0.012_345, "0.0123"),
            (3e9, "3e9"),
            (2.5e-7, "2.5e−7"),
        ] {
            assert_eq!(short(x), text);
        }
    }
}
