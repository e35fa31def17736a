//! Numbers that look random and are the same for the same seed.

/// A generator of numbers (SplitMix64).
#[derive(Debug, Clone)]
pub(super) struct Random(u64);

impl Random {
    /// The generator of a text, such as a seed with its theme and number.
    pub(super) fn of(text: &str) -> Self {
        // FNV-1a: each byte counts, and the same text gives the same numbers on every machine.
        let hash = text.bytes().fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| {
            (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
        });
        Self(hash)
    }

    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    /// A number below `end`; 0 where there is none.
    pub(super) fn below(&mut self, end: usize) -> usize {
        let wide = u128::from(self.next()) * u128::try_from(end).unwrap_or(0);
        usize::try_from(wide >> 64).unwrap_or(0)
    }

    /// True in `percent` of a hundred cases.
    pub(super) fn chance(&mut self, percent: usize) -> bool {
        self.below(100) < percent
    }

    /// One of several.
    pub(super) fn pick<'item, T>(&mut self, items: &'item [T]) -> Option<&'item T> {
        let at = self.below(items.len());
        items.get(at)
    }

    /// One of several, by weight.
    pub(super) fn weighted<'item, T>(&mut self, items: &'item [(T, usize)]) -> Option<&'item T> {
        let mut at = self.below(items.iter().map(|(_, weight)| weight).sum());
        for (item, weight) in items {
            match at.checked_sub(*weight) {
                Some(rest) => at = rest,
                None => return Some(item),
            }
        }
        None
    }

    /// Up to `count` of several, in another order.
    pub(super) fn sample<T: Clone>(&mut self, items: &[T], count: usize) -> Vec<T> {
        let mut left = items.to_vec();
        let count = count.min(left.len());
        (0..count)
            .map(|_| {
                let at = self.below(left.len());
                left.swap_remove(at)
            })
            .collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_same_text_gives_the_same_numbers_and_another_text_others() {
        let take = |text| {
            let mut random = Random::of(text);
            (0..8).map(|_| random.below(1_000)).collect::<Vec<_>>()
        };
        assert_eq!(take("100000/strip/0"), take("100000/strip/0"));
        assert_ne!(take("100000/strip/0"), take("100000/strip/1"));
    }

    #[test]
    fn weights_of_zero_are_never_drawn() {
        let mut random = Random::of("weights");
        assert!(
            (0..200).all(|_| random.weighted(&[("never", 0), ("always", 3)]) == Some(&"always"))
        );
        assert_eq!(random.weighted::<&str>(&[]), None);
    }
}
