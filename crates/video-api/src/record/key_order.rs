//! Moments as parts of keys.

/// A moment as a part of a key that sorts the latest first.
#[must_use]
pub const fn latest_first(micros: i64) -> u64 {
    !(micros as u64 ^ (1 << 63))
}

/// The moment of such a part.
#[must_use]
pub const fn moment_of(part: u64) -> i64 {
    (!part ^ (1 << 63)) as i64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn later_moments_sort_first() {
        for (early, late) in [(-5, 3), (3, 4), (i64::MIN, i64::MAX)] {
            assert!(latest_first(late) < latest_first(early));
            assert_eq!(moment_of(latest_first(late)), late);
        }
    }
}
