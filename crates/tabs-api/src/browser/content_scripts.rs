//! Content scripts that somebody outside plays: who hosts them, in which documents they run, and what they are told.
//!
//! A host is a connection of an extension. It attaches single scripts to frames, or plays all those that the
//! extension's manifest declares: then each new document of a page that they match gets one. A script lives as long
//! as its document.

use sha2::{Digest, Sha256};

use serde_json::Value;

use crate::browser::Browser;
use crate::browser::event::Event;
use crate::browser::tab::{Tab, TabId};
use crate::engine::Request;
use crate::error::Error;

/// Names somebody who plays content scripts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct HostId(pub u64);

/// Names a content script in one document. It is never used again.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ScriptId(pub u64);

/// A content script that runs.
#[derive(Debug, Clone)]
pub(crate) struct Script {
    pub(crate) host: HostId,
    pub(crate) extension: String,
    pub(crate) tab: TabId,
    pub(crate) frame: u32,
}

/// Where a content script runs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Place {
    /// The tab.
    pub tab: TabId,
    /// The frame in it; 0 is the outermost.
    pub frame: u32,
    /// The document: 32 hexadecimal digits, another one for each page that is loaded.
    pub document: String,
    /// The address of the frame.
    pub url: String,
}

/// What a content script is told.
#[derive(Debug, Clone)]
pub enum ScriptNews {
    /// It runs, as the manifest declares it.
    Runs {
        /// Where.
        place: Place,
        /// The files of it that the manifest names.
        files: Vec<String>,
    },
    /// Its document is gone, and with it the script and its ports.
    Gone,
    /// A message came; [`Browser::script_replied`] answers it.
    Message {
        /// Names the answer.
        request: Request,
        /// The message.
        message: Value,
    },
    /// A port was opened to it.
    PortOpened {
        /// The port.
        port: String,
        /// The name that the extension gave it.
        name: String,
    },
    /// Something came through a port.
    PortMessage {
        /// The port.
        port: String,
        /// What came.
        message: Value,
    },
    /// The extension closed a port.
    PortClosed {
        /// The port.
        port: String,
    },
}

/// Why a document's scripts end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Departure {
    /// Another page came; this one is kept for going back.
    Navigated,
    /// The tab or the script's host is gone.
    Gone,
}

impl Browser {
    /// Lets a host play the content scripts of an extension's manifest, in the pages that are there and those to come.
    pub fn host_scripts(&mut self, host: HostId, extension: &str) {
        self.script_hosts.insert(host, extension.to_owned());
        let mut tabs: Vec<_> = self.tabs.keys().copied().collect();
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
    ) -> Result<(ScriptId, Place), Error> {
        let id = TabId(tab);
        let state = self.tab(id)?;
        if state.url.is_empty() || state.discarded {
            return Err(Error::NoPage(tab));
        }
        let place = frames(state)
            .find(|(number, _)| *number == frame)
            .map(|(_, url)| place(state, frame, url))
            .ok_or(Error::NoFrame { frame, tab })?;
        if place.url.starts_with("chrome://") {
            return Err(Error::BrowserPage);
        }
        let known = self.extensions.get(extension);
        let may = known.is_some_and(|known| {
            known.may_read(tab, &place.url) || known.scripts_in(&place.url, frame).is_some()
        });
        if !may {
            return Err(Error::NoAccess(place.url));
        }
        let script = self.add_script(host, extension, id, frame);
        Ok((script, place))
    }

    /// Ends a content script of a host's. Ending it twice is no error.
    pub fn detach_script(&mut self, host: HostId, script: ScriptId) {
        if self.own_script(host, script).is_some() {
            self.scripts.remove(&script);
            self.end_channels(script, Departure::Gone);
        }
    }

    /// A host goes, and with it every script that it plays.
    pub fn leave_scripts(&mut self, host: HostId) {
        self.script_hosts.remove(&host);
        let own = self.scripts.iter().filter(|(_, script)| script.host == host);
        let own: Vec<_> = own.map(|(id, _)| *id).collect();
        for script in own {
            self.detach_script(host, script);
        }
    }

    /// The scripts of an extension in some frames of a tab, oldest first.
    pub(crate) fn scripts_at(
        &self,
        extension: &str,
        tab: TabId,
        is_named: impl Fn(u32) -> bool,
    ) -> Vec<ScriptId> {
        let is_there = |script: &Script| {
            script.tab == tab && script.extension == extension && is_named(script.frame)
        };
        let found = self.scripts.iter().filter(|(_, script)| is_there(script));
        found.map(|(id, _)| *id).collect()
    }

    pub(crate) fn own_script(&self, host: HostId, script: ScriptId) -> Option<&Script> {
        self.scripts.get(&script).filter(|known| known.host == host)
    }

    /// A tab shows another document: whoever plays declared scripts gets those of its frames.
    pub(crate) fn begin_document(&mut self, tab: TabId) {
        let (number, now) = (self.next_number(), self.now.micros());
        if let Some(state) = self.tabs.get_mut(&tab) {
            // The moment makes it another one than any of an earlier run, whose numbers begin alike.
            let digest = Sha256::new()
                .chain_update(now.to_be_bytes())
                .chain_update(number.to_be_bytes())
                .finalize();
            state.document = first_bytes(&digest);
        }
        self.run_declared(tab, |_| true);
    }

    /// The document of a tab goes: its scripts end, and so do messages and ports to them.
    pub(crate) fn end_document(&mut self, tab: TabId, departure: Departure) {
        let here = self.scripts.iter().filter(|(_, script)| script.tab == tab);
        let here: Vec<_> = here.map(|(id, script)| (*id, script.host)).collect();
        for (script, host) in here {
            self.scripts.remove(&script);
            self.end_channels(script, departure);
            self.tell_script(host, script, ScriptNews::Gone);
        }
        self.end_channels_of_engine(tab, departure);
    }

    fn run_declared(&mut self, tab: TabId, plays: impl Fn(HostId) -> bool) {
        if self.script_hosts.is_empty() {
            return;
        }
        let Some(state) = self.tabs.get(&tab).filter(|state| !state.discarded) else {
            return;
        };
        let mut runs = Vec::new();
        for (host, extension) in self.script_hosts.iter().filter(|(host, _)| plays(**host)) {
            let Some(known) = self.extensions.get(extension) else {
                continue;
            };
            for (frame, url) in frames(state) {
                if let Some(files) = known.scripts_in(url, frame) {
                    runs.push((*host, extension.clone(), place(state, frame, url), files));
                }
            }
        }
        for (host, extension, place, files) in runs {
            let script = self.add_script(host, &extension, tab, place.frame);
            self.tell_script(host, script, ScriptNews::Runs { place, files });
        }
    }

    fn add_script(&mut self, host: HostId, extension: &str, tab: TabId, frame: u32) -> ScriptId {
        let id = ScriptId(self.next_number());
        let script = Script { host, extension: extension.to_owned(), tab, frame };
        self.scripts.insert(id, script);
        id
    }

    pub(crate) fn tell_script(&mut self, host: HostId, script: ScriptId, news: ScriptNews) {
        self.emit(Event::Script { host, script, news });
    }
}

fn place(tab: &Tab, frame: u32, url: &str) -> Place {
    Place { tab: tab.id, frame, document: document_id(tab, frame), url: url.to_owned() }
}

/// The frames of a tab by number, with their addresses; the outermost is first.
pub(crate) fn frames(tab: &Tab) -> impl Iterator<Item = (u32, &str)> {
    let urls = std::iter::once(&*tab.url).chain(tab.frames.iter().map(|url| &**url));
    (0..).zip(urls)
}

/// The id of the document in a frame, as the browser writes one.
pub(crate) fn document_id(tab: &Tab, frame: u32) -> String {
    let digest = Sha256::new()
        .chain_update(tab.id.0.to_be_bytes())
        .chain_update(tab.document.to_be_bytes())
        .chain_update(frame.to_be_bytes())
        .finalize();
    let bytes = digest.iter().take(16);
    bytes.map(|byte| format!("{byte:02X}")).collect()
}

fn first_bytes(digest: &[u8]) -> u64 {
    digest.iter().take(8).fold(0, |number, byte| number << 8 | u64::from(*byte))
}
