//! Serving a video: stored parts are copied, what is counted or depends on the moment is written beside them.

use std::sync::Arc;

use bytes::Bytes;
use serde_json::{Map, Value, json};
use triptych_core::kv::Table;
use triptych_core::time::Timestamp;

use crate::api::response::{Item, Object, PART_DEPTH, Served};
use crate::media::{MediaInfo, ProbeFailure};
use crate::record::render_cache::RenderCache;
use crate::record::stored::Stored;
use crate::record::{localized, stored};
use crate::resource::videos::record::{Video, VideoCounts};

/// The form in which a video is asked for.
#[derive(Debug, Clone, Copy)]
pub struct RenderOptions<'s> {
    /// The parts, in the table's order.
    pub parts: &'s [&'static str],
    /// The time.
    pub now: Timestamp,
    /// The language of `snippet.localized`.
    pub language: Option<&'s str>,
    /// The greatest width and height of the player.
    pub player: (Option<u32>, Option<u32>),
    /// True if the owner asks.
    pub owner: bool,
}

/// The resource.
#[must_use]
pub fn render(
    id: &str,
    video: &Stored<Video>,
    counts: VideoCounts,
    options: &RenderOptions<'_>,
) -> Item {
    let mut item = Item::begin("video", &video.etag(), Some(id));
    let own = video.head.language.as_deref();
    for part in options.parts {
        let text: Bytes = match *part {
            "id" => continue,
            "snippet" => match localized::snippet(video, own, options.language) {
                Some(snippet) => snippet,
                None => {
                    let snippet = video.served("snippet").unwrap_or_default();
                    item.served_part(part, &snippet);
                    continue;
                }
            },
            "status" => status(&video.head, options),
            "statistics" => statistics(&video.head, counts, options.owner),
            "contentDetails" => content_details(&video.head, options.owner),
            "player" => {
                let player = player(id, &video.head, options.player);
                stored::print(player.as_object().unwrap_or(&Map::new()))
            }
            "fileDetails" => file_details(&video.head).to_string().into(),
            "processingDetails" => processing(&video.head, options.now).to_string().into(),
            "suggestions" => match suggestions(&video.head) {
                Some(suggestions) => suggestions.to_string().into(),
                None => continue,
            },
            "topicDetails" => stored(video, part).unwrap_or(Bytes::from_static(b"{}")),
            "recordingDetails" => stored(video, part).unwrap_or(Bytes::from_static(b"{}")),
            "paidProductPlacementDetails" => stored(video, part)
                .unwrap_or(Bytes::from_static(b"{\"hasPaidProductPlacement\":false}")),
            "localizations" => match localized::part(video, own) {
                Some(text) => text,
                None => continue,
            },
            other => match stored(video, other) {
                Some(text) => text,
                None => continue,
            },
        };
        item.part(part, &text);
    }
    let is_processed = video.head.is_processed(options.now);
    let item = item.end().etag_input((counts, options.owner, is_processed));
    if is_processed { item } else { item.time_dependent() }
}

/// The same, as lists read them.
pub const LISTED_VIDEOS: Table<String, ListedVideo> = Table::new(0x20);

/// A video as lists read it.
pub type ListedVideo = RenderCache<Stored<Video>, RenderKey>;

/// Everything that a resource follows from beside its video.
#[derive(Debug, PartialEq)]
pub struct RenderKey {
    counts: VideoCounts,
    parts: Vec<&'static str>,
    owner: bool,
}

/// The resource, as it was shown before where nothing of it is another now.
#[must_use]
pub fn list(
    id: &str,
    video: &ListedVideo,
    counts: VideoCounts,
    options: &RenderOptions<'_>,
) -> Arc<Item> {
    let stored = &video.record;
    let is_processed = stored.head.is_processed(options.now);
    // Until its processing is over, a video is another at each moment. Languages and players are many.
    if !is_processed || options.language.is_some() || options.player != (None, None) {
        return Arc::new(render(id, stored, counts, options));
    }
    let is_same = |with: &RenderKey| {
        with.counts == counts && with.owner == options.owner && with.parts == options.parts
    };
    let show = || {
        let with = RenderKey { counts, parts: options.parts.to_owned(), owner: options.owner };
        (with, render(id, stored, counts, options))
    };
    video.show(is_same, show)
}

/// The video as a playlist shows it: members of a snippet, without braces.
#[must_use]
pub fn as_item(video: &Stored<Video>) -> Served {
    let Served { text, indented } = video.served("~item").unwrap_or_default();
    let inner = |text: &Bytes, begin: usize, end: usize| {
        let end = text.len().saturating_sub(end).max(begin);
        if end > text.len() { Bytes::new() } else { text.slice(begin..end) }
    };
    // A line break and two blanks a level stand between a brace and the members.
    let (before, after) = (2 + 2 * (PART_DEPTH + 1), 2 + 2 * PART_DEPTH);
    Served { text: inner(&text, 1, 1), indented: inner(&indented, before, after) }
}

/// The video as a search shows it: the snippet of a result.
#[must_use]
pub fn as_result(video: &Stored<Video>) -> Served {
    video.served("~result").unwrap_or_else(|| Served {
        text: Bytes::from_static(b"{}"),
        indented: Bytes::from_static(b"{}"),
    })
}

fn stored(video: &Stored<Video>, part: &str) -> Option<Bytes> {
    video.part(part).cloned()
}

fn status(head: &Video, options: &RenderOptions<'_>) -> Bytes {
    let now = options.now;
    let mut out = Object::new();
    out.text("uploadStatus", head.upload_status(now));
    out.text("privacyStatus", head.privacy.name());
    out.text("license", &head.license);
    out.flag("embeddable", head.embeddable);
    out.flag("publicStatsViewable", head.public_stats);
    out.flag("madeForKids", head.made_for_kids.unwrap_or_default());
    if let Some(reason) = head.failure.filter(|_| head.is_processed(now)) {
        out.text("failureReason", reason.failure_reason());
    }
    if let Some(at) = head.publish_at {
        out.text("publishAt", &at.rfc3339());
    }
    if let Some(made_for_kids) = head.made_for_kids.filter(|_| options.owner) {
        out.flag("selfDeclaredMadeForKids", made_for_kids);
    }
    if let Some(synthetic) = head.synthetic {
        out.flag("containsSyntheticMedia", synthetic);
    }
    out.end()
}

fn statistics(head: &Video, counts: VideoCounts, owner: bool) -> Bytes {
    let VideoCounts { views, likes, dislikes, favorites, comments, seconds: _ } = counts;
    let mut out = Object::new();
    out.text("viewCount", &views.to_string());
    // `publicStatsViewable` is about the watch page, and hides no counter here.
    out.text("likeCount", &likes.to_string());
    if owner {
        out.text("dislikeCount", &dislikes.to_string());
    }
    out.text("favoriteCount", &favorites.to_string());
    if !head.comments_disabled() {
        out.text("commentCount", &comments.to_string());
    }
    out.end()
}

fn content_details(head: &Video, owner: bool) -> Bytes {
    let facts = head.facts.as_ref();
    let mut out = Object::new();
    let length = facts.map_or(0, |facts| facts.duration_ms);
    out.text("duration", &duration(length));
    out.text("dimension", if head.three_d { "3d" } else { "2d" });
    out.text("definition", facts.map_or("sd", MediaInfo::definition));
    out.text("caption", if head.has_captions { "true" } else { "false" });
    out.flag("licensedContent", false);
    out.value("contentRating", &head.rating);
    out.text("projection", "rectangular");
    if owner {
        out.flag("hasCustomThumbnail", head.has_thumbnail);
    }
    if let Some(regions) = &head.regions {
        out.value("regionRestriction", regions);
    }
    out.end()
}

/// ISO 8601, as the service writes it: `PT15M51S`, `P1DT2S`, and `P0D` for nothing. Whole seconds, rounded down.
#[must_use]
fn duration(millis: u64) -> String {
    let seconds = millis / 1_000;
    if seconds == 0 {
        return "P0D".into();
    }
    let (days, hours, minutes, rest) =
        (seconds / 86_400, seconds / 3_600 % 24, seconds / 60 % 60, seconds % 60);
    let mut text = String::with_capacity(16);
    text.push('P');
    if days > 0 {
        text.push_str(&days.to_string());
        text.push('D');
    }
    if !seconds.is_multiple_of(86_400) {
        text.push('T');
    }
    for (number, letter) in [(hours, 'H'), (minutes, 'M'), (rest, 'S')] {
        if number > 0 {
            text.push_str(&number.to_string());
            text.push(letter);
        }
    }
    text
}

fn player(id: &str, head: &Video, most: (Option<u32>, Option<u32>)) -> Value {
    let shown =
        head.facts.as_ref().and_then(|facts| facts.video.first()).map(|stream| {
            match stream.rotation {
                90 | 270 => (stream.height, stream.width),
                _ => (stream.width, stream.height),
            }
        });
    let (width, height) =
        shown.filter(|(width, height)| *width > 0 && *height > 0).unwrap_or((16, 9));
    let scale = |of: u32, to: u32, by: u32| {
        u32::try_from(u64::from(of) * u64::from(to) / u64::from(by.max(1))).unwrap_or(u32::MAX)
    };
    let (w, h) = match most {
        (None, None) => (480, scale(480, height, width)),
        (Some(w), None) => (w, scale(w, height, width)),
        (None, Some(h)) => (scale(h, width, height), h),
        (Some(w), Some(h)) if scale(w, height, width) <= h => (w, scale(w, height, width)),
        (Some(_), Some(h)) => (scale(h, width, height), h),
    };
    let html = format!(
        "<iframe width=\"{w}\" height=\"{h}\" src=\"\u{1}/embed/{id}\" frameborder=\"0\" allow=\"accelerometer; autoplay; clipboard-write; encrypted-media; gyroscope; picture-in-picture; web-share\" referrerpolicy=\"strict-origin-when-cross-origin\" allowfullscreen></iframe>"
    );
    if most == (None, None) {
        json!({"embedHtml": html})
    } else {
        json!({"embedHtml": html, "embedWidth": w.to_string(), "embedHeight": h.to_string()})
    }
}

fn file_details(head: &Video) -> Value {
    let mut details = json!({
        "fileName": head.file_name.as_deref().unwrap_or("unknown"), "fileSize": head.bytes.to_string(),
        "fileType": match head.failure {
            None => "video",
            Some(ProbeFailure::AudioFile) => "audio",
            Some(ProbeFailure::ImageFile) => "image",
            Some(ProbeFailure::ArchiveFile) => "archive",
            Some(ProbeFailure::DocFile) => "document",
            Some(_) => "other",
        },
    });
    let (Some(facts), Some(map)) = (&head.facts, details.as_object_mut()) else {
        return details;
    };
    let bits = head.bytes.saturating_mul(8_000).checked_div(facts.duration_ms).unwrap_or_default();
    let pictures: Vec<_> = facts
        .video
        .iter()
        .map(|stream| {
            let rotation = match stream.rotation {
                90 => "clockwise",
                180 => "upsideDown",
                270 => "counterClockwise",
                _ => "none",
            };
            // The sides are those of the file, their ratio that of what is seen.
            let aspect = match stream.rotation {
                90 | 270 => f64::from(stream.height) / f64::from(stream.width.max(1)),
                _ => f64::from(stream.width) / f64::from(stream.height.max(1)),
            };
            let mut json = json!({"widthPixels": stream.width, "heightPixels": stream.height, "aspectRatio": aspect,
                "codec": stream.codec, "rotation": rotation});
            if let (Some(rate), Some(map)) = (stream.frame_rate, json.as_object_mut()) {
                map.insert("frameRateFps".into(), rate.into());
            }
            json
        })
        .collect();
    let sound: Vec<_> = facts
        .audio
        .iter()
        .map(|stream| json!({"channelCount": stream.channels, "codec": stream.codec}))
        .collect();
    map.insert("container".into(), facts.container.clone().into());
    if let Some(seconds) = facts.created {
        let created = Timestamp::from_micros(seconds.saturating_mul(1_000_000));
        map.insert("creationTime".into(), created.rfc3339().into());
    }
    map.insert("durationMs".into(), facts.duration_ms.to_string().into());
    map.insert("bitrateBps".into(), bits.to_string().into());
    for (name, streams) in [("videoStreams", pictures), ("audioStreams", sound)] {
        if !streams.is_empty() {
            map.insert(name.into(), streams.into());
        }
    }
    details
}

/// The findings about a file; `None` where `processingDetails` says that there is nothing.
fn suggestions(head: &Video) -> Option<Value> {
    let error = head.failure.and_then(ProbeFailure::processing_error)?;
    Some(json!({"processingErrors": [error]}))
}

fn processing(head: &Video, now: Timestamp) -> Value {
    let status = match head.upload_status(now) {
        "uploaded" => "processing",
        "failed" => "failed",
        _ => "succeeded",
    };
    let thumbnails = match status {
        "succeeded" => "available",
        "failed" => "unavailable",
        _ => "inProgress",
    };
    let issues = if suggestions(head).is_some() { "available" } else { "unavailable" };
    let mut details = json!({
        "processingStatus": status, "fileDetailsAvailability": "available", "processingIssuesAvailability": issues,
        "tagSuggestionsAvailability": "unavailable", "editorSuggestionsAvailability": "unavailable",
        "thumbnailsAvailability": thumbnails,
    });
    if let Some(map) = details.as_object_mut() {
        if status == "processing" {
            let left = crate::resource::videos::record::PROCESSING_MILLIS
                - (now.millis() - head.uploaded.millis())
                    .clamp(0, crate::resource::videos::record::PROCESSING_MILLIS);
            let total = u64::try_from(crate::resource::videos::record::PROCESSING_MILLIS)
                .unwrap_or_default();
            let done = total - u64::try_from(left).unwrap_or_default();
            map.insert("processingProgress".into(), json!({"partsTotal": total.to_string(), "partsProcessed": done.to_string(), "timeLeftMs": left.to_string()}));
        }
        if status == "failed" {
            map.insert("processingFailureReason".into(), "transcodeFailed".into());
        }
    }
    details
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::media::VideoStream;

    #[test]
    fn durations_look_as_the_real_service_writes_them() {
        for (millis, expected) in [
            (0, "P0D"),
            (999, "P0D"),
            (951_000, "PT15M51S"),
            (3_600_000, "PT1H"),
            (86_400_000, "P1D"),
            (86_402_000, "P1DT2S"),
            (59_999, "PT59S"),
        ] {
            assert_eq!(duration(millis), expected);
        }
    }

    #[test]
    fn the_player_keeps_the_shape_of_the_picture_within_both_limits() {
        let mut video = Stored::<Video>::uploaded("v", "UCx", "X", Timestamp::EPOCH);
        let stream = VideoStream {
            width: 1920,
            height: 1080,
            codec: "h264".into(),
            rotation: 0,
            frame_rate: None,
            three_d: false,
        };
        video.head.facts = Some(MediaInfo {
            container: "mp4".into(),
            duration_ms: 1,
            video: vec![stream],
            audio: Vec::new(),
            created: None,
        });
        for (most, expected) in [
            ((Some(960), None), ("960", "540")),
            ((None, Some(540)), ("960", "540")),
            ((Some(960), Some(5000)), ("960", "540")),
            ((Some(5000), Some(540)), ("960", "540")),
        ] {
            let player = player("v", &video.head, most);
            assert_eq!(
                (player["embedWidth"].as_str(), player["embedHeight"].as_str()),
                (Some(expected.0), Some(expected.1))
            );
        }
        let aspect = |video: &Stored<Video>| {
            let details = file_details(&video.head);
            details["videoStreams"][0]["aspectRatio"].as_f64()
        };
        assert_eq!(aspect(&video), Some(1920.0 / 1080.0));
        if let Some(stream) = video.head.facts.as_mut().and_then(|facts| facts.video.first_mut()) {
            stream.rotation = 90;
        }
        assert_eq!(aspect(&video), Some(1080.0 / 1920.0));
    }
}
