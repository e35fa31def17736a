//! The engine that loads pages. The browser sends it commands and gets events of it; neither waits for the other.

mod alert;
pub mod allowed_hosts;
mod data_address;
pub mod fixtures;
pub mod html;
pub mod language;
pub mod listener;
pub mod page;
pub mod screenshot;
pub mod script;
mod script_text;
pub mod simulated;
mod state_url;
pub mod title;

use serde::{Deserialize, Serialize};
use serde_json::Value;
use triptych_core::time::Timestamp;

use crate::engine::script::ListenerChange;
use crate::id::{RequestId, TabId};
use crate::url::within_document;

/// The effect of a navigation on the history. Rows of tabs hold these names.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum NavigationKind {
    /// A new entry after the current one.
    Push,
    /// A new entry even of the same URL, as a script puts one there.
    Append,
    /// Another page in place of the current entry.
    Replace,
    /// The current entry again, asked for anew.
    Reload,
    /// The current entry again, of a tab that was copied, discarded or closed: what the cache has is not asked for.
    Restore,
    /// To the entry at this place.
    Traverse(usize),
    /// To the entry at this place, which the document that is there made itself.
    Step(usize),
}

impl NavigationKind {
    /// The place in the history that a navigation leads to, if it leads to one.
    #[must_use]
    pub const fn place(self) -> Option<usize> {
        match self {
            Self::Traverse(place) | Self::Step(place) => Some(place),
            Self::Push | Self::Append | Self::Replace | Self::Reload | Self::Restore => None,
        }
    }

    /// The same effect on a history of so many entries: one that is gone comes as a new one.
    #[must_use]
    pub fn within(self, entries: usize) -> Self {
        if self.place().is_some_and(|place| place >= entries) { Self::Push } else { self }
    }

    /// The address that a navigation comes to which stays in the document that a tab shows: that of a step, and of a new entry within it.
    #[must_use]
    pub fn within_document(self, from: &str, to: &str) -> Option<String> {
        match self {
            Self::Push | Self::Append | Self::Replace => within_document(from, to),
            Self::Step(_) => Some(to.to_owned()),
            Self::Reload | Self::Restore | Self::Traverse(_) => None,
        }
    }
}

/// A frame of a tab's page.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Frame {
    /// Its number; 0 is the outermost.
    pub number: u32,
    /// Its address.
    pub url: String,
    /// The files that an extension runs in it, by its manifest or by a call.
    pub files: Vec<String>,
}

/// The kind of window that a page is shown in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Realm {
    /// One that keeps traces.
    Normal,
    /// An incognito one.
    Incognito,
    /// An incognito one, which does not show this page: its address stands for it.
    Barred,
}

/// A command of the browser to its engine.
#[derive(Debug, Clone, PartialEq)]
#[expect(missing_docs, reason = "the fields are what their names say")]
pub enum EngineCommand {
    /// Load a page in a tab. Events of it carry the number of the load.
    Navigate {
        tab: TabId,
        load: u64,
        url: String,
        from: String,
        kind: NavigationKind,
        realm: Realm,
        /// True for the first page of a tab, of one that was discarded too.
        is_first: bool,
    },
    /// Load nothing, as the way is barred; the tab's page stays.
    Refuse { tab: TabId, load: u64 },
    /// Forget a tab's page.
    Close { tab: TabId },
    /// A tab's page goes on under another id.
    Replace { old: TabId, new: TabId },
    /// Draw the visible area of a tab.
    Capture {
        request: RequestId,
        tab: TabId,
        url: String,
        title: String,
        width: i64,
        height: i64,
        png: bool,
        quality: u8,
    },
    /// Hand a message to the content scripts of a tab's frames; the first reply counts.
    Message { request: RequestId, tab: TabId, frames: Vec<Frame>, message: Value },
    /// Open a port to the content scripts of a tab's frames.
    Connect { port: String, tab: TabId, frames: Vec<Frame>, name: String },
    /// Send through a port.
    Post { port: String, message: Value },
    /// Close a port from the extension's side.
    Disconnect { port: String },
    /// The user did something on a page, with a script to run as part of it. Relative addresses in that are relative to `base`.
    Gesture {
        tab: TabId,
        load: u64,
        url: String,
        base: String,
        is_shown: bool,
        script: Option<String>,
    },
    /// Take away what a page told or asked the user: its script goes on, as one of this load.
    EndAlert { tab: TabId, load: u64, accepted: bool },
    /// A page has begun to arrive: its script runs, and more slowly where nobody sees it.
    Begin { tab: TabId, load: u64, is_shown: bool },
    /// A tab is the active one now: the timers of its page run at their own times.
    Shown { tab: TabId },
}

/// An event of an engine.
#[derive(Debug, Clone, PartialEq)]
#[expect(missing_docs, reason = "the fields are what their names say")]
pub enum EngineEvent {
    /// Something happened to the page of a tab.
    Page { tab: TabId, load: u64, event: PageEvent },
    /// A picture: a data URL, or why there is none.
    Captured { request: RequestId, picture: Result<String, String> },
    /// A message has arrived, and its answer comes later.
    Received { request: RequestId },
    /// The answer to a message.
    Replied { request: RequestId, reply: Reply },
    /// A content script wrote to a port.
    Posted { port: String, message: Value },
    /// No content script of the engine's listens to a port.
    Unheard { port: String },
    /// The other side closed a port.
    Disconnected { port: String, error: Option<String> },
}

/// An event of a tab's page.
#[derive(Debug, Clone, PartialEq)]
#[expect(missing_docs, reason = "the fields are what their names say")]
pub enum PageEvent {
    /// The page has begun to arrive. `language` is the declared or detected one.
    Committed {
        url: String,
        is_same_document: bool,
        language: Option<String>,
        /// True for the browser's own page in place of one that could not be loaded.
        is_error: bool,
        /// True if a server gave it with the status 200, or none was asked.
        is_ok: bool,
        /// The addresses of the frames within it.
        frames: Vec<String>,
    },
    /// The navigation ended without a page.
    Aborted,
    /// The address went to another program of the machine; there will be no page.
    HandedOver,
    /// The page has a title.
    Title(String),
    /// The page has an icon, at this address.
    Icon(String),
    /// The page is there.
    Complete,
    /// The page makes a sound, or has stopped.
    Sounds(bool),
    /// The page's script goes to an address.
    Navigates(String),
    /// The page's script goes to an address in place of its own.
    Replaces(String),
    /// The page's script loads it again.
    Reloads,
    /// The page's script goes so many pages forward, or back.
    Traverses(i64),
    /// The page's script changed the URL within the document.
    PushesState(String),
    /// The page's script changed the URL within the document, without a new entry.
    ReplacesState(String),
    /// The page's script set the fragment, which makes this URL.
    SetsFragment(String),
    /// The page's script opened another page.
    Opens(Opening),
    /// The user clicked a link of the page with keys held, or with the middle button.
    OpensLink {
        /// Its address.
        url: String,
        /// True if it opens in a window of its own.
        is_in_window: bool,
    },
    /// The page's script opened another page, and closed its tab at once, or the one that has its name.
    OpensAndCloses {
        /// The page.
        opening: Opening,
        /// True if the user did nothing by which it may open one.
        is_blocked: bool,
    },
    /// The page's script gives its tab a name.
    Names(String),
    /// The page's script sends the page that opened it to an address.
    SendsOpener {
        /// The address.
        url: String,
        /// True if it takes the place of the page that is there.
        replaces: bool,
    },
    /// The page's script closed the tab of the page that opened it.
    ClosesOpener,
    /// The page's script runs code in the page that opened it.
    RunsInOpener(String),
    /// The page tells the user something, and does nothing else until that is taken away.
    Alerts,
    /// The page's script listens for the page being left, or no longer does.
    Listens(Vec<ListenerChange>),
    /// The page's script sends a frame of it to an address.
    FrameGoes(String),
    /// The page's script closed its tab.
    Closes,
}

/// A page that another one opens with `window.open`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Opening {
    /// Its address; empty where none is named.
    pub url: String,
    /// The name under which it can be found again.
    pub name: Option<String>,
    /// True if it asks for a window of its own.
    pub is_popup: bool,
    /// True if the two pages are to know nothing of each other.
    pub is_noopener: bool,
}

/// The reply to a message.
#[derive(Debug, Clone, PartialEq)]
pub enum Reply {
    /// Nobody listens.
    NoReceiver,
    /// Everybody who listens went without an answer.
    NoResponse,
    /// A listener threw this text.
    Threw(String),
    /// An answer.
    Value(Value),
}

/// An engine: the simulated one, or a real browser's.
pub trait Engine: Send {
    /// Takes a command. It never waits; what comes of it is given by [`Engine::poll_event`].
    fn send(&mut self, now: Timestamp, command: EngineCommand);

    /// The next event that is due at `now`.
    fn poll_event(&mut self, now: Timestamp) -> Option<EngineEvent>;

    /// The time of the next event, if it is known.
    fn next_due(&self) -> Option<Timestamp>;
}
