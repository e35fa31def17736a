//! Ids of requests.

use std::sync::Arc;

/// The id of a request: 16 upper-case letters and digits, unique within the process.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RequestId(pub Arc<str>);

impl RequestId {
    /// The id of the request with this number, under a key that is drawn once per process.
    #[must_use]
    pub fn from_number(number: u64, key: u64) -> Self {
        const LETTERS: &[u8; 32] = b"ABCDEFGHJKLMNPQRSTUVWXYZ23456789";
        let mut text = [b'A'; 16];
        let mut high = mix(number ^ key);
        let mut low = mix(high.wrapping_add(GOLDEN));
        for (place, letter) in text.iter_mut().enumerate() {
            let bits = if place < 8 { &mut high } else { &mut low };
            *letter = LETTERS.get((*bits & 31) as usize).copied().unwrap_or(b'A');
            *bits >>= 5;
        }
        Self(std::str::from_utf8(&text).unwrap_or_default().into())
    }

    /// Bytes that belong to this id, for a service that shows a longer one beside it. They tell nothing.
    #[must_use]
    pub fn expanded<const N: usize>(&self) -> [u8; N] {
        let mut state = 0;
        for eight in self.0.as_bytes().chunks(8) {
            let number = eight.iter().fold(0, |number, byte| number << 8 | u64::from(*byte));
            state = mix(state ^ number);
        }
        let mut bytes = [0; N];
        for eight in bytes.chunks_mut(8) {
            state = mix(state.wrapping_add(GOLDEN));
            for (byte, drawn) in eight.iter_mut().zip(state.to_be_bytes()) {
                *byte = drawn;
            }
        }
        bytes
    }
}

/// The golden ratio as a fraction of 2^64: what SplitMix64 steps by.
const GOLDEN: u64 = 0x9E37_79B9_7F4A_7C15;

/// A bijection that spreads neighbours apart (the finalizer of SplitMix64).
const fn mix(mut x: u64) -> u64 {
    x = (x ^ (x >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    x = (x ^ (x >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    x ^ (x >> 31)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_bytes_of_an_id_are_its_own() {
        let of = |number| RequestId::from_number(number, 42).expanded::<57>();
        assert_eq!(of(1), of(1));
        let all: std::collections::HashSet<_> = (0..1_000).map(of).collect();
        assert_eq!(all.len(), 1_000);
        assert_ne!(of(1).get(..8), of(1).get(8..16));
    }

    #[test]
    fn request_ids_are_sixteen_letters_and_never_repeat() {
        let ids: std::collections::HashSet<_> =
            (0..10_000).map(|number| RequestId::from_number(number, 42).0).collect();
        assert_eq!(ids.len(), 10_000);
        assert!(ids.iter().all(|id| id.get(..8) != id.get(8..)), "the halves are apart");
        assert!(ids.iter().all(|id| {
            id.len() == 16
                && id.bytes().all(|byte| byte.is_ascii_uppercase() || byte.is_ascii_digit())
        }));
    }
}
