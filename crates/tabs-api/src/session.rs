//! A browser and its engine, pumped together: what one says the other hears, in the order of time.

use std::collections::VecDeque;

use triptych_core::time::Timestamp;

use crate::browser::event::Event;
use crate::browser::{Answer, Browser};
use crate::engine::Engine;
use crate::error::Error;
use crate::id::RequestId;
use crate::operation::{Asked, Caller, Command};
use crate::store::Row;

/// An output of a session, in the one order in which it happened.
#[derive(Debug)]
#[expect(
    clippy::large_enum_variant,
    reason = "nearly every output is an event; a box would cost each of them an allocation"
)]
pub enum Output {
    /// An event; who may see what of it is decided when it is rendered.
    Event(Event),
    /// The answer to a call that was answered with [`Answer::Later`].
    Answer(RequestId, Result<Answer, Error>),
}

/// One browser with its engine.
pub struct Session {
    browser: Browser,
    engine: Box<dyn Engine>,
    outputs: VecDeque<Output>,
}

impl Session {
    /// A session of a browser and an engine.
    #[must_use]
    pub fn new(browser: Browser, engine: Box<dyn Engine>) -> Self {
        Self { browser, engine, outputs: VecDeque::new() }
    }

    /// The browser, to look at.
    #[must_use]
    pub const fn browser(&self) -> &Browser {
        &self.browser
    }

    /// Reads a call as the browser's version does, and applies it.
    ///
    /// # Errors
    /// As [`Browser::read`], then as [`Session::apply`].
    pub fn call(
        &mut self,
        now: Timestamp,
        caller: &Caller,
        asked: Asked<'_>,
    ) -> Result<Answer, Error> {
        let command = self.browser.read(caller, asked)?;
        self.apply(now, caller, &command)
    }

    /// Applies a call. What happened before its answer is in [`Session::poll`] already.
    ///
    /// # Errors
    /// As [`Browser::apply`].
    pub fn apply(
        &mut self,
        now: Timestamp,
        caller: &Caller,
        command: &Command,
    ) -> Result<Answer, Error> {
        self.advance(now);
        let answer = self.browser.apply(now, caller, command);
        self.drain(now);
        answer
    }

    /// Changes the browser otherwise: user actions, installs, ports.
    pub fn change<T>(&mut self, now: Timestamp, change: impl FnOnce(&mut Browser) -> T) -> T {
        self.advance(now);
        let outcome = change(&mut self.browser);
        self.drain(now);
        outcome
    }

    /// The rows that changed since the last look, for whoever keeps them. No time passes, so that nothing comes out of it.
    pub fn take_changes(&mut self) -> Vec<Row> {
        self.browser.take_changes()
    }

    /// Lets time pass until `now`: everything that is due happens, in the order of its time.
    pub fn advance(&mut self, now: Timestamp) {
        while let Some(due) = self.next_due().filter(|due| *due <= now) {
            if self.browser.next_due().is_some_and(|timer| timer <= due) {
                self.browser.tick(due);
                self.drain(due);
            }
            while let Some(event) = self.engine.poll_event(due) {
                self.browser.on_engine_event(due, event);
                self.drain(due);
            }
        }
    }

    /// The time at which something happens next.
    #[must_use]
    pub fn next_due(&self) -> Option<Timestamp> {
        match (self.browser.next_due(), self.engine.next_due()) {
            (Some(timer), Some(event)) => Some(timer.min(event)),
            (one, other) => one.or(other),
        }
    }

    /// The next thing that came out, oldest first.
    pub fn poll(&mut self) -> Option<Output> {
        self.outputs.pop_front()
    }

    fn drain(&mut self, now: Timestamp) {
        while let Some(event) = self.browser.poll_event() {
            self.outputs.push_back(Output::Event(event));
        }
        while let Some((request, answer)) = self.browser.poll_answer() {
            self.outputs.push_back(Output::Answer(request, answer));
        }
        while let Some(command) = self.browser.poll_engine() {
            self.engine.send(now, command);
        }
    }
}

impl std::fmt::Debug for Session {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Session").field("browser", &self.browser).finish_non_exhaustive()
    }
}
