//! A profile: one browser, the log of its events, and who listens to it.
//!
//! Listeners have no queue of their own for events. Each keeps its place in the log; one that falls
//! behind what the log keeps is told how much it missed. So the browser never waits for anybody.

use std::collections::{BTreeMap, HashMap, VecDeque};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use hyper_tungstenite::tungstenite::Utf8Bytes;
use serde::Serialize;
use serde_json::{Value, json};
use tokio::sync::{Notify, oneshot, watch};
use triptych_core::kv::{KeyValue, StoreError};
use triptych_core::time::{Clock, Timestamp};

use super::keeper::Keeper;
use crate::browser::{Answer, Browser, Caller, Command};
use crate::engine::Request;
use crate::error::Error;
use crate::event::{Event, ShownEvent};
use crate::js::Js;
use crate::session::{Output, Session};

/// Events that are kept for those who come back.
const EVENTS_KEPT: usize = 8_192;
/// How often a pending timer looks at the clock, which the control plane may have moved.
const CLOCK_LOOK: Duration = Duration::from_millis(50);

/// What a call came to, and the place in the log at which it did.
pub(super) struct Outcome {
    pub(super) seq: u64,
    /// The turn that must be kept before anybody hears of it.
    turn: u64,
    pub(super) answer: Result<Answer, Error>,
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
    waiting: HashMap<Request, Waiter>,
    /// Open ports by the browser's name for them.
    ports: BTreeMap<String, PortOwner>,
    has_timer: bool,
    /// Whether listeners have something new to take.
    has_news: bool,
    /// Whether the browser has just been put in the place of another, whose rows must go.
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
    /// What the client calls it.
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
            Keeper::start(store, &prefix, move || {
                heard.send_modify(|count| *count += 1)
            })
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
        self.keep(&mut state, now);
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
    fn keep(&self, state: &mut State, now: Timestamp) {
        let Some(keeper) = &self.keeper else { return };
        let rows = state.session.change(now, Browser::take_changes);
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
                answer => Ok(Outcome {
                    seq: state.seq,
                    turn: state.turn,
                    answer,
                }),
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
    pub(super) fn replace(self: &Arc<Self>, session: Session) {
        self.with(|state, _| {
            state.session = session;
            state.generation += 1;
            state.waiting.clear();
            state.ports.clear();
            state.is_new = true;
            state.append(Logs::Reset);
        });
    }

    /// Begins to listen as an extension, after the event of `since`, or from now on.
    pub(super) fn listen(self: &Arc<Self>, extension: &str, since: Option<u64>) -> Listener {
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
        Listener {
            id,
            extension,
            woken,
            // A place in the future is one of another run: nothing of it can be resumed.
            place: since.filter(|since| *since <= now).unwrap_or(now),
            session: state.generation,
            changed: self.changed.subscribe(),
            profile: Arc::clone(self),
        }
    }
}

/// Somebody who hears of everything that happens. Dropping it closes its ports.
pub(super) struct Listener {
    profile: Arc<Profile>,
    id: u64,
    extension: Arc<str>,
    woken: Arc<Notify>,
    /// The newest event that was handed out.
    place: u64,
    /// The generation of the browser at the beginning.
    pub(super) session: u64,
    changed: watch::Receiver<u64>,
}

impl Listener {
    /// Where it stands in the log.
    pub(super) const fn place(&self) -> u64 {
        self.place
    }

    /// Returns once there may be something to take.
    pub(super) async fn changed(&mut self) {
        tokio::select! {
            // The profile outlives its listeners, and with it the sender.
            _ = self.changed.changed() => {}
            () = self.woken.notified() => {}
        }
    }

    /// The next frames, in their order, `max` at the most.
    pub(super) fn take(&mut self, max: usize) -> Vec<Utf8Bytes> {
        self.changed.mark_unchanged();
        let told = self.profile.told();
        let mut state = self.profile.state();
        let mut out = Vec::new();
        let oldest = state.seq - state.log.len() as u64;
        if self.place < oldest {
            let missed = oldest - self.place;
            self.place = oldest;
            let frame = json!({ "type": "lagged", "missed": missed, "seq": oldest });
            out.push(written(&frame));
        }
        while out.len() < max {
            let own = state.listeners.get_mut(&self.id).and_then(|listening| {
                let front = listening.own.front()?;
                let is_due = front.place <= self.place && front.turn <= told;
                is_due.then(|| listening.own.pop_front()).flatten()
            });
            if let Some(own) = own {
                out.push(own.frame);
            } else if self.place < state.seq && state.turn_of(self.place + 1) <= told {
                self.place += 1;
                out.extend(state.frame(self.place, &self.extension));
            } else {
                break;
            }
        }
        out
    }

    /// Calls an operation; its answer is among the frames that [`Listener::take`] gives.
    pub(super) fn call(&self, id: &Value, caller: &Caller, command: Result<Command, Error>) {
        self.profile.with(|state, now| {
            let answer = command.and_then(|command| state.session.apply(now, caller, &command));
            state.pump();
            match answer {
                Ok(Answer::Later(request)) => {
                    let id = id.clone();
                    let listener = self.id;
                    state.wait(request, Waiter::Listener { listener, id });
                }
                answer => state.tell(self.id, |seq| reply(id, seq, &answer)),
            }
        });
    }

    /// Tells the client that a frame of its cannot be used.
    pub(super) fn refuse(&self, id: &Value, name: &str, message: &str) {
        let error = json!({ "kind": "throw", "name": name, "message": message });
        self.profile.with(|state, _| {
            state.tell(self.id, |seq| {
                written(&json!({ "type": "error", "id": id, "error": error, "seq": seq }))
            });
        });
    }

    /// Opens a port under the client's name for it.
    pub(super) fn open_port(&self, name: &str, caller: &Caller, command: Result<Command, Error>) {
        self.profile.with(|state, now| {
            match command.and_then(|command| state.session.apply(now, caller, &command)) {
                Ok(Answer::Value(port)) => {
                    let owner = PortOwner {
                        listener: self.id,
                        name: name.to_owned(),
                    };
                    if let Some(port) = port.get("port").and_then(Value::as_str) {
                        state.ports.insert(port.to_owned(), owner);
                    }
                }
                Ok(_) => {}
                Err(error) => {
                    let reason = error.to_string();
                    state.tell(self.id, |_| closed(name, Some(&reason)));
                }
            }
        });
    }

    /// Sends through a port of this listener's.
    pub(super) fn post(&self, name: &str, message: &Js) {
        self.profile.with(|state, now| {
            if let Some(port) = state.port_of(self.id, name) {
                // A port that has closed meanwhile has told so by a frame of its own.
                let _ = state
                    .session
                    .change(now, |browser| browser.post(&port, message));
            }
        });
    }

    /// Closes a port of this listener's.
    pub(super) fn close_port(&self, name: &str) {
        self.profile.with(|state, now| {
            if let Some(port) = state.port_of(self.id, name) {
                state.ports.remove(&port);
                state
                    .session
                    .change(now, |browser| browser.disconnect(&port));
            }
        });
    }
}

impl Drop for Listener {
    fn drop(&mut self) {
        self.profile.with(|state, now| {
            state.leave(self.id);
            let owned = state.ports.iter().filter(|(_, o)| o.listener == self.id);
            let owned: Vec<_> = owned.map(|(port, _)| port.clone()).collect();
            for port in owned {
                state.ports.remove(&port);
                state
                    .session
                    .change(now, |browser| browser.disconnect(&port));
            }
        });
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
        let mut logged = Logged {
            turn: self.turn,
            event,
            frames: Vec::new(),
        };
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

    fn settle(&mut self, request: Request, answer: Result<Answer, Error>) {
        match self.waiting.remove(&request) {
            Some(Waiter::Listener { listener, id }) => {
                self.tell(listener, |seq| reply(&id, seq, &answer));
            }
            Some(Waiter::Request(sender)) => {
                // Whoever asked may be gone.
                let _ = sender.send(Outcome {
                    seq: self.seq,
                    turn: self.turn,
                    answer,
                });
            }
            None => {}
        }
    }

    fn wait(&mut self, request: Request, waiter: Waiter) {
        self.waiting.insert(request, waiter);
    }

    /// Queues a frame for one listener, after everything that has happened so far.
    fn tell(&mut self, listener: u64, frame: impl FnOnce(u64) -> Utf8Bytes) {
        let place = self.seq;
        if let Some(listening) = self.listeners.get_mut(&listener) {
            listening.own.push_back(Own {
                turn: self.turn,
                place,
                frame: frame(place),
            });
            listening.woken.notify_one();
        }
    }

    fn tell_port(&mut self, port: &str, frame: impl FnOnce(&str) -> Utf8Bytes) {
        if let Some(owner) = self.ports.get(port) {
            let (listener, frame) = (owner.listener, frame(&owner.name));
            self.tell(listener, |_| frame);
        }
    }

    fn port_of(&self, listener: u64, name: &str) -> Option<String> {
        let mut own = self
            .ports
            .iter()
            .filter(|(_, owner)| owner.listener == listener && owner.name == name);
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
                access.hears(event.name()).then(frame)
            }
        };
        self.frames.push((Arc::clone(extension), frame.clone()));
        frame
    }
}

/// The frame of an event.
#[derive(Serialize)]
struct EventFrame<'e> {
    #[serde(rename = "type")]
    kind: &'static str,
    name: &'static str,
    args: ShownEvent<'e>,
    seq: u64,
}

/// The frame that answers a call with a value, or with the absence of one.
#[derive(Serialize)]
struct ResultFrame<'r> {
    #[serde(rename = "type")]
    kind: &'static str,
    id: &'r Value,
    #[serde(skip_serializing_if = "Option::is_none")]
    result: Option<&'r Answer>,
    seq: u64,
}

/// The bytes of a frame.
fn written(frame: &impl Serialize) -> Utf8Bytes {
    // Texts, numbers and views of the browser always serialize.
    serde_json::to_string(frame).unwrap_or_default().into()
}

fn closed(port: &str, error: Option<&str>) -> Utf8Bytes {
    written(&json!({ "type": "port.close", "port": port, "error": error }))
}

/// The frame that answers a call.
fn reply(id: &Value, seq: u64, answer: &Result<Answer, Error>) -> Utf8Bytes {
    match answer {
        Ok(answer) => written(&ResultFrame {
            kind: "result",
            id,
            result: answer.is_value().then_some(answer),
            seq,
        }),
        Err(error) => {
            let (kind, name) = if error.is_thrown() {
                ("throw", "TypeError")
            } else {
                ("reject", "Error")
            };
            let error = json!({ "kind": kind, "name": name, "message": error.to_string() });
            written(&json!({ "type": "error", "id": id, "error": error, "seq": seq }))
        }
    }
}
