//! Writing a playlist item.

use triptych_core::kv::Tx;

use crate::api::error::Error;
use crate::api::operation::call::Call;
use crate::record::json_fields::Body;
use crate::record::stored::Stored;
use crate::resource::playlist_items::rules;
use crate::resource::videos::record::{VIDEOS, Video};

/// A note has at most this many characters (facts: playlistItems.insert).
const NOTE_CHARS_MAX: usize = 280;
/// The begin and the end of what is played have at most this many bytes each. Ours.
const MOMENT_BYTES_MAX: usize = 100;

/// The members of an item that a client writes.
pub(super) struct ItemPatch {
    pub(super) playlist: Option<String>,
    pub(super) video: Option<String>,
    pub(super) position: Option<u64>,
    pub(super) note: Option<String>,
    pub(super) start_at: Option<String>,
    pub(super) end_at: Option<String>,
}

/// The video that an item is to be: one that the caller sees.
///
/// # Errors
/// [`rules::VIDEO_NOT_FOUND`], [`rules::VIDEO_HIDDEN`].
pub(super) fn video_to_add(
    call: &Call<'_>,
    tx: &mut Tx<'_>,
    id: &str,
) -> Result<Stored<Video>, Error> {
    let found = VIDEOS.get(tx, &id.to_owned())?.ok_or(&rules::VIDEO_NOT_FOUND)?;
    if found.head.is_visible(call.caller) {
        return Ok(found);
    }
    // A file that is no video is as good as not there for others, and so is what goes with its channel.
    let is_there = found.head.failure.is_none() && !call.caller.closing.holds(&found.head.channel);
    Err(Error::Rule(if is_there { &rules::VIDEO_HIDDEN } else { &rules::VIDEO_NOT_FOUND }))
}

impl ItemPatch {
    pub(super) fn read(call: &Call<'_>) -> Result<Self, Error> {
        let body = Body::of(call.body);
        let snippet = body.object("snippet", "snippet")?;
        let resource = snippet
            .map(|snippet| snippet.object("resourceId", "snippet.resourceId"))
            .transpose()?
            .flatten();
        let video = match resource {
            None => None,
            Some(resource) => {
                if resource.filled_text("kind")?.is_some_and(|kind| kind != "youtube#video") {
                    return Err(Error::Rule(&rules::RESOURCE_TYPE_INVALID));
                }
                resource.filled_text("videoId")?
            }
        };
        let playlist = snippet.map(|snippet| snippet.filled_text("playlistId"));
        let playlist = playlist.transpose()?.flatten();
        let position = match snippet.map(|snippet| snippet.number("position")).transpose() {
            Err(_) => return Err(Error::Rule(&rules::POSITION_INVALID)),
            Ok(position) => position.flatten(),
        };
        let details = body.object("contentDetails", "contentDetails")?;
        let detail =
            |name| details.map(|details| details.text(name)).transpose().map(Option::flatten);
        let note = detail("note")?;
        if note.as_ref().is_some_and(|note| note.chars().count() > NOTE_CHARS_MAX) {
            return Err(Error::Rule(&rules::CONTENT_DETAILS_INVALID));
        }
        let (start_at, end_at) = (detail("startAt")?, detail("endAt")?);
        let is_moment = |text: &String| text.len() <= MOMENT_BYTES_MAX;
        if !start_at.iter().chain(&end_at).all(is_moment) {
            return Err(Error::Rule(&rules::MOMENT_INVALID));
        }
        Ok(Self { playlist, video, position, note, start_at, end_at })
    }
}
