//! Content scripts that clients run: their hosts, and the documents that they run in.
//!
//! A host is a connection of an extension. It attaches single scripts to frames, or runs all those that the
//! extension's manifest declares: then each new document of a page that they match gets one. A script lives as long
//! as its document.

use std::collections::BTreeMap;

use sha2::{Digest, Sha256};

use crate::browser::Browser;
use crate::browser::event::Event;
use crate::browser::script_event::{ScriptEvent, ScriptLocation};
use crate::browser::tab::{Document, Tab};
use crate::error::Error;
use crate::extension::permission::Extension;
use crate::id::{HostId, ScriptId, TabId};

/// A content script that runs.
#[derive(Debug, Clone)]
struct Script {
    host: HostId,
    extension: String,
    tab: TabId,
    frame: u32,
}

/// Content scripts that run, and the hosts that run those of a whole manifest.
#[derive(Debug, Default)]
pub(super) struct ContentScripts {
    running: BTreeMap<ScriptId, Script>,
    /// The extension whose declared scripts a host runs.
    hosts: BTreeMap<HostId, String>,
}

impl ContentScripts {
    /// The scripts of an extension in some frames of a tab, oldest first.
    pub(super) fn in_frames(
        &self,
        extension: &str,
        tab: TabId,
        is_named: impl Fn(u32) -> bool,
    ) -> Vec<ScriptId> {
        let is_there = |script: &Script| {
            script.tab == tab && script.extension == extension && is_named(script.frame)
        };
        let found = self.running.iter().filter(|(_, script)| is_there(script));
        found.map(|(id, _)| *id).collect()
    }

    pub(super) fn host_of(&self, script: ScriptId) -> Option<HostId> {
        self.running.get(&script).map(|script| script.host)
    }

    /// True if a script runs and is this host's.
    pub(super) fn is_of(&self, host: HostId, script: ScriptId) -> bool {
        self.host_of(script) == Some(host)
    }
}

/// The reason for which a document's scripts end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum UnloadReason {
    /// Another page came; this one is kept for going back.
    Navigated,
    /// Another page came, or the script's host is gone.
    Gone,
    /// The tab is gone, with all that it kept.
    Closed,
}

impl Browser {
    /// Lets a host run the content scripts of an extension's manifest, in the pages that are there and those to come.
    pub fn host_scripts(&mut self, host: HostId, extension: &str) {
        self.content_scripts.hosts.insert(host, extension.to_owned());
        let mut tabs: Vec<_> = self.strips.tabs().map(|tab| tab.id).collect();
        tabs.sort_unstable();
        for tab in tabs {
            self.run_declared(tab, |other| other == host);
        }
    }

    /// Attaches a content script to a frame, as `scripting.executeScript` would run one there.
    ///
    /// # Errors
    /// `NoTab`, `NoPage`, `NoFrame`, `BrowserPage`, `NoAccess`.
    pub fn attach_script(
        &mut self,
        host: HostId,
        extension: &str,
        tab: i64,
        frame: u32,
    ) -> Result<(ScriptId, ScriptLocation), Error> {
        let id = TabId(tab);
        let state = self.tab(id)?;
        if state.url.is_empty() || state.discarded {
            return Err(Error::NoPage(tab));
        }
        let location = frames(state)
            .find(|(number, _)| *number == frame)
            .map(|(_, url)| location(state, frame, url))
            .ok_or(Error::NoFrame { frame: i64::from(frame), tab })?;
        if location.url.starts_with("chrome://") {
            return Err(Error::BrowserPage);
        }
        let known = self.extensions.get(extension);
        let may = known.is_some_and(|known| {
            known.may_read(tab, &location.url) || known.scripts_in(&location.url, frame).is_some()
        });
        if !may {
            return Err(Error::NoAccess(location.url));
        }
        let script = self.add_script(host, extension, id, frame);
        Ok((script, location))
    }

    /// Ends a content script of a host's. Ending it twice is no error.
    pub fn detach_script(&mut self, host: HostId, script: ScriptId) {
        if self.content_scripts.is_of(host, script) {
            self.content_scripts.running.remove(&script);
            self.end_channels(script, UnloadReason::Gone);
        }
    }

    /// The content scripts that run, oldest first, each with its host.
    #[must_use]
    pub fn running_scripts(&self) -> Vec<(HostId, ScriptId)> {
        let running = self.content_scripts.running.iter();
        running.map(|(id, script)| (script.host, *id)).collect()
    }

    /// The hosts that run the scripts of a whole manifest, each with its extension.
    #[must_use]
    pub fn script_hosts(&self) -> Vec<(HostId, String)> {
        let hosts = self.content_scripts.hosts.iter();
        hosts.map(|(host, extension)| (*host, extension.clone())).collect()
    }

    /// A host goes, and with it every script that it runs.
    pub fn leave_scripts(&mut self, host: HostId) {
        self.content_scripts.hosts.remove(&host);
        let own = self.content_scripts.running.iter().filter(|(_, script)| script.host == host);
        let own: Vec<_> = own.map(|(id, _)| *id).collect();
        for script in own {
            self.detach_script(host, script);
        }
    }

    /// A tab shows another document, be it one that was kept: whoever runs declared scripts gets those of its frames.
    pub(super) fn begin_document(&mut self, tab: TabId, kept: Option<Document>) {
        let (number, now) = (self.next_number(), self.now.micros());
        if let Some(state) = self.strips.tab_mut(tab) {
            state.document = kept.unwrap_or_else(|| {
                // The moment makes it another one than any of an earlier run, whose numbers begin alike.
                let digest = Sha256::new()
                    .chain_update(now.to_be_bytes())
                    .chain_update(number.to_be_bytes())
                    .finalize();
                Document { number: first_bytes(&digest), ..Document::default() }
            });
        }
        self.run_declared(tab, |_| true);
    }

    /// The document of a tab goes: its scripts end, and so do messages and ports to them.
    pub(super) fn end_document(&mut self, tab: TabId, reason: UnloadReason) {
        self.end_waiting_tasks(tab);
        let here = self.content_scripts.running.iter().filter(|(_, script)| script.tab == tab);
        let here: Vec<_> = here.map(|(id, script)| (*id, script.host)).collect();
        for (script, host) in here {
            self.content_scripts.running.remove(&script);
            self.end_channels(script, reason);
            self.notify_script(host, script, ScriptEvent::Ended);
        }
        self.end_channels_of_engine(tab, reason);
        if reason == UnloadReason::Closed {
            self.end_unheard(tab);
        }
    }

    fn run_declared(&mut self, tab: TabId, runs_on: impl Fn(HostId) -> bool) {
        if self.content_scripts.hosts.is_empty() {
            return;
        }
        let Some(state) = self.strips.tab(tab).filter(|state| !state.discarded) else {
            return;
        };
        let mut runs = Vec::new();
        for (host, extension) in
            self.content_scripts.hosts.iter().filter(|(host, _)| runs_on(**host))
        {
            let Some(known) = self.extensions.get(extension) else {
                continue;
            };
            for (frame, url) in frames(state) {
                if let Some(files) = declared_in(known, &state.document, url, frame) {
                    runs.push((*host, extension.clone(), location(state, frame, url), files));
                }
            }
        }
        for (host, extension, location, files) in runs {
            let script = self.add_script(host, &extension, tab, location.frame);
            self.notify_script(host, script, ScriptEvent::Started { location, files });
        }
    }

    fn add_script(&mut self, host: HostId, extension: &str, tab: TabId, frame: u32) -> ScriptId {
        let id = ScriptId(self.next_number());
        let script = Script { host, extension: extension.to_owned(), tab, frame };
        self.content_scripts.running.insert(id, script);
        id
    }

    pub(super) fn notify_script(&mut self, host: HostId, script: ScriptId, event: ScriptEvent) {
        self.emit(Event::Script { host, script, event });
    }
}

/// The files of the scripts that an extension's manifest declares which run in a frame of a document, if any do: they come with the document, and
/// run in none that was there before the extension.
pub(super) fn declared_in(
    extension: &Extension,
    document: &Document,
    url: &str,
    frame: u32,
) -> Option<Vec<String>> {
    let is_later = document.latecomers.contains(&extension.id);
    if is_later { None } else { extension.scripts_in(url, frame) }
}

fn location(tab: &Tab, frame: u32, url: &str) -> ScriptLocation {
    ScriptLocation { tab: tab.id, frame, document: document_id(tab, frame), url: url.to_owned() }
}

/// The number of the first frame within a page. The browser counts frames of all tabs: the first is a window's own.
const INNER_FRAME: u32 = 2;

/// The frames of a tab by number, with their addresses; the outermost is first.
pub(super) fn frames(tab: &Tab) -> impl Iterator<Item = (u32, &str)> {
    let inner = (INNER_FRAME..).zip(tab.frames.iter().map(|url| &**url));
    std::iter::once((0, &*tab.url)).chain(inner)
}

/// The id of the document in a frame, as the browser writes one.
pub(super) fn document_id(tab: &Tab, frame: u32) -> String {
    id_of(tab.id, &tab.document, frame)
}

/// True if this is the id of a page that a tab keeps for going back to it.
pub(super) fn keeps_document(tab: &Tab, document: &str) -> bool {
    let mut kept = tab.history.iter().filter_map(|entry| entry.kept.as_deref());
    kept.any(|it| id_of(tab.id, it, 0) == document)
}

fn id_of(tab: TabId, document: &Document, frame: u32) -> String {
    let digest = Sha256::new()
        .chain_update(tab.0.to_be_bytes())
        .chain_update(document.number.to_be_bytes())
        .chain_update(frame.to_be_bytes())
        .finalize();
    let bytes = digest.iter().take(16);
    bytes.map(|byte| format!("{byte:02X}")).collect()
}

fn first_bytes(digest: &[u8]) -> u64 {
    digest.iter().take(8).fold(0, |number, byte| number << 8 | u64::from(*byte))
}
