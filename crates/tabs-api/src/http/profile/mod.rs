//! A profile: one browser, the log of its events, and who listens to it.
//!
//! Listeners have no queue of their own for events. Each keeps its place in the log; one that falls
//! behind what the log keeps is told how much it missed. So the browser never waits for anybody.

mod frame;
mod listener;

use std::collections::{BTreeMap, HashMap, VecDeque};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use hyper_tungstenite::tungstenite::Utf8Bytes;
use serde_json::{Value, json};
use tokio::sync::{Notify, oneshot, watch};
use triptych_core::kv::{KeyValue, StoreError};
use triptych_core::time::{Clock, Timestamp};

pub(super) use self::frame::script_of;
use self::frame::{EventFrame, closed, reply, written};
pub(super) use self::listener::{Listener, ScriptAct};
use super::writer::Keeper;
use crate::browser::event::Event;
use crate::browser::script_event::ScriptEvent;
use crate::browser::{Answer, Browser};
use crate::error::Error;
use crate::id::{RequestId, ScriptId};
use crate::operation::{Caller, Command};
use crate::session::{Output, Session};

/// Events that are kept for those who come back.
const EVENTS_KEPT: usize = 8_192;
/// The interval at which a pending timer looks at the clock, which the control plane may have moved.
const CLOCK_LOOK: Duration = Duration::from_millis(50);

/// The outcome of a call, and the position in the log at which it came.
pub(super) struct Outcome {
    pub(super) seq: u64,
    /// The turn that must be kept before anybody hears of it.
    turn: u64,
    pub(super) answer: Result<Answer, Error>,
}

/// The position at which a client wants to go on.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Since {
    /// After this place of the log.
    pub(super) seq: Option<u64>,
    /// The session that the place is of, if it was said.
    pub(super) session: Option<u64>,
}

/// One isolated browser. Shared by everybody who uses it.
pub(super) struct Profile {
    clock: Arc<dyn Clock>,
    state: Mutex<State>,
    /// Rises whenever there is something to read.
    changed: watch::Sender<u64>,
    /// Keeps what survives a restart; a profile of memory alone has none.
    keeper: Option<Keeper>,
}

struct State {
    session: Session,
    /// The generation that the service began with.
    first: u64,
    /// Counts the resets, so that who comes back knows whether it is still the same browser.
    generation: u64,
    /// The change that is under way, or the last one.
    turn: u64,
    log: VecDeque<Logged>,
    /// The place of the newest event.
    seq: u64,
    listeners: HashMap<u64, Listening>,
    /// The extensions that somebody listens as, and how many.
    audience: BTreeMap<Arc<str>, usize>,
    listener_next: u64,
    waiting: HashMap<RequestId, Waiter>,
    /// Open ports by the browser's name for them.
    ports: BTreeMap<String, PortOwner>,
    has_timer: bool,
    /// True if listeners have something new to take.
    has_news: bool,
    /// True if the profile was removed.
    is_retired: bool,
    /// True if the browser has just been put in the place of another, whose rows must go.
    is_new: bool,
}

struct Logged {
    turn: u64,
    event: Logs,
    /// The frame, by the extension that it was written for; nothing for one that does not hear of it.
    frames: Vec<(Arc<str>, Option<Utf8Bytes>)>,
}

enum Logs {
    Event(Box<Event>),
    Reset,
}

struct Listening {
    extension: Arc<str>,
    /// Wakes it for what is for it alone.
    woken: Arc<Notify>,
    /// Frames for this listener alone.
    own: VecDeque<Own>,
}

struct Own {
    turn: u64,
    /// The place in the log that it follows.
    place: u64,
    frame: Utf8Bytes,
}

struct PortOwner {
    listener: u64,
    /// The client's name for it.
    name: String,
}

enum Waiter {
    Listener { listener: u64, id: Value },
    Request(oneshot::Sender<Outcome>),
}

impl Profile {
    /// A profile of this browser, kept under `prefix` of a store where one is given.
    pub(super) fn new(
        session: Session,
        clock: Arc<dyn Clock>,
        kept: Option<(Arc<dyn KeyValue>, Vec<u8>)>,
    ) -> Arc<Self> {
        let changed = watch::channel(0).0;
        let heard = changed.clone();
        let keeper = kept.map(|(store, prefix)| {
            Keeper::start(store, &prefix, move || heard.send_modify(|count| *count += 1))
        });
        // Who comes back after a restart sees that it is another browser.
        let generation = clock.now().micros().unsigned_abs();
        let is_kept = keeper.is_some();
        let profile = Arc::new(Self {
            clock,
            changed,
            keeper,
            state: Mutex::new(State {
                session,
                first: generation,
                generation,
                turn: 0,
                log: VecDeque::new(),
                seq: 0,
                listeners: HashMap::new(),
                audience: BTreeMap::new(),
                listener_next: 1,
                waiting: HashMap::new(),
                ports: BTreeMap::new(),
                has_timer: false,
                has_news: false,
                is_retired: false,
                is_new: false,
            }),
        });
        if is_kept {
            profile.with(|_, _| ());
        }
        profile
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Does something to the browser at this moment, and passes on what came of it.
    fn with<T>(self: &Arc<Self>, act: impl FnOnce(&mut State, Timestamp) -> T) -> T {
        let now = self.clock.now();
        let mut state = self.state();
        state.turn += 1;
        // What is due happens first, so that keeping this turn brings nothing new.
        state.session.advance(now);
        let outcome = act(&mut state, now);
        state.pump();
        self.keep(&mut state);
        let has_news = std::mem::take(&mut state.has_news);
        let must_wait = state.session.next_due().is_some() && !state.has_timer;
        state.has_timer |= must_wait;
        drop(state);
        if has_news {
            self.changed.send_modify(|count| *count += 1);
        }
        if must_wait {
            tokio::spawn(Arc::clone(self).keep_time());
        }
        outcome
    }

    /// Begins to keep what this turn changed.
    fn keep(&self, state: &mut State) {
        let keeper = self.keeper.as_ref().filter(|_| !state.is_retired);
        let Some(keeper) = keeper else { return };
        let rows = state.session.take_changes();
        let wipes = std::mem::take(&mut state.is_new);
        if let Err(error) = keeper.keep(state.turn, rows, wipes) {
            tracing::error!(%error, "the browser's state could not be kept");
        }
    }

    /// Lets the browser's own time pass for as long as something is due.
    async fn keep_time(self: Arc<Self>) {
        loop {
            let due = {
                let mut state = self.state();
                let due = state.session.next_due();
                state.has_timer = due.is_some();
                due
            };
            let Some(due) = due else { return };
            let wait = due.since(self.clock.now());
            if wait.is_zero() {
                self.with(|state, now| state.session.advance(now));
            } else {
                tokio::time::sleep(wait.min(CLOCK_LOOK)).await;
            }
        }
    }

    /// Calls an operation; gives the answer at once or when the engine has it.
    pub(super) async fn call(
        self: &Arc<Self>,
        caller: &Caller,
        command: Result<Command, Error>,
    ) -> Outcome {
        let answer = self.with(|state, now| {
            let answer = command.and_then(|command| state.session.apply(now, caller, &command));
            state.pump();
            match answer {
                Ok(Answer::Later(request)) => {
                    let (sender, receiver) = oneshot::channel();
                    state.wait(request, Waiter::Request(sender));
                    Err(receiver)
                }
                answer => Ok(Outcome { seq: state.seq, turn: state.turn, answer }),
            }
        });
        let mut outcome = match answer {
            Ok(outcome) => outcome,
            Err(receiver) => receiver.await.unwrap_or(Outcome {
                seq: 0,
                turn: 0,
                answer: Err(Error::NoResponse),
            }),
        };
        if let Err(error) = self.until_kept(outcome.turn).await {
            outcome.answer = Err(error.into());
        }
        outcome
    }

    async fn until_kept(&self, turn: u64) -> Result<(), StoreError> {
        match &self.keeper {
            Some(keeper) => keeper.until_kept(turn).await,
            None => Ok(()),
        }
    }

    /// The last turn that may be told of.
    fn told(&self) -> u64 {
        self.keeper.as_ref().map_or(u64::MAX, Keeper::kept)
    }

    /// Changes the browser otherwise than by a call of an extension.
    pub(super) async fn change<T>(
        self: &Arc<Self>,
        change: impl FnOnce(&mut Browser, Timestamp) -> T,
    ) -> Result<T, StoreError> {
        let (turn, outcome) = self.with(|state, now| {
            let outcome = state.session.change(now, |browser| change(browser, now));
            (state.turn, outcome)
        });
        self.until_kept(turn).await.map(|()| outcome)
    }

    /// Changes what is not kept: which extensions there are.
    pub(super) fn alter(self: &Arc<Self>, change: impl FnOnce(&mut Browser)) {
        self.with(|state, now| state.session.change(now, change));
    }

    /// Puts another browser in the place of this one. Listeners stay, and are told.
    pub(super) async fn replace(self: &Arc<Self>, session: Session) -> Result<(), StoreError> {
        let turn = self.with(|state, _| {
            state.session = session;
            state.generation += 1;
            state.waiting.clear();
            state.ports.clear();
            state.is_new = true;
            state.append(Logs::Reset);
            state.turn
        });
        self.until_kept(turn).await
    }

    /// Something has arrived from elsewhere.
    pub(super) fn wake(self: &Arc<Self>) {
        self.with(|_, _| ());
    }

    /// Nothing more of it is kept, and whoever listens to it is to go.
    pub(super) fn retire(&self) {
        self.state().is_retired = true;
        self.changed.send_modify(|count| *count += 1);
    }

    /// Begins to listen as an extension, after the event of `since`, or from now on.
    ///
    /// A client that comes back to another run of the service, where that position means nothing, is told so.
    pub(super) fn listen(self: &Arc<Self>, extension: &str, since: Since) -> Listener {
        let mut state = self.state();
        let id = state.listener_next;
        state.listener_next += 1;
        let (extension, woken) = (Arc::<str>::from(extension), Arc::new(Notify::new()));
        *state.audience.entry(Arc::clone(&extension)).or_default() += 1;
        state.listeners.insert(
            id,
            Listening {
                extension: Arc::clone(&extension),
                woken: Arc::clone(&woken),
                own: VecDeque::new(),
            },
        );
        let now = state.seq;
        let is_of_this_run = |session: u64| (state.first..=state.generation).contains(&session);
        let is_known = since.session.is_none_or(is_of_this_run);
        let place = since.seq.filter(|seq| is_known && *seq <= now);
        if since.seq.is_some() && place.is_none() {
            state.tell(id, |seq| written(&json!({ "type": "reset", "seq": seq })));
        }
        Listener {
            id,
            extension,
            woken,
            place: place.unwrap_or(now),
            session: state.generation,
            changed: self.changed.subscribe(),
            profile: Arc::clone(self),
        }
    }
}

impl State {
    /// Passes on everything that came out of the browser.
    fn pump(&mut self) {
        while let Some(output) = self.session.poll() {
            match output {
                Output::Event(Event::PortMessage { port, message }) => {
                    self.tell_port(&port, |name| {
                        written(
                            &json!({ "type": "port.message", "port": name, "message": message }),
                        )
                    });
                }
                Output::Event(Event::Script { host, script, event }) => {
                    self.tell_host(host.0, script, &event);
                }
                Output::Event(Event::PortDisconnected { port, error }) => {
                    self.tell_port(&port, |name| closed(name, error.as_deref()));
                    self.ports.remove(&port);
                }
                Output::Event(event) => self.append(Logs::Event(Box::new(event))),
                Output::Answer(request, answer) => self.settle(request, answer),
            }
        }
    }

    /// A listener goes; with the last one of an extension nothing more is written for it.
    fn leave(&mut self, listener: u64) {
        let Some(gone) = self.listeners.remove(&listener) else {
            return;
        };
        if let Some(count) = self.audience.get_mut(&gone.extension) {
            *count -= 1;
            if *count == 0 {
                self.audience.remove(&gone.extension);
            }
        }
    }

    /// Writes an event into the log, for everybody who listens now as they may see it now.
    fn append(&mut self, event: Logs) {
        self.seq += 1;
        self.has_news = true;
        let mut logged = Logged { turn: self.turn, event, frames: Vec::new() };
        for extension in self.audience.keys() {
            logged.frame(self.seq, extension, &self.session);
        }
        if self.log.len() == EVENTS_KEPT {
            self.log.pop_front();
        }
        self.log.push_back(logged);
    }

    /// The frame of the event at a place, for an extension.
    fn frame(&mut self, place: u64, extension: &Arc<str>) -> Option<Utf8Bytes> {
        let index = self.index_of(place)?;
        let logged = self.log.get_mut(index)?;
        logged.frame(place, extension, &self.session)
    }

    fn index_of(&self, place: u64) -> Option<usize> {
        let back = usize::try_from(self.seq - place).ok()?;
        self.log.len().checked_sub(back + 1)
    }

    fn turn_of(&self, place: u64) -> u64 {
        let logged = self.index_of(place).and_then(|index| self.log.get(index));
        logged.map_or(0, |logged| logged.turn)
    }

    fn settle(&mut self, request: RequestId, answer: Result<Answer, Error>) {
        match self.waiting.remove(&request) {
            Some(Waiter::Listener { listener, id }) => {
                self.tell(listener, |seq| reply(&id, seq, &answer));
            }
            Some(Waiter::Request(sender)) => {
                // Whoever asked may be gone.
                let _ = sender.send(Outcome { seq: self.seq, turn: self.turn, answer });
            }
            None => {}
        }
    }

    fn wait(&mut self, request: RequestId, waiter: Waiter) {
        self.waiting.insert(request, waiter);
    }

    /// Queues a frame for one listener, after everything that has happened so far.
    fn tell(&mut self, listener: u64, frame: impl FnOnce(u64) -> Utf8Bytes) {
        let place = self.seq;
        if let Some(listening) = self.listeners.get_mut(&listener) {
            listening.own.push_back(Own { turn: self.turn, place, frame: frame(place) });
            listening.woken.notify_one();
        }
    }

    fn tell_port(&mut self, port: &str, frame: impl FnOnce(&str) -> Utf8Bytes) {
        if let Some(owner) = self.ports.get(port) {
            let (listener, frame) = (owner.listener, frame(&owner.name));
            self.tell(listener, |_| frame);
        }
    }

    fn tell_host(&mut self, host: u64, script: ScriptId, event: &ScriptEvent) {
        let listening = self.listeners.get(&host);
        if let Some(extension) = listening.map(|listening| Arc::clone(&listening.extension)) {
            self.tell(host, |_| frame::script(&extension, script, event));
        }
    }

    fn port_of(&self, listener: u64, name: &str) -> Option<String> {
        let mut own =
            self.ports.iter().filter(|(_, owner)| owner.listener == listener && owner.name == name);
        own.next().map(|(port, _)| port.clone())
    }
}

impl Logged {
    fn frame(&mut self, seq: u64, extension: &Arc<str>, session: &Session) -> Option<Utf8Bytes> {
        let known = self.frames.iter().find(|(owner, _)| owner == extension);
        if let Some((_, frame)) = known {
            return frame.clone();
        }
        let frame = match &self.event {
            Logs::Reset => Some(written(&json!({ "type": "reset", "seq": seq }))),
            Logs::Event(event) => {
                let access = session.browser().access(extension)?;
                let frame = || {
                    written(&EventFrame {
                        kind: "event",
                        name: event.name(),
                        args: event.shown(&access),
                        seq,
                    })
                };
                access.receives(event.name()).then(frame)
            }
        };
        self.frames.push((Arc::clone(extension), frame.clone()));
        frame
    }
}
