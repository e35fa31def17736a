//! Writing a track: its metadata, and the file that came with them.

use std::time::Duration;

use triptych_core::time::Timestamp;

use super::record::{Caption, Traits};
use super::rules;
use crate::api::error::Error;
use crate::api::language;
use crate::caption::FileForm;
use crate::media::{Media, Processed};
use crate::record::json_fields::Body;
use crate::upload::media::Content;

/// A name has at most this many characters.
pub const NAME_CHARS_MAX: usize = 150;
/// Working out times takes this long on the service's clock.
pub const SYNC_TIME: Duration = Duration::from_secs(5);

/// The file of a track, as it came.
#[derive(Debug, Clone, Copy)]
pub(super) struct CaptionFile {
    /// The place of its bytes.
    pub(super) content: Content,
    /// Their number.
    pub(super) bytes: u64,
    /// The use of those bytes.
    pub(super) form: FileForm,
    /// True if its times are to be worked out.
    pub(super) syncs: bool,
}

impl CaptionFile {
    /// The file that was uploaded; `None` if there is none, or nothing in it.
    pub(super) fn uploaded(media: Option<&Media>, syncs: bool) -> Option<Self> {
        let sent = media.filter(|sent| sent.bytes > 0)?;
        let form = match sent.processed {
            Processed::Captions(form) => form,
            _ => FileForm::Unknown,
        };
        Some(Self { content: Content::Pieces(sent.id), bytes: sent.bytes, form, syncs })
    }
}

/// A new track of a video that is there.
///
/// # Errors
/// [`rules::METADATA_INVALID`], [`rules::NAME_TOO_LONG`], in that order.
pub(super) fn new(
    video: String,
    snippet: Body<'_>,
    file: CaptionFile,
    now: Timestamp,
) -> Result<Caption, Error> {
    let language = snippet.text("language")?.unwrap_or_default();
    let name = snippet.text("name")?.unwrap_or_default();
    if !language::is_tag(&language) || name.chars().any(char::is_control) {
        return Err(Error::Rule(&rules::METADATA_INVALID));
    }
    if name.chars().count() > NAME_CHARS_MAX {
        return Err(Error::Rule(&rules::NAME_TOO_LONG));
    }
    let is_draft = snippet.flag("isDraft")?.unwrap_or_default();
    let mut made = Caption {
        video,
        language,
        name,
        is_draft,
        made: now,
        updated: now,
        content: file.content,
        bytes: file.bytes,
        form: file.form,
        is_synced: false,
        syncs_until: None,
        traits: Traits::default(),
    };
    set_file(&mut made, file, now);
    Ok(made)
}

/// Gives a track another file.
pub(super) fn set_file(caption: &mut Caption, file: CaptionFile, now: Timestamp) {
    caption.content = file.content;
    caption.bytes = file.bytes;
    caption.form = file.form;
    caption.is_synced = file.syncs;
    caption.syncs_until = None;
    // A file that cannot be read has no times to work out.
    if file.syncs && caption.failure().is_none() {
        caption.syncs_until = Some(now.plus(SYNC_TIME));
    }
}
