//! Uploads over HTTP: which protocol a request speaks, and sessions that outlive their connections.

use std::sync::Arc;

use bytes::Bytes;
use http::header::{self, HeaderName};
use serde::{Deserialize, Serialize};
use triptych_core::host::{BoxError, ReplyBody};
use triptych_core::id::Ids;
use triptych_core::kv::{Tx, run};

use super::{ATTEMPTS_MAX, Admitted, Asked, VideoApi, whole};
use crate::account::{Account, Caller, Scopes};
use crate::api::error::Error;
use crate::api::operation::{Operation, Upload, VERSION_PATH};
use crate::api::response::Reply;
use crate::api::validate;
use crate::http::response::{Answer, Body};
use crate::http::router::{UPLOADS, upload_at};
use crate::http::upload_body::{self, Taken};
use crate::media::{Made, Media, Reason, Treatment};
use crate::resource::OPERATIONS;
use crate::upload::location::session_target;
use crate::upload::media::{self, MediaId};
use crate::upload::range::received_range;
use crate::upload::related::METADATA_BYTES_MAX;
use crate::upload::session::{self, Decision, Intake, Opening, Session, SessionError, Text};
use crate::upload::{Protocol, accepts};

/// The header by which clients and logs know a session.
const UPLOAD_ID: HeaderName = HeaderName::from_static("x-guploader-uploadid");
/// Expired sessions that opening a new one clears away.
const EXPIRED_MAX: usize = 4;

/// Who opened a session, as it is kept with it.
#[derive(Serialize, Deserialize)]
struct Opener {
    account: Option<Account>,
    project: Option<String>,
    scopes: Scopes,
}

impl VideoApi {
    /// Answers a request under `/upload` or `/resumable/upload`; `rest` is the path after that.
    pub(super) async fn upload<B>(&self, asked: &Asked, rest: &str, body: &mut B) -> Answer
    where
        B: http_body::Body<Data = Bytes> + Send + Unpin,
        B::Error: Into<BoxError>,
    {
        let answer = match asked.value("upload_id").map(str::to_owned) {
            Some(id) => ("upload", self.resume(asked, rest, &id, body).await),
            None => match upload_at(&asked.method, rest) {
                Ok(operation) => (operation.name, self.begin(asked, operation, body).await),
                Err(error) => ("-", Err(error)),
            },
        };
        self.sweep_soon();
        match answer {
            (_, Ok(answer)) => answer,
            (name, Err(error)) => asked.refuse(&error, name),
        }
    }

    /// A request that begins an upload: the whole of it, or a session.
    async fn begin<B>(
        &self,
        asked: &Asked,
        operation: &'static Operation,
        body: &mut B,
    ) -> Result<Answer, Error>
    where
        B: http_body::Body<Data = Bytes> + Send + Unpin,
        B::Error: Into<BoxError>,
    {
        let upload = operation.upload.ok_or(Error::NotUpload)?;
        let admitted = self.admit(asked, operation).await?;
        let named = asked.value("uploadType").or_else(|| asked.value("upload_protocol"));
        let named = named.or_else(|| asked.path.starts_with("/resumable/").then_some("resumable"));
        let protocol = Protocol::of(named, asked.content_type.as_deref());
        let protocol = protocol
            .ok_or_else(|| Error::UnsupportedMediaProtocol(named.unwrap_or_default().to_owned()))?;
        let taken = match protocol {
            Protocol::Resumable => return self.open(asked, &admitted, upload, body).await,
            Protocol::Media => {
                check_type(upload, asked.content_type.as_deref())?;
                self.rehearse(asked, &admitted, &Bytes::new())?;
                let length = content_length(asked);
                let content_type = asked.content_type.clone();
                let piece = self.keep(body, upload.bytes_max, length).await?;
                Taken { metadata: Bytes::new(), media: Some((piece, content_type)) }
            }
            Protocol::Multipart => {
                let kind = asked.content_type.as_deref().unwrap_or_default();
                let check = |metadata: &Bytes, media_type: Option<&str>| {
                    check_type(upload, media_type)?;
                    self.rehearse(asked, &admitted, metadata)
                };
                self.keep_related(body, kind, upload.bytes_max, check).await?
            }
        };
        self.conclude(asked, admitted, upload, taken).await
    }

    /// Treats an upload that came in one request, and runs its operation.
    async fn conclude(
        &self,
        asked: &Asked,
        admitted: Admitted,
        upload: Upload,
        taken: Taken,
    ) -> Result<Answer, Error> {
        let name = admitted.operation.name;
        let Some((piece, content_type)) =
            taken.media.filter(|(piece, _)| piece.bytes > 0 || !upload.required)
        else {
            return Err(Error::MediaBodyRequired);
        };
        let mut id: MediaId = [0; 16];
        self.draw().fill(&mut id);
        let made = self.treat(upload.treatment, upload_body::Source::Piece(piece)).await?;
        let sent = Media { id, bytes: piece.bytes, content_type, made };
        let outcome = self
            .carry_out(asked, admitted, Some(sent), taken.metadata, move |tx, _| {
                media::put_whole(tx, id, piece);
                Ok(())
            })
            .await;
        if outcome.is_err() {
            // Nothing names the bytes. What cannot be freed now is swept when it is a day old.
            let _ = self.0.blobs.delete(piece.blob).await;
        }
        outcome.map(|reply| asked.reply(reply, name))
    }

    /// Runs the operation as if all bytes were there, and forgets what it did: a request that would be refused is refused before its bytes come.
    fn rehearse(&self, asked: &Asked, admitted: &Admitted, metadata: &Bytes) -> Result<(), Error> {
        let treatment =
            admitted.operation.upload.map_or(Treatment::Keep, |upload| upload.treatment);
        let made = match treatment {
            Treatment::Keep => Made::Nothing,
            Treatment::Probe => Made::Facts(Err(Reason::InvalidFile)),
            Treatment::Render { .. } => Made::Pictures(Ok(Vec::new())),
        };
        let sent = Media { id: [0; 16], bytes: 1, content_type: None, made };
        let work = self.work(asked, admitted.clone(), Some(sent), metadata, |_, _| Ok(()))?;
        work(&mut Tx::new(&*self.0.store), &mut self.draw()).map(drop)
    }

    /// Opens a session.
    async fn open<B>(
        &self,
        asked: &Asked,
        admitted: &Admitted,
        upload: Upload,
        body: &mut B,
    ) -> Result<Answer, Error>
    where
        B: http_body::Body<Data = Bytes> + Send + Unpin,
        B::Error: Into<BoxError>,
    {
        let metadata = whole(body, METADATA_BYTES_MAX).await?;
        let media_type = asked.header("x-upload-content-type");
        check_type(upload, media_type)?;
        let total = asked.header("x-upload-content-length").map(str::parse::<u64>).transpose();
        let total = total.map_err(|_| SessionError::DeclaredLength)?;
        self.rehearse(asked, admitted, &metadata)?;
        let caller = &admitted.caller;
        let opener = Opener {
            account: caller.account.clone(),
            project: caller.project.clone(),
            scopes: caller.scopes,
        };
        let target = session_target(&asked.path, Some(&asked.query), "");
        let query = target.split_once('?').map_or("", |(_, query)| query);
        let opening = Opening {
            operation: admitted.operation.name,
            query,
            caller: &serde_json::to_string(&opener).unwrap_or_default(),
            metadata: &metadata,
            media_type,
            total,
            bytes_max: upload.bytes_max,
        };
        let now = admitted.now;
        let id = run(&*self.0.store, &mut self.draw(), ATTEMPTS_MAX, |tx, ids| {
            session::expire(tx, now, EXPIRED_MAX)?;
            Ok::<_, Error>(session::open(tx, ids, now, &opening)?)
        })
        .await?;
        let location =
            format!("{}{}", asked.base, session_target(&asked.path, Some(&asked.query), &id));
        Ok(Answer {
            status: 200,
            headers: vec![(header::LOCATION, location.into()), (UPLOAD_ID, id.into())],
            body: Body::Empty,
            operation: admitted.operation.name,
        })
    }

    /// A request to a session: bytes, a question how many there are, or its end. Its id is its authorization.
    async fn resume<B>(
        &self,
        asked: &Asked,
        rest: &str,
        id: &str,
        body: &mut B,
    ) -> Result<Answer, Error>
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
        match asked.method.as_str() {
            "PUT" | "POST" => {}
            "DELETE" => return self.cancel(id, &session).await,
            _ => return Err(asked.not_allowed(UPLOADS)),
        }
        let decision = session.decide(
            asked.header("content-range"),
            content_length(asked),
            upload.bytes_max,
        )?;
        let received = match decision {
            Decision::Repeat { status } => {
                return self.repeat(asked, operation, id, &session, status);
            }
            Decision::Report { received } => {
                // What was sent with it is thrown away, and read so far that the client gets to read the answer.
                upload_body::discard(body, upload.bytes_max.min(session::STEP_BYTES)).await;
                return Ok(report(id, received, operation.name));
            }
            Decision::Finish => session.received,
            Decision::Take(intake) => self.take(id, &session, intake, body).await?,
        };
        let session = session::load(&mut Tx::new(&*self.0.store), id, now)?;
        if session.total.is_some_and(|total| received < total)
            || session.total.is_none()
                && matches!(decision, Decision::Take(Intake { exact: true, .. }))
        {
            return Ok(report(id, received, operation.name));
        }
        self.finish(asked, operation, upload, id, session).await
    }

    /// Keeps the bytes of a body as pieces of the session, each durable before the next is begun; gives how many there are now.
    async fn take<B>(
        &self,
        id: &str,
        session: &Session,
        intake: Intake,
        body: &mut B,
    ) -> Result<u64, Error>
    where
        B: http_body::Body<Data = Bytes> + Send + Unpin,
        B::Error: Into<BoxError>,
    {
        let mut steps = upload_body::Steps::new(intake.bytes_max);
        let mut first = intake.first;
        let declared = session.total.or(intake.total);
        loop {
            let step = steps.next(self, body).await;
            // What arrived before a connection broke is kept: that is what a session is for.
            let (piece, broken) = match step {
                Ok(Some(piece)) => (piece, None),
                Ok(None) => break,
                Err((piece, error)) => (piece, Some(error)),
            };
            if let Some(piece) = piece {
                first = self.advance(id, first, piece, declared).await?;
            }
            if let Some(error) = broken {
                return Err(error);
            }
        }
        let arrived = first - intake.first.min(first);
        if intake.exact && arrived < intake.bytes_max {
            return Err(
                SessionError::LengthMismatch { range: intake.bytes_max, body: arrived }.into()
            );
        }
        if !intake.exact {
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
        run(&*self.0.store, &mut self.draw(), ATTEMPTS_MAX, |tx, _| {
            Ok::<_, Error>(session::advance(tx, id, now, first, piece, total)?)
        })
        .await
    }

    /// Runs the operation of a session whose bytes are all there, and keeps its answer with it.
    async fn finish(
        &self,
        asked: &Asked,
        operation: &'static Operation,
        upload: Upload,
        id: &str,
        session: Session,
    ) -> Result<Answer, Error> {
        let opener: Opener =
            serde_json::from_str(&session.caller).map_err(|_| SessionError::Absent)?;
        let metadata = session::text(&mut Tx::new(&*self.0.store), id, Text::Metadata)?;
        let opened = Asked::of(
            "POST",
            asked.path.clone(),
            &session.query,
            http::HeaderMap::new(),
            asked.base.clone(),
        );
        let (params, parts) = validate::check(operation, &opened.pairs, false)?;
        let caller =
            Caller { account: opener.account, project: opener.project, scopes: opener.scopes };
        let admitted = Admitted { operation, caller, params, parts, now: self.0.clock.now() };
        let reader =
            media::Reader::new(Arc::clone(&self.0.store), Arc::clone(&self.0.blobs), session.media);
        let made = self
            .treat(upload.treatment, upload_body::Source::Rows(reader, session.received))
            .await?;
        let sent = Media {
            id: session.media,
            bytes: session.received,
            content_type: session.media_type.clone(),
            made,
        };
        let (key, now) = (id.to_owned(), admitted.now);
        let settle = move |tx: &mut Tx<'_>, reply: &Reply| {
            let current = session::load(tx, &key, now)?;
            if current.finished.is_some() {
                // Another request to the session was faster; its answer is the session's.
                return Err(Error::Contended);
            }
            let status = if reply.json.is_some() { 200 } else { 204 };
            session::finish(tx, &key, &current, status, &kept(reply));
            Ok(())
        };
        match self.carry_out(&opened, admitted, Some(sent), metadata.into(), settle).await {
            Ok(reply) => Ok(opened.reply(reply, operation.name)),
            Err(Error::Contended) => {
                let session = session::load(&mut Tx::new(&*self.0.store), id, now)?;
                let status = session.finished.ok_or(Error::Contended)?;
                self.repeat(asked, operation, id, &session, status)
            }
            Err(error) => Err(error),
        }
    }

    /// The answer of a finished session, once more.
    fn repeat(
        &self,
        asked: &Asked,
        operation: &'static Operation,
        id: &str,
        session: &Session,
        status: u16,
    ) -> Result<Answer, Error> {
        let text = session::text(&mut Tx::new(&*self.0.store), id, Text::Answer)?;
        let opened = Asked::of(
            "POST",
            asked.path.clone(),
            &session.query,
            http::HeaderMap::new(),
            asked.base.clone(),
        );
        let reply = if status == 204 { Reply::empty() } else { unkept(&text) };
        Ok(opened.reply(reply, operation.name))
    }

    async fn cancel(&self, id: &str, session: &Session) -> Result<Answer, Error> {
        run(&*self.0.store, &mut self.draw(), ATTEMPTS_MAX, |tx, _| {
            Ok::<_, Error>(session::cancel(tx, id, session)?)
        })
        .await?;
        Ok(Answer { status: 204, headers: Vec::new(), body: Body::Empty, operation: "upload" })
    }
}

/// 308 with what has arrived.
fn report(id: &str, received: u64, operation: &'static str) -> Answer {
    let mut headers = vec![(UPLOAD_ID, id.to_owned().into())];
    headers.extend(received_range(received).map(|range| (header::RANGE, range.into())));
    Answer { status: 308, headers, body: Body::Raw(ReplyBody::empty()), operation }
}

fn check_type(upload: Upload, given: Option<&str>) -> Result<(), Error> {
    if accepts(upload.accept, given) {
        return Ok(());
    }
    Err(Error::BadContent(given.unwrap_or_default().to_owned(), upload.accept.join(", ")))
}

fn content_length(asked: &Asked) -> Option<u64> {
    asked.header("content-length").and_then(|length| length.parse().ok())
}

/// A reply as a session keeps it: its etag, a line break, its text.
fn kept(reply: &Reply) -> Vec<u8> {
    let mut text = reply.etag.clone().unwrap_or_default().into_bytes();
    text.push(b'\n');
    text.extend_from_slice(reply.json.as_deref().unwrap_or_default());
    text
}

fn unkept(text: &[u8]) -> Reply {
    let at = text.iter().position(|byte| *byte == b'\n').unwrap_or(text.len());
    let (etag, json) = text.split_at(at);
    let etag = String::from_utf8_lossy(etag).into_owned();
    Reply {
        json: Some(json.get(1..).unwrap_or_default().to_vec()),
        etag: (!etag.is_empty()).then_some(etag),
        ..Reply::default()
    }
}
