//! The service over HTTP: bytes to domain values and back, and nothing else.

mod background;
mod body_store;
mod complete_upload;
mod control;
mod credential_cache;
mod download;
mod embedded_keys;
mod frame_reader;
mod key_service;
mod large_body;
mod md5_pool;
mod object_keys;
mod open_bodies;
mod pipeline;
mod place;
mod post_object;
mod put_part;
mod put_stream;
mod read_ahead;
mod render;
mod request;
mod request_plan;
mod response_cache;
mod service;
mod session_cache;
mod state;
#[cfg(feature = "testing")]
pub mod testing;
mod upload;
mod website;

pub use key_service::{KeyServiceTransport, RemoteKeyService};
pub use state::{Builder, ObjectPut};
