//! Search: resources that fit words and filters.

use bytes::Bytes;
use triptych_core::id::Ids;
use triptych_core::kv::{Key, Plan, RoundTrips, Tx};
use triptych_core::time::Timestamp;

use crate::api::error::{Error, Place, Rule, rules};
use crate::api::language::{self, LANGUAGES};
use crate::api::operation::call::Call;
use crate::api::operation::{Cost, Filters, Operation, Part, READ, Run};
use crate::api::page_token::{Binding, Direction, PageToken};
use crate::api::parameter::{Kind, MAX_RESULTS, OWNER, PAGE_TOKEN, PART, Param, REGION_CODE};
use crate::api::response::{Item, List, Paging, Reply, Served, etag};
use crate::index;
use crate::index::facet::DurationClass;
use crate::index::query;
use crate::index::query::{Cursor, GeoCircle, Hit, Order, Query};
use crate::index::tokenizer::TextQuery;
use crate::record::id;
use crate::resource::Resource;
use crate::resource::channels::record::{self, CHANNELS};
use crate::resource::channels::search_document as channels;
use crate::resource::playlist_items::order::ORDER;
use crate::resource::playlists::record::PLAYLISTS;
use crate::resource::playlists::render::plan_pictures;
use crate::resource::playlists::search_document as playlists;
use crate::resource::videos::render;
use crate::resource::videos::render::LISTED_VIDEOS;

/// The resource.
pub static RESOURCE: Resource = Resource { operations: &[LIST], rules: RULES, ..Resource::EMPTY };

rules! {
    /// Filters that do not go together.
    FILTER_INVALID = Rule::new(400, "youtube.search", "invalidSearchFilter", Place::parameter(""), "The request contains an invalid combination of search filters and/or restrictions. Note that you must set the type parameter to video if you set either the forContentOwner or forMine parameters to true, or a value for the eventType, videoCaption, videoCategoryId, videoDefinition, videoDimension, videoDuration, videoEmbeddable, videoLicense, videoSyndicated or videoType parameters.");
    /// An id that is no channel's by its form.
    CHANNEL_INVALID = Rule::new(400, "youtube.search", "invalidChannelId", Place::parameter("channelId"), "The channelId parameter specified an invalid channel ID.");
    /// A place without a radius, or the other way round, or one that is none.
    LOCATION_INVALID = Rule::new(400, "youtube.search", "invalidLocation", Place::parameter("location"), "The location and/or locationRadius parameter value was formatted incorrectly: both are needed, as 'latitude,longitude' and a number with m, km, ft or mi of at most 1000 kilometers.");
    /// A language that is none.
    LANGUAGE_INVALID = Rule::new(400, "youtube.search", "invalidRelevanceLanguage", Place::parameter("relevanceLanguage"), "The relevanceLanguage parameter value was formatted incorrectly.");
}

/// The parts of a searchResult.
const SEARCH_RESULT_PARTS: &[Part] = &[Part::read("id"), Part::read("snippet")];

/// `search.list`.
const LIST: Operation = Operation {
    doc: "Results for query parameters; by default video, channel and playlist results; can be restricted to one type; accepts regionCode.",
    params: &[
        PART,
        Param::text("channelId", "The id of a channel."),
        Param::of(
            "channelType",
            Kind::OneOf(&["channelTypeUnspecified", "any", "show"]),
            "Only shows, or channels of every kind.",
        ),
        Param::of(
            "eventType",
            Kind::OneOf(&["none", "upcoming", "live", "completed"]),
            "Only broadcasts in this state.",
        ),
        Param::of("forContentOwner", Kind::Boolean, "Only the videos of the content owner whom the caller acts for.")
            .private(),
        Param::of("forDeveloper", Kind::Boolean, "Only videos that were uploaded with the caller's application.").private(),
        Param::of("forMine", Kind::Boolean, "Only the caller's own videos.").private(),
        Param::text("location", "Only videos that were made around this place: degrees north, degrees east."),
        Param::text("locationRadius", "How far around the place, at most 1000 km: a number with m, km, ft or mi."),
        MAX_RESULTS,
        OWNER,
        Param::of(
            "order",
            Kind::OneOf(&[
                "searchSortUnspecified",
                "date",
                "rating",
                "viewCount",
                "relevance",
                "title",
                "videoCount",
            ]),
            "The order of the answer.",
        )
        .default("relevance"),
        PAGE_TOKEN,
        Param::of(
            "publishedAfter",
            Kind::Moment,
            "Only what was published at or after this moment.",
        ),
        Param::of(
            "publishedBefore",
            Kind::Moment,
            "Only what was published at or before this moment.",
        ),
        Param::text("q", "The words to look for."),
        REGION_CODE,
        Param::text("relevanceLanguage", "Results in this language come first; the others are not left out."),
        Param::of(
            "safeSearch",
            Kind::OneOf(&["safeSearchSettingUnspecified", "none", "moderate", "strict"]),
            "How much of what is not for everybody is left out; strict leaves out what is for adults.",
        )
        .default("moderate"),
        Param::text("topicId", "Only what is about this topic."),
        Param::text("type", "The types of resource: video, channel, playlist.").repeated(),
        Param::of(
            "videoCaption",
            Kind::OneOf(&["videoCaptionUnspecified", "any", "closedCaption", "none"]),
            "Only videos with captions, or only those without.",
        ),
        Param::text("videoCategoryId", "Only this category of videos."),
        Param::of(
            "videoDefinition",
            Kind::OneOf(&["any", "standard", "high"]),
            "Only videos of 720 lines or more, or only those of less.",
        ),
        Param::of(
            "videoDimension",
            Kind::OneOf(&["any", "2d", "3d"]),
            "Only videos in 3D, or only those that are not.",
        ),
        Param::of(
            "videoDuration",
            Kind::OneOf(&["videoDurationUnspecified", "any", "short", "medium", "long"]),
            "Only videos of this length: short is less than four minutes, long more than twenty.",
        ),
        Param::of(
            "videoEmbeddable",
            Kind::OneOf(&["videoEmbeddableUnspecified", "any", "true"]),
            "Only videos that other pages may embed.",
        ),
        Param::of(
            "videoLicense",
            Kind::OneOf(&["any", "youtube", "creativeCommon"]),
            "Only videos under this licence.",
        ),
        Param::of(
            "videoPaidProductPlacement",
            Kind::OneOf(&["videoPaidProductPlacementUnspecified", "any", "true"]),
            "Only videos that somebody paid for being shown in.",
        ),
        Param::of(
            "videoSyndicated",
            Kind::OneOf(&["videoSyndicatedUnspecified", "any", "true"]),
            "Only videos that can be played outside the site.",
        ),
        Param::of(
            "videoType",
            Kind::OneOf(&["videoTypeUnspecified", "any", "movie", "episode"]),
            "Only films, or only episodes of shows.",
        ),
    ],
    withdrawn_params: &["relatedToVideoId"],
    filters: Filters::AtMostOne(&["forContentOwner", "forDeveloper", "forMine"]),
    parts: SEARCH_RESULT_PARTS,
    scopes: READ,
    cost: Cost { units: 100, own_bucket: true },
    response: Some("SearchListResponse"),
    heavy: true,
    round_trips: RoundTrips::of(6, 0),
    ..Operation::list("search.list", "/search", Run::Call(list))
};

/// The region of an answer where the request names none.
const DEFAULT_REGION: &str = "US";
/// Parameters that only videos have, and so need `type=video`.
const VIDEO_FILTERS: &[&str] = &[
    "eventType",
    "location",
    "locationRadius",
    "videoCaption",
    "videoCategoryId",
    "videoDefinition",
    "videoDimension",
    "videoDuration",
    "videoEmbeddable",
    "videoLicense",
    "videoPaidProductPlacement",
    "videoSyndicated",
    "videoType",
];
/// Parameters that a search for the caller's own videos does not take (facts: search.list, forMine and forContentOwner).
const NOT_OF_OWN: &[&str] = &[
    "videoDefinition",
    "videoDimension",
    "videoDuration",
    "videoEmbeddable",
    "videoLicense",
    "videoPaidProductPlacement",
    "videoSyndicated",
    "videoType",
];
/// Parameters that shape the answer and not the list, so that a page token holds when they change.
const NOT_BINDING: &[&str] = &["pageToken", "maxResults", "part"];

fn list(call: &Call<'_>, tx: &mut Tx<'_>, _ids: &mut dyn Ids) -> Result<Reply, Error> {
    let query = read(call, tx)?;
    let size = call.page_size();
    let binding = binding(call, query.mine.as_deref());
    let token = call.page_token(binding)?;
    let cursor = token.as_ref().map(|token| cursor_of(&token.key, token.position)).transpose()?;
    let backwards = token.as_ref().is_some_and(|token| token.direction == Direction::Previous);
    let found = query::run(tx, &query, cursor.as_ref(), backwards, size as usize)?;
    let hidden = hidden(call, tx, &query)?;
    let mut list = List::of("searchListResponse", call.form());
    tx.plan(|plan| found.hits.iter().for_each(|hit| plan_shown(plan, hit)))?;
    let shown = found.hits.iter().filter(|hit| hit.kind == index::Kind::Playlist);
    plan_pictures(tx, shown.map(|hit| &hit.id))?;
    for hit in &found.hits {
        if let Some(item) = result(call, tx, hit)? {
            list.push(&item);
        }
    }
    let print = |direction, hit: Option<&Hit>| {
        hit.map(|hit| PageToken::print(direction, hit.cursor.at, &key_of(&hit.cursor), binding))
    };
    let paging = Paging {
        next: print(Direction::Next, found.hits.last().filter(|_| found.more)),
        previous: print(Direction::Previous, found.hits.first().filter(|_| found.earlier)),
        total: found.total.saturating_sub(hidden),
        size,
    };
    // Somebody's own videos are searched in no region.
    let region = call.region().or_else(|| query.mine.is_none().then_some(DEFAULT_REGION));
    let region = region.map(|region| ("regionCode", format!("\"{region}\"").into_bytes()));
    Ok(list.end_with(Some(&paging), region.as_slice()))
}

/// Number of the documents of a query that nobody finds any more, since their channels are closing.
fn hidden(call: &Call<'_>, tx: &mut Tx<'_>, query: &Query) -> Result<u64, Error> {
    let mut hidden = 0;
    for channel in call.caller.closing.iter().filter(|_| query.channel.is_none()) {
        let of_channel = Query { channel: Some(channel.to_owned()), ..query.clone() };
        hidden += query::run(tx, &of_channel, None, false, 1)?.total;
    }
    Ok(hidden)
}

/// The bond of a page token of this list: everything that decides what is in the list.
fn binding(call: &Call<'_>, mine: Option<&str>) -> Binding {
    let mut names = vec![call.operation.name, mine.unwrap_or_default()];
    for param in call.operation.params.iter().filter(|param| !NOT_BINDING.contains(&param.name)) {
        let values = call.params.list(param.name);
        if !values.is_empty() {
            names.push(param.name);
            names.extend(values.iter().map(String::as_str));
        }
    }
    Binding::of(&names)
}

fn key_of(cursor: &Cursor) -> Vec<u8> {
    let mut key = vec![cursor.kind as u8];
    cursor.id.write(&mut key);
    key.extend_from_slice(&cursor.key);
    key
}

fn cursor_of(mut bytes: &[u8], at: u32) -> Result<Cursor, Error> {
    let kind =
        u8::read(&mut bytes).and_then(|kind| index::Kind::ALL.get(usize::from(kind)).copied());
    let id = String::read(&mut bytes);
    let (Some(kind), Some(id)) = (kind, id) else {
        return Err(Error::InvalidPageToken);
    };
    Ok(Cursor { key: bytes.to_vec(), kind, id, at })
}

/// The query that the parameters stand for.
fn read(call: &Call<'_>, tx: &mut Tx<'_>) -> Result<Query, Error> {
    let params = call.params;
    let mut kinds = kinds(params.list("type"))?;
    let only_videos = kinds == [index::Kind::Video];
    let sets = |name: &str| params.get(name).is_some_and(|value| !value.ends_with("Unspecified"));
    let asks = |name: &str| sets(name) && params.get(name) != Some("any");
    let owned = ["forMine", "forContentOwner"].into_iter().any(|name| params.flag(name));
    let own = owned || params.flag("forDeveloper");
    let needs_videos = owned || VIDEO_FILTERS.iter().any(|name| sets(name));
    let clash = owned && NOT_OF_OWN.iter().any(|name| sets(name));
    // A place that cannot be read is none in any combination.
    let near = near(params.get("location"), params.get("locationRadius"))?;
    if needs_videos && !only_videos || clash {
        return Err(Error::Rule(&FILTER_INVALID));
    }
    if own && !only_videos {
        // What a developer uploaded is videos, whatever the type.
        kinds = vec![index::Kind::Video];
    }
    let region = call.region();
    let language = params
        .get("relevanceLanguage")
        .map(|tag| spoken(tag).ok_or(Error::Rule(&LANGUAGE_INVALID)))
        .transpose()?;
    let channel = params.get("channelId").map(str::to_owned);
    if let Some(channel) = &channel {
        // What could be an id and is nobody's finds nothing, as with the real service.
        if record::known(tx, channel)?.is_none() && !id::is_channel(channel) {
            return Err(Error::Rule(&CHANNEL_INVALID));
        }
    }
    let words = params.get("q").unwrap_or_default();
    let text = TextQuery::parse(words);
    let is_wordless = text.is_empty() && !words.trim().is_empty();
    let is =
        |name: &str, yes: &str| params.get(name).filter(|_| asks(name)).map(|value| value == yes);
    Ok(Query {
        text,
        kinds,
        channel,
        mine: if own { Some(call.caller.channel()?.to_owned()) } else { None },
        published_after: params.moment("publishedAfter").map(|moment| moment.micros()),
        published_before: params.moment("publishedBefore").map(end_of_second),
        category: params.get("videoCategoryId").map(str::to_owned),
        duration: match params.get("videoDuration") {
            Some("short") => Some(DurationClass::Short),
            Some("medium") => Some(DurationClass::Medium),
            Some("long") => Some(DurationClass::Long),
            _ => None,
        },
        high_definition: is("videoDefinition", "high"),
        captions: is("videoCaption", "closedCaption"),
        three_d: is("videoDimension", "3d"),
        creative_commons: is("videoLicense", "creativeCommon"),
        embeddable: is("videoEmbeddable", "true").unwrap_or_default(),
        syndicated: is("videoSyndicated", "true").unwrap_or_default(),
        broadcast: params.get("eventType").filter(|kind| *kind != "none").map(str::to_owned),
        near,
        topic: params.get("topicId").map(str::to_owned),
        region: region.map(str::to_owned),
        language,
        strict: params.get("safeSearch") == Some("strict"),
        sponsored: is("videoPaidProductPlacement", "true").unwrap_or_default(),
        form: params.get("videoType").filter(|_| asks("videoType")).map(str::to_owned),
        nothing: params.get("channelType") == Some("show") || is_wordless,
        order: order(params.get("order")),
    })
}

/// The end of the second of a moment, in microseconds: what a result says of its publication is in whole seconds, and who asks with that finds it.
fn end_of_second(moment: Timestamp) -> i64 {
    moment.seconds().saturating_add(1).saturating_mul(1_000_000)
}

fn kinds(names: &[String]) -> Result<Vec<index::Kind>, Error> {
    let kind = |name: &String| {
        let is_named = |kind: &index::Kind| kind.name().eq_ignore_ascii_case(name);
        let found = index::Kind::ALL.into_iter().find(is_named);
        found.ok_or_else(|| Error::UnknownValue {
            name: "type",
            value: name.clone(),
            allowed: &["video", "channel", "playlist"],
        })
    };
    names.iter().map(kind).collect()
}

fn order(name: Option<&str>) -> Order {
    match name {
        Some("date") => Order::Date,
        Some("rating") => Order::Rating,
        Some("title") => Order::Title,
        Some("videoCount") => Order::VideoCount,
        Some("viewCount") => Order::ViewCount,
        _ => Order::Relevance,
    }
}

/// The code of a tag's language in lower case, as the index keeps languages: one of two letters (ISO 639-1) or one that is listed (`fil`), alone
/// or with a script (`zh-Hans`) or a country (`en-US`, `en_US`); nothing of all else. The real service refuses an area of many countries (`es-419`).
fn spoken(tag: &str) -> Option<String> {
    let tag = &*language::with_hyphens(tag);
    let (code, rest) = tag.split_once('-').map_or((tag, None), |(code, rest)| (code, Some(rest)));
    let is_of = |text: &str, letters: usize| {
        text.len() == letters && text.bytes().all(|byte| byte.is_ascii_alphabetic())
    };
    let is_listed = || LANGUAGES.iter().any(|(listed, _)| listed.eq_ignore_ascii_case(code));
    let is_language =
        (is_of(code, 2) || is_listed()) && rest.is_none_or(|rest| is_of(rest, 2) || is_of(rest, 4));
    is_language.then(|| code.to_ascii_lowercase())
}

/// `latitude,longitude` and a radius with its unit; both or neither.
fn near(location: Option<&str>, radius: Option<&str>) -> Result<Option<GeoCircle>, Error> {
    const RADIUS_METRES_MAX: f64 = 1_000_000.0;
    let (location, radius) = match (location, radius) {
        (None, None) => return Ok(None),
        (Some(location), Some(radius)) => (location, radius),
        _ => return Err(Error::Rule(&LOCATION_INVALID)),
    };
    let read = || {
        let (latitude, longitude) = location.trim_matches(['(', ')']).split_once(',')?;
        let (latitude, longitude): (f64, f64) =
            (latitude.trim().parse().ok()?, longitude.trim().parse().ok()?);
        let units = [("km", 1_000.0), ("mi", 1_609.344), ("ft", 0.304_8), ("m", 1.0)];
        let (number, metres) =
            units.iter().find_map(|(unit, metres)| Some((radius.strip_suffix(unit)?, *metres)))?;
        let metres = number.trim().parse::<f64>().ok()? * metres;
        let sound = latitude.abs() <= 90.0
            && longitude.abs() <= 180.0
            && (0.0..=RADIUS_METRES_MAX).contains(&metres);
        sound.then_some(GeoCircle { latitude, longitude, metres })
    };
    read().map(Some).ok_or(Error::Rule(&LOCATION_INVALID))
}

/// Plans the rows that a result is shown by.
fn plan_shown(plan: &mut Plan<'_>, hit: &Hit) {
    match hit.kind {
        index::Kind::Video => drop(plan.row(&LISTED_VIDEOS, &hit.id)),
        index::Kind::Channel => drop(plan.row(&CHANNELS, &hit.id)),
        index::Kind::Playlist => {
            plan.row(&PLAYLISTS, &hit.id);
            plan.row(&ORDER, &hit.id);
        }
    }
}

/// A result as it is shown; nothing if the resource went meanwhile.
fn result(call: &Call<'_>, tx: &mut Tx<'_>, hit: &Hit) -> Result<Option<Item>, Error> {
    let id = hit.id.clone();
    // With the snippet, what it follows from: a video's version is shorter than its text.
    let unknown = |text: Bytes| {
        let version = text.to_vec();
        let indented = Bytes::new();
        (Served { text, indented }, version)
    };
    let snippet = match hit.kind {
        index::Kind::Video => {
            let video = LISTED_VIDEOS.peek_shared(tx, &id)?;
            let video = video.filter(|video| video.record.head.is_visible(call.caller));
            video.map(|video| {
                let version = video.record.etag().into_bytes();
                (render::as_result(&video.record), version)
            })
        }
        index::Kind::Channel => {
            CHANNELS.peek_shared(tx, &id)?.map(|channel| unknown(channels::result(&id, &channel)))
        }
        index::Kind::Playlist => {
            let playlist = PLAYLISTS.peek_shared(tx, &id)?;
            match playlist.filter(|playlist| playlist.head.is_visible(call.caller)) {
                Some(playlist) => {
                    Some(unknown(playlists::result(tx, &id, &playlist, call.caller)?))
                }
                None => None,
            }
        }
    };
    let Some((snippet, version)) = snippet else {
        return Ok(None);
    };
    let kind = hit.kind.name();
    let names = format!("{{\"kind\":\"youtube#{kind}\",\"{kind}Id\":\"{id}\"}}");
    let etag = etag(&[names.as_bytes(), &version].concat());
    let mut item = Item::begin("searchResult", &etag, None);
    item.part("id", names.as_bytes());
    if call.wants("snippet") {
        item.served_part("snippet", &snippet);
    }
    // All that the item shows follows from its etag.
    Ok(Some(item.end().etag_input(())))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_place_needs_its_radius_and_both_their_form() {
        let read = |location, radius| near(location, radius);
        assert_eq!(read(None, None), Ok(None));
        let found = read(Some("37.42307,-122.08427"), Some("5km")).unwrap().unwrap();
        assert!((found.latitude - 37.42307).abs() < 1e-9 && (found.metres - 5_000.0).abs() < 1e-9);
        assert!(
            (read(Some("1,2"), Some("10mi")).unwrap().unwrap().metres - 16_093.44).abs() < 1e-6
        );
        for (location, radius) in [
            (Some("1,2"), None),
            (None, Some("5km")),
            (Some("1"), Some("5km")),
            (Some("91,0"), Some("5km")),
            (Some("0,181"), Some("5km")),
            (Some("1,2"), Some("5")),
            (Some("1,2"), Some("1001km")),
            (Some("1,2"), Some("-1km")),
            (Some("NaN,0"), Some("1km")),
        ] {
            assert_eq!(
                read(location, radius),
                Err(Error::Rule(&LOCATION_INVALID)),
                "{location:?} {radius:?}"
            );
        }
    }

    #[test]
    fn a_language_is_wanted_by_its_code_however_a_script_or_a_country_stands_behind_it() {
        for (tag, code) in [
            ("de", Some("de")),
            ("EN", Some("en")),
            ("en-US", Some("en")),
            ("en-us", Some("en")),
            ("zh-Hans", Some("zh")),
            ("zh-Hant", Some("zh")),
            ("sr-Latn", Some("sr")),
            ("es-419", None),
            ("x", None),
            ("zzz", None),
            ("e1", None),
            ("en-", None),
            ("en_US", Some("en")),
            ("pt_br", Some("pt")),
            ("zh_Hant", Some("zh")),
            ("fil", Some("fil")),
            ("fil_PH", Some("fil")),
            ("es_419", None),
            ("_US", None),
            ("en-US-x", None),
            ("-US", None),
        ] {
            assert_eq!(spoken(tag).as_deref(), code, "{tag}");
            // What is wanted is compared with what the index keeps of a document's own tag, which has room for two letters.
            if let Some(code) = code.filter(|code| code.len() == 2) {
                let kept = index::summary::language_of(tag).to_ascii_lowercase();
                assert_eq!(kept, code.as_bytes(), "{tag}");
            }
        }
    }

    #[test]
    fn a_cursor_survives_its_token_and_other_bytes_are_refused() {
        let cursor = Cursor {
            key: vec![0, 255, 1],
            kind: index::Kind::Playlist,
            id: "PL\u{0}x".to_owned(),
            at: 7,
        };
        assert_eq!(cursor_of(&key_of(&cursor), 7), Ok(cursor));
        for bytes in [b"".as_slice(), &[9, 0, 1], &[0, b'a']] {
            assert_eq!(cursor_of(bytes, 0), Err(Error::InvalidPageToken));
        }
    }
}
