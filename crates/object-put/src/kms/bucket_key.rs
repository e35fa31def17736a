//! Bucket keys: one data key of the key service serves many objects of a bucket, for a bounded time.

use std::collections::HashMap;
use std::hash::Hash;

use triptych_core::time::Timestamp;

/// Seconds for which a key is kept.
pub const SECONDS_MAX: i64 = 300;
/// Keys that are kept at once.
const KEPT_MAX: usize = 1_000;

/// Keys that are kept for a bounded time, at most a thousand at once.
#[derive(Debug)]
pub struct KeyCache<K, V> {
    kept: HashMap<K, (Timestamp, V)>,
}

impl<K, V> Default for KeyCache<K, V> {
    fn default() -> Self {
        Self { kept: HashMap::new() }
    }
}

impl<K: Eq + Hash + Clone, V: Clone> KeyCache<K, V> {
    /// The value under `key`, if it was kept less than [`SECONDS_MAX`] ago.
    #[must_use]
    pub fn get(&self, key: &K, now: Timestamp) -> Option<V> {
        let (since, value) = self.kept.get(key)?;
        is_fresh(*since, now).then(|| value.clone())
    }

    /// Keeps a value, in the place of what is too old, or else of the oldest.
    pub fn insert(&mut self, key: K, value: V, now: Timestamp) {
        if self.kept.len() >= KEPT_MAX {
            self.kept.retain(|_, (since, _)| is_fresh(*since, now));
        }
        if self.kept.len() >= KEPT_MAX {
            let oldest = self.kept.iter().min_by_key(|(_, (since, _))| *since);
            if let Some(oldest) = oldest.map(|(key, _)| key.clone()) {
                self.kept.remove(&oldest);
            }
        }
        self.kept.insert(key, (now, value));
    }

    /// Forgets a value.
    pub fn remove(&mut self, key: &K) {
        self.kept.remove(key);
    }

    /// Forgets all.
    pub fn clear(&mut self) {
        self.kept.clear();
    }
}

/// A clock that was moved back makes a key old, too.
fn is_fresh(since: Timestamp, now: Timestamp) -> bool {
    (0..SECONDS_MAX).contains(&(now.seconds() - since.seconds()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_is_kept_for_a_bounded_time() {
        let mut kept = KeyCache::default();
        let at = Timestamp::from_seconds;
        kept.insert("a", 1, at(1_000));
        assert_eq!(kept.get(&"a", at(1_000 + SECONDS_MAX - 1)), Some(1));
        assert_eq!(kept.get(&"a", at(1_000 + SECONDS_MAX)), None);
        assert_eq!(kept.get(&"a", at(999)), None);
        assert_eq!(kept.get(&"b", at(1_000)), None);
        kept.remove(&"a");
        assert_eq!(kept.get(&"a", at(1_000)), None);
    }

    #[test]
    fn no_more_than_a_thousand_are_kept_and_the_oldest_goes() {
        let mut kept = KeyCache::default();
        for number in 0..2_000 {
            kept.insert(number, number, Timestamp::from_seconds(number / 10));
        }
        assert_eq!(kept.kept.len(), KEPT_MAX);
        let now = Timestamp::from_seconds(199);
        assert_eq!((kept.get(&1_999, now), kept.get(&10, now)), (Some(1_999), None));
    }
}
