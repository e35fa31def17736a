//! Encryption and digests of whole buffers.
//!
//! A cipher that is generic is compiled where it is used: in a service that is built for tests, without optimisation, where sealing runs
//! at a few megabytes a second. Here its instances stand in a crate of their own, which the workspace's profile always optimises.

pub mod aes_256_gcm;
pub mod md5_lanes;
