//! Control paths of this service's own: `/_ops/keys`, the administration of the embedded key service.

use bytes::Bytes;
use http::header::{CONTENT_TYPE, HeaderValue};
use http::{Request, Response};
use http_body_util::{BodyExt as _, Limited};
use serde_json::json;
use triptych_core::host::{BoxError, ControlAnswer, Refusal, ReplyBody};
use triptych_core::kv::{Tx, run};

use crate::kms::administration::{KeyCommand, KeyCommandError};
use crate::server::state::{ATTEMPTS_MAX, ObjectPut};

/// The most bytes of a command.
const COMMAND_BYTES_MAX: usize = 64 * 1024;
/// The path of the keys.
const KEYS: &str = "/_ops/keys";

impl ObjectPut {
    /// Answers a control path of this service; gives the request back if it has none.
    pub(super) async fn answer_control<B>(
        &self,
        request: Request<B>,
    ) -> Result<ControlAnswer, Request<B>>
    where
        B: http_body::Body<Data = Bytes> + Send,
        B::Error: Into<BoxError>,
    {
        let outcome = match (request.method().as_str(), request.uri().path()) {
            ("GET", KEYS) => self.list_keys(),
            ("POST", KEYS) => {
                match Limited::new(request.into_body(), COMMAND_BYTES_MAX).collect().await {
                    Ok(body) => self.administer_keys(&body.to_bytes()).await,
                    Err(error) => Err(KeyCommandError::Refused(error.to_string())),
                }
            }
            _ => return Err(request),
        };
        Ok(match outcome {
            Ok(json) => {
                let mut response = Response::new(ReplyBody::whole(json.to_string()));
                let kind = HeaderValue::from_static("application/json");
                response.headers_mut().insert(CONTENT_TYPE, kind);
                Ok(response)
            }
            Err(KeyCommandError::Refused(reason)) => Err(Refusal::BadControlRequest(reason)),
            Err(error @ KeyCommandError::Store(_)) => {
                Err(Refusal::ControlFailed(error.to_string()))
            }
        })
    }

    fn list_keys(&self) -> Result<serde_json::Value, KeyCommandError> {
        let keys = self.0.embedded_keys.now().list(&mut Tx::new(&*self.0.store))?;
        Ok(json!({ "keys": keys, "calls": self.0.bodies.keys.calls() }))
    }

    async fn administer_keys(&self, body: &[u8]) -> Result<serde_json::Value, KeyCommandError> {
        let command: KeyCommand = serde_json::from_slice(body)
            .map_err(|error| KeyCommandError::Refused(error.to_string()))?;
        run(&*self.0.store, &mut self.ids(), ATTEMPTS_MAX, |tx, ids| {
            self.0.embedded_keys.now().administer(tx, ids, &command)
        })
        .await
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use http_body_util::Full;
    use triptych_core::blobs::MemoryBlobs;
    use triptych_core::id::SeededIds;
    use triptych_core::kv::Memory;

    use super::*;

    #[tokio::test]
    async fn a_command_that_cannot_be_done_is_refused_as_on_any_control_path() {
        let blobs = MemoryBlobs::new(SeededIds::from_number(1));
        let service = ObjectPut::builder(Arc::new(Memory::new()), Arc::new(blobs)).build();
        for body in ["{", r#"{"action": "melt"}"#, r#"{"action": "enable", "key": "none"}"#] {
            let request = Request::post(KEYS).body(Full::new(Bytes::from(body))).unwrap();
            let answer = service.answer_control(request).await.unwrap();
            assert!(matches!(answer, Err(Refusal::BadControlRequest(_))), "{body}: {answer:?}");
        }
    }
}
