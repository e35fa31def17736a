//! The whole service without a socket: requests as bytes in, answers out, on stores in memory and on disk.
#![cfg(feature = "server")]
#![expect(clippy::unwrap_used, clippy::panic, clippy::indexing_slicing, reason = "tests")]

#[path = "wire/authority.rs"]
mod authority;
#[path = "wire/http.rs"]
mod http;
#[path = "wire/model.rs"]
mod model;
#[path = "wire/pages.rs"]
mod pages;
#[path = "wire/parameters.rs"]
mod parameters;
#[path = "wire/parts.rs"]
mod parts;
#[path = "wire/recorded.rs"]
mod recorded;
#[path = "wire/resources.rs"]
mod resources;
#[path = "wire/rules.rs"]
mod rules;
#[path = "wire/schema.rs"]
mod schema;
#[path = "wire/service.rs"]
mod service;
