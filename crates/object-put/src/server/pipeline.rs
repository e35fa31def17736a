//! The way of a request: its head is parsed, its sender authenticated, its operation run, its answer rendered.

use std::sync::Arc;

use bytes::Bytes;
use http::header::{AUTHORIZATION, HOST, ORIGIN};
use http::request::Parts as Head;
use http::{HeaderName, HeaderValue, Method, Request, Response};
use triptych_core::host::{
    BoxError, Operation as OperationName, ReplyBody, RequestContext, RequestId, drain_refused,
};
use triptych_core::id::{Ids, SharedIds};
use triptych_core::kv::{self, KeyValue, Prefetch, Tx, run};
use triptych_core::time::Timestamp;

use crate::auth::account::Caller;
use crate::auth::authorize::{self, AccessRequest};
use crate::auth::credentials::Credentials;
use crate::auth::payload::Payload;
use crate::auth::policy::{self, RequestObject};
use crate::auth::session_token::is_session_key;
use crate::auth::signature::{RequestLine, Verified};
use crate::body::body_headers::{self, BodyHeaders};
use crate::body::customer_key;
use crate::cors::{Cors, CorsRequest};
use crate::error::Error;
use crate::operation::routing::route;
use crate::operation::table::is_subresource;
use crate::operation::{
    Call, DigestNeed, Operation, Progress, Read, Reply, Run, Step, StepOutcome,
};
use crate::operation::{
    access_point, directory_bucket, object_config, parameters, request_payer, session, strict,
};
use crate::request::arrival::Arrival;
use crate::request::dialect::Dialect;
use crate::request::fields::Fields;
use crate::request::location::{Location, Target};
use crate::request::query::Query;
use crate::server::download::ResponseBody;
use crate::server::place::{Place, lead};
use crate::server::request::{ParsedRequest, arrival};
use crate::server::request_plan::Named;
use crate::server::state::{ATTEMPTS_MAX, ObjectPut};
use crate::server::{render, response_cache, upload};
use crate::store::bucket::{Bucket, BucketKind};
use crate::store::session_key;
use crate::store::tables::BUCKETS;

/// The most bytes of a body that is no object: XML and JSON documents.
const DOCUMENT_BYTES_MAX: u64 = 2 * 1024 * 1024;
/// The most bytes that names and values of all headers have together.
const HEADER_BYTES_MAX: usize = 8 * 1024;
/// The name in log and metrics of a request whose operation is not known.
const NO_OPERATION: &str = "-";

/// A refusal, and what was known of the request by then.
struct Refused {
    dialect: Dialect,
    operation: &'static str,
    error: Error,
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
        // A browser asks before a page's own request as it asks of any bucket.
        let site = self.0.settings.hosts.website(host_of(&head));
        if let Some(site) = site.filter(|_| head.method != Method::OPTIONS) {
            let mut response = Box::pin(self.answer_page(&head, &site, &id, now)).await;
            self.finish(&head, &mut response, self.0.settings.dialect, &id, now, None);
            response.extensions_mut().insert(OperationName(super::website::OPERATION));
            return response;
        }
        let query = Query::parse(head.uri.query().unwrap_or_default());
        let parsed = match self.parse(&head, query.as_ref(), now) {
            Ok(request) => proved(request).await,
            refused => refused,
        };
        let mut read = None;
        let answer = match parsed {
            Ok(request) => {
                read = Some((Arc::clone(&request.store), request.location.bucket.clone()));
                let operation = request.operation.name;
                let (dialect, answered) = match request.operation.run {
                    Run::Form => Box::pin(self.post_object(&request, &mut body)).await,
                    _ => (request.fields.dialect(), self.dispatch(&request, &mut body).await),
                };
                let answered = match answered {
                    Ok(reply) => self.open(reply).await,
                    Err(error) => Err(error),
                };
                match answered {
                    Ok(response) => Ok((response, dialect, operation)),
                    Err(error) => Err(Refused { dialect, operation, error }),
                }
            }
            Err(refused) => Err(refused),
        };
        let (mut response, dialect, operation) = match answer {
            Ok(answered) => answered,
            Err(Refused { dialect, operation, error }) => {
                // One that waits for 100 Continue has sent nothing.
                if !head.headers.contains_key(http::header::EXPECT) {
                    drain_refused(&mut body).await;
                }
                let mut response = render::refusal(&error, dialect, &head.method, &id);
                // Clients ask so for the region of a bucket that they may not look into.
                if operation == "HeadBucket" && error == Error::AccessDenied {
                    render::tell_region(&mut response, &self.0.settings.region, dialect);
                }
                (response, dialect, operation)
            }
        };
        self.finish(&head, &mut response, dialect, &id, now, read);
        response.extensions_mut().insert(OperationName(operation));
        response
    }

    /// Adds what every answer has. `read` is the store as the request read it, and its bucket, where its head could be read.
    fn finish(
        &self,
        head: &Head,
        response: &mut Response<ReplyBody>,
        dialect: Dialect,
        id: &RequestId,
        now: Timestamp,
        read: Option<(Arc<dyn KeyValue>, Option<String>)>,
    ) {
        render::identify(response, dialect, id, now);
        if let Some(origin) = head.headers.get(ORIGIN).filter(|_| head.method != Method::OPTIONS) {
            let unread = || (Arc::clone(&self.0.store), self.bucket_of(head));
            let (store, bucket) = read.unwrap_or_else(unread);
            if let Some(bucket) = bucket {
                self.allow_origin(head, origin, response, &*store, &bucket);
            }
        }
    }

    /// The bucket that a head names, whatever else it says.
    fn bucket_of(&self, head: &Head) -> Option<String> {
        let location = Location::of(host_of(head), head.uri.path(), &self.0.settings.hosts).ok()?;
        let point = self.find_point(&*self.0.store, &location).ok()?;
        Place { location: &location, point: point.as_deref() }.bucket().map(str::to_owned)
    }

    /// Adds the headers by which a page of another origin may read an answer, where a rule of the bucket lets it: a refusal too.
    fn allow_origin(
        &self,
        head: &Head,
        origin: &HeaderValue,
        response: &mut Response<ReplyBody>,
        store: &dyn KeyValue,
        bucket: &str,
    ) {
        let Ok(origin) = origin.to_str() else {
            return;
        };
        let mut tx = Tx::new(store);
        let rules =
            BUCKETS.peek(&mut tx, &bucket.to_owned()).map_err(Error::from).and_then(|bucket| {
                bucket.map_or(Ok(None), |bucket| Cors::of_bucket(&mut tx, bucket.id))
            });
        // An answer goes out without them where the rules cannot be read: the page sees less, never more.
        let Ok(Some(rules)) = rules else {
            return;
        };
        let request = CorsRequest { origin, method: head.method.as_str(), headers: "" };
        for (name, value) in rules.headers(&request).into_iter().flatten() {
            if let Ok(value) = HeaderValue::try_from(value) {
                response.headers_mut().append(HeaderName::from_static(name), value);
            }
        }
    }

    /// Opens the body of an answer.
    pub(super) async fn open(
        &self,
        reply: Response<ResponseBody>,
    ) -> Result<Response<ReplyBody>, Error> {
        let (head, content) = reply.into_parts();
        Ok(Response::from_parts(head, content.open(&self.0.bodies).await?))
    }

    /// Reads the head: dialect, place, operation, sender.
    fn parse<'r>(
        &self,
        head: &'r Head,
        query: Result<&'r Query, &Error>,
        now: Timestamp,
    ) -> Result<ParsedRequest<'r>, Refused> {
        let default = self.0.settings.dialect;
        let unread = |error| Refused { dialect: default, operation: NO_OPERATION, error };
        let query = query.map_err(|error| unread(error.clone()))?;
        let fields = read_head(head, query, default).map_err(unread)?;
        let dialect = fields.dialect();
        let refused = |operation, error| Refused { dialect, operation, error };
        let fields = fields.with_parameters(query).map_err(|error| refused(NO_OPERATION, error))?;
        let (location, operation) =
            self.locate(head, &fields, query).map_err(|error| refused(NO_OPERATION, error))?;
        let built = check_built(operation, head, location.target(), query);
        let location = location.named_for(operation.target);
        let store = Prefetch::of(&self.0.store, Vec::new);
        let (found, (caller, verified)) = built
            .and_then(|()| directory_bucket::check_place(operation, &location, query))
            .and_then(|()| {
                let sender =
                    |place: Place<'_>| self.authenticate(&*store, head, place, &fields, query, now);
                self.see_place(&*store, &location, sender)
            })
            .map_err(|error| refused(operation.name, error))?;
        let (location, point) =
            lead(operation, location, found).map_err(|error| refused(operation.name, error))?;
        let fields = fields.without_future_dates(now);
        let arrival = arrival(head, now);
        self.check_transport(&fields, arrival).map_err(|error| refused(operation.name, error))?;
        Ok(ParsedRequest {
            operation,
            location,
            query,
            caller,
            verified,
            now,
            arrival,
            point,
            fields,
            store,
        })
    }

    /// Checks that the secrets of a head came by a way on which nobody could read along.
    ///
    /// # Errors
    /// Those of [`customer_key::check_transport`].
    pub(super) fn check_transport(
        &self,
        fields: &Fields<'_>,
        arrival: Arrival,
    ) -> Result<(), Error> {
        customer_key::check_transport(fields, arrival.is_private(self.0.settings.strict))
    }

    /// The place that the head names, and the operation on it.
    fn locate(
        &self,
        head: &Head,
        fields: &Fields<'_>,
        query: &Query,
    ) -> Result<(Location, &'static Operation), Error> {
        check_size(fields)?;
        let host = fields.get("host")?.unwrap_or_default();
        let location = Location::of(&host, head.uri.path(), &self.0.settings.hosts)?;
        parameters::check_selectors(head.method.as_str(), location.target(), query)?;
        match route(head.method.as_str(), location.target(), fields, query) {
            Ok(operation) => Ok((location, operation)),
            // Credentials that cannot be read are told before a method that nothing has here.
            Err(refused) => {
                let point = self.find_point(&*self.0.store, &location)?;
                let scope = self.scope(&location, point.as_deref());
                let authorization = fields.get("authorization")?;
                Credentials::read(authorization.as_deref(), fields, query, &scope)?;
                Err(refused)
            }
        }
    }

    /// The sender, whose credentials the cache of access keys verifies. What the request rests on is fetched on the way.
    fn authenticate(
        &self,
        store: &dyn KeyValue,
        head: &Head,
        place: Place<'_>,
        fields: &Fields<'_>,
        query: &Query,
        now: Timestamp,
    ) -> Result<(Caller, Verified), Error> {
        if self.0.settings.strict {
            strict::check(fields, query)?;
        }
        let Place { location, point } = place;
        let line = RequestLine {
            method: head.method.as_str(),
            path: head.uri.path(),
            query: head.uri.query().unwrap_or_default(),
            host_bucket: location.bucket.as_deref().filter(|_| location.host.is_some()),
            is_subresource,
        };
        if head.method == Method::OPTIONS {
            // A browser asks before the page's own request, with nobody's signature; a presigned URL signs that one.
            let verified = Verified::unsigned(Payload::Unsigned);
            self.0.names.fetch(store, Named { bucket: place.bucket(), ..Named::default() })?;
            return Ok((Caller::Anonymous, verified));
        }
        if head.headers.get_all(AUTHORIZATION).iter().count() > 1 {
            return Err(Error::SeveralAuthorizations);
        }
        let authorization = fields.get("authorization")?;
        let credentials = Credentials::read(
            authorization.as_deref(),
            fields,
            query,
            &self.scope(location, point),
        )?;
        let part = query.get("partNumber").and_then(|number| number.parse().ok());
        let id = credentials.access_key();
        // The key behind a session, where that was seen before.
        let of_session = id.filter(|id| is_session_key(id));
        let of_session = of_session.and_then(|id| self.0.sessions.access_key_of(id));
        let named = Named {
            access_key: of_session.as_deref().or(id),
            upload: query.get("uploadId").map(|name| (name, part)),
            bucket: place.bucket(),
            key: location.key.as_ref(),
        };
        self.0.names.fetch(store, named)?;
        let Some(id) = id else {
            let Credentials::Anonymous(payload) = credentials else {
                return Err(Error::Internal);
            };
            return Ok((Caller::Anonymous, Verified::unsigned(payload)));
        };
        if is_session_key(id) {
            return self.0.sessions.verify(store, &credentials, line, fields, now);
        }
        let cached = self.0.credentials.find(store, id)?;
        let cached =
            cached.ok_or_else(|| Error::InvalidAccessKeyId { access_key: id.to_owned() })?;
        let verified = cached.verify(&credentials, line, fields, now)?;
        Ok((Caller::Principal(Arc::clone(&cached.principal)), verified))
    }

    /// Runs the operation of a request.
    async fn dispatch<B>(
        &self,
        request: &ParsedRequest<'_>,
        body: &mut B,
    ) -> Result<Response<ResponseBody>, Error>
    where
        B: http_body::Body<Data = Bytes> + Send + Unpin,
        B::Error: Into<BoxError>,
    {
        check_framing(request)?;
        let reply = match request.operation.run {
            Run::Read(handler) => {
                // A read has no use for a body, but a broken one is refused all the same.
                document(request, body).await?;
                return self.read(request, handler).await;
            }
            Run::Write(handler) => {
                let document = document(request, body).await?;
                let now = request.arrival.now;
                let request_object =
                    object_config::request_object(request.operation, &document, now);
                run(&*request.store, &mut self.ids(), ATTEMPTS_MAX, |tx, ids| {
                    let bucket = self.authorize_with(request, request_object.as_ref(), tx)?;
                    check_digest(request)?;
                    handler(&request.call(&document, bucket.as_deref(), &self.0.settings), tx, ids)
                })
                .await
            }
            // Boxed, so that the many requests that read do not carry the room that these need.
            Run::Steps(step) => Box::pin(self.steps(request, body, step)).await,
            Run::Begin => {
                document(request, body).await?;
                Box::pin(self.begin_upload(request)).await
            }
            Run::Complete => {
                let document = document(request, body).await?;
                Box::pin(self.complete_upload(request, &document)).await
            }
            Run::Upload(source) => Box::pin(self.upload(request, source, body)).await,
            Run::Session => {
                document(request, body).await?;
                self.create_session(request).await
            }
            Run::NotImplemented => {
                Err(Error::OperationNotImplemented { operation: request.operation.name })
            }
            // Its head is still to be read: see `post_object`.
            Run::Form => Err(Error::Internal),
        };
        let reply = self.mark_charged(request, reply?)?;
        Ok(render::reply(reply, request.fields.dialect()))
    }

    /// CreateSession: nothing is written, since the token says all.
    async fn create_session(&self, request: &ParsedRequest<'_>) -> Result<Reply, Error> {
        let empty = Bytes::new();
        let (reply, _) = kv::read(&*request.store, |tx| {
            let bucket = match self.authorize(request, tx) {
                Err(Error::NoSuchBucket { .. }) => None,
                found => found?,
            };
            let key = session_key::load(tx, &self.0.bodies.keyring)?.ok_or(Error::Internal)?;
            let call = request.call(&empty, bucket.as_deref(), &self.0.settings);
            match bucket {
                Some(_) => session::create(&call, &key, tx, &mut self.ids()),
                None => session::create_ahead(&call, &key, &mut self.ids()),
            }
        })
        .await?;
        Ok(reply)
    }

    /// The answer to a request that wrote, and that its sender may have been charged for.
    pub(super) fn mark_charged(
        &self,
        request: &ParsedRequest<'_>,
        reply: Reply,
    ) -> Result<Reply, Error> {
        let is_marked = reply.headers.iter().any(|(name, _)| name == request_payer::CHARGED);
        // Nobody is charged who did not say so.
        let name = request.location.bucket.as_ref().filter(|_| !is_marked);
        let Some(name) = name.filter(|_| request.fields.has(request_payer::PAYER)) else {
            return Ok(reply);
        };
        let bucket = BUCKETS.get_shared(&mut Tx::new(&*request.store), name)?;
        let is_charged = bucket.is_some_and(|bucket| {
            request_payer::is_charged(request.operation, &request.caller, &bucket)
        });
        Ok(reply.with_some(request_payer::CHARGED, is_charged.then_some(request_payer::REQUESTER)))
    }

    /// Answers a request that only reads: as before, if it was asked before and nothing that the answer rests on was written.
    pub(super) async fn read(
        &self,
        request: &ParsedRequest<'_>,
        handler: Read,
    ) -> Result<Response<ResponseBody>, Error> {
        let store = &*request.store;
        let key = response_cache::key(request);
        if let Some(key) = &key
            && let Some(response) = self.0.responses.get(key, &request.caller, store)
        {
            return Ok(response);
        }
        let ((reply, has_policy), read_set) = kv::read(store, |tx| {
            let bucket = self.authorize(request, tx)?;
            let reply = handler(&request.read_call(bucket.as_deref(), &self.0.settings), tx)?;
            let is_charged = bucket.as_deref().is_some_and(|bucket| {
                request_payer::is_charged(request.operation, &request.caller, bucket)
            });
            let charged = is_charged.then_some(request_payer::REQUESTER);
            let reply = reply.with_some(request_payer::CHARGED, charged);
            let policy = bucket.map(|bucket| policy::of_bucket(tx, bucket.id));
            Ok::<_, Error>((reply, policy.transpose()?.flatten().is_some()))
        })
        .await?;
        let dialect = request.fields.dialect();
        let point = request.point.as_ref().is_some_and(|point| point.policy.is_some());
        let lasts = !has_policy && !point && !reply.is_of_this_time;
        let response = render::reply(reply, dialect);
        if let Some((read_set, key)) = read_set.filter(|_| lasts).zip(key) {
            self.0.responses.insert(key, &request.caller, read_set, &response, |kept| {
                // With the headers that each answer has of its own, so that their places are there.
                render::identify(kept, dialect, &RequestId("".into()), request.now);
            });
        }
        Ok(response)
    }

    /// Runs an operation in steps. The bucket is the one that the first step was authorized for.
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
        let document = document(request, body).await?;
        let mut ids = self.ids();
        let bucket =
            run(&*request.store, &mut ids, ATTEMPTS_MAX, |tx, _| self.authorize(request, tx))
                .await?;
        check_digest(request)?;
        let call = request.call(&document, bucket.as_deref(), &self.0.settings);
        let mut progress = Progress::default();
        loop {
            let next = run(&*request.store, &mut ids, ATTEMPTS_MAX, |tx, ids| {
                step(&call, tx, ids, &progress)
            })
            .await?;
            match next {
                StepOutcome::Continue(further) => progress = further,
                StepOutcome::Done(reply) => return Ok(reply),
            }
        }
    }

    /// The thing that a body is taken for, as `decide` finds it in one transaction once the caller may ask.
    pub(super) async fn admit<T>(
        &self,
        request: &ParsedRequest<'_>,
        ids: &mut SharedIds,
        mut decide: impl FnMut(&Call<'_>, &mut Tx<'_>, &mut dyn Ids) -> Result<T, Error>,
    ) -> Result<T, Error> {
        let empty = Bytes::new();
        run(&*request.store, ids, ATTEMPTS_MAX, |tx, ids| {
            let bucket = self.authorize(request, tx)?;
            decide(&request.call(&empty, bucket.as_deref(), &self.0.settings), tx, ids)
        })
        .await
    }

    /// Finds the bucket of a request, if its operation needs one, and checks the caller's right to it.
    pub(super) fn authorize(
        &self,
        request: &ParsedRequest<'_>,
        tx: &mut Tx<'_>,
    ) -> Result<Option<Arc<Bucket>>, Error> {
        self.authorize_with(request, None, tx)
    }

    /// As [`Self::authorize`], for a request whose document sets tags or a lock on an object.
    fn authorize_with(
        &self,
        request: &ParsedRequest<'_>,
        request_object: Option<&RequestObject>,
        tx: &mut Tx<'_>,
    ) -> Result<Option<Arc<Bucket>>, Error> {
        let access = request.access().map(|access| AccessRequest { request_object, ..access });
        let bucket = access.map(|access| authorize::authorize(&access, tx)).transpose()?;
        if let Some(bucket) = &bucket {
            // Whether it goes is not decided yet: until then it is there for who reads, and nobody may write.
            if bucket.deleting && !matches!(request.operation.run, Run::Read(_)) {
                return Err(Error::OperationAborted);
            }
            if bucket.kind == BucketKind::Directory {
                directory_bucket::check_headers(request.operation, &request.fields)?;
            }
            access_point::check_kind(request.operation, bucket)?;
            request_payer::check(request.operation, &request.fields, &request.caller, bucket)?;
        }
        Ok(bucket)
    }
}

/// A request whose signature with a key pair, if it has one, was verified by a thread that has time for it.
async fn proved(mut request: ParsedRequest<'_>) -> Result<ParsedRequest<'_>, Refused> {
    let Some(claim) = request.verified.claim.take() else {
        return Ok(request);
    };
    let checked = tokio::task::spawn_blocking(move || claim.check()).await;
    match checked.unwrap_or(Err(Error::Internal)) {
        Ok(()) => Ok(request),
        Err(error) => {
            let (dialect, operation) = (request.fields.dialect(), request.operation.name);
            Err(Refused { dialect, operation, error })
        }
    }
}

/// The host that a request was sent to.
fn host_of(head: &Head) -> &str {
    let host = head.headers.get(HOST).and_then(|host| host.to_str().ok());
    let host = host.or_else(|| head.uri.authority().map(http::uri::Authority::as_str));
    host.unwrap_or_default()
}

/// Checks how long the headers of a head are together.
///
/// # Errors
/// [`Error::HeaderSectionTooLarge`].
pub(super) fn check_size(fields: &Fields<'_>) -> Result<(), Error> {
    let size: usize = fields.iter().map(|(name, value)| name.len() + value.len()).sum();
    match size > HEADER_BYTES_MAX {
        true => Err(Error::HeaderSectionTooLarge { most: HEADER_BYTES_MAX }),
        false => Ok(()),
    }
}

/// Checks that an operation is there, and that its parameters mean something to it.
fn check_built(
    operation: &'static Operation,
    head: &Head,
    target: Target,
    query: &Query,
) -> Result<(), Error> {
    if let Run::NotImplemented = operation.run {
        return Err(Error::OperationNotImplemented { operation: operation.name });
    }
    parameters::check(operation, head.method.as_str(), target, query)
}

/// The header fields of a head, in the dialect that it speaks.
fn read_head<'r>(head: &'r Head, query: &Query, default: Dialect) -> Result<Fields<'r>, Error> {
    let mut entries: Vec<(&str, &[u8])> =
        head.headers.iter().map(|(name, value)| (name.as_str(), value.as_bytes())).collect();
    // HTTP/2 carries the host in the target.
    if let Some(authority) = head.uri.authority().filter(|_| !head.headers.contains_key("host")) {
        entries.push(("host", authority.as_str().as_bytes()));
    }
    let fields = Fields::of(entries);
    let dialect = Dialect::of(fields.iter(), query.names())?;
    Ok(fields.in_dialect(dialect.unwrap_or(default)))
}

/// Checks that chunks which nobody signed are those of an object or of a part: the real service takes them for no other body.
fn check_framing(request: &ParsedRequest<'_>) -> Result<(), Error> {
    match request.verified.payload {
        Payload::UnsignedTrailer if !request.operation.run.is_of_stream() => {
            Err(Error::request("The value of x-store-content-sha256 header is invalid."))
        }
        _ => Ok(()),
    }
}

/// Checks that a document which must come with a digest does.
fn check_digest(request: &ParsedRequest<'_>) -> Result<(), Error> {
    let is_needed = match request.operation.digest {
        DigestNeed::Optional => false,
        DigestNeed::OfRealService => request.fields.dialect().names().documents_need_digest,
        DigestNeed::Required => true,
    };
    if is_needed { body_headers::check_digest(&request.fields) } else { Ok(()) }
}

/// The body of an operation that takes a document.
async fn document<B>(request: &ParsedRequest<'_>, body: &mut B) -> Result<Bytes, Error>
where
    B: http_body::Body<Data = Bytes> + Send + Unpin,
    B::Error: Into<BoxError>,
{
    if body.is_end_stream() {
        return Ok(Bytes::new());
    }
    let payload = request.verified.payload;
    let head = match request.operation.run {
        // The checksum that its headers name is that of the object.
        Run::Complete => BodyHeaders::without_checksum(&request.fields, payload)?,
        _ => BodyHeaders::read(&request.fields, payload)?,
    };
    upload::document(body, &request.fields, &head, &request.verified, DOCUMENT_BYTES_MAX).await
}
