//! Quantities that the program reads: the unit of their values, and other units that are converted.

use super::text::is_absent;
use super::unit::{Conversion, Ratio, Unit};

/// A quantity in the unit that the program computes with.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Quantity {
    /// Its unit.
    pub units: &'static str,
    /// Other units that are converted, for messages.
    known: &'static str,
    /// Kinds of ratio that dimensionless units may state.
    ratios: &'static [Ratio],
    /// `true` for differences, of temperatures or of times, which units with an offset cannot state.
    is_difference: bool,
    /// A unit of another dimension, and its number of the unit.
    also: Option<(&'static str, f64)>,
}

/// Units that a quantity cannot have.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refusal {
    /// The stated units.
    pub found: String,
    /// Units that are taken, in words.
    pub needed: String,
}

const fn quantity(units: &'static str, known: &'static str) -> Quantity {
    Quantity { units, known, ratios: &[Ratio::Plain], is_difference: false, also: None }
}

impl Quantity {
    /// Temperature and potential temperature, K.
    pub const TEMPERATURE: Self = quantity("K", "degC, degF");
    /// Potential temperature less 300 K (WRF `T`, `THM`), K.
    pub const THETA_PERTURBATION: Self = Self { is_difference: true, ..quantity("K", "mK") };
    /// Pressure and column mass, Pa.
    pub const PRESSURE: Self = quantity("Pa", "hPa, mbar, kPa, bar, atm");
    /// Mixing ratio by mass, kg kg⁻¹.
    pub const MASS_RATIO: Self =
        Self { ratios: &[Ratio::Plain, Ratio::Mass], ..quantity("kg kg-1", "g kg-1, mg kg-1, 1") };
    /// Mixing ratio of a gas by volume, ppmv.
    pub const GAS_RATIO: Self = Self {
        ratios: &[Ratio::Plain, Ratio::Percent, Ratio::Parts, Ratio::Amount],
        ..quantity("ppmv", "ppbv, pptv, ppm, ppb, ppt, mol mol-1, 1, %")
    };
    /// Number density, molecules cm⁻³.
    pub const NUMBER_DENSITY: Self = quantity("cm-3", "molecules cm-3, m-3");
    /// Frequency and rate of first order, s⁻¹.
    pub const FREQUENCY: Self = quantity("s-1", "min-1, h-1");
    /// Time of the day and duration, s.
    pub const TIME: Self = Self { is_difference: true, ..quantity("s", "min, h, days") };
    /// Length, m.
    pub const LENGTH: Self = quantity("m", "km, cm, ft");
    /// Wind, m s⁻¹.
    pub const WIND: Self = quantity("m s-1", "km h-1, knots");
    /// Geopotential, m² s⁻².
    pub const GEOPOTENTIAL: Self = quantity("m2 s-2", "J kg-1");
    /// Precipitation as depth of water, mm.
    pub const PRECIPITATION: Self =
        Self { also: Some(("kg m-2", 1.0)), ..quantity("mm", "cm, m, inch, kg m-2") };
    /// Density, kg m⁻³.
    pub const DENSITY: Self = quantity("kg m-3", "g m-3, g cm-3");
    /// Share of a whole, as relative humidity, 1.
    pub const FRACTION: Self =
        Self { ratios: &[Ratio::Plain, Ratio::Percent], ..quantity("1", "%") };
    /// Plain number, 1.
    pub const NUMBER: Self =
        Self { ratios: &[Ratio::Plain, Ratio::Mass, Ratio::Amount], ..quantity("1", "no other") };
    /// Direction and position on Earth, degrees.
    pub const DEGREES: Self = quantity("degrees", "degrees_north, degrees_east, radians");
    /// A number whose unit only a mechanism knows; taken as it is.
    pub const UNASKED: Self = quantity("", "any");
    /// Reflectivity, dBZ.
    pub const REFLECTIVITY: Self = quantity("dBZ", "no other");
    /// Rate of change of a temperature, K s⁻¹.
    pub const TEMPERATURE_TENDENCY: Self = quantity("K s-1", "K h-1, K day-1, degC h-1");
    /// Rate of change of a mixing ratio by mass, s⁻¹.
    pub const RATIO_TENDENCY: Self =
        Self { ratios: &[Ratio::Plain, Ratio::Mass], ..quantity("s-1", "kg kg-1 s-1, g kg-1 h-1") };
    /// Mass-coupled wind (WRF `ru`, `rv`), Pa m s⁻¹.
    pub const COUPLED_WIND: Self = quantity("Pa m s-1", "hPa m s-1");
    /// Mass-coupled coordinate velocity (WRF `rom`), Pa s⁻¹.
    pub const COUPLED_VELOCITY: Self = quantity("Pa s-1", "hPa s-1, Pa h-1");

    /// Those that a unit alone identifies.
    const BY_UNIT: [Self; 12] = [
        Self::TEMPERATURE,
        Self::PRESSURE,
        Self::MASS_RATIO,
        Self::GAS_RATIO,
        Self::NUMBER_DENSITY,
        Self::FREQUENCY,
        Self::LENGTH,
        Self::WIND,
        Self::PRECIPITATION,
        Self::DENSITY,
        Self::NUMBER,
        Self::REFLECTIVITY,
    ];

    /// The quantity with a unit: a known one, or one of which every unit of its dimension is taken.
    pub fn in_units(units: &'static str) -> Self {
        let known = Self::BY_UNIT.into_iter().find(|known| known.units == units);
        known.unwrap_or(Self {
            ratios: &[Ratio::Plain, Ratio::Percent, Ratio::Parts, Ratio::Mass, Ratio::Amount],
            ..quantity(units, "units of the same dimension")
        })
    }

    /// The unit as such.
    fn unit(&self) -> Unit {
        Unit::parse(self.units).expect("the unit of a quantity is known")
    }

    /// The map from values in stated units to those of the quantity; where nothing is stated they are its own.
    ///
    /// # Errors
    ///
    /// [`Refusal`] when the units are not known, or are those of another quantity.
    pub fn conversion(&self, stated: &str) -> Result<Conversion, Refusal> {
        if is_absent(stated) || *self == Self::UNASKED {
            return Ok(Conversion::IDENTITY);
        }
        let refusal = || Refusal {
            found: stated.trim_end_matches('\0').to_owned(),
            needed: format!("{:?} is needed, and converted are: {}", self.units, self.known),
        };
        let found = Unit::parse(stated).ok_or_else(refusal)?;
        if let Some((other, count)) = self.also
            && let Some(to_other) = Unit::parse(other).and_then(|other| found.to(&other))
        {
            return Ok(Conversion { numerator: to_other.numerator * count, ..to_other });
        }
        let is_of_it = self.ratios.contains(&found.ratio) || found.ratio == self.unit().ratio;
        if !is_of_it || (self.is_difference && found.offset != 0.0) {
            return Err(refusal());
        }
        found.to(&self.unit()).ok_or_else(refusal)
    }
}
