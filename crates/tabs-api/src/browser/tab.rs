//! A tab: its state, and the view of it that events and results carry.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use serde::ser::{Serialize, SerializeMap, Serializer};
use triptych_core::time::Timestamp;

use crate::engine::NavigationKind;
use crate::engine::listener::{LeaveListener, Moment};
use crate::extension::permission::Access;
use crate::id::{GroupId, TabId, WindowId};
use crate::url::{NEW_TAB_PAGES, root};
use crate::version::BrowserVersion;

/// The state of a tab's page (Spec tabs-api §2).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Status {
    /// Not in memory.
    Unloaded,
    /// On its way.
    Loading,
    /// There.
    Complete,
}

impl Status {
    /// The word of the interface.
    #[must_use]
    pub const fn word(self) -> &'static str {
        match self {
            Self::Unloaded => "unloaded",
            Self::Loading => "loading",
            Self::Complete => "complete",
        }
    }
}

/// The reason for a tab's mute state.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum MuteReason {
    /// The user said so of the page's site.
    User,
    /// The user said so of a page of the browser's own, which is of no site.
    BrowserPage,
    /// A capture of the tab began.
    Capture,
    /// The extension of this id said so.
    Extension(Arc<str>),
}

impl MuteReason {
    /// The words of the interface, in alphabetical order.
    pub const WORDS: &[&str] = &["capture", "extension", "user"];
}

/// The mute state of a tab. Without a reason it never changed.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct MutedInfo {
    /// True if it may make no sound.
    pub muted: bool,
    /// The reason.
    pub reason: Option<MuteReason>,
}

impl Serialize for MutedInfo {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut out = serializer.serialize_map(None)?;
        if let Some(MuteReason::Extension(id)) = &self.reason {
            out.serialize_entry("extensionId", id.as_ref())?;
        }
        out.serialize_entry("muted", &self.muted)?;
        match &self.reason {
            Some(MuteReason::User | MuteReason::BrowserPage) => {
                out.serialize_entry("reason", "user")?
            }
            Some(MuteReason::Capture) => out.serialize_entry("reason", "capture")?,
            Some(MuteReason::Extension(_)) => out.serialize_entry("reason", "extension")?,
            None => {}
        }
        out.end()
    }
}

/// The factor of a page that nobody zoomed.
pub(crate) const DEFAULT_FACTOR: f64 = 1.0;

/// The zoom of a tab: settings that end with the next navigation, and what its page has of its own.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ZoomState {
    /// The mode.
    pub mode: ZoomMode,
    /// True if the factor is the host's.
    pub is_per_origin: bool,
    /// The factor that its page has of its own, and has again when it comes back.
    pub own_factor: Option<f64>,
    /// The factor that an extension scales by; it outlives that the tab is not zoomed.
    pub manual_factor: f64,
}

/// The one who scales the page (Spec tabs-api §2).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ZoomMode {
    /// The browser.
    Automatic,
    /// The extension.
    Manual,
    /// Nobody.
    Disabled,
}

impl Default for ZoomState {
    fn default() -> Self {
        Self {
            mode: ZoomMode::Automatic,
            is_per_origin: true,
            own_factor: None,
            manual_factor: DEFAULT_FACTOR,
        }
    }
}

/// A document that a tab shows, or keeps for going back to it.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Document {
    /// Tells it from every other one.
    pub number: u64,
    /// The files that were put into its frames, by the extension that did so and the number of the frame.
    pub injected: BTreeMap<(String, u32), BTreeSet<String>>,
    /// Extensions that came after it: the scripts that their manifests declare do not run in it.
    pub latecomers: BTreeSet<String>,
    /// The listeners of its page for being left.
    pub listeners: BTreeSet<LeaveListener>,
}

impl Document {
    /// True if it listens for `unload`: it is kept for nobody then.
    #[must_use]
    pub fn listens_for_unload(&self) -> bool {
        self.listeners.iter().any(|listener| listener.moment == Moment::Leave)
    }
}

/// One page of a tab's history.
#[derive(Debug, Clone, PartialEq)]
pub struct HistoryEntry {
    /// Its URL.
    pub url: Arc<str>,
    /// Its title, as last shown.
    pub title: Arc<str>,
    /// Its icon, as last shown.
    pub icon: Option<Arc<str>>,
    /// Names its document within the tab: those that a page's own script made share it.
    pub document: u64,
    /// True if only a frame of the page went elsewhere to make it of the entry before.
    pub is_of_frame: bool,
    /// True if the user did something on it: pages without are skipped on the way back.
    pub was_used: bool,
    /// The browsing context group that it was shown in.
    pub context_group: TabId,
    /// The number of the load that it was left with.
    pub left_with: u64,
    /// The origin that a blank page has of whoever led there, as an address.
    pub origin: Option<Arc<str>>,
    /// Its document, if that is kept in memory for going back to it.
    pub kept: Option<Box<Document>>,
    /// True if the language of its page was known as it was left.
    pub knows_language: bool,
    /// The factor that its page was left with, if that is its own and the page is kept.
    pub own_factor: Option<f64>,
}

/// A navigation that has not committed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PendingNavigation {
    /// Its target.
    pub url: Arc<str>,
    /// True if the interface still shows it.
    pub is_shown: bool,
    /// Its effect on the history.
    pub kind: NavigationKind,
    /// True if it ends without a page, as it leads where only the user may go.
    pub is_refused: bool,
    /// The origin of whoever leads there, as an address; none for the browser itself.
    pub initiator: Option<Arc<str>>,
    /// The time at which a call of an extension sent the tab there, if one did.
    pub called_at: Option<Timestamp>,
}

impl PendingNavigation {
    /// One that nobody in particular began, which goes on unseen.
    #[must_use]
    pub fn new(url: &str, kind: NavigationKind) -> Self {
        let url = url.into();
        Self { url, is_shown: false, kind, is_refused: false, initiator: None, called_at: None }
    }
}

/// A tab.
#[derive(Debug, Clone)]
#[expect(clippy::struct_excessive_bools, reason = "the interface has these flags, each on its own")]
pub struct Tab {
    /// Its id in this session.
    pub id: TabId,
    /// Its id across restarts.
    pub stable_id: u64,
    /// The window that holds it.
    pub window: WindowId,
    /// True if it stands in the pinned block.
    pub pinned: bool,
    /// Its group.
    pub group: Option<GroupId>,
    /// The tab that opened it; one of another window only for what has no place in that one.
    pub opener: Option<TabId>,
    /// The name that a page opened it under, for that page and its relatives to find it by.
    pub name: Option<Box<str>>,
    /// The address that others are relative to on the blank page which a page opened it with: that of the page.
    pub blank_base: Option<Arc<str>>,
    /// The tab whose page opened it, as long as the two know of each other.
    pub page_opener: Option<TabId>,
    /// The first of the tabs whose pages opened one another.
    pub family: TabId,
    /// The first tab of its browsing context group: copies of a tab are in that of the tab, what a page opens is in that of the page.
    pub context_group: TabId,
    /// True once there was another tab in that.
    pub is_related: bool,
    /// True if a page opened it: until its own page comes it shows an empty one, which is nobody's.
    pub starts_empty: bool,
    /// True for a copy of a tab whose page had not come: it has nothing to load, and is in the process of the tab that it copies.
    pub is_empty_copy: bool,
    /// The address that it was first sent to, whose process it is in until a page comes.
    pub first_url: Arc<str>,
    /// The committed URL; empty before the first commit.
    pub url: Arc<str>,
    /// The title as shown.
    pub title: Arc<str>,
    /// The icon's URL, once known.
    pub icon: Option<Arc<str>>,
    /// The navigation that has not committed.
    pub pending: Option<Box<PendingNavigation>>,
    /// Numbers its navigations; an event of an older one is ignored.
    pub load: u64,
    /// The number of the navigation that its document came with.
    pub document_load: u64,
    /// True from the commit of its document until all of that is there.
    pub loads_document: bool,
    /// The state of its page.
    pub status: Status,
    /// True if it is out of memory.
    pub discarded: bool,
    /// True if its page may run nothing.
    pub frozen: bool,
    /// True if it was hidden as its group collapsed, and freezes for that: who joins a collapsed group does not.
    pub is_to_freeze: bool,
    /// True if it made a sound just now.
    pub audible: bool,
    /// True if its page sounds at this moment.
    pub sounds: bool,
    /// Numbers the changes of that.
    pub sound: u64,
    /// True if it may be discarded without being asked for.
    pub auto_discardable: bool,
    /// True if its sound is being captured.
    pub captured: bool,
    /// True if it is muted.
    pub muted: MutedInfo,
    /// The time at which its page was there in full.
    pub loaded_at: Timestamp,
    /// The time at which it last became active, or was created.
    pub last_accessed: Timestamp,
    /// True if its page was ever shown in a window in front.
    pub was_shown: bool,
    /// True if its page is its first and came while it was in front of its window: it is drawn as soon as that is to be seen.
    pub is_laid_out: bool,
    /// True if the language of its page was read: it is known while that page loads anew, too.
    pub knows_language: bool,
    /// The time at which another one took its place in front, or at which it was made.
    pub hidden_at: Timestamp,
    /// The time at which it was last in front of the window that has the focus, or at which it was made.
    pub focused_until: Timestamp,
    /// True if it was the active one of a window before that.
    pub was_active: bool,
    /// Its pages, oldest first.
    pub history: Vec<HistoryEntry>,
    /// The current one.
    pub history_at: usize,
    /// True if the user did something on its page since it came.
    pub is_used: bool,
    /// Its zoom.
    pub zoom: ZoomState,
    /// The declared or detected language of its page.
    pub language: Option<Arc<str>>,
    /// True if it shows the browser's own page in place of one that could not be loaded.
    pub shows_error: bool,
    /// True if a server gave its page as one that is there, or none was asked.
    pub is_ok: bool,
    /// The addresses of the frames within its page.
    pub frames: Vec<Arc<str>>,
    /// Its document: another one after each page that was loaded.
    pub document: Document,
    /// True if nothing was committed since it was made, copied, restored or brought back: the next commit names its URL.
    pub is_fresh: bool,
    /// True if the user sent it where it goes: with the page the openers of its window are forgotten.
    pub forgets_openers: bool,
    /// True if it was opened for the user to type in, at the end of this strip: its opener counts until another tab is active.
    pub is_typed: bool,
    /// True if the title is only the address, as long as the page has given none.
    pub title_is_address: bool,
    /// True if its page waits to load until the tab is shown in a window that comes to the front.
    pub waits_to_load: bool,
    /// True while its page tells the user something, and does nothing else.
    pub has_alert: bool,
    /// True while a page comes back that has its title already.
    pub keeps_title: bool,
    /// Navigations that others have overtaken and that come all the same, each with the number of its load.
    pub overtaken: Vec<(u64, PendingNavigation)>,
    /// True while the user's keys go to the field of its address and not to its page, as in a tab that began with a blank one.
    pub focuses_address: bool,
}

impl Tab {
    /// A tab that has loaded nothing.
    #[must_use]
    pub fn new(id: TabId, stable_id: u64, window: WindowId, now: Timestamp) -> Self {
        Self {
            id,
            stable_id,
            window,
            pinned: false,
            group: None,
            opener: None,
            name: None,
            blank_base: None,
            page_opener: None,
            family: id,
            context_group: id,
            is_related: false,
            starts_empty: false,
            is_empty_copy: false,
            first_url: Arc::default(),
            url: Arc::default(),
            title: Arc::default(),
            icon: None,
            pending: None,
            load: 0,
            document_load: 0,
            status: Status::Complete,
            discarded: false,
            frozen: false,
            is_to_freeze: false,
            audible: false,
            sounds: false,
            sound: 0,
            auto_discardable: true,
            captured: false,
            muted: MutedInfo::default(),
            loaded_at: now,
            last_accessed: now,
            was_shown: false,
            is_laid_out: false,
            knows_language: false,
            hidden_at: now,
            focused_until: now,
            was_active: false,
            history: Vec::new(),
            history_at: 0,
            is_used: false,
            zoom: ZoomState::default(),
            language: None,
            shows_error: false,
            is_ok: true,
            frames: Vec::new(),
            document: Document::default(),
            is_fresh: true,
            forgets_openers: false,
            is_typed: false,
            title_is_address: false,
            waits_to_load: false,
            has_alert: false,
            keeps_title: false,
            overtaken: Vec::new(),
            loads_document: false,
            focuses_address: false,
        }
    }

    /// True if it shows the page of a new tab.
    #[must_use]
    pub fn shows_new_tab(&self) -> bool {
        self.url.starts_with(NEW_TAB_PAGES)
    }

    /// The URL that it is on its way to, as far as the interface shows that.
    #[must_use]
    pub fn shown_pending(&self) -> Option<&Arc<str>> {
        self.pending.as_ref().filter(|pending| pending.is_shown).map(|pending| &pending.url)
    }

    /// The address that others on its page are relative to.
    #[must_use]
    pub fn base_url(&self) -> &str {
        self.blank_base.as_deref().unwrap_or(&self.url)
    }

    /// The state that its document gives it when it is on its way to no other one.
    #[must_use]
    pub const fn document_status(&self) -> Status {
        if self.loads_document { Status::Loading } else { Status::Complete }
    }

    /// The origin of its page, as an address: that of a blank one is of whoever led there.
    #[must_use]
    pub fn origin(&self) -> Arc<str> {
        let entry = self.history.get(self.history_at);
        let inherited = entry.and_then(|entry| entry.origin.as_ref());
        let inherited = inherited.filter(|_| self.url.starts_with("about:"));
        inherited.cloned().unwrap_or_else(|| match root(&self.url) {
            root if root.is_empty() => Arc::clone(&self.url),
            root => root.into(),
        })
    }

    /// True if its page was never asked for, and is to load when its turn comes.
    #[must_use]
    pub fn waits_for_turn(&self) -> bool {
        self.status == Status::Unloaded && !self.discarded
    }

    /// True if its page may close it: one that a page opened, and one that never went anywhere.
    #[must_use]
    pub const fn may_close_itself(&self) -> bool {
        self.starts_empty || self.history.len() <= 1
    }
}

/// A tab as it was at one moment. Its texts are shared with the tab, so that a view costs no copy of them.
#[derive(Debug, Clone, PartialEq)]
#[expect(missing_docs, reason = "each field is the field of its name of Spec tabs-api §2")]
#[expect(clippy::struct_excessive_bools, reason = "the interface has these flags, each on its own")]
pub struct TabView {
    pub version: BrowserVersion,
    pub id: i64,
    pub window: i64,
    pub index: i64,
    pub group: i64,
    pub opener: Option<i64>,
    pub active: bool,
    pub highlighted: bool,
    pub pinned: bool,
    pub audible: bool,
    pub auto_discardable: bool,
    pub discarded: bool,
    pub frozen: bool,
    pub incognito: bool,
    pub muted: MutedInfo,
    pub last_accessed: Timestamp,
    pub status: Status,
    /// This and the next three are `None` also where the one it was made for may not see them.
    pub url: Option<Arc<str>>,
    pub title: Option<Arc<str>>,
    pub icon: Option<Arc<str>>,
    pub pending_url: Option<Arc<str>>,
    pub width: i64,
    pub height: i64,
}

impl TabView {
    /// The view without what somebody with this access may not see: without permission the four sensitive fields are absent
    /// (Spec tabs-api §5.1).
    #[must_use]
    pub fn seen_by(mut self, access: &Access<'_>) -> Self {
        if !self.shows_page(access) {
            (self.url, self.title, self.icon) = (None, None, None);
        }
        if !self.shows_pending(access) {
            self.pending_url = None;
        }
        self
    }

    /// The same for one who only reads it, as JSON.
    #[must_use]
    pub const fn shown<'v>(&'v self, access: &'v Access<'v>) -> ShownTab<'v> {
        ShownTab { tab: self, access }
    }

    /// True if title, URL and icon are visible.
    pub(crate) fn shows_page(&self, access: &Access<'_>) -> bool {
        let url = self.url.as_deref();
        url.is_some_and(|url| access.sees(self.id, url))
    }

    fn shows_pending(&self, access: &Access<'_>) -> bool {
        let url = self.pending_url.as_deref();
        url.is_some_and(|url| access.sees(self.id, url))
    }
}

impl Serialize for TabView {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.shown(&Access::Full).serialize(serializer)
    }
}

/// A tab as somebody sees it; serializes to the `Tab` of the interface.
#[derive(Debug, Clone, Copy)]
pub struct ShownTab<'v> {
    tab: &'v TabView,
    access: &'v Access<'v>,
}

impl Serialize for ShownTab<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let (tab, access) = (self.tab, self.access);
        let shows_page = tab.shows_page(access);
        let has = |member: &str| tab.version.has_member("Tab", member);
        let mut out = serializer.serialize_map(None)?;
        out.serialize_entry("active", &tab.active)?;
        if has("audible") {
            out.serialize_entry("audible", &tab.audible)?;
        }
        if has("autoDiscardable") {
            out.serialize_entry("autoDiscardable", &tab.auto_discardable)?;
        }
        if has("discarded") {
            out.serialize_entry("discarded", &tab.discarded)?;
        }
        if let Some(icon) = tab.icon.as_deref().filter(|_| shows_page) {
            out.serialize_entry("favIconUrl", icon)?;
        }
        if has("frozen") {
            out.serialize_entry("frozen", &tab.frozen)?;
        }
        if has("groupId") {
            out.serialize_entry("groupId", &tab.group)?;
        }
        out.serialize_entry("height", &tab.height)?;
        out.serialize_entry("highlighted", &tab.highlighted)?;
        out.serialize_entry("id", &tab.id)?;
        out.serialize_entry("incognito", &tab.incognito)?;
        out.serialize_entry("index", &tab.index)?;
        if has("lastAccessed") {
            out.serialize_entry("lastAccessed", &milliseconds(tab.last_accessed))?;
        }
        if has("mutedInfo") {
            out.serialize_entry("mutedInfo", &tab.muted)?;
        }
        if let Some(opener) = tab.opener {
            out.serialize_entry("openerTabId", &opener)?;
        }
        if let Some(url) = tab.pending_url.as_deref()
            && tab.shows_pending(access)
            && has("pendingUrl")
        {
            out.serialize_entry("pendingUrl", url)?;
        }
        out.serialize_entry("pinned", &tab.pinned)?;
        out.serialize_entry("selected", &tab.active)?;
        if has("splitViewId") {
            out.serialize_entry("splitViewId", &-1)?;
        }
        out.serialize_entry("status", tab.status.word())?;
        if shows_page {
            out.serialize_entry("title", &tab.title.as_deref())?;
            out.serialize_entry("url", &tab.url.as_deref())?;
        }
        out.serialize_entry("width", &tab.width)?;
        out.serialize_entry("windowId", &tab.window)?;
        out.end()
    }
}

/// A time as the interface counts it.
#[expect(clippy::cast_precision_loss, reason = "the interface counts milliseconds in a double")]
fn milliseconds(time: Timestamp) -> f64 {
    time.micros() as f64 / 1_000.0
}
