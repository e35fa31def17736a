//! The simulated engine: pages from fixtures, loaded in the passing of a time that is handed in.

use std::collections::BTreeMap;
use std::time::Duration;

use serde_json::{Value, json};
use triptych_core::time::Timestamp;
use url::Url;

use crate::address::is_same_document;
use crate::engine::{Engine, EngineCommand, EngineNews, Reply, Request};
use crate::page::{Outcome, Page, Pages, Script, gesture_script};
use crate::picture;
use crate::tab::{Kind, TabId};

/// How long a page takes to commit; pages without a network are quicker.
const COMMIT: Duration = Duration::from_millis(20);
const COMMIT_LOCAL: Duration = Duration::from_millis(8);
/// What comes after the commit, and when.
const TITLE: Duration = Duration::from_millis(3);
const COMPLETE: Duration = Duration::from_millis(6);
const ICON: Duration = Duration::from_millis(12);
/// How long a sound must last to be noticed, and how long it is still counted after its end.
const HEARD_AFTER: Duration = Duration::from_millis(200);
const HEARD_FOR: Duration = Duration::from_millis(2_500);

/// An engine without a browser.
#[derive(Debug)]
pub struct SimEngine {
    pages: Pages,
    extension_page_title: String,
    /// Where `chrome://newtab/` leads.
    new_tab: Option<String>,
    due: BTreeMap<(Timestamp, u64), EngineNews>,
    number: u64,
    /// The names of open ports and the frames that they reach.
    ports: BTreeMap<String, Vec<u32>>,
}

impl SimEngine {
    /// An engine of these pages.
    #[must_use]
    pub fn new(pages: Pages) -> Self {
        Self {
            pages,
            extension_page_title: "Extension page".into(),
            new_tab: None,
            due: BTreeMap::new(),
            number: 0,
            ports: BTreeMap::new(),
        }
    }

    /// The same engine, whose new tabs lead to another page of the browser's.
    #[must_use]
    pub fn with_new_tab(self, url: &str) -> Self {
        Self {
            new_tab: Some(url.to_owned()),
            ..self
        }
    }

    fn at(&mut self, when: Timestamp, news: EngineNews) {
        self.number += 1;
        self.due.insert((when, self.number), news);
    }

    fn navigate(
        &mut self,
        now: Timestamp,
        tab: TabId,
        load: u64,
        url: &str,
        from: &str,
        kind: Kind,
    ) {
        let is_step_in_document =
            matches!(kind, Kind::Traverse(_)) && from != url && is_same_document(url, from);
        if kind != Kind::Reload && is_same_document(from, url) || is_step_in_document {
            let when = now.plus(COMMIT_LOCAL);
            self.at(
                when,
                EngineNews::Committed {
                    tab,
                    load,
                    url: url.to_owned(),
                    is_same_document: true,
                    language: None,
                    frames: 1,
                },
            );
            self.at(when.plus(COMPLETE), EngineNews::Complete { tab, load });
            return;
        }
        let url = self
            .new_tab
            .as_deref()
            .filter(|_| url == crate::address::NEW_TAB)
            .unwrap_or(url)
            .to_owned();
        match self.pages.load(&url, &self.extension_page_title) {
            Outcome::Nothing => self.at(now.plus(COMMIT), EngineNews::Ended { tab, load }),
            Outcome::Page(url, page) => self.arrive(now, tab, load, &url, &page, kind),
        }
    }

    fn arrive(
        &mut self,
        now: Timestamp,
        tab: TabId,
        load: u64,
        url: &str,
        page: &Page,
        kind: Kind,
    ) {
        let is_local = !url.starts_with("http");
        let commit = now
            .plus(if is_local { COMMIT_LOCAL } else { COMMIT })
            .plus(page.head_delay);
        self.at(
            commit,
            EngineNews::Committed {
                tab,
                load,
                url: url.to_owned(),
                is_same_document: false,
                language: page.language.clone(),
                frames: page.frames + 1,
            },
        );
        let is_traversal = matches!(kind, Kind::Traverse(_));
        if let Some(title) = page.title.clone().filter(|_| !is_traversal) {
            self.at(commit.plus(TITLE), EngineNews::Title { tab, load, title });
        }
        let complete = commit.plus(COMPLETE).plus(page.body_delay);
        self.at(complete, EngineNews::Complete { tab, load });
        if let Some(icon) = page.icon.clone() {
            self.at(
                complete.plus(ICON),
                EngineNews::Icon {
                    tab,
                    load,
                    url: icon,
                },
            );
        }
        // A page that comes back from the cache has run its script.
        if let Some((delay, script)) = page.script.clone().filter(|_| !is_traversal) {
            self.run(commit.plus(delay), tab, load, url, &script, false);
        }
    }

    fn run(
        &mut self,
        when: Timestamp,
        tab: TabId,
        load: u64,
        base: &str,
        script: &Script,
        is_gesture: bool,
    ) {
        let join = |target: &str| {
            Url::parse(base)
                .and_then(|url| url.join(target))
                .map_or_else(|_| target.to_owned(), Into::into)
        };
        match script {
            Script::Go(target) => self.at(
                when,
                EngineNews::Goes {
                    tab,
                    load,
                    url: join(target),
                },
            ),
            Script::Title(title) => self.at(
                when,
                EngineNews::Title {
                    tab,
                    load,
                    title: title.clone(),
                },
            ),
            Script::Push(target) => self.at(
                when,
                EngineNews::Pushed {
                    tab,
                    load,
                    url: join(target),
                },
            ),
            Script::Close => self.at(when, EngineNews::Closes { tab, load }),
            Script::Open(target) if is_gesture => self.at(
                when,
                EngineNews::Opens {
                    tab,
                    load,
                    url: join(target),
                },
            ),
            // A page may not open another one by itself.
            Script::Open(_) => {}
            Script::Play(length) => {
                self.at(
                    when.plus(HEARD_AFTER),
                    EngineNews::Audible {
                        tab,
                        load,
                        audible: true,
                    },
                );
                self.at(
                    when.plus(*length).plus(HEARD_FOR),
                    EngineNews::Audible {
                        tab,
                        load,
                        audible: false,
                    },
                );
            }
        }
    }

    /// What the simulated content scripts of a page's frames answer.
    fn reply(
        &mut self,
        now: Timestamp,
        request: Request,
        url: &str,
        frames: &[u32],
        message: &Value,
    ) {
        let Some(first) = frames.first() else {
            return self.at(
                now,
                EngineNews::Replied {
                    request,
                    reply: Reply::NoReceiver,
                },
            );
        };
        let is_top = *first == 0;
        let (after, reply) = match message.get("cmd").and_then(Value::as_str) {
            Some("never") => return,
            Some("none") => (1, Reply::NoResponse),
            Some("undefined" | "null") => (1, Reply::Value(Value::Null)),
            Some("throw") => (1, Reply::Threw("boom".into())),
            Some("promise") => (1, Reply::Value(json!({ "promised": true }))),
            Some("async") => (150, Reply::Value(json!({ "late": true, "top": is_top }))),
            Some("toponly") if is_top => (1, Reply::Value(json!({ "top": true }))),
            Some("toponly") => (1, Reply::NoResponse),
            Some("echo") => {
                let path = if is_top {
                    Url::parse(url).map_or_else(|_| "/".into(), |url| url.path().to_owned())
                } else {
                    frame_path(*first)
                };
                (
                    1,
                    Reply::Value(
                        json!({ "echo": message, "path": path, "senderHasTab": false, "top": is_top }),
                    ),
                )
            }
            _ => (
                1,
                Reply::Value(json!({ "got": message, "top": is_top, "type": type_of(message) })),
            ),
        };
        self.at(
            now.plus(Duration::from_millis(after)),
            EngineNews::Replied { request, reply },
        );
    }

    fn post(&mut self, now: Timestamp, port: &str, message: &Value) {
        let frames = self.ports.get(port).cloned().unwrap_or_default();
        let when = now.plus(Duration::from_millis(1));
        if message.get("cmd").and_then(Value::as_str) == Some("disconnect") {
            self.ports.remove(port);
            return self.at(
                when,
                EngineNews::Disconnected {
                    port: port.to_owned(),
                    error: None,
                },
            );
        }
        for frame in frames {
            self.at(
                when,
                EngineNews::Posted {
                    port: port.to_owned(),
                    message: json!({ "echo": message, "top": frame == 0 }),
                },
            );
        }
    }
}

/// The path of the n-th frame of the simulated pages that have frames.
fn frame_path(frame: u32) -> String {
    let letter = char::from(b'a' + u8::try_from(frame.saturating_sub(1) % 26).unwrap_or(0));
    format!("/{letter}.html")
}

const fn type_of(value: &Value) -> &'static str {
    match value {
        Value::Null | Value::Array(_) | Value::Object(_) => "object",
        Value::Bool(_) => "boolean",
        Value::Number(_) => "number",
        Value::String(_) => "string",
    }
}

impl Engine for SimEngine {
    fn send(&mut self, now: Timestamp, command: EngineCommand) {
        match command {
            EngineCommand::Navigate {
                tab,
                load,
                url,
                from,
                kind,
            } => self.navigate(now, tab, load, &url, &from, kind),
            // News of a page that is gone finds no tab, and is dropped where it arrives.
            EngineCommand::Close { .. } | EngineCommand::Replace { .. } => {}
            EngineCommand::Capture {
                request,
                url,
                title,
                width,
                height,
                png,
                quality,
                ..
            } => {
                let picture = picture::draw(&url, &title, width, height, png, quality);
                self.at(now, EngineNews::Captured { request, picture });
            }
            EngineCommand::Message {
                request,
                url,
                frames,
                message,
                ..
            } => self.reply(now, request, &url, &frames, &message),
            EngineCommand::Connect {
                port, frames, name, ..
            } => {
                for frame in &frames {
                    let message = json!({ "hello": name, "top": *frame == 0 });
                    self.at(
                        now.plus(Duration::from_millis(1)),
                        EngineNews::Posted {
                            port: port.clone(),
                            message,
                        },
                    );
                }
                self.ports.insert(port, frames);
            }
            EngineCommand::Post { port, message } => self.post(now, &port, &message),
            EngineCommand::Disconnect { port } => {
                self.ports.remove(&port);
            }
            EngineCommand::Gesture {
                tab,
                load,
                url,
                script,
            } => {
                if let Some(script) = script.as_deref().and_then(gesture_script) {
                    self.run(
                        now.plus(Duration::from_millis(1)),
                        tab,
                        load,
                        &url,
                        &script,
                        true,
                    );
                }
            }
        }
    }

    fn news(&mut self, now: Timestamp) -> Option<EngineNews> {
        let entry = self
            .due
            .first_entry()
            .filter(|entry| entry.key().0 <= now)?;
        Some(entry.remove())
    }

    fn next_due(&self) -> Option<Timestamp> {
        self.due.keys().next().map(|(due, _)| *due)
    }
}
