//! Incognito windows: who sees them and their events, and what does not cross between them and the others.

use std::borrow::Cow;
use std::collections::BTreeSet;

use url::Url;

use crate::browser::Browser;
use crate::browser::event::Event;
use crate::browser::extensions::Extensions;
use crate::browser::tab::Tab;
use crate::browser::window::Window;
use crate::error::Error;
use crate::extension::permission::{Extension, Part};
use crate::id::{TabId, WINDOW_ID_NONE, WindowId};
use crate::url::{page_of_source, read};

/// The ids of incognito windows and tabs, those that are gone among them: the last events of these are nobody else's either.
#[derive(Debug, Default)]
pub(super) struct IncognitoIds {
    windows: BTreeSet<i64>,
    tabs: BTreeSet<i64>,
    /// Windows of applications and of the developer tools, of which no event tells.
    untold: BTreeSet<i64>,
}

impl IncognitoIds {
    pub(super) fn add_window(&mut self, id: WindowId) {
        self.windows.insert(id.0);
    }

    /// Notes a tab of a window, which is incognito if the window is.
    pub(super) fn add_tab(&mut self, id: TabId, window: WindowId) {
        if self.windows.contains(&window.0) {
            self.tabs.insert(id.0);
        }
    }

    /// Notes a window of which no event tells.
    pub(super) fn add_untold(&mut self, id: WindowId) {
        self.untold.insert(id.0);
    }

    /// True if no event tells of the window of this one.
    pub(super) fn leaves_untold(&self, event: &Event) -> bool {
        !self.untold.is_empty() && Self::concerns(event, &self.untold, &BTreeSet::new())
    }

    fn has_event(&self, event: &Event) -> bool {
        Self::concerns(event, &self.windows, &self.tabs)
    }

    /// True if an event tells of one of these windows or tabs.
    fn concerns(event: &Event, windows: &BTreeSet<i64>, tabs: &BTreeSet<i64>) -> bool {
        let window = |id: i64| windows.contains(&id);
        match event {
            Event::TabCreated(tab) | Event::TabUpdated { tab, .. } => {
                window(tab.window) || tabs.contains(&tab.id)
            }
            Event::TabMoved { window: id, .. }
            | Event::TabActivated { window: id, .. }
            | Event::TabHighlighted { window: id, .. }
            | Event::TabDetached { window: id, .. }
            | Event::TabAttached { window: id, .. }
            | Event::TabRemoved { window: id, .. }
            | Event::WindowRemoved { window: id, .. }
            | Event::WindowFocused { window: id, .. } => window(*id),
            Event::TabReplaced { added: tab, .. } | Event::TabZoomed { tab, .. } => {
                tabs.contains(tab)
            }
            Event::WindowCreated(view) | Event::WindowPlaced(view) => window(view.id),
            Event::GroupCreated(group)
            | Event::GroupUpdated(group)
            | Event::GroupMoved(group)
            | Event::GroupRemoved(group) => window(group.window.0),
            Event::ClosedChanged
            | Event::PortMessage { .. }
            | Event::PortDisconnected { .. }
            | Event::Script { .. } => false,
        }
    }
}

/// The audience of an event: the extensions that were there, as they were, and whether it was one of an incognito window.
#[derive(Debug, Clone)]
pub struct Audience {
    extensions: Extensions,
    is_incognito: bool,
}

impl Audience {
    /// The event as a part of an extension is told it, if it is, and that extension as it was then.
    #[must_use]
    pub fn told<'a, 'e>(
        &'a self,
        extension: &str,
        part: Part,
        event: &'e Event,
    ) -> Option<(&'a Extension, Cow<'e, Event>)> {
        let extension = self.extensions.get(extension)?;
        Some((extension, told(extension, part, event, self.is_incognito)?))
    }
}

/// True if a part of an extension is told of an event. That no window has the focus any more is news for both.
fn tells(extension: &Extension, part: Part, event: &Event, is_incognito: bool) -> bool {
    extension.receives(event.name())
        && match part {
            Part::Main => extension.sees_incognito() || !is_incognito,
            Part::Incognito => {
                is_incognito || matches!(event, Event::WindowFocused { window: WINDOW_ID_NONE, .. })
            }
        }
}

/// An event as a part of an extension is told it, if it is. Where a window gets the focus that it does not see, no window has it.
fn told<'e>(
    extension: &Extension,
    part: Part,
    event: &'e Event,
    is_incognito: bool,
) -> Option<Cow<'e, Event>> {
    if tells(extension, part, event, is_incognito) {
        return Some(Cow::Borrowed(event));
    }
    let is_of_focus = matches!(event, Event::WindowFocused { .. });
    is_of_focus.then_some(Cow::Owned(Event::NOBODY_FOCUSED))
}

impl Browser {
    /// The audience of an event that happened just now.
    #[must_use]
    pub fn audience(&self, event: &Event) -> Audience {
        let extensions = self.extensions.clone();
        Audience { extensions, is_incognito: self.incognito.has_event(event) }
    }

    /// True if an extension is told of an event: those of groups need their permission, those of incognito windows the user's leave.
    #[must_use]
    pub fn tells(&self, extension: &Extension, event: &Event) -> bool {
        tells(extension, Part::Main, event, self.incognito.has_event(event))
    }

    /// An event as a part of an extension is told it, if it is. Where a window gets the focus that it does not see, no window has it.
    #[must_use]
    pub fn told<'e>(
        &self,
        extension: &Extension,
        part: Part,
        event: &'e Event,
    ) -> Option<Cow<'e, Event>> {
        told(extension, part, event, self.incognito.has_event(event))
    }

    /// The part of an extension that a page of it in this tab belongs to; without a tab it is the main one.
    #[must_use]
    pub fn part(&self, extension: &str, page: Option<TabId>) -> Part {
        let window = page.and_then(|tab| self.strips.window(self.strips.tab(tab)?.window));
        let is_split = self.extension(extension).is_some_and(Extension::is_split);
        if is_split && window.is_some_and(|window| window.incognito) {
            Part::Incognito
        } else {
            Part::Main
        }
    }

    /// True if there were incognito windows at any time.
    pub(crate) fn had_incognito(&self) -> bool {
        !self.incognito.windows.is_empty()
    }

    /// True if a tab stands in an incognito window.
    pub(super) fn is_incognito(&self, tab: &Tab) -> bool {
        self.strips.window(tab.window).is_some_and(|window| window.incognito)
    }

    /// Refuses to bring a tab from an incognito window to another one, and the other way round.
    pub(crate) fn check_same_profile(&self, tab: TabId, window: WindowId) -> Result<(), Error> {
        let own = self.window(self.tab(tab)?.window)?.incognito;
        if self.window(window)?.incognito == own { Ok(()) } else { Err(Error::OtherProfile) }
    }

    /// The window of the other kind in which a page opens that may not open in this one: an incognito window shows no pages of the
    /// browser's settings, and none of an extension that spans both kinds.
    pub(crate) fn window_for_page(&self, window: WindowId, url: &str) -> WindowId {
        let is_normal = |window: &Window| !window.incognito;
        match self.window(window) {
            Ok(state) if state.incognito && !is_allowed_incognito(url) => {
                let order = self.focus.order().iter();
                let mut normal = order.filter_map(|id| self.strips.window(*id));
                normal.find(|window| is_normal(window)).map_or(window, |window| window.id)
            }
            _ => window,
        }
    }
}

/// Pages that belong to the user, and are not shown incognito.
const PAGES_OF_THE_USER: [&str; 6] = [
    "chrome://settings",
    "chrome://history",
    "chrome://help",
    "chrome://extensions",
    "chrome://password-manager",
    EXTENSION_PAGE,
];

/// The scheme of pages of extensions.
const EXTENSION_PAGE: &str = "chrome-extension://";

impl Browser {
    /// Refuses to send a tab of an incognito window to a page that belongs to the user, as a text names it before anything else is made of that. That of
    /// an extension is another matter.
    pub(crate) fn check_allowed_incognito(&self, tab: TabId, text: &str) -> Result<(), Error> {
        let is_of_user = |url: &Url| {
            !is_allowed_incognito(url.as_str()) && !url.as_str().starts_with(EXTENSION_PAGE)
        };
        let is_barred =
            self.is_incognito(self.tab(tab)?) && read(text).is_ok_and(|url| is_of_user(&url));
        if is_barred { Err(Error::NotInIncognito(text.to_owned())) } else { Ok(()) }
    }

    /// True if a tab is incognito and shows no page of the extension that an address is of: one that spans both kinds of windows has its pages in the others
    /// alone.
    pub(super) fn bars_extension_page(&self, tab: &Tab, url: &str) -> bool {
        let id = url.strip_prefix(EXTENSION_PAGE).and_then(|rest| rest.split('/').next());
        let extension = id.and_then(|id| self.extension(id));
        self.is_incognito(tab) && extension.is_some_and(|extension| !extension.is_split())
    }
}

/// True for a page that an incognito window shows, or whose source it shows.
pub(crate) fn is_allowed_incognito(url: &str) -> bool {
    let url = page_of_source(url);
    !PAGES_OF_THE_USER.iter().any(|page| url.starts_with(page))
}
