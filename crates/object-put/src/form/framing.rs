//! The framing of a form: multipart/form-data (RFC 7578), decoded as it arrives.

use std::borrow::Cow;

use bytes::{Bytes, BytesMut};

use crate::error::Error;

/// The longest boundary (RFC 2046 §5.1.1).
const BOUNDARY_BYTES_MAX: usize = 70;
/// The most bytes of the headers of a part.
const HEAD_BYTES_MAX: usize = 8 * 1024;
/// The most bytes before the first boundary and between a boundary and the end of its line.
const PADDING_BYTES_MAX: usize = 1024;

/// A piece of a form, decoded.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Piece {
    /// The beginning of a part.
    Part(PartHead),
    /// Bytes of the part that began last.
    Data(Bytes),
    /// The end of that part.
    PartEnd,
    /// The end of the form.
    End,
}

/// The head of a part.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PartHead {
    /// The name of the field.
    pub name: String,
    /// The name of the file, where the part is one.
    pub file_name: Option<String>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum State {
    /// Before the first boundary.
    Preamble,
    /// After a boundary.
    BoundaryEnd,
    /// In the headers of a part.
    Head,
    /// In the bytes of a part.
    Data,
    /// After the last boundary.
    Done,
}

/// Decodes a form that comes in pieces, without copying what lies within one of them.
#[derive(Debug)]
pub struct Decoder {
    /// The delimiter before each part but the first: a line end, two hyphens and the boundary.
    delimiter: Vec<u8>,
    state: State,
    pending: Bytes,
    /// Bytes that were decoded.
    taken: usize,
}

/// The value of a parameter of a header such as `form-data; name="a"`.
#[must_use]
pub fn parameter<'h>(header: &'h str, name: &str) -> Option<Cow<'h, str>> {
    let mut rest = header.split_once(';')?.1;
    loop {
        let (own, after) = rest.split_once('=')?;
        let after = after.trim_start();
        let (value, tail) = match after.strip_prefix('"') {
            Some(quoted) => unquoted(quoted)?,
            None => {
                let end = after.find(';').unwrap_or(after.len());
                let (value, tail) = after.split_at(end);
                (Cow::Borrowed(value.trim()), tail)
            }
        };
        if own.trim().trim_start_matches(';').trim().eq_ignore_ascii_case(name) {
            return Some(value);
        }
        rest = tail.trim_start().trim_start_matches(';');
    }
}

/// A quoted text without its quotes, and what follows it. Browsers write a quote within as `%22`, other clients with a backslash before it; a
/// backslash before anything else is itself, as in the paths of one family of file systems.
fn unquoted(text: &str) -> Option<(Cow<'_, str>, &str)> {
    let mut escaped = false;
    for (at, character) in text.char_indices() {
        match character {
            '"' if escaped => {}
            '"' => {
                let (value, rest) = text.split_at(at);
                let rest = rest.get(1..)?;
                return Some(match value.contains("\\\"") {
                    true => (Cow::Owned(value.replace("\\\"", "\"")), rest),
                    false => (Cow::Borrowed(value), rest),
                });
            }
            _ => {}
        }
        escaped = character == '\\';
    }
    None
}

impl Decoder {
    /// A decoder of a body whose head has this Content-Type.
    ///
    /// # Errors
    /// [`Error::PreconditionFailed`] for another type, [`Error::MalformedForm`] for one without a boundary.
    pub fn of_content_type(content_type: Option<&str>) -> Result<Self, Error> {
        let content_type = content_type.unwrap_or_default();
        let media_type = content_type.split(';').next().unwrap_or_default().trim();
        if !media_type.eq_ignore_ascii_case("multipart/form-data") {
            return Err(Error::PreconditionFailed {
                condition: "Bucket POST must be of the enclosure-type multipart/form-data",
            });
        }
        let boundary = parameter(content_type, "boundary");
        let boundary = boundary.filter(|own| (1..=BOUNDARY_BYTES_MAX).contains(&own.len()));
        let boundary = boundary.ok_or(Error::MalformedForm)?;
        Ok(Self {
            delimiter: [b"\r\n--", boundary.as_bytes()].concat(),
            state: State::Preamble,
            // So that the first boundary looks like all others.
            pending: Bytes::from_static(b"\r\n"),
            taken: 0,
        })
    }

    /// Hands over the next bytes. Take all pieces before the next call.
    pub fn feed(&mut self, bytes: Bytes) {
        if self.pending.is_empty() {
            self.pending = bytes;
            return;
        }
        let mut joined = BytesMut::with_capacity(self.pending.len() + bytes.len());
        joined.extend_from_slice(&self.pending);
        joined.extend_from_slice(&bytes);
        self.pending = joined.freeze();
    }

    /// The next piece; `None` when more bytes are needed.
    ///
    /// # Errors
    /// [`Error::MalformedForm`].
    pub fn piece(&mut self) -> Result<Option<Piece>, Error> {
        loop {
            match self.state {
                State::Preamble => {
                    let Some(at) = self.place_of(&self.delimiter, PADDING_BYTES_MAX)? else {
                        return Ok(None);
                    };
                    self.take(at + self.delimiter.len());
                    self.state = State::BoundaryEnd;
                }
                State::BoundaryEnd => {
                    if self.pending.starts_with(b"--") {
                        self.state = State::Done;
                        return Ok(Some(Piece::End));
                    }
                    let Some(end) = self.place_of(b"\r\n", PADDING_BYTES_MAX)? else {
                        return Ok(None);
                    };
                    let padding = self.pending.get(..end).unwrap_or_default();
                    if !padding.iter().all(|byte| matches!(byte, b' ' | b'\t')) {
                        return Err(Error::MalformedForm);
                    }
                    // The end of the line stays: a part without headers is then an empty line.
                    self.take(end);
                    self.state = State::Head;
                }
                State::Head => {
                    let Some(end) = self.place_of(b"\r\n\r\n", HEAD_BYTES_MAX)? else {
                        return Ok(None);
                    };
                    let head = self.take(end);
                    self.take(4);
                    self.state = State::Data;
                    return PartHead::read(&head).map(|head| Some(Piece::Part(head)));
                }
                State::Data => return Ok(self.data()),
                State::Done => {
                    self.pending.clear();
                    return Ok(None);
                }
            }
        }
    }

    /// Tells whether the end was reached: a form that stops before it is incomplete.
    #[must_use]
    pub fn is_done(&self) -> bool {
        self.state == State::Done
    }

    /// The number of bytes that were decoded, framing among them.
    #[must_use]
    pub const fn taken(&self) -> usize {
        self.taken
    }

    fn take(&mut self, bytes: usize) -> Bytes {
        let taken = self.pending.split_to(bytes.min(self.pending.len()));
        self.taken = self.taken.saturating_add(taken.len());
        taken
    }

    /// The place of `text` after at most `most` bytes; `None` if it may still come there.
    fn place_of(&self, text: &[u8], most: usize) -> Result<Option<usize>, Error> {
        match find(&self.pending, text) {
            Some(at) if at <= most => Ok(Some(at)),
            None if self.pending.len() < most + text.len() => Ok(None),
            _ => Err(Error::MalformedForm),
        }
    }

    /// The next bytes of a part, or its end.
    fn data(&mut self) -> Option<Piece> {
        if let Some(at) = find(&self.pending, &self.delimiter) {
            if at > 0 {
                return Some(Piece::Data(self.take(at)));
            }
            self.take(self.delimiter.len());
            self.state = State::BoundaryEnd;
            return Some(Piece::PartEnd);
        }
        // What may be the beginning of a boundary waits for the rest of it.
        let kept = beginning_at_end(&self.pending, &self.delimiter);
        let data = self.take(self.pending.len() - kept);
        (!data.is_empty()).then_some(Piece::Data(data))
    }
}

/// The place of `text` in `bytes`.
fn find(bytes: &[u8], text: &[u8]) -> Option<usize> {
    memchr::memmem::find(bytes, text)
}

/// The number of bytes at the end of `bytes` that `text` begins with.
fn beginning_at_end(bytes: &[u8], text: &[u8]) -> usize {
    let most = text.len().saturating_sub(1).min(bytes.len());
    let tail = bytes.get(bytes.len() - most..).unwrap_or_default();
    (0..tail.len())
        .filter_map(|at| tail.get(at..))
        .find(|end| text.starts_with(end))
        .map_or(0, <[u8]>::len)
}

impl PartHead {
    fn read(head: &[u8]) -> Result<Self, Error> {
        let head = std::str::from_utf8(head).map_err(|_| Error::MalformedForm)?;
        let disposition = head.split("\r\n").find_map(|line| {
            let (name, value) = line.split_once(':')?;
            name.trim().eq_ignore_ascii_case("content-disposition").then_some(value.trim())
        });
        let disposition = disposition.ok_or(Error::MalformedForm)?;
        let kind = disposition.split(';').next().unwrap_or_default();
        let name = parameter(disposition, "name").ok_or(Error::MalformedForm)?;
        if !kind.trim().eq_ignore_ascii_case("form-data") || name.is_empty() {
            return Err(Error::MalformedForm);
        }
        let file_name = parameter(disposition, "filename").map(Cow::into_owned);
        Ok(Self { name: name.into_owned(), file_name })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A part: name, name of the file, bytes.
    type Part = (String, Option<String>, Vec<u8>);

    /// The parts of a body that comes in pieces of `step` bytes, and whether it ended.
    fn parts(body: &[u8], step: usize) -> Result<(Vec<Part>, bool), Error> {
        let mut decoder = Decoder::of_content_type(Some("multipart/form-data; boundary=\"b-1\""))?;
        let mut parts: Vec<Part> = Vec::new();
        for piece in body.chunks(step) {
            decoder.feed(Bytes::copy_from_slice(piece));
            while let Some(piece) = decoder.piece()? {
                match piece {
                    Piece::Part(head) => parts.push((head.name, head.file_name, Vec::new())),
                    Piece::Data(bytes) => {
                        if let Some(part) = parts.last_mut() {
                            part.2.extend_from_slice(&bytes);
                        }
                    }
                    Piece::PartEnd | Piece::End => {}
                }
            }
        }
        Ok((parts, decoder.is_done()))
    }

    #[test]
    fn a_form_reads_the_same_however_it_arrives() {
        let body = b"--b-1\r\nContent-Disposition: form-data; name=\"key\"\r\n\r\na\r\n--b-1  \r\ncontent-disposition:form-data;name=e\r\n\r\n\r\n--b-1\r\nContent-Type: text/plain\r\nContent-Disposition: form-data; name=\"file\"; filename=\"C:\\a \\\"b\\\".txt\"\r\n\r\n\r\n--b\r\n-\r\n--b-1--\r\nrest";
        let whole = parts(body, body.len()).unwrap();
        let part = |name: &str, file: Option<&str>, bytes: &[u8]| {
            (name.to_owned(), file.map(str::to_owned), bytes.to_vec())
        };
        let expected = [
            part("key", None, b"a"),
            part("e", None, b""),
            part("file", Some("C:\\a \"b\".txt"), b"\r\n--b\r\n-"),
        ];
        assert_eq!(whole, (expected.to_vec(), true));
        for step in 1..body.len() {
            assert_eq!(parts(body, step).unwrap(), whole, "pieces of {step}");
        }
    }

    #[test]
    fn what_is_no_form_is_refused_or_incomplete() {
        let long = format!("--b-1\r\n{}", "a".repeat(HEAD_BYTES_MAX + 10));
        for body in [
            "--b-1x\r\n\r\n",
            "--b-1\r\n\r\n\r\n",
            "--b-1\r\nContent-Disposition: form-data\r\n\r\n",
            "--b-1\r\nContent-Disposition: attachment; name=a\r\n\r\n",
            "--b-1\r\nContent-Disposition: form-data; name=\"a\r\n\r\n",
            &long,
            &"x".repeat(PADDING_BYTES_MAX + 10),
        ] {
            let read = parts(body.as_bytes(), 512);
            assert_eq!(read, Err(Error::MalformedForm), "{}", body.get(..60).unwrap_or(body));
        }
        for body in
            ["", "--b-1", "--b-1\r\nContent-Disposition: form-data; name=a\r\n\r\nx\r\n--b-1"]
        {
            assert!(!parts(body.as_bytes(), 7).is_ok_and(|(_, done)| done), "{body}");
        }
    }

    #[test]
    fn a_body_of_another_type_is_no_form() {
        for content_type in
            [None, Some(""), Some("text/plain; boundary=a"), Some("multipart/mixed")]
        {
            let refused = Decoder::of_content_type(content_type).err();
            assert!(matches!(refused, Some(Error::PreconditionFailed { .. })), "{content_type:?}");
        }
        let long = format!("multipart/form-data; boundary={}", "a".repeat(71));
        for content_type in ["multipart/form-data", "multipart/form-data; boundary=", &long] {
            let refused = Decoder::of_content_type(Some(content_type)).err();
            assert_eq!(refused, Some(Error::MalformedForm), "{content_type}");
        }
    }
}
