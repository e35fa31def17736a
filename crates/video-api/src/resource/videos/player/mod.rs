//! The page that plays a video within another page: who may see it, what lies over it, and the page's text.

mod overlay;
mod page;
pub mod ticket;

pub use page::{Subtitles, page, refusal};

use triptych_core::kv::Tx;
use triptych_core::time::Timestamp;

use crate::api::error::Error;
use crate::record::closing;
use crate::record::stored::Stored;
use crate::resource::captions::record::{CAPTIONS, Caption, VIDEO_CAPTIONS};
use crate::resource::captions::store::TRACKS_MAX;
use crate::resource::videos::record::{VIDEOS, Video};
use crate::resource::videos::rules;

/// The video that a page may play: one that others see and whose owner lets other pages embed it, or any with a ticket for it.
///
/// # Errors
/// [`rules::NOT_FOUND`], [`rules::EMBEDDING_FORBIDDEN`].
pub fn playable(
    tx: &mut Tx<'_>,
    id: &str,
    ticket: Option<&str>,
    now: Timestamp,
) -> Result<Stored<Video>, Error> {
    let closing = closing::peek(tx)?;
    let video = VIDEOS.peek(tx, &id.to_owned())?;
    let video =
        video.filter(|video| !closing.holds(&video.head.channel)).ok_or(&rules::NOT_FOUND)?;
    let is_let_in = match ticket {
        Some(ticket) => ticket::is_for(tx, ticket, id, now)?,
        None => false,
    };
    if !is_let_in && !video.head.is_shared() {
        return Err(Error::Rule(&rules::NOT_FOUND));
    }
    if !is_let_in && !video.head.embeddable {
        return Err(Error::Rule(&rules::EMBEDDING_FORBIDDEN));
    }
    Ok(video)
}

/// The tracks of a video that everyone is shown, the first one first, each with its id.
///
/// # Errors
/// As the store.
pub fn tracks(tx: &mut Tx<'_>, video: &str) -> Result<Vec<(String, Caption)>, Error> {
    let span = VIDEO_CAPTIONS.span(&video.to_owned());
    // The drafts among them are not told apart by their keys.
    let (rows, _) = VIDEO_CAPTIONS.scan(tx, &span, TRACKS_MAX as usize)?;
    tx.plan(|plan| rows.iter().for_each(|((_, _, id), ())| drop(plan.row(&CAPTIONS, id))))?;
    let mut tracks = Vec::new();
    for ((_, _, id), ()) in rows {
        let caption = CAPTIONS.peek(tx, &id)?.filter(Caption::is_serving);
        tracks.extend(caption.map(|caption| (id, caption)));
    }
    Ok(tracks)
}
