//! The table: one row an operation, and the schemas that rows share.

use super::{Action, Operation, Parameter};
use crate::operation::argument::{Property, Schema};

const fn required(name: &'static str, schema: Schema) -> Parameter {
    Parameter { name, schema, is_optional: false }
}

const fn optional(name: &'static str, schema: Schema) -> Parameter {
    Parameter { name, schema, is_optional: true }
}

const fn row(
    name: &'static str,
    parameters: &'static [Parameter],
    action: Action,
    doc: &'static str,
) -> Operation {
    Operation { name, parameters, takes_callback: true, action, doc }
}

const ID: Schema = Schema::at_least(0);
const WINDOW: Schema = Schema::at_least(-2);
/// Where something moves to.
const PLACE: Schema = Schema::Object(&[
    Property::optional("windowId", WINDOW),
    Property::required("index", Schema::at_least(-1)),
]);
const IDS: Schema = Schema::Choice(&[ID, Schema::Array { of: &ID, min_items: 0 }]);
const SOME_IDS: Schema = Schema::Choice(&[ID, Schema::Array { of: &ID, min_items: 1 }]);
const STATUS: Schema =
    Schema::Named("tabs.TabStatus", &Schema::Word(&["complete", "loading", "unloaded"]));
const WINDOW_TYPE: Schema = Schema::Named(
    "tabs.WindowType",
    &Schema::Word(&["app", "custom-tab", "devtools", "normal", "panel", "popup"]),
);
const COLOR: Schema = Schema::Named(
    "tabGroups.Color",
    &Schema::Word(&["blue", "cyan", "green", "grey", "orange", "pink", "purple", "red", "yellow"]),
);
const WINDOW_STATE: Schema = Schema::Named(
    "windows.WindowState",
    &Schema::Word(&["fullscreen", "locked-fullscreen", "maximized", "minimized", "normal"]),
);
const ZOOM_SETTINGS: Schema = Schema::Named(
    "tabs.ZoomSettings",
    &Schema::Object(&[
        Property::optional(
            "mode",
            Schema::Named(
                "tabs.ZoomSettingsMode",
                &Schema::Word(&["automatic", "disabled", "manual"]),
            ),
        ),
        Property::optional(
            "scope",
            Schema::Named("tabs.ZoomSettingsScope", &Schema::Word(&["per-origin", "per-tab"])),
        ),
        Property::optional("defaultZoomFactor", Schema::Number),
    ]),
);
const IMAGE: Schema = Schema::Named(
    "extensionTypes.ImageDetails",
    &Schema::Object(&[
        Property::optional(
            "format",
            Schema::Named("extensionTypes.ImageFormat", &Schema::Word(&["jpeg", "png"])),
        ),
        Property::optional("quality", Schema::Integer { min: Some(0), max: Some(100) }),
    ]),
);
const GET_OPTIONS: Schema = Schema::Named(
    "windows.QueryOptions",
    &Schema::Object(&[
        Property::optional("populate", Schema::Boolean),
        Property::optional("windowTypes", Schema::Array { of: &WINDOW_TYPE, min_items: 0 }),
    ]),
);
const RECEIVER: &[Property] = &[
    Property::optional("frameId", Schema::at_least(0)),
    Property::optional("documentId", Schema::String),
];

/// Every operation, `tabs` first, in the order of the specification.
pub const OPERATIONS: &[Operation] = &[
    row(
        "tabs.captureVisibleTab",
        &[optional("windowId", WINDOW), optional("options", IMAGE)],
        Action::CaptureVisibleTab,
        "A picture of the visible area of a window's active tab, as a data URL.",
    ),
    Operation {
        takes_callback: false,
        ..row(
            "tabs.connect",
            &[
                required("tabId", ID),
                optional(
                    "connectInfo",
                    Schema::Object(&[
                        Property::optional("name", Schema::String),
                        Property::optional("frameId", Schema::at_least(0)),
                        Property::optional("documentId", Schema::String),
                    ]),
                ),
            ],
            Action::Connect,
            "A port to the content scripts of a tab.",
        )
    },
    row(
        "tabs.create",
        &[required(
            "createProperties",
            Schema::Object(&[
                Property::optional("windowId", WINDOW),
                Property::optional("index", Schema::at_least(0)),
                Property::optional("url", Schema::String),
                Property::optional("active", Schema::Boolean),
                Property::optional("selected", Schema::Boolean),
                Property::optional("pinned", Schema::Boolean),
                Property::optional("openerTabId", ID),
            ]),
        )],
        Action::Create,
        "Creates a tab.",
    ),
    row(
        "tabs.detectLanguage",
        &[optional("tabId", ID)],
        Action::DetectLanguage,
        "The main language of a tab's page.",
    ),
    row(
        "tabs.discard",
        &[optional("tabId", ID)],
        Action::Discard,
        "Takes a tab's page out of memory.",
    ),
    row(
        "tabs.duplicate",
        &[required("tabId", ID)],
        Action::Duplicate,
        "Makes a second tab of the same page and history.",
    ),
    row("tabs.get", &[required("tabId", ID)], Action::Get, "One tab."),
    row("tabs.getCurrent", &[], Action::GetCurrent, "The tab that the call comes from."),
    row("tabs.getZoom", &[optional("tabId", ID)], Action::GetZoom, "A tab's zoom factor."),
    row(
        "tabs.getZoomSettings",
        &[optional("tabId", ID)],
        Action::GetZoomSettings,
        "A tab's zoom settings.",
    ),
    row(
        "tabs.goBack",
        &[optional("tabId", ID)],
        Action::GoBack,
        "Goes to the previous page of a tab's history.",
    ),
    row(
        "tabs.goForward",
        &[optional("tabId", ID)],
        Action::GoForward,
        "Goes to the next page of a tab's history.",
    ),
    row(
        "tabs.group",
        &[required(
            "options",
            Schema::Object(&[
                Property::required("tabIds", SOME_IDS),
                Property::optional("groupId", Schema::at_least(0)),
                Property::optional(
                    "createProperties",
                    Schema::Object(&[Property::optional("windowId", WINDOW)]),
                ),
            ]),
        )],
        Action::Group,
        "Puts tabs into a group, a new one unless one is named.",
    ),
    row(
        "tabs.highlight",
        &[required(
            "highlightInfo",
            Schema::Object(&[
                Property::optional("windowId", WINDOW),
                Property::required(
                    "tabs",
                    Schema::Choice(&[
                        Schema::Array { of: &Schema::INTEGER, min_items: 0 },
                        Schema::INTEGER,
                    ]),
                ),
            ]),
        )],
        Action::Highlight,
        "Highlights tabs and makes the first of them active.",
    ),
    row(
        "tabs.move",
        &[required("tabIds", IDS), required("moveProperties", PLACE)],
        Action::Move,
        "Moves tabs within a window or to another.",
    ),
    row(
        "tabs.query",
        &[required(
            "queryInfo",
            Schema::Object(&[
                Property::optional("active", Schema::Boolean),
                Property::optional("pinned", Schema::Boolean),
                Property::optional("audible", Schema::Boolean),
                Property::optional("muted", Schema::Boolean),
                Property::optional("highlighted", Schema::Boolean),
                Property::optional("discarded", Schema::Boolean),
                Property::optional("frozen", Schema::Boolean),
                Property::optional("autoDiscardable", Schema::Boolean),
                Property::optional("currentWindow", Schema::Boolean),
                Property::optional("lastFocusedWindow", Schema::Boolean),
                Property::optional("status", STATUS),
                Property::optional("title", Schema::String),
                Property::optional(
                    "url",
                    Schema::Choice(&[
                        Schema::String,
                        Schema::Array { of: &Schema::String, min_items: 0 },
                    ]),
                ),
                Property::optional("groupId", Schema::at_least(-1)),
                Property::optional("splitViewId", Schema::at_least(-1)),
                Property::optional("windowId", WINDOW),
                Property::optional("windowType", WINDOW_TYPE),
                Property::optional("index", Schema::at_least(0)),
            ]),
        )],
        Action::Query,
        "The tabs that have all the properties asked for.",
    ),
    row(
        "tabs.reload",
        &[
            optional("tabId", ID),
            optional(
                "reloadProperties",
                Schema::Object(&[Property::optional("bypassCache", Schema::Boolean)]),
            ),
        ],
        Action::Reload,
        "Loads a tab's page again.",
    ),
    row("tabs.remove", &[required("tabIds", IDS)], Action::Remove, "Closes tabs."),
    row(
        "tabs.sendMessage",
        &[
            required("tabId", ID),
            required("message", Schema::Any),
            optional("options", Schema::Object(RECEIVER)),
        ],
        Action::SendMessage,
        "Sends a message to the content scripts of a tab; the first answer is the result.",
    ),
    row(
        "tabs.setZoom",
        &[optional("tabId", ID), required("zoomFactor", Schema::Number)],
        Action::SetZoom,
        "Zooms a tab; 0 is the default.",
    ),
    row(
        "tabs.setZoomSettings",
        &[optional("tabId", ID), required("zoomSettings", ZOOM_SETTINGS)],
        Action::SetZoomSettings,
        "Says how zoom works in a tab until it navigates.",
    ),
    row(
        "tabs.ungroup",
        &[required("tabIds", SOME_IDS)],
        Action::Ungroup,
        "Takes tabs out of their groups.",
    ),
    row(
        "tabs.update",
        &[
            optional("tabId", ID),
            required(
                "updateProperties",
                Schema::Object(&[
                    Property::optional("url", Schema::String),
                    Property::optional("active", Schema::Boolean),
                    Property::optional("highlighted", Schema::Boolean),
                    Property::optional("selected", Schema::Boolean),
                    Property::optional("pinned", Schema::Boolean),
                    Property::optional("muted", Schema::Boolean),
                    Property::optional("openerTabId", ID),
                    Property::optional("autoDiscardable", Schema::Boolean),
                ]),
            ),
        ],
        Action::Update,
        "Changes a tab's properties.",
    ),
    row(
        "windows.get",
        &[required("windowId", WINDOW), optional("queryOptions", GET_OPTIONS)],
        Action::WindowGet,
        "One window.",
    ),
    row(
        "windows.getCurrent",
        &[optional("queryOptions", GET_OPTIONS)],
        Action::WindowGetCurrent,
        "The window that the call comes from.",
    ),
    row(
        "windows.getLastFocused",
        &[optional("queryOptions", GET_OPTIONS)],
        Action::WindowGetLastFocused,
        "The window that had the focus last.",
    ),
    row(
        "windows.getAll",
        &[optional("queryOptions", GET_OPTIONS)],
        Action::WindowGetAll,
        "All windows.",
    ),
    row(
        "windows.create",
        &[optional(
            "createData",
            Schema::Object(&[
                Property::optional(
                    "url",
                    Schema::Choice(&[
                        Schema::String,
                        Schema::Array { of: &Schema::String, min_items: 0 },
                    ]),
                ),
                Property::optional("tabId", ID),
                Property::optional("left", Schema::INTEGER),
                Property::optional("top", Schema::INTEGER),
                Property::optional("width", Schema::at_least(0)),
                Property::optional("height", Schema::at_least(0)),
                Property::optional("focused", Schema::Boolean),
                Property::optional("incognito", Schema::Boolean),
                Property::optional(
                    "type",
                    Schema::Named(
                        "windows.CreateType",
                        &Schema::Word(&["normal", "panel", "popup"]),
                    ),
                ),
                Property::optional("state", WINDOW_STATE),
                Property::optional("setSelfAsOpener", Schema::Boolean),
            ]),
        )],
        Action::WindowCreate,
        "Opens a window with one tab, several, or one that exists.",
    ),
    row(
        "windows.update",
        &[
            required("windowId", WINDOW),
            required(
                "updateInfo",
                Schema::Object(&[
                    Property::optional("left", Schema::INTEGER),
                    Property::optional("top", Schema::INTEGER),
                    Property::optional("width", Schema::at_least(0)),
                    Property::optional("height", Schema::at_least(0)),
                    Property::optional("focused", Schema::Boolean),
                    Property::optional("drawAttention", Schema::Boolean),
                    Property::optional("state", WINDOW_STATE),
                ]),
            ),
        ],
        Action::WindowUpdate,
        "Changes a window's place, state or focus.",
    ),
    row(
        "windows.remove",
        &[required("windowId", WINDOW)],
        Action::WindowRemove,
        "Closes a window and its tabs.",
    ),
    row("tabGroups.get", &[required("groupId", ID)], Action::GroupGet, "One group."),
    row(
        "tabGroups.query",
        &[required(
            "queryInfo",
            Schema::Object(&[
                Property::optional("collapsed", Schema::Boolean),
                Property::optional("color", COLOR),
                Property::optional("shared", Schema::Boolean),
                Property::optional("title", Schema::String),
                Property::optional("windowId", WINDOW),
            ]),
        )],
        Action::GroupQuery,
        "The groups that have all the properties asked for.",
    ),
    row(
        "tabGroups.update",
        &[
            required("groupId", ID),
            required(
                "updateProperties",
                Schema::Object(&[
                    Property::optional("collapsed", Schema::Boolean),
                    Property::optional("color", COLOR),
                    Property::optional("title", Schema::String),
                ]),
            ),
        ],
        Action::GroupUpdate,
        "Changes a group's properties.",
    ),
    row(
        "tabGroups.move",
        &[required("groupId", ID), required("moveProperties", PLACE)],
        Action::GroupMove,
        "Moves a group within its window or to another.",
    ),
    row(
        "sessions.restore",
        &[optional("sessionId", Schema::String)],
        Action::SessionRestore,
        "Opens the tab that was closed last.",
    ),
];
