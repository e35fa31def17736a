//! An object store built around PutObject: durable before it answers, exact in its errors.
//!
//! Everything here but `server` is a plain function of what it is given: no clock, no randomness, no files, no runtime.

pub mod auth;
pub mod body;
pub mod cors;
pub mod error;
pub mod form;
pub mod kms;
pub mod maintenance;
pub mod operation;
pub mod request;
#[cfg(feature = "server")]
pub mod server;
pub mod store;
pub mod website;

pub use auth::account::Secret;
pub use body::encryption::Keyring;
pub use maintenance::seed::Seed;
#[cfg(feature = "server")]
pub use server::ObjectPut;
#[cfg(feature = "testing")]
pub use server::testing;
