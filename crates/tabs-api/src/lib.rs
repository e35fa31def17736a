//! The `browser.tabs` engine: 23 operations, 10 events, permissions, many extensions at once.
//!
//! [`browser::Browser`] is the one mutable state. It is sans-IO: time, calls and the engine's events go in,
//! answers, events and the engine's commands come out, and the same input gives the same output.
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
