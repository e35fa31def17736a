//! Themes: what scenarios are about. A theme says which operations are called how often, and what the browser looks like before.

/// A kind of scenario.
#[derive(Debug)]
pub(super) struct Theme {
    /// Its name on the command line.
    pub name: &'static str,
    /// The weight of an operation among the calls, by its full name; `*` is every operation of the table that is not named. `page`, `port`, `nap`,
    /// `send` and `hand` are steps of the harness: code in a page, use of a port, a pause, a message of the kinds that the content script
    /// knows, pointer and keys.
    pub operations: &'static [(&'static str, usize)],
    /// The number of tabs at first, beside the one that is always there: at least and at most.
    pub tabs: (usize, usize),
    /// In how many of a hundred scenarios there is a second window at first.
    pub second_window: usize,
    /// The share of addresses that are pages, not `about:blank`, in percent.
    pub pages: usize,
    /// The manifests that scenarios are recorded with.
    pub variants: &'static [&'static str],
    /// The manifests of extensions that listen to every scenario.
    pub listeners: &'static [&'static str],
    /// The share of calls that are made with a callback, in percent.
    pub callbacks: usize,
    /// The share of calls that are made wrong on purpose, in percent.
    pub wrong: usize,
}

/// A theme whose own members differ from these.
const PLAIN: Theme = Theme {
    name: "",
    operations: &[],
    tabs: (3, 5),
    second_window: 20,
    pages: 15,
    variants: &["full"],
    listeners: &[],
    callbacks: 0,
    wrong: 5,
};

/// The manifests with less than everything, and that with everything.
const EVERY_VARIANT: &[&str] = &["full", "tabsonly", "none", "hosta", "allhosts"];

/// Every operation of the table, those more often that change most.
const EVERYTHING: &[(&str, usize)] = &[
    ("tabs.captureVisibleTab", 0),
    ("tabs.detectLanguage", 0),
    ("tabs.connect", 0),
    ("tabs.sendMessage", 0),
    ("sessions.restore", 0),
    ("windows.remove", 1),
    ("tabs.update", 3),
    ("tabs.move", 3),
    ("tabs.group", 2),
    ("windows.create", 2),
    ("page", 2),
    ("*", 1),
];

/// All themes.
pub(super) const THEMES: &[Theme] = &[
    Theme {
        name: "strip",
        operations: &[
            ("tabs.create", 4),
            ("tabs.move", 6),
            ("tabs.remove", 3),
            ("tabs.duplicate", 2),
            ("tabs.update", 5),
            ("tabs.discard", 1),
            ("windows.create", 1),
            ("tabs.query", 1),
            ("tabs.get", 1),
        ],
        second_window: 40,
        ..PLAIN
    },
    Theme {
        name: "groups",
        operations: &[
            ("tabs.group", 7),
            ("tabs.ungroup", 3),
            ("tabGroups.update", 3),
            ("tabGroups.move", 4),
            ("tabs.move", 4),
            ("tabs.update", 2),
            ("tabs.create", 1),
            ("tabs.duplicate", 1),
            ("tabs.remove", 1),
            ("tabGroups.query", 1),
            ("tabGroups.get", 1),
        ],
        second_window: 45,
        ..PLAIN
    },
    Theme {
        name: "highlight",
        operations: &[
            ("tabs.highlight", 7),
            ("tabs.update", 4),
            ("tabs.move", 3),
            ("tabs.remove", 2),
            ("tabs.create", 1),
            ("tabs.group", 2),
            ("tabs.ungroup", 1),
            ("tabs.discard", 1),
            ("tabs.duplicate", 1),
            ("tabs.query", 2),
        ],
        second_window: 35,
        ..PLAIN
    },
    Theme {
        name: "windows",
        operations: &[
            ("windows.create", 6),
            ("windows.update", 2),
            ("windows.remove", 2),
            ("windows.getAll", 2),
            ("windows.get", 1),
            ("windows.getLastFocused", 1),
            ("windows.getCurrent", 1),
            ("tabs.move", 4),
            ("tabs.create", 3),
            ("tabs.group", 2),
            ("tabs.remove", 2),
            ("tabs.update", 2),
            ("tabs.query", 1),
        ],
        tabs: (2, 3),
        ..PLAIN
    },
    Theme {
        name: "navigation",
        operations: &[
            ("tabs.update", 7),
            ("tabs.reload", 2),
            ("tabs.goBack", 3),
            ("tabs.goForward", 2),
            ("tabs.create", 2),
            ("tabs.duplicate", 1),
            ("tabs.remove", 1),
            ("tabs.get", 1),
            ("tabs.discard", 1),
            ("page", 4),
            ("nap", 2),
        ],
        tabs: (1, 2),
        second_window: 0,
        pages: 95,
        ..PLAIN
    },
    Theme {
        name: "properties",
        operations: &[
            ("tabs.update", 6),
            ("tabs.discard", 3),
            ("tabs.setZoom", 3),
            ("tabs.setZoomSettings", 2),
            ("tabs.getZoom", 1),
            ("tabs.getZoomSettings", 1),
            ("tabs.duplicate", 1),
            ("tabs.reload", 1),
            ("tabs.query", 1),
            ("tabs.create", 1),
        ],
        tabs: (2, 3),
        pages: 85,
        ..PLAIN
    },
    Theme {
        name: "query",
        operations: &[
            ("tabs.query", 10),
            ("tabs.update", 2),
            ("tabs.create", 1),
            ("tabGroups.query", 1),
            ("windows.getAll", 1),
        ],
        tabs: (3, 4),
        second_window: 60,
        pages: 70,
        variants: EVERY_VARIANT,
        ..PLAIN
    },
    Theme {
        name: "arguments",
        operations: &[("windows.remove", 0), ("*", 1)],
        tabs: (1, 2),
        callbacks: 25,
        wrong: 75,
        ..PLAIN
    },
    Theme {
        name: "messaging",
        operations: &[
            ("send", 6),
            ("tabs.sendMessage", 1),
            ("tabs.connect", 4),
            ("port", 4),
            ("tabs.update", 2),
            ("tabs.reload", 1),
            ("tabs.remove", 1),
            ("tabs.discard", 1),
        ],
        tabs: (2, 3),
        second_window: 0,
        pages: 100,
        callbacks: 15,
        ..PLAIN
    },
    Theme {
        name: "scripts",
        operations: &[
            ("page", 9),
            ("tabs.detectLanguage", 4),
            ("tabs.captureVisibleTab", 1),
            ("tabs.update", 3),
            ("tabs.duplicate", 1),
            ("tabs.reload", 1),
            ("tabs.goBack", 1),
            ("tabs.discard", 1),
            ("tabs.query", 1),
        ],
        tabs: (1, 2),
        second_window: 10,
        pages: 95,
        ..PLAIN
    },
    Theme { name: "mixed", operations: EVERYTHING, second_window: 40, pages: 50, ..PLAIN },
    Theme {
        name: "callbacks",
        operations: EVERYTHING,
        second_window: 40,
        pages: 50,
        callbacks: 60,
        ..PLAIN
    },
    Theme {
        name: "listeners",
        operations: EVERYTHING,
        second_window: 40,
        pages: 70,
        listeners: &["none", "tabsonly", "hosta"],
        ..PLAIN
    },
    Theme {
        name: "incognito",
        operations: &[
            ("windows.create", 4),
            ("tabs.create", 4),
            ("tabs.move", 2),
            ("tabs.group", 2),
            ("tabs.update", 3),
            ("tabs.remove", 2),
            ("tabs.query", 2),
            ("windows.getAll", 2),
            ("tabs.duplicate", 1),
            ("windows.remove", 1),
        ],
        tabs: (1, 2),
        pages: 40,
        variants: &["full", "spanning", "split"],
        ..PLAIN
    },
    Theme {
        name: "pages",
        operations: &[
            ("page", 10),
            ("tabs.update", 2),
            ("tabs.goBack", 1),
            ("tabs.group", 1),
            ("tabs.move", 1),
            ("tabs.remove", 1),
            ("nap", 1),
        ],
        tabs: (2, 3),
        pages: 100,
        ..PLAIN
    },
    Theme {
        name: "input",
        operations: &[
            ("hand", 9),
            ("tabs.update", 2),
            ("tabs.group", 2),
            ("tabs.create", 1),
            ("tabs.move", 1),
            ("tabs.query", 1),
        ],
        tabs: (2, 3),
        second_window: 0,
        pages: 40,
        ..PLAIN
    },
    Theme {
        name: "long",
        operations: &[
            ("tabs.move", 5),
            ("tabs.group", 4),
            ("tabs.ungroup", 2),
            ("tabs.highlight", 3),
            ("tabs.remove", 2),
            ("tabs.update", 2),
            ("tabGroups.move", 2),
            ("tabs.duplicate", 1),
        ],
        tabs: (40, 60),
        second_window: 20,
        pages: 0,
        ..PLAIN
    },
    Theme {
        name: "many-windows",
        operations: &[
            ("windows.create", 6),
            ("tabs.move", 5),
            ("tabs.group", 3),
            ("tabGroups.move", 2),
            ("windows.update", 2),
            ("windows.remove", 1),
            ("tabs.remove", 2),
            ("tabs.create", 2),
            ("tabs.query", 2),
        ],
        tabs: (3, 5),
        second_window: 100,
        ..PLAIN
    },
    Theme {
        name: "everything",
        operations: &[
            ("windows.create", 4),
            ("windows.update", 1),
            ("windows.remove", 1),
            ("tabs.create", 2),
            ("tabs.update", 5),
            ("tabs.move", 4),
            ("tabs.group", 4),
            ("tabs.ungroup", 1),
            ("tabs.discard", 3),
            ("tabs.duplicate", 2),
            ("tabs.highlight", 2),
            ("tabs.remove", 2),
            ("tabGroups.update", 2),
            ("tabGroups.move", 2),
            ("tabs.query", 1),
            ("page", 2),
        ],
        second_window: 60,
        pages: 40,
        variants: &["spanning"],
        ..PLAIN
    },
    Theme {
        name: "hand-and-groups",
        operations: &[
            ("hand", 8),
            ("tabs.group", 4),
            ("tabGroups.update", 2),
            ("tabs.update", 3),
            ("tabs.discard", 2),
            ("tabs.duplicate", 1),
            ("tabs.highlight", 1),
            ("tabs.query", 1),
        ],
        tabs: (2, 3),
        second_window: 0,
        pages: 30,
        ..PLAIN
    },
    Theme {
        name: "sessions",
        operations: &[
            ("sessions.restore", 6),
            ("tabs.remove", 5),
            ("windows.remove", 2),
            ("windows.create", 2),
            ("tabs.create", 2),
            ("tabs.group", 4),
            ("tabGroups.update", 3),
            ("tabGroups.move", 1),
            ("tabs.update", 3),
            ("tabs.move", 1),
            ("tabs.highlight", 1),
            ("tabs.query", 1),
        ],
        second_window: 60,
        pages: 40,
        ..PLAIN
    },
    Theme {
        name: "behind",
        operations: &[
            ("windows.create", 3),
            ("windows.update", 4),
            ("tabs.create", 3),
            ("tabs.update", 5),
            ("tabs.duplicate", 2),
            ("tabs.discard", 2),
            ("tabs.reload", 2),
            ("tabs.goBack", 1),
            ("tabs.detectLanguage", 2),
            ("tabs.setZoom", 1),
            ("tabs.move", 2),
            ("tabs.remove", 1),
            ("page", 4),
            ("nap", 1),
        ],
        tabs: (1, 2),
        second_window: 100,
        pages: 90,
        ..PLAIN
    },
    Theme {
        name: "alerts",
        operations: &[
            ("page", 8),
            ("answer", 5),
            ("tabs.update", 4),
            ("tabs.reload", 1),
            ("tabs.move", 1),
            ("tabs.remove", 1),
            ("tabs.create", 1),
            ("tabs.goBack", 1),
            ("tabs.discard", 1),
            ("windows.update", 1),
            ("hand", 2),
        ],
        tabs: (2, 3),
        second_window: 30,
        pages: 100,
        ..PLAIN
    },
    Theme {
        name: "drags",
        operations: &[
            ("across", 3),
            ("tabs.group", 2),
            ("tabs.update", 2),
            ("tabs.highlight", 1),
            ("tabs.query", 1),
            ("windows.getAll", 1),
        ],
        tabs: (1, 2),
        second_window: 0,
        pages: 60,
        ..PLAIN
    },
    Theme {
        name: "rights",
        operations: EVERYTHING,
        second_window: 40,
        pages: 80,
        variants: &["tabsonly", "none", "hosta", "allhosts", "activetab"],
        listeners: &["full", "split", "none"],
        ..PLAIN
    },
];

impl Theme {
    /// The theme of this name.
    pub(super) fn find(name: &str) -> Option<&'static Self> {
        THEMES.iter().find(|theme| theme.name == name)
    }

    /// The names, for whoever asks for another.
    pub(super) fn names() -> String {
        THEMES.iter().map(|theme| theme.name).collect::<Vec<_>>().join(", ")
    }

    /// The share of an operation.
    pub(super) fn weight(&self, name: &str) -> usize {
        let of = |name: &str| self.operations.iter().find(|(known, _)| *known == name);
        of(name).or_else(|| of("*")).map_or(0, |(_, weight)| *weight)
    }
}
