//! Events of single content scripts, which their host alone is told.

use serde_json::Value;

use crate::id::{RequestId, TabId};

/// The frame and the document that a content script runs in.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ScriptLocation {
    /// The tab.
    pub tab: TabId,
    /// The frame in it; 0 is the outermost.
    pub frame: u32,
    /// The document: 32 hexadecimal digits, another one for each page that is loaded.
    pub document: String,
    /// The address of the frame.
    pub url: String,
}

/// An event of a content script.
#[derive(Debug, Clone)]
pub enum ScriptEvent {
    /// It runs, as the manifest declares it.
    Started {
        /// The frame that it runs in.
        location: ScriptLocation,
        /// The files of it that the manifest names.
        files: Vec<String>,
    },
    /// Its document is gone, and with it the script and its ports.
    Ended,
    /// A message came; [`Browser::script_replied`](super::Browser::script_replied) answers it.
    Message {
        /// The id of its answer.
        request: RequestId,
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
        /// The message.
        message: Value,
    },
    /// The extension closed a port.
    PortClosed {
        /// The port.
        port: String,
    },
}
