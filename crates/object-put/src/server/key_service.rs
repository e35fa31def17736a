//! A key service on the network: on this machine over plain HTTP, or anywhere over TLS.

use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use http::Request;
use http_body_util::{BodyExt as _, Full, Limited};
use hyper_util::rt::TokioIo;
use serde_json::Value;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::TcpStream;
use tokio::time::Instant;
#[cfg(feature = "tls")]
use triptych_core::host::launch::TlsClient;
use triptych_core::host::{BoxError, CallMetrics};
use triptych_core::time::Clock;

use crate::body::object_key::SecretKey;
use crate::error::Error;
use crate::kms::context::EncryptionContext;
use crate::kms::json_protocol::{self, KeyServiceAccess, KeyServiceCall};
use crate::kms::key_manager::{GeneratedKey, KeyFuture, KeyIdentity, KeyManager, KeyServiceKind};
use crate::kms::key_name::{KeyArn, KeyName};

/// The time that a call may take, whatever it waits for.
const WAIT: Duration = Duration::from_secs(5);
/// The most bytes of an answer.
const ANSWER_BYTES_MAX: usize = 64 * 1024;

/// The way to a key service on the network.
#[derive(Debug, Clone)]
pub enum KeyServiceTransport {
    /// Plain HTTP.
    Plain,
    /// HTTP over TLS.
    #[cfg(feature = "tls")]
    Tls(TlsClient),
}

/// A key service on the network, as it is reached.
#[derive(Debug, Clone)]
pub struct RemoteKeyService {
    /// Its host, and who asks it.
    pub access: KeyServiceAccess,
    /// The way to it.
    pub transport: KeyServiceTransport,
    /// Counts the calls.
    pub calls: CallMetrics,
}

impl KeyServiceTransport {
    /// The port of a host that names none.
    const fn port(&self) -> u16 {
        match self {
            Self::Plain => 80,
            #[cfg(feature = "tls")]
            Self::Tls(_) => 443,
        }
    }
}

/// A key service on the network.
pub(super) struct KeyService {
    pub(super) remote: RemoteKeyService,
    pub(super) clock: Arc<dyn Clock>,
}

impl KeyService {
    async fn call(&self, call: KeyServiceCall) -> Result<Value, Error> {
        let failed = |reason| Error::KeyServiceFailed { reason };
        let begun = Instant::now();
        let answered = tokio::time::timeout(WAIT, self.exchange(&call)).await;
        let read = match answered {
            Err(_) => Err(("timeout", failed("it does not answer in time"))),
            Ok(Err(error)) => {
                tracing::error!(%error, host = self.remote.access.host, "the key service cannot be used");
                Err(("unreachable", failed("it cannot be reached")))
            }
            Ok(Ok((status, body))) => json_protocol::read(status, &body).map_err(|error| {
                let is_fault = matches!(error, Error::KeyServiceFailed { .. });
                (if is_fault { "failed" } else { "refused" }, error)
            }),
        };
        let outcome = read.as_ref().map_or_else(|(outcome, _)| *outcome, |_| "ok");
        self.remote.calls.count(call.operation(), outcome, begun.elapsed());
        read.map_err(|(_, error)| error)
    }

    async fn exchange(&self, call: &KeyServiceCall) -> Result<(u16, Bytes), BoxError> {
        let RemoteKeyService { access, transport, .. } = &self.remote;
        let (headers, body) = call.signed(access, self.clock.now());
        let (name, port) = access.name_and_port(transport.port());
        let stream = TcpStream::connect((name, port)).await?;
        let mut request = Request::post("/");
        for (name, value) in headers {
            request = request.header(name, value);
        }
        let request = request.body(Full::new(Bytes::from(body)))?;
        match transport {
            KeyServiceTransport::Plain => ask(stream, request).await,
            #[cfg(feature = "tls")]
            KeyServiceTransport::Tls(client) => {
                ask(client.connect(name, stream).await?, request).await
            }
        }
    }
}

/// Status and body of the answer to a request on a connection of its own.
async fn ask<S>(stream: S, request: Request<Full<Bytes>>) -> Result<(u16, Bytes), BoxError>
where
    S: AsyncRead + AsyncWrite + Send + Unpin + 'static,
{
    let (mut sender, connection) =
        hyper::client::conn::http1::handshake(TokioIo::new(stream)).await?;
    let driving = tokio::spawn(connection);
    let read = match sender.send_request(request).await {
        Ok(answer) => {
            let status = answer.status().as_u16();
            let body = Limited::new(answer.into_body(), ANSWER_BYTES_MAX).collect().await;
            body.map(|body| (status, body.to_bytes()))
        }
        Err(error) => Err(error.into()),
    };
    driving.abort();
    read
}

impl KeyManager for KeyService {
    fn describe<'a>(&'a self, name: &'a KeyName, _account: &'a str) -> KeyFuture<'a, KeyIdentity> {
        Box::pin(async move {
            let answer = self.call(KeyServiceCall::describe(name)).await?;
            json_protocol::described(&answer, name)
        })
    }

    fn generate_data_key<'a>(
        &'a self,
        name: &'a KeyName,
        context: &'a EncryptionContext,
        _account: &'a str,
    ) -> KeyFuture<'a, GeneratedKey> {
        Box::pin(async move {
            let name = match name {
                // The key behind this alias is made when it is first asked about.
                KeyName::Managed(_) => KeyName::Arn(self.describe(name, "").await?.arn),
                other => other.clone(),
            };
            let answer = self.call(KeyServiceCall::generate(&name, context)).await?;
            json_protocol::generated(&answer, &name)
        })
    }

    fn decrypt<'a>(
        &'a self,
        key: &'a KeyArn,
        sealed: &'a [u8],
        context: &'a EncryptionContext,
        _account: &'a str,
    ) -> KeyFuture<'a, SecretKey> {
        Box::pin(async move {
            let call = KeyServiceCall::decrypt(key, sealed, context);
            json_protocol::decrypted(&self.call(call).await?, key)
        })
    }

    fn kind(&self) -> KeyServiceKind {
        KeyServiceKind::Remote
    }
}
