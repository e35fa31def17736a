//! The browser: the one mutable state, and the ways to change it.
//!
//! [`Browser::apply`] answers a call; events of it are drained with [`Browser::poll_event`], commands to
//! the engine with [`Browser::poll_engine`], answers that came later with [`Browser::poll_answer`].
//! Events of the engine go into [`Browser::on_engine_event`], the passing of time into [`Browser::tick`],
//! due at [`Browser::next_due`]. Nothing here reads a clock or waits.
//!
//! Each part of the state is private to the module that keeps its rules.

mod alert;
mod answer;
mod background_loads;
pub mod captures;
pub(crate) mod closed;
pub mod content_scripts;
mod context_group;
mod counters;
pub mod devices;
mod dirty;
mod discarding;
mod engine_event;
pub mod event;
mod extensions;
mod focus;
mod freezing;
pub mod group;
mod history;
mod history_entries;
pub(crate) mod incognito;
mod invariant;
mod language;
pub mod messaging;
mod mute;
pub(crate) mod muted_sites;
mod page_tasks;
mod pause;
mod repeated_navigation;
mod restored;
pub mod script_event;
pub(crate) mod scripting;
mod sound;
pub(crate) mod strip;
pub mod tab;
pub(crate) mod tab_group;
mod timers;
pub mod user_action;
mod view;
pub mod window;
pub mod window_state;
pub(crate) mod zoom;
pub(crate) mod zoom_levels;

use std::collections::VecDeque;
use std::sync::Arc;
use std::time::Duration;

use triptych_core::time::Timestamp;

pub use self::answer::Answer;
use self::background_loads::BackgroundLoads;
use self::captures::Captures;
use self::closed::ClosedTabs;
use self::content_scripts::ContentScripts;
use self::counters::Counters;
use self::devices::Devices;
use self::dirty::DirtySet;
pub(crate) use self::dirty::{KeptStrip, PieceCounts};
use self::event::Event;
use self::extensions::Extensions;
use self::focus::Focus;
pub use self::incognito::Audience;
use self::incognito::IncognitoIds;
use self::language::LanguageQueries;
use self::messaging::Messaging;
use self::muted_sites::MutedSites;
use self::page_tasks::PageTasks;
pub(crate) use self::restored::RestoredState;
use self::strip::{Leavings, Strips};
use self::tab::{HistoryEntry, Status, Tab};
use self::timers::{Timer, Timers};
use self::window::{Screen, Window, WindowKind};
use self::zoom_levels::ZoomLevels;
use crate::engine::EngineCommand;
use crate::error::Error;
use crate::id::{GroupId, RequestId, TabId, WindowId};
use crate::url::BLANK;
use crate::version::BrowserVersion;

/// The authority that counts where the specification and the measured browser differ.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Compat {
    /// The specification, where it says something.
    #[default]
    Spec,
    /// The real browser, as recorded.
    Browser,
}

/// The state of one browser: windows, tabs, groups, zoom levels, extensions.
#[derive(Debug)]
pub struct Browser {
    now: Timestamp,
    compat: Compat,
    version: BrowserVersion,
    screen: Screen,
    strips: Strips,
    focus: Focus,
    incognito: IncognitoIds,
    is_dragging: bool,
    /// The group whose header the user drags along its strip: it hides its tabs meanwhile, whichever are highlighted.
    held_group: Option<GroupId>,
    /// Windows that lost their last tab in the call or event that is being worked on.
    emptied_windows: Vec<WindowId>,
    extensions: Extensions,
    zoom_levels: ZoomLevels,
    muted_sites: MutedSites,
    captures: Captures,
    languages: LanguageQueries,
    closed_tabs: ClosedTabs,
    background_loads: BackgroundLoads,
    devices: Devices,
    messaging: Messaging,
    page_tasks: PageTasks,
    content_scripts: ContentScripts,
    timers: Timers,
    leavings: Leavings,
    counters: Counters,
    dirty: DirtySet,
    events: VecDeque<Event>,
    commands: VecDeque<EngineCommand>,
    answers: VecDeque<(RequestId, Result<Answer, Error>)>,
}

impl Browser {
    /// A browser without windows.
    #[must_use]
    pub fn new(now: Timestamp, compat: Compat) -> Self {
        Self {
            now,
            compat,
            version: BrowserVersion::LATEST,
            screen: Screen::default(),
            strips: Strips::default(),
            focus: Focus::of(Vec::new()),
            incognito: IncognitoIds::default(),
            is_dragging: false,
            held_group: None,
            emptied_windows: Vec::new(),
            extensions: Extensions::default(),
            zoom_levels: ZoomLevels::default(),
            muted_sites: MutedSites::default(),
            captures: Captures::default(),
            languages: LanguageQueries::default(),
            closed_tabs: ClosedTabs::default(),
            background_loads: BackgroundLoads::default(),
            devices: Devices::default(),
            messaging: Messaging::default(),
            page_tasks: PageTasks::default(),
            content_scripts: ContentScripts::default(),
            timers: Timers::default(),
            leavings: Leavings::default(),
            counters: Counters::new(),
            dirty: DirtySet::default(),
            events: VecDeque::new(),
            commands: VecDeque::new(),
            answers: VecDeque::new(),
        }
    }

    /// A browser with one focused window of one blank tab that is there already.
    #[must_use]
    pub fn with_blank_window(now: Timestamp, compat: Compat) -> Self {
        let mut browser = Self::new(now, compat);
        let window = browser.add_window(WindowKind::Normal, false);
        browser.give_focus(window);
        let tab = browser.add_tab(window);
        if let Some(state) = browser.strips.tab_mut(tab) {
            let blank = Arc::<str>::from(BLANK);
            (state.url, state.title) = (Arc::clone(&blank), Arc::clone(&blank));
            state.title_is_address = true;
            (state.was_shown, state.knows_language) = (true, true);
            state.is_fresh = false;
            state.focuses_address = true;
            state.history.push(HistoryEntry {
                url: Arc::clone(&blank),
                title: blank,
                icon: None,
                document: 0,
                was_used: false,
                kept: None,
                is_of_frame: false,
                left_with: 0,
                context_group: tab,
                origin: None,
                knows_language: true,
                own_factor: None,
            });
        }
        if let Some(state) = browser.strips.window_mut(window) {
            state.tabs.push(tab);
            state.active = Some(tab);
            state.highlighted.insert(tab);
        }
        browser.events.clear();
        browser.touch_all();
        browser
    }

    /// The time that the browser has come to.
    #[must_use]
    pub const fn time(&self) -> Timestamp {
        self.now
    }

    /// Lets the browser's own time come to `now`; it never goes back.
    pub(crate) fn set_time(&mut self, now: Timestamp) {
        self.now = self.now.max(now);
    }

    /// The authority that counts where the specification and the measured browser differ.
    pub(crate) const fn compat(&self) -> Compat {
        self.compat
    }

    /// The version of which the browser is.
    pub(crate) const fn version(&self) -> BrowserVersion {
        self.version
    }

    /// Makes it a browser of this version: what came later is not there.
    pub const fn set_version(&mut self, version: BrowserVersion) {
        self.version = version;
    }

    /// The next event, oldest first.
    pub fn poll_event(&mut self) -> Option<Event> {
        self.events.pop_front()
    }

    /// The next command for the engine, oldest first.
    pub fn poll_engine(&mut self) -> Option<EngineCommand> {
        self.commands.pop_front()
    }

    /// The next answer that came later.
    pub fn poll_answer(&mut self) -> Option<(RequestId, Result<Answer, Error>)> {
        self.answers.pop_front()
    }

    /// The time at which [`Browser::tick`] has something to do.
    #[must_use]
    pub fn next_due(&self) -> Option<Timestamp> {
        self.timers.next_due()
    }

    /// Does everything that is due at `now`.
    pub fn tick(&mut self, now: Timestamp) {
        self.set_time(now);
        while let Some(timer) = self.timers.pop_due(now) {
            self.fire_timer(&timer);
        }
    }

    /// True while any tab is on its way to a page.
    #[must_use]
    pub fn is_loading(&self) -> bool {
        self.strips.tabs().any(|tab| tab.status == Status::Loading)
    }

    fn emit(&mut self, event: Event) {
        self.dirty.note(&event);
        if self.version.has(event.name()) && !self.incognito.leaves_untold(&event) {
            self.events.push_back(event);
        }
    }

    fn command(&mut self, command: EngineCommand) {
        self.commands.push_back(command);
    }

    fn answer(&mut self, request: RequestId, answer: Result<Answer, Error>) {
        self.answers.push_back((request, answer));
    }

    const fn next_id(&mut self) -> i64 {
        self.counters.next_id()
    }

    const fn next_number(&mut self) -> u64 {
        self.counters.next_number()
    }

    const fn next_request(&mut self) -> RequestId {
        RequestId(self.next_number())
    }

    fn set_timer(&mut self, after: Duration, timer: Timer) {
        let number = self.next_number();
        self.timers.set(self.now.plus(after), number, timer);
    }

    /// Windows, tabs and groups, to look at.
    pub(crate) const fn strips(&self) -> &Strips {
        &self.strips
    }

    /// The order in which windows had the focus, to look at.
    pub(crate) const fn focus(&self) -> &Focus {
        &self.focus
    }

    /// Zoom levels of hosts, to look at.
    pub(crate) const fn zoom_levels(&self) -> &ZoomLevels {
        &self.zoom_levels
    }

    pub(crate) const fn muted_sites(&self) -> &MutedSites {
        &self.muted_sites
    }

    /// Sessions that were closed last, to look at.
    pub(crate) const fn closed_tabs(&self) -> &ClosedTabs {
        &self.closed_tabs
    }

    /// Sessions that were closed last, for whoever keeps rows of them.
    pub(crate) const fn closed_tabs_mut(&mut self) -> &mut ClosedTabs {
        &mut self.closed_tabs
    }

    pub(crate) const fn counters(&self) -> &Counters {
        &self.counters
    }

    pub(crate) fn tab(&self, id: TabId) -> Result<&Tab, Error> {
        self.strips.tab(id).ok_or(Error::NoTab(id.0))
    }

    fn tab_mut(&mut self, id: TabId) -> Result<&mut Tab, Error> {
        self.strips.tab_mut(id).ok_or(Error::NoTab(id.0))
    }

    pub(crate) fn window(&self, id: WindowId) -> Result<&Window, Error> {
        self.strips.window(id).ok_or(Error::NoWindow(id.0))
    }

    fn window_mut(&mut self, id: WindowId) -> Result<&mut Window, Error> {
        self.strips.window_mut(id).ok_or(Error::NoWindow(id.0))
    }

    /// Refuses to edit tabs while the user drags one (Spec tabs-api §7.1).
    pub(crate) const fn check_not_dragging(&self) -> Result<(), Error> {
        if self.is_dragging { Err(Error::Dragging) } else { Ok(()) }
    }
}
