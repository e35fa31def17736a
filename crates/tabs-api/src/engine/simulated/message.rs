//! Messages and ports to the content scripts of simulated pages.

use std::time::Duration;

use serde_json::Value;
use triptych_core::time::Timestamp;

use super::SimEngine;
use crate::engine::{EngineEvent, Frame, Reply};
use crate::id::RequestId;

/// The time after which a message is heard.
const HEARD: Duration = Duration::from_millis(1);
/// The time that a way through a port takes.
const PORT: Duration = Duration::from_millis(1);

/// A stand-in for an extension's content script in the frames of simulated pages.
pub trait PageScript: Send + std::fmt::Debug {
    /// True if what runs in a frame listens at all.
    fn listens(&self, frame: &Frame) -> bool;

    /// Returns its answer to a message, and the time that it takes; `None` if it never answers.
    fn on_message(&self, frame: &Frame, message: &Value) -> Option<(Duration, Reply)>;

    /// Returns what it sends when a port is opened to it.
    fn on_connect(&self, frame: &Frame, name: &str) -> Value;

    /// Returns what it does when something comes through a port.
    fn on_port_message(&self, frame: &Frame, message: &Value) -> PortReaction;
}

/// The reaction of a content script to what comes through a port.
#[derive(Debug, Clone, PartialEq)]
pub enum PortReaction {
    /// It sends this back.
    Posts(Value),
    /// It closes the port.
    Closes,
}

impl SimEngine {
    /// The earliest answer of any frame's script; where one never answers, nothing but an answer ends the wait.
    pub(super) fn reply(
        &mut self,
        now: Timestamp,
        request: RequestId,
        frames: &[Frame],
        message: &Value,
    ) {
        let script = self.script.as_ref();
        let listening = script.into_iter().flat_map(|script| {
            let frames = frames.iter().filter(|frame| script.listens(frame));
            frames.map(|frame| script.on_message(frame, message))
        });
        let answers: Vec<_> = listening.collect();
        if answers.is_empty() {
            let reply = Reply::NoReceiver;
            return self.at(now, EngineEvent::Replied { request, reply });
        }
        let never = answers.iter().any(Option::is_none);
        let says = |(_, reply): &&(Duration, Reply)| *reply != Reply::NoResponse;
        let given = answers.iter().flatten();
        let first = given.clone().filter(says).min_by_key(|(after, _)| *after);
        let (after, reply) = match first {
            Some((after, reply)) => (*after, reply.clone()),
            None if never => return self.at(now.plus(HEARD), EngineEvent::Received { request }),
            None => {
                let last = given.map(|(after, _)| *after).max();
                (last.unwrap_or_default(), Reply::NoResponse)
            }
        };
        if after > HEARD {
            self.at(now.plus(HEARD), EngineEvent::Received { request });
        }
        self.at(now.plus(after), EngineEvent::Replied { request, reply });
    }

    pub(super) fn connect(
        &mut self,
        now: Timestamp,
        port: String,
        mut frames: Vec<Frame>,
        name: &str,
    ) {
        let script = self.script.as_ref();
        frames.retain(|frame| script.is_some_and(|script| script.listens(frame)));
        let Some(script) = script.filter(|_| !frames.is_empty()) else {
            return self.at(now, EngineEvent::Unheard { port });
        };
        let greetings: Vec<_> = frames.iter().map(|frame| script.on_connect(frame, name)).collect();
        for message in greetings {
            let port = port.clone();
            self.at(now.plus(PORT), EngineEvent::Posted { port, message });
        }
        self.ports.insert(port, frames);
    }

    pub(super) fn post(&mut self, now: Timestamp, port: &str, message: &Value) {
        let (Some(script), Some(frames)) = (&self.script, self.ports.get(port)) else {
            return;
        };
        let reactions: Vec<_> =
            frames.iter().map(|frame| script.on_port_message(frame, message)).collect();
        for reaction in reactions {
            let port = port.to_owned();
            match reaction {
                PortReaction::Posts(message) => {
                    self.at(now.plus(PORT), EngineEvent::Posted { port, message });
                }
                PortReaction::Closes => {
                    self.ports.remove(&port);
                    let error = None;
                    self.at(now.plus(PORT), EngineEvent::Disconnected { port, error });
                }
            }
        }
    }
}
