//! The `browser.tabs` engine: 23 operations, 10 events, permissions, many extensions at once.
#![forbid(unsafe_code)]

pub mod argument;
pub mod error;
pub mod js;
pub mod operation;
