//! Secrets, and files that only their owner can read.

use std::path::{Path, PathBuf};

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

/// The records or the bodies of a data directory if other users of the machine can read them, with their mode: those that a user made, or an
/// earlier version. A group is its owner's own choice.
pub(super) fn readable_by_others(directory: &Path) -> Option<(PathBuf, u32)> {
    use std::os::unix::fs::PermissionsExt as _;
    let mode = |path: &Path| Some(std::fs::metadata(path).ok()?.permissions().mode() & 0o777);
    let is_open = |path: &Path| mode(path).filter(|mode| mode & 0o007 != 0);
    is_open(directory)?;
    let stores = ["kv", "blobs"].map(|store| directory.join(store));
    stores.into_iter().find_map(|store| is_open(&store).map(|mode| (store, mode)))
}

#[cfg(test)]
mod tests {
    use std::fs::{Permissions, set_permissions};
    use std::os::unix::fs::PermissionsExt as _;

    use super::*;

    #[test]
    fn records_and_bodies_that_others_can_read_are_told_of_and_no_others() {
        let directory = tempfile::tempdir().unwrap();
        let data = directory.path();
        let kv = data.join("kv");
        std::fs::create_dir(&kv).unwrap();
        for (of_data, of_kv, is_told) in [
            (0o755, 0o755, true),
            (0o755, 0o700, false),
            (0o700, 0o755, false),
            (0o750, 0o750, false),
        ] {
            set_permissions(&kv, Permissions::from_mode(of_kv)).unwrap();
            set_permissions(data, Permissions::from_mode(of_data)).unwrap();
            let told = readable_by_others(data);
            assert_eq!(told, is_told.then(|| (kv.clone(), of_kv)), "{of_data:o}, {of_kv:o}");
        }
    }
}
