//! The aws-chunked framing: chunks with sizes and perhaps signatures, then perhaps a trailer.

use bytes::{Buf, Bytes, BytesMut};

use crate::error::Error;

/// Characters that may stand around the parts of a line.
const BLANKS: [char; 2] = [' ', '\t'];
/// The longest line of a chunk's head.
const LINE_BYTES_MAX: usize = 1024;
/// The most bytes of a trailer.
const TRAILER_BYTES_MAX: usize = 16 * 1024;
/// A chunk that is not the last has at least this many bytes, signed or not.
const CHUNK_BYTES_MIN: u64 = 8 * 1024;
/// The most bytes behind the end of a body: they say nothing, as in the real service.
const REST_BYTES_MAX: usize = 64 * 1024;

/// A piece of a chunked body, decoded.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Frame {
    /// Bytes of the body.
    Data(Bytes),
    /// The end of a chunk, the last one of zero bytes among them; its signature, where chunks are signed.
    ChunkEnd(Option<String>),
    /// The end of the body: trailer fields with lower-case names, in their order.
    End(Vec<(String, String)>),
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum State {
    Head,
    Data { left: u64, signature: Option<String> },
    DataEnd { signature: Option<String> },
    LastChunk { signature: Option<String> },
    Trailer,
    Done,
}

/// Decodes a body that comes in pieces, without copying it.
#[derive(Debug)]
pub struct Decoder {
    signed: bool,
    /// Bytes that the whole body was announced with.
    length: Option<u64>,
    /// Bytes of the chunks so far, as their heads say.
    announced: u64,
    state: State,
    buffer: BytesMut,
    /// Whole pieces of data are handed on from here.
    pending: Bytes,
    chunk: u64,
    /// The size of the chunk before, if it was too short to be followed by another.
    short: Option<u64>,
    trailer: Vec<(String, String)>,
    trailer_bytes: usize,
    /// Bytes behind the end.
    rest_bytes: usize,
}

impl Decoder {
    /// A decoder of a body of `length` bytes, where that was said, whose chunks are `signed`.
    #[must_use]
    pub fn new(signed: bool, length: Option<u64>) -> Self {
        Self {
            signed,
            length,
            announced: 0,
            state: State::Head,
            buffer: BytesMut::new(),
            pending: Bytes::new(),
            chunk: 0,
            short: None,
            trailer: Vec::new(),
            trailer_bytes: 0,
            rest_bytes: 0,
        }
    }

    /// Hands over the next bytes. Take all frames before the next call.
    pub fn feed(&mut self, bytes: Bytes) {
        debug_assert!(self.pending.is_empty(), "frames are taken before more is fed");
        self.pending = bytes;
    }

    /// The next frame; `None` when more bytes are needed.
    ///
    /// # Errors
    /// `BodyTerminated`; `IncompleteBody` for a chunk beyond the length; `InvalidChunkSize`, `MalformedTrailer`.
    pub fn frame(&mut self) -> Result<Option<Frame>, Error> {
        loop {
            match std::mem::replace(&mut self.state, State::Done) {
                State::Head => {
                    let Some(line) = self.line(LINE_BYTES_MAX)? else {
                        self.state = State::Head;
                        return Ok(None);
                    };
                    self.state = self.head(&line)?;
                }
                State::Data { left, signature } => {
                    if self.pending.is_empty() {
                        self.state = State::Data { left, signature };
                        return Ok(None);
                    }
                    let most = usize::try_from(left).unwrap_or(usize::MAX);
                    let data = self.pending.split_to(most.min(self.pending.len()));
                    let left = left - data.len() as u64;
                    self.state = match left {
                        0 => State::DataEnd { signature },
                        left => State::Data { left, signature },
                    };
                    return Ok(Some(Frame::Data(data)));
                }
                State::DataEnd { signature } => {
                    let Some(line) = self.line(2)? else {
                        self.state = State::DataEnd { signature };
                        return Ok(None);
                    };
                    if !line.is_empty() {
                        return Err(Error::BodyTerminated {
                            reason: "A chunk is longer than its size says",
                        });
                    }
                    self.state = State::Head;
                    return Ok(Some(Frame::ChunkEnd(signature)));
                }
                State::LastChunk { signature } => {
                    self.state = State::Trailer;
                    return Ok(Some(Frame::ChunkEnd(signature)));
                }
                State::Trailer => {
                    let Some(line) = self.line(TRAILER_BYTES_MAX)? else {
                        self.state = State::Trailer;
                        return Ok(None);
                    };
                    if line.is_empty() {
                        return Ok(Some(Frame::End(std::mem::take(&mut self.trailer))));
                    }
                    self.trailer_line(&line)?;
                    self.state = State::Trailer;
                }
                State::Done => {
                    self.rest_bytes += self.pending.len();
                    self.pending.clear();
                    if self.rest_bytes > REST_BYTES_MAX {
                        return Err(Error::BodyTerminated {
                            reason: "There are too many bytes after the last chunk",
                        });
                    }
                    return Ok(None);
                }
            }
        }
    }

    /// The last frame of a body that has ended, if it was not seen: the empty line at the end may be missing, as in the real service.
    ///
    /// # Errors
    /// [`Error::BodyTerminated`] where the body ended before its last chunk, or within a line.
    pub fn finish(&mut self) -> Result<Option<Frame>, Error> {
        match self.state {
            State::Done => Ok(None),
            State::Trailer if self.buffer.is_empty() => {
                self.state = State::Done;
                Ok(Some(Frame::End(std::mem::take(&mut self.trailer))))
            }
            _ => Err(Error::BodyTerminated { reason: "The body ended before its last chunk did" }),
        }
    }

    /// The next line without its end, at most `most` bytes long.
    fn line(&mut self, most: usize) -> Result<Option<String>, Error> {
        let end = self.pending.iter().position(|byte| *byte == b'\n');
        let taken = end.map_or(self.pending.len(), |end| end + 1);
        if self.buffer.len() + taken > most + 2 {
            return Err(Error::BodyTerminated { reason: "A line of the chunked body is too long" });
        }
        self.buffer.extend_from_slice(self.pending.get(..taken).unwrap_or_default());
        self.pending.advance(taken);
        if end.is_none() {
            return Ok(None);
        }
        let mut line = self.buffer.split();
        if !line.ends_with(b"\r\n") {
            return Err(Error::BodyTerminated {
                reason: "A line of the chunked body does not end as lines do",
            });
        }
        line.truncate(line.len() - 2);
        String::from_utf8(line.into())
            .map(Some)
            .map_err(|_| Error::BodyTerminated { reason: "A line of the chunked body is no text" })
    }

    fn head(&mut self, line: &str) -> Result<State, Error> {
        let malformed = |reason| Error::BodyTerminated { reason };
        let (size, extensions) = line.split_once(';').unwrap_or((line, ""));
        let size = size.trim_matches(BLANKS);
        if size.is_empty() || size.len() > 16 || !size.bytes().all(|byte| byte.is_ascii_hexdigit())
        {
            return Err(malformed("The size of a chunk is no hexadecimal number"));
        }
        let size = u64::from_str_radix(size, 16)
            .map_err(|_| malformed("The size of a chunk is no hexadecimal number"))?;
        let signature = self.signed.then(|| signature(extensions)).transpose()?;
        self.chunk += 1;
        self.announced = self.announced.saturating_add(size);
        if let Some(expected) = self.length.filter(|length| self.announced > *length) {
            return Err(Error::IncompleteBody { expected, provided: self.announced });
        }
        if size == 0 {
            return Ok(State::LastChunk { signature });
        }
        if let Some(size) = self.short {
            return Err(Error::InvalidChunkSize { chunk: self.chunk, size });
        }
        self.short = (size < CHUNK_BYTES_MIN).then_some(size);
        Ok(State::Data { left: size, signature })
    }

    fn trailer_line(&mut self, line: &str) -> Result<(), Error> {
        self.trailer_bytes += line.len();
        let field = line.split_once(':').filter(|(name, _)| !name.is_empty());
        let (name, value) = field.ok_or(Error::MalformedTrailer)?;
        if self.trailer_bytes > TRAILER_BYTES_MAX {
            return Err(Error::MalformedTrailer);
        }
        self.trailer.push((name.to_ascii_lowercase(), value.trim_matches(BLANKS).to_owned()));
        Ok(())
    }
}

/// The signature among the extensions of a chunk: it stands alone, and what stands in its place is taken for one, which no chunk has.
fn signature(extensions: &str) -> Result<String, Error> {
    let (name, value) = extensions.split_once('=').unwrap_or_default();
    let value = value.trim_matches(BLANKS);
    if value.is_empty() {
        return Err(Error::BodyTerminated { reason: "A chunk carries no signature" });
    }
    if name.trim_matches(BLANKS) != "chunk-signature" {
        return Ok(extensions.to_owned());
    }
    if value.contains(';') {
        return Err(Error::BodyTerminated { reason: "A chunk has more than its signature" });
    }
    Ok(value.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn decode(bytes: &[u8], signed: bool, step: usize) -> Result<(Vec<u8>, Vec<Frame>), Error> {
        let mut decoder = Decoder::new(signed, None);
        let (mut data, mut frames) = (Vec::new(), Vec::new());
        for piece in bytes.chunks(step) {
            decoder.feed(Bytes::copy_from_slice(piece));
            while let Some(frame) = decoder.frame()? {
                match frame {
                    Frame::Data(bytes) => data.extend_from_slice(&bytes),
                    other => frames.push(other),
                }
            }
        }
        frames.extend(decoder.finish()?);
        Ok((data, frames))
    }

    const UNSIGNED: &[u8] = b"6\r\nhello!\r\n0\r\nX-Amz-Checksum-Crc32:rwg7LQ==\r\n\r\n";

    #[test]
    fn a_body_decodes_the_same_however_it_is_split() {
        for step in 1..UNSIGNED.len() + 1 {
            let (data, frames) = decode(UNSIGNED, false, step).unwrap();
            assert_eq!(data, b"hello!");
            let trailer = vec![("x-amz-checksum-crc32".to_owned(), "rwg7LQ==".to_owned())];
            let end = Frame::ChunkEnd(None);
            assert_eq!(frames, [end.clone(), end, Frame::End(trailer)]);
        }
    }

    #[test]
    fn a_body_ends_with_a_whole_line_behind_its_last_chunk() {
        let (last_chunk, trailer) = (b"6\r\nhello!\r\n0\r\n".len(), UNSIGNED.len() - 2);
        for end in 0..UNSIGNED.len() {
            let decoded = decode(&UNSIGNED[..end], false, 7);
            let is_whole = end == last_chunk || end == trailer;
            assert_eq!(decoded.is_ok(), is_whole, "{end}: {decoded:?}");
        }
        assert_eq!(decode(&UNSIGNED[..trailer], false, 7), decode(UNSIGNED, false, 7));
    }

    #[test]
    fn what_follows_the_end_says_nothing_and_is_not_endless() {
        let with = |rest: &[u8]| decode(&[UNSIGNED, rest].concat(), false, 9);
        for rest in [&b"more"[..], b"\r\n\r\n", b"a: b\r\n", b"\xff\xde\xad"] {
            assert_eq!(with(rest), decode(UNSIGNED, false, 9));
        }
        assert!(matches!(with(&[b'x'; 70_000]), Err(Error::BodyTerminated { .. })));
    }

    #[test]
    fn chunks_beyond_the_length_are_refused_by_their_head() {
        let mut decoder = Decoder::new(false, Some(9));
        decoder.feed(Bytes::from_static(b"6\r\nhello!\r\n6\r\n"));
        let frames: Result<Vec<_>, _> =
            std::iter::from_fn(|| decoder.frame().transpose()).collect();
        assert_eq!(frames, Err(Error::IncompleteBody { expected: 9, provided: 12 }));
    }

    #[test]
    fn the_signature_of_a_chunk_stands_alone() {
        let head = |extensions: &str| {
            let mut decoder = Decoder::new(true, None);
            decoder.feed(Bytes::from(format!("0{extensions}\r\n\r\n")));
            decoder.frame()
        };
        for extensions in [";chunk-signature=ab", " ; chunk-signature=ab", ";chunk-signature = ab "]
        {
            let end = Frame::ChunkEnd(Some("ab".to_owned()));
            assert_eq!(head(extensions), Ok(Some(end)), "{extensions}");
        }
        // It is compared, and not found to be one.
        for extensions in ["a=b;chunk-signature=ab", "bhunk-signature=ab"] {
            let other = Frame::ChunkEnd(Some(extensions.to_owned()));
            assert_eq!(head(&format!(";{extensions}")), Ok(Some(other)));
        }
        for extensions in
            ["", ";", ";chunk-signature", ";chunk-signature=", ";chunk-signature=ab;a=b"]
        {
            assert!(matches!(head(extensions), Err(Error::BodyTerminated { .. })), "{extensions}");
        }
    }

    #[test]
    fn broken_framing_is_refused() {
        for body in [
            &b"x\r\n"[..],
            b"\r\n",
            b"-1\r\n",
            b"11111111111111111\r\n",
            b"5\r\nhello!\r\n",
            b"5;chunk-signature=\xff\r\n",
        ] {
            let error = decode(body, false, 100).unwrap_err();
            assert!(matches!(error, Error::BodyTerminated { .. }), "{error:?}");
        }
        assert!(matches!(decode(b"5\r\nhello\r\n", true, 100), Err(Error::BodyTerminated { .. })));
        assert_eq!(
            decode(b"0\r\nno colon\r\n\r\n", false, 100).unwrap_err(),
            Error::MalformedTrailer
        );
    }

    #[test]
    fn only_the_last_unsigned_chunk_may_be_short() {
        let chunk =
            |size: usize| [format!("{size:x}\r\n").as_bytes(), &vec![b'x'; size], b"\r\n"].concat();
        let end = b"0\r\n\r\n".to_vec();
        assert!(decode(&[chunk(8192), chunk(1), end.clone()].concat(), false, 999).is_ok());
        assert_eq!(
            decode(&[chunk(8192), chunk(8191), chunk(1), end].concat(), false, 999).unwrap_err(),
            Error::InvalidChunkSize { chunk: 3, size: 8191 }
        );
    }

    #[test]
    fn only_the_last_signed_chunk_may_be_short() {
        let chunk = |size: usize| {
            let head = format!("{size:x};chunk-signature=a\r\n");
            [head.as_bytes(), &vec![b'x'; size], b"\r\n"].concat()
        };
        let end = b"0;chunk-signature=b\r\n\r\n".to_vec();
        assert!(decode(&[chunk(8192), chunk(1), end.clone()].concat(), true, 999).is_ok());
        assert_eq!(
            decode(&[chunk(8191), chunk(1), end].concat(), true, 999).unwrap_err(),
            Error::InvalidChunkSize { chunk: 2, size: 8191 }
        );
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]
        #[test]
        fn any_bytes_decode_or_are_refused(bytes in any::<Vec<u8>>(), signed: bool) {
            let _ = decode(&bytes, signed, 3);
        }
    }
}
