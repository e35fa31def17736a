//! The body of an object on its way out: read from blobs, opened record by record, never whole in memory.

use std::collections::VecDeque;
use std::future::Future;
use std::ops::Range;
use std::pin::Pin;
use std::task::{Context, Poll};

use bytes::Bytes;
use http_body::{Frame, SizeHint};
use triptych_core::blobs::{BlobError, BlobReader};
use triptych_core::host::{BoxError, ReplyBody as HostBody};
use triptych_core::pending::Pending;

use super::ObjectPut;
use crate::encryption::{Opener, SealedRange};
use crate::error::Error;
use crate::object::{Part, sealing_context};
use crate::operation::ReplyBody;

/// The body of `object`, to be read as the client takes it.
pub(super) fn open(service: ObjectPut, object: ReplyBody) -> HostBody {
    let ReplyBody::Object {
        bucket,
        key,
        random,
        parts,
        range,
    } = object
    else {
        return HostBody::empty();
    };
    if range.is_empty() {
        return HostBody::empty();
    }
    let context = sealing_context(bucket, &key, random);
    HostBody::stream(Outlet::new(service, context, parts, range))
}

/// A part, and which of its bytes are wanted.
type Wanted = (Part, Range<u64>);

/// Reads the wanted bytes of parts, one after the other.
pub(super) struct Outlet {
    service: ObjectPut,
    context: Vec<u8>,
    parts: VecDeque<Wanted>,
    left: u64,
    open: Option<(Box<dyn BlobReader>, Opener)>,
    reading: Option<Pending<Result<Option<Bytes>, BlobError>>>,
}

impl Outlet {
    /// The bytes `range` of the body that `parts` make up.
    pub(super) fn new(
        service: ObjectPut,
        context: Vec<u8>,
        parts: Vec<Part>,
        range: Range<u64>,
    ) -> Self {
        let mut start = 0;
        let mut wanted = VecDeque::new();
        for part in parts {
            let end = start + part.bytes;
            let (from, to) = (range.start.max(start), range.end.min(end));
            if from < to {
                wanted.push_back((part, from - start..to - start));
            }
            start = end;
        }
        let left = range.end - range.start;
        Self {
            service,
            context,
            parts: wanted,
            left,
            open: None,
            reading: None,
        }
    }

    /// Opens the next part; `false` when there is none.
    fn open_next(&mut self) -> Result<bool, Error> {
        let Some((part, range)) = self.parts.pop_front() else {
            return Ok(false);
        };
        let inner = &self.service.0;
        let key = inner
            .keyring
            .open(&part.sealed, &self.context)
            .map_err(|_| Error::Damaged)?;
        let sealed = SealedRange::of(&range, part.bytes);
        let reader = inner.blobs.open(part.blob, sealed.bytes.clone())?;
        self.open = Some((reader, Opener::new(key, &sealed)));
        Ok(true)
    }

    fn poll_piece(&mut self, context: &mut Context<'_>) -> Poll<Result<Option<Bytes>, Error>> {
        loop {
            let Some((reader, opener)) = &mut self.open else {
                match self.open_next() {
                    Ok(true) => continue,
                    Ok(false) if self.left == 0 => return Poll::Ready(Ok(None)),
                    Ok(false) => return Poll::Ready(Err(Error::Damaged)),
                    Err(error) => return Poll::Ready(Err(error)),
                }
            };
            match opener.open_next() {
                Ok(Some(bytes)) => {
                    self.left = self.left.saturating_sub(bytes.len() as u64);
                    return Poll::Ready(Ok(Some(bytes)));
                }
                Ok(None) if opener.is_done() => {
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
                Ok(Some(sealed)) => opener.feed(sealed),
                Ok(None) => return Poll::Ready(Err(Error::Damaged)),
                Err(error) => return Poll::Ready(Err(error.into())),
            }
        }
    }
}

impl http_body::Body for Outlet {
    type Data = Bytes;
    type Error = BoxError;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, BoxError>>> {
        self.poll_piece(context).map(|piece| match piece {
            Ok(bytes) => bytes.map(|bytes| Ok(Frame::data(bytes))),
            Err(error) => {
                tracing::error!(error = %error, source = ?std::error::Error::source(&error), "a stored body cannot be read");
                Some(Err(error.into()))
            }
        })
    }

    fn is_end_stream(&self) -> bool {
        self.left == 0
    }

    fn size_hint(&self) -> SizeHint {
        SizeHint::with_exact(self.left)
    }
}
