//! The end of a log: a place in its last segment, behind which nothing counts.

use std::io;
use std::path::PathBuf;

use super::frame::END_BYTES;
use crate::disk::Disk;

/// A place in a segment at which the log ends, or is to end.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(in crate::kv::sled) struct LogTail {
    pub(in crate::kv::sled) path: PathBuf,
    /// Its offset.
    pub(super) end: u64,
    /// Bytes that stand there, in a file that says where it ends.
    pub(super) mark: Option<[u8; END_BYTES]>,
}

impl LogTail {
    /// Cuts off what comes behind it, on disk.
    ///
    /// # Errors
    /// As the disk.
    pub(in crate::kv::sled) fn cut(&self, disk: &dyn Disk) -> io::Result<()> {
        let mark = self.mark.as_ref().map_or(&[][..], |mark| mark.as_slice());
        let file = disk.open_to_write(&self.path)?;
        let kept = self.end + mark.len() as u64;
        if file.length()? > kept {
            if !mark.is_empty() {
                // Before the rest goes: at no moment is there neither.
                file.write_all_at(mark, self.end)?;
                file.sync()?;
            }
            file.truncate(kept)?;
            file.sync()?;
        }
        Ok(())
    }
}
