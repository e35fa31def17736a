//! The browser: the one mutable state, and the one way to change it.
//!
//! [`Browser::apply`] takes a call and answers it; what happened meanwhile is drained with
//! [`Browser::poll_event`], what the engine is to do with [`Browser::poll_engine`], answers that came
//! later with [`Browser::poll_answer`]. News of the engine goes into [`Browser::hear`], the passing
//! of time into [`Browser::tick`], due at [`Browser::next_due`]. Nothing here reads a clock or waits.

pub mod captures;
pub mod content_scripts;
mod discarding;
pub mod event;
mod freezing;
pub mod group;
mod grouping;
mod history;
mod invariant;
pub mod messaging;
mod strip;
pub mod tab;
pub mod user_action;
pub mod window;
mod zoom;

use std::collections::{BTreeMap, HashMap, VecDeque};
use std::sync::Arc;

use serde::ser::{Serialize, Serializer};
use serde_json::Value;
use triptych_core::time::Timestamp;

use crate::browser::content_scripts::{HostId, Script, ScriptId};
use crate::browser::event::{Change, Event};
use crate::browser::group::{GROUP_ID_NONE, Group, GroupId};
use crate::browser::messaging::{Exchange, Port};
use crate::browser::tab::{Status, Tab, TabId, TabView};
use crate::browser::window::{WINDOW_ID_CURRENT, Window, WindowId, WindowKind, WindowView};
use crate::engine::{EngineCommand, Request};
use crate::error::Error;
use crate::extension::permission::{Access, Extension};
use crate::js_value::Js;
use crate::operation::argument::Arguments;
use crate::operation::call::Call;
use crate::operation::{Action, Operation};

/// Where the specification and the measured browser differ, which of the two counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Compat {
    /// The specification, where it says something.
    #[default]
    Spec,
    /// The real browser, as recorded.
    Browser,
}

/// Where in an extension a call comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Context {
    /// A background worker or a popup: no tab.
    Worker,
    /// An extension page in this tab.
    Page(TabId),
}

/// Who calls.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Caller {
    /// The id of the extension.
    pub extension: String,
    /// From where.
    pub context: Context,
}

/// How the caller wants the answer (Spec tabs-api §1).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Style {
    /// As a promise.
    #[default]
    Promise,
    /// By a callback.
    Callback,
}

/// One call, checked.
#[derive(Debug, Clone)]
pub struct Command {
    /// What is called.
    pub operation: &'static Operation,
    /// With what.
    pub arguments: Arguments,
    /// How it is answered.
    pub style: Style,
}

impl Command {
    /// Reads a call.
    ///
    /// # Errors
    /// `NoSuchOperation`, `Arguments`, `Unserializable`, in this order.
    pub fn read(name: &str, given: &[Js], style: Style) -> Result<Self, Error> {
        let operation =
            Operation::find(name).ok_or_else(|| Error::NoSuchOperation(name.to_owned()))?;
        Ok(Self { operation, arguments: Arguments::check(operation, given)?, style })
    }
}

/// What a call is answered with, without what the caller may not see. It serializes to what the promise resolves with.
#[derive(Debug, Clone, PartialEq)]
pub enum Answer {
    /// A tab.
    Tab(Box<TabView>),
    /// Tabs, in their order.
    Tabs(Vec<TabView>),
    /// A window.
    Window(Box<WindowView>),
    /// Windows, in the order of their creation.
    Windows(Vec<WindowView>),
    /// Anything else.
    Value(Value),
    /// Nothing: the promise resolves without a value, the callback gets no argument.
    Undefined,
    /// It comes by [`Browser::poll_answer`] under this name.
    Later(Request),
}

impl Serialize for Answer {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Tab(tab) => tab.serialize(serializer),
            Self::Tabs(tabs) => tabs.serialize(serializer),
            Self::Window(window) => window.serialize(serializer),
            Self::Windows(windows) => windows.serialize(serializer),
            Self::Value(value) => value.serialize(serializer),
            Self::Undefined | Self::Later(_) => serializer.serialize_unit(),
        }
    }
}

impl Answer {
    /// Whether it is a value, and not the absence of one.
    #[must_use]
    pub const fn is_value(&self) -> bool {
        !matches!(self, Self::Undefined | Self::Later(_))
    }
}

/// A call whose answer waits for the engine.
#[derive(Debug, Clone)]
pub(crate) enum Waiting {
    Capture,
    Message(Exchange),
    /// It waits for the page of this tab.
    Language(TabId),
}

/// Something that the browser does by itself after a while.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Timer {
    /// A tab of a collapsed group freezes.
    Freeze(TabId),
    /// A page that was kept for going back shows that it was frozen, and no longer is.
    Thaw { tab: TabId, load: u64, frozen: bool },
    /// A tab that is shown again is no longer frozen.
    Unfreeze(TabId),
}

/// A tab that was closed, for `sessions.restore`.
#[derive(Debug, Clone)]
pub(crate) struct Closed {
    pub(crate) tab: Tab,
    pub(crate) index: usize,
    pub(crate) at: Timestamp,
}

/// The state of one browser: windows, tabs, groups, zoom levels, extensions.
#[derive(Debug)]
pub struct Browser {
    pub(crate) now: Timestamp,
    pub(crate) compat: Compat,
    pub(crate) windows: BTreeMap<WindowId, Window>,
    pub(crate) tabs: HashMap<TabId, Tab>,
    pub(crate) groups: BTreeMap<GroupId, Group>,
    pub(crate) extensions: BTreeMap<String, Extension>,
    /// Window ids, the one that had the focus last in front.
    pub(crate) focus_order: Vec<WindowId>,
    pub(crate) has_focus: bool,
    pub(crate) zoom_levels: BTreeMap<String, f64>,
    pub(crate) dragging: bool,
    pub(crate) captures: HashMap<String, VecDeque<Timestamp>>,
    pub(crate) closed: Vec<Closed>,
    pub(crate) ports: BTreeMap<String, Port>,
    pub(crate) scripts: BTreeMap<ScriptId, Script>,
    /// Who plays the declared scripts of which extension.
    pub(crate) script_hosts: BTreeMap<HostId, String>,
    pub(crate) waiting: BTreeMap<Request, Waiting>,
    pub(crate) timers: BTreeMap<(Timestamp, u64), Timer>,
    pub(crate) dirty: crate::store::Dirty,
    events: VecDeque<Event>,
    commands: VecDeque<EngineCommand>,
    answers: VecDeque<(Request, Result<Answer, Error>)>,
    next_id: i64,
    next_number: u64,
}

/// Ids begin here, so that they are never taken for an index or a count.
const FIRST_ID: i64 = 1_000_001;

impl Browser {
    /// A browser without windows.
    #[must_use]
    pub fn new(now: Timestamp, compat: Compat) -> Self {
        Self {
            now,
            compat,
            windows: BTreeMap::new(),
            tabs: HashMap::new(),
            groups: BTreeMap::new(),
            extensions: BTreeMap::new(),
            focus_order: Vec::new(),
            has_focus: true,
            zoom_levels: BTreeMap::new(),
            dragging: false,
            captures: HashMap::new(),
            closed: Vec::new(),
            ports: BTreeMap::new(),
            scripts: BTreeMap::new(),
            script_hosts: BTreeMap::new(),
            waiting: BTreeMap::new(),
            timers: BTreeMap::new(),
            dirty: crate::store::Dirty::default(),
            events: VecDeque::new(),
            commands: VecDeque::new(),
            answers: VecDeque::new(),
            next_id: FIRST_ID,
            next_number: 1,
        }
    }

    /// A browser with one focused window of one blank tab that is there already.
    #[must_use]
    pub fn with_blank_window(now: Timestamp, compat: Compat) -> Self {
        let mut browser = Self::new(now, compat);
        let window = browser.add_window(WindowKind::Normal);
        browser.focus(window);
        let tab = browser.new_tab(window);
        if let Some(state) = browser.tabs.get_mut(&tab) {
            state.url = "about:blank".into();
            state.title = "about:blank".into();
            state.was_shown = true;
            state.is_fresh = false;
            state.history.push(tab::Entry {
                url: "about:blank".into(),
                title: "about:blank".into(),
                was_used: false,
                is_cached: false,
            });
        }
        if let Some(state) = browser.windows.get_mut(&window) {
            state.tabs.push(tab);
            state.active = Some(tab);
            state.highlighted.insert(tab);
        }
        browser.events.clear();
        browser.touch_all();
        browser
    }

    /// Installs an extension, or replaces the one of its id.
    pub fn install(&mut self, extension: Extension) {
        self.extensions.insert(extension.id.clone(), extension);
    }

    /// Removes an extension; its calls are refused from now on.
    pub fn uninstall(&mut self, id: &str) {
        self.extensions.remove(id);
    }

    /// What an extension may see.
    #[must_use]
    pub fn access(&self, extension: &str) -> Option<Access<'_>> {
        self.extensions.get(extension).map(Access::Of)
    }

    /// Answers a call at `now`. On an error the events of what was done before it remain to be drained.
    ///
    /// # Errors
    /// The [`Error`] of the operation, in the order of its checks.
    pub fn apply(
        &mut self,
        now: Timestamp,
        caller: &Caller,
        command: &Command,
    ) -> Result<Answer, Error> {
        self.now = self.now.max(now);
        if !self.extensions.contains_key(&caller.extension) {
            return Err(Error::Unsupported("this extension is not installed".into()));
        }
        let call = Call { caller, arguments: &command.arguments, style: command.style };
        let answer = self.dispatch(command.operation.action, &call);
        self.assert_invariants();
        answer
    }

    fn dispatch(&mut self, action: Action, call: &Call<'_>) -> Result<Answer, Error> {
        match action {
            Action::CaptureVisibleTab => self.capture_visible_tab(call),
            Action::Connect => self.connect(call),
            Action::Create => self.create(call),
            Action::DetectLanguage => self.detect_language(call),
            Action::Discard => self.discard(call),
            Action::Duplicate => self.duplicate(call),
            Action::Get => self.get(call),
            Action::GetCurrent => self.get_current(call),
            Action::GetZoom => self.get_zoom(call),
            Action::GetZoomSettings => self.get_zoom_settings(call),
            Action::GoBack => self.traverse(call, false),
            Action::GoForward => self.traverse(call, true),
            Action::Group => self.group_tabs(call),
            Action::Highlight => self.highlight(call),
            Action::Move => self.move_tabs(call),
            Action::Query => self.query(call),
            Action::Reload => self.reload(call),
            Action::Remove => self.remove(call),
            Action::SendMessage => self.send_message(call),
            Action::SetZoom => self.set_zoom(call),
            Action::SetZoomSettings => self.set_zoom_settings(call),
            Action::Ungroup => self.ungroup(call),
            Action::Update => self.update(call),
            Action::WindowGet => self.window_get(call),
            Action::WindowGetCurrent => self.window_get_current(call),
            Action::WindowGetLastFocused => self.window_get_last_focused(call),
            Action::WindowGetAll => self.window_get_all(call),
            Action::WindowCreate => self.window_create(call),
            Action::WindowUpdate => self.window_update(call),
            Action::WindowRemove => self.window_remove(call),
            Action::GroupGet => self.group_get(call),
            Action::GroupQuery => self.group_query(call),
            Action::GroupUpdate => self.group_update(call),
            Action::GroupMove => self.group_move(call),
            Action::SessionRestore => self.session_restore(call),
        }
    }

    /// The next event, oldest first.
    pub fn poll_event(&mut self) -> Option<Event> {
        self.events.pop_front()
    }

    /// The next thing for the engine to do, oldest first.
    pub fn poll_engine(&mut self) -> Option<EngineCommand> {
        self.commands.pop_front()
    }

    /// The next answer that came later.
    pub fn poll_answer(&mut self) -> Option<(Request, Result<Answer, Error>)> {
        self.answers.pop_front()
    }

    /// When [`Browser::tick`] has something to do.
    #[must_use]
    pub fn next_due(&self) -> Option<Timestamp> {
        self.timers.keys().next().map(|(due, _)| *due)
    }

    /// Does what is due at `now`.
    pub fn tick(&mut self, now: Timestamp) {
        self.now = self.now.max(now);
        while let Some(((due, number), timer)) = self.timers.pop_first() {
            if due > now {
                self.timers.insert((due, number), timer);
                return;
            }
            self.ring(&timer);
        }
    }

    /// Whether a tab is on its way to a page.
    #[must_use]
    pub fn is_loading(&self) -> bool {
        self.tabs.values().any(|tab| tab.status == Status::Loading)
    }

    /// The windows and their tabs, as `windows.getAll({populate: true})` shows them to somebody with this access.
    #[must_use]
    pub fn all_windows(&self, access: &Access<'_>) -> Vec<WindowView> {
        self.windows.values().map(|window| self.window_view(window, true, access)).collect()
    }

    pub(crate) fn emit(&mut self, event: Event) {
        self.dirty.note(&event);
        self.events.push_back(event);
    }

    pub(crate) fn command(&mut self, command: EngineCommand) {
        self.commands.push_back(command);
    }

    pub(crate) fn answer(&mut self, request: Request, answer: Result<Answer, Error>) {
        self.answers.push_back((request, answer));
    }

    pub(crate) const fn counters(&self) -> (i64, u64) {
        (self.next_id, self.next_number)
    }

    pub(crate) fn set_counters(&mut self, next_id: i64, next_number: u64) {
        self.next_id = self.next_id.max(next_id);
        self.next_number = self.next_number.max(next_number);
    }

    pub(crate) fn next_number(&mut self) -> u64 {
        self.next_number += 1;
        self.next_number
    }

    pub(crate) fn next_id(&mut self) -> i64 {
        self.next_id += 1;
        self.next_id
    }

    pub(crate) fn set_timer(&mut self, after: std::time::Duration, timer: Timer) {
        let number = self.next_number();
        self.timers.insert((self.now.plus(after), number), timer);
    }

    pub(crate) fn tab(&self, id: TabId) -> Result<&Tab, Error> {
        self.tabs.get(&id).ok_or(Error::NoTab(id.0))
    }

    pub(crate) fn tab_mut(&mut self, id: TabId) -> Result<&mut Tab, Error> {
        self.tabs.get_mut(&id).ok_or(Error::NoTab(id.0))
    }

    pub(crate) fn window(&self, id: WindowId) -> Result<&Window, Error> {
        self.windows.get(&id).ok_or(Error::NoWindow(id.0))
    }

    pub(crate) fn window_mut(&mut self, id: WindowId) -> Result<&mut Window, Error> {
        self.windows.get_mut(&id).ok_or(Error::NoWindow(id.0))
    }

    /// The window that an argument names: the current one if there is none or it says so.
    pub(crate) fn named_window(&self, call: &Call<'_>, id: Option<i64>) -> Result<WindowId, Error> {
        match id {
            None | Some(WINDOW_ID_CURRENT) => self.current_window(call),
            Some(id) => self.window(WindowId(id)).map(|window| window.id),
        }
    }

    /// The window that a call comes from; for a worker the one that had the focus last.
    pub(crate) fn current_window(&self, call: &Call<'_>) -> Result<WindowId, Error> {
        if let Context::Page(tab) = call.caller.context
            && let Some(tab) = self.tabs.get(&tab)
        {
            return Ok(tab.window);
        }
        self.focus_order.first().copied().ok_or(Error::NoCurrentWindow)
    }

    /// The tab that an argument names, or the active one of the current window.
    pub(crate) fn named_tab(&self, call: &Call<'_>, place: usize) -> Result<TabId, Error> {
        match call.arguments.integer(place) {
            Some(id) => self.tab(TabId(id)).map(|tab| tab.id),
            None => {
                let window = self.window(self.current_window(call)?)?;
                window.active.ok_or(Error::NoCurrentWindow)
            }
        }
    }

    pub(crate) fn check_not_dragging(&self) -> Result<(), Error> {
        if self.dragging { Err(Error::Dragging) } else { Ok(()) }
    }

    /// The window that has, or had last, the focus.
    pub(crate) fn focused_window(&self) -> Option<&Window> {
        self.windows.get(self.focus_order.first()?)
    }

    /// The state of a tab at this moment.
    pub(crate) fn view(&self, id: TabId) -> Option<TabView> {
        let tab = self.tabs.get(&id)?;
        let window = self.windows.get(&tab.window)?;
        let index = window.index_of(id)?;
        Some(self.view_at(tab, window, index))
    }

    pub(crate) fn view_at(&self, tab: &Tab, window: &Window, index: usize) -> TabView {
        let shows_pixels = !tab.discarded;
        let has_opener = tab
            .opener
            .and_then(|opener| self.tabs.get(&opener))
            .is_some_and(|opener| opener.window == tab.window);
        TabView {
            id: tab.id.0,
            window: tab.window.0,
            index: i64::try_from(index).unwrap_or(i64::MAX),
            group: tab.group.map_or(GROUP_ID_NONE, |group| group.0),
            opener: tab.opener.filter(|_| has_opener).map(|opener| opener.0),
            active: window.active == Some(tab.id),
            highlighted: window.highlighted.contains(&tab.id),
            pinned: tab.pinned,
            audible: tab.audible,
            auto_discardable: tab.auto_discardable,
            discarded: tab.discarded,
            frozen: tab.frozen,
            incognito: window.incognito,
            muted: tab.muted.clone(),
            last_accessed: tab.last_accessed,
            status: tab.status,
            url: Some(Arc::clone(&tab.url)),
            pending_url: tab
                .pending
                .as_ref()
                .filter(|pending| pending.is_shown)
                .map(|pending| Arc::clone(&pending.url)),
            title: Some(Arc::clone(&tab.title)),
            icon: tab.icon.clone(),
            width: if shows_pixels { window.bounds.width } else { 0 },
            height: if shows_pixels { window.bounds.height - 88 } else { 0 },
        }
    }

    /// Tells that a tab changed, as it is now.
    pub(crate) fn updated(&mut self, id: TabId, change: Change) {
        if let Some(tab) = self.view(id) {
            let group = change.group;
            self.emit(Event::TabUpdated { change, tab });
            if let Some(group) = group {
                self.freeze_by_group(id, group);
            }
        }
    }

    pub(crate) fn access_of(&self, call: &Call<'_>) -> Access<'_> {
        // A call of an extension that is not installed is refused before it gets here.
        self.extensions.get(&call.caller.extension).map_or(Access::Full, Access::Of)
    }

    /// The tab as the caller sees it.
    pub(crate) fn shown(&self, call: &Call<'_>, id: TabId) -> Result<Answer, Error> {
        let view = self.view(id).ok_or(Error::NoTab(id.0))?;
        Ok(Answer::Tab(Box::new(view.seen_by(&self.access_of(call)))))
    }
}
