//! The search document of a video.

use serde_json::{Map, Value};
use triptych_core::kv::Tx;

use crate::api::error::Error;
use crate::index;
use crate::index::{Document, Facets, Kind};
use crate::record::json_fields::text_of;
use crate::record::stored::Stored;
use crate::resource::videos::record::{Regions, VIDEO_COUNTS, Video};

/// Notes what can be found of a video. Call it after the video and its counts are put.
///
/// # Errors
/// As the store.
pub fn put(tx: &mut Tx<'_>, id: &str, video: &Stored<Video>) -> Result<(), Error> {
    let counts = VIDEO_COUNTS.get(tx, &id.to_owned())?.unwrap_or_default();
    let (head, snippet) = (&video.head, video.value("snippet"));
    let tags = snippet.get("tags").and_then(Value::as_array);
    let document = Document {
        channel: head.channel.clone(),
        title: text_of(&snippet, "title"),
        description: text_of(&snippet, "description"),
        tags: tags
            .into_iter()
            .flatten()
            .filter_map(|tag| tag.as_str().map(str::to_owned))
            .collect(),
        facets: Facets {
            published: head.published.micros(),
            public: head.is_listed(),
            views: counts.views,
            likes: counts.likes,
            dislikes: counts.dislikes,
            category: head.category.clone(),
            duration_ms: head.facts.as_ref().map_or(0, |facts| facts.duration_ms),
            high_definition: head.facts.as_ref().is_some_and(|facts| facts.definition() == "hd"),
            creative_commons: head.license == "creativeCommon",
            captions: head.has_captions,
            embeddable: head.embeddable,
            syndicated: true,
            sponsored: is_sponsored(video),
            location: location(&video.value("recordingDetails")),
            language: head.language.clone().unwrap_or_default(),
            blocked: head.regions.as_ref().map(Regions::closed).unwrap_or_default(),
            restricted: head.is_restricted(),
            three_d: head.three_d,
            topics: head.topics.clone(),
            broadcast: head
                .broadcast
                .map(|state| state.event_type().to_owned())
                .unwrap_or_default(),
            form: head.form.map(|form| form.name().to_owned()).unwrap_or_default(),
            ..Facets::default()
        },
    };
    Ok(index::put(tx, Kind::Video, id, &document)?)
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
                crate::resource::videos::store::insert(tx, id, &made)
            })
            .unwrap();
        }
        while indexer::follow(&store, &mut ids).unwrap() > 0 {}
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
