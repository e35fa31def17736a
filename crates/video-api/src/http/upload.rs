//! Uploads over HTTP.

use bytes::Bytes;
use triptych_core::host::BoxError;

use super::reply::Answer;
use super::{Asked, VideoApi};
use crate::error::Error;

impl VideoApi {
    /// Answers a request under `/upload` or `/resumable/upload`; `rest` is the path after that.
    pub(super) async fn upload<B>(&self, asked: &Asked, _rest: &str, _body: &mut B) -> Answer
    where
        B: http_body::Body<Data = Bytes> + Send + Unpin,
        B::Error: Into<BoxError>,
    {
        asked.refuse(&Error::NotUpload, "-")
    }
}
