//! Arguments to call both twins with.

use std::sync::OnceLock;

use nwp_mini::advection::flux::FluxConstants;
use nwp_mini::cuda_abi::Bytes;
use nwp_mini::physics::kessler::params::KesslerConstants;
use nwp_mini::physics::wsm5::radii::RadiusConstants;
use nwp_mini::physics::wsm5::reflectivity::{RadarConstants, Target};
use nwp_mini::physics::wsm5::slope::Slope;
use nwp_mini::physics::wsm5::{Air, Cell, Coefficients, StepStart};
use nwp_mini::physics::wsm6::params::{RimedIce, Wsm6Constants};
use nwp_mini::physics::wsm6::scheme::Scheme;

use super::random::Random;

/// `f32` or `f64`, with the operations that the tests need.
pub(crate) trait Precision:
    RadarConstants + RadiusConstants + FluxConstants + KesslerConstants + Wsm6Constants + Bytes
{
    /// The next number above or below.
    fn neighbour(self, up: bool) -> Self;
    fn to_bytes(values: &[Self]) -> Vec<u8>;
    fn from_bytes(bytes: &[u8]) -> Vec<Self>;
    /// WSM6 with graupel and with hail, made once: its parameters take longer to make than a rate.
    fn wsm6() -> &'static [Scheme<Self>; 2];
}

macro_rules! precision {
    ($type:ident) => {
        impl Precision for $type {
            fn neighbour(self, up: bool) -> Self {
                if up { self.next_up() } else { self.next_down() }
            }

            fn to_bytes(values: &[Self]) -> Vec<u8> {
                values.iter().flat_map(|value| value.to_ne_bytes()).collect()
            }

            fn from_bytes(bytes: &[u8]) -> Vec<Self> {
                let chunks = bytes.chunks_exact(size_of::<Self>());
                assert!(chunks.remainder().is_empty(), "{} bytes are no numbers", bytes.len());
                chunks.map(|chunk| Self::from_ne_bytes(chunk.try_into().unwrap())).collect()
            }

            fn wsm6() -> &'static [Scheme<Self>; 2] {
                static BOTH: OnceLock<[Scheme<$type>; 2]> = OnceLock::new();
                BOTH.get_or_init(|| [RimedIce::Graupel, RimedIce::Hail].map(Scheme::from))
            }
        }
    };
}

precision!(f32);
precision!(f64);

/// Draws random arguments, mostly near thresholds of the functions, and records them with the results of the Rust twin.
pub(crate) struct Draw<R> {
    random: Random,
    pub(crate) inputs: Vec<R>,
    pub(crate) outputs: Vec<R>,
}

impl<R: Precision> Draw<R> {
    pub(crate) fn new(seed: u64) -> Self {
        Self { random: Random::new(seed), inputs: Vec::new(), outputs: Vec::new() }
    }

    /// Keeps an argument.
    pub(crate) fn give(&mut self, argument: &impl Bytes) {
        self.inputs.append(&mut flat(argument));
    }

    /// Keeps a result.
    pub(crate) fn keep(&mut self, result: &impl Bytes) {
        self.outputs.append(&mut flat(result));
    }

    /// True once in that many times.
    pub(crate) fn chance(&mut self, one_in: u64) -> bool {
        self.random.bits().is_multiple_of(one_in)
    }

    fn one_of(&mut self, marks: &[R]) -> R {
        let mark = marks[(self.random.bits() % marks.len() as u64) as usize];
        match self.random.bits() % 4 {
            0 => mark.neighbour(true),
            1 => mark.neighbour(false),
            _ => mark,
        }
    }

    /// A number between two bounds, or a mark, or one of its neighbours.
    pub(crate) fn linear(&mut self, low: f64, high: f64, marks: &[R]) -> R {
        if !marks.is_empty() && self.chance(4) {
            return self.one_of(marks);
        }
        R::of(self.random.between(low, high))
    }

    /// A positive number, even in its logarithm between two bounds, or a mark, or one of its
    /// neighbours.
    pub(crate) fn log(&mut self, low: f64, high: f64, marks: &[R]) -> R {
        if !marks.is_empty() && self.chance(4) {
            return self.one_of(marks);
        }
        R::of(self.random.between(low.ln(), high.ln()).exp())
    }

    /// As [`Draw::log`], or zero, or a denormal number.
    pub(crate) fn amount(&mut self, low: f64, high: f64, marks: &[R]) -> R {
        match self.random.bits() % 16 {
            0 => R::ZERO,
            1 => -R::ZERO,
            2 => R::of(self.random.between(0.0, 1.0)) * R::min_positive_value(),
            _ => self.log(low, high, marks),
        }
    }

    /// Something near a threshold, or of its size, or a rate of any size.
    pub(crate) fn near(&mut self, threshold: R) -> R {
        let factor = match self.random.bits() % 4 {
            0 => self.random.between(0.999, 1.001),
            1 => self.random.between(-2.0, 2.0),
            2 => self.random.between(-14.0, 14.0).exp(),
            _ => return self.rate(),
        };
        // For a threshold that is not finite any value is valid.
        if threshold.is_finite() { threshold * R::of(factor) } else { self.rate() }
    }

    /// As [`Draw::amount`], of either sign.
    pub(crate) fn signed(&mut self, low: f64, high: f64) -> R {
        let amount = self.amount(low, high, &[]);
        if self.chance(2) { -amount } else { amount }
    }

    /// A mixing ratio; `marks` are thresholds in addition to the common ones.
    pub(crate) fn q(&mut self, marks: &[R]) -> R {
        let marks = [&[R::Q_MIN, R::Q_PRECIPITATION_MIN], marks].concat();
        self.amount(1e-18, 0.05, &marks)
    }

    /// A mixing ratio that can be less than nothing.
    pub(crate) fn any_q(&mut self) -> R {
        let q = self.q(&[]);
        if self.chance(8) { -q } else { q }
    }

    /// A temperature.
    pub(crate) fn t(&mut self) -> R {
        let triple_point = R::FREEZING + R::TRIPLE_POINT_EXCESS;
        let marks = [
            R::FREEZING,
            triple_point,
            R::FREEZING - R::HOMOGENEOUS_FREEZING,
            R::FREEZING - R::FREEZING_COLD_MAX,
        ];
        self.linear(150.0, 330.0, &marks)
    }

    /// Cold below freezing.
    pub(crate) fn cold(&mut self) -> R {
        self.linear(-60.0, 120.0, &[R::ZERO, R::HOMOGENEOUS_FREEZING, R::FREEZING_COLD_MAX])
    }

    /// A density of air.
    pub(crate) fn rho(&mut self) -> R {
        self.log(1e-3, 2.0, &[R::RHO_REFERENCE])
    }

    /// A pressure.
    pub(crate) fn p(&mut self) -> R {
        self.log(5.0, 1.1e5, &[])
    }

    /// A minor time step.
    pub(crate) fn dt(&mut self) -> R {
        self.log(0.01, 180.0, &[R::DT_CLOUD_MAX, R::ONE])
    }

    /// A factor of the snow intercept.
    pub(crate) fn n0s_factor(&mut self) -> R {
        self.log(1.0, 5e4, &[R::ONE])
    }

    /// A rate, of either sign.
    pub(crate) fn rate(&mut self) -> R {
        self.signed(1e-14, 1e-3)
    }

    /// A rate that is never negative.
    pub(crate) fn gain(&mut self) -> R {
        self.amount(1e-14, 1e-3, &[])
    }

    pub(crate) fn slope(&mut self) -> Slope<R> {
        Slope { length: self.log(1e-6, 0.01, &[]), power: self.log(1e-5, 1.0, &[]) }
    }

    pub(crate) fn cell(&mut self) -> Cell<R> {
        // Most cells of a model hold little.
        let mut q = || if self.chance(3) { R::ZERO } else { self.q(&[]) };
        let (qc, qr, qi, qs) = (q(), q(), q(), q());
        Cell { t: self.t(), qv: self.any_q(), qc, qr, qi, qs }
    }

    pub(crate) fn air(&mut self) -> Air<R> {
        Air {
            rho: self.rho(),
            p: self.p(),
            dz: self.log(1.0, 5000.0, &[]),
            density_factor: self.log(0.8, 30.0, &[R::ONE]),
            heat_capacity: self.linear(1000.0, 1050.0, &[R::CP_DRY]),
            latent_heat: self.linear(2.3e6, 2.8e6, &[R::L_VAPORISATION]),
        }
    }

    pub(crate) fn step_start(&mut self) -> StepStart<R> {
        StepStart { t: self.t(), qsw: self.log(1e-15, 0.1, &[]), qsi: self.log(1e-15, 0.1, &[]) }
    }

    pub(crate) fn coefficients(&mut self) -> Coefficients<R> {
        Coefficients {
            rain: self.slope(),
            snow: self.slope(),
            n0s_factor: self.n0s_factor(),
            resistance_water: self.log(1e5, 1e15, &[]),
            resistance_ice: self.log(1e5, 1e15, &[]),
            ventilation: self.log(1.0, 1e4, &[]),
        }
    }

    pub(crate) fn target(&mut self) -> Target<R> {
        Target {
            t: self.t(),
            p: self.p(),
            qv: self.amount(1e-12, 0.05, &[R::RADAR_VAPOUR_MIN]),
            qr: self.q(&[]),
            qs: self.q(&[]),
        }
    }
}

/// The numbers that a value consists of.
pub(crate) fn flat<R: Precision>(value: &impl Bytes) -> Vec<R> {
    let mut bytes = Vec::new();
    value.write(&mut bytes);
    R::from_bytes(&bytes)
}
