//! The frames of a body as it arrives, and what is wrong with one that breaks off.

use bytes::Bytes;
use http_body_util::BodyExt as _;
use triptych_core::host::{BodyError, BoxError};

use crate::body::aws_chunked::{Decoder, Frame};
use crate::body::body_headers::BodyHeaders;
use crate::body::verifier::Verifier;
use crate::error::Error;

const CUT_OFF: Error = Error::BodyTerminated { reason: "The connection ended within the body" };

/// Checks what a frame brings, or ends.
pub(super) fn check(verifier: &mut Verifier, frame: &Frame) -> Result<(), Error> {
    match frame {
        Frame::Data(bytes) => verifier.data(bytes),
        Frame::ChunkEnd(signature) => verifier.chunk_end(signature.as_deref()),
        Frame::End(trailer) => verifier.trailer(trailer),
    }
}

/// The frames of a body, whatever its framing.
pub(super) struct FrameReader<'b, B> {
    body: &'b mut B,
    decoder: Option<Decoder>,
    ended: bool,
}

impl<'b, B> FrameReader<'b, B>
where
    B: http_body::Body<Data = Bytes> + Unpin,
    B::Error: Into<BoxError>,
{
    pub(super) fn new(body: &'b mut B, head: &BodyHeaders) -> Self {
        let decoder = || Decoder::new(head.payload.has_signed_chunks(), head.length);
        let decoder = head.payload.is_chunked().then(decoder);
        Self { body, decoder, ended: false }
    }

    /// The next one; none once the body has ended. What is given up while it waits loses nothing.
    pub(super) async fn next(&mut self) -> Result<Option<Frame>, Error> {
        loop {
            if let Some(decoder) = &mut self.decoder
                && let Some(frame) = decoder.frame()?
            {
                return Ok(Some(frame));
            }
            if self.ended {
                return Ok(None);
            }
            let Some(frame) = self.body.frame().await else {
                self.ended = true;
                return self.decoder.as_mut().map_or(Ok(None), Decoder::finish);
            };
            let frame = frame.map_err(|error| body_fault(&*error.into()))?;
            let Ok(data) = frame.into_data() else {
                continue;
            };
            match &mut self.decoder {
                Some(decoder) => decoder.feed(data),
                None => return Ok(Some(Frame::Data(data))),
            }
        }
    }
}

/// The refusal of a body that broke off.
pub(super) fn body_fault(error: &(dyn std::error::Error + Send + Sync + 'static)) -> Error {
    // A body that is made of another tells what is wrong with it.
    if let Some(own) = error.downcast_ref::<Error>() {
        return own.clone();
    }
    match error.downcast_ref::<BodyError>() {
        Some(BodyError::TimedOut) => Error::RequestTimeout,
        _ => CUT_OFF,
    }
}
