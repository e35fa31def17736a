//! Memory of the rows that a scan copies out of a tree.

use bytes::{Bytes, BytesMut};

/// Bytes of a piece of memory: about as many as an allocator hands out from its shortest list.
const PIECE_BYTES: usize = 1_000;
/// Bytes of a row that stands in memory of its own: few of these fit into a piece, and each would keep all of it.
const OWN_BYTES_MIN: usize = PIECE_BYTES / 4;

/// Copies of rows, of which the short ones share pieces of memory: an allocation for each key and each value, and one more for its
/// first clone, was most of what a short row cost.
#[derive(Default)]
pub(super) struct RowArena(BytesMut);

impl RowArena {
    /// A copy of a row's key and of what is stored there.
    pub(super) fn copy(&mut self, key: &[u8], stored: &[u8]) -> (Bytes, Bytes) {
        let bytes = key.len() + stored.len();
        if bytes >= OWN_BYTES_MIN {
            return copied(&mut BytesMut::with_capacity(bytes), key, stored);
        }
        if self.0.capacity() < bytes {
            self.0 = BytesMut::with_capacity(PIECE_BYTES);
        }
        copied(&mut self.0, key, stored)
    }
}

fn copied(piece: &mut BytesMut, key: &[u8], stored: &[u8]) -> (Bytes, Bytes) {
    let [key, stored] = [key, stored].map(|bytes| {
        piece.extend_from_slice(bytes);
        piece.split().freeze()
    });
    (key, stored)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_are_copied_as_they_are_and_short_ones_share_memory() {
        let mut arena = RowArena::default();
        let rows: Vec<(Vec<u8>, Vec<u8>)> =
            (0..500_usize).map(|at| (vec![1; at % 90], vec![2; at % 7 * at % 400])).collect();
        let copies: Vec<_> = rows.iter().map(|(key, stored)| arena.copy(key, stored)).collect();
        for ((key, stored), copy) in rows.iter().zip(&copies) {
            assert_eq!((&copy.0[..], &copy.1[..]), (&key[..], &stored[..]));
        }
        let ((_, first), (next, _)) = (arena.copy(b"a", b"b"), arena.copy(b"c", b"d"));
        assert_eq!(first.as_ptr().wrapping_add(1), next.as_ptr());
    }
}
