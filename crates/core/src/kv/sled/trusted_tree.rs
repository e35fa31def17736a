//! The tree as an earlier run left it, where its files may be believed; else the reason to fill it anew.

use std::io;

use super::index_state::{IndexState, place_of};
use super::open_error::OpenError;
use super::opening::Opening;
use super::rebuild_report::RebuildReason;
use super::rows::{LastVersion, Rows, VERSION_KEY};
use super::tree::{Tree, TreeError};
use super::wal::{LogEnd, Segment, WalError, replay};
use crate::kv::Version;

/// A tree whose files are believed, with what the log has beyond it.
pub(super) struct TrustedTree {
    pub(super) tree: Box<dyn Tree>,
    pub(super) last: LastVersion,
    pub(super) rows: Rows,
    pub(super) end: LogEnd,
}

impl Opening<'_> {
    /// The tree, if its files may be believed and are at a version of the log; else the reason to fill it anew. Nothing is changed.
    pub(super) fn trusted_tree(
        &self,
        state: &IndexState,
        base: Version,
        segments: &[Segment],
    ) -> Result<Result<TrustedTree, RebuildReason>, OpenError> {
        let here = self.tree_place();
        let reason = match state {
            _ if self.config.rebuilds => Some(RebuildReason::Asked),
            IndexState::Unknown => Some(RebuildReason::Unknown),
            IndexState::Closed(_) if here.is_none() => Some(RebuildReason::Absent),
            IndexState::Closed(_) => None,
            IndexState::Open(place) | IndexState::Ahead(place) => {
                (here.as_ref() != Some(place)).then_some(RebuildReason::Restarted)
            }
        };
        if let Some(reason) = reason {
            return Ok(Err(reason));
        }
        // A tree may write as soon as it opens. That it is ahead of its base and log stays noted until there is a base of it.
        if !matches!(state, IndexState::Ahead(_)) {
            self.note_open().map_err(|error| self.unusable(&error))?;
        }
        let (tree, last) = match self.read_tree() {
            Ok(read) => read,
            Err(TreeError::Locked(_)) => {
                return Err(OpenError::Locked { path: self.path.clone() });
            }
            Err(error) => return Ok(Err(RebuildReason::Unreadable(error.to_string()))),
        };
        let mut rows = Rows::new();
        let end = replay(segments, last.version, &mut |frame| {
            frame.add_to(&mut rows)?;
            Ok(true)
        });
        let is_closed_elsewhere =
            matches!(state, IndexState::Closed(version) if *version != last.version);
        let is_closed = matches!(state, IndexState::Closed(_)) && !is_closed_elsewhere;
        match end {
            // A tree that was closed has all that the log had, whatever has become of that.
            Ok(LogEnd { knows_begin: false, is_at_odds: false, .. })
            | Err(WalError::Damaged(_))
                if is_closed && last.version >= base =>
            {
                let end = LogEnd::at(last.version);
                Ok(Ok(TrustedTree { tree, last, rows: Rows::new(), end }))
            }
            Ok(end) if last.version < base || end.is_at_odds || is_closed_elsewhere => {
                Ok(Err(RebuildReason::Version))
            }
            // The tree takes nothing that the log has not on disk.
            Ok(end) if last.version > base && !end.knows_begin => {
                Err(self.corrupt("the journal has lost its end"))
            }
            // Nor does a kill take what was written.
            Ok(end) if !is_closed && end.written > end.last => {
                Err(self.corrupt("the journal is broken before its end"))
            }
            Ok(end) => Ok(Ok(TrustedTree { tree, last, rows, end })),
            // The log may be whole from its base on.
            Err(WalError::Damaged(_)) => Ok(Err(RebuildReason::Version)),
            Err(error) => Err(self.wal(error)),
        }
    }

    /// The tree and its last version.
    fn read_tree(&self) -> Result<(Box<dyn Tree>, LastVersion), TreeError> {
        let (disk, config) = (self.disk, self.config);
        let checked = config.tree.check(&**disk, &config.directory);
        checked.map_err(|error| TreeError::Failed(error.to_string()))?;
        let tree = config.open_tree(&config.tree, disk)?;
        let last = tree.get(VERSION_KEY)?.as_deref().and_then(LastVersion::read);
        let none = || TreeError::Damaged("it has no last version".into());
        Ok((tree, last.ok_or_else(none)?))
    }

    /// Notes on disk that the tree is open, before anything of it changes.
    pub(super) fn note_open(&self) -> io::Result<()> {
        // Where runs of the machine are not told apart, what a kill leaves is not believed either.
        let state = self.tree_place().map_or(IndexState::Unknown, IndexState::Open);
        state.write(&**self.disk, &self.config.directory)
    }

    /// The place of the tree in this run of the machine, if there is a tree and the machine tells its runs apart.
    fn tree_place(&self) -> Option<String> {
        let config = self.config;
        let tree = self.disk.file_id(&config.tree_path()).ok()?;
        Some(place_of(config.boot_id.as_deref()?, tree))
    }
}
