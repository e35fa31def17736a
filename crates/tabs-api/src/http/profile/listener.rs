//! Listeners of a profile: the position of each in the log, its calls, its ports, and the content scripts that it runs.

use std::sync::Arc;

use hyper_tungstenite::tungstenite::Utf8Bytes;
use serde_json::{Value, json};
use tokio::sync::{Notify, watch};
use triptych_core::time::Timestamp;

use super::frame::{closed, reply, running, written};
use super::{PendingReply, PortOwner, Profile, ProfileState, Subscriber};
use crate::browser::Answer;
use crate::browser::messaging::ScriptReply;
use crate::id::{HostId, RequestId, ScriptId};
use crate::js_value::JsValue;
use crate::operation::{Asked, Caller};

/// An action of a content script.
pub(in crate::http) enum ScriptAction {
    /// It answers a message.
    Reply(RequestId, ScriptReply),
    /// It sends through a port.
    Post(String, JsValue),
    /// It closes a port.
    Disconnect(String),
}

/// Somebody who hears of everything that happens. Dropping it closes its ports and ends its content scripts.
pub(in crate::http) struct Listener {
    pub(super) profile: Arc<Profile>,
    pub(super) id: u64,
    pub(super) subscriber: Subscriber,
    pub(super) woken: Arc<Notify>,
    /// The newest event that was handed out.
    pub(super) position: u64,
    /// The generation of the browser at the beginning.
    pub(in crate::http) session: u64,
    pub(super) changed: watch::Receiver<u64>,
}

impl Listener {
    /// Its position in the log.
    pub(in crate::http) const fn position(&self) -> u64 {
        self.position
    }

    /// The reason for which nothing comes any more, if so it is.
    pub(in crate::http) fn end(&self) -> Option<&'static str> {
        let state = self.profile.state();
        let is_outlived = state.listeners.get(&self.id).is_none_or(|state| state.is_outlived);
        match (self.profile.is_removed(), is_outlived) {
            (true, _) => Some("the profile was removed"),
            (false, true) => Some("the extension was removed or installed anew"),
            (false, false) => None,
        }
    }

    /// Returns once there may be something to take.
    pub(in crate::http) async fn changed(&mut self) {
        tokio::select! {
            // The profile outlives its listeners, and with it the sender.
            _ = self.changed.changed() => {}
            () = self.woken.notified() => {}
        }
    }

    /// The next frames, in their order, `max` at the most.
    pub(in crate::http) fn take(&mut self, max: usize) -> Vec<Utf8Bytes> {
        self.changed.mark_unchanged();
        let visible = self.profile.visible_revision();
        let mut state = self.profile.state();
        let mut out = Vec::new();
        if state.listeners.get(&self.id).is_none_or(|state| state.is_outlived) {
            return out;
        }
        let oldest = state.log.oldest(&self.subscriber);
        if self.position < oldest {
            let missed = oldest - self.position;
            self.position = oldest;
            let frame = json!({ "type": "lagged", "missed": missed, "seq": oldest });
            out.push(written(&frame));
        }
        while out.len() < max {
            let direct = state.listeners.get_mut(&self.id).and_then(|listener| {
                let front = listener.direct.front()?;
                let is_due = front.position <= self.position && front.revision <= visible;
                is_due.then(|| listener.direct.pop_front()).flatten()
            });
            if let Some(direct) = direct {
                out.push(direct.frame);
            } else if self.position < state.log.newest()
                && state.log.revision_of(self.position + 1) <= visible
            {
                self.position += 1;
                out.extend(state.log.frame(self.position, &self.subscriber));
            } else {
                break;
            }
        }
        out
    }

    /// Calls an operation; its answer is among the frames that [`Listener::take`] gives.
    pub(in crate::http) fn call(&self, id: &Value, caller: &Caller, asked: Asked<'_>) {
        self.profile.with(|state, now| {
            let answer = state.session.call(now, caller, asked);
            state.drain_session();
            match answer {
                Ok(Answer::Later(request)) => {
                    let id = id.clone();
                    let listener = self.id;
                    state.wait(request, PendingReply::Listener { listener, id });
                }
                answer => state.send_to(self.id, |seq| reply(id, seq, &answer)),
            }
        });
    }

    /// Tells the client that a frame of its cannot be used.
    pub(in crate::http) fn refuse(&self, id: &Value, name: &str, message: &str) {
        let error = json!({ "kind": "throw", "name": name, "message": message });
        self.profile.with(|state, _| {
            state.send_to(self.id, |seq| {
                written(&json!({ "type": "error", "id": id, "error": error, "seq": seq }))
            });
        });
    }

    /// Plays the content scripts that the extension's manifest declares, from now on.
    pub(in crate::http) fn host_scripts(&self, id: &Value) {
        let host = HostId(self.id);
        self.profile.with(|state, now| {
            state
                .session
                .change(now, |browser| browser.host_scripts(host, &self.subscriber.extension));
            state.drain_session();
            state.send_to(self.id, |seq| reply(id, seq, &Ok(Answer::Undefined)));
        });
    }

    /// Attaches a content script to a frame; the answer names it.
    pub(in crate::http) fn attach(&self, id: &Value, tab: i64, frame: u32) {
        let host = HostId(self.id);
        self.profile.with(|state, now| {
            let attached = state.session.change(now, |browser| {
                browser.attach_script(host, &self.subscriber.extension, tab, frame)
            });
            let answer =
                attached.map(|(script, position)| Answer::Value(running(script, &position)));
            state.send_to(self.id, |seq| reply(id, seq, &answer));
        });
    }

    /// Ends a content script.
    pub(in crate::http) fn detach(&self, id: &Value, script: ScriptId) {
        let host = HostId(self.id);
        self.profile.with(|state, now| {
            state.session.change(now, |browser| browser.detach_script(host, script));
            state.drain_session();
            state.send_to(self.id, |seq| reply(id, seq, &Ok(Answer::Undefined)));
        });
    }

    /// Something that a content script of this listener's does. What comes too late counts for nothing.
    pub(in crate::http) fn act(&self, script: ScriptId, action: ScriptAction) {
        let host = HostId(self.id);
        self.profile.with(|state, now| {
            state.session.change(now, |browser| match action {
                ScriptAction::Reply(request, reply) => {
                    browser.script_replied(host, script, request, reply);
                }
                ScriptAction::Post(port, message) => {
                    browser.script_posted(host, script, &port, &message);
                }
                ScriptAction::Disconnect(port) => browser.script_disconnected(host, script, &port),
            });
        });
    }

    /// Opens a port under the client's name for it, which is no other one's.
    pub(in crate::http) fn open_port(
        &self,
        id: &Value,
        name: &str,
        caller: &Caller,
        asked: Asked<'_>,
    ) {
        // A connection sends one frame after the other, so that no other port of the name comes between.
        if self.profile.state().port_of(self.id, name).is_some() {
            return self.refuse(id, "BadFrame", "the connection has a port of this name already");
        }
        self.profile.with(|state, now| match state.session.call(now, caller, asked) {
            Ok(Answer::Value(port)) => {
                let owner = PortOwner { listener: self.id, name: name.to_owned() };
                if let Some(port) = port.get("port").and_then(Value::as_str) {
                    state.ports.insert(port.to_owned(), owner);
                }
            }
            Ok(_) => {}
            Err(error) => {
                let reason = error.to_string();
                state.send_to(self.id, |_| closed(name, Some(&reason)));
            }
        });
    }

    /// Sends through a port of this listener's.
    pub(in crate::http) fn post(&self, name: &str, message: &JsValue) {
        self.profile.with(|state, now| {
            if let Some(port) = state.port_of(self.id, name) {
                // A port that has closed meanwhile has visible so by a frame of its direct.
                let _ = state.session.change(now, |browser| browser.post(&port, message));
            }
        });
    }

    /// Closes a port of this listener's.
    pub(in crate::http) fn close_port(&self, name: &str) {
        self.profile.with(|state, now| {
            if let Some(port) = state.port_of(self.id, name) {
                state.ports.remove(&port);
                state.session.change(now, |browser| browser.disconnect(&port));
            }
        });
    }
}

impl Drop for Listener {
    fn drop(&mut self) {
        self.profile.with(|state, now| {
            state.remove_listener(self.id);
            state.end_channels(now, self.id);
        });
    }
}

impl ProfileState {
    /// Ends the listeners of an extension that goes: nothing that comes after it is for them.
    pub(super) fn outlive_listeners(&mut self, now: Timestamp, extension: &str) {
        let mut ended = Vec::new();
        for (id, listener) in &mut self.listeners {
            if &*listener.subscriber.extension == extension {
                listener.is_outlived = true;
                listener.woken.notify_one();
                ended.push(*id);
            }
        }
        // Ports close in the order in which their listeners came.
        ended.sort_unstable();
        for id in ended {
            self.end_channels(now, id);
        }
    }

    /// Ends the content scripts of a listener, and closes its ports.
    fn end_channels(&mut self, now: Timestamp, listener: u64) {
        self.session.change(now, |browser| browser.leave_scripts(HostId(listener)));
        let owned = self.ports.iter().filter(|(_, owner)| owner.listener == listener);
        let owned: Vec<_> = owned.map(|(port, _)| port.clone()).collect();
        for port in owned {
            self.ports.remove(&port);
            self.session.change(now, |browser| browser.disconnect(&port));
        }
    }
}
