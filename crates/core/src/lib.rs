//! The common ground of Triptych's three services, and nothing else.
//!
//! A thing lives here only if two services use it today, its sentence names no service's noun, and
//! it has its own tests. Otherwise it stays in the service, even if twice.
//!
//! | module | what |
//! |---|---|
//! | [`id`] | unguessable bytes, from the system or from a seed |
//! | [`time`] | moments, their text forms, and clocks |
//! | [`error`] | the row (status and code) that every error has |
//! | [`pending`] | an answer that arrives later, without a runtime |
//! | [`kv`] | ordered bytes with atomic conditional commits |
//! | [`cache`] | a map that keeps what was asked for lately |
//! | [`queue`] | a queue that threads wait at |
//! | [`archive`] | a whole store as lines of text |
//! | [`blobs`] | bodies too long for a key-value store |
//! | `disk` | feature `sled`: the calls to the disk |
//! | `explorer` | features `redb`, `testing`: the states that power cuts leave of the stores |
//! | `free_ports` | feature `testing`: ports for the servers of tests |
//! | `host` | feature `host`: the server shell that the services run under |

pub mod archive;
pub mod blobs;
pub mod cache;
#[cfg(feature = "sled")]
pub mod disk;
#[cfg(feature = "sled")]
mod ending_thread;
pub mod error;
#[cfg(all(feature = "redb", feature = "testing"))]
pub mod explorer;
#[cfg(any(test, feature = "testing"))]
pub mod free_ports;
#[cfg(feature = "host")]
pub mod host;
pub mod id;
#[cfg(all(feature = "testing", any(feature = "host", feature = "object-store")))]
mod installed_clients;
pub mod kv;
pub mod pending;
pub mod queue;
mod schedule;
pub mod time;
#[cfg(feature = "tls")]
mod trust;
#[cfg(feature = "sled")]
mod worker_pool;
