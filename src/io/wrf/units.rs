//! Required units of the variables of a WRF file, if the file states units.

/// Units in the spellings that occur: WRF's own first, without case, spaces and punctuation.
#[derive(Clone, Copy, Debug)]
pub(super) struct Units {
    name: &'static str,
    spellings: &'static [&'static str],
}

const PRESSURE: Units =
    Units { name: "Pa", spellings: &["pa", "pascal", "pascals", "nm-2", "n/m2"] };
const TEMPERATURE: Units = Units { name: "K", spellings: &["k", "kelvin", "kelvins", "degk"] };
const WATER: Units = Units { name: "kg kg-1", spellings: &["kgkg-1", "kg/kg", "1"] };
const WIND: Units = Units { name: "m s-1", spellings: &["ms-1", "m/s"] };
const GEOPOTENTIAL: Units =
    Units { name: "m2 s-2", spellings: &["m2s-2", "m2/s2", "jkg-1", "j/kg"] };
const HEIGHT: Units = Units { name: "m", spellings: &["m", "meter", "meters", "metre", "metres"] };

/// Frequencies: units, and how many of them are 1 s⁻¹.
pub(super) const FREQUENCIES: [(Units, f64); 2] = [
    (Units { name: "s-1", spellings: &["s-1", "/s", "1/s"] }, 1.0),
    (Units { name: "min-1", spellings: &["min-1", "/min", "1/min"] }, 60.0),
];

/// The units that a variable must have; `None` where nothing depends on them.
pub(super) fn of(name: &str) -> Option<Units> {
    Some(match name {
        "P" | "PB" | "MU" | "MUB" | "P_TOP" => PRESSURE,
        "T" | "THM" => TEMPERATURE,
        "QVAPOR" | "QCLOUD" | "QRAIN" | "QICE" | "QSNOW" | "QGRAUP" | "QHAIL" => WATER,
        "U" | "V" => WIND,
        "PH" | "PHB" => GEOPOTENTIAL,
        "HGT" => HEIGHT,
        _ => return None,
    })
}

impl Units {
    /// WRF's spelling.
    pub(super) fn name(self) -> &'static str {
        self.name
    }

    /// Returns `true` if a text means these units, or is empty.
    pub(super) fn are(self, text: &str) -> bool {
        let plain: String = text
            .chars()
            .filter(|c| !c.is_whitespace() && !matches!(c, '^' | '*' | '.' | '{' | '}' | '\0'))
            .map(|c| c.to_ascii_lowercase())
            .collect();
        plain.is_empty() || plain == "-" || self.spellings.contains(&plain.as_str())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn harmless_spellings_are_taken() {
        for (units, texts) in [
            (PRESSURE, &["Pa", "PA", " pa ", "Pascal", "", " ", "-"][..]),
            (TEMPERATURE, &["K", "k", "Kelvin"]),
            (WATER, &["kg kg-1", "kg/kg", "KG KG-1", "kg kg^-1", "kg kg**-1", "kg.kg-1", "1"]),
            (WIND, &["m s-1", "m/s", "m s{-1}", "M S-1"]),
            (GEOPOTENTIAL, &["m2 s-2", "m^2/s^2", "m**2 s**-2", "J kg-1"]),
            (HEIGHT, &["m", "metres"]),
        ] {
            assert!(units.are(units.name()));
            for text in texts {
                assert!(units.are(text), "{text:?} for {}", units.name());
            }
        }
    }

    #[test]
    fn other_units_are_not() {
        for (units, texts) in [
            (PRESSURE, &["hPa", "mbar", "kPa", "K"][..]),
            (TEMPERATURE, &["degC", "C", "F"]),
            (WATER, &["g kg-1", "g/kg", "kg m-3", "%"]),
            (WIND, &["km/h", "knots", "m s-2", "m"]),
            (GEOPOTENTIAL, &["m", "gpm", "m s-2"]),
            (HEIGHT, &["km", "ft"]),
        ] {
            for text in texts {
                assert!(!units.are(text), "{text:?} for {}", units.name());
            }
        }
    }
}
