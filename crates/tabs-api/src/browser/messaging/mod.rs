//! Messages and ports to the content scripts of a tab's frames: those that clients run, and those that the engine runs.

mod message;
mod port;

use std::collections::BTreeMap;

pub(crate) use self::message::MessageSender;
use self::message::PendingMessage;
pub use self::message::ScriptReply;
use self::port::Port;
use crate::browser::Browser;
use crate::browser::content_scripts::{UnloadReason, document_id, frames};
use crate::browser::page_tasks::Task;
use crate::browser::script_event::ScriptEvent;
use crate::browser::tab::Tab;
use crate::engine::Frame;
use crate::error::Error;
use crate::id::{RequestId, ScriptId, TabId};

/// Messages under way and open ports.
#[derive(Debug, Default)]
pub(super) struct Messaging {
    messages: BTreeMap<RequestId, PendingMessage>,
    ports: BTreeMap<String, Port>,
}

impl Messaging {
    pub(super) fn has_port(&self, port: &str) -> bool {
        self.ports.contains_key(port)
    }

    pub(super) fn remove_port(&mut self, port: &str) -> Option<Port> {
        self.ports.remove(port)
    }
}

/// The frames of a tab that a call names; all of them unless it names a frame or a document.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct FrameFilter<'c> {
    pub(crate) frame: Option<i64>,
    pub(crate) document: Option<&'c str>,
}

/// The content scripts that a call reaches.
struct Receivers {
    tab: TabId,
    scripts: Vec<ScriptId>,
    /// The frames in which scripts of the engine's may run.
    frames: Vec<Frame>,
}

impl Browser {
    /// The content scripts of an extension in the frames of a tab.
    ///
    /// A page of the extension's own is asked as well where `asks_pages` says so: messages reach it, ports do not.
    fn receivers(
        &self,
        extension: &str,
        id: TabId,
        filter: FrameFilter<'_>,
        asks_pages: bool,
    ) -> Option<Receivers> {
        // A copy that waits to load has no page yet, whatever its address.
        let has_page = |tab: &&Tab| !tab.discarded && !tab.waits_to_load;
        let tab = self.strips.tab(id).filter(has_page)?;
        let extension = self.extensions.get(extension)?;
        let is_named = |number: u32| {
            filter.frame.is_none_or(|frame| frame == i64::from(number))
                && filter.document.is_none_or(|document| document == document_id(tab, number))
        };
        let scripts = self.content_scripts.in_frames(&extension.id, tab.id, is_named);
        let named = frames(tab).filter(|(number, _)| is_named(*number));
        let own = format!("chrome-extension://{}/", extension.id);
        let declared = named.filter(|(number, url)| {
            extension.scripts_in(url, *number).is_some() || asks_pages && url.starts_with(&own)
        });
        let frames: Vec<_> =
            declared.map(|(number, url)| Frame { number, url: url.to_owned() }).collect();
        (!frames.is_empty() || !scripts.is_empty()).then_some(Receivers {
            tab: tab.id,
            scripts,
            frames,
        })
    }

    /// Ends messages and ports to a script that is gone.
    pub(super) fn end_channels(&mut self, script: ScriptId, reason: UnloadReason) {
        self.end_messages_of_script(script, reason);
        self.end_ports_of_script(script, reason);
    }

    /// Ends messages and ports to the engine's own scripts in a tab whose document is gone.
    pub(super) fn end_channels_of_engine(&mut self, tab: TabId, reason: UnloadReason) {
        self.end_messages_of_engine(tab, reason);
        self.end_ports_of_engine(tab, reason);
    }

    fn notify_scripts<'s>(
        &mut self,
        tab: TabId,
        scripts: impl IntoIterator<Item = &'s ScriptId>,
        event: impl Fn() -> ScriptEvent,
    ) {
        for script in scripts {
            if let Some(host) = self.content_scripts.host_of(*script) {
                let (script, event) = (*script, event());
                self.do_in_page(tab, Task::Script { host, script, event });
            }
        }
    }
}

/// The error of a port or message whose page was left, and is kept for going back.
fn page_cached(reason: UnloadReason) -> Option<Error> {
    (reason == UnloadReason::Navigated).then_some(Error::PageCached)
}
