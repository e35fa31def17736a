//! Bodies on their way in: taken as they arrive, checked and encrypted, and on disk before they have a name.
//!
//! A small body is dealt with in place. A large one has a blocking thread that checks it, encrypts it and writes it. At most a few
//! batches of it wait between that and the connection, so memory does not grow with the body.

use bytes::{Bytes, BytesMut};
use http_body_util::BodyExt as _;
use tokio::sync::mpsc;
use triptych_core::blobs::{BlobId, BlobWriter};
use triptych_core::host::{BodyError, BoxError};
use triptych_core::id::Ids;
use triptych_core::time::Timestamp;

use crate::auth::signature::Verified;
use crate::body::aws_chunked::{Decoder, Frame};
use crate::body::body_headers::BodyHeaders;
use crate::body::checksum::Digested;
use crate::body::encryption::{Encryptor, RECORD_BYTES, WrappedKey, encrypted_size};
use crate::body::object_key::BodyKey;
use crate::body::verifier::Verifier;
use crate::error::Error;
use crate::request::fields::Fields;
use crate::server::body_store::BodyStore;
use crate::store::part_list::Part;

/// Bodies of more bytes than this get a thread of their own.
const SMALL_BYTES_MAX: u64 = 128 * 1024;
/// Bytes that are handed to a thread at once: waking it for each piece costs more than the piece.
const BATCH_BYTES: usize = 256 * 1024;
/// Batches that wait for a thread.
const BATCHES_WAITING_MAX: usize = 1;
const CUT_OFF: Error = Error::BodyTerminated { reason: "The connection ended within the body" };

/// Checks and encryption of a body that comes in.
pub(super) struct Intake<'a> {
    pub(super) headers: &'a BodyHeaders,
    pub(super) verifier: Verifier,
    /// The key from which that of the body is made.
    pub(super) key: &'a BodyKey,
    /// The place that the body is bound to.
    pub(super) context: &'a [u8],
}

/// A body that is on disk, and that no record names yet.
pub(super) struct StoredBody {
    pub(super) digested: Digested,
    pub(super) blob: BlobId,
    pub(super) wrapped_key: WrappedKey,
}

impl StoredBody {
    /// The part of an object or an upload that it is.
    pub(super) fn part(&self, number: u32) -> Part {
        let wrapped_key = self.wrapped_key.clone();
        Part { number, blob: self.blob, bytes: self.digested.size, wrapped_key }
    }

    /// Deletes it where the commit that was to name it certainly did not. Where the outcome is unknown, the sweep of unnamed bodies decides
    /// later.
    pub(super) async fn delete_unnamed<T>(&self, bodies: &BodyStore, committed: &Result<T, Error>) {
        if committed.as_ref().is_err_and(|error| !error.is_outcome_unknown()) {
            let _ = bodies.blobs.delete(self.blob).await;
        }
    }
}

/// Takes a body: checks it, encrypts it with a new data key, and writes it.
///
/// # Errors
/// Those of [`Verifier`] and of the framing; `BodyTerminated`, `RequestTimeout`; those of the blobs.
pub(super) async fn receive<B>(
    bodies: &BodyStore,
    body: &mut B,
    intake: Intake<'_>,
    ids: &mut dyn Ids,
    now: Timestamp,
) -> Result<StoredBody, Error>
where
    B: http_body::Body<Data = Bytes> + Unpin,
    B::Error: Into<BoxError>,
{
    let Intake { headers, verifier, key, context } = intake;
    let (key, wrapped_key) = key.new_data_key(&bodies.keyring, context, ids);
    let size = headers.length;
    let most = size.or(body.size_hint().upper());
    let reader = FrameReader::new(body, headers);
    let writer = bodies.blobs.create(now, size.map(|size| encrypted_size(size, key.layers())));
    let encryptor = Encryptor::new(key, size);
    // A body whose length is not known beforehand may still be known to be small.
    let (digested, writer) =
        if most.is_some_and(|most| most <= SMALL_BYTES_MAX) && !verifier.is_slow() {
            receive_small(reader, verifier, encryptor, writer).await?
        } else {
            let permit = bodies.large.acquire().await;
            let verifier = verifier.with_md5(bodies.large_md5());
            let received = receive_large(reader, verifier, encryptor, writer).await;
            drop(permit);
            received?
        };
    Ok(StoredBody { digested, blob: writer.finish().await?.id, wrapped_key })
}

async fn receive_small<B>(
    mut reader: FrameReader<'_, B>,
    mut verifier: Verifier,
    mut encryptor: Encryptor,
    mut writer: Box<dyn BlobWriter>,
) -> Result<(Digested, Box<dyn BlobWriter>), Error>
where
    B: http_body::Body<Data = Bytes> + Unpin,
    B::Error: Into<BoxError>,
{
    let mut encrypted = Vec::new();
    while let Some(frame) = reader.next().await? {
        check(&mut verifier, &frame)?;
        if let Frame::Data(bytes) = frame {
            encryptor.feed(&bytes, |piece| {
                encrypted.push(piece);
                Ok::<_, Error>(())
            })?;
        }
    }
    let digested = verifier.finish()?;
    encrypted.push(encryptor.finish());
    for piece in encrypted {
        writer.write(piece).await?;
    }
    Ok((digested, writer))
}

/// A large body on a blocking thread, which checks and encrypts each piece while it is in the cache, and writes it. Its MD5 is computed
/// beside that, with those of other bodies.
async fn receive_large<B>(
    reader: FrameReader<'_, B>,
    verifier: Verifier,
    encryptor: Encryptor,
    writer: Box<dyn BlobWriter>,
) -> Result<(Digested, Box<dyn BlobWriter>), Error>
where
    B: http_body::Body<Data = Bytes> + Unpin,
    B::Error: Into<BoxError>,
{
    let (sender, batches) = mpsc::channel(BATCHES_WAITING_MAX);
    let writing =
        tokio::task::spawn_blocking(move || write_batches(verifier, encryptor, writer, batches));
    send_batches(reader, sender).await;
    writing.await.map_err(|_| Error::Internal)?
}

/// Frames of a body for its thread, and at last its end. So of several faults it finds the first.
enum Batch {
    Next(Vec<Frame>),
    End(Result<(), Error>),
}

/// Hands the frames over as they arrive, many at once.
async fn send_batches<B>(mut reader: FrameReader<'_, B>, sender: mpsc::Sender<Batch>)
where
    B: http_body::Body<Data = Bytes> + Unpin,
    B::Error: Into<BoxError>,
{
    let mut end = None;
    while end.is_none() {
        let (mut frames, mut bytes) = (Vec::new(), 0);
        while bytes < BATCH_BYTES && end.is_none() {
            match reader.next().await {
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
        if sender.send(Batch::Next(frames)).await.is_err() {
            return;
        }
    }
    if let Some(end) = end {
        let _ = sender.send(Batch::End(end)).await;
    }
}

/// Checks, encrypts and writes a body.
fn write_batches(
    mut verifier: Verifier,
    mut encryptor: Encryptor,
    mut writer: Box<dyn BlobWriter>,
    mut batches: mpsc::Receiver<Batch>,
) -> Result<(Digested, Box<dyn BlobWriter>), Error> {
    loop {
        let frames = match batches.blocking_recv() {
            Some(Batch::Next(frames)) => frames,
            Some(Batch::End(end)) => break end?,
            None => return Err(CUT_OFF),
        };
        for frame in frames {
            let Frame::Data(mut left) = frame else {
                check(&mut verifier, &frame)?;
                continue;
            };
            while !left.is_empty() {
                let part = left.split_to(left.len().min(RECORD_BYTES));
                verifier.data(&part)?;
                encryptor.feed(&part, |piece| writer.write_blocking(piece))?;
            }
        }
    }
    let digested = verifier.finish()?;
    writer.write_blocking(encryptor.finish())?;
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
struct FrameReader<'b, B> {
    body: &'b mut B,
    decoder: Option<Decoder>,
    ended: bool,
}

impl<'b, B> FrameReader<'b, B>
where
    B: http_body::Body<Data = Bytes> + Unpin,
    B::Error: Into<BoxError>,
{
    fn new(body: &'b mut B, head: &BodyHeaders) -> Self {
        let decoder = || Decoder::new(head.payload.has_signed_chunks(), head.length);
        let decoder = head.payload.is_chunked().then(decoder);
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
                return self.decoder.as_mut().map_or(Ok(None), Decoder::finish);
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

pub(super) fn body_fault(error: &(dyn std::error::Error + Send + Sync + 'static)) -> Error {
    // A body that is made of another tells what is wrong with it.
    if let Some(own) = error.downcast_ref::<Error>() {
        return own.clone();
    }
    match error.downcast_ref::<BodyError>() {
        Some(BodyError::TimedOut) => Error::RequestTimeout,
        _ => CUT_OFF,
    }
}

/// Refuses the body of a copy, whose bytes are another object's: passed over, it would look as if it had been stored.
///
/// # Errors
/// `InvalidRequest`; `BodyTerminated`, `RequestTimeout` for one that breaks off before its first byte.
pub(super) async fn refuse<B>(body: &mut B) -> Result<(), Error>
where
    B: http_body::Body<Data = Bytes> + Unpin,
    B::Error: Into<BoxError>,
{
    const REFUSED: &str =
        "The request included a body. Requests of this type must not include a non-empty body.";
    // One whose length is told is refused unread.
    while !body.is_end_stream() && body.size_hint().lower() == 0 {
        let Some(frame) = body.frame().await else {
            return Ok(());
        };
        let frame = frame.map_err(|error| body_fault(&*error.into()))?;
        if frame.data_ref().is_some_and(|data| !data.is_empty()) {
            return Err(Error::request(REFUSED));
        }
    }
    if body.is_end_stream() { Ok(()) } else { Err(Error::request(REFUSED)) }
}

/// Takes the whole body of an operation whose body is a document, and checks it against its `head`, as one of an object.
///
/// # Errors
/// [`Error::EntityTooLarge`] beyond `most` bytes; those of [`Verifier`] and of the framing.
pub(super) async fn document<B>(
    body: &mut B,
    fields: &Fields<'_>,
    head: &BodyHeaders,
    verified: &Verified,
    most: u64,
) -> Result<Bytes, Error>
where
    B: http_body::Body<Data = Bytes> + Unpin,
    B::Error: Into<BoxError>,
{
    let too_large = |proposed| Error::EntityTooLarge { proposed, most };
    if let Some(length) = head.length.filter(|length| *length > most) {
        return Err(too_large(length));
    }
    let mut verifier = Verifier::new(fields.dialect(), head, verified).of_document();
    let mut reader = FrameReader::new(body, head);
    let mut whole = BytesMut::new();
    while let Some(frame) = reader.next().await? {
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
