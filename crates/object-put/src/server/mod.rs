//! The service over HTTP: bytes to domain values and back, and nothing else.

mod background;
mod body_store;
mod control;
mod credential_cache;
mod download;
mod embedded_keys;
mod md5_pool;
mod object_keys;
mod pipeline;
mod put_stream;
mod render;
mod request;
mod response_cache;
mod service;
mod state;
#[cfg(feature = "testing")]
pub mod testing;
mod upload;

pub use state::{Builder, ObjectPut};
