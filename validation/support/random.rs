//! Pseudo-random numbers that are the same in every run.

/// The generator `splitmix64`.
///
/// Source: Steele, Lea, Flood 2014, Proc. OOPSLA, 453-472.
pub struct Random(u64);

impl Random {
    /// A generator whose numbers `seed` determines.
    pub fn new(seed: u64) -> Self {
        Self(seed)
    }

    /// A number in `[low, high)`.
    pub fn between(&mut self, low: f64, high: f64) -> f64 {
        // The 53 bits that a double holds.
        low + (high - low) * ((self.bits() >> 11) as f64 / (1_u64 << 53) as f64)
    }

    /// 64 bits.
    pub fn bits(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }
}
