//! G. L. Steele, D. Lea, C. H. Flood, "Fast splittable pseudorandom number generators", OOPSLA 2014: SplitMix64.

/// 2^64 over the golden ratio, the step of SplitMix64.
pub const GOLDEN: u64 = 0x9e37_79b9_7f4a_7c15;

/// The output function of SplitMix64.
#[inline]
pub const fn mix(x: u64) -> u64 {
    let x = (x ^ (x >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let x = (x ^ (x >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    x ^ (x >> 31)
}

/// A hash of a number: the first output of SplitMix64 from this state.
#[inline]
pub const fn splitmix(x: u64) -> u64 {
    mix(x.wrapping_add(GOLDEN))
}

/// The stream, by its state: a sum, so that a draw is a function of the start and its number.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct SplitMix64(u64);

impl SplitMix64 {
    /// The stream from a state.
    #[inline]
    pub const fn new(state: u64) -> SplitMix64 {
        SplitMix64(state)
    }

    /// The state, from which the stream goes on.
    #[inline]
    pub const fn state(&self) -> u64 {
        self.0
    }

    /// 64 random bits.
    #[inline]
    pub const fn bits(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(GOLDEN);
        mix(self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_stream_is_that_of_the_reference_implementation() {
        let mut stream = SplitMix64(1_234_567);
        let drawn: [u64; 3] = std::array::from_fn(|_| stream.bits());
        assert_eq!(drawn, [6_457_827_717_110_365_317, 3_203_168_211_198_807_973, 9_817_491_932_198_370_423]);
        assert_eq!(splitmix(1_234_567), drawn[0]);
    }
}
