//! Rows that several threads of one response follow from: most are about one video, and few write most of the comments.

use std::collections::HashMap;
use std::sync::Arc;

use triptych_core::kv::{StoreError, Tx};

use crate::record::stored::Stored;
use crate::resource::channels::record::{CHANNELS, Channel};
use crate::resource::comments::record::{REPLY_COUNTS, ReplyCounts};
use crate::resource::videos::render::{LISTED_VIDEOS, ListedVideo};

/// Rows that were read for one response, each once.
#[derive(Default)]
pub(super) struct SharedRows {
    counts: HashMap<String, ReplyCounts>,
    videos: HashMap<String, Option<Arc<ListedVideo>>>,
    channels: HashMap<String, Option<Arc<Stored<Channel>>>>,
}

impl SharedRows {
    /// The number of replies of a thread.
    ///
    /// # Errors
    /// As the store.
    pub(super) fn counts(
        &mut self,
        tx: &mut Tx<'_>,
        id: &String,
    ) -> Result<ReplyCounts, StoreError> {
        once(&mut self.counts, id, || Ok(REPLY_COUNTS.peek(tx, id)?.unwrap_or_default()))
    }

    /// A video, if it is there.
    ///
    /// # Errors
    /// As the store.
    pub(super) fn video(
        &mut self,
        tx: &mut Tx<'_>,
        id: &String,
    ) -> Result<Option<Arc<ListedVideo>>, StoreError> {
        once(&mut self.videos, id, || LISTED_VIDEOS.peek_shared(tx, id))
    }

    /// A channel, if it is there.
    ///
    /// # Errors
    /// As the store.
    pub(super) fn channel(
        &mut self,
        tx: &mut Tx<'_>,
        id: &String,
    ) -> Result<Option<Arc<Stored<Channel>>>, StoreError> {
        once(&mut self.channels, id, || CHANNELS.peek_shared(tx, id))
    }
}

/// The row that is kept of `id`, or else the one that is read of it now.
fn once<T: Clone>(
    kept: &mut HashMap<String, T>,
    id: &String,
    read: impl FnOnce() -> Result<T, StoreError>,
) -> Result<T, StoreError> {
    if let Some(found) = kept.get(id) {
        return Ok(found.clone());
    }
    let found = read()?;
    kept.insert(id.clone(), found.clone());
    Ok(found)
}
