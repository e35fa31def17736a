//! A file seen through one block at a time, with an end to how much of it is read.

use bytes::Bytes;

use super::ProbeFailure;

const BLOCK_BYTES: usize = 64 * 1024;
/// The most bytes that one probe reads.
const BUDGET_BYTES: u64 = 256 * 1024 * 1024;
/// The most elements that one probe looks at.
const BUDGET_STEPS: u32 = 2_000_000;

/// The end of a probe before the file is known.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Stop {
    /// The file, the budget or the reader is at its end.
    End,
    /// The file is known to be no video.
    Rejected(ProbeFailure),
}

pub(super) struct Window<'r> {
    /// The file's length.
    pub(super) length: u64,
    read: &'r mut dyn FnMut(u64, usize) -> Option<Bytes>,
    block: Bytes,
    start: u64,
    bytes_left: u64,
    steps_left: u32,
}

impl<'r> Window<'r> {
    pub(super) fn new(length: u64, read: &'r mut dyn FnMut(u64, usize) -> Option<Bytes>) -> Self {
        Self {
            length,
            read,
            block: Bytes::new(),
            start: 0,
            bytes_left: BUDGET_BYTES,
            steps_left: BUDGET_STEPS,
        }
    }

    /// Counts one element.
    pub(super) fn step(&mut self) -> Result<(), Stop> {
        self.steps_left = self.steps_left.checked_sub(1).ok_or(Stop::End)?;
        Ok(())
    }

    /// At most `most` bytes from `at` on, fewer only at the end of the file; `most` is no more than a block.
    pub(super) fn up_to(&mut self, at: u64, most: usize) -> Result<Bytes, Stop> {
        let most = most.min(BLOCK_BYTES);
        let wanted = usize::try_from(self.length.saturating_sub(at).min(most as u64)).unwrap_or(0);
        let held = at.checked_sub(self.start).and_then(|offset| usize::try_from(offset).ok());
        let held = held.filter(|offset| offset.saturating_add(wanted) <= self.block.len());
        let offset = match held {
            Some(offset) => offset,
            None => {
                self.bytes_left =
                    self.bytes_left.checked_sub(BLOCK_BYTES as u64).ok_or(Stop::End)?;
                self.block = (self.read)(at, BLOCK_BYTES).ok_or(Stop::End)?;
                self.start = at;
                0
            }
        };
        let end = offset.saturating_add(wanted).min(self.block.len());
        Ok(self.block.slice(offset.min(end)..end))
    }

    /// Exactly `N` bytes at `at`.
    pub(super) fn exactly<const N: usize>(&mut self, at: u64) -> Result<[u8; N], Stop> {
        self.up_to(at, N)?.as_ref().try_into().map_err(|_| Stop::End)
    }

    pub(super) fn u16(&mut self, at: u64) -> Result<u16, Stop> {
        self.exactly(at).map(u16::from_be_bytes)
    }

    pub(super) fn u32(&mut self, at: u64) -> Result<u32, Stop> {
        self.exactly(at).map(u32::from_be_bytes)
    }

    pub(super) fn u64(&mut self, at: u64) -> Result<u64, Stop> {
        self.exactly(at).map(u64::from_be_bytes)
    }
}
