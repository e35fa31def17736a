//! `multipart/related` (RFC 2387) as the stock clients write it: metadata first, then media, read as it arrives.
//!
//! Clients differ: lines end in CRLF or in LF alone, the boundary is quoted or not, a line break stands before the
//! first delimiter or none, parts say their length or do not. The line end of the first delimiter decides which
//! break belongs to a delimiter, so that media that ends in a carriage return keeps it.

use bytes::{Buf, Bytes, BytesMut};

use base64::Engine;
use base64::engine::general_purpose::STANDARD;

use super::file_name;

/// The head of a part, and what stands before the first one, are not longer than this.
const HEAD_BYTES_MAX: usize = 16 * 1024;
/// Metadata is not longer than this.
pub const METADATA_BYTES_MAX: usize = 512 * 1024;
/// RFC 2046 §5.1.1 allows 70; clients that build longer ones are read too.
const BOUNDARY_BYTES_MAX: usize = 200;

/// A fault of a body that is not `multipart/related` with metadata and media.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum RelatedError {
    /// The content type names no boundary, or one that cannot be.
    #[error("the content type names no usable boundary")]
    Boundary,
    /// No delimiter where the first one must be.
    #[error("the body does not start with its boundary")]
    NoDelimiter,
    /// A part's head is longer than 16 KiB, or a line of it is no header.
    #[error("the head of a part cannot be read")]
    Head,
    /// A part is encoded in a way that is not `7bit`, `8bit`, `binary` or `base64`, or is not what it says.
    #[error("the transfer encoding of a part is unknown or its content is not in it")]
    Encoding,
    /// The first part is longer than 512 KiB.
    #[error("the metadata part is longer than {METADATA_BYTES_MAX} bytes")]
    MetadataTooLarge,
    /// A third part.
    #[error("there are more than two parts")]
    TooManyParts,
    /// The body ended before its last delimiter.
    #[error("the body ends before its closing boundary")]
    Truncated,
}

/// An event of the reader.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Event {
    /// The first part, whole.
    Metadata {
        /// Its `Content-Type`, if it has one.
        content_type: Option<String>,
        /// Its bytes.
        body: Bytes,
    },
    /// The second part begins.
    MediaStart {
        /// Its `Content-Type`, if it has one.
        content_type: Option<String>,
        /// The name of its file: its `Slug`, or that of its `Content-Disposition`.
        file_name: Option<String>,
    },
    /// The next bytes of the second part.
    Media(Bytes),
    /// The closing delimiter. `parts` is how many there were: 0, 1 or 2.
    End {
        /// Number of parts.
        parts: u8,
    },
}

/// A body that is being read. [`Related::feed`] it, take events until there is none, and so on; at the end [`Related::finish`].
#[derive(Debug)]
pub struct Related {
    /// `--` and the boundary.
    delimiter: Vec<u8>,
    rest: Bytes,
    state: State,
    /// True if lines end in LF alone.
    bare: bool,
    /// Parts begun.
    parts: u8,
    metadata: BytesMut,
    content_type: Option<String>,
    file_name: Option<String>,
    base64: Option<Base64>,
    /// True until something of the part's body has been seen.
    body_start: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum State {
    Preamble,
    Head,
    Body,
    Ended,
}

/// The end of a part's body, as far as it is known.
enum Cut {
    /// So many bytes belong to the body for sure; the rest may be the start of a delimiter.
    More { sure: usize },
    /// The body ends at `body`; the delimiter's line ends at `next`.
    Delimiter { body: usize, next: usize, last: bool },
}

/// Tells whether a content type is `multipart/related`, or another `multipart` that some clients send in its place.
#[must_use]
pub fn is_related(content_type: &str) -> bool {
    let start = content_type.trim_start().get(..10);
    start.is_some_and(|start| start.eq_ignore_ascii_case("multipart/"))
}

/// The parameter `boundary` of a content type, quoted or not.
#[must_use]
pub fn boundary(content_type: &str) -> Option<String> {
    let value = parameter(content_type, "boundary")?;
    let fits = !value.is_empty()
        && value.len() <= BOUNDARY_BYTES_MAX
        && value.bytes().all(|byte| byte == b' ' || byte.is_ascii_graphic());
    fits.then(|| value.trim_end().to_owned()).filter(|value| !value.is_empty())
}

/// The first parameter of a header with this name, quoted or not.
fn parameter(header: &str, wanted: &str) -> Option<String> {
    let mut rest = header.split_once(';')?.1;
    loop {
        let (name, after) = rest.split_once('=')?;
        let (value, after) = parameter_value(after.trim_start())?;
        if name.trim().eq_ignore_ascii_case(wanted) {
            return Some(value);
        }
        rest = after.trim_start().strip_prefix(';')?;
    }
}

/// A token or a quoted string, and what follows it.
fn parameter_value(text: &str) -> Option<(String, &str)> {
    let Some(quoted) = text.strip_prefix('"') else {
        let end = text.find(';').unwrap_or(text.len());
        let (value, rest) = text.split_at_checked(end)?;
        return Some((value.trim_end().to_owned(), rest));
    };
    let mut value = String::new();
    let mut escaped = false;
    for (at, letter) in quoted.char_indices() {
        match letter {
            _ if escaped => {
                value.push(letter);
                escaped = false;
            }
            '\\' => escaped = true,
            '"' => return Some((value, quoted.get(at + 1..)?)),
            _ => value.push(letter),
        }
    }
    None
}

impl Related {
    /// A reader for a body of this content type.
    ///
    /// # Errors
    /// `Boundary`.
    pub fn new(content_type: &str) -> Result<Self, RelatedError> {
        let boundary = boundary(content_type).ok_or(RelatedError::Boundary)?;
        Ok(Self {
            delimiter: format!("--{boundary}").into_bytes(),
            rest: Bytes::new(),
            state: State::Preamble,
            bare: false,
            parts: 0,
            metadata: BytesMut::new(),
            content_type: None,
            file_name: None,
            base64: None,
            body_start: true,
        })
    }

    /// Hands over the next bytes of the body. They are copied only where a delimiter may lie across two pieces.
    pub fn feed(&mut self, bytes: Bytes) {
        if self.rest.is_empty() {
            self.rest = bytes;
        } else {
            let mut joined = BytesMut::with_capacity(self.rest.len() + bytes.len());
            joined.extend_from_slice(&self.rest);
            joined.extend_from_slice(&bytes);
            self.rest = joined.freeze();
        }
    }

    /// The next event; `None` until more bytes have been fed.
    ///
    /// # Errors
    /// `NoDelimiter`, `Head`, `Encoding`, `MetadataTooLarge`, `TooManyParts`.
    pub fn next_event(&mut self) -> Result<Option<Event>, RelatedError> {
        loop {
            let event = match self.state {
                State::Preamble => match self.preamble()? {
                    true => continue,
                    false => return Ok(None),
                },
                State::Head => match self.head()? {
                    Some(Some(event)) => event,
                    Some(None) => continue,
                    None => return Ok(None),
                },
                State::Body => match self.body()? {
                    Some(Some(event)) => event,
                    Some(None) => continue,
                    None => return Ok(None),
                },
                State::Ended => {
                    self.rest.clear();
                    return Ok(None);
                }
            };
            return Ok(Some(event));
        }
    }

    /// Says that there are no more bytes.
    ///
    /// # Errors
    /// `NoDelimiter` if not even the first delimiter was there, `Truncated` if the last was not.
    pub fn finish(&self) -> Result<(), RelatedError> {
        match self.state {
            State::Ended => Ok(()),
            State::Preamble => Err(RelatedError::NoDelimiter),
            State::Head | State::Body => Err(RelatedError::Truncated),
        }
    }

    /// Passes over what stands before the first delimiter; `false` if more bytes are needed.
    fn preamble(&mut self) -> Result<bool, RelatedError> {
        let Some(end) = self.rest.iter().position(|byte| *byte == b'\n') else {
            let is_closed = self
                .rest
                .strip_prefix(self.delimiter.as_slice())
                .is_some_and(|rest| rest.starts_with(b"--"));
            if is_closed {
                self.state = State::Ended;
                return Ok(true);
            }
            return if self.rest.len() > HEAD_BYTES_MAX {
                Err(RelatedError::NoDelimiter)
            } else {
                Ok(false)
            };
        };
        let line = self.rest.split_to(end + 1);
        let Some(after) = line.strip_prefix(self.delimiter.as_slice()) else {
            // RFC 2046 lets a preamble stand here; the clients write at most one empty line.
            return if line.len() > HEAD_BYTES_MAX {
                Err(RelatedError::NoDelimiter)
            } else {
                Ok(true)
            };
        };
        self.bare = !line.ends_with(b"\r\n");
        if after.starts_with(b"--") {
            self.state = State::Ended;
        } else if after.iter().all(u8::is_ascii_whitespace) {
            self.begin_part()?;
        }
        Ok(true)
    }

    fn begin_part(&mut self) -> Result<(), RelatedError> {
        if self.parts == 2 {
            return Err(RelatedError::TooManyParts);
        }
        self.parts += 1;
        self.state = State::Head;
        self.content_type = None;
        self.file_name = None;
        self.base64 = None;
        self.body_start = true;
        Ok(())
    }

    /// Reads one line of a part's head. `None`: more bytes are needed; `Some(None)`: go on.
    fn head(&mut self) -> Result<Option<Option<Event>>, RelatedError> {
        let Some(end) = self.rest.iter().position(|byte| *byte == b'\n') else {
            return if self.rest.len() > HEAD_BYTES_MAX {
                Err(RelatedError::Head)
            } else {
                Ok(None)
            };
        };
        let line = self.rest.split_to(end + 1);
        let line = line.trim_ascii();
        if line.is_empty() {
            self.state = State::Body;
            let media = self.parts == 2;
            return Ok(Some(media.then(|| Event::MediaStart {
                content_type: self.content_type.take(),
                file_name: self.file_name.take(),
            })));
        }
        let line = std::str::from_utf8(line).map_err(|_| RelatedError::Head)?;
        let (name, value) = line.split_once(':').ok_or(RelatedError::Head)?;
        let value = value.trim();
        if name.eq_ignore_ascii_case("content-type") {
            self.content_type = Some(value.to_owned());
        } else if name.eq_ignore_ascii_case("slug") {
            self.file_name = Some(file_name::of_slug(value.as_bytes()));
        } else if name.eq_ignore_ascii_case("content-disposition") && self.file_name.is_none() {
            self.file_name = parameter(value, "filename");
        } else if name.eq_ignore_ascii_case("content-transfer-encoding") {
            self.base64 = match value.to_ascii_lowercase().as_str() {
                "binary" | "8bit" | "7bit" => None,
                "base64" => Some(Base64::default()),
                _ => return Err(RelatedError::Encoding),
            };
        }
        Ok(Some(None))
    }

    /// Reads on in a part's body. `None`: more bytes are needed; `Some(None)`: go on.
    fn body(&mut self) -> Result<Option<Option<Event>>, RelatedError> {
        match self.cut() {
            Cut::More { sure: 0 } => Ok(None),
            Cut::More { sure } => {
                let bytes = self.rest.split_to(sure);
                self.body_start = false;
                Ok(Some(self.content(bytes)?))
            }
            Cut::Delimiter { body, .. } if body > 0 => {
                let bytes = self.rest.split_to(body);
                self.body_start = false;
                Ok(Some(self.content(bytes)?))
            }
            Cut::Delimiter { next, last, .. } => {
                self.rest.advance(next);
                self.end_part(last).map(Some)
            }
        }
    }

    fn content(&mut self, bytes: Bytes) -> Result<Option<Event>, RelatedError> {
        let bytes = match &mut self.base64 {
            Some(decoder) => decoder.feed(&bytes)?,
            None => bytes,
        };
        if self.parts == 2 {
            return Ok((!bytes.is_empty()).then_some(Event::Media(bytes)));
        }
        if self.metadata.len() + bytes.len() > METADATA_BYTES_MAX {
            return Err(RelatedError::MetadataTooLarge);
        }
        self.metadata.extend_from_slice(&bytes);
        Ok(None)
    }

    fn end_part(&mut self, last: bool) -> Result<Option<Event>, RelatedError> {
        if self.base64.as_ref().is_some_and(|decoder| !decoder.is_whole()) {
            return Err(RelatedError::Encoding);
        }
        let parts = self.parts;
        let content_type = self.content_type.take();
        if last {
            self.state = State::Ended;
        } else {
            self.begin_part()?;
        }
        Ok(match (parts, last) {
            (1, _) => Some(Event::Metadata { content_type, body: self.metadata.split().freeze() }),
            _ => Some(Event::End { parts }),
        })
    }

    /// Looks for the delimiter that ends the part's body.
    fn cut(&self) -> Cut {
        let rest = self.rest.as_ref();
        if self.body_start {
            // A part without a body: its delimiter follows the head at once.
            match self.delimiter_at(rest, 0) {
                Some(Some((next, last))) => {
                    return Cut::Delimiter { body: 0, next, last };
                }
                Some(None) => return Cut::More { sure: 0 },
                None => {}
            }
        }
        let mut from = 0;
        while let Some(at) =
            rest.get(from..).and_then(|rest| rest.iter().position(|byte| *byte == b'\n'))
        {
            let newline = from + at;
            let body = match newline.checked_sub(1) {
                Some(before) if !self.bare && rest.get(before) == Some(&b'\r') => before,
                _ => newline,
            };
            match self.delimiter_at(rest, newline + 1) {
                // A delimiter at the very front has no body left: the line break before it goes with it.
                Some(Some((next, last))) => return Cut::Delimiter { body, next, last },
                Some(None) => return Cut::More { sure: body },
                None => from = newline + 1,
            }
        }
        let held = usize::from(!self.bare && rest.last() == Some(&b'\r'));
        Cut::More { sure: rest.len() - held }
    }

    /// Looks for a delimiter's line at `start`: `None` no, `Some(None)` not known yet, else where the line ends and
    /// whether it is the last.
    fn delimiter_at(&self, rest: &[u8], start: usize) -> Option<Option<(usize, bool)>> {
        let line = rest.get(start..)?;
        let Some(after) = line.strip_prefix(self.delimiter.as_slice()) else {
            return self.delimiter.starts_with(line).then_some(None);
        };
        let next = start + self.delimiter.len();
        if after.starts_with(b"--") {
            return Some(Some((next + 2, true)));
        }
        match after.iter().position(|byte| !matches!(byte, b' ' | b'\t' | b'\r')) {
            Some(at) if after.get(at) == Some(&b'\n') => Some(Some((next + at + 1, false))),
            Some(0) if after == b"-" => Some(None),
            Some(_) => None,
            None if after.len() <= HEAD_BYTES_MAX => Some(None),
            None => None,
        }
    }
}

/// Base64 that arrives in pieces; white space is passed over.
#[derive(Debug, Default)]
struct Base64 {
    held: Vec<u8>,
    padded: bool,
}

impl Base64 {
    fn feed(&mut self, bytes: &[u8]) -> Result<Bytes, RelatedError> {
        self.held.extend(bytes.iter().filter(|byte| !byte.is_ascii_whitespace()));
        let whole = self.held.len() / 4 * 4;
        let later = self.held.split_off(whole);
        let ready = std::mem::replace(&mut self.held, later);
        if self.padded && !(ready.is_empty() && self.held.is_empty()) {
            return Err(RelatedError::Encoding);
        }
        self.padded |= ready.ends_with(b"=");
        let decoded = STANDARD.decode(&ready).map_err(|_| RelatedError::Encoding)?;
        Ok(decoded.into())
    }

    const fn is_whole(&self) -> bool {
        self.held.is_empty()
    }
}

#[cfg(test)]
mod tests;
