//! Bodies that are read piece by piece, each when the one before was taken.

use std::pin::Pin;
use std::task::{Context, Poll, ready};

use bytes::Bytes;
use http_body::{Frame, SizeHint};

use super::FramePoll;
use crate::host::BoxError;

/// Pieces of a body whose length is known.
pub trait Pieces: Send + Unpin {
    /// The next piece; `None` after the last one.
    ///
    /// # Errors
    /// Any that ends the body early.
    fn poll_piece(&mut self, context: &mut Context<'_>) -> Poll<Result<Option<Bytes>, BoxError>>;

    /// Bytes that are still to come.
    fn left(&self) -> u64;
}

/// A body of pieces. What came before a fault is sent: a client sees an answer that breaks off, not a connection without one.
#[derive(Debug)]
pub struct PieceBody<P> {
    pieces: P,
    fault: Option<BoxError>,
}

impl<P: Pieces> PieceBody<P> {
    /// The body that these pieces are.
    pub const fn new(pieces: P) -> Self {
        Self { pieces, fault: None }
    }
}

impl<P: Pieces> http_body::Body for PieceBody<P> {
    type Data = Bytes;
    type Error = BoxError;

    fn poll_frame(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> FramePoll<BoxError> {
        if let Some(fault) = self.fault.take() {
            return Poll::Ready(Some(Err(fault)));
        }
        match ready!(self.pieces.poll_piece(context)) {
            Ok(piece) => Poll::Ready(piece.map(|bytes| Ok(Frame::data(bytes)))),
            Err(fault) => {
                // A connection throws away what it has not sent once its body fails, and sends it while it waits for the body.
                self.fault = Some(fault);
                context.waker().wake_by_ref();
                Poll::Pending
            }
        }
    }

    fn is_end_stream(&self) -> bool {
        self.fault.is_none() && self.pieces.left() == 0
    }

    fn size_hint(&self) -> SizeHint {
        SizeHint::with_exact(self.pieces.left())
    }
}
