//! Messages: the first answer of any receiver is the result.

use std::collections::BTreeMap;

use serde_json::Value;

use super::{FrameFilter, Unheard, page_cached};
use crate::browser::Browser;
use crate::browser::answer::Answer;
use crate::browser::content_scripts::UnloadReason;
use crate::browser::page_tasks::Task;
use crate::browser::script_event::ScriptEvent;
use crate::engine::{EngineCommand, Reply};
use crate::error::Error;
use crate::id::{HostId, RequestId, ScriptId, TabId};

/// A message under way.
#[derive(Debug, Clone)]
pub(super) struct PendingMessage {
    /// True if its sender learns of it as an error that nobody answered.
    needs_answer: bool,
    tab: TabId,
    /// Scripts that have not answered yet, and whether each said that its answer comes later.
    scripts: BTreeMap<ScriptId, bool>,
    /// True if the engine's own scripts have not answered yet.
    awaits_engine: bool,
    /// True if anybody received it.
    was_received: bool,
    /// The error of a receiver that might have answered and is gone.
    lost: Option<Error>,
}

/// The reply of a content script to a message.
#[derive(Debug, Clone, PartialEq)]
pub enum ScriptReply {
    /// An answer.
    Value(Value),
    /// The text that a listener threw.
    Threw(String),
    /// No answer.
    None,
    /// An answer to come: a listener returned `true`.
    Later,
}

/// The sender of a message, as far as it decides who hears it and how it ends.
#[derive(Debug, Clone, Copy)]
pub(crate) struct MessageSender {
    /// The tab of the extension page that sends it.
    pub(crate) page: Option<TabId>,
    /// True if it learns as an error that nobody answered.
    pub(crate) needs_answer: bool,
}

impl Browser {
    /// Sends a message of an extension to its content scripts in a tab.
    pub(crate) fn send_message(
        &mut self,
        extension: &str,
        tab: TabId,
        filter: FrameFilter<'_>,
        message: Value,
        sender: MessageSender,
    ) -> Result<RequestId, Error> {
        if let Some(keeper) = self.tab_that_keeps(tab, filter) {
            let request = self.next_request();
            self.messaging.unheard.push((keeper, Unheard::Message(request)));
            return Ok(request);
        }
        // Nobody hears what it says itself.
        let asks_pages = sender.page != Some(tab);
        let to = self.receivers(extension, tab, filter, asks_pages).ok_or(Error::NoReceiver)?;
        let needs_answer = sender.needs_answer;
        let request = self.next_request();
        let pending = PendingMessage {
            needs_answer,
            tab: to.tab,
            scripts: to.scripts.iter().map(|script| (*script, false)).collect(),
            awaits_engine: !to.frames.is_empty(),
            was_received: false,
            lost: None,
        };
        self.messaging.messages.insert(request, pending);
        if !to.frames.is_empty() {
            let message = message.clone();
            let command =
                EngineCommand::Message { request, tab: to.tab, frames: to.frames, message };
            self.do_in_page(to.tab, Task::Engine(command));
        }
        self.notify_scripts(to.tab, &to.scripts, || ScriptEvent::Message {
            request,
            message: message.clone(),
        });
        Ok(request)
    }

    /// Notes that a script hears of a message.
    pub(in crate::browser) fn note_received(&mut self, request: RequestId) {
        if let Some(message) = self.messaging.messages.get_mut(&request) {
            message.was_received = true;
        }
    }

    /// Takes the answer of the engine's own scripts.
    pub(in crate::browser) fn on_engine_reply(&mut self, request: RequestId, reply: Reply) {
        let Some(message) = self.messaging.messages.get_mut(&request) else {
            return;
        };
        message.awaits_engine = false;
        message.was_received |= reply != Reply::NoReceiver;
        match reply {
            Reply::Value(value) => self.answer_message(request, Ok(Answer::Value(value))),
            Reply::Threw(text) => self.answer_message(request, Err(Error::Handler(text))),
            Reply::NoReceiver | Reply::NoResponse => self.end_message_without_receivers(request),
        }
    }

    /// Takes the answer of a content script. One that comes too late, or from another host, counts for nothing.
    pub fn script_replied(
        &mut self,
        host: HostId,
        script: ScriptId,
        request: RequestId,
        reply: ScriptReply,
    ) {
        let is_own = self.content_scripts.is_of(host, script);
        let Some(message) = self.messaging.messages.get_mut(&request) else {
            return;
        };
        let Some(comes_later) = message.scripts.get_mut(&script).filter(|_| is_own) else {
            return;
        };
        match reply {
            ScriptReply::Value(value) => self.answer_message(request, Ok(Answer::Value(value))),
            ScriptReply::Threw(text) => self.answer_message(request, Err(Error::Handler(text))),
            ScriptReply::Later => *comes_later = true,
            ScriptReply::None => {
                message.scripts.remove(&script);
                self.end_message_without_receivers(request);
            }
        }
    }

    fn answer_message(&mut self, request: RequestId, answer: Result<Answer, Error>) {
        if self.messaging.messages.remove(&request).is_some() {
            self.answer(request, answer);
        }
    }

    /// Ends a message that nobody is left to answer.
    fn end_message_without_receivers(&mut self, request: RequestId) {
        let Some(message) = self.messaging.messages.get(&request) else {
            return;
        };
        if message.awaits_engine || !message.scripts.is_empty() {
            return;
        }
        let answer = match &message.lost {
            Some(lost) => Err(lost.clone()),
            None if !message.was_received => Err(Error::NoReceiver),
            // A promise resolves without a value; a callback learns that nobody answered.
            None if !message.needs_answer => Ok(Answer::Undefined),
            None => Err(Error::NoResponse),
        };
        self.answer_message(request, answer);
    }

    pub(super) fn end_messages_of_script(&mut self, script: ScriptId, reason: UnloadReason) {
        self.end_messages(|message| {
            let comes_later = message.scripts.remove(&script)?;
            Some(lost(reason, comes_later))
        });
    }

    pub(super) fn end_messages_of_engine(&mut self, tab: TabId, reason: UnloadReason) {
        self.end_messages(|message| {
            let is_here = message.tab == tab && std::mem::take(&mut message.awaits_engine);
            is_here.then(|| lost(reason, message.was_received))
        });
    }

    /// Takes a receiver out of all messages; `take` returns the error of its going, where a message had it.
    fn end_messages(&mut self, take: impl Fn(&mut PendingMessage) -> Option<Option<Error>>) {
        let mut ends = Vec::new();
        for (request, message) in &mut self.messaging.messages {
            if let Some(lost) = take(message) {
                message.lost = lost.or(message.lost.take());
                ends.push(*request);
            }
        }
        for request in ends {
            self.end_message_without_receivers(request);
        }
    }
}

/// The error of a receiver that went before it answered.
fn lost(reason: UnloadReason, comes_later: bool) -> Option<Error> {
    page_cached(reason).or_else(|| comes_later.then_some(Error::ChannelClosed))
}
