//! Bodies as the host hands them over: requests that cannot stall for ever, replies without a box where none is needed.

use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};
use std::time::Duration;

use bytes::Bytes;
use http_body::{Frame, SizeHint};
use http_body_util::BodyExt as _;
use hyper::body::Incoming;
use parking_lot::Mutex;
use tokio::time::{Instant, Sleep};

use crate::host::BoxError;

/// Reasons for which a request body ended early.
#[derive(Debug, thiserror::Error)]
pub enum BodyError {
    /// Nothing arrived for too long, or less than the minimum rate did.
    #[error("the request body stopped arriving, or arrives more slowly than the server waits for")]
    TimedOut,
    /// The connection broke, or its framing is wrong.
    #[error("the request body broke off")]
    Broken(#[source] hyper::Error),
}

/// Time limits of a body.
#[derive(Debug, Clone, Copy)]
pub(in crate::host) struct BodyTimeouts {
    /// The longest time without any byte.
    pub(in crate::host) idle: Duration,
    /// Bytes a second that must have arrived on average, once `grace` is over.
    pub(in crate::host) rate_min: u64,
    /// Time in which the rate is not looked at.
    pub(in crate::host) grace: Duration,
}

/// The body of a request. Its data comes as it arrived; it fails with a [`BodyError`] where the sender stalls.
pub struct Body {
    incoming: Incoming,
    timeouts: BodyTimeouts,
    arrived: u64,
    begun: Option<Instant>,
    /// Made only once the body has to be waited for, which most never have.
    timer: Option<Pin<Box<Sleep>>>,
    copy: Option<BodyCopy>,
}

/// The beginning of a body that is text, for whoever looks at what a client sent.
#[derive(Debug, Clone, Default)]
pub(in crate::host) struct BodyCopy(Arc<Mutex<Vec<u8>>>);

impl BodyCopy {
    /// The bytes that a copy holds at most.
    const BYTES_MAX: usize = 4 * 1024;

    fn add(&self, data: &[u8]) {
        let mut copied = self.0.lock();
        let room = Self::BYTES_MAX.saturating_sub(copied.len());
        copied.extend_from_slice(data.get(..room).unwrap_or(data));
    }

    /// The text that was copied so far.
    pub(in crate::host) fn text(&self) -> String {
        Self::text_of(&self.0.lock())
    }

    /// The beginning of these bytes as text.
    pub(in crate::host) fn text_of(bytes: &[u8]) -> String {
        let begin = bytes.get(..Self::BYTES_MAX).unwrap_or(bytes);
        String::from_utf8_lossy(begin).into_owned()
    }
}

impl Body {
    pub(in crate::host) fn new(incoming: Incoming, timeouts: BodyTimeouts) -> Self {
        Self { incoming, timeouts, arrived: 0, begun: None, timer: None, copy: None }
    }

    /// The same body, whose beginning is copied as it arrives.
    pub(in crate::host) fn copied_to(self, copy: Option<BodyCopy>) -> Self {
        Self { copy, ..self }
    }

    /// Gives the connection's own body, without time limits: for protocol upgrades.
    pub fn into_incoming(self) -> Incoming {
        self.incoming
    }

    fn deadline(&self, now: Instant) -> Instant {
        let idle = now + self.timeouts.idle;
        let begun = self.begun.unwrap_or(now);
        let earned = Duration::from_secs(
            self.arrived.checked_div(self.timeouts.rate_min).unwrap_or(u64::from(u32::MAX)),
        );
        idle.min(begun + self.timeouts.grace + earned)
    }
}

/// One poll of a body of bytes: its next frame or an error, `None` at its end.
pub type FramePoll<E> = Poll<Option<Result<Frame<Bytes>, E>>>;

impl http_body::Body for Body {
    type Data = Bytes;
    type Error = BodyError;

    fn poll_frame(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> FramePoll<BodyError> {
        let this = &mut *self;
        match Pin::new(&mut this.incoming).poll_frame(context) {
            Poll::Ready(frame) => {
                if let Some(data) = frame.as_ref().and_then(|frame| frame.as_ref().ok()?.data_ref())
                {
                    this.arrived += data.len() as u64;
                    if let Some(copy) = &this.copy {
                        copy.add(data);
                    }
                }
                this.timer = None;
                Poll::Ready(frame.map(|frame| frame.map_err(BodyError::Broken)))
            }
            Poll::Pending => {
                let now = Instant::now();
                this.begun.get_or_insert(now);
                let deadline = this.deadline(now);
                let timer =
                    this.timer.get_or_insert_with(|| Box::pin(tokio::time::sleep_until(deadline)));
                ready!(timer.as_mut().poll(context));
                Poll::Ready(Some(Err(BodyError::TimedOut)))
            }
        }
    }

    fn is_end_stream(&self) -> bool {
        self.incoming.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.incoming.size_hint()
    }
}

impl std::fmt::Debug for Body {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Body").field("arrived", &self.arrived).finish_non_exhaustive()
    }
}

/// Bytes of a refused body that are read: more than any picture or caption may have, and most objects.
const REFUSED_BYTES_MAX: u64 = 128 * 1024 * 1024;

/// Reads what is left of a refused body and throws it away: most senders read no answer before they have sent all. Of one that is longer
/// than 128 MiB no more is read, and nothing if it says so.
pub async fn drain_refused<B: http_body::Body<Data = Bytes> + Unpin>(body: &mut B) {
    if body.size_hint().lower() > REFUSED_BYTES_MAX {
        return;
    }
    let mut drained = 0;
    while drained < REFUSED_BYTES_MAX {
        match body.frame().await {
            Some(Ok(frame)) => drained += frame.data_ref().map_or(0, |data| data.len() as u64),
            _ => return,
        }
    }
}

/// The body of a reply: nothing, bytes that are there already, or a stream.
pub enum ReplyBody {
    /// Bytes that are there already; taken when sent.
    Whole(Bytes),
    /// Pieces that come as they are read.
    Stream(Pin<Box<dyn http_body::Body<Data = Bytes, Error = BoxError> + Send>>),
}

impl ReplyBody {
    /// No body.
    #[must_use]
    pub const fn empty() -> Self {
        Self::Whole(Bytes::new())
    }

    /// These bytes.
    #[must_use]
    pub fn whole(bytes: impl Into<Bytes>) -> Self {
        Self::Whole(bytes.into())
    }

    /// A body that comes in pieces.
    pub fn stream<B>(body: B) -> Self
    where
        B: http_body::Body<Data = Bytes, Error = BoxError> + Send + 'static,
    {
        Self::Stream(Box::pin(body))
    }
}

impl Default for ReplyBody {
    fn default() -> Self {
        Self::empty()
    }
}

impl http_body::Body for ReplyBody {
    type Data = Bytes;
    type Error = BoxError;

    fn poll_frame(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> FramePoll<BoxError> {
        match &mut *self {
            Self::Whole(bytes) if bytes.is_empty() => Poll::Ready(None),
            Self::Whole(bytes) => Poll::Ready(Some(Ok(Frame::data(std::mem::take(bytes))))),
            Self::Stream(body) => body.as_mut().poll_frame(context),
        }
    }

    fn is_end_stream(&self) -> bool {
        match self {
            Self::Whole(bytes) => bytes.is_empty(),
            Self::Stream(body) => body.is_end_stream(),
        }
    }

    fn size_hint(&self) -> SizeHint {
        match self {
            Self::Whole(bytes) => SizeHint::with_exact(bytes.len() as u64),
            Self::Stream(body) => body.size_hint(),
        }
    }
}

impl std::fmt::Debug for ReplyBody {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Whole(bytes) => f.debug_tuple("Whole").field(&bytes.len()).finish(),
            Self::Stream(_) => f.write_str("Stream"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A body of zeros that may say how long it is.
    struct Zeros {
        left: u64,
        says: bool,
    }

    impl http_body::Body for Zeros {
        type Data = Bytes;
        type Error = BoxError;

        fn poll_frame(mut self: Pin<&mut Self>, _: &mut Context<'_>) -> FramePoll<BoxError> {
            static PIECE: [u8; 1024 * 1024] = [0; 1024 * 1024];
            let size = self.left.min(PIECE.len() as u64);
            self.left -= size;
            let piece = Bytes::from_static(&PIECE[..size as usize]);
            Poll::Ready((size > 0).then_some(Ok(Frame::data(piece))))
        }

        fn size_hint(&self) -> SizeHint {
            match self.says {
                true => SizeHint::with_exact(self.left),
                false => SizeHint::default(),
            }
        }
    }

    #[tokio::test]
    async fn of_a_refused_body_no_more_is_read_than_128_mib() {
        const MIB: u64 = 1024 * 1024;
        for (size, says, left) in [
            (128 * MIB, true, 0),
            (128 * MIB + 1, true, 128 * MIB + 1),
            (100 * MIB, false, 0),
            (200 * MIB, false, 72 * MIB),
        ] {
            let mut body = Zeros { left: size, says };
            drain_refused(&mut body).await;
            assert_eq!(body.left, left, "of {size}, announced: {says}");
        }
    }
}
