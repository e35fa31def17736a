//! A map of bounded size that keeps what was asked for lately.

use std::borrow::Borrow;
use std::collections::HashMap;
use std::hash::Hash;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// A map that forgets. There are two generations: once the young one is half of what may be kept, it becomes the old one, and what
/// nobody asked for since the last time goes.
#[derive(Debug)]
pub struct Recent<K, V> {
    young: HashMap<K, (V, usize)>,
    old: HashMap<K, (V, usize)>,
    young_cost: usize,
    cost_max: usize,
}

impl<K: Hash + Eq, V: Clone> Recent<K, V> {
    /// An empty one, for entries that cost at most `cost_max` together, in whatever their costs are counted.
    #[must_use]
    pub fn new(cost_max: usize) -> Self {
        Self { young: HashMap::new(), old: HashMap::new(), young_cost: 0, cost_max }
    }

    /// The value of `key`, if it was not forgotten.
    pub fn get<Q: Hash + Eq + ?Sized>(&mut self, key: &Q) -> Option<V>
    where
        K: Borrow<Q>,
    {
        if let Some((value, _)) = self.young.get(key) {
            return Some(value.clone());
        }
        let (key, (value, cost)) = self.old.remove_entry(key)?;
        self.put(key, value.clone(), cost);
        Some(value)
    }

    /// Keeps a value, in the place of another of its key.
    pub fn put(&mut self, key: K, value: V, cost: usize) {
        if self.young_cost + cost > self.cost_max / 2 {
            self.old = std::mem::take(&mut self.young);
            self.young_cost = 0;
        }
        self.young_cost += cost;
        if let Some((_, before)) = self.young.insert(key, (value, cost)) {
            self.young_cost -= before;
        }
    }

    /// Forgets a key now.
    pub fn forget<Q: Hash + Eq + ?Sized>(&mut self, key: &Q)
    where
        K: Borrow<Q>,
    {
        if let Some((_, cost)) = self.young.remove(key) {
            self.young_cost -= cost;
        }
        self.old.remove(key);
    }
}

/// Parts that are locked apart from each other.
const PARTS: usize = 16;

/// A [`Recent`] for many threads at once, in parts that are locked apart, so that they seldom wait for each other.
#[derive(Debug)]
pub struct Shared<K, V> {
    parts: [Mutex<Recent<K, V>>; PARTS],
}

impl<K: AsRef<[u8]> + Hash + Eq, V: Clone> Shared<K, V> {
    /// An empty one, for entries that cost at most `cost_max` together.
    #[must_use]
    pub fn new(cost_max: usize) -> Self {
        Self { parts: std::array::from_fn(|_| Mutex::new(Recent::new(cost_max / PARTS))) }
    }

    /// The value of `key`, if it was not forgotten.
    pub fn get(&self, key: &K) -> Option<V> {
        self.part(key)?.get(key)
    }

    /// Keeps a value, in the place of another of its key.
    pub fn put(&self, key: K, value: V, cost: usize) {
        if let Some(mut part) = self.part(&key) {
            part.put(key, value, cost);
        }
    }

    fn part(&self, key: &K) -> Option<MutexGuard<'_, Recent<K, V>>> {
        let sum: usize = key.as_ref().iter().copied().map(usize::from).sum();
        let part = self.parts.get(sum % PARTS)?;
        Some(part.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_shared_one_finds_what_it_keeps_and_forgets_the_rest() {
        let map = Shared::new(PARTS * 100);
        for number in 0..200_u8 {
            map.put([number], number, 50);
            assert_eq!(map.get(&[number]), Some(number));
        }
        assert_eq!(map.get(&[0]), None);
    }

    #[test]
    fn it_stays_within_its_bounds_and_keeps_what_is_asked_for() {
        let mut map = Recent::new(100);
        for number in 0..200_u32 {
            map.put(number, number, 10);
            assert_eq!(map.get(&0), Some(0), "after {number}");
        }
        assert!(map.young.len() + map.old.len() <= 10);
        assert!(map.get(&100).is_none());
        map.forget(&0);
        assert!(map.get(&0).is_none());
    }
}
