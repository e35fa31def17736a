//! Bodies on their way in: taken as they arrive, checked and encrypted, and on disk before they have a name.
//!
//! A small body is dealt with in place, a large one on a thread ([`large_body`]).

use bytes::{Bytes, BytesMut};
use http_body_util::BodyExt as _;
use triptych_core::blobs::{BlobId, BlobWriter};
use triptych_core::host::BoxError;
use triptych_core::id::Ids;
use triptych_core::time::Timestamp;

use crate::auth::signature::Verified;
use crate::body::aws_chunked::Frame;
use crate::body::body_headers::BodyHeaders;
use crate::body::checksum::Digested;
use crate::body::encryption::{Encryptor, WrappedKey, encrypted_size};
use crate::body::object_key::BodyKey;
use crate::body::verifier::Verifier;
use crate::error::Error;
use crate::request::fields::Fields;
use crate::server::body_store::BodyStore;
use crate::server::frame_reader::{FrameReader, body_fault, check};
use crate::server::large_body::{self, Writing};
use crate::store::part_list::Part;

/// Bodies of more bytes than this are dealt with on a thread.
const SMALL_BYTES_MAX: u64 = 128 * 1024;

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
            let verifier = verifier.with_md5(bodies.large_md5());
            let writing = Writing { verifier, encryptor, writer };
            large_body::receive(&bodies.large, reader, writing).await?
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
