//! Resumable sessions: opened with the metadata, filled piece by piece, finished once. All of it is rows, so a restart loses nothing
//! that was acknowledged.

mod command;
mod error;

pub use command::Command;
pub use error::SessionError;

use std::time::Duration;

use bytes::Bytes;
use serde::{Deserialize, Serialize};
use triptych_core::id::Ids;
use triptych_core::kv::{JsonRecord, Table, Tx};
use triptych_core::time::Timestamp;

use super::PIECE_BYTES_MULTIPLE;
use super::media::{self, MediaId, PIECES, Piece};
use super::range::ContentRange;

/// A session ends one week after it was opened.
pub const LIFETIME: Duration = Duration::from_secs(7 * 24 * 3600);
/// A long piece is made durable in steps of this many bytes, so that an interruption costs no more than one of them.
pub const STEP_BYTES: u64 = 8 * 1024 * 1024;
/// Texts are stored in slices of this many bytes, well under the longest value of a store.
const SLICE_BYTES: usize = 48 * 1024;
/// More slices than this make no text.
const SLICES_MAX: usize = 64;

/// A session as it is stored.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Session {
    /// The operation that the upload is for: `videos.insert`.
    pub operation: String,
    /// The query of the request that opened it, without secrets.
    pub query: String,
    /// The members of the request that opened it which its end needs, as the shell writes it: a session carries its own authorization, as its id does.
    #[serde(rename = "caller")]
    pub opening: String,
    /// Type that the media is said to have (`X-Upload-Content-Type`).
    pub media_type: Option<String>,
    /// Name of the file (`Slug`).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub file_name: Option<String>,
    /// Length of the whole, once that is known.
    pub total: Option<u64>,
    /// Number of bytes on disk.
    pub received: u64,
    /// The body that is growing.
    pub media: MediaId,
    /// Time of its opening, in microseconds since 1970.
    pub opened: i64,
    /// The status of the final response, once there is one.
    pub finished: Option<u16>,
}

impl JsonRecord for Session {}

/// Sessions by their id.
pub const SESSIONS: Table<String, Session> = Table::new(0x80);
/// Slices of a session's texts: its id, which text, which slice.
pub(crate) const TEXTS: Table<(String, u8, u16), Bytes> = Table::new(0x81);
/// Sessions by when they were opened.
pub(crate) const AGES: Table<(u64, String), ()> = Table::new(0x82);

/// A text that belongs to a session.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SessionText {
    /// The metadata that opened it.
    Metadata = 0,
    /// The body of the final response.
    Response = 1,
}

/// The outcome of a request to a session.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Decision {
    /// The session is finished: give its response again.
    Replay {
        /// The status of that response.
        status: u16,
    },
    /// Receive nothing; respond 308 with what has arrived. A probe, what is there already, or a gap.
    Progress {
        /// Number of bytes on disk.
        received: u64,
    },
    /// Receive the body from here on.
    Receive(ExpectedBody),
    /// All bytes are here: finish.
    Finish,
}

/// The body that a session expects next.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ExpectedBody {
    /// Offset of the first byte that is kept.
    pub first: u64,
    /// The bytes of the body before that one, which are there already.
    pub repeated: u64,
    /// The most bytes that may be kept of it.
    pub bytes_max: u64,
    /// True if it must have exactly that many; otherwise the end of the body is the end of the whole.
    pub exact: bool,
    /// Length of the whole as far as it is known once this body has arrived.
    pub total: Option<u64>,
}

/// The request that opens a session.
#[derive(Debug, Clone, Copy)]
pub struct NewSession<'r> {
    /// The operation.
    pub operation: &'r str,
    /// The query, without secrets.
    pub query: &'r str,
    /// The members of this request which the end of the session needs, as the shell writes it.
    pub opening: &'r str,
    /// The metadata, at most [`super::related::METADATA_BYTES_MAX`] long.
    pub metadata: &'r [u8],
    /// `X-Upload-Content-Type`.
    pub media_type: Option<&'r str>,
    /// Name of the file, if `Slug` says one.
    pub file_name: Option<&'r str>,
    /// `X-Upload-Content-Length`.
    pub total: Option<u64>,
    /// The most bytes that the operation takes.
    pub bytes_max: u64,
}

/// Opens a session and gives its id: 160 unguessable bits, for it is the only credential of the requests that follow.
///
/// # Errors
/// `TooLarge`.
pub fn open(
    tx: &mut Tx<'_>,
    ids: &mut dyn Ids,
    now: Timestamp,
    new: &NewSession<'_>,
) -> Result<String, SessionError> {
    if new.total.is_some_and(|total| total > new.bytes_max) {
        return Err(SessionError::TooLarge { bytes_max: new.bytes_max });
    }
    let mut name = [0; 20];
    ids.fill(&mut name);
    let id: String = hex::encode(name);
    let mut media = [0; 16];
    ids.fill(&mut media);
    let session = Session {
        operation: new.operation.to_owned(),
        query: new.query.to_owned(),
        opening: new.opening.to_owned(),
        media_type: new.media_type.map(str::to_owned),
        file_name: new.file_name.map(str::to_owned),
        total: new.total,
        received: 0,
        media,
        opened: now.micros(),
        finished: None,
    };
    SESSIONS.put(tx, &id, &session);
    AGES.put(tx, &(age(session.opened), id.clone()), &());
    put_text(tx, &id, SessionText::Metadata, new.metadata);
    Ok(id)
}

/// The session `id`, if its week is not over.
///
/// # Errors
/// `Absent`, `Store`.
pub fn load(tx: &mut Tx<'_>, id: &str, now: Timestamp) -> Result<Session, SessionError> {
    let session = SESSIONS.get(tx, &id.to_owned())?.ok_or(SessionError::Absent)?;
    let open = now.since(Timestamp::from_micros(session.opened)) < LIFETIME;
    open.then_some(session).ok_or(SessionError::Absent)
}

impl Session {
    /// Decides about a request with this `Content-Range` (as it came) and `Content-Length`.
    ///
    /// # Errors
    /// `ContentRange`, `TotalChanged`, `TooLarge`, `LengthMismatch`, `NotAMultiple`.
    pub fn decide(
        &self,
        content_range: Option<&str>,
        content_length: Option<u64>,
        bytes_max: u64,
    ) -> Result<Decision, SessionError> {
        if let Some(status) = self.finished {
            return Ok(Decision::Replay { status });
        }
        let range = content_range
            .map(|text| ContentRange::parse(text).ok_or(SessionError::ContentRange))
            .transpose()?;
        let said = match range {
            Some(ContentRange::Piece { total, .. } | ContentRange::Probe { total }) => total,
            None => None,
        };
        let total = self.agreed_total(said, bytes_max)?;
        match range {
            None => self.decide_whole(content_length, total, bytes_max),
            Some(ContentRange::Probe { .. }) => Ok(self.without_bytes(total)),
            Some(ContentRange::Piece { first, last, .. }) => {
                self.decide_piece(first, last, total, content_length, bytes_max)
            }
        }
    }

    const fn progress(&self) -> Decision {
        Decision::Progress { received: self.received }
    }

    /// The decision about a request of which no bytes are taken. Where all are there and the end failed, or its answer was lost, it is the
    /// end once more: a client that sends its last piece again is told what became of it.
    fn without_bytes(&self, total: Option<u64>) -> Decision {
        if total == Some(self.received) { Decision::Finish } else { self.progress() }
    }

    fn agreed_total(&self, said: Option<u64>, bytes_max: u64) -> Result<Option<u64>, SessionError> {
        match (self.total, said) {
            (Some(before), Some(now)) if before != now => {
                Err(SessionError::TotalChanged { before, now })
            }
            (_, Some(now)) if now > bytes_max => Err(SessionError::TooLarge { bytes_max }),
            (known, said) => Ok(known.or(said)),
        }
    }

    /// A body without a range is the whole.
    fn decide_whole(
        &self,
        content_length: Option<u64>,
        total: Option<u64>,
        bytes_max: u64,
    ) -> Result<Decision, SessionError> {
        if self.received > 0 {
            return Ok(self.without_bytes(total));
        }
        match (total, content_length) {
            (Some(range), Some(body)) if range != body => {
                return Err(SessionError::LengthMismatch { range, body });
            }
            (None, Some(body)) if body > bytes_max => {
                return Err(SessionError::TooLarge { bytes_max });
            }
            _ => {}
        }
        let total = total.or(content_length);
        if total == Some(0) {
            return Ok(Decision::Finish);
        }
        Ok(Decision::Receive(ExpectedBody {
            first: 0,
            repeated: 0,
            bytes_max: total.unwrap_or(bytes_max),
            exact: total.is_some(),
            total,
        }))
    }

    fn decide_piece(
        &self,
        first: u64,
        last: u64,
        total: Option<u64>,
        content_length: Option<u64>,
        bytes_max: u64,
    ) -> Result<Decision, SessionError> {
        if last >= bytes_max {
            return Err(SessionError::TooLarge { bytes_max });
        }
        if let Some(before) = total.filter(|total| last >= *total) {
            return Err(SessionError::TotalChanged { before, now: last + 1 });
        }
        // A client may send a piece again whose connection broke: what was kept of it is passed over.
        if first > self.received || last < self.received {
            return Ok(self.without_bytes(total));
        }
        let bytes = last - first + 1;
        if let Some(body) = content_length.filter(|body| *body != bytes) {
            return Err(SessionError::LengthMismatch { range: bytes, body });
        }
        let is_last = total == Some(last + 1);
        if !is_last && !bytes.is_multiple_of(PIECE_BYTES_MULTIPLE) {
            return Err(SessionError::NotAMultiple { bytes });
        }
        let repeated = self.received - first;
        Ok(Decision::Receive(ExpectedBody {
            first: self.received,
            repeated,
            bytes_max: bytes - repeated,
            exact: true,
            total,
        }))
    }
}

/// Records that the piece from `first` on is on disk, and gives how many bytes are there now. Where another request was faster nothing is
/// recorded, and the piece's blob is left to the sweep of blobs without a name.
///
/// # Errors
/// `Absent`, `Store`.
pub fn advance(
    tx: &mut Tx<'_>,
    id: &str,
    now: Timestamp,
    first: u64,
    piece: Piece,
    total: Option<u64>,
) -> Result<u64, SessionError> {
    let mut session = load(tx, id, now)?;
    if session.finished.is_none() && session.received == first {
        if piece.bytes > 0 {
            PIECES.put(tx, &(session.media, first), &piece);
        }
        session.received += piece.bytes;
        session.total = session.total.or(total);
        SESSIONS.put(tx, &id.to_owned(), &session);
    }
    Ok(session.received)
}

/// Marks the session as finished with this response, in the transaction that commits what the upload made.
pub fn finish(tx: &mut Tx<'_>, id: &str, session: &Session, status: u16, answer: &[u8]) {
    let finished = Session { finished: Some(status), ..session.clone() };
    SESSIONS.put(tx, &id.to_owned(), &finished);
    put_text(tx, id, SessionText::Response, answer);
}

/// Ends a session before it is finished; what had arrived is discarded.
pub fn cancel(tx: &mut Tx<'_>, id: &str, session: &Session) -> Result<(), SessionError> {
    remove(tx, id, session)
}

/// Removes at most `limit` sessions whose week is over, and says whether there may be more. A finished one leaves its media, which a record names.
///
/// # Errors
/// `Store`.
pub fn expire(tx: &mut Tx<'_>, now: Timestamp, limit: usize) -> Result<bool, SessionError> {
    let (rows, more) = AGES.scan(tx, &AGES.span(&()), limit)?;
    let mut ended = 0;
    for ((opened, id), ()) in &rows {
        let opened = Timestamp::from_micros(i64::try_from(*opened).unwrap_or(i64::MAX));
        if now.since(opened) < LIFETIME {
            break;
        }
        ended += 1;
        match SESSIONS.get(tx, id)? {
            Some(session) => remove(tx, id, &session)?,
            None => AGES.delete(tx, &(age(opened.micros()), id.clone())),
        }
    }
    Ok(more && ended == rows.len())
}

fn remove(tx: &mut Tx<'_>, id: &str, session: &Session) -> Result<(), SessionError> {
    if session.finished.is_none() {
        media::discard(tx, session.media);
    }
    for text in [SessionText::Metadata, SessionText::Response] {
        for (key, _) in TEXTS.all(tx, &(id.to_owned(), text as u8), SLICES_MAX)? {
            TEXTS.delete(tx, &key);
        }
    }
    SESSIONS.delete(tx, &id.to_owned());
    AGES.delete(tx, &(age(session.opened), id.to_owned()));
    Ok(())
}

/// A text of the session; empty if there is none.
///
/// # Errors
/// `Store`.
pub fn text(tx: &mut Tx<'_>, id: &str, text: SessionText) -> Result<Vec<u8>, SessionError> {
    let slices = TEXTS.all(tx, &(id.to_owned(), text as u8), SLICES_MAX)?;
    Ok(slices.into_iter().flat_map(|(_, slice)| slice).collect())
}

fn put_text(tx: &mut Tx<'_>, id: &str, text: SessionText, bytes: &[u8]) {
    for (number, slice) in (0_u16..).zip(bytes.chunks(SLICE_BYTES)) {
        TEXTS.put(tx, &(id.to_owned(), text as u8, number), &Bytes::copy_from_slice(slice));
    }
}

fn age(opened: i64) -> u64 {
    u64::try_from(opened).unwrap_or(0)
}

#[cfg(test)]
mod tests;
