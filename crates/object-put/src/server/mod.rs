//! The service over HTTP: bytes to domain values and back, and nothing else.

mod background;
mod credential_cache;
mod download;
mod md5_pool;
mod render;
mod response_cache;
#[cfg(feature = "testing")]
pub mod testing;
mod upload;

use download::{Download, ObjectBytes, ResponseBody};

use std::sync::Arc;

use bytes::Bytes;
use http::request::Parts as Head;
use http::{Request, Response};
use triptych_core::blobs::Blobs;
use triptych_core::host::{
    BoxError, Operation as OperationName, ReplyBody, RequestContext, RequestId, drain_refused,
};
use triptych_core::id::{Ids, SharedIds, SystemIds};
use triptych_core::kv::{KeyValue, run};
use triptych_core::time::{Clock, SystemClock, Timestamp};

use crate::auth::account::Caller;
use crate::auth::authorize::{self, AccessRequest};
use crate::auth::sigv4::{Credentials, RequestLine, Verified};
use crate::body::encryption::Keyring;
use crate::error::Error;
use crate::maintenance::seed::{DEFAULT_REGION, Seed};
use crate::operation::copy_object::CopyAdmission;
use crate::operation::put_object::{Admission, Verifier};
use crate::operation::{Call, Operation, Progress, Reply, Run, Settings, Step, StepOutcome, route};
use crate::request::dialect::Dialect;
use crate::request::fields::{Fields, Query};
use crate::request::location::Location;
use crate::store::bucket::Ownership;
use crate::store::commit::{NewVersion, commit};
use crate::store::version::{ObjectRange, ObjectVersion, Part, Parts, encryption_context};

/// Attempts of a transaction while others win.
const ATTEMPTS_MAX: u32 = 64;
/// The most bytes of a body that is no object: XML and JSON documents.
const DOCUMENT_BYTES_MAX: u64 = 2 * 1024 * 1024;

/// The service. It is a `hyper` and a `tower` service at once; clones share one store.
#[derive(Clone)]
pub struct ObjectPut(Arc<Inner>);

struct Inner {
    store: Arc<dyn KeyValue>,
    blobs: Arc<dyn Blobs>,
    keyring: Keyring,
    clock: Arc<dyn Clock>,
    ids: SharedIds,
    credentials: credential_cache::CredentialCache,
    responses: response_cache::ResponseCache,
    settings: Settings,
    base_hosts: Vec<String>,
    seed: Seed,
    large: tokio::sync::Semaphore,
    cores: usize,
    md5_pool: md5_pool::Md5Pool,
}

/// The parts that an [`ObjectPut`] is built from.
pub struct Builder {
    store: Arc<dyn KeyValue>,
    blobs: Arc<dyn Blobs>,
    keyring: Option<Keyring>,
    clock: Arc<dyn Clock>,
    ids: Box<dyn Ids>,
    settings: Settings,
    base_hosts: Vec<String>,
    seed: Seed,
}

impl ObjectPut {
    /// A service on these stores; all else has defaults.
    #[must_use]
    pub fn builder(store: Arc<dyn KeyValue>, blobs: Arc<dyn Blobs>) -> Builder {
        Builder {
            store,
            blobs,
            keyring: None,
            clock: Arc::new(SystemClock::new()),
            ids: Box::new(SystemIds),
            settings: Settings {
                region: DEFAULT_REGION.to_owned(),
                strict: false,
                ownership: Ownership::default(),
            },
            base_hosts: Vec::new(),
            seed: Seed::default(),
        }
    }
}

impl Builder {
    /// The root keys of encryption at rest. Without them one is drawn that lives as long as the service: enough for stores in memory.
    #[must_use]
    pub fn keyring(mut self, keyring: Keyring) -> Self {
        self.keyring = Some(keyring);
        self
    }

    /// The clock.
    #[must_use]
    pub fn clock(mut self, clock: Arc<dyn Clock>) -> Self {
        self.clock = clock;
        self
    }

    /// The source of ids.
    #[must_use]
    pub fn ids(mut self, ids: Box<dyn Ids>) -> Self {
        self.ids = ids;
        self
    }

    /// The region that signatures must name.
    #[must_use]
    pub fn region(mut self, region: impl Into<String>) -> Self {
        self.settings.region = region.into();
        self
    }

    /// Refuses headers and parameters that are not known.
    #[must_use]
    pub const fn strict(mut self, strict: bool) -> Self {
        self.settings.strict = strict;
        self
    }

    /// Names under which the service is reached, beside `localhost`: `<bucket>.<name>` is a bucket.
    #[must_use]
    pub fn base_hosts(mut self, hosts: impl IntoIterator<Item = String>) -> Self {
        self.base_hosts.extend(hosts);
        self
    }

    /// The seed that a reset fills the emptied store with, and the ownership of new buckets.
    #[must_use]
    pub fn seed(mut self, seed: Seed) -> Self {
        self.settings.ownership = seed.ownership;
        self.seed = seed;
        self
    }

    /// The service.
    #[must_use]
    pub fn build(mut self) -> ObjectPut {
        let mut root = [0; 32];
        self.ids.fill(&mut root);
        ObjectPut(Arc::new(Inner {
            keyring: self.keyring.unwrap_or_else(|| Keyring::new(&root)),
            store: self.store,
            blobs: self.blobs,
            clock: self.clock,
            ids: SharedIds::new(Box::new(self.ids.fork())),
            credentials: credential_cache::CredentialCache::default(),
            responses: response_cache::ResponseCache::new(),
            settings: self.settings,
            base_hosts: self.base_hosts,
            seed: self.seed,
            large: tokio::sync::Semaphore::new(upload::LARGE_BODIES_MAX),
            md5_pool: md5_pool::Md5Pool::default(),
            cores: std::thread::available_parallelism().map_or(1, usize::from),
        }))
    }
}

/// A request whose head is read and whose sender is known.
struct ParsedRequest<'r> {
    operation: &'static Operation,
    location: Location,
    fields: Fields<'r>,
    query: Query,
    caller: Caller,
    verified: Verified,
    now: Timestamp,
    secure: bool,
}

impl ParsedRequest<'_> {
    fn call<'a>(
        &'a self,
        body: &'a Bytes,
        bucket: Option<&'a crate::store::bucket::Bucket>,
        settings: &'a Settings,
    ) -> Call<'a> {
        Call {
            operation: self.operation,
            fields: &self.fields,
            query: &self.query,
            body,
            caller: &self.caller,
            bucket_name: self.location.bucket.as_deref().unwrap_or_default(),
            bucket,
            key: self.location.key.as_ref(),
            now: self.now,
            secure: self.secure,
            settings,
        }
    }
}

impl ObjectPut {
    /// Answers one request.
    pub async fn answer<B>(&self, request: Request<B>) -> Response<ReplyBody>
    where
        B: http_body::Body<Data = Bytes> + Send + Unpin,
        B::Error: Into<BoxError>,
    {
        let (head, mut body) = request.into_parts();
        let id = match head.extensions.get::<RequestContext>() {
            Some(received) => received.id.clone(),
            None => RequestId::from_number(self.ids().next(), 0),
        };
        let now = self.0.clock.now();
        let mut spoken = (Dialect::Store, "-");
        let answer = self.dispatch(&head, &mut body, now, &mut spoken).await;
        let (dialect, operation) = spoken;
        let mut response = match answer {
            Ok(reply) => reply.map(|content| content.open(self)),
            Err(error) => {
                // One that waits for 100 Continue has sent nothing.
                if !head.headers.contains_key(http::header::EXPECT) {
                    drain_refused(&mut body).await;
                }
                render::refusal(&error, dialect, &head.method, &id)
            }
        };
        render::identify(&mut response, dialect, &id, now);
        response.extensions_mut().insert(OperationName(operation));
        response
    }

    async fn dispatch<B>(
        &self,
        head: &Head,
        body: &mut B,
        now: Timestamp,
        spoken: &mut (Dialect, &'static str),
    ) -> Result<Response<ResponseBody>, Error>
    where
        B: http_body::Body<Data = Bytes> + Send + Unpin,
        B::Error: Into<BoxError>,
    {
        let request = self.parse(head, now, spoken)?;
        let reply = match request.operation.run {
            // Boxed, so that the many requests that read do not carry the room that these need.
            Run::Put => Box::pin(self.put(&request, body)).await,
            Run::Call(handler) => {
                let document = self.document(&request, body).await?;
                if request.operation.only_reads() && document.is_empty() {
                    return self.read(&request, handler).await;
                }
                let mut ids = self.ids();
                run(&*self.0.store, &mut ids, ATTEMPTS_MAX, |tx, ids| {
                    let bucket = self.authorize(&request, tx)?;
                    handler(&request.call(&document, bucket.as_deref(), &self.0.settings), tx, ids)
                })
                .await
            }
            Run::Steps(step) => Box::pin(self.steps(&request, body, step)).await,
            Run::Copy => Box::pin(self.copy(&request)).await,
            Run::Absent => {
                Err(Error::OperationNotImplemented { operation: request.operation.name })
            }
        };
        reply.map(|reply| render::reply(reply, spoken.0))
    }

    /// An operation in steps. The bucket is the one that the first step was admitted to.
    async fn steps<B>(
        &self,
        request: &ParsedRequest<'_>,
        body: &mut B,
        step: Step,
    ) -> Result<Reply, Error>
    where
        B: http_body::Body<Data = Bytes> + Send + Unpin,
        B::Error: Into<BoxError>,
    {
        let document = self.document(request, body).await?;
        let mut ids = self.ids();
        let bucket =
            run(&*self.0.store, &mut ids, ATTEMPTS_MAX, |tx, _| self.authorize(request, tx))
                .await?;
        let call = request.call(&document, bucket.as_deref(), &self.0.settings);
        let mut progress = Progress::default();
        loop {
            let next = run(&*self.0.store, &mut ids, ATTEMPTS_MAX, |tx, ids| {
                step(&call, tx, ids, &progress)
            })
            .await?;
            match next {
                StepOutcome::Continue(further) => progress = further,
                StepOutcome::Done(reply) => return Ok(reply),
            }
        }
    }

    /// Reads the head: dialect, place, operation, sender.
    fn parse<'r>(
        &self,
        head: &'r Head,
        now: Timestamp,
        spoken: &mut (Dialect, &'static str),
    ) -> Result<ParsedRequest<'r>, Error> {
        let mut entries: Vec<(&str, &[u8])> =
            head.headers.iter().map(|(name, value)| (name.as_str(), value.as_bytes())).collect();
        // HTTP/2 carries the host in the target.
        if let Some(authority) = head.uri.authority().filter(|_| !head.headers.contains_key("host"))
        {
            entries.push(("host", authority.as_str().as_bytes()));
        }
        let size: usize = entries.iter().map(|(name, value)| name.len() + value.len()).sum();
        let fields = Fields::of(entries);
        let raw_query = head.uri.query().unwrap_or_default();
        let query = Query::parse(raw_query)?;
        spoken.0 = Dialect::of(&fields, &query)?;
        let fields = fields.in_dialect(spoken.0);
        if size > crate::operation::put_headers::HEADER_BYTES_MAX {
            return Err(Error::HeaderSectionTooLarge);
        }
        let host = fields.get("host")?.unwrap_or_default();
        let location = Location::of(&host, head.uri.path(), &self.0.base_hosts)?;
        let operation = route(head.method.as_str(), location.target(), &fields, &query)
            .inspect_err(|error| {
                if let Error::OperationNotImplemented { operation } = error {
                    spoken.1 = operation;
                }
            })?;
        spoken.1 = operation.name;
        if self.0.settings.strict {
            crate::operation::strict::check(&fields, &query)?;
        }
        let line = RequestLine {
            method: head.method.as_str(),
            path: head.uri.path(),
            query: raw_query,
            host_bucket: location.bucket.as_deref().filter(|_| location.virtual_host),
        };
        let authorization = fields.get("authorization")?;
        let region = &self.0.settings.region;
        let credentials = Credentials::read(authorization.as_deref(), &fields, &query, region)?;
        let (caller, verified) = self.identify(&credentials, line, &fields, now)?;
        let received = head.extensions.get::<RequestContext>();
        let secure = received.is_some_and(|received| received.peer.tls);
        Ok(ParsedRequest { operation, location, query, caller, verified, now, secure, fields })
    }

    fn identify(
        &self,
        credentials: &Credentials<'_>,
        line: RequestLine<'_>,
        fields: &Fields<'_>,
        now: Timestamp,
    ) -> Result<(Caller, Verified), Error> {
        let Some(id) = credentials.access_key() else {
            let Credentials::Anonymous(payload) = credentials else {
                return Err(Error::Internal);
            };
            return Ok((Caller::Anonymous, Verified { payload: *payload, chunks: None }));
        };
        let unknown = || Error::InvalidAccessKeyId { access_key: id.to_owned() };
        let cached = self.0.credentials.find(&*self.0.store, id)?;
        let cached = cached.ok_or_else(unknown)?;
        let verified = cached.verify(credentials, line, fields, now)?;
        Ok((Caller::Principal(Arc::clone(&cached.principal)), verified))
    }

    fn authorize(
        &self,
        request: &ParsedRequest<'_>,
        tx: &mut triptych_core::kv::Tx<'_>,
    ) -> Result<Option<Arc<crate::store::bucket::Bucket>>, Error> {
        match &request.location.bucket {
            Some(name) if request.operation.needs_bucket => {
                let access = AccessRequest {
                    operation: request.operation,
                    bucket: name,
                    key: request.location.key.as_ref(),
                    fields: &request.fields,
                    query: &request.query,
                    caller: &request.caller,
                    secure: request.secure,
                };
                authorize::authorize(&access, tx).map(Some)
            }
            _ => Ok(None),
        }
    }

    /// PutObject: look and refuse, take the body, decide again and commit.
    async fn put<B>(&self, request: &ParsedRequest<'_>, body: &mut B) -> Result<Reply, Error>
    where
        B: http_body::Body<Data = Bytes> + Send + Unpin,
        B::Error: Into<BoxError>,
    {
        let mut ids = self.ids();
        let empty = Bytes::new();
        let admission = run(&*self.0.store, &mut ids, ATTEMPTS_MAX, |tx, ids| {
            let bucket = self.authorize(request, tx)?;
            let call = request.call(&empty, bucket.as_deref(), &self.0.settings);
            Admission::decide(&call, request.verified.payload, tx, ids)
        })
        .await?;
        let object = self.store(request, &admission, &request.verified, body, ids).await?;
        Ok(admission.reply(&object))
    }

    /// CopyObject: a PUT whose body is another object's.
    async fn copy(&self, request: &ParsedRequest<'_>) -> Result<Reply, Error> {
        let mut ids = self.ids();
        let empty = Bytes::new();
        let copying = run(&*self.0.store, &mut ids, ATTEMPTS_MAX, |tx, ids| {
            let bucket = self.authorize(request, tx)?;
            let call = request.call(&empty, bucket.as_deref(), &self.0.settings);
            CopyAdmission::decide(&call, tx, ids)
        })
        .await?;
        let context =
            encryption_context(copying.bucket, &copying.key, copying.object.version.random);
        let source =
            ObjectRange { context, parts: copying.parts.clone(), range: 0..copying.size() };
        let mut body = Download::new(self.clone(), ObjectBytes::new(source));
        let unsigned = Verified { payload: copying.admission.head.body.payload, chunks: None };
        let object = self.store(request, &copying.admission, &unsigned, &mut body, ids).await?;
        let call = request.call(&empty, Some(&copying.admission.bucket), &self.0.settings);
        Ok(copying.reply(&call, &object, copying.admission.reply(&object)))
    }

    /// Takes the body of an admitted PUT, decides again and commits.
    async fn store<B>(
        &self,
        request: &ParsedRequest<'_>,
        admission: &Admission,
        verified: &Verified,
        body: &mut B,
        mut ids: SharedIds,
    ) -> Result<ObjectVersion, Error>
    where
        B: http_body::Body<Data = Bytes> + Send + Unpin,
        B::Error: Into<BoxError>,
    {
        let (key, wrapped_key) = admission.new_data_key(&self.0.keyring, &mut ids);
        let verifier = Verifier::new(request.fields.dialect(), &admission.head.body, verified);
        let (digested, blob) =
            upload::receive(&self.0, body, &admission.head.body, verifier, key, request.now)
                .await?;
        let part = Part { blob: blob.id, bytes: digested.size, wrapped_key };
        let now = self.0.clock.now();
        let committed = run(&*self.0.store, &mut ids, ATTEMPTS_MAX, |tx, _| {
            let new = NewVersion {
                bucket: &admission.bucket,
                key: &admission.key,
                owner: &admission.owner,
                random: admission.random,
                condition: &admission.head.condition,
                snapshot: &admission.snapshot,
                now,
            };
            commit(tx, &new, admission.object_data(&digested, Parts::One(part.clone())))
        })
        .await;
        match committed {
            Ok(object) => Ok(object),
            Err(error) => {
                // A batch whose outcome is unknown may have been stored: the sweep of unnamed blobs decides later.
                if !error.is_outcome_unknown() {
                    let _ = self.0.blobs.delete(blob.id).await;
                }
                Err(error)
            }
        }
    }

    /// The body of an operation that takes a document.
    async fn document<B>(&self, request: &ParsedRequest<'_>, body: &mut B) -> Result<Bytes, Error>
    where
        B: http_body::Body<Data = Bytes> + Send + Unpin,
        B::Error: Into<BoxError>,
    {
        if body.is_end_stream() {
            return Ok(Bytes::new());
        }
        upload::document(body, &request.fields, &request.verified, DOCUMENT_BYTES_MAX).await
    }

    /// The generator, for one request.
    fn ids(&self) -> SharedIds {
        self.0.ids.clone()
    }
}

impl std::fmt::Debug for ObjectPut {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("ObjectPut").field("settings", &self.0.settings).finish_non_exhaustive()
    }
}

impl std::fmt::Debug for Builder {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Builder").field("settings", &self.settings).finish_non_exhaustive()
    }
}

triptych_core::impl_service!(ObjectPut: Unpin);
