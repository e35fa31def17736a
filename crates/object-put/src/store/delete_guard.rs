//! Guards of deletes: they tell a key that was never there from one that came and went.

use bytes::Bytes;
use triptych_core::kv::Record;

/// Deletes that a slot remembers by key; older ones are only counted.
const DELETES_REMEMBERED: usize = 32;

/// The deletes of one slot: how many there were, and the marks of the last ones.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct DeleteGuard {
    /// The number of keys of the slot that were ever deleted.
    pub count: u64,
    key_hashes: Vec<u64>,
}

impl DeleteGuard {
    /// Remembers a delete of the key with `key_hash`.
    pub fn record(&mut self, key_hash: u64) {
        self.count += 1;
        self.key_hashes.insert(0, key_hash);
        self.key_hashes.truncate(DELETES_REMEMBERED);
    }

    /// Tells whether the key with `key_hash` may have been deleted after `count` deletes. Sure where it was remembered, and
    /// yes where too many others were deleted to tell.
    #[must_use]
    pub fn may_include(&self, count: u64, key_hash: u64) -> bool {
        let later = usize::try_from(self.count.saturating_sub(count)).unwrap_or(usize::MAX);
        later > DELETES_REMEMBERED || self.key_hashes.iter().take(later).any(|own| *own == key_hash)
    }
}

impl Record for DeleteGuard {
    const FORMAT: u8 = 1;

    fn encode(&self, out: &mut Vec<u8>) {
        out.extend_from_slice(&self.count.to_be_bytes());
        for key_hash in &self.key_hashes {
            out.extend_from_slice(&key_hash.to_be_bytes());
        }
    }

    fn decode(format: u8, bytes: Bytes) -> Option<Self> {
        let mut numbers = bytes
            .chunks_exact(8)
            .map(|chunk| chunk.try_into().map(u64::from_be_bytes).unwrap_or_default());
        (format == Self::FORMAT && bytes.len().is_multiple_of(8)).then_some(())?;
        Some(Self { count: numbers.next()?, key_hashes: numbers.collect() })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_slot_knows_which_of_its_keys_were_deleted_since() {
        let mut deletes = DeleteGuard::default();
        deletes.record(1);
        let before = deletes.count;
        assert!(!deletes.may_include(before, 1));
        deletes.record(2);
        assert!(deletes.may_include(before, 2));
        assert!(!deletes.may_include(before, 1));
        for _ in 0..DELETES_REMEMBERED {
            deletes.record(3);
        }
        assert!(deletes.may_include(before, 1), "too many to tell");
        let mut out = Vec::new();
        deletes.encode(&mut out);
        assert_eq!(DeleteGuard::decode(1, out.into()), Some(deletes));
        assert_eq!(DeleteGuard::decode(1, Bytes::from_static(b"short")), None);
    }
}
