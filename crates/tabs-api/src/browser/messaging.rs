//! Messages and ports to the content scripts of a tab's frames: those that hosts play, and those that the engine runs.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Value, json};

use crate::browser::content_scripts::{
    Departure, HostId, ScriptId, ScriptNews, document_id, frames,
};
use crate::browser::event::Event;
use crate::browser::tab::TabId;
use crate::browser::{Answer, Browser, Style, Waiting};
use crate::engine::{EngineCommand, Frame, Reply, Request};
use crate::error::Error;
use crate::js_value::Js;
use crate::operation::call::Call;

/// A message under way. The first answer of any script is the result.
#[derive(Debug, Clone)]
pub(crate) struct Exchange {
    style: Style,
    tab: TabId,
    /// Who has not answered yet, and whether it said that its answer comes later.
    scripts: BTreeMap<ScriptId, bool>,
    /// Whether the engine's own scripts have not answered yet.
    awaits_engine: bool,
    /// Whether anybody heard it.
    was_heard: bool,
    /// Why somebody who might have answered is gone.
    lost: Option<Error>,
}

/// A port that is open.
#[derive(Debug, Clone)]
pub(crate) struct Port {
    tab: TabId,
    scripts: BTreeSet<ScriptId>,
    reaches_engine: bool,
}

/// What a content script says to a message.
#[derive(Debug, Clone, PartialEq)]
pub enum ScriptReply {
    /// It answers.
    Value(Value),
    /// A listener of it threw this text.
    Threw(String),
    /// It goes without an answer.
    None,
    /// Its answer comes later: a listener returned `true`.
    Later,
}

/// Whom a call reaches.
struct Receivers {
    tab: TabId,
    scripts: Vec<ScriptId>,
    /// The frames in which scripts of the engine's may run.
    frames: Vec<Frame>,
}

impl Browser {
    /// The content scripts of the caller that a call names by tab, frame and document.
    fn receivers(&self, call: &Call<'_>, id: i64, options: usize) -> Option<Receivers> {
        let tab = self.tabs.get(&TabId(id)).filter(|tab| !tab.discarded)?;
        let extension = self.extensions.get(&call.caller.extension)?;
        let frame = call.number(options, "frameId");
        let document = call.text(options, "documentId");
        let is_named = |number: u32| {
            frame.is_none_or(|frame| frame == i64::from(number))
                && document.is_none_or(|document| document == document_id(tab, number))
        };
        let scripts = self.scripts_at(&extension.id, tab.id, is_named);
        let named = frames(tab).filter(|(number, _)| is_named(*number));
        let declared = named.filter(|(number, url)| extension.scripts_in(url, *number).is_some());
        let frames: Vec<_> =
            declared.map(|(number, url)| Frame { number, url: url.to_owned() }).collect();
        (!frames.is_empty() || !scripts.is_empty()).then_some(Receivers {
            tab: tab.id,
            scripts,
            frames,
        })
    }

    /// `tabs.sendMessage`: the first answer of any frame is the result.
    pub(crate) fn send_message(&mut self, call: &Call<'_>) -> Result<Answer, Error> {
        let id = call.arguments.integer(0).unwrap_or(crate::browser::tab::TAB_ID_NONE);
        let message = call.arguments.at(1).map_or(Value::Null, Js::to_json);
        let to = self.receivers(call, id, 2).ok_or(Error::NoReceiver)?;
        let request = self.request(Waiting::Message(Exchange {
            style: call.style,
            tab: to.tab,
            scripts: to.scripts.iter().map(|script| (*script, false)).collect(),
            awaits_engine: !to.frames.is_empty(),
            was_heard: !to.scripts.is_empty(),
            lost: None,
        }));
        if !to.frames.is_empty() {
            self.command(EngineCommand::Message {
                request,
                tab: to.tab,
                frames: to.frames,
                message: message.clone(),
            });
        }
        self.tell_scripts(&to.scripts, || ScriptNews::Message {
            request,
            message: message.clone(),
        });
        Ok(Answer::Later(request))
    }

    /// The engine's own scripts answered.
    pub(crate) fn replied(&mut self, request: Request, reply: Reply) {
        let Some(Waiting::Message(exchange)) = self.waiting.get_mut(&request) else {
            return;
        };
        exchange.awaits_engine = false;
        exchange.was_heard |= reply != Reply::NoReceiver;
        match reply {
            Reply::Value(value) => self.conclude(request, Ok(Answer::Value(value))),
            Reply::Threw(text) => self.conclude(request, Err(Error::Handler(text))),
            Reply::NoReceiver | Reply::NoResponse => self.conclude_if_silent(request),
        }
    }

    /// A content script answers a message. An answer that comes too late, or from another host, counts for nothing.
    pub fn script_replied(
        &mut self,
        host: HostId,
        script: ScriptId,
        request: Request,
        reply: ScriptReply,
    ) {
        let is_own = self.own_script(host, script).is_some();
        let Some(Waiting::Message(exchange)) = self.waiting.get_mut(&request) else {
            return;
        };
        let Some(comes_later) = exchange.scripts.get_mut(&script).filter(|_| is_own) else {
            return;
        };
        match reply {
            ScriptReply::Value(value) => self.conclude(request, Ok(Answer::Value(value))),
            ScriptReply::Threw(text) => self.conclude(request, Err(Error::Handler(text))),
            ScriptReply::Later => *comes_later = true,
            ScriptReply::None => {
                exchange.scripts.remove(&script);
                self.conclude_if_silent(request);
            }
        }
    }

    fn conclude(&mut self, request: Request, answer: Result<Answer, Error>) {
        if self.waiting.remove(&request).is_some() {
            self.answer(request, answer);
        }
    }

    /// Ends an exchange in which nobody is left who could answer.
    fn conclude_if_silent(&mut self, request: Request) {
        let Some(Waiting::Message(exchange)) = self.waiting.get(&request) else {
            return;
        };
        if exchange.awaits_engine || !exchange.scripts.is_empty() {
            return;
        }
        let answer = match &exchange.lost {
            Some(lost) => Err(lost.clone()),
            None if !exchange.was_heard => Err(Error::NoReceiver),
            // A promise resolves without a value; a callback learns that nobody answered.
            None if exchange.style == Style::Promise => Ok(Answer::Undefined),
            None => Err(Error::NoResponse),
        };
        self.conclude(request, answer);
    }

    /// `tabs.connect`: the port is there at once; where nobody listens, it is disconnected with the reason.
    pub(crate) fn connect(&mut self, call: &Call<'_>) -> Result<Answer, Error> {
        let id = call.arguments.integer(0).unwrap_or(crate::browser::tab::TAB_ID_NONE);
        let name = call.text(1, "name").unwrap_or_default().to_owned();
        let port = format!("port-{}", self.next_number());
        let answer = json!({ "name": name, "sender": null, "port": port });
        match self.receivers(call, id, 1) {
            Some(to) => self.open_port(&port, &name, to),
            None => self
                .emit(Event::PortDisconnected { port, error: Some(Error::NoReceiver.to_string()) }),
        }
        Ok(Answer::Value(answer))
    }

    fn open_port(&mut self, port: &str, name: &str, to: Receivers) {
        let state = Port {
            tab: to.tab,
            scripts: to.scripts.iter().copied().collect(),
            reaches_engine: !to.frames.is_empty(),
        };
        self.ports.insert(port.to_owned(), state);
        if !to.frames.is_empty() {
            self.command(EngineCommand::Connect {
                port: port.to_owned(),
                tab: to.tab,
                frames: to.frames,
                name: name.to_owned(),
            });
        }
        self.tell_scripts(&to.scripts, || ScriptNews::PortOpened {
            port: port.to_owned(),
            name: name.to_owned(),
        });
    }

    /// Sends through a port, to every script that it reaches.
    ///
    /// # Errors
    /// `PortClosed`.
    pub fn post(&mut self, port: &str, message: &Js) -> Result<(), Error> {
        let state = self.ports.get(port).ok_or(Error::PortClosed)?;
        let (scripts, reaches_engine) = (state.scripts.clone(), state.reaches_engine);
        let message = message.to_json();
        self.tell_scripts(&scripts, || ScriptNews::PortMessage {
            port: port.to_owned(),
            message: message.clone(),
        });
        if reaches_engine {
            self.command(EngineCommand::Post { port: port.to_owned(), message });
        }
        Ok(())
    }

    /// Closes a port from the extension's side, which is told nothing of it. Closing it twice is no error.
    pub fn disconnect(&mut self, port: &str) {
        let Some(state) = self.ports.remove(port) else {
            return;
        };
        self.tell_scripts(&state.scripts, || ScriptNews::PortClosed { port: port.to_owned() });
        self.release_port(port, &state);
    }

    /// A content script sends through a port that reaches it.
    pub fn script_posted(&mut self, host: HostId, script: ScriptId, port: &str, message: &Js) {
        if self.is_reached(host, script, port) {
            self.emit(Event::PortMessage { port: port.to_owned(), message: message.to_json() });
        }
    }

    /// A content script closes a port that reaches it. The extension is told; other scripts of the same port are not.
    pub fn script_disconnected(&mut self, host: HostId, script: ScriptId, port: &str) {
        if !self.is_reached(host, script, port) {
            return;
        }
        if let Some(state) = self.ports.remove(port) {
            self.release_port(port, &state);
            self.emit(Event::PortDisconnected { port: port.to_owned(), error: None });
        }
    }

    fn is_reached(&self, host: HostId, script: ScriptId, port: &str) -> bool {
        let state = self.ports.get(port);
        self.own_script(host, script).is_some()
            && state.is_some_and(|state| state.scripts.contains(&script))
    }

    /// The engine has no script that listens to this port.
    pub(crate) fn unheard_by_engine(&mut self, port: &str) {
        if let Some(state) = self.ports.get_mut(port) {
            state.reaches_engine = false;
            self.close_if_unheard(port, Some(Error::NoReceiver));
        }
    }

    /// Messages and ports to a script that is gone.
    pub(crate) fn end_channels(&mut self, script: ScriptId, departure: Departure) {
        let mut ends = Vec::new();
        for (request, exchange) in self.exchanges() {
            if let Some(comes_later) = exchange.scripts.remove(&script) {
                exchange.lost = lost(departure, comes_later).or(exchange.lost.take());
                ends.push(*request);
            }
        }
        for request in ends {
            self.conclude_if_silent(request);
        }
        let ports = self.ports.iter_mut();
        let ends: Vec<_> = ports
            .filter_map(|(port, state)| state.scripts.remove(&script).then(|| port.clone()))
            .collect();
        for port in ends {
            self.close_if_unheard(&port, page_cached(departure));
        }
    }

    /// Messages and ports to the engine's own scripts in a tab whose document is gone.
    pub(crate) fn end_channels_of_engine(&mut self, tab: TabId, departure: Departure) {
        let mut ends = Vec::new();
        for (request, exchange) in self.exchanges() {
            if exchange.tab == tab && std::mem::take(&mut exchange.awaits_engine) {
                exchange.lost = lost(departure, true).or(exchange.lost.take());
                ends.push(*request);
            }
        }
        for request in ends {
            self.conclude_if_silent(request);
        }
        let ports = self.ports.iter_mut();
        let ends: Vec<_> = ports
            .filter(|(_, state)| state.tab == tab && state.reaches_engine)
            .map(|(port, state)| {
                state.reaches_engine = false;
                port.clone()
            })
            .collect();
        for port in ends {
            self.close_if_unheard(&port, page_cached(departure));
        }
    }

    fn exchanges(&mut self) -> impl Iterator<Item = (&Request, &mut Exchange)> {
        self.waiting.iter_mut().filter_map(|(request, waiting)| match waiting {
            Waiting::Message(exchange) => Some((request, exchange)),
            Waiting::Capture | Waiting::Language(_) => None,
        })
    }

    /// Closes a port that reaches nobody any more, and tells its owner why.
    fn close_if_unheard(&mut self, port: &str, reason: Option<Error>) {
        let is_unheard = |state: &Port| state.scripts.is_empty() && !state.reaches_engine;
        if self.ports.get(port).is_some_and(is_unheard) {
            self.ports.remove(port);
            self.emit(Event::PortDisconnected {
                port: port.to_owned(),
                error: reason.map(|reason| reason.to_string()),
            });
        }
    }

    fn release_port(&mut self, port: &str, state: &Port) {
        if state.reaches_engine {
            self.command(EngineCommand::Disconnect { port: port.to_owned() });
        }
    }

    fn tell_scripts<'s>(
        &mut self,
        scripts: impl IntoIterator<Item = &'s ScriptId>,
        news: impl Fn() -> ScriptNews,
    ) {
        for script in scripts {
            if let Some(host) = self.scripts.get(script).map(|script| script.host) {
                self.tell_script(host, *script, news());
            }
        }
    }
}

/// What the sender learns of a receiver that went before it answered.
fn lost(departure: Departure, comes_later: bool) -> Option<Error> {
    page_cached(departure).or_else(|| comes_later.then_some(Error::ChannelClosed))
}

fn page_cached(departure: Departure) -> Option<Error> {
    (departure == Departure::Navigated).then_some(Error::PageCached)
}
