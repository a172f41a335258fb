//! Names and symbols of units, with their prefixes.

use super::unit::{BASES, Powers, Ratio, Unit};

/// A unit by its name, in base units: numerator / denominator times their powers.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Name {
    pub(super) numerator: f64,
    pub(super) denominator: f64,
    pub(super) powers: Powers,
    pub(super) ratio: Ratio,
}

const fn name(numerator: f64, denominator: f64, powers: Powers) -> Name {
    Name { numerator, denominator, powers, ratio: Ratio::Plain }
}

const fn ratio(denominator: f64, ratio: Ratio) -> Name {
    Name { numerator: 1.0, denominator, powers: [0; BASES], ratio }
}

const LENGTH: Powers = [1, 0, 0, 0, 0, 0, 0];
const MASS: Powers = [0, 1, 0, 0, 0, 0, 0];
const TIME: Powers = [0, 0, 1, 0, 0, 0, 0];
const TEMPERATURE: Powers = [0, 0, 0, 1, 0, 0, 0];
const AMOUNT: Powers = [0, 0, 0, 0, 1, 0, 0];
const ANGLE: Powers = [0, 0, 0, 0, 0, 1, 0];
const DECIBEL: Powers = [0, 0, 0, 0, 0, 0, 1];
const VOLUME: Powers = [3, 0, 0, 0, 0, 0, 0];
const SPEED: Powers = [1, 0, -1, 0, 0, 0, 0];
const FREQUENCY: Powers = [0, 0, -1, 0, 0, 0, 0];
const PRESSURE: Powers = [-1, 1, -2, 0, 0, 0, 0];
const FORCE: Powers = [1, 1, -2, 0, 0, 0, 0];
const ENERGY: Powers = [2, 1, -2, 0, 0, 0, 0];
const POWER: Powers = [2, 1, -3, 0, 0, 0, 0];

/// Units that take prefixes: symbol, words, value.
const PREFIXED: [(&str, &[&str], Name); 14] = [
    ("m", &["metre", "meter"], name(1.0, 1.0, LENGTH)),
    ("g", &["gram"], name(1.0, 1000.0, MASS)),
    ("s", &["second"], name(1.0, 1.0, TIME)),
    ("K", &["kelvin"], name(1.0, 1.0, TEMPERATURE)),
    ("mol", &["mole"], name(1.0, 1.0, AMOUNT)),
    ("Pa", &["pascal"], name(1.0, 1.0, PRESSURE)),
    ("J", &["joule"], name(1.0, 1.0, ENERGY)),
    ("W", &["watt"], name(1.0, 1.0, POWER)),
    ("N", &["newton"], name(1.0, 1.0, FORCE)),
    ("Bq", &["becquerel"], name(1.0, 1.0, FREQUENCY)),
    ("Hz", &["hertz"], name(1.0, 1.0, FREQUENCY)),
    ("bar", &["bar"], name(100_000.0, 1.0, PRESSURE)),
    ("L", &["litre", "liter"], name(1.0, 1000.0, VOLUME)),
    ("rad", &["radian"], name(1.0, 1.0, ANGLE)),
];

/// Prefixes: symbol, word, factor and divisor.
const PREFIXES: [(&str, &str, f64, f64); 12] = [
    ("k", "kilo", 1e3, 1.0),
    ("h", "hecto", 1e2, 1.0),
    ("da", "deca", 1e1, 1.0),
    ("d", "deci", 1.0, 1e1),
    ("c", "centi", 1.0, 1e2),
    ("m", "milli", 1.0, 1e3),
    ("u", "micro", 1.0, 1e6),
    ("n", "nano", 1.0, 1e9),
    ("p", "pico", 1.0, 1e12),
    ("M", "mega", 1e6, 1.0),
    ("G", "giga", 1e9, 1.0),
    ("T", "tera", 1e12, 1.0),
];

/// Metres of an international foot, inch and mile; seconds of an hour; metres of a nautical mile; Pa of an atmosphere.
const FOOT: [f64; 2] = [3048.0, 1e4];
const INCH: [f64; 2] = [254.0, 1e4];
const MILE: [f64; 2] = [1_609_344.0, 1e3];
const HOUR: f64 = 3600.0;
const NAUTICAL_MILE: f64 = 1852.0;
const ATMOSPHERE: f64 = 101_325.0;

/// Units that take none.
const WHOLE: [(&[&str], Name); 23] = [
    (&["min", "mins", "minute", "minutes"], name(60.0, 1.0, TIME)),
    (&["sec", "secs"], name(1.0, 1.0, TIME)),
    (&["h", "hr", "hrs", "hour", "hours"], name(HOUR, 1.0, TIME)),
    (&["d", "day", "days"], name(24.0 * HOUR, 1.0, TIME)),
    (&["kt", "kts", "kn", "knot", "knots"], name(NAUTICAL_MILE, HOUR, SPEED)),
    (&["inch", "inches", "in"], name(INCH[0], INCH[1], LENGTH)),
    (&["ft", "foot", "feet"], name(FOOT[0], FOOT[1], LENGTH)),
    (&["mile", "miles"], name(MILE[0], MILE[1], LENGTH)),
    (&["mb"], name(100.0, 1.0, PRESSURE)),
    (&["atm"], name(ATMOSPHERE, 1.0, PRESSURE)),
    (&["l"], name(1.0, 1000.0, VOLUME)),
    (&["degree", "degrees", "deg"], name(std::f64::consts::PI, 180.0, ANGLE)),
    (&["dBZ", "dbz"], name(1.0, 1.0, DECIBEL)),
    (
        &["molecules", "molecule", "molec", "mlc", "#", "count", "particles"],
        name(1.0, 1.0, [0; BASES]),
    ),
    (&["dimensionless", "unitless", "fraction"], name(1.0, 1.0, [0; BASES])),
    // A difference of temperatures: an offset has no place in a product.
    (&["degC", "degc", "celsius"], name(1.0, 1.0, TEMPERATURE)),
    (&["%", "percent"], ratio(1e2, Ratio::Percent)),
    (&["ppm"], ratio(1e6, Ratio::Parts)),
    (&["ppb"], ratio(1e9, Ratio::Parts)),
    (&["ppt"], ratio(1e12, Ratio::Parts)),
    (&["ppmv"], ratio(1e6, Ratio::Amount)),
    (&["ppbv"], ratio(1e9, Ratio::Amount)),
    (&["pptv"], ratio(1e12, Ratio::Amount)),
];

/// 0 °C and 0 °F, K; kelvins of a degree Fahrenheit.
const CELSIUS: f64 = 273.15;
const FAHRENHEIT: f64 = 459.67 * 5.0 / 9.0;
const OF_FAHRENHEIT: [f64; 2] = [5.0, 9.0];

/// Words before the name of a temperature or of an angle.
const DEGREES: [&str; 3] = ["degrees", "degree", "deg"];

/// A unit that is the whole text: temperatures with an offset, and directions on Earth. In lower case too.
pub(super) fn alone(text: &str) -> Option<Unit> {
    let after = DEGREES.iter().find_map(|word| text.strip_prefix(word));
    let of_scale = |name: &str| -> Option<Unit> {
        let [numerator, denominator] =
            if matches!(name, "f" | "fahrenheit") { OF_FAHRENHEIT } else { [1.0; 2] };
        let offset = match name {
            "c" | "celsius" => CELSIUS,
            "f" | "fahrenheit" => FAHRENHEIT,
            "k" | "kelvin" => 0.0,
            _ => return None,
        };
        Some(Unit { numerator, denominator, offset, powers: TEMPERATURE, ..Unit::ONE })
    };
    let after = after.map(|rest| rest.trim_start().to_lowercase());
    match after.as_deref() {
        Some("north" | "east" | "n" | "e") => {
            let Name { numerator, denominator, powers, .. } = of("degree")?;
            Some(Unit { numerator, denominator, powers, ..Unit::ONE })
        }
        Some(scale) => of_scale(scale),
        None if matches!(text, "c" | "celsius" | "f" | "fahrenheit" | "C" | "F") => {
            of_scale(&text.to_lowercase())
        }
        None => None,
    }
}

/// A unit by its symbol or word, with a prefix or without. Case counts where it tells units apart.
pub(super) fn of(text: &str) -> Option<Name> {
    exact(text, str::to_owned).or_else(|| exact(&text.to_lowercase(), str::to_lowercase))
}

/// The same for symbols as `cased` changes them.
fn exact(text: &str, cased: fn(&str) -> String) -> Option<Name> {
    if let Some((_, whole)) = WHOLE.iter().find(|(names, _)| names.contains(&text)) {
        return Some(*whole);
    }
    let base = |symbol: &str, is_word: bool| {
        let found = PREFIXED.iter().find(|(own, words, _)| {
            let singular = symbol.strip_suffix('s').unwrap_or(symbol);
            if is_word {
                words.contains(&symbol) || words.contains(&singular)
            } else {
                cased(own) == symbol
            }
        });
        found.map(|(.., name)| *name)
    };
    if let Some(found) = base(text, false).or_else(|| base(text, true)) {
        return Some(found);
    }
    PREFIXES.iter().find_map(|(symbol, word, up, down)| {
        let of_symbol = text.strip_prefix(cased(symbol).as_str()).and_then(|x| base(x, false));
        let found =
            of_symbol.or_else(|| text.strip_prefix(word).and_then(|rest| base(rest, true)))?;
        let Name { numerator, denominator, .. } = found;
        Some(Name { numerator: numerator * up, denominator: denominator * down, ..found })
    })
}
