//! Messages and ports to the content scripts of a tab's frames.

use serde_json::{Value, json};

use crate::browser::{Answer, Browser, Call, Style, Waiting};
use crate::engine::{EngineCommand, Reply, Request};
use crate::error::Error;
use crate::event::Event;
use crate::js::Js;
use crate::tab::TabId;

const NO_RECEIVER: &str = "Could not establish connection. Receiving end does not exist.";

impl Browser {
    /// The frames of a tab that a call names and a content script of the caller runs in.
    fn receivers(
        &self,
        call: &Call<'_>,
        id: i64,
        options: usize,
    ) -> Option<(TabId, String, Vec<u32>)> {
        let tab = self.tabs.get(&TabId(id)).filter(|tab| !tab.discarded)?;
        let extension = self.extensions.get(&call.caller.extension)?;
        let all_frames = extension.runs_in(&tab.url)?;
        if call.property(options, "documentId").is_some() {
            // Documents have no ids here that a caller could know.
            return None;
        }
        let here = if all_frames { 0..tab.frames } else { 0..1 };
        let wanted = call.number(options, "frameId");
        let frames: Vec<_> = here
            .filter(|frame| wanted.is_none_or(|wanted| wanted == i64::from(*frame)))
            .collect();
        (!frames.is_empty()).then(|| (tab.id, tab.url.to_string(), frames))
    }

    /// `tabs.sendMessage`: the first answer of any frame is the result.
    pub(crate) fn send_message(&mut self, call: &Call<'_>) -> Result<Answer, Error> {
        let id = call.arguments.integer(0).unwrap_or(crate::tab::TAB_ID_NONE);
        let message = call.arguments.at(1).map_or(Value::Null, Js::to_json);
        let (tab, url, frames) = self.receivers(call, id, 2).ok_or(Error::NoReceiver)?;
        let request = self.request(Waiting::Message(call.style));
        self.command(EngineCommand::Message {
            request,
            tab,
            url,
            frames,
            message,
        });
        Ok(Answer::Later(request))
    }

    pub(crate) fn replied(&mut self, request: Request, reply: Reply) {
        let Some(Waiting::Message(style)) = self.waiting.remove(&request) else {
            return;
        };
        let answer = match reply {
            Reply::Value(value) => Ok(Answer::Value(value)),
            Reply::NoReceiver => Err(Error::NoReceiver),
            Reply::Threw(text) => Err(Error::Handler(text)),
            // A promise resolves without a value; a callback learns that nobody answered.
            Reply::NoResponse if style == Style::Promise => Ok(Answer::Undefined),
            Reply::NoResponse => Err(Error::NoResponse),
        };
        self.answer(request, answer);
    }

    /// `tabs.connect`: the port is there at once; where nobody listens, it is disconnected with the reason.
    pub(crate) fn connect(&mut self, call: &Call<'_>) -> Result<Answer, Error> {
        let id = call.arguments.integer(0).unwrap_or(crate::tab::TAB_ID_NONE);
        let name = call.text(1, "name").unwrap_or_default().to_owned();
        let port = format!("port-{}", self.next_number());
        let answer = json!({ "name": name, "sender": null, "port": port });
        match self.receivers(call, id, 1) {
            Some((tab, url, frames)) => {
                self.ports.insert(port.clone(), tab);
                self.command(EngineCommand::Connect {
                    port,
                    tab,
                    url,
                    frames,
                    name,
                });
            }
            None => self.emit(Event::PortDisconnected {
                port,
                error: Some(NO_RECEIVER.into()),
            }),
        }
        Ok(Answer::Value(answer))
    }

    /// Sends through a port.
    ///
    /// # Errors
    /// `PortClosed`.
    pub fn post(&mut self, port: &str, message: &Js) -> Result<(), Error> {
        if !self.ports.contains_key(port) {
            return Err(Error::PortClosed);
        }
        self.command(EngineCommand::Post {
            port: port.to_owned(),
            message: message.to_json(),
        });
        Ok(())
    }

    /// Closes a port from the extension's side, which is told nothing of it. Closing it twice is no error.
    pub fn disconnect(&mut self, port: &str) {
        if self.ports.remove(port).is_some() {
            self.command(EngineCommand::Disconnect {
                port: port.to_owned(),
            });
        }
    }

    /// Closes the ports of a tab whose page goes away.
    pub(crate) fn disconnect_ports(&mut self, id: TabId, error: Option<&str>) {
        let closed: Vec<_> = self
            .ports
            .iter()
            .filter(|(_, tab)| **tab == id)
            .map(|(port, _)| port.clone())
            .collect();
        for port in closed {
            self.ports.remove(&port);
            self.emit(Event::PortDisconnected {
                port,
                error: error.map(str::to_owned),
            });
        }
    }
}
