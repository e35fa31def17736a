//! The search document of a playlist, and the snippet of a result.

use bytes::Bytes;
use triptych_core::kv::Tx;

use crate::account::Caller;
use crate::api::error::Error;
use crate::index;
use crate::index::{Document, Facets, Kind};
use crate::record::json_fields::text_of;
use crate::record::privacy::Privacy;
use crate::record::stored::Stored;
use crate::record::{search_result, stored};
use crate::resource::playlist_items::order::ORDER;
use crate::resource::playlists::record::Playlist;
use crate::resource::playlists::render;

/// Notes what can be found of a playlist.
///
/// # Errors
/// As the store.
pub fn put(tx: &mut Tx<'_>, id: &str, playlist: &Stored<Playlist>) -> Result<(), Error> {
    let snippet = playlist.value("snippet");
    let document = Document {
        channel: playlist.head.channel.clone(),
        title: text_of(&snippet, "title"),
        description: text_of(&snippet, "description"),
        tags: Vec::new(),
        facets: Facets {
            published: playlist.head.published.micros(),
            public: playlist.head.privacy == Privacy::Public,
            language: playlist.head.language.clone().unwrap_or_default(),
            ..Facets::default()
        },
    };
    Ok(index::put(tx, Kind::Playlist, id, &document)?)
}

/// A playlist as a search shows it to somebody.
///
/// # Errors
/// As the store.
pub fn result(
    tx: &mut Tx<'_>,
    id: &str,
    playlist: &Stored<Playlist>,
    caller: &Caller,
) -> Result<Bytes, Error> {
    let order = ORDER.peek(tx, &id.to_owned())?.unwrap_or_default();
    let snippet = playlist.value("snippet");
    let picture = render::picture(tx, order.first_video.as_deref(), caller)?;
    let channel_title = text_of(&snippet, "channelTitle");
    let channel = &playlist.head.channel;
    Ok(stored::print(&search_result::snippet(&snippet, channel, &channel_title, picture)))
}
