//! The replay contract over HTTP.

use std::sync::PoisonError;

use bytes::Bytes;
use http::request::Parts as Head;
use http::{Method, Response};
use serde::Deserialize;
use triptych_core::host::ReplyBody;

use super::TabsApi;
use super::control::json_of;
use super::refusal::{Refusal, json_reply};
use super::request::parameter;
use crate::replay::ReplayCall;

impl TabsApi {
    /// The replay contract. Its scenarios have a browser of their own, which nobody else sees.
    pub(super) fn replay(
        &self,
        head: &Head,
        path: &str,
        body: &Bytes,
    ) -> Result<Response<ReplyBody>, Refusal> {
        #[derive(Deserialize, Default)]
        struct Reset {
            #[serde(default)]
            manifest_variant: String,
            #[serde(default)]
            listeners: Vec<String>,
        }
        let replay = self.0.replay.as_ref().ok_or(Refusal::NoSuchPath)?;
        let mut replay = replay.lock().unwrap_or_else(PoisonError::into_inner);
        let now = self.0.clock.now();
        let reply = match (&head.method, path) {
            (&Method::POST, "reset") => {
                let reset: Reset = json_of(body)?;
                let ids = replay.reset(now, &reset.manifest_variant);
                for listener in &reset.listeners {
                    replay.listen(now, listener);
                }
                ids
            }
            (&Method::POST, "call") => replay.call(now, json_of::<ReplayCall>(body)?),
            (&Method::GET, "events") => {
                let after = parameter(head, "after").and_then(|text| text.parse().ok());
                let after = after.unwrap_or(0);
                match (parameter(head, "listener"), parameter(head, "settle")) {
                    (Some(listener), _) => replay.heard(now, &listener, after),
                    (None, settle) => {
                        replay.events(now, after, settle.as_deref().unwrap_or("full"))
                    }
                }
            }
            (_, "reset" | "call") => return Err(Refusal::MethodNotAllowed("POST")),
            (_, "events") => return Err(Refusal::MethodNotAllowed("GET")),
            _ => return Err(Refusal::NoSuchPath),
        };
        Ok(json_reply(200, &reply))
    }
}
