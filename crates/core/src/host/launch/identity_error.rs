//! Refusals of records and bodies that are not one store's, in the words that the service prints (docs/running.md).

use std::path::Path;

/// Reasons for which records and bodies are not opened together. Each says what to do.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum IdentityError {
    /// A file or a directory of the two sides cannot be read or written.
    #[error(
        "{path} cannot be used: {reason}. Give it to the user of the service, or put it back from the same backup as the rest"
    )]
    Unusable {
        /// Its path.
        path: String,
        /// The cause.
        reason: String,
    },
    /// Bodies without records.
    #[error(
        "there are bodies in {bodies} and the data directory {path} has no records in kv/; nothing was changed: put the records back, from the same backup as the bodies. To begin anew, name an empty directory and an empty place for bodies, or move what is there away"
    )]
    RecordsMissing {
        /// Its path.
        path: String,
        /// The place of the bodies.
        bodies: String,
    },
    /// Records without bodies.
    #[error(
        "the data directory {path} has records in kv/ and not their bodies in {bodies}; nothing was changed: name the place where they are with --blobs (without it, that is blobs/ of the data directory), or put them back, from the same backup as the records. To begin anew, name an empty directory, or move the whole directory away"
    )]
    BodiesMissing {
        /// Its path.
        path: String,
        /// The place in which bodies were looked for.
        bodies: String,
    },
    /// Records of one store, and bodies of another.
    #[error(
        "the records in {path}/kv and the bodies in {bodies} belong to different stores (their files named identity differ), and were not changed: put back the ones that belong together"
    )]
    Mismatch {
        /// Its path.
        path: String,
        /// The place of the bodies.
        bodies: String,
    },
    /// Bodies of which a folder is gone, or was emptied.
    #[error(
        "{folder} is not the folder that this store kept bodies in: it is gone, was emptied, or was put there without the rest (it has no file named identity); nothing was changed: put all of {bodies} back, from the same backup as the records"
    )]
    FolderMissing {
        /// The path of the folder.
        folder: String,
        /// The place of the bodies.
        bodies: String,
    },
    /// Bodies of which a pack is gone.
    #[error(
        "the pack {pack} is gone, and the bodies in it; nothing was changed: put it back, from the same backup as the records. Where it is lost for good, remove {note} and start again: whatever was in it is then missing where it is read, and verify names it"
    )]
    PackMissing {
        /// The path of the pack.
        pack: String,
        /// The path of the note that names it.
        note: String,
    },
    /// Bodies of other records than those that instances share.
    #[error(
        "the bodies in {bodies} belong to other records than those in {store}, and were not changed: name the place of theirs with --blobs or --data"
    )]
    Foreign {
        /// The store of the records.
        store: String,
        /// The place of the bodies.
        bodies: String,
    },
    /// Records that instances share, without their bodies.
    #[error(
        "there are records in {store} and not their bodies in {bodies}; nothing was changed: name the place where they are with --blobs"
    )]
    SharedBodiesMissing {
        /// The store of the records.
        store: String,
        /// The place in which bodies were looked for.
        bodies: String,
    },
    /// The store of the bodies does not answer.
    #[cfg(feature = "object-store")]
    #[error("the identity of the bodies in {bodies} cannot be read or written: {reason}")]
    Unreachable {
        /// The place of the bodies.
        bodies: String,
        /// The cause.
        reason: String,
    },
}

impl IdentityError {
    /// The refusal of a file or a directory that the disk does not give, or take.
    pub(super) fn unusable(path: &Path, error: &std::io::Error) -> Self {
        Self::Unusable { path: path.display().to_string(), reason: error.to_string() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_operators_page_has_the_words_of_every_refusal() {
        let page = include_str!("../../../../../docs/running.md");
        let path = || "PATH".to_owned();
        let bodies = || "PLACE".to_owned();
        let store = || "STORE".to_owned();
        for refusal in [
            IdentityError::Unusable { path: "FILE".into(), reason: "REASON".into() },
            IdentityError::RecordsMissing { path: path(), bodies: bodies() },
            IdentityError::BodiesMissing { path: path(), bodies: bodies() },
            IdentityError::Mismatch { path: path(), bodies: bodies() },
            IdentityError::FolderMissing { folder: "FOLDER".into(), bodies: bodies() },
            IdentityError::PackMissing { pack: "PACK".into(), note: "NOTE".into() },
            IdentityError::Foreign { store: store(), bodies: bodies() },
            IdentityError::SharedBodiesMissing { store: store(), bodies: bodies() },
            #[cfg(feature = "object-store")]
            IdentityError::Unreachable { bodies: bodies(), reason: "REASON".into() },
        ] {
            assert!(page.contains(&format!("| {refusal} |")), "{refusal}");
        }
    }
}
