//! What search finds of a resource, and how it shows it.

use bytes::Bytes;
use serde_json::{Map, Value, json};
use triptych_core::kv::Tx;

use crate::api::error::Error;
use crate::index::{self, Document, Facets, Kind};
use crate::record::stored::Stored;
use crate::record::tables::{CHANNEL_COUNTS, ORDER, VIDEO_COUNTS};
use crate::record::thumbnail;
use crate::resource::channels::record::Channel;
use crate::resource::playlists::record::Playlist;
use crate::resource::videos::record::{Privacy, Regions, Video};

/// Notes what can be found of a video. Call it after the video and its counts are put.
///
/// # Errors
/// As the store.
pub fn video(tx: &mut Tx<'_>, id: &str, video: &Stored<Video>) -> Result<(), Error> {
    let counts = VIDEO_COUNTS.get(tx, &id.to_owned())?.unwrap_or_default();
    let (head, snippet) = (&video.head, video.value("snippet"));
    let tags = snippet.get("tags").and_then(Value::as_array);
    let document = Document {
        channel: head.channel.clone(),
        title: text(&snippet, "title"),
        description: text(&snippet, "description"),
        tags: tags
            .into_iter()
            .flatten()
            .filter_map(|tag| tag.as_str().map(str::to_owned))
            .collect(),
        facets: Facets {
            published: head.published.micros(),
            public: head.is_listed() && head.failure.is_none(),
            views: counts.views,
            likes: counts.likes,
            dislikes: counts.dislikes,
            category: head.category.clone(),
            duration_ms: head.facts.as_ref().map_or(0, |facts| facts.duration_ms),
            high_definition: head.facts.as_ref().is_some_and(|facts| facts.definition() == "hd"),
            creative_commons: head.license == "creativeCommon",
            embeddable: head.embeddable,
            syndicated: true,
            sponsored: is_sponsored(video),
            location: location(&video.value("recordingDetails")),
            language: head.language.clone().unwrap_or_default(),
            blocked: head.regions.as_ref().map(Regions::closed).unwrap_or_default(),
            restricted: head.is_restricted(),
            ..Facets::default()
        },
    };
    Ok(index::put(tx, Kind::Video, id, &document)?)
}

/// Notes what can be found of a channel.
///
/// # Errors
/// As the store.
pub fn channel(tx: &mut Tx<'_>, id: &str, channel: &Stored<Channel>) -> Result<(), Error> {
    let counts = CHANNEL_COUNTS.get(tx, &id.to_owned())?.unwrap_or_default();
    let snippet = channel.value("snippet");
    let document = Document {
        channel: id.to_owned(),
        title: channel.head.title.clone(),
        description: text(&snippet, "description"),
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

/// Notes what can be found of a playlist.
///
/// # Errors
/// As the store.
pub fn playlist(tx: &mut Tx<'_>, id: &str, playlist: &Stored<Playlist>) -> Result<(), Error> {
    let snippet = playlist.value("snippet");
    let document = Document {
        channel: playlist.head.channel.clone(),
        title: text(&snippet, "title"),
        description: text(&snippet, "description"),
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

/// How a search shows a channel: the snippet of a result.
#[must_use]
pub fn channel_result(id: &str, channel: &Stored<Channel>) -> Bytes {
    let snippet = channel.value("snippet");
    result(&snippet, id, &channel.head.title, thumbnail::of_channel(id))
}

/// How a search shows a playlist. Its picture is that of its first video.
///
/// # Errors
/// As the store.
pub fn playlist_result(
    tx: &mut Tx<'_>,
    id: &str,
    playlist: &Stored<Playlist>,
) -> Result<Bytes, Error> {
    let order = ORDER.peek(tx, &id.to_owned())?.unwrap_or_default();
    let snippet = playlist.value("snippet");
    let picture = thumbnail::of_video(order.first_video.as_deref().unwrap_or("none"), false);
    Ok(result(&snippet, &playlist.head.channel, &text(&snippet, "channelTitle"), picture))
}

fn result(
    snippet: &Map<String, Value>,
    channel: &str,
    channel_title: &str,
    thumbnails: Value,
) -> Bytes {
    let published = text(snippet, "publishedAt");
    let shown = json!({
        "publishedAt": published, "channelId": channel, "title": text(snippet, "title"), "description": text(snippet, "description"),
        "thumbnails": thumbnails, "channelTitle": channel_title, "liveBroadcastContent": "none",
    });
    shown.as_object().map_or_else(Bytes::new, crate::record::print)
}

fn text(map: &Map<String, Value>, name: &str) -> String {
    map.get(name).and_then(Value::as_str).unwrap_or_default().to_owned()
}

fn is_sponsored(video: &Stored<Video>) -> bool {
    let placement = video.value("paidProductPlacementDetails");
    placement.get("hasPaidProductPlacement") == Some(&Value::Bool(true))
}

/// Degrees north and east of `recordingDetails.location`.
fn location(recording: &Map<String, Value>) -> Option<(f64, f64)> {
    let location = recording.get("location")?;
    Some((location.get("latitude")?.as_f64()?, location.get("longitude")?.as_f64()?))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::index::{indexer, query};
    use triptych_core::id::SeededIds;
    use triptych_core::kv::{Memory, run_blocking};
    use triptych_core::time::Timestamp;

    #[test]
    fn a_search_leaves_out_what_is_closed_in_its_region_and_what_is_for_adults() {
        let store = Memory::new();
        let mut ids = SeededIds::from_number(1);
        let texts = |list: &[&str]| list.iter().map(|text| (*text).to_owned()).collect();
        let videos = [
            ("open", None, None),
            ("notde", Some(Regions::Blocked(texts(&["DE", "FR"]))), None),
            ("onlyus", Some(Regions::Allowed(texts(&["US"]))), None),
            ("adult", None, Some("ytAgeRestricted")),
        ];
        for (id, regions, rating) in videos {
            let mut made = Stored::uploaded(id, "UCx", "X", Timestamp::EPOCH);
            made.head.regions = regions;
            if let Some(rating) = rating {
                made.head.rating.insert("ytRating".into(), rating.into());
            }
            run_blocking(&store, &mut ids, 1, |tx, _| {
                crate::resource::videos::record::insert(tx, id, &made)
            })
            .unwrap();
        }
        indexer::drain(&store, &mut ids).unwrap();
        let mut tx = Tx::new(&store);
        let mut found = |region: Option<&str>, strict| {
            let query = query::Query {
                region: region.map(str::to_owned),
                strict,
                ..query::Query::default()
            };
            let found = query::run(&mut tx, &query, None, false, 50).unwrap();
            let mut ids: Vec<_> = found.hits.into_iter().map(|hit| hit.id).collect();
            assert_eq!(found.total, ids.len() as u64);
            ids.sort_unstable();
            ids
        };
        assert_eq!(found(None, false).len(), 4);
        assert_eq!(found(None, true), ["notde", "onlyus", "open"]);
        assert_eq!(found(Some("DE"), false), ["adult", "open"]);
        assert_eq!(found(Some("US"), false), ["adult", "notde", "onlyus", "open"]);
        assert_eq!(found(Some("JP"), true), ["notde", "open"]);
    }
}
