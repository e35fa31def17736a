//! Messages and ports to the content scripts of a tab's frames: those that clients run, and those that the engine runs.

mod message;
mod port;

use std::collections::BTreeMap;

pub(crate) use self::message::MessageSender;
use self::message::PendingMessage;
pub use self::message::ScriptReply;
use self::port::Port;
use crate::browser::Browser;
use crate::browser::content_scripts::{
    UnloadReason, declared_in, document_id, frames, keeps_document,
};
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
    /// Messages and ports to pages that tabs keep, and that hear nothing, by these tabs.
    unheard: Vec<(TabId, Unheard)>,
}

/// A message or a port to a page that is kept.
#[derive(Debug)]
enum Unheard {
    Message(RequestId),
    Port(String),
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
        // One that waits to load, or loads again, has no page yet, whatever its address.
        let tab = self.tab_of_document(id, filter.document)?;
        let tab = Some(tab).filter(|tab| !tab.is_fresh)?;
        let extension = self.extensions.get(extension)?;
        let is_named = |number: u32| {
            filter.frame.is_none_or(|frame| frame == i64::from(number))
                && filter.document.is_none_or(|document| document == document_id(tab, number))
        };
        let scripts = self.content_scripts.in_frames(&extension.id, tab.id, is_named);
        let named = frames(tab).filter(|(number, _)| is_named(*number));
        let own = format!("chrome-extension://{}/", extension.id);
        let hearing = named.filter_map(|(number, url)| {
            let declared = declared_in(extension, &tab.document, url, number);
            let injected = tab.document.injected.get(&(extension.id.clone(), number));
            let hears = declared.is_some() || injected.is_some();
            let files =
                declared.into_iter().flatten().chain(injected.into_iter().flatten().cloned());
            (hears || asks_pages && url.starts_with(&own)).then(|| Frame {
                number,
                url: url.to_owned(),
                files: files.collect(),
            })
        });
        let frames: Vec<_> = hearing.collect();
        (!frames.is_empty() || !scripts.is_empty()).then_some(Receivers {
            tab: tab.id,
            scripts,
            frames,
        })
    }

    /// The tab that shows a document, whichever tab a call names beside it; without a document that tab.
    fn tab_of_document(&self, named: TabId, document: Option<&str>) -> Option<&Tab> {
        let tab = self.strips.tab(named)?;
        let Some(document) = document else { return Some(tab) };
        let shows =
            |tab: &&Tab| frames(tab).any(|(number, _)| document_id(tab, number) == document);
        // The same part of an extension sees both.
        let is_incognito = self.is_incognito(tab);
        let others = || self.strips.tabs().filter(|it| self.is_incognito(it) == is_incognito);
        Some(tab).filter(shows).or_else(|| others().find(shows))
    }

    /// The tab that keeps the page whose document a call names: that hears nothing, and does not say so.
    fn tab_that_keeps(&self, named: TabId, filter: FrameFilter<'_>) -> Option<TabId> {
        let document = filter.document.filter(|_| filter.frame.is_none())?;
        let is_incognito = self.is_incognito(self.strips.tab(named)?);
        let mut tabs = self.strips.tabs().filter(|it| self.is_incognito(it) == is_incognito);
        tabs.find(|tab| keeps_document(tab, document)).map(|tab| tab.id)
    }

    /// Ends what was sent to pages that a tab kept, which is gone: nobody heard of it.
    pub(super) fn end_unheard(&mut self, tab: TabId) {
        let ends: Vec<_> = self.messaging.unheard.extract_if(.., |(of, _)| *of == tab).collect();
        for (_, unheard) in ends {
            match unheard {
                Unheard::Message(request) => self.answer(request, Err(Error::NoReceiver)),
                Unheard::Port(port) => self.close_if_unheard(&port, Some(Error::NoReceiver)),
            }
        }
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
