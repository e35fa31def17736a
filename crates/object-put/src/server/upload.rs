//! Bodies on their way in: taken as they arrive, checked and sealed, and on disk before they have a name.
//!
//! A small body is dealt with in place. A large one has a blocking thread that checks it, seals it and writes it. At most a few
//! batches of it wait between that and the connection, so memory does not grow with the body.

use bytes::{Bytes, BytesMut};
use http_body_util::BodyExt as _;
use tokio::sync::mpsc;
use triptych_core::blobs::{BlobStat, BlobWriter};
use triptych_core::host::{BodyError, BoxError};
use triptych_core::time::Timestamp;

use crate::auth::payload::Payload;
use crate::auth::sigv4::Verified;
use crate::body::aws_chunked::{Decoder, Frame};
use crate::body::checksum::Digested;
use crate::body::encryption::{BodyKey, RECORD_BYTES, Sealer};
use crate::error::Error;
use crate::operation::put_headers::BodyHead;
use crate::operation::put_object::Verifier;
use crate::request::fields::Fields;
use crate::server::Inner;

/// Bodies of more bytes than this get a thread of their own.
const SMALL_BYTES_MAX: u64 = 128 * 1024;
/// Large bodies that are taken at once; each has a blocking thread.
pub(super) const LARGE_BODIES_MAX: usize = 128;
/// Bytes that are handed to a thread at once: waking it for each piece costs more than the piece.
const BATCH_BYTES: usize = 256 * 1024;
/// Batches that wait for a thread.
const BATCHES_WAITING_MAX: usize = 1;

/// Takes a body: checks it with `verifier`, seals it with `key`, and writes it.
///
/// # Errors
/// Those of [`Verifier`] and of the framing; `IncompleteBody`, `RequestTimeout`; those of the blobs.
pub(super) async fn take<B>(
    inner: &Inner,
    body: &mut B,
    head: &BodyHead,
    verifier: Verifier,
    key: BodyKey,
    now: Timestamp,
) -> Result<(Digested, BlobStat), Error>
where
    B: http_body::Body<Data = Bytes> + Unpin,
    B::Error: Into<BoxError>,
{
    let size = head.length.map(|length| length.body);
    let source = Source::new(body, head.payload);
    let writer = inner.blobs.create(now, size.map(crate::body::encryption::sealed_bytes));
    let sealer = Sealer::new(key, size);
    let (digested, writer) = if size.is_some_and(|size| size <= SMALL_BYTES_MAX) {
        take_small(source, verifier, sealer, writer).await?
    } else {
        let permit = inner.large.acquire().await;
        let verifier = verifier.with_md5(inner.desk.sum((inner.cores / 2).max(1)));
        let taken = take_large(source, verifier, sealer, writer).await;
        drop(permit);
        taken?
    };
    Ok((digested, writer.finish().await?))
}

async fn take_small<B>(
    mut source: Source<'_, B>,
    mut verifier: Verifier,
    mut sealer: Sealer,
    mut writer: Box<dyn BlobWriter>,
) -> Result<(Digested, Box<dyn BlobWriter>), Error>
where
    B: http_body::Body<Data = Bytes> + Unpin,
    B::Error: Into<BoxError>,
{
    let mut sealed = Vec::new();
    while let Some(frame) = source.next().await? {
        check(&mut verifier, &frame)?;
        if let Frame::Data(bytes) = frame {
            sealer.feed(&bytes, |piece| {
                sealed.push(piece);
                Ok::<_, Error>(())
            })?;
        }
    }
    let digested = verifier.finish()?;
    sealed.push(sealer.finish());
    for piece in sealed {
        writer.write(piece).await?;
    }
    Ok((digested, writer))
}

/// A large body on a blocking thread, which checks and seals each piece while it is in the cache, and writes it. Its MD5 is computed
/// beside that, with those of other bodies.
async fn take_large<B>(
    source: Source<'_, B>,
    verifier: Verifier,
    sealer: Sealer,
    writer: Box<dyn BlobWriter>,
) -> Result<(Digested, Box<dyn BlobWriter>), Error>
where
    B: http_body::Body<Data = Bytes> + Unpin,
    B::Error: Into<BoxError>,
{
    let (hand, batches) = mpsc::channel(BATCHES_WAITING_MAX);
    let taking = tokio::task::spawn_blocking(move || take_all(verifier, sealer, writer, batches));
    hand_over(source, hand).await;
    taking.await.map_err(|_| Error::Internal)?
}

/// Frames of a body for its thread, and at last its end. So of several faults it finds the first.
enum Given {
    Next(Vec<Frame>),
    End(Result<(), Error>),
}

/// Hands the frames over as they arrive, many at once.
async fn hand_over<B>(mut source: Source<'_, B>, hand: mpsc::Sender<Given>)
where
    B: http_body::Body<Data = Bytes> + Unpin,
    B::Error: Into<BoxError>,
{
    let mut end = None;
    while end.is_none() {
        let (mut frames, mut bytes) = (Vec::new(), 0);
        while bytes < BATCH_BYTES && end.is_none() {
            match source.next().await {
                Ok(Some(frame)) => {
                    // Frames count too: a body may come in chunks of one byte.
                    bytes += size_of::<Frame>();
                    if let Frame::Data(data) = &frame {
                        bytes += data.len();
                    }
                    frames.push(frame);
                }
                Ok(None) => end = Some(Ok(())),
                Err(error) => end = Some(Err(error)),
            }
        }
        // A thread that stopped has found a fault, which is the answer.
        if hand.send(Given::Next(frames)).await.is_err() {
            return;
        }
    }
    if let Some(end) = end {
        let _ = hand.send(Given::End(end)).await;
    }
}

/// Checks, seals and writes a body.
fn take_all(
    mut verifier: Verifier,
    mut sealer: Sealer,
    mut writer: Box<dyn BlobWriter>,
    mut batches: mpsc::Receiver<Given>,
) -> Result<(Digested, Box<dyn BlobWriter>), Error> {
    loop {
        let frames = match batches.blocking_recv() {
            Some(Given::Next(frames)) => frames,
            Some(Given::End(end)) => break end?,
            None => return Err(Error::IncompleteBody),
        };
        for frame in frames {
            let Frame::Data(mut left) = frame else {
                check(&mut verifier, &frame)?;
                continue;
            };
            while !left.is_empty() {
                let part = left.split_to(left.len().min(RECORD_BYTES));
                verifier.data(&part)?;
                sealer.feed(&part, |piece| writer.write_blocking(piece))?;
            }
        }
    }
    let digested = verifier.finish()?;
    writer.write_blocking(sealer.finish())?;
    writer.sync_blocking()?;
    Ok((digested, writer))
}

fn check(verifier: &mut Verifier, frame: &Frame) -> Result<(), Error> {
    match frame {
        Frame::Data(bytes) => verifier.data(bytes),
        Frame::ChunkEnd(signature) => verifier.chunk_end(signature.as_deref()),
        Frame::End(trailer) => verifier.trailer(trailer),
    }
}

/// The frames of a body, whatever its framing.
struct Source<'b, B> {
    body: &'b mut B,
    decoder: Option<Decoder>,
    ended: bool,
}

impl<'b, B> Source<'b, B>
where
    B: http_body::Body<Data = Bytes> + Unpin,
    B::Error: Into<BoxError>,
{
    fn new(body: &'b mut B, payload: Payload) -> Self {
        let signed = matches!(payload, Payload::Signed | Payload::SignedTrailer);
        let decoder = payload.is_chunked().then(|| Decoder::new(signed));
        Self { body, decoder, ended: false }
    }

    async fn next(&mut self) -> Result<Option<Frame>, Error> {
        loop {
            if let Some(decoder) = &mut self.decoder
                && let Some(frame) = decoder.frame()?
            {
                return Ok(Some(frame));
            }
            if self.ended {
                return Ok(None);
            }
            let Some(frame) = self.body.frame().await else {
                self.ended = true;
                if self.decoder.as_ref().is_some_and(|decoder| !decoder.is_done()) {
                    return Err(Error::IncompleteBody);
                }
                return Ok(None);
            };
            let frame = frame.map_err(|error| body_fault(&*error.into()))?;
            let Ok(data) = frame.into_data() else {
                continue;
            };
            match &mut self.decoder {
                Some(decoder) => decoder.feed(data),
                None => return Ok(Some(Frame::Data(data))),
            }
        }
    }
}

fn body_fault(error: &(dyn std::error::Error + Send + Sync + 'static)) -> Error {
    match error.downcast_ref::<BodyError>() {
        Some(BodyError::TimedOut) => Error::RequestTimeout,
        _ => Error::IncompleteBody,
    }
}

/// Takes the whole body of an operation whose body is a document, and checks it as one of an object.
///
/// # Errors
/// [`Error::EntityTooLarge`] beyond `most` bytes; those of [`Verifier`] and of the framing.
pub(super) async fn document<B>(
    body: &mut B,
    fields: &Fields<'_>,
    verified: &Verified,
    most: u64,
) -> Result<Bytes, Error>
where
    B: http_body::Body<Data = Bytes> + Unpin,
    B::Error: Into<BoxError>,
{
    let head = BodyHead::read(fields, verified.payload)?;
    let too_large = |proposed| Error::EntityTooLarge { proposed, most };
    if let Some(length) = head.length.filter(|length| length.body > most) {
        return Err(too_large(length.body));
    }
    let mut verifier = Verifier::new(fields.dialect(), &head, verified);
    let mut source = Source::new(body, head.payload);
    let mut whole = BytesMut::new();
    while let Some(frame) = source.next().await? {
        check(&mut verifier, &frame)?;
        if let Frame::Data(bytes) = frame {
            whole.extend_from_slice(&bytes);
            if whole.len() as u64 > most {
                return Err(too_large(whole.len() as u64));
            }
        }
    }
    verifier.finish()?;
    Ok(whole.freeze())
}
