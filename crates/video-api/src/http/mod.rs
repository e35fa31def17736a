//! The service over HTTP: bytes to domain values and back, and nothing else.

mod background;
mod batch;
mod control;
mod cors;
mod oauth;
mod pictures;
mod publish_schedule;
mod request;
mod response;
mod response_cache;
mod router;
#[cfg(feature = "testing")]
pub mod testing;
mod upload;
mod upload_body;

pub use request::Asked;
pub use response::Answer;

use std::sync::{Arc, Mutex, PoisonError};

use bytes::Bytes;
use http::{Request, Response};
use http_body_util::{BodyExt, Limited};
use triptych_core::blobs::Blobs;
use triptych_core::host::{
    BoxError, Operation as OperationName, ReplyBody, RequestContext, RequestId, drain_refused,
};
use triptych_core::id::{Ids, SharedIds, SystemIds};
use triptych_core::kv::{KeyValue, StoreError, Tx, run, run_blocking};
use triptych_core::time::{Clock, SystemClock, Timestamp};

use crate::account::{self, Caller};
use crate::api::error::Error;
use crate::api::operation::call::Call;
use crate::api::operation::{Method, Operation, Run};
use crate::api::parameter::Params;
use crate::api::quota;
use crate::api::response::Reply;
use crate::api::validate;
use crate::index::indexer;
use crate::media::Media;
use crate::resource::videos::store as videos;
use crate::seed::{Seed, SeedError};

/// How often a transaction is tried while others win.
const ATTEMPTS_MAX: u32 = 64;
/// The most bytes of a body that is no media.
const JSON_BYTES_MAX: usize = 2 * 1024 * 1024;
/// Heavy requests that run at once; more wait.
const HEAVY_MAX: usize = 4;

/// The service. It is a `hyper` and a `tower` service at once; clones share one store.
#[derive(Clone)]
pub struct VideoApi(pub(crate) Arc<Inner>);

pub(crate) struct Inner {
    pub(crate) store: Arc<dyn KeyValue>,
    answers: response_cache::Answers,
    pub(crate) blobs: Arc<dyn Blobs>,
    pub(crate) clock: Arc<dyn Clock>,
    ids: SharedIds,
    strict: bool,
    pub(crate) external_url: Option<String>,
    seed: Seed,
    pub(crate) heavy: tokio::sync::Semaphore,
    /// One thread brings the search index up to date at a time; others wait for what it does.
    draining: Mutex<()>,
    /// When this process began: what it writes is younger, however its clock is moved.
    started: Timestamp,
    schedule: publish_schedule::Schedule,
    /// Whether a thread is freeing space.
    sweeping: std::sync::atomic::AtomicBool,
}

/// What a [`VideoApi`] is built from.
pub struct Builder {
    store: Arc<dyn KeyValue>,
    blobs: Arc<dyn Blobs>,
    clock: Arc<dyn Clock>,
    ids: Box<dyn Ids>,
    strict: bool,
    external_url: Option<String>,
    seed: Seed,
}

impl std::fmt::Debug for VideoApi {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("VideoApi").finish_non_exhaustive()
    }
}

impl std::fmt::Debug for Builder {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Builder").finish_non_exhaustive()
    }
}

impl Builder {
    /// The clock.
    #[must_use]
    pub fn clock(mut self, clock: Arc<dyn Clock>) -> Self {
        self.clock = clock;
        self
    }

    /// Where ids come from.
    #[must_use]
    pub fn ids(mut self, ids: Box<dyn Ids>) -> Self {
        self.ids = ids;
        self
    }

    /// Whether parameters that are not known are refused.
    #[must_use]
    pub const fn strict(mut self, strict: bool) -> Self {
        self.strict = strict;
        self
    }

    /// The address that clients use, where a proxy stands in front.
    #[must_use]
    pub fn external_url(mut self, url: Option<String>) -> Self {
        self.external_url = url;
        self
    }

    /// What fills an empty store, and a store that was reset.
    #[must_use]
    pub fn seed(mut self, seed: Seed) -> Self {
        self.seed = seed;
        self
    }

    /// The service.
    #[must_use]
    pub fn build(self) -> VideoApi {
        let started = Timestamp::from_millis(self.clock.now().millis());
        VideoApi(Arc::new(Inner {
            started,
            store: self.store,
            answers: response_cache::Answers::new(),
            blobs: self.blobs,
            clock: self.clock,
            ids: SharedIds::new(self.ids),
            strict: self.strict,
            external_url: self.external_url,
            seed: self.seed,
            heavy: tokio::sync::Semaphore::new(HEAVY_MAX),
            draining: Mutex::new(()),
            schedule: publish_schedule::Schedule::default(),
            sweeping: std::sync::atomic::AtomicBool::new(false),
        }))
    }
}

/// Who asks, and when.
struct Visit {
    caller: Caller,
    now: Timestamp,
}

/// A request that may be carried out: who asks, and what was read of it.
#[derive(Debug, Clone)]
pub(crate) struct Admitted {
    pub(crate) operation: &'static Operation,
    pub(crate) caller: Caller,
    pub(crate) params: Params,
    pub(crate) parts: Vec<&'static str>,
    pub(crate) now: Timestamp,
}

impl VideoApi {
    /// A service on these stores; all else has defaults.
    #[must_use]
    pub fn builder(store: Arc<dyn KeyValue>, blobs: Arc<dyn Blobs>) -> Builder {
        Builder {
            store,
            blobs,
            clock: Arc::new(SystemClock::new()),
            // Drawn from the system once: a generator is asked for with every request.
            ids: Box::new(SystemIds.fork()),
            strict: false,
            external_url: None,
            seed: Seed::default(),
        }
    }

    /// Answers one request.
    pub async fn answer<B>(&self, request: Request<B>) -> Response<ReplyBody>
    where
        B: http_body::Body<Data = Bytes> + Send + Unpin,
        B::Error: Into<BoxError>,
    {
        let (head, mut body) = request.into_parts();
        let id = match head.extensions.get::<RequestContext>() {
            Some(received) => received.id.clone(),
            None => RequestId::from_number(self.draw().next(), 0),
        };
        // A client that waits for 100 Continue has sent nothing that would have to be read.
        let waits = head.headers.contains_key(http::header::EXPECT);
        let asked = Asked::read(head, self.0.external_url.as_deref());
        let (gzip, page) = (asked.gzip, cors::Page::of(&asked));
        let answer = self.route(asked, &mut body).await;
        if answer.status >= 400 && !waits {
            drain_refused(&mut body).await;
        }
        let mut response = response::response(answer, gzip);
        if let Some(page) = &page {
            page.let_read(response.headers_mut());
        }
        if let Ok(value) = http::HeaderValue::from_str(&id.0) {
            response.headers_mut().insert("x-request-id", value);
        }
        response
    }

    async fn route<B>(&self, asked: Asked, body: &mut B) -> Answer
    where
        B: http_body::Body<Data = Bytes> + Send + Unpin,
        B::Error: Into<BoxError>,
    {
        let path = asked.path.as_str();
        if asked.method == "OPTIONS" {
            return cors::options(&asked);
        }
        if let Some(rest) = router::under_upload(path) {
            return self.upload(&asked, rest, body).await;
        }
        if oauth::is_issuer(path) {
            return self.issue(&asked, body).await;
        }
        if pictures::is_picture(path) {
            return self.picture(&asked).await;
        }
        match path {
            _ if router::DISCOVERY_PATHS.contains(&path) => return router::discover(&asked),
            _ if router::BATCH_PATHS.contains(&path) => return self.batch(&asked, body).await,
            _ => {}
        }
        match whole(body, JSON_BYTES_MAX).await {
            Ok(bytes) => self.call(asked.with_body(bytes)).await,
            Err(error) => asked.refuse(&error, "-"),
        }
    }

    /// Answers a request whose body is there.
    pub(crate) async fn call(&self, mut asked: Asked) -> Answer {
        let (name, outcome) = match router::operation_at(&asked.method, &asked.path) {
            Err(error) => ("-", Err(error)),
            Ok((operation, values)) => {
                asked.pairs.extend(values);
                (operation.name, self.admit_and_run(&asked, operation).await)
            }
        };
        if asked.method == "DELETE" {
            self.sweep_soon();
        }
        outcome.unwrap_or_else(|error| asked.refuse(&error, name))
    }

    async fn admit_and_run(
        &self,
        asked: &Asked,
        operation: &'static Operation,
    ) -> Result<Answer, Error> {
        if operation.upload.is_some() && asked.value("uploadType").is_some() {
            return Err(Error::WrongUrlForUpload);
        }
        let visit = self.welcome(asked, operation).await?;
        if self.only_reads(operation) {
            return self.read(asked, operation, visit).await;
        }
        let admitted = self.check(asked, operation, visit)?;
        let json = asked.body.clone();
        let reply = self.carry_out(asked, admitted, None, json, |_, _| Ok(()));
        Ok(asked.reply(reply.await?, operation.name))
    }

    /// Looks at who asks and for what, and counts the request.
    ///
    /// # Errors
    /// In this order: the form of the answer, the operation's state, credentials, scopes, quota, parameters.
    pub(crate) async fn admit(
        &self,
        asked: &Asked,
        operation: &'static Operation,
    ) -> Result<Admitted, Error> {
        let visit = self.welcome(asked, operation).await?;
        self.check(asked, operation, visit)
    }

    /// Looks at who asks, and counts the request.
    ///
    /// # Errors
    /// As [`VideoApi::admit`], without the parameters.
    async fn welcome(&self, asked: &Asked, operation: &'static Operation) -> Result<Visit, Error> {
        asked.check_form(operation)?;
        match operation.run {
            Run::Withdrawn => return Err(Error::Unsupported(operation.name)),
            Run::NotImplemented | Run::Call(_) => {}
        }
        let now = self.0.clock.now();
        let caller = {
            let mut tx = Tx::new(&*self.0.store);
            let (key, token) = (asked.key.as_deref(), asked.token.as_deref());
            account::identify(&mut tx, key, token, now)?
        };
        validate::authorize(operation, &caller, &asked.pairs)?;
        self.charge(&caller, operation, now).await?;
        Ok(Visit { caller, now })
    }

    /// Looks at what is asked for.
    ///
    /// # Errors
    /// The faults of the parameters.
    fn check(
        &self,
        asked: &Asked,
        operation: &'static Operation,
        visit: Visit,
    ) -> Result<Admitted, Error> {
        let (params, parts) = validate::check(operation, &asked.pairs, self.0.strict)?;
        if matches!(operation.run, Run::NotImplemented) {
            return Err(Error::NotImplemented(operation.name));
        }
        let Visit { caller, now } = visit;
        Ok(Admitted { operation, caller, params, parts, now })
    }

    async fn charge(
        &self,
        caller: &Caller,
        operation: &'static Operation,
        now: Timestamp,
    ) -> Result<(), Error> {
        let Some(project) = &caller.project else {
            return Ok(());
        };
        let counted = quota::is_counted(&mut Tx::new(&*self.0.store), project)?;
        if !counted {
            return Ok(());
        }
        let mut ids = self.draw();
        run(&*self.0.store, &mut ids, ATTEMPTS_MAX, |tx, _| {
            quota::charge(tx, project, operation, now)
        })
        .await
    }

    /// Runs the handler of an admitted request. `json` is its body, or the metadata that came with its media; `settle` joins the handler's
    /// transaction with its reply.
    ///
    /// # Errors
    /// [`Error::ParseError`], then what the handler refuses, then what `settle` does.
    pub(crate) async fn carry_out(
        &self,
        asked: &Asked,
        admitted: Admitted,
        media: Option<Media>,
        json: Bytes,
        settle: impl Fn(&mut Tx<'_>, &Reply) -> Result<(), Error> + Send + 'static,
    ) -> Result<Reply, Error> {
        self.publish_due(admitted.now).await?;
        let heavy = admitted.operation.heavy;
        let writes = admitted.operation.method != Method::Get;
        let _change = writes.then(|| self.0.schedule.change());
        let work = self.work(asked, admitted, media, &json, settle)?;
        let mut ids = self.draw();
        if heavy || !self.0.store.is_local() {
            let service = self.clone();
            let work = move || {
                if heavy {
                    service.drain_index()?;
                }
                run_blocking(&*service.0.store, &mut ids, ATTEMPTS_MAX, work)
            };
            self.heavily(work).await
        } else {
            run(&*self.0.store, &mut ids, ATTEMPTS_MAX, work).await
        }
    }

    /// The handler with everything that it is given, ready to run in a transaction.
    ///
    /// # Errors
    /// [`Error::NotImplemented`], [`Error::ParseError`], [`Error::UnexpectedPart`].
    pub(crate) fn work<S>(
        &self,
        asked: &Asked,
        admitted: Admitted,
        media: Option<Media>,
        json: &[u8],
        settle: S,
    ) -> Result<
        impl Fn(&mut Tx<'_>, &mut dyn Ids) -> Result<Reply, Error> + Send + 'static + use<S>,
        Error,
    >
    where
        S: Fn(&mut Tx<'_>, &Reply) -> Result<(), Error> + Send + 'static,
    {
        let Run::Call(handler) = admitted.operation.run else {
            return Err(Error::NotImplemented(admitted.operation.name));
        };
        let body = if admitted.operation.takes_json() {
            request::json(json)?
        } else {
            serde_json::Map::new()
        };
        validate::check_body(admitted.operation, &admitted.parts, &body)?;
        let if_match = asked.if_match.clone();
        let accept_language = asked.header("accept-language").map(str::to_owned);
        Ok(move |tx: &mut Tx<'_>, ids: &mut dyn Ids| {
            let call = Call {
                operation: admitted.operation,
                params: &admitted.params,
                parts: admitted.parts.clone(),
                caller: &admitted.caller,
                now: admitted.now,
                body: &body,
                media: media.as_ref(),
                if_match: if_match.as_deref(),
                accept_language: accept_language.as_deref(),
            };
            let reply = handler(&call, tx, ids)?;
            settle(tx, &reply)?;
            Ok(reply)
        })
    }

    /// Runs work that is more than microseconds on a thread that may block, a few at once.
    ///
    /// # Errors
    /// What the work fails with; `Unavailable` if its thread was lost.
    pub(crate) async fn heavily<T: Send + 'static>(
        &self,
        work: impl FnOnce() -> Result<T, Error> + Send + 'static,
    ) -> Result<T, Error> {
        let lost = || Error::Backend(StoreError::Unavailable("a worker thread was lost".into()));
        let _permit = self.0.heavy.acquire().await.map_err(|_| lost())?;
        tokio::task::spawn_blocking(work).await.map_err(|_| lost())?
    }

    fn drain_index(&self) -> Result<(), Error> {
        let _one = self.0.draining.lock().unwrap_or_else(PoisonError::into_inner);
        indexer::drain(&*self.0.store, &mut self.draw())?;
        Ok(())
    }

    /// Videos whose time has come are public before anyone looks.
    async fn publish_due(&self, now: Timestamp) -> Result<(), Error> {
        let next = || videos::next_due(&mut Tx::new(&*self.0.store));
        while self.0.schedule.is_due(now, next)? {
            let mut ids = self.draw();
            run(&*self.0.store, &mut ids, ATTEMPTS_MAX, |tx, _| videos::publish_due(tx, now))
                .await?;
        }
        Ok(())
    }

    /// Applies the seed, and says how many of its steps were new.
    ///
    /// # Errors
    /// [`SeedError`].
    pub async fn fill(&self) -> Result<usize, SeedError> {
        let now = self.0.clock.now();
        let mut ids = self.draw();
        let begin = self.0.seed.resume(&mut Tx::new(&*self.0.store))?;
        let mut new = 0;
        for at in begin.unwrap_or(0)..self.0.seed.len() {
            let _change = self.0.schedule.change();
            let applied = run(&*self.0.store, &mut ids, ATTEMPTS_MAX, |tx, _| {
                self.0.seed.apply(at, tx, now, begin.is_some())
            })
            .await?;
            new += usize::from(applied);
        }
        Ok(new)
    }

    /// The time that bodies are named by.
    pub(crate) fn blob_time(&self) -> Timestamp {
        self.0.clock.now().max(self.0.started)
    }

    /// The generator, for one request.
    pub(crate) fn draw(&self) -> SharedIds {
        self.0.ids.clone()
    }
}

/// The whole of a body, if it is short.
pub(crate) async fn whole<B>(body: &mut B, bytes_max: usize) -> Result<Bytes, Error>
where
    B: http_body::Body<Data = Bytes> + Send + Unpin,
    B::Error: Into<BoxError>,
{
    match Limited::new(body, bytes_max).collect().await {
        Ok(collected) => Ok(collected.to_bytes()),
        Err(error) if error.is::<http_body_util::LengthLimitError>() => {
            Err(Error::UploadTooLarge(bytes_max as u64))
        }
        Err(_) => Err(Error::BodyBroken),
    }
}

triptych_core::impl_service!(VideoApi: Unpin);

/// The name that metrics and log know an answer by.
pub(crate) const fn operation_name(name: &'static str) -> OperationName {
    OperationName(name)
}
