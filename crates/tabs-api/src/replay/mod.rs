//! Replay: the contract by which anyone can judge the engine with recorded scenarios.
//!
//! Time is the caller's own plus what was skipped: waiting for a page to settle costs nothing.

mod drag;
mod drag_header;
mod drag_out;
mod dragged_tab;
mod gesture;
mod grip;
mod keyboard;
mod menu;
mod pointer;
mod recorded;
mod strip_layout;

use std::collections::BTreeMap;
use std::time::Duration;

use serde::Deserialize;
use serde_json::{Value, json};
use triptych_core::time::Timestamp;

use crate::browser::{Answer, Browser, Compat};
use crate::engine::fixtures::Pages;
use crate::engine::simulated::SimEngine;
use crate::error::Error;
use crate::extension::manifest::{ContentScript, Incognito, Manifest};
use crate::extension::permission::{Access, Extension, Part};
use crate::id::{RequestId, TabId, WindowId};
use crate::js_value::JsValue;
use crate::operation::enumeration::{constant_name, enumerations};
use crate::operation::{Asked, Caller, Context, Style};
use crate::replay::pointer::Pointer;
use crate::replay::strip_layout::SCREEN;
use crate::session::{Output, Session};

/// The extension that scenarios are run as.
const EXTENSION: &str = "abcdefghijklmnopabcdefghijklmnop";
/// The page that the recorded browser's new tabs went to.
const RECORDED_NEW_TAB: &str = "chrome://new-tab-page-third-party/";
/// The files of the recorded extension.
const RECORDED_FILES: [&str; 6] =
    ["manifest.json", "content.js", "call.mjs", "page.html", "page.mjs", "worker.mjs"];
/// Without any event for this long, a step has settled.
const QUIET: Duration = Duration::from_millis(220);
/// The time that a recorded step took beside this.
const OVERHEAD: Duration = Duration::from_millis(60);
/// The time that a call may take before it counts as pending.
const PENDING_AFTER: Duration = Duration::from_millis(8_000);
/// The longest that settling skips, where a page never comes.
const SETTLE_MAX: Duration = Duration::from_secs(30);

/// One call of a scenario.
#[derive(Debug, Clone, Deserialize)]
pub struct ReplayCall {
    /// `tabs.create`, `harness.port`, ...
    pub op: String,
    /// Its arguments, ids resolved.
    #[serde(default)]
    pub args: Vec<JsValue>,
    /// `callback`, or a promise.
    #[serde(default)]
    pub style: Option<String>,
    /// `page`, or a worker.
    #[serde(default)]
    pub context: Option<String>,
    /// The variant of the extension that makes the call, if it is a listener.
    #[serde(default)]
    pub by: Option<String>,
    /// The name that a port is known by from now on.
    #[serde(default)]
    pub port: Option<String>,
    /// Milliseconds until the call counts as pending.
    #[serde(default)]
    pub timeout: Option<u64>,
}

/// A browser that recorded scenarios are replayed in.
#[derive(Debug)]
pub struct Replay {
    pages: Pages,
    session: Session,
    pointer: Pointer,
    /// The time by which it is ahead of the caller.
    skipped: Duration,
    log: Vec<(&'static str, Value)>,
    /// Extensions that only listen, by the variants of their manifests.
    listeners: BTreeMap<String, Listener>,
    answers: BTreeMap<RequestId, Result<Answer, Error>>,
    /// Names of ports by their ids.
    ports: BTreeMap<String, String>,
}

/// Events to which the recorded extensions did not listen.
const UNRECORDED: [&str; 2] = ["windows.onBoundsChanged", "sessions.onChanged"];

/// An extension that hears what the others do.
#[derive(Debug)]
struct Listener {
    id: String,
    log: Vec<(&'static str, Value)>,
}

impl Replay {
    /// A browser of these pages, as after a reset to the manifest with everything.
    #[must_use]
    pub fn new(pages: Pages, now: Timestamp) -> Self {
        let session = session_of(&pages, now, "full");
        Self {
            pages,
            session,
            pointer: Pointer::default(),
            skipped: Duration::ZERO,
            log: Vec::new(),
            listeners: BTreeMap::new(),
            answers: BTreeMap::new(),
            ports: BTreeMap::new(),
        }
    }

    /// `POST /oracle/reset`: the start state, an empty log.
    pub fn reset(&mut self, now: Timestamp, variant: &str) -> Value {
        *self = Self::new(std::mem::take(&mut self.pages), now);
        self.session = session_of(&self.pages, now, variant);
        let mut ids = json!({ "extension_id": EXTENSION });
        let windows = self.session.browser().all_windows(&Access::Full);
        let window = windows.first();
        let tab = window.and_then(|window| window.tabs.as_ref()?.first());
        if let Some(members) = ids.as_object_mut() {
            members.insert("W1".into(), json!(window.map(|window| window.id)));
            members.insert("T1".into(), json!(tab.map(|tab| tab.id)));
        }
        ids
    }

    /// Installs an extension that only listens, with the manifest of a variant.
    pub fn listen(&mut self, now: Timestamp, variant: &str) {
        // Ids are letters from a to p; that of the extension itself begins with the first of them.
        let number = u8::try_from(self.listeners.len() % 15).unwrap_or(0);
        let id = format!("{}{}", char::from(b'b' + number), EXTENSION.get(1..).unwrap_or_default());
        let extension = extension(&id, variant);
        let at = self.now(now);
        self.session.change(at, |browser| browser.install(extension));
        self.listeners.insert(variant.to_owned(), Listener { id, log: Vec::new() });
    }

    /// `GET /oracle/events` with a `listener`: those after the first `after` that it has heard by now.
    pub fn heard(&mut self, now: Timestamp, variant: &str, after: usize) -> Value {
        let at = self.now(now);
        self.session.advance(at);
        self.collect();
        let log = self.listeners.get(variant).map(|listener| listener.log.as_slice());
        listed(log.unwrap_or_default(), after)
    }

    /// `POST /oracle/call`.
    pub fn call(&mut self, now: Timestamp, call: ReplayCall) -> Value {
        let before = self.log.len();
        let outcome = self.outcome(now, call);
        let mut reply = match outcome {
            Some(reply) => reply,
            None => json!({ "unsupported": true }),
        };
        self.collect();
        if let Some(members) = reply.as_object_mut() {
            members.entry("mark").or_insert_with(|| json!(self.log.len() - before));
        }
        reply
    }

    /// `GET /oracle/events`: those after the first `after`, once nothing more comes.
    pub fn events(&mut self, now: Timestamp, after: usize, settle: &str) -> Value {
        let begun = self.now(now);
        let waits_for_pages = settle == "full";
        if settle != "none" {
            let mut at = begun;
            loop {
                self.session.advance(at);
                let Some(due) = self.session.next_due() else {
                    break;
                };
                let is_near = due.since(at) <= QUIET;
                let is_loading = waits_for_pages && self.session.browser().is_loading();
                if !is_near && !is_loading || due.since(begun) > SETTLE_MAX {
                    break;
                }
                at = due;
            }
            at = at.plus(QUIET);
            self.session.advance(at);
            self.skipped += at.since(begun) + OVERHEAD;
        } else {
            self.session.advance(begun);
        }
        self.collect();
        listed(&self.log, after)
    }

    fn now(&self, now: Timestamp) -> Timestamp {
        now.plus(self.skipped)
    }

    /// Moves what the session gave into the log.
    fn collect(&mut self) {
        while let Some(output) = self.session.poll() {
            match output {
                Output::Answer(request, answer) => {
                    self.answers.insert(request, answer);
                }
                Output::Event(event) if UNRECORDED.contains(&event.name()) => {}
                Output::Event(event) => {
                    for listener in self.listeners.values_mut() {
                        let browser = self.session.browser();
                        if let Some(known) = browser.extension(&listener.id)
                            && let Some(event) = browser.told(known, Part::Main, &event)
                            && !event.name().starts_with("port.")
                        {
                            listener
                                .log
                                .push((event.name(), json!(event.shown(&Access::Of(known)))));
                        }
                    }
                    let browser = self.session.browser();
                    let Some(known) = browser.extension(EXTENSION) else {
                        continue;
                    };
                    let Some(event) = browser.told(known, Part::Main, &event) else {
                        continue;
                    };
                    let access = Access::Of(known);
                    let mut args = json!(event.shown(&access));
                    if event.name().starts_with("port.")
                        && let Some(first) = args.get_mut(0)
                        && let Some(name) = first.as_str().and_then(|port| self.ports.get(port))
                    {
                        *first = name.clone().into();
                    }
                    self.log.push((event.name(), args));
                }
            }
        }
    }

    fn outcome(&mut self, now: Timestamp, call: ReplayCall) -> Option<Value> {
        match call.op.as_str() {
            "harness.act" => Some(self.act(now, &call.args)),
            "harness.gesture" => self.gesture(now, &call.args),
            "harness.port" => self.port(now, &call.args),
            "harness.parallel" => self.parallel(now, &call.args),
            "harness.control" => self.control(now, &call.args),
            "harness.uninstall" => self.uninstall(now, &call.args),
            "harness.const" => Some(constant(&call.args)),
            op if op.starts_with("harness.") => None,
            _ => Some(self.api(now, call)),
        }
    }

    fn api(&mut self, now: Timestamp, call: ReplayCall) -> Value {
        let begun = self.begin(now, call);
        self.finish(now, begun)
    }

    /// Makes a call, whose answer may come later.
    fn begin(&mut self, now: Timestamp, call: ReplayCall) -> BegunCall {
        let style = if call.style.as_deref() == Some("callback") {
            Style::Callback
        } else {
            Style::Promise
        };
        let args: Vec<_> = call.args.into_iter().map(JsValue::with_special_values).collect();
        let context = match call.context.as_deref() {
            Some("page") => self.extension_page().map_or(Context::Worker, Context::Page),
            _ => Context::Worker,
        };
        let listener = call.by.and_then(|variant| self.listeners.get(&variant));
        let extension = listener.map_or(EXTENSION, |listener| &*listener.id);
        let caller = Caller { extension: extension.into(), context };
        let at = self.now(now);
        let asked = Asked { name: &call.op, given: &args, style };
        let answer = self.session.call(at, &caller, asked);
        let before = self.log.len();
        if let (Ok(Answer::Window(made)), "windows.create") = (&answer, call.op.as_str()) {
            // The recorded browser was told where its windows open, wherever a call wants them. The window was just made.
            let window = WindowId(made.id);
            drop(self.session.change(at, |browser| browser.place_window_anew(window)));
        }
        if let (Ok(Answer::Value(value)), Some(name)) = (&answer, call.port)
            && let Some(port) = value.get("port").and_then(Value::as_str)
        {
            self.ports.insert(port.to_owned(), name);
        }
        self.collect();
        let limit = call.timeout.map_or(PENDING_AFTER, Duration::from_millis);
        let hides_port = call.op == "tabs.connect";
        BegunCall { answer, style, limit, hides_port, before }
    }

    /// The reply to a call, once its answer is there.
    fn finish(&mut self, now: Timestamp, begun: BegunCall) -> Value {
        let BegunCall { answer, style, limit, hides_port, before } = begun;
        let answer = match answer {
            Ok(Answer::Later(request)) => match self.wait_for(now, request, limit) {
                Some(answer) => answer,
                None => return json!({ "error": { "kind": "pending", "message": "" } }),
            },
            answer => answer,
        };
        let mut reply = render(answer, style);
        if let Some(members) = reply.as_object_mut() {
            members.insert("mark".into(), json!(self.log.len() - before));
            if hides_port
                && let Some(result) = members.get_mut("result").and_then(Value::as_object_mut)
            {
                // The id of a port is ours; code sees the port itself.
                result.remove("port");
            }
        }
        reply
    }

    /// Lets time pass until an answer is there.
    fn wait_for(
        &mut self,
        now: Timestamp,
        request: RequestId,
        limit: Duration,
    ) -> Option<Result<Answer, Error>> {
        let begun = self.now(now);
        loop {
            self.collect();
            if let Some(answer) = self.answers.remove(&request) {
                return Some(answer);
            }
            let due = self.session.next_due().filter(|due| due.since(begun) <= limit);
            let at = due.unwrap_or_else(|| begun.plus(limit));
            self.skipped += at.since(self.now(now));
            self.session.advance(at);
            if due.is_none() {
                self.collect();
                return self.answers.remove(&request);
            }
        }
    }

    /// The tab of the extension's own page, for calls that come from there.
    fn extension_page(&self) -> Option<TabId> {
        let own = format!("chrome-extension://{EXTENSION}/");
        let windows = self.session.browser().all_windows(&Access::Full);
        let mut tabs = windows.iter().flat_map(|window| window.tabs.iter().flatten());
        let page = tabs.find(|tab| tab.url.as_deref().is_some_and(|url| url.starts_with(&own)))?;
        Some(TabId(page.id))
    }

    fn control(&mut self, now: Timestamp, line: &[JsValue]) -> Option<Value> {
        let (at, pointer) = (self.now(now), &mut self.pointer);
        let outcome = self.session.change(at, |browser| pointer.apply(browser, at, line))?;
        Some(match outcome {
            Ok(()) => json!({ "result": "" }),
            Err(error) => render(Err(error), Style::Promise),
        })
    }

    /// Takes a listener out of the browser; it hears nothing more.
    fn uninstall(&mut self, now: Timestamp, args: &[JsValue]) -> Option<Value> {
        let listener = self.listeners.get(args.first()?.text()?)?;
        let (at, id) = (self.now(now), listener.id.clone());
        self.session.change(at, |browser| browser.uninstall(&id));
        Some(json!({ "result": null }))
    }

    fn port(&mut self, now: Timestamp, args: &[JsValue]) -> Option<Value> {
        let name = args.first().and_then(JsValue::text)?;
        let method = args.get(1).and_then(JsValue::text)?;
        let port =
            self.ports.iter().find(|(_, known)| *known == name).map(|(port, _)| port.clone())?;
        let at = self.now(now);
        let message = args.get(2).cloned().map(JsValue::with_special_values);
        let outcome = self.session.change(at, |browser| match method {
            "postMessage" => {
                message.as_ref().map_or(Err(Error::NoMessage), |it| browser.post(&port, it))
            }
            _ => {
                browser.disconnect(&port);
                Ok(())
            }
        });
        Some(match outcome {
            Ok(()) => json!({ "result": null }),
            Err(error) => render(Err(error), Style::Promise),
        })
    }

    fn parallel(&mut self, now: Timestamp, args: &[JsValue]) -> Option<Value> {
        let Some(JsValue::Array(calls)) = args.first() else {
            return None;
        };
        let calls = calls.iter().map(|call| serde_json::from_value::<ReplayCall>(call.to_json()));
        let calls: Vec<_> = calls.collect::<Result<_, _>>().ok()?;
        // All are made before the first answer is waited for.
        let begun: Vec<_> = calls.into_iter().map(|call| self.begin(now, call)).collect();
        let outcomes = begun.into_iter().map(|begun| {
            let mut outcome = self.finish(now, begun);
            if let Some(members) = outcome.as_object_mut() {
                members.remove("mark");
                if let Some(error) = members.get_mut("error").and_then(Value::as_object_mut) {
                    let name = if error.get("kind") == Some(&json!("throw")) {
                        "TypeError"
                    } else {
                        "Error"
                    };
                    error.insert("name".into(), name.into());
                }
            }
            outcome
        });
        let outcomes: Vec<_> = outcomes.collect();
        Some(json!({ "result": outcomes }))
    }
}

/// A call that was made and is not replied to yet.
struct BegunCall {
    answer: Result<Answer, Error>,
    style: Style,
    limit: Duration,
    /// True if the answer names a port, which is ours: code sees the port itself.
    hides_port: bool,
    /// The number of events that were told before it.
    before: usize,
}

fn listed(log: &[(&'static str, Value)], after: usize) -> Value {
    let events = log.iter().skip(after).map(|(name, args)| json!({ "name": name, "args": args }));
    json!({ "events": events.collect::<Vec<_>>() })
}

fn constant(args: &[JsValue]) -> Value {
    let name = args.first().and_then(JsValue::text).unwrap_or_default();
    let value = match name {
        "SPLIT_VIEW_ID_NONE" => json!(crate::id::SPLIT_VIEW_ID_NONE),
        "TAB_ID_NONE" => json!(crate::id::TAB_ID_NONE),
        "TAB_INDEX_NONE" => json!(crate::id::TAB_INDEX_NONE),
        "MAX_CAPTURE_VISIBLE_TAB_CALLS_PER_SECOND" => {
            json!(crate::browser::captures::MAX_CAPTURE_VISIBLE_TAB_CALLS_PER_SECOND)
        }
        _ => match enumerations().get(format!("tabs.{name}").as_str()) {
            Some(words) => words.iter().map(|word| (constant_name(word), json!(word))).collect(),
            None => return json!({ "result": null, "undef": true }),
        },
    };
    json!({ "result": value })
}

fn render(answer: Result<Answer, Error>, style: Style) -> Value {
    match answer {
        Ok(answer) if answer.is_value() => json!({ "result": answer }),
        // A callback without an argument is recorded as one that got nothing.
        Ok(_) if style == Style::Callback => json!({ "result": null }),
        Ok(_) => json!({ "result": null, "undef": true }),
        Err(error) => {
            let kind = match style {
                _ if error.is_thrown() => "throw",
                Style::Promise | Style::AsGiven => "reject",
                Style::Callback => "lastError",
            };
            json!({ "error": { "kind": kind, "message": error.to_string() } })
        }
    }
}

fn session_of(pages: &Pages, now: Timestamp, variant: &str) -> Session {
    let mut browser = Browser::with_blank_window(now, Compat::Browser);
    browser.set_screen(SCREEN);
    browser.install(extension(EXTENSION, variant));
    Session::new(
        browser,
        Box::new(
            SimEngine::new(pages.clone())
                .with_new_tab(RECORDED_NEW_TAB)
                .with_incognito_icon(recorded::INCOGNITO_ICON)
                .with_script(recorded::RecordedContentScript),
        ),
    )
}

/// The extension of a variant; two of them are let into incognito windows, and one may not read files.
fn extension(id: &str, variant: &str) -> Extension {
    let is_let = ["spanning", "split"].contains(&variant);
    let files = RECORDED_FILES.iter().map(|file| (*file).to_owned()).collect();
    Extension::new(id.to_owned(), &manifest(variant), variant != "nofiles")
        .let_incognito(is_let)
        .with_files(Some(files))
}

/// The manifests of the contract's variants.
fn manifest(variant: &str) -> Manifest {
    let (permissions, hosts): (&[&str], &[&str]) = match variant {
        "none" => (&[], &[]),
        "tabsonly" => (&["tabs"], &[]),
        "hosta" => (&[], &["http://a.test/*"]),
        "allhosts" => (&[], &["<all_urls>"]),
        "activetab" => (&["activeTab"], &[]),
        "invoked" => (&["activeTab", "scripting"], &[]),
        _ => (
            &["tabs", "tabGroups", "scripting", "activeTab", "storage", "sessions"],
            &["<all_urls>"],
        ),
    };
    let owned = |texts: &[&str]| texts.iter().map(|text| (*text).to_owned()).collect();
    Manifest {
        name: "lab".into(),
        permissions: owned(permissions),
        host_permissions: owned(hosts),
        incognito: if variant == "split" { Incognito::Split } else { Incognito::Spanning },
        content_scripts: vec![ContentScript {
            matches: vec!["http://cs.test/*".into()],
            all_frames: true,
            files: vec![recorded::CONTENT_SCRIPT.into()],
            ..ContentScript::default()
        }],
        ..Manifest::default()
    }
}
