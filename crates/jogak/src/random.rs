//! A seeded generator, small enough to be written down: SplitMix64 (Steele, Lea & Flood 2014).

/// A stream of 64-bit numbers from a seed.
#[derive(Debug, Clone)]
pub struct SplitMix64(u64);

impl SplitMix64 {
    /// The stream of `seed`.
    ///
    /// ```
    /// assert_eq!(jogak::random::SplitMix64::new(0).next(), 0xE220_A839_7B1D_CDAF);
    /// ```
    pub fn new(seed: u64) -> Self {
        Self(seed)
    }

    /// The next number.
    #[expect(clippy::should_implement_trait, reason = "an endless stream needs no Option")]
    pub fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        z ^ (z >> 31)
    }

    /// The next number as a fraction, from 0 up to but not 1: its upper 53 bits.
    pub fn fraction(&mut self) -> f64 {
        ((self.next() >> 11) as f64) / ((1u64 << 53) as f64)
    }

    /// True with probability `p`: the next [fraction](SplitMix64::fraction) is below `p`.
    pub fn chance(&mut self, p: f64) -> bool {
        self.fraction() < p
    }
}
