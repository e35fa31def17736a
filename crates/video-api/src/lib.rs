//! A stateful video-platform data service with the wire of the Data API v3.
//!
//! The domain is pure: [`resource`] is what can be asked for and what is kept of it, [`api`] the form of requests and replies,
//! and everything that is not deterministic (time, ids, storage, bytes) is passed in. The shell is `http`.
#![forbid(unsafe_code)]

pub mod account;
pub mod api;
pub mod caption;
#[cfg(feature = "server")]
pub mod http;
pub mod index;
pub mod media;
pub mod oauth;
pub mod picture;
pub mod record;
pub mod resource;
pub mod seed;
pub mod state;
pub mod upload;

#[cfg(feature = "testing")]
pub use http::testing;
