//! Secrets, and files that only their owner can read.

use std::path::Path;

use crate::id::{Ids, SystemIds};

/// 32 bytes of the operating system as 64 hex digits.
#[must_use]
pub fn random_hex() -> String {
    let mut bytes = [0; 32];
    SystemIds.fill(&mut bytes);
    hex::encode(bytes)
}

/// Writes a file that only its owner can read, whole or not at all.
pub(super) fn write_private(path: &Path, bytes: &[u8]) -> std::io::Result<()> {
    use std::io::Write;
    let beside = path.with_extension("new");
    let mut options = std::fs::OpenOptions::new();
    options.create(true).truncate(true).write(true);
    #[cfg(unix)]
    {
        use std::os::unix::fs::OpenOptionsExt;
        options.mode(0o600);
    }
    let mut file = options.open(&beside)?;
    file.write_all(bytes)?;
    file.sync_all()?;
    std::fs::rename(&beside, path)?;
    if let Some(directory) = path.parent() {
        std::fs::File::open(directory)?.sync_all()?;
    }
    Ok(())
}
