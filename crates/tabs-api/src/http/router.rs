//! The way of a request: checks, its path, its token, and the call.

use bytes::Bytes;
use http::request::Parts as Head;
use http::{HeaderValue, Method, Request, Response, StatusCode, header};
use serde::Serialize;
use serde_json::json;
use triptych_core::error::Coded;
use triptych_core::host::{BoxError, Operation as OperationName, ReplyBody, Stopping, Streaming};

use super::profile::CallOutcome;
use super::profiles::ProfileEntry;
use super::refusal::{Refusal, json_reply};
use super::request::{arguments, opens_port, page, read, since, stopping, style};
use super::{FIRST_PROFILE, TabsApi, schema, socket, sse, token};
use crate::browser::Answer;
use crate::error::Error;
use crate::operation::{Asked, Caller, Context, Operation};
use crate::version::BrowserVersion;

/// The body that answers a call.
#[derive(Serialize)]
struct AnswerBody {
    result: Answer,
    seq: u64,
}

/// The sender of a request.
struct Principal {
    entry: ProfileEntry,
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
            .route(&head, upgrade, body, &mut operation)
            .await
            .unwrap_or_else(|error| error.reply());
        if let Some(origin) = self.0.origin_policy.origin(&head.headers) {
            let headers = response.headers_mut();
            headers.insert(header::ACCESS_CONTROL_ALLOW_ORIGIN, origin);
            headers.append(header::VARY, HeaderValue::from_static("Origin"));
        }
        response.extensions_mut().insert(OperationName(operation));
        response
    }

    async fn route<B>(
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
        self.0.origin_policy.check(head)?;
        let path = head.uri.path();
        if head.method == Method::OPTIONS {
            return Ok(preflight());
        }
        if let Some(path) = path.strip_prefix("/v1/control") {
            *operation = "control";
            return self.control(head, path, &read(body).await?).await;
        }
        self.admit_token(head).await?;
        #[cfg(feature = "replay")]
        if let Some(path) = path.strip_prefix("/oracle/") {
            *operation = "lab";
            return self.replay(head, path, &read(body).await?);
        }
        match path {
            // The host leaves the body of an answer to HEAD away.
            "/v1/schema" if matches!(head.method, Method::GET | Method::HEAD) => {
                *operation = "schema";
                Ok(json_reply(200, &schema::schema(self.version_for(head), self.0.compat)))
            }
            "/v1/schema" => Err(Refusal::MethodNotAllowed("GET, HEAD")),
            "/v1/ws" | "/v1/events" if head.method != Method::GET => {
                Err(Refusal::MethodNotAllowed("GET"))
            }
            "/v1/ws" => {
                *operation = "ws";
                self.open_socket(head, upgrade)
            }
            "/v1/events" => {
                *operation = "events";
                let principal = self.principal(head, true)?;
                let (page, since) = (page(head)?, since(head)?);
                let listener = principal.entry.profile.listen(&principal.extension, page, since);
                Ok(sse::reply(listener, stopping(head)))
            }
            _ => {
                let row = Operation::of_path(path).ok_or(Refusal::NoSuchPath)?;
                if head.method != Method::POST {
                    return Err(Refusal::MethodNotAllowed("POST"));
                }
                *operation = row.name;
                let principal = self.principal(head, false)?;
                let context = page(head)?.map_or(Context::Worker, Context::Page);
                let style = style(head)?;
                let given = arguments(row, &read(body).await?)?;
                if opens_port(row.name, &given, style) {
                    return Err(Refusal::NeedsPortOpen);
                }
                let asked = Asked { name: row.name, given: &given, style };
                Ok(call(principal, context, asked, &stopping(head)).await)
            }
        }
    }

    fn open_socket(
        &self,
        head: &Head,
        upgrade: Option<hyper::upgrade::OnUpgrade>,
    ) -> Result<Response<ReplyBody>, Refusal> {
        let principal = self.principal(head, true)?;
        let (page, since) = (page(head)?, since(head)?);
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
        let listener = principal.entry.profile.listen(&principal.extension, page, since);
        let manifest = principal.entry.manifest(&principal.extension);
        let hello = socket::hello(&listener, &principal.extension, &manifest);
        tokio::spawn(socket::serve(socket, listener, principal.extension, hello, stopping(head)));
        let mut response = response.map(|_| ReplyBody::empty());
        response.extensions_mut().insert(Streaming);
        Ok(response)
    }

    /// The version of the browser that the request's token belongs to; without one, that of the first profile.
    fn version_for(&self, head: &Head) -> BrowserVersion {
        let entry = match self.principal(head, false) {
            Ok(principal) => Ok(principal.entry),
            Err(_) => self.entry(FIRST_PROFILE),
        };
        entry.map_or_else(|_| BrowserVersion::default(), |entry| entry.seed.version())
    }

    /// The profile and extension that the request's token speaks for.
    fn principal(&self, head: &Head, or_query: bool) -> Result<Principal, Refusal> {
        let token = token::token(head, or_query).ok_or(Refusal::Unauthorized)?;
        let (profile, extension) =
            self.tokens().get(&token::hash(&token)).cloned().ok_or(Refusal::Unauthorized)?;
        let entry = self.entry(&profile).map_err(|_| self.gone(&profile))?;
        Ok(Principal { entry, extension })
    }
}

async fn call(
    principal: Principal,
    context: Context,
    asked: Asked<'_>,
    stopping: &Stopping,
) -> Response<ReplyBody> {
    let caller = Caller { extension: principal.extension, context };
    let answered = principal.entry.profile.call(&caller, asked, stopping).await;
    let CallOutcome { seq, answer, .. } = answered;
    match answer {
        Ok(answer) if answer.is_value() => json_reply(200, &AnswerBody { result: answer, seq }),
        Ok(_) => json_reply(200, &json!({ "seq": seq })),
        Err(error) => call_refused(&error, Some(seq)),
    }
}

pub(super) fn call_refused(error: &Error, seq: Option<u64>) -> Response<ReplyBody> {
    let name = if error.is_thrown() { "TypeError" } else { "Error" };
    let error_body = json!({ "name": name, "message": error.to_string() });
    json_reply(error.row().status, &json!({ "error": error_body, "seq": seq }))
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
