//! A profile: one browser, the log of its events, and who listens to it.
//!
//! Listeners have no queue of their own for events. Each keeps its position in the log; one that falls
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
pub(super) use self::listener::{Listener, ScriptAction};
use super::writer::ProfileWriter;
use crate::browser::event::Event;
use crate::browser::script_event::ScriptEvent;
use crate::browser::{Answer, Browser};
use crate::error::Error;
use crate::extension::permission::{Access, Part};
use crate::id::{RequestId, ScriptId, TabId};
use crate::operation::{Asked, Caller};
use crate::session::{Output, Session};

/// Events that are kept for those who come back.
const EVENTS_KEPT: usize = 8_192;
/// The interval at which a pending timer looks at the clock, which the control plane may have moved.
const CLOCK_LOOK: Duration = Duration::from_millis(50);

/// The outcome of a call, and the position in the log at which it came.
pub(super) struct CallOutcome {
    pub(super) seq: u64,
    /// The revision that must be kept before anybody hears of it.
    revision: u64,
    pub(super) answer: Result<Answer, Error>,
}

/// The position at which a client wants to go on.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Since {
    /// After this position of the log.
    pub(super) seq: Option<u64>,
    /// The session that the position is of, if it was said.
    pub(super) session: Option<u64>,
}

/// One isolated browser. Shared by everybody who uses it.
pub(super) struct Profile {
    clock: Arc<dyn Clock>,
    state: Mutex<ProfileState>,
    /// Rises whenever there is something to read.
    changed: watch::Sender<u64>,
    /// Keeps what survives a restart; a profile of memory alone has none.
    writer: Option<ProfileWriter>,
}

struct ProfileState {
    session: Session,
    /// The generation that the service began with.
    first: u64,
    /// Counts the resets, so that who comes back knows whether it is still the same browser.
    generation: u64,
    /// The change that is under way, or the last one.
    revision: u64,
    log: VecDeque<LogEntry>,
    /// The position of the newest event.
    seq: u64,
    listeners: HashMap<u64, ListenerState>,
    /// Those as whom somebody listens, and how many do.
    subscribers: BTreeMap<Subscriber, usize>,
    listener_next: u64,
    pending_replies: HashMap<RequestId, PendingReply>,
    /// Open ports by the browser's name for them.
    ports: BTreeMap<String, PortOwner>,
    has_timer: bool,
    /// True if listeners have something new to take.
    has_news: bool,
    /// True if the profile was removed.
    is_removed: bool,
    /// True if the browser has just been put in the place of another, whose rows must go.
    is_new: bool,
}

struct LogEntry {
    revision: u64,
    event: LogEvent,
    /// The frame, by whom it was written for; nothing for one that does not hear of it.
    frames: Vec<(Subscriber, Option<Utf8Bytes>)>,
}

enum LogEvent {
    Event(Box<Event>),
    Reset,
}

/// An extension as a listener, or a part of one.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
struct Subscriber {
    extension: Arc<str>,
    part: Part,
}

struct ListenerState {
    subscriber: Subscriber,
    /// Wakes it for what is for it alone.
    woken: Arc<Notify>,
    /// Frames for this listener alone.
    direct: VecDeque<DirectFrame>,
    /// True if its extension was removed or installed anew since it began: the token that it came with speaks for nobody, or for another.
    is_outlived: bool,
}

struct DirectFrame {
    revision: u64,
    /// The position in the log that it follows.
    position: u64,
    frame: Utf8Bytes,
}

struct PortOwner {
    listener: u64,
    /// The client's name for it.
    name: String,
}

enum PendingReply {
    Listener { listener: u64, id: Value },
    Request(oneshot::Sender<CallOutcome>),
}

impl Profile {
    /// A profile of this browser, kept under `prefix` of a store where one is given. `wipes` forgets the rows that are there.
    pub(super) fn new(
        session: Session,
        clock: Arc<dyn Clock>,
        kept: Option<(Arc<dyn KeyValue>, Vec<u8>)>,
        wipes: bool,
    ) -> Arc<Self> {
        let changed = watch::channel(0).0;
        let notified = changed.clone();
        let writer = kept.map(|(store, prefix)| {
            ProfileWriter::start(store, &prefix, move || notified.send_modify(|count| *count += 1))
        });
        // Who comes back after a restart sees that it is another browser.
        let generation = clock.now().micros().unsigned_abs();
        let is_kept = writer.is_some();
        let profile = Arc::new(Self {
            clock,
            changed,
            writer,
            state: Mutex::new(ProfileState {
                session,
                first: generation,
                generation,
                revision: 0,
                log: VecDeque::new(),
                seq: 0,
                listeners: HashMap::new(),
                subscribers: BTreeMap::new(),
                listener_next: 1,
                pending_replies: HashMap::new(),
                ports: BTreeMap::new(),
                has_timer: false,
                has_news: false,
                is_removed: false,
                is_new: wipes,
            }),
        });
        if is_kept {
            profile.with(|_, _| ());
        }
        profile
    }

    fn state(&self) -> MutexGuard<'_, ProfileState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Does something to the browser at this moment, and passes on what came of it.
    fn with<T>(self: &Arc<Self>, act: impl FnOnce(&mut ProfileState, Timestamp) -> T) -> T {
        let now = self.clock.now();
        let mut state = self.state();
        state.revision += 1;
        // What is due happens first, so that keeping this revision brings nothing new.
        state.session.advance(now);
        let outcome = act(&mut state, now);
        state.drain_session();
        self.write_changes(&mut state);
        let has_news = std::mem::take(&mut state.has_news);
        let must_wait = state.session.next_due().is_some() && !state.has_timer;
        state.has_timer |= must_wait;
        drop(state);
        if has_news {
            self.changed.send_modify(|count| *count += 1);
        }
        if must_wait {
            tokio::spawn(Arc::clone(self).run_timers());
        }
        outcome
    }

    /// Begins to keep what this revision changed.
    fn write_changes(&self, state: &mut ProfileState) {
        let writer = self.writer.as_ref().filter(|_| !state.is_removed);
        let Some(writer) = writer else { return };
        let rows = state.session.take_changes();
        let wipes = std::mem::take(&mut state.is_new);
        if let Err(error) = writer.write(state.revision, rows, wipes) {
            tracing::error!(%error, "the browser's state could not be kept");
        }
    }

    /// Lets the browser's own time pass for as long as something is due.
    async fn run_timers(self: Arc<Self>) {
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
    pub(super) async fn call(self: &Arc<Self>, caller: &Caller, asked: Asked<'_>) -> CallOutcome {
        let answer = self.with(|state, now| {
            let answer = state.session.call(now, caller, asked);
            state.drain_session();
            match answer {
                Ok(Answer::Later(request)) => {
                    let (sender, receiver) = oneshot::channel();
                    state.wait(request, PendingReply::Request(sender));
                    Err(receiver)
                }
                answer => Ok(CallOutcome { seq: state.seq, revision: state.revision, answer }),
            }
        });
        let mut outcome = match answer {
            Ok(outcome) => outcome,
            Err(receiver) => receiver.await.unwrap_or(CallOutcome {
                seq: 0,
                revision: 0,
                answer: Err(Error::NoResponse),
            }),
        };
        if let Err(error) = self.until_durable(outcome.revision).await {
            outcome.answer = Err(error.into());
        }
        outcome
    }

    async fn until_durable(&self, revision: u64) -> Result<(), StoreError> {
        match &self.writer {
            Some(writer) => writer.until_durable(revision).await,
            None => Ok(()),
        }
    }

    /// Returns whether something of it could not be kept.
    pub(super) fn has_failed(&self) -> bool {
        self.writer.as_ref().is_some_and(ProfileWriter::has_failed)
    }

    /// The last revision that may be told of.
    fn visible_revision(&self) -> u64 {
        self.writer.as_ref().map_or(u64::MAX, ProfileWriter::durable_revision)
    }

    /// Changes the browser otherwise than by a call of an extension.
    pub(super) async fn change<T>(
        self: &Arc<Self>,
        change: impl FnOnce(&mut Browser, Timestamp) -> T,
    ) -> Result<T, StoreError> {
        let (revision, outcome) = self.with(|state, now| {
            let outcome = state.session.change(now, |browser| change(browser, now));
            (state.revision, outcome)
        });
        self.until_durable(revision).await.map(|()| outcome)
    }

    /// Changes which extensions there are, which is kept elsewhere; what that does to tabs is kept in its own time. Who listens as the one of this
    /// id is to go.
    pub(super) fn change_extension(self: &Arc<Self>, id: &str, change: impl FnOnce(&mut Browser)) {
        self.with(|state, now| {
            state.outlive_listeners(now, id);
            state.session.change(now, change);
        });
    }

    /// Puts another browser in the place of this one. Listeners stay, and are told.
    pub(super) async fn replace(self: &Arc<Self>, session: Session) -> Result<(), StoreError> {
        let revision = self.with(|state, _| {
            state.session = session;
            state.generation += 1;
            state.pending_replies.clear();
            state.ports.clear();
            state.is_new = true;
            state.append(LogEvent::Reset);
            state.revision
        });
        self.until_durable(revision).await
    }

    /// Something has arrived from elsewhere.
    pub(super) fn wake(self: &Arc<Self>) {
        self.with(|_, _| ());
    }

    /// Nothing more of it is kept, and whoever listens to it is to go.
    pub(super) fn remove(&self) {
        self.state().is_removed = true;
        self.changed.send_modify(|count| *count += 1);
    }

    /// Begins to listen as an extension, after the event of `since`, or from now on.
    ///
    /// A client that comes back to another run of the service, where that position means nothing, is told so.
    pub(super) fn listen(
        self: &Arc<Self>,
        extension: &str,
        page: Option<TabId>,
        since: Since,
    ) -> Listener {
        let mut state = self.state();
        let id = state.listener_next;
        state.listener_next += 1;
        let part = state.session.browser().part(extension, page);
        let subscriber = Subscriber { extension: extension.into(), part };
        let woken = Arc::new(Notify::new());
        *state.subscribers.entry(subscriber.clone()).or_default() += 1;
        state.listeners.insert(
            id,
            ListenerState {
                subscriber: subscriber.clone(),
                woken: Arc::clone(&woken),
                direct: VecDeque::new(),
                is_outlived: false,
            },
        );
        let now = state.seq;
        let is_of_this_run = |session: u64| (state.first..=state.generation).contains(&session);
        let is_known = since.session.is_none_or(is_of_this_run);
        let position = since.seq.filter(|seq| is_known && *seq <= now);
        if since.seq.is_some() && position.is_none() {
            state.send_to(id, |seq| written(&json!({ "type": "reset", "seq": seq })));
        }
        Listener {
            id,
            subscriber,
            woken,
            position: position.unwrap_or(now),
            session: state.generation,
            changed: self.changed.subscribe(),
            profile: Arc::clone(self),
        }
    }
}

impl ProfileState {
    /// Passes on everything that came out of the browser.
    fn drain_session(&mut self) {
        while let Some(output) = self.session.poll() {
            match output {
                Output::Event(Event::PortMessage { port, message }) => {
                    self.send_to_port(&port, |name| {
                        written(
                            &json!({ "type": "port.message", "port": name, "message": message }),
                        )
                    });
                }
                Output::Event(Event::Script { host, script, event }) => {
                    self.send_to_host(host.0, script, &event);
                }
                Output::Event(Event::PortDisconnected { port, error }) => {
                    self.send_to_port(&port, |name| closed(name, error.as_deref()));
                    self.ports.remove(&port);
                }
                Output::Event(event) => self.append(LogEvent::Event(Box::new(event))),
                Output::Answer(request, answer) => self.deliver_answer(request, answer),
            }
        }
    }

    /// A listener goes; with the last one of a subscriber nothing more is written for it.
    fn remove_listener(&mut self, listener: u64) {
        let Some(gone) = self.listeners.remove(&listener) else {
            return;
        };
        if let Some(count) = self.subscribers.get_mut(&gone.subscriber) {
            *count -= 1;
            if *count == 0 {
                self.subscribers.remove(&gone.subscriber);
            }
        }
    }

    /// Writes an event into the log, for everybody who listens now as they may see it now.
    fn append(&mut self, event: LogEvent) {
        self.seq += 1;
        self.has_news = true;
        let mut entry = LogEntry { revision: self.revision, event, frames: Vec::new() };
        for subscriber in self.subscribers.keys() {
            entry.frame(self.seq, subscriber, &self.session);
        }
        if self.log.len() == EVENTS_KEPT {
            self.log.pop_front();
        }
        self.log.push_back(entry);
    }

    /// The frame of the event at a position, for a subscriber.
    fn frame(&mut self, position: u64, subscriber: &Subscriber) -> Option<Utf8Bytes> {
        let index = self.index_of(position)?;
        let entry = self.log.get_mut(index)?;
        entry.frame(position, subscriber, &self.session)
    }

    fn index_of(&self, position: u64) -> Option<usize> {
        let back = usize::try_from(self.seq - position).ok()?;
        self.log.len().checked_sub(back + 1)
    }

    fn revision_of(&self, position: u64) -> u64 {
        let entry = self.index_of(position).and_then(|index| self.log.get(index));
        entry.map_or(0, |entry| entry.revision)
    }

    fn deliver_answer(&mut self, request: RequestId, answer: Result<Answer, Error>) {
        match self.pending_replies.remove(&request) {
            Some(PendingReply::Listener { listener, id }) => {
                self.send_to(listener, |seq| reply(&id, seq, &answer));
            }
            Some(PendingReply::Request(sender)) => {
                // Whoever asked may be gone.
                let _ = sender.send(CallOutcome { seq: self.seq, revision: self.revision, answer });
            }
            None => {}
        }
    }

    fn wait(&mut self, request: RequestId, waiter: PendingReply) {
        self.pending_replies.insert(request, waiter);
    }

    /// Queues a frame for one listener, after everything that has happened so far.
    fn send_to(&mut self, listener: u64, frame: impl FnOnce(u64) -> Utf8Bytes) {
        let position = self.seq;
        if let Some(listener) = self.listeners.get_mut(&listener) {
            listener.direct.push_back(DirectFrame {
                revision: self.revision,
                position,
                frame: frame(position),
            });
            listener.woken.notify_one();
        }
    }

    fn send_to_port(&mut self, port: &str, frame: impl FnOnce(&str) -> Utf8Bytes) {
        if let Some(owner) = self.ports.get(port) {
            let (listener, frame) = (owner.listener, frame(&owner.name));
            self.send_to(listener, |_| frame);
        }
    }

    fn send_to_host(&mut self, host: u64, script: ScriptId, event: &ScriptEvent) {
        let listener = self.listeners.get(&host);
        if let Some(extension) = listener.map(|listener| Arc::clone(&listener.subscriber.extension))
        {
            self.send_to(host, |_| frame::script(&extension, script, event));
        }
    }

    fn port_of(&self, listener: u64, name: &str) -> Option<String> {
        let mut own =
            self.ports.iter().filter(|(_, owner)| owner.listener == listener && owner.name == name);
        own.next().map(|(port, _)| port.clone())
    }
}

impl LogEntry {
    fn frame(&mut self, seq: u64, subscriber: &Subscriber, session: &Session) -> Option<Utf8Bytes> {
        let known = self.frames.iter().find(|(owner, _)| owner == subscriber);
        if let Some((_, frame)) = known {
            return frame.clone();
        }
        let frame = match &self.event {
            LogEvent::Reset => Some(written(&json!({ "type": "reset", "seq": seq }))),
            LogEvent::Event(event) => {
                let known = session.browser().extension(&subscriber.extension)?;
                let access = Access::Of(known);
                let told = session.browser().told(known, subscriber.part, event);
                told.map(|event| {
                    written(&EventFrame {
                        kind: "event",
                        name: event.name(),
                        args: event.shown(&access),
                        seq,
                    })
                })
            }
        };
        self.frames.push((subscriber.clone(), frame.clone()));
        frame
    }
}
