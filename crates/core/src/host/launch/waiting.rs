//! The service before its store is reached: it lives, is not ready, and says why.

use std::convert::Infallible;
use std::future::{Ready, ready};
use std::io;
use std::time::Duration;

use http::{HeaderValue, Request, Response, StatusCode, header};
use hyper::service::Service;
use tokio::net::TcpListener;
use tokio::time::timeout;

use super::LaunchError;
use super::shared_store::SharedStore;
use super::storage::StorageError;
use crate::error::Coded;
use crate::host::server::{Body, Config, Hosted, Refusal, ReplyBody, RequestHead, serve, signals};

/// Time after which somebody may want to know.
const SILENT_MAX: Duration = Duration::from_secs(1);

/// The service in whose place this one answers, until it can be built.
#[derive(Clone)]
struct Waiting(SharedStore);

/// Answers on `listener` until the store is reached, and gives it back; `None` if the process is told to stop before that.
///
/// # Errors
/// `Service` if the address cannot be shared, `Storage` with the reason for which the store must not be used.
pub(super) async fn until_reached(
    listener: TcpListener,
    config: &Config,
    store: &SharedStore,
) -> Result<Option<TcpListener>, LaunchError> {
    if let Ok(reached) = timeout(SILENT_MAX, store.reached()).await {
        reached.map_err(StorageError::Shared)?;
        return Ok(Some(listener));
    }
    let (listener, twin) =
        twins(listener).map_err(|error| LaunchError::Service(error.to_string()))?;
    let (mut reached, mut is_told_to_stop) = (Ok(()), false);
    let stop = async {
        tokio::select! {
            outcome = store.reached() => reached = outcome,
            () = signals() => is_told_to_stop = true,
        }
    };
    let config = Config {
        limits: config.limits,
        admin_token: config.admin_token.clone(),
        base_hosts: config.base_hosts.clone(),
        #[cfg(feature = "tls")]
        tls: config.tls.clone(),
        shared: Some(store.clone()),
        ..Config::default()
    };
    serve(twin, Waiting(store.clone()), config, stop).await;
    reached.map_err(StorageError::Shared)?;
    Ok((!is_told_to_stop).then_some(listener))
}

/// The listener twice: one is closed when serving ends, and no connection is refused meanwhile.
fn twins(listener: TcpListener) -> io::Result<(TcpListener, TcpListener)> {
    let listener = listener.into_std()?;
    let twin = listener.try_clone()?;
    Ok((TcpListener::from_std(listener)?, TcpListener::from_std(twin)?))
}

impl Hosted for Waiting {
    fn refuse(&self, refusal: &Refusal, _: &RequestHead<'_>) -> Response<ReplyBody> {
        text(refusal.row().status, refusal.to_string())
    }

    fn ready(&self) -> bool {
        false
    }

    async fn reset(&self) -> Result<(), String> {
        self.0.health()
    }
}

impl Service<Request<Body>> for Waiting {
    type Response = Response<ReplyBody>;
    type Error = Infallible;
    type Future = Ready<Result<Self::Response, Infallible>>;

    fn call(&self, _: Request<Body>) -> Self::Future {
        let why = self.0.health().err();
        let why = why.unwrap_or_else(|| "the service begins".to_owned());
        ready(Ok(text(StatusCode::SERVICE_UNAVAILABLE.as_u16(), why)))
    }
}

fn text(status: u16, said: String) -> Response<ReplyBody> {
    let mut response = Response::new(ReplyBody::whole(said + "\n"));
    *response.status_mut() = StatusCode::from_u16(status).unwrap_or_default();
    let plain = HeaderValue::from_static("text/plain; charset=utf-8");
    response.headers_mut().insert(header::CONTENT_TYPE, plain);
    response
}
