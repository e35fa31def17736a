//! A watch of the data directory that is served: one that is removed, moved away or unmounted ends its service.

use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use super::identity_file;

/// Time between two looks. The second one that does not find it counts: who exchanges a directory takes it away for a moment.
const LOOK_EVERY: Duration = Duration::from_secs(1);

/// A watch of a directory, with what a look found.
#[derive(Debug, Clone)]
pub(in crate::host) struct DirectoryWatch(Arc<Watched>);

#[derive(Debug)]
struct Watched {
    directory: PathBuf,
    /// The identity of the records, by which they are known again: numbers of files change on some file systems while nothing does.
    identity: Option<String>,
    gone: OnceLock<String>,
}

impl DirectoryWatch {
    /// The directory, whose stores were opened.
    pub(super) fn of(directory: &Path) -> Self {
        let identity = identity_file::of_records(directory).ok().flatten();
        Self(Arc::new(Watched { directory: directory.to_owned(), identity, gone: OnceLock::new() }))
    }

    /// The sentence that says that it is gone, if a look found so.
    pub(in crate::host) fn gone(&self) -> Option<&str> {
        self.0.gone.get().map(String::as_str)
    }

    /// Looks whether it is gone. It blocks.
    pub(super) fn look(&self) -> Option<&str> {
        if self.gone().is_none() && self.0.is_missed() {
            return Some(self.0.note_gone());
        }
        self.gone()
    }

    /// Returns once it is gone, with the sentence that says so.
    pub(super) async fn until_gone(self) -> String {
        let mut was_missed = false;
        loop {
            tokio::time::sleep(LOOK_EVERY).await;
            let watched = Arc::clone(&self.0);
            // A disk that does not answer must not keep the requests of this thread waiting.
            let looked = tokio::task::spawn_blocking(move || watched.is_missed());
            let is_missed = looked.await.unwrap_or(false);
            if is_missed && was_missed {
                return self.0.note_gone().to_owned();
            }
            was_missed = is_missed;
        }
    }
}

impl Watched {
    /// Notes that it is gone, and gives the sentence that says so.
    fn note_gone(&self) -> &str {
        self.gone.get_or_init(|| {
            let path = self.directory.display();
            format!(
                "the data directory {path} is gone: it was removed, moved away or unmounted while it was served, so nothing more is acknowledged. Put it back, or restore a backup, then start again"
            )
        })
    }

    /// Returns whether it is not found, or is another's. A disk that does not let itself be read is another fault.
    fn is_missed(&self) -> bool {
        match identity_file::of_records(&self.directory) {
            Ok(Some(found)) => self.identity.as_ref().is_some_and(|own| *own != found),
            Ok(None) => is_absent(&self.directory.join("kv/format")),
            Err(_) => false,
        }
    }
}

fn is_absent(path: &Path) -> bool {
    std::fs::metadata(path).is_err_and(|error| error.kind() == ErrorKind::NotFound)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_directory_that_is_removed_moved_or_replaced_is_gone_and_one_that_lost_a_file_is_not() {
        let folder = tempfile::tempdir().unwrap();
        let make = |data: &Path, identity: &str| {
            std::fs::create_dir_all(data.join("kv")).unwrap();
            std::fs::write(data.join("kv/identity"), identity).unwrap();
            std::fs::write(data.join("kv/format"), "6\n").unwrap();
        };
        for (number, is_replaced) in [false, true].into_iter().enumerate() {
            let data = folder.path().join(format!("data-{number}"));
            make(&data, "one\n");
            let watch = DirectoryWatch::of(&data);
            assert_eq!(watch.look(), None);
            std::fs::remove_file(data.join("kv/format")).unwrap();
            assert_eq!(watch.look(), None);
            std::fs::rename(&data, folder.path().join(format!("away-{number}"))).unwrap();
            if is_replaced {
                make(&data, "other\n");
            }
            assert_eq!(watch.gone(), None, "it is not looked at by who only asks");
            let said = watch.look().unwrap_or_default();
            assert!(said.starts_with(&format!("the data directory {} is gone", data.display())));
            assert_eq!(watch.gone(), Some(said));
        }
    }
}
