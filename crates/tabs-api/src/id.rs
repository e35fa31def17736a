//! Ids of tabs, windows, groups, and of what travels between a browser, its engine and its clients.

/// A tab's id, unique within a session and never given twice.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct TabId(pub i64);

/// The id of no tab (Spec tabs-api §2).
pub const TAB_ID_NONE: i64 = -1;
/// The index of no tab (Spec tabs-api §2).
pub const TAB_INDEX_NONE: i64 = -1;

/// The id of no split view.
pub const SPLIT_VIEW_ID_NONE: i64 = -1;

/// A window's id, unique within a session and never given twice.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct WindowId(pub i64);

/// The id of no window.
pub const WINDOW_ID_NONE: i64 = -1;
/// Stands for the window that the call comes from.
pub const WINDOW_ID_CURRENT: i64 = -2;

/// A group's id, unique within a session and never given twice.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct GroupId(pub i64);

/// The id of no group.
pub const GROUP_ID_NONE: i64 = -1;

/// The id of a call whose answer comes later.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct RequestId(pub u64);

/// The id of a client that runs content scripts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct HostId(pub u64);

/// The id of a content script in one document. It is never used again.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ScriptId(pub u64);
