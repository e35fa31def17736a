//! What loads pages. The browser tells it by commands and hears of it by news; neither waits for the other.

pub mod allowed_hosts;
pub mod fixtures;
pub mod html;
pub mod language;
pub mod screenshot;
pub mod simulated;

use serde_json::Value;
use triptych_core::time::Timestamp;

use crate::browser::tab::{Kind, TabId};

/// Names a call whose answer comes from the engine.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Request(pub u64);

/// A frame of a tab's page.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Frame {
    /// Its number; 0 is the outermost.
    pub number: u32,
    /// Its address.
    pub url: String,
}

/// What the browser asks of its engine.
#[derive(Debug, Clone, PartialEq)]
#[expect(missing_docs, reason = "the fields are what their names say")]
pub enum EngineCommand {
    /// Load a page in a tab. News of it carries the number of the load.
    Navigate { tab: TabId, load: u64, url: String, from: String, kind: Kind },
    /// Forget a tab's page.
    Close { tab: TabId },
    /// A tab's page goes on under another id.
    Replace { old: TabId, new: TabId },
    /// Draw the visible area of a tab.
    Capture {
        request: Request,
        tab: TabId,
        url: String,
        title: String,
        width: i64,
        height: i64,
        png: bool,
        quality: u8,
    },
    /// Hand a message to the content scripts of a tab's frames; the first reply counts.
    Message { request: Request, tab: TabId, frames: Vec<Frame>, message: Value },
    /// Open a port to the content scripts of a tab's frames.
    Connect { port: String, tab: TabId, frames: Vec<Frame>, name: String },
    /// Send through a port.
    Post { port: String, message: Value },
    /// Close a port from the extension's side.
    Disconnect { port: String },
    /// The user did something on a page, with a script to run as part of it.
    Gesture { tab: TabId, load: u64, url: String, script: Option<String> },
}

/// What an engine tells.
#[derive(Debug, Clone, PartialEq)]
#[expect(missing_docs, reason = "the fields are what their names say")]
pub enum EngineNews {
    /// A page has begun to arrive. `language` is the declared or detected one.
    Committed {
        tab: TabId,
        load: u64,
        url: String,
        is_same_document: bool,
        language: Option<String>,
        /// The addresses of the frames within it.
        frames: Vec<String>,
    },
    /// A navigation ended without a page.
    Ended { tab: TabId, load: u64 },
    /// The address went to another program of the machine; there will be no page.
    HandedOver { tab: TabId, load: u64 },
    /// A page has a title.
    Title { tab: TabId, load: u64, title: String },
    /// A page has an icon.
    Icon { tab: TabId, load: u64, url: String },
    /// A page is there.
    Complete { tab: TabId, load: u64 },
    /// A page makes a sound, or has stopped.
    Audible { tab: TabId, load: u64, audible: bool },
    /// A page's script goes elsewhere.
    Goes { tab: TabId, load: u64, url: String },
    /// A page's script changed the URL within the document.
    Pushed { tab: TabId, load: u64, url: String },
    /// A page's script opened another.
    Opens { tab: TabId, load: u64, url: String },
    /// A page's script closed its tab.
    Closes { tab: TabId, load: u64 },
    /// A picture: a data URL, or why there is none.
    Captured { request: Request, picture: Result<String, String> },
    /// The answer to a message.
    Replied { request: Request, reply: Reply },
    /// A content script wrote to a port.
    Posted { port: String, message: Value },
    /// No content script of the engine's listens to a port.
    Unheard { port: String },
    /// The other side closed a port.
    Disconnected { port: String, error: Option<String> },
}

/// What came back for a message.
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
    /// Takes a command. It never waits; what comes of it is told by [`Engine::news`].
    fn send(&mut self, now: Timestamp, command: EngineCommand);

    /// The next thing to tell that is due at `now`.
    fn news(&mut self, now: Timestamp) -> Option<EngineNews>;

    /// When there will be news, if it is known.
    fn next_due(&self) -> Option<Timestamp>;
}
