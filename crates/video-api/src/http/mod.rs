//! The service over HTTP: bytes to domain values and back, and nothing else.

mod answer_form;
mod background;
mod batch;
mod content_encoding;
mod control;
mod cors;
mod device;
mod download;
mod file_body;
mod jsonp;
mod oauth;
mod page;
mod pictures;
mod player;
mod publish_schedule;
mod request;
mod response;
mod response_cache;
mod router;
mod service;
#[cfg(feature = "testing")]
pub mod testing;
mod translations;
mod translator;
mod upload;
mod upload_body;
mod upload_command;
mod upload_session;

pub use request::ApiRequest;
pub use response::ApiResponse;
pub use service::{Builder, VideoApi};
pub use translator::LibreTranslate;

use std::borrow::Cow;
use std::sync::Arc;
use std::sync::atomic::Ordering;

use bytes::Bytes;
use http::{Request, Response};
use triptych_core::host::{BoxError, ReplyBody, RequestContext, RequestId, drain_refused};
use triptych_core::id::{Ids, SeededIds};
use triptych_core::kv::{self, KeyValue, Prefetch, StoreError, Tx, run, run_blocking};
use triptych_core::time::Timestamp;

use crate::account::{self, Caller, LedTo};
use crate::api::error::Error;
use crate::api::operation::call::Call;
use crate::api::operation::{Asked, Method, Operation, Run};
use crate::api::parameter::Params;
use crate::api::quota;
use crate::api::response::Reply;
use crate::api::schema;
use crate::api::validate;
use crate::index::indexer;
use crate::media::Media;
use crate::record::closing::{self, Moment};
use crate::resource::captions::store as captions;
use crate::resource::videos::store as videos;
use answer_form::AnswerForm;
use content_encoding::DecodedBody;
use request::read_whole_body;
use response::RenderedReply;
use response_cache::cache_key;

/// Tries of a transaction while others win.
const ATTEMPTS_MAX: u32 = 64;
/// The most bytes of a body that is no media.
const JSON_BYTES_MAX: usize = 2 * 1024 * 1024;

/// Bytes that are kept of what one caller's credentials led to, about.
const LED_TO_BYTES: usize = 256;

/// An authenticated caller, and the time of the request.
struct Identity {
    caller: Caller,
    now: Timestamp,
    /// The store, as this request reads it.
    store: Arc<dyn KeyValue>,
}

/// A request that passed every check of its row.
#[derive(Clone)]
pub(super) struct CheckedRequest {
    pub(super) operation: &'static Operation,
    pub(super) caller: Caller,
    pub(super) params: Params,
    pub(super) parts: Vec<&'static str>,
    pub(super) now: Timestamp,
    /// The store, as this request reads it.
    pub(super) store: Arc<dyn KeyValue>,
}

impl VideoApi {
    /// Answers one request.
    pub async fn answer<B>(&self, request: Request<B>) -> Response<ReplyBody>
    where
        B: http_body::Body<Data = Bytes> + Send + Unpin,
        B::Error: Into<BoxError>,
    {
        self.0.requests.fetch_add(1, Ordering::Relaxed);
        let (head, mut body) = request.into_parts();
        let id = match head.extensions.get::<RequestContext>() {
            Some(received) => received.id.clone(),
            None => RequestId::from_number(self.ids().next(), 0),
        };
        // A client that waits for 100 Continue has sent nothing that would have to be read.
        let expects = head.headers.contains_key(http::header::EXPECT);
        let mut request = ApiRequest::read(head, self.0.external_url.as_deref());
        let waits = expects && !request.expects_more_than_continue();
        let form = AnswerForm::of(&request);
        let mut decoded = DecodedBody::new(&mut body, &mut request.headers);
        let response = self.route(request, &mut decoded).await;
        if response.status >= 400 && !waits {
            drain_refused(&mut body).await;
        }
        let mut response = form.write(response);
        if let Ok(value) = http::HeaderValue::from_str(&id.0) {
            response.headers_mut().insert("x-request-id", value);
        }
        response
    }

    async fn route<B>(&self, request: ApiRequest, body: &mut B) -> ApiResponse
    where
        B: http_body::Body<Data = Bytes> + Send + Unpin,
        B::Error: Into<BoxError>,
    {
        let path = request.path.as_str();
        if request.expects_more_than_continue() {
            return request.refuse(&Error::ExpectationFailed, "-");
        }
        if request.method == "OPTIONS" {
            return cors::preflight(&request);
        }
        if let Some(rest) = router::under_upload(path) {
            return self.upload(&request, rest, body).await;
        }
        if oauth::is_issuer(path) {
            return self.serve_issuer(&request, body).await;
        }
        if pictures::is_picture(path) {
            return self.picture(&request).await;
        }
        if player::is_player(path) {
            return self.player(&request).await;
        }
        match path {
            _ if router::DISCOVERY_PATHS.contains(&path) => return router::discover(&request),
            _ if router::BATCH_PATHS.contains(&path) => return self.batch(&request, body).await,
            _ => {}
        }
        match read_whole_body(body, JSON_BYTES_MAX).await {
            Ok(bytes) => self.dispatch(request.with_body(bytes)).await,
            Err(error) => request.refuse(&error, "-"),
        }
    }

    /// Answers a request whose body is there.
    pub(super) async fn dispatch(&self, mut request: ApiRequest) -> ApiResponse {
        let (name, outcome) = match router::served_at(&request.method, &request.path) {
            Err(error) => ("-", Err(error)),
            Ok((operation, values)) => {
                request.pairs.extend(values);
                (operation.name, self.run_operation(&request, operation).await)
            }
        };
        // What is deleted has leftovers, and what is hidden or shown has marks.
        if request.method == "DELETE" || name == "videos.update" {
            self.sweep_soon();
        }
        outcome.unwrap_or_else(|error| request.refuse(&error, name))
    }

    async fn run_operation(
        &self,
        request: &ApiRequest,
        operation: &'static Operation,
    ) -> Result<ApiResponse, Error> {
        let is_upload = || request.value("uploadType").is_some() || request.brings_media();
        if operation.upload.is_some() && is_upload() {
            return Err(Error::WrongUrlForUpload);
        }
        let identity = self.authenticate(request, operation).await?;
        if self.is_cacheable(operation) {
            return self.read_through_cache(request, operation, identity).await;
        }
        let checked = self.check_parameters(request, operation, identity)?;
        request.check_resource_type(operation, &request.body)?;
        let json = request.body.clone();
        let mut reply = self.execute(request, checked, None, json, |_, _| Ok(())).await?;
        match reply.download.take() {
            Some(file) => self.download(request, file, operation.name).await,
            None => Ok(request.respond(reply, operation.name)),
        }
    }

    /// Authenticates a request, counts it, and checks its parameters.
    ///
    /// # Errors
    /// In this order: the form of the response, the operation's state, credentials, scopes, quota, parameters.
    pub(super) async fn check_request(
        &self,
        request: &ApiRequest,
        operation: &'static Operation,
    ) -> Result<CheckedRequest, Error> {
        let identity = self.authenticate(request, operation).await?;
        self.check_parameters(request, operation, identity)
    }

    /// Authenticates and authorizes the caller of a request, and counts it.
    ///
    /// # Errors
    /// As [`VideoApi::check_request`], without the parameters.
    async fn authenticate(
        &self,
        request: &ApiRequest,
        operation: &'static Operation,
    ) -> Result<Identity, Error> {
        let form = request.check_form(operation);
        // A request that is refused for its form counts as any other that is refused.
        let identity = self.identify(request, operation).await;
        form.and(identity)
    }

    /// Finds out whose a request is and whether it is theirs to make, and counts it.
    ///
    /// # Errors
    /// As [`VideoApi::authenticate`], without the form of the response.
    async fn identify(
        &self,
        request: &ApiRequest,
        operation: &'static Operation,
    ) -> Result<Identity, Error> {
        match operation.run {
            Run::Withdrawn => return Err(Error::Unsupported(operation.name)),
            Run::NotImplemented | Run::Call(_) => {}
        }
        let now = self.0.clock.now();
        let store = self.store_of_request();
        let caller = {
            let mut tx = Tx::new(&*store);
            let (key, token) = (request.key.as_deref(), request.token.as_deref());
            let credentials = store
                .prefetch()
                .map(|_| account::digest(&[key, token].map(Option::unwrap_or_default).join(" ")));
            let last = credentials.and_then(|credentials| self.0.led_to.get(&credentials));
            let last = last.unwrap_or_default();
            tx.plan(|plan| {
                let (account, project) = account::plan(plan, key, token, &last);
                project.iter().for_each(|project| quota::plan(plan, project));
                let channel = account.as_ref().and_then(|account| account.channel.as_deref());
                (operation.plan)(&Asked { operation, pairs: &request.pairs, channel }, plan);
            })?;
            let caller = account::identify(&mut tx, key, token, now)?;
            if let Some(credentials) = credentials {
                self.0.led_to.insert(credentials, LedTo::of(&caller), LED_TO_BYTES);
            }
            caller
        };
        validate::authorize(operation, &caller, &request.pairs)?;
        self.charge(&*store, &caller, operation, now).await?;
        Ok(Identity { caller, now, store })
    }

    /// The store, as one request reads it.
    pub(super) fn store_of_request(&self) -> Arc<dyn KeyValue> {
        Prefetch::of(&self.0.store, closing::watched)
    }

    /// Checks what is asked for.
    ///
    /// # Errors
    /// The faults of the parameters.
    fn check_parameters(
        &self,
        request: &ApiRequest,
        operation: &'static Operation,
        identity: Identity,
    ) -> Result<CheckedRequest, Error> {
        let (params, parts) = validate::check(operation, &request.pairs, self.0.strict)?;
        if matches!(operation.run, Run::NotImplemented) {
            return Err(Error::NotImplemented(operation.name));
        }
        let Identity { caller, now, store } = identity;
        Ok(CheckedRequest { operation, caller, params, parts, now, store })
    }

    async fn charge(
        &self,
        store: &dyn KeyValue,
        caller: &Caller,
        operation: &'static Operation,
        now: Timestamp,
    ) -> Result<(), Error> {
        let Some(project) = &caller.project else {
            return Ok(());
        };
        let counted = quota::is_counted(&mut Tx::new(store), project)?;
        if !counted {
            return Ok(());
        }
        let mut ids = self.ids();
        run(store, &mut ids, ATTEMPTS_MAX, |tx, _| quota::charge(tx, project, operation, now)).await
    }

    /// Runs the handler of a checked request. `json` is its body, or the metadata that came with its media; `before_commit` joins the handler's
    /// transaction with its reply.
    ///
    /// # Errors
    /// [`Error::ParseError`], then what the handler refuses, then what `before_commit` does.
    pub(super) async fn execute(
        &self,
        request: &ApiRequest,
        checked: CheckedRequest,
        media: Option<Media>,
        json: Bytes,
        before_commit: impl Fn(&mut Tx<'_>, &Reply) -> Result<(), Error> + Send + 'static,
    ) -> Result<Reply, Error> {
        self.publish_due(checked.now).await?;
        let heavy = checked.operation.heavy;
        let writes = checked.operation.method != Method::Get;
        let _change = writes.then(|| self.0.schedule.change());
        let store = Arc::clone(&checked.store);
        // A body takes its time: what was read before it is used where its version is checked.
        if let Some(prefetch) = store.prefetch().filter(|_| media.is_some()) {
            prefetch.age();
        }
        let bound = self.bind_handler(request, checked, media, &json, before_commit)?;
        let mut ids = self.ids();
        if heavy || !self.0.store.is_local() {
            let work = move || run_blocking(&*store, &mut ids, ATTEMPTS_MAX, bound);
            self.run_blocking_bounded(work).await
        } else {
            run(&*store, &mut ids, ATTEMPTS_MAX, bound).await
        }
    }

    /// Binds the handler to all that it is given, so that it can run in a transaction, again where that conflicts.
    ///
    /// # Errors
    /// [`Error::NotImplemented`], [`Error::ParseError`], [`Error::UnexpectedPart`].
    pub(super) fn bind_handler<S>(
        &self,
        request: &ApiRequest,
        checked: CheckedRequest,
        media: Option<Media>,
        json: &[u8],
        before_commit: S,
    ) -> Result<
        impl Fn(&mut Tx<'_>, &mut dyn Ids) -> Result<Reply, Error> + Send + 'static + use<S>,
        Error,
    >
    where
        S: Fn(&mut Tx<'_>, &Reply) -> Result<(), Error> + Send + 'static,
    {
        let Run::Call(handler) = checked.operation.run else {
            return Err(Error::NotImplemented(checked.operation.name));
        };
        let body = if checked.operation.takes_json() {
            request::json(json)?
        } else {
            serde_json::Map::new()
        };
        validate::check_body(checked.operation, &checked.parts, &body)?;
        let mistyped =
            checked.operation.request.and_then(|name| schema::check_types(name, &body).err());
        let if_match = request.if_match.clone();
        let accept_language = request.header("accept-language").map(str::to_owned);
        let only_reads = checked.operation.method == Method::Get;
        let service = self.clone();
        Ok(move |tx: &mut Tx<'_>, ids: &mut dyn Ids| {
            let mut turn = None;
            loop {
                // Nobody sees half of a channel that closes: what was written rests on its row, and what was read is read again.
                if !only_reads {
                    closing::get(tx)?;
                    account::check_open(tx, &checked.caller)?;
                }
                let now = |tx: &mut Tx<'_>| closing::moment(tx, &mut Tx::new(&*checked.store));
                let moment = if checked.operation.heavy {
                    service.moment_of_index(tx, now)?
                } else {
                    now(tx)?
                };
                let mut caller = Cow::Borrowed(&checked.caller);
                if caller.closing != moment.channels {
                    caller.to_mut().closing = Arc::clone(&moment.channels);
                }
                let call = Call {
                    operation: checked.operation,
                    params: &checked.params,
                    parts: checked.parts.clone(),
                    caller: &caller,
                    now: checked.now,
                    body: &body,
                    media: media.as_ref(),
                    if_match: if_match.as_deref(),
                    accept_language: accept_language.as_deref(),
                };
                let reply = handler(&call, tx, ids)?;
                // A handler has reasons of its own for what it reads; here is the rest of the body.
                if let Some((path, expected)) = &mistyped {
                    return Err(Error::InvalidField { path: path.clone(), expected });
                }
                if !only_reads || now(tx)? == moment {
                    before_commit(tx, &reply)?;
                    return Ok(reply);
                }
                tx.begin_anew();
                turn.get_or_insert_with(|| service.0.closing_turn.read());
            }
        })
    }

    /// Tells whether the operation's requests go through the cache: it only reads, and quickly.
    fn is_cacheable(&self, operation: &Operation) -> bool {
        operation.method == Method::Get
            && !operation.heavy
            && !operation.download
            && self.0.store.is_local()
    }

    /// Answers a request that only reads.
    ///
    /// # Errors
    /// As [`VideoApi::check_parameters`], then what the handler refuses.
    async fn read_through_cache(
        &self,
        request: &ApiRequest,
        operation: &'static Operation,
        identity: Identity,
    ) -> Result<ApiResponse, Error> {
        let (store, responses) = (&*self.0.store, &self.0.responses);
        self.publish_due(identity.now).await?;
        let key = cache_key(request, &identity.caller);
        if let Some(cached) = responses.find(&key, identity.now, store) {
            return Ok(cached.rendered.response(request, operation.name));
        }
        let since = identity.now;
        let checked = self.check_parameters(request, operation, identity)?;
        let bound = self.bind_handler(request, checked, None, b"", |_, _| Ok(()))?;
        // What only reads draws nothing.
        let mut ids = SeededIds::from_seed([0; 32]);
        let (reply, read_set) = kv::read(store, |tx| bound(tx, &mut ids)).await?;
        let read_set = read_set.filter(|_| !reply.is_time_dependent);
        let rendered = RenderedReply::new(reply, request);
        if let Some(read_set) = read_set {
            responses.insert(key, read_set, &rendered, since);
        }
        Ok(rendered.response(request, operation.name))
    }

    /// Runs work that is more than microseconds on a thread that may block, a few at once.
    ///
    /// # Errors
    /// The failure of the work; `Unavailable` if its thread was lost.
    pub(super) async fn run_blocking_bounded<T: Send + 'static>(
        &self,
        work: impl FnOnce() -> Result<T, Error> + Send + 'static,
    ) -> Result<T, Error> {
        let lost = || Error::Backend(StoreError::Unavailable("a worker thread was lost".into()));
        let _permit = self.0.blocking_permits.acquire().await.map_err(|_| lost())?;
        tokio::task::spawn_blocking(work).await.map_err(|_| lost())?
    }

    /// Brings the index to what the documents say, and gives a moment that began before: an account whose closing ended while the index
    /// was caught up may still have documents there, which nobody would take out of a total any more.
    fn moment_of_index(
        &self,
        tx: &mut Tx<'_>,
        now: impl Fn(&mut Tx<'_>) -> Result<Moment, StoreError>,
    ) -> Result<Moment, Error> {
        loop {
            let channels = closing::peek(tx)?;
            self.catch_up_index()?;
            let moment = now(tx)?;
            if moment.channels == channels {
                return Ok(moment);
            }
        }
    }

    fn catch_up_index(&self) -> Result<(), Error> {
        let _one = self.0.index_lock.lock();
        let mut ids = self.ids();
        while indexer::follow(&*self.store_of_request(), &mut ids)? > 0 {}
        Ok(())
    }

    /// Videos whose time has come are public before anyone looks, and captions serve whose times are worked out.
    async fn publish_due(&self, now: Timestamp) -> Result<(), Error> {
        let next = || {
            let mut tx = Tx::new(&*self.0.store);
            let due = [videos::next_due(&mut tx)?, captions::next_due(&mut tx)?];
            Ok::<_, Error>(due.into_iter().flatten().min())
        };
        while self.0.schedule.is_due(now, next)? {
            let mut ids = self.ids();
            run(&*self.0.store, &mut ids, ATTEMPTS_MAX, |tx, _| {
                videos::publish_due(tx, now)?;
                captions::end_syncs(tx, now)
            })
            .await?;
            self.sweep_soon();
        }
        Ok(())
    }
}
