//! A map of bounded size that keeps what was asked for lately, for one thread and, in shards, for many.

use std::borrow::Borrow;
use std::collections::HashMap;
use std::hash::Hash;

use foldhash::fast::RandomState;
use parking_lot::{Mutex, MutexGuard};

/// A cache of two generations: once the young one has half of what the cache may, it becomes the old one, and what nobody asked
/// for since the last time goes.
#[derive(Debug)]
pub struct Cache<K, V> {
    young: HashMap<K, (V, usize), RandomState>,
    old: HashMap<K, (V, usize), RandomState>,
    young_cost: usize,
    cost_max: usize,
}

impl<K: Hash + Eq, V: Clone> Cache<K, V> {
    /// An empty one, for entries that cost at most `cost_max` together, in whatever their costs are counted.
    #[must_use]
    pub fn new(cost_max: usize) -> Self {
        Self { young: HashMap::default(), old: HashMap::default(), young_cost: 0, cost_max }
    }

    /// The value of `key`, if it is still there.
    pub fn get<Q: Hash + Eq + ?Sized>(&mut self, key: &Q) -> Option<V>
    where
        K: Borrow<Q>,
    {
        if let Some((value, _)) = self.young.get(key) {
            return Some(value.clone());
        }
        let (key, (value, cost)) = self.old.remove_entry(key)?;
        self.insert(key, value.clone(), cost);
        Some(value)
    }

    /// Keeps a value, in the place of another of its key.
    pub fn insert(&mut self, key: K, value: V, cost: usize) {
        if self.young_cost + cost > self.cost_max / 2 {
            self.old = std::mem::take(&mut self.young);
            self.young_cost = 0;
        }
        self.young_cost += cost;
        if let Some((_, before)) = self.young.insert(key, (value, cost)) {
            self.young_cost -= before;
        }
    }

    /// Removes a key now.
    pub fn remove<Q: Hash + Eq + ?Sized>(&mut self, key: &Q)
    where
        K: Borrow<Q>,
    {
        if let Some((_, cost)) = self.young.remove(key) {
            self.young_cost -= cost;
        }
        self.old.remove(key);
    }
}

/// Shards of a cache, each with a lock of its own.
const SHARDS: usize = 16;

/// A [`Cache`] for many threads at once, in shards that are locked apart, so that they seldom wait for each other.
#[derive(Debug)]
pub struct ShardedCache<K, V> {
    shards: [Mutex<Shard<K, V>>; SHARDS],
}

#[derive(Debug)]
struct Shard<K, V> {
    entries: Cache<K, V>,
    /// Grows with each key of this shard that is invalidated.
    invalidations: u64,
}

/// Proof that a key was not in a cache, and since when.
#[derive(Debug, Clone, Copy)]
pub struct Miss {
    invalidations: u64,
}

impl<K: AsRef<[u8]> + Hash + Eq, V: Clone> ShardedCache<K, V> {
    /// An empty one, for entries that cost at most `cost_max` together.
    #[must_use]
    pub fn new(cost_max: usize) -> Self {
        let shard = |_| Shard { entries: Cache::new(cost_max / SHARDS), invalidations: 0 };
        Self { shards: std::array::from_fn(|number| Mutex::new(shard(number))) }
    }

    /// The value of `key`, if it is still there.
    pub fn get<Q: AsRef<[u8]> + Hash + Eq + ?Sized>(&self, key: &Q) -> Option<V>
    where
        K: Borrow<Q>,
    {
        self.lookup(key).ok()
    }

    /// The value of `key`, or what [`ShardedCache::fill`] wants to see once the value was read where it comes from.
    ///
    /// # Errors
    /// A [`Miss`] if it is not there.
    pub fn lookup<Q: AsRef<[u8]> + Hash + Eq + ?Sized>(&self, key: &Q) -> Result<V, Miss>
    where
        K: Borrow<Q>,
    {
        let Some(mut shard) = self.shard(key.as_ref()) else {
            return Err(Miss { invalidations: 0 });
        };
        let invalidations = shard.invalidations;
        shard.entries.get(key).ok_or(Miss { invalidations })
    }

    /// Keeps a value, in the place of another of its key.
    pub fn insert(&self, key: K, value: V, cost: usize) {
        if let Some(mut shard) = self.shard(key.as_ref()) {
            shard.entries.insert(key, value, cost);
        }
    }

    /// Keeps a value that was read after `miss`, unless a key of its shard was invalidated since: it could be this one.
    pub fn fill(&self, key: K, value: V, cost: usize, miss: Miss) {
        if let Some(mut shard) = self.shard(key.as_ref())
            && shard.invalidations == miss.invalidations
        {
            shard.entries.insert(key, value, cost);
        }
    }

    /// Removes a key whose value changed where it comes from.
    pub fn invalidate<Q: AsRef<[u8]> + Hash + Eq + ?Sized>(&self, key: &Q)
    where
        K: Borrow<Q>,
    {
        if let Some(mut shard) = self.shard(key.as_ref()) {
            shard.invalidations += 1;
            shard.entries.remove(key);
        }
    }

    fn shard(&self, key: &[u8]) -> Option<MutexGuard<'_, Shard<K, V>>> {
        let sum: usize = key.iter().copied().map(usize::from).sum();
        self.shards.get(sum % SHARDS).map(Mutex::lock)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_sharded_one_finds_what_it_keeps_and_forgets_the_rest() {
        let map = ShardedCache::new(SHARDS * 100);
        for number in 0..200_u8 {
            map.insert([number], number, 50);
            assert_eq!(map.get(&[number]), Some(number));
        }
        assert_eq!(map.get(&[0]), None);
    }

    #[test]
    fn a_value_is_found_until_it_is_invalidated() {
        let map = ShardedCache::<_, u8>::new(SHARDS * 100);
        let miss = map.lookup(&[1]).unwrap_err();
        map.fill([1], 7, 1, miss);
        assert_eq!(map.get(&[1]), Some(7));
        map.invalidate(&[1]);
        assert_eq!(map.get(&[1]), None);
    }

    #[test]
    fn what_was_read_before_an_invalidation_is_not_kept_after_it() {
        let map = ShardedCache::<_, u8>::new(SHARDS * 100);
        let miss = map.lookup(&[1]).unwrap_err();
        map.invalidate(&[1]);
        map.fill([1], 7, 1, miss);
        assert_eq!(map.get(&[1]), None);
    }

    #[test]
    fn it_stays_within_its_bounds_and_keeps_what_is_asked_for() {
        let mut map = Cache::new(100);
        for number in 0..200_u32 {
            map.insert(number, number, 10);
            assert_eq!(map.get(&0), Some(0), "after {number}");
        }
        assert!(map.young.len() + map.old.len() <= 10);
        assert!(map.get(&100).is_none());
        map.remove(&0);
        assert!(map.get(&0).is_none());
    }
}
