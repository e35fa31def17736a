//! The body of an object on its way out: read from blobs, decrypted record by record, never whole in memory.

use std::sync::Arc;
use std::task::{Context, Poll, ready};

use bytes::Bytes;
use parking_lot::Mutex;
use triptych_core::host::{BoxError, PieceBody, Pieces, ReplyBody as HostBody};

use crate::body::object_key::BodyKey;
use crate::error::Error;
use crate::operation::ReplyBody;
use crate::server::body_store::BodyStore;
use crate::server::open_bodies::OpenBody;
use crate::server::read_ahead::{ObjectBytes, ReadAhead};
use crate::store::part_list::{BodyName, Part};

/// The body of an answer that is still to be read. Clones are the same bytes.
#[derive(Debug, Clone)]
pub(super) enum ResponseBody {
    Whole(Bytes),
    Object(Arc<ObjectBytes>),
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

    /// The bytes, to be read as the client takes them. The first ones are read here: where they do not open, no byte was sent yet.
    ///
    /// # Errors
    /// As reads of bodies; `Damaged`.
    pub(super) async fn open(self, bodies: &Arc<BodyStore>) -> Result<HostBody, Error> {
        match self {
            Self::Whole(bytes) => Ok(HostBody::whole(bytes)),
            Self::Object(object) => {
                // Also for an empty body: who may not use the key is told so.
                let key = bodies.keys.open(object.opening()).await?;
                let mut download = Download::new(bodies.clone(), object, key);
                download.read_first().await.inspect_err(note_unreadable)?;
                if download.left == 0 {
                    return Ok(HostBody::empty());
                }
                download.keep_open();
                Ok(HostBody::stream(PieceBody::new(download)))
            }
        }
    }
}

fn note_unreadable(error: &Error) {
    tracing::error!(error = %error, source = ?std::error::Error::source(error), "a stored body cannot be read");
}

/// The bytes of an object as a body.
pub(super) struct Download {
    bodies: Arc<BodyStore>,
    reading: Arc<Mutex<ReadAhead>>,
    /// The body.
    name: BodyName,
    left: u64,
    /// Held while there is more to read.
    kept: Option<OpenBody>,
}

impl Download {
    /// The bytes of `object`, opened with `key`.
    pub(super) fn new(bodies: Arc<BodyStore>, object: Arc<ObjectBytes>, key: BodyKey) -> Self {
        let name = object.name();
        let reading = ReadAhead::new(bodies.clone(), object, key);
        let left = reading.left();
        Self { bodies, reading: Arc::new(Mutex::new(reading)), name, left, kept: None }
    }

    /// Keeps the body until it is read, where that may take longer than a replaced body stays by itself, and looks after what is read
    /// ahead.
    pub(super) fn keep_open(&mut self) {
        if self.left > 0 {
            let reader = Arc::downgrade(&self.reading);
            self.kept = Some(self.bodies.open.open(self.name, reader));
        }
    }

    /// Reads the first bytes.
    async fn read_first(&self) -> Result<(), Error> {
        std::future::poll_fn(|context| self.reading.lock().poll_first(context)).await
    }
}

impl Pieces for Download {
    fn poll_piece(&mut self, context: &mut Context<'_>) -> Poll<Result<Option<Bytes>, BoxError>> {
        let piece = ready!(self.reading.lock().poll_piece(context));
        if let Ok(Some(bytes)) = &piece {
            self.left = self.left.saturating_sub(bytes.len() as u64);
        }
        Poll::Ready(piece.map_err(|error| {
            note_unreadable(&error);
            error.into()
        }))
    }

    fn left(&self) -> u64 {
        self.left
    }
}
