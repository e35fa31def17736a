//! The control side: profiles, extensions, and what a user or a page would do. Extensions cannot reach it.

use bytes::Bytes;
use http::request::Parts as Head;
use http::{Method, Response};
use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};
use triptych_core::host::ReplyBody;

use super::refusal::{Refusal, json_reply};
use super::request::parameter;
use super::token;
use super::{FIRST_PROFILE, TabsApi};
use crate::browser::user_action::UserAction;
use crate::extension::permission::Access;
use crate::seed::Seed;

/// A profile to create. Beside its name it is a seed.
#[derive(Deserialize)]
struct NewProfile {
    name: Option<String>,
    /// True if it survives a restart, where the service keeps anything.
    #[serde(default = "yes")]
    keep: bool,
    #[serde(flatten)]
    seed: Value,
}

const fn yes() -> bool {
    true
}

impl TabsApi {
    pub(super) async fn control(
        &self,
        head: &Head,
        path: &str,
        body: &Bytes,
    ) -> Result<Response<ReplyBody>, Refusal> {
        let given = token::token(head, false).ok_or(Refusal::ControlTokenRequired)?;
        let wanted = self.0.control_token.as_deref();
        if !wanted.is_some_and(|wanted| token::same(wanted, &given)) {
            return Err(Refusal::ControlTokenRequired);
        }
        let profile = parameter(head, "profile").unwrap_or_else(|| FIRST_PROFILE.into());
        let parts: Vec<_> = path.split('/').skip(1).collect();
        match parts.as_slice() {
            ["profiles"] => {}
            ["profiles", name, ..] => self.admit(name).await?,
            _ => self.admit(&profile).await?,
        }
        match (&head.method, parts.as_slice()) {
            (&Method::POST, []) => {
                let action: UserAction = json_of(body)?;
                let entry = self.entry(&profile)?;
                let act = entry.profile.change(|browser, now| browser.user_action(now, action));
                match act.await? {
                    Ok(result) => Ok(json_reply(200, &json!({ "result": result }))),
                    Err(error) => Ok(super::router::call_refused(&error, None)),
                }
            }
            (&Method::GET, ["profiles"]) => {
                let profiles = self.profiles();
                let made = profiles.iter().filter(|(_, entry)| entry.is_made);
                let names: Vec<_> = made.map(|(name, _)| name).collect();
                Ok(json_reply(200, &json!({ "profiles": names })))
            }
            (&Method::POST, ["profiles"]) => self.new_profile(body).await,
            (&Method::DELETE, ["profiles", name]) => {
                self.remove_profile(name).await?;
                Ok(json_reply(200, &json!({ "name": name })))
            }
            (&Method::POST, ["profiles", name, "reset"]) => {
                self.reset_profile(name).await?;
                Ok(json_reply(200, &json!({ "name": name })))
            }
            (&Method::GET, ["windows"]) => {
                let entry = self.entry(&profile)?;
                let windows =
                    entry.profile.change(|browser, _| browser.all_windows(&Access::Full)).await?;
                Ok(json_reply(200, &json!({ "windows": windows })))
            }
            (&Method::GET, ["extensions"]) => {
                let ids: Vec<_> = self.entry(&profile)?.tokens.into_keys().collect();
                Ok(json_reply(200, &json!({ "extensions": ids })))
            }
            (&Method::POST, ["extensions"]) => {
                let installed = self.install(&profile, json_of(body)?).await?;
                Ok(json_reply(201, &installed))
            }
            (&Method::DELETE, ["extensions", id]) => {
                self.uninstall(&profile, id).await?;
                Ok(json_reply(200, &json!({ "id": id })))
            }
            (_, parts) => {
                Err(methods(parts).map_or(Refusal::NoSuchPath, Refusal::MethodNotAllowed))
            }
        }
    }

    async fn new_profile(&self, body: &Bytes) -> Result<Response<ReplyBody>, Refusal> {
        let asked: NewProfile = json_of(body)?;
        let seed: Seed =
            serde_json::from_value(asked.seed).map_err(crate::seed::SeedError::from)?;
        let name = asked.name.unwrap_or_else(|| {
            let mut token = self.new_token();
            token.truncate(16);
            token
        });
        let entry = self.create_profile(&name, seed, asked.keep).await?;
        Ok(json_reply(201, &json!({ "name": name, "extensions": entry.shown() })))
    }
}

/// The methods that a path of the control side takes, if there is one.
fn methods(parts: &[&str]) -> Option<&'static str> {
    match parts {
        [] | ["profiles", _, "reset"] => Some("POST"),
        ["profiles"] | ["extensions"] => Some("GET, POST"),
        ["profiles" | "extensions", _] => Some("DELETE"),
        ["windows"] => Some("GET"),
        _ => None,
    }
}

pub(super) fn json_of<T: DeserializeOwned>(body: &Bytes) -> Result<T, Refusal> {
    serde_json::from_slice(body).map_err(|error| Refusal::BadBody(error.to_string()))
}
