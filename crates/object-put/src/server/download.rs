//! The body of an object on its way out: read from blobs, decrypted record by record, never whole in memory.

use std::future::Future;
use std::pin::Pin;
use std::sync::{Arc, OnceLock};
use std::task::{Context, Poll};

use bytes::Bytes;
use http_body::{Frame, SizeHint};
use triptych_core::blobs::{BlobError, BlobReader};
use triptych_core::host::{BoxError, ReplyBody as HostBody};
use triptych_core::kv::Tx;
use triptych_core::pending::Pending;

use crate::body::encryption::{DataKey, Decryptor, EncryptedRange, Keyring};
use crate::body::object_key::BodyKey;
use crate::error::Error;
use crate::operation::ReplyBody;
use crate::server::body_store::BodyStore;
use crate::server::open_bodies::OpenBody;
use crate::store::part_cursor::PartCursor;
use crate::store::part_list::{ObjectRange, Part, Parts};

/// The body of an answer that is still to be read. Clones are the same bytes.
#[derive(Debug, Clone)]
pub(super) enum ResponseBody {
    Whole(Bytes),
    Object(Arc<ObjectBytes>),
}

/// The bytes of an object, to be read as often as they are asked for.
#[derive(Debug)]
pub(super) struct ObjectBytes {
    range: ObjectRange,
    /// The data key of a body that is one part, once it was unwrapped.
    key: OnceLock<DataKey>,
}

impl ResponseBody {
    pub(super) fn of(body: ReplyBody) -> Self {
        match body {
            ReplyBody::Empty => Self::Whole(Bytes::new()),
            ReplyBody::Text(text) => Self::Whole(text),
            ReplyBody::Object(range) => Self::Object(ObjectBytes::new(*range)),
        }
    }

    /// About how much memory it takes.
    pub(super) fn bytes(&self) -> usize {
        match self {
            Self::Whole(bytes) => bytes.len(),
            // Beside the part itself the name of its root key and its wrapped key, or the places of chunks.
            Self::Object(_) => size_of::<Part>() + 384,
        }
    }

    /// The bytes, to be read as the client takes them. The first piece is read here: where it does not open, no byte was sent yet.
    ///
    /// # Errors
    /// As reads of bodies; `Damaged`.
    pub(super) async fn open(self, bodies: &Arc<BodyStore>) -> Result<HostBody, Error> {
        match self {
            Self::Whole(bytes) => Ok(HostBody::whole(bytes)),
            Self::Object(object) => {
                // Also for an empty body: who may not use the key is told so.
                let key = bodies.keys.open(&object.range.key).await?;
                if object.range.bytes.is_empty() {
                    return Ok(HostBody::empty());
                }
                let mut download = Download::new(bodies.clone(), object, key);
                let first = std::future::poll_fn(|context| download.poll_piece(context)).await;
                download.first = first.inspect_err(note_unreadable)?;
                download.keep_open();
                Ok(HostBody::stream(download))
            }
        }
    }
}

impl ObjectBytes {
    pub(super) fn new(range: ObjectRange) -> Arc<Self> {
        Arc::new(Self { range, key: OnceLock::new() })
    }

    fn key_of(&self, part: &Part, body_key: &BodyKey, roots: &Keyring) -> Result<DataKey, Error> {
        if let Some(key) = self.key.get() {
            return Ok(key.clone());
        }
        let context = part.context(&self.range.context);
        let opened = body_key.data_key(roots, &part.wrapped_key, &context);
        let key = opened.map_err(|_| Error::Damaged)?;
        // The answer may be given again: what a key service opened is asked for again then.
        if matches!(self.range.parts, Parts::One(_)) && *body_key == BodyKey::Service {
            let _ = self.key.set(key.clone());
        }
        Ok(key)
    }
}

fn note_unreadable(error: &Error) {
    tracing::error!(error = %error, source = ?std::error::Error::source(error), "a stored body cannot be read");
}

/// Reads the bytes of an object, part by part.
pub(super) struct Download {
    /// The first piece, where it was read before the answer began.
    first: Option<Bytes>,
    bodies: Arc<BodyStore>,
    object: Arc<ObjectBytes>,
    key: BodyKey,
    /// The parts that follow.
    parts: PartCursor,
    /// Held while there is more to read.
    kept: Option<OpenBody>,
    left: u64,
    open: Option<(Box<dyn BlobReader>, Decryptor)>,
    reading: Option<Pending<Result<Option<Bytes>, BlobError>>>,
}

impl Download {
    /// The bytes of `object`, opened with `key`.
    pub(super) fn new(bodies: Arc<BodyStore>, object: Arc<ObjectBytes>, key: BodyKey) -> Self {
        let range = &object.range.bytes;
        Self {
            first: None,
            bodies,
            left: range.end - range.start,
            parts: PartCursor::new(object.range.parts.clone(), range.start),
            kept: None,
            object,
            key,
            open: None,
            reading: None,
        }
    }

    /// Keeps the body until it is read, where that may take longer than a replaced body stays by itself.
    pub(super) fn keep_open(&mut self) {
        if self.left > 0 {
            self.kept = Some(self.bodies.open.open(self.object.range.parts.name()));
        }
    }

    /// Opens the next part that has bytes of the range; `false` when there is none.
    fn open_next(&mut self) -> Result<bool, Error> {
        let range = &self.object.range.bytes;
        let mut tx = Tx::new(&*self.bodies.store);
        while let Some(placed) = self.parts.next(&mut tx)? {
            let (part, place) = (placed.part, placed.place);
            if place.start >= range.end {
                break;
            }
            let (from, to) = (range.start.max(place.start), range.end.min(place.end));
            if from >= to {
                continue;
            }
            let key = self.object.key_of(&part, &self.key, &self.bodies.keyring)?;
            let within = from - place.start..to - place.start;
            let encrypted = EncryptedRange::of(&within, part.bytes, key.layers());
            let reader = self.bodies.blobs.open(part.blob, encrypted.bytes.clone())?;
            self.open = Some((reader, Decryptor::new(key, &encrypted)));
            return Ok(true);
        }
        Ok(false)
    }

    fn poll_piece(&mut self, context: &mut Context<'_>) -> Poll<Result<Option<Bytes>, Error>> {
        loop {
            let Some((reader, decryptor)) = &mut self.open else {
                match self.open_next() {
                    Ok(true) => continue,
                    Ok(false) if self.left == 0 => return Poll::Ready(Ok(None)),
                    Ok(false) => return Poll::Ready(Err(Error::Damaged)),
                    Err(error) => return Poll::Ready(Err(error)),
                }
            };
            match decryptor.decrypt_next() {
                Ok(Some(bytes)) => {
                    self.left = self.left.saturating_sub(bytes.len() as u64);
                    return Poll::Ready(Ok(Some(bytes)));
                }
                Ok(None) if decryptor.is_done() => {
                    self.open = None;
                    continue;
                }
                Ok(None) => {}
                Err(_) => return Poll::Ready(Err(Error::Damaged)),
            }
            let reading = self.reading.get_or_insert_with(|| reader.next());
            let read = std::task::ready!(Pin::new(reading).poll(context));
            self.reading = None;
            match read {
                Ok(Some(encrypted)) => decryptor.feed(encrypted),
                Ok(None) => return Poll::Ready(Err(Error::Damaged)),
                Err(error) => return Poll::Ready(Err(error.into())),
            }
        }
    }
}

impl http_body::Body for Download {
    type Data = Bytes;
    type Error = BoxError;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, BoxError>>> {
        if let Some(bytes) = self.first.take() {
            return Poll::Ready(Some(Ok(Frame::data(bytes))));
        }
        self.poll_piece(context).map(|piece| match piece {
            Ok(bytes) => bytes.map(|bytes| Ok(Frame::data(bytes))),
            Err(error) => {
                note_unreadable(&error);
                Some(Err(error.into()))
            }
        })
    }

    fn is_end_stream(&self) -> bool {
        self.left == 0 && self.first.is_none()
    }

    fn size_hint(&self) -> SizeHint {
        SizeHint::with_exact(self.left + self.first.as_ref().map_or(0, |bytes| bytes.len() as u64))
    }
}
