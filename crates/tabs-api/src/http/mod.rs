//! The service over HTTP: one WebSocket with everything in order, calls by POST, events as a stream, and a control side.

mod control;
mod fetch;
mod origin_policy;
mod profile;
mod profiles;
mod refusal;
mod schema;
mod service;
mod socket;
mod sse;
#[cfg(feature = "testing")]
pub mod testing;
#[cfg(feature = "tls")]
mod tls_roots;
mod writer;

use std::collections::BTreeMap;
use std::convert::Infallible;
use std::future::Future;
use std::pin::Pin;
use std::sync::{Arc, Mutex, PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard};
use std::task::{Context as TaskContext, Poll};

use bytes::Bytes;
use http::request::Parts as Head;
use http::{HeaderValue, Method, Request, Response, StatusCode, header};
use http_body_util::{BodyExt, Limited};
use serde::Serialize;
use serde_json::json;
use triptych_core::error::Coded;
use triptych_core::host::{
    BoxError, Operation as OperationName, ReplyBody, RequestContext, Stopping, Streaming,
};
use triptych_core::id::{Ids, SharedIds, SystemIds};
use triptych_core::kv::KeyValue;
use triptych_core::time::{Clock, SystemClock};

use self::fetch::Fetching;
use self::origin_policy::{Doors, Tokens};
use self::profile::{Outcome, Since};
use self::profiles::Entry;
use self::refusal::{Refusal, json_reply, refused};
use crate::browser::{Answer, Compat};
use crate::engine::allowed_hosts::AllowedHosts;
use crate::error::Error;
use crate::js_value::JsValue;
use crate::operation::{Caller, Command, OPERATIONS, Operation, Style};
use crate::replay::Replay;
use crate::seed::{Seed, SeedError};

/// The largest body and the largest message.
const BODY_BYTES_MAX: usize = 16 * 1024 * 1024;
/// The profile that is there from the start.
const FIRST_PROFILE: &str = "default";
/// The service. It is a `hyper` and a `tower` service at once; clones share one set of browsers.
///
/// It runs inside a tokio runtime: a browser whose pages load keeps time by a task.
#[derive(Clone)]
pub struct TabsApi(Arc<Inner>);

struct Inner {
    clock: Arc<dyn Clock>,
    compat: Compat,
    doors: Doors,
    control_token: Option<String>,
    ids: SharedIds,
    seed: Seed,
    profiles: RwLock<BTreeMap<String, Entry>>,
    tokens: RwLock<Tokens>,
    replay: Option<Mutex<Replay>>,
    fetching: Option<Arc<Fetching>>,
    store: Option<Arc<dyn KeyValue>>,
}

/// The parts that a [`TabsApi`] is built from.
pub struct Builder {
    clock: Arc<dyn Clock>,
    compat: Compat,
    doors: Doors,
    control_token: Option<String>,
    ids: Box<dyn Ids>,
    seed: Seed,
    replay: Option<Replay>,
    fetched_hosts: AllowedHosts,
    store: Option<Arc<dyn KeyValue>>,
}

impl TabsApi {
    /// A service of one browser; all else has defaults.
    #[must_use]
    pub fn builder() -> Builder {
        Builder {
            clock: Arc::new(SystemClock::new()),
            compat: Compat::default(),
            doors: Doors::default(),
            control_token: None,
            ids: Box::new(SystemIds),
            seed: Seed::default(),
            replay: None,
            fetched_hosts: AllowedHosts::default(),
            store: None,
        }
    }
}

impl Builder {
    /// The clock.
    #[must_use]
    pub fn clock(mut self, clock: Arc<dyn Clock>) -> Self {
        self.clock = clock;
        self
    }

    /// Sets which of specification and recorded browser counts where they differ.
    #[must_use]
    pub const fn compat(mut self, compat: Compat) -> Self {
        self.compat = compat;
        self
    }

    /// Host names of this server, beside `localhost` and IP literals.
    #[must_use]
    pub fn base_hosts(mut self, hosts: impl IntoIterator<Item = String>) -> Self {
        self.doors.base_hosts.extend(hosts);
        self
    }

    /// Origins of web pages that may use the service.
    #[must_use]
    pub fn origins(mut self, origins: impl IntoIterator<Item = String>) -> Self {
        self.doors.origins.extend(origins);
        self
    }

    /// The token of the control side; without one the control side is closed.
    #[must_use]
    pub fn control_token(mut self, token: impl Into<String>) -> Self {
        self.control_token = Some(token.into());
        self
    }

    /// Sets the source of tokens.
    #[must_use]
    pub fn ids(mut self, ids: Box<dyn Ids>) -> Self {
        self.ids = ids;
        self
    }

    /// Extensions, pages and windows of the first profile.
    #[must_use]
    pub fn seed(mut self, seed: Seed) -> Self {
        self.seed = seed;
        self
    }

    /// Fetches pages of these hosts that no fixtures describe; building then needs a tokio runtime.
    #[must_use]
    pub fn fetch(mut self, hosts: AllowedHosts) -> Self {
        self.fetched_hosts = hosts;
        self
    }

    /// Offers the replay contract of recorded scenarios under `/oracle/`.
    #[must_use]
    pub fn replay(mut self, replay: Replay) -> Self {
        self.replay = Some(replay);
        self
    }

    /// Sets the store of profiles; without one they end with the service. Building then needs a tokio runtime.
    #[must_use]
    pub fn store(mut self, store: Arc<dyn KeyValue>) -> Self {
        self.store = Some(store);
        self
    }

    /// The service.
    ///
    /// # Errors
    /// [`SeedError`] if the seed cannot be used.
    pub fn build(self) -> Result<TabsApi, SeedError> {
        let api = TabsApi(Arc::new(Inner {
            clock: self.clock,
            compat: self.compat,
            doors: self.doors,
            control_token: self.control_token,
            ids: SharedIds::new(self.ids),
            seed: self.seed,
            profiles: RwLock::default(),
            tokens: RwLock::default(),
            replay: self.replay.map(Mutex::new),
            fetching: Some(self.fetched_hosts).filter(|hosts| !hosts.is_empty()).map(Fetching::new),
            store: self.store,
        }));
        match api.restore() {
            Ok(()) => Ok(api),
            Err(Refusal::Seed(error)) => Err(error),
            Err(Refusal::Store(error)) => Err(SeedError::Window(error.into())),
            Err(other) => Err(SeedError::Pages(other.to_string())),
        }
    }
}

/// The body that answers a call.
#[derive(Serialize)]
struct AnswerBody {
    result: Answer,
    seq: u64,
}

/// The sender of a request.
struct Principal {
    entry: Entry,
    extension: String,
}

impl TabsApi {
    /// Answers one request.
    pub async fn answer<B>(&self, mut request: Request<B>) -> Response<ReplyBody>
    where
        B: http_body::Body<Data = Bytes> + Send,
        B::Error: Into<BoxError>,
    {
        let upgrade = request.extensions_mut().remove::<hyper::upgrade::OnUpgrade>();
        let (head, body) = request.into_parts();
        let mut operation = "-";
        let mut response = self
            .carry_out(&head, upgrade, body, &mut operation)
            .await
            .unwrap_or_else(|error| refused(&error, &error.to_string()));
        if let Some(origin) = self.0.doors.origin(&head.headers) {
            let headers = response.headers_mut();
            headers.insert(header::ACCESS_CONTROL_ALLOW_ORIGIN, origin);
            headers.append(header::VARY, HeaderValue::from_static("Origin"));
        }
        response.extensions_mut().insert(OperationName(operation));
        response
    }

    async fn carry_out<B>(
        &self,
        head: &Head,
        upgrade: Option<hyper::upgrade::OnUpgrade>,
        body: B,
        operation: &mut &'static str,
    ) -> Result<Response<ReplyBody>, Refusal>
    where
        B: http_body::Body<Data = Bytes> + Send,
        B::Error: Into<BoxError>,
    {
        self.0.doors.check(head)?;
        let path = head.uri.path();
        if head.method == Method::OPTIONS {
            return Ok(preflight());
        }
        let is_get = head.method == Method::GET;
        if let Some(path) = path.strip_prefix("/v1/control") {
            *operation = "control";
            return self.control(head, path, &read(body).await?).await;
        }
        if let Some(path) = path.strip_prefix("/oracle/") {
            *operation = "lab";
            return self.replay(head, path, &read(body).await?);
        }
        match path {
            "/v1/schema" if is_get => {
                *operation = "schema";
                Ok(json_reply(200, &schema::schema()))
            }
            "/v1/ws" if is_get => {
                *operation = "ws";
                self.open_socket(head, upgrade)
            }
            "/v1/events" if is_get => {
                *operation = "events";
                let principal = self.principal(head, true)?;
                let listener = principal.entry.profile.listen(&principal.extension, since(head));
                Ok(sse::reply(listener, stopping(head)))
            }
            _ => {
                let row = Operation::of_path(path).ok_or(Refusal::NoSuchPath)?;
                if head.method != Method::POST {
                    return Err(Refusal::MethodNotAllowed);
                }
                *operation = row.name;
                let principal = self.principal(head, false)?;
                let given = arguments(row, &read(body).await?)?;
                Ok(self.call(head, &principal, row, &given).await)
            }
        }
    }

    async fn call(
        &self,
        head: &Head,
        principal: &Principal,
        row: &Operation,
        given: &[JsValue],
    ) -> Response<ReplyBody> {
        let context = socket::CallerContext {
            tab_id: origin_policy::parameter(head, "contextTabId")
                .and_then(|text| text.parse().ok()),
        };
        let caller = Caller { extension: principal.extension.clone(), context: context.into() };
        let style = match origin_policy::parameter(head, "style").as_deref() {
            Some("callback") => Style::Callback,
            _ => Style::Promise,
        };
        let command = Command::read(row.name, given, style);
        let Outcome { seq, answer, .. } = principal.entry.profile.call(&caller, command).await;
        match answer {
            Ok(answer) if answer.is_value() => json_reply(200, &AnswerBody { result: answer, seq }),
            Ok(_) => json_reply(200, &json!({ "seq": seq })),
            Err(error) => call_refused(&error, Some(seq)),
        }
    }

    fn open_socket(
        &self,
        head: &Head,
        upgrade: Option<hyper::upgrade::OnUpgrade>,
    ) -> Result<Response<ReplyBody>, Refusal> {
        let principal = self.principal(head, true)?;
        let mut request = Request::new(());
        *request.headers_mut() = head.headers.clone();
        if !hyper_tungstenite::is_upgrade_request(&request) {
            return Err(Refusal::NotWebSocket("it has no Upgrade: websocket".into()));
        }
        if let Some(upgrade) = upgrade {
            request.extensions_mut().insert(upgrade);
        }
        let (response, socket) = hyper_tungstenite::upgrade(&mut request, Some(socket::config()))
            .map_err(|error| Refusal::NotWebSocket(error.to_string()))?;
        let listener = principal.entry.profile.listen(&principal.extension, since(head));
        let manifest = principal.entry.manifest(&principal.extension);
        let hello = socket::hello(&listener, &principal.extension, &manifest);
        tokio::spawn(socket::converse(
            socket,
            listener,
            principal.extension,
            hello,
            stopping(head),
        ));
        let mut response = response.map(|_| ReplyBody::empty());
        response.extensions_mut().insert(Streaming);
        Ok(response)
    }

    /// The profile and extension that the request's token speaks for.
    fn principal(&self, head: &Head, or_query: bool) -> Result<Principal, Refusal> {
        let token = origin_policy::token(head, or_query).ok_or(Refusal::Unauthorized)?;
        let (profile, extension) = self
            .tokens()
            .get(&origin_policy::hash(&token))
            .cloned()
            .ok_or(Refusal::Unauthorized)?;
        let entry = self.entry(&profile).map_err(|_| Refusal::Unauthorized)?;
        Ok(Principal { entry, extension })
    }

    fn entry(&self, name: &str) -> Result<Entry, Refusal> {
        self.profiles().get(name).cloned().ok_or(Refusal::NoSuchProfile)
    }

    fn profiles(&self) -> RwLockReadGuard<'_, BTreeMap<String, Entry>> {
        self.0.profiles.read().unwrap_or_else(PoisonError::into_inner)
    }

    fn profiles_mut(&self) -> RwLockWriteGuard<'_, BTreeMap<String, Entry>> {
        self.0.profiles.write().unwrap_or_else(PoisonError::into_inner)
    }

    fn tokens(&self) -> RwLockReadGuard<'_, Tokens> {
        self.0.tokens.read().unwrap_or_else(PoisonError::into_inner)
    }

    fn tokens_mut(&self) -> RwLockWriteGuard<'_, Tokens> {
        self.0.tokens.write().unwrap_or_else(PoisonError::into_inner)
    }

    /// A new token: 32 random bytes as hex.
    fn draw_token(&self) -> String {
        let mut bytes = [0; 32];
        self.0.ids.clone().fill(&mut bytes);
        bytes.iter().map(|byte| format!("{byte:02x}")).collect()
    }
}

impl Operation {
    /// The operation of `/v1/<namespace>/<name>`.
    fn of_path(path: &str) -> Option<&'static Self> {
        let (space, name) = path.strip_prefix("/v1/")?.split_once('/')?;
        let is_it = |row: &&Self| row.name.split_once('.') == Some((space, name));
        OPERATIONS.iter().find(is_it)
    }
}

/// Arguments as a list by place, or as an object by name. No body is no argument.
fn arguments(row: &Operation, body: &Bytes) -> Result<Vec<JsValue>, Refusal> {
    if body.iter().all(u8::is_ascii_whitespace) {
        return Ok(Vec::new());
    }
    let given: JsValue =
        serde_json::from_slice(body).map_err(|error| Refusal::BadBody(error.to_string()))?;
    match given.with_special_values() {
        JsValue::Array(given) => Ok(given),
        JsValue::Object(members) => {
            let names: Vec<_> = row.parameters.iter().map(|parameter| parameter.name).collect();
            let mut given = vec![JsValue::Undefined; names.len()];
            for (name, value) in members {
                let place = names.iter().position(|known| *known == name);
                let known = || format!("{} takes {}", row.name, names.join(", "));
                let slot = place.and_then(|place| given.get_mut(place));
                *slot.ok_or_else(|| Refusal::BadBody(known()))? = value;
            }
            while given.last().is_some_and(JsValue::is_absent) {
                given.pop();
            }
            Ok(given)
        }
        _ => {
            Err(Refusal::BadBody("it is a list of arguments, or an object of them by name".into()))
        }
    }
}

fn call_refused(error: &Error, seq: Option<u64>) -> Response<ReplyBody> {
    let name = if error.is_thrown() { "TypeError" } else { "Error" };
    let error_body = json!({ "name": name, "message": error.to_string() });
    json_reply(error.row().status, &json!({ "error": error_body, "seq": seq }))
}

/// The whole body, within its limit.
async fn read<B>(body: B) -> Result<Bytes, Refusal>
where
    B: http_body::Body<Data = Bytes> + Send,
    B::Error: Into<BoxError>,
{
    match Limited::new(body, BODY_BYTES_MAX).collect().await {
        Ok(whole) => Ok(whole.to_bytes()),
        Err(error) if error.is::<http_body_util::LengthLimitError>() => {
            Err(Refusal::BodyTooLarge(BODY_BYTES_MAX))
        }
        Err(error) => Err(Refusal::BadBody(error.to_string())),
    }
}

/// The position at which a client goes on: the query says it, or the header that event sources send by themselves.
fn since(head: &Head) -> Since {
    let header = head.headers.get("last-event-id");
    let header = header.and_then(|value| value.to_str().ok().map(str::to_owned));
    let number = |text: String| text.parse().ok();
    Since {
        seq: origin_policy::parameter(head, "since").or(header).and_then(number),
        session: origin_policy::parameter(head, "session").and_then(number),
    }
}

fn stopping(head: &Head) -> Stopping {
    let received = head.extensions.get::<RequestContext>();
    received.map_or_else(Stopping::never, |received| received.stopping.clone())
}

/// The answer to a page of an allowed origin that asks what it may send.
fn preflight() -> Response<ReplyBody> {
    let mut response = Response::new(ReplyBody::empty());
    *response.status_mut() = StatusCode::NO_CONTENT;
    let headers = response.headers_mut();
    let allow = [
        (header::ACCESS_CONTROL_ALLOW_METHODS, "GET, POST, DELETE"),
        (header::ACCESS_CONTROL_ALLOW_HEADERS, "Authorization, Content-Type, Last-Event-ID"),
        (header::ACCESS_CONTROL_MAX_AGE, "600"),
    ];
    for (name, value) in allow {
        headers.insert(name, HeaderValue::from_static(value));
    }
    response
}

type Answered = Pin<Box<dyn Future<Output = Result<Response<ReplyBody>, Infallible>> + Send>>;

impl<B> hyper::service::Service<Request<B>> for TabsApi
where
    B: http_body::Body<Data = Bytes> + Send + 'static,
    B::Error: Into<BoxError>,
{
    type Response = Response<ReplyBody>;
    type Error = Infallible;
    type Future = Answered;

    fn call(&self, request: Request<B>) -> Answered {
        let api = self.clone();
        Box::pin(async move { Ok(api.answer(request).await) })
    }
}

impl<B> tower_service::Service<Request<B>> for TabsApi
where
    B: http_body::Body<Data = Bytes> + Send + 'static,
    B::Error: Into<BoxError>,
{
    type Response = Response<ReplyBody>;
    type Error = Infallible;
    type Future = Answered;

    fn poll_ready(&mut self, _: &mut TaskContext<'_>) -> Poll<Result<(), Infallible>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, request: Request<B>) -> Answered {
        hyper::service::Service::call(self, request)
    }
}

impl std::fmt::Debug for TabsApi {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("TabsApi")
            .field("profiles", &self.profiles().len())
            .field("is_kept", &self.0.store.is_some())
            .finish_non_exhaustive()
    }
}
