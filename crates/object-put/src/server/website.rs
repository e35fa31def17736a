//! Websites: pages of a bucket for browsers, whom nobody knows.

use bytes::Bytes;
use http::header::{CONTENT_TYPE, LOCATION};
use http::request::Parts as Head;
use http::{HeaderName, HeaderValue, Method, Response, StatusCode};
use percent_encoding::{CONTROLS, percent_encode};
use triptych_core::error::Coded as _;
use triptych_core::host::{ReplyBody, RequestContext, RequestId};
use triptych_core::kv::{Prefetch, Tx};
use triptych_core::time::Timestamp;

use crate::auth::account::Caller;
use crate::auth::payload::Payload;
use crate::auth::signature::Verified;
use crate::error::Error;
use crate::operation::bucket_config::website::MISSING;
use crate::operation::{Run, table};
use crate::request::dialect::Dialect;
use crate::request::fields::Fields;
use crate::request::location::Location;
use crate::request::percent::decoded;
use crate::request::query::Query;
use crate::server::render;
use crate::server::request::{ParsedRequest, arrival};
use crate::server::request_plan::Named;
use crate::server::state::ObjectPut;
use crate::store::key::Key;
use crate::store::tables::{BUCKETS, CURRENT};
use crate::website::fault_page::FaultPage;
use crate::website::routing::{PageRequest, Redirect, Way};
use crate::website::{Pages, Website};

/// The name of a page in log and metrics.
pub(super) const OPERATION: &str = "GetPage";
/// Headers of a request that say which bytes of a page are wanted, and on what condition.
const OF_READS: [&str; 6] =
    ["if-match", "if-modified-since", "if-none-match", "if-range", "if-unmodified-since", "range"];
/// The headers that tell of the visitor: policies look at them, whichever page is shown.
const OF_VISITORS: [&str; 2] = ["referer", "user-agent"];
/// The header of an object that leads elsewhere, by the spec's name.
const REDIRECT: &str = "x-store-website-redirect-location";

/// A request for a page of a bucket.
struct Visit<'v> {
    head: &'v Head,
    bucket: &'v str,
    page: PageRequest<'v>,
    now: Timestamp,
    id: &'v RequestId,
    dialect: Dialect,
}

/// The reason why there is no page, and the website's own pages where it has some.
enum Fault {
    /// Without a website there is no page for it.
    OfBucket(Error),
    /// The website may have one.
    OfPage(Box<Pages>, Error),
}

impl ObjectPut {
    /// Answers a request for a page of `bucket`.
    pub(super) async fn answer_page(
        &self,
        head: &Head,
        bucket: &str,
        id: &RequestId,
        now: Timestamp,
    ) -> Response<ReplyBody> {
        let context = head.extensions.get::<RequestContext>();
        let host = head.headers.get(http::header::HOST).and_then(|host| host.to_str().ok());
        let host = host.or_else(|| head.uri.authority().map(http::uri::Authority::as_str));
        let path = head.uri.path();
        let key = decoded(path.strip_prefix('/').unwrap_or(path));
        let page = PageRequest {
            host: host.unwrap_or_default(),
            secure: context.is_some_and(|context| context.peer.tls),
            key: key.as_deref().unwrap_or_default(),
        };
        let dialect = self.0.settings.dialect;
        let visit = Visit { head, bucket, page, now, id, dialect };
        let answered = match key.is_some() {
            true => self.visit(&visit).await,
            false => Err(Fault::OfBucket(Error::InvalidUri)),
        };
        match answered {
            Ok(response) => response,
            Err(Fault::OfBucket(error)) => visit.fault_page(&error, None),
            Err(Fault::OfPage(pages, error)) => self.fault(&visit, &pages, error).await,
        }
    }

    async fn visit(&self, visit: &Visit<'_>) -> Result<Response<ReplyBody>, Fault> {
        if !matches!(visit.head.method, Method::GET | Method::HEAD) {
            let method = visit.head.method.as_str().to_owned();
            let allowed = Some("GET, HEAD".to_owned());
            let refused = Error::MethodNotAllowed { method, resource: "OBJECT", allowed };
            return Err(Fault::OfBucket(refused));
        }
        let website = self.website_of(visit.bucket).map_err(Fault::OfBucket)?;
        let key = match website.way(&visit.page) {
            Way::Redirect(redirect) => return Ok(visit.redirect(&redirect)),
            Way::Object(key) => key,
        };
        let Website::Pages(pages) = website else {
            return Err(Fault::OfBucket(Error::Internal));
        };
        match self.page(visit, &key, true).await {
            Ok(response) => Ok(response),
            Err(error) => Err(Fault::OfPage(Box::new(pages), error)),
        }
    }

    fn website_of(&self, bucket: &str) -> Result<Website, Error> {
        let mut tx = Tx::new(&*self.0.store);
        let found = BUCKETS.peek(&mut tx, &bucket.to_owned())?;
        let found = found.ok_or_else(|| Error::NoSuchBucket { bucket: bucket.to_owned() })?;
        Website::of_bucket(&mut tx, found.id)?.ok_or_else(|| Error::NotConfigured {
            code: MISSING.0,
            bucket: Some(bucket.to_owned()),
            reason: MISSING.1,
        })
    }

    /// The answer to a fault of a page: what the website has for it, or a page that is made here.
    async fn fault(&self, visit: &Visit<'_>, pages: &Pages, error: Error) -> Response<ReplyBody> {
        let row = error.row();
        if let Some(redirect) = pages.way_of_fault(row.status, &visit.page) {
            return visit.redirect(&redirect);
        }
        if self.is_absent(visit)
            && let Some(folder) = pages.folder_page(visit.page.key)
            && self.page(visit, &folder, false).await.is_ok()
        {
            return visit.redirect(&Pages::to_folder(&visit.page));
        }
        // What is no fault of the client's has no page of its own.
        let Some(key) = pages.error.as_deref().filter(|_| (400..500).contains(&row.status)) else {
            return visit.fault_page(&error, None);
        };
        match self.page(visit, key, false).await {
            Ok(mut response) if response.status() == StatusCode::OK => {
                *response.status_mut() = status(row.status);
                visit.mark(&mut response, &error);
                response
            }
            Ok(response) => response,
            Err(of_error_page) => visit.fault_page(&error, Some(&of_error_page)),
        }
    }

    /// Tells whether there is no object where a visit leads: the fault does not tell it to whom may read but not list. What cannot be read is no
    /// reason to lead anywhere.
    fn is_absent(&self, visit: &Visit<'_>) -> bool {
        let mut tx = Tx::new(&*self.0.store);
        let Ok(Some(bucket)) = BUCKETS.peek(&mut tx, &visit.bucket.to_owned()) else {
            return false;
        };
        let place = (bucket.id, visit.page.key.as_bytes().to_vec());
        CURRENT.peek(&mut tx, &place).is_ok_and(|current| current.is_none())
    }

    /// An object as a page, or the way that it leads; `is_own` if it is the one that was asked for, and not another in its place.
    async fn page(
        &self,
        visit: &Visit<'_>,
        key: &str,
        is_own: bool,
    ) -> Result<Response<ReplyBody>, Error> {
        let name = if visit.head.method == Method::HEAD { "HeadObject" } else { "GetObject" };
        let operation = table::named(name).ok_or(Error::Internal)?;
        let Run::Read(handler) = operation.run else {
            return Err(Error::Internal);
        };
        let headers = visit.head.headers.iter();
        let headers = headers.filter(|(name, _)| {
            OF_VISITORS.contains(&name.as_str()) || (is_own && OF_READS.contains(&name.as_str()))
        });
        let entries = headers.map(|(name, value)| (name.as_str(), value.as_bytes()));
        let query = Query::default();
        let key = Key::new(key.to_owned())?;
        let request = ParsedRequest {
            operation,
            location: Location {
                bucket: Some(visit.bucket.to_owned()),
                key: Some(key.clone()),
                ..Location::default()
            },
            fields: Fields::of(entries).in_dialect(visit.dialect).without_future_dates(visit.now),
            query: &query,
            caller: Caller::Anonymous,
            verified: Verified::unsigned(Payload::Unsigned),
            now: visit.now,
            arrival: arrival(visit.head, visit.now),
            point: None,
            store: Prefetch::of(&self.0.store, Vec::new),
        };
        let named = Named { bucket: Some(visit.bucket), key: Some(&key), ..Named::default() };
        self.0.names.fetch(&*request.store, named)?;
        let response = self.read(&request, handler).await?;
        let place = response.headers().get(&*visit.dialect.header(REDIRECT));
        if let Some(place) = place {
            // An address is ASCII, whatever the object's says.
            let location = percent_encode(place.as_bytes(), CONTROLS).to_string();
            return Ok(visit.redirect(&Redirect { status: 301, location }));
        }
        self.open(response).await
    }
}

fn status(status: u16) -> StatusCode {
    StatusCode::from_u16(status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR)
}

impl Visit<'_> {
    fn redirect(&self, redirect: &Redirect) -> Response<ReplyBody> {
        let mut response = Response::new(ReplyBody::empty());
        *response.status_mut() = status(redirect.status);
        if let Ok(place) = HeaderValue::try_from(&redirect.location) {
            response.headers_mut().insert(LOCATION, place);
        }
        response
    }

    /// Adds the headers that tell a program what a page tells a person.
    fn mark(&self, response: &mut Response<ReplyBody>, error: &Error) {
        let texts = [
            ("x-store-error-code", error.row().code.to_owned()),
            ("x-store-error-message", error.to_string()),
        ];
        for (name, text) in texts {
            let name = self.dialect.header(name).into_owned();
            if let (Ok(name), Ok(value)) = (HeaderName::try_from(name), HeaderValue::try_from(text))
            {
                response.headers_mut().insert(name, value);
            }
        }
    }

    /// The page of a fault for which the website has none.
    fn fault_page(&self, error: &Error, of_error_page: Option<&Error>) -> Response<ReplyBody> {
        let row = error.row();
        let shown = |error: &Error| -> Vec<(String, String)> {
            let own = [
                ("Code".to_owned(), error.row().code.to_owned()),
                ("Message".to_owned(), error.message(self.dialect)),
            ];
            let details = error.details(self.dialect).into_iter();
            own.into_iter().chain(details.map(|(name, text)| (name.into_owned(), text))).collect()
        };
        fn borrowed(fields: &[(String, String)]) -> Vec<(&str, &str)> {
            fields.iter().map(|(name, text)| (name.as_str(), text.as_str())).collect()
        }
        let mut own = shown(error);
        own.push(("RequestId".to_owned(), self.id.0.to_string()));
        own.push(("HostId".to_owned(), render::second_id(self.id)));
        let other = of_error_page.map(shown);
        let other = other.as_deref().map(borrowed);
        let words = status(row.status);
        let page = FaultPage {
            status: &words.to_string(),
            fields: &borrowed(&own),
            of_error_page: other.as_deref(),
        };
        let mut response = match self.head.method == Method::HEAD {
            true => Response::new(ReplyBody::empty()),
            false => Response::new(ReplyBody::whole(Bytes::from(page.html()))),
        };
        *response.status_mut() = words;
        let html = HeaderValue::from_static("text/html; charset=utf-8");
        response.headers_mut().insert(CONTENT_TYPE, html);
        self.mark(&mut response, error);
        response
    }
}
