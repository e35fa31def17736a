//! The service under its host and as a `hyper` and `tower` service.

use std::convert::Infallible;
use std::future::Future;
use std::pin::Pin;
use std::task::{Context as TaskContext, Poll};

use bytes::Bytes;
use http::{Request, Response};
use triptych_core::host::{BoxError, Hosted, Refusal, ReplyBody, RequestHead};

use super::{TabsApi, refusal};

impl Hosted for TabsApi {
    fn refuse(&self, refusal: &Refusal, _: &RequestHead<'_>) -> Response<ReplyBody> {
        refusal::refused(refusal, &refusal.to_string())
    }

    /// Every profile but the first goes; the first is as the seed file has it.
    async fn reset(&self) -> Result<(), String> {
        self.reset_all_profiles().await.map_err(|error| error.to_string())
    }
}

type Answered = Pin<Box<dyn Future<Output = Result<Response<ReplyBody>, Infallible>> + Send>>;

impl<B> hyper::service::Service<Request<B>> for TabsApi
where
    B: http_body::Body<Data = Bytes> + Send + 'static,
    B::Error: Into<BoxError>,
{
    type Response = Response<ReplyBody>;
    type Error = Infallible;
    type Future = Answered;

    fn call(&self, request: Request<B>) -> Answered {
        let api = self.clone();
        Box::pin(async move { Ok(api.answer(request).await) })
    }
}

impl<B> tower_service::Service<Request<B>> for TabsApi
where
    B: http_body::Body<Data = Bytes> + Send + 'static,
    B::Error: Into<BoxError>,
{
    type Response = Response<ReplyBody>;
    type Error = Infallible;
    type Future = Answered;

    fn poll_ready(&mut self, _: &mut TaskContext<'_>) -> Poll<Result<(), Infallible>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, request: Request<B>) -> Answered {
        hyper::service::Service::call(self, request)
    }
}
