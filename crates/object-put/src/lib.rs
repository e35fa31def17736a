//! An object store built around PutObject: durable before it answers, exact in its errors.
//!
//! Everything here but `http` is a plain function of what it is given: no clock, no randomness, no files, no runtime.

pub mod access;
pub mod account;
pub mod bucket;
pub mod checksum;
pub mod chunked;
pub mod commit;
pub mod copy;
pub mod dialect;
pub mod encryption;
pub mod error;
pub mod etag;
pub mod expiry;
pub mod grant;
pub mod head;
#[cfg(feature = "server")]
pub mod http;
pub mod key;
pub mod lifecycle;
pub mod list;
pub mod lock;
pub mod md5;
pub mod object;
pub mod operation;
pub mod owner;
pub mod percent;
pub mod policy;
pub mod precondition;
pub mod put;
pub mod range;
pub mod reclaim;
pub mod removal;
pub mod request;
pub mod seed;
pub mod signature;
pub mod strict;
pub mod tables;
pub mod tagging;
#[cfg(feature = "testing")]
pub mod testing;
pub mod verify;
pub mod xml;

#[cfg(feature = "server")]
pub use http::ObjectPut;
