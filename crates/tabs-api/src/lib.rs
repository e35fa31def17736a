//! The `browser.tabs` engine: 23 operations, 10 events, permissions, many extensions at once.
//!
//! [`browser::Browser`] is the one mutable state. It is sans-IO: time, calls and the engine's events go in,
//! answers, events and the engine's commands come out, and the same input gives the same output.
//!
//! # Examples
//!
//! The domain alone (`default-features = false`): a browser and its simulated pages, in a time that is handed in.
//!
//! ```
//! use std::time::Duration;
//!
//! use serde_json::json;
//! use tabs_api::browser::{Answer, Browser, Compat};
//! use tabs_api::engine::fixtures::Pages;
//! use tabs_api::engine::simulated::SimEngine;
//! use tabs_api::extension::manifest::Manifest;
//! use tabs_api::extension::permission::Extension;
//! use tabs_api::js_value::JsValue;
//! use tabs_api::operation::{Asked, Caller, Context, Style};
//! use tabs_api::session::{Output, Session};
//! use triptych_core::time::Timestamp;
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let mut now = Timestamp::from_seconds(1_790_000_000);
//! let mut browser = Browser::with_blank_window(now, Compat::Spec);
//! let manifest = Manifest::read(&json!({ "name": "Example", "permissions": ["tabs"] }))?;
//! browser.install(Extension::new("example".into(), &manifest, false));
//! let mut session = Session::new(browser, Box::new(SimEngine::new(Pages::default())));
//!
//! let caller = Caller { extension: "example".into(), context: Context::Worker };
//! let given: Vec<JsValue> = serde_json::from_value(json!([{ "url": "https://a.test/" }]))?;
//! let asked = Asked { name: "tabs.create", given: &given, style: Style::Promise };
//! let Answer::Tab(tab) = session.call(now, &caller, asked)? else { panic!("it gives a tab") };
//! assert_eq!(tab.pending_url.as_deref(), Some("https://a.test/"));
//!
//! // The page loads in the time that passes.
//! while let Some(due) = session.next_due() {
//!     now = due;
//!     session.advance(now);
//! }
//! let mut names = Vec::new();
//! while let Some(output) = session.poll() {
//!     match output {
//!         Output::Event(event) => names.push(event.name()),
//!         Output::Answer(request, answer) => println!("{request:?}: {answer:?}"),
//!     }
//! }
//! assert_eq!(names.first(), Some(&"tabs.onCreated"));
//! assert!(names.contains(&"tabs.onUpdated"));
//! assert!(now.since(Timestamp::from_seconds(1_790_000_000)) < Duration::from_secs(1));
//! # Ok(())
//! # }
//! ```
#![forbid(unsafe_code)]

pub mod browser;
pub mod engine;
pub mod error;
pub mod extension;
#[cfg(feature = "server")]
pub mod http;
pub mod id;
pub mod js_value;
pub mod json_text;
pub mod operation;
#[cfg(feature = "replay")]
pub mod replay;
pub mod seed;
pub mod session;
pub mod store;
pub mod url;
pub mod version;
