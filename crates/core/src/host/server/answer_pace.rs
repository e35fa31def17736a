//! The pace of answers: a client that asks and does not read is given up, so that what it holds is free again.
//!
//! Where the connection itself is full, a write of it waits ([`PacedWrites`]). Streams of HTTP/2 have windows of their own, which
//! a client can keep shut while the connection is empty ([`StreamPace`]).

use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::task::{Context, Poll};
use std::time::Duration;

use bytes::Bytes;
use http_body::SizeHint;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::time::{Instant, Sleep};

use super::place::OpenConnection;
use super::{FramePoll, ReplyBody};
use crate::host::BoxError;

/// Time limits of an answer.
#[derive(Debug, Clone, Copy)]
pub(super) struct AnswerTimeouts {
    /// The longest time in which the client takes no byte.
    pub(super) idle: Duration,
    /// Bytes a second that it must take on average while it is waited for, once `grace` is over.
    pub(super) rate_min: u64,
    /// Time for which it may be waited for without being measured against the rate.
    pub(super) grace: Duration,
}

/// A connection whose writes fail once its client does not read.
pub(super) struct PacedWrites<IO> {
    io: IO,
    /// Goes where the socket goes: behind an upgrade nothing else of the connection is left.
    #[expect(dead_code, reason = "it is held")]
    connection: Arc<OpenConnection>,
    timeouts: AnswerTimeouts,
    /// Bytes that were taken since the client last sent something, which is since its last request.
    taken: u64,
    /// Time for which it was waited for since then.
    waited: Duration,
    waiting: Option<(Instant, Pin<Box<Sleep>>)>,
}

impl<IO> PacedWrites<IO> {
    pub(super) const fn new(
        io: IO,
        timeouts: AnswerTimeouts,
        connection: Arc<OpenConnection>,
    ) -> Self {
        Self { io, connection, timeouts, taken: 0, waited: Duration::ZERO, waiting: None }
    }

    fn paced<T>(
        &mut self,
        written: Poll<io::Result<T>>,
        bytes: impl FnOnce(&T) -> usize,
        context: &mut Context<'_>,
    ) -> Poll<io::Result<T>> {
        if let Poll::Ready(done) = &written {
            if let Ok(done) = done {
                self.taken += bytes(done) as u64;
            }
            if let Some((since, _)) = self.waiting.take() {
                self.waited += since.elapsed();
            }
            return written;
        }
        let earned = Duration::from_secs(
            self.taken.checked_div(self.timeouts.rate_min).unwrap_or(u64::from(u32::MAX)),
        );
        let left = (self.timeouts.grace + earned).saturating_sub(self.waited);
        let limit = self.timeouts.idle.min(left);
        let (_, timer) = self.waiting.get_or_insert_with(|| {
            let now = Instant::now();
            (now, Box::pin(tokio::time::sleep_until(now + limit)))
        });
        match timer.as_mut().poll(context) {
            Poll::Ready(()) => Poll::Ready(Err(io::ErrorKind::TimedOut.into())),
            Poll::Pending => Poll::Pending,
        }
    }
}

impl<IO: AsyncRead + Unpin> AsyncRead for PacedWrites<IO> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let before = buffer.filled().len();
        let read = Pin::new(&mut self.io).poll_read(context, buffer);
        if self.waiting.is_none() && buffer.filled().len() > before {
            (self.taken, self.waited) = (0, Duration::ZERO);
        }
        read
    }
}

impl<IO: AsyncWrite + Unpin> AsyncWrite for PacedWrites<IO> {
    fn poll_write(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        let written = Pin::new(&mut self.io).poll_write(context, bytes);
        self.paced(written, |written| *written, context)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        pieces: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let written = Pin::new(&mut self.io).poll_write_vectored(context, pieces);
        self.paced(written, |written| *written, context)
    }

    fn is_write_vectored(&self) -> bool {
        self.io.is_write_vectored()
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        let flushed = Pin::new(&mut self.io).poll_flush(context);
        self.paced(flushed, |()| 0, context)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        let shut = Pin::new(&mut self.io).poll_shutdown(context);
        self.paced(shut, |()| 0, context)
    }
}

/// The pace of the answers on one connection of HTTP/2.
#[derive(Debug, Default)]
pub(super) struct StreamPace {
    /// Answers that gave a piece, and were not asked for the next one since.
    unread: AtomicUsize,
    /// Grows whenever one is asked.
    moves: AtomicU64,
}

impl StreamPace {
    /// Ends once answers are unread and none of them moved for `idle`, at most for half as long again.
    pub(super) async fn stalled(&self, idle: Duration) {
        let (mut seen, mut since) = (0, Instant::now());
        loop {
            tokio::time::sleep(idle / 2).await;
            let moves = self.moves.load(Ordering::Relaxed);
            if moves != seen || self.unread.load(Ordering::Relaxed) == 0 {
                (seen, since) = (moves, Instant::now());
            } else if since.elapsed() >= idle {
                return;
            }
        }
    }

    /// The same body, whose pace is noted here.
    pub(super) fn note(self: &Arc<Self>, body: ReplyBody) -> ReplyBody {
        match body {
            ReplyBody::Stream(body) => {
                ReplyBody::stream(NotedBody { body, pace: Arc::clone(self), is_unread: false })
            }
            whole @ ReplyBody::Whole(_) => whole,
        }
    }
}

/// A body that notes when it is asked for pieces.
struct NotedBody {
    body: Pin<Box<dyn http_body::Body<Data = Bytes, Error = BoxError> + Send>>,
    pace: Arc<StreamPace>,
    is_unread: bool,
}

impl NotedBody {
    fn set_unread(&mut self, is_unread: bool) {
        match (self.is_unread, is_unread) {
            (false, true) => self.pace.unread.fetch_add(1, Ordering::Relaxed),
            (true, false) => self.pace.unread.fetch_sub(1, Ordering::Relaxed),
            _ => 0,
        };
        self.is_unread = is_unread;
    }
}

impl http_body::Body for NotedBody {
    type Data = Bytes;
    type Error = BoxError;

    fn poll_frame(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> FramePoll<BoxError> {
        self.pace.moves.fetch_add(1, Ordering::Relaxed);
        let frame = self.body.as_mut().poll_frame(context);
        self.set_unread(matches!(&frame, Poll::Ready(Some(Ok(_)))));
        frame
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}

impl Drop for NotedBody {
    fn drop(&mut self) {
        self.set_unread(false);
    }
}
