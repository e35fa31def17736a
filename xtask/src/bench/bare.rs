//! A hyper server that does nothing but answer the same bytes: what any service on it can reach at most.

use std::convert::Infallible;
use std::net::SocketAddr;

use anyhow::Result;
use http_body_util::Full;
use hyper::body::{Bytes, Incoming};
use hyper::header::{CONTENT_LENGTH, CONTENT_TYPE, DATE, HeaderMap, HeaderValue};
use hyper::service::service_fn;
use hyper::{Request, Response};
use hyper_util::rt::TokioIo;

/// Runs a measurement against such a server, which says no more than that it sends text.
///
/// # Errors
/// If it cannot listen, and those of the measurement.
pub(super) fn with_bare<T>(
    answer: Bytes,
    measure: impl FnOnce(SocketAddr) -> Result<T>,
) -> Result<T> {
    let plain = HeaderValue::from_static("text/plain; charset=utf-8");
    with_same(HeaderMap::from_iter([(CONTENT_TYPE, plain)]), answer, measure)
}

/// Runs a measurement against such a server whose answers have this head too, but for what each server says of itself.
///
/// # Errors
/// As [`with_bare`].
pub(super) fn with_same<T>(
    mut head: HeaderMap,
    answer: Bytes,
    measure: impl FnOnce(SocketAddr) -> Result<T>,
) -> Result<T> {
    head.remove(CONTENT_LENGTH);
    head.remove(DATE);
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build()?;
    let listener = runtime.block_on(tokio::net::TcpListener::bind("127.0.0.1:0"))?;
    let address = listener.local_addr()?;
    runtime.spawn(async move {
        while let Ok((stream, _)) = listener.accept().await {
            let _ = stream.set_nodelay(true);
            let (head, answer) = (head.clone(), answer.clone());
            let hello = service_fn(move |_: Request<Incoming>| {
                let mut response = Response::new(Full::new(answer.clone()));
                response.headers_mut().clone_from(&head);
                std::future::ready(Ok::<_, Infallible>(response))
            });
            let connection = hyper::server::conn::http1::Builder::new()
                .serve_connection(TokioIo::new(stream), hello);
            tokio::spawn(connection);
        }
    });
    let outcome = measure(address);
    runtime.shutdown_background();
    outcome
}
