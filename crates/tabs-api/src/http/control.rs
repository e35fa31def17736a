//! The control side: profiles, extensions, and what a user or a page would do. Extensions cannot reach it.

use bytes::Bytes;
use http::request::Parts as Head;
use http::{Method, Response};
use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};
use triptych_core::host::ReplyBody;

use super::access::{self, hash};
use super::keeper::rows_under;
use super::profile::Profile;
use super::refusal::{Refusal, json_reply};
use super::{Entry, FIRST_PROFILE, TabsApi};
use crate::browser::Browser;
use crate::control::Control;
use crate::lab::LabCall;
use crate::permission::Access;
use crate::seed::{Install, Seed};

/// A profile to create. Beside its name it is a seed.
#[derive(Deserialize)]
struct NewProfile {
    name: Option<String>,
    #[serde(flatten)]
    seed: Value,
}

impl TabsApi {
    pub(super) async fn control(
        &self,
        head: &Head,
        path: &str,
        body: &Bytes,
    ) -> Result<Response<ReplyBody>, Refusal> {
        let given = access::token(head, false).ok_or(Refusal::ControlTokenRequired)?;
        let wanted = self.0.control_token.as_deref();
        if !wanted.is_some_and(|wanted| access::same(wanted, &given)) {
            return Err(Refusal::ControlTokenRequired);
        }
        let profile = access::parameter(head, "profile").unwrap_or_else(|| FIRST_PROFILE.into());
        let parts: Vec<_> = path.split('/').skip(1).collect();
        match (&head.method, parts.as_slice()) {
            (&Method::POST, []) => {
                let control: Control = json_of(body)?;
                let entry = self.entry(&profile)?;
                let act = entry
                    .profile
                    .change(|browser, now| browser.control(now, control));
                match act.await? {
                    Ok(result) => Ok(json_reply(200, &json!({ "result": result }))),
                    Err(error) => Ok(super::call_refused(&error, None)),
                }
            }
            (&Method::GET, ["profiles"]) => {
                let names: Vec<_> = self.profiles().keys().cloned().collect();
                Ok(json_reply(200, &json!({ "profiles": names })))
            }
            (&Method::POST, ["profiles"]) => self.new_profile(body),
            (&Method::DELETE, ["profiles", name]) => self.remove_profile(name),
            (&Method::POST, ["profiles", name, "reset"]) => {
                self.reset_profile(name)?;
                Ok(json_reply(200, &json!({ "name": name })))
            }
            (&Method::GET, ["windows"]) => {
                let entry = self.entry(&profile)?;
                let windows = entry
                    .profile
                    .change(|browser, _| browser.all_windows(&Access::Full))
                    .await?;
                Ok(json_reply(200, &json!({ "windows": windows })))
            }
            (&Method::POST, ["extensions"]) => self.install(&profile, json_of(body)?),
            (&Method::DELETE, ["extensions", id]) => self.uninstall(&profile, id),
            (_, [] | ["profiles" | "extensions" | "windows", ..]) => Err(Refusal::MethodNotAllowed),
            _ => Err(Refusal::NoSuchPath),
        }
    }

    fn new_profile(&self, body: &Bytes) -> Result<Response<ReplyBody>, Refusal> {
        let asked: NewProfile = json_of(body)?;
        let seed: Seed =
            serde_json::from_value(asked.seed).map_err(crate::seed::SeedError::from)?;
        let name = asked.name.unwrap_or_else(|| {
            let mut token = self.draw_token();
            token.truncate(16);
            token
        });
        let entry = self.create_profile(&name, seed)?;
        let extensions: Result<Vec<_>, Refusal> = entry.seed.extensions.iter().map(shown).collect();
        Ok(json_reply(
            201,
            &json!({ "name": name, "extensions": extensions? }),
        ))
    }

    /// Creates a profile. Extensions without a token get one.
    pub(super) fn create_profile(&self, name: &str, mut seed: Seed) -> Result<Entry, Refusal> {
        for install in &mut seed.extensions {
            install.token.get_or_insert_with(|| self.draw_token());
        }
        // Profiles that the control side makes are for one test each; only the first one is kept.
        let prefix = [name.as_bytes(), b"/"].concat();
        let store = self.0.store.clone().filter(|_| name == FIRST_PROFILE);
        let rows = match &store {
            Some(store) => rows_under(&**store, &prefix)?,
            None => Vec::new(),
        };
        let (now, compat) = (self.0.clock.now(), self.0.compat);
        let session = match Browser::restore(now, compat, &rows) {
            Some(browser) => seed.resume(browser)?,
            None => seed.session(now, compat)?,
        };
        let kept = store.map(|store| (store, prefix));
        let entry = Entry {
            profile: Profile::new(session, self.0.clock.clone(), kept),
            seed,
        };
        let mut profiles = self.profiles_mut();
        if profiles.contains_key(name) {
            return Err(Refusal::ProfileExists);
        }
        let mut tokens = self.tokens_mut();
        let mut new = Vec::new();
        for install in &entry.seed.extensions {
            let token = hash(install.token.as_deref().unwrap_or_default());
            if tokens.contains_key(&token) {
                return Err(Refusal::TokenTaken);
            }
            new.push((token, (name.to_owned(), install.id()?)));
        }
        tokens.extend(new);
        profiles.insert(name.to_owned(), entry.clone());
        Ok(entry)
    }

    fn remove_profile(&self, name: &str) -> Result<Response<ReplyBody>, Refusal> {
        self.profiles_mut()
            .remove(name)
            .ok_or(Refusal::NoSuchProfile)?;
        self.tokens_mut().retain(|_, (profile, _)| profile != name);
        Ok(json_reply(200, &json!({ "name": name })))
    }

    /// Puts a profile back to its beginning; tokens and listeners stay.
    pub(super) fn reset_profile(&self, name: &str) -> Result<(), Refusal> {
        let entry = self.entry(name)?;
        let session = entry.seed.session(self.0.clock.now(), self.0.compat)?;
        entry.profile.replace(session);
        Ok(())
    }

    fn install(&self, name: &str, mut install: Install) -> Result<Response<ReplyBody>, Refusal> {
        let token = install
            .token
            .get_or_insert_with(|| self.draw_token())
            .clone();
        let (extension, id) = (install.extension(0)?, install.id()?);
        let reply = shown(&install)?;
        let mut profiles = self.profiles_mut();
        let entry = profiles.get_mut(name).ok_or(Refusal::NoSuchProfile)?;
        let mut tokens = self.tokens_mut();
        let owner = (name.to_owned(), id.clone());
        if tokens
            .get(&hash(&token))
            .is_some_and(|known| *known != owner)
        {
            return Err(Refusal::TokenTaken);
        }
        tokens.insert(hash(&token), owner);
        entry
            .seed
            .extensions
            .retain(|known| !known.id().is_ok_and(|known| known == id));
        entry.seed.extensions.push(install);
        entry.profile.alter(|browser| browser.install(extension));
        Ok(json_reply(201, &reply))
    }

    fn uninstall(&self, name: &str, id: &str) -> Result<Response<ReplyBody>, Refusal> {
        let mut profiles = self.profiles_mut();
        let entry = profiles.get_mut(name).ok_or(Refusal::NoSuchProfile)?;
        let before = entry.seed.extensions.len();
        entry
            .seed
            .extensions
            .retain(|known| !known.id().is_ok_and(|known| known == id));
        if entry.seed.extensions.len() == before {
            return Err(Refusal::NoSuchExtension);
        }
        self.tokens_mut()
            .retain(|_, (profile, extension)| profile != name || extension != id);
        entry.profile.alter(|browser| browser.uninstall(id));
        Ok(json_reply(200, &json!({ "id": id })))
    }

    /// The replay contract. Its scenarios have a browser of their own, which nobody else sees.
    pub(super) fn lab(
        &self,
        head: &Head,
        path: &str,
        body: &Bytes,
    ) -> Result<Response<ReplyBody>, Refusal> {
        #[derive(Deserialize, Default)]
        struct Reset {
            #[serde(default)]
            manifest_variant: String,
        }
        let lab = self.0.lab.as_ref().ok_or(Refusal::NoSuchPath)?;
        let mut lab = lab
            .lock()
            .unwrap_or_else(std::sync::PoisonError::into_inner);
        let now = self.0.clock.now();
        let reply = match (&head.method, path) {
            (&Method::POST, "reset") => lab.reset(now, &json_of::<Reset>(body)?.manifest_variant),
            (&Method::POST, "call") => lab.call(now, json_of::<LabCall>(body)?),
            (&Method::GET, "events") => {
                let after = access::parameter(head, "after").and_then(|text| text.parse().ok());
                let settle = access::parameter(head, "settle");
                lab.events(now, after.unwrap_or(0), settle.as_deref().unwrap_or("full"))
            }
            (_, "reset" | "call" | "events") => return Err(Refusal::MethodNotAllowed),
            _ => return Err(Refusal::NoSuchPath),
        };
        Ok(json_reply(200, &reply))
    }
}

fn shown(install: &Install) -> Result<Value, Refusal> {
    Ok(json!({ "id": install.id()?, "token": install.token }))
}

fn json_of<T: DeserializeOwned>(body: &Bytes) -> Result<T, Refusal> {
    serde_json::from_slice(body).map_err(|error| Refusal::BadBody(error.to_string()))
}
