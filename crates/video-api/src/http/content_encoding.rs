//! Bodies that a client packed: unpacked as they arrive, so that every limit is one on what comes out and none on what goes in.

use std::io::Write;
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use bytes::{Buf, Bytes};
use flate2::write::MultiGzDecoder;
use http::HeaderMap;
use http::header::{CONTENT_ENCODING, CONTENT_LENGTH};
use http_body::Frame;
use triptych_core::host::{BoxError, FramePoll};

use crate::api::error::Error;

/// Bytes that are unpacked at once: gzip makes at most 1,032 of one, so a step holds no more than about a megabyte.
const STEP_BYTES: usize = 1_024;

/// The reason why a body cannot be unpacked.
#[derive(Debug, thiserror::Error)]
pub(super) enum EncodingError {
    /// `Content-Encoding` names another encoding than gzip.
    #[error("the encoding {0} is not supported")]
    Unsupported(String),
    /// It says that it is gzip, and is not, or is cut off.
    #[error("the body is not gzip, or is cut off")]
    Damaged,
}

impl From<&EncodingError> for Error {
    fn from(error: &EncodingError) -> Self {
        match error {
            EncodingError::Unsupported(name) => Self::UnsupportedEncoding(name.clone()),
            EncodingError::Damaged => Self::ParseError(error.to_string()),
        }
    }
}

/// The encoding that a request names for its body.
enum Encoding {
    Identity,
    Gzip,
    Other(String),
}

impl Encoding {
    fn of(headers: &HeaderMap) -> Self {
        let Some(value) = headers.get(CONTENT_ENCODING) else {
            return Self::Identity;
        };
        let name = String::from_utf8_lossy(value.as_bytes()).trim().to_ascii_lowercase();
        match name.as_str() {
            "" | "identity" => Self::Identity,
            "gzip" | "x-gzip" => Self::Gzip,
            _ => Self::Other(name),
        }
    }
}

/// A body without the packing that its `Content-Encoding` names.
pub(super) struct DecodedBody<'b, B> {
    inner: &'b mut B,
    step: Step,
}

/// The state of the unpacking.
enum Step {
    /// Nothing is packed.
    Plain,
    /// The decoder, and what arrived and is not yet unpacked.
    Gzip { decoder: Box<MultiGzDecoder<Vec<u8>>>, packed: Bytes, has_begun: bool },
    /// The first byte is refused.
    Refused(String),
    /// It is over.
    Ended,
}

impl<'b, B> DecodedBody<'b, B> {
    /// The body of a request with these headers. Their length is not that of what comes out, and is taken away where they differ.
    pub(super) fn new(inner: &'b mut B, headers: &mut HeaderMap) -> Self {
        let step = match Encoding::of(headers) {
            Encoding::Identity => Step::Plain,
            Encoding::Gzip => {
                headers.remove(CONTENT_LENGTH);
                Step::Gzip {
                    decoder: Box::new(MultiGzDecoder::new(Vec::new())),
                    packed: Bytes::new(),
                    has_begun: false,
                }
            }
            Encoding::Other(name) => Step::Refused(name),
        };
        Self { inner, step }
    }
}

impl<B> http_body::Body for DecodedBody<'_, B>
where
    B: http_body::Body<Data = Bytes> + Unpin,
    B::Error: Into<BoxError>,
{
    type Data = Bytes;
    type Error = BoxError;

    fn poll_frame(self: Pin<&mut Self>, context: &mut Context<'_>) -> FramePoll<BoxError> {
        let this = self.get_mut();
        loop {
            match &mut this.step {
                Step::Ended => return Poll::Ready(None),
                Step::Plain => {}
                Step::Gzip { decoder, packed, .. } => match unpack(decoder, packed) {
                    Ok(bytes) if bytes.is_empty() && packed.is_empty() => {}
                    Ok(bytes) if bytes.is_empty() => continue,
                    Ok(bytes) => return Poll::Ready(Some(Ok(Frame::data(bytes)))),
                    Err(error) => {
                        this.step = Step::Ended;
                        return Poll::Ready(Some(Err(error.into())));
                    }
                },
                Step::Refused(_) => {}
            }
            let frame = ready!(Pin::new(&mut *this.inner).poll_frame(context));
            match this.take(frame) {
                Taken::Answer(answer) => return Poll::Ready(answer),
                Taken::More => {}
            }
        }
    }
}

/// The outcome of a frame that arrived.
enum Taken {
    /// It is what the reader gets.
    Answer(Option<Result<Frame<Bytes>, BoxError>>),
    /// It is kept, to be unpacked.
    More,
}

impl<B> DecodedBody<'_, B> {
    fn take<E: Into<BoxError>>(&mut self, frame: Option<Result<Frame<Bytes>, E>>) -> Taken {
        let frame = match frame {
            Some(Err(error)) => return Taken::Answer(Some(Err(error.into()))),
            Some(Ok(frame)) => Some(frame),
            None => None,
        };
        match (&mut self.step, frame) {
            (Step::Gzip { packed, has_begun, .. }, Some(frame)) => {
                if let Ok(bytes) = frame.into_data() {
                    *has_begun |= !bytes.is_empty();
                    *packed = bytes;
                }
                Taken::More
            }
            (Step::Gzip { decoder, has_begun, .. }, None) => {
                // A request without any body may still name an encoding.
                let ended = if *has_begun { finish(decoder) } else { Ok(Bytes::new()) };
                self.step = Step::Ended;
                Taken::Answer(match ended {
                    Ok(bytes) if bytes.is_empty() => None,
                    Ok(bytes) => Some(Ok(Frame::data(bytes))),
                    Err(error) => Some(Err(error.into())),
                })
            }
            (Step::Refused(name), Some(frame))
                if frame.data_ref().is_some_and(Buf::has_remaining) =>
            {
                let error = EncodingError::Unsupported(std::mem::take(name));
                self.step = Step::Ended;
                Taken::Answer(Some(Err(error.into())))
            }
            (_, frame) => Taken::Answer(frame.map(Ok)),
        }
    }
}

/// Unpacks the next step of what arrived.
fn unpack(
    decoder: &mut MultiGzDecoder<Vec<u8>>,
    packed: &mut Bytes,
) -> Result<Bytes, EncodingError> {
    let step = packed.split_to(packed.len().min(STEP_BYTES));
    decoder.write_all(&step).map_err(|_| EncodingError::Damaged)?;
    Ok(std::mem::take(decoder.get_mut()).into())
}

fn finish(decoder: &mut MultiGzDecoder<Vec<u8>>) -> Result<Bytes, EncodingError> {
    decoder.try_finish().map_err(|_| EncodingError::Damaged)?;
    Ok(std::mem::take(decoder.get_mut()).into())
}

/// Unpacks a body that is there as a whole, such as that of a request in a batch, to at most `bytes_max` bytes.
///
/// # Errors
/// [`Error::UnsupportedEncoding`], [`Error::ParseError`], [`Error::UploadTooLarge`].
pub(super) fn unpacked(headers: &HeaderMap, body: Bytes, bytes_max: usize) -> Result<Bytes, Error> {
    match Encoding::of(headers) {
        _ if body.is_empty() => return Ok(body),
        Encoding::Identity => return Ok(body),
        Encoding::Other(name) => return Err(Error::UnsupportedEncoding(name)),
        Encoding::Gzip => {}
    }
    let within = |out: &[u8]| match out.len() > bytes_max {
        true => Err(Error::UploadTooLarge(bytes_max as u64)),
        false => Ok(()),
    };
    let (mut decoder, mut packed, mut out) = (MultiGzDecoder::new(Vec::new()), body, Vec::new());
    while !packed.is_empty() {
        out.extend_from_slice(
            &unpack(&mut decoder, &mut packed).map_err(|error| Error::from(&error))?,
        );
        within(&out)?;
    }
    out.extend_from_slice(&finish(&mut decoder).map_err(|error| Error::from(&error))?);
    within(&out)?;
    Ok(out.into())
}

#[cfg(test)]
mod tests {
    use super::*;
    use flate2::Compression;
    use flate2::write::GzEncoder;
    use http::HeaderValue;
    use http_body_util::{BodyExt, Full};
    use proptest::prelude::*;

    fn packed(text: &[u8]) -> Vec<u8> {
        let mut encoder = GzEncoder::new(Vec::new(), Compression::best());
        encoder.write_all(text).unwrap();
        encoder.finish().unwrap()
    }

    fn named(encoding: &'static str) -> HeaderMap {
        let mut headers = HeaderMap::new();
        headers.insert(CONTENT_ENCODING, HeaderValue::from_static(encoding));
        headers.insert(CONTENT_LENGTH, HeaderValue::from_static("1"));
        headers
    }

    /// A body that arrives in these pieces.
    struct Pieces(std::vec::IntoIter<Vec<u8>>);

    impl http_body::Body for Pieces {
        type Data = Bytes;
        type Error = BoxError;

        fn poll_frame(mut self: Pin<&mut Self>, _context: &mut Context<'_>) -> FramePoll<BoxError> {
            Poll::Ready(self.0.next().map(|piece| Ok(Frame::data(piece.into()))))
        }
    }

    async fn read(encoding: &'static str, pieces: Vec<Vec<u8>>) -> Result<Bytes, BoxError> {
        let mut body = Pieces(pieces.into_iter());
        let decoded = DecodedBody::new(&mut body, &mut named(encoding));
        Ok(decoded.collect().await?.to_bytes())
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]
        #[test]
        fn what_was_packed_comes_out_however_it_is_cut(
            text in proptest::collection::vec(any::<u8>(), 0..6_000), cut in 1_usize..900
        ) {
            let pieces = packed(&text).chunks(cut).map(<[u8]>::to_vec).collect();
            let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
            prop_assert_eq!(runtime.block_on(read("gzip", pieces)).unwrap(), text);
        }
    }

    #[tokio::test]
    async fn a_body_that_is_cut_off_or_no_gzip_is_refused_and_an_absent_one_is_none() {
        let whole = packed(b"{\"a\": 1}");
        for cut in 1..whole.len() {
            let read = read("gzip", vec![whole[..cut].to_vec()]).await;
            assert!(read.is_err(), "{cut}");
        }
        assert!(read("gzip", vec![b"{}".to_vec()]).await.is_err());
        assert_eq!(read("gzip", Vec::new()).await.unwrap(), Bytes::new());
        assert_eq!(read("br", Vec::new()).await.unwrap(), Bytes::new());
        let error = read("br", vec![b"x".to_vec()]).await.unwrap_err();
        assert!(
            matches!(error.downcast_ref(), Some(EncodingError::Unsupported(name)) if name == "br")
        );
    }

    #[tokio::test]
    async fn a_bomb_comes_out_in_pieces_of_a_megabyte() {
        let bomb = packed(&vec![0; 64 * 1024 * 1024]);
        let mut body = Full::new(Bytes::from(bomb));
        let mut decoded = DecodedBody::new(&mut body, &mut named("gzip"));
        let mut total = 0;
        while let Some(frame) = decoded.frame().await {
            let bytes = frame.unwrap().into_data().unwrap_or_default();
            assert!(bytes.len() <= 2 * 1024 * 1024, "{}", bytes.len());
            total += bytes.len();
        }
        assert_eq!(total, 64 * 1024 * 1024);
    }

    #[test]
    fn a_whole_body_is_unpacked_within_its_limit() {
        let zeros = Bytes::from(packed(&[0; 5_000]));
        assert_eq!(unpacked(&named("gzip"), zeros.clone(), 5_000).unwrap().len(), 5_000);
        assert_eq!(unpacked(&named("gzip"), zeros, 4_999), Err(Error::UploadTooLarge(4_999)));
        let other = unpacked(&named("deflate"), Bytes::from_static(b"x"), 9);
        assert_eq!(other, Err(Error::UnsupportedEncoding("deflate".into())));
    }
}
