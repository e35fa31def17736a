//! The simulated engine: pages from fixtures, loaded in the passing of a time that is handed in.

mod http_cache;
mod known_icons;
mod message;
mod page_source;
mod script_run;

use std::collections::BTreeMap;
use std::time::Duration;

use triptych_core::time::Timestamp;
use url::Url;

use self::http_cache::HttpCache;
use self::known_icons::KnownIcons;
pub use self::message::{PageScript, PortReaction};
pub use self::page_source::{FetchedPage, PageLoad, PageSource};
use self::script_run::{Document, join};
use crate::engine::alert::Alerts;
use crate::engine::fixtures::{Outcome, Pages};
use crate::engine::page::Page;
use crate::engine::script::{Script, script_of};
use crate::engine::{
    Engine, EngineCommand, EngineEvent, Frame, NavigationKind, PageEvent, Realm, screenshot,
};
use crate::id::TabId;
use crate::url::{at_arrival, is_barred};

/// The status of a page that is there.
const OK: u16 = 200;
/// The time that a page takes to commit; pages without a network are quicker.
const COMMIT: Duration = Duration::from_millis(20);
const COMMIT_LOCAL: Duration = Duration::from_millis(8);
/// The time after which a second load that begins with another one gets its turn.
const TURN: Duration = Duration::from_millis(20);
/// The time that another program takes to start.
const HAND_OVER: Duration = Duration::from_millis(100);
/// The times after the commit at which its events come.
const TITLE: Duration = Duration::from_millis(3);
const COMPLETE: Duration = Duration::from_millis(6);
const ICON: Duration = Duration::from_millis(12);
/// The time after the commit of a new tab's page at which an icon comes that the browser has of an earlier visit.
const KNOWN_ICON: Duration = Duration::from_millis(1);
/// The time after the commit of a page of the history at which its icon comes, which it shows meanwhile.
const HISTORY_ICON: Duration = Duration::from_millis(35);
/// The time after the commit at which the script of a page, as it is read, sets a timer.
const TIMER_SET: Duration = Duration::from_millis(8);
/// The time after which a timer of a page that nobody sees is got round to: that happens once a second.
const HIDDEN_TIMER: Duration = Duration::from_millis(900);

/// An engine without a browser.
pub struct SimEngine {
    pages: Pages,
    extension_page_title: String,
    /// The page that `chrome://newtab/` leads to.
    new_tab: Option<String>,
    /// The icon of that page in incognito windows, where it stays as it is.
    incognito_icon: Option<String>,
    due: BTreeMap<(Timestamp, u64), EngineEvent>,
    number: u64,
    /// Events of timers that are put off, as nobody sees their pages, by their numbers: the tab, and the time at which each was due.
    put_off: BTreeMap<u64, (TabId, Timestamp)>,
    /// The stand-in for the content scripts of extensions; without it nobody listens in these pages.
    script: Option<Box<dyn PageScript>>,
    /// The source of pages that are described nowhere; without it they are made up.
    source: Option<Box<dyn PageSource>>,
    /// True if the language of a page that declares none is told from its text.
    detects: bool,
    http_cache: HttpCache,
    known_icons: KnownIcons,
    turns: Turns,
    /// The scripts of pages that are to come, by their tabs.
    scripts: BTreeMap<TabId, WaitingScript>,
    alerts: Alerts,
    /// The names of open ports, each with the frames that it reaches.
    ports: BTreeMap<String, Vec<Frame>>,
}

/// The script of a page that is to come.
#[derive(Debug)]
struct WaitingScript {
    load: u64,
    url: String,
    delay: Duration,
    script: Script,
}

/// The time by which a timer is put off where nobody sees its page.
fn put_off_by(delay: Duration, is_shown: bool) -> Duration {
    if is_shown || delay.is_zero() { Duration::ZERO } else { HIDDEN_TIMER.saturating_sub(delay) }
}

/// Loads that begin in one moment: the browser gets round to one after the other.
#[derive(Debug, Default)]
struct Turns {
    moment: Timestamp,
    before: u32,
}

impl Turns {
    /// The time at which the next load of this moment begins.
    fn next(&mut self, now: Timestamp) -> Timestamp {
        if self.moment != now {
            *self = Self { moment: now, before: 0 };
        }
        self.before += 1;
        now.plus(TURN.saturating_mul(self.before - 1))
    }
}

impl SimEngine {
    /// An engine of these pages.
    #[must_use]
    pub fn new(pages: Pages) -> Self {
        Self {
            pages,
            extension_page_title: "Extension page".into(),
            new_tab: None,
            incognito_icon: None,
            due: BTreeMap::new(),
            number: 0,
            put_off: BTreeMap::new(),
            script: None,
            source: None,
            detects: false,
            http_cache: HttpCache::default(),
            known_icons: KnownIcons::default(),
            turns: Turns::default(),
            scripts: BTreeMap::new(),
            alerts: Alerts::default(),
            ports: BTreeMap::new(),
        }
    }

    /// The same engine, whose new tabs lead to another page of the browser's.
    #[must_use]
    pub fn with_new_tab(self, url: &str) -> Self {
        Self { new_tab: Some(url.to_owned()), ..self }
    }

    /// The same engine, whose new tabs in incognito windows have this icon.
    #[must_use]
    pub fn with_incognito_icon(self, icon: &str) -> Self {
        Self { incognito_icon: Some(icon.to_owned()), ..self }
    }

    /// The same engine, with a content script in the frames that a manifest declares one for.
    #[must_use]
    pub fn with_script(self, script: impl PageScript + 'static) -> Self {
        Self { script: Some(Box::new(script)), ..self }
    }

    /// The same engine, which gets pages from a source where no fixtures describe them.
    #[must_use]
    pub fn with_page_source(self, source: impl PageSource + 'static) -> Self {
        Self { source: Some(Box::new(source)), ..self }
    }

    /// The same engine, which tells the language of a page that declares none from its text.
    #[must_use]
    pub fn detecting_languages(self, detects: bool) -> Self {
        Self { detects, ..self }
    }

    /// Puts off what a timer of a tab's page does, all events behind a number, as nobody sees that.
    fn put_off(&mut self, before: u64, tab: TabId, time: Duration) {
        if time.is_zero() {
            return;
        }
        let later: Vec<_> = self.due.extract_if(.., |(_, number), _| *number > before).collect();
        for ((due, number), event) in later {
            self.put_off.insert(number, (tab, due));
            self.due.insert((due.plus(time), number), event);
        }
    }

    /// Lets the timers of a tab's page, which is seen from now on, run at the times at which they were due, those that are past at once.
    fn catch_up(&mut self, now: Timestamp, tab: TabId) {
        let ready: BTreeMap<_, _> = self.put_off.extract_if(.., |_, (of, _)| *of == tab).collect();
        if ready.is_empty() {
            return;
        }
        let waiting: Vec<_> =
            self.due.extract_if(.., |(_, number), _| ready.contains_key(number)).collect();
        for ((_, number), event) in waiting {
            let due = ready.get(&number).map_or(now, |(_, due)| *due);
            self.due.insert((due.max(now), number), event);
        }
    }

    fn at(&mut self, when: Timestamp, event: EngineEvent) {
        self.number += 1;
        self.due.insert((when, self.number), event);
    }

    fn navigate(
        &mut self,
        now: Timestamp,
        page_load: PageLoad,
        url: &str,
        from: &str,
        realm: Realm,
    ) {
        let PageLoad { tab, load, kind, .. } = page_load;
        let is_again = matches!(kind, NavigationKind::Reload | NavigationKind::Restore);
        let is_new = !is_again && !matches!(kind, NavigationKind::Traverse(_));
        if let Some(url) = kind.within_document(from, url) {
            let when = now.plus(COMMIT_LOCAL);
            self.at(
                when,
                page_event(
                    tab,
                    load,
                    PageEvent::Committed {
                        url,
                        is_same_document: true,
                        language: None,
                        is_error: false,
                        is_ok: true,
                        frames: Vec::new(),
                    },
                ),
            );
            self.at(when.plus(COMPLETE), page_event(tab, load, PageEvent::Complete));
            return;
        }
        self.http_cache.interrupt(tab, now);
        let url = self
            .new_tab
            .as_deref()
            .filter(|_| url == crate::url::NEW_TAB && realm == Realm::Normal)
            .unwrap_or(if is_new { at_arrival(url) } else { url })
            .to_owned();
        if let Some(source) = &mut self.source {
            source.cancel(tab);
            let elsewhere = Url::parse(&url).ok();
            let elsewhere = elsewhere
                .filter(|url| source.allows(url) && !self.pages.describes(url) && !is_barred(url));
            if let Some(url) = elsewhere {
                return source.fetch(page_load, url);
            }
        }
        let mut outcome = self.pages.load(&url, &self.extension_page_title);
        if let Outcome::Page(url, page) = &mut outcome {
            match realm {
                Realm::Incognito if url == crate::url::NEW_TAB => {
                    page.title = Some(crate::url::INCOGNITO_TITLE.into());
                    page.icon.clone_from(&self.incognito_icon);
                }
                Realm::Barred => page.title = Some(url.clone()),
                Realm::Normal | Realm::Incognito => {}
            }
        }
        self.show(now, page_load, outcome);
    }

    fn show(&mut self, now: Timestamp, page_load: PageLoad, outcome: Outcome) {
        let PageLoad { tab, load, .. } = page_load;
        match outcome {
            Outcome::Nothing => {
                self.at(now.plus(COMMIT), page_event(tab, load, PageEvent::Aborted))
            }
            Outcome::Elsewhere => {
                self.at(now.plus(HAND_OVER), page_event(tab, load, PageEvent::HandedOver));
            }
            Outcome::Page(url, page) => self.arrive(now, page_load, &url, &page),
        }
    }

    /// The language of a page: the one that it declares, else the one that it is written in.
    fn language(&self, page: &Page) -> Option<String> {
        let text = page.text.as_deref().filter(|_| self.detects);
        page.language.clone().or_else(|| crate::engine::language::detected(text?))
    }

    fn arrive(&mut self, now: Timestamp, page_load: PageLoad, url: &str, page: &Page) {
        let PageLoad { tab, load, kind, is_first } = page_load;
        let is_local = !url.starts_with("http");
        let turn = self.turns.next(now);
        let commit = turn.plus(if is_local { COMMIT_LOCAL } else { COMMIT }).plus(page.head_delay);
        self.at(
            commit,
            page_event(
                tab,
                load,
                PageEvent::Committed {
                    url: url.to_owned(),
                    is_same_document: false,
                    language: self.language(page),
                    is_error: page.is_error(),
                    is_ok: page.status == OK,
                    frames: page.frames.iter().map(|frame| join(url, frame)).collect(),
                },
            ),
        );
        let is_traversal = matches!(kind, NavigationKind::Traverse(_));
        if let Some(title) = page.title.clone() {
            self.at(commit.plus(TITLE), page_event(tab, load, PageEvent::Title(title)));
        }
        let is_from_history = matches!(kind, NavigationKind::Restore) || is_traversal;
        let body = if is_from_history && self.http_cache.has(url, now) {
            Duration::ZERO
        } else {
            page.body_delay
        };
        let complete = commit.plus(COMPLETE).plus(body);
        if page.is_cached {
            self.http_cache.fill(url, tab, complete);
        }
        self.at(complete, page_event(tab, load, PageEvent::Complete));
        if let Some(icon) = page.icon.clone() {
            // A new tab is given the icon that is known of its page. In others it is asked for anew, and comes earlier now and then.
            let is_known = is_first && self.known_icons.has(url, commit);
            let when = match is_known {
                true => commit.plus(KNOWN_ICON),
                false if is_traversal => complete.plus(ICON).max(commit.plus(HISTORY_ICON)),
                false => complete.plus(ICON),
            };
            self.at(when, page_event(tab, load, PageEvent::Icon(icon)));
            if !is_local {
                self.known_icons.note(url, when);
            }
        }
        self.scripts.remove(&tab);
        if let Some((delay, script)) = page.script.clone() {
            self.scripts.insert(tab, WaitingScript { load, url: url.to_owned(), delay, script });
        }
    }
}

const fn page_event(tab: TabId, load: u64, event: PageEvent) -> EngineEvent {
    EngineEvent::Page { tab, load, event }
}

impl Engine for SimEngine {
    fn send(&mut self, now: Timestamp, command: EngineCommand) {
        match command {
            EngineCommand::Navigate { tab, load, url, from, kind, realm, is_first } => {
                self.alerts.remove(&tab);
                let is_first = is_first || matches!(kind, NavigationKind::Restore);
                let load = PageLoad { tab, load, kind, is_first };
                self.navigate(now, load, &url, &from, realm);
            }
            EngineCommand::Refuse { tab, load } => {
                self.at(now.plus(COMMIT), page_event(tab, load, PageEvent::Aborted));
            }
            // An event of a page that is gone finds no tab, and is dropped where it arrives.
            EngineCommand::Close { tab } | EngineCommand::Replace { old: tab, .. } => {
                self.http_cache.interrupt(tab, now);
                self.scripts.remove(&tab);
                self.alerts.remove(&tab);
                if let Some(source) = &mut self.source {
                    source.cancel(tab);
                }
            }
            EngineCommand::Capture { request, url, title, width, height, png, quality, .. } => {
                let picture = screenshot::draw(&url, &title, width, height, png, quality);
                self.at(now, EngineEvent::Captured { request, picture });
            }
            EngineCommand::Message { request, frames, message, .. } => {
                self.reply(now, request, &frames, &message)
            }
            EngineCommand::Connect { port, frames, name, .. } => {
                self.connect(now, port, frames, &name)
            }
            EngineCommand::Post { port, message } => self.post(now, &port, &message),
            EngineCommand::Disconnect { port } => {
                self.ports.remove(&port);
            }
            EngineCommand::Gesture { tab, load, url, base, is_shown, script } => {
                if let Some((delay, script)) = script.as_deref().and_then(script_of) {
                    let when = now.plus(Duration::from_millis(1)).plus(delay);
                    let document = Document { tab, load, url: &url, base: &base };
                    let before = self.number;
                    self.run(when, document, &script, true);
                    self.put_off(before, tab, put_off_by(delay, is_shown));
                }
            }
            EngineCommand::EndAlert { tab, load, accepted } => {
                let Some(alert) = self.alerts.remove(&tab) else { return };
                let rest = if accepted { alert.accepted } else { alert.refused };
                if let Some(script) = rest {
                    let when = now.plus(Duration::from_millis(1));
                    let document = Document { tab, load, url: &alert.url, base: &alert.url };
                    self.run(when, document, &script, false);
                }
            }
            EngineCommand::Begin { tab, load, is_shown } => {
                let waiting = self.scripts.remove(&tab).filter(|waiting| waiting.load == load);
                if let Some(WaitingScript { url, delay, script, .. }) = waiting {
                    let read = if delay.is_zero() { Duration::ZERO } else { TIMER_SET };
                    let document = Document { tab, load, url: &url, base: &url };
                    let before = self.number;
                    self.run(now.plus(read).plus(delay), document, &script, false);
                    self.put_off(before, tab, put_off_by(delay, is_shown));
                }
            }
            EngineCommand::Shown { tab } => self.catch_up(now, tab),
        }
    }

    fn poll_event(&mut self, now: Timestamp) -> Option<EngineEvent> {
        while let Some(arrival) = self.source.as_mut().and_then(|source| source.poll_arrival(now)) {
            self.show(arrival.at, arrival.load, arrival.outcome);
        }
        let entry = self.due.first_entry().filter(|entry| entry.key().0 <= now)?;
        self.put_off.remove(&entry.key().1);
        Some(entry.remove())
    }

    fn next_due(&self) -> Option<Timestamp> {
        let arrived = self.source.as_ref().and_then(|source| source.next_due());
        let due = self.due.keys().next().map(|(due, _)| *due);
        [due, arrived].into_iter().flatten().min()
    }
}

impl std::fmt::Debug for SimEngine {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("SimEngine")
            .field("due", &self.due.len())
            .field("has_source", &self.source.is_some())
            .finish_non_exhaustive()
    }
}
