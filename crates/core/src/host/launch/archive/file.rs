//! Files of archives.

use std::fs::File;
use std::io::{Read as _, Result, Seek as _, SeekFrom};

use crate::archive::End;

/// The last line of an archive of so many bytes; `None` where the file has none, or is no file that can be read from its end. It is read
/// from its beginning after this.
pub(super) fn end(file: &mut File, bytes: u64) -> Result<Option<End>> {
    let mut tail = Vec::new();
    if file.seek(SeekFrom::Start(bytes.saturating_sub(End::BYTES_MAX))).is_err() {
        return Ok(None);
    }
    file.take(End::BYTES_MAX).read_to_end(&mut tail)?;
    file.seek(SeekFrom::Start(0))?;
    Ok(End::find(&tail))
}
