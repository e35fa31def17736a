//! A stateful video-platform data service with the wire of the Data API v3.
#![forbid(unsafe_code)]

pub mod media;
pub mod oauth;
pub mod picture;
pub mod search;
pub mod tables;
pub mod upload;
