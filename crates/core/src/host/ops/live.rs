//! Requests as they are answered, as server-sent events: each event names its place, from which a client that was cut off goes on.

use std::pin::Pin;
use std::sync::Arc;
use std::task::Context;
use std::time::Duration;

use bytes::Bytes;
use http::{HeaderMap, HeaderValue, Response, header};
use http_body::Frame;
use tokio::sync::mpsc;

use super::request_log::RequestLog;
use crate::host::server::{FramePoll, ReplyBody, Stopping, Streaming};

/// The interval of comments, so that both sides see a connection that is gone.
const COMMENT: Duration = Duration::from_secs(15);
/// A busy service is told of in pieces, each at most the whole log, with a pause between two.
const PAUSE: Duration = Duration::from_millis(200);

/// Pieces of a reply as a task makes them.
struct Pieces(mpsc::Receiver<Bytes>);

impl http_body::Body for Pieces {
    type Data = Bytes;
    type Error = crate::host::BoxError;

    fn poll_frame(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> FramePoll<Self::Error> {
        self.0.poll_recv(context).map(|piece| piece.map(|piece| Ok(Frame::data(piece))))
    }
}

/// A reply that goes on until the client leaves or the server stops. It begins behind `Last-Event-ID`, or with the oldest request that is kept.
pub(super) fn reply(
    log: &Arc<RequestLog>,
    stopping: &Stopping,
    headers: &HeaderMap,
) -> Response<ReplyBody> {
    let place = headers.get("last-event-id").and_then(|place| place.to_str().ok());
    let from = log.number_of(place.unwrap_or_default());
    let (sender, receiver) = mpsc::channel(1);
    tokio::spawn(tell(Arc::clone(log), stopping.clone(), sender, from));
    let mut response = Response::new(ReplyBody::stream(Pieces(receiver)));
    let headers = response.headers_mut();
    headers.insert(header::CONTENT_TYPE, HeaderValue::from_static("text/event-stream"));
    headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("no-store"));
    response.extensions_mut().insert(Streaming);
    response
}

async fn tell(
    log: Arc<RequestLog>,
    stopping: Stopping,
    sender: mpsc::Sender<Bytes>,
    mut number: u64,
) {
    // The client learns at once that it is connected.
    let mut piece = String::from(": listening\n\n");
    loop {
        let pushed = log.pushed();
        for request in log.after(number) {
            number = request.number;
            let json = serde_json::to_string(&request).unwrap_or_default();
            piece.push_str(&format!("id: {}\ndata: {json}\n\n", log.place(number)));
        }
        if !piece.is_empty() {
            if sender.send(std::mem::take(&mut piece).into()).await.is_err() {
                return;
            }
            tokio::time::sleep(PAUSE).await;
            continue;
        }
        tokio::select! {
            () = pushed => {}
            () = stopping.stopped() => return,
            () = sender.closed() => return,
            () = tokio::time::sleep(COMMENT) => piece.push_str(":\n\n"),
        }
    }
}
