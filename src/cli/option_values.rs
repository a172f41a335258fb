//! Types of the library as values of options, with their names and help; checks of numbers.

use std::fmt::{self, Display};
use std::str::FromStr;

use clap::ValueEnum;
use clap::builder::PossibleValue;

use crate::cases::{CaseName, Shear};
use crate::chemistry::cells::RateUpdate;
use crate::chemistry::gpu::Mapping;
use crate::chemistry::rosenbrock::{Method, methods};
use crate::constituents::Limiter;
use crate::diagnostics::regrid;
use crate::error::{Error, Result};
use crate::io::store::storage::Compression;
use crate::io::weights::Coordinates;
use crate::io::wrf::series::Overlap;
use crate::primitives::matrices::Kind;
use crate::real::Precision;

/// Fails if a number is given and not positive.
pub(super) fn check_positive(option: &str, value: Option<f64>) -> Result<()> {
    match value {
        Some(value) if value <= 0.0 || !value.is_finite() => {
            Err(Error::Usage(format!("{option} {value}: a positive number is needed")))
        }
        _ => Ok(()),
    }
}

/// The name of a value.
pub(super) fn value_name(value: &impl ValueEnum) -> String {
    value.to_possible_value().map_or_else(String::new, |value| value.get_name().to_owned())
}

/// A name and its help.
type Words = (&'static str, &'static str);

fn possible((name, help): Words) -> PossibleValue {
    PossibleValue::new(name).help(help)
}

impl ValueEnum for Precision {
    fn value_variants<'a>() -> &'a [Self] {
        &[Self::F32, Self::F64]
    }

    fn to_possible_value(&self) -> Option<PossibleValue> {
        let help = match self {
            Self::F32 => "Single",
            Self::F64 => "Double",
        };
        Some(possible((self.name(), help)))
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
            Self::Projection => {
                "Each column of a grid and the four beside it, as in the wind projection"
            }
            Self::LongRow => "One row has a million entries, all others have one",
            Self::EmptyRows => "One row in four has four entries, all others none",
        };
        Some(possible((self.name(), help)))
    }
}

impl ValueEnum for Limiter {
    fn value_variants<'a>() -> &'a [Self] {
        &[Self::PositiveDefinite, Self::Monotonic, Self::None]
    }

    fn to_possible_value(&self) -> Option<PossibleValue> {
        Some(possible(match self {
            Self::PositiveDefinite => ("pd", "Positive definite"),
            Self::Monotonic => ("monotonic", "Monotonic"),
            Self::None => ("none", "None"),
        }))
    }
}

impl ValueEnum for Overlap {
    fn value_variants<'a>() -> &'a [Self] {
        &[Self::Refuse, Self::First, Self::Last]
    }

    fn to_possible_value(&self) -> Option<PossibleValue> {
        Some(possible(match self {
            Self::Refuse => ("refuse", "Neither: a time that two files have is an error"),
            Self::First => ("first", "The earlier file"),
            Self::Last => ("last", "The later file, from its first time on"),
        }))
    }
}

impl ValueEnum for Compression {
    fn value_variants<'a>() -> &'a [Self] {
        &[Self::None, Self::Fast, Self::Small]
    }

    fn to_possible_value(&self) -> Option<PossibleValue> {
        Some(possible(match self {
            Self::None => ("none", "None"),
            Self::Fast => ("fast", "Fast: byte shuffle, deflate level 1"),
            Self::Small => ("small", "Smallest: byte shuffle, deflate level 6"),
        }))
    }
}

impl ValueEnum for CaseName {
    fn value_variants<'a>() -> &'a [Self] {
        &[
            Self::WarmBubble,
            Self::Supercell,
            Self::KidWarm1,
            Self::KidMixed,
            Self::SquallLine,
            Self::Rotation,
            Self::Deformation,
            Self::Storm,
        ]
    }

    fn to_possible_value(&self) -> Option<PossibleValue> {
        Some(possible(match self {
            Self::WarmBubble => ("warm-bubble", "A warm bubble in a ring of overturning air"),
            Self::Supercell => {
                ("supercell", "An updraft in the sounding of Weisman and Klemp, with shear")
            }
            Self::KidWarm1 => (
                "kid-warm1",
                "Shallow warm rain: case W1 of the kinematic driver of Shipway and Hill",
            ),
            Self::KidMixed => ("kid-mixed", "The same with a cold cloud that freezes"),
            Self::SquallLine => ("squall-line", "A line of ascent in sheared wind"),
            Self::Rotation => (
                "rotation",
                "Three bodies of vapour in solid-body rotation; the file contains the exact solution",
            ),
            Self::Deformation => (
                "deformation",
                "The same bodies in reversing deformational flow; the file contains the exact solution",
            ),
            Self::Storm => ("storm", "A cyclone in balance, with moist ascent"),
        }))
    }
}

impl ValueEnum for Shear {
    fn value_variants<'a>() -> &'a [Self] {
        &[Self::QuarterCircle, Self::Linear]
    }

    fn to_possible_value(&self) -> Option<PossibleValue> {
        Some(possible(match self {
            Self::QuarterCircle => {
                ("quarter-circle", "A quarter circle up to 2 km, then straight up to 6 km")
            }
            Self::Linear => ("linear", "Along x"),
        }))
    }
}

impl ValueEnum for Method {
    fn value_variants<'a>() -> &'a [Self] {
        &[methods::ROS2, methods::ROS3, methods::ROS4, methods::RODAS3, methods::RODAS4]
    }

    fn to_possible_value(&self) -> Option<PossibleValue> {
        let help = match self.name {
            "ros2" => "Order 2, 2 stages",
            "ros3" => "Order 3, 3 stages; WRF-Chem's",
            "ros4" => "Order 4, 4 stages",
            "rodas3" => "Order 3, 4 stages, stiffly accurate; KPP's default",
            "rodas4" => "Order 4, 6 stages, stiffly accurate",
            _ => "",
        };
        Some(possible((self.name, help)))
    }
}

impl ValueEnum for RateUpdate {
    fn value_variants<'a>() -> &'a [Self] {
        &[Self::Frozen, Self::Updated]
    }

    fn to_possible_value(&self) -> Option<PossibleValue> {
        Some(possible(match self {
            Self::Frozen => ("frozen", "Constant, those of tstart"),
            Self::Updated => ("updated", "Recomputed at every stage, from tstart to tstart + dt"),
        }))
    }
}

impl ValueEnum for Mapping {
    fn value_variants<'a>() -> &'a [Self] {
        &[Self::Auto, Self::Thread, Self::Warp]
    }

    fn to_possible_value(&self) -> Option<PossibleValue> {
        Some(possible(match self {
            Self::Auto => ("auto", "The faster one"),
            Self::Thread => ("thread", "A thread for a cell"),
            Self::Warp => ("warp", "A warp for a cell"),
        }))
    }
}

impl ValueEnum for Coordinates {
    fn value_variants<'a>() -> &'a [Self] {
        &[Self::Degrees, Self::Metres]
    }

    fn to_possible_value(&self) -> Option<PossibleValue> {
        Some(possible(match self {
            Self::Degrees => ("latlon", "Longitude and latitude"),
            Self::Metres => (
                "xy",
                "x and y of the map, or of the plane, from the south-western corner of its grid",
            ),
        }))
    }
}

impl ValueEnum for regrid::Method {
    fn value_variants<'a>() -> &'a [Self] {
        &[Self::Bilinear, Self::Conservative]
    }

    fn to_possible_value(&self) -> Option<PossibleValue> {
        Some(possible(match self {
            Self::Bilinear => ("bilinear", "Linear interpolation along both axes"),
            Self::Conservative => (
                "conservative",
                "Conservative: means over the part of a cell that the grid covers; for xy",
            ),
        }))
    }
}

/// Parts of the grid from west to east and from south to north.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::cli) struct PartsChoice(pub(in crate::cli) [usize; 2]);

impl Display for PartsChoice {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self([x, y]) = self;
        write!(f, "{x}x{y}")
    }
}

impl FromStr for PartsChoice {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let number = |text: &str| text.parse().ok().filter(|number| *number > 0);
        let pair = text.split_once('x').and_then(|(x, y)| Some([number(x)?, number(y)?]));
        pair.map(Self).ok_or_else(|| format!("{text:?} is not PXxPY, as in 3x2"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_choice_of_parts_is_two_numbers() {
        assert_eq!("3x2".parse(), Ok(PartsChoice([3, 2])));
        for wrong in ["3", "0x2", "x", "3x2x1", "-1x2"] {
            assert!(wrong.parse::<PartsChoice>().is_err(), "{wrong}");
        }
    }
}
