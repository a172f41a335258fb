//! Conversions of option values to types of the library.

use clap::ValueEnum;
use clap::builder::PossibleValue;

use crate::primitives::matrices::Kind;
use crate::real::Precision;

impl ValueEnum for Precision {
    fn value_variants<'a>() -> &'a [Self] {
        &[Self::F32, Self::F64]
    }

    fn to_possible_value(&self) -> Option<PossibleValue> {
        let help = match self {
            Self::F32 => "Single",
            Self::F64 => "Double",
        };
        Some(PossibleValue::new(self.name()).help(help))
    }
}

impl ValueEnum for Kind {
    fn value_variants<'a>() -> &'a [Self] {
        &Self::ALL
    }

    fn to_possible_value(&self) -> Option<PossibleValue> {
        let help = match self {
            Self::Interpolation => {
                "Bilinear interpolation from a square grid to a finer one: four entries a row"
            }
            Self::SevenPoint => "Each cell of a box and the six that it shares a face with",
            Self::TwentySevenPoint => "Each cell of a box and the 26 around it",
            Self::Skewed => "One row in 64 has 256 entries, far apart; all others have three",
        };
        Some(PossibleValue::new(self.name()).help(help))
    }
}
