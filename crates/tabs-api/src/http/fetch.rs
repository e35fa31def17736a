//! Fetches pages of allowed hosts for the simulated engine: one GET each, with bounds on bytes, time and redirects.
//!
//! A name is looked up once, and the connection goes to the address that was checked. Every redirect is checked anew.

use std::collections::{HashMap, VecDeque};
use std::net::{IpAddr, SocketAddr};
use std::sync::{Arc, Mutex, OnceLock, PoisonError, Weak};
use std::time::Duration;

use bytes::Bytes;
use http::{HeaderMap, Request, StatusCode, header};
use http_body_util::{BodyExt, Empty};
use hyper_util::rt::TokioIo;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::TcpStream;
use tokio::sync::Semaphore;
use tokio::task::AbortHandle;
use triptych_core::time::{Clock, Timestamp};
use url::Url;

use super::profile::Profile;
use crate::engine::allowed_hosts::AllowedHosts;
use crate::engine::fixtures::Outcome;
use crate::engine::page::Page;
use crate::engine::simulated::{FetchedPage, PageLoad, PageSource};
use crate::id::TabId;
use crate::url::redirected;

/// The part of a page that is read; what comes after it is not looked at.
const BYTES_MAX: usize = 2 * 1024 * 1024;
/// The time that a connection may take, and a page with all its redirects.
const CONNECT: Duration = Duration::from_secs(10);
const WHOLE: Duration = Duration::from_secs(30);
const REDIRECTS_MAX: usize = 20;
/// The number of pages that are fetched at once.
const AT_ONCE: usize = 32;

/// The limits by which all profiles fetch.
#[derive(Debug)]
pub(super) struct FetchLimits {
    hosts: AllowedHosts,
    permits: Arc<Semaphore>,
}

impl FetchLimits {
    pub(super) fn new(hosts: AllowedHosts) -> Arc<Self> {
        Arc::new(Self { hosts, permits: Arc::new(Semaphore::new(AT_ONCE)) })
    }
}

/// Pages that have arrived for one browser, and the profile to wake.
#[derive(Default)]
pub(super) struct FetchedPages {
    arrived: Mutex<VecDeque<FetchedPage>>,
    profile: OnceLock<Weak<Profile>>,
}

impl FetchedPages {
    /// Wakes this profile from now on.
    pub(super) fn wakes(&self, profile: &Arc<Profile>) {
        // It is set once, when its browser gets its place.
        let _ = self.profile.set(Arc::downgrade(profile));
    }

    fn put(&self, arrival: FetchedPage) {
        let mut arrived = self.arrived.lock().unwrap_or_else(PoisonError::into_inner);
        arrived.push_back(arrival);
        drop(arrived);
        if let Some(profile) = self.profile.get().and_then(Weak::upgrade) {
            profile.wake();
        }
    }
}

/// The page source of one browser.
pub(super) struct Fetcher {
    fetching: Arc<FetchLimits>,
    fetched: Arc<FetchedPages>,
    clock: Arc<dyn Clock>,
    under_way: HashMap<TabId, AbortHandle>,
}

impl Fetcher {
    pub(super) fn new(
        fetching: Arc<FetchLimits>,
        fetched: Arc<FetchedPages>,
        clock: Arc<dyn Clock>,
    ) -> Self {
        Self { fetching, fetched, clock, under_way: HashMap::new() }
    }
}

impl PageSource for Fetcher {
    fn allows(&self, url: &Url) -> bool {
        self.fetching.hosts.allows(url)
    }

    fn fetch(&mut self, load: PageLoad, url: Url) {
        self.cancel(load.tab);
        let (fetching, fetched, clock) =
            (Arc::clone(&self.fetching), Arc::clone(&self.fetched), Arc::clone(&self.clock));
        let task = tokio::spawn(async move {
            let outcome = fetch(&fetching, url).await;
            let at = clock.now();
            fetched.put(FetchedPage { at, load, outcome });
        });
        self.under_way.insert(load.tab, task.abort_handle());
    }

    fn cancel(&mut self, tab: TabId) {
        if let Some(task) = self.under_way.remove(&tab) {
            task.abort();
        }
    }

    fn poll_arrival(&mut self, now: Timestamp) -> Option<FetchedPage> {
        let mut arrived = self.fetched.arrived.lock().unwrap_or_else(PoisonError::into_inner);
        let is_due = arrived.front().is_some_and(|arrival| arrival.at <= now);
        is_due.then(|| arrived.pop_front()).flatten()
    }

    fn next_due(&self) -> Option<Timestamp> {
        let arrived = self.fetched.arrived.lock().unwrap_or_else(PoisonError::into_inner);
        arrived.front().map(|arrival| arrival.at)
    }
}

impl Drop for Fetcher {
    fn drop(&mut self) {
        for task in self.under_way.values() {
            task.abort();
        }
    }
}

/// The reason for which there is no page. The names are the browser's.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
enum NetError {
    #[error("net::ERR_BLOCKED_BY_CLIENT")]
    NotAllowed,
    #[error("net::ERR_UNKNOWN_URL_SCHEME")]
    #[cfg(not(feature = "tls"))]
    NoTls,
    #[error("net::ERR_NAME_NOT_RESOLVED")]
    NotResolved,
    #[error("net::ERR_BLOCKED_BY_PRIVATE_NETWORK_ACCESS_CHECKS")]
    PrivateAddress,
    #[error("net::ERR_CONNECTION_REFUSED")]
    Refused,
    #[error("net::ERR_CONNECTION_TIMED_OUT")]
    ConnectTimedOut,
    #[error("net::ERR_ADDRESS_UNREACHABLE")]
    Unreachable,
    #[error("net::ERR_CERT_AUTHORITY_INVALID")]
    #[cfg(feature = "tls")]
    Certificate,
    #[error("net::ERR_EMPTY_RESPONSE")]
    Empty,
    #[error("net::ERR_INVALID_REDIRECT")]
    Redirect,
    #[error("net::ERR_TOO_MANY_REDIRECTS")]
    TooManyRedirects,
    #[error("net::ERR_TIMED_OUT")]
    TimedOut,
}

/// The page of an address, or the browser's own page that says why there is none.
async fn fetch(fetching: &FetchLimits, url: Url) -> Outcome {
    let fragment = url.fragment().map(str::to_owned);
    let mut at = url;
    let outcome = tokio::time::timeout(WHOLE, follow(fetching, &mut at)).await;
    if at.fragment().is_none() {
        at.set_fragment(fragment.as_deref());
    }
    match outcome.unwrap_or(Err(NetError::TimedOut)) {
        Ok(Some(page)) => Outcome::Page(at.into(), Box::new(page)),
        Ok(None) => Outcome::Nothing,
        Err(error) => {
            tracing::info!(host = at.host_str(), %error, "a page could not be fetched");
            let page = Page { title: at.host_str().map(str::to_owned), ..Page::default() };
            Outcome::Page(at.into(), Box::new(page))
        }
    }
}

/// Follows redirects to a page; `None` is an answer that shows none. `at` is where it has come to.
async fn follow(fetching: &FetchLimits, at: &mut Url) -> Result<Option<Page>, NetError> {
    let _permit = fetching.permits.acquire().await.ok();
    for _ in 0..=REDIRECTS_MAX {
        if !fetching.hosts.allows(at) {
            return Err(NetError::NotAllowed);
        }
        let response = get(fetching, at).await?;
        let headers = response.headers();
        let status = response.status();
        if let Some(target) = headers.get(header::LOCATION).filter(|_| status.is_redirection()) {
            let target = target.to_str().ok().and_then(|target| redirected(at, target));
            *at = target.ok_or(NetError::Redirect)?;
            continue;
        }
        if matches!(status, StatusCode::NO_CONTENT | StatusCode::RESET_CONTENT)
            || is_download(headers)
        {
            return Ok(None);
        }
        return Ok(Some(read(at, response).await?));
    }
    Err(NetError::TooManyRedirects)
}

/// True if the browser would save an answer instead of showing it.
fn is_download(headers: &HeaderMap) -> bool {
    let text = |name| headers.get(name).and_then(|value: &http::HeaderValue| value.to_str().ok());
    let is_attachment = text(header::CONTENT_DISPOSITION)
        .is_some_and(|value| value.trim_start().to_ascii_lowercase().starts_with("attachment"));
    let shown = [
        "text/",
        "image/",
        "audio/",
        "video/",
        "application/xhtml+xml",
        "application/xml",
        "application/json",
        "application/pdf",
    ];
    let media = text(header::CONTENT_TYPE).unwrap_or("text/html").to_ascii_lowercase();
    is_attachment || !shown.iter().any(|start| media.starts_with(start))
}

async fn read(
    url: &Url,
    response: http::Response<hyper::body::Incoming>,
) -> Result<Page, NetError> {
    let (head, mut body) = response.into_parts();
    let text =
        |name| head.headers.get(name).and_then(|value: &http::HeaderValue| value.to_str().ok());
    let media = text(header::CONTENT_TYPE).unwrap_or("text/html");
    let is_html = media.starts_with("text/html") || media.starts_with("application/xhtml");
    if !is_html {
        return Ok(Page { status: head.status.as_u16(), ..Page::default() });
    }
    let mut bytes = Vec::new();
    while let Some(frame) = body.frame().await {
        // What came before the break is shown, as a browser does.
        let Ok(frame) = frame else { break };
        if let Ok(data) = frame.into_data() {
            let room = BYTES_MAX - bytes.len();
            bytes.extend(data.iter().take(room));
        }
        if bytes.len() == BYTES_MAX {
            break;
        }
    }
    let mut page = crate::engine::html::read(url, media, &bytes);
    page.status = head.status.as_u16();
    let language = text(header::CONTENT_LANGUAGE).and_then(|value| value.split(',').next());
    page.language = page.language.or_else(|| crate::engine::language::declared(language?));
    Ok(page)
}

/// One GET, to an address that was checked.
async fn get(
    fetching: &FetchLimits,
    url: &Url,
) -> Result<http::Response<hyper::body::Incoming>, NetError> {
    let stream = connect(fetching, url).await?;
    if url.scheme() == "https" {
        return over_tls(stream, url).await;
    }
    exchange(stream, url).await
}

#[cfg(not(feature = "tls"))]
async fn over_tls(
    _: TcpStream,
    _: &Url,
) -> Result<http::Response<hyper::body::Incoming>, NetError> {
    Err(NetError::NoTls)
}

#[cfg(feature = "tls")]
async fn over_tls(
    stream: TcpStream,
    url: &Url,
) -> Result<http::Response<hyper::body::Incoming>, NetError> {
    let name = url.host_str().unwrap_or_default().trim_matches(['[', ']']).to_owned();
    let name = rustls_pki_types::ServerName::try_from(name).map_err(|_| NetError::Certificate)?;
    let connector = super::tls_roots::connector().ok_or(NetError::Certificate)?;
    let stream = connector.connect(name, stream).await.map_err(|_| NetError::Certificate)?;
    exchange(stream, url).await
}

async fn connect(fetching: &FetchLimits, url: &Url) -> Result<TcpStream, NetError> {
    let port = url.port_or_known_default().unwrap_or(80);
    let addresses: Vec<IpAddr> = match (fetching.hosts.pinned(url), url.host()) {
        (Some(address), _) => vec![address],
        (None, Some(url::Host::Ipv4(address))) => vec![address.into()],
        (None, Some(url::Host::Ipv6(address))) => vec![address.into()],
        (None, host) => {
            let name = host.map(|host| host.to_string()).unwrap_or_default();
            let found = tokio::net::lookup_host((name.as_str(), port)).await;
            let found = found.map_err(|_| NetError::NotResolved)?;
            found.map(|address| address.ip()).collect()
        }
    };
    // One private address among public ones is a trap.
    if !addresses.iter().all(|address| fetching.hosts.allows_address(url, *address)) {
        return Err(NetError::PrivateAddress);
    }
    let mut failure = NetError::NotResolved;
    for address in addresses {
        let attempt = TcpStream::connect(SocketAddr::new(address, port));
        match tokio::time::timeout(CONNECT, attempt).await {
            Ok(Ok(stream)) => return Ok(stream),
            Ok(Err(error)) if error.kind() == std::io::ErrorKind::ConnectionRefused => {
                failure = NetError::Refused
            }
            Ok(Err(_)) => failure = NetError::Unreachable,
            Err(_) => failure = NetError::ConnectTimedOut,
        }
    }
    Err(failure)
}

async fn exchange<S>(
    stream: S,
    url: &Url,
) -> Result<http::Response<hyper::body::Incoming>, NetError>
where
    S: AsyncRead + AsyncWrite + Unpin + Send + 'static,
{
    let (mut sender, connection) = hyper::client::conn::http1::Builder::new()
        .max_buf_size(64 * 1024)
        .handshake(TokioIo::new(stream))
        .await
        .map_err(|_| NetError::Empty)?;
    // It ends with the response's body, or when the page is no longer wanted.
    tokio::spawn(connection);
    let host = &url[url::Position::BeforeHost..url::Position::AfterPort];
    let request = Request::get(&url[url::Position::BeforePath..url::Position::AfterQuery])
        .header(header::HOST, host)
        .header(header::ACCEPT, "text/html,application/xhtml+xml,*/*;q=0.8")
        .header(header::ACCEPT_ENCODING, "identity")
        .header(
            header::USER_AGENT,
            concat!("Mozilla/5.0 (compatible; tabs-api/", env!("CARGO_PKG_VERSION"), ")"),
        )
        .header(header::CONNECTION, "close")
        .body(Empty::<Bytes>::new())
        .map_err(|_| NetError::Empty)?;
    sender.send_request(request).await.map_err(|_| NetError::Empty)
}
