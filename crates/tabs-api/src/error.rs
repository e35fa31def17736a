//! Every error of a call, with the browser's own sentence. Declared in the order in which calls check.

use triptych_core::error::{Coded, Row};
use triptych_core::kv::StoreError;

/// The error of a call. The texts are those of the real browser (recorded traces), to the letter.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Error {
    /// The arguments do not fit the signature: thrown at once, in both styles.
    #[error("Error in invocation of {operation}({signature}): {reason}")]
    Arguments {
        /// The operation, as `tabs.create`.
        operation: &'static str,
        /// Its parameters, as the browser writes them.
        signature: String,
        /// The fault.
        reason: String,
    },
    /// There is no operation of this name.
    #[error("{0} is not a function")]
    NoSuchOperation(String),
    /// A function as a message.
    #[error("Could not serialize message.")]
    Unserializable,
    /// Nothing to send through a port.
    #[error("Insufficient number of arguments.")]
    NoMessage,
    /// A port that is closed was used.
    #[error("Attempting to use a disconnected port object")]
    PortClosed,
    /// No tab has this id.
    #[error("No tab with id: {0}.")]
    NoTab(i64),
    /// No window has this id.
    #[error("No window with id: {0}.")]
    NoWindow(i64),
    /// No group has this id.
    #[error("No group with id: {0}.")]
    NoGroup(i64),
    /// There is no window at all.
    #[error("No current window")]
    NoCurrentWindow,
    /// A window without tabs, where the active one is meant.
    #[error("No selected tab")]
    NoSelectedTab,
    /// A capture of a window without tabs.
    #[error("No active web contents to capture")]
    NoActivePage,
    /// No window of the types asked for ever had the focus.
    #[error("No last-focused window")]
    NoLastFocusedWindow,
    /// The URL cannot be read.
    #[error("Invalid url: \"{0}\".")]
    InvalidUrl(String),
    /// A `javascript:` URL.
    #[error(
        "JavaScript URLs are not allowed in API based extension navigations. Use chrome.scripting.executeScript instead."
    )]
    JavaScriptUrl,
    /// A URL that ends the browser.
    #[error("I'm sorry. I'm afraid I can't do that.")]
    KillUrl,
    /// A URL that the browser takes for an order, and goes nowhere, or one that is too long for it.
    #[error("Navigation rejected.")]
    NavigationRejected,
    /// A URL of the developer tools.
    #[error("Cannot navigate to a devtools:// page.")]
    DevtoolsUrl,
    /// A page of the browser that has no rights of its own.
    #[error("Cannot navigate to a chrome-untrusted:// page.")]
    UntrustedUrl,
    /// A page of the machine, for an extension that the user does not let read files.
    #[error("Cannot navigate to a file URL without local file access.")]
    FileAccess,
    /// An opener in another window.
    #[error("Tab opener must be in the same window as the updated tab.")]
    OpenerInOtherWindow,
    /// A tab as its own opener.
    #[error("Cannot set a tab's opener to itself.")]
    OwnOpener,
    /// The only highlighted tab cannot be taken out.
    #[error("Cannot unhighlight all tabs.")]
    UnhighlightAll,
    /// The user is dragging a tab (Spec tabs-api §7.1).
    #[error("Tabs cannot be edited right now (user may be dragging a tab).")]
    Dragging,
    /// A tab whose sound is being captured is neither muted nor let sound.
    #[error(
        "Cannot update mute state for tab {0}, tab has audio or video currently being captured"
    )]
    Captured(i64),
    /// A state of a window that its size, place or focus contradicts.
    #[error("Invalid value for state")]
    InvalidWindowState,
    /// A window that the user could not leave. The sentence is the browser's.
    #[error(
        "Cannot lock window to fullscreen or close a locked fullscreen window without lockWindowFullscreenPrivate manifest permission"
    )]
    LockedFullscreen,
    /// A window most of which would not be on the screen.
    #[error("Invalid value for bounds. Bounds must be at least 50% within visible screen space.")]
    OffScreen,
    /// A window of a page that is to know its opener, made by a worker, which is no page. The sentence is the browser's.
    #[error("Cannot specify setSelfAsOpener Service Worker extension.")]
    WorkerAsOpener,
    /// A move to a window of another type.
    #[error("Tabs can only be moved to and from normal windows.")]
    NotNormalWindow,
    /// Tabs of a window without a strip, which has no groups.
    #[error("Grouping is not supported by tabs in this window.")]
    GroupingNotSupported,
    /// A move that would split a group.
    #[error(
        "Tab operation is invalid as the specified input would disrupt group continuity in the tab strip."
    )]
    GroupContinuity,
    /// A move between an incognito window and another.
    #[error("Tabs can only be moved between windows in the same profile.")]
    OtherProfile,
    /// A page that no incognito window shows.
    #[error("Cannot open URL \"{0}\" in an incognito window.")]
    NotInIncognito(String),
    /// A move of nothing.
    #[error("No tabs given.")]
    NoTabsGiven,
    /// A tab that cannot be duplicated.
    #[error("Cannot duplicate tab with id: {0}.")]
    CannotDuplicate(i64),
    /// A tab that cannot be discarded.
    #[error("Cannot discard tab with id: {0}.")]
    CannotDiscard(i64),
    /// Nothing is left to discard.
    #[error("Cannot find a tab to discard.")]
    NothingToDiscard,
    /// There is no such page in the history, in either direction.
    #[error("Cannot find a next page in history.")]
    NoHistory,
    /// No tab stands at this index.
    #[error("No tab at index: {0}.")]
    NoTabAtIndex(i64),
    /// A highlight of nothing.
    #[error("No highlighted tab")]
    NoHighlightedTab,
    /// A group moved into another one.
    #[error("Cannot move the group to an index that is in the middle of another group.")]
    GroupInGroup,
    /// A group moved into the pinned block.
    #[error("Cannot move the group to an index that is in the middle of pinned tabs.")]
    GroupAmongPinned,
    /// A new group and an old one at once.
    #[error("Cannot specify 'createProperties' along with a 'groupId'.")]
    GroupAndProperties,
    /// A match pattern that is none.
    #[error("Invalid url pattern '{0}'")]
    InvalidPattern(String),
    /// A scope that the mode does not have.
    #[error("Can only set scope to \"per-origin\" in \"automatic\" mode.")]
    PerOriginScope,
    /// A zoom where zooming is off.
    #[error("Cannot zoom a tab in disabled mode.")]
    ZoomDisabled,
    /// A page of the browser's own.
    #[error("Cannot access a chrome:// URL")]
    BrowserPage,
    /// The shop of extensions, which none of them touches.
    #[error("The extensions gallery cannot be scripted.")]
    Gallery,
    /// A page of another extension.
    #[error("Cannot access a chrome-extension:// URL of different extension")]
    OtherExtension,
    /// A page without a language.
    #[error("Language detection is not supported for this page.")]
    NoLanguage,
    /// A restored tab whose page was never loaded.
    #[error("Cannot determine language: tab not loaded")]
    NotLoaded,
    /// More than two captures in a second (Spec tabs-api §8).
    #[error("This request exceeds the MAX_CAPTURE_VISIBLE_TAB_CALLS_PER_SECOND quota.")]
    CaptureQuota,
    /// A capture without permission.
    #[error("Either the '<all_urls>' or 'activeTab' permission is required.")]
    CapturePermission,
    /// A capture of a page that only an invocation opens. The sentence is the browser's.
    #[error(
        "The 'activeTab' permission is not in effect because this extension has not been in invoked."
    )]
    NotInvoked,
    /// A capture of a page that no permission opens.
    #[error(
        "Cannot access contents of url \"{0}\". Extension manifest must request permission to access this host."
    )]
    NoAccess(String),
    /// A page that was not drawn yet.
    #[error("Failed to capture tab: image readback failed")]
    NoPicture,
    /// A capture of a page that is not in memory.
    #[error("Failed to capture tab: view is invisible")]
    NoView,
    /// A tab that shows no page.
    #[error("The tab {0} shows no page yet: wait until tabs.onUpdated tells of one.")]
    NoPage(i64),
    /// A tab that nothing can be put into: the browser names it without a full stop here.
    #[error("No tab with id: {0}")]
    NoTabToInject(i64),
    /// A script without, or with two sources.
    #[error("Exactly one of 'func' and 'files' must be specified")]
    FuncOrFiles,
    /// A style sheet without, or with two sources.
    #[error("Exactly one of 'css' and 'files' must be specified.")]
    CssOrFiles,
    /// An empty list of files.
    #[error("At least one file must be specified.")]
    NoFiles,
    /// A file that is named twice.
    #[error("Duplicate file specified: '{0}'.")]
    DuplicateFile(String),
    /// A file that the extension has not.
    #[error("Could not load file: '{0}'.")]
    NoFile(String),
    /// A file that is no script by its name.
    #[error(
        "Could not load file '{0}' for content script, content scripts can only be loaded from supported JavaScript files such as .js files."
    )]
    NotAScript(String),
    /// A file that is no style sheet by its name.
    #[error(
        "Could not load file '{0}' for content script, content script style sheets can only be loaded from supported style sheet files such as .css files."
    )]
    NotAStyleSheet(String),
    /// Arguments, which only a function takes.
    #[error("'args' may not be used with file injections.")]
    ArgsWithFiles,
    /// All frames, and some by name.
    #[error("Cannot specify 'allFrames' if either 'frameIds' or 'documentIds' is specified.")]
    AllFramesAndSome,
    /// Frames both by number and by document.
    #[error("Cannot specify both 'frameIds' and 'documentIds'.")]
    FramesAndDocuments,
    /// A text that names no document.
    #[error("Invalid document id {0}")]
    InvalidDocument(String),
    /// A document that the tab does not show.
    #[error("No document with id {document} in tab with id {tab}")]
    NoDocument {
        /// The document.
        document: String,
        /// The tab.
        tab: i64,
    },
    /// A page that no permission opens, and whose address the caller may not know.
    #[error(
        "Cannot access contents of the page. Extension manifest must request permission to access the respective host."
    )]
    PageAccess,
    /// A frame that shows the browser's own page in place of one that could not be loaded.
    #[error("Frame with ID {0} is showing error page")]
    ErrorPage(u32),
    /// A frame that went before a script ran in it.
    #[error("Frame with ID {0} was removed.")]
    FrameRemoved(u32),
    /// A frame that the tab has not.
    #[error("No frame with id {frame} in tab with id {tab}")]
    NoFrame {
        /// The frame.
        frame: i64,
        /// The tab.
        tab: i64,
    },
    /// Nobody listens in the tab.
    #[error("Could not establish connection. Receiving end does not exist.")]
    NoReceiver,
    /// The listener went without an answer.
    #[error("The message port closed before a response was received.")]
    NoResponse,
    /// The listener said that its answer comes later, and went before it came.
    #[error(
        "A listener indicated an asynchronous response by returning true, but the message channel closed before a response was received"
    )]
    ChannelClosed,
    /// The page of the listener was left, and is kept for going back.
    #[error(
        "The page keeping the extension port is moved into back/forward cache, so the message channel is closed."
    )]
    PageCached,
    /// The listener threw.
    #[error("{0}")]
    Handler(String),
    /// A session that is not there.
    #[error("Invalid session id: \"{0}\".")]
    NoSession(String),
    /// A session of another device, in a browser that knows none.
    #[error("Synced sessions are not available.")]
    NoSync,
    /// A window came back, and the browser does not tell which.
    #[error("No active tab.")]
    NoActiveTab,
    /// There is no closed tab to restore.
    #[error("There are no recently closed sessions.")]
    NothingToRestore,
    /// A call of, or an invocation of, an extension that is not there.
    #[error("this extension is not installed")]
    NotInstalled,
    /// An action of the user that nobody can do.
    #[error("{0}")]
    BadAction(&'static str),
    /// A call for something that cannot be done here.
    #[error("{0}")]
    Unsupported(String),
    /// A call that the browser does not answer any more, and why.
    #[error("{0}")]
    Unanswered(&'static str),
    /// The state could not be kept.
    #[error("the browser's state could not be stored")]
    Store(#[from] StoreError),
}

impl Error {
    /// True if extension code sees it as an exception of the call itself, and not as a rejection.
    #[must_use]
    pub const fn is_thrown(&self) -> bool {
        matches!(
            self,
            Self::Arguments { .. }
                | Self::NoSuchOperation(_)
                | Self::Unserializable
                | Self::NoMessage
                | Self::PortClosed
        )
    }
}

impl Coded for Error {
    fn row(&self) -> Row {
        match self {
            Self::Arguments { .. } | Self::Unserializable | Self::NoMessage | Self::PortClosed => {
                Row::of(400, "TypeError")
            }
            Self::NoSuchOperation(_) => Row::of(404, "TypeError"),
            Self::Unsupported(_) => Row::of(501, "Unsupported"),
            Self::Unanswered(_) | Self::Store(_) => Row::of(503, "Unavailable"),
            _ => Row::of(422, "Error"),
        }
    }
}
