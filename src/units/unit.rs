//! A unit of measurement: a factor to the base units, an offset, and powers.

/// Number of base units: m, kg, s, K, mol, rad, dBZ. Angles and decibels are bases here, so that neither passes for a
/// plain number.
pub(super) const BASES: usize = 7;

/// Powers of the base units.
pub(super) type Powers = [i8; BASES];

/// A ratio between two quantities of the same dimension.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Ratio {
    /// A plain number: no such ratio is stated.
    Plain,
    /// A share in per cent.
    Percent,
    /// Parts per million and the like, of which the text does not say whether of mass or of volume.
    Parts,
    /// Of masses, as kg kg⁻¹.
    Mass,
    /// Of amounts or volumes, as mol mol⁻¹ and ppmv.
    Amount,
}

/// A unit of measurement.
///
/// A value x means x numerator / denominator + offset in the base units. Factor and divisor are kept apart, since
/// powers of ten and of sixty are exact as whole numbers only.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Unit {
    pub(super) numerator: f64,
    pub(super) denominator: f64,
    pub(super) offset: f64,
    pub(super) powers: Powers,
    pub(super) ratio: Ratio,
}

/// An affine map of values from one unit to another.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Conversion {
    pub(super) numerator: f64,
    pub(super) denominator: f64,
    pub(super) offset: f64,
}

impl Conversion {
    /// The map that changes nothing.
    pub const IDENTITY: Self = Self { numerator: 1.0, denominator: 1.0, offset: 0.0 };

    /// Returns `true` if values keep their bits.
    pub fn is_identity(&self) -> bool {
        *self == Self::IDENTITY
    }

    /// The converted value.
    ///
    /// y = x numerator / denominator + offset
    pub fn of(&self, x: f64) -> f64 {
        // No rounding where nothing is added, so that the sign of zero is kept.
        let scaled = x * self.numerator / self.denominator;
        if self.offset == 0.0 { scaled } else { scaled + self.offset }
    }

    /// The summand of a conversion, in the units of the result.
    pub fn offset(&self) -> f64 {
        self.offset
    }
}

impl Unit {
    /// The number 1.
    pub(super) const ONE: Self = Self {
        numerator: 1.0,
        denominator: 1.0,
        offset: 0.0,
        powers: [0; BASES],
        ratio: Ratio::Plain,
    };

    /// The same with a factor and a divisor of which one is 1 where both are whole and one divides the other.
    pub(super) fn reduced(self) -> Self {
        let Self { numerator, denominator, .. } = self;
        if denominator != 1.0 && (numerator / denominator).fract() == 0.0 {
            return Self { numerator: numerator / denominator, denominator: 1.0, ..self };
        }
        if numerator != 1.0 && (denominator / numerator).fract() == 0.0 {
            return Self { numerator: 1.0, denominator: denominator / numerator, ..self };
        }
        self
    }

    /// Returns `true` if values of the two units can be converted.
    fn fits(&self, other: &Self) -> bool {
        let is_loose = |ratio| matches!(ratio, Ratio::Plain | Ratio::Percent);
        let like = self.ratio == other.ratio || is_loose(self.ratio) || is_loose(other.ratio);
        let parts = [self.ratio, other.ratio].contains(&Ratio::Parts);
        self.powers == other.powers && (like || parts)
    }

    /// Conversion of values of this unit to another; `None` if they mean different quantities.
    pub fn to(&self, other: &Self) -> Option<Conversion> {
        if !self.fits(other) {
            return None;
        }
        let factor = Self {
            numerator: self.numerator * other.denominator,
            denominator: self.denominator * other.numerator,
            ..*self
        };
        let Self { numerator, denominator, .. } = factor.reduced();
        let offset = (self.offset - other.offset) * other.denominator / other.numerator;
        Some(Conversion { numerator, denominator, offset })
    }
}
