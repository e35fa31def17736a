//! The search document of a channel, and the snippet of a result.

use bytes::Bytes;
use triptych_core::kv::Tx;

use crate::api::error::Error;
use crate::index;
use crate::index::{Document, Facets, Kind};
use crate::record::json_fields::text_of;
use crate::record::stored::Stored;
use crate::record::{search_result, stored, thumbnail};
use crate::resource::channels::record::{CHANNEL_COUNTS, Channel};

/// Notes what can be found of a channel.
///
/// # Errors
/// As the store.
pub fn put(tx: &mut Tx<'_>, id: &str, channel: &Stored<Channel>) -> Result<(), Error> {
    let counts = CHANNEL_COUNTS.get(tx, &id.to_owned())?.unwrap_or_default();
    let snippet = channel.value("snippet");
    let document = Document {
        channel: id.to_owned(),
        title: channel.head.title.clone(),
        description: text_of(&snippet, "description"),
        tags: channel.head.handle.iter().cloned().collect(),
        facets: Facets {
            published: channel.head.published.micros(),
            public: true,
            views: counts.views,
            videos: counts.videos,
            language: channel.head.language.clone().unwrap_or_default(),
            ..Facets::default()
        },
    };
    Ok(index::put(tx, Kind::Channel, id, &document)?)
}

/// A channel as a search shows it: the snippet of a result.
#[must_use]
pub fn result(id: &str, channel: &Stored<Channel>) -> Bytes {
    let snippet = channel.value("snippet");
    let thumbnails = thumbnail::of_channel(id);
    stored::print(&search_result::snippet(&snippet, id, &channel.head.title, thumbnails))
}
