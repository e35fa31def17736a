//! Checksums of the CRC family, put together: that of a whole follows from those of its pieces and their lengths, without their bytes.

use crate::body::checksum::Algorithm;

/// A reflected CRC: how many bits it has, and its polynomial. All three begin with ones and end inverted.
#[derive(Debug, Clone, Copy)]
struct Polynomial {
    bits: u32,
    value: u64,
}

impl Polynomial {
    /// That of an algorithm of the family; `None` for the others.
    const fn of(algorithm: Algorithm) -> Option<Self> {
        match algorithm {
            Algorithm::Crc32 => Some(Self { bits: 32, value: 0xEDB8_8320 }),
            Algorithm::Crc32c => Some(Self { bits: 32, value: 0x82F6_3B78 }),
            Algorithm::Crc64nvme => Some(Self { bits: 64, value: 0x9A6C_9329_AC4B_C9B5 }),
            Algorithm::Sha1 | Algorithm::Sha256 => None,
        }
    }

    const fn one(self) -> u64 {
        1 << (self.bits - 1)
    }

    /// The product of two remainders.
    const fn product(self, a: u64, mut b: u64) -> u64 {
        let mut product = 0;
        let mut place = self.one();
        while place != 0 {
            if a & place != 0 {
                product ^= b;
            }
            b = if b & 1 == 1 { (b >> 1) ^ self.value } else { b >> 1 };
            place >>= 1;
        }
        product
    }

    /// The remainder of x to the power of eight times `bytes`: what so many bytes behind a sum do to it.
    const fn shift(self, bytes: u64) -> u64 {
        let mut base = self.one() >> 8;
        let mut power = self.one();
        let mut left = bytes;
        while left != 0 {
            if left & 1 == 1 {
                power = self.product(power, base);
            }
            base = self.product(base, base);
            left >>= 1;
        }
        power
    }
}

/// The CRC of pieces that are appended one by one.
#[derive(Debug, Clone)]
pub struct CombinedCrc {
    polynomial: Polynomial,
    sum: u64,
    /// The length of the last piece, and its shift: parts of an upload are mostly as long as the one before.
    last: (u64, u64),
}

impl CombinedCrc {
    /// That of nothing yet; `None` where `algorithm` is none of the family.
    #[must_use]
    pub fn new(algorithm: Algorithm) -> Option<Self> {
        let polynomial = Polynomial::of(algorithm)?;
        Some(Self { polynomial, sum: 0, last: (0, polynomial.one()) })
    }

    /// Appends `bytes` bytes whose own checksum is `value`.
    pub fn append(&mut self, value: &[u8], bytes: u64) {
        if self.last.0 != bytes {
            self.last = (bytes, self.polynomial.shift(bytes));
        }
        let own = value.iter().fold(0, |sum, byte| (sum << 8) | u64::from(*byte));
        self.sum = self.polynomial.product(self.last.1, self.sum) ^ own;
    }

    /// The checksum of all that was appended, most significant byte first.
    #[must_use]
    pub fn finish(self) -> Vec<u8> {
        let bytes = self.sum.to_be_bytes();
        let skipped = usize::try_from(8 - self.polynomial.bits / 8).unwrap_or_default();
        bytes.into_iter().skip(skipped).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::body::checksum::Hasher;
    use proptest::prelude::*;

    const FAMILY: [Algorithm; 3] = [Algorithm::Crc32, Algorithm::Crc32c, Algorithm::Crc64nvme];

    fn sum(algorithm: Algorithm, bytes: &[u8]) -> Vec<u8> {
        let mut hasher = Hasher::new(algorithm);
        hasher.feed(bytes);
        hasher.finish().value
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]

        #[test]
        fn the_sum_of_pieces_is_the_sum_of_the_whole(
            pieces in prop::collection::vec(prop::collection::vec(any::<u8>(), 0..300), 0..6),
        ) {
            for algorithm in FAMILY {
                let mut combined = CombinedCrc::new(algorithm).unwrap();
                for piece in &pieces {
                    combined.append(&sum(algorithm, piece), piece.len() as u64);
                }
                prop_assert_eq!(combined.finish(), sum(algorithm, &pieces.concat()));
            }
        }
    }

    #[test]
    fn the_digests_of_secure_hashes_cannot_be_combined() {
        assert!(CombinedCrc::new(Algorithm::Sha1).is_none());
        assert!(CombinedCrc::new(Algorithm::Sha256).is_none());
    }
}
