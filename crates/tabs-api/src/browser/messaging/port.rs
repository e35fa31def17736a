//! Ports: open until one side closes them, or until nobody is left on the other.

use std::collections::BTreeSet;

use super::{FrameFilter, Receivers, Unheard, page_cached};
use crate::browser::Browser;
use crate::browser::content_scripts::UnloadReason;
use crate::browser::event::Event;
use crate::browser::page_tasks::Task;
use crate::browser::script_event::ScriptEvent;
use crate::engine::EngineCommand;
use crate::error::Error;
use crate::id::{HostId, ScriptId, TabId};
use crate::js_value::JsValue;

/// A port that is open.
#[derive(Debug, Clone)]
pub(in crate::browser) struct Port {
    /// Its number in the order of opening.
    number: u64,
    tab: TabId,
    scripts: BTreeSet<ScriptId>,
    reaches_engine: bool,
}

impl Browser {
    /// Opens a port of an extension to its content scripts in a tab, and returns its name. Where nobody listens it is
    /// disconnected with the reason.
    pub(crate) fn connect(
        &mut self,
        extension: &str,
        tab: TabId,
        filter: FrameFilter<'_>,
        name: &str,
    ) -> String {
        let number = self.next_number();
        let port = format!("port-{number}");
        match self.receivers(extension, tab, filter, false) {
            Some(to) => self.open_port((number, &port), name, to),
            None if let Some(keeper) = self.tab_that_keeps(tab, filter) => {
                self.open_unheard((number, &port), keeper);
            }
            None => self.emit(Event::PortDisconnected {
                port: port.clone(),
                error: Some(Error::NoReceiver.to_string()),
            }),
        }
        port
    }

    /// Opens a port to a page that a tab keeps: it stays open though nobody hears it.
    fn open_unheard(&mut self, (number, port): (u64, &str), keeper: TabId) {
        let state = Port { number, tab: keeper, scripts: BTreeSet::new(), reaches_engine: false };
        self.messaging.ports.insert(port.to_owned(), state);
        self.messaging.unheard.push((keeper, Unheard::Port(port.to_owned())));
    }

    fn open_port(&mut self, (number, port): (u64, &str), name: &str, to: Receivers) {
        let state = Port {
            number,
            tab: to.tab,
            scripts: to.scripts.iter().copied().collect(),
            reaches_engine: !to.frames.is_empty(),
        };
        self.messaging.ports.insert(port.to_owned(), state);
        if !to.frames.is_empty() {
            let (port, name) = (port.to_owned(), name.to_owned());
            let command = EngineCommand::Connect { port, tab: to.tab, frames: to.frames, name };
            self.do_in_page(to.tab, Task::Engine(command));
        }
        self.notify_scripts(to.tab, &to.scripts, || ScriptEvent::PortOpened {
            port: port.to_owned(),
            name: name.to_owned(),
        });
    }

    /// Sends through a port, to every script that it reaches.
    ///
    /// # Errors
    /// `PortClosed`, `Unserializable`.
    pub fn post(&mut self, port: &str, message: &JsValue) -> Result<(), Error> {
        let state = self.messaging.ports.get(port).ok_or(Error::PortClosed)?;
        let (tab, scripts) = (state.tab, state.scripts.clone());
        let reaches_engine = state.reaches_engine;
        if message.is_unserializable() {
            return Err(Error::Unserializable);
        }
        let message = message.to_json();
        self.notify_scripts(tab, &scripts, || ScriptEvent::PortMessage {
            port: port.to_owned(),
            message: message.clone(),
        });
        if reaches_engine {
            let command = EngineCommand::Post { port: port.to_owned(), message };
            self.do_in_page(tab, Task::Engine(command));
        }
        Ok(())
    }

    /// Closes a port from the extension's side, which is told nothing of it. Closing it twice is no error.
    pub fn disconnect(&mut self, port: &str) {
        let Some(state) = self.messaging.ports.remove(port) else {
            return;
        };
        self.notify_scripts(state.tab, &state.scripts, || ScriptEvent::PortClosed {
            port: port.to_owned(),
        });
        self.close_in_engine(port, &state);
    }

    /// Takes what a content script sends through a port that reaches it.
    pub fn script_posted(&mut self, host: HostId, script: ScriptId, port: &str, message: &JsValue) {
        if self.is_reached(host, script, port) {
            self.emit(Event::PortMessage { port: port.to_owned(), message: message.to_json() });
        }
    }

    /// Closes a port from a content script's side. The extension is told; other scripts of the same port are not.
    pub fn script_disconnected(&mut self, host: HostId, script: ScriptId, port: &str) {
        if !self.is_reached(host, script, port) {
            return;
        }
        if let Some(state) = self.messaging.ports.remove(port) {
            self.close_in_engine(port, &state);
            self.emit(Event::PortDisconnected { port: port.to_owned(), error: None });
        }
    }

    fn is_reached(&self, host: HostId, script: ScriptId, port: &str) -> bool {
        let state = self.messaging.ports.get(port);
        self.content_scripts.is_of(host, script)
            && state.is_some_and(|state| state.scripts.contains(&script))
    }

    /// Notes that the engine has no script that listens to a port.
    pub(in crate::browser) fn on_unheard_by_engine(&mut self, port: &str) {
        if let Some(state) = self.messaging.ports.get_mut(port) {
            state.reaches_engine = false;
            self.close_if_unheard(port, Some(Error::NoReceiver));
        }
    }

    pub(super) fn end_ports_of_script(&mut self, script: ScriptId, reason: UnloadReason) {
        self.end_ports(reason, |port| port.scripts.remove(&script));
    }

    pub(super) fn end_ports_of_engine(&mut self, tab: TabId, reason: UnloadReason) {
        self.end_ports(reason, |port| port.tab == tab && std::mem::take(&mut port.reaches_engine));
    }

    /// Takes a receiver out of all ports; `take` returns `true` where a port had it. They end in the order in which they were opened.
    fn end_ports(&mut self, reason: UnloadReason, take: impl Fn(&mut Port) -> bool) {
        let ports = self.messaging.ports.iter_mut();
        let mut ends: Vec<_> = ports
            .filter_map(|(port, state)| take(state).then(|| (state.number, port.clone())))
            .collect();
        ends.sort_unstable();
        for (_, port) in ends {
            self.close_if_unheard(&port, page_cached(reason));
        }
    }

    /// Closes a port that reaches nobody any more, and tells its owner why.
    pub(super) fn close_if_unheard(&mut self, port: &str, reason: Option<Error>) {
        let is_unheard = |state: &Port| state.scripts.is_empty() && !state.reaches_engine;
        if self.messaging.ports.get(port).is_some_and(is_unheard) {
            self.messaging.ports.remove(port);
            self.emit(Event::PortDisconnected {
                port: port.to_owned(),
                error: reason.map(|reason| reason.to_string()),
            });
        }
    }

    fn close_in_engine(&mut self, port: &str, state: &Port) {
        if state.reaches_engine {
            let command = EngineCommand::Disconnect { port: port.to_owned() };
            self.do_in_page(state.tab, Task::Engine(command));
        }
    }
}
