//! Server-sent events: the frames of the WebSocket, for clients that only listen.

use std::time::Duration;

use bytes::Bytes;
use futures_util::stream;
use http::{HeaderValue, Response, header};
use http_body::Frame;
use http_body_util::StreamBody;
use triptych_core::host::{BoxError, ReplyBody, Stopping, Streaming};

use super::profile::Listener;

const EVENTS_AT_ONCE: usize = 256;
/// The interval of comments, so that both sides see a connection that is gone.
const COMMENT: Duration = Duration::from_secs(15);

/// A reply that goes on until the client leaves or the server stops.
pub(super) fn reply(listener: Listener, stopping: Stopping) -> Response<ReplyBody> {
    let pieces =
        stream::unfold((listener, stopping, true), |(listener, stopping, first)| async move {
            let (piece, listener) = next(listener, &stopping, first).await?;
            Some((Ok::<_, BoxError>(Frame::data(piece)), (listener, stopping, false)))
        });
    let mut response = Response::new(ReplyBody::stream(StreamBody::new(pieces)));
    let headers = response.headers_mut();
    headers.insert(header::CONTENT_TYPE, HeaderValue::from_static("text/event-stream"));
    headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("no-store"));
    response.extensions_mut().insert(Streaming);
    response
}

async fn next(
    mut listener: Listener,
    stopping: &Stopping,
    first: bool,
) -> Option<(Bytes, Listener)> {
    if first {
        // The client learns at once that it is connected, and from where on it hears.
        let start = format!("id: {}\n: listening\n\n", event_id(&listener, listener.position()));
        return Some((start.into(), listener));
    }
    loop {
        let mut text = String::new();
        for frame in listener.take(EVENTS_AT_ONCE) {
            text.push_str("data: ");
            text.push_str(&frame);
            text.push('\n');
            if let Some(seq) = seq_of(&frame) {
                text.push_str(&format!("id: {}\n", event_id(&listener, seq)));
            }
            text.push('\n');
        }
        if !text.is_empty() {
            return Some((text.into(), listener));
        }
        if listener.end().is_some() {
            return None;
        }
        tokio::select! {
            () = listener.changed() => {}
            () = stopping.stopped() => return None,
            () = tokio::time::sleep(COMMENT) => return Some((Bytes::from_static(b":\n\n"), listener)),
        }
    }
}

/// The name of a position, which the client sends when it comes back: with the run of the service that it is of.
fn event_id(listener: &Listener, seq: u64) -> String {
    format!("{}-{seq}", listener.session)
}

/// The position of a frame in the log. It is the last `seq` of the frame, as frames are written by this server alone.
fn seq_of(frame: &str) -> Option<u64> {
    #[derive(serde::Deserialize)]
    struct Placed {
        seq: u64,
    }
    serde_json::from_str::<Placed>(frame).ok().map(|placed| placed.seq)
}
