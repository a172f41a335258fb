//! Counter-based random numbers: each depends on its position in a tree only.
//!
//! # Decisions
//!
//! **Random numbers are positions in a tree, not a sequence.** The path is seed, name and member. So a member depends
//! neither on the number of members nor on threads. For the same reason samples are not stratified.

use std::f64::consts::TAU;

/// A position in a tree of random numbers: a seed, and a path of names and numbers below it.
///
/// There is no state: a number follows from its position, so that it does not depend on which others were drawn, in
/// which order, or by which thread.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Random(u64);

impl Random {
    /// The root for a seed.
    pub fn new(seed: u64) -> Self {
        Self(mixed(seed))
    }

    /// A child position, by number.
    pub fn at(self, number: u64) -> Self {
        Self(mixed(self.0 ^ number))
    }

    /// A child position, by name.
    pub fn named(self, name: &str) -> Self {
        name.bytes().fold(self.at(name.len() as u64), |place, byte| place.at(byte.into()))
    }

    /// 64 bits.
    pub fn bits(self) -> u64 {
        self.0
    }

    /// A number between 0 and 1, exclusive.
    pub fn uniform(self) -> f64 {
        // 52 bits leave room for a half in a double.
        ((self.0 >> 12) as f64 + 0.5) / (1_u64 << 52) as f64
    }

    /// A number of the normal distribution with mean 0 and variance 1.
    ///
    /// x = √(-2 ln u₁) cos 2π u₂
    ///
    /// Source: Box, Muller 1958, Ann. Math. Stat. 29, 610-611.
    pub fn normal(self) -> f64 {
        let [radius, angle] = [self.at(0), self.at(1)].map(Self::uniform);
        (-2.0 * radius.ln()).sqrt() * (TAU * angle).cos()
    }
}

/// A mix of 64 bits.
///
/// Source: Steele, Lea, Flood 2014, Proc. OOPSLA, 453-472 (`splitmix64`).
fn mixed(number: u64) -> u64 {
    let mut z = number.wrapping_add(1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_have_the_moments_of_their_distributions() {
        const COUNT: u64 = 100_000;
        let moments = |of: &dyn Fn(u64) -> f64| {
            let values: Vec<f64> = (0..COUNT).map(of).collect();
            let mean = values.iter().sum::<f64>() / COUNT as f64;
            let variance = values.iter().map(|x| (x - mean).powi(2)).sum::<f64>() / COUNT as f64;
            // The product of successive numbers: they are uncorrelated.
            let lag = values.windows(2).map(|x| (x[0] - mean) * (x[1] - mean)).sum::<f64>();
            (mean, variance, lag / COUNT as f64 / variance)
        };
        let place = Random::new(3).named("T");
        // Five standard deviations of each.
        let (mean, variance, lag) = moments(&|n| place.at(n).normal());
        assert!(mean.abs() < 0.016 && (variance - 1.0).abs() < 0.023, "{mean} {variance}");
        assert!(lag.abs() < 0.016, "{lag}");
        let (mean, variance, lag) = moments(&|n| place.at(n).uniform());
        assert!((mean - 0.5).abs() < 0.005 && (variance - 1.0 / 12.0).abs() < 0.0012);
        assert!(lag.abs() < 0.016, "{lag}");
    }

    #[test]
    fn places_differ_by_seed_name_and_number() {
        let places = [
            Random::new(1),
            Random::new(2),
            Random::new(1).at(1),
            Random::new(1).named("T"),
            Random::new(1).named("TT"),
            Random::new(1).named("T").at(1),
            Random::new(1).at(1).named("T"),
        ];
        for (n, place) in places.iter().enumerate() {
            assert!(!places[..n].contains(place), "{n}");
        }
    }
}
