//! A tab: its state, and the view of it that events and results carry.

use serde_json::{Map, Value, json};
use triptych_core::time::Timestamp;

use crate::group::GroupId;
use crate::permission::Access;
use crate::window::WindowId;

/// A tab's id, unique within a session and never given twice.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct TabId(pub i64);

/// The id of no tab (Spec tabs-api §2).
pub const TAB_ID_NONE: i64 = -1;
/// The index of no tab (Spec tabs-api §2).
pub const TAB_INDEX_NONE: i64 = -1;

/// How far a tab's page is (Spec tabs-api §2).
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

/// Why a tab's mute state is what it is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum MuteReason {
    /// The user said so.
    User,
    /// A capture of the tab began.
    Capture,
    /// The extension of this id said so.
    Extension(String),
}

/// Whether a tab is muted, and why. Without a reason the state never changed.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct MutedInfo {
    /// Whether it may make no sound.
    pub muted: bool,
    /// Who decided.
    pub reason: Option<MuteReason>,
}

impl MutedInfo {
    /// As events and results show it.
    #[must_use]
    pub fn render(&self) -> Value {
        match &self.reason {
            None => json!({ "muted": self.muted }),
            Some(MuteReason::User) => json!({ "muted": self.muted, "reason": "user" }),
            Some(MuteReason::Capture) => json!({ "muted": self.muted, "reason": "capture" }),
            Some(MuteReason::Extension(id)) => {
                json!({ "muted": self.muted, "reason": "extension", "extensionId": id })
            }
        }
    }
}

/// How a tab zooms; gone at the next navigation.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ZoomState {
    /// Who scales the page.
    pub mode: ZoomMode,
    /// Whether the factor is the host's.
    pub is_per_origin: bool,
    /// The tab's own factor, where it has one.
    pub own_factor: Option<f64>,
}

/// Who scales the page (Spec tabs-api §2).
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
        }
    }
}

/// One page of a tab's history.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Entry {
    /// Its URL.
    pub url: String,
    /// Its title, as last shown.
    pub title: String,
    /// Whether the user did something on it: pages without are skipped on the way back.
    pub was_used: bool,
    /// Whether its page is kept in memory for going back to it.
    pub is_cached: bool,
}

/// A navigation that has not committed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Pending {
    /// Where to.
    pub url: String,
    /// Whether the interface still shows it.
    pub is_shown: bool,
    /// What it does to the history.
    pub kind: Kind,
}

/// What a navigation does to the history.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// A new entry after the current one.
    Push,
    /// The current entry again: a reload, or a restored tab.
    Reload,
    /// To the entry at this place.
    Traverse(usize),
}

/// A tab.
#[derive(Debug, Clone)]
#[expect(
    clippy::struct_excessive_bools,
    reason = "the interface has these flags, each on its own"
)]
pub struct Tab {
    /// Its id in this session.
    pub id: TabId,
    /// Its id across restarts.
    pub stable_id: u64,
    /// The window that holds it.
    pub window: WindowId,
    /// Whether it stands in the pinned block.
    pub pinned: bool,
    /// Its group.
    pub group: Option<GroupId>,
    /// The tab that opened it, while that one exists in the same window.
    pub opener: Option<TabId>,
    /// The committed URL; empty before the first commit.
    pub url: String,
    /// The title as shown.
    pub title: String,
    /// The icon's URL, once known.
    pub icon: Option<String>,
    /// Where it is going.
    pub pending: Option<Pending>,
    /// Numbers its navigations; news of an older one is ignored.
    pub load: u64,
    /// How far its page is.
    pub status: Status,
    /// Whether it is out of memory.
    pub discarded: bool,
    /// Whether its page may run nothing.
    pub frozen: bool,
    /// Whether it made a sound just now.
    pub audible: bool,
    /// Whether it may be discarded without being asked for.
    pub auto_discardable: bool,
    /// Whether its sound is being captured.
    pub captured: bool,
    /// Whether it is muted.
    pub muted: MutedInfo,
    /// When it last became active, or was created.
    pub last_accessed: Timestamp,
    /// Whether it was ever shown.
    pub was_shown: bool,
    /// Its pages, oldest first.
    pub history: Vec<Entry>,
    /// The current one.
    pub history_at: usize,
    /// How it zooms.
    pub zoom: ZoomState,
    /// The declared or detected language of its page.
    pub language: Option<String>,
    /// How many frames its page has, the main one included.
    pub frames: u32,
    /// Whether nothing was committed since it was made, copied, restored or brought back: the next commit names its URL.
    pub is_fresh: bool,
    /// Whether its pages stay in memory when it leaves them; those of a copied tab do not.
    pub keeps_pages: bool,
    /// Whether the title is only the address, as long as the page has given none.
    pub title_is_address: bool,
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
            url: String::new(),
            title: String::new(),
            icon: None,
            pending: None,
            load: 0,
            status: Status::Complete,
            discarded: false,
            frozen: false,
            audible: false,
            auto_discardable: true,
            captured: false,
            muted: MutedInfo::default(),
            last_accessed: now,
            was_shown: false,
            history: Vec::new(),
            history_at: 0,
            zoom: ZoomState::default(),
            language: None,
            frames: 1,
            is_fresh: true,
            keeps_pages: true,
            title_is_address: false,
        }
    }
}

/// A tab as it was at one moment: what an event carries, before it is known who will see it.
#[derive(Debug, Clone)]
#[expect(
    missing_docs,
    reason = "each field is the field of its name of Spec tabs-api §2"
)]
#[expect(
    clippy::struct_excessive_bools,
    reason = "the interface has these flags, each on its own"
)]
pub struct TabView {
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
    pub url: String,
    pub pending_url: Option<String>,
    pub title: String,
    pub icon: Option<String>,
    pub width: i64,
    pub height: i64,
}

impl TabView {
    /// As somebody with this access sees it: without permission the four sensitive fields are absent (Spec tabs-api §5.1).
    #[must_use]
    pub fn render(&self, access: &Access<'_>) -> Value {
        let mut out = Map::new();
        let mut put = |name: &str, value: Value| out.insert(name.to_owned(), value);
        put("active", self.active.into());
        put("audible", self.audible.into());
        put("autoDiscardable", self.auto_discardable.into());
        put("discarded", self.discarded.into());
        put("frozen", self.frozen.into());
        put("groupId", self.group.into());
        put("height", self.height.into());
        put("highlighted", self.highlighted.into());
        put("id", self.id.into());
        put("incognito", self.incognito.into());
        put("index", self.index.into());
        #[expect(
            clippy::cast_precision_loss,
            reason = "the interface counts milliseconds in a double"
        )]
        put(
            "lastAccessed",
            (self.last_accessed.micros() as f64 / 1_000.0).into(),
        );
        put("mutedInfo", self.muted.render());
        if let Some(opener) = self.opener {
            put("openerTabId", opener.into());
        }
        put("pinned", self.pinned.into());
        put("selected", self.active.into());
        put("splitViewId", (-1).into());
        put("status", self.status.word().into());
        put("width", self.width.into());
        put("windowId", self.window.into());
        if access.sees(self.id, &self.url) {
            put("title", self.title.clone().into());
            put("url", self.url.clone().into());
            if let Some(icon) = &self.icon {
                put("favIconUrl", icon.clone().into());
            }
        }
        if let Some(pending) = self
            .pending_url
            .as_deref()
            .filter(|url| access.sees(self.id, url))
        {
            put("pendingUrl", pending.into());
        }
        Value::Object(out)
    }
}
