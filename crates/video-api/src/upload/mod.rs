//! Uploads: how bytes reach the service, whole, beside their metadata, or in pieces that survive an interruption.

//!
//! | module | content |
//! |---|---|
//! | [`range`] | the `Content-Range` of a piece, and the `Range` that says what has arrived |
//! | [`related`] | `multipart/related`: metadata and media in one body, read as it arrives |
//! | [`session`] | resumable sessions: what a piece may do, and what is kept of it |
//! | [`media`] | an uploaded body as rows that name blobs, and reading from it |
//! | [`file_name`] | the name that an upload says its file has |
//! | [`location`] | the address of a session as the client sees it, also behind a proxy |

pub mod file_name;
pub mod location;
pub mod media;
pub mod orphan;
pub mod range;
pub mod related;
pub mod session;

use crate::record::table_entry::{Form, TableEntry};

/// Tables as an export names them.
pub static TABLES: &[TableEntry] = &[
    TableEntry::new("uploadSessions", &session::SESSIONS, Form::Json),
    TableEntry::new("uploadTexts", &session::TEXTS, Form::Bytes),
    TableEntry::new("uploadAges", &session::AGES, Form::Bytes),
    TableEntry::new("mediaPieces", &media::PIECES, Form::Body),
    TableEntry::new("mediaGarbage", &media::GARBAGE, Form::Bytes),
    TableEntry::new("fileSlices", &media::SLICES, Form::Bytes),
];

/// Pieces of a resumable upload are multiples of this, the last one excepted (facts of the protocol: 256 KiB).
pub const PIECE_BYTES_MULTIPLE: u64 = 256 * 1024;

/// Form of an upload: the query parameter `uploadType`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Protocol {
    /// The body is the media alone.
    Media,
    /// The body is `multipart/related`: metadata, then media.
    Multipart,
    /// The body is the metadata; the media follows in a session.
    Resumable,
}

impl Protocol {
    /// Protocol of a request, from its `uploadType` and its content type.
    ///
    /// One stock client says `multipart` and sends the media alone, with its own content type: what the body
    /// says of itself counts. Without `uploadType`, a body is media unless its content type says otherwise.
    #[must_use]
    pub fn of(upload_type: Option<&str>, content_type: Option<&str>) -> Option<Self> {
        let related = content_type.is_some_and(related::is_related);
        match upload_type {
            Some("resumable") => Some(Self::Resumable),
            Some("multipart") | None if related => Some(Self::Multipart),
            // `raw` is what `upload_protocol` calls it.
            Some("media" | "raw" | "multipart") | None => Some(Self::Media),
            Some(_) => None,
        }
    }
}

/// Tells whether media of type `given` may be uploaded where `accepted` are: exact types, `type/*` and `*/*`.
///
/// A body without a type counts as `application/octet-stream`; parameters after `;` do not count.
#[must_use]
pub fn accepts(accepted: &[&str], given: Option<&str>) -> bool {
    let given = given.unwrap_or("application/octet-stream");
    let given = given.split(';').next().unwrap_or_default().trim();
    accepted.iter().any(|accepted| {
        *accepted == "*/*"
            || accepted.eq_ignore_ascii_case(given)
            || accepted.strip_suffix('*').is_some_and(|family| {
                let of_family = given.split_at_checked(family.len());
                of_family.is_some_and(|(start, name)| {
                    start.eq_ignore_ascii_case(family) && !name.is_empty()
                })
            })
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_body_that_says_it_is_one_part_is_read_as_media_whatever_the_upload_type() {
        let related = Some("multipart/related;boundary=x");
        for (upload_type, content_type, protocol) in [
            (Some("multipart"), related, Some(Protocol::Multipart)),
            (Some("multipart"), Some("image/png"), Some(Protocol::Media)),
            (Some("media"), Some("image/png"), Some(Protocol::Media)),
            (Some("media"), related, Some(Protocol::Media)),
            (Some("raw"), Some("video/mp4"), Some(Protocol::Media)),
            (Some("resumable"), Some("application/json"), Some(Protocol::Resumable)),
            (None, related, Some(Protocol::Multipart)),
            (None, Some("video/mp4"), Some(Protocol::Media)),
            (Some("other"), None, None),
        ] {
            assert_eq!(
                Protocol::of(upload_type, content_type),
                protocol,
                "{upload_type:?} {content_type:?}"
            );
        }
    }

    #[test]
    fn media_types_match_exactly_or_by_their_family() {
        let video = ["video/*", "application/octet-stream"];
        assert!(accepts(&video, Some("video/mp4")));
        assert!(accepts(&video, Some("Video/WebM; codecs=vp9")));
        assert!(accepts(&video, None));
        assert!(!accepts(&video, Some("image/png")));
        assert!(!accepts(&video, Some("vide")));
        assert!(!accepts(&video, Some("video/")));
        assert!(!accepts(&video, Some("video/; codecs=vp9")));
        assert!(accepts(&["*/*"], Some("text/plain")));
    }
}
