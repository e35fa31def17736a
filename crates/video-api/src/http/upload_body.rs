//! Bodies on their way to the blob store, and their processing before an operation runs. No body is ever whole in memory, but pictures.

use bytes::{Bytes, BytesMut};
use http_body_util::BodyExt;
use triptych_core::blobs::{BlobError, BlobWriter};
use triptych_core::host::BoxError;
use triptych_core::kv::StoreError;

use super::VideoApi;
use super::request::broken_body;
use crate::api::error::Error;
use crate::caption::FileForm;
use crate::media::{self, Processed, Processing, Renderings};
use crate::picture::{Picture, PictureError, Size};
use crate::upload::media::{MediaError, Piece, Reader};
use crate::upload::related::{Event, Related, RelatedError};
use crate::upload::session::STEP_BYTES;

/// Content of a body in one request.
#[derive(Debug)]
pub(super) struct ReceivedBody {
    /// The metadata; empty without any.
    pub(super) metadata: Bytes,
    /// The media, if there was any.
    pub(super) media: Option<ReceivedMedia>,
}

/// Media of a body, on disk, and what the body says of it.
#[derive(Debug)]
pub(super) struct ReceivedMedia {
    pub(super) piece: Piece,
    pub(super) content_type: Option<String>,
    pub(super) file_name: Option<String>,
}

/// Place of the bytes of an upload.
pub(super) enum UploadSource {
    /// In one blob that no row names yet.
    Blob(Piece),
    /// In the pieces of a session; so many bytes in all.
    Session(Reader, u64),
}

fn unavailable(error: &BlobError) -> Error {
    Error::Backend(StoreError::Unavailable(error.to_string()))
}

/// The next bytes of a body; `None` at its end.
async fn next<B>(body: &mut B) -> Result<Option<Bytes>, Error>
where
    B: http_body::Body<Data = Bytes> + Send + Unpin,
    B::Error: Into<BoxError>,
{
    while let Some(frame) = body.frame().await {
        // Trailers carry nothing that an upload needs.
        if let Ok(bytes) = frame.map_err(|error| broken_body(&*error.into()))?.into_data() {
            return Ok(Some(bytes));
        }
    }
    Ok(None)
}

/// Reads and throws away at most `bytes_max` bytes.
pub(super) async fn discard<B>(body: &mut B, bytes_max: u64)
where
    B: http_body::Body<Data = Bytes> + Send + Unpin,
    B::Error: Into<BoxError>,
{
    let mut left = bytes_max;
    while let Ok(Some(bytes)) = next(body).await {
        match left.checked_sub(bytes.len() as u64) {
            Some(less) => left = less,
            None => return,
        }
    }
}

/// A blob that is being written.
struct BlobUpload {
    writer: Box<dyn BlobWriter>,
    bytes: u64,
    bytes_max: u64,
}

impl BlobUpload {
    async fn write(&mut self, bytes: Bytes) -> Result<(), Error> {
        self.bytes = self.bytes.saturating_add(bytes.len() as u64);
        if self.bytes > self.bytes_max {
            return Err(Error::UploadTooLarge(self.bytes_max));
        }
        self.writer.write(bytes).await.map_err(|error| unavailable(&error))
    }

    async fn finish(self) -> Result<Piece, Error> {
        let stat = self.writer.finish().await.map_err(|error| unavailable(&error))?;
        Ok(Piece { blob: stat.id, bytes: stat.bytes })
    }
}

impl VideoApi {
    fn start_blob(&self, bytes_max: u64, size_hint: Option<u64>) -> BlobUpload {
        let writer = self.0.blobs.create(self.blob_time(), size_hint);
        BlobUpload { writer, bytes: 0, bytes_max }
    }

    /// Keeps a whole body as one blob.
    ///
    /// # Errors
    /// `UploadTooLarge`, `BodyBroken`, `Backend`.
    pub(super) async fn store_body<B>(
        &self,
        body: &mut B,
        bytes_max: u64,
        length: Option<u64>,
    ) -> Result<Piece, Error>
    where
        B: http_body::Body<Data = Bytes> + Send + Unpin,
        B::Error: Into<BoxError>,
    {
        if length.is_some_and(|length| length > bytes_max) {
            return Err(Error::UploadTooLarge(bytes_max));
        }
        let mut upload = self.start_blob(bytes_max, length);
        while let Some(bytes) = next(body).await? {
            upload.write(bytes).await?;
        }
        upload.finish().await
    }

    /// Keeps the media of a `multipart/related` body; `check` sees metadata, media type and file name before any of it is kept.
    ///
    /// # Errors
    /// `ParseError`, what `check` refuses, `UploadTooLarge`, `BodyBroken`, `Backend`.
    pub(super) async fn store_related<B>(
        &self,
        body: &mut B,
        content_type: &str,
        bytes_max: u64,
        check: impl Fn(&Bytes, Option<&str>, Option<&str>) -> Result<(), Error>,
    ) -> Result<ReceivedBody, Error>
    where
        B: http_body::Body<Data = Bytes> + Send + Unpin,
        B::Error: Into<BoxError>,
    {
        let broken = |error: RelatedError| match error {
            RelatedError::TooManyParts => Error::TooManyParts,
            other => Error::ParseError(other.to_string()),
        };
        let mut related = Related::new(content_type).map_err(broken)?;
        let mut metadata = Bytes::new();
        let mut media: Option<(BlobUpload, Option<String>, Option<String>)> = None;
        while let Some(bytes) = next(body).await? {
            related.feed(bytes);
            while let Some(event) = related.next_event().map_err(broken)? {
                match event {
                    Event::Metadata { body, .. } => metadata = body,
                    Event::MediaStart { content_type, file_name } => {
                        check(&metadata, content_type.as_deref(), file_name.as_deref())?;
                        media = Some((self.start_blob(bytes_max, None), content_type, file_name));
                    }
                    Event::Media(bytes) => {
                        if let Some((upload, ..)) = &mut media {
                            upload.write(bytes).await?;
                        }
                    }
                    Event::End { .. } => {}
                }
            }
        }
        related.finish().map_err(broken)?;
        let media = match media {
            Some((upload, content_type, file_name)) => {
                Some(ReceivedMedia { piece: upload.finish().await?, content_type, file_name })
            }
            None => None,
        };
        Ok(ReceivedBody { metadata, media })
    }

    /// Processes an upload as its operation wants. Runs on a blocking thread, a few at once.
    ///
    /// # Errors
    /// `Backend`.
    pub(super) async fn process(
        &self,
        processing: Processing,
        source: UploadSource,
    ) -> Result<Processed, Error> {
        if processing == Processing::Keep {
            return Ok(Processed::Nothing);
        }
        let service = self.clone();
        self.run_blocking_bounded(move || match processing {
            Processing::Keep => Ok(Processed::Nothing),
            Processing::Probe => {
                let length = source.bytes();
                let found =
                    media::probe(length, |offset, most| source.read_at(&service, offset, most));
                found.map(Processed::Info)
            }
            Processing::Captions => {
                let bytes = source.read_whole(&service)?;
                Ok(Processed::Captions(FileForm::of(&bytes)))
            }
            Processing::Render { sizes, least } => {
                service.render(&source, sizes, least).map(Processed::Pictures)
            }
        })
        .await
    }

    fn render(
        &self,
        source: &UploadSource,
        sizes: &'static [Size],
        least: (u32, u32),
    ) -> Result<Result<Renderings, PictureError>, Error> {
        let bytes = source.read_whole(self)?;
        let picture =
            match Picture::decode(&bytes).and_then(|picture| picture.at_least(least.0, least.1)) {
                Ok(picture) => picture,
                Err(error) => return Ok(Err(error)),
            };
        drop(bytes);
        let source = picture.dimensions();
        let mut pieces = Vec::new();
        for (size, jpeg) in picture.render(sizes) {
            let mut writer = self.0.blobs.create(self.0.clock.now(), Some(jpeg.len() as u64));
            writer.write(jpeg.into()).wait().map_err(|error| unavailable(&error))?;
            let stat = writer.finish().wait().map_err(|error| unavailable(&error))?;
            pieces.push((size, Piece { blob: stat.id, bytes: stat.bytes }));
        }
        Ok(Ok(Renderings { source, pieces }))
    }
}

impl UploadSource {
    const fn bytes(&self) -> u64 {
        match self {
            Self::Blob(piece) => piece.bytes,
            Self::Session(_, bytes) => *bytes,
        }
    }

    /// The whole, for what has to be in memory at once. Blocks.
    fn read_whole(&self, service: &VideoApi) -> Result<BytesMut, Error> {
        let mut bytes = BytesMut::new();
        while (bytes.len() as u64) < self.bytes() {
            let more = self.read_at(service, bytes.len() as u64, 1024 * 1024)?;
            if more.is_empty() {
                break;
            }
            bytes.extend_from_slice(&more);
        }
        Ok(bytes)
    }

    /// Blocks.
    fn read_at(&self, service: &VideoApi, offset: u64, most: usize) -> Result<Bytes, Error> {
        match self {
            Self::Session(reader, _) => reader.read_at(offset, most).map_err(|error| match error {
                MediaError::Store(error) => Error::from(error),
                MediaError::Blob(error) => unavailable(&error),
            }),
            Self::Blob(piece) => {
                let end = piece.bytes.min(offset.saturating_add(most as u64));
                let mut reader = service
                    .0
                    .blobs
                    .open(piece.blob, offset.min(end)..end)
                    .map_err(|error| unavailable(&error))?;
                let mut out = BytesMut::new();
                while let Some(bytes) = reader.next().wait().map_err(|error| unavailable(&error))? {
                    out.extend_from_slice(&bytes);
                }
                Ok(out.freeze())
            }
        }
    }
}

/// A body cut into blobs of [`STEP_BYTES`].
pub(super) struct BodyPieces {
    left: u64,
    rest: Bytes,
}

/// A piece that was kept before something broke, and what broke.
type Broken = (Option<Piece>, Error);

impl BodyPieces {
    /// Steps of a body of at most `bytes_max` bytes.
    pub(super) const fn new(bytes_max: u64) -> Self {
        Self { left: bytes_max, rest: Bytes::new() }
    }

    /// Passes over the first bytes of the body, and returns how many of them there were.
    ///
    /// # Errors
    /// `BodyBroken`.
    pub(super) async fn pass_over<B>(&mut self, body: &mut B, bytes: u64) -> Result<u64, Error>
    where
        B: http_body::Body<Data = Bytes> + Send + Unpin,
        B::Error: Into<BoxError>,
    {
        let mut left = bytes;
        while left > 0 {
            let Some(mut frame) = next(body).await? else { break };
            let passed = left.min(frame.len() as u64);
            left -= passed;
            self.rest = frame.split_off(usize::try_from(passed).unwrap_or(frame.len()));
        }
        Ok(bytes - left)
    }

    /// The next piece, on disk; `None` at the end of the body.
    ///
    /// # Errors
    /// The failure, with the piece that was kept of what came before.
    pub(super) async fn next<B>(
        &mut self,
        service: &VideoApi,
        body: &mut B,
    ) -> Result<Option<Option<Piece>>, Broken>
    where
        B: http_body::Body<Data = Bytes> + Send + Unpin,
        B::Error: Into<BoxError>,
    {
        let mut upload = service.start_blob(u64::MAX, Some(self.left.min(STEP_BYTES)));
        let mut broken = None;
        while upload.bytes < STEP_BYTES {
            let bytes = if self.rest.is_empty() {
                next(body).await
            } else {
                Ok(Some(std::mem::take(&mut self.rest)))
            };
            let mut bytes = match bytes {
                Ok(Some(bytes)) => bytes,
                Ok(None) => break,
                Err(error) => {
                    broken = Some(error);
                    break;
                }
            };
            let room = STEP_BYTES - upload.bytes;
            if bytes.len() as u64 > room {
                self.rest = bytes.split_off(usize::try_from(room).unwrap_or(usize::MAX));
            }
            let length = bytes.len() as u64;
            if length > self.left {
                broken = Some(Error::UploadTooLarge(self.left));
                break;
            }
            self.left -= length;
            if let Err(error) = upload.write(bytes).await {
                return Err((None, error));
            }
        }
        if upload.bytes == 0 {
            return broken.map_or(Ok(None), |error| Err((None, error)));
        }
        match (upload.finish().await, broken) {
            (Ok(piece), None) => Ok(Some(Some(piece))),
            (Ok(piece), Some(error)) => Err((Some(piece), error)),
            (Err(error), _) => Err((None, error)),
        }
    }
}
