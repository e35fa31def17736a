//! A profile: one browser, the log of its events, and who listens to it.
//!
//! Listeners have no queue of their own for events. Each keeps its position in the log; one that falls
//! behind what the log keeps is told how much it missed. So the browser never waits for anybody.

mod browser_time;
mod event_log;
mod frame;
mod listener;

use std::collections::{BTreeMap, BTreeSet, HashMap, VecDeque};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use hyper_tungstenite::tungstenite::Utf8Bytes;
use serde_json::{Value, json};
use tokio::sync::{Notify, oneshot, watch};
use triptych_core::host::Stopping;
use triptych_core::kv::{KeyValue, StoreError};
use triptych_core::time::{Clock, Timestamp};

use self::browser_time::BrowserTime;
use self::event_log::{EventLog, LogEvent};
pub(super) use self::frame::script_of;
use self::frame::{closed, reply, written};
pub(super) use self::listener::{Listener, ScriptAction};
use super::writer::ProfileWriter;
use crate::browser::event::Event;
use crate::browser::script_event::ScriptEvent;
use crate::browser::{Answer, Browser};
use crate::error::Error;
use crate::extension::permission::Part;
use crate::id::{HostId, RequestId, ScriptId, TabId};
use crate::operation::{Asked, Caller};
use crate::session::{Output, Session};

/// The interval at which a pending timer looks at the clock, which the control plane may have moved.
const CLOCK_LOOK: Duration = Duration::from_millis(50);

/// The error of a call whose browser was reset.
const RESET: Error = Error::Unanswered("the browser was reset before it answered");
/// The error of a call whose browser is gone.
const REMOVED: Error = Error::Unanswered("the profile was removed before the browser answered");
/// The error of a call that the server does not wait for.
const STOPPING: Error = Error::Unanswered("the server stops before the browser answered");

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
    /// True once the profile was removed, or does not run here any more.
    removed: watch::Sender<bool>,
}

struct ProfileState {
    session: Session,
    time: BrowserTime,
    /// The generation that the service began with.
    first: u64,
    /// Counts the resets, so that who comes back knows whether it is still the same browser.
    generation: u64,
    /// The change that is under way, or the last one.
    revision: u64,
    log: EventLog,
    listeners: HashMap<u64, ListenerState>,
    /// Those as whom somebody listens, and how many do.
    subscribers: BTreeMap<Subscriber, usize>,
    listener_next: u64,
    /// Calls that wait for their answers, in the order in which they came.
    pending_replies: BTreeMap<RequestId, PendingReply>,
    /// Open ports by the browser's name for them.
    ports: BTreeMap<String, PortOwner>,
    has_timer: bool,
    /// True if listeners have something new to take.
    has_news: bool,
    /// True if the browser has just been put in the place of another, whose rows must go.
    is_new: bool,
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
        let now = clock.now();
        let generation = now.micros().unsigned_abs();
        let is_kept = writer.is_some();
        let profile = Arc::new(Self {
            clock,
            changed,
            writer,
            removed: watch::Sender::new(false),
            state: Mutex::new(ProfileState {
                session,
                time: BrowserTime::beginning(now),
                first: generation,
                generation,
                revision: 0,
                log: EventLog::default(),
                listeners: HashMap::new(),
                subscribers: BTreeMap::new(),
                listener_next: 1,
                pending_replies: BTreeMap::new(),
                ports: BTreeMap::new(),
                has_timer: false,
                has_news: false,
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
        let mut state = self.state();
        // Nobody else comes between the time and what is done at it.
        let now = state.time.now(self.clock.now());
        state.revision += 1;
        // What is due happens first, so that keeping this revision brings nothing new; and is told by the rights of before.
        state.session.advance(now);
        state.drain_session();
        let outcome = act(&mut state, now);
        state.drain_session();
        if self.is_removed() {
            state.end_calls(&REMOVED);
        }
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
        let writer = self.writer.as_ref().filter(|_| !self.is_removed());
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
            let wait = {
                let mut state = self.state();
                let now = state.time.now(self.clock.now());
                let due = state.session.next_due().filter(|_| !self.is_removed());
                state.has_timer = due.is_some();
                due.map(|due| due.since(now))
            };
            let Some(wait) = wait else { return };
            if wait.is_zero() {
                self.with(|state, now| state.session.advance(now));
            } else {
                tokio::time::sleep(wait.min(CLOCK_LOOK)).await;
            }
        }
    }

    /// Calls an operation; gives the answer at once or when the engine has it. A stop of the server waits for no engine.
    pub(super) async fn call(
        self: &Arc<Self>,
        caller: &Caller,
        asked: Asked<'_>,
        stopping: &Stopping,
    ) -> CallOutcome {
        let answer = self.with(|state, now| {
            let answer = state.session.call(now, caller, asked);
            state.drain_session();
            match answer {
                Ok(Answer::Later(request)) => {
                    let (sender, receiver) = oneshot::channel();
                    state.wait(request, PendingReply::Request(sender));
                    Err(receiver)
                }
                answer => Ok(state.outcome(answer)),
            }
        });
        let mut outcome = match answer {
            Ok(outcome) => outcome,
            Err(receiver) => {
                let answered = tokio::select! {
                    biased;
                    answered = receiver => answered.ok(),
                    () = stopping.stopped() => None,
                };
                answered.unwrap_or_else(|| self.state().outcome(Err(STOPPING)))
            }
        };
        if outcome.answer != Err(STOPPING)
            && let Err(error) = self.until_durable(outcome.revision).await
        {
            outcome.answer = Err(error.into());
        }
        outcome
    }

    /// Returns once a revision is kept.
    ///
    /// # Errors
    /// The error of writing it; `Unavailable` where nothing more is kept here.
    async fn until_durable(&self, revision: u64) -> Result<(), StoreError> {
        let Some(writer) = &self.writer else { return Ok(()) };
        let mut removed = self.removed.subscribe();
        tokio::select! {
            biased;
            kept = writer.until_durable(revision) => kept,
            // The sender is this profile's.
            _ = removed.wait_for(|is_removed| *is_removed) => {
                Err(StoreError::Unavailable("the profile was removed".into()))
            }
        }
    }

    fn is_removed(&self) -> bool {
        *self.removed.borrow()
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
    /// id is to go, and nothing that was before is for the next one.
    pub(super) fn change_extension(self: &Arc<Self>, id: &str, change: impl FnOnce(&mut Browser)) {
        self.with(|state, now| {
            state.outlive_listeners(now, id);
            state.session.change(now, change);
            state.drain_session();
            state.log.begin(id);
        });
    }

    /// Puts another browser in the place of this one. Listeners stay, and are told; those of extensions that are `others` now go.
    ///
    /// Nobody waits for what the former browser will not do any more: calls are answered, ports close, content scripts end.
    pub(super) async fn replace(
        self: &Arc<Self>,
        session: Session,
        others: &BTreeSet<String>,
    ) -> Result<(), StoreError> {
        let revision = self.with(|state, now| {
            for id in others {
                state.outlive_listeners(now, id);
            }
            state.drain_session();
            state.end_calls(&RESET);
            let former = state.end_channels_of_all();
            state.session = session;
            state.time = BrowserTime::beginning(self.clock.now());
            state.generation += 1;
            state.is_new = true;
            for id in others {
                state.log.begin(id);
            }
            state.append(LogEvent::Reset);
            let now = state.session.browser().time();
            for (host, extension) in former {
                state.session.change(now, |browser| browser.host_scripts(host, &extension));
            }
            state.revision
        });
        self.until_durable(revision).await
    }

    /// Something has arrived from elsewhere.
    pub(super) fn wake(self: &Arc<Self>) {
        self.with(|_, _| ());
    }

    /// Nothing more of it is kept, and whoever listens to it or waits for an answer is to go.
    pub(super) fn remove(&self) {
        let mut state = self.state();
        self.removed.send_replace(true);
        state.end_calls(&REMOVED);
        drop(state);
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
        let now = state.log.newest();
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
                Output::Event(event) => {
                    let event = LogEvent::of(event, self.session.browser());
                    self.append(event);
                }
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
        self.has_news = true;
        self.log.append(self.revision, event, self.subscribers.keys());
    }

    fn outcome(&self, answer: Result<Answer, Error>) -> CallOutcome {
        CallOutcome { seq: self.log.newest(), revision: self.revision, answer }
    }

    fn deliver_answer(&mut self, request: RequestId, answer: Result<Answer, Error>) {
        match self.pending_replies.remove(&request) {
            Some(PendingReply::Listener { listener, id }) => {
                self.send_to(listener, |seq| reply(&id, seq, &answer));
            }
            Some(PendingReply::Request(sender)) => {
                // Whoever asked may be gone.
                let _ = sender.send(self.outcome(answer));
            }
            None => {}
        }
    }

    /// Answers every call that waits: the browser will not.
    fn end_calls(&mut self, error: &Error) {
        let waiting: Vec<_> = self.pending_replies.keys().copied().collect();
        for request in waiting {
            self.deliver_answer(request, Err(error.clone()));
        }
    }

    /// Closes every port, and ends every content script; gives the listeners that run all scripts of an extension.
    fn end_channels_of_all(&mut self) -> Vec<(HostId, String)> {
        let reason = RESET.to_string();
        for (_, owner) in std::mem::take(&mut self.ports) {
            self.send_to(owner.listener, |_| closed(&owner.name, Some(&reason)));
        }
        for (host, script) in self.session.browser().running_scripts() {
            self.send_to_host(host.0, script, &ScriptEvent::Ended);
        }
        self.session.browser().script_hosts()
    }

    fn wait(&mut self, request: RequestId, waiter: PendingReply) {
        self.pending_replies.insert(request, waiter);
    }

    /// Queues a frame for one listener, after everything that has happened so far.
    fn send_to(&mut self, listener: u64, frame: impl FnOnce(u64) -> Utf8Bytes) {
        let position = self.log.newest();
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
