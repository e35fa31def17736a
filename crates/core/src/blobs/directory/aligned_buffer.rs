//! Bytes on their way to a disk that takes whole blocks.

use crate::disk::BLOCK_BYTES;

/// Bytes that are gathered until they fill whole blocks, in memory that begins as a block does.
pub(super) struct AlignedBuffer {
    /// Bytes before the block, then those that were gathered; it never grows beyond its capacity, so it stays where it is.
    memory: Vec<u8>,
    start: usize,
    filled: usize,
    bytes_max: usize,
}

impl AlignedBuffer {
    /// An empty buffer for so many blocks.
    pub(super) fn with_capacity(blocks: usize) -> Self {
        let bytes_max = blocks * BLOCK_BYTES;
        let mut memory: Vec<u8> = Vec::with_capacity(bytes_max + BLOCK_BYTES);
        let start = memory.as_ptr().align_offset(BLOCK_BYTES).min(BLOCK_BYTES);
        memory.resize(start, 0);
        Self { memory, start, filled: 0, bytes_max }
    }

    /// Bytes that it holds.
    pub(super) fn len(&self) -> usize {
        self.filled
    }

    /// Returns whether nothing more fits.
    pub(super) fn is_full(&self) -> bool {
        self.free() == 0
    }

    /// Bytes that it still takes.
    fn free(&self) -> usize {
        self.bytes_max - self.filled
    }

    /// Takes what fits from the front of `bytes`, and gives the rest.
    pub(super) fn fill<'b>(&mut self, bytes: &'b [u8]) -> &'b [u8] {
        let (now, later) = bytes.split_at(bytes.len().min(self.free()));
        // What was taken is still behind the start.
        self.memory.truncate(self.start + self.filled);
        self.memory.extend_from_slice(now);
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
