//! The browser.tabs engine: 23 operations, 10 events, permissions, many extensions at once.
#![forbid(unsafe_code)]
