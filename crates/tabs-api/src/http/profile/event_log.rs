//! The log of a browser's events: the latest of them, for listeners that are behind and for those who come back.
//!
//! The rights that counted as an event happened decide who hears of it, however late they ask for it.

use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;

use hyper_tungstenite::tungstenite::Utf8Bytes;
use serde_json::json;

use super::Subscriber;
use super::frame::{EventFrame, written};
use crate::browser::event::Event;
use crate::browser::{Audience, Browser};
use crate::extension::permission::Access;

/// The number of events that are kept.
const EVENTS_KEPT: usize = 8_192;
/// The bytes of the events that are kept, and of their frames: the newest one is kept whatever it has.
const BYTES_KEPT: usize = 64 * 1024 * 1024;

/// The latest events, and the position of each.
#[derive(Default)]
pub(super) struct EventLog {
    entries: VecDeque<LogEntry>,
    /// The position of the newest event.
    newest: u64,
    bytes: usize,
    /// The position at which an extension came, of those that came later than the browser: what was before is not for them.
    beginnings: BTreeMap<Arc<str>, u64>,
}

/// Something that is told to everybody.
pub(super) enum LogEvent {
    /// An event, and who may hear what of it.
    Event(Box<Event>, Audience),
    /// Another browser took the place of this one.
    Reset,
}

struct LogEntry {
    revision: u64,
    bytes: usize,
    event: LogEvent,
    /// The frames of those who listened as it happened; nothing for one that does not hear of it.
    frames: Vec<(Subscriber, Option<Utf8Bytes>)>,
}

impl LogEvent {
    /// An event that happened in a browser just now.
    pub(super) fn of(event: Event, browser: &Browser) -> Self {
        let audience = browser.audience(&event);
        Self::Event(Box::new(event), audience)
    }

    /// The frame for a subscriber, if it hears of it.
    fn frame(&self, seq: u64, subscriber: &Subscriber) -> Option<Utf8Bytes> {
        let (event, audience) = match self {
            Self::Reset => return Some(written(&json!({ "type": "reset", "seq": seq }))),
            Self::Event(event, audience) => (event, audience),
        };
        let (known, event) = audience.told(&subscriber.extension, subscriber.part, event)?;
        let (name, access) = (event.name(), Access::Of(known));
        let (args, window_type) = (event.shown(&access), event.window_type());
        Some(written(&EventFrame { kind: "event", name, args, window_type, seq }))
    }

    fn bytes(&self) -> usize {
        match self {
            Self::Reset => 0,
            Self::Event(event, _) => size_of::<Event>() + event.text_bytes(),
        }
    }
}

impl EventLog {
    /// The position of the newest event.
    pub(super) const fn newest(&self) -> u64 {
        self.newest
    }

    /// Adds an event, with its frames for those who listen now.
    pub(super) fn append<'s>(
        &mut self,
        revision: u64,
        event: LogEvent,
        subscribers: impl Iterator<Item = &'s Subscriber>,
    ) {
        self.newest += 1;
        let frames: Vec<_> = subscribers
            .map(|subscriber| (subscriber.clone(), event.frame(self.newest, subscriber)))
            .collect();
        let written =
            frames.iter().filter_map(|(_, frame)| frame.as_ref()).map(|frame| frame.len());
        let bytes = size_of::<LogEntry>() + event.bytes() + written.sum::<usize>();
        self.bytes += bytes;
        self.entries.push_back(LogEntry { revision, bytes, event, frames });
        while self.entries.len() > EVENTS_KEPT || self.bytes > BYTES_KEPT && self.entries.len() > 1
        {
            let gone = self.entries.pop_front();
            self.bytes -= gone.map_or(0, |entry| entry.bytes);
        }
    }

    /// The position behind which there is everything that is for a subscriber.
    pub(super) fn oldest(&self, subscriber: &Subscriber) -> u64 {
        let oldest = self.newest.saturating_sub(self.entries.len() as u64);
        let beginning = self.beginnings.get(&subscriber.extension);
        beginning.map_or(oldest, |beginning| oldest.max(*beginning))
    }

    /// The frame of the event at a position, for a subscriber.
    pub(super) fn frame(&self, position: u64, subscriber: &Subscriber) -> Option<Utf8Bytes> {
        let entry = self.entry(position)?;
        let known = entry.frames.iter().find(|(owner, _)| owner == subscriber);
        // What is written for somebody who came later is not kept: its bytes are nobody's.
        known.map_or_else(|| entry.event.frame(position, subscriber), |(_, frame)| frame.clone())
    }

    /// The revision of the event at a position.
    pub(super) fn revision_of(&self, position: u64) -> u64 {
        self.entry(position).map_or(0, |entry| entry.revision)
    }

    /// Begins anew for an extension that comes now, or comes as another one.
    pub(super) fn begin(&mut self, extension: &str) {
        self.beginnings.insert(extension.into(), self.newest);
    }

    fn entry(&self, position: u64) -> Option<&LogEntry> {
        let back = usize::try_from(self.newest.checked_sub(position)?).ok()?;
        self.entries.get(self.entries.len().checked_sub(back + 1)?)
    }
}

#[cfg(test)]
mod tests {
    use triptych_core::time::Timestamp;

    use super::*;
    use crate::browser::Compat;
    use crate::browser::group::Group;
    use crate::extension::manifest::Manifest;
    use crate::extension::permission::{Extension, Part};
    use crate::id::{GroupId, WindowId};

    const NOW: Timestamp = Timestamp::from_seconds(1_790_000_000);

    fn subscriber(extension: &str) -> Subscriber {
        Subscriber { extension: extension.into(), part: Part::Main }
    }

    fn browser_of(extension: &str) -> Browser {
        let manifest = json!({ "name": "x", "permissions": ["tabGroups"] });
        let manifest = Manifest::read(&manifest).unwrap();
        let mut browser = Browser::with_blank_window(NOW, Compat::Spec);
        browser.install(Extension::new(extension.into(), &manifest, false));
        browser
    }

    fn group(title: String) -> Event {
        Event::GroupUpdated(Group {
            id: GroupId(1),
            window: WindowId(2),
            color: "grey".into(),
            title,
            collapsed: false,
        })
    }

    #[test]
    fn long_events_leave_the_log_by_their_bytes_and_the_newest_one_stays() {
        let (browser, who) = (browser_of("a"), subscriber("a"));
        let mut log = EventLog::default();
        let long = || group("x".repeat(BYTES_KEPT / 10));
        for _ in 0..20 {
            log.append(1, LogEvent::of(long(), &browser), [&who].into_iter());
        }
        // Each is there as an event and as a frame.
        assert_eq!((log.newest(), log.oldest(&who)), (20, 16));
        assert!(log.frame(20, &who).is_some() && log.frame(16, &who).is_none());
        log.append(1, LogEvent::of(group("x".repeat(BYTES_KEPT)), &browser), [&who].into_iter());
        assert_eq!(log.oldest(&who), 20);
        assert!(log.frame(21, &who).is_some());
    }

    #[test]
    fn what_was_before_an_extension_is_not_for_it_and_what_came_after_is() {
        let mut browser = browser_of("a");
        let (early, late) = (subscriber("a"), subscriber("b"));
        let mut log = EventLog::default();
        log.append(1, LogEvent::of(group("before".into()), &browser), std::iter::empty());
        browser.install(Extension::new("b".into(), &Manifest::default(), false));
        log.begin("b");
        assert_eq!((log.oldest(&early), log.oldest(&late)), (0, 1));
        assert!(log.frame(1, &early).is_some());
        // It was not there, and whatever it may do by now counts for nothing.
        assert!(log.frame(1, &late).is_none());
    }

    #[test]
    fn an_event_is_told_by_the_rights_of_its_time() {
        let mut browser = browser_of("a");
        let who = subscriber("a");
        let mut log = EventLog::default();
        log.append(1, LogEvent::of(group("one".into()), &browser), std::iter::empty());
        browser.install(Extension::new("a".into(), &Manifest::default(), false));
        log.append(1, LogEvent::of(group("two".into()), &browser), std::iter::empty());
        let told = |position| log.frame(position, &who).is_some();
        assert_eq!([told(1), told(2)], [true, false]);
    }
}
