//! Downloads: a file that was stored, or captions that are made of one, whole or in part.

use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::Arc;

use bytes::Bytes;
use http::header;
use tokio::time::timeout_at;
use triptych_core::host::{PieceBody, ReplyBody};
use triptych_core::kv::{StoreError, Tx};

use super::file_body::FileBody;
use super::response::{Body, has_etag};
use super::{ApiRequest, ApiResponse, VideoApi};
use crate::api::byte_range::RequestedRange;
use crate::api::error::{Error, Rule};
use crate::api::response::download::{Conversion, Download, Translation};
use crate::caption::Track;
use crate::caption::translation::{self, TranslateError};
use crate::resource::captions::{download as captions, rules};
use crate::upload::media::{self, Content, MediaError, Reader};

/// Bytes that are there, or will be read when they are sent.
enum Source {
    Ready(Bytes),
    Stored(Reader, u64),
}

impl VideoApi {
    /// Answers with a file, or the part of it that `Range` asks for.
    ///
    /// # Errors
    /// The refusal of a conversion; `Backend`.
    pub(super) async fn download(
        &self,
        request: &ApiRequest,
        file: Download,
        operation: &'static str,
    ) -> Result<ApiResponse, Error> {
        let mut headers = vec![
            (header::ETAG, format!("\"{}\"", file.etag).into()),
            (header::ACCEPT_RANGES, "bytes".into()),
        ];
        if has_etag(request.if_none_match.as_deref(), &file.etag) {
            return Ok(ApiResponse { status: 304, headers, body: Body::Empty, operation });
        }
        headers.push((header::CONTENT_TYPE, file.media_type.into()));
        let source = match file.conversion {
            None => self.stored(file.content, file.bytes)?,
            Some(conversion) => {
                let content = (file.content, file.bytes);
                Source::Ready(self.convert(content, conversion).await?)
            }
        };
        let length = match &source {
            Source::Ready(bytes) => bytes.len() as u64,
            Source::Stored(_, bytes) => *bytes,
        };
        // A range of another version of the file would be put to what the client has of it (RFC 9110 section 13.1.5).
        let is_same = request.header("if-range").is_none_or(|known| {
            known.trim().strip_prefix('"').and_then(|tag| tag.strip_suffix('"')) == Some(&file.etag)
        });
        let range = request.header("range").filter(|_| is_same);
        let (status, range) = match RequestedRange::of(range, length) {
            RequestedRange::Whole => (200, 0..length),
            RequestedRange::Part(range) => {
                let (first, last) = (range.start, range.end - 1);
                let place = format!("bytes {first}-{last}/{length}");
                headers.push((header::CONTENT_RANGE, place.into()));
                (206, range)
            }
            RequestedRange::Unsatisfiable => {
                let mut refusal = request.refuse(&Error::RangeNotSatisfiable, operation);
                let place = format!("bytes */{length}");
                refusal.headers.push((header::CONTENT_RANGE, place.into()));
                return Ok(refusal);
            }
        };
        Ok(ApiResponse { status, headers, body: Body::Raw(source.body(range)), operation })
    }

    fn stored(&self, content: Content, bytes: u64) -> Result<Source, Error> {
        match content {
            Content::Pieces(_) => Ok(Source::Stored(self.reader(content), bytes)),
            Content::Rows(media) => {
                Ok(Source::Ready(media::read_slices(&mut Tx::new(&*self.0.store), media)?))
            }
        }
    }

    fn reader(&self, content: Content) -> Reader {
        let (Content::Pieces(media) | Content::Rows(media)) = content;
        Reader::new(Arc::clone(&self.0.store), Arc::clone(&self.0.blobs), media)
    }

    /// Captions made of a file. It is in memory meanwhile: a few at once on threads that may block, and some more that wait for a translator.
    async fn convert(
        &self,
        (content, bytes): (Content, u64),
        conversion: Conversion,
    ) -> Result<Bytes, Error> {
        let to = conversion.to;
        let Some(translation) = conversion.translation.clone() else {
            // In one go: what one thread allocates, another frees more slowly.
            let service = self.clone();
            let convert = move || {
                let refusal = &rules::FORMAT_NOT_CONVERTED;
                let track = service.read_track((content, bytes), &conversion, refusal)?;
                Ok(to.write(&track).into())
            };
            return self.run_blocking_bounded(convert).await;
        };
        let refusal = &rules::LANGUAGE_NOT_CONVERTED;
        let end = self.0.translations.end();
        let _turn = self.0.translations.turn(bytes, end).await?;
        let service = self.clone();
        let read = move || service.read_track((content, bytes), &conversion, refusal);
        let mut track = self.run_blocking_bounded(read).await?;
        let translated = timeout_at(end, self.translate(&mut track, &translation)).await;
        let late = || TranslateError::Unreachable("it did not translate the track in time".into());
        translated.unwrap_or_else(|_| Err(late())).map_err(|error| {
            tracing::warn!(%error, from = translation.from, to = translation.to, "captions are not translated");
            Error::Rule(refusal)
        })?;
        self.run_blocking_bounded(move || Ok(to.write(&track).into())).await
    }

    /// The track that a conversion starts from. Blocks.
    fn read_track(
        &self,
        (content, bytes): (Content, u64),
        conversion: &Conversion,
        refusal: &'static Rule,
    ) -> Result<Track, Error> {
        let file = self.read_whole(content, bytes)?;
        captions::read(&file, conversion).map_err(|_| Error::Rule(refusal))
    }

    /// Asks the translator for the texts of a track, batch by batch.
    async fn translate(
        &self,
        track: &mut Track,
        translation: &Translation,
    ) -> Result<(), TranslateError> {
        let missing = || TranslateError::Unreachable("none is configured".into());
        let translator = self.0.translator.as_ref().ok_or_else(missing)?;
        let mut translations = BTreeMap::new();
        for batch in translation::batches(track) {
            let texts = translator.translate(&batch, &translation.from, &translation.to).await?;
            translations.extend(batch.into_iter().zip(texts));
        }
        translation::apply(track, &translations)
    }

    /// A whole file. Blocks.
    fn read_whole(&self, content: Content, bytes: u64) -> Result<Bytes, Error> {
        let source = self.stored(content, bytes)?;
        let Source::Stored(reader, bytes) = source else {
            let Source::Ready(bytes) = source else { return Ok(Bytes::new()) };
            return Ok(bytes);
        };
        reader.read_at(0, usize::try_from(bytes).unwrap_or(usize::MAX)).map_err(|error| match error
        {
            MediaError::Store(error) => Error::from(error),
            MediaError::Blob(error) => StoreError::Unavailable(error.to_string()).into(),
        })
    }
}

impl Source {
    fn body(self, range: Range<u64>) -> ReplyBody {
        match self {
            Self::Stored(reader, _) => {
                ReplyBody::stream(PieceBody::new(FileBody::new(reader, range)))
            }
            Self::Ready(bytes) => {
                let place = |at: u64| usize::try_from(at).unwrap_or(usize::MAX).min(bytes.len());
                ReplyBody::whole(bytes.slice(place(range.start)..place(range.end)))
            }
        }
    }
}
