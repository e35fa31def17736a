//! A directory that is being opened, and the words in which it is refused.

use std::io;
use std::path::Path;
use std::sync::Arc;

use super::base::BaseError;
use super::config::SledConfig;
use super::open_error::OpenError;
use super::tree::TreeError;
use super::wal::WalError;
use crate::disk::Disk;

/// A directory that is being opened.
pub(super) struct Opening<'o> {
    pub(super) disk: &'o Arc<dyn Disk>,
    pub(super) config: &'o SledConfig,
    pub(super) path: String,
}

impl Opening<'_> {
    pub(super) fn unusable(&self, error: &io::Error) -> OpenError {
        OpenError::Directory { path: self.path.clone(), reason: error.to_string() }
    }

    pub(super) fn unreadable(&self, file: &Path, error: &io::Error) -> OpenError {
        let (path, file) = (self.path.clone(), file.display().to_string());
        OpenError::Unreadable { path, file, reason: error.to_string() }
    }

    pub(super) fn corrupt(&self, reason: impl Into<String>) -> OpenError {
        OpenError::Corrupt { path: self.path.clone(), reason: reason.into() }
    }

    /// The refusal that an error of the log is.
    pub(super) fn wal(&self, error: WalError) -> OpenError {
        match error {
            WalError::Disk(error) => self.unusable(&error),
            WalError::Unreadable(file, error) => self.unreadable(&file, &error),
            WalError::Damaged(_) => self.corrupt(error.to_string()),
        }
    }

    /// The refusal that an error of the base is.
    pub(super) fn base(&self, error: BaseError) -> OpenError {
        match error {
            BaseError::Unreadable(file, error) => self.unreadable(&file, &error),
            BaseError::Damaged(..) => self.corrupt(error.to_string()),
        }
    }

    /// The refusal that an error of the tree is, where that is all that there is.
    pub(super) fn refused(&self, error: TreeError) -> OpenError {
        let path = self.path.clone();
        match error {
            TreeError::Locked(_) => OpenError::Locked { path },
            TreeError::Failed(reason) => OpenError::Directory { path, reason },
            TreeError::Damaged(reason) => OpenError::Corrupt { path, reason },
        }
    }
}
