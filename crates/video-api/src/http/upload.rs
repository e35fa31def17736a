//! Uploads over HTTP: the protocol of each request, and those that come in one.

use bytes::Bytes;
use triptych_core::host::BoxError;
use triptych_core::id::Ids;
use triptych_core::kv::Tx;

use super::request::ApiRequest;
use super::upload_command::{self, Declared};
use super::{CheckedRequest, VideoApi};
use crate::api::error::Error;
use crate::api::operation::{Operation, Upload};
use crate::caption::FileForm;
use crate::http::response::ApiResponse;
use crate::http::router::upload_at;
use crate::http::upload_body::{self, ReceivedBody, ReceivedMedia};
use crate::media::{Media, ProbeFailure, Processed, Processing, Renderings};
use crate::upload::media::{self, MediaId};
use crate::upload::{Protocol, accepts};

impl VideoApi {
    /// Answers a request under `/upload` or `/resumable/upload`; `rest` is the path after that.
    pub(super) async fn upload<B>(
        &self,
        request: &ApiRequest,
        rest: &str,
        body: &mut B,
    ) -> ApiResponse
    where
        B: http_body::Body<Data = Bytes> + Send + Unpin,
        B::Error: Into<BoxError>,
    {
        let response = match request.value("upload_id").map(str::to_owned) {
            Some(id) => ("upload", self.continue_session(request, rest, &id, body).await),
            None => match upload_at(&request.method, rest) {
                Ok(operation) => {
                    (operation.name, self.begin_upload(request, operation, body).await)
                }
                Err(error) => ("-", Err(error)),
            },
        };
        self.sweep_soon();
        let (mut response, refusal) = match response {
            (_, Ok(response)) => (response, None),
            (name, Err(error)) => (request.refuse(&error, name), Some(error)),
        };
        upload_command::complete(request, &mut response.headers, refusal.as_ref());
        response
    }

    /// A request that begins an upload: the whole of it, or a session.
    async fn begin_upload<B>(
        &self,
        request: &ApiRequest,
        operation: &'static Operation,
        body: &mut B,
    ) -> Result<ApiResponse, Error>
    where
        B: http_body::Body<Data = Bytes> + Send + Unpin,
        B::Error: Into<BoxError>,
    {
        let upload = operation.upload.ok_or(Error::NotUpload)?;
        let checked = self.check_request(request, operation).await?;
        let named = upload_command::protocol(request)
            .or_else(|| request.value("uploadType"))
            .or_else(|| request.value("upload_protocol"));
        let named =
            named.or_else(|| request.path.starts_with("/resumable/").then_some("resumable"));
        let protocol = Protocol::of(named, request.content_type.as_deref());
        let protocol = protocol
            .ok_or_else(|| Error::UnsupportedMediaProtocol(named.unwrap_or_default().to_owned()))?;
        let file_name = upload_command::file_name(request);
        let received = match protocol {
            Protocol::Resumable => return self.open_session(request, &checked, upload, body).await,
            Protocol::Media => {
                let declared = upload_command::declared(request, Declared::ContentType);
                let content_type = declared.or(request.content_type.as_deref());
                check_type(upload, content_type)?;
                self.dry_run(request, &checked, &Bytes::new(), file_name.as_deref())?;
                let length = content_length(request);
                let content_type = content_type.map(str::to_owned);
                let piece = self.store_body(body, upload.bytes_max, length).await?;
                let media = ReceivedMedia { piece, content_type, file_name };
                ReceivedBody { metadata: Bytes::new(), media: Some(media) }
            }
            Protocol::Multipart => {
                let kind = request.content_type.as_deref().unwrap_or_default();
                let check = |metadata: &Bytes, media_type: Option<&str>, named: Option<&str>| {
                    check_type(upload, media_type)?;
                    self.dry_run(request, &checked, metadata, named.or(file_name.as_deref()))
                };
                let mut received = self.store_related(body, kind, upload.bytes_max, check).await?;
                if let Some(media) = &mut received.media {
                    media.file_name = media.file_name.take().or(file_name);
                }
                received
            }
        };
        self.finish_upload(request, checked, upload, received).await
    }

    /// Processes an upload that came in one request, and runs its operation.
    async fn finish_upload(
        &self,
        request: &ApiRequest,
        checked: CheckedRequest,
        upload: Upload,
        received: ReceivedBody,
    ) -> Result<ApiResponse, Error> {
        let name = checked.operation.name;
        let Some(ReceivedMedia { piece, content_type, file_name }) = received.media else {
            if upload.required {
                return Err(Error::MediaBodyRequired);
            }
            let reply = self.execute(request, checked, None, received.metadata, |_, _| Ok(()));
            return Ok(request.respond(reply.await?, name));
        };
        if piece.bytes == 0 && upload.required {
            return Err(Error::MediaBodyRequired);
        }
        let mut id: MediaId = [0; 16];
        self.ids().fill(&mut id);
        let processed =
            self.process(upload.processing, upload_body::UploadSource::Blob(piece)).await?;
        let sent = Media { id, bytes: piece.bytes, content_type, file_name, processed };
        let outcome = self
            .execute(request, checked, Some(sent), received.metadata, move |tx, _| {
                media::put_whole(tx, id, piece);
                Ok(())
            })
            .await;
        if outcome.is_err() {
            // Nothing names the bytes. What cannot be freed now is swept when it is a day old.
            let _ = self.0.blobs.delete(piece.blob).await;
        }
        outcome.map(|reply| request.respond(reply, name))
    }

    /// Runs the operation as if all bytes were there, and forgets what it did: a request that would be refused is refused before its bytes come.
    pub(super) fn dry_run(
        &self,
        request: &ApiRequest,
        checked: &CheckedRequest,
        metadata: &Bytes,
        file_name: Option<&str>,
    ) -> Result<(), Error> {
        let processing =
            checked.operation.upload.map_or(Processing::Keep, |upload| upload.processing);
        let processed = match processing {
            Processing::Keep => Processed::Nothing,
            Processing::Probe => Processed::Info(Err(ProbeFailure::InvalidFile)),
            Processing::Captions => Processed::Captions(FileForm::Unknown),
            Processing::Render { .. } => Processed::Pictures(Ok(Renderings::default())),
        };
        let file_name = file_name.map(str::to_owned);
        let sent = Media { id: [0; 16], bytes: 1, content_type: None, file_name, processed };
        let work =
            self.bind_handler(request, checked.clone(), Some(sent), metadata, |_, _| Ok(()))?;
        work(&mut Tx::new(&*checked.store), &mut self.ids()).map(drop)
    }
}

/// Refuses media of a type that the operation does not take.
pub(super) fn check_type(upload: Upload, given: Option<&str>) -> Result<(), Error> {
    if accepts(upload.accept, given) {
        return Ok(());
    }
    Err(Error::BadContent(given.unwrap_or_default().to_owned(), upload.accept.join(", ")))
}

/// `Content-Length` of a request, if it is a number.
pub(super) fn content_length(request: &ApiRequest) -> Option<u64> {
    request.header("content-length").and_then(|length| length.parse().ok())
}
