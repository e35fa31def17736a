//! The seed file: extensions with their tokens, pages of the simulated web, and the windows to begin with.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use sha2::{Digest, Sha256};
use triptych_core::time::Timestamp;

use crate::browser::{Browser, Compat};
use crate::engine::Engine;
use crate::engine::fixtures::Pages;
use crate::engine::simulated::SimEngine;
use crate::extension::manifest::Manifest;
use crate::extension::permission::Extension;
use crate::extension::warning::warnings;
use crate::js_value::JsValue;
use crate::operation::{Caller, Command, Context, Style};
use crate::session::Session;
use crate::version::BrowserVersion;

/// An extension to install: who it is, and the token that speaks for it.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Install {
    /// Its bearer token; one is drawn where none is given.
    #[serde(default)]
    pub token: Option<String>,
    /// Its id: 32 letters from a to p. Without one it comes from the manifest's `key`, else from its name.
    #[serde(default)]
    pub id: Option<String>,
    /// Its manifest, as the extension's own file has it.
    pub manifest: Value,
    /// True if the user let it read `file:` pages.
    #[serde(default)]
    pub allow_file_access: bool,
    /// True if the user lets it into incognito windows.
    #[serde(default)]
    pub allow_incognito: bool,
    /// Paths of the files that it has; without the list any file that a call names is taken to be there.
    #[serde(default)]
    pub files: Option<BTreeSet<String>>,
}

/// One tab of a window to begin with.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct SeedTab {
    /// Its page.
    pub url: String,
    /// True if it is pinned.
    #[serde(default)]
    pub pinned: bool,
    /// True if it is the active one; else the first is.
    #[serde(default)]
    pub active: bool,
}

/// One window to begin with.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct SeedWindow {
    /// `normal` or `popup`.
    #[serde(default, rename = "type")]
    pub kind: Option<String>,
    /// Its tabs; without any it has one blank tab.
    #[serde(default)]
    pub tabs: Vec<SeedTab>,
}

/// A seed file. Unknown fields are refused.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Seed {
    /// The extensions that may call.
    #[serde(default)]
    pub extensions: Vec<Install>,
    /// Pages by URL, as a fixtures file describes them.
    #[serde(default)]
    pub pages: BTreeMap<String, Value>,
    /// Pages by path, on every host that ends in `.test`.
    #[serde(default)]
    pub paths: BTreeMap<String, Value>,
    /// The windows to begin with; without any there is one of one blank tab.
    #[serde(default)]
    pub windows: Vec<SeedWindow>,
    /// The version of which the browser is; without one it is the newest.
    #[serde(default)]
    pub browser_version: Option<BrowserVersion>,
}

/// The reason for which a seed, or what else a service is built from, cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum SeedError {
    /// It is not JSON of the right shape.
    #[error("the seed file cannot be read: {0}")]
    Json(#[from] serde_json::Error),
    /// A page cannot be read.
    #[error("the seed file's pages cannot be read: {0}")]
    Pages(String),
    /// A manifest cannot be read.
    #[error("the manifest of extension {index} cannot be read: {reason}")]
    Manifest {
        /// Its index in the list, from 0.
        index: usize,
        /// The fault.
        reason: String,
    },
    /// An id that no extension can have.
    #[error("{0} is no extension id: it has 32 letters from a to p")]
    Id(String),
    /// A token that no header can carry.
    #[error("a token has one or more letters, digits or signs of ASCII, and no space at its ends")]
    Token,
    /// A token of the control side that no header can carry.
    #[error(
        "the control token cannot be sent: it has one or more letters, digits or signs of ASCII, and no space at its ends"
    )]
    ControlToken,
    /// A text that no browser sends as the origin of a page.
    #[error(
        "{0:?} is no origin of web pages: that is a scheme and a host, and a port unless it is the scheme's own, with nothing behind them, as in https://app.example or http://localhost:3000"
    )]
    Origin(String),
    /// Two extensions of one id.
    #[error("two extensions have the id {0}: the same id or key is given twice")]
    DuplicateId(String),
    /// A window or tab cannot be opened.
    #[error("the seed file's windows cannot be opened: {0}")]
    Window(#[from] crate::error::Error),
}

impl Seed {
    /// Reads a seed file.
    ///
    /// # Errors
    /// [`SeedError`]: the JSON, the pages, then manifest, token and id of each extension, and ids given twice.
    pub fn parse(text: &str) -> Result<Self, SeedError> {
        let mut seed: Self = serde_json::from_str(text)?;
        seed.simulated_pages()?;
        for index in 0..seed.extensions.len() {
            seed.extension(index)?;
        }
        seed.assign_ids()?;
        Ok(seed)
    }

    /// Gives each extension its id, so that two of one name are told apart.
    ///
    /// # Errors
    /// `Id`, `DuplicateId`.
    pub fn assign_ids(&mut self) -> Result<(), SeedError> {
        let mut taken = BTreeSet::new();
        // Ids that are said come before those that are made up.
        for install in self.extensions.iter().filter(|install| install.names_its_id()) {
            let id = install.id()?;
            if !taken.insert(id.clone()) {
                return Err(SeedError::DuplicateId(id));
            }
        }
        for install in &mut self.extensions {
            if install.names_its_id() {
                install.id = Some(install.id()?);
            } else {
                let id = install.assigned_id(|id| taken.contains(id))?;
                taken.insert(id.clone());
                install.id = Some(id);
            }
        }
        Ok(())
    }

    /// The simulated web.
    ///
    /// # Errors
    /// `Pages`.
    pub fn simulated_pages(&self) -> Result<Pages, SeedError> {
        Pages::described(self.paths.iter(), self.pages.iter()).map_err(SeedError::Pages)
    }

    /// The extension at an index of the list.
    ///
    /// # Errors
    /// `Manifest`, `Token`, `Id`.
    pub fn extension(&self, index: usize) -> Result<Extension, SeedError> {
        match self.extensions.get(index) {
            Some(install) => install.extension(index),
            None => Err(SeedError::Manifest { index, reason: "there is none".into() }),
        }
    }

    /// A session of this seed: extensions installed, windows open, no event left.
    ///
    /// # Errors
    /// [`SeedError`].
    pub fn session(&self, now: Timestamp, compat: Compat) -> Result<Session, SeedError> {
        self.session_on(Box::new(self.engine(compat)?), now, compat)
    }

    /// The engine of the seed's pages. Where the specification counts, a page's text tells its language.
    ///
    /// # Errors
    /// `Pages`.
    pub fn engine(&self, compat: Compat) -> Result<SimEngine, SeedError> {
        let detects = compat == Compat::Spec;
        Ok(SimEngine::new(self.simulated_pages()?).detecting_languages(detects))
    }

    /// As [`Seed::session`], on an engine of one's own.
    ///
    /// # Errors
    /// [`SeedError`].
    pub fn session_on(
        &self,
        engine: Box<dyn Engine>,
        now: Timestamp,
        compat: Compat,
    ) -> Result<Session, SeedError> {
        let mut browser = Browser::with_blank_window(now, compat);
        for index in 0..self.extensions.len() {
            browser.start_with(self.extension(index)?);
        }
        let mut session = Session::new(browser, engine);
        self.open_windows(&mut session, now)?;
        session.change(now, |browser| browser.set_version(self.version()));
        Ok(session)
    }

    /// A session that goes on with a browser that was kept, and with the seed's extensions.
    ///
    /// # Errors
    /// [`SeedError`].
    pub fn resume(
        &self,
        engine: Box<dyn Engine>,
        mut browser: Browser,
    ) -> Result<Session, SeedError> {
        for index in 0..self.extensions.len() {
            browser.start_with(self.extension(index)?);
        }
        browser.set_version(self.version());
        Ok(Session::new(browser, engine))
    }

    /// The version of which the browser is.
    #[must_use]
    pub fn version(&self) -> BrowserVersion {
        self.browser_version.unwrap_or_default()
    }

    fn open_windows(&self, session: &mut Session, now: Timestamp) -> Result<(), SeedError> {
        if self.windows.is_empty() {
            return Ok(());
        }
        let opener = Extension::new(OPENER.into(), &Manifest::default(), true);
        session.change(now, |browser| browser.install(opener));
        let blank = call(session, now, "windows.getCurrent", json!([]))?;
        for window in &self.windows {
            open_window(session, now, window)?;
        }
        call(session, now, "windows.remove", json!([member(&blank, "id")]))?;
        session.change(now, |browser| browser.uninstall(OPENER));
        // Pages of the beginning are there, and their events are nobody's.
        session.advance(now.plus(Duration::from_secs(60)));
        while session.poll().is_some() {}
        Ok(())
    }
}

/// Opens the windows of a seed file, and is gone before anybody looks.
const OPENER: &str = "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa";

fn open_window(
    session: &mut Session,
    now: Timestamp,
    window: &SeedWindow,
) -> Result<(), SeedError> {
    let urls: Vec<_> = window.tabs.iter().map(|tab| tab.url.as_str()).collect();
    let mut properties = serde_json::Map::new();
    if let Some(kind) = &window.kind {
        properties.insert("type".into(), kind.as_str().into());
    }
    if !urls.is_empty() {
        properties.insert("url".into(), json!(urls));
    }
    let made = call(session, now, "windows.create", json!([properties]))?;
    let opened = made.get("tabs").and_then(Value::as_array);
    for (id, tab) in opened.into_iter().flatten().zip(&window.tabs) {
        let id = member(id, "id");
        // Nothing can be made inactive, so that is only said where it is true.
        let changes = match (tab.pinned, tab.active) {
            (pinned, true) => json!({ "pinned": pinned, "active": true }),
            (pinned, false) => json!({ "pinned": pinned }),
        };
        if tab.pinned || tab.active {
            call(session, now, "tabs.update", json!([id, changes]))?;
        }
    }
    Ok(())
}

fn member(value: &Value, name: &str) -> Value {
    value.get(name).cloned().unwrap_or_default()
}

fn call(
    session: &mut Session,
    now: Timestamp,
    name: &str,
    arguments: Value,
) -> Result<Value, SeedError> {
    let arguments: Vec<JsValue> = serde_json::from_value(arguments)?;
    let caller = Caller { extension: OPENER.into(), context: Context::Worker };
    let command = Command::read(name, &arguments, Style::Promise)?;
    Ok(serde_json::to_value(session.apply(now, &caller, &command)?)?)
}

/// True for a token that a header can carry. A client that sends none, or an empty one, would speak for whoever had another.
pub(crate) fn is_sendable(token: &str) -> bool {
    let are_signs = token.bytes().all(|sign| sign.is_ascii_graphic() || sign == b' ');
    !token.is_empty() && are_signs && token.trim() == token
}

impl Install {
    /// The extension itself. `index` is for the error alone.
    ///
    /// # Errors
    /// `Manifest`, `Token`, `Id`.
    pub fn extension(&self, index: usize) -> Result<Extension, SeedError> {
        let manifest = Manifest::read(&self.manifest)
            .map_err(|reason| SeedError::Manifest { index, reason })?;
        if !self.token.as_deref().is_none_or(is_sendable) {
            return Err(SeedError::Token);
        }
        let extension = Extension::new(self.id()?, &manifest, self.allow_file_access);
        Ok(extension.let_incognito(self.allow_incognito).with_files(self.files.clone()))
    }

    /// The warnings that the browser shows as it is installed. `index` is for the error alone.
    ///
    /// # Errors
    /// `Manifest`.
    pub fn warnings(&self, index: usize) -> Result<Vec<String>, SeedError> {
        let manifest = Manifest::read(&self.manifest)
            .map_err(|reason| SeedError::Manifest { index, reason })?;
        Ok(warnings(&manifest))
    }

    /// The id: the one given, else that of the manifest's `key`, else one made from its name.
    ///
    /// # Errors
    /// `Id`.
    pub fn id(&self) -> Result<String, SeedError> {
        if let Some(id) = &self.id {
            let is_one = id.len() == 32 && id.bytes().all(|byte| (b'a'..=b'p').contains(&byte));
            return if is_one { Ok(id.clone()) } else { Err(SeedError::Id(id.clone())) };
        }
        let name = self.manifest.get("name").and_then(Value::as_str);
        let source = self.key().unwrap_or_else(|| name.unwrap_or_default().into());
        Ok(id_of(&source))
    }
}

impl Install {
    /// True if it says its id itself, or by a key.
    fn names_its_id(&self) -> bool {
        self.id.is_some() || self.key().is_some()
    }

    fn key(&self) -> Option<Vec<u8>> {
        let key = self.manifest.get("key").and_then(Value::as_str)?;
        STANDARD.decode(key.trim()).ok()
    }

    /// The id where others are taken: the one that it says, else the first that can be made from its name.
    ///
    /// # Errors
    /// `Id`.
    pub fn assigned_id(&self, is_taken: impl Fn(&str) -> bool) -> Result<String, SeedError> {
        let first = self.id()?;
        if self.names_its_id() || !is_taken(&first) {
            return Ok(first);
        }
        let name = self.manifest.get("name").and_then(Value::as_str);
        let further =
            |number: u64| id_of(format!("{}\0{number}", name.unwrap_or_default()).as_bytes());
        Ok((2..).map(further).find(|id| !is_taken(id)).unwrap_or(first))
    }
}

/// The id of a public key: the first half of its SHA-256, each half byte as a letter from a to p.
fn id_of(key: &[u8]) -> String {
    let digest = Sha256::digest(key);
    let halves = digest.iter().take(16).flat_map(|byte| [byte >> 4, byte & 15]);
    halves.map(|half| char::from(b'a' + half)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn unknown_fields_and_bad_ids_are_refused() {
        assert!(matches!(Seed::parse(r#"{"extension": []}"#), Err(SeedError::Json(_))));
        let bad = r#"{"extensions": [{"id": "XYZ", "manifest": {"name": "x"}}]}"#;
        assert!(matches!(Seed::parse(bad), Err(SeedError::Id(_))));
    }

    #[test]
    fn a_token_that_no_header_carries_is_refused() {
        for token in ["", " ", "word ", "tök", "two\nlines"] {
            let seed = json!({ "extensions": [{ "token": token, "manifest": { "name": "x" } }] });
            assert!(matches!(Seed::parse(&seed.to_string()), Err(SeedError::Token)), "{token:?}");
        }
    }

    #[test]
    fn windows_of_a_seed_are_open_and_the_blank_one_is_gone() {
        let seed = Seed::parse(
            r#"{"windows": [{"tabs": [{"url": "https://a.test/", "pinned": true}, {"url": "https://b.test/", "active": true}]}]}"#,
        )
        .unwrap();
        let mut session = seed.session(Timestamp::from_seconds(1), Compat::Spec).unwrap();
        assert!(session.poll().is_none());
        let windows = session.browser().all_windows(&crate::extension::permission::Access::Full);
        assert_eq!(windows.len(), 1);
        let tabs = serde_json::json!(windows[0].tabs);
        assert_eq!(tabs[0]["pinned"], true);
        assert_eq!(tabs[1]["active"], true);
        assert_eq!(tabs[1]["url"], "https://b.test/");
        assert_eq!(tabs[1]["status"], "complete");
    }

    #[test]
    fn an_id_comes_from_the_key() {
        let install: Install =
            serde_json::from_value(json!({ "manifest": { "key": "a2V5", "name": "x" } })).unwrap();
        let id = install.id().unwrap();
        assert_eq!(id, id_of(b"key"));
        assert_eq!(id.len(), 32);
    }
}
