//! A data directory filled from a backup: the copy is made beside its place, and moved there when it is whole.

use std::path::Path;

use serde_json::json;

use super::flags::Product;
use super::service_mark;
use super::staging_dir::{StagingDir, is_empty_but_for_it, note_in};
use crate::disk::{Disk as _, SystemDisk};
use crate::host::backup::{BackupError, Found};
use crate::time::Timestamp;

/// Makes a backup the store of `data`, which is empty or not there, as of a moment if one is given. No service starts on a part of it: what was
/// interrupted is begun anew by the next run of the same command, or finished where all was copied.
///
/// # Errors
/// `Unusable`, `NotEmpty`, `Moment`.
pub(super) fn fill(
    data: &Path,
    product: &Product,
    found: &Found,
    at: Option<Timestamp>,
) -> Result<(), BackupError> {
    let path = data.display().to_string();
    let refused = |reason: String| BackupError::Unusable { path: path.clone(), reason };
    let failed = |error: std::io::Error| refused(error.to_string());
    // A path that is no UTF-8 is noted with its bytes escaped.
    let from = found.path.to_str().map_or_else(|| format!("{:?}", found.path), str::to_owned);
    let note = json!({ "restored": from, "at": at.map(Timestamp::millis) }).to_string();
    SystemDisk.make_directory(data).map_err(failed)?;
    let is_copied = note_in(data).is_some_and(|left| left == note.as_bytes());
    if !is_copied && !is_empty_but_for_it(data).map_err(failed)? {
        return Err(BackupError::NotEmpty { path });
    }
    let (mut staging, left) = StagingDir::resumed(data).map_err(refused)?;
    match left {
        Some(_) if !is_copied => {
            let reason = "it is being filled with something else: finish that, or remove .filling in it to give it up";
            return Err(refused(reason.to_owned()));
        }
        Some(_) => {}
        None => {
            found.copy_to(staging.path(), at)?;
            // A backup of before directories were marked has its service in the manifest alone.
            service_mark::claim(staging.path(), product)
                .map_err(|error| refused(error.to_string()))?;
            staging.keep(note.as_bytes()).map_err(failed)?;
        }
    }
    staging.publish_all(data).map_err(refused)
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use bytes::Bytes;

    use super::super::flags::tests::PRODUCT;
    use super::super::staging_dir::is_unfinished;
    use super::*;
    use crate::host::backup::Source;
    use crate::kv::{Batch, KeyValue as _, Sled, SledConfig};

    /// A backup of a store with a row and a secret.
    fn backup(folder: &Path) -> Found {
        let data = folder.join("data");
        let kv = Arc::new(Sled::open(&SledConfig::new(data.join("kv"))).unwrap());
        let row = (Bytes::from("key"), Some(Bytes::from("value")));
        kv.commit(Batch { writes: vec![row], ..Batch::default() }).wait().unwrap();
        for file in ["admin-token", "blobs/identity", "kv/identity"] {
            std::fs::create_dir_all(data.join("blobs/packs")).unwrap();
            std::fs::write(data.join(file), "of the store").unwrap();
        }
        let source = Source {
            service: "thing",
            version: "1",
            directory: data,
            kv: Arc::downgrade(&kv),
            bodies_elsewhere: None,
            identity: Some("own".into()),
            blobs: std::sync::Weak::new(),
            taking: parking_lot::Mutex::default(),
        };
        let taken = source.take(&folder.join("backups"), Timestamp::from_millis(1_000)).unwrap();
        Found::verified(&taken.path, "thing").unwrap()
    }

    fn assert_whole(data: &Path) {
        assert!(!is_unfinished(data) && !data.join(".filling").exists());
        assert_eq!(std::fs::read(data.join("admin-token")).unwrap(), b"of the store");
        let kv = Sled::open(&SledConfig::new(data.join("kv"))).unwrap();
        assert_eq!(kv.get(b"key").unwrap().value, Some(Bytes::from("value")));
    }

    #[test]
    fn a_restore_that_was_stopped_while_it_copied_leaves_no_store_and_is_begun_anew() {
        let folder = tempfile::tempdir().unwrap();
        let found = backup(folder.path());
        let files = ["kv/journal-0000000001", "kv/identity", "kv/format", "blobs/identity"];
        for count in 0..=files.len() {
            let data = folder.path().join(format!("stopped-{count}"));
            let staged = data.join(".filling");
            std::fs::create_dir_all(staged.join("kv")).unwrap();
            std::fs::create_dir_all(staged.join("blobs")).unwrap();
            for file in files.iter().take(count) {
                std::fs::write(staged.join(file), "half").unwrap();
            }
            assert!(is_unfinished(&data));
            fill(&data, &PRODUCT, &found, None).unwrap();
            assert_whole(&data);
            // The backup was taken before directories had marks.
            assert_eq!(std::fs::read(data.join("service")).unwrap(), b"thing 1\n");
        }
    }

    #[test]
    fn a_restore_that_was_stopped_while_it_moved_what_it_copied_is_finished_by_the_same_alone() {
        let folder = tempfile::tempdir().unwrap();
        let found = backup(folder.path());
        let note = json!({ "restored": found.path, "at": null }).to_string();
        for moved in 0..=2 {
            let data = folder.path().join(format!("moved-{moved}"));
            let staged = data.join(".filling");
            found.copy_to(&staged, None).unwrap();
            std::fs::write(staged.join("progress.json"), &note).unwrap();
            for name in ["admin-token", "blobs"].into_iter().take(moved) {
                std::fs::rename(staged.join(name), data.join(name)).unwrap();
            }
            assert!(is_unfinished(&data));
            let other = fill(&data, &PRODUCT, &found, Some(Timestamp::from_millis(2_000)));
            assert!(other.is_err(), "{other:?}");
            fill(&data, &PRODUCT, &found, None).unwrap();
            assert_whole(&data);
        }
    }

    #[test]
    fn a_backup_below_a_path_that_is_no_utf_8_is_restored_and_onto_a_fresh_disk_too() {
        use std::os::unix::ffi::OsStrExt as _;
        let folder = tempfile::tempdir().unwrap();
        let odd = folder.path().join(std::ffi::OsStr::from_bytes(b"\xFF"));
        let found = backup(&odd);
        let data = folder.path().join("disk");
        std::fs::create_dir_all(data.join("lost+found")).unwrap();
        // A kill came before the mark had its name.
        std::fs::write(data.join("service-0a.new"), "thing 1\n").unwrap();
        fill(&data, &PRODUCT, &found, None).unwrap();
        assert_whole(&data);
    }

    #[test]
    fn a_directory_with_data_is_never_restored_into() {
        let folder = tempfile::tempdir().unwrap();
        let found = backup(folder.path());
        let refused = fill(&folder.path().join("data"), &PRODUCT, &found, None);
        assert!(matches!(refused, Err(BackupError::NotEmpty { .. })), "{refused:?}");
    }
}
