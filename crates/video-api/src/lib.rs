//! A stateful video-platform data service with the wire of the Data API v3.
//!
//! The domain is pure: [`operation`] is the table of what can be asked and how it is done, [`model`] what is kept,
//! and everything that is not deterministic (time, ids, storage, bytes) is passed in. The shell is `http`.
#![forbid(unsafe_code)]

pub mod account;
pub mod discovery;
pub mod envelope;
pub mod error;
pub mod fields;
#[cfg(feature = "server")]
pub mod http;
pub mod media;
pub mod model;
pub mod oauth;
pub mod operation;
pub mod page_token;
pub mod parameter;
pub mod picture;
pub mod quota;
pub mod schema;
pub mod search;
pub mod seed;
pub mod state;
pub mod tables;
#[cfg(feature = "testing")]
pub mod testing;
pub mod upload;
