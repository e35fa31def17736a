//! Resumable upload sessions over HTTP: opened, filled piece by piece and finished by requests that may be hours apart.

use std::sync::Arc;

use bytes::Bytes;
use http::header::{self, HeaderName};
use serde::{Deserialize, Serialize};
use triptych_core::host::{BoxError, ReplyBody};
use triptych_core::kv::{StoreError, Tx, run};

use super::request::{ALLOW_UPLOADS, ApiRequest, read_whole_body};
use super::upload::{check_type, content_length};
use super::upload_command::{self, Declared};
use super::{ATTEMPTS_MAX, CheckedRequest, VideoApi};
use crate::account::{Account, Caller, Scopes};
use crate::api::error::Error;
use crate::api::operation::{Operation, Upload, VERSION_PATH};
use crate::api::response::Reply;
use crate::api::validate;
use crate::http::response::{ApiResponse, Body};
use crate::http::upload_body;
use crate::media::Media;
use crate::resource::OPERATIONS;
use crate::upload::location::session_target;
use crate::upload::media;
use crate::upload::range::received_range;
use crate::upload::related::METADATA_BYTES_MAX;
use crate::upload::session::{
    self, Command, Decision, ExpectedBody, NewSession, Session, SessionError, SessionText,
};

/// The header by which clients and logs know a session.
const UPLOAD_ID: HeaderName = HeaderName::from_static("x-guploader-uploadid");
/// The header by which a client asks for 200 in the place of 308, which its transport takes for a redirection.
const NO_308: &str = "x-guploader-no-308";
/// The header that says what status that 200 stands for.
const STATUS_OVERRIDE: HeaderName = HeaderName::from_static("x-http-status-code-override");
/// Expired sessions that opening a new one clears away.
const EXPIRED_MAX: usize = 4;

/// Everything of the request that opened a session which its end needs as well, as it is kept with it: the identity, and the version that
/// is to be changed.
#[derive(Serialize, Deserialize)]
struct Opening {
    account: Option<Account>,
    project: Option<String>,
    scopes: Scopes,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    if_match: Option<String>,
}

impl VideoApi {
    /// Opens a session.
    pub(super) async fn open_session<B>(
        &self,
        request: &ApiRequest,
        checked: &CheckedRequest,
        upload: Upload,
        body: &mut B,
    ) -> Result<ApiResponse, Error>
    where
        B: http_body::Body<Data = Bytes> + Send + Unpin,
        B::Error: Into<BoxError>,
    {
        let metadata = read_whole_body(body, METADATA_BYTES_MAX).await?;
        request.check_resource_type(checked.operation, &metadata)?;
        let media_type = upload_command::declared(request, Declared::ContentType);
        check_type(upload, media_type)?;
        let total = upload_command::declared(request, Declared::ContentLength);
        let total = total.map(str::parse::<u64>).transpose();
        let total = total.map_err(|_| SessionError::DeclaredLength)?;
        let file_name = upload_command::file_name(request);
        self.dry_run(request, checked, &metadata, file_name.as_deref())?;
        let caller = &checked.caller;
        let opening = Opening {
            account: caller.account.clone(),
            project: caller.project.clone(),
            scopes: caller.scopes,
            if_match: request.if_match.clone(),
        };
        let target = session_target(&request.path, Some(&request.query), "");
        let query = target.split_once('?').map_or("", |(_, query)| query);
        let new = NewSession {
            operation: checked.operation.name,
            query,
            opening: &serde_json::to_string(&opening).unwrap_or_default(),
            metadata: &metadata,
            media_type,
            file_name: file_name.as_deref(),
            total,
            bytes_max: upload.bytes_max,
        };
        let now = checked.now;
        let id = run(&*self.0.store, &mut self.ids(), ATTEMPTS_MAX, |tx, ids| {
            session::expire(tx, now, EXPIRED_MAX)?;
            Ok::<_, Error>(session::open(tx, ids, now, &new)?)
        })
        .await?;
        let location =
            format!("{}{}", request.base, session_target(&request.path, Some(&request.query), &id));
        let mut headers = vec![(UPLOAD_ID, id.into())];
        if upload_command::is_spoken(request) {
            headers.extend(upload_command::opened(location));
        } else {
            headers.push((header::LOCATION, location.into()));
        }
        let operation = checked.operation.name;
        Ok(ApiResponse { status: 200, headers, body: Body::Empty, operation })
    }

    /// A request to a session: bytes, a question how many there are, or its end. Its id is its authorization.
    pub(super) async fn continue_session<B>(
        &self,
        request: &ApiRequest,
        rest: &str,
        id: &str,
        body: &mut B,
    ) -> Result<ApiResponse, Error>
    where
        B: http_body::Body<Data = Bytes> + Send + Unpin,
        B::Error: Into<BoxError>,
    {
        let now = self.0.clock.now();
        let session = session::load(&mut Tx::new(&*self.0.store), id, now)?;
        let operation =
            OPERATIONS.iter().copied().find(|operation| operation.name == session.operation);
        let found =
            operation.filter(|operation| rest.strip_prefix(VERSION_PATH) == Some(operation.path));
        let operation = found.ok_or(SessionError::Absent)?;
        let upload = operation.upload.ok_or(Error::NotUpload)?;
        match request.method.as_str() {
            "PUT" | "POST" => {}
            "DELETE" => return self.cancel_session(request, id, &session).await,
            _ => return Err(request.not_allowed(ALLOW_UPLOADS)),
        }
        let command = upload_command::read(request)?;
        let decision = match command {
            Some(Command::Cancel) => return self.cancel_session(request, id, &session).await,
            Some(command) => {
                session.decide_command(command, content_length(request), upload.bytes_max)?
            }
            None => session.decide(
                request.header("content-range"),
                content_length(request),
                upload.bytes_max,
            )?,
        };
        let received = match decision {
            Decision::Replay { status } => {
                return self.replay(request, operation, id, &session, status);
            }
            Decision::Progress { .. } | Decision::Finish => {
                // What was sent with it is thrown away, and read so far that the client gets to read the answer.
                upload_body::discard(body, upload.bytes_max.min(session::STEP_BYTES)).await;
                if let Decision::Progress { received } = decision {
                    return Ok(progress(request, id, received, operation.name));
                }
                session.received
            }
            Decision::Receive(expected) => self.receive(id, &session, expected, body).await?,
        };
        let session = session::load(&mut Tx::new(&*self.0.store), id, now)?;
        let is_over = match command {
            Some(command) => matches!(command, Command::Upload { finalize: true, .. }),
            None => {
                session.total.is_some()
                    || !matches!(decision, Decision::Receive(ExpectedBody { exact: true, .. }))
            }
        };
        if !is_over || session.total.is_some_and(|total| received < total) {
            return Ok(progress(request, id, received, operation.name));
        }
        self.finish_session(request, operation, upload, id, session).await
    }

    /// Keeps the bytes of a body as pieces of the session, each durable before the next is begun; gives how many there are now.
    async fn receive<B>(
        &self,
        id: &str,
        session: &Session,
        expected: ExpectedBody,
        body: &mut B,
    ) -> Result<u64, Error>
    where
        B: http_body::Body<Data = Bytes> + Send + Unpin,
        B::Error: Into<BoxError>,
    {
        let mut pieces = upload_body::BodyPieces::new(expected.bytes_max);
        let passed = pieces.pass_over(body, expected.repeated).await?;
        let mut first = expected.first;
        let declared = session.total.or(expected.total);
        loop {
            let step = pieces.next(self, body).await;
            // What arrived before a connection broke is kept: that is what a session is for.
            let (piece, broken) = match step {
                Ok(Some(piece)) => (piece, None),
                Ok(None) => break,
                Err((piece, error)) => (piece, Some(error)),
            };
            if let Some(piece) = piece {
                let end = first + piece.bytes;
                first = self.advance(id, first, piece, declared).await?;
                if first < end {
                    // The connection that broke had not ended yet, and kept some of the same bytes: the client may send them once more.
                    let again = "another request kept some of the same bytes".into();
                    return Err(Error::Backend(StoreError::Unavailable(again)));
                }
            }
            if let Some(error) = broken {
                return Err(error);
            }
        }
        let arrived = first - expected.first.min(first);
        if expected.exact && arrived < expected.bytes_max {
            let range = expected.repeated + expected.bytes_max;
            return Err(SessionError::LengthMismatch { range, body: passed + arrived }.into());
        }
        if !expected.exact {
            // Nobody said how long the whole is: its end is the end of the body.
            let empty = media::Piece { blob: triptych_core::blobs::BlobId([0; 32]), bytes: 0 };
            self.advance(id, first, empty, Some(first)).await?;
        }
        Ok(first)
    }

    async fn advance(
        &self,
        id: &str,
        first: u64,
        piece: media::Piece,
        total: Option<u64>,
    ) -> Result<u64, Error> {
        let now = self.0.clock.now();
        run(&*self.0.store, &mut self.ids(), ATTEMPTS_MAX, |tx, _| {
            Ok::<_, Error>(session::advance(tx, id, now, first, piece, total)?)
        })
        .await
    }

    /// Runs the operation of a session whose bytes are all there, and keeps its response with it.
    async fn finish_session(
        &self,
        request: &ApiRequest,
        operation: &'static Operation,
        upload: Upload,
        id: &str,
        session: Session,
    ) -> Result<ApiResponse, Error> {
        let opening: Opening =
            serde_json::from_str(&session.opening).map_err(|_| SessionError::Absent)?;
        let metadata = session::text(&mut Tx::new(&*self.0.store), id, SessionText::Metadata)?;
        let mut opened = ApiRequest::new(
            "POST",
            request.path.clone(),
            &session.query,
            http::HeaderMap::new(),
            request.base.clone(),
        );
        // What was the version at the opening may have been changed since.
        opened.if_match = opening.if_match;
        let (params, parts) = validate::check(operation, &opened.pairs, false)?;
        let caller = Caller {
            account: opening.account,
            project: opening.project,
            scopes: opening.scopes,
            ..Caller::default()
        };
        let (now, store) = (self.0.clock.now(), self.store_of_request());
        let checked = CheckedRequest { operation, caller, params, parts, now, store };
        let reader =
            media::Reader::new(Arc::clone(&self.0.store), Arc::clone(&self.0.blobs), session.media);
        let processed = self
            .process(
                upload.processing,
                upload_body::UploadSource::Session(reader, session.received),
            )
            .await?;
        let sent = Media {
            id: session.media,
            bytes: session.received,
            content_type: session.media_type.clone(),
            file_name: session.file_name.clone(),
            processed,
        };
        let (key, now) = (id.to_owned(), checked.now);
        let before_commit = move |tx: &mut Tx<'_>, reply: &Reply| {
            let current = session::load(tx, &key, now)?;
            if current.finished.is_some() {
                // Another request to the session was faster; its answer is the session's.
                return Err(Error::Contended);
            }
            let status = if reply.json.is_some() { 200 } else { 204 };
            session::finish(tx, &key, &current, status, &encode_reply(reply));
            Ok(())
        };
        match self.execute(&opened, checked, Some(sent), metadata.into(), before_commit).await {
            Ok(reply) => Ok(opened.respond(reply, operation.name)),
            Err(Error::Contended) => {
                let session = session::load(&mut Tx::new(&*self.0.store), id, now)?;
                let status = session.finished.ok_or(Error::Contended)?;
                self.replay(request, operation, id, &session, status)
            }
            Err(error) => Err(error),
        }
    }

    /// The response of a finished session, once more.
    fn replay(
        &self,
        request: &ApiRequest,
        operation: &'static Operation,
        id: &str,
        session: &Session,
        status: u16,
    ) -> Result<ApiResponse, Error> {
        let text = session::text(&mut Tx::new(&*self.0.store), id, SessionText::Response)?;
        let opened = ApiRequest::new(
            "POST",
            request.path.clone(),
            &session.query,
            http::HeaderMap::new(),
            request.base.clone(),
        );
        let reply = if status == 204 { Reply::empty() } else { decode_reply(&text) };
        Ok(opened.respond(reply, operation.name))
    }

    async fn cancel_session(
        &self,
        request: &ApiRequest,
        id: &str,
        session: &Session,
    ) -> Result<ApiResponse, Error> {
        run(&*self.0.store, &mut self.ids(), ATTEMPTS_MAX, |tx, _| {
            Ok::<_, Error>(session::cancel(tx, id, session)?)
        })
        .await?;
        let (status, headers) = if upload_command::is_spoken(request) {
            (200, upload_command::cancelled())
        } else {
            (204, Vec::new())
        };
        Ok(ApiResponse { status, headers, body: Body::Empty, operation: "upload" })
    }
}

/// The answer that says what has arrived, in the words of the request: 308 with `Range`, the same as 200 for a client that reads 308 as a redirection, or the
/// headers of commands.
fn progress(request: &ApiRequest, id: &str, received: u64, operation: &'static str) -> ApiResponse {
    let mut headers = vec![(UPLOAD_ID, id.to_owned().into())];
    let status = if upload_command::is_spoken(request) {
        headers.extend(upload_command::active(received));
        200
    } else {
        headers.extend(received_range(received).map(|range| (header::RANGE, range.into())));
        if request.header(NO_308).is_some_and(|wish| wish.eq_ignore_ascii_case("yes")) {
            headers.push((STATUS_OVERRIDE, "308".into()));
            200
        } else {
            308
        }
    };
    ApiResponse { status, headers, body: Body::Raw(ReplyBody::empty()), operation }
}

/// A reply as a session keeps it: its etag, a line break, its text.
fn encode_reply(reply: &Reply) -> Vec<u8> {
    let mut text = reply.etag.clone().unwrap_or_default().into_bytes();
    text.push(b'\n');
    text.extend_from_slice(reply.json.as_deref().unwrap_or_default());
    text
}

fn decode_reply(text: &[u8]) -> Reply {
    let at = text.iter().position(|byte| *byte == b'\n').unwrap_or(text.len());
    let (etag, json) = text.split_at(at);
    let etag = String::from_utf8_lossy(etag).into_owned();
    Reply {
        json: Some(json.get(1..).unwrap_or_default().to_vec()),
        etag: (!etag.is_empty()).then_some(etag),
        ..Reply::default()
    }
}
