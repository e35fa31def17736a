//! PostObject: the head of an upload stands in the fields of a form, its body in the file.

use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};

use bytes::Bytes;
use http::Response;
use http_body::{Body, Frame, SizeHint};
use http_body_util::BodyExt as _;
use triptych_core::host::{BoxError, FramePoll};

use crate::auth::account::Caller;
use crate::auth::payload::Payload;
use crate::auth::signature::Verified;
use crate::error::Error;
use crate::form::credentials::{FormCredentials, signature_field};
use crate::form::fields::{Form, FormReader, is_file, not_one_file};
use crate::form::framing::{Decoder, Piece};
use crate::form::policy::{NamedBucket, PostPolicy, SizeRange};
use crate::form::result::Posted;
use crate::operation::put_headers::BODY_BYTES_MAX;
use crate::operation::{strict, table};
use crate::request::dialect::Dialect;
use crate::request::fields::Fields;
use crate::request::location::Location;
use crate::server::download::ResponseBody;
use crate::server::frame_reader::body_fault;
use crate::server::pipeline::check_size;
use crate::server::render;
use crate::server::request::ParsedRequest;
use crate::server::state::ObjectPut;
use crate::store::precondition;

/// Headers of the request itself that say something of its sender.
const OF_SENDER: [&str; 4] = ["host", "origin", "referer", "user-agent"];
/// The same of the service's own.
const OF_SENDER_OWN: [&str; 2] = ["x-store-expected-bucket-owner", "x-store-request-payer"];
/// Bytes that are counted beyond the most that a file may have, so that the answer can tell how long it is.
const COUNTED_BEYOND: u64 = 1024 * 1024;
/// Bytes after the end of a form that are passed over.
const EPILOGUE_BYTES_MAX: usize = 64 * 1024;

impl ObjectPut {
    /// Stores the file of a form. Gives the dialect that the form speaks beside the answer.
    pub(super) async fn post_object<B>(
        &self,
        request: &ParsedRequest<'_>,
        body: &mut B,
    ) -> (Dialect, Result<Response<ResponseBody>, Error>)
    where
        B: Body<Data = Bytes> + Send + Unpin,
        B::Error: Into<BoxError>,
    {
        let own = request.fields.dialect();
        let (decoder, form) = match read_form(&request.fields, body).await {
            Ok(read) => read,
            Err(error) => return (own, Err(error)),
        };
        let parameters = request.query.names().chain(form.iter().map(|(name, _)| name));
        let dialect = match Dialect::of(request.fields.iter(), parameters) {
            Ok(dialect) => dialect.unwrap_or(own),
            Err(mixed) => return (own, Err(mixed.into())),
        };
        (dialect, self.store_file(request, dialect, &form, decoder, body).await)
    }

    async fn store_file<B>(
        &self,
        request: &ParsedRequest<'_>,
        dialect: Dialect,
        form: &Form,
        decoder: Decoder,
        body: &mut B,
    ) -> Result<Response<ResponseBody>, Error>
    where
        B: Body<Data = Bytes> + Send + Unpin,
        B::Error: Into<BoxError>,
    {
        let bucket = request.location.bucket.clone().ok_or(Error::Internal)?;
        if self.0.settings.strict {
            strict::check_form(form.iter().map(|(name, _)| name), dialect)?;
        }
        let (caller, size) = self.check_form(request, dialect, form, &bucket)?;
        // A form has no conditions, and those of its head would be passed over.
        precondition::check_of_uploads(&request.fields)?;
        let key = form.key()?;
        let head = form.head(dialect)?;
        let sender = request.fields.iter().filter(|(name, _)| {
            let mut own = OF_SENDER_OWN.iter();
            OF_SENDER.contains(name) || own.any(|own| dialect.is_header(name, own))
        });
        let fields = head.iter().map(|(name, value)| (name.as_str(), value.as_bytes()));
        let fields = Fields::of(sender.chain(fields)).in_dialect(dialect);
        // As of any head: this one was not known when that of the request was checked.
        check_size(&fields)?;
        self.check_transport(&fields, request.arrival)?;
        let upload = ParsedRequest {
            operation: table::named("PutObject").ok_or(Error::Internal)?,
            location: Location {
                key: Some(key.clone()),
                bucket: Some(bucket.clone()),
                ..request.location.clone()
            },
            fields,
            query: request.query,
            caller,
            verified: Verified::unsigned(Payload::File),
            now: request.now,
            arrival: request.arrival,
            point: request.point.clone(),
            store: Arc::clone(&request.store),
        };
        let mut file = FileBody { body, decoder, size, bytes: 0, in_file: true, epilogue: 0 };
        let reply = self.put(&upload, &mut file).await?;
        let reply = self.mark_charged(&upload, reply)?;
        let scheme = if request.arrival.secure { "https" } else { "http" };
        let host = request.fields.get("host")?.unwrap_or_default();
        let base = match request.location.host.is_some() {
            true => format!("{scheme}://{host}"),
            false => format!("{scheme}://{host}/{bucket}"),
        };
        let posted = Posted { base: &base, bucket: &bucket, key: key.as_str() };
        Ok(render::reply(posted.answer(form, reply), dialect))
    }

    /// The sender of a form, and the bytes that its file may have.
    fn check_form(
        &self,
        request: &ParsedRequest<'_>,
        dialect: Dialect,
        form: &Form,
        bucket: &str,
    ) -> Result<(Caller, SizeRange), Error> {
        let all = SizeRange { least: 0, most: BODY_BYTES_MAX };
        let here = self.scope(&request.location, request.point.as_deref());
        let Some(credentials) = FormCredentials::read(form, dialect, &here)? else {
            return Ok((request.caller.clone(), all));
        };
        let id = credentials.access_key;
        let cached = self.0.credentials.find(&*request.store, id)?;
        let cached =
            cached.ok_or_else(|| Error::InvalidAccessKeyId { access_key: id.to_owned() })?;
        cached.with_signing_key(|key, signing| credentials.verify(key, signing, dialect))?;
        let policy = PostPolicy::parse(credentials.policy)?;
        let bucket = NamedBucket {
            name: bucket,
            point: request.point.as_deref(),
            region: &self.0.settings.region,
        };
        let named = policy.check(form, &bucket, request.now, &signature_field(dialect))?;
        let size = named.map_or(all, |size| SizeRange { most: size.most.min(all.most), ..size });
        Ok((cached.caller(), size))
    }
}

/// The fields of a form, and the decoder of what follows them.
async fn read_form<B>(fields: &Fields<'_>, body: &mut B) -> Result<(Decoder, Form), Error>
where
    B: Body<Data = Bytes> + Unpin,
    B::Error: Into<BoxError>,
{
    let mut decoder = Decoder::of_content_type(fields.get("content-type")?.as_deref())?;
    let mut reader = FormReader::default();
    loop {
        while let Some(piece) = decoder.piece()? {
            if let Some(form) = reader.take(piece, decoder.taken())? {
                return Ok((decoder, form));
            }
        }
        let frame = body.frame().await.ok_or(Error::MalformedForm)?;
        let frame = frame.map_err(|error| body_fault(&*error.into()))?;
        if let Ok(data) = frame.into_data() {
            decoder.feed(data);
        }
    }
}

/// The file of a form, as the body of an upload: it ends where the file ends, once the form was read to its own end.
struct FileBody<'b, B> {
    body: &'b mut B,
    decoder: Decoder,
    size: SizeRange,
    /// Bytes of the file.
    bytes: u64,
    /// False in the fields after it.
    in_file: bool,
    /// Bytes after the end of the form.
    epilogue: usize,
}

impl<B> FileBody<'_, B> {
    /// Takes a piece of the form; gives what of it belongs to the file.
    fn take(&mut self, piece: Piece) -> Result<Option<Bytes>, Error> {
        match piece {
            Piece::Data(data) if self.in_file => {
                self.bytes += data.len() as u64;
                if self.bytes > self.size.most.saturating_add(COUNTED_BEYOND) {
                    return Err(self.too_large());
                }
                Ok((self.bytes <= self.size.most).then_some(data))
            }
            Piece::PartEnd => {
                self.in_file = false;
                Ok(None)
            }
            Piece::Part(head) if is_file(&head) => Err(not_one_file(2)),
            Piece::End if self.bytes > self.size.most => Err(self.too_large()),
            Piece::End if self.bytes < self.size.least => {
                Err(Error::FileTooSmall { proposed: self.bytes, least: self.size.least })
            }
            // Fields after the file count for nothing.
            Piece::Data(_) | Piece::Part(_) | Piece::End => Ok(None),
        }
    }

    const fn too_large(&self) -> Error {
        Error::EntityTooLarge { proposed: self.bytes, most: self.size.most }
    }
}

impl<B> Body for FileBody<'_, B>
where
    B: Body<Data = Bytes> + Unpin,
    B::Error: Into<BoxError>,
{
    type Data = Bytes;
    type Error = BoxError;

    fn poll_frame(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> FramePoll<BoxError> {
        let own = &mut *self;
        loop {
            while let Some(piece) = own.decoder.piece()? {
                if let Some(data) = own.take(piece)? {
                    return Poll::Ready(Some(Ok(Frame::data(data))));
                }
            }
            if own.epilogue > EPILOGUE_BYTES_MAX {
                return Poll::Ready(None);
            }
            let frame = ready!(Pin::new(&mut *own.body).poll_frame(context));
            let frame = match frame {
                None if own.decoder.is_done() => return Poll::Ready(None),
                None => return Poll::Ready(Some(Err(Error::MalformedForm.into()))),
                Some(frame) => frame.map_err(Into::into)?,
            };
            if let Ok(data) = frame.into_data() {
                if own.decoder.is_done() {
                    own.epilogue += data.len();
                } else {
                    own.decoder.feed(data);
                }
            }
        }
    }

    fn size_hint(&self) -> SizeHint {
        let mut hint = SizeHint::new();
        if let Some(most) = self.body.size_hint().upper() {
            hint.set_upper(most);
        }
        hint
    }
}
