//! A key service on the network, asked over plain HTTP: one that stands on this machine, or behind a proxy that encrypts the way.

use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use http::Request;
use http_body_util::{BodyExt as _, Full, Limited};
use hyper_util::rt::TokioIo;
use serde_json::Value;
use tokio::net::TcpStream;
use triptych_core::time::Clock;

use crate::body::object_key::SecretKey;
use crate::error::Error;
use crate::kms::context::EncryptionContext;
use crate::kms::json_protocol::{self, KeyServiceAccess, KeyServiceCall};
use crate::kms::key_manager::{GeneratedKey, KeyFuture, KeyManager};
use crate::kms::key_name::{KeyArn, KeyName};

/// The time that a call may take, whatever it waits for.
const WAIT: Duration = Duration::from_secs(5);
/// The most bytes of an answer.
const ANSWER_BYTES_MAX: usize = 64 * 1024;

/// A key service on the network.
pub(super) struct KeyService {
    pub(super) access: KeyServiceAccess,
    pub(super) clock: Arc<dyn Clock>,
}

impl KeyService {
    async fn call(&self, call: KeyServiceCall) -> Result<Value, Error> {
        let failed = |reason| Error::KeyServiceFailed { reason };
        let answered = tokio::time::timeout(WAIT, self.exchange(&call)).await;
        let answered = answered.map_err(|_| failed("it does not answer in time"))?;
        let (status, body) = answered.map_err(|error| {
            tracing::error!(%error, host = self.access.host, "the key service cannot be used");
            failed("it cannot be reached")
        })?;
        json_protocol::read(status, &body)
    }

    async fn exchange(
        &self,
        call: &KeyServiceCall,
    ) -> Result<(u16, Bytes), Box<dyn std::error::Error + Send + Sync>> {
        let (headers, body) = call.signed(&self.access, self.clock.now());
        let host = &self.access.host;
        let address = match host.rsplit_once(':') {
            Some((_, port)) if port.parse::<u16>().is_ok() => host.clone(),
            _ => format!("{host}:80"),
        };
        let stream = TcpStream::connect(address).await?;
        let (mut sender, connection) =
            hyper::client::conn::http1::handshake(TokioIo::new(stream)).await?;
        let driving = tokio::spawn(connection);
        let mut request = Request::post("/");
        for (name, value) in headers {
            request = request.header(name, value);
        }
        let answer = sender.send_request(request.body(Full::new(Bytes::from(body)))?).await;
        let read = match answer {
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
}

impl KeyManager for KeyService {
    fn describe<'a>(&'a self, name: &'a KeyName, _account: &'a str) -> KeyFuture<'a, KeyArn> {
        Box::pin(async move {
            json_protocol::described(&self.call(KeyServiceCall::describe(name)).await?)
        })
    }

    fn generate_data_key<'a>(
        &'a self,
        name: &'a KeyName,
        context: &'a EncryptionContext,
        _account: &'a str,
    ) -> KeyFuture<'a, GeneratedKey> {
        Box::pin(async move {
            if let KeyName::Managed(_) = name {
                // The key behind this alias is made when it is first asked about.
                let arn = self.describe(name, "").await?;
                let call = KeyServiceCall::generate(&KeyName::Arn(arn), context);
                return json_protocol::generated(&self.call(call).await?);
            }
            json_protocol::generated(&self.call(KeyServiceCall::generate(name, context)).await?)
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

    fn is_remote(&self) -> bool {
        true
    }
}
