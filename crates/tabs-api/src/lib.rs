//! The `browser.tabs` engine: 23 operations, 10 events, permissions, many extensions at once.
//!
//! [`browser::Browser`] is the one mutable state. It is sans-IO: time, calls and the engine's news go in,
//! answers, events and the engine's commands come out, and the same input gives the same output.
#![forbid(unsafe_code)]

pub mod address;
pub mod argument;
mod arrangement;
pub mod browser;
mod call;
pub mod capture;
pub mod content_script;
pub mod control;
mod discarding;
pub mod engine;
pub mod error;
pub mod event;
mod freezing;
pub mod group;
mod grouping;
mod hand;
pub mod html;
#[cfg(feature = "server")]
pub mod http;
mod invariant;
pub mod journal;
pub mod js;
pub mod lab;
pub mod language;
mod lifetime;
pub mod manifest;
pub mod messaging;
mod navigation;
pub mod operation;
pub mod page;
pub mod pattern;
pub mod permission;
pub mod picture;
mod property;
mod query;
pub mod seed;
pub mod session;
pub mod simulation;
mod strip;
pub mod tab;
#[cfg(feature = "testing")]
pub mod testing;
pub mod web;
pub mod window;
mod windows;
mod zoom;
