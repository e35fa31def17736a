//! Unguessable bytes: from the operating system, or from a seed so that a whole run can be repeated.

use std::sync::Arc;

use parking_lot::Mutex;
use sha2::{Digest, Sha256};

/// A source of identifiers. What it gives is unguessable to whoever does not know its seed.
pub trait Ids: Send {
    /// Fills `bytes` with random ones.
    fn fill(&mut self, bytes: &mut [u8]);

    /// The next 64 random bits.
    fn next(&mut self) -> u64 {
        let mut bytes = [0; 8];
        self.fill(&mut bytes);
        u64::from_be_bytes(bytes)
    }

    /// A generator of its own, so that a handler that runs twice draws the same ids both times.
    fn fork(&mut self) -> SeededIds {
        let mut seed = [0; 32];
        self.fill(&mut seed);
        SeededIds::from_seed(seed)
    }
}

/// SHA-256 in counter mode over a seed: the same seed gives the same ids, and earlier ones do not
/// reveal later ones.
#[derive(Clone)]
pub struct SeededIds {
    seed: [u8; 32],
    counter: u64,
    block: [u8; 32],
    used: usize,
}

impl SeededIds {
    /// The generator that belongs to `seed`.
    #[must_use]
    pub const fn from_seed(seed: [u8; 32]) -> Self {
        Self { seed, counter: 0, block: [0; 32], used: 32 }
    }

    /// The generator that belongs to a small number, for tests and `--seed`ed runs.
    #[must_use]
    pub fn from_number(number: u64) -> Self {
        Self::from_seed(Sha256::digest(number.to_be_bytes()).into())
    }

    fn refill(&mut self) {
        let mut hash = Sha256::new();
        hash.update(self.seed);
        hash.update(self.counter.to_be_bytes());
        self.block = hash.finalize().into();
        self.counter += 1;
        self.used = 0;
    }
}

impl Ids for SeededIds {
    fn fill(&mut self, bytes: &mut [u8]) {
        let mut left = bytes;
        while !left.is_empty() {
            if self.used == self.block.len() {
                self.refill();
            }
            let fresh = self.block.get(self.used..).unwrap_or_default();
            let count = fresh.len().min(left.len());
            let (now, later) = left.split_at_mut(count);
            now.copy_from_slice(fresh.get(..count).unwrap_or_default());
            self.used += count;
            left = later;
        }
    }
}

impl std::fmt::Debug for SeededIds {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("SeededIds").finish_non_exhaustive()
    }
}

/// A generator that many requests draw from; clones are the same one.
#[derive(Clone)]
pub struct SharedIds(Arc<Mutex<Box<dyn Ids>>>);

impl SharedIds {
    /// One that draws from `ids`.
    #[must_use]
    pub fn new(ids: Box<dyn Ids>) -> Self {
        Self(Arc::new(Mutex::new(ids)))
    }
}

impl std::fmt::Debug for SharedIds {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("SharedIds").finish_non_exhaustive()
    }
}

impl Ids for SharedIds {
    fn fill(&mut self, bytes: &mut [u8]) {
        self.0.lock().fill(bytes);
    }
}

/// The operating system's generator.
#[cfg(any(feature = "etcd", feature = "host", feature = "postgres", feature = "sled"))]
#[derive(Debug, Clone, Copy, Default)]
pub struct SystemIds;

#[cfg(any(feature = "etcd", feature = "host", feature = "postgres", feature = "sled"))]
impl Ids for SystemIds {
    fn fill(&mut self, bytes: &mut [u8]) {
        #[expect(
            clippy::expect_used,
            reason = "a system without randomness can make no secret: stopping is the only safe answer"
        )]
        getrandom::fill(bytes).expect("the operating system gives random bytes");
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_same_seed_gives_the_same_ids() {
        let (mut one, mut two) = (SeededIds::from_number(7), SeededIds::from_number(7));
        let (mut a, mut b) = ([0; 100], [0; 100]);
        one.fill(&mut a);
        two.fill(&mut b);
        assert_eq!(a, b);
        assert_ne!(one.next(), SeededIds::from_number(8).next());
    }

    #[test]
    fn bytes_do_not_depend_on_how_they_are_drawn() {
        let (mut whole, mut parts) = (SeededIds::from_number(1), SeededIds::from_number(1));
        let mut a = [0; 70];
        whole.fill(&mut a);
        let mut b = [0; 70];
        for chunk in b.chunks_mut(9) {
            parts.fill(chunk);
        }
        assert_eq!(a, b);
    }

    #[test]
    fn a_fork_is_apart_from_its_parent() {
        let mut parent = SeededIds::from_number(3);
        let mut fork = parent.fork();
        let mut again = fork.clone();
        assert_ne!(parent.next(), fork.next());
        again.next();
        assert_eq!(fork.next(), again.next());
    }
}
