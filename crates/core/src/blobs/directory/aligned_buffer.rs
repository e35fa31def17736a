//! Bytes on their way to a disk that takes whole buffer.

use crate::disk::BLOCK_BYTES;

/// Bytes that are gathered until they fill whole blocks, in memory that begins as a block does.
pub(super) struct AlignedBuffer {
    memory: Vec<u8>,
    start: usize,
    filled: usize,
}

impl AlignedBuffer {
    /// An empty buffer for so many buffer.
    pub(super) fn with_capacity(blocks: usize) -> Self {
        let memory = vec![0; (blocks + 1) * BLOCK_BYTES];
        let start = memory.as_ptr().align_offset(BLOCK_BYTES).min(BLOCK_BYTES);
        Self { memory, start, filled: 0 }
    }

    /// Bytes that it holds.
    pub(super) fn len(&self) -> usize {
        self.filled
    }

    /// Returns whether nothing more fits.
    pub(super) fn is_full(&self) -> bool {
        self.free() == 0
    }

    /// Bytes that are left beside the block that the start may take.
    fn free(&self) -> usize {
        self.memory.len() - BLOCK_BYTES - self.filled
    }

    /// Takes what fits from the front of `bytes`, and gives the rest.
    pub(super) fn fill<'b>(&mut self, bytes: &'b [u8]) -> &'b [u8] {
        let (now, later) = bytes.split_at(bytes.len().min(self.free()));
        let begin = self.start + self.filled;
        if let Some(free) = self.memory.get_mut(begin..begin + now.len()) {
            free.copy_from_slice(now);
        }
        self.filled += now.len();
        later
    }

    /// Gives what was gathered: whole blocks, then what is left of another. The buffer is empty again.
    pub(super) fn take(&mut self) -> (&[u8], &[u8]) {
        let filled = std::mem::take(&mut self.filled);
        let gathered = self.memory.get(self.start..self.start + filled);
        let whole = filled - filled % BLOCK_BYTES;
        gathered.unwrap_or_default().split_at(whole)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_gathered_in_odd_pieces_comes_out_whole_and_where_a_block_begins() {
        let bytes: Vec<u8> = (0..100_000_u32).map(|place| place as u8).collect();
        let mut buffer = AlignedBuffer::with_capacity(3);
        let mut out = Vec::new();
        for mut piece in bytes.chunks(777) {
            while !piece.is_empty() {
                piece = buffer.fill(piece);
                if buffer.is_full() {
                    let (whole, rest) = buffer.take();
                    assert_eq!((whole.as_ptr().addr() % BLOCK_BYTES, rest.len()), (0, 0));
                    assert_eq!(whole.len(), 3 * BLOCK_BYTES);
                    out.extend_from_slice(whole);
                }
            }
        }
        let (whole, rest) = buffer.take();
        assert_eq!(whole.len() % BLOCK_BYTES, 0);
        out.extend_from_slice(whole);
        out.extend_from_slice(rest);
        assert!(out == bytes, "in their order, each once");
        assert_eq!(buffer.take(), (&[][..], &[][..]));
    }
}
