//! A stored file as a body: its pieces are read one after the other, each when the one before was taken.

use std::ops::Range;
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use bytes::Bytes;
use triptych_core::blobs::{BlobError, BlobReader};
use triptych_core::host::{BoxError, Pieces};
use triptych_core::pending::Pending;

use crate::upload::media::Reader;

/// The bytes of `range` of a file in pieces.
pub(super) struct FileBody {
    reader: Reader,
    range: Range<u64>,
    open: Option<Box<dyn BlobReader>>,
    next: Option<Pending<Result<Option<Bytes>, BlobError>>>,
}

impl FileBody {
    /// A body of the bytes of `range`, which are there.
    pub(super) const fn new(reader: Reader, range: Range<u64>) -> Self {
        Self { reader, range, open: None, next: None }
    }
}

impl Pieces for FileBody {
    fn poll_piece(&mut self, context: &mut Context<'_>) -> Poll<Result<Option<Bytes>, BoxError>> {
        loop {
            if self.left() == 0 {
                return Poll::Ready(Ok(None));
            }
            if let Some(pending) = &mut self.next {
                let read = ready!(Pin::new(pending).poll(context));
                self.next = None;
                match read {
                    Ok(Some(bytes)) => {
                        self.range.start += bytes.len() as u64;
                        return Poll::Ready(Ok(Some(bytes)));
                    }
                    Ok(None) => self.open = None,
                    Err(error) => return Poll::Ready(Err(error.into())),
                }
            }
            if self.open.is_none() {
                match self.reader.open_at(self.range.start, self.left()) {
                    Ok(Some(open)) => self.open = Some(open),
                    // The length was promised: a file that was deleted meanwhile breaks the answer off.
                    Ok(None) => return Poll::Ready(Err(BlobError::Absent.into())),
                    Err(error) => return Poll::Ready(Err(error.into())),
                }
            }
            self.next = self.open.as_mut().map(|open| open.next());
        }
    }

    fn left(&self) -> u64 {
        self.range.end.saturating_sub(self.range.start)
    }
}
