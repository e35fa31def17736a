//! The aws-chunked framing: chunks with sizes and perhaps signatures, then perhaps a trailer.

use bytes::{Buf, Bytes, BytesMut};

use crate::error::Error;

/// The longest line of a chunk's head.
const LINE_BYTES_MAX: usize = 1024;
/// The most bytes of a trailer.
const TRAILER_BYTES_MAX: usize = 16 * 1024;
/// A chunk that is not the last has at least this many bytes, signed or not.
const CHUNK_BYTES_MIN: u64 = 8 * 1024;

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
    state: State,
    buffer: BytesMut,
    /// Whole pieces of data are handed on from here.
    pending: Bytes,
    chunk: u64,
    /// The size of the chunk before, if it was too short to be followed by another.
    short: Option<u64>,
    trailer: Vec<(String, String)>,
    trailer_bytes: usize,
}

impl Decoder {
    /// A decoder of a body whose chunks are `signed`.
    #[must_use]
    pub fn new(signed: bool) -> Self {
        Self {
            signed,
            state: State::Head,
            buffer: BytesMut::new(),
            pending: Bytes::new(),
            chunk: 0,
            short: None,
            trailer: Vec::new(),
            trailer_bytes: 0,
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
    /// `MalformedChunk`, `InvalidChunkSize`, `MalformedTrailer`.
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
                        return Err(Error::MalformedChunk {
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
                    if self.pending.is_empty() {
                        return Ok(None);
                    }
                    return Err(Error::MalformedChunk {
                        reason: "There are bytes after the last chunk",
                    });
                }
            }
        }
    }

    /// Tells whether the end was reached: a body that stops before it is incomplete.
    #[must_use]
    pub fn is_done(&self) -> bool {
        self.state == State::Done
    }

    /// The next line without its end, at most `most` bytes long.
    fn line(&mut self, most: usize) -> Result<Option<String>, Error> {
        let end = self.pending.iter().position(|byte| *byte == b'\n');
        let taken = end.map_or(self.pending.len(), |end| end + 1);
        if self.buffer.len() + taken > most + 2 {
            return Err(Error::MalformedChunk { reason: "A line of the chunked body is too long" });
        }
        self.buffer.extend_from_slice(self.pending.get(..taken).unwrap_or_default());
        self.pending.advance(taken);
        if end.is_none() {
            return Ok(None);
        }
        let mut line = self.buffer.split();
        if !line.ends_with(b"\r\n") {
            return Err(Error::MalformedChunk {
                reason: "A line of the chunked body does not end as lines do",
            });
        }
        line.truncate(line.len() - 2);
        String::from_utf8(line.into())
            .map(Some)
            .map_err(|_| Error::MalformedChunk { reason: "A line of the chunked body is no text" })
    }

    fn head(&mut self, line: &str) -> Result<State, Error> {
        let malformed = |reason| Error::MalformedChunk { reason };
        let (size, extensions) = line.split_once(';').unwrap_or((line, ""));
        if size.is_empty() || size.len() > 16 || !size.bytes().all(|byte| byte.is_ascii_hexdigit())
        {
            return Err(malformed("The size of a chunk is no hexadecimal number"));
        }
        let size = u64::from_str_radix(size, 16)
            .map_err(|_| malformed("The size of a chunk is no hexadecimal number"))?;
        let signature = extensions
            .split(';')
            .find_map(|extension| extension.strip_prefix("chunk-signature="))
            .map(str::to_owned);
        if self.signed && signature.is_none() {
            return Err(malformed("A chunk carries no signature"));
        }
        let signature = signature.filter(|_| self.signed);
        self.chunk += 1;
        if size == 0 {
            return Ok(State::LastChunk { signature });
        }
        if let Some(size) = self.short {
            return Err(Error::InvalidChunkSize { chunk: self.chunk - 1, size });
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
        self.trailer.push((name.to_ascii_lowercase(), value.trim_matches([' ', '\t']).to_owned()));
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn decode(
        bytes: &[u8],
        signed: bool,
        step: usize,
    ) -> Result<(Vec<u8>, Vec<Frame>, bool), Error> {
        let mut decoder = Decoder::new(signed);
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
        Ok((data, frames, decoder.is_done()))
    }

    const UNSIGNED: &[u8] = b"6\r\nhello!\r\n0\r\nX-Amz-Checksum-Crc32:rwg7LQ==\r\n\r\n";

    #[test]
    fn a_body_decodes_the_same_however_it_is_split() {
        for step in 1..UNSIGNED.len() + 1 {
            let (data, frames, done) = decode(UNSIGNED, false, step).unwrap();
            assert_eq!(data, b"hello!");
            let trailer = vec![("x-amz-checksum-crc32".to_owned(), "rwg7LQ==".to_owned())];
            let end = Frame::ChunkEnd(None);
            assert_eq!(frames, [end.clone(), end, Frame::End(trailer)]);
            assert!(done);
        }
    }

    #[test]
    fn a_body_that_stops_early_is_not_done() {
        for end in 0..UNSIGNED.len() {
            let (_, _, done) = decode(&UNSIGNED[..end], false, 7).unwrap();
            assert!(!done, "{end}");
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
            b"0\r\n\r\nmore",
            b"5;chunk-signature=\xff\r\n",
        ] {
            let error = decode(body, false, 100).unwrap_err();
            assert!(matches!(error, Error::MalformedChunk { .. }), "{error:?}");
        }
        assert!(matches!(decode(b"5\r\nhello\r\n", true, 100), Err(Error::MalformedChunk { .. })));
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
            Error::InvalidChunkSize { chunk: 2, size: 8191 }
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
            Error::InvalidChunkSize { chunk: 1, size: 8191 }
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
