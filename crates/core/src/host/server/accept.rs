//! The accept loop: one task a connection, which speaks HTTP/1 or HTTP/2 to its end.

use std::convert::Infallible;
use std::net::SocketAddr;
use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

use hyper::service::service_fn;
use hyper_util::rt::{TokioExecutor, TokioIo, TokioTimer};
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::mpsc;

use super::answer_pace::{PacedWrites, StreamPace};
use super::place::{OpenConnection, Places};
use super::shutdown;
use super::state::{Config, ServerState};
use super::{HostedService, Peer};

/// Fields that a head has at most. What bounds it is its bytes (see [`Limits`](super::Limits)): a service of objects limits its heads to 8 KiB, which hold fewer
/// than these of the shortest that say anything.
const HEAD_FIELDS_MAX: usize = 512;
/// Time that a connection beyond those that are served has for a head: it takes a place from others that are to be told.
const BEYOND_HEAD_MS_MAX: u64 = 2_000;

/// The end of serving.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Report {
    /// Set if everything that ran was finished before the deadline.
    pub drained: bool,
}

/// Serves connections of `listener` until `stop` returns; then finishes what runs, flushes, and reports.
///
/// Readiness falls at the stop, before anything is closed. A handler that panics gives a 500 and nothing else.
pub async fn serve<S: HostedService>(
    listener: TcpListener,
    service: S,
    config: Config,
    stop: impl Future<Output = ()>,
) -> Report {
    let (stopper, stopping) = shutdown::stop();
    let places = Places::new(config.limits.connections_max);
    let drain_max = Duration::from_millis(config.limits.drain_ms_max);
    // Every connection holds a sender; the channel closes when the last one has ended.
    let (open, mut all_closed) = mpsc::channel::<Infallible>(1);
    let server = Arc::new(ServerState::new(service, config, stopping));
    let mut stop = pin!(stop);
    loop {
        let place = tokio::select! {
            biased;
            () = &mut stop => break,
            Some(place) = places.next() => place,
        };
        let accepted = tokio::select! {
            biased;
            () = &mut stop => break,
            accepted = listener.accept() => accepted,
        };
        match accepted {
            Ok((stream, address)) => {
                let (server, open) = (Arc::clone(&server), open.clone());
                tokio::spawn(async move {
                    let held = OpenConnection::new(place, server.metrics.clone());
                    connection(&server, stream, address, held).await;
                    drop(open);
                });
            }
            // Out of file descriptors, most often: the next connection that ends makes room.
            Err(error) => {
                tracing::warn!(%error, "a connection could not be accepted");
                tokio::time::sleep(Duration::from_millis(50)).await;
            }
        }
    }
    drop(listener);
    stopper.begin();
    drop(open);
    let drained = tokio::time::timeout(drain_max, all_closed.recv()).await.is_ok();
    server.service.flush().await;
    Report { drained }
}

/// Serves one connection to its end.
async fn connection<S: HostedService>(
    server: &Arc<ServerState<S>>,
    stream: TcpStream,
    address: SocketAddr,
    held: OpenConnection,
) {
    // Small answers must not wait for the acknowledgement of earlier ones.
    let _ = stream.set_nodelay(true);
    #[cfg(feature = "tls")]
    if let Some(tls) = &server.tls {
        let accept = tokio_rustls::TlsAcceptor::from(Arc::clone(tls)).accept(stream);
        if let Some(Ok(stream)) = server.in_time(accept).await {
            let http2 = stream.get_ref().1.alpn_protocol() == Some(b"h2");
            speak(server, stream, Peer { address, tls: true }, held, http2).await;
        }
        return;
    }
    // Looking at the first bytes has a time limit too: a silent connection is not kept.
    let mut first = [0; 3];
    let Some(Ok(read)) = server.in_time(stream.peek(&mut first)).await else {
        return;
    };
    // A method of HTTP/1 that begins like this does not exist; the preface of HTTP/2 does.
    let http2 = first.get(..read) == Some(b"PRI");
    speak(server, stream, Peer { address, tls: false }, held, http2).await;
}

/// Answers the requests of a connection, in the version of HTTP that it speaks.
async fn speak<S, IO>(
    server: &Arc<ServerState<S>>,
    io: IO,
    peer: Peer,
    held: OpenConnection,
    http2: bool,
) where
    S: HostedService,
    IO: AsyncRead + AsyncWrite + Unpin + Send + 'static,
{
    let shared = Arc::clone(server);
    // Every line of the log names it.
    let address: Arc<str> = peer.address.to_string().into();
    let pace = Arc::new(StreamPace::default());
    let noted = Arc::clone(&pace);
    let head_ms_max = match held.place().is_beyond() {
        true => server.limits.head_ms_max.min(BEYOND_HEAD_MS_MAX),
        false => server.limits.head_ms_max,
    };
    let held = Arc::new(held);
    let connection = Arc::clone(&held);
    let service = service_fn(move |request| {
        let (server, address) = (Arc::clone(&shared), Arc::clone(&address));
        let (noted, held) = (Arc::clone(&noted), Arc::clone(&held));
        async move {
            let answer = server.answer(request, peer, held.place(), &address).await;
            let answer = if http2 { answer.map(|body| noted.note(body)) } else { answer };
            Ok::<_, Infallible>(answer)
        }
    });
    let timeouts = server.answer_timeouts();
    let io = TokioIo::new(PacedWrites::new(io, timeouts, connection));
    let ended = if http2 {
        let mut builder = hyper::server::conn::http2::Builder::new(TokioExecutor::new());
        builder
            .timer(TokioTimer::new())
            .max_header_list_size(64 * 1024)
            .keep_alive_interval(Duration::from_secs(30));
        let mut connection = pin!(builder.serve_connection(io, service));
        tokio::select! {
            ended = connection.as_mut() => ended,
            () = pace.stalled(timeouts.idle) => return,
            () = server.stopping.stopped() => {
                connection.as_mut().graceful_shutdown();
                connection.await
            }
        }
    } else {
        let mut builder = hyper::server::conn::http1::Builder::new();
        builder
            .timer(TokioTimer::new())
            // A client may close its sending side once it has asked.
            .half_close(true)
            .header_read_timeout(Duration::from_millis(head_ms_max))
            .max_headers(HEAD_FIELDS_MAX)
            .max_buf_size(server.limits.head_bytes_max);
        let mut connection = pin!(builder.serve_connection(io, service).with_upgrades());
        tokio::select! {
            ended = connection.as_mut() => ended,
            () = server.stopping.stopped() => {
                connection.as_mut().graceful_shutdown();
                connection.await
            }
        }
    };
    if let Err(error) = ended {
        tracing::debug!(peer = %peer.address, %error, "connection ended");
    }
}
