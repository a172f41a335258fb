//! Units as text: parsing, and conversions between two texts.

use super::names::{self, Name};
use super::unit::{BASES, Conversion, Ratio, Unit};
use crate::calendar;

/// Position of the metre among the base units.
const METRE: usize = 0;

/// Position of the kilogram.
const KILOGRAM: usize = 1;
/// Position of the second.
const SECOND: usize = 2;
/// Position of the mole.
const MOLE: usize = 4;

impl Unit {
    /// The unit that a text means; `None` if it is not known. Texts without units mean 1.
    pub fn parse(text: &str) -> Option<Self> {
        let text = plain(text);
        if is_absent(&text) {
            return None;
        }
        let lower = text.to_lowercase();
        if let Some((unit, origin)) = lower.split_once(" since ") {
            return since(unit, origin);
        }
        if let Some(alone) = names::alone(&text).or_else(|| names::alone(&lower)) {
            return Some(alone);
        }
        let mut unit = Self::ONE;
        // Bases above and below the line, of units of that base alone: the kilogram of J kg-1 is none of a ratio.
        let mut seen = [[false; 2]; BASES];
        for (number, (divides, factor)) in factors(&text)?.into_iter().enumerate() {
            let (name, exponent) = split_exponent(factor)?;
            let power = if divides { -exponent } else { exponent };
            if let Ok(number_text) = factor.parse::<f64>() {
                // A number may be the first factor only: elsewhere it is a lost exponent.
                let is_usual = number == 0 && number_text.is_finite() && number_text > 0.0;
                if !is_usual {
                    return None;
                }
                unit.numerator = number_text;
                continue;
            }
            let Name { numerator, denominator, powers, ratio } = names::of(name)?;
            let [up, down] =
                if power > 0 { [numerator, denominator] } else { [denominator, numerator] };
            let times = i32::from(power.unsigned_abs());
            unit.numerator *= up.powi(times);
            unit.denominator *= down.powi(times);
            let is_base = powers.iter().map(|power| power.abs()).sum::<i8>() == 1;
            for (base, of_name) in powers.into_iter().enumerate() {
                seen[base][usize::from(power < 0)] |= is_base && of_name != 0;
                unit.powers[base] = unit.powers[base].checked_add(of_name.checked_mul(power)?)?;
            }
            if ratio != Ratio::Plain {
                unit.ratio = ratio;
            }
        }
        let cancelled = |base: usize| seen[base] == [true; 2] && unit.powers[base] == 0;
        if unit.ratio == Ratio::Plain {
            unit.ratio = if cancelled(KILOGRAM) {
                Ratio::Mass
            } else if cancelled(MOLE) || cancelled(METRE) {
                Ratio::Amount
            } else {
                Ratio::Plain
            };
        }
        Some(unit.reduced())
    }
}

/// Conversion of values between the units of two texts, which may be spelt differently; `None` if one of them is not
/// known, or if they mean different quantities.
pub fn between(from: &str, to: &str) -> Option<Conversion> {
    if from.trim() == to.trim() {
        return Some(Conversion::IDENTITY);
    }
    Unit::parse(from)?.to(&Unit::parse(to)?)
}

/// Number of these units in a mixing ratio of 1; `None` unless they are those of a mixing ratio, by mass or by volume.
pub fn whole(units: &str) -> Option<f64> {
    let unit = Unit::parse(units)?;
    let is_ratio = matches!(unit.ratio, Ratio::Mass | Ratio::Amount) && unit.powers == [0; BASES];
    is_ratio.then(|| unit.denominator / unit.numerator)
}

/// Returns `true` for a text that states no units: a blank, WRF's dash, or none.
pub fn is_absent(text: &str) -> bool {
    let text = text.trim_matches(|c: char| c.is_whitespace() || c == '\0');
    matches!(text, "" | "-") || text.eq_ignore_ascii_case("none")
}

/// The text in one spelling: without brackets, with `^` for `**`, and with ASCII for signs outside of it.
fn plain(text: &str) -> String {
    let trimmed = text.trim_matches(|c: char| c.is_whitespace() || c == '\0');
    let inside = |open: char, close: char| {
        trimmed.strip_prefix(open).and_then(|rest| rest.strip_suffix(close))
    };
    let trimmed = inside('[', ']').or_else(|| inside('(', ')')).unwrap_or(trimmed).trim();
    let mut plain = String::with_capacity(trimmed.len());
    for c in trimmed.replace("**", "^").replace("kg-dryair", "kg").chars() {
        match c {
            '{' | '}' => {}
            '\u{b5}' | '\u{3bc}' => plain.push('u'),
            '\u{b7}' | '\u{22c5}' => plain.push('.'),
            '\u{b0}' => plain.push_str("deg"),
            '\u{207b}' | '\u{2212}' => plain.push('-'),
            '\u{b9}' => plain.push('1'),
            '\u{b2}' => plain.push('2'),
            '\u{b3}' => plain.push('3'),
            '\u{2074}'..='\u{2079}' => plain.push((b'4' + (c as u32 - 0x2074) as u8) as char),
            c if c.is_whitespace() || c == '_' => plain.push(' '),
            c => plain.push(c),
        }
    }
    plain
}

/// The factors of a product, each with `true` if it is divided by; `None` where an operator lacks a factor.
fn factors(text: &str) -> Option<Vec<(bool, &str)>> {
    let mut factors = Vec::new();
    let mut divides = false;
    let mut is_open = true;
    let mut rest = text;
    while let Some(c) = rest.chars().next() {
        if c == ' ' {
            rest = &rest[1..];
            continue;
        }
        if matches!(c, '.' | '*' | '/') {
            if is_open {
                return None;
            }
            (divides, is_open) = (c == '/', true);
            rest = &rest[1..];
            continue;
        }
        let end = end_of_factor(rest);
        let (factor, after) = rest.split_at(end);
        if factor.eq_ignore_ascii_case("per") {
            if is_open {
                return None;
            }
            (divides, is_open) = (true, true);
        } else {
            factors.push((divides, factor));
            (divides, is_open) = (false, false);
        }
        rest = after;
    }
    (!is_open).then_some(factors)
}

/// Length of the first factor of a text; points inside of numbers do not end it.
fn end_of_factor(text: &str) -> usize {
    let is_number = text.starts_with(|c: char| c.is_ascii_digit());
    let bytes = text.as_bytes();
    let ends = |at: usize| match bytes[at] {
        b' ' | b'*' | b'/' => true,
        b'.' => !(is_number && bytes.get(at + 1).is_some_and(u8::is_ascii_digit)),
        _ => false,
    };
    (0..bytes.len()).find(|at| ends(*at)).unwrap_or(bytes.len())
}

/// The name of a factor and its exponent, as in `m-3`, `m^-3` and `s2`.
fn split_exponent(factor: &str) -> Option<(&str, i8)> {
    let is_exponent = |c: char| c == '-' || c == '+' || c == '^' || c.is_ascii_digit();
    let Some(at) = factor.find(is_exponent) else { return Some((factor, 1)) };
    let (name, exponent) = factor.split_at(at);
    if name.is_empty() {
        return Some((factor, 1));
    }
    let exponent = exponent.strip_prefix('^').unwrap_or(exponent);
    exponent.parse().ok().filter(|power| *power != 0).map(|power| (name, power))
}

/// Time since a date: seconds since the first day of the calendar.
fn since(unit: &str, origin: &str) -> Option<Unit> {
    let count = calendar::Count::parse(&format!("{unit} since {origin}"))?;
    let offset = (count.origin - calendar::START).as_seconds_f64();
    let mut powers = [0; BASES];
    powers[SECOND] = 1;
    Some(Unit { numerator: count.unit, offset, powers, ..Unit::ONE })
}
